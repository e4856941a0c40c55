"""live_tables.py - turns live.py's JSON into docs/results/h200-live.md (live.py --table)."""
import re


def median(spread, unit=''):
    if not spread:
        return '-'
    return f"{spread['median']:.0f}{unit} ({spread['min']:.0f}–{spread['max']:.0f})"


def right(row, key, wanted):
    return f"{row[key]}/{row['runs']}" if wanted else '-'


def case_row(row, columns, out):
    cause, role, barrier = row['expected']
    said = '; '.join('-' if words.startswith('None') else words for words in row['said'])
    causes = f"{cause} {right(row, 'cause_right', cause)}" if cause else '-'
    out(f"| {columns} | {row['hangs']}/{row['runs']} | {causes} | {right(row, 'role_right', role)} | "
        f"{right(row, 'barrier_right', barrier)} | {row['wrong_proven']} | {said} | {median(row['verdict_ms'])} |")


HEAD = '| hang | cause | role | barrier | proven but wrong | said | verdict ms: median (range) |'


def hangs(table, out):
    out('## The hangs of the demo GEMM\n')
    out('`live.py hangs`: `wsdbg run --stall 0.5 --evidence live|core -- gemm --bug NAME --variant bare|plain|probes`. bare: compiled without probes and')
    out('without -lineinfo; plain: without probes; probes: with them, but nothing they write is used here. Verdict: from the moment at which the stall')
    out('is certain (the threshold has passed) to the report. Cause, role, barrier: how many runs named the right one, "-" where the case has none.\n')
    out('| case | image | evidence ' + HEAD)
    out('|' + '---|' * 10)
    for row in table:
        case_row(row, f"`{row['case']}` | {row['variant']} | {row['source']}", out)
    for source in sorted({row['source'] for row in table}):
        rows = [row for row in table if row['source'] == source]
        total = sum(row['runs'] for row in rows)
        out(f"\n{source}: {sum(row['hangs'] for row in rows)}/{total} hang, {sum(row['cause_right'] for row in rows)}/{total} causes right, "
            f"{sum(row['wrong_proven'] for row in rows)} wrong and called proven.")
    out('')


def waits(table, out):
    out('## Other ways to hang, and faults\n')
    out('`live.py waits`: the same for `two_async_warps --variant plain` and for `waits`, a kernel for each way to wait. A fault is no hang: the program')
    out('ends with its own error, and with `--evidence core` the driver leaves a dump of it. The roles of `two_async_warps` are called compute, loader a')
    out('and loader b in its source; without probes wsdbg cannot know that, and says consumer and producer.')
    out('Of `bad-address` comes neither error nor dump while dumps are armed, and wsdbg ends it: [live-attach.md](live-attach.md).\n')
    out('| case | evidence ' + HEAD)
    out('|' + '---|' * 9)
    for row in table:
        case_row(row, f"`{row['case']}`{' (fault)' if row['kind'] == 'fault' else ''} | {row['source']}", out)
    out('')


def milliseconds(look, key):
    return f"{look[key] / 1e6:.1f}" if look.get(key) else '-'


def timing(table, out):
    out('## Time and memory\n')
    out('`live.py timing`: `gemm --bug arrive-missing --variant plain`. Peak memory: the largest of wsdbg\'s processes, MiB, as /proc says.\n')
    out('| what | evidence | right | verdict ms: median (range) | peak MiB |')
    out('|' + '---|' * 5)
    for row in table:
        kib = row['kib']
        memory = f"{kib['median'] / 1024:.0f} ({kib['min'] / 1024:.0f}–{kib['max'] / 1024:.0f})" if kib else '-'
        out(f"| {row['case']} | {row['source']} | {row['right']}/{row['runs']} | {median(row['verdict_ms'])} | {memory} |")
    out('\nWhere a verdict\'s time goes (one run of each): attach, suspend, resume and detach are the driver\'s; read is the driver\'s answers and what wsdbg')
    out('does between them; the rest of the verdict is wsdbg\'s (diagnosis, store, report) and, for two looks, the time until the second; with a dump, the')
    out('driver\'s time for it too, of which no step is timed. The first look does not detach, the second does not attach.\n')
    keys = ['attach_ns', 'suspend_ns', 'read_ns', 'resume_ns', 'detach_ns']
    out('| what | look | ' + ' | '.join(key[:-3] + ' ms' for key in keys) + ' | warps | registers read of | rest of the verdict, ms |')
    out('|' + '---|' * 10)
    for row in table:
        looks = row['looks'] or []
        spent = sum((look.get(key) or 0) for look in looks for key in keys) / 1e6
        for number, look in enumerate(looks, 1):
            rest = f"{row['looks_verdict_ms'] - spent:.0f}" if number == len(looks) and row.get('looks_verdict_ms') else ''
            out(f"| {row['case']}, {row['source']} | {number} | " + ' | '.join(milliseconds(look, key) for key in keys) +
                f" | {look.get('warps')} | {look.get('warps_read')} | {rest} |")
    out('')


