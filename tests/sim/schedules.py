#!/usr/bin/env python3
"""How many schedules wsdbg explore needs to find a defect, by the way in which schedules are drawn: docs/results/explore.md.

Usage: schedules.py BUILD OUT.md     BUILD has bin/wsdbg, bin/zoo, tests/sim_app and tests/rare.ptx

Each case is searched from several first seeds; the table has the median, and the largest.  The usual schedule is not counted: what hangs
there needs no search, and stands in a list of its own.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

SEEDS = (1, 100001, 200001, 300001, 400001, 500001, 600001)
MOST = 3000
WAYS = (('random', '3'), ('priority', '1'), ('priority', '2'), ('priority', '3'), ('mix', '3'))
RARE = ('early_release', 'early_release_far', 'lapped', 'late_init', 'stale_flag')


def explore(build, folder, program, *options):
    database = os.path.join(folder, 'explore.db')
    command = [os.path.join(build, 'bin/wsdbg'), 'explore', '--json', '--jobs', '2', '-o', database, *options, '--', *program]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    return json.loads(run.stdout[run.stdout.index('{\n'):])['launches'][0]


def needed(build, folder, program, way):
    """Schedules until the first that hangs or faults, for each first seed; MOST + 1 where none did."""
    counts = []
    for seed in SEEDS:
        launch = explore(build, folder, program, '--schedules', str(MOST + 1), '--schedule', way[0], '--depth', way[1], '--seed', str(seed))
        counts.append(launch['findings'][0]['place'] - 1 if launch['findings'] else MOST + 1)
    return counts


def number(count):
    return f'> {MOST}' if count > MOST else f'{count:g}'


def zoo(build, folder):
    """How many of the zoo's defects the usual schedule shows."""
    program = os.path.join(build, 'bin/zoo')
    rows = [line.split('\t') for line in subprocess.run([program, '--list'], capture_output=True, text=True, check=True).stdout.splitlines()]
    cases = [row[0] for row in rows if row[4] in ('hang', 'fault')]
    return cases, [case for case in cases if not explore(build, folder, (program, '--case', case), '--schedules', '1')['findings']]


def main():
    build, out = sys.argv[1:]
    app = os.path.join(build, 'tests/sim_app')
    programs = [(name, (app, os.path.join(build, 'tests/rare.ptx'), name, '96')) for name in RARE] + [(name, (app, name)) for name in ('lost', 'lost_word')]
    with tempfile.TemporaryDirectory() as folder:
        cases, hidden = zoo(build, folder)
        lines = ['# Schedules that a defect needs', '',
                 f'`tests/sim/schedules.py`: `wsdbg explore` from {len(SEEDS)} first seeds, up to {MOST} schedules each. A cell has the median '
                 'and, in brackets, the largest number of schedules until the first that hangs or faults, without the usual schedule.', '',
                 f'Of the {len(cases)} defects of the zoo the usual schedule shows {len(cases) - len(hidden)}' +
                 (': no search is needed.' if not hidden else f'; not {", ".join(hidden)}.') +
                 ' So the kernels below are those of `tests/libcuda/rare.cu` and `tests/cmd/sim_app.c`, which end well in the usual schedule.', '',
                 '| kernel | ' + ' | '.join(way if way == 'random' else f'{way}, depth {depth}' for way, depth in WAYS) + ' |', '|---|' + '---|' * len(WAYS)]
        for name, program in programs:
            counts = [needed(build, folder, program, way) for way in WAYS]
            lines.append(f'| `{name}` | ' + ' | '.join(f'{number(statistics.median(row))} ({number(max(row))})' for row in counts) + ' |')
            print(lines[-1], flush=True)
    with open(out, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines) + '\n')


main()
