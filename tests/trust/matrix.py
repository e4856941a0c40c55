#!/usr/bin/env python3
"""matrix.py - programs of every kind, alone and under `wsdbg run`: is anything different?

    tests/trust/matrix.py [--build build] [--driver sim|fake|real] [--rows NAME,...] [--quick] [--json FILE] [--save]
    tests/trust/matrix.py --page FILE         writes the section "matrix-gpu" from what a machine with a GPU kept

Each row is a program that is run alone and then under wsdbg with default options.  Compared are its status or signal, its stdout, its stderr without
wsdbg's own lines, the files that it leaves, processes that go on, and what is left in /dev/shm and in the temporary folder.  The programs are ways of
traced.c, built as the row says, and programs of other people.  What a row needs and is not here, is not run and not counted.
--driver: the simulator's libcuda, the tests' fake one, or the machine's.  --quick: the rows that take a moment, for CTest.
--save writes the section "matrix" of docs/results/trust.md, --json keeps what it would be made of.
Exit status: 1 when a row differs, 77 without what every row needs.  A development script.
"""
import argparse, collections, json, os, re, shutil, signal, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import results

LIMIT_S = 60
SETTLE_S = 1.0
NOBODY = 65534
WARNINGS = ['-O1', '-g', '-w', '-D_GNU_SOURCE']
LIBRARY = '/usr/lib/x86_64-linux-gnu/'
KERNEL_HEADERS = ['-idirafter', '/usr/include', '-idirafter', '/usr/include/x86_64-linux-gnu']
# Words ahead of the program that are run under wsdbg, not wsdbg under them.
INSIDE = ('exec mpirun', 'exec unshare -pf')
# Python's three ways to start a process, each of which uses CUDA.
PYTHON = '''
import multiprocessing, subprocess, sys
def work(): sys.exit(subprocess.run([sys.argv[2], 'work']).returncode)
def use():
    import ctypes
    driver = ctypes.CDLL('libcuda.so.1')
    sys.exit(driver.cuInit(0))
if __name__ == '__main__':
    multiprocessing.set_start_method(sys.argv[1])
    for target in use, work:
        child = multiprocessing.Process(target=target)
        child.start(); child.join()
        print(target.__name__, child.exitcode)
'''

Row = collections.namedtuple('Row', 'name program build before needs environment watched quick only')


def row(name, program, build='gcc', before='', needs=(), environment=None, watched='', quick=True, only=''):
    """before: shell words ahead of the program, alone or under wsdbg.  watched: words that wsdbg says instead of running it (status 125).
    only: the driver with which it says anything (NVIDIA's does not start in so little memory)."""
    return Row(name, program, build, before, tuple(needs), environment or {}, watched, quick, only)


def limited(limit):
    return f'ulimit {limit}; exec'


def own_shm(options):
    return f'exec unshare -m sh -c \'mount -t tmpfs -o {options} none /dev/shm && exec "$@"\' sh'


BUILDS = {  # how traced.c becomes a program
    'gcc': ['gcc'], 'clang': ['clang'], 'static': ['gcc', '-static'], 'musl': ['musl-gcc', *KERNEL_HEADERS], 'musl-static': ['musl-gcc', '-static', *KERNEL_HEADERS],
    **{f'{compiler} -fsanitize={kind}': [compiler, f'-fsanitize={kind}']
       for compiler, kinds in (('gcc', ('address', 'thread', 'undefined', 'leak')), ('clang', ('address', 'thread', 'undefined', 'leak', 'memory')))
       for kind in kinds}}

