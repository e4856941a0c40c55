#!/usr/bin/env python3
"""many.py - many processes and many launches under one `wsdbg run`: does anything grow?

    tests/trust/many.py [--build build] [--parts children,at-once,launches] [--children 5000] [--launches 20000000] [--save]

children: a program starts so many processes one after the other, each of which launches kernels; then one more, whose kernel hangs.  at-once: eight at a time, without the
last one.  Both with a /dev/shm of 64 MiB and 256 descriptors.  launches: one program that launches so often.  While it goes, wsdbg's memory and descriptors, the
program's memory, the database and /dev/shm are measured.  All on the simulator.
--save writes the section "many" of docs/results/trust.md.
Exit status: 1 when a launch was not counted, a hang not found, a process disturbed, or something left.  A development script.
"""
import argparse, os, re, resource, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
import matrix, results

DESCRIPTORS, SHM_MB = 256, 64
LAUNCHES_EACH = 8
ROWS = 10  # of each table


def memory_kb(pid):
    """None: it has ended."""
    try:
        with open(f'/proc/{pid}/status') as status:
            found = re.search(r'VmRSS:\s+(\d+)', status.read())
            return found and int(found[1])
    except OSError:
        return None


def size_of(*paths):
    return sum(os.path.getsize(path) for path in paths if os.path.exists(path))


def child_of(pid):
    """The program: not what wsdbg has started beside it."""
    for child in open(f'/proc/{pid}/task/{pid}/children').read().split():
        if open(f'/proc/{child}/comm').read().startswith('traced'):
            return int(child)
    return None


def sample(process, database, done):
    space = os.statvfs('/dev/shm')
    program = child_of(process.pid)
    return {'done': done, 'wsdbg_kb': memory_kb(process.pid), 'descriptors': len(os.listdir(f'/proc/{process.pid}/fd')), 'program_kb': memory_kb(program) if program else None,
            'database_kb': size_of(database, database + '-wal') // 1024, 'shm_kb': (space.f_blocks - space.f_bfree) * space.f_frsize // 1024}


def run(options, program, way, environment):
    """The samples, wsdbg's status, its words and the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        database = f'{folder}/run.db'
        samples, words, began = [], [], time.monotonic()
        process = subprocess.Popen([options.wsdbg, 'run', '--stall', '1', '-o', database, '--', program, *way], env={**os.environ, **environment, 'TMPDIR': folder},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)))
        for line in process.stderr:
            progress = re.match(r'progress (\d+)', line)
            if progress:
                samples.append(sample(process, database, int(progress[1])))
            else:
                words.append(line.rstrip('\n'))
        process.wait()
        left = matrix.shared_memory() + [entry for entry in os.listdir(folder) if not entry.startswith('run.db')]
        return samples, process.returncode, words, time.monotonic() - began, left


def measured(options, program, environment, name, way, launches, status):
    samples, ended, words, seconds, left = run(options, program, way, environment)
    counted = [int(match[1].replace(',', '')) for line in words for match in [re.search(r'([\d,]+) kernel launches seen', line)] if match]
    hang = [line for line in words if line.startswith('HANG')]
    wrong = [*([f'status {ended}'] if ended != status else []), *([f'left: {left}'] if left else []),
             *([f'launches seen: {counted}'] if status == 0 and counted != [launches] else []), *(['no hang found'] if status and not hang else [])]
    row = {'name': name, 'way': ' '.join(way), 'status': ended, 'counted': counted[0] if counted else None, 'hang': hang[0] if hang else None, 'seconds': seconds,
           'samples': samples, 'wrong': wrong}
    print(name, f'{seconds:.0f} s', ended, hang or counted, '; '.join(wrong) or 'right', samples[:1], samples[-1:], *(words[-8:] if wrong else []), sep='\n    ', flush=True)
    return row


def page(rows):
    lines = ['## Many processes, many launches', '',
             f'`tests/trust/many.py`, on the simulator: a `/dev/shm` of {SHM_MB} MiB and {DESCRIPTORS} descriptors; {LAUNCHES_EACH} launches a process. Memory is what is resident; the database is '
             'counted with its log.', '']
    for row in rows:
        each = max(1, len(row['samples']) // ROWS)
        what = row['hang'] or f"{row['counted']:,} launches seen" if row['counted'] or row['hang'] else '?'
        lines += [f"**{row['name']}**: {'; '.join(row['wrong']) or 'right'}; status {row['status']}, {what}; {row['seconds']:.0f} s.", '',
                  '| so many | wsdbg, KiB | its descriptors | program, KiB | database, KiB | /dev/shm, KiB |', '|---|---|---|---|---|---|']
        lines += [f"| {s['done']:,} | {s['wsdbg_kb']:,} | {s['descriptors']} | {s['program_kb'] or 0:,} | {s['database_kb']:,} | {s['shm_kb']:,} |"
                  for at, s in enumerate(row['samples']) if at == 0 or (at + 1) % each == 0]
        lines.append('')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--parts', default='children,at-once,launches')
    parser.add_argument('--children', type=int, default=5000)
    parser.add_argument('--launches', type=int, default=20000000)
    parser.add_argument('--save', action='store_true')
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    options.wsdbg = f'{build}/bin/wsdbg'
    matrix.go_apart(f'size={SHM_MB}m')
    with tempfile.TemporaryDirectory() as folder:
        program, environment = matrix.Programs(folder).of('gcc'), {'LD_LIBRARY_PATH': f'{build}/lib/wsdbg/sim'}
        every = {'children': (f'{options.children:,} processes, then one that hangs', ['children-and-a-hang', str(options.children)], None, 124),
                 'at-once': (f'{options.children:,} processes, eight at a time', ['children', f'{options.children}:8'], options.children * LAUNCHES_EACH, 0),
                 'launches': (f'{options.launches:,} launches', ['launches', str(options.launches)], options.launches + LAUNCHES_EACH, 0)}
        rows = [measured(options, program, environment, *every[part]) for part in options.parts.split(',')]
    if options.save:
        results.save('many', rows, page(rows), 'trust')
    return int(any(row['wrong'] for row in rows))


if __name__ == '__main__':
    sys.exit(main())
