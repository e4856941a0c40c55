#!/usr/bin/env python3
"""measure.py - runs every measurement of docs/results/h200.md on a machine with a Hopper GPU.

    tests/h200/measure.py [--build build] [--out results.json] [--runs 20] [PART ...]

Parts: hangs, healthy, shapes, candidates, probes, ring, observer, storm, past, starts, markers, looking, images, transcripts (default: all but candidates, which are for
fit_plans.py; images alone needs no GPU).  Results are merged into the JSON file; tables.py turns it into Markdown.  Every command has a time limit; a part that fails says so and the
others go on.  A development script: wsdbg itself needs no Python.
"""
import argparse, csv, hashlib, io, json, math, os, random, re, signal, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def rows(program):
    """The rows a demo program lists: [name, cause, role, barrier, kind]."""
    _, out, *_ = run([program, '--list-bugs'], 20)
    return [line.split('\t')[:5] for line in out.splitlines() if line.strip()]


def run(command, limit, environment=None):
    """(status, stdout, stderr, seconds); status 'limit' when it was killed for time."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **(environment or {})})
    try:
        out, err = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        status = 'limit'
    return status, out, err, time.monotonic() - start


# The products that the GEMM must compute as fast as cuBLAS.
SHAPES = [(8192, 8192, 8192), (4096, 4096, 4096), (2048, 2048, 2048), (512, 8192, 4096), (16384, 4096, 1024),
          (8192, 256, 8192), (1024, 1024, 1024), (128, 8192, 8192), (4096, 512, 16384)]


def random_shapes(seed, count, step, most=8192):
    """Products whose sizes are multiples of `step`, each log-uniform from 128 to `most`."""
    chosen = random.Random(seed)
    return [tuple(step * round(2 ** chosen.uniform(7, math.log2(most)) / step) for _ in 'mnk') for _ in range(count)]


def constants_of_plans():
    """A hash of the files that choose plans; None where they are not there."""
    paths = [os.path.join(ROOT, 'demo_kernels', 'gemm', name) for name in ('plan.c', 'estimate.c')]
    if not all(map(os.path.exists, paths)):
        return None
    return hashlib.sha256(b''.join(open(path, 'rb').read() for path in paths)).hexdigest()


NULL_LAUNCH_WAYS = ('alone', 'armed', 'ring', 'auto')


def first_figures(out):
    """The first JSON object of an output, without objects in it."""
    return json.loads(out[out.index('{'):out.index('}') + 1])


def spread(values):
    values = sorted(values)
    return {'median': statistics.median(values), 'min': values[0], 'max': values[-1], 'n': len(values)}


class Measure:
    def __init__(self, build, runs):
        self.bin = os.path.join(build, 'bin')
        self.runs = runs
        self.scratch = tempfile.mkdtemp(prefix='wsdbg-measure-')

    def without_paths(self, text):
        return text.replace(self.bin + '/', '').replace(self.scratch + '/', '')

    def tool(self, name):
        return os.path.join(self.bin, name)

    def watched(self, program, stall='0.5', extra=(), limit=30):
        """Runs a program under wsdbg; (status, report or None, seconds, stderr)."""
        database = os.path.join(self.scratch, 'run.db')
        if os.path.exists(database):
            os.unlink(database)
        status, out, err, seconds = run([self.tool('wsdbg'), 'run', '--stall', stall, '--json', '-o', database,
                                         *extra, '--', *program], limit)
        start = out.find('{\n')
        try:
            report = json.loads(out[out.index('{'):]) if '{' in out else None
        except ValueError:
            report = None
        return status, report, seconds, err, out[:max(start, 0)]

    def cases(self):
        for program, option in (('gemm', '--bug'), ('two_async_warps', '--defect')):
            for name, cause, role, barrier, kind in rows(self.tool(program)):
                yield f'{program} {option} {name}', [self.tool(program), option, name], cause, role, barrier, kind

    def hangs(self):
        """20 runs plain and 20 under wsdbg of every deliberate hang."""
        table = []
        for title, command, cause, role, barrier, kind in self.cases():
            row = {'case': title, 'kind': kind, 'expected': [cause, role, barrier], 'plain_hangs': 0,
                   'wsdbg_hangs': 0, 'cause_right': 0, 'role_right': 0, 'barrier_right': 0, 'wrong_proven': 0,
                   'runs': self.runs, 'plain_status': {}, 'wsdbg_status': {}, 'causes': {}, 'roles': {}, 'barriers': {},
                   'confidence': {}, 'findings': {}}
            verdict_ms = []
            for _ in range(self.runs):
                status, *_ = run([*command, '--variant', 'plain', '--timeout-ms', '700'], 20)
                row['plain_hangs'] += status == 3 or status == 'limit'
                row['plain_status'][str(status)] = row['plain_status'].get(str(status), 0) + 1
                status, report, _, err, _ = self.watched([*command, '--variant', 'probes', '--timeout-ms', '8000'])
                row['wsdbg_status'][str(status)] = row['wsdbg_status'].get(str(status), 0) + 1
                if status not in (124, 0) and kind.lower() != 'fault' and 'sample_error' not in row:
                    row['sample_error'] = self.without_paths(err)[-600:]
                row['wsdbg_hangs'] += status == 124
                if not report or (status != 124 and not report.get('cause')):
                    continue
                finding = (report.get('findings') or [{}])[0]
                got = report.get('cause')
                row['causes'][str(got)] = row['causes'].get(str(got), 0) + 1
                said = ' + '.join(f['cause'] for f in report.get('findings') or [])
                row['findings'][said] = row['findings'].get(said, 0) + 1
                who = finding.get('role')
                row['roles'][str(who)] = row['roles'].get(str(who), 0) + 1
                where = finding.get('barrier')
                where = where.get('name') if isinstance(where, dict) else where
                row['barriers'][str(where)] = row['barriers'].get(str(where), 0) + 1
                sure = finding.get('confidence')
                row['confidence'][str(sure)] = row['confidence'].get(str(sure), 0) + 1
                row['cause_right'] += (got or '') == cause
                row['role_right'] += not role or str(who or '').startswith(role)
                row['barrier_right'] += not barrier or str(where or '').startswith(barrier)
                row['wrong_proven'] += sure == 'proven' and got != cause
                delay_ns = report.get('session', {}).get('verdict_delay_ns')
                if delay_ns is not None:
                    verdict_ms.append(delay_ns / 1e6)
            if verdict_ms:
                row['verdict_ms'] = spread(verdict_ms)
            table.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
        return table

    def healthy(self):
        """The correct GEMM under wsdbg: no verdict, the same bits."""
        sizes = [('1024', '1024', '1024'), ('2048', '2048', '2048'), ('4096', '512', '1024'), ('1000', '776', '1032')]
        result = {'runs': 0, 'false_alarms': 0, 'different_results': 0, 'other_status': 0, 'configurations': []}
        for schedule in ('cooperative', 'pingpong'):
            for cluster in ('1', '2'):
                for m, n, k in sizes:
                    arguments = [self.tool('gemm'), '--m', m, '--n', n, '--k', k, '--schedule', schedule, '--cluster',
                                 cluster, '--checksum', '--seed', '7', '--variant']
                    status, plain, err, _ = run([*arguments, 'plain'], 30)
                    row = {'schedule': schedule, 'cluster': cluster, 'mnk': [m, n, k], 'plain_status': status, 'runs': 0}
                    for _ in range(self.healthy_runs):
                        status, report, _, err, out = self.watched([*arguments, 'probes'], stall='0.5')
                        row['runs'] += 1
                        result['runs'] += 1
                        result['false_alarms'] += status == 124 or bool(report and report.get('cause'))
                        result['other_status'] += status != 0
                        result['different_results'] += plain.strip() != out.strip()
                        if plain.strip() != out.strip() or status != 0:
                            row['sample'] = [plain[-200:], out[-200:], err[-400:]]
                    result['configurations'].append(row)
        return result

    # Image, rival, and the options of wsdbg; None: without it.
    PROBE_SETUPS = [('alone', 'off', 'plain', None), ('alone', 'probes', 'plain', None), ('slots', 'probes', 'plain', ['--history', '0']),
                    ('slots and history', 'probes', 'plain', ['--history', '128'])]

    def probes(self):
        """What probes cost; each ratio from one process, alternating order.  Small products take more samples, because there pairs differ by more than probes cost."""
        table = []
        for m, n, k, repeat in (('2048',) * 3 + ('400',), ('4096',) * 3 + ('400',), ('8192',) * 3 + ('60',), ('8192', '256', '8192', '200')):
            command = [self.tool('gemm'), '--bench', '--m', m, '--n', n, '--k', k, '--repeat', repeat]
            for name, variant, rival, extra in self.PROBE_SETUPS:
                program = [*command, '--variant', variant, '--against', rival]
                if extra is None:
                    status, out, err, _ = run(program, 120)
                else:
                    database = os.path.join(self.scratch, 'probes.db')
                    if os.path.exists(database):
                        os.unlink(database)
                    status, out, err, _ = run([self.tool('wsdbg'), 'run', '-o', database, *extra, '--', *program], 120)
                lines = []
                for line in out.splitlines():
                    try:
                        lines.append(json.loads(line))
                    except ValueError:
                        pass
                table.append({'mnk': [m, n, k], 'setup': name, 'variant': variant, 'against': rival, 'status': status, 'lines': lines,
                              'error': err[-300:] if status else ''})
        return {'machine': self.machine(), 'table': table}

    def survey(self, shapes, *options, limit=240):
        """The lines that `gemm --shapes` prints; an exception where it ends with an error."""
        path = os.path.join(self.scratch, 'shapes.txt')
        with open(path, 'w') as file:
            file.writelines('%d %d %d\n' % shape for shape in shapes)
        status, out, err, _ = run([self.tool('gemm'), '--shapes', path, '--variant', 'plain', '--timeout-ms', '10000', *options], limit)
        if status:
            raise RuntimeError(f'gemm --shapes: status {status}: {err[-300:]}')
        return [json.loads(line) for line in out.splitlines()]

    def shapes(self):
        """The GEMM with the plan that it chooses, against cuBLAS: speed, and whether the results are the same."""
        sets = {'listed': SHAPES, 'random, multiples of 8': random_shapes(81, 60, 8),
                'random, multiples of 64': random_shapes(82, 60, 64)}
        return {'machine': self.machine(), 'constants': constants_of_plans(),
                'sets': {name: self.survey(shapes, '--repeat', '30') for name, shapes in sets.items()},
                'checked': self.survey(random_shapes(73, 200, 8, 4096), '--check')}

    def candidates(self):
        """The median time of every plan of many products: what fit_plans.py reads."""
        draws = [shape for seed in (1, 3, 71) for shape in random_shapes(seed, 60, 8) + random_shapes(seed + 1, 60, 64)]
        products = self.survey([*SHAPES, *draws], '--candidates', '--repeat', '9', limit=400)
        for timed in (timed for product in products for timed in (product['cublas'], *product['plans'])):
            timed['gpu_us'] = timed['gpu_us'][1]
            timed.pop('gpu_speed', None)
        return products

    def fresh(self, name):
        """The path of a database that is not there."""
        path = os.path.join(self.scratch, name)
        if os.path.exists(path):
            os.unlink(path)
        return path

    def query(self, database, sql):
        """The first value of the answer; None where there is none."""
        status, out, *_ = run([self.tool('wsdbg'), 'query', database, '--csv', sql], 30)
        rows_ = list(csv.reader(io.StringIO(out)))
        return rows_[1][0] if status == 0 and len(rows_) > 1 and rows_[1] else None

    def ring_costs(self, sizes):
        """Time of the probed GEMM against the plain one, for each place of the ring, as `probes` has it."""
        table = []
        for size in sizes:
            for place in ('device', 'mapped'):
                for history in ('0', '128'):
                    # A mapped ring makes a launch many times longer.
                    repeat = '60' if place == 'device' else '20'
                    program = [self.tool('gemm'), '--bench', '--m', size, '--n', size, '--k', size, '--repeat', repeat, '--timeout-ms', '40000',
                               '--variant', 'probes', '--against', 'plain']
                    database = self.fresh('ring.db')
                    status, out, err, seconds = run([self.tool('wsdbg'), 'run', '--ring', place, '--history', history, '-o', database, '--', *program], 45)
                    lines = [json.loads(line) for line in out.splitlines() if line.startswith('{')]
                    table.append({'mnk': [size] * 3, 'ring': place, 'history': history, 'status': status, 'lines': lines, 'seconds': seconds,
                                  'ring_used': self.query(database, 'SELECT ring FROM context WHERE ring IS NOT NULL'),
                                  'error': err[-300:] if status else ''})
                    print(json.dumps(table[-1]), file=sys.stderr, flush=True)
        return table

    def program_of(self, watcher, name):
        """The process `name` that wsdbg has started, as soon as there is one; None after 10 s."""
        for _ in range(200):
            for entry in os.listdir('/proc'):
                try:
                    head, _, tail = open(f'/proc/{entry}/stat').read().rpartition(')') if entry.isdigit() else ('', '', '')
                except OSError:
                    continue
                if head.partition('(')[2] == name and int(tail.split()[1]) == watcher:
                    return int(entry)
            time.sleep(0.05)
        return None

    def send(self, pid, signal_number):
        try:
            if pid and signal_number:
                os.kill(pid, signal_number)
        except ProcessLookupError:
            pass  # it has ended before

    def watch_hang(self, place, program, signal_number, options, wait_s):
        """A program that hangs, and gets a signal while it does, before the stall time is over: what wsdbg says within wait_s of the
        signal.  `said` is wsdbg's words, `status` its exit status; None where it had not ended by then."""
        database = self.fresh('gives.db')
        said = os.path.join(self.scratch, 'gives.txt')
        with open(said, 'w') as file:
            watcher = subprocess.Popen([self.tool('wsdbg'), 'run', '--ring', place, *options, '-o', database, '--', *program],
                                       stdin=subprocess.DEVNULL, stdout=file, stderr=file)
            pid = self.program_of(watcher.pid, os.path.basename(program[0]))
            time.sleep(3)  # CUDA has started, and the kernel stands
            self.send(pid, signal_number)
            try:
                status = watcher.wait(wait_s)
            except subprocess.TimeoutExpired:
                status = None
                self.send(pid, signal.SIGCONT)
                watcher.terminate()
                try:
                    watcher.wait(20)
                except subprocess.TimeoutExpired:
                    watcher.kill()
                    watcher.wait()
        text = self.without_paths(open(said).read())
        verdict = next((line for line in text.splitlines() if line.startswith('HANG:')), None)
        return {'ring': place, 'status': status, 'verdict': verdict, 'database': database, 'said': text[-1500:]}

    def ring_gives(self):
        """What a mapped ring gives that copies do not: verdicts while the program is stopped and while its copies wait, and the record
        of a program that was killed."""
        hang = [self.tool('gemm'), '--bug', 'arrive-missing', '--variant', 'probes', '--timeout-ms', '60000']
        behind = [self.tool('copies_behind'), '128', '60']
        result = {'stopped': [], 'killed': [], 'copies_behind': []}
        for place in ('device', 'mapped'):
            result['stopped'].append(self.watch_hang(place, hang, signal.SIGSTOP, ['--stall', '5'], 9))
            for keeps in ([], ['--keep-history']):
                killed = self.watch_hang(place, hang, signal.SIGKILL, ['--stall', '30', *keeps], 20)
                killed['keeps_history'] = bool(keeps)
                killed['warps'] = self.query(killed['database'], 'SELECT count(*) FROM warp_named')
                killed['warps_with_events'] = self.query(killed['database'], 'SELECT count(DISTINCT warp_id) FROM event_named')
                killed['events'] = self.query(killed['database'], 'SELECT count(*) FROM event_named')
                killed['last_is_wait'] = self.query(killed['database'], "SELECT count(*) FROM (SELECT warp_id, event, max(event_id) FROM event_named GROUP BY "
                                                    "warp_id) WHERE event LIKE '%wait begin'")
                result['killed'].append(killed)
            result['copies_behind'].append(self.watch_hang(place, behind, None, ['--stall', '2', '--evidence', 'ring'], 12))
        for row in sum(result.values(), []):
            row.pop('database')
            print(json.dumps(row), file=sys.stderr, flush=True)
        return result

    def ring(self):
        """A ring in host memory that the GPU maps, beside the one in the GPU's own: what it costs, and what it gives."""
        return {'machine': self.machine(), 'gives': self.ring_gives(), 'costs': self.ring_costs(['2048', '4096', '8192'])}

    def observer(self):
        """An empty kernel, launch and synchronise, with and without the observer; runs alternate."""
        figures = {'alone': [], 'driver': [], 'cupti': []}
        for _ in range(self.runs):
            for name in figures:
                command = [self.tool('null_launch'), '11']
                if name != 'alone':
                    command = [self.tool('wsdbg'), 'run', '--quiet', '--observer', name, '-o', self.fresh('observer.db'), '--', *command]
                status, out, err, _ = run(command, 60)
                try:
                    figures[name].append(json.loads(out[out.index('{'):]))
                except ValueError:
                    figures.setdefault('errors', []).append([name, status, err[-300:]])
        return {name: {key: spread([f[key] for f in values]) for key in ('launch_ns', 'launch_and_sync_ns')}
                if name != 'errors' and values else values for name, values in figures.items()}

    def null_launch(self, way, *arguments, limit_s):
        """What null_launch measured in one of these ways: alone, armed, and under wsdbg without a look and with its default."""
        words = {'alone': [], 'armed': ['arm', '--'], 'ring': ['run', '-q', '--evidence', 'ring', '-o', self.fresh('null.db'), '--'],
                 'auto': ['run', '-q', '-o', self.fresh('null.db'), '--']}[way]
        watch = [self.tool('wsdbg'), *words] if words else []
        start = time.monotonic()
        status, out, err, _ = run([*watch, self.tool('null_launch'), *arguments], limit_s)
        return {**(first_figures(out) if status == 0 else {}), 'process_s': time.monotonic() - start, 'status': status, 'said': err[-200:] if status else ''}

    def storm(self):
        """300,000 launches of an empty kernel in each way; 9 rounds, and the order of the ways alternates."""
        rows = {way: [] for way in NULL_LAUNCH_WAYS}
        for turn in range(9):
            for way in NULL_LAUNCH_WAYS if turn % 2 == 0 else NULL_LAUNCH_WAYS[::-1]:
                rows[way].append({'storm_s': None, **self.null_launch(way, 'storm', '300000', limit_s=60)})
        return {'machine': self.machine(), 'rows': rows}

    def past(self):
        """What the observer adds to a launch: through it and past it in one process; 5 processes of each way, in turns."""
        rows = {way: [] for way in NULL_LAUNCH_WAYS}
        for _ in range(5):
            for way in NULL_LAUNCH_WAYS:
                rows[way].append(self.null_launch(way, 'past', '100', limit_s=30))
        return {'machine': self.machine(), 'rows': rows}

    def starts(self):
        """100 programs that make a context and launch at once, under wsdbg: how each ends, whether wsdbg was attached, how long the first launch took."""
        rows = []
        for _ in range(100):
            command = [self.tool('wsdbg'), 'run', '-q', '-o', self.fresh('starts.db'), '--', self.tool('null_launch'), 'storm', '500']
            status, out, err, _ = run(command, 20)
            seen = first_figures(out) if '}' in out else {'first_s': None}
            rows.append({'status': status, 'attached': 'attached to process' in err, 'first_s': seen['first_s'], 'said': err[-200:] if status else ''})
        return {'machine': self.machine(), 'rows': rows}

    def markers(self):
        """Streams of kernels of 5 us: alone, under wsdbg without markers (--evidence ring) and with; runs alternate."""
        setups = {'alone': None, 'without': ['--evidence', 'ring'], 'with': ['--evidence', 'auto']}
        result = {}
        for streams in ('1', '4'):
            figures = {name: [] for name in setups}
            for _ in range(self.runs):
                for name, extra in setups.items():
                    command = [self.tool('kernel_stream'), '1.5', streams]
                    if extra:
                        database = os.path.join(self.scratch, 'markers.db')
                        if os.path.exists(database):
                            os.unlink(database)
                        command = [self.tool('wsdbg'), 'run', '--quiet', *extra, '-o', database, '--', *command]
                    status, out, err, _ = run(command, 60)
                    try:
                        figures[name].append(json.loads(out[out.index('{'):])['kernel_ns'])
                    except ValueError:
                        result.setdefault('errors', []).append([name, status, err[-300:]])
            result[f'{streams} streams'] = {name: spread(values) for name, values in figures.items() if values}
        status, out, err, _ = run([self.tool('kernel_stream'), '--record'], 60)
        result['cuCtxRecordEvent'] = {'status': status, 'error': err[-300:],
                                      'situations': [json.loads(line) for line in out.splitlines() if line]}
        return result

    def transcripts(self):
        """What a person sees: one run a seed, text as printed."""
        chosen = [('Seed 000: 40 + 2 x 240 registers', 'gemm', '--bug', 'regs-exhausted'),
                  ('Seed 001: setmaxnreg by one warp of a warpgroup', 'gemm', '--bug', 'regs-partial'),
                  ('Seed 003: the two leftover warps ask', 'two_async_warps', '--defect', 'leftover-asks'),
                  ('Seed 003: doubled request and doubled arrive', 'two_async_warps', '--defect', 'double-arrive'),
                  ('Seed 003: one full barrier for two loaders, a race', 'gemm', '--bug', 'shared-full-barrier'),
                  ('Seed 003: that barrier with both loaders arriving, a fault', 'two_async_warps', '--defect', 'shared-full'),
                  ('Seed 003: everything at once, a fault', 'two_async_warps', '--defect', 'all'),
                  ('Seed 002: serialised wgmma crawls and hangs nothing', 'gemm', '--bug', 'wgmma-serialized', '--bench',
                   '--repeat', '10', '--against', 'cublas')]
        texts = []
        for title, program, *arguments in chosen:
            database = os.path.join(self.scratch, 'transcript.db')
            if os.path.exists(database):
                os.unlink(database)
            status, out, err, _ = run([self.tool('wsdbg'), 'run', '-o', database, '--', self.tool(program), *arguments], 30)
            texts.append({'title': title, 'command': f'wsdbg run -- {program} ' + ' '.join(arguments), 'status': status,
                          'text': self.without_paths(out + err)})
        return texts

    def looking(self):
        """What it costs to look at the GEMM on the whole chip, and whether it slows it."""
        sys.path.insert(0, os.path.join(ROOT, 'tests', 'viewer'))
        import measure_live
        os.environ['PATH'] = self.bin + ':' + os.environ['PATH']
        os.chdir(self.scratch)
        gemm = [self.tool('gemm'), '--repeat', '100000']
        result = {'run': [], 'tops': [], 'tops_updates': [], 'tui': [], 'tui_updates': [], 'alone': [], 'beside_tops': []}
        for turn in range(5):
            run_ = subprocess.Popen([self.tool('wsdbg'), 'run', '-q', '-o', f'a{turn}.db', '--', *gemm])
            time.sleep(1.5)
            load, _ = measure_live.over(4, [run_.pid], [])
            result['run'] += load
            tops = [measure_live.Terminal([self.tool('wsdbg'), 'top', str(run_.pid)]) for _ in range(4)]
            load, updates = measure_live.over(4, [t.pid for t in tops], tops)
            result['tops'].append(max(load))
            result['tops_updates'].append(min(updates))
            for top in tops:
                top.leave()
            run_.terminate()
            run_.wait()
            tui = measure_live.Terminal([self.tool('wsdbg'), 'run', '--tui', '-q', '-o', f'b{turn}.db', '--', *gemm])
            time.sleep(1.5)
            load, updates = measure_live.over(4, [tui.pid], [tui])
            result['tui'] += load
            result['tui_updates'] += updates
            tui.press(b'q')
            time.sleep(0.3)
            tui.press(b'y')
            tui.leave()
            for key in ('alone', 'beside_tops'):
                result[key].append(self.speed_beside(4 if key == 'beside_tops' else 0, f'{key}{turn}.db'))
        return {key: spread(values) for key, values in result.items()}

    def speed_beside(self, tops, database):
        """Speed of the probed GEMM against the plain one, under wsdbg, beside so many tops."""
        import measure_live
        run_ = subprocess.Popen([self.tool('wsdbg'), 'run', '-q', '-o', database, '--', self.tool('gemm'), '--bench', '--variant',
                                 'probes', '--against', 'plain', '--repeat', '400'], stdout=subprocess.PIPE, text=True)
        time.sleep(0.8)
        terminals = [measure_live.Terminal([self.tool('wsdbg'), 'top', str(run_.pid)]) for _ in range(tops)]
        out, _ = run_.communicate(timeout=60)
        for terminal in terminals:
            terminal.leave()
        return json.loads(next(line for line in out.splitlines() if 'speed_of' in line))['median']

    def images(self):
        """Registers and spills of every image as ptxas said, and the comparison of machine code; needs no GPU."""
        folder = os.path.join(os.path.dirname(self.bin), 'demo_kernels', 'images')
        table = []
        for name in sorted(os.listdir(folder)):
            if name.endswith('.ptxas'):
                text = open(os.path.join(folder, name)).read()
                table.append({'image': name[:-6], 'registers': sorted({int(n) for n in re.findall(r'Used (\d+) registers', text)}),
                              'kernels': text.count('Compiling entry function'),
                              'spill_bytes': sum(int(n) for n in re.findall(r'(\d+) bytes spill', text)),
                              'stack_bytes': sum(int(n) for n in re.findall(r'(\d+) bytes stack', text))})
        status, *_ = run([os.path.join(os.path.dirname(self.bin), 'tests', 'test_demo_images')], 60)
        return {'images': table, 'same_code_test_status': status}

    def machine(self):
        _, out, *_ = run(['nvidia-smi', '--query-gpu=name,driver_version,clocks.max.sm', '--format=csv,noheader'], 20)
        return {'gpu': out.strip(), 'kernel': os.uname().release, 'date': time.strftime('%Y-%m-%d', time.gmtime())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('parts', nargs='*', metavar='PART')
    parser.add_argument('--build', default=os.path.join(ROOT, 'build'))
    parser.add_argument('--out', default='h200.json')
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--healthy-runs', type=int, default=13, help='runs of each of the 16 healthy configurations')
    arguments = parser.parse_args()
    measure = Measure(os.path.abspath(arguments.build), arguments.runs)
    measure.healthy_runs = arguments.healthy_runs
    everything = ['machine', 'hangs', 'healthy', 'shapes', 'candidates', 'probes', 'ring', 'observer', 'storm', 'past', 'starts', 'markers', 'looking', 'images', 'transcripts']
    results = json.load(open(arguments.out)) if os.path.exists(arguments.out) else {}
    machine = [] if arguments.parts == ['images'] else ['machine']
    for part in [*machine, *(arguments.parts or [part for part in everything[1:] if part != 'candidates'])]:
        if part not in everything:
            parser.error(f'no part "{part}"; parts are {", ".join(everything[1:])}')
        start = time.monotonic()
        try:
            results[part] = getattr(measure, part)()
        except Exception as error:  # one part must not cost the others
            results[part + '_error'] = repr(error)
            print(f'{part}: {error!r}', file=sys.stderr)
        print(f'{part}: {time.monotonic() - start:.1f} s', file=sys.stderr, flush=True)
        json.dump(results, open(arguments.out, 'w'), indent=1)


if __name__ == '__main__':
    main()
