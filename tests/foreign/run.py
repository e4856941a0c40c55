#!/usr/bin/env python3
"""run.py - runs programs of others on the simulator, searches them for races and explores them; writes a section of docs/results/sim.md.

    tests/foreign/run.py --scratch FOLDER [--PROJECT CHECKOUT]... [--packages FOLDER] [--build build] [--only NAME...] [--limit 300] [--schedules 50]
                         [--triton PYTHON] [--tilelang PYTHON] [--multiprocessors 8] [--no-page] [--before BUILD [--runs 3]]

The user brings the checkouts, with their submodules. PINNED (programs.py) names the projects and the commits that the page rests on; --flash-attention is the option for
flash_attention. A program whose checkout is not given is left out. cub_transform needs none: CUB comes with the CUDA toolkit. --packages: a folder that has Python
packages with the text of kernels (PACKAGES in programs.py names the versions), by pip install --no-deps --target FOLDER; a source package is unpacked there. Programs are compiled with
nvcc into --scratch, once, with no file changed, and run there; nothing of them is kept in this repository. Some projects launch their kernels from Python, or have no
program with a check: for these drivers/ has small host programs of our own, which include the files of the kernels. Of the files of PARTS (programs.py) they include some lines only,
because the others need PyTorch or several processes, do not compile, or have variants by the hundred; or all lines, but with a header of ours beside them.
--triton: a Python that has Triton 3.9.0 and NumPy; it runs python/triton_matmul.py. --tilelang: a Python that has TileLang 0.1.15; it writes a kernel's text for nvcc,
by python/tilelang_attention.py.
Each program runs under `wsdbg run --device sim`, again with --races, and under `wsdbg explore`. It passes when its own check does.
--multiprocessors: the size of the simulated chip. Helper kernels of CUTLASS fill the whole chip, whatever the problem's size, so a small chip saves most of the time.
--before: a build of an earlier commit; the first program of --only runs under the two in turns, and nothing else is measured. A development script: wsdbg itself needs no Python.
"""
import argparse, json, os, re, signal, subprocess, sys, time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import results
from foreign.programs import PINNED, PACKAGES, PROGRAMS, ARCHITECTURE, OWN, DRIVERS, PARTS


def sources_and_flags(name, row, checkouts):
    if name in DRIVERS:
        source, flags = DRIVERS[name]
        return [os.path.join(OWN, source + '.cu')], [f'-I{OWN}', *flags.format(**checkouts).split()]
    checkout, folder, source, *_ = row
    root = checkouts[checkout]
    at = os.path.join(root, folder, name)
    sources = [source] if source else sorted(f for f in os.listdir(at) if f.endswith(('.cu', '.cpp')))
    flags = ['-O2', f'-I{at}'] + [f'-I{root}/{f}' for f in ('include', 'tools/util/include', 'examples/common', 'Common')]
    return [os.path.join(at, f) for f in sources], flags


def start_of_python(name, python, target):
    """A script that starts a program of python/, and keeps what Triton compiles beside itself."""
    with open(target, 'w') as file:
        file.write(f'#!/bin/sh\nTRITON_CACHE_DIR={target}.cache TRITON_DEFAULT_FP_FUSION=1 exec {python} {TESTS}/foreign/python/{name}.py "$@"\n')
    os.chmod(target, 0o755)
    return target


def headers_of_tilelang(name, python, scratch):
    """The folders of the headers that drivers/NAME.cu includes; TileLang writes one of the headers."""
    ran = subprocess.run([python, f'{TESTS}/foreign/python/{name}.py', os.path.join(scratch, name + '.cuh')], capture_output=True, text=True, check=True)
    package = ran.stdout.splitlines()[-1]
    return [scratch, f'{package}/src', f'{package}/3rdparty/cutlass/include']


def split_at(text, line, path):
    before, found, after = text.partition(line)
    assert found, f'{path} has no {line}'
    return before, found + after


def write_part(name, checkouts, scratch):
    """Writes the part of a file that drivers/NAME.cu includes."""
    path, end, *left_out = PARTS[name]
    with open(path.format(**checkouts)) as file:
        part = file.read()
    if end is not None:
        part = split_at(part, end, path)[0]
    for first, following in left_out:
        before, rest = split_at(part, first, path)
        part = before + split_at(rest, following, path)[1]
    with open(os.path.join(scratch, name + '_part.cuh'), 'w') as file:
        file.write(part)



def compile_program(name, row, checkouts, scratch):
    """The program's path; an error text where nvcc refuses."""
    target = os.path.join(scratch, name)
    if row[0] == 'triton':
        return start_of_python(name, checkouts['triton'], target), None
    if os.path.exists(target):
        return target, None
    sources, flags = sources_and_flags(name, row, checkouts)
    if row[0] == 'tilelang':
        flags += [f'-I{folder}' for folder in headers_of_tilelang(name, checkouts['tilelang'], scratch)]
    if name in PARTS:
        write_part(name, checkouts, scratch)
        flags.append('-I' + scratch)
    arch = ARCHITECTURE.get(row[0], '90a')
    standard = [] if any(flag.startswith('-std') for flag in flags) else ['-std=c++17']
    command = ['nvcc', *standard, '-lineinfo', '-w', '--expt-relaxed-constexpr', '-gencode', f'arch=compute_{arch},code=[sm_{arch},compute_{arch}]',
               *flags, '-o', target, *sources, '-lcuda']
    ended = subprocess.run(command, capture_output=True, text=True)
    return target, None if ended.returncode == 0 else ended.stderr.strip().splitlines()[-1]


