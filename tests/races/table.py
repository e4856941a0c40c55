#!/usr/bin/env python3
"""table.py - every race of rows.c and its corrected twin, one run each: writes a section of docs/results/sim.md.

    tests/races/table.py [--build build] [--tools FILE]

Runs `wsdbg run --device sim --races` on `race_kernels`.  --tools: a file with the output of gpu_tools.sh on a GPU machine.  The table then also says what
compute-sanitizer reports of the same kernels.  Later runs without --tools take that from tests/measured/sim.json.gz.  A development script.
"""
import argparse, os, re, resource, subprocess, sys, tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import results


def reported(wsdbg, program, number, which, folder):
    """The codes that one run reports; '?' where it did not look for races to its end."""
    session = os.path.join(folder, f'{number}-{which}.db')
    ran = subprocess.run([wsdbg, 'run', '--device', 'sim', '--races', '-o', session, '--', program, str(number), which], capture_output=True, text=True, timeout=60)
    text = ran.stdout + ran.stderr
    if not re.search(r'wsdbg: (no race|\d+ races?) found', text):
        return ['?']
    return re.findall(r'^wsdbg: ([A-Z][A-Z_]+) in ', text, re.M)


def read_tools(path):
    """{number: {'broken racecheck': what was reported, ...}} from the lines of gpu_tools.sh."""
    tools = {}
    with open(path) as file:
        for line in file:
            cells = line.rstrip('\n').split('\t')
            if len(cells) == 6 and cells[0].isdigit():
                tools.setdefault(cells[0], {})[cells[2] + ' ' + cells[3]] = re.sub(r' \(\d+ lines\)', '', cells[5])
    return tools


def said(codes):
    return ', '.join(f'{code} × {codes.count(code)}' if codes.count(code) > 1 else code for code in dict.fromkeys(codes)) or 'nothing'


def page(data):
    rows, tools = data['rows'], data.get('tools')
    head = ['number', 'what is wrong', 'reported', 'of the twin'] + (['racecheck on an H100', 'of the twin', 'memcheck', 'of the twin'] if tools else [])
    lines = ['## Races in small kernels', '',
             '`tests/races/table.py`: kernels of `tests/races/rows.c`, each with one race or one missing fence, and its corrected twin; one run each of `wsdbg run --device sim --races`, '
             'under the usual schedule. `ctest -R races_kernels` checks the same.', '',
             '| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head)]
    for number, row in rows.items():
        cells = [number, row['name'], said(row['broken']), said(row['fixed'])]
        if tools:
            cells += [tools.get(number, {}).get(f'{which} {tool}', '?') for tool in ('racecheck', 'memcheck') for which in ('broken', 'fixed')]
        lines.append('| ' + ' | '.join(cells) + ' |')
    found = sum(row['code'] in row['broken'] for row in rows.values())
    clean = sum(not row['fixed'] for row in rows.values())
    return '\n'.join([*lines, '', f'{found} of {len(rows)} found in the first schedule; nothing in {clean} of {len(rows)} twins.'])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default='build')
    parser.add_argument('--tools')
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    wsdbg, program = os.path.join(build, 'bin', 'wsdbg'), os.path.join(build, 'bin', 'race_kernels')
    listed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    data = results.load('sim').get('races', {})
    data['rows'] = {}
    with tempfile.TemporaryDirectory() as folder:
        for line in listed.splitlines():
            number, name, code = line.split('\t')
            data['rows'][number] = {'name': name, 'code': code, **{which: reported(wsdbg, program, number, which, folder) for which in ('broken', 'fixed')}}
    if args.tools:
        data['tools'] = read_tools(args.tools)
    results.save('races', data, page(data), 'sim')
    print(page(data))


if __name__ == '__main__':
    main()
