#!/usr/bin/env python3
"""stay_cost.py - what an inspector that stays costs a program: a launch, and the steps of loops as of a training and of a language model.

    tests/h200/stay_cost.py [--build build] [--parts launches,loops] [--rounds 5] [--seconds S] [--loop NAME,...] [--deadline S] [--out FILE.json]
    tests/h200/stay_cost.py --page FILE.json ...            writes the section of docs/results/stands.md from what was kept

launches: `launch_cost` with 1, 4 and 16 threads, one stream or one each, kernels or graphs of 200; alone, and under wsdbg run with --evidence ring
(nobody attaches) and --evidence live (an inspector stays); armed (wsdbg arm, nobody watches).  loops: `stands.py`; alone, armed, and with --evidence ring, auto (the default) and live.  The
ways take turns, and each round begins with another one.  The share of time is 1 - rate / median rate alone.  Added to what the file has.
Exit status: 1 where a program did not end well, 77 without a driver.  A development script, for a machine with an H200.
"""
import argparse, json, os, re, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import results

WAYS = {'launches': ('alone', 'armed', 'ring', 'live'), 'loops': ('alone', 'armed', 'ring', 'auto', 'live')}
WATCHED = ('alone', 'ring', 'auto', 'live')
LAUNCHES = {'1 thread': ['--threads', '1'], '4 threads, one stream': ['--threads', '4'], '4 threads, a stream each': ['--threads', '4', '--streams'],
            '16 threads, one stream': ['--threads', '16'], '16 threads, a stream each': ['--threads', '16', '--streams'],
            '1 thread, graphs of 200 kernels': ['--threads', '1', '--graph'],
            '4 threads, graphs of 200 kernels': ['--threads', '4', '--streams', '--graph']}
LOOPS = {'training': ['--case', 'train-loop'], 'training as a graph': ['--case', 'train-loop', '--graph'], 'decoding': ['--case', 'decode-loop']}
SECONDS = {'launches': 1.0, 'loops': 20.0}
FIGURE = re.compile(r'\b(ns_per_launch|ns_per_launch_sync|steps_per_s|tokens_per_s)=([0-9.]+)')
LEFT = re.compile(r'^wsdbg: (.*inspector.*|.*attached.*)$', re.M)


def cases(options):
    """(part, name, command) of everything that is measured."""
    bin = os.path.join(os.path.abspath(options.build), 'bin')
    found = []
    if 'launches' in options.parts:
        found += [('launches', name, [f'{bin}/launch_cost', *words]) for name, words in LAUNCHES.items()]
    if 'loops' in options.parts:
        loops = [(name, words) for name, words in LOOPS.items() if not options.loop or name in options.loop.split(',')]
        found += [('loops', name, [sys.executable, f'{HERE}/stands/stands.py', *words]) for name, words in loops]
    return bin, found


def one(bin, way, command, limit_s):
    """The figures of one run, with what wsdbg says of its stay; status 'limit' where it had to be ended."""
    scratch = tempfile.TemporaryDirectory()
    if way == 'armed':
        command = [f'{bin}/wsdbg', 'arm', '--folder', f'{scratch.name}/armed', '--', *command]
    elif way != 'alone':
        command = [f'{bin}/wsdbg', 'run', '--evidence', way, '--stall', '60', '-o', f'{scratch.name}/run.db', '--', *command]
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_s)
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        status, out, err = 'limit', '', ''
    figures = {name: float(value) for name, value in FIGURE.findall(out)}
    return {'status': status, 'seconds': round(time.monotonic() - start, 2), 'figures': figures, 'said': LEFT.findall(err), 'stderr': '' if status == 0 else err[-400:]}


def measure(options):
    bin, found = cases(options)
    until, bad = time.monotonic() + options.deadline, False
    kept = json.load(open(options.out)) if os.path.exists(options.out) else {'runs': []}
    for number, (part, name, command) in [(n, case) for n in range(options.rounds) for case in found]:
        ways = WAYS[part]
        seconds = options.seconds or SECONDS[part]
        for way in ways[number % len(ways):] + ways[:number % len(ways)]:
            if time.monotonic() > until:
                print('out of time')
                return bad
            run = one(bin, way, [*command, '--seconds', str(seconds)], seconds * 5 + 60)
            kept['runs'].append({'part': part, 'case': name, 'way': way, 'round': number, **run})
            bad = bad or run['status'] != 0
            print(f"{name}, {way}: status {run['status']}, {run['figures']} {' | '.join(run['said'])}", flush=True)
            with open(options.out, 'w') as file:
                json.dump(kept, file, indent=1)
    return bad


