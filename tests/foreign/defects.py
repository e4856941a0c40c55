#!/usr/bin/env python3
"""defects.py - puts four deliberate defects into CUTLASS example 48: does wsdbg name them? Writes a section of docs/results/sim.md.

    tests/foreign/defects.py --scratch FOLDER --cutlass CHECKOUT [--build build] [--only NAME...]

Each defect is one change in one header. The checkout stays as it is: a folder of links in --scratch has the changed header in place of the original. The
cause, the role at fault and the barrier of the report are compared with those that fit the change. A development script: wsdbg itself needs no Python.
"""
import argparse, json, os, re, subprocess, sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import results
from foreign import run as programs

EXAMPLE = '48_hopper_warp_specialized_gemm'
ARGUMENTS = ['--m=256', '--n=256', '--k=1024', '--iterations=0']
PIPELINE = 'cutlass/pipeline/sm90_pipeline.hpp'
MAINLOOP = 'cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp'
# name: what is changed, header, pattern, replacement, number of places (0 = all); then the causes, the role and the barrier that are right.
DEFECTS = {
    'empty-count': ('"empty" is initialised for one arrival more than there are', PIPELINE,
                    r'(producer_arv_cnt, multicast_consumer_arrival_count)\)', r'\1 + 1)', 1, {'ARRIVE_SHORT', 'INIT_COUNT'}, '', 'empty'),
    'release-skipped': ('consumers do not release stage 2', MAINLOOP, r'(pipeline\.consumer_release\(smem_pipe_release\);)',
                        r'if (smem_pipe_release.index() != 2) \1', 0, {'ARRIVE_MISSING'}, 'consumer', 'empty'),
    'wrong-bytes': ('the producer expects 16 bytes too many', PIPELINE, r'(arrive_and_expect_tx\(params_\.transaction_bytes)\)', r'\1 + 16)', 0,
                    {'TX_MISMATCH'}, 'producer', 'full'),
    'wrong-phase': ('the producer begins with the wrong phase', PIPELINE, r'(InitialProducerPhase = )1', r'\g<1>0', 1, {'PARITY_WRONG'}, 'producer', 'empty')}


def compile_defect(name, args):
    _, header, pattern, new, places, *_ = DEFECTS[name]
    target, overlay = os.path.join(args.scratch, f'48-{name}'), os.path.join(args.scratch, f'include-{name}')
    if os.path.exists(target):
        return target
    with open(os.path.join(args.cutlass, 'include', header)) as file:
        text, changed = re.subn(pattern, new, file.read(), count=places)
    assert changed, f'{header} has no {pattern}'
    subprocess.run(['cp', '-rs', os.path.join(args.cutlass, 'include'), overlay], check=True)
    os.remove(os.path.join(overlay, header))
    with open(os.path.join(overlay, header), 'w') as file:
        file.write(text)
    includes = [f'-I{overlay}'] + [f'-I{args.cutlass}/{f}' for f in ('tools/util/include', 'examples/common')]
    subprocess.run(['nvcc', '-std=c++17', '-O2', '-lineinfo', '-w', '--expt-relaxed-constexpr', '-gencode', 'arch=compute_90a,code=[sm_90a,compute_90a]',
                    *includes, '-o', target, os.path.join(args.cutlass, 'examples', EXAMPLE, EXAMPLE + '.cu'), '-lcuda'], check=True)
    return target


def measure(name, args):
    wsdbg = os.path.join(os.path.abspath(args.build), 'bin', 'wsdbg')
    program, session = compile_defect(name, args), os.path.join(args.scratch, 'defect.db')
    if os.path.exists(session):
        os.remove(session)
    env = {**os.environ, 'WSDBG_SIM_MULTIPROCESSORS': '8'}
    ran = subprocess.run([wsdbg, 'run', '--device', 'sim', '--stall', '1', '--json', '-o', session, '--', program, *ARGUMENTS], env=env, capture_output=True, text=True, timeout=300)
    report = json.loads(ran.stdout[ran.stdout.index('{'):])
    first = (report.get('findings') or [{}])[0]
    return {'status': ran.returncode, 'cause': first.get('cause'), 'confidence': first.get('confidence'), 'role': first.get('role'), 'barrier': first.get('barrier'), 'sentence': first.get('sentence')}


def page(rows):
    lines = ['## Deliberate defects in a program of others', '',
             f"`tests/foreign/defects.py`: CUTLASS `{EXAMPLE} {' '.join(ARGUMENTS)}`, one change of one header each, under `wsdbg run --device sim --stall 1`, on a chip of 8 multiprocessors. "
             f"{programs.commits_of('cutlass', rows.values())}.", '',
             '| defect | cause | confidence | role at fault | barrier | right |', '|---|---|---|---|---|---|']
    for name, row in rows.items():
        lines.append(f"| `{name}`: {DEFECTS[name][0]} | {row['cause'] or '-'} | {row['confidence'] or '-'} | {row['role'] or '-'} | {row['barrier'] or '-'} | {', '.join(row['right']) or 'nothing'} |")
    return '\n'.join(lines)


def judge(name, row):
    *_, causes, role, barrier = DEFECTS[name]
    checks = {'cause': row['cause'] in causes, 'role': (row['role'] or '').startswith(role), 'barrier': (row['barrier'] or '').startswith(barrier)}
    return [key for key, is_right in checks.items() if is_right]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--scratch', required=True)
    parser.add_argument('--cutlass', required=True)
    parser.add_argument('--build', default='build')
    parser.add_argument('--only', nargs='+', default=list(DEFECTS))
    args = parser.parse_args()
    args.scratch, args.cutlass = os.path.abspath(args.scratch), os.path.abspath(args.cutlass)
    rows = results.load('sim').get('foreign_defects', {})
    for name in args.only:
        rows[name] = {**measure(name, args), 'commits': {'cutlass': programs.commit_of(args.cutlass)}}
        rows[name]['right'] = judge(name, rows[name])
        print(name, rows[name], flush=True)
    results.save('foreign_defects', rows, page(rows), 'sim')


if __name__ == '__main__':
    main()
