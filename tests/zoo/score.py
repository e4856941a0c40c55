#!/usr/bin/env python3
"""score.py - the zoo's score: every case with every kind of evidence, with wsdbg and without.

    tests/zoo/score.py [--build build] [--out zoo.json] [--device gpu|sim] [--evidence live,ring,core,both,none,fixed] [--cases NAME,...]
                       [--runs 1] [--seconds 360] [--jobs 1] [--keep FOLDER]
    tests/zoo/score.py --table zoo.json [--table sim.json]     writes docs/results/zoo.md from what was kept
    tests/zoo/score.py --shape wide [the same]                the same cases in another shape: the program zoo-wide, which `ninja zoo-wide` builds
    tests/zoo/score.py --recorded                              writes what is said today of the evidence in tests/zoo/h200, from h200.tsv
    tests/zoo/score.py --expect zoo.json                       writes tests/zoo/sim.tsv, what tests/zoo/case.sh holds the simulator to

Evidence: live and core of kernels without probes, ring and both of those with; on the simulator state stands for live.  none: without wsdbg, does it hang;
fixed: without its defect, does it finish; rate: does it hang as often under wsdbg, without probes and with them, as without (eight at a time).
The file is written after every run; after --seconds no new one is begun.  --jobs: so many at a time of those that do not look at the GPU.
--keep: the evidence itself, for pack.py: FOLDER/live/CASE/look-*.core, core/CASE/look.core, ring/CASE/ring.wsrec, both/CASE.
Exit status: 1 when a decoy was called a hang or another cause than the defect was called proven.  A development script.
"""
import argparse, concurrent.futures, glob, itertools, json, os, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import results

WITH_WSDBG = {'live': ('plain', 'live'), 'ring': ('probes', 'ring'), 'core': ('plain', 'core'), 'both': ('probes', 'auto'),
              'state': ('plain', 'live', '--history', '0')}  # the simulator's record of kernels without probes is not wanted
WITHOUT_MS = 700
RATE_JOBS = 8
SERIAL = ('live', 'core', 'both')  # the GPU has room for one debugger
DECOY_MS = '1500'  # on the simulator as the program likes


class Score:
    def __init__(self, options):
        self.bin, self.device = os.path.join(os.path.abspath(options.build), 'bin'), options.device
        self.zoo = 'zoo-' + options.shape if options.shape else 'zoo'
        self.scratch, self.keep = tempfile.TemporaryDirectory(), options.keep
        self.stall = '0.5' if options.device == 'gpu' else '0.3'

    def tool(self, name):
        return os.path.join(self.bin, name)

    def cases(self):
        text = subprocess.run([self.tool(self.zoo), '--list'], capture_output=True, text=True, timeout=20).stdout
        return [dict(zip(('name', 'cause', 'role', 'barrier', 'kind', 'story'), line.split('\t'))) for line in text.splitlines()]

    def end(self, command, limit):
        """Status ('limit' when it had to be killed), stdout, stderr, seconds."""
        start = time.monotonic()
        environment = dict(os.environ)
        if self.device == 'sim' and command[0] == self.tool(self.zoo):
            environment['LD_LIBRARY_PATH'] = os.path.join(os.path.dirname(self.bin), 'lib', 'wsdbg', 'sim')
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                   env=environment)
        try:
            out, err = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            status = 'limit'
        return status, out, self.without_paths(err), time.monotonic() - start

    def without_paths(self, text):
        """Without the paths of this machine."""
        for path in (self.bin, self.scratch.name, os.path.dirname(os.path.dirname(HERE))):
            text = text.replace(path + '/', '')
        return text

    def command(self, case, *options):
        words = [self.tool(self.zoo), '--case', case['name'], *options]
        return words + ['--work-ms', DECOY_MS] if case['kind'] == 'decoy' and self.device == 'gpu' else words

    def without(self, case, *options):
        status, _, err, seconds = self.end(self.command(case, '--timeout-ms', str(WITHOUT_MS if not options else 5000), *options), 15)
        return {'status': status, 'hangs': status in (3, 'limit'), 'said': err.strip()[-300:], 'seconds': round(seconds, 2)}

    def watched(self, case, evidence):
        variant, source, *others = WITH_WSDBG[evidence]
        if evidence == 'both' and self.device == 'gpu':
            source = 'live'  # auto looks only where the record proves nothing
        folder = os.path.join(self.keep or self.scratch.name, evidence, case['name'])
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        if self.keep:
            others += ['--record', folder + '/ring.wsrec'] if evidence in ('ring', 'both') else []
            others += ['--keep-looks', folder] if evidence != 'ring' and self.device == 'gpu' else []
        status, out, err, seconds = self.end(
            [self.tool('wsdbg'), 'run', '--device', self.device, '--stall', self.stall, '--evidence', source, *others, '--json', '-o', folder + '/run.db', '--',
             *self.command(case, '--variant', variant, '--timeout-ms', '8000')], 20)
        for dump in glob.glob(folder + '/look-*.core') if evidence == 'core' else []:
            os.rename(dump, folder + '/look.core')
        at = out.find('{\n')
        try:
            report = json.loads(out[at:]) if at >= 0 else {}
        except ValueError:
            report = {}
        first = (report.get('findings') or [{}])[0]
        barrier = first.get('barrier')
        answer = {'status': status, 'cause': first.get('cause') or '', 'confidence': first.get('confidence') or '',
                  'role': first.get('role') or '', 'barrier': (barrier.get('name') if isinstance(barrier, dict) else barrier) or '',
                  'sentence': first.get('summary') or first.get('sentence') or '', 'seconds': round(seconds, 2)}
        delay_ns = report.get('session', {}).get('verdict_delay_ns')
        answer['verdict_ms'] = None if delay_ns is None else round(delay_ns / 1e6, 1)
        answer['others'] = [finding.get('cause') for finding in (report.get('findings') or [])[1:]]
        answer['mark'] = mark(case, answer)
        if not answer['cause']:
            answer['stderr'] = err.strip()[-400:]
        return answer

    def hangs(self, case, variant):
        """Whether the case hangs without wsdbg (variant None) or under it, which waits for no verdict."""
        program = self.command(case, '--timeout-ms', str(WITHOUT_MS), *(['--variant', variant] if variant else []))
        with tempfile.TemporaryDirectory() as folder:
            watch = [self.tool('wsdbg'), 'run', '--device', self.device, '--stall', '60', '-q', '-o', folder + '/run.db', '--'] if variant else []
            return self.end(watch + program, 25)[0] in (3, 124, 'limit')

    def rate(self, case, runs):
        """Of as many runs each: hangs without wsdbg, under it, and under it with probes."""
        order = [variant for _ in range(runs) for variant in (None, 'plain', 'probes')]
        with concurrent.futures.ThreadPoolExecutor(RATE_JOBS) as pool:
            ends = list(pool.map(lambda variant: self.hangs(case, variant), order))
        return {'runs': runs, **{variant or 'none': sum(end for end, of in zip(ends, order) if of == variant) for variant in (None, 'plain', 'probes')}}

    def run(self, case, evidence):
        if evidence == 'none':
            return self.without(case)
        if evidence == 'fixed':
            return None if case['kind'] == 'decoy' else self.without(case, '--fixed')
        return self.watched(case, evidence)


