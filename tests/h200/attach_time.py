#!/usr/bin/env python3
"""attach_time.py - how long `wsdbg attach --all` takes for two armed ranks of PyTorch, one of which hangs by its own kernel; and where the time goes.

    tests/h200/attach_time.py [--build build] [--programs 2] [--times 3] [--settle 3] [--stall 1] [--deadline 150] [--out attach_time.json] [--device gpu|sim]
    tests/h200/attach_time.py --page attach_time.json       writes a section of docs/results/fleet.md from what was kept

The program is case own-kernel of fleet/ranks.py, armed, and hangs for --settle seconds when the first wsdbg comes.  It is started --programs times.  Each of
the --times attaches to it is a command of its own; wsdbg leaves, and the program stays.  Times are from the command's start: the stall was due, the first line of the verdict was on stderr, the command
had ended.  Steps of looks are those that the session has (table look), of each process.
If an attach was not right, the script prints what wsdbg said.  It also keeps the system calls in which the threads of the ranks were.
Exit status: 1 where an attach said another cause or rank, 77 without two GPUs.  A development script.
"""
import collections, csv, glob, io, json, os, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), 'tests')]
import fleet, fleet_script, results, stands_score

START_S, ATTACH_S = 60, 30  # limits
CAUSES = ('ARRIVE_SHORT', 'ARRIVE_MISSING')
STEPS = ('attach', 'suspend', 'read', 'resume', 'detach')
PARTS = {'due_ms': 'until the stall is due', 'first_look_ms': 'until the first look has stopped a GPU', 'last_look_ms': 'until the last look has stopped one',
         'verdict_ms': 'until the cause is known', 'beside_ms': 'of these, beside the longest attach', 'shown_ms': 'until the verdict is on the terminal', 'total_ms': 'until the command has ended'}


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ''


def threads_of(session):
    """For each process of that session: how many threads of each name are in each system call, by number; `running` and -1 mean none."""
    found = {}
    for folder in glob.glob('/proc/[0-9]*'):
        stat = read(f'{folder}/stat').rpartition(') ')[2].split()
        if len(stat) > 3 and stat[3] == str(session):
            threads = [f"{read(f'{thread}/comm').strip()} {(read(f'{thread}/syscall').split() or ['?'])[0]}" for thread in glob.glob(f'{folder}/task/*')]
            found[os.path.basename(folder)] = collections.Counter(threads)
    return found


