#!/usr/bin/env python3
"""registers.py - kernels that share out their registers: what lint says of each beside what it does on a GPU.

    tests/h200/registers.py [--build build] [--jobs 8] [--limit 2] [--device gpu|sim] [--json OUT.json] [--page]
    tests/h200/registers.py --from OUT.json ...      the same table of a run that was kept

Runs `registers` on BUILD/bin/registers.cubin (made from its PTX by ptxas; without the file the driver compiles the PTX),
then `wsdbg lint` on the same file.  Writes a Markdown section; --into puts it between its marks in a file.
Exit status 1 where a kernel that lint calls REGS_BUDGET or REGS_ORDER (error) finishes, or one that it passes hangs.  A
development script; the simulator executes the PTX from which the file was made.
"""
import argparse, json, os, re, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import results

LIMIT_S = 300
TITLE = '## Register configurations'
GROUPS = (('the sums decide', ('BUDGET',)), ('the sums decide, roles by a table of branches', ('SWITCH', 'TABLE')), ('the order decides', ('ORDER',)))
SAID = re.compile(r': kernel (?P<kernel>\w+)[^:]*: (?P<severity>error|warning|note): .*\[(?P<code>\w+)\]$')


def run_kernels(options, image):
    command = [os.path.join(options.bin, 'registers'), '--jobs', str(options.jobs), '--limit', str(options.limit)]
    environment = dict(os.environ)
    if options.device == 'sim':
        environment['LD_LIBRARY_PATH'] = os.path.join(os.path.abspath(options.build), 'lib/wsdbg/sim')
    elif image:
        command += ['--image', image]
    out = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True).stdout
    return json.loads(out) | {'device': options.device}


def lint(options, path):
    """{kernel: [(severity, code)]} of the file."""
    out = subprocess.run([os.path.join(options.bin, 'wsdbg'), 'lint', path], capture_output=True, text=True, timeout=LIMIT_S)
    if out.returncode not in (0, 1):
        sys.exit(f'registers.py: wsdbg lint: {out.stderr.strip()}')
    said = {}
    for match in filter(None, map(SAID.search, out.stdout.splitlines())):
        said.setdefault(match['kernel'], []).append((match['severity'], match['code']))
    return said


def row(config, said):
    codes = sorted({f'{code} ({severity})' for severity, code in said.get(config['kernel'], []) if severity != 'note'})
    severities = {severity for severity, code in said.get(config['kernel'], []) if code in ('REGS_BUDGET', 'REGS_ORDER')}
    verdict = 'error' if 'error' in severities else 'warning' if 'warning' in severities else 'nothing'
    done = config['outcome'] + (f" ({config['error']})" if config['error'] else '')
    return verdict, f"| {config['family'].lower()} | {config['threads']} | {config['registers']} | `{config['roles'].replace('|', ' / ')}` | {done} | {', '.join(codes) or '-'} |"


def section(result, said, where):
    counts, rows, wrong = {}, [], []
    for config in result['configs']:
        verdict, text = row(config, said)
        rows.append(text)
        key = config['family'], verdict, config['outcome']
        counts[key] = counts.get(key, 0) + 1
        if (verdict, config['outcome']) in (('error', 'finished'), ('nothing', 'hung')) or config['outcome'] not in ('finished', 'hung'):
            wrong.append(config['kernel'])
    outcomes = sorted({outcome for _, _, outcome in counts})
    cells = [(title, verdict, [sum(counts.get((family, verdict, outcome), 0) for family in families) for outcome in outcomes])
             for title, families in GROUPS for verdict in ('error', 'warning', 'nothing')]
    head = [TITLE, '', f"{len(result['configs'])} kernels, each launched alone with one CTA {where}; a kernel that had not ended after {result['limit_s']:.0f} s hung. `-` gives registers",
            'back (`setmaxnreg.dec`), `+` asks for them (`.inc`), `b` is a barrier of the CTA, `c` and `d` one each of those that have the',
            'letter, `C` an arrival there without a wait, `.` nothing; a part for each warpgroup.', '',
            '| kernels in which | lint says (REGS_BUDGET, REGS_ORDER) | ' + ' | '.join(outcomes) + ' |', '|---|---|' + '---|' * len(outcomes)]
    head += [f'| {title} | {verdict} | ' + ' | '.join(map(str, numbers)) + ' |' for title, verdict, numbers in cells if any(numbers)]
    head += ['', f'Not as lint says: {", ".join(wrong) if wrong else "none"}.', '', '| family | threads | registers | roles | seen | lint |', '|---|---|---|---|---|---|']
    return '\n'.join(head + rows) + '\n', wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--jobs', type=int, default=8)
    parser.add_argument('--limit', type=float, default=2)
    parser.add_argument('--device', default='gpu', choices=('gpu', 'sim'))
    parser.add_argument('--from', dest='kept')
    parser.add_argument('--json')
    parser.add_argument('--page', action='store_true')
    options = parser.parse_args()
    options.bin = os.path.join(os.path.abspath(options.build), 'bin')
    image = os.path.join(options.bin, 'registers.cubin')
    image = image if os.path.exists(image) else None
    result = json.load(open(options.kept)) if options.kept else run_kernels(options, image)
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(result, file, indent=1)
    with tempfile.TemporaryDirectory() as folder:
        path = image or os.path.join(folder, 'registers.ptx')
        if not image:
            with open(path, 'w') as file:
                subprocess.run([os.path.join(options.bin, 'registers'), '--ptx'], stdout=file, check=True)
        said = lint(options, path)
    text, wrong = section(result, said, 'on an H200' if result['device'] == 'gpu' else 'on the simulator')
    print(text)
    if options.page:
        results.save('registers', result, text, 'lint')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
