#!/usr/bin/env python3
"""score.py - mutants of kernels: how often is wsdbg right about defects that nobody of wsdbg chose?

    tests/mutate/score.py [--build build] [--tools build] [--keep FOLDER] [--out truth.json] [--programs FILE.tsv,...] [--only NAME,...] [--origin NAME] [--count N] [--seed S]
                          [--evidence full,state] [--operators WORD,...] [--jobs 1] [--watch-jobs 1] [--seconds S] [--decoys N] [--foreign FOLDER] [--assembler PTXAS]
    tests/mutate/score.py --replay truth.json:WORD [--out new.json]   the same mutants again: those whose mark has the word ("" = all)
    tests/mutate/score.py --table truth.json                            the tables, as text
    tests/mutate/score.py --expect truth.json                           writes tests/mutate/expected.tsv, what --ci tests/mutate/expected.tsv holds to
    tests/mutate/score.py --page A.json,B.json [--section 'On the simulator']   writes a section of docs/results/truth.md

Each program of the programs files runs once without a defect: the script keeps the PTX of its modules and the names of the kernels that it launches.
`mutate --list` says which mutants exist.  The seed picks --count of them for each program, spread over the operators.  Each mutant runs alone (does it
hang?) and under wsdbg with each kind of evidence: full = what wsdbg takes by default, state = what a live look at a GPU sees.  A development script.

A mark compares the first cause of wsdbg's verdict with the causes that the operator says are right.
Mutants that hang: right; possible (a right cause, but no hang reported); cycle (WAIT_CYCLE or UNKNOWN: a hang without a cause); other (a wrong cause, no
hang reported); WRONG (a wrong cause, a hang reported); PROVEN (the same, and the cause is called proven); missed (no cause, no hang).
Mutants that end by themselves: runs (no hang reported), or ALARM (a hang reported, and the mutant ends in ALONE_AGAIN more runs, too).  Of those with an error also: fault right (a right cause), fault wrong
(a wrong cause, likely or proven).
"""
import argparse, collections, concurrent.futures, ctypes, itertools, json, os, random, shutil, signal, sqlite3, subprocess, sys, tempfile, time

from truth import STANDS, page, tables

HERE = os.path.dirname(os.path.abspath(__file__))
EVIDENCE = {'full': [], 'state': ['--evidence', 'live', '--history', '0']}
NO_CAUSE = ('WAIT_CYCLE', 'UNKNOWN')
BAD = ('WRONG', 'PROVEN', 'ALARM')
QUIET_S, TICK_S = 1.0, 0.1  # a process that uses no processor for QUIET_S hangs
ALONE_AGAIN = 6  # runs of a mutant that ended, but was called hung
NAME_KEPT = 255  # characters of a kernel's name that a session keeps
FIRST = """SELECT f.cause, f.confidence, f.sentence, f.role, f.cta_id, b.kind, b.shared_offset, b.identifier, b.stage FROM finding f
    LEFT JOIN barrier b ON b.id = f.barrier_id WHERE f.snapshot_id = (SELECT max(snapshot_id) FROM finding) ORDER BY f.id"""


class Tools:
    def __init__(self, options):
        build, tools = os.path.abspath(options.build), os.path.abspath(options.tools or options.build)
        self.watcher, self.simulator = os.path.join(build, 'bin', 'wsdbg'), os.path.join(build, 'lib', 'wsdbg', 'sim')
        self.bin, own = os.path.join(tools, 'bin'), os.path.join(tools, 'tests', 'mutate')
        self.mutate, self.mutated, self.library = (os.path.join(own, name) for name in ('mutate', 'mutated', 'libmutate_preload.so'))
        self.foreign, self.device, self.jobs, self.watch_jobs = options.foreign, options.device, options.jobs, options.watch_jobs
        self.lean, self.decoys, self.assembler = options.lean, options.decoys, options.assembler
        self.scratch, self.keep = tempfile.mkdtemp(prefix='mutate-'), options.keep
        self.stall = '0.3' if self.device == 'sim' else '0.5'

    def environment(self, **extra):
        """For a program that runs without wsdbg."""
        out = {**os.environ, **extra}
        if self.device == 'sim':
            out['LD_LIBRARY_PATH'] = self.simulator + (':' + out['LD_LIBRARY_PATH'] if out.get('LD_LIBRARY_PATH') else '')
            out['LD_PRELOAD'] = os.path.join(self.simulator, 'libwsdbg-static-runtime.so')
            for name in ('TRITON_PTXAS_PATH', 'TRITON_PTXAS_BLACKWELL_PATH'):
                out[name] = os.path.join(self.simulator, 'ptxas')
        return out

    def words(self, command):
        return command.format(bin=self.bin, tools=os.path.dirname(self.mutate), foreign=self.foreign).split()

    def wsdbg(self, *words):
        return [self.watcher, *words]