class Armed:
    """Two ranks that hang, and the folder in which they are armed."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.wsdbg = os.path.join(os.path.abspath(options.build), 'bin', 'wsdbg')
        self.errors = open(f'{folder}/program.err', 'w+')
        command = [self.wsdbg, 'arm', '--device', options.device, '--folder', f'{folder}/armed', '--', sys.executable, os.path.join(fleet.FOLDER, 'ranks.py'),
                   '--start', 'exec', '--case', 'own-kernel', '--limit', '600']
        self.program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True, start_new_session=True)

    def waits(self):
        """Whether both ranks have come to the call in which they hang."""
        timer = threading.Timer(START_S, stands_score.kill, [self.program])
        timer.start()
        lines = [self.program.stdout.readline() for _ in range(2)]
        timer.cancel()
        return sorted(line.strip() for line in lines) == ['rank 0 waits', 'rank 1 waits']

    def why(self):
        self.errors.seek(0)
        return self.errors.read()[-2000:]

    def ask(self, database, sql):
        done = subprocess.run([self.wsdbg, 'query', database, '--csv', sql], capture_output=True, text=True)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def attach(self, number):
        database = f'{self.folder}/{number}.db'
        began, shown, lines = time.monotonic(), None, []
        began_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        process = subprocess.Popen([self.wsdbg, 'attach', '--all', '--folder', f'{self.folder}/armed', '--stall', str(self.options.stall), '-o', database],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace')
        for line in process.stderr:
            shown = (time.monotonic() - began) * 1e3 if 'HANG:' in line and shown is None else shown
            lines.append(line)
        status, total = process.wait(), (time.monotonic() - began) * 1e3
        answer = {'number': number, 'status': status, 'shown_ms': shown, 'total_ms': total, 'stderr': ''.join(lines), **self.steps(database, began_ns), **self.said(database)}
        return answer if is_right(answer) else {**answer, 'threads': threads_of(self.program.pid)}

    def steps(self, database, began_ns):
        since = lambda value: (int(value) - began_ns) / 1e6 if value else None
        session = (self.ask(database, 'SELECT stalled_ns, verdict_ns FROM session') or [{}])[0]
        looks = self.ask(database, 'SELECT l.time_ns, ' + ', '.join(f'{step}_ns' for step in STEPS) + ', warps, warps_read FROM look l JOIN shown_snapshot s ON s.id = l.snapshot_id')
        stopped = [since(look['time_ns']) for look in looks if look['time_ns']]
        return {'due_ms': since(session.get('stalled_ns')), 'verdict_ms': since(session.get('verdict_ns')), 'looks': looks,
                'first_look_ms': min(stopped, default=None), 'last_look_ms': max(stopped, default=None)}

    def said(self, database):
        done = subprocess.run([self.wsdbg, 'report', database, '--json'], capture_output=True, text=True)
        report = json.loads(done.stdout) if done.stdout else {}
        said = stands_score.said(report)
        return {'cause': said['cause'], 'confidence': said['confidence'], 'hang': said['hang'], 'rank': fleet.rank_of_first(report)}


def longest_attach_ms(attach):
    return max((int(look['attach_ns'] or 0) / 1e6 for look in attach['looks']), default=0)


def is_right(attach):
    return attach['status'] == 124 and attach['cause'] in CAUSES and attach['rank'] == 1


def why_not(attach):
    lines = [] if is_right(attach) else [*attach['stderr'].splitlines()[:6], *(f'{process}: {dict(threads)}' for process, threads in attach['threads'].items())]
    return ''.join(f'\n    {line}' for line in lines)


def line_of(attach):
    parts = ', '.join(f'{part[:-3]} {attach[part]:.0f}' for part in PARTS if attach.get(part) is not None)
    steps = '; '.join(' '.join(f"{step} {int(look[f'{step}_ns'] or 0) / 1e6:.0f}" for step in STEPS) for look in attach['looks'])
    return f"attach {attach['number']}: {'right' if is_right(attach) else 'NOT RIGHT'}: {attach['cause']} ({attach['confidence']}), rank {attach['rank']}; ms: {parts}\n    looks: {steps}{why_not(attach)}"


def attach_to_one(options, kept, program, folder, until):
    """Attaches to a program that was just started, and keeps what came of it.  The exit status where that cannot go on; else None."""
    armed = Armed(options, folder)
    try:
        if not armed.waits():
            print(f'attach_time: the ranks did not begin: {armed.why()}', file=sys.stderr)
            return stands_score.SKIPPED if ': skipped: ' in armed.why() else 1
        time.sleep(options.settle)
        for number in range(1, options.times + 1):
            if time.monotonic() + ATTACH_S / 3 > until:
                print('out of time', flush=True)
                return 0
            kept['attaches'].append({'program': program, **armed.attach(number)})
            stands_score.save(options.out, kept)
            print(f'program {program}, {line_of(kept["attaches"][-1])}', flush=True)
    finally:
        stands_score.kill(armed.program)
    return None


def measure(options):
    until = time.monotonic() + options.deadline
    kept = fleet_script.begin(options, stall=options.stall, attaches=[])
    for program in range(1, options.programs + 1):
        with tempfile.TemporaryDirectory() as folder:
            status = attach_to_one(options, kept, program, folder, until)
        if status is not None:
            break
    return status or int(not kept['attaches'] or not all(map(is_right, kept['attaches'])))


# ---- the page ----


def cell(values, digits=0):
    known = [value for value in values if value is not None]
    return results.cell(results.spread(known), digits) if known else '-'


def page(kept):
    attaches = kept['attaches']
    for attach in attaches:
        attach['beside_ms'] = None if attach['verdict_ms'] is None else attach['verdict_ms'] - longest_attach_ms(attach)
    first, later = ([attach for attach in attaches if (attach['number'] == 1) == is_first] for is_first in (True, False))
    lines = ['## How long attach --all takes', '', f"`tests/h200/attach_time.py --stall {kept['stall']:g}` on {fleet_script.gpus_of(kept)}, {kept['date']}: {len(attaches)} times `wsdbg attach --all` on the two "
             f"armed ranks of `own-kernel`, which was started {len(first)} times; {sum(map(is_right, attaches))} of them said the cause and the rank. The very first one: {attaches[0]['total_ms']:,.0f} ms.", '',
             '| milliseconds from the command\'s start | first attach to a program | later ones |', '|---|---|---|',
             *[f'| {words} | {cell([attach[part] for attach in first])} | {cell([attach[part] for attach in later])} |' for part, words in PARTS.items()], '',
             '| milliseconds of a step, of each process | first attach to a program | later ones |', '|---|---|---|']
    for step in STEPS:
        took = [[int(look[f'{step}_ns']) / 1e6 for attach in some for look in attach['looks'] if look[f'{step}_ns']] for some in (first, later)]
        lines.append(f"| {step} | {' | '.join(cell([value for value in values if value]) for values in took)} |")
    for attach in attaches:
        attach['stderr'] = '' if is_right(attach) else attach['stderr']
    return lines


if __name__ == '__main__':
    sys.exit(fleet_script.main('attach_time', 'attach time', measure, page, 150, programs=2, times=3, settle=3.0, stall=1.0))
