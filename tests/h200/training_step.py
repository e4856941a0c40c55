#!/usr/bin/env python3
"""training_step.py - what arming, launch sites and a watch cost a step of training: two ranks of PyTorch, DDP of a small transformer, NCCL.

    tests/h200/training_step.py [--build build] [--rounds 9] [--steps 60] [--layers 6] [--deadline 140] [--out training_step.json] [--device gpu|sim]
    tests/h200/training_step.py --page training_step.json       writes a section of docs/results/fleet.md from what was kept

Ways: alone; again (alone a second time: what differs between them is noise); armed (wsdbg arm, --launch-sites off); sites (wsdbg arm); run (wsdbg
run).  Each way has two ranks of its own, which are started once and wait on the host until it is their turn, so that their GPUs have no other work
meanwhile.  In each round every way makes its steps once, and each round begins with another way.
Exit status: 1 where a way did not answer, 77 without two GPUs.  A development script.
"""
import json, os, statistics, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, 'fleet'), os.path.join(os.path.dirname(os.path.dirname(HERE)), 'tests')]
import fleet_script, ranks, results, stands_score

WAYS = {'alone': 'alone', 'again': 'alone, a second time', 'armed': '`wsdbg arm --launch-sites off`', 'sites': '`wsdbg arm`', 'run': '`wsdbg run`'}
START_S, TURN_S = 60, 20  # limits
WARM_STEPS = 5


# ---- a rank ----


class Toy:
    """As many sums as a step has launches, for the simulator."""

    def __init__(self, rank, options):
        self.rank = rank

    def step(self):
        self.rank.group.all_reduce(self.rank.value)


class Training:
    def __init__(self, rank, options):
        torch, width = rank.torch, 1024
        layer = torch.nn.TransformerEncoderLayer(width, 16, 4 * width, dropout=0.0, batch_first=True, device='cuda', dtype=torch.bfloat16)
        self.model = torch.nn.parallel.DistributedDataParallel(torch.nn.TransformerEncoder(layer, options.layers, enable_nested_tensor=False))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.batch = torch.randn(8, 256, width, device='cuda', dtype=torch.bfloat16)

    def step(self):
        self.optimizer.zero_grad()
        self.model(self.batch).float().square().mean().backward()
        self.optimizer.step()


def rank_of_way(options):
    """Says `ready`, then for each line `N` on stdin makes N steps and writes how many milliseconds one took."""
    rank = ranks.Rank()
    work = Toy(rank, options) if options.device == 'sim' else Training(rank, options)
    print('ready', flush=True)
    for line in sys.stdin:
        for _ in range(WARM_STEPS):
            work.step()
        rank.wait()
        began = time.perf_counter()
        for _ in range(int(line)):
            work.step()
        rank.wait()
        print(f'{(time.perf_counter() - began) * 1e3 / int(line):.5f}', flush=True)
    rank.group.destroy_process_group()


