#!/usr/bin/env python3
"""tables.py - turns measure.py's JSON into docs/results/h200.md.

    tests/h200/tables.py h200.json > docs/results/h200.md       and keeps h200.json in tests/measured
"""
import json, os, statistics, sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import measure
import results as kept

SETUPS = (('alone', 'off'), ('alone', 'probes'), ('slots', 'probes'), ('slots and history', 'probes'))


def percent(ratio):
    return f'{(1 - ratio) * 100:+.2f} %'


def hangs(table, out):
    out('## Deliberate hangs\n')
    out('`tests/h200/measure.py hangs`: each case runs plain (`--variant plain --timeout-ms 700`, no probes, no wsdbg) and under')
    out('`wsdbg run --stall 0.5 --json` (`--variant probes`), in turns. "Right" counts runs whose first finding has the expected cause,')
    out('role and barrier (the table `--list-bugs` prints; - where it names none). Verdict: milliseconds from the stall threshold to the report.\n')
    out('| case | kind | hangs plain | hangs under wsdbg | cause | role | barrier | proven but wrong | verdict ms: median (max) |')
    out('|---|---|---|---|---|---|---|---|---|')
    for r in table:
        n = r['runs']
        v = r.get('verdict_ms')
        verdict = f"{v['median']:.0f} ({v['max']:.0f})" if v else '-'
        judged = r['kind'].lower() in ('hang', 'race', 'fault')
        keys = ('cause_right', 'role_right', 'barrier_right')
        # Where the table of bugs names no role or barrier there is nothing to be right about.
        right = [f"{r[key]}/{n}" if judged and wanted else '-' for key, wanted in zip(keys, r['expected'])]
        out(f"| `{r['case']}` | {r['kind'].lower()} | {r['plain_hangs']}/{n} | {r['wsdbg_hangs']}/{n} | "
            f"{r['expected'][0] or '-'} {right[0]} | {right[1]} | {right[2]} | {r['wrong_proven']} | {verdict} |")
    out('')
    for r in table:
        if r['kind'].lower() == 'fault':
            said = '; '.join(f'{count} × {causes}' for causes, count in r.get('findings', {}).items())
            out(f"`{r['case']}`, all findings: {said or 'none'}.\n")
    out('Exit statuses of the cases that do not hang (plain; under wsdbg): ' + '; '.join(
        f"`{r['case']}` {r['plain_status']}; {r['wsdbg_status']}" for r in table if r['kind'].lower() not in ('hang', 'race')) + '.\n')


def healthy(result, out):
    out('## Healthy GEMM\n')
    out('`tests/h200/measure.py healthy`: both schedules, cluster 1 and 2, four sizes (one odd), `wsdbg run --stall 0.5`, the checksum of C')
    out('compared with a run of the plain image without wsdbg.\n')
    out(f"{result['runs']} runs: {result['false_alarms']} false alarms, {result['different_results']} different results, "
        f"{result['other_status']} with another exit status.\n")


def ratio_of(entry):
    for line in entry['lines']:
        if 'speed_of' in line:
            return line
    return None


def probes(result, out):
    out(f"## What probes cost\n\n`tests/h200/measure.py probes`, {result['machine']['gpu']}, {result['machine']['date']}: `gemm --bench --variant X --against plain`:")
    out('time lost against the plain image in the same process, samples of five launches, the order alternates; median over pairs, quartiles in')
    out('brackets. Normal random inputs. Small products have more samples, because their pairs differ by more than probes cost.\n')
    out('| m × n × k | samples | compiled out | compiled in, no wsdbg | slots on | slots and history |')
    out('|---|---|---|---|---|---|')
    table = result['table']
    for size in dict.fromkeys(tuple(e['mnk']) for e in table):
        cells = []
        for setup, variant in SETUPS:
            found = next((e for e in table if (tuple(e['mnk']), e['setup'], e['variant']) == (size, setup, variant)), None)
            line = ratio_of(found) if found else None
            cells.append(f"{percent(line['median'])} ({percent(line['quartiles'][1])} to {percent(line['quartiles'][0])})" if line else '?')
            samples = next((l['samples'] for l in (found or {}).get('lines', []) if 'samples' in l), '?')
        out(f"| {' × '.join(size)} | {samples} | " + ' | '.join(cells) + ' |')
    out('\nBars: compiled in 0.5 % at 2048³ and 4096³, 0.3 % at 8192³; recording, as by default with history, 2 % at 2048³, 1 % at 4096³, 3 % at 8192³.\n')


def ring_cost(entry):
    """How many times as long the probed GEMM takes as the plain one; quartiles in brackets."""
    line = ratio_of(entry) if entry else None
    if not line:
        return '?' if not entry or entry['status'] != 'limit' else 'not done in 45 s'
    return f"{1 / line['median']:.3f} ({1 / line['quartiles'][1]:.3f}–{1 / line['quartiles'][0]:.3f})"


