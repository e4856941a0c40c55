#!/usr/bin/env python3
"""table.py - every deliberate defect on the simulator, beside what an H200 said of it; docs/results/sim.md's first part.

    tests/sim/table.py [--build build] [--runs 3] [--seeds 40] [PART ...]

Parts: defects, healthy, schedules, explore (default: all).  Reads h200 and h200-live of tests/measured.  Needs the demo kernels'
images, no GPU.  A development script: wsdbg itself needs no Python.
"""
import argparse, collections, itertools, json, os, re, subprocess, sys, tempfile, time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, 'h200')]
import measure
import results

ENDS = {'124': 'hang', '3': 'hang', '1': 'fault', '0': 'runs', 'limit': 'hang'}  # 3: by the program's own time limit
PROGRAMS = {'gemm': ('probes', 'plain'), 'two_async_warps': ('probes', 'plain'), 'waits': ('',)}
TIMEOUT_MS = '6000'
RACE_TIMEOUT_MS = '60000'  # of a run that is not known to hang: a machine with other work on it is slow
SCHEDULES = ('random', 'priority')
SMALL = ('--m', '256', '--n', '256', '--k', '256')
# What wsdbg explore is to find, or not: the program's words, explore's.
RACES = [(('two_async_warps', '--defect', 'shared-full'), ('--seconds', '60')),
         (('two_async_warps', '--defect', 'shared-full'), ('--schedules', '500', '--all', '--schedule', 'priority')),
         (('two_async_warps', '--defect', 'double-arrive'), ('--seconds', '60')),
         (('two_async_warps', '--defect', 'double-arrive'), ('--schedules', '500', '--all')),
         (('gemm', '--bug', 'shared-full-barrier'), ('--seconds', '60')),
         (('gemm', '--bug', 'arrive-missing'), ('--seconds', '60'))]
FIXED = [(('two_async_warps',), ('--seconds', '60')),
         (('two_async_warps',), ('--schedules', '10000', '--compare-results')),
         (('two_async_warps',), ('--schedules', '10000', '--schedule', 'priority')),
         (('gemm', *SMALL), ('--schedules', '10000', '--compare-results')),
         (('gemm', *SMALL, '--schedule', 'pingpong', '--cluster', '2'), ('--schedules', '10000', '--schedule', 'priority'))]
# Why the simulator ends otherwise than the GPU, where that is known.
REASONS = {
    ('two_async_warps double-arrive', 'end'):
        'A race. "empty" is handed over twice, so its phase 1 begins and ends soon. On the GPU both loaders are too late for it on slot 1 (the '
        'verdict names that) and wait for ever. Here they mostly come in time, go round the ring and arrive on "full" slot 0 again while its first '
        'copy is under way: a spent count, error 719. See "Races under many schedules".',
    ('waits bad-address', 'end'):
        'On the H200 with GPU core dumps armed, which an error without probes needs to be told there: driver 580 then stands still over a bad address.',
}


def first_answer(report):
    finding = ((report or {}).get('findings') or [{}])[0]
    barrier = finding.get('barrier')
    return {'cause': finding.get('cause') or '', 'confidence': finding.get('confidence') or '', 'role': finding.get('role') or '',
            'barrier': (barrier.get('name') if isinstance(barrier, dict) else barrier) or ''}


