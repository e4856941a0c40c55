#!/usr/bin/env python3
"""mutations.py - makes small wrong changes to the observer, one at a time, and says whether a test notices each.

    mutations.py [--only NAME]... [--jobs N] [--all] [--save]     mutations.py --check

Reads tests/shim/mutations/*.txt, one row a change.  The changes are made in scratch copies of the tree, N of them at the
same time (2), which are built there and removed at the end.  --all runs every test of the observer where those that a row names see nothing.
Writes a line a row; with --save the section "mutations" of docs/results/trust.md.  Exit status 1: some change survived.
--check builds nothing: is the text that each row replaces still there, exactly once?
A development script: wsdbg itself needs no Python.
"""
import argparse, collections, concurrent.futures, glob, os, queue, re, shutil, signal, subprocess, sys, tempfile
import threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests'))
import results

ROWS = os.path.join(ROOT, 'tests', 'shim', 'mutations')
TEST_LIMIT_S = 150
SKIPPED = 77
OBSERVER_TESTS = r'^(shim|evidence_(live|attach_watchdog|attach|lasting|restore))'

Row = collections.namedtuple('Row', 'name harm tests edits')  # edits: (file, old text, new text)


# ---- the table ----

def parse_row(text, where):
    """Fields "name:", "harm:", "tests:"; for each edit "file:" and then lines that begin with - or +."""
    fields, edits = {}, []
    for line in text.splitlines():
        key, _, value = line.partition(':')
        if line[:1] in '-+' and edits:
            edits[-1]['-+'.index(line[0]) + 1].append(line[1:])
        elif key == 'file':
            edits.append((value.strip(), [], []))
        elif key in ('name', 'harm', 'tests') and key not in fields:
            fields[key] = value.strip()
        else:
            sys.exit(f'{where}: what is this line of a row? {line}')
    if len(fields) != 3 or not edits or not all(old for _, old, _ in edits):
        sys.exit(f'{where}: a row has a name, a harm, tests, a file and lines to replace: {text}')
    return Row(fields['name'], fields['harm'], fields['tests'].split(),
               [(file, '\n'.join(old) + '\n', ''.join(line + '\n' for line in new)) for file, old, new in edits])


def read_rows():
    rows = []
    for path in sorted(glob.glob(os.path.join(ROWS, '*.txt'))):
        with open(path) as file:
            blocks = re.split(r'\n\s*\n', re.sub(r'(?m)^#.*\n', '', file.read()).strip())
        rows += [parse_row(block, os.path.relpath(path, ROOT)) for block in blocks]
    names = [row.name for row in rows]
    if len(set(names)) != len(names):
        sys.exit(f'twice in the table: {[name for name in names if names.count(name) > 1]}')
    return rows


def changed_files(row, root):
    """The files of a row as they are and as they become; None where its text is not there exactly once."""
    before, after = {}, {}
    for file, old, new in row.edits:
        path = os.path.join(root, file)
        if path not in after:
            if not os.path.exists(path):
                return None
            with open(path) as opened:
                before[path] = after[path] = opened.read()
        if ('\n' + after[path]).count('\n' + old) != 1:
            return None
        after[path] = ('\n' + after[path]).replace('\n' + old, '\n' + new)[1:]
    return before, after


def check(rows):
    stale = [row.name for row in rows if not changed_files(row, ROOT)]
    for name in stale:
        print(f'{name}: out of date, its text is not there exactly once')
    print(f'{len(rows)} changes, {len(stale)} out of date')
    return 1 if stale else 0


# ---- one change ----

def call(command, log, **options):
    """Whether the command went well; what it said is in the file `log`."""
    with open(log, 'w') as out:
        return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, **options).returncode == 0


def run_to_failure(program):
    """The first case that fails, after which the rest is not waited for; None = all went well."""
    test = subprocess.Popen([program], cwd=os.path.dirname(program), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors='replace', start_new_session=True)
    limit = threading.Timer(TEST_LIMIT_S, os.killpg, [test.pid, signal.SIGKILL])
    limit.start()
    try:
        case = '?'
        for line in test.stdout:
            case = line.split()[-1] if line.startswith('[ RUN') else case
            if line.startswith('[  FAILED  ]'):
                return line.split()[-1]
        return None if test.wait() in (0, SKIPPED) else f'{case} (does not end well)'
    finally:
        limit.cancel()
        if test.poll() is None:
            os.killpg(test.pid, signal.SIGKILL)
        test.wait()
        shutil.rmtree(f'/dev/shm/wsdbg.shimtest{test.pid}', ignore_errors=True)


def end_strays(folder):
    """Processes of programs in that folder: inspectors have a session of their own, and a test that fails leaves them."""
    for link in glob.glob('/proc/[0-9]*/exe'):
        try:
            if os.readlink(link).startswith(folder + os.sep):
                os.kill(int(link.split(os.sep)[2]), signal.SIGKILL)
        except OSError:
            continue  # it has ended, or is another user's