def ring(result, out):
    machine, gives = result['machine'], result['gives']
    out('## A ring that the GPU maps\n')
    out(f"`tests/h200/measure.py ring`, {machine['gpu']}, {machine['date']}: `wsdbg run --ring device` (the default) beside `--ring mapped`.")
    out('Time of the GEMM with probes as a multiple of the plain image\'s in the same process, measured as above; with a mapped ring 20 samples.\n')
    out('| m × n × k | device: slots | device: slots and history | mapped: slots | mapped: slots and history |')
    out('|---|---|---|---|---|')
    for mnk in dict.fromkeys(tuple(e['mnk']) for e in result['costs']):
        cells = [ring_cost(next((e for e in result['costs'] if (tuple(e['mnk']), e['ring'], e['history']) == (mnk, place, history)), None))
                 for place in ('device', 'mapped') for history in ('0', '128')]
        out(f"| {' × '.join(mnk)} | " + ' | '.join(cells) + ' |')
    unlike = [e for e in result['costs'] if e['ring_used'] != e['ring']]
    if unlike:
        out(f"\nThe ring was not where it was asked for in {len(unlike)} of {len(result['costs'])} runs.")
    out('\nWhat it gives, each once with each ring:\n')
    out('| | device | mapped |')
    out('|---|---|---|')
    said = lambda rows: [f"`{r['verdict']}`" if r['verdict'] else 'no verdict' for r in rows]
    held = lambda r: f"{r['warps_with_events'] or 0} warps with {r['events'] or 0} events; the last of {r['last_is_wait'] or 0} is a wait"
    killed = lambda keeps: [held(r) for r in gives['killed'] if r['keeps_history'] == keeps]
    line = lambda what, cells: out(f'| {what} | ' + ' | '.join(cells) + ' |')
    line('the GEMM hangs, and SIGSTOP holds the program before the stall time of 5 s is over: within 9 s of that', said(gives['stopped']))
    line('it hangs, and SIGKILL ends the program: in the session', killed(False))
    line('the same with `--keep-history`', killed(True))
    line('a kernel hangs, and behind it 128 streams each wait with a copy (`copies_behind`), `--evidence ring`: within 15 s', said(gives['copies_behind']))
    out('')


def speed_cell(speed):
    return f'{speed[1]:.3f} ({speed[0]:.3f}–{speed[2]:.3f})'


def plan_text(plan):
    rows = 64 if plan['schedule'] in ('pingpong', 'splitk-low') else 128
    transposed = ' of Cᵀ' if plan.get('transposed') else ''
    return f"{plan['schedule']} {rows} × {plan['columns']}{transposed}, cluster {plan['cluster']}, {plan['ctas']} CTAs"


def shapes(result, out):
    machine = result['machine']
    out('## Every shape against cuBLAS\n')
    out(f"`tests/h200/measure.py shapes`, {machine['gpu']}, {machine['date']}: `gemm --shapes FILE`, the plan that `--schedule auto` chooses.")
    out('Launched: five launches a sample, one by one, as a program makes them and `gemm --bench` times them; where a launch takes less than about')
    out('10 µs, it is the host that is timed. On the GPU: a sample is one CUDA graph of 5 to 40 launches. 30 samples in turns, median of')
    out('the ratios of pairs, quartiles in brackets. cuBLAS has a workspace of 32 MiB. In both, a launch of the GEMM may begin before the')
    out('previous one ends (programmatic dependent launch), but it touches the matrices only after that. cuBLAS is called as it is.\n')
    if result['constants'] != measure.constants_of_plans():
        out('`plan.c` or `estimate.c` has changed since: it may choose other plans now.\n')
    out('| m × n × k | plan | launched: speed / cuBLAS | on the GPU: speed / cuBLAS | GEMM µs | cuBLAS µs |')
    out('|---|---|---|---|---|---|')
    for row in result['sets']['listed']:
        plan = row['plans'][0]
        out(f"| {row['m']} × {row['n']} × {row['k']} | {plan_text(plan)} | {speed_cell(plan['speed'])} | {speed_cell(plan['gpu_speed'])} | "
            f"{plan['gpu_us'][1]:.1f} | {row['cublas']['gpu_us'][1]:.1f} |")
    out('\nSizes log-uniform from 128 to 8192; none of these products was used to choose the constants of `estimate.c`.\n')
    out('| 60 products | launched: median (worst) | at least 1 | at least 0.9 | on the GPU: median (worst) | at least 1 | at least 0.9 |')
    out('|---|---|---|---|---|---|---|')
    for name, rows in result['sets'].items():
        if name == 'listed':
            continue
        cells = []
        for key in ('speed', 'gpu_speed'):
            values = [row['plans'][0][key][1] for row in rows]
            cells += [f'{statistics.median(values):.3f} ({min(values):.3f})', *(str(sum(v >= bar for v in values)) for bar in (1, 0.9))]
        out(f"| {name} | " + ' | '.join(cells) + ' |')
    checked = result['checked']
    out(f"\nResults: {len(checked)} random products, each computed twice. {sum(row['beyond'] == 0 for row in checked)} agree with cuBLAS within the "
        f"tolerance of `--check`, {sum(row['same_again'] for row in checked)} left the same bits both times.\n")


