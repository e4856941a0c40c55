#!/usr/bin/env python3
"""overlap.py - what it costs when ptxas serializes wgmma, measured: the twins of overlap.cu.

    tests/h200/overlap.py [--build build] [--repeats 15]     runs BUILD/bin/overlap and writes its section of docs/results/lint.md
    tests/h200/overlap.py --from OUT.json                   the same of a run that was kept
    tests/h200/overlap.py --in-flight [--build build]       runs the kernels with probes, each under `wsdbg run --keep-history`,
                                                            and writes what `wsdbg report` says was in flight, beside lint
    tests/h200/overlap.py --in-flight --device sim          the same on the simulator, a few rounds, only printed: it executes
                                                            the PTX, in which ptxas's waits are not

A development script, for a machine with an H200.
"""
import argparse, json, os, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import results


def cell(kernel):
    return f"`{kernel['kernel']}` {kernel['median_us']:,.0f} ({kernel['least_us']:,.0f}–{kernel['most_us']:,.0f})"


def section(run):
    lines = ['## What serialized wgmma cost', '', f"`tests/h200/overlap.py`, {run['multiprocessors']} multiprocessors of an H200, one CTA each: pairs of kernels that differ in "
             f"what keeps their wgmma apart (`tests/h200/overlap.cu`), launched by turns, {run['repeats']} launches each; µs a launch, and bf16 TFLOP/s. lint calls the right column's kernels "
             'WGMMA_SERIALIZED, `spilled` WGMMA_SPILL too, the others nothing. With two warpgroups on a multiprocessor one computes while the other waits.', '',
             '| accumulator columns | warpgroups | in flight | serialized | slowdown | TFLOP/s |', '|---|---|---|---|---|---|']
    lines += [f"| {pair['columns']} | {pair['warpgroups']} | {cell(pair['overlapped'])} | {cell(pair['serialized'])} | {pair['slowdown']:.2f} | "
              f"{pair['overlapped_tflops']:,.0f} → {pair['serialized_tflops']:,.0f} |" for pair in run['pairs']]
    return '\n'.join(lines)


def tool(build, *words):
    done = subprocess.run([os.path.join(build, 'bin', 'wsdbg'), *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def codes_of(build, image):
    """Of each kernel the codes of its findings."""
    codes = {}
    for finding in json.loads(tool(build, 'lint', '--json', image)[1])['findings']:
        codes.setdefault(finding.get('kernel'), set()).add(finding['code'])
    return codes


def in_flight_of(build, image, kernel, warpgroups, device):
    """One launch, watched: the rows of its report."""
    rounds, ctas = ('16', '2') if device == 'sim' else ('4096', '0')
    with tempfile.TemporaryDirectory() as folder:
        session = os.path.join(folder, 'overlap.db')
        status, _, said = tool(build, 'run', '-q', '--device', device, '--keep-history', '-o', session, '--', os.path.join(build, 'bin', 'overlap'),
                               '--once', image, kernel, str(warpgroups), rounds, ctas)
        if status:
            sys.exit(f'{kernel}: status {status}: {said}')
        report = json.loads(tool(build, 'report', '--json', session)[1])
    rows = report['wgmma_overlap']
    if len(rows) != warpgroups or any(row['rounds'] != int(rounds) for row in rows):
        sys.exit(f"{kernel}: {len(rows)} warpgroups measured, not {warpgroups}: {rows}; {report['notes']}")
    for row in rows:
        print(f"{kernel:16} warpgroup {row['warpgroup']}: {row['rounds_in_flight']:.2f} ({row['rounds_in_flight_least']:.2f}-"
              f"{row['rounds_in_flight_most']:.2f}) rounds in flight, waited {row['wait_ns']} ns, a round {row['round_ns']} ns; {row['stages']} stages")
    return {'kernel': kernel, 'warpgroups': warpgroups, 'rows': rows}


def in_flight_cell(rows):
    return '; '.join(f"{row['rounds_in_flight']:.2f} ({row['rounds_in_flight_least']:.2f}–{row['rounds_in_flight_most']:.2f})" for row in rows)


def in_flight_section(runs):
    lines = ['## wgmma in flight, measured', '', '`tests/h200/overlap.py --in-flight` on an H200: the same kernels with probes around their loop, each launched once under `wsdbg run '
             '--keep-history`, 4,096 rounds, one CTA a multiprocessor; what `wsdbg report` says was in flight when a warpgroup began to wait for all of its wgmma, in rounds: mean '
             '(least–most) of all warps, a value for each warpgroup. Each keeps one group in flight as written; where two warpgroups share a multiprocessor, the last wait of one can be much longer, as the tensor cores work for the other one meanwhile.', '',
             '| kernel | lint of the same image | warpgroups | rounds in flight | ns a round | waited, ns |', '|---|---|---|---|---|---|']
    lines += [f"| `{run['kernel']}` | {', '.join(run['lint']) or 'nothing'} | {run['warpgroups']} | {in_flight_cell(run['rows'])} | "
              f"{'; '.join(str(row['round_ns']) for row in run['rows'])} | {'; '.join(str(row['wait_ns']) for row in run['rows'])} |" for run in runs]
    return '\n'.join(lines)


def measure_in_flight(build, device):
    image = os.path.join(build, 'bin', 'overlap_probed.fatbin')
    codes = codes_of(build, image)
    kernels = subprocess.run([os.path.join(build, 'bin', 'overlap'), '--list'], capture_output=True, text=True, check=True).stdout.split()
    runs = [in_flight_of(build, image, kernel, warpgroups, device) for warpgroups in (1, 2) for kernel in kernels]
    for run in runs:
        run['lint'] = sorted(code for code in codes.get(run['kernel'], ()) if code.startswith('WGMMA'))
    if device != 'sim':
        results.save('in_flight', {'runs': runs}, in_flight_section(runs), 'lint')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build')
    parser.add_argument('--repeats', type=int, default=15)
    parser.add_argument('--from', dest='kept')
    parser.add_argument('--in-flight', action='store_true')
    parser.add_argument('--device', choices=('gpu', 'sim'), default='gpu')
    options = parser.parse_args()
    if options.in_flight:
        return measure_in_flight(options.build, options.device)
    program = os.path.join(options.build, 'bin', 'overlap')
    if options.kept:
        run = json.load(open(options.kept))
    else:
        run = json.loads(subprocess.run([program, program + '.cubin', str(options.repeats)], capture_output=True, text=True, check=True, timeout=120).stdout)
    results.save('overlap', run, section(run), 'lint')


if __name__ == '__main__':
    main()