def cpu_s(pid):
    """Processor seconds of a process and its threads; None when it has ended."""
    try:
        fields = open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def end(process):
    """Ends a process group: by SIGTERM, so that wsdbg can end its program first, then by SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(3)
            return
        except subprocess.TimeoutExpired:
            pass
        except ProcessLookupError:
            return


def ends_with_us(libc=ctypes.CDLL(None), parent_death_signal=1):
    """Runs in a child process: a program that hangs must not outlive the script."""
    libc.prctl(parent_death_signal, signal.SIGTERM)


def run(command, environment, limit_s, stands=False):
    """Exit status, the end of stderr, seconds.  The status is 'limit' after limit_s; with stands=True it is 'stands' when the process has used no processor for QUIET_S."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err, start_new_session=True,
                                   preexec_fn=ends_with_us)
        status, quiet_since, last = None, start, None
        while status is None:
            try:
                status = process.wait(TICK_S if stands else limit_s)
            except subprocess.TimeoutExpired:
                now, used = time.monotonic(), cpu_s(process.pid)
                if used != last:
                    quiet_since, last = now, used
                if now - start > limit_s:
                    status = 'limit'
                elif stands and now - quiet_since > QUIET_S:
                    status = 'stands'
        if not isinstance(status, int):
            end(process)
        err.seek(0)
        said = err.read().decode(errors='replace')[-600:]
    return status, said, time.monotonic() - start


class Program:
    """A program of the programs files, and the mutants of the kernels that it launches."""

    def __init__(self, tools, origin, name, command):
        self.tools, self.origin, self.name, self.command = tools, origin, name, command
        self.folder = os.path.join(tools.scratch, name)
        os.makedirs(os.path.join(self.folder, 'ptx'), exist_ok=True)
        self.mutants, self.why = [], ''

    def prepare(self):
        tools, db = self.tools, os.path.join(self.folder, 'first.db')
        environment = {**os.environ, 'WSDBG_MUTATE_DUMP': os.path.join(self.folder, 'ptx'), 'WSDBG_MUTATE_LOG': os.path.join(self.folder, 'log')}
        self.status, said, self.seconds = run(
            tools.wsdbg('run', '--device', tools.device, '-q', '-o', db, '--', tools.mutated, tools.library, *tools.words(self.command)), environment, 120)
        if self.status != 0:
            self.why = f'without a defect it ends with {self.status}: {said.strip()[-200:]}'
            return False
        # Without --assembler a GPU's driver must compile a mutant's PTX.  So it does here, because limit() counts from this time.
        compiled = {} if tools.assembler else {'CUDA_FORCE_PTX_JIT': '1'}
        self.alone_s = run([tools.mutated, tools.library, *tools.words(self.command)], tools.environment(**compiled), 120)[2]
        launches = sqlite3.connect(db).execute('SELECT DISTINCT f.name, block_x, block_y, block_z FROM launch l JOIN function f ON f.id = l.function_id').fetchall()
        for file in sorted(os.listdir(os.path.join(self.folder, 'ptx'))):
            for kernel, *block in launches:
                self.list(os.path.join(self.folder, 'ptx', file), kernel, ','.join(map(str, block)))
        if not self.mutants:
            log = os.path.join(self.folder, 'log')
            self.why = 'no place for an operator: ' + (open(log).read()[-300:] if os.path.exists(log) else 'no module was loaded')
        return bool(self.mutants)

    def list(self, file, kernel, threads):
        done = subprocess.run([self.tools.mutate, '--list', file, '--kernel', kernel, '--threads', threads], capture_output=True, text=True)
        if done.returncode:
            self.why = done.stderr.strip()
        names = ('pick', 'kernel', 'operator', 'place', 'line', 'causes', 'barrier', 'warps')
        rows = [dict(zip(names, line.split('\t'))) for line in done.stdout.splitlines()]
        rows = [row for row in rows if row['kernel'] == kernel or (len(kernel) == NAME_KEPT and row['kernel'].startswith(kernel))]
        for row in rows:
            row.update(file=file, part=kernel, threads=threads, warps=int(row['warps'], 16), program=self.name, origin=self.origin)
        self.mutants += rows

    def chosen(self, count, seed, operators):
        """`count` mutants: one of each operator in turn, each at a random place."""
        by_operator = collections.defaultdict(list)
        for row in self.mutants:
            if not operators or row['operator'].split(':')[0] in operators:
                by_operator[row['operator']].append(row)
        dice = random.Random(f'{seed} {self.name}')
        for rows in by_operator.values():
            dice.shuffle(rows)
        order, out = sorted(by_operator), []
        dice.shuffle(order)
        while len(out) < count and any(by_operator.values()):
            for name in order:
                if by_operator[name] and len(out) < count:
                    out.append(by_operator[name].pop())
        return out