def observer(figures, out):
    out('## Observer on an empty kernel\n')
    out('`tests/h200/measure.py observer`: `null_launch`, medians of 11 × 1000 launches a process, processes in turns.\n')
    out('| | launch ns: median (min–max) | launch + sync ns | launch + sync against alone |')
    out('|---|---|---|---|')
    base = figures['alone']['launch_and_sync_ns']['median']
    for name in ('alone', 'driver', 'cupti'):
        f = figures.get(name)
        if not isinstance(f, dict) or not f:
            out(f'| {name} | ? | ? | ? |')
            continue
        l, s = f['launch_ns'], f['launch_and_sync_ns']
        out(f"| {name} | {l['median']:.0f} ({l['min']:.0f}–{l['max']:.0f}) | {s['median']:.0f} ({s['min']:.0f}–{s['max']:.0f}) | "
            f"{(s['median'] / base - 1) * 100:+.1f} % |")
    out('')


WAYS = {'alone': 'alone', 'armed': '`wsdbg arm`, nobody watches', 'ring': '`wsdbg run --evidence ring`', 'auto': '`wsdbg run`'}


def storm(result, out):
    rows = result['rows']
    out('## A storm of launches\n')
    out(f"`tests/h200/measure.py storm`, {result['machine']['gpu']}, {result['machine']['date']}: `null_launch storm 300000`, {len(rows['alone'])} runs of each in")
    out('turns. Seconds of the launches and one synchronisation, as the program')
    out('sees them; the first launch, which waits until wsdbg is attached, is among them. Then the whole process, and the median of the ratios')
    out('of pairs, quartiles in brackets.\n')
    out('| | launches s: median (min–max) | process s | launches against alone |')
    out('|---|---|---|---|')
    pairs = {name: [(row, base) for row, base in zip(rows[name], rows['alone']) if row['storm_s'] and base['storm_s']] for name in WAYS if rows.get(name)}

    def ratio(name, figure):
        values = sorted(figure(row) / figure(base) for row, base in pairs[name])
        return f'{statistics.median(values):.3f} ({values[len(values) // 4]:.3f}–{values[-1 - len(values) // 4]:.3f})'

    for name, good in pairs.items():
        launches, process = [row['storm_s'] for row, _ in good], [row['process_s'] for row, _ in good]
        out(f'| {WAYS[name]} | {statistics.median(launches):.3f} ({min(launches):.3f}–{max(launches):.3f}) | {statistics.median(process):.2f} | '
            f"{ratio(name, lambda row: row['storm_s'])} |")
    out('')
    if any('late_launch_ns' not in row for good in pairs.values() for row, _ in good):
        return
    out('What wsdbg costs once, and what each launch costs. A launch: the mean of the second half of the storm, when wsdbg has left. Once: what')
    out('the storm took beyond the sum of such launches. This includes the first launch.\n')
    out('| | a launch ns: median (min–max) | against alone | once ms | first launch ms |')
    out('|---|---|---|---|---|')
    for name, good in pairs.items():
        late, first = [row['late_launch_ns'] for row, _ in good], [row['first_s'] * 1e3 for row, _ in good]
        once = [row['storm_s'] * 1e3 - row['launches'] * row['late_launch_ns'] / 1e6 for row, _ in good]
        out(f"| {WAYS[name]} | {statistics.median(late):,.0f} ({min(late):,.0f}–{max(late):,.0f}) | {ratio(name, lambda row: row['late_launch_ns'])} | "
            f'{statistics.median(once):.0f} | {statistics.median(first):.1f} |')
    out('')


