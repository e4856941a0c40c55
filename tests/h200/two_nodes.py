#!/usr/bin/env python3
"""two_nodes.py - two ranks under one wsdbg, and the same two as if they were on two nodes: a wsdbg and a database for each, merged.

    tests/h200/two_nodes.py [--build build] [--cases own-kernel,skipped-next] [--runs 1] [--stall 2] [--deadline SECONDS] [--out two_nodes.json]
                            [--device gpu|sim]
    tests/h200/two_nodes.py --page two_nodes.json      writes a section of docs/results/fleet.md from what was kept

The programs are those of fleet/ranks.py.  The two wsdbg share a folder of marks (--mark), and each gives up after four stall times (--give-up).
The merged session must say the same cause of the same rank as the one wsdbg that saw both.
Exit status: 1 where it does not, 77 without a GPU.  A development script.
"""
import json, os, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), 'tests')]
import fleet, fleet_script, stands_score

LIMIT_S = 90  # of a program, its start included
GRACE_S = 5  # for the other node, once the first one has ended
RANKS_PY = os.path.join(fleet.FOLDER, 'ranks.py')


class Nodes:
    def __init__(self, options):
        self.options, self.until = options, time.monotonic() + options.deadline
        self.wsdbg = os.path.join(os.path.abspath(options.build), 'bin', 'wsdbg')

    def left_s(self):
        return max(0.0, min(LIMIT_S + 20, self.until - time.monotonic()))

    def start(self, database, words, extra=(), environment=None):
        command = [self.wsdbg, 'run', '--device', self.options.device, '--stall', str(self.options.stall), '--give-up', f'{4 * self.options.stall:g}',
                   *extra, '-o', database, '--', sys.executable, RANKS_PY, '--limit', str(LIMIT_S), *words]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace',
                                env={**os.environ, **(environment or {})}, start_new_session=True)

    def end(self, process, most_s=LIMIT_S + 20):
        try:
            _, err = process.communicate(timeout=min(most_s, self.left_s()))
            return {'status': process.returncode, 'stderr': err}
        except subprocess.TimeoutExpired:
            _, err = stands_score.kill(process)
            return {'status': 'ended', 'stderr': err}

    def end_both(self, nodes):
        """A node on which nothing stands still goes on when the other has given up; it is ended then, as a launcher would."""
        while self.left_s() > 0 and all(node.poll() is None for node in nodes):
            time.sleep(0.05)
        return [self.end(node, GRACE_S) for node in nodes]

    def report(self, database):
        done = subprocess.run([self.wsdbg, 'report', database, '--json'], capture_output=True, text=True)
        report = json.loads(done.stdout) if done.stdout else {}
        said = stands_score.said(report)
        return {**{name: said[name] for name in ('hang', 'cause', 'confidence', 'sentence')}, 'rank': fleet.rank_of_first(report)}

    def as_one(self, case, folder):
        run = self.end(self.start(f'{folder}/one.db', ['--start', 'exec', '--case', case]))
        return {**run, **self.report(f'{folder}/one.db')}

    def as_two(self, case, folder):
        port, marks = str(fleet.free_port()), f'{folder}/marks'
        os.mkdir(marks)
        common = {'WORLD_SIZE': '2', 'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': port}
        nodes = [self.start(f'{folder}/node-{rank}.db', ['--case', case], ('--mark', marks), {**common, 'RANK': rank, 'LOCAL_RANK': rank}) for rank in '01']
        runs = self.end_both(nodes)
        alone = [self.report(f'{folder}/node-{rank}.db') for rank in '01']
        merge = subprocess.run([self.wsdbg, 'merge', f'{folder}/node-0.db', f'{folder}/node-1.db', '-o', f'{folder}/all.db'], capture_output=True, text=True)
        merged = self.report(f'{folder}/all.db') if merge.returncode == 0 else {'cause': None, 'confidence': None, 'rank': None, 'hang': None, 'sentence': None}
        return {**merged, 'nodes': [{**run, **said} for run, said in zip(runs, alone)], 'merge': merge.stderr}


def is_same(answer):
    return answer['one']['cause'] is not None and all(answer['one'][name] == answer['two'][name] for name in ('cause', 'confidence', 'rank'))


def words(said):
    return f"{said['cause']} ({said['confidence']}), rank {said['rank']}" if said['cause'] else 'nothing'


def measure(options):
    nodes, kept = Nodes(options), fleet_script.begin(options, stall=options.stall, runs=[])
    for number, case in [(number, case) for number in range(1, options.runs + 1) for case in options.cases.split(',')]:
        if nodes.left_s() < LIMIT_S / 3:
            print('out of time', flush=True)
            break
        with tempfile.TemporaryDirectory() as folder:
            one = nodes.as_one(case, folder)
            if nodes.left_s() < LIMIT_S / 3:
                print(f'out of time: {case} {number} by one wsdbg: {words(one)}', flush=True)
                break
            answer = {'case': case, 'run': number, 'one': one, 'two': nodes.as_two(case, folder)}
        answer['same'] = is_same(answer)
        kept['runs'].append(answer)
        stands_score.save(options.out, kept)
        print(f"{case} {number}: {'the same' if answer['same'] else 'OTHER'}: one wsdbg: {words(answer['one'])}; merged: {words(answer['two'])}; "
              f"each node: {' | '.join(map(words, answer['two']['nodes']))}\n    {answer['two']['sentence']}", flush=True)
    return int(not kept['runs'] or not all(run['same'] for run in kept['runs']))


def is_whole(run):
    """Whether both nodes gave an answer.  The time may have run out before."""
    return all(node['hang'] is not None for node in run['two']['nodes'])


def page(kept):
    cut = [run['case'] for run in kept['runs'] if not is_whole(run)]
    kept['runs'] = [run for run in kept['runs'] if is_whole(run)]
    lines = ['## Two nodes on one host', '', f"`tests/h200/two_nodes.py --stall {kept['stall']:g}` on {fleet_script.gpus_of(kept)}, {kept['date']}: one wsdbg that watches both ranks, and a wsdbg for "
             'each with `--mark`, whose databases `wsdbg merge` joins.', '', '| case | runs | one wsdbg | merged | each node alone | the same |', '|---|---|---|---|---|---|']
    for case in dict.fromkeys(run['case'] for run in kept['runs']):
        runs = [run for run in kept['runs'] if run['case'] == case]
        cells = (f'`{case}`', str(len(runs)), stands_score.words_of([words(run['one']) for run in runs]), stands_score.words_of([words(run['two']) for run in runs]),
                 stands_score.words_of(['; '.join(words(node) for node in run['two']['nodes']) for run in runs]), f"{sum(run['same'] for run in runs)} of {len(runs)}")
        lines.append('| ' + ' | '.join(cells) + ' |')
    if cut:
        lines += ['', f"Left out: {len(cut)} in which some node had no answer ({', '.join(f'`{case}`' for case in cut)})."]
    for run in kept['runs']:
        for part in (run['one'], run['two'], *run['two']['nodes']) if run['same'] else ():
            part.update({name: '' for name in ('stderr', 'sentence', 'merge') if name in part})
    return lines


if __name__ == '__main__':
    sys.exit(fleet_script.main('two_nodes', 'two nodes', measure, page, 1e9, cases='own-kernel,skipped-next', runs=1, stall=2.0))
