#!/usr/bin/env python3
"""speed.py - how fast the simulator is, what a resident CTA costs, where the time goes; a section of docs/results/sim.md.

    tests/sim/speed.py [--build build] [--before BUILD] [--gemm PROGRAM] [--runs 5]

--before: a build of an earlier commit on this machine; each run of this one has a run of that one beside it, in turns. --gemm: the demo
program (default: of --build). Runs bench_hopper, the demo GEMM's plain image without wsdbg, and wsdbg explore. Needs perf and valgrind
for where time and memory go; no GPU. A development script: wsdbg itself needs no Python.
"""
import argparse, json, os, re, subprocess, sys, tempfile, time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import results

ROUNDS = '2000'  # of a loop: short runs, so that those of the two builds see the same machine
SIZES = (256, 512, 1024)
CTAS = (1, 4, 16, 64, 132)
SPREAD = ('2112', '2048', '256')  # 136 tiles of 128 x 256, so that so many CTAs have one each
THREADS = 384
EXPLORED, SCHEDULES = ('256', '256', '256'), 100
PROFILED = '1024'
KINDS = (  # of work, by the source file of a function; the first that matches
    ('matrix work', r'hopper/(wgmma|matrix|mma|number)'),
    ('copies and engines', r'hopper/(transfer|box|engine|copy_|combine|tensor_map|execute_bulk)'),
    ('loads, stores, atomics', r'hopper/(execute_memory|execute_atomic|places|access|memory)\.'),
    ('barriers', r'hopper/(mbarrier|execute_mbarrier|named_barrier|cluster)'),
    ('other instructions', r'hopper/(execute_|operand|values|float|register_pool)'),
    ('which warp runs', r'hopper/(step|schedule|split|spin|wake|run|switches|deadlock)'),
    ('CTAs come and go', r'hopper/(residency|launch)'),
    ('the record of events', r'hopper/probe'),
    ('reading PTX', r'(code/ptx|hopper/code)'),
    ('the Driver API', r'sim/libcuda'))
PARTS = {'warp->register_block': "registers that the kernel's PTX names", 'cta->shared': 'shared memory', 'cta->warps': "the warps' state",
         'wgmma->rows': 'matrix work under way', 'struct work *const work': 'copies under way', '*groups': 'groups of bulk copies'}


class Build:
    def __init__(self, folder, gemm):
        self.folder, self.gemm_program = os.path.abspath(folder), os.path.abspath(gemm)
        self.environment = {**os.environ, 'LD_LIBRARY_PATH': os.path.join(self.folder, 'lib', 'wsdbg', 'sim')}
        with open(os.path.join(self.folder, 'CMakeCache.txt')) as file:
            self.source = re.search(r'^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$', file.read(), re.M).group(1)

    def commit(self):
        return subprocess.run(['git', '-C', self.source, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True, check=True).stdout.strip()

    def bench(self):
        """Million warp-instructions a second, by the name of the loop."""
        text = subprocess.run([os.path.join(self.folder, 'bin', 'bench_hopper'), ROUNDS], capture_output=True, text=True, check=True).stdout
        return {name: rate for name, rate in json.loads(text).items() if name != 'unit'}

    def gemm(self, size, multiprocessors=132):
        """Seconds, seconds of processor time, KiB at most."""
        command = self.gemm_command(*size)
        start = time.monotonic()
        process = subprocess.Popen(command, env={**self.environment, 'WSDBG_SIM_MULTIPROCESSORS': str(multiprocessors)}, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)}: status {process.returncode}")
        return {'seconds': time.monotonic() - start, 'cpu_seconds': usage.ru_utime + usage.ru_stime, 'kib': usage.ru_maxrss}

    def gemm_command(self, m, n, k):
        return [self.gemm_program, '--variant', 'plain', '--m', m, '--n', n, '--k', k]

    def explore_command(self, jobs, output):
        return [os.path.join(self.folder, 'bin', 'wsdbg'), 'explore', '--schedules', str(SCHEDULES), '--jobs', str(jobs), '--json', '-o', output,
                *self.gemm_command(*EXPLORED)]

    def explore(self, jobs):
        """Schedules a second of a healthy GEMM."""
        with tempfile.TemporaryDirectory() as folder:
            text = subprocess.run(self.explore_command(jobs, os.path.join(folder, 'explored.db')), capture_output=True, text=True, check=True).stdout
        launch = json.loads(text)['launches'][0]
        if launch['findings'] or launch['schedules'] != SCHEDULES:
            raise RuntimeError(f"explore: {len(launch['findings'])} findings in {launch['schedules']} schedules")
        return {'schedules_per_second': launch['schedules'] / launch['seconds']}


