#!/usr/bin/env python3
"""measure_live.py - what looking at a running session costs: wsdbg top and wsdbg run --tui; docs/results/viewer.md's part.

    tests/viewer/measure_live.py [--build build] [--runs 5] [--seconds 4]

BUILD/tests/busy_gpu plays a kernel on 132 SMs with 12 warps each, every one of which changes its state 200 times a second.
Every viewer has a terminal of 200 x 60 and shows the warps, so each picture differs from the one before.  Processor time
is what the kernel counted for the process; an update is a burst of output after 20 ms of silence.  Use a release build.
"""
import argparse, fcntl, os, pty, sqlite3, struct, subprocess, sys, tempfile, termios, threading, time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import results

COLUMNS, ROWS, TOPS, SILENCE_S, WRITTEN_MB, STALL_S = 200, 60, 4, 0.02, 100, 0.5
SETTLE_S = 1.5

GOALS = [  # key, what, unit, digits, goal
    ('run_cpu', '`wsdbg run`, nobody looks: processor time', '% of a core', 1, ''),
    ('top_cpu', '`wsdbg top`, one: processor time', '% of a core', 1, '≤ 5'),
    ('top_updates', '`wsdbg top`, one: updates', 'a second', 1, '≥ 10'),
    ('run_cpu_one_top', '`wsdbg run` beside it: processor time', '% of a core', 1, ''),
    ('tops_cpu', f'`wsdbg top`, the busiest of {TOPS} at once: processor time', '% of a core', 1, '≤ 5'),
    ('tops_updates', f'`wsdbg top`, the slowest of {TOPS}: updates', 'a second', 1, '≥ 10'),
    ('run_cpu_tops', f'`wsdbg run` beside {TOPS}: processor time', '% of a core', 1, ''),
    ('tui_cpu', '`wsdbg run --tui`, watching and showing: processor time', '% of a core', 1, '≤ 5'),
    ('tui_updates', '`wsdbg run --tui`: updates', 'a second', 1, '≥ 10'),
    ('verdict_ms', '`wsdbg run`: verdict after the stall threshold', 'ms', 0, '≤ 100'),
    ('tui_verdict_ms', '`wsdbg run --tui`: verdict after the stall threshold', 'ms', 0, '≤ 100'),
    ('write_s', f'a program writes {WRITTEN_MB} MB to its terminal, `script` reads', 's', 1, ''),
    ('tui_write_s', f'the same under `wsdbg run --tui`', 's', 1, ''),
    ('tui_write_mib', 'most memory of `wsdbg run --tui` meanwhile', 'MiB', 0, ''),
]


class Terminal:
    """A program on a terminal of its own, whose output is counted."""

    def __init__(self, words):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM='xterm-256color', LC_ALL='C.UTF-8')
            os.execv(words[0], words)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', ROWS, COLUMNS, 0, 0))
        self.bursts = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        last = 0
        while True:
            try:
                os.read(self.master, 65536)
            except OSError:
                return
            now = time.monotonic()
            self.bursts += now - last > SILENCE_S
            last = now

    def press(self, keys):
        os.write(self.master, keys)

    def leave(self):
        self.press(b'q')
        os.waitpid(self.pid, 0)
        os.close(self.master)


def processor_s(pid):
    """To the nanosecond: ticks are sampled, and a program that sleeps on the same clock hides between them."""
    with open(f'/proc/{pid}/schedstat') as file:
        return int(file.read().split()[0]) / 1e9


def peak_mib(pid):
    with open(f'/proc/{pid}/status') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmHWM')) / 1024


def over(seconds, pids, terminals):
    """Percent of a core of every process, and updates a second of every terminal."""
    time.sleep(SETTLE_S)
    for terminal in terminals:
        terminal.press(b'w')
    time.sleep(SETTLE_S)
    before, bursts, began = [processor_s(pid) for pid in pids], [t.bursts for t in terminals], time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    return ([100 * (processor_s(pid) - used) / passed for pid, used in zip(pids, before)],
            [(t.bursts - n) / passed for t, n in zip(terminals, bursts)])