def mark(case, answer):
    columns = [case['name'], case['cause'], case['role'], case['barrier'], answer['status'], answer['cause'], answer['confidence'], answer['role'],
               answer['barrier']]
    return subprocess.run(['awk', '-f', os.path.join(HERE, 'marks.awk')], input='\t'.join(map(str, columns)) + '\n', capture_output=True,
                          text=True, check=True).stdout.strip()


def save(path, kept):
    with open(path + '.new', 'w') as file:
        json.dump(kept, file, indent=1)
        file.write('\n')
    os.replace(path + '.new', path)


def measure(options):
    score = Score(options)
    kept = {'device': options.device, 'shape': options.shape, 'cases': {}}
    if os.path.exists(options.out):
        kept = json.load(open(options.out))
    until = time.monotonic() + options.seconds
    chosen = [case for case in score.cases() if not options.cases or case['name'] in options.cases.split(',')]
    for case in chosen:
        kept['cases'].setdefault(case['name'], {}).update(case)
    evidences = options.evidence.split(',')
    jobs = [(case, evidence) for evidence in evidences * options.runs if evidence != 'rate' for case in chosen]
    for case, evidence, answer in answer_all(score, jobs, options.jobs, until):
        kept['cases'][case['name']].setdefault(evidence, []).append(answer)
        save(options.out, kept)
        print(evidence, case['name'], answer.get('mark') or answer['status'], answer.get('cause', ''), answer.get('confidence', ''),
              answer.get('role', ''), answer.get('barrier', ''), answer['seconds'], flush=True)
    for case in chosen if 'rate' in evidences else []:
        if case['kind'] == 'hang' and time.monotonic() < until:  # what ends with an error does so some time after its hang
            kept['cases'][case['name']]['rate'] = rate = score.rate(case, options.runs)
            save(options.out, kept)
            print('rate', case['name'], rate, flush=True)
    return kept


def answer_all(score, jobs, at_a_time, until):
    """Case, evidence and answer of each job as they come; those that must be alone after the others."""
    one = lambda job: None if time.monotonic() > until else score.run(*job)
    alone = [job for job in jobs if job[1] in SERIAL]
    together = [job for job in jobs if job[1] not in SERIAL]
    with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
        for job, answer in itertools.chain(zip(together, pool.map(one, together)), zip(alone, map(one, alone))):
            if answer:
                yield *job, answer
    if time.monotonic() > until:
        print('out of time', flush=True)