def in_turns(builds, runs, measure):
    """measure(build) gives {name: number}; {build's name: {name: spread}}."""
    rows = {name: [] for name in builds}
    for _ in range(runs):
        for name, build in builds.items():
            rows[name].append(measure(build))
    return {name: {key: results.spread([run[key] for run in all_runs]) for key in all_runs[0]} for name, all_runs in rows.items()}


# ---- where time and memory go: of one build ----

def files_of_functions(build):
    """Function: the source file it is in."""
    text = subprocess.run(['nm', '--line-numbers', os.path.join(build.folder, 'lib', 'wsdbg', 'sim', 'libcuda.so.1')], capture_output=True, text=True,
                          check=True).stdout
    return {name.split('.')[0]: file for name, file in re.findall(r'^\S+ [tTi] (\S+)\t(\S+):\d+$', text, re.M)}


def kind_of(name, where, files):
    if where == 'k':
        return 'the operating system'
    file = files.get(name.split('.')[0])
    if file is None:
        return 'memcpy and memset' if re.match(r'__mem(move|cpy|set)', name) else 'libraries, the program itself'
    return next((kind for kind, pattern in KINDS if re.search(pattern, file)), 'other')


def profile(build, command, threads):
    """[kind, percent, the functions with the most of it], the largest first; of the threads whose names match."""
    files = files_of_functions(build)
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, 'perf.data')
        subprocess.run(['perf', 'record', '-q', '-F', '4999', '-o', data, *command(folder)], env=build.environment, capture_output=True, check=True)
        text = subprocess.run(['perf', 'report', '-i', data, '--stdio', '--no-children', '--sort', 'comm,symbol'], capture_output=True, text=True,
                              check=True).stdout
    kinds = {}
    for share, _, where, name in re.findall(r'^\s+([\d.]+)%\s+(' + threads + r')\s+\[(.)\] (\S+)', text, re.M):
        kinds.setdefault(kind_of(name, where, files), []).append((float(share), name))
    whole = sum(share for rows in kinds.values() for share, _ in rows)
    rows = [[kind, 100 * sum(share for share, _ in rows) / whole, [name for _, name in rows[:2]]] for kind, rows in kinds.items()]
    return sorted(rows, key=lambda row: -row[1])


def part_of(build, line):
    """What a line of massif's tree allocates: the left side of that line of the source."""
    place = re.search(r'\((\w+\.c):(\d+)\)', line)
    for folder in ('hopper', 'ptx', 'libcuda'):
        path = place and os.path.join(build.source, 'sim', folder, place.group(1))
        if path and os.path.exists(path):
            with open(path) as file:
                source = file.read().splitlines()[int(place.group(2)) - 1]
            found = re.search(r'&([\w>-]+), &', source) or re.search(r'^\s*(.*?) = \w*alloc\(', source)
            return found.group(1) if found else None
    return None


