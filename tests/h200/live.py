#!/usr/bin/env python3
"""live.py - everything that docs/results/h200-live.md says: hangs of kernels without probes, seen from outside.

    tests/h200/live.py [--build build] [--out live.json] [--runs 3] [--public FOLDER] [PART ...]
    tests/h200/live.py --table live.json > docs/results/h200-live.md       and keeps live.json in tests/measured

Parts: hangs, waits, timing, kills, healthy, slow, shapes, captures, mps, user, python, public (default: all).  Results are merged
into the JSON file.  `mps` starts an MPS daemon of its own and ends it; `user` needs root; `python` needs PyTorch and Triton; `public`
runs the programs in --public (kernels of others with a defect put in by hand, never kept here).  A development script: wsdbg itself needs
no Python.
"""
import argparse, json, os, re, signal, statistics, subprocess, sys, tempfile, threading, time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import live_shapes
import results

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

PYTHON_HANG = '''
import sys, torch, triton, triton.language as tl

@triton.jit
def wait_for_flag(flag):
    value = tl.atomic_add(flag, 0)
    while value == 0:
        value = tl.atomic_add(flag, 0)

flag = torch.zeros(1, dtype=torch.int32, device='cuda')
a = torch.randn(2048, 2048, dtype=torch.bfloat16, device='cuda')
torch.mm(a, a)
torch.cuda.synchronize()
print('flag at', hex(flag.data_ptr()), flush=True)
wait_for_flag[(4,)](flag)
if 'behind' in sys.argv:
    b = torch.mm(a, a)
torch.cuda.synchronize()
'''


def rows(program):
    """The rows a demo program lists: [name, cause, role, barrier, kind]."""
    text = subprocess.run([program, '--list-bugs'], capture_output=True, text=True, timeout=20).stdout
    return [line.split('\t')[:5] for line in text.splitlines() if line.strip()]


def spread(values):
    values = sorted(values)
    return {'median': statistics.median(values), 'min': values[0], 'max': values[-1], 'n': len(values)} if values else None


