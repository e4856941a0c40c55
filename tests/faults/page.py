#!/usr/bin/env python3
"""page.py - runs `nth` and keeps what came of it.

    tests/faults/page.py [--build build] [--all]

Writes the section "faults" of docs/results/trust.md.  --all: every number, not fewer as they grow; takes long.
Exit status: 1 where something was wrong.  A development script.
"""
import argparse, json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import results


def run(build, every):
    """The counts of each command, and whether something was wrong."""
    commands = [f'{ROOT}/tests/recorded/arrive-missing.wsrec', f'{ROOT}/tests/lint/registers/architecture.ptx',
                f'{ROOT}/tests/dumps/gemm-arrive-missing.core.gz', *(['--all'] if every else [])]
    kept, wrong = [], False
    with tempfile.TemporaryDirectory() as folder:
        counts = os.path.join(folder, 'counts.json')
        for arguments in commands, ['--run', f'{build}/tests/traced'], ['--run', f'{build}/tests/traced', '--hang']:
            wrong |= subprocess.run([f'{build}/tests/nth', f'{build}/bin/wsdbg', f'{build}/tests/libfail_nth.so', *arguments, '--json', counts],
                                    env={**os.environ, 'LD_LIBRARY_PATH': f'{build}/lib/wsdbg/sim'}).returncode != 0
            kept += json.load(open(counts))
    return kept, wrong


def page(counts, every):
    total = {key: sum(row[key] for row in counts) for key in ('runs', 'same', 'refused', 'wrong')}
    rows = [*counts, {'command': 'together', **total}]
    return '\n'.join([
        '## Every allocation and system call fails once', '',
        f"`tests/faults/page.py{' --all' if every else ''}`: each command again and again, each time with another allocation or system call failing, alone or with all "
        f"that follow{'' if every else ' (of the later ones a sample)'}. Right is the answer that it gives without, or status 125 (126 where the program was not started) with words; "
        'wrong is another answer, a signal, silence, or no end within 20 s. In `run` the failures are in wsdbg alone or in the observer alone, on the simulator: the program must '
        'do what it does alone, and wsdbg must say what it missed.', '',
        '| command | runs | as without | refused | wrong |', '|---|---|---|---|---|',
        *[f"| {row['command']} | {row['runs']:,} | {row['same']:,} | {row['refused']:,} | {row['wrong']} |" for row in rows]])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--all', action='store_true')
    options = parser.parse_args()
    counts, wrong = run(os.path.abspath(options.build), options.all)
    results.save('faults', counts, page(counts, options.all), 'trust')
    return int(wrong)


if __name__ == '__main__':
    sys.exit(main())
