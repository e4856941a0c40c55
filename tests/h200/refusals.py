#!/usr/bin/env python3
"""refusals.py - what the driver refuses, plain and under wsdbg: the same errors and status, and what wsdbg says of each.

    tests/h200/refusals.py [--build build] [--out refusals.md] [--page] [--device gpu]

Runs `refusals` plain and under `wsdbg run`, compares what it wrote and its exit status, then each step alone under wsdbg for
the explanation that belongs to it.  Then once more so that it ends with status 0: of a step that only asks (a look-up, a
module, an attribute) nothing may be said then, a refused launch is explained as before.  Writes a Markdown table, with --page as the section of docs/results/lint.md: step, the driver's error, the code, the sentence.  Exit status 1
where something differs, or a step that the driver refused has no explanation.  A development script, for a machine with
an H200; with --device sim it runs on the simulator.
"""
import argparse, os, re, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import results

LIMIT_S = 120
SAID = re.compile(r'^wsdbg: refused: (\w+): (.*)$')
LAUNCHES = re.compile(r'\((cuLaunch|cuGraph)\w*: error \d+')


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, **more)


def under_wsdbg(options, folder, *steps):
    name = os.path.join(folder, ('-'.join(steps) if steps else 'all') + '.db')
    return run([os.path.join(options.bin, 'wsdbg'), 'run', '--device', options.device, '-o', name, '--',
                os.path.join(options.bin, 'refusals'), *steps])


def said_of(options, folder, *steps):
    return [m for m in map(SAID.match, under_wsdbg(options, folder, *steps).stderr.splitlines()) if m]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--bin', help='folder of the programs (BUILD/bin)')
    parser.add_argument('--device', default='gpu')
    parser.add_argument('--out')
    parser.add_argument('--page', action='store_true')
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin or os.path.join(options.build, 'bin'))
    environment = dict(os.environ)
    if options.device == 'sim':
        environment['LD_LIBRARY_PATH'] = os.path.join(os.path.abspath(options.build), 'lib/wsdbg/sim')
    plain = run([os.path.join(options.bin, 'refusals')], env=environment)
    rows, problems = [], []
    with tempfile.TemporaryDirectory() as folder:
        watched = under_wsdbg(options, folder)
        if (plain.stdout, plain.returncode) != (watched.stdout, watched.returncode):
            problems.append(f'differs under wsdbg: status {plain.returncode} and {watched.returncode}\n{plain.stdout}---\n{watched.stdout}')
        for line in plain.stdout.splitlines():
            step, error = line.split(': ', 1)
            said = said_of(options, folder, step)
            said_well = said_of(options, folder, '--well', step)
            rows.append((step, error, said[-1][1] if said else '-', said[-1][2] if said else '-'))
            if error != '0 CUDA_SUCCESS' and not said:
                problems.append(f'{step}: {error} is not explained')
            if error == '0 CUDA_SUCCESS' and said:
                problems.append(f'{step}: succeeded, and is explained: {said[-1][0]}')
            if [m[0] for m in said_well] != [m[0] for m in said if LAUNCHES.search(m[0])]:
                problems.append(f'{step}: where the program ends well is said: {[m[0] for m in said_well]}')
    table = '| step | the driver | code | what wsdbg says |\n|---|---|---|---|\n' + ''.join(
        f'| {" | ".join(row)} |\n' for row in rows)
    print(table)
    if options.out:
        with open(options.out, 'w') as file:
            file.write(table)
    if options.page and not problems:
        results.save('refusals', rows, '## What the driver refuses\n\n`tests/h200/refusals.py` on an H200 (driver 580.159.04): each step is refused on purpose, plain and under `wsdbg run`; errors, '
                     f'output and exit status were the same in all {len(rows)}. What wsdbg says of each, of those that are no launch only where the program ends '
                     'badly:\n\n' + table, 'lint')
    print('\n'.join(problems) or f'{len(rows)} steps, plain and under wsdbg the same', file=sys.stderr)
    return 1 if problems or not rows else 0


if __name__ == '__main__':
    sys.exit(main())
