#!/usr/bin/env python3
"""measure.py - how long the diagnosis of a full chip takes, and what memory: writes docs/results/diagnose.md and .json.

    tests/diagnose/measure.py [--build build] [--runs 20]

Runs bench_diagnose, which says what it measures.  Wall time tells of other load on the machine too; processor time does not.
A development script.
"""
import argparse, json, os, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import results

WORDS = {'ring': 'record: 64 events a warp', 'cluster': 'record, clusters of 4', 'unnamed': 'record, without names',
         'state': "the machine's state, two looks"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--runs', type=int, default=20)
    options = parser.parse_args()
    bench = os.path.join(options.build, 'tests', 'bench_diagnose')
    rows = [json.loads(subprocess.run([bench, what, str(options.runs)], capture_output=True, text=True, check=True).stdout) for what in WORDS]
    cell = lambda row, key: results.cell(results.spread([run[key] for run in row['runs']]), 1)
    lines = ['## A full chip', '', f'`tests/diagnose/measure.py`, {results.machine()}: 132 CTAs of 16 warps that hang in a pipeline of 4 stages, one warp of '
             f'each having left out an arrival; {options.runs} runs. Wanted: 50 ms.', '',
             '| evidence | warps | events | reaches | ms, processor | ms, wall | KiB of the answer | MiB, the whole process at most | first finding |',
             '|---|---|---|---|---|---|---|---|---|']
    lines += [f"| {WORDS[row['what']]} | {row['warps']} | {row['events']} | {row['reaches']} | {cell(row, 'processor_ms')} | {cell(row, 'wall_ms')} | "
              f"{row['answer_kib']} | {row['peak_mib']} | {row['cause']} ({row['confidence']}), {row['ctas']} CTAs |" for row in rows]
    results.save('chip', {row['what']: row for row in rows}, '\n'.join(lines), 'diagnose')


if __name__ == '__main__':
    sys.exit(main())