def run(command, limit, folder):
    """What it printed, how it ended, seconds, and the peak memory of its largest process."""
    for name in os.listdir(folder):
        if name.startswith('session.db'):
            os.remove(os.path.join(folder, name))
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
    return 'fails: ' + (re.sub(r'^.*PTX line \d+: ', '', reason.group(1)) if reason else f"status {got['status']}")[:200]


COSTS = ('processor_seconds', 'peak_mib')
SESSION = ['-o', 'session.db']  # in --scratch; run() removes it before the next program


def search_races(wsdbg, program, arguments, check, args):
    """Whether the program still passes, and the codes of all reports."""
    ran = run([*wsdbg, 'run', '--device', 'sim', '--races', *SESSION, '--', program, *arguments], args.limit, args.scratch)
    whole = re.search(r'wsdbg: (no race|\d+ races?) found', ran['text'])
    found = re.findall(r'^wsdbg: ([A-Z][A-Z_]+) in ', ran['text'], re.M)
    return {**{key: ran[key] for key in COSTS}, 'end': 'passes' if whole and check in ran['text'] and not ran['timed_out'] else end_of(ran, check), 'found': found}


def explore(wsdbg, program, arguments, check, launch, args):
    command = [*wsdbg, 'explore', *SESSION, '--schedules', str(args.schedules), '--launch', str(launch), '--', program, *arguments]
    ran = run(command, args.limit, args.scratch)
    tried = re.search(r'no hang in (\d+) schedules? of launch', ran['text'])
    return {**{key: ran[key] for key in COSTS}, 'end': end_of(ran, check), 'launch': launch, 'schedules': int(tried.group(1)) if tried else None}


def measure(name, row, program, args):
    wsdbg = [os.path.join(os.path.abspath(args.build), 'bin', 'wsdbg')]
    *_, arguments, check, launch = row
    ran = run([*wsdbg, 'run', '--device', 'sim', *SESSION, '--', program, *arguments], args.limit, args.scratch)
    out = {key: ran[key] for key in COSTS}
    out.update(arguments=arguments, end=end_of(ran, check), check=check, multiprocessors=args.multiprocessors)
    if out['end'] == 'passes':
        out['races'] = search_races(wsdbg, program, arguments, check, args)
        if launch is not None:
            out['explore'] = explore(wsdbg, program, arguments, check, launch, args)
    return out


def compare(name, row, program, args):
    """Runs under the build of before and under this one, in turns."""
    rows = {'before': [], 'now': []}
    for _ in range(args.runs):
        for which, build in (('before', args.before), ('now', args.build)):
            got = run([os.path.join(os.path.abspath(build), 'bin', 'wsdbg'), 'run', '--device', 'sim', *SESSION, '--', program, *row[3]], args.limit, args.scratch)
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


def races_of(row):
    """Four cells: the races found, processor seconds, their ratio to the run without --races ('?' below 0.2 s, where starting takes most of it), peak MiB."""
    if 'races' not in row:
        return '- | - | - | -'
    races = row['races']
    found = ', '.join(f'{code} × {races["found"].count(code)}' for code in dict.fromkeys(races['found'])) or 'none'
    ratio = f"{races['processor_seconds'] / row['processor_seconds']:.1f}" if row['processor_seconds'] >= 0.2 else '?'
    return f"{found if races['end'] == 'passes' else races['end']} | {races['processor_seconds']:.1f} | {ratio} | {races['peak_mib']:.0f}"


def explored_of(row):
    if 'explore' not in row:
        return '- | - | -'
    explored = row['explore']
    what = explored['end'] if explored['end'] != 'passes' else '?' if explored['schedules'] is None else explored['schedules']
    return f"{what} | {explored['processor_seconds']:.1f} | {explored['peak_mib']:.0f}"


def commit_of(checkout):
    """Of a checkout without changes; None = not known."""
    git = ['git', '-C', checkout]
    head = subprocess.run([*git, 'rev-parse', '--verify', 'HEAD'], capture_output=True, text=True)
    changed = subprocess.run([*git, 'status', '--porcelain', '--untracked-files=no'], capture_output=True, text=True)
    return head.stdout.strip() if head.returncode == changed.returncode == 0 and not changed.stdout else None


def commits_of(project, rows):
    """What the rows rest on; the commit that is pinned, where a row does not know."""
    url, pinned = PINNED[project]
    used = {row.get('commits', {}).get(project) for row in rows if row.get('commits') is None or project in row['commits']} or {None}
    words = [f'`{(commit or pinned)[:12]}`' + ('' if commit else ' (not checked)') for commit in sorted(used, key=str)]
    return f"{url.split('github.com/')[1]} {' and '.join(words)}"


