#!/usr/bin/env python3
"""stands_score.py - what wsdbg says of programs that stand still, or only seem to: is it right, and is the program unharmed?

    tests/h200/stands_score.py [--build build] [--cases NAME,...] [--runs 1] [--stall 2] [--extra "OPTIONS OF WSDBG"] [--record FOLDER]
                               [--deadline SECONDS] [--alone SECONDS] [--jobs 1] [--gpus 1] [--out stands.json] [--table stands/expected.tsv]
                               [--device gpu|sim]
    tests/h200/stands_score.py --page stands.json ...          writes docs/results/stands.md from what was kept, without the text of runs that
                                                               were right

Each run of a case is one of the program alone, then one under wsdbg.  --table: the cases (name, command, does it hang, accepted causes, least
confidence, status when it ends, GPUs that it needs); a command's first words are looked for in the build's bin and in tests/h200/stands.  What writes the word that
is polled does so after three times --stall.  --record keeps FOLDER/CASE-RUN.wsrec.  --jobs: so many cases at a time, spread over
--gpus; a case that needs more of them than one sees them all.  The file is written after every run, and runs are added to
what it has; after --deadline no run is begun, and one that is cut short by it is not kept.
Exit status: 1 when a cause was wrong, a program that works was called hung or its end was changed, 77 without a driver.  A development script.
"""
import argparse, concurrent.futures, json, os, shlex, shutil, signal, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, 'tests'))
import results

COLUMNS = ('case', 'command', 'hangs', 'causes', 'confidence', 'status', 'gpus')
CONFIDENCES = ('possible', 'likely', 'proven')
FED_AFTER = 3  # stalls
ALONE_PYTHON = 5  # times --alone: PyTorch takes a while to begin
GRACE_S = 20
OVER_LIMIT = ('limit', 3, -signal.SIGALRM, 128 + signal.SIGALRM)
SKIPPED, CALLED_HUNG = 77, 124
BAD = ('WRONG', 'ALARM', 'CHANGED')


def read_table(path):
    rows = [line.rstrip('\n').split('\t') for line in open(path) if line.strip() and not line.startswith('#')]
    return [dict(zip(COLUMNS, row)) for row in rows]


def has_driver():
    asks = ('import ctypes; driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(); '
            'raise SystemExit(driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value)')
    return subprocess.run([sys.executable, '-c', asks], capture_output=True).returncode == 0


def compared(stdout):
    """What must be the same with wsdbg and without: lines that begin with `rate` are measured; those of several ranks come as they come."""
    lines = [line for line in stdout.splitlines() if not line.startswith('rate ')]
    return sorted(lines) if any(line.startswith('rank ') for line in lines) else lines


# ---- one run ----


