#!/usr/bin/env python3
"""fleet.py - what wsdbg says of two PyTorch ranks on two GPUs: the cause, the rank at fault, its line; and whether it leaves alone what only
is slow.

    tests/h200/fleet.py [--build build] [--cases NAME,...] [--runs 1] [--stall 2] [--extra "OPTIONS OF WSDBG"] [--alone] [--jobs 1]
                        [--record FOLDER] [--deadline SECONDS] [--out fleet.json] [--table fleet/expected.tsv] [--device gpu|sim]
    tests/h200/fleet.py --page fleet.json ... [--section NAME]      writes a section of docs/results/fleet.md from what was kept

The programs are those of fleet/ranks.py.  --alone: each run is one of the program alone as well, before the one under wsdbg.  Where a hang can
only be called possible, wsdbg ends the run (--give-up).  --jobs: so many runs at a time; all of them share the GPUs, whose contexts take turns,
and each has a rendezvous of its own.  Every case gets its first run before any gets its second.  A case whose launcher is not in PATH (mpirun: that of
Open MPI; mpiexec.hydra: that of MPICH) is skipped.  The file is written after every run, and runs are added to what it has until each case has --runs; after
--deadline no run is begun, and one that is cut short by it is not kept.  --device sim: for function alone, with tests/nccl/site-packages in place of PyTorch.
Exit status: 1 when a cause was wrong, a program that ends was called hung or ended otherwise, 77 without two GPUs.  A development script.
"""
import argparse, collections, concurrent.futures, os, re, shlex, shutil, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, 'fleet'), os.path.join(os.path.dirname(os.path.dirname(HERE)), 'tests')]
import results, stands_score
from ranks import free_port
from stands_score import enough, is_called

FOLDER = os.path.join(HERE, 'fleet')
COLUMNS = ('case', 'command', 'hangs', 'causes', 'confidence', 'status', 'gpus', 'rank', 'line')
START_S = 40  # PyTorch on two ranks, with NCCL
START_SHARED_S = 4  # longer for each other run at the same time
DECOY_S = 20  # what a program that ends takes at most beside its start
MPI = ('mpirun', 'mpiexec.hydra')


def read_table(path):
    rows = [line.rstrip('\n').split('\t') for line in open(path) if line.strip() and not line.startswith('#')]
    return [dict(zip(COLUMNS, row)) for row in rows]


def line_of_fault(row):
    """Number of the line of ranks.py that the report of a case should show; None = no one line is."""
    words = row['command'].split()
    case = words[words.index('--case') + 1]
    for number, line in enumerate(open(os.path.join(FOLDER, 'ranks.py')), 1):
        if line.rstrip().endswith(f'# fault {case}'):
            return number
    return None


class Fleet(stands_score.Score):
    """Runs of the programs with two ranks."""

    def word(self, word):
        if word == 'ranks.py':
            return os.path.join(FOLDER, word)
        return super().word(word)

    def limits(self, row):
        start_s = START_S + START_SHARED_S * (self.options.jobs - 1)
        lasts_s = start_s + (2 * DECOY_S if row['hangs'] == 'no' else 12 * self.options.stall)
        return lasts_s, lasts_s + start_s / 2

    def command(self, row, limit_s):
        """torchrun and ranks.py choose a port; the launchers of MPI leave that to the environment."""
        words = []
        for word in row['command'].split():
            if word in MPI:
                words += ['env', 'OMPI_ALLOW_RUN_AS_ROOT=1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1', 'MASTER_ADDR=127.0.0.1', f'MASTER_PORT={free_port()}', word]
            else:
                words += [sys.executable, '-m', 'torch.distributed.run'] if word == 'torchrun' else [self.word(word)]
        return [*words, '--limit', str(max(1, int(limit_s)))]

    def report_of(self, database):
        self.of_thread.report = super().report_of(database)
        return self.of_thread.report

    def extra_of(self, row):
        gives_up = row['confidence'] == 'possible'
        return [*shlex.split(self.options.extra), *(['--give-up', f'{4 * self.options.stall:g}'] if gives_up else [])]

    def watched_fleet(self, row, number):
        """A run under wsdbg, with the rank at fault and whether the report shows the line."""
        self.of_thread.report = {}
        run = self.watched(row, number)
        report = self.of_thread.report
        return {**run, 'rank': rank_of_first(report), 'line': shows_line(report, line_of_fault(row))}