def barrier_is_right(row, kind, offset, identifier):
    """None where every barrier is right, or the barrier's address is not known."""
    truth = row['barrier']
    if not truth:
        return None
    if not truth.startswith('mbarrier'):
        return kind == truth if not truth.startswith('named') else (kind == 'named barrier' and truth == f'named barrier {identifier}')
    if kind != 'mbarrier':
        return False
    if offset is None:  # the record has its name only
        return None
    ends = [int(word, 16) for word in truth.split() if word.startswith('0x')]
    return ends[0] <= offset <= ends[-1]


def first_finding(db, row):
    answer = {'cause': '', 'confidence': '', 'sentence': '', 'barrier': None, 'role': None, 'others': []}
    try:
        base = sqlite3.connect(f'file:{db}?mode=ro', uri=True)
        findings = base.execute(FIRST).fetchall()
        if not findings:
            return answer
        cause, confidence, sentence, role, cta, kind, offset, identifier, _ = findings[0]
        answer.update(cause=cause, confidence=confidence, sentence=sentence, others=[other[0] for other in findings[1:]])
        answer['barrier'] = barrier_is_right(row, kind, offset, identifier)
        answer['said_barrier'] = f'{kind} {offset if kind == "mbarrier" else identifier}' if kind else ''
        if row['warps']:
            warps = [warp for warp, in base.execute('SELECT warp FROM warp WHERE cta_id = ? AND role = ?', (cta, role))] if role is not None else []
            answer['role'] = any(row['warps'] >> warp & 1 for warp in warps)
    except sqlite3.Error as error:
        answer['error'] = str(error)
    return answer


def mark(row, status, answer):
    hangs, called, cause = row['alone'] in STANDS, status == 124, answer['cause']
    causes = row['causes'].split(',')
    if not hangs and called:
        return 'ALARM'
    if not hangs:  # alone != 0: a GPU error or a wrong result
        return 'runs' if row['alone'] == 0 or not cause or answer['confidence'] == 'possible' else 'fault right' if cause in causes else 'fault wrong'
    if not called:
        return 'missed' if not cause or cause == 'SLOW' else 'possible' if cause in causes else 'other'
    return 'right' if cause in causes else 'cycle' if cause in NO_CAUSE else 'PROVEN' if answer['confidence'] == 'proven' else 'WRONG'


