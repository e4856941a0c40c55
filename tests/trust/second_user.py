#!/usr/bin/env python3
"""second_user.py - what another user of the machine tries on a run, and what comes of it.

    tests/trust/second_user.py [--build build] [--save]

Runs the test cmd_second_user as root and reads its log of attempts (SECOND_USER_LOG).  The test fails where an attempt works that should not, where what was planted is
believed, or where wsdbg or the program ends otherwise than without it.  --save writes the section "second-user" of docs/results/trust.md.
Exit status: that of the test; 77 without root.  A development script.
"""
import argparse, collections, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import results

FILES = ((r'^x\.db.*', 'the database, its log'), (r'^x\.wsrec', 'the recording'), (r'.*-\d\.session$', 'a session of another name in /dev/shm'), (r'.*\.session$', "the session's file in /dev/shm"),
         (r'^wsdbg-spool.*', 'the private folder'), (r'^wsdbg\.[^.]*$', "the segments' folder"), (r'^wsdbg\.[^.]*\.\d$', "a segment in the segments' folder"),
         (r'^wsdbg\..*', 'the shared memory of the program'), (r'^\d+$', "wsdbg's process"), (r'^$', 'the list of sessions'))
TRIES = {'reads': 'reads', 'writes': 'writes', 'removes': 'removes', 'renames': 'renames', 'lists': 'lists', 'makes_file_in': 'makes a file in', 'connects': 'connects to the socket in',
         'signals': 'signals', 'finds_a_session': 'finds a session in', 'reports': 'runs wsdbg report on'}


def attempts(build):
    """Counts of (what is tried, on what, what came of it), and the test's status."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, 'log')
        status = subprocess.run([f'{build}/tests/test_cmd_second_user'], env={**os.environ, 'SECOND_USER_LOG': log}, stdout=subprocess.DEVNULL).returncode
        rows = [line.rstrip('\n').split('\t') for line in open(log)]
    return collections.Counter((TRIES.get(name, name), next(words for pattern, words in FILES if re.match(pattern, path)), came) for name, path, came in rows), status


def page(kept, status):
    return '\n'.join([
        '## Another user of the machine', '',
        '`tests/trust/second_user.py`: user 65534 beside a run of root with umask 0. What can be planted is not believed: the verdict is the same, and nothing of it is read.', '',
        f"{sum(row['attempts'] for row in kept)} attempts of {len(kept)} kinds; {'the test passed' if status == 0 else 'the test FAILED'}.", '',
        '| he | what | attempts | came to |', '|---|---|---|---|',
        *[f"| {row['tries']} | {row['what']} | {row['attempts']} | {row['came']} |" for row in kept]])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--save', action='store_true')
    options = parser.parse_args()
    if os.geteuid() != 0:
        print('second_user.py: only root can be somebody else', file=sys.stderr)
        return 77
    counted, status = attempts(os.path.abspath(options.build))
    kept = [{'tries': tries, 'what': what, 'came': came, 'attempts': count} for (tries, what, came), count in counted.items()]
    print(page(kept, status))
    if options.save:
        results.save('second-user', kept, page(kept, status), 'trust')
    return status


if __name__ == '__main__':
    sys.exit(main())