def healthy(result, out):
    out('## A healthy GEMM, looked at\n')
    out('`live.py healthy`: 12288³ on one multiprocessor, so that a launch lasts half a second; plain image, a synchronisation after each launch. SIGQUIT is')
    out('sent to wsdbg 100 times, the first after 8 s; one that comes while a look is under way adds none. A look is an attach, two suspensions, a detach.\n')
    out('| | exit status | saw warps / saw none | checksum | launches | ms a launch, first ten: median (range) | all | last ten |')
    out('|' + '---|' * 8)
    for title in ('alone', 'looked at'):
        r = result[title]

        def pace(s):
            return f"{s['median']:.1f} ({s['min']:.1f}–{s['max']:.1f})" if s else '-'
        looks = f"{r['looks']['with warps']} / {r['looks']['between launches']}" if r['looks'] else '-'
        out(f"| {title} | {r['status']} | {looks} | {r['checksum']} | {r['launches']} | {pace(r['first_ms'])} | {pace(r['all_ms'])} | {pace(r['last_ms'])} |")
    out('')


def kills(rows, out):
    out('## wsdbg and its inspector, killed while they look\n')
    out('`live.py kills`: `wsdbg run --evidence live --on-stall detach` on a healthy GEMM (150,000 launches), one look, SIGKILL so long after the inspector')
    out(f"appeared (both: the inspector, then wsdbg). Alone its checksum is {rows[0]['checksum']}.\n")
    out('| killed | after ms | was there | program ended | status of wsdbg | checksum | s until the end |')
    out('|' + '---|' * 7)
    for r in rows[1:]:
        out(f"| {r['killed']} | {r['delay_ms']} | {'yes' if r['was_there'] else 'no'} | {'yes' if r['ended'] else 'no'} | {r['status']} | "
            f"{r['checksum']} | {r['seconds']:.1f} |")
    out('')


def as_printed(row):
    """A program that is left running ends at the script's limit, without a JSON report: what wsdbg printed counts."""
    said = re.search(r'^HANG: (?:(?P<cause>\w+) \((?P<sure>\w+)\)|cause not known \((?P<none>UNKNOWN); that it hangs is (?P<is>\w+)\))', row['stderr'], re.M)
    if row['cause'] or not said:
        return row
    cause = said['cause'] or said['none']
    return {**row, 'cause': cause, 'confidence': said['sure'] or said['is'], 'cause_right': cause == row['expected'][0]}


def shape_row(row, out):
    row = as_printed(row)
    where = ', '.join(f"context {place['context']} of device {place['device']}" for place in row['places']) or '-'
    looks = row['looks'] or []
    costs = '; '.join(' / '.join(milliseconds(look, key) for key in ('attach_ns', 'suspend_ns', 'read_ns', 'resume_ns', 'detach_ns'))
                      for look in looks) or '-'
    verdict = f"{row['cause']} ({row['confidence']})" if row['cause'] else 'no verdict'
    verdict += '' if row['cause_right'] else ' **not as expected**'
    kernel = f"`{row['kernel']}`" if row['kernel'] else '-'
    own = '; '.join([*(row.get('printed') or [])[-2:], *row['complaints']]) or '-'
    delay = '-' if row['verdict_ms'] is None else row['verdict_ms']
    out(f"| {row.get('mode') or row['case']} | {row.get('form', 'hung')} | {row['status']} | {verdict} | {kernel} | {where} | {delay} | "
        f"{row['pictures']} | {costs} | {own} |")