class Copy:
    """A copy of the tree, with a build folder of its own."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='wsdbg-mutations-')
        self.tree, self.build = os.path.join(self.folder, 'tree'), os.path.join(self.folder, 'tree', 'build')
        self.log = os.path.join(self.folder, 'log')
        files = subprocess.run(['git', '-C', ROOT, 'ls-files', '-co', '--exclude-standard', '-z'], check=True,
                               capture_output=True, text=True).stdout.split('\0')
        for file in filter(None, files):
            if os.path.isfile(os.path.join(ROOT, file)):
                os.makedirs(os.path.dirname(os.path.join(self.tree, file)), exist_ok=True)
                shutil.copy2(os.path.join(ROOT, file), os.path.join(self.tree, file))
        if not call(['cmake', '--preset', 'dev', '-DWSDBG_KERNELS=OFF', '-DWSDBG_WERROR=OFF'], self.log, cwd=self.tree):
            sys.exit(self.said())

    def said(self):
        with open(self.log, errors='replace') as file:
            return file.read()

    def builds(self, tests):
        """Only what the tests need."""
        targets = [f'test_{test}' for test in tests]
        return call(['cmake', '--build', self.build, '-j1', '--target', *targets], self.log)

    def first_failure(self, tests):
        """The first test that fails, with the case in it; None = all went well."""
        for test in tests:
            case = run_to_failure(os.path.join(self.build, 'tests', f'test_{test}'))
            if case is not None:
                end_strays(self.folder)
                return f'{test}: {case}'
        return None

    def other_tests(self, tests):
        said = subprocess.run(['ctest', '--test-dir', self.build, '-N', '-R', OBSERVER_TESTS], capture_output=True, text=True)
        return [name for name in re.findall(r'Test +#\d+: (\S+)', said.stdout) if name not in tests + ['shim_mutations_current']]

    def remove(self):
        shutil.rmtree(self.folder)


def write(files):
    for path, text in files.items():
        with open(path, 'w') as file:
            file.write(text)


def try_row(copy, row, all_tests):
    """The outcome, and the test that made it."""
    files = changed_files(row, copy.tree)
    if not files:
        return 'out of date', None
    before, after = files
    write(after)
    try:
        if not copy.builds(row.tests):
            return 'does not build', None
        by = copy.first_failure(row.tests)
        if not by and all_tests:
            others = copy.other_tests(row.tests)
            by = copy.first_failure(others) if copy.builds(others) else None
        return ('killed', by) if by else ('SURVIVED', None)
    finally:
        write(before)


# ---- all of them ----

def markdown(outcomes):
    killed = sum(1 for outcome in outcomes if outcome['outcome'] == 'killed')
    lines = ['## Wrong changes to the observer', '',
             f'{len(outcomes)} small wrong changes, made one at a time by `tests/shim/mutations.py`; {killed} make a test fail. '
             f'On {results.machine()}.', '', '| change | would harm | noticed by |', '|---|---|---|']
    lines += [f"| {row['name']} | {row['harm']} | {row['by'] or row['outcome']} |" for row in outcomes]
    return '\n'.join(lines)


def require_sound(copy, tests):
    """Without a change all goes well: else a failure would prove nothing."""
    if not copy.builds(tests):
        sys.exit(f'the unchanged tree does not build: {copy.said()[-2000:]}')
    broken = copy.first_failure(tests)
    if broken:
        sys.exit(f'the unchanged tree fails {broken}')


def outcome_of(row, copies, all_tests):
    copy, begun = copies.get(), time.monotonic()
    try:
        outcome, by = try_row(copy, row, all_tests)
    finally:
        copies.put(copy)
    seconds = round(time.monotonic() - begun, 1)
    print(f"{row.name}: {outcome}{' by ' + by if by else ''} ({seconds} s)", flush=True)
    return {'name': row.name, 'harm': row.harm, 'files': sorted({file for file, _, _ in row.edits}), 'outcome': outcome,
            'by': by, 'seconds': seconds}


def try_all(rows, options):
    made, copies = [Copy() for _ in range(options.jobs)], queue.Queue()
    try:
        require_sound(made[0], sorted({test for row in rows for test in row.tests}))
        for copy in made:
            copies.put(copy)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            return list(pool.map(lambda row: outcome_of(row, copies, options.all), rows))
    finally:
        for copy in made:
            copy.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--only', action='append', metavar='NAME')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--save', action='store_true')
    parser.add_argument('--check', action='store_true')
    options = parser.parse_args()
    rows = read_rows()
    unknown = set(options.only or []) - {row.name for row in rows}
    if unknown or (options.save and options.only):
        parser.error(f'no such change: {", ".join(unknown)}' if unknown else '--save wants all changes')
    if options.check:
        return check(rows)
    outcomes = try_all([row for row in rows if not options.only or row.name in options.only], options)
    if options.save:
        results.save('mutations', outcomes, markdown(outcomes), page='trust')
    missed = [outcome['name'] for outcome in outcomes if outcome['outcome'] != 'killed']
    print(f"{len(outcomes)} changes, {len(outcomes) - len(missed)} killed" + (f", not: {', '.join(missed)}" if missed else ''))
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