# ---- the page ----


def share(count, total):
    return f'{count} of {total}' + (f' ({100 * count / total:.0f} %)' if total else '')


def answers(kept, evidence, kinds=('hang', 'fault')):
    return [(row, answer) for row in kept['cases'].values() if row['kind'] in kinds for answer in row.get(evidence, [])]


def summary(kept, evidence):
    hangs, decoys = answers(kept, evidence), answers(kept, evidence, ('decoy',))
    right = lambda letter: share(sum(letter in answer['mark'] and answer['mark'] != 'runs' for _, answer in hangs), len(hangs))
    times = [answer['verdict_ms'] for _, answer in hangs if answer.get('verdict_ms') is not None]
    called = sum(answer['status'] == 124 for _, answer in hangs)
    return (f"| {evidence} | {share(called, len(hangs))} | {right('c')} | {right('r')} | {right('b')} | "
            f"{sum(answer['mark'].startswith('!') for _, answer in hangs)} | {sum(answer['mark'] == 'alarm' for _, answer in decoys)} of {len(decoys)} | "
            f"{results.cell(results.spread(times)) if times else '?'} |")


def cell(row, evidence):
    runs = row.get(evidence)
    if not runs:
        return '?'
    words = dict.fromkeys((f"{answer['cause']} ({answer['confidence']})" if answer['cause'] else 'nothing') + f" {answer['mark']}" for answer in runs)
    return ' / '.join(words)


def ends(row, key):
    """A decoy works for longer than the time after which a case is called hung, and has nothing to be fixed."""
    runs = row.get(key)
    return '-' if row['kind'] == 'decoy' else '?' if not runs else share(sum(run['hangs'] for run in runs), len(runs)) if key == 'none' else share(
        sum(run['status'] == 0 for run in runs), len(runs))


def rates(row):
    rate = row.get('rate')
    return '-' if row['kind'] == 'decoy' else f"{rate['none']}, {rate['plain']}, {rate['probes']} of {rate['runs']}" if rate else '?'


def page(kept):
    evidences = [evidence for evidence in WITH_WSDBG if any(evidence in row for row in kept['cases'].values())]
    device = 'an H200' if kept['device'] == 'gpu' else 'the simulator'
    lines = [f'## On {device}', '', f"`tests/zoo/score.py --device {kept['device']}`. Expected: what the head of each case says. Marks: c, r, b = cause, role, "
             'barrier of the first finding are right; `!` = another cause was called proven. Hangs without wsdbg, and finishes without the defect: of the '
             'runs made; `?` = not run. A cause that is only possible may be right, and is not called a hang: so with '
             'most copies and polls in a core dump, one picture. runs, nothing: no cause was given, or within 20 s nothing came of it.', '',
             '| evidence | hang called | cause right | role right | barrier right | wrong and proven | decoys called a hang | ms to the verdict |',
             '|---|---|---|---|---|---|---|---|', *[summary(kept, evidence) for evidence in evidences]]
    hangs = [row for row in kept['cases'].values() if row['kind'] != 'decoy']
    seen = [row for row in hangs if any(evidence in row for evidence in evidences)]
    either = sum(any('c' in answer['mark'] for evidence in evidences for answer in row.get(evidence, [])) for row in seen)
    lines += ['', f'Cause right with at least one kind of evidence: {share(either, len(seen))}.', '',
              '| case | expected | hangs without wsdbg | rate | fixed finishes | ' + ' | '.join(evidences) + ' |', '|---|---|---|---|---|' + '---|' * len(evidences)]
    lines += [f"| `{row['name']}` | {row['cause']} | {ends(row, 'none')} | {rates(row)} | {ends(row, 'fixed')} | " +
              ' | '.join(cell(row, evidence) for evidence in evidences) + ' |' for row in kept['cases'].values()]
    return '\n'.join(lines)


def short(row, evidence):
    """The marks, and the cause where it is not the expected one."""
    return ' / '.join(dict.fromkeys(answer['mark'] if 'c' in answer['mark'] or answer['mark'] == 'runs' else f"{answer['mark']} {answer['cause']} ({answer['confidence']})"
                                    for answer in row.get(evidence, []))) or '?'


