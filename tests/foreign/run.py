#!/usr/bin/env python3
"""run.py - programs of others, as they are shipped, on the simulator; a section of docs/results/sim.md.

    tests/foreign/run.py --scratch FOLDER [--cutlass CHECKOUT] [--samples CHECKOUT] [--build build] [--only NAME...] [--limit 120]
                         [--schedules 50] [--no-page] [--before BUILD [--runs 3]]

The user brings the checkouts (PINNED names the commits that the page rests on); a checkout that is not given is left out. Programs are compiled with nvcc into --scratch,
once, with no file changed, and run there; nothing of them is kept in this repository. Each runs under `wsdbg run --device sim` and `wsdbg explore`; it passes
when its own check does. Takes hours on a few cores: --only repeats single programs and keeps the other rows.
--before: a build of an earlier commit; the first program of --only runs under the two in turns, and nothing else is measured. A development script: wsdbg itself needs no Python.
"""
import argparse, json, os, re, signal, subprocess, sys, time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import results

PINNED = {'cutlass': ('https://github.com/NVIDIA/cutlass', '7107b05535f8977f5ecb9d01ee203205b1fd9bc4'),
          'samples': ('https://github.com/NVIDIA/cuda-samples', 'c94ff366aed18c797b8a85dfaac7817b0228b420')}
SIZE = ['--m=256', '--n=256', '--k=256', '--iterations=0']
# name: checkout, folder, sources (None = all of the folder), arguments, what its own check prints, launch to explore
PROGRAMS = {
    '48_hopper_warp_specialized_gemm': ('cutlass', 'examples', None, SIZE, 'Disposition: Passed', 3),
    '49_hopper_gemm_with_collective_builder': ('cutlass', 'examples', None, ['--m=128', '--n=128', '--k=64'], ': Passed', 3),
    '50_hopper_gemm_with_epilogue_swizzle': ('cutlass', 'examples', None, SIZE, ': Passed', 3),
    '54_hopper_fp8_warp_specialized_gemm': ('cutlass', 'examples', None, SIZE, 'Disposition: Passed', 0),
    '55_hopper_mixed_dtype_gemm': ('cutlass', 'examples', '55_hopper_mixed_dtype_gemm.cu', SIZE, 'Disposition: Passed', None),
    '57_hopper_grouped_gemm': ('cutlass', 'examples', None, ['--m=128', '--n=128', '--k=128', '--groups=2', '--iterations=0'],
                               'Disposition: Passed', None),
    '61_hopper_gemm_with_topk_and_softmax': ('cutlass', 'examples', None, ['--iterations=0'], 'Disposition: Passed', 0),
    'vectorAdd': ('samples', 'Samples/0_Introduction', None, [], 'Test PASSED', 0),
    'matrixMul': ('samples', 'Samples/0_Introduction', None, ['-wA=64', '-hA=64', '-wB=64', '-hB=64'], 'Result = PASS', 0),
    'simpleStreams': ('samples', 'Samples/0_Introduction', None, [], '', None),
    'asyncAPI': ('samples', 'Samples/0_Introduction', None, [], '', None),
    'simpleCooperativeGroups': ('samples', 'Samples/0_Introduction', None, [], '', 0),
    'simpleAtomicIntrinsics': ('samples', 'Samples/0_Introduction', None, [], 'returned OK', 0),
    'simpleVoteIntrinsics': ('samples', 'Samples/0_Introduction', None, [], 'OK', 0),
    'simpleTemplates': ('samples', 'Samples/0_Introduction', None, [], 'OK', 0),
    'simpleCallback': ('samples', 'Samples/0_Introduction', None, [], 'Success', 0),
    'simpleZeroCopy': ('samples', 'Samples/0_Introduction', None, [], '', None),
    'clock': ('samples', 'Samples/0_Introduction', None, [], '', 0),
    'binaryPartitionCG': ('samples', 'Samples/3_CUDA_Features', None, [], '', 0),
    'globalToShmemAsyncCopy': ('samples', 'Samples/3_CUDA_Features', None, ['-wA=64', '-hA=64', '-wB=64', '-hB=64'], 'Result = PASS', 0),
    'warpAggregatedAtomicsCG': ('samples', 'Samples/3_CUDA_Features', None, [], 'PASSED', None),
    'streamOrderedAllocation': ('samples', 'Samples/2_Concepts_and_Techniques', None, [], 'streamOrderedAllocation', None),
    'shfl_scan': ('samples', 'Samples/2_Concepts_and_Techniques', None, [], 'CheckSum: 2073600', None),
    'threadFenceReduction': ('samples', 'Samples/2_Concepts_and_Techniques', None, [], '', None),
    'reduction': ('samples', 'Samples/2_Concepts_and_Techniques', None, ['--n=65536'], 'Test passed', None),
    'scan': ('samples', 'Samples/2_Concepts_and_Techniques', None, [], 'PASSED', None),
    'conjugateGradientMultiBlockCG': ('samples', 'Samples/4_CUDA_Libraries', None, [], 'Error amount', None)}
