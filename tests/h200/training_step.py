#!/usr/bin/env python3
"""training_step.py - what arming, launch sites and a watch cost: a launch, and a step of training with two ranks of PyTorch, DDP and NCCL.

    tests/h200/training_step.py [--build build] [--rounds 30] [--copies 2] [--deadline 115] [--out training_step.json] [--device gpu|sim]
    tests/h200/training_step.py --page training_step.json       writes a section of docs/results/fleet.md from what was kept

Ways: alone; armed (wsdbg arm --launch-sites off); sites (wsdbg arm); run (wsdbg run).  Each is started --copies times, because two processes that do
the same are not equally fast: each keeps the memory that it got at its start.  All are started once and wait on the host until it is their
turn.  In each round every copy of every way has one turn, and each round begins with another one.

A turn measures three things, each as the median of its parts:
    launch   one small addition by PyTorch, with nothing else to do: microseconds a launch, which the host takes
    small    a step of a small transformer, which waits for the host: milliseconds
    large    a step of a large one, which waits for the GPU: milliseconds
The time of a copy is compared with the mean over all copies of alone in the same round.  Rank N has the Nth half of the processors.
At the end one of the processes counts the launches of a step with PyTorch's profiler.
Exit status: 1 where a way did not answer, 77 without two GPUs.  A development script.
"""
import gc, json, os, statistics, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, 'fleet'), os.path.join(os.path.dirname(os.path.dirname(HERE)), 'tests')]
import fleet_script, ranks, results, stands_score

WAYS = {'alone': 'alone', 'armed': '`wsdbg arm --launch-sites off`', 'sites': '`wsdbg arm`', 'run': '`wsdbg run`'}
MEASURES = {'launch': ('us a launch', 3), 'small': ('ms a small step', 3), 'large': ('ms a large step', 3)}
START_S, TURN_S, COUNT_S = 75, 20, 15  # limits, and what counting launches takes
LAUNCHES, BLOCKS = 500, 20  # of a turn
SMALL_STEPS, LARGE_STEPS, WARM_STEPS = 20, 6, 2


# ---- a rank ----


class Toy:
    """Sums, for the simulator."""

    def __init__(self, rank):
        self.rank, self.launches = rank, 5

    def launch(self):
        self.rank.group.all_reduce(self.rank.value)

    small = large = launch


class Model:
    def __init__(self, torch, width, heads, layers, batch, length):
        layer = torch.nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True, device='cuda', dtype=torch.bfloat16)
        self.model = torch.nn.parallel.DistributedDataParallel(torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.batch = torch.randn(batch, length, width, device='cuda', dtype=torch.bfloat16)

    def step(self):
        self.optimizer.zero_grad()
        self.model(self.batch).float().square().mean().backward()
        self.optimizer.step()


class Training:
    def __init__(self, rank):
        rank.torch.set_num_threads(1)
        self.launches = LAUNCHES
        self.launch = lambda: rank.value.add_(1.0)
        self.small = Model(rank.torch, 256, 4, 6, 2, 64).step
        self.large = Model(rank.torch, 4096, 32, 2, 4, 1024).step


def median_ms(rank, work, count, warm):
    """The median time of one `work`, until the GPU has done it."""
    times = []
    for number in range(warm + count):
        began = time.perf_counter()
        work()
        rank.wait()
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times[warm:])


def launch_us(rank, work):
    """The median over blocks.  A block fits into the driver's queue, and the wait for its end is not counted."""
    times = []
    for _ in range(BLOCKS):
        began = time.perf_counter()
        for _ in range(work.launches):
            work.launch()
        times.append((time.perf_counter() - began) * 1e6 / work.launches)
        rank.wait()
    return statistics.median(times)


def turn(rank, work):
    gc.collect()
    gc.disable()
    answer = {'launch': launch_us(rank, work), 'small': median_ms(rank, work.small, SMALL_STEPS, WARM_STEPS), 'large': median_ms(rank, work.large, LARGE_STEPS, WARM_STEPS)}
    gc.enable()
    return answer


def count_launches(rank, work):
    """Of a small and a large step.  The profiler stays loaded, so this is the last thing that a process does."""
    counts = {}
    for name in ('small', 'large'):
        with rank.torch.profiler.profile() as profile:
            getattr(work, name)()
            rank.wait()
        counts[name] = sum(event.count for event in profile.key_averages() if 'LaunchKernel' in event.key)
    return counts


