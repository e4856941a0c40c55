"""truth.py - the tables of score.py: how many marks of each kind the mutants got, and the verdicts that were not right; writes a section of docs/results/truth.md.

Reads rows as score.py writes them to --out.
"""
import collections, json, os, sys

STANDS = ('stands', 'limit')  # ends of a mutant that hangs
MARKS = ('right', 'possible', 'cycle', 'other', 'missed', 'WRONG', 'PROVEN')


def table(rows, key, evidence):
    groups = collections.defaultdict(list)
    for row in rows:
        if evidence in row.get('answers', {}):
            groups[key(row)].append(row)
    lines = ['| | mutants | hang | ' + ' | '.join(MARKS) + ' | best cause | barrier right | role right | end well | end with an error | cause of it right | wrong | alarms |', '|---' * (len(MARKS) + 10) + '|']
    for name in [*sorted(groups), 'all']:
        of = [row for group in groups.values() for row in group] if name == 'all' else groups[name]
        hung = [row for row in of if row['alone'] in STANDS]
        answers = [row['answers'][evidence] for row in hung]
        count = collections.Counter(answer['mark'] for answer in answers)
        of_right = lambda field: f"{sum(answer[field] is True for answer in answers)} of {sum(answer[field] is not None for answer in answers)}"
        other = lambda word: sum(row['answers'][evidence]['mark'] == word for row in of)
        lines.append(f"| {name} | {len(of)} | {len(hung)} | " + ' | '.join(f"{count[word]} ({100 * count[word] // len(hung)} %)" if word == 'right' and hung else str(count[word]) for word in MARKS) +
                     f" | {sum(row['answers'][evidence]['cause'] == row['causes'].split(',')[0] and row['answers'][evidence]['mark'] == 'right' for row in hung)}"
                     f" | {of_right('barrier')} | {of_right('role')} | {sum(row['alone'] == 0 for row in of)} | {sum(row['alone'] not in (0, *STANDS) for row in of)}"
                     f" | {other('fault right')} | {other('fault wrong')} | {other('ALARM')} |")
    return lines


def classes(rows, evidence):
    """Verdicts that are not right, grouped by the cause given and the right causes."""
    groups = collections.defaultdict(list)
    for row in rows:
        answer = row.get('answers', {}).get(evidence)
        if answer and answer['mark'] not in ('right', 'runs', 'fault right'):
            groups[(answer['mark'], row['operator'].split(':')[0], row['causes'], answer['cause'] or 'nothing')].append(row)
    lines = ['| mark | operator | right would be | said | mutants | such as |', '|---|---|---|---|---|---|']
    order = {word: i for i, word in enumerate(('PROVEN', 'WRONG', 'ALARM', 'fault wrong', 'missed', 'other', 'cycle', 'possible'))}
    for (word, operator, causes, said), of in sorted(groups.items(), key=lambda item: (order[item[0][0]], -len(item[1]))):
        lines.append(f"| {word} | {operator} | {causes.replace(',', ', ')} | {said} | {len(of)} | {of[0]['program']} {of[0]['operator']} {of[0]['pick']} |")
    return lines


def tables(rows):
    evidences = list(dict.fromkeys(name for row in rows for name in row.get('answers', {})))
    lines = []  # for each kind of evidence: a title, totals by origin and by operator, verdicts that are not right
    for evidence in evidences:
        lines += ['', f'### Evidence: {evidence}', '', *table(rows, lambda row: row['origin'], evidence), '',
                  *table(rows, lambda row: f"{row['origin']}: {row['operator'].split(':')[0]}", evidence), '', *classes(rows, evidence)]
    unmade = [row for row in rows if not row.get('answers')]
    return lines + (['', f'{len(unmade)} mutants were not run: ' + '; '.join(sorted({row['alone'] + ' ' + row['said'][:80] for row in unmade}))] if unmade else [])


KEPT = ('origin', 'program', 'operator', 'place', 'line', 'causes', 'barrier', 'warps', 'alone')


def page(paths, section):
    """Writes a section of docs/results/truth.md from the result files of one or more runs."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import results
    rows = [row for path in paths for row in json.load(open(path))['mutants']]
    of_answer = ('mark', 'cause', 'confidence', 'barrier', 'role')
    data = [{**{name: row[name] for name in KEPT}, 'answers': {evidence: {name: answer[name] for name in of_answer} for evidence, answer in row.get('answers', {}).items()}} for row in rows]
    head = ['## ' + section, '', "`tests/mutate/score.py`: each mutant has one defect of a known kind at one place of a kernel's PTX; the program's own host code drives it. The first cause that "
            'wsdbg gives is compared with those that the operator makes true. right: one of them, and a hang was called. cycle: WAIT_CYCLE or UNKNOWN, a hang without a cause. '
            'possible, other: no hang was called, and the cause given was right, or another one. WRONG: another cause was called likely, PROVEN: proven. best cause: the one that says it most exactly. '
            'Evidence: full = what wsdbg takes by default, state = what a look at a GPU sees. Mutants that end by themselves are decoys.']
    results.save(section, data, '\n'.join(head + tables(rows)), 'truth')