ARCHITECTURE = {'cutlass': '90a', 'samples': '90'}


def compile_program(name, row, checkouts, scratch):
    """The program's path; an error text where nvcc refuses."""
    checkout, folder, source, *_ = row
    target, at = os.path.join(scratch, name), os.path.join(checkouts[checkout], folder, name)
    if os.path.exists(target):
        return target, None
    sources = [source] if source else sorted(f for f in os.listdir(at) if f.endswith(('.cu', '.cpp')))
    arch = ARCHITECTURE[checkout]
    root = checkouts[checkout]
    includes = [f'-I{at}'] + [f'-I{root}/{f}' for f in ('include', 'tools/util/include', 'examples/common', 'Common')]
    command = ['nvcc', '-std=c++17', '-O2', '--expt-relaxed-constexpr', '-gencode', f'arch=compute_{arch},code=[sm_{arch},compute_{arch}]',
               *includes, '-o', target, *(os.path.join(at, f) for f in sources), '-lcuda']
    ended = subprocess.run(command, capture_output=True, text=True)
    return target, None if ended.returncode == 0 else ended.stderr.strip().splitlines()[-1]


def run(command, limit, folder):
    """What it printed, how it ended, seconds, and the peak memory of its largest process."""
    begun = time.monotonic()
    with open(os.path.join(folder, 'output.txt'), 'w+') as file:
        child = subprocess.Popen(['stdbuf', '-oL', *command], stdout=file, stderr=subprocess.STDOUT, cwd=folder, start_new_session=True)
        status = None
        while time.monotonic() - begun < limit:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.02)
        else:
            os.killpg(child.pid, signal.SIGTERM)
            _, status, usage = os.wait4(child.pid, 0)
        file.seek(0)
        seconds = time.monotonic() - begun
        return {'text': file.read(), 'status': os.waitstatus_to_exitcode(status), 'seconds': seconds, 'processor_seconds': usage.ru_utime + usage.ru_stime,
                'peak_mib': usage.ru_maxrss / 1024, 'timed_out': seconds >= limit}


def end_of(got, check):
    if got['timed_out']:
        return 'not done in time'
    reason = re.search(r'wsdbg simulator: (.*)', got['text'])
    if 'HANG:' in got['text']:
        return 'a verdict: ' + re.search(r'HANG: (.*)', got['text']).group(1)
    if got['status'] == 0 and check in got['text']:
        return 'passes'
    return 'fails: ' + (reason.group(1) if reason else f"status {got['status']}")[:160]


def measure(name, row, program, args):
    wsdbg = os.path.join(os.path.abspath(args.build), 'bin', 'wsdbg')
    *_, arguments, check, launch = row
    ran = run([wsdbg, 'run', '--device', 'sim', '--', program, *arguments], args.limit, args.scratch)
    out = {key: ran[key] for key in ('seconds', 'processor_seconds', 'peak_mib')}
    out.update(arguments=arguments, end=end_of(ran, check), check=check)
    if launch is not None and out['end'] == 'passes':
        command = [wsdbg, 'explore', '--schedules', str(args.schedules), '--launch', str(launch), '--', program, *arguments]
        explored = run(command, args.limit, args.scratch)
        out['explore'] = {'end': end_of(explored, check), 'seconds': explored['seconds'], 'launch': launch,
                          'schedules': re.findall(r'(\d+) schedules', explored['text'])[-1:]}
    return out