def heap_parts(build, multiprocessors):
    """Bytes by what they are for, when the heap is largest."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, 'massif')
        subprocess.run(['valgrind', '--tool=massif', '--threshold=0.1', f'--massif-out-file={data}', *build.gemm_command(*SPREAD)],
                       env={**build.environment, 'WSDBG_SIM_MULTIPROCESSORS': str(multiprocessors)}, capture_output=True, check=True)
        with open(data) as file:
            text = file.read()
    peak = re.search(r'heap_tree=peak\n(.*?)(?=\n#|\Z)', text, re.S).group(1).splitlines()
    parts, grows = {}, None
    for line in peak:
        depth, count = len(line) - len(line.lstrip()), int(re.search(r': (\d+) ', line).group(1))
        if depth == 1 and 'wsdbg_grow' not in line or depth == 2 and grows:
            part = part_of(build, line) or 'other'
            parts[part] = parts.get(part, 0) + count
        if depth == 1:
            grows = 'wsdbg_grow' in line
    return parts


def parts_of_cta(build):
    """[part, bytes a CTA], the largest first: how a full chip differs from one CTA."""
    one, all_ctas = heap_parts(build, CTAS[0]), heap_parts(build, CTAS[-1])
    rows = [[part, (count - one.get(part, 0)) / (CTAS[-1] - CTAS[0])] for part, count in all_ctas.items()]
    return sorted([row for row in rows if row[1] >= 512], key=lambda row: -row[1])


def measure(options):
    builds = {'now': Build(options.build, options.gemm)}
    if options.before:
        builds = {'before': Build(options.before, options.gemm), **builds}
    now = builds['now']
    data = {'machine': results.machine(), 'runs': options.runs, 'commits': {name: build.commit() for name, build in builds.items()},
            'load_before': os.getloadavg()[0]}
    data['instructions'] = in_turns(builds, 3 * options.runs, Build.bench)
    data['gemm'] = {str(size): in_turns(builds, options.runs, lambda build: build.gemm([str(size)] * 3)) for size in SIZES}
    data['ctas'] = {str(count): in_turns(builds, options.runs, lambda build: build.gemm(SPREAD, count)) for count in CTAS}
    data['explore'] = {str(jobs): in_turns(builds, options.runs, lambda build: build.explore(jobs)) for jobs in (1, 2)}
    data['load_after'] = os.getloadavg()[0]
    kib = lambda name, count: data['ctas'][str(count)][name]['kib']['median']
    data['kib_per_cta'] = {name: (kib(name, CTAS[-1]) - kib(name, CTAS[0])) / (CTAS[-1] - CTAS[0]) for name in builds}
    data['parts_of_cta'] = parts_of_cta(now)
    data['profile'] = {'gemm': profile(now, lambda folder: now.gemm_command(*[PROFILED] * 3), r'\S+'),
                       'explore': profile(now, lambda folder: now.explore_command(1, os.path.join(folder, 'explored.db')), 'gemm')}
    return data


# ---- the page ----

def table(head, rows):
    return [f"| {' | '.join(head)} |", '|' + '---|' * len(head), *[f"| {' | '.join(row)} |" for row in rows], '']


def both(data, runs, key, digits, scale=1):
    """The cells of a measurement: before, if there is a build of before, and now."""
    return [results.cell(runs[name][key], digits, scale) for name in data['commits']]


def page(data):
    names = list(data['commits'])
    columns = lambda unit: [f'{unit}, {name}' for name in names]
    gemm = lambda runs: both(data, runs, 'cpu_seconds', 2) + [results.cell(runs['now']['seconds'], 2)] + both(data, runs, 'kib', 1, 1 / 1024)
    gemm_head = columns('processor seconds') + ['seconds, now'] + columns('peak MiB')
    lines = ['## Speed and memory', '',
             f"`tests/sim/speed.py`: {data['machine']}; {data['runs']} runs; load average {data['load_before']:.1f} before and "
             f"{data['load_after']:.1f} after (other work ran beside it, so processor time says more than seconds). A context executes on one thread. "
             + ', '.join(f'{name}: commit {commit}' for name, commit in data['commits'].items())
             + ('; runs of the two builds in turns.' if 'before' in names else '.'), '']
    lines += table(['`bench_hopper`, eight warps on each of four multiprocessors: million warp-instructions a second of one core', *names],
                   [[name, *both(data, data['instructions'], name, 1)] if all(name in data['instructions'][one] for one in names) else
                    [name, *['-'] * (len(names) - 1), results.cell(rate, 1)] for name, rate in data['instructions']['now'].items()])
    lines += table(['healthy GEMM, plain image, start to end of the program', *gemm_head],
                   [[f'{size}³', *gemm(runs)] for size, runs in data['gemm'].items()])
    lines += [f"{' × '.join(SPREAD)}, 136 tiles, on a chip of `WSDBG_SIM_MULTIPROCESSORS` (one CTA each):", '']
    lines += table(['CTAs', *gemm_head], [[count, *gemm(runs)] for count, runs in data['ctas'].items()])
    per_cta = ', '.join(f'{kib:.0f} KiB {name}' for name, kib in data['kib_per_cta'].items())
    lines += [f'A resident CTA of {THREADS} threads and 229,440 bytes of shared memory takes {per_cta} (from the first row to the last). What it asks for, now '
              '(massif; a page that is not touched takes nothing):', '']
    lines += table(['part', 'KiB a CTA'], [[PARTS.get(part, part), f'{count / 1024:,.1f}'] for part, count in data['parts_of_cta']])
    lines += [f"`wsdbg explore --schedules {SCHEDULES}` of the healthy GEMM of {EXPLORED[0]}³, with nothing found:", '']
    lines += table(['jobs', *columns('schedules a second')],
                   [[jobs, *both(data, runs, 'schedules_per_second', 1)] for jobs, runs in data['explore'].items()])
    lines += [f'Where the time goes (perf), in percent: of the GEMM of {PROFILED}³, and of the tried schedules of the exploration above.', '']
    other = {kind: share for kind, share, _ in data['profile']['explore']}
    kinds = [kind for kind, _, _ in data['profile']['gemm']]
    rows = [[kind, f'{share:.0f}', f'{other.get(kind, 0):.0f}', ', '.join(f'`{name}`' for name in most)] for kind, share, most in data['profile']['gemm']]
    rows += [[kind, '0', f'{share:.0f}', ', '.join(f'`{name}`' for name in most)] for kind, share, most in data['profile']['explore'] if kind not in kinds]
    lines += table(['work', 'GEMM', 'explore', 'most of it in'], rows)
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--before')
    parser.add_argument('--gemm')
    parser.add_argument('--runs', type=int, default=5)
    options = parser.parse_args()
    options.gemm = options.gemm or os.path.join(options.build, 'bin', 'gemm')
    data = measure(options)
    results.save('speed', data, page(data), 'sim')


if __name__ == '__main__':
    main()