def shapes_page(device, shapes):
    """One table of all shapes, and what was said of each case in each of them."""
    where = 'an H200' if device == 'gpu' else 'the simulator'
    lines = [f'## Other shapes, on {where}', '', f'`tests/zoo/score.py --device {device} --shape SHAPE`: the same cases with other stages, bytes, warpgroups, CTAs and '
             'clusters, without names, and with probes in the code of one role only (`demo_kernels/CMakeLists.txt` says what each shape is). Marks as above.', '',
             '| shape | evidence | hang called | cause right | role right | barrier right | wrong and proven | decoys called a hang | ms to the verdict |',
             '|---|---|---|---|---|---|---|---|---|']
    columns = [(shape, evidence) for shape, kept in shapes.items() for evidence in WITH_WSDBG if any(evidence in row for row in kept['cases'].values())]
    lines += [f'| {shape} {summary(shapes[shape], evidence)}' for shape, evidence in columns]
    names = {name: row for kept in shapes.values() for name, row in kept['cases'].items()}
    lines += ['', '| case | expected | ' + ' | '.join(f'{shape}, {evidence}' for shape, evidence in columns) + ' |', '|---|---|' + '---|' * len(columns)]
    lines += [f"| `{name}` | {row['cause']} | " + ' | '.join(short(shapes[shape]['cases'].get(name, {}), evidence) for shape, evidence in columns) + ' |'
              for name, row in names.items()]
    return '\n'.join(lines)


def save_shape(kept):
    """Beside the shapes that the page has already."""
    section = kept['device'] + '-shapes'
    shapes = results.load('zoo').get(section, {})
    shapes[kept['shape']] = kept
    results.save(section, shapes, shapes_page(kept['device'], shapes), 'zoo')


def expect(kept):
    """The marks of the first run of each case: case, state, ring."""
    with open(os.path.join(HERE, 'sim.tsv'), 'w') as file:
        for row in kept['cases'].values():
            file.write('\t'.join([row['name'], row['state'][0]['mark'], row['ring'][0]['mark']]) + '\n')


def recorded():
    """The recorded evidence, judged by the newest rules: CTest holds wsdbg to h200.tsv."""
    read = lambda name: [line.rstrip('\n').split('\t') for line in open(os.path.join(HERE, name))]
    kinds, cases, marks = ('live', 'core', 'ring', 'both'), read('cases.tsv'), {row[0]: row[1:] for row in read('h200.tsv')}
    lines = ['## The same evidence, judged again', '', '`tests/zoo/h200` holds the looks, dumps and records of the runs above (kinds of `tests/zoo/score.py --keep`); rules that '
             'changed after the runs are seen here only. `tests/zoo/h200.tsv` has the marks, and CI holds wsdbg to them. none: nothing was recorded, because the '
             'kernel had ended. both: looks and record of one run, judged together.', '',
             '| evidence | recorded of cases | cause right | role right | barrier right | wrong and proven | decoys called a hang | not right |', '|---|---|---|---|---|---|---|---|']
    for at, kind in enumerate(kinds):
        hangs = [(row[0], marks[row[0]][at]) for row in cases if row[4] != 'decoy' and marks[row[0]][at] != 'none']
        decoys = [marks[row[0]][at] for row in cases if row[4] == 'decoy' and marks[row[0]][at] != 'none']
        total = sum(row[4] != 'decoy' for row in cases)
        right = lambda letter: share(sum(letter in mark and mark != 'runs' for _, mark in hangs), len(hangs))
        wrong = ', '.join(f'`{name}`' for name, mark in hangs if 'c' not in mark) or '-'
        lines.append(f"| {kind} | {len(hangs)} of {total} | {right('c')} | {right('r')} | {right('b')} | {sum('!' in mark for _, mark in hangs)} | "
                     f"{decoys.count('alarm')} of {len(decoys)} | {wrong} |")
    results.save('recorded', {row[0]: dict(zip(kinds, marks[row[0]])) for row in cases}, '\n'.join(lines), 'zoo')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--out', default='zoo.json')
    parser.add_argument('--device', choices=('gpu', 'sim'), default='gpu')
    parser.add_argument('--evidence')
    parser.add_argument('--cases')
    parser.add_argument('--shape')
    parser.add_argument('--runs', type=int, default=1)
    parser.add_argument('--seconds', type=float, default=360)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--keep')
    parser.add_argument('--table', action='append')
    parser.add_argument('--expect')
    parser.add_argument('--recorded', action='store_true')
    options = parser.parse_args()
    if options.recorded:
        return recorded()
    if options.expect:
        return expect(json.load(open(options.expect)))
    for path in options.table or []:
        kept = json.load(open(path))
        if kept.get('shape'):
            save_shape(kept)
        else:
            results.save(kept['device'], kept, page(kept), 'zoo')
    if options.table:
        return 0
    options.evidence = options.evidence or ('live,ring,core,both,none,fixed' if options.device == 'gpu' else 'state,ring,both,fixed')
    kept = measure(options)
    marks = [answer['mark'] for row in kept['cases'].values() for evidence in WITH_WSDBG for answer in row.get(evidence, [])]
    return int(any(word == 'alarm' or word.startswith('!') for word in marks))


if __name__ == '__main__':
    sys.exit(main())
