#!/usr/bin/env python3
"""source_defects.py - how often wsdbg's first cause was right of defects that examiners made in the source of programs.  A development script.

    tests/mutate/source_defects.py RESULTS.json    writes a section of docs/results/truth.md, and the rows to tests/measured/truth.json.gz
    tests/mutate/source_defects.py                 writes the section again from those rows

A row of RESULTS.json is one program under wsdbg: run, set, name, defect, healthy, right (the causes that the examiner wrote down before), end (stands, error,
ends), hang_called, cause and confidence (null: none was given), wrong_place (the cause fits, but the examiner found the barrier or warp wrong; null: nobody looked at that).
"""
import collections, json, os, sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import results

SECTION = 'Defects made in the source, 30 November: first score, and again on an H200'
NO_CAUSE = ('WAIT_CYCLE', 'UNKNOWN', None)
COLUMNS = ('right', 'right, no hang called', 'no cause', 'WRONG, likely', 'WRONG, possible', 'WRONG, proven', 'missed')
HEAD = """## %s

`tests/mutate/source_defects.py`. Seven examiners made these defects before they saw any rule, and wrote down which causes are right. One changed one place in the source of programs of fast.cu,
DeepGEMM, ThunderKittens, CUTLASS, FlashAttention-3 and libcu++. The second wrote 22 programs, each with about ten defects; the third and the fourth each wrote nine other programs, each with six. The fifth made six defects
in each of eight kernels of fast.cu, ThunderKittens, Colfax Research, DeepGEMM, SageAttention, NVIDIA's samples and CUTLASS. The sixth and the seventh wrote nine and
five other programs, each with six. Most of these programs are not ours to publish: the script makes the
tables from the rows that were noted, not from new runs. right: the first cause is one of those, and a hang was called. no cause: WAIT_CYCLE or UNKNOWN. missed: no hang was called, and the cause was another one or none.

simulator: 8 multiprocessors, commit c59f1c33, before any rule was made with these programs in sight. -G: the same programs without optimisation. two H200s: a later build; some rules had been made with them in
sight. H200, again: commit 2dbfafc2; all programs that were not right on the two H200s, all that ended there, and a random part of the others. two H200s, -G: commit 6db0da1d, each program once and for
at most 9 s; the first to understand this machine code, made with recordings of 24 programs of one of the two groups. All programs of c6 end with a misaligned address there, the correct one, too.
two H200s, -G, again: commit da258544, after the failures of both groups had been looked at. two H200s, a third examiner: commit 7f1a2abe, the first look at these programs; causes that this examiner added after
he had seen what wsdbg says on the simulator do not count here. Since then two of the four wrong causes of the optimised ones are taken back (d3b883e7), and two more hangs are right when their recordings are replayed (82998d31).
H200, a fourth examiner: commit 24c6324e, the first look at these programs, each once. All -G programs of y6 end with a misaligned address there, the correct one, too. H200, a fourth examiner, again: commit bfce8edb, each once, after
the failures had been looked at; the -G row rests mostly on work that was done without these programs. H200, an examiner of foreign programs: commit 920826e6, the first look at these programs, each once;
again: commit ad3a8751, each once, after the failures had been looked at. H200, a sixth examiner: commit a943b03b, the first look at these programs, each once (of one program there was a look before, at which nothing was changed). H200, a seventh
examiner: commit 4faa930a, the first look at these programs, each once."""


def mark(row):
    if row['cause'] in row['right']:
        return 'right' if row['hang_called'] else 'right, no hang called'
    if not row['hang_called']:
        return 'missed'
    return 'no cause' if row['cause'] in NO_CAUSE else f"WRONG, {row['confidence']}"


def line(title, rows):
    hung = [row for row in rows if row['end'] == 'stands' and not row['healthy']]
    faults = [row for row in rows if row['end'] == 'error' and not row['healthy']]
    quiet = [row for row in rows if row['healthy'] or row['end'] == 'ends']
    count = collections.Counter(map(mark, hung))
    cells = [f"{count[name]} ({100 * count[name] // len(hung)} %)" if name == 'right' and hung else str(count[name]) for name in COLUMNS]
    right = sum(row['cause'] in row['right'] for row in faults)
    places = '?' if any(row['wrong_place'] is None for row in hung + faults) else sum(row['wrong_place'] for row in hung + faults)
    return f"| {title} | {len(hung)} | " + ' | '.join(cells) + f" | {len(faults)} | {right} | {places} | {len(quiet)} | {sum(row['hang_called'] and row['confidence'] != 'possible' for row in quiet)} |"


def tables(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[(row['run'], row['set'])].append(row)
    again = {row['name'] for row in rows if row['run'] == 'H200, again'}
    lines = ['', '| | hang | ' + ' | '.join(COLUMNS) + ' | end with an error | cause of it right | right cause, wrong place | healthy or end | alarms |', '|---' * (len(COLUMNS) + 7) + '|']
    lines += [line(f'{run}: {name}', groups[(run, name)]) for run, name in groups]
    lines.append(line('two H200s: those that ran again', [row for row in rows if row['run'] == 'two H200s' and row['name'] in again]))
    lines.append(line('H200, again: all', [row for row in rows if row['run'] == 'H200, again']))
    wrong = [row for row in rows if row['run'] == 'H200, again' and row['end'] == 'stands' and not row['healthy'] and mark(row).startswith('WRONG')]
    lines += ['', '| still wrong on the H200 | defect | right would be | said |', '|---|---|---|---|']
    lines += [f"| {row['name']} | {row['defect'].replace('|', '/')} | {', '.join(row['right'])} | {row['cause']}, {row['confidence']} |" for row in wrong]
    return lines


def main():
    if len(sys.argv) > 1:
        rows = json.load(open(sys.argv[1]))['defects']
    else:
        rows = results.load('truth')[SECTION]
    results.save(SECTION, rows, '\n'.join([HEAD % SECTION, *tables(rows)]), 'truth')


if __name__ == '__main__':
    main()
