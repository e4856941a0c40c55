#!/usr/bin/env python3
"""measure.py - how fast the store takes and gives back a session of ten million events; docs/results/viewer.md's part.

    tests/store/measure.py [--build build] [--runs 5] [--core 0] [--folder FOLDER]

Runs BUILD/tests/bench_store and bench_ring on one core, a fresh file each time.  Use a release build and an idle machine.
"""
import argparse, json, os, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import results

CONTEXTS, DEPTH, PROCESSES = 8, 148, 10

GOALS = [  # key, what, unit, digits, scale, goal
    ('events_per_s', 'ingest: one snapshot stored and the file closed', 'events/s', 0, 1, '≥ 500,000'),
    ('events_per_cpu_s', 'the same for a second of processor time, whatever else the machine does', 'events/s', 0, 1, ''),
    ('ring_events_per_s', 'ingest, the whole way: ten processes’ rings read, snapshot built, stored, closed', 'events/s', 0, 1,
     '≥ 500,000'),
    ('log_lines_per_s', 'log lines of the program stored, one at a time', 'lines/s', 0, 1, ''),
    ('file_mib', 'size of the file', 'MiB', 0, 1, ''),
    ('open_and_load_s', 'a viewer opens the file: checked, everything but histories read; the file is in the page cache', 'ms', 0, 1e3, '≤ 1000'),
    ('one_warp_ms', 'the history of one warp', 'ms', 3, 1, '≤ 1'),
    ('view_mib', 'most memory of such a viewer', 'MiB', 0, 1, ''),
    ('report_text_s', '`wsdbg report`', 'ms', 0, 1e3, ''),
    ('report_json_s', '`wsdbg report --json`', 'ms', 0, 1e3, ''),
    ('query_waits_s', '`wsdbg query @waits`', 'ms', 0, 1e3, ''),
    ('query_timeline_s', '`wsdbg query @timeline`: the newest 200 of all events', 'ms', 0, 1e3, ''),
    ('peak_mib', 'most memory of all the reading above', 'MiB', 0, 1, ''),
]


def run(arguments):
    return json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=300).stdout)


def measure(programs, folder, runs):
    """The rows of every run: what the two programs said."""
    rows = []
    bench, ring = (os.path.join(programs, name) for name in ('bench_store', 'bench_ring'))
    path = os.path.join(folder, 'bench.db')
    for _ in range(runs):
        written = run([bench, 'write', path, str(CONTEXTS), str(DEPTH)])
        read = run([bench, 'read', path])
        os.remove(path)
        read['open_and_load_s'] = read['open_s'] + read['load_s']
        rows.append({**written, **read, **run([ring, path, str(PROCESSES)])})
        os.remove(path)
    return rows


def page(data):
    lines = ['## The store at ten million events', '',
             f"`{data['command']}`: {data['machine']}; one core, a fresh file each of {data['runs']} runs. The session is synthetic: "
             f"{CONTEXTS} contexts × 132 SMs × 64 warps × {DEPTH} events = {data['events']:,} events; "
             f"of the rings, {PROCESSES} processes × 132 × 64 × 128 = {data['ring_events']:,}.", '',
             '| what | unit | median (smallest–largest) | asked for |', '|---|---|---|---|']
    for key, what, unit, digits, scale, goal in GOALS:
        lines.append(f'| {what} | {unit} | {results.cell(data[key], digits, scale)} | {goal} |')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--core', type=int, default=0)
    parser.add_argument('--folder')
    options = parser.parse_args()
    machine = results.machine()
    os.sched_setaffinity(0, {options.core})
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = measure(os.path.join(options.build, 'tests'), folder, options.runs)
    data = {'command': 'tests/store/measure.py', 'machine': machine, 'runs': options.runs, 'events': rows[0]['events'],
            'ring_events': rows[0]['ring_events']}
    data.update({key: results.spread([row[key] for row in rows]) for key, *_ in GOALS})
    results.save('store', data, page(data))


if __name__ == '__main__':
    main()
