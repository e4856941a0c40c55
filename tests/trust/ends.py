#!/usr/bin/env python3
"""ends.py - wsdbg is sent every signal at every stage of a run: how do both end, and what is left?

    tests/trust/ends.py [--build build] [--stages NAME,...] [--signals NAME,...] [--save]

The programs are ways of traced.c on the simulator.  Each signal goes to wsdbg alone.  After it: how wsdbg ended, whether processes of the program are left, whether the
database can be read, and what is left in /dev/shm and the temporary folder after the next run.
Right is: what ends the program alone ends wsdbg in the same way; nothing of the program is left; the database can be read (as far as there is one); nothing is left after
the next run.  --save writes the section "ends" of docs/results/trust.md.
Exit status: 1 when something was wrong.  A development script.
"""
import argparse, os, random, signal, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
import matrix, results

LIMIT_S = 15
# Those that wsdbg passes on (the program ends of them or not as alone), those that end wsdbg at once, and those that it ignores.
PASSED = ('HUP', 'INT', 'TERM', 'USR1', 'USR2')
FATAL = ('KILL', 'SEGV', 'ABRT', 'ALRM')
IGNORED = ('PIPE', 'XFSZ', 'WINCH')
LOOKS = ('QUIT',)
# A signal that is passed on goes to the first process, as without wsdbg: a child of that one lives on then, as without wsdbg.
LIVES_ON, ENDS_FIRST = 'with a child that hangs', ('HUP', 'INT', 'TERM')
STAGES = {  # way of traced.c, options, seconds until the signal (from, to), whether the program hangs
    'before CUDA': ('comes-late 1000', [], (0.3, 0.5), False),
    'while kernels run': ('busy 1500', [], (0.5, 0.9), False),
    'in a hang, before the verdict': ('hangs', ['--stall', '2'], (0.6, 1.5), True),
    'while the verdict is made and kept': ('hangs', ['--stall', '0.5'], (0.6, 0.9), True),
    'while the program ends': ('busy 300', [], None, False),
    LIVES_ON: ('child-hangs', ['--stall', '3'], (0.6, 1.5), True),
}


def has_program(pid):
    try:
        children = open(f'/proc/{pid}/task/{pid}/children').read().split()
        return any(open(f'/proc/{child}/comm').read().startswith('traced') for child in children)
    except OSError:
        return False


def wait_for_end_of_program(pid):
    until, seen = time.monotonic() + LIMIT_S, False
    while time.monotonic() < until:
        has = has_program(pid)
        if seen and not has:
            return
        seen = has
        time.sleep(0.0005)


def expected(name, hangs):
    """The statuses that are right for wsdbg: it may also have been done before."""
    number = getattr(signal, 'SIG' + name)
    verdict = [124] if hangs else []
    if name in FATAL:
        return [-number, *verdict, 0]
    if name in IGNORED or name in LOOKS:
        return verdict or [0]
    return [-number, *verdict, 0]


def one(options, program, stage, name, folder, draw):
    way, more, wait, hangs = STAGES[stage]
    number, mark = getattr(signal, 'SIG' + name), f'ends-{os.getpid()}-{draw.random()}'
    temporary = os.path.join(folder, f'tmp-{draw.random()}')
    os.makedirs(temporary)
    environment = {**os.environ, **options.environment, 'TMPDIR': temporary, 'TRUST_MARK': mark}
    before = matrix.shared_memory()
    process = subprocess.Popen([options.wsdbg, 'run', '-o', f'{temporary}/run.db', *more, '--', program, *way.split()], env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=open(f'{temporary}/run.db.err', 'w'))
    if wait:
        time.sleep(draw.uniform(*wait))
    else:
        wait_for_end_of_program(process.pid)
    process.send_signal(number)
    wrong = []
    try:
        process.wait(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        wrong.append(f'no end within {LIMIT_S} s')
        process.kill()
        process.wait()
    said = open(f'{temporary}/run.db.err').read()
    until = time.monotonic() + 1
    while (left := matrix.processes_with(mark)) and time.monotonic() < until:
        time.sleep(0.02)
    if len(left) != (stage == LIVES_ON and name in ENDS_FIRST):
        wrong.append(f'{len(left)} processes are left')
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    if process.returncode not in expected(name, hangs) and not wrong:
        wrong.append(f'status {process.returncode}: {said.strip().splitlines()[-1:]}')
    if os.path.exists(f'{temporary}/run.db'):
        report = subprocess.run([options.wsdbg, 'report', f'{temporary}/run.db'], capture_output=True, text=True)
        if report.returncode not in (0, 124) or not report.stdout.strip():
            wrong.append(f'the database cannot be read: {report.stderr.strip()}')
    subprocess.run([options.wsdbg, 'run', '-q', '-o', f'{temporary}/next.db', 'true'], env=environment, capture_output=True)
    rest = [entry for entry in matrix.shared_memory() if entry not in before]
    rest += [entry for entry in os.listdir(temporary) if not entry.startswith(('run.db', 'next.db'))]
    if rest:
        wrong.append(f'left after the next run: {rest}')
    return process.returncode, wrong


def page(kept):
    names = list(dict.fromkeys(entry['signal'] for entry in kept))
    stages = list(dict.fromkeys(entry['stage'] for entry in kept))
    cell = {(entry['stage'], entry['signal']): entry for entry in kept}
    wrong = [entry for entry in kept if entry['wrong']]
    lines = ['## Signals to wsdbg at every stage', '',
             '`tests/trust/ends.py`: on the simulator, each signal to wsdbg alone. A cell is the status of wsdbg, or the signal that it died of. After each no process of the program was '
             'left, the database could be read, and after the next run nothing was left in `/dev/shm` or the temporary folder, but where a cell says otherwise.', '',
             f'{len(kept)} runs, {len(wrong)} wrong.', '', '| stage | ' + ' | '.join(names) + ' |', '|---|' + '---|' * len(names)]
    for stage in stages:
        row = [cell[stage, name] for name in names]
        ends = [signal.Signals(-entry['status']).name[3:] if entry['status'] < 0 else str(entry['status']) for entry in row]
        lines.append(f"| {stage} | " + ' | '.join(f"**{'; '.join(entry['wrong'])}**" if entry['wrong'] else end for entry, end in zip(row, ends)) + ' |')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--stages', default='')
    parser.add_argument('--signals', default='')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--save', action='store_true')
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    options.wsdbg, options.environment = f'{build}/bin/wsdbg', {'LD_LIBRARY_PATH': f'{build}/lib/wsdbg/sim'}
    matrix.go_apart()
    stages = options.stages.split(',') if options.stages else list(STAGES)
    names = options.signals.split(',') if options.signals else [*PASSED, *LOOKS, *FATAL, *IGNORED]
    kept, draw = [], random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        program = matrix.Programs(folder).of('gcc')
        for stage in stages:
            for name in names:
                status, wrong = one(options, program, stage, name, folder, draw)
                kept.append({'stage': stage, 'signal': name, 'status': status, 'wrong': wrong})
                print(f"{stage}, SIG{name}: {status} {'; '.join(wrong)}", flush=True)
    if options.save:
        results.save('ends', kept, page(kept), 'trust')
    return int(any(entry['wrong'] for entry in kept))


if __name__ == '__main__':
    sys.exit(main())