class Scorer:
    def __init__(self, tools, programs, evidences):
        self.tools, self.programs, self.evidences = tools, programs, evidences

    def made(self, row, folder):
        """Writes the mutant's PTX into the folder, and runs the program with it alone: the row with the outcome."""
        tools, row, ptx, log = self.tools, dict(row), os.path.join(folder, 'mutant.ptx'), os.path.join(folder, 'log')
        os.makedirs(folder, exist_ok=True)
        made = subprocess.run([tools.mutate, row['file'], '--pick', row['pick'], '-o', ptx, '--kernel', row['part'], '--threads', row['threads']],
                              capture_output=True, text=True)
        if made.returncode:
            return {**row, 'alone': 'not made', 'said': made.stderr.strip()}
        if tools.assembler:
            ptx, text = os.path.join(folder, 'mutant.cubin'), ptx
            made = subprocess.run([tools.assembler, '-arch=sm_90a', '-lineinfo', text, '-o', ptx], capture_output=True, text=True)
            if made.returncode:
                return {**row, 'alone': 'not made', 'said': made.stderr.strip()}
        row.update(folder=folder, changes={'WSDBG_MUTATE_OF': row['file'], 'WSDBG_MUTATE_PTX': ptx, 'WSDBG_MUTATE_LOG': log}, said='')
        if 'was' in row:
            return row
        row['alone'], row['said'], row['alone_s'] = run(self.command(row), tools.environment(**row['changes']), self.limit(row), stands=tools.device == 'sim')
        if not os.path.exists(log) or ' replaced' not in open(log).read():
            return {**row, 'alone': 'not replaced', 'said': open(log).read()[-300:] if os.path.exists(log) else 'no module', 'folder': None}
        return row

    def command(self, row):
        return [self.tools.mutated, self.tools.library, *self.tools.words(self.programs[row['program']].command)]

    def limit(self, row):
        alone_s = self.programs[row['program']].alone_s
        return 10 + 20 * alone_s if self.tools.device == 'sim' else 3 + 3 * alone_s

    def watched(self, row):
        if not row.get('folder'):
            return row
        tools, folder, changes = self.tools, row.pop('folder'), row.pop('changes')
        row['answers'] = {}
        for evidence in self.wanted(row):
            db = os.path.join(folder, evidence + '.db')
            looks = (['--keep-looks', folder] if tools.device == 'gpu' else ['--record', os.path.join(folder, evidence + '.wsrec')]) if tools.keep else []
            status, said, seconds = run(tools.wsdbg('run', '--device', tools.device, '--stall', tools.stall, *EVIDENCE[evidence], *looks, '-q', '-o', db, '--', *self.command(row)),
                                        {**os.environ, **changes}, self.limit(row) + 10)
            answer = first_finding(db, row)
            if mark(row, status, answer) == 'ALARM' and self.hangs_at_times(row, changes):
                row['alone'], row['at_times'] = STANDS[0], True
            if row['alone'] in STANDS and status not in (124, 'limit'):  # it ended under wsdbg: it was only slow beside others, or hangs at times
                row['alone'] = self.again(row, changes)
            answer.update(status=status, seconds=round(seconds, 2), mark=mark(row, status, answer))
            if not answer['cause']:
                answer['stderr'] = said[-300:]
            row['answers'][evidence] = answer
        self.put_away(row, folder, self.command(row))
        return row

    def chosen(self, rows):
        """Those that hang alone, and --decoys of the others, which take as long; in no order of programs, as the time may be over before all are done."""
        hung, ended = ([row for row in rows if (row['alone'] in STANDS) == stands] for stands in (True, False))
        chosen = hung + ended[:self.tools.decoys] if self.tools.decoys is not None else rows
        return random.Random(1).sample(chosen, len(chosen))

    def hangs_at_times(self, row, changes):
        """Whether the mutant hangs alone in one of a few more runs: some programs choose their grid or schedule anew in each run."""
        return any(self.again(row, changes) in STANDS for _ in range(ALONE_AGAIN))

    def again(self, row, changes):
        return run(self.command(row), self.tools.environment(**changes), self.limit(row), stands=self.tools.device == 'sim')[0]

    def wanted(self, row):
        if 'was' in row:
            return [evidence for evidence in self.evidences if row['was'][evidence] != '-']
        return self.evidences if row['alone'] in STANDS or not self.tools.lean else self.evidences[:1]

    def put_away(self, row, folder, command):
        """Removes the folder; --keep first copies it, with a script that runs the mutant again."""
        if self.tools.keep:
            kept = os.path.join(self.tools.keep, f"{row['program']}-{row['pick']}")
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)
            shutil.copy(row['file'], os.path.join(kept, 'original.ptx'))
            with open(os.path.join(kept, 'run.sh'), 'w') as file:
                file.write(f"#!/bin/bash\n# {row['operator']}: {row['causes']}; {row['barrier']}; run.sh WSDBG [OPTION...]\ncd $(dirname $0) || exit\n"
                           f"export WSDBG_MUTATE_OF=$PWD/original.ptx WSDBG_MUTATE_PTX=$PWD/mutant.{'cubin' if self.tools.assembler else 'ptx'}\n"
                           f'"${{1:-{self.tools.watcher}}}" run --device {self.tools.device} --stall {self.tools.stall} -o again.db "${{@:2}}" -- {" ".join(command)}\n')
            os.chmod(os.path.join(kept, 'run.sh'), 0o755)
        shutil.rmtree(folder)

    def all(self, rows, out, until, quiet):
        """Runs all rows.  A GPU has room for one debugger: there mutants run alone first, several at a time, in at most half the time that is left; then
        under wsdbg, --watch-jobs at a time: these take turns at looking."""
        kept, tools = [], self.tools
        half = (time.monotonic() + until) / 2
        folder = lambda i: os.path.join(tools.scratch, f'mutant-{i}')

        def in_time(step, until=until):
            """A run that the script cannot make is told, and the others go on."""
            try:
                return None if time.monotonic() > until else step()
            except Exception as error:
                print(f'not run: {error!r}', flush=True)
                return None

        with concurrent.futures.ThreadPoolExecutor(tools.jobs) as pool, concurrent.futures.ThreadPoolExecutor(tools.watch_jobs) as watchers:
            if tools.device == 'sim':
                jobs = [pool.submit(in_time, lambda row=row, i=i: self.watched(self.made(row, folder(i)))) for i, row in enumerate(rows)]
                done = (job.result() for job in jobs)
            else:
                made = list(pool.map(lambda pair: in_time(lambda: self.made(pair[1], folder(pair[0])), half), enumerate(rows)))
                jobs = [watchers.submit(in_time, lambda row=row: self.watched(row)) for row in self.chosen([row for row in made if row])]
                done = (job.result() for job in jobs)
            for row in done:
                if row:
                    kept.append({key: value for key, value in row.items() if key not in ('file', 'folder', 'changes')})
                    save(out, kept)
                    if not quiet:
                        say(kept[-1])
        return kept