def rank_of_first(report):
    """The rank that the first finding is about; None where it does not say."""
    for process in report.get('processes') or []:
        if process.get('finding') == 0:
            return process.get('rank')
    return None


def shows_line(report, number):
    return number is not None and re.search(rf'ranks\.py:{number}\b', str(report)) is not None


def says_more(run):
    """Whether the run claims more than `possible`.  With --give-up the status is always that of a hang."""
    return run['hang'] is True or enough(run['confidence'], 'likely')


def did_not_begin(run):
    """Whether a rank had no port for its store, or did not reach the other rank."""
    return run['cause'] is None and 'DistNetworkError' in run['stderr']


def mark(row, alone, run):
    """right; weak = the cause, not its confidence, its rank or its line; other = another cause, possible; missed; WRONG; ALARM; CHANGED; broken = the
    program did not come to its fault."""
    if did_not_begin(run):
        return 'broken'
    if row['hangs'] == 'no':
        return 'ALARM' if is_called(run) else 'right' if str(run['status']) == row['status'] else 'broken' if alone and alone['status'] != 0 else 'CHANGED'
    if run['cause'] not in row['causes'].split(','):
        return 'WRONG' if run['cause'] and says_more(run) else 'other' if run['cause'] else 'missed'
    is_called_as_meant = is_called(run) or row['confidence'] == 'possible'
    is_whole = row['rank'] in ('-', str(run['rank'])) and (row['line'] != 'yes' or run['line'])
    return 'right' if enough(run['confidence'], row['confidence']) and is_called_as_meant and is_whole else 'weak'


def line_of(row, number, answer):
    run, what = answer['watched'], answer['mark']
    if not run:
        return f"{row['case']} {number}: skipped: {answer['alone']['stderr'].strip()[-200:]}"
    said = f"{run['cause']} ({run['confidence']})" if run['cause'] else 'nothing said'
    return (f"{row['case']} {number}: {what}: {said}, rank {run['rank']}, line {'shown' if run['line'] else 'not shown'}, hang "
            f"{'called' if is_called(run) else 'not called'}, status {run['status']}, {run['seconds']} s, verdict ms {run['verdict_ms']}\n"
            f"    {run['sentence']}")


def lacks_launcher(row):
    """What is said where a program that starts the ranks is not there."""
    return ''.join(f'fleet: skipped: no {word}' for word in row['command'].split() if word in MPI and not shutil.which(word))


def skipped(row, number, run):
    return {**row, 'run': number, 'alone': run, 'watched': None, 'mark': 'skipped'}


def both(fleet, row, number):
    """None where the time was over before the end."""
    lacks = lacks_launcher(row)
    alone = {'status': None, 'stderr': lacks} if lacks else fleet.alone(row) if fleet.options.alone else None
    if alone and stands_score.is_skipped(alone):
        return skipped(row, number, alone)
    run = None if fleet.is_over() else fleet.watched_fleet(row, number)
    if not run or fleet.is_over():
        return None
    if stands_score.is_skipped(run):
        return skipped(row, number, run)
    return {**row, 'run': number, 'alone': alone, 'watched': run, 'mark': mark(row, alone, run)}


def measure(options):
    rows = [row for row in read_table(options.table) if not options.cases or row['case'] in options.cases.split(',')]
    fleet, keeper = Fleet(options), stands_score.Keeper(options)

    def one(number, row):
        answer = None if fleet.is_over() else both(fleet, row, number)
        if answer:
            keeper.add(answer, line_of(row, number, answer))

    had = collections.Counter(run['case'] for run in keeper.kept['runs'])
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(one, number, row) for number in range(1, options.runs + 1) for row in rows if number > had[row['case']]]
        for future in waiting:
            future.result()
    if fleet.is_over():
        print('out of time', flush=True)
    return int(keeper.bad)