def shapes(results, out):
    out('## Other shapes of programs\n')
    out('`live.py shapes mps user`: `wsdbg run --stall 0.5 --evidence live -- shapes MODE`. Hung: a kernel hangs while other work goes on; status 124')
    out('is wsdbg\'s for a hang. Healthy: checked work in its place, and three looks forced by SIGQUIT; during the captures one is forced too.')
    out('Looks: attach / suspend / read / resume / detach of those that the last picture rests on. The program checks every result; `ok` and the')
    out('number of steps is what it prints when all were right, and what it complained of is in the same column. Limit: the script ended it.')
    out('Where it was not as expected, what wsdbg said stands below.\n')
    out('| mode | form | status | said | kernel | where | verdict ms | pictures asked for | looks ms | the program\'s own last words |')
    out('|' + '---|' * 10)
    skipped, unexpected = [], []
    for row in [row for part in ('shapes', 'mps', 'user') for row in results.get(part) or []]:
        if row.get('skipped'):
            skipped.append(f"{row.get('mode') or row['case']}: {row['skipped']}")
        else:
            shape_row(row, out)
            unexpected += [] if row['cause_right'] or row in (results.get('mps') or []) else [row]
    if skipped:
        out('\nNot run: ' + '; '.join(skipped) + '.')
    for row in unexpected:
        said = [line for line in row['stderr'].splitlines() if line.startswith(('HANG: ', 'wsdbg: '))]
        out(f"\n{row['mode']}, {row['form']}:\n\n```\n" + '\n'.join(said[:2]) + '\n```')
    for row in results.get('mps') or []:
        if not row.get('skipped'):
            out(f"\n{row['case']}:\n\n```\n{row['stderr'].strip()}\n```")
    out('')


def captures(rows, out):
    out('### Calls beside a capture\n')
    out('`live.py captures`: while another thread captures a stream, one in capture mode relaxed makes one call; a kernel hangs in another stream')
    out('meanwhile. 0: good, 600: not ready, 900: not permitted while capturing, 901: the capture was spoilt.\n')
    out('| mode of the capture | call | answer | answer to the end of the capture |')
    out('|' + '---|' * 4)
    for row in rows:
        out(f"| {['global', 'thread-local', 'relaxed'][row['capture_mode']]} | {row['call']} | {row['answer']} | {row['capture_end']} |")
    out('')


def markers(result, out):
    out('## The cost of knowing what is unfinished\n')
    out('`measure.py markers`: a program that does nothing but launch kernels of 5 µs; alone, under wsdbg without markers (`--evidence ring`) and with')
    out(f"them (at most four events a second), in turns{'; the machine: ' + result['machine'] if result.get('machine') else ''}.\n")
    out('| streams | alone, ns a kernel: median (range) | observed, no markers | with markers |')
    out('|' + '---|' * 4)
    for streams in ('1 streams', '4 streams'):
        cells = [f"{s['median']:.0f} ({s['min']:.0f}–{s['max']:.0f}), n = {s['n']}" for s in (result[streams][k] for k in ('alone', 'without', 'with'))]
        out(f"| {streams.split()[0]} | " + ' | '.join(cells) + ' |')
    out('\nThe driver\'s call that puts a marker behind a context\'s work (`cuCtxRecordEvent`), 40 times in each situation:\n')
    out('| situation | good answers | median µs | longest µs |')
    out('|' + '---|' * 4)
    for row in result['cuCtxRecordEvent']['situations']:
        out(f"| {row['situation']} | {row['recorded']}/{row['of']} | {row['median_us']} | {row['max_us']} |")
    out('')


def transcripts(title, text, rows, out):
    out(f'## {title}\n')
    out(text + '\n')
    for row in rows:
        out(f"### `{row['program']}`\n")
        out(f"Exit status {row['status']}, cause {row['cause'] or '-'}.\n")
        if row.get('stdout', '').strip():
            out('```\n' + row['stdout'].strip() + '\n```')
        out('```\n' + row['stderr'].strip() + '\n```\n')


def write(results, out):
    out('# Kernels without probes, on an H200\n')
    out(f"{results['device']}, {results['date']}. Made by `tests/h200/live.py` (figures in `tests/measured/h200-live.json.gz`); nothing here is typed in by hand.\n")
    if 'hangs' in results:
        hangs(results['hangs'], out)
    if 'waits' in results:
        waits(results['waits'], out)
    if 'timing' in results:
        timing(results['timing'], out)
    if 'kills' in results:
        kills(results['kills'], out)
    if 'healthy' in results:
        healthy(results['healthy'], out)
    if 'slow' in results:
        transcripts('Slow, not hung', 'Half a minute of honest work in one launch, `--stall 2`.', results['slow'], out)
    if any(part in results for part in ('shapes', 'mps', 'user')):
        shapes(results, out)
    if results.get('captures'):
        captures(results['captures'], out)
    if 'markers' in results:
        markers(results['markers'], out)
    if 'python' in results:
        transcripts('Python, Triton, PyTorch', 'An atomic spin loop in a Triton kernel; `behind`: a cuBLAS product behind it in the same stream.',
                    results['python'], out)
    if 'public' in results:
        transcripts('A public warp-specialized kernel', 'CUTLASS example 48 with a defect put in by hand; its code is not kept here.',
                    results['public'], out)