def say(row):
    answers = row.get('answers', {})
    print(row['program'], row['operator'], row['pick'], row['alone'], row['causes'], row['barrier'],
          *(f"| {name}: {answer['mark']} {answer['cause']} {answer['confidence']}{' b' if answer['barrier'] else ''}{' r' if answer['role'] else ''}" for name, answer in answers.items()),
          row['said'].strip()[-160:].replace('\n', ' ') if not answers else '', flush=True)


def save(path, rows):
    with open(path + '.new', 'w') as file:
        json.dump({'mutants': rows}, file, indent=1)
        file.write('\n')
    os.replace(path + '.new', path)


# ---- what CI holds wsdbg to ----

COLUMNS = ('program', 'kernel', 'operator', 'place', 'alone')


def expect(rows, path, hanging=6, others=2):
    """Writes the first mutants of each program, so many of those that hang and of the others, with their marks."""
    evidences = list(dict.fromkeys(name for row in rows for name in row.get('answers', {})))
    taken = collections.Counter()
    with open(path, 'w') as file:
        file.write('# The marks that mutants of our own kernels get on the simulator: ' + ', '.join((*COLUMNS, *evidences)) + '. Made by tests/mutate/score.py --expect\n')
        for row in rows:
            kind = row['alone'] in STANDS
            if not row.get('answers') or taken[row['program'], kind] >= (hanging if kind else others):
                continue
            taken[row['program'], kind] += 1
            file.write('\t'.join([str(row[name]) for name in COLUMNS] + [row['answers'][name]['mark'] if name in row['answers'] else '-' for name in evidences]) + '\n')


def ci(options, tools):
    """Runs the mutants of a file again.  False: a row has a bad mark that was not bad in the file, or fewer rows are right."""
    lines = [line.rstrip('\n').split('\t') for line in open(options.ci) if not line.startswith('#')]
    evidences = open(options.ci).readline().split(': ', 1)[1].split('. ')[0].split(', ')[len(COLUMNS):]
    wanted = {tuple(line[:4]): (int(line[4]) if line[4].lstrip('-').isdigit() else line[4], dict(zip(evidences, line[5:]))) for line in lines}
    options.only = ','.join({line[0] for line in lines})
    programs = prepared(options, tools)
    rows = [row for program in programs.values() for row in program.mutants if tuple(row[name] for name in COLUMNS[:4]) in wanted]
    for row in rows:
        row['alone'], row['was'] = wanted[tuple(row[name] for name in COLUMNS[:4])]
    kept = Scorer(tools, programs, evidences).all(rows, os.path.join(tools.scratch, 'ci.json'), time.monotonic() + options.seconds, True)
    is_good = len(kept) == len(wanted)
    print(f'{len(kept)} of {len(wanted)} mutants were run')
    for evidence in evidences:
        marks = [(row, row.get('answers', {}).get(evidence, {}).get('mark', row.get('said')), row['was'][evidence]) for row in kept if row['was'][evidence] != '-']
        right, before = (sum(pair[i] == 'right' for pair in marks) for i in (1, 2))
        for row, now, was in marks:
            if now != was:
                print(evidence, row['program'], row['operator'], row['place'], f"{now}, was {was}:", row.get('answers', {}).get(evidence, {}).get('sentence', ''))
            is_good = is_good and not (now in BAD and was not in BAD)
        print(f'{evidence}: right {right}, {before} in the file')
        is_good = is_good and right >= before
    return is_good