def pair(options):
    """Starts both ranks, passes lines on to them, and writes the longer time."""
    port, common = ranks.free_port(), [sys.executable, __file__, '--role', 'rank', '--layers', str(options.layers), '--device', options.device]
    both = [subprocess.Popen(common, env={**os.environ, **ranks.of_rank(rank, port)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for rank in '01']
    print(min(rank.stdout.readline().strip() for rank in both), flush=True)  # '' where one has ended
    for line in sys.stdin:
        for rank in both:
            rank.stdin.write(line)
            rank.stdin.flush()
        print(max((rank.stdout.readline().strip() for rank in both), key=lambda text: float(text or 'inf')), flush=True)
    for rank in both:
        rank.stdin.close()
    return max(abs(rank.wait()) for rank in both)


# ---- all ways ----


class Way:
    def __init__(self, name, options, folder):
        wsdbg = os.path.join(os.path.abspath(options.build), 'bin', 'wsdbg')
        arm = [wsdbg, 'arm', '--device', options.device, '--folder', f'{folder}/{name}']
        before = {'armed': [*arm, '--launch-sites', 'off', '--'], 'sites': [*arm, '--'],
                  'run': [wsdbg, 'run', '--device', options.device, '--stall', '60', '-o', f'{folder}/run.db', '--']}.get(name, [])
        pair = [sys.executable, __file__, '--role', 'pair', '--layers', str(options.layers), '--device', options.device]
        simulator = {'LD_LIBRARY_PATH': os.path.join(os.path.abspath(options.build), 'lib', 'wsdbg', 'sim')} if options.device == 'sim' and not before else {}
        self.name, self.errors = name, open(f'{folder}/{name}.err', 'w+')
        self.process = subprocess.Popen([*before, *pair], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env={**os.environ, **simulator})

    def line(self, limit_s):
        """What it writes next; '' where it writes nothing in time, or has ended."""
        timer = threading.Timer(limit_s, self.process.kill)
        timer.start()
        text = self.process.stdout.readline().strip()
        timer.cancel()
        return text

    def steps(self, count):
        try:
            self.process.stdin.write(f'{count}\n')
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        text = self.line(TURN_S)
        return float(text) if text else None

    def end(self):
        try:
            self.process.communicate(timeout=20)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()
        self.errors.seek(0)
        return {'status': self.process.poll(), 'stderr': self.errors.read()[-2000:]}


def take_turns(ways, options, until):
    turns = []
    for number in range(options.rounds):
        at = number % len(ways)
        for way in ways[at:] + ways[:at]:
            if time.monotonic() > until:
                print('out of time', flush=True)
                return turns
            turns.append({'round': number, 'way': way.name, 'ms': way.steps(options.steps)})
        print(f'round {number}: ' + ', '.join(f"{turn['way']} {turn['ms']}" for turn in turns[-len(ways):]), flush=True)
    return turns


def measure(options):
    until = time.monotonic() + options.deadline
    kept = fleet_script.begin(options, steps=options.steps, layers=options.layers)
    with tempfile.TemporaryDirectory() as folder:
        ways = [Way(name, options, folder) for name in WAYS]
        ready = all([way.line(START_S) == 'ready' for way in ways])
        kept['turns'] = take_turns(ways, options, until) if ready else []
        kept['ends'] = {way.name: way.end() for way in ways}
    stands_score.save(options.out, kept)
    print('\n'.join(table(kept)) if kept['turns'] else json.dumps(kept['ends'], indent=1))
    if any(': skipped: ' in end['stderr'] for end in kept['ends'].values()):
        return stands_score.SKIPPED
    return int(not kept['turns'] or any(turn['ms'] is None for turn in kept['turns']))


# ---- the page ----


def of_way(kept, way):
    return {turn['round']: turn['ms'] for turn in kept['turns'] if turn['way'] == way and turn['ms'] is not None}


def table(kept):
    alone = of_way(kept, 'alone')
    lines = ['| way | ms a step | more than alone in the same round | rounds |', '|---|---|---|---|']
    for way, words in WAYS.items():
        own = of_way(kept, way)
        more = [100 * (own[number] / alone[number] - 1) for number in own if number in alone]
        if more:
            lost = '-' if way == 'alone' else f'{statistics.median(more):+.2f} % ({min(more):+.2f} to {max(more):+.2f})'
            lines.append(f'| {words} | {results.cell(results.spread(list(own.values())), 3)} | {lost} | {len(more)} |')
    return lines


def page(kept):
    lines = ['## What a step of training costs more', '',
             f"`tests/h200/training_step.py` on {fleet_script.gpus_of(kept)}, {kept['date']}: two ranks, a transformer of {kept['layers']} layers in bfloat16 with DDP, AdamW, {kept['steps']} steps a "
             'turn. The ways take turns; while one makes its steps, the others wait on the host. The time is that of the slower rank.', '', *table(kept)]
    return lines


def play(options):
    return {'pair': pair, 'rank': rank_of_way}.get(options.role, measure)(options)


if __name__ == '__main__':
    sys.exit(fleet_script.main('training_step', 'training step', play, page, 140, rounds=9, steps=60, layers=6))