class Memory(threading.Thread):
    """The most memory a process and its children (but not `but`'s) held, from /proc; KiB."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.kib, self.over = pid, {}, False

    def run(self):
        while not self.over:
            for entry in os.listdir('/proc'):
                if entry.isdigit():
                    self.look(entry)
            time.sleep(0.01)

    def look(self, entry):
        try:
            text = open(f'/proc/{entry}/status').read()
        except OSError:
            return
        name = re.search(r'^Name:\t(.*)$', text, re.M).group(1)
        peak = re.search(r'^VmHWM:\s+(\d+)', text, re.M)
        if (name.startswith('wsdbg') or name in SIDE_PROCESSES) and peak:
            self.kib[entry] = int(peak.group(1))


SIDE_PROCESSES = ('gpu-inspector', 'attach-watchdog')


class Live:
    def __init__(self, build, runs, public):
        self.bin = os.path.join(build, 'bin')
        self.runs, self.public = runs, public
        self.prefix = []  # what wsdbg is started by
        self.scratch = tempfile.mkdtemp(prefix='wsdbg-live-')
        self.keep = lambda rows: None  # called with the rows so far: the time on the machine may end at any moment

    def tool(self, name):
        return os.path.join(self.bin, name)

    def plain(self, text):
        """Without the paths of this machine."""
        for path in (self.bin + '/', self.scratch + '/', (self.public or self.bin) + '/'):
            text = text.replace(path, '')
        return text

    def watched(self, program, extra=(), stall='0.5', limit=25, memory=False, during=None):
        """Runs a program under wsdbg: status, report or None, stderr, seconds, KiB by process."""
        database = os.path.join(self.scratch, 'run.db')
        if os.path.exists(database):
            os.unlink(database)
        start = time.monotonic()
        errors = open(os.path.join(self.scratch, 'stderr'), 'w+')
        process = subprocess.Popen([*self.prefix, self.tool('wsdbg'), 'run', '--stall', stall, '--json', '-o', database, *extra, '--', *program],
                                   stdout=subprocess.PIPE, stderr=errors, text=True)
        watcher = Memory(process.pid)
        if memory:
            watcher.start()
        if during:
            threading.Thread(target=during, args=(process,), daemon=True).start()
        try:
            out, _ = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            status = 'limit'
        watcher.over = True
        errors.seek(0)
        at = out.find('{\n')
        try:
            report = json.loads(out[at:]) if at >= 0 else None
        except ValueError:
            report = None
        return {'status': status, 'report': report, 'stderr': self.plain(errors.read()), 'stdout': out[:max(at, 0)] if at >= 0 else out,
                'seconds': time.monotonic() - start, 'kib': watcher.kib}

    def judge(self, result, cause, role, barrier):
        """What a run's report says, and whether it is what was expected."""
        report = result['report'] or {}
        first = (report.get('findings') or [{}])[0]
        got_role = (first.get('role') or '')
        said = first.get('barrier')
        got_barrier = (said.get('name') if isinstance(said, dict) else said) or ''
        delay = re.search(r'verdict (\d+) ms after', result['stderr'])
        return {'status': result['status'], 'cause': first.get('cause'), 'confidence': first.get('confidence'), 'role': got_role,
                'barrier': got_barrier, 'verdict_ms': int(delay.group(1)) if delay else None,
                'cause_right': first.get('cause') == cause, 'role_right': not role or got_role.startswith(role),
                'barrier_right': not barrier or got_barrier.startswith(barrier), 'looks': report.get('looks')}

    def series(self, program, expected, extra, runs, stall='0.5'):
        results = []
        for _ in range(runs):
            result = self.watched(program, extra, stall)
            results.append(self.judge(result, *expected))
            if result['status'] == 'limit':
                print('no end in time:', *program, result['stderr'][-1500:], flush=True)
                break
        runs = len(results)
        return {'runs': runs, 'hangs': sum(r['status'] == 124 for r in results),
                **{key: sum(r[key] for r in results) for key in ('cause_right', 'role_right', 'barrier_right')},
                'wrong_proven': sum(r['confidence'] == 'proven' and not r['cause_right'] for r in results),
                'said': sorted({f"{r['cause']} ({r['confidence']}), {r['role'] or '-'}, {r['barrier'] or '-'}" for r in results}),
                'verdict_ms': spread([r['verdict_ms'] for r in results if r['verdict_ms'] is not None])}

    def hangs(self):
        table = []
        for name, cause, role, barrier, kind in rows(self.tool('gemm')):
            if kind.lower() not in ('hang', 'race'):
                continue
            for variant in ('bare', 'plain', 'probes'):
                for source in ('live', 'core'):
                    command = [self.tool('gemm'), '--bug', name, '--variant', variant]
                    row = self.series(command, (cause, role, barrier), ['--evidence', source], self.runs if source == 'live' else 1)
                    table.append({'case': name, 'variant': variant, 'source': source, 'expected': [cause, role, barrier], **row})
                    self.keep(table)
                    print('hangs', name, variant, source, row['hangs'], row['cause_right'], row['said'], flush=True)
        return table

    def waits(self):
        table = []
        cases = [('two_async_warps', row) for row in rows(self.tool('two_async_warps'))] + [('waits', row) for row in rows(self.tool('waits'))]
        for program, (name, cause, role, barrier, kind) in cases:
            if kind.lower() not in ('hang', 'race', 'fault'):
                continue
            variant = ['--variant', 'plain'] if program == 'two_async_warps' else []
            source = 'core' if kind.lower() == 'fault' else 'live'  # the driver leaves nothing of an error but a dump
            row = self.series([self.tool(program), '--bug', name, *variant], (cause, role, barrier), ['--evidence', source], self.runs)
            table.append({'case': f'{program} {name}', 'kind': kind.lower(), 'source': source, 'expected': [cause, role, barrier], **row})
            self.keep(table)
            print('waits', name, source, row['hangs'], row['cause_right'], row['said'], flush=True)
        return table

    def timing(self):
        table = []
        sizes = {'4 CTAs': ['--bug', 'arrive-missing'],
                 'full chip (132 × 12 warps)': ['--bug', 'arrive-missing', '--m', '8192', '--n', '8192', '--k', '1024', '--ctas', '132']}
        for title, options in sizes.items():
            for source in ('live', 'core'):
                results = []
                for _ in range(max(self.runs, 5) if source == 'live' else self.runs):
                    result = self.watched([self.tool('gemm'), '--variant', 'plain', *options], ['--evidence', source], memory=True)
                    results.append((self.judge(result, 'ARRIVE_MISSING', 'consumer', 'empty'), result['kib'], result['seconds']))
                looked = [r for r, _, _ in results if r['looks']]
                table.append({'case': title, 'source': source, 'right': sum(r['cause_right'] for r, _, _ in results), 'runs': len(results),
                              'verdict_ms': spread([r['verdict_ms'] for r, _, _ in results if r['verdict_ms'] is not None]),
                              'looks': looked[-1]['looks'] if looked else None, 'looks_verdict_ms': looked[-1]['verdict_ms'] if looked else None,
                              'kib': spread([max(kib.values(), default=0) for _, kib, _ in results])})
                print('timing', title, source, table[-1]['verdict_ms'], table[-1]['kib'], flush=True)
        return table

    def inspector_of(self, wsdbg):
        """The process id of wsdbg's child that is attached to the GPU; None while there is none."""
        for entry in os.listdir('/proc'):
            try:
                fields = open(f'/proc/{entry}/stat').read().rsplit(')', 1)
                if entry.isdigit() and int(fields[1].split()[1]) == wsdbg and SIDE_PROCESSES[0] in fields[0]:
                    return int(entry)
            except (OSError, IndexError, ValueError):
                pass
        return None

    def kill_while_looking(self, whom, delay_ms):
        """One look at a healthy program, in the middle of which the inspector or wsdbg is killed; how the program ends."""
        database = os.path.join(self.scratch, f'kill-{whom}-{delay_ms}.db')
        program = [self.tool('gemm'), '--variant', 'plain', '--m', '2048', '--n', '2048', '--k', '2048', '--repeat', '150000', '--checksum']
        errors = open(os.path.join(self.scratch, 'kill-stderr'), 'w+')
        process = subprocess.Popen([self.tool('wsdbg'), 'run', '--evidence', 'live', '--on-stall', 'detach', '-o', database, '--', *program],
                                   stdout=subprocess.PIPE, stderr=errors, text=True)
        time.sleep(2)  # it runs by then, and for some seconds more
        process.send_signal(signal.SIGQUIT)
        start, inspector = time.monotonic(), None
        while not inspector and time.monotonic() - start < 1:
            inspector = self.inspector_of(process.pid)
        time.sleep(max(0, delay_ms / 1000))
        try:
            for pid in {'inspector': [inspector], 'wsdbg': [process.pid], 'both': [inspector, process.pid]}[whom]:
                os.kill(pid or process.pid, signal.SIGKILL)
            killed = True
        except OSError:
            killed = False
        try:
            out, _ = process.communicate(timeout=25)
            ended = True
        except subprocess.TimeoutExpired:
            process.kill()
            out, ended = '', False
            subprocess.run(['pkill', '-9', '-P', str(process.pid)])
        errors.seek(0)
        return {'killed': whom, 'delay_ms': delay_ms, 'was_there': killed and inspector is not None, 'ended': ended,
                'status': process.returncode, 'checksum': (re.findall(r'checksum: (\w+)', out or '') or [None])[0],
                'seconds': time.monotonic() - start, 'stderr': self.plain(errors.read())[-600:]}

    def kills(self):
        alone = subprocess.run([self.tool('gemm'), '--variant', 'plain', '--m', '2048', '--n', '2048', '--k', '2048', '--repeat', '10', '--checksum'],
                               capture_output=True, text=True, timeout=60).stdout
        out = [{'killed': 'nobody', 'checksum': (re.findall(r'checksum: (\w+)', alone) or [None])[0]}]
        for whom in ('wsdbg', 'both', 'inspector'):
            for delay_ms in (5, 50, 95, 125, 180) if whom == 'wsdbg' else (125, 180):
                out.append(self.kill_while_looking(whom, delay_ms))
                print('kills', {k: v for k, v in out[-1].items() if k != 'stderr'}, flush=True)
        return out

    def healthy(self):
        """100 looks at a healthy GEMM that one multiprocessor computes, so that a launch lasts half a second and is seen: the same bits, and
        its pace before, while and after."""
        program = [self.tool('gemm'), '--variant', 'plain', '--ctas', '1', '--m', '12288', '--n', '12288', '--k', '12288', '--times', '--checksum']
        out = {}

        def look(process):
            time.sleep(8)
            for _ in range(100):
                process.send_signal(signal.SIGQUIT)
                time.sleep(0.45)

        for title, repeat, extra in (('alone', '15', None), ('looked at', '125', ['--evidence', 'live'])):
            command = [*program, '--repeat', repeat]
            if extra is None:
                done = subprocess.run(command, capture_output=True, text=True, timeout=120)
                text, status, looks = done.stdout, done.returncode, None
            else:
                result = self.watched(command, extra, '10', 150, during=look)
                text, status = result['stdout'], result['status']
                looks = {'with warps': len(re.findall(r'where every warp stands now', result['stderr'])),
                         'between launches': len(re.findall(r'saw no warp of a kernel', result['stderr']))}
                out['stderr'] = result['stderr'][-2000:]
            over = [float(t) for t in re.findall(r'^over ([\d.]+)$', text, re.M)]
            steps = [b - a for a, b in zip(over, over[1:])]
            out[title] = {'status': status, 'looks': looks, 'checksum': (re.findall(r'checksum: (\w+)', text) or [None])[0],
                          'launches': len(over), 'first_ms': spread(steps[2:12]), 'all_ms': spread(steps), 'last_ms': spread(steps[-10:]),
                          'longest_ms': sorted(steps)[-5:]}
            print('healthy', title, {k: v for k, v in out[title].items() if k != 'longest_ms'}, flush=True)
        return out

    def slow(self):
        out = []
        for program in ([self.tool('waits'), '--bug', 'long-work', '--seconds', '30'],):
            result = self.watched(program, ['--evidence', 'live'], '2', 90)
            out.append({'program': self.plain(' '.join(program)), 'status': result['status'], 'seconds': result['seconds'],
                        'cause': (result['report'] or {}).get('cause'), 'stderr': result['stderr']})
            print('slow', out[-1], flush=True)
        return out

    def python(self):
        path = os.path.join(self.scratch, 'app.py')
        open(path, 'w').write(PYTHON_HANG)
        out = []
        for arguments in ([], ['behind']):
            result = self.watched(['python3', path, *arguments], [], '3', 120)
            out.append({'program': f'python3 app.py {" ".join(arguments)}'.strip(), 'status': result['status'], 'stdout': result['stdout'],
                        'cause': (result['report'] or {}).get('cause'), 'stderr': result['stderr']})
            print('python', out[-1], flush=True)
        return out

    def public_kernels(self):
        out = []
        for name in sorted(os.listdir(self.public or self.scratch)):
            path = os.path.join(self.public or self.scratch, name)
            if not self.public or not os.access(path, os.X_OK) or not os.path.isfile(path):
                continue
            result = self.watched([path], [], '3', 60)
            out.append({'program': name, 'status': result['status'], 'cause': (result['report'] or {}).get('cause'),
                        'stderr': result['stderr'], 'report': result['report'] and result['report'].get('findings')})
            print('public', name, result['status'], out[-1]['cause'], result['stderr'], flush=True)
        return out