# ---- the command line ----


def read_programs(options, tools):
    out = {}
    for path in options.programs.split(','):
        for line in open(path):
            if line.strip() and not line.startswith('#'):
                origin, name, command = line.rstrip('\n').split('\t')
                if (not options.only or name in options.only.split(',')) and (not options.origin or origin == options.origin):
                    out[name] = Program(tools, origin, name, command)
    return out


def prepared(options, tools):
    programs = read_programs(options, tools)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        ready = dict(zip(programs, pool.map(lambda program: program.prepare(), programs.values())))
    for program in list(programs.values()):
        if not ready[program.name]:
            print(f'{program.name}: left out: {program.why}', flush=True)
            del programs[program.name]
    return programs


def replayed(programs, text):
    """The mutants of an earlier result file that have a mark with this word, as the programs list them now."""
    path, _, word = text.partition(':')
    wanted = {(row['program'], row['kernel'], row['operator'], row['place']) for row in json.load(open(path))['mutants']
              if not word or any(word in answer['mark'] for answer in row.get('answers', {}).values())}
    return [row for program in programs.values() for row in program.mutants if (row['program'], row['kernel'], row['operator'], row['place']) in wanted]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--tools', help='build folder of the mutator and the demo programs; default: that of --build')
    parser.add_argument('--keep', help='folder that gets the PTX and the session of each mutant, on a GPU also the looks at it, and a script that runs it again')
    parser.add_argument('--out', default='truth.json')
    parser.add_argument('--programs', default=os.path.join(HERE, 'programs.tsv'))
    parser.add_argument('--only', default='')
    parser.add_argument('--origin', default='')
    parser.add_argument('--operators', default='')
    parser.add_argument('--count', type=int, default=20, help='mutants of each program')
    parser.add_argument('--seed', default='1')
    parser.add_argument('--evidence', default='full,state')
    parser.add_argument('--device', default='sim')
    parser.add_argument('--decoys', type=int, help='on a GPU: watch no more than so many of the mutants that end by themselves; default: all')
    parser.add_argument('--foreign', default='/nowhere')
    parser.add_argument('--assembler', help='on a GPU: the ptxas that compiles the mutants; default: the driver does')
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--watch-jobs', type=int, default=1, help='on a GPU: how many mutants run under wsdbg at a time')
    parser.add_argument('--seconds', type=float, default=3600)
    parser.add_argument('--lean', action='store_true', help='mutants that end by themselves run under wsdbg with the first kind of evidence only')
    parser.add_argument('--quiet', action='store_true')
    parser.add_argument('--replay')
    parser.add_argument('--table')
    parser.add_argument('--page')
    parser.add_argument('--section', default='On the simulator')
    parser.add_argument('--expect')
    parser.add_argument('--ci')
    options = parser.parse_args()
    if options.table:
        print('\n'.join(tables(json.load(open(options.table))['mutants'])))
        return 0
    if options.page:
        page(options.page.split(','), options.section)
        return 0
    if options.expect:
        expect(json.load(open(options.expect))['mutants'], os.path.join(HERE, 'expected.tsv'))
        return 0
    tools, until = Tools(options), time.monotonic() + options.seconds
    try:
        if options.ci:
            return 0 if ci(options, tools) else 1
        programs = prepared(options, tools)
        operators = set(options.operators.split(',')) - {''}
        rows = replayed(programs, options.replay) if options.replay else [
            row for of_programs in itertools.zip_longest(*(program.chosen(options.count, options.seed, operators) for program in programs.values()))
            for row in of_programs if row]
        kept = Scorer(tools, programs, options.evidence.split(',')).all(rows, options.out, until, options.quiet)
        print('\n'.join(tables(kept)))
    finally:
        shutil.rmtree(tools.scratch, ignore_errors=True)
    return any(answer['mark'] in BAD for row in kept for answer in row.get('answers', {}).values())


if __name__ == '__main__':
    sys.exit(main())