class Simulated:
    def __init__(self, options):
        self.bin, self.runs, self.seeds = os.path.join(os.path.abspath(options.build), 'bin'), options.runs, options.seeds
        self.scratch = tempfile.TemporaryDirectory()

    def tool(self, name):
        return os.path.join(self.bin, name)

    def run(self, program, *options, environment=None):
        """One run under wsdbg: how it ended, its exit status, what wsdbg said, the errors of faults, stdout."""
        database = os.path.join(self.scratch.name, 'run.db')
        if os.path.exists(database):
            os.unlink(database)
        status, out, err, seconds = measure.run([self.tool('wsdbg'), 'run', '--device', 'sim', '--stall', '1', '--json', '-o', database, '--',
                                                 self.tool(program), *options], 120, environment)
        at = out.find('{\n')
        report = json.loads(out[at:]) if at >= 0 else {}
        return {'end': ENDS.get(str(status), 'error'), 'status': status, **first_answer(report), 'stdout': out[:max(at, 0)], 'stderr': err,
                'errors': [fault['error'] for fault in report.get('faults', [])], 'seconds': seconds}

    def series(self, program, *options):
        table = collections.defaultdict(collections.Counter)
        for _ in range(self.runs):
            run = self.run(program, *options)
            for key in ('end', 'status', 'cause', 'confidence', 'role', 'barrier'):
                table[key][str(run[key])] += 1
            for error in run['errors']:
                table['errors'][error] += 1
        return {key: dict(counts) for key, counts in table.items()}

    def defects(self):
        gpu = answers_of_gpu()
        rows = []
        for program, variants in PROGRAMS.items():
            for name, cause, role, barrier, kind in measure.rows(self.tool(program)):
                for variant in variants:
                    options = ['--bug', name, '--timeout-ms', TIMEOUT_MS, *(['--variant', variant] if variant else [])]
                    case = f'{program} {name}'
                    row = {'case': case, 'variant': variant or 'plain', 'kind': kind.lower(), 'expected': [cause, role, barrier],
                           'sim': self.series(program, *options), 'h200': gpu.get((case, variant or 'plain'))}
                    if kind.lower() == 'slow' and 'hang' in row['sim']['end'] and '124' not in row['sim']['status']:
                        row['sim']['end'] = {'goes on': row['sim']['end']['hang']}
                    row['agrees'] = agreement(row)
                    rows.append(row)
                    print(case, variant, row['sim'], row['agrees'], file=sys.stderr, flush=True)
        return rows

    def healthy(self):
        rows = []
        for schedule in ('cooperative', 'pingpong'):
            for cluster in ('1', '2'):
                for m, n, k in (('512', '512', '512'), ('264', '520', '200')):
                    for variant in ('probes', 'plain'):
                        run = self.run('gemm', '--m', m, '--n', n, '--k', k, '--schedule', schedule, '--cluster', cluster, '--check',
                                       '--variant', variant)
                        rows.append({'program': f'gemm {m} × {n} × {k}, {schedule}, cluster {cluster}, {variant}', 'status': run['status'],
                                     'cause': run['cause'], 'said': run['stdout'].strip()})
                        print(rows[-1], file=sys.stderr, flush=True)
        for variant in ('probes', 'plain'):
            run = self.run('two_async_warps', '--variant', variant)
            rows.append({'program': f'two_async_warps, {variant}', 'status': run['status'], 'cause': run['cause'], 'said': run['stdout'].strip()})
        return rows

    def schedules(self):
        """Races under many schedules: how often they end how."""
        rows = []
        for program, name in (('two_async_warps', 'double-arrive'), ('two_async_warps', 'shared-full'), ('gemm', 'shared-full-barrier')):
            for variant, schedule in itertools.product(PROGRAMS[program], SCHEDULES):
                ends = collections.Counter()
                for seed in range(self.seeds):
                    run = self.run(program, '--bug', name, '--timeout-ms', RACE_TIMEOUT_MS, '--variant', variant,
                                   environment={'WSDBG_SIM_SCHEDULE': schedule, 'WSDBG_SIM_SEED': str(seed)})
                    ends[f"{run['end']}, {run['cause'] or 'no cause'}"] += 1
                rows.append({'case': f'{program} {name}', 'variant': variant, 'schedule': schedule, 'seeds': self.seeds,
                             'ends': dict(ends.most_common())})
                print(rows[-1], file=sys.stderr, flush=True)
        return rows


    def explore_one(self, program, options):
        """wsdbg explore --json: its answer, and how long it took in all."""
        database = os.path.join(self.scratch.name, 'explore.db')
        if os.path.exists(database):
            os.unlink(database)
        words = [self.tool('wsdbg'), 'explore', '--json', '--jobs', '2', *options, '-o', database, '--', self.tool(program[0]), *program[1:],
                 '--variant', 'plain']
        began = time.monotonic()
        out = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False).stdout
        answer = json.loads(out[out.index('{\n'):])
        row = {'program': ' '.join(program), 'options': ' '.join(options), 'seconds': time.monotonic() - began, 'status': answer['status'],
               'cause': answer['cause'], **{key: answer['launches'][0][key] for key in ('schedules', 'decisions', 'hangs', 'stalls', 'faults',
                                                                                      'unended', 'died', 'reports')}}
        row['search_seconds'] = answer['launches'][0]['seconds']
        row['first'] = min(answer['launches'][0]['findings'], key=lambda finding: finding['place'], default=None)
        print(row, file=sys.stderr, flush=True)
        return row

    def explore(self):
        before = os.getloadavg()[0]
        found = [self.explore_one(*row) for row in RACES]
        fixed = [self.explore_one(*row) for row in FIXED]
        return {'processor': results.machine(), 'load': [before, os.getloadavg()[0]], 'found': found, 'fixed': fixed}