def beside(programs, seconds, tops):
    """A run with so many tops: the run's load, the busiest top's, the slowest top's updates."""
    wsdbg = os.path.join(programs, 'bin', 'wsdbg')
    life = str(seconds + 2 * SETTLE_S + 4)
    run = subprocess.Popen([wsdbg, 'run', '-q', '-o', 'x.db', os.path.join(programs, 'tests', 'busy_gpu'), life])
    time.sleep(1)
    terminals = [Terminal([wsdbg, 'top', str(run.pid)]) for _ in range(tops)]
    load, updates = over(seconds, [run.pid] + [t.pid for t in terminals], terminals)
    for terminal in terminals:
        terminal.leave()
    run.wait()
    os.remove('x.db')
    return load[0], max(load[1:], default=0), min(updates, default=0)


def tui(programs, seconds):
    wsdbg = os.path.join(programs, 'bin', 'wsdbg')
    life = str(seconds + 2 * SETTLE_S + 1)
    terminal = Terminal([wsdbg, 'run', '--tui', '-q', '-o', 'x.db', os.path.join(programs, 'tests', 'busy_gpu'), life])
    load, updates = over(seconds, [terminal.pid], [terminal])
    time.sleep(3)
    terminal.leave()
    os.remove('x.db')
    return load[0], updates[0]


def verdict_ms(programs, with_tui):
    words = [os.path.join(programs, 'bin', 'wsdbg'), 'run'] + ['--tui'] * with_tui
    words += ['-o', 'x.db', '--stall', str(STALL_S), os.path.join(programs, 'tests', 'fake_hang'), 'hang']
    if with_tui:
        terminal = Terminal(words)
        time.sleep(STALL_S + 2)
        terminal.leave()
    else:
        subprocess.run(words, capture_output=True)
    with sqlite3.connect('x.db') as database:
        delay_ns, = database.execute('SELECT verdict_ns - stalled_ns FROM session').fetchone()
    os.remove('x.db')
    return delay_ns / 1e6


def written(words, script):
    """Seconds until the script has written its megabytes, and the most memory of who reads them."""
    began = time.monotonic()
    terminal = Terminal(words(f"{script}; echo > written"))
    while not os.path.exists('written'):
        time.sleep(0.01)
    passed, memory = time.monotonic() - began, peak_mib(terminal.pid)
    os.remove('written')
    return passed, memory, terminal


def write_rate(programs):
    script = f"head -c {WRITTEN_MB}000000 /dev/zero | tr '\\0' x | fold -w 99"
    wsdbg = os.path.join(programs, 'bin', 'wsdbg')
    plain_s, _, terminal = written(lambda text: ['/usr/bin/script', '-qc', text, '/dev/null'], script)
    os.waitpid(terminal.pid, 0)
    tui_s, memory_mib, terminal = written(lambda text: [wsdbg, 'run', '--tui', '-q', '-o', 'x.db', 'sh', '-c', text], script)
    time.sleep(1)
    terminal.leave()
    os.remove('x.db')
    return plain_s, tui_s, memory_mib


def measure(programs, seconds):
    row = {}
    row['run_cpu'], _, _ = beside(programs, seconds, 0)
    row['run_cpu_one_top'], row['top_cpu'], row['top_updates'] = beside(programs, seconds, 1)
    row['run_cpu_tops'], row['tops_cpu'], row['tops_updates'] = beside(programs, seconds, TOPS)
    row['tui_cpu'], row['tui_updates'] = tui(programs, seconds)
    row['verdict_ms'], row['tui_verdict_ms'] = verdict_ms(programs, False), verdict_ms(programs, True)
    row['write_s'], row['tui_write_s'], row['tui_write_mib'] = write_rate(programs)
    return row


def page(data):
    lines = ['## Looking at a running session', '',
             f"`{data['command']}`: {data['machine']}; {data['runs']} runs of {data['seconds']:g} s each. A program that stands in for a "
             f"GPU changes 132 × 12 warps 200 times a second; terminals of {COLUMNS} × {ROWS} show the warps.", '',
             '| what | unit | median (smallest–largest) | asked for |', '|---|---|---|---|']
    for key, what, unit, digits, goal in GOALS:
        lines.append(f'| {what} | {unit} | {results.cell(data[key], digits)} | {goal} |')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=4)
    options = parser.parse_args()
    programs = os.path.abspath(options.build)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = [measure(programs, options.seconds) for _ in range(options.runs)]
        os.chdir('/')
    data = {'command': 'tests/viewer/measure_live.py', 'machine': results.machine(), 'runs': options.runs,
            'seconds': options.seconds}
    data.update({key: results.spread([row[key] for row in rows]) for key, *_ in GOALS})
    results.save('live', data, page(data))


if __name__ == '__main__':
    main()
