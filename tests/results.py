"""results.py - keeps the pages of docs/results that scripts write, .json and .md: a section is replaced as a whole.

Reads and writes both files of a page.  A development script: wsdbg itself needs no Python.
"""
import json, os, re, statistics

RESULTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'docs', 'results')
HEAD = """# {title}

Every section is written by the script that it names; nothing here is typed in by hand. Numbers are medians, with the smallest and
the largest run in brackets; `{page}.json` beside this page has them all.
"""
TITLES = {'viewer': 'The viewer and the store, measured', 'sim': 'The simulator beside an H200', 'zoo': 'The zoo: is the cause right?',
          'diagnose': 'The diagnosis, measured', 'lint': 'lint: how often it is right', 'stands': 'Stalls: is the verdict right, and is the program unharmed?', 'trust': 'Does it leave the program alone?'}


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


def save(section, data, markdown, page='viewer'):
    """Puts `data` under the page's JSON key and `markdown` between its two marks of that section."""
    os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, f'{page}.json')
    everything = json.load(open(path)) if os.path.exists(path) else {}
    everything[section] = data
    with open(path, 'w') as file:
        json.dump(everything, file, indent=1, sort_keys=True)
        file.write('\n')
    path = os.path.join(RESULTS, f'{page}.md')
    text = open(path).read() if os.path.exists(path) else HEAD.format(title=TITLES[page], page=page)
    block = f'<!-- {section} -->\n{markdown.strip()}\n<!-- end of {section} -->\n'
    old = re.compile(f'<!-- {section} -->\n.*?<!-- end of {section} -->\n', re.S)
    text = old.sub(lambda _: block, text) if old.search(text) else f'{text}\n{block}'
    with open(path, 'w') as file:
        file.write(text)
