#!/usr/bin/env python3
"""measure_view.py - how fast wsdbg view answers on a session of ten million events; docs/results/viewer.md's part.

    tests/viewer/measure_view.py [--build build] [--runs 5]

The session is synthetic (bench_store write); the terminal is 200 x 60.  An answer is the time from a key to the last byte
of output before 100 ms of silence.  Use a release build on an idle machine.
"""
import argparse, fcntl, os, pty, select, struct, subprocess, sys, tempfile, termios, time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import results

COLUMNS, ROWS, SILENCE_S, PRESSES = 200, 60, 0.1, 12
CONTEXTS, EVENTS_A_WARP = 8, 148
UP, DOWN, LEFT, RIGHT, NEXT, PREVIOUS = b'\x1bOA', b'\x1bOB', b'\x1bOD', b'\x1bOC', b'\x1b[6~', b'\x1b[5~'
VIEWS = [('overview', b'1', []), ('cause', b'2', []), ('warps', b'3', [DOWN, NEXT, PREVIOUS]),
         ('barriers', b'4', [DOWN, NEXT, PREVIOUS]), ('graph', b'5', [DOWN, NEXT]),
         ('timeline', b'6', [DOWN, NEXT, PREVIOUS, LEFT, b'+', RIGHT, b'-']), ('registers', b'8', [DOWN, NEXT]),
         ('log', b'9', [])]


def start(words):
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(TERM='xterm-256color', LC_ALL='C.UTF-8')
        os.execv(words[0], words)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', ROWS, COLUMNS, 0, 0))
    return pid, master


def answer_ms(master, limit_s=5):
    """Until the last output before a silence; 0 when a key changes nothing."""
    began, last = time.monotonic(), None
    while time.monotonic() - began < limit_s:
        if select.select([master], [], [], SILENCE_S)[0]:
            os.read(master, 1 << 16)
            last = time.monotonic()
        elif last or time.monotonic() - began > 0.4:
            break
    return (last - began) * 1e3 if last else 0


def press(master, key):
    os.write(master, key)
    return answer_ms(master)


def session(wsdbg, path):
    """Milliseconds: to the first screen, to each view's first, and of all keys in each view; and the peak memory."""
    pid, master = start([wsdbg, 'view', path])
    row = {'open': answer_ms(master), 'first': {}, 'keys': {}}
    for name, key, keys in VIEWS:
        row['first'][name] = press(master, key)
        answers = [press(master, k) for k in keys for _ in range(PRESSES)]
        row["keys"][name] = [ms for ms in answers if ms > 0]  # a key at the last row changes nothing
    with open(f'/proc/{pid}/status') as file:
        row['mib'] = next(int(line.split()[1]) for line in file if line.startswith('VmHWM')) / 1024
    os.write(master, b'q')
    os.waitpid(pid, 0)
    os.close(master)
    return row


def page(data):
    lines = ['## The viewer at ten million events', '',
             f"`{data['command']}`: {data['machine']}; terminal {COLUMNS} × {ROWS}, {data['runs']} runs; keys are arrows, pages, and in the",
             'timeline scroll and zoom as well.', '',
             '| what | ms: median (smallest–largest) | asked for |', '|---|---|---|',
             f"| from the command to the first screen | {results.cell(data['open'])} | ≤ 1000 |"]
    for name, *_ in VIEWS:
        lines.append(f"| {name}: first shown | {results.cell(data['first'][name])} |  |")
        if name in data['keys']:
            lines.append(f"| {name}: a key | {results.cell(data['keys'][name], 1)} | ≤ 50 |")
    lines.append(f"\nMost memory: {results.cell(data['mib'])} MiB.")
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--runs', type=int, default=5)
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'ten-million.db')
        subprocess.run([os.path.join(build, 'tests', 'bench_store'), 'write', path, str(CONTEXTS), str(EVENTS_A_WARP)],
                       check=True, capture_output=True)
        rows = [session(os.path.join(build, 'bin', 'wsdbg'), path) for _ in range(options.runs)]
    data = {'command': 'tests/viewer/measure_view.py', 'machine': results.machine(), 'runs': options.runs,
            'open': results.spread([r['open'] for r in rows]), 'mib': results.spread([r['mib'] for r in rows]),
            'first': {name: results.spread([r['first'][name] for r in rows]) for name, *_ in VIEWS},
            'keys': {name: results.spread([ms for r in rows for ms in r['keys'][name]]) for name, _, keys in VIEWS if keys}}
    results.save('view', data, page(data))


if __name__ == '__main__':
    main()
