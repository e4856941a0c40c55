"""results.py - keeps the pages of docs/results that scripts write: a section is replaced as a whole.

Reads and writes docs/results/PAGE.md, and tests/measured/PAGE.json.gz: every run that the page rests on.  A development script:
wsdbg itself needs no Python.
"""
import gzip, json, os, re, statistics

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS, MEASURED = os.path.join(os.path.dirname(HERE), 'docs', 'results'), os.path.join(HERE, 'measured')
HEAD = """# {title}

Every section is written by the script that it names; nothing here is typed in by hand. Numbers are medians, with the smallest and
the largest run in brackets; `tests/measured/{page}.json.gz` has them all.
"""
TITLES = {'viewer': 'The viewer and the store, measured', 'sim': 'The simulator beside an H200', 'zoo': 'The zoo: is the cause right?',
          'diagnose': 'The diagnosis, measured', 'lint': 'lint: how often it is right', 'stands': 'Stalls: is the verdict right, and is the program unharmed?', 'trust': 'Does it leave the program alone?', 'host': 'Stacks of host threads, measured',
          'fleet': 'Several ranks: which one is at fault?',
          'truth': 'Mutants: is the cause right of defects that nobody chose?'}


def machine():
    """The processor and the number of cores that this process may use."""
    with open('/proc/cpuinfo') as file:
        model = re.search(r'model name\s*: (.*)', file.read())
    return f"{model.group(1) if model else 'unknown processor'}, {len(os.sched_getaffinity(0))} cores"


def spread(values):
    return {'median': statistics.median(values), 'min': min(values), 'max': max(values), 'runs': len(values)}


def cell(value, digits=0, scale=1):
    """'median (smallest–largest)'."""
    number = lambda key: f'{value[key] * scale:,.{digits}f}'
    return f"{number('median')} ({number('min')}–{number('max')})"


def load(page):
    """What was measured for a page; {} where nothing was yet."""
    path = os.path.join(MEASURED, f'{page}.json.gz')
    if not os.path.exists(path):
        return {}
    with gzip.open(path, 'rt') as file:
        return json.load(file)


def keep(page, everything):
    """The same data make the same bytes."""
    os.makedirs(MEASURED, exist_ok=True)
    text = json.dumps(everything, indent=1, sort_keys=True) + '\n'
    with open(os.path.join(MEASURED, f'{page}.json.gz'), 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as packed:
        packed.write(text.encode())


def save(section, data, markdown, page='viewer'):
    """Keeps `data` under the page's JSON key and puts `markdown` between its two marks of that section."""
    os.makedirs(RESULTS, exist_ok=True)
    keep(page, {**load(page), section: data})
    path = os.path.join(RESULTS, f'{page}.md')
    text = open(path).read() if os.path.exists(path) else HEAD.format(title=TITLES[page], page=page)
    block = f'<!-- {section} -->\n{markdown.strip()}\n<!-- end of {section} -->\n'
    old = re.compile(f'<!-- {section} -->\n.*?<!-- end of {section} -->\n', re.S)
    text = old.sub(lambda _: block, text) if old.search(text) else f'{text}\n{block}'
    with open(path, 'w') as file:
        file.write(text)
