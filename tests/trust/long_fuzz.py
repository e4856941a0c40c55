#!/usr/bin/env python3
"""long_fuzz.py - every fuzzer of tests/fuzz with many inputs, in one run.

    tests/trust/long_fuzz.py [--build build] [--inputs 20000] [--formats NAME,...] [--jobs 1] [--save]

Runs the programs that the tests fuzz_* have built (ctest -R fuzz_), each on a copy of its corpus, with the limits of tests/fuzz/run_fuzzer.sh: 2 GiB, and 10 s an
input.  An input that crashes one, or goes over a limit, ends that fuzzer, and is kept in the folder that is named.
--save writes the section "fuzz" of docs/results/trust.md.
Exit status: 1 when an input was not survived or too few were tried, 77 without the programs.  A development script.
"""
import argparse, concurrent.futures, os, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import results

RSS_MB, INPUT_S, MOST_BYTES = 2048, 10, 65536


def corpus_of(name):
    folder = f'{ROOT}/tests/fuzz/corpus_{name}'
    special = {'image': f'{ROOT}/tests/sass/images', 'database': f'{ROOT}/tests/fuzz/corpus_session', 'export': f'{ROOT}/tests/fuzz/corpus_session',
               'html': f'{ROOT}/tests/fuzz/corpus_session'}
    return special.get(name, folder)


def fuzz(name, program, inputs, seed):
    folder = tempfile.mkdtemp(prefix=f'wsdbg-fuzz-{name}-')
    shutil.copytree(corpus_of(name), f'{folder}/corpus')
    run = subprocess.run([program, f'-runs={inputs}', f'-seed={seed}', f'-max_len={MOST_BYTES}', f'-rss_limit_mb={RSS_MB}', f'-timeout={INPUT_S}',
                          f'-artifact_prefix={folder}/', f'{folder}/corpus'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace')
    done = re.search(r'Done (\d+) runs in (\d+) second', run.stderr)
    kept = sorted(entry for entry in os.listdir(folder) if entry != 'corpus')
    row = {'format': name, 'inputs': int(done[1]) if done else max([int(n) for n in re.findall(r'^#(\d+)', run.stderr, re.M)] or [0]),
           'seconds': int(done[2]) if done else None, 'peak_mb': max([int(n) for n in re.findall(r'rss: (\d+)Mb', run.stderr)] or [0]),
           'crashes': sum(entry.startswith(('crash-', 'leak-')) for entry in kept), 'over_limits': sum(entry.startswith(('timeout-', 'oom-')) for entry in kept),
           'slow': sum(entry.startswith('slow-unit-') for entry in kept), 'status': run.returncode}
    if run.returncode == 0:
        shutil.rmtree(folder)
    else:
        row['kept'] = folder
        print(run.stderr[-3000:], file=sys.stderr)
    print(row, flush=True)
    return row


def page(rows, inputs):
    lines = ['## Files that are damaged at random', '',
             f'`tests/trust/long_fuzz.py --inputs {inputs}`: libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer, on {results.machine()}. Over a limit: more than '
             f'{RSS_MB / 1024:.0f} GiB, or {INPUT_S} s for one input.', '', '| format | inputs | crashes | over a limit | peak memory, MiB | seconds |', '|---|---|---|---|---|---|']
    lines += [f"| {row['format']} | {row['inputs']:,} | {row['crashes']} | {row['over_limits']} | {row['peak_mb']} | {row['seconds'] if row['seconds'] is not None else '?'} |"
              for row in rows]
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--inputs', type=int, default=20000)
    parser.add_argument('--formats', default='')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--save', action='store_true')
    options = parser.parse_args()
    folder = os.path.join(options.build, 'tests', 'fuzz')
    programs = {name: f'{folder}/{name}/fuzzer' for name in sorted(os.listdir(folder)) if os.path.exists(f'{folder}/{name}/fuzzer')} if os.path.isdir(folder) else {}
    chosen = {name: path for name, path in programs.items() if not options.formats or name in options.formats.split(',')}
    if not chosen:
        print('long_fuzz.py: no fuzzers there; run ctest -R fuzz_ first', file=sys.stderr)
        return 77
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda item: fuzz(*item, options.inputs, options.seed), chosen.items()))
    if options.save:
        results.save('fuzz', rows, page(rows, options.inputs), 'trust')
    return int(any(row['status'] or row['inputs'] < options.inputs for row in rows))


if __name__ == '__main__':
    sys.exit(main())