def kill(process):
    """wsdbg passes SIGTERM on; what is left may keep the pipes open, and then what it wrote is lost."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            return process.communicate(timeout=5)
        except (subprocess.TimeoutExpired, ProcessLookupError):
            pass
    return '', ''


class Score:
    def __init__(self, options):
        self.options, self.bin = options, os.path.join(os.path.abspath(options.build), 'bin')
        self.scratch = tempfile.TemporaryDirectory()
        self.until = time.monotonic() + options.deadline
        self.of_thread = threading.local()

    def is_over(self):
        return time.monotonic() >= self.until

    def word(self, word):
        for path in (os.path.join(self.bin, word), os.path.join(HERE, 'stands', word)):
            if os.path.isfile(path):
                return path
        return sys.executable if word == 'python3' else word

    def limits(self, row):
        """Seconds for the program alone and under wsdbg."""
        stalls = 4 * FED_AFTER * self.options.stall + 20  # `slow` takes two of FED_AFTER
        if row['hangs'] == 'no':
            return max(60, stalls), max(60, stalls)
        is_python = 'stands.py' in row['command'].split()
        return self.options.alone * (ALONE_PYTHON if is_python else 1), (60 if is_python else 0) + max(24, stalls)

    def command(self, row, limit_s):
        words = row['command'].split()
        is_stand = {'stands', 'stands.py'} & set(words)
        timed = [*words, '--limit', str(max(1, int(limit_s)))] if is_stand else words
        fed = ('stands' in words or 'torchrun-late' in words) and row['hangs'] == 'no'
        return [self.word(word) for word in timed] + (['--after', str(FED_AFTER * self.options.stall)] if fed else [])

    def without_paths(self, text):
        for path in (self.bin, self.scratch.name, ROOT):
            text = text.replace(path + '/', '')
        return text

    def end(self, command, limit_s):
        """Status ('limit' when it had to be killed), stdout, stderr, seconds."""
        start = time.monotonic()
        environment = dict(os.environ)
        gpu = getattr(self.of_thread, 'gpu', None)
        if gpu is not None:
            environment['CUDA_VISIBLE_DEVICES'] = str(gpu)
        if self.options.device == 'sim' and 'wsdbg' not in command[0]:
            environment['LD_LIBRARY_PATH'] = os.path.join(os.path.dirname(self.bin), 'lib', 'wsdbg', 'sim')
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace',
                                   env=environment, start_new_session=True)
        try:
            out, err = process.communicate(timeout=max(1, min(limit_s, self.until - start)))
            status = process.returncode
        except subprocess.TimeoutExpired:
            out, err = kill(process)
            status = 'limit'
        return {'status': status, 'stdout': out, 'stderr': self.without_paths(err), 'seconds': round(time.monotonic() - start, 2)}

    def alone(self, row):
        limit_s, _ = self.limits(row)
        return self.end(self.command(row, limit_s), limit_s + GRACE_S)

    def report_of(self, database):
        try:
            done = subprocess.run([self.word('wsdbg'), 'report', database, '--json'], capture_output=True, text=True, timeout=60)
            return json.loads(done.stdout)
        except (ValueError, subprocess.TimeoutExpired):
            return {}

    def extra_of(self, row):
        """Options of wsdbg for this case."""
        return shlex.split(self.options.extra)

    def watched(self, row, number):
        """A run under wsdbg, with what the report says of it."""
        database = os.path.join(self.scratch.name, f"{row['case']}-{number}.db")
        options = ['--device', self.options.device, '--stall', str(self.options.stall), *self.extra_of(row), '-o', database]
        if self.options.record:
            os.makedirs(self.options.record, exist_ok=True)
            record = os.path.join(self.options.record, f"{row['case']}-{number}.wsrec")
            if os.path.exists(record):
                os.unlink(record)
            options += ['--record', record]
        _, limit_s = self.limits(row)
        run = self.end([self.word('wsdbg'), 'run', *options, '--', *self.command(row, limit_s)], limit_s + GRACE_S)
        report = self.report_of(database) if os.path.exists(database) else {}
        return {**run, **said(report), **launch_known(report, run['stdout'])}


def said(report):
    """What the report of a session says, in short; None where it does not say."""
    first = (report.get('findings') or [{}])[0]
    session = report.get('session') or {}
    delay_ns = session.get('verdict_delay_ns')
    return {'hang': report.get('hang'), 'cause': first.get('cause'), 'confidence': first.get('confidence'), 'sentence': first.get('sentence'),
            'role': first.get('role'), 'barrier': first.get('barrier'),
            'others': [[finding['cause'], finding['confidence']] for finding in (report.get('findings') or [])[1:]],
            'verdict_ms': None if delay_ns is None else round(delay_ns / 1e6, 1), 'outcome': session.get('outcome'),
            'looks': len(report.get('looks') or []), 'faults': [[fault['error'], fault['sentence']] for fault in report.get('faults') or []],
            'notes': report.get('notes') or []}


def launch_known(report, stdout):
    """What is known of the grid that the first finding is about: its kernel, its launch; and which of it the program itself, where it prints a
    line `launch`, contradicts."""
    findings, grids = report.get('findings') or [], report.get('grids') or []
    at = findings[0].get('grid') if findings else None
    grid = grids[at] if at is not None and at < len(grids) else {}
    launch = grid.get('launch') or {}
    known = {'kernel': grid.get('kernel'), 'launch': launch.get('sequence'), 'grid': launch.get('grid'), 'block': launch.get('block'),
             'cluster': launch.get('cluster'), 'stream': launch.get('stream')}
    return {'known': known, 'known_wrong': contradicted(known, stdout)}


def contradicted(known, stdout):
    lines = [line for line in stdout.splitlines() if line.startswith('launch ')]
    wrong = []
    for key, value in (word.split('=', 1) for line in lines[:1] for word in line.split()[1:]):
        have = known.get(key)
        want = [int(number, 0) for number in value.split(',')] if key != 'kernel' else value
        is_right = have is None or (value in have if key == 'kernel' else (have if isinstance(have, list) else [have]) == want)
        wrong += [] if is_right else [key]
    return wrong


# ---- is it right ----


def is_skipped(run):
    return run['status'] == SKIPPED or ': skipped: ' in run['stderr']  # torchrun has a status of its own


def is_over_limit(run):
    return run['status'] in OVER_LIMIT or 'SIGALRM' in run['stderr']


def enough(confidence, least):
    return confidence in CONFIDENCES and CONFIDENCES.index(confidence) >= CONFIDENCES.index(least)


def is_called(run):
    return run['hang'] is True or run['status'] == CALLED_HUNG


def mark_hang(row, alone, run):
    called = is_called(run)
    if run['cause'] in row['causes'].split(','):
        right = enough(run['confidence'], row['confidence']) and (called or row['confidence'] == 'possible')
        return 'right' if right else 'weak'
    if run['cause'] and (called or enough(run['confidence'], 'likely')):
        return 'WRONG'
    if not is_over_limit(alone):
        return 'does not hang'
    return 'other' if run['cause'] else 'missed'


def mark_end(row, alone, run):
    if is_called(run):
        return 'ALARM'
    if str(alone['status']) != row['status']:
        return 'broken'
    same = run['status'] == alone['status'] and compared(run['stdout']) == compared(alone['stdout'])
    return 'right' if same else 'CHANGED'


def mark(row, alone, run):
    """right; weak = the cause, not its confidence; other = another cause, possible; missed; WRONG; ALARM; CHANGED; broken = not as it should be
    without wsdbg."""
    if run['known_wrong']:
        return 'WRONG'
    return mark_hang(row, alone, run) if row['hangs'] == 'yes' else mark_end(row, alone, run)


# ---- all runs ----


def save(path, kept):
    with open(path + '.new', 'w') as file:
        json.dump(kept, file, indent=1)
        file.write('\n')
    os.replace(path + '.new', path)


def device(kind):
    if kind == 'sim':
        return 'the simulator'
    try:
        query = ['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader']
        return subprocess.run(query, capture_output=True, text=True).stdout.strip().splitlines()
    except OSError:
        return None


def line_of(row, number, answer):
    run = answer['watched']
    if not run:
        return f"{row['case']} {number}: skipped: {answer['alone']['stderr'].strip()[-200:]}"
    what = f"{run['cause']} ({run['confidence']})" if run['cause'] else 'nothing said'
    known = ','.join(key for key, value in run['known'].items() if value is not None) or '-'
    delay = '-' if run['verdict_ms'] is None else f"{run['verdict_ms']:.0f}"
    return (f"{row['case']} {number}: {answer['mark']}: {what}, hang {'called' if is_called(run) else 'not called'}, alone status {answer['alone']['status']} "
            f"{answer['alone']['seconds']} s, under wsdbg {run['status']} {run['seconds']} s, verdict ms {delay}, looks {run['looks']}, known {known}"
            + (f", wrong {','.join(run['known_wrong'])}" if run['known_wrong'] else ''))


def chosen(options):
    rows = read_table(options.table)
    names = options.cases.split(',') if options.cases else [row['case'] for row in rows]
    unknown = set(names) - {row['case'] for row in rows}
    if unknown:
        raise SystemExit(f"stands_score: no such case: {', '.join(sorted(unknown))}")
    return [row for row in rows if row['case'] in names]


def need_programs(score, rows):
    missing = {word for word in ['wsdbg', *(row['command'].split()[0] for row in rows)] if not shutil.which(score.word(word))}
    if missing:
        raise SystemExit(f"stands_score: not built: {', '.join(sorted(missing))}")


def both(score, row, number):
    """The program alone, then under wsdbg; None where the time was over before the second."""
    alone = score.alone(row)
    if is_skipped(alone):
        return {**row, 'run': number, 'alone': alone, 'watched': None, 'mark': 'skipped'}
    if score.is_over():
        return None
    run = score.watched(row, number)
    return {**row, 'run': number, 'alone': alone, 'watched': run, 'mark': mark(row, alone, run)}


class Keeper:
    """What was kept, added to and written by several threads."""

    def __init__(self, options):
        self.path, self.lock, self.bad = options.out, threading.Lock(), False
        self.kept = json.load(open(self.path)) if os.path.exists(self.path) else {'runs': []}
        jobs = max(options.jobs, self.kept.get('jobs', 1))  # of all that were added to this file
        self.kept.update(device=device(options.device), date=time.strftime('%Y-%m-%d'), stall=options.stall, extra=options.extra, jobs=jobs)
        save(self.path, self.kept)

    def add(self, answer, line):
        with self.lock:
            self.kept['runs'].append(answer)
            save(self.path, self.kept)
            self.bad = self.bad or answer['mark'] in BAD
            print(line, flush=True)


def measure(options):
    score, rows = Score(options), chosen(options)
    need_programs(score, rows)
    keeper, gpus = Keeper(options), iter(range(options.jobs))

    def takes_gpu():
        score.of_thread.own = next(gpus) % options.gpus

    def one(number, row):
        score.of_thread.gpu = score.of_thread.own if options.gpus > 1 and row['gpus'] == '1' else None
        answer = None if score.is_over() else both(score, row, number)
        if answer and not score.is_over():
            keeper.add(answer, line_of(row, number, answer))

    with concurrent.futures.ThreadPoolExecutor(options.jobs, initializer=takes_gpu) as pool:
        waiting = [pool.submit(one, number, row) for number in range(1, options.runs + 1) for row in rows]
        for future in waiting:
            future.result()
    if score.is_over():
        print('out of time', flush=True)
    return keeper.bad


# ---- the page ----


def words_of(values):
    """Each of them once, with how often where that is not always."""
    counts = {value: values.count(value) for value in values}
    return ' / '.join(value if count == len(values) else f'{value} ×{count}' for value, count in counts.items())


def finding_words(run):
    return f"{run['cause']} ({run['confidence']})" if run['cause'] else 'nothing'


def known_words(run):
    known = run['known']
    return ', '.join(key for key in known if known[key] is not None) or '-'


def page_row(runs):
    row, watched = runs[0], [run['watched'] for run in runs]
    delays = [run['verdict_ms'] for run in watched if run['verdict_ms'] is not None]
    expected = f"{row['causes'].replace(',', ', ')} ({row['confidence']})" if row['hangs'] == 'yes' else f"ends with {row['status']}"
    alone = ['hangs' if is_over_limit(run['alone']) else str(run['alone']['status']) for run in runs]
    cells = (f"`{row['case']}`", expected, words_of(alone), str(len(runs)), words_of([run['mark'] for run in runs]), words_of([finding_words(run) for run in watched]),
             f"{sum(map(is_called, watched))} of {len(runs)}", results.cell(results.spread(delays)) if delays else '-',
             words_of([known_words(run) for run in watched]) if row['hangs'] == 'yes' else '-')
    return '| ' + ' | '.join(cells) + ' |'


def marked(kept, table):
    """What was kept, as the table of today judges it."""
    rows = {row['case']: row for row in table}
    for run in kept['runs']:
        row = rows.get(run['case'])
        if row and run['mark'] != 'skipped':
            run.update(row, mark=mark(row, run['alone'], run['watched']))
    return kept


def without_text(kept):
    for run in kept['runs']:
        for part in filter(None, (run['alone'], run['watched']) if run['mark'] == 'right' else ()):
            part.update({name: '' for name in ('stdout', 'stderr', 'sentence') if name in part})
            part.update({name: [] for name in ('notes', 'others') if name in part})
    return kept


def share(runs, is_counted):
    return f'{sum(map(is_counted, runs))} of {len(runs)}'


def at_a_time(kept):
    return f", up to {kept['jobs']} cases at a time" if kept.get('jobs', 1) > 1 else ''


def page(kept):
    runs = [run for run in kept['runs'] if run['mark'] != 'skipped']
    hangs, others = [run for run in runs if run['hangs'] == 'yes'], [run for run in runs if run['hangs'] == 'no']
    by_case = {name: [run for run in runs if run['case'] == name] for name in dict.fromkeys(run['case'] for run in runs)}
    gpus = kept['device'] if isinstance(kept['device'], str) else f"{len(kept['device'])} × {kept['device'][0]}" if kept['device'] else 'a device that is not known'
    skipped = sorted({run['case'] for run in kept['runs'] if run['mark'] == 'skipped'})
    lines = ['## Programs on the CUDA runtime, PyTorch and Triton', '',
             f"`tests/h200/stands_score.py --stall {kept['stall']:g}{' --extra ' + repr(kept['extra']) if kept['extra'] else ''}` on {gpus}, {kept['date']}{at_a_time(kept)}. The cases are those of "
             '`tests/h200/stands/expected.tsv`; each run is one of the program alone and one under wsdbg. weak: the cause, with less confidence than expected; '
             'other: another cause, as possible; missed: nothing said; WRONG: another cause and a hang called, or a fact of the launch that is not so; ALARM: a program '
             'that ends well was called hung; CHANGED: its status or its output is another than without wsdbg; broken: the program did not do without wsdbg what it should.', '',
             f"Hangs: right {share(hangs, lambda run: run['mark'] == 'right')}, wrong {share(hangs, lambda run: run['mark'] == 'WRONG')}, "
             f"called {share(hangs, lambda run: is_called(run['watched']))}. "
             f"Programs that end: unharmed {share(others, lambda run: run['mark'] == 'right')}, called hung {share(others, lambda run: run['mark'] == 'ALARM')}."
             + (f" Not run here: {', '.join(skipped)}." if skipped else '') + (f" {kept['note']}" if kept.get('note') else ''), '',
             '| case | expected | alone | runs | mark | said | hang called | ms to the verdict | known of the grid |', '|---|---|---|---|---|---|---|---|---|',
             *[page_row(of_case) for of_case in by_case.values()]]
    return '\n'.join(lines)


def total(all_kept):
    """All kept runs, case by case. They are of builds of several days, so a case that went wrong once stays on the page."""
    runs = [run for kept in all_kept for run in kept['runs'] if run['mark'] != 'skipped']
    lines = ['## All of them together', '', f"{len(runs)} pairs of runs, {min(kept['date'] for kept in all_kept)} to {max(kept['date'] for kept in all_kept)}; the sections below tell which build and machine.", '',
             '| case | expected | pairs of runs | right | not right |', '|---|---|---|---|---|']
    in_table = [row['case'] for row in read_table(os.path.join(HERE, 'stands', 'expected.tsv'))]
    for name in dict.fromkeys([*in_table, *(run['case'] for run in runs)]):  # also cases that are in the table no more
        of_case = [run for run in runs if run['case'] == name]
        if of_case:
            expected = 'hangs: ' + of_case[0]['causes'].replace(',', ', ') if of_case[0]['hangs'] == 'yes' else f"ends with {of_case[0]['status']}"
            bad = [run['mark'] for run in of_case if run['mark'] != 'right']
            lines.append(f"| `{name}` | {expected} | {len(of_case)} | {len(of_case) - len(bad)} | {words_of(bad) or '-'} |")
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--cases')
    parser.add_argument('--runs', type=int, default=1)
    parser.add_argument('--stall', type=float, default=2)
    parser.add_argument('--extra', default='')
    parser.add_argument('--alone', type=float, default=8, help='seconds until a program that hangs alone is believed to')
    parser.add_argument('--record')
    parser.add_argument('--deadline', type=float, default=1e9)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--gpus', type=int, default=1)
    parser.add_argument('--out', default='stands.json')
    parser.add_argument('--table', default=os.path.join(HERE, 'stands', 'expected.tsv'))
    parser.add_argument('--device', choices=('gpu', 'sim'), default='gpu')
    parser.add_argument('--page', nargs='+')
    options = parser.parse_args()
    if options.page:
        kept = [without_text(marked(json.load(open(path)), read_table(options.table))) for path in options.page]
        results.save('stands', kept, '\n\n'.join([total(kept), *map(page, kept)]), 'stands')
        return 0
    if options.device == 'gpu' and not has_driver():
        print('stands_score: skipped: no GPU, or no driver for it', file=sys.stderr)
        return SKIPPED
    return int(measure(options))


if __name__ == '__main__':
    sys.exit(main())