def compare(name, row, program, args):
    """Runs under the build of before and under this one, in turns."""
    rows = {'before': [], 'now': []}
    for _ in range(args.runs):
        for which, build in (('before', args.before), ('now', args.build)):
            got = run([os.path.join(os.path.abspath(build), 'bin', 'wsdbg'), 'run', '--device', 'sim', '--', program, *row[3]], args.limit, args.scratch)
            assert end_of(got, row[4]) == 'passes', got['text']
            rows[which].append({key: got[key] for key in ('seconds', 'processor_seconds', 'peak_mib')})
            print(which, rows[which][-1], flush=True)
    return {'name': name, 'arguments': row[3], 'rows': rows}


def compared(data):
    lines = ['', f"`{data['name']} {' '.join(data['arguments'])}`, `--before`, runs in turns:", '', '| build | processor seconds | seconds | peak MiB |', '|---|---|---|---|']
    for which, rows in data['rows'].items():
        cells = [results.cell(results.spread([row[key] for row in rows]), 1) for key in ('processor_seconds', 'seconds', 'peak_mib')]
        lines.append(f"| {which} | {' | '.join(cells)} |")
    return lines


def page(data):
    lines = ['## Programs of others', '',
             f"`tests/foreign/run.py`: {data['processor']}; the load average is that at the start of a row (other work ran beside it, so processor time says more than seconds). Compiled with "
             "`nvcc -gencode arch=compute_90a,code=[sm_90a,compute_90a]` (samples: `90`) from unchanged sources: CUTLASS `" + PINNED['cutlass'][1][:12] + '`, CUDA samples `'
             + PINNED['samples'][1][:12] + '`. The static runtime is nvcc\'s default. "passes": exit status 0 and the program\'s own line, where it prints one; no verdict. '
             f"Explored: {data['schedules']} schedules of one launch; a dash: not explored.", '',
             '| program | arguments | ends | seconds | processor seconds | peak MiB | load | explored | seconds |', '|---|---|---|---|---|---|---|---|---|']
    for name, row in data['rows'].items():
        explored = row.get('explore')
        lines.append(f"| `{name}` | `{' '.join(row['arguments']) or '-'}` | {row['end'].replace('|', '/')} | {row['seconds']:.1f} | {row['processor_seconds']:.1f} | {row['peak_mib']:.0f} "
                     f"| {row['load']:.1f} | {explored['end'] if explored else '-'} | {format(explored['seconds'], '.1f') if explored else '-'} |")
    passed = sum(row['end'] == 'passes' for row in data['rows'].values())
    return '\n'.join([*lines, '', f"{passed} of {len(data['rows'])} pass.", *(compared(data['compared']) if 'compared' in data else [])])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (('scratch', None), ('cutlass', None), ('samples', None), ('build', 'build')):
        parser.add_argument('--' + name, default=default, required=name == 'scratch')
    parser.add_argument('--only', nargs='+', default=list(PROGRAMS))
    parser.add_argument('--limit', type=float, default=120, help='seconds for a program')
    parser.add_argument('--schedules', type=int, default=50)
    parser.add_argument('--before')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--no-page', action='store_true')
    args = parser.parse_args()
    args.scratch = os.path.abspath(args.scratch)
    checkouts = {key: os.path.abspath(getattr(args, key)) for key in PINNED if getattr(args, key)}
    data = results.load('sim').get('foreign', {'rows': {}})
    data.update(processor=results.machine(), pinned=PINNED, schedules=args.schedules)
    for name in args.only:
        if PROGRAMS[name][0] not in checkouts:
            continue
        program, refused = compile_program(name, PROGRAMS[name], checkouts, args.scratch)
        load = os.getloadavg()[0]
        if refused:
            print(name, refused)
            continue
        if args.before:
            data['compared'] = compare(name, PROGRAMS[name], program, args)
            results.save('foreign', data, page(data), 'sim')
            break
        data['rows'][name] = {**measure(name, PROGRAMS[name], program, args), 'load': load}
        print(name, json.dumps(data['rows'][name]), flush=True)
        if not args.no_page:
            data['rows'] = {name: data['rows'][name] for name in PROGRAMS if name in data['rows']}
            results.save('foreign', data, page(data), 'sim')


if __name__ == '__main__':
    main()