def counts_of_live(row):
    """h200-live keeps what was said as 'CAUSE (confidence), role, barrier'."""
    said = [text.split(', ') for text in row['said']]
    pick = lambda at: [('' if words[at] == '-' else words[at]) for words in said if len(words) > at]
    end = 'hang' if row['hangs'] else 'fault' if row.get('kind') == 'fault' else 'runs'
    return {'end': [end], 'cause': ['' if text.startswith('None') else text.split(' ')[0] for text in pick(0)], 'role': pick(1), 'barrier': pick(2)}


def answers_of_gpu():
    """What the H200 said: (case, variant) → lists of ends, causes, roles, barriers."""
    table = {}
    for row in results.load('h200')['hangs']:
        program, _, name = row['case'].split(' ')
        none = lambda key: [('' if word == 'None' else word) for word in row[key]]
        table[f'{program} {name}', 'probes'] = {'end': sorted({ENDS[status] for status in row['wsdbg_status']}), 'cause': none('causes'),
                                                'role': none('roles'), 'barrier': none('barriers')}
    live = results.load('h200-live')
    for row in live['hangs']:
        if (row['variant'], row['source']) == ('plain', 'live'):
            table[f"gemm {row['case']}", 'plain'] = counts_of_live(row)
    for row in live['waits']:
        table[row['case'], 'plain'] = counts_of_live(row)
    return table


def without_stage(name):
    """An mbarrier without a name has a number here and an address there."""
    return re.sub(r'^mbarrier \w+', 'mbarrier', name.split('[')[0])


def agreement(row):
    """Of end, cause, role and barrier (whatever its stage): whether all runs say what the GPU said; None where that is not known."""
    gpu = row['h200']
    if not gpu:
        return {}
    return {key: {without_stage(word) for word in row['sim'][key]} <= {without_stage(word) for word in gpu[key] or ['']} for key in gpu}


# ---- the page ----


def said(counts):
    return ' / '.join(word or '-' for word in dict.fromkeys(counts)) or '-'


def page_of_defects(rows, runs):
    lines = ['## Every deliberate defect', '',
             f'`tests/sim/table.py defects`: every row of `gemm`, `two_async_warps` and `waits --list-bugs`, {runs} runs of '
             '`wsdbg run --device sim --stall 1` each, round robin. H200: `h200` (probes) and `h200-live` (plain: no probes) of `tests/measured`. Hang: '
             'wsdbg ended it with status 124, or it ended itself after six seconds. A barrier agrees whatever its stage, one without a name whatever '
             'its number or address. `?`: not measured there.', '',
             '| case | image | end: sim, H200 | cause: sim | cause: H200 | role: sim, H200 | barrier: sim, H200 | agrees |', '|---|---|---|---|---|---|---|---|']
    for row in rows:
        sim, gpu = row['sim'], row['h200'] or {key: ['?'] for key in ('end', 'cause', 'role', 'barrier')}
        differs = [key for key, agrees in row['agrees'].items() if not agrees]
        is_silent = not any(sim['cause']) and any(gpu['cause']) and 'end' not in differs
        verdict = '?' if not row['h200'] else 'yes' if not differs else 'end; no verdict' if is_silent else 'not ' + ', '.join(differs)
        lines.append(f"| `{row['case']}` | {row['variant']} | {said(sim['end'])}, {said(gpu['end'])} | {said(sim['cause'])} | {said(gpu['cause'])} | "
                     f"{said(sim['role'])}, {said(gpu['role'])} | {said(sim['barrier'])}, {said(gpu['barrier'])} | {verdict} |")
    lines.append('')
    for variant in ('probes', 'plain'):
        known = [row for row in rows if row['variant'] == variant and row['h200']]
        agreeing = {key: sum(row['agrees'][key] for row in known) for key in ('end', 'cause', 'role', 'barrier')}
        lines.append(f"{variant}: of {len(known)} cases, " + ', '.join(f'{key} {count}' for key, count in agreeing.items()) + ' agree.\n')
    reasons = collections.defaultdict(list)
    for row in rows:
        for key, agrees in row['agrees'].items():
            if not agrees and (row['case'], key) in REASONS:
                reasons[REASONS[row['case'], key]].append(f"`{row['case']}` ({row['variant']}, {key})")
    lines += [f"{', '.join(cases)}: {reason}\n" for reason, cases in reasons.items()]
    return '\n'.join(lines)