ROWS = [
    row('uses CUDA', 'work'), row('clang', 'work', build='clang', quick=False),
    *[row(build, 'work', build=build, quick=False) for build in BUILDS if 'sanitize' in build],
    *[row(name, 'work', needs=[LIBRARY + file], environment={'LD_PRELOAD': LIBRARY + file}, quick=False) for name, file in
      (('jemalloc', 'libjemalloc.so.2'), ('tcmalloc', 'libtcmalloc_minimal.so.4'), ('mimalloc', 'libmimalloc.so.2'))],
    row('linked statically', 'work', build='static', quick=False),
    row('musl', 'work', build='musl', needs=['musl-gcc'], watched='is made for musl', quick=False), row('musl static', 'work', build='musl-static', needs=['musl-gcc'], quick=False),
    row('setuid', 'setuid', watched='is set-user-ID'),
    row('descriptors that it is given', 'descriptors'), row('closes 0 to 2', 'closes-streams'), row('puts files on 0 to 2', 'redirects'),
    row('closes all descriptors', 'closes-all'), row('closes all above 2', 'closes-above'), row('reads stdin', 'reads-stdin'),
    row('seccomp before CUDA', 'limits-calls before'), row('seccomp after CUDA', 'limits-calls after'),
    row('chroot', 'changes-root .'), row('becomes another user', 'drops-user'), row('clears its environment', 'clears-environment'),
    row('/dev/shm of 64 MiB', 'children 3', before=own_shm('size=64m')), row('/dev/shm of 4 KiB', 'work', before=own_shm('size=4k')),
    row('/dev/shm read-only', 'work', before=own_shm('ro')),
    *[row(f'ulimit {limit}', 'work', before=limited(limit)) for limit in ('-n 64', '-n 32', '-f 1000', '-f 3000', '-f 10000', '-c 0', '-s 512')],
    *[row(f'ulimit -f {blocks}', 'work', before=limited(f'-f {blocks}'), watched='write the session database') for blocks in (50, 100)],
    row('ulimit -v 400 MB', 'work', before=limited('-v 400000')), row('ulimit -v 100 MB', 'work', before=limited('-v 100000'), only='sim'),
    row('ulimit -u of another user', 'work', before='exec setpriv --reuid=65534 --regid=65534 --clear-groups prlimit --nproc=8', needs=['setpriv', 'prlimit']),
    row('as another user', 'work', before='exec setpriv --reuid=65534 --regid=65534 --clear-groups', needs=['setpriv']),
    row('daemon', 'daemon', quick=False), row('in a session of its own', 'own-session'),
    row('fork', 'forks'), row('fork after CUDA', 'forks-after'), row('vfork', 'vforks'), row('posix_spawn', 'spawns'), row('exec after CUDA', 'executes'),
    row('in a PID namespace', 'work', before='exec unshare -pf --mount-proc', needs=['unshare']),
    row('20 children', 'children 20'), row('8 at a time', 'side-by-side 8'),
    *[row(f'Python, {method}', f'python {method}', quick=False) for method in ('fork', 'spawn', 'forkserver')],
    row('mpirun, 4 ranks', 'work', before='exec mpirun --allow-run-as-root --oversubscribe -n 4 --mca btl self,vader', needs=['mpirun'], quick=False),
    row('ends by abort()', f'by-signal {signal.SIGABRT:d}'), row('ends by SIGSEGV', f'by-signal {signal.SIGSEGV:d}'),
    row('ends by SIGTERM', f'by-signal {signal.SIGTERM:d}'), row('ends by SIGKILL', f'by-signal {signal.SIGKILL:d}'),
    row('ends by SIGPIPE', f'by-signal {signal.SIGPIPE:d}'), row('ends with status 42', 'by-status 42'), row('ends with status 124', 'by-status 124'),
    row('catches SIGTERM', f'catches {signal.SIGTERM:d}'), row('catches SIGUSR1', f'catches {signal.SIGUSR1:d}'),
]


# ---- programs ----


class Programs:
    def __init__(self, folder):
        self.folder, self.made = folder, {}

    def of(self, build):
        """The path of traced.c built so; None = it cannot be here."""
        if build not in self.made:
            path = os.path.join(self.folder, 'traced-' + re.sub('[^a-z]+', '-', build))
            command = [*BUILDS[build], *WARNINGS, '-o', path, f'{HERE}/traced.c', *([] if 'musl' in build else ['-ldl'])]
            built = shutil.which(command[0]) and subprocess.run(command, capture_output=True).returncode == 0
            self.made[build] = path if built else None
        return self.made[build]

    def setuid(self):
        path = os.path.join(self.folder, 'traced-setuid')
        shutil.copy(self.of('gcc'), path)
        os.chown(path, NOBODY, NOBODY)
        os.chmod(path, 0o4755)
        return path

    def command(self, chosen):
        """None = it cannot be built here."""
        words = chosen.program.split()
        if words[0] == 'setuid':
            return [self.setuid(), 'work'] if os.geteuid() == 0 else None
        program = self.of(chosen.build)
        if words[0] == 'python':
            script = os.path.join(self.folder, 'start.py')
            with open(script, 'w') as file:
                file.write(PYTHON)
            return [sys.executable, script, words[1], program]
        return program and [program, *words]