# ---- the page ----


def figures(runs, case, way, name):
    return [run['figures'][name] for run in runs if run['case'] == case and run['way'] == way and name in run['figures']]


def cell(values, digits=1, scale=1.0):
    return results.cell(results.spread(values), digits, scale) if values else '-'


def launch_rows(runs):
    for case in LAUNCHES:
        for name, words in (('ns_per_launch', 'launch'), ('ns_per_launch_sync', 'launch and wait')):
            alone, live = figures(runs, case, 'alone', name), figures(runs, case, 'live', name)
            if alone:
                ratio = f'{statistics.median(live) / statistics.median(alone):.2f}' if live else '-'
                yield f"| {case} | {words} | {cell(alone, 1, 1e-3)} | {cell(figures(runs, case, 'ring', name), 1, 1e-3)} | {cell(live, 1, 1e-3)} | {ratio} |"


def loop_rows(runs):
    for case in LOOPS:
        name = 'tokens_per_s' if case == 'decoding' else 'steps_per_s'
        rates = {way: figures(runs, case, way, name) for way in WATCHED}
        if not rates['alone']:
            continue
        base = statistics.median(rates['alone'])
        shares = [f'{100 * (1 - statistics.median(rates[way]) / base):+.1f} %' if rates[way] else '-' for way in WATCHED[1:]]
        yield f'| {case} | ' + ' | '.join(cell(rates[way]) for way in WATCHED) + ' | ' + ' / '.join(shares) + ' |'


def armed_rows(runs):
    """Medians of programs that were armed beside those alone, and the time lost."""
    for case in [*LAUNCHES, *LOOPS]:
        for name in ('ns_per_launch', 'ns_per_launch_sync', 'steps_per_s', 'tokens_per_s'):
            alone, armed = figures(runs, case, 'alone', name), figures(runs, case, 'armed', name)
            if alone and armed:
                ratio = statistics.median(armed) / statistics.median(alone)
                lost = 100 * (ratio - 1 if name.startswith('ns') else 1 - ratio)
                yield f'| {case} | {name} | {cell(alone)} | {cell(armed)} | {lost:+.2f} % |'


def page(paths):
    runs = [run for path in paths for run in json.load(open(path))['runs']]
    good = [run for run in runs if run['status'] == 0]
    lines = ['## What an inspector that stays costs', '',
             f'`tests/h200/stay_cost.py`: {len(runs)} runs, {len(good)} of them ended with status 0.', '',
             '| microseconds, per thread | | alone | `--evidence ring` | `--evidence live` | live / alone |', '|---|---|---|---|---|---|', *launch_rows(good), '',
             '| a second | alone | `--evidence ring` | auto (default) | `--evidence live` | time lost: ring / auto / live |', '|---|---|---|---|---|---|', *loop_rows(good)]
    armed = list(armed_rows(good))
    if armed:
        lines += ['', '| `wsdbg arm`, nobody watches | figure | alone | armed | time lost |', '|---|---|---|---|---|', *armed]
    results.save('stay_cost', [{key: run[key] for key in ('part', 'case', 'way', 'round', 'status', 'figures', 'said')} for run in runs], '\n'.join(lines), 'stands')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--parts', default='launches,loops')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, help='of a run; 1 for launches, 20 for loops')
    parser.add_argument('--loop')
    parser.add_argument('--deadline', type=float, default=3600)
    parser.add_argument('--out', default='stay_cost.json')
    parser.add_argument('--page', nargs='+')
    options = parser.parse_args()
    if options.page:
        return page(options.page)
    if not os.path.exists('/dev/nvidia0'):
        print('stay_cost.py: no NVIDIA driver here', file=sys.stderr)
        return 77
    return int(measure(options))


if __name__ == '__main__':
    sys.exit(main())