def past(result, out):
    out('## What the observer adds to a launch\n')
    out(f"`tests/h200/measure.py past`, {result['machine']['gpu']}, {result['machine']['date']}: `null_launch past 100`. One process launches through the observer and")
    out('past it, in turns, 100 blocks of 500 each; then launch and synchronise. Medians of the differences of neighbouring blocks; the table has')
    out('the median of 5 such processes, smallest and largest in brackets.\n')
    out('| | a launch past it, ns | through it, ns more | share | launch + sync, ns more |')
    out('|---|---|---|---|---|')
    for name, text in {**WAYS, 'auto': '`wsdbg run`, after it has left'}.items():
        good = [row for row in result['rows'][name] if row['status'] == 0]
        launch, more, pair = ([row[key] for row in good] for key in ('launch_ns', 'more_ns', 'sync_more_ns'))
        share = statistics.median(row['more_ns'] / row['launch_ns'] for row in good)
        out(f'| {text} | {statistics.median(launch):,.0f} ({min(launch):,}–{max(launch):,}) | {statistics.median(more):+.0f} ({min(more):+}–{max(more):+}) | '
            f'{share * 100:+.1f} % | {statistics.median(pair):+.0f} ({min(pair):+}–{max(pair):+}) |')
    out('')


def starts(result, out):
    rows = result['rows']
    first = [row['first_s'] * 1e3 for row in rows if row['first_s'] is not None]
    out('## Attached as soon as there is a context\n')
    out(f"`tests/h200/measure.py starts`, {result['machine']['gpu']}, {result['machine']['date']}: {len(rows)} times `wsdbg run -- null_launch storm 500`. "
        f"{sum(row['status'] == 0 for row in rows)} ended with status 0, wsdbg was attached to {sum(row['attached'] for row in rows)}. "
        f'The first launch took {statistics.median(first):.0f} ms ({min(first):.0f}–{max(first):.0f}).\n')


def looking(figures, out):
    out('## Looking at a running GEMM\n')
    out('`tests/h200/measure.py looking`: 8192³ over and over on the whole chip (132 SMs × 12 warps), terminals of 200 × 60 that show the')
    out('warps; 4 s a figure, processor time as the kernel counts it. The last two: speed of the probed kernel against the plain one under')
    out('`wsdbg run`, in turns.\n')
    out('| what | median (smallest–largest) | asked for |')
    out('|---|---|---|')
    rows = [('run', '`wsdbg run`: % of a core', '{:.1f}', ''), ('tui', '`wsdbg run --tui`: % of a core', '{:.1f}', '≤ 5'),
            ('tui_updates', '`wsdbg run --tui`: updates a second', '{:.1f}', '≥ 10'),
            ('tops', '`wsdbg top`, the busiest of 4: % of a core', '{:.1f}', '≤ 5'),
            ('tops_updates', '`wsdbg top`, the slowest of 4: updates a second', '{:.1f}', '≥ 10'),
            ('alone', 'speed, nobody looks', '{:.4f}', ''), ('beside_tops', 'speed beside 4 tops', '{:.4f}', 'the same')]
    for key, what, form, goal in rows:
        f = figures[key]
        out(f"| {what} | {form.format(f['median'])} ({form.format(f['min'])}–{form.format(f['max'])}) | {goal} |")
    out('')


def images(result, out):
    out('## Registers, spills, machine code\n')
    out('`tests/h200/measure.py images`: what ptxas reports for every image (plain, off = probes compiled out, probes).\n')
    out('| images | registers | spills, stack bytes |')
    out('|---|---|---|')
    groups = {}
    for i in result['images']:
        key = (tuple(i['registers']), i['spill_bytes'], i['stack_bytes'])
        groups.setdefault(key, []).append(i['image'])
    for (registers, spills, stack), names in groups.items():
        out(f"| {len(names)}: {', '.join(names)} | {', '.join(map(str, registers))} | {spills}, {stack} |")
    same = 'passed' if result['same_code_test_status'] == 0 else f"failed ({result['same_code_test_status']})"
    out(f"\n`test_demo_images` (code of plain and off identical byte for byte; probes: at most two registers more, no spill): {same}.\n")


def transcripts(texts, out):
    out('## Sessions\n')
    out('At least one a seed.\n')
    for t in texts:
        out(f"### {t['title']}\n\n```\n$ {t['command']}\n{t['text'].rstrip()}\n$ echo $?\n{t['status']}\n```\n")


def main():
    results = json.load(open(sys.argv[1]))
    out = print
    out('# Measured on an H200\n')
    m = results.get('machine', {})
    out(f"{m.get('gpu', '?')}, {m.get('date', '?')}. Made by `tests/h200/measure.py` and `tests/h200/tables.py`; nothing here is typed in by hand.\n")
    for name, function in (('hangs', hangs), ('healthy', healthy), ('probes', probes), ('ring', ring), ('shapes', shapes), ('observer', observer), ('storm', storm), ('past', past), ('starts', starts), ('looking', looking), ('images', images), ('transcripts', transcripts)):
        if name in results:
            function(results[name], out)
    kept.keep('h200', results)


if __name__ == '__main__':
    main()