# ---- one run ----


def go_apart(options='size=50%'):
    """Into a /dev/shm of its own where that can be had: what is left there is then of these runs alone."""
    if os.environ.get('TRUST_APART') or subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode != 0:
        return
    os.environ['TRUST_APART'] = '1'
    os.execvp('unshare', ['unshare', '-m', 'sh', '-c', f'mount -t tmpfs -o {options} none /dev/shm && exec "$@"', 'sh', sys.executable, *sys.argv])


def shared_memory():
    """Of these runs; nothing where it would be everybody's."""
    return 'TRUST_APART' in os.environ and sorted(name for name in os.listdir('/dev/shm') if not name.startswith(('sem.', 'vader_segment'))) or []


def processes_with(mark):
    """Those that carry the mark in their environment, without those that have ended."""
    found = []
    for entry in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{entry}/environ', 'rb') as environment, open(f'/proc/{entry}/stat') as status:
                if mark.encode() in environment.read() and status.read().rsplit(')', 1)[1].split()[0] != 'Z':
                    found.append(int(entry))
        except OSError:
            pass
    return found


def files_of(folder):
    """Name -> mode and content."""
    return {name: (oct(os.stat(path).st_mode), open(path, 'rb').read()) for name in sorted(os.listdir(folder))
            for path in [os.path.join(folder, name)] if os.path.isfile(path)}


def cleaned(text):
    """Without process ids and addresses, which differ between two runs of the program alone."""
    return re.sub(r'==\d+==|\b0x[0-9a-f]+\b|\bpid \d+|\[\d+\]', '#', text)


def ran(command, folder, environment, mark):
    work, temporary = os.path.join(folder, 'work'), os.path.join(folder, 'tmp')
    os.makedirs(work), os.makedirs(temporary)
    for path in folder, work, temporary:
        os.chmod(path, 0o777)
    before = shared_memory()
    with open(os.path.join(folder, 'out'), 'w+') as out, open(os.path.join(folder, 'err'), 'w+') as err:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=work,
                                   env={**os.environ, **environment, 'TMPDIR': temporary, 'TRUST_MARK': mark})
        try:
            process.communicate(b'a line of input\n', timeout=LIMIT_S)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            status = f'no end within {LIMIT_S} s'
        until = time.monotonic() + SETTLE_S
        while (left := processes_with(mark)) and time.monotonic() < until:
            time.sleep(0.05)
        out.seek(0), err.seek(0)
        outcome = {'status': status, 'stdout': cleaned(out.read()), 'stderr': err.read(), 'files': files_of(work), 'processes left': len(left),
                   '/dev/shm': [name for name in shared_memory() if name not in before], 'temporary folder': sorted(os.listdir(temporary))}
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return outcome


def split_lines(errors):
    """The program's lines and wsdbg's."""
    lines = errors.splitlines()
    ours = [line for line in lines if line.startswith(('wsdbg: ', 'wsdbg run: '))]
    return cleaned('\n'.join(line for line in lines if not line.startswith(('wsdbg: ', 'wsdbg run: ')))), ours


def compare(chosen, options, programs, folder):
    """What differs, and what wsdbg said; None = not here."""
    command = programs.command(chosen)
    if command is None or any(not (os.path.exists(need) or shutil.which(need)) for need in chosen.needs):
        return None
    environment = {**options.environment, **chosen.environment}
    if 'LD_PRELOAD' in environment and os.environ.get('LD_PRELOAD'):
        environment['LD_PRELOAD'] += ':' + os.environ['LD_PRELOAD']
    begin = ['sh', '-c', (chosen.before or 'exec') + ' "$@"', 'sh']
    name = re.sub('[^a-z0-9]+', '-', chosen.name.lower())
    alone = ran([*begin, *command], f'{folder}/{name}-alone', environment, f'{name}-alone-{os.getpid()}')
    database = f'{folder}/{name}-db'
    os.makedirs(database)
    os.chmod(database, 0o777)
    if chosen.before.startswith(INSIDE):
        begin = ['sh', '-c', 'exec "$@"', 'sh']
        command = [*chosen.before.split()[1:], *command]
    watched = ran([*begin, options.wsdbg, 'run', '-o', f'{database}/run.db', '--', *command], f'{folder}/{name}-watched', environment,
                  f'{name}-watched-{os.getpid()}')
    alone['stderr'] = cleaned(alone['stderr'].rstrip('\n'))
    watched['stderr'], ours = split_lines(watched['stderr'].rstrip('\n'))
    if chosen.watched:
        refused = watched['status'] == 125 and any(chosen.watched in line for line in ours)
        return [] if refused else [f'not refused in words: status {watched["status"]}, {ours}'], ours
    return [f'{what}: {alone[what]!r} alone, {watched[what]!r} under wsdbg' for what in alone if alone[what] != watched[what]], ours


