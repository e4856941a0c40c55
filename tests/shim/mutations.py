#!/usr/bin/env python3
"""mutations.py - makes small wrong changes to the observer, one at a time, and says whether a test notices each.

    mutations.py [--only NAME]... [--jobs N] [--all] [--save]     mutations.py --check

Reads tests/shim/mutations/*.txt, one row a change.  The changes are made in a scratch copy of the tree, which is built
there and removed at the end.  --all runs every test of the observer where those that a row names see nothing.
Writes a line a row; with --save the section "mutations" of docs/results/trust.md.  Exit status 1: some change survived.
--check builds nothing: is the text that each row replaces still there, exactly once?
A development script: wsdbg itself needs no Python.
"""
import argparse, collections, glob, os, re, shutil, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests'))
import results

ROWS = os.path.join(ROOT, 'tests', 'shim', 'mutations')
OBSERVER_TESTS = r'^(shim|evidence_(live|guardian|attach|lasting|restore))'

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


class Copy:
    """A copy of the tree, with a build folder of its own."""

    def __init__(self, jobs):
        self.folder, self.jobs = tempfile.mkdtemp(prefix='wsdbg-mutations-'), jobs
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
        return call(['cmake', '--build', self.build, f'-j{self.jobs}', '--target', *targets], self.log)

    def run(self, pattern):
        """The first test that fails, with the case in it; None = all went well."""
        if call(['ctest', '--test-dir', self.build, '-R', pattern, '--output-on-failure', '--stop-on-failure'], self.log):
            return None
        said = self.said()
        test = re.search(r'Test +#\d+: (\S+) \.*\s*(?:Subprocess \S+)?\*\*\*', said)
        case = re.search(r'\[  FAILED  \] (\w+)', said)
        return f'{test.group(1) if test else "?"}' + (f': {case.group(1)}' if case else '')

    def names(self, pattern):
        said = subprocess.run(['ctest', '--test-dir', self.build, '-N', '-R', pattern], capture_output=True, text=True)
        return re.findall(r'Test +#\d+: (\S+)', said.stdout)

    def remove(self):
        shutil.rmtree(self.folder)


def write(files):
    for path, text in files.items():
        with open(path, 'w') as file:
            file.write(text)


def one_of(tests):
    return '^(' + '|'.join(tests) + ')$'


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
        by = copy.run(one_of(row.tests))
        if not by and all_tests:
            names = [name for name in copy.names(OBSERVER_TESTS) if name not in row.tests]
            by = copy.run(one_of(names)) if copy.builds(names) else None
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


def try_all(rows, options):
    copy, outcomes = Copy(options.jobs), []
    try:
        needed = sorted({test for row in rows for test in row.tests})
        if not copy.builds(needed):
            sys.exit(f'the unchanged tree does not build: {copy.said()[-2000:]}')
        broken = copy.run(one_of(needed))
        if broken:
            sys.exit(f'the unchanged tree fails {broken}')
        for row in rows:
            begun = time.monotonic()
            outcome, by = try_row(copy, row, options.all)
            outcomes.append({'name': row.name, 'harm': row.harm, 'files': sorted({file for file, _, _ in row.edits}),
                             'outcome': outcome, 'by': by, 'seconds': round(time.monotonic() - begun, 1)})
            print(f"{row.name}: {outcome}{' by ' + by if by else ''} ({outcomes[-1]['seconds']} s)", flush=True)
    finally:
        copy.remove()
    return outcomes


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