def page_of_healthy(rows):
    wrong = [row for row in rows if row['status'] != 0 or row['cause']]
    lines = ['## Correct kernels', '', '`tests/sim/table.py healthy`: the GEMM with `--check` (sampled rows against a float64 reference), both schedules, '
             'clusters of 1 and 2, a size that tiles divide and an odd one; `two_async_warps`.', '',
             f'{len(rows)} runs: {len(wrong)} with a verdict, a wrong result or an error.', '']
    lines += [f"- {row['program']}: status {row['status']}, {row['cause'] or 'no verdict'}" for row in wrong]
    return '\n'.join(lines)


def page_of_schedules(rows):
    lines = ['## Races under many schedules', '',
             '`tests/sim/table.py schedules`: `WSDBG_SIM_SCHEDULE` and `WSDBG_SIM_SEED` from 0 on. The H200 ends '
             '`two_async_warps double-arrive` and `gemm shared-full-barrier` in a hang and `two_async_warps shared-full` in a fault, 20 of 20 times each.', '',
             '| case | image | schedule | seeds | ends |', '|---|---|---|---|---|']
    lines += [f"| `{row['case']}` | {row['variant']} | {row['schedule']} | {row['seeds']} | " + '; '.join(f'{count} × {end}' for end, count in row['ends'].items()) + ' |'
              for row in rows]
    return '\n'.join(lines)


def schedule_of(finding):
    if not finding:
        return '-'
    reduced = finding['reduced']
    name = 'the usual one' if finding['seed'] is None else f"{finding['seed']}"
    switches = f"{reduced['switch_count']} of {reduced['turns']}" if reduced else '?'
    return f"{name}, {finding['decisions']} decisions; {switches}"


def page_of_explore(rows):
    lines = ['## Exploring', '', f"`tests/sim/table.py explore`: `wsdbg explore --jobs 2` on images without probes. {rows['processor']}; load average "
             f"{rows['load'][0]:.1f} before and {rows['load'][1]:.1f} after. Found: seconds from the beginning of the search. Switches: what the schedule "
             'was reduced to, of the turns that warps had in it; 0: it ends so when every warp runs until it waits. Seconds: of the whole search, with '
             'the reduction.', '',
             '| program | options | hangs, faults of schedules | found at | schedule; switches | verdict of the launch | seconds |',
             '|---|---|---|---|---|---|---|']
    for row in rows['found']:
        at = f"{row['first']['seconds']:.2f} s" if row['first'] else '-'
        lines.append(f"| `{row['program']}` | `{row['options']}` | {row['hangs']}, {row['faults']} of {row['schedules']} | {at} | "
                     f"{schedule_of(row['first'])} | {row['cause'] or '-'} | {row['search_seconds']:.1f} |")
    lines += ['', 'Correct kernels. Findings: hangs, possible hangs, faults, schedules without an end, and reports (an mbarrier that was not initialised, '
              'a phase that nobody waited for, an accumulator that is used too early; with `--compare-results` another result).', '',
              '| program | options | schedules | findings | decisions | seconds |', '|---|---|---|---|---|---|']
    for row in rows['fixed']:
        findings = sum(row[key] for key in ('hangs', 'stalls', 'faults', 'unended', 'died')) + len(row['reports'])
        lines.append(f"| `{row['program']}` | `{row['options']}` | {row['schedules']} | {findings} | {row['decisions']} | {row['search_seconds']:.1f} |")
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--seeds', type=int, default=40)
    parser.add_argument('parts', nargs='*')
    options = parser.parse_args()
    simulated = Simulated(options)
    pages = {'defects': lambda rows: page_of_defects(rows, options.runs), 'healthy': page_of_healthy, 'schedules': page_of_schedules,
             'explore': page_of_explore}
    for part in options.parts or pages:
        rows = getattr(simulated, part)()
        results.save(part, rows, pages[part](rows), 'sim')


if __name__ == '__main__':
    main()