# ---- the page ----


def line_words(row, watched):
    shown = sum(run['line'] is True for run in watched)
    return '-' if row['line'] == '-' else 'yes' if shown == len(watched) else f'{shown} of {len(watched)}'


def page_row(runs):
    row, watched = runs[0], [run['watched'] for run in runs]
    delays = [run['verdict_ms'] for run in watched if run['verdict_ms'] is not None]
    expected = f"{row['causes'].replace(',', ', ')} ({row['confidence']})" if row['hangs'] == 'yes' else 'ends'
    cells = (f"`{row['case']}`", expected, row['rank'], str(len(runs)), stands_score.words_of([run['mark'] for run in runs]),
             stands_score.words_of([stands_score.finding_words(run) for run in watched]), stands_score.words_of([str(run['rank']) for run in watched]),
             line_words(row, watched),
             f"{sum(map(is_called, watched))} of {len(runs)}", results.cell(results.spread(delays)) if delays else '-')
    return '| ' + ' | '.join(cells) + ' |'


def marked(kept, table):
    """Marks the kept runs again, by the table of today."""
    rows = {row['case']: row for row in table}
    for run in kept['runs']:
        if run['mark'] != 'skipped' and run['case'] in rows:
            run.update(rows[run['case']])
            run['mark'] = mark(run, run['alone'], run['watched'])
    return kept


def at_a_time(kept):
    jobs = kept.get('jobs', 1)
    return f', {jobs} runs at a time on the same two GPUs, times to the verdict included' if jobs > 1 else ''


def page(kept):
    runs = [run for run in kept['runs'] if run['mark'] != 'skipped']
    by_case = {name: [run for run in runs if run['case'] == name] for name in dict.fromkeys(run['case'] for run in runs)}
    gpus = ', '.join(kept['device']) if isinstance(kept['device'], list) else str(kept['device'])
    return '\n'.join([f"## Two ranks of PyTorch on two GPUs, {kept['date']}", '',
                      f"`tests/h200/fleet.py --stall {kept['stall']:g}` on {gpus}, {kept['date']}{at_a_time(kept)}. The programs are those of `tests/h200/fleet/ranks.py`. weak: the "
                      'cause, but with less confidence, another rank or not the line; other: another cause, as possible; missed: nothing said; WRONG: another cause and a '
                      'hang called; ALARM: a program that ends was called hung; CHANGED: it ended otherwise than without wsdbg; broken: the program '
                      'failed before its fault, for want of a port.', '',
                      '| case | expected | rank | runs | mark | said | rank said | line shown | hang called | ms to the verdict |',
                      '|---|---|---|---|---|---|---|---|---|---|', *[page_row(of_case) for of_case in by_case.values()]])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--cases')
    parser.add_argument('--runs', type=int, default=1)
    parser.add_argument('--stall', type=float, default=2)
    parser.add_argument('--extra', default='')
    parser.add_argument('--alone', action='store_true')
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--record')
    parser.add_argument('--deadline', type=float, default=1e9)
    parser.add_argument('--out', default='fleet.json')
    parser.add_argument('--table', default=os.path.join(FOLDER, 'expected.tsv'))
    parser.add_argument('--device', choices=('gpu', 'sim'), default='gpu')
    parser.add_argument('--page', nargs='+')
    parser.add_argument('--section', default='fleet')
    options = parser.parse_args()
    if options.page:
        import json
        kept = [stands_score.without_text(marked(json.load(open(path)), read_table(options.table))) for path in options.page]
        results.save(options.section, kept, '\n\n'.join(map(page, kept)), 'fleet')
        return 0
    if options.device == 'gpu' and not stands_score.has_driver():
        print('fleet: skipped: no GPU, or no driver for it', file=sys.stderr)
        return stands_score.SKIPPED
    return measure(options)


if __name__ == '__main__':
    sys.exit(main())