# ---- the page ----


def launches_of(ours):
    found = [int(match[1].replace(',', '')) for line in ours for match in [re.search(r'([\d,]+) kernel launch', line)] if match]
    return found[0] if found else None


def folded(lines):
    """Lines that differ in numbers alone are one."""
    kinds = {}
    for line in lines:
        kinds.setdefault(re.sub(r'[0-9.]+', '#', line), []).append(line)
    return [same[0] + (f' ({len(same)} such lines)' if len(same) > 1 else '') for same in kinds.values()]


def page(kept, where):
    here = [entry for entry in kept if entry['differs'] is not None]
    different = [entry for entry in here if entry['differs']]
    lines = [f'## Programs of every kind, {where}', '',
             '`tests/trust/matrix.py`: each program alone and under `wsdbg run` with default options. Compared are its status or signal, stdout, stderr '
             'without the lines of wsdbg, the files that it leaves (name, mode, content), processes that go on, and what is left in `/dev/shm` and in the temporary folder.', '',
             f'{len(here)} rows, {len(different)} with a difference.'
             + (f' Not here: {", ".join(entry["row"] for entry in kept if entry["differs"] is None)}.' if len(here) < len(kept) else ''), '',
             '| program | differs | launches that wsdbg saw | what it said beside |', '|---|---|---|---|']
    for entry in here:
        said = '; '.join(folded([re.sub(r'^wsdbg( run)?: ', '', line) for line in entry['said'] if 'kernel launch' not in line]))
        launches = launches_of(entry['said'])
        lines.append(f"| {entry['row']} | {'; '.join(entry['differs']) or 'nothing'} | {'-' if launches is None else launches} | {said.replace('|', '/') or '-'} |")
    return '\n'.join(lines)


def shown(lines, folder):
    """Without what differs from run to run."""
    return [re.sub(r'process \d+', 'process N', line.replace(folder, '')) for line in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--driver', default='sim', choices=('sim', 'fake', 'real'))
    parser.add_argument('--rows', default='')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--deadline', type=float, default=3600, help='after so many seconds no row is begun')
    parser.add_argument('--json')
    parser.add_argument('--page')
    parser.add_argument('--save', action='store_true')
    options = parser.parse_args()
    if options.page:
        kept = json.load(open(options.page))
        results.save('matrix-gpu', kept, page(kept, 'with the driver of an H200'), 'trust')
        return 0
    build = os.path.abspath(options.build)
    folders = {'sim': f'{build}/lib/wsdbg/sim', 'fake': f'{build}/tests/shim'}
    options.wsdbg = f'{build}/bin/wsdbg'
    options.environment = {'LD_LIBRARY_PATH': folders[options.driver]} if options.driver in folders else {}
    if not os.path.exists(options.wsdbg) or not shutil.which('gcc'):
        print('matrix.py: no wsdbg or no gcc here', file=sys.stderr)
        return 77
    go_apart()
    until = time.monotonic() + options.deadline
    kept, wanted = [], [name for name in options.rows.split(',') if name]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        programs = Programs(folder)
        for chosen in ROWS:
            if (wanted and chosen.name not in wanted) or (options.quick and not chosen.quick) or (chosen.only and chosen.only != options.driver):
                continue
            if time.monotonic() > until:
                break
            outcome = compare(chosen, options, programs, folder)
            differs, said = outcome or (None, [])
            print(f"{chosen.name}: {'not here' if differs is None else '; '.join(differs) or 'the same'}", flush=True)
            kept.append({'row': chosen.name, 'differs': differs, 'said': shown(said, folder)})
    if options.json:
        json.dump(kept, open(options.json, 'w'), indent=1)
    if options.save:
        results.save('matrix', kept, page(kept, 'on the simulator'), 'trust')
    return int(any(entry['differs'] for entry in kept))


if __name__ == '__main__':
    sys.exit(main())