def page(data):
    commits = ', '.join(commits_of(project, data['rows'].values()) for project in PINNED)
    lines = ['## Programs of others', '',
             f"`tests/foreign/run.py`: {data['processor']}; processor seconds, of all processes from start to end (other work ran beside it, so they say more than seconds), on a chip of "
             f"{data['multiprocessors']} multiprocessors. Compiled with `nvcc -lineinfo -gencode arch=compute_90a,code=[sm_90a,compute_90a]` (samples: `90`) from unchanged sources: {commits}; of the packages {', '.join(PACKAGES)}. The static "
             'runtime is nvcc\'s default. FlashAttention, DeepGEMM, ThunderKittens, fast.cu, FlashMLA, SageAttention, CUB (of the CUDA toolkit), the CuTe tutorial, '
             'simplegemm, MatmulTutorial, effective_transpose, FlashInfer, ao, FlashKDA, hpc-ops, SpargeAttn, Fuser, DeepEP, lmdeploy, cutlass-kernels, Alpha-MoE, '
             'FastVideo, Megakernels, cuLA, DeeperGEMM, mirage, MSCCL++, MagiAttention, FBGEMM, flux and the packages have host programs of our own, `tests/foreign/drivers`, '
             'which compare with results made on the host. '
             'Triton 3.9.0 is from PyPI and runs without PyTorch; `tests/foreign/python/triton_matmul.py` is a matmul of our own with `warp_specialize=True`. '
             'TileLang 0.1.15 makes the kernel of `tests/foreign/python/tilelang_attention.py`, an attention of our own. '
             '"passes": exit status 0 and the program\'s own line, where it prints one; no verdict. '
             f"Explored: {data['schedules']} schedules of one launch, with no hang and no fault where a number stands; a dash: not done.", '',
             '| program | arguments | ends | processor s | peak MiB | races found | processor s | times | peak MiB | schedules | processor s | peak MiB |', '|---|---|---|---|---|---|---|---|---|---|---|---|']
    for name, row in data['rows'].items():
        lines.append(f"| `{name}` | `{' '.join(row['arguments']) or '-'}` | {row['end'].replace('|', '/')} | {row['processor_seconds']:.1f} | {row['peak_mib']:.0f} "
                     f"| {races_of(row)} | {explored_of(row)} |")
    passed = sum(row['end'] == 'passes' for row in data['rows'].values())
    ratios = [row['races']['processor_seconds'] / row['processor_seconds'] for row in data['rows'].values() if 'races' in row and row['processor_seconds'] >= 0.2]
    return '\n'.join([*lines, '', f"{passed} of {len(data['rows'])} pass. Looking for races costs {min(ratios):.1f} to {max(ratios):.1f} times the processor time."
                      if ratios else '', *(compared(data['compared']) if 'compared' in data else [])])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--scratch', required=True)
    parser.add_argument('--build', default='build')
    for name in PINNED:
        parser.add_argument('--' + name.replace('_', '-'))
    parser.add_argument('--packages')
    parser.add_argument('--triton')
    parser.add_argument('--tilelang')
    parser.add_argument('--only', nargs='+', default=list(PROGRAMS))
    parser.add_argument('--limit', type=float, default=300, help='seconds for a program')
    parser.add_argument('--schedules', type=int, default=50)
    parser.add_argument('--multiprocessors', type=int, default=8)
    parser.add_argument('--before')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--no-page', action='store_true')
    args = parser.parse_args()
    args.scratch = os.path.abspath(args.scratch)
    checkouts = {key: os.path.abspath(getattr(args, key)) for key in (*PINNED, 'packages', 'triton', 'tilelang') if getattr(args, key)}
    data = results.load('sim').get('foreign', {'rows': {}})
    data.update(processor=results.machine(), pinned=PINNED, schedules=args.schedules, multiprocessors=args.multiprocessors)
    os.environ['WSDBG_SIM_MULTIPROCESSORS'] = str(args.multiprocessors)
    for name in args.only:
        needs = {PROGRAMS[name][0], *re.findall(r'{(\w+)}', DRIVERS.get(name, ('', ''))[1])} - {None}
        if not needs <= checkouts.keys():
            continue
        program, refused = compile_program(name, PROGRAMS[name], checkouts, args.scratch)
        if refused:
            print(name, refused)
            continue
        if args.before:
            data['compared'] = compare(name, PROGRAMS[name], program, args)
            results.save('foreign', data, page(data), 'sim')
            break
        data['rows'][name] = {**measure(name, PROGRAMS[name], program, args), 'commits': {key: commit_of(checkouts[key]) for key in sorted(needs & PINNED.keys())}}
        print(name, json.dumps(data['rows'][name]), flush=True)
        if not args.no_page:
            data['rows'] = {name: data['rows'][name] for name in PROGRAMS if 'multiprocessors' in data['rows'].get(name, {})}
            results.save('foreign', data, page(data), 'sim')


if __name__ == '__main__':
    main()
