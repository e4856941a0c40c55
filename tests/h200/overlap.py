#!/usr/bin/env python3
"""overlap.py - what it costs when ptxas serializes wgmma, measured: the twins of overlap.cu.

    tests/h200/overlap.py [--build build] [--repeats 15]     runs BUILD/bin/overlap and writes its section of docs/results/lint.md
    tests/h200/overlap.py --from OUT.json                   the same of a run that was kept

A development script, for a machine with an H200.
"""
import argparse, json, os, subprocess, sys

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build')
    parser.add_argument('--repeats', type=int, default=15)
    parser.add_argument('--from', dest='kept')
    options = parser.parse_args()
    program = os.path.join(options.build, 'bin', 'overlap')
    if options.kept:
        run = json.load(open(options.kept))
    else:
        run = json.loads(subprocess.run([program, program + '.cubin', str(options.repeats)], capture_output=True, text=True, check=True, timeout=120).stdout)
    results.save('overlap', run, section(run), 'lint')


main()