PARTS = {'hangs': Live.hangs, 'waits': Live.waits, 'timing': Live.timing, 'kills': Live.kills, 'healthy': Live.healthy, 'slow': Live.slow,
         **live_shapes.PARTS, 'python': Live.python, 'public': Live.public_kernels}


def device():
    query = ['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader']
    return subprocess.run(query, capture_output=True, text=True).stdout.strip()


def measure(a):
    results = json.load(open(a.out)) if os.path.exists(a.out) else {}
    live = Live(a.build, a.runs, a.public)
    results['device'], results['date'] = device(), time.strftime('%Y-%m-%d')
    for part in a.parts or PARTS:
        def keep(rows, part=part):
            json.dump({**results, part: rows}, open(a.out, 'w'), indent=1)
        live.keep = keep
        try:
            results[part] = PARTS[part](live)
        except Exception as error:  # the other parts go on
            print(f'{part}: {error!r}', file=sys.stderr, flush=True)
        json.dump(results, open(a.out, 'w'), indent=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default=os.path.join(ROOT, 'build'))
    parser.add_argument('--out', default='live.json')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--public')
    parser.add_argument('--table')
    parser.add_argument('parts', nargs='*')
    a = parser.parse_args()
    if a.table:
        import live_tables
        kept = json.load(open(a.table))
        live_tables.write(kept, print)
        results.keep('h200-live', kept)
        return 0
    measure(a)
    return 0


if __name__ == '__main__':
    sys.exit(main())