def own_half(rank):
    """Gives this rank its half of the processors."""
    processors = sorted(os.sched_getaffinity(0))
    half = max(1, len(processors) // 2)
    os.sched_setaffinity(0, processors[rank * half:(rank + 1) * half] or processors)


def rank_of_way(options):
    """Says `ready`, then answers each line of stdin: `turn` or `count`."""
    own_half(int(os.environ['RANK']))
    rank = ranks.Rank()
    work = Toy(rank) if options.device == 'sim' else Training(rank)
    for warm in (work.launch, work.small, work.large):
        warm()
    rank.wait()
    print('ready', flush=True)
    for line in sys.stdin:
        print(json.dumps(turn(rank, work) if line.strip() == 'turn' else count_launches(rank, work)), flush=True)
    rank.group.destroy_process_group()


def slower(answers):
    """For each measure the larger value of the two ranks; '' if a rank has ended."""
    if '' in answers:
        return ''
    both = [json.loads(answer) for answer in answers]
    return json.dumps({name: max(answer[name] for answer in both) for name in both[0]})


def pair(options):
    """Starts both ranks, passes lines on to them, and writes what the slower one measured."""
    port, common = ranks.free_port(), [sys.executable, __file__, '--role', 'rank', '--device', options.device]
    both = [subprocess.Popen(common, env={**os.environ, **ranks.of_rank(rank, port)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for rank in '01']
    print(min(rank.stdout.readline().strip() for rank in both), flush=True)  # '' where one has ended
    for line in sys.stdin:
        for rank in both:
            rank.stdin.write(line)
            rank.stdin.flush()
        print(slower([rank.stdout.readline().strip() for rank in both]), flush=True)
    for rank in both:
        rank.stdin.close()
    return max(abs(rank.wait()) for rank in both)


# ---- all ways ----


class Way:
    def __init__(self, name, copy, options, folder):
        wsdbg = os.path.join(os.path.abspath(options.build), 'bin', 'wsdbg')
        arm = [wsdbg, 'arm', '--device', options.device, '--folder', f'{folder}/{name}']
        before = {'armed': [*arm, '--launch-sites', 'off', '--'], 'sites': [*arm, '--'],
                  'run': [wsdbg, 'run', '--device', options.device, '--stall', '60', '-o', f'{folder}/run-{copy}.db', '--']}.get(name, [])
        command = [sys.executable, __file__, '--role', 'pair', '--device', options.device]
        simulator = {'LD_LIBRARY_PATH': os.path.join(os.path.abspath(options.build), 'lib', 'wsdbg', 'sim')} if options.device == 'sim' and not before else {}
        self.name, self.copy, self.folder, self.errors = name, copy, folder, open(f'{folder}/{name}-{copy}.err', 'w+')
        self.process = subprocess.Popen([*before, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env={**os.environ, **simulator})

    def line(self, limit_s):
        """What it writes next; '' where it writes nothing in time, or has ended."""
        timer = threading.Timer(limit_s, self.process.kill)
        timer.start()
        text = self.process.stdout.readline().strip()
        timer.cancel()
        return text

    def ask(self, what):
        try:
            self.process.stdin.write(f'{what}\n')
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        text = self.line(TURN_S)
        return json.loads(text) if text else None

    def let_go(self):
        """Closes its input, so that it ends."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def end(self):
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.seek(0)
        return {'status': self.process.poll(), 'stderr': self.errors.read()[-2000:].replace(f'{self.folder}/', '')}


def take_turns(ways, options, until):
    turns = []
    for number in range(options.rounds):
        at = number % len(ways)
        for way in ways[at:] + ways[:at]:
            if time.monotonic() > until:
                print(f'out of time after {number} rounds', flush=True)
                return turns
            turns.append({'round': number, 'way': way.name, 'copy': way.copy, 'took': way.ask('turn')})
            if turns[-1]['took'] is None:
                return turns
    return turns


def measure(options):
    until = time.monotonic() + options.deadline
    kept = fleet_script.begin(options, copies=options.copies)
    with tempfile.TemporaryDirectory() as folder:
        ways = [Way(name, copy, options, folder) for copy in range(options.copies) for name in WAYS]
        ready = all([way.line(START_S) == 'ready' for way in ways])
        print(f'ready after {time.monotonic() - until + options.deadline:.0f} s', flush=True)
        kept['turns'] = take_turns(ways, options, until - COUNT_S) if ready else []
        kept['launches'] = ways[0].ask('count') if ready and options.device == 'gpu' else None
        for way in ways:
            way.let_go()
        kept['ends'] = {f'{way.name} {way.copy}': way.end() for way in ways}
    stands_score.save(options.out, kept)
    print('\n'.join(tables(kept)) if kept['turns'] else json.dumps(kept['ends'], indent=1))
    if any(': skipped: ' in end['stderr'] for end in kept['ends'].values()):
        return stands_score.SKIPPED
    return int(not kept['turns'] or any(turn['took'] is None for turn in kept['turns']))


# ---- the page ----


def whole_rounds(kept):
    """The turns of each round in which every copy had one."""
    by_round = {}
    for turn in kept['turns']:
        by_round.setdefault(turn['round'], []).append(turn)
    return [turns for turns in by_round.values() if len(turns) == kept['copies'] * len(WAYS) and all(turn['took'] for turn in turns)]


def more_of(kept, way, copy, name):
    """Median over the rounds: how much longer than alone, in parts of 1."""
    ratios = []
    for turns in whole_rounds(kept):
        alone = statistics.fmean(turn['took'][name] for turn in turns if turn['way'] == 'alone')
        own = next(turn['took'][name] for turn in turns if (turn['way'], turn['copy']) == (way, copy))
        ratios.append(own / alone - 1)
    return statistics.median(ratios)


def cell_of(kept, way, name):
    """The median time of all copies, and how much more it is than alone: the mean over the copies, and each copy."""
    took = [turn['took'][name] for turns in whole_rounds(kept) for turn in turns if turn['way'] == way]
    more = [100 * more_of(kept, way, copy, name) for copy in range(kept['copies'])]
    return f"{statistics.median(took):,.{MEASURES[name][1]}f}", f"{statistics.fmean(more):+.2f} % ({', '.join(f'{value:+.2f}' for value in more)})"


def added_us(kept, way):
    """Microseconds that a launch takes longer."""
    alone = statistics.median(turn['took']['launch'] for turns in whole_rounds(kept) for turn in turns if turn['way'] == 'alone')
    return statistics.fmean(more_of(kept, way, copy, 'launch') for copy in range(kept['copies'])) * alone


def table(kept):
    lines = ['| way | ' + ' | '.join(f'{words} | more than alone' for words, _ in MEASURES.values()) + ' |', '|---|' + '---|' * 2 * len(MEASURES)]
    for way, words in WAYS.items():
        lines.append('| ' + ' | '.join([words, *(part for name in MEASURES for part in cell_of(kept, way, name))]) + ' |')
    return lines


def by_launches(kept):
    """How much time the launches of a step add.  This needs no comparison of two steps."""
    if not kept.get('launches'):
        return []
    step_us = {name: 1e3 * statistics.median(turn['took'][name] for turns in whole_rounds(kept) for turn in turns if turn['way'] == 'alone') for name in ('small', 'large')}
    lines = ['', '| way | us more a launch | ' + ' | '.join(f"{count} launches of a {name} step, % of it" for name, count in kept['launches'].items()) + ' |', '|---|---|---|---|']
    for way, words in WAYS.items():
        more_us = added_us(kept, way)
        lines.append(f'| {words} | {more_us:+.3f} | ' + ' | '.join(f'{100 * count * more_us / step_us[name]:+.2f} %' for name, count in kept['launches'].items()) + ' |')
    return lines


def tables(kept):
    return [*table(kept), *by_launches(kept)] if whole_rounds(kept) else ['no round was whole']


def page(kept):
    return ['## What arming costs', '',
            f"`tests/h200/training_step.py` on {fleet_script.gpus_of(kept)}, {kept['date']}: two ranks with DDP in bfloat16, AdamW; {len(whole_rounds(kept))} rounds, {kept['copies']} "
            'copies of each way. A launch is one small addition by PyTorch, as the host sees it. A small step (6 layers of width 256) waits for the host, a large one (2 layers of width 4096, '
            '4,096 tokens) for the GPU. Times are medians of the slower rank. More than alone: the mean over the copies, and in brackets each copy. What the copies of alone differ by is '
            'noise.', '', *tables(kept)]


def play(options):
    return {'pair': pair, 'rank': rank_of_way}.get(options.role, measure)(options)


if __name__ == '__main__':
    sys.exit(fleet_script.main('training_step', 'training step', play, page, 115, rounds=30, copies=2))
