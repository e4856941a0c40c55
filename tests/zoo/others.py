#!/usr/bin/env python3
"""others.py - what other tools say of the zoo: cuda-gdb on a GPU core dump, compute-sanitizer's synccheck and racecheck.

    tests/zoo/others.py [--build build] [--out others.json] [--seconds 300] [--jobs 8] [--cases NAME,...]
    tests/zoo/others.py --table others.json         writes the section "Other tools" of docs/results/zoo.md

Each case as it is, without probes and with line tables; of a case with a defect also the kernel without it, under the sanitizers.
What is kept of a run: the lines that report something, how long it took, and one word of these:
  cause     names what the head of the case says is wrong (judged by the words in CAUSE_WORDS)
  located   names a source line of the case's kernel, where it stands or where it is wrong
  nothing   reports nothing of it
  false     reports an error of a correct kernel
  breaks    a correct kernel's program ends with an error under the tool, which it does not without
A development script, for a machine with an H200 and NVIDIA's tools.
"""
import argparse, concurrent.futures, json, os, re, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'h200'))
import dumps
import results

TOOLS = ('cuda-gdb', 'synccheck', 'racecheck')
HANG_MS = 5000  # the sanitizers slow kernels down: what has not ended by then hangs
GDB = ('info cuda kernels', 'info cuda warps', 'bt')
REPORT = re.compile(r'error|warning|hazard|barrier|Divergent|Missing|Invalid|at .*\.cu', re.I)
IGNORED = re.compile(r"SUMMARY: 0|Target application returned an error|didn't terminate successfully|^zoo:|may have hit an error when dereferencing")
# Words of a tool's report that amount to the case's cause.
CAUSE_WORDS = {
    'NAMED_COUNT': 'thread count|invalid arguments', 'BLOCK_SYNC_IN_ROLE': 'Divergent thread', 'NAMED_ID_SHARED': 'shared id',
    'BARRIER_NOT_INIT': 'Missing init|uninitiali', 'DOUBLE_ARRIVE': 'too many arriv|arrive count|overflow', 'ARRIVE_MISSING': 'Missing arriv',
    'TX_MISMATCH': 'transaction', 'LANE_SPLIT': 'Divergent thread', 'PEER_EXITED': 'exited',
}


def run(command, limit, environment=None):
    """Status or 'limit', the text of both streams, seconds."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors='replace',
                               env={**os.environ, **(environment or {})})
    try:
        text, status = process.communicate(timeout=limit)[0], process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        text, status = process.communicate()[0], 'limit'
    return status, text, time.monotonic() - start


def dump(command, folder):
    """The path of a GPU core dump taken in the second second, None when the program did not stay so long."""
    with open(os.path.join(folder, 'said'), 'w+') as said:
        process = subprocess.Popen(command, env=dumps.environment(folder), stdout=subprocess.DEVNULL, stderr=said)
        time.sleep(1.5)
        done = False
        if process.poll() is None and os.path.exists(os.path.join(folder, 'pipe')):
            descriptor = os.open(os.path.join(folder, 'pipe'), os.O_WRONLY | os.O_NONBLOCK)
            os.write(descriptor, b'1')
            os.close(descriptor)
            done = dumps.wait_until(lambda: 'All done' in open(said.name).read(), 15)
        process.kill()
        process.wait()
    return os.path.join(folder, 'core') if done else None


def reports(text, case):
    """The lines of a tool's text that report something, without the paths of this machine."""
    lines = [re.sub(r'^=+ ?', '', line).strip() for line in text.splitlines()]
    lines = [line for line in lines if REPORT.search(line) and not IGNORED.search(line)]
    return [re.sub(r'(/[^\s:()]*/)+', '', line) for line in dict.fromkeys(lines)][:6]


def word(case, lines, status, fixed):
    text = '\n'.join(line for line in lines if not IGNORED.search(line))
    correct = fixed or case['kind'] == 'decoy'
    if not text:
        return 'breaks' if correct and status != 0 else 'nothing'
    if correct:
        return 'false'
    if case['cause'] in CAUSE_WORDS and re.search(CAUSE_WORDS[case['cause']], text, re.I):
        return 'cause'
    return 'located' if re.search(r'\.cuh?:\d+', text) or f"zoo_{case['name'].replace('-', '_')}" in text else 'nothing'


def debugger(zoo, case, fixed):
    with tempfile.TemporaryDirectory() as folder:
        core = dump([zoo, '--case', case['name'], '--timeout-ms', '30000'] + (['--work-ms', '20000'] if case['kind'] == 'decoy' else []), folder)
        if not core:
            return None
        _, text, seconds = run(['cuda-gdb', '-batch', zoo, '-ex', f'target cudacore {core}', *(word for line in GDB for word in ('-ex', line))], 40)
    frames = [re.sub(r'(/[^\s:()]*/)+', '', line.strip()) for line in text.splitlines() if re.search(r'^#0|<<<', line)]
    warps = len(re.findall(r'^\*?\s+\d+\s+0x[0-9a-f]{8}\s+0x', text, re.M))
    return {'lines': frames[:2], 'warps': warps, 'status': 0, 'seconds': round(seconds, 2)}


def sanitizer(tool):
    def ask(zoo, case, fixed):
        work = ['--work-ms', '300'] if case['kind'] == 'decoy' else []
        status, text, seconds = run(['compute-sanitizer', '--tool', tool, '--print-limit', '20', zoo, '--case', case['name'], '--timeout-ms', str(HANG_MS),
                                     *work, *(['--fixed'] if fixed else [])], 40)
        lines = reports(text, case)
        return {'lines': lines, 'status': status, 'seconds': round(seconds, 2)}
    return ask


ASK = {'cuda-gdb': debugger, 'synccheck': sanitizer('synccheck'), 'racecheck': sanitizer('racecheck')}


def measure(options):
    zoo = os.path.join(os.path.abspath(options.build), 'bin', 'zoo')
    text = subprocess.run([zoo, '--list'], capture_output=True, text=True, timeout=20).stdout
    cases = [dict(zip(('name', 'cause', 'role', 'barrier', 'kind', 'story'), line.split('\t'))) for line in text.splitlines()]
    cases = [case for case in cases if not options.cases or case['name'] in options.cases.split(',')]
    kept = json.load(open(options.out)) if os.path.exists(options.out) else {case['name']: case for case in cases}
    until = time.monotonic() + options.seconds
    jobs = [(case, tool, False) for tool in TOOLS for case in cases]
    jobs += [(case, tool, True) for tool in TOOLS[1:] for case in cases if case['kind'] != 'decoy']
    jobs = [job for job in jobs if f"{job[1]}{' fixed' if job[2] else ''}" not in kept.get(job[0]['name'], {})]

    def one(job):
        case, tool, fixed = job
        return job, None if time.monotonic() > until else ASK[tool](zoo, case, fixed)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (case, tool, fixed), answer in pool.map(one, jobs):
            if answer:
                kept.setdefault(case['name'], case)[f"{tool}{' fixed' if fixed else ''}"] = answer
                print(case['name'], tool, 'fixed' if fixed else '', answer['seconds'], answer['lines'][:1], flush=True)
                with open(options.out + '.new', 'w') as file:
                    json.dump(kept, file, indent=1)
                os.replace(options.out + '.new', options.out)


# ---- the section ----


def judge(row, key):
    answer, fixed = row[key], key.endswith('fixed')
    if key == 'cuda-gdb':  # where a warp stands is what it is asked for: it reports no error, and names no cause
        return 'located' if answer['lines'] and row['kind'] != 'decoy' else 'nothing'
    return word(row, answer['lines'], answer['status'], fixed)


def count(kept, key, kinds, which):
    words = [judge(row, key) for row in kept.values() if row['kind'] in kinds and key in row]
    return f'{words.count(which)} of {len(words)}'


def cell(row, key):
    if key not in row:
        return '?'
    said = judge(row, key)
    first = next((line for line in row[key]['lines'] if not IGNORED.search(line)), '').replace('|', '/')
    return f"{said} ({row[key]['seconds']:.1f} s)" + (f': {first[:90]}' if said not in ('nothing', 'breaks') else '')


def page(kept):
    hangs = ('hang', 'fault')
    lines = ['## Other tools on the same cases', '', "`tests/zoo/others.py`: cuda-gdb prints kernels, warps and a back trace of a GPU core dump taken in the "
             f'second second (the time is without the dump); compute-sanitizer gets the program, which leaves after {HANG_MS / 1000:.0f} s when its kernel has '
             'not ended. `located`: a source line of the kernel is named; `cause`: what is wrong is named; `false`: an error of a correct kernel is reported; '
             '`breaks`: a correct program ends with an error under the tool. Eight ran at a time. The words are given by the script from the lines that the tool prints; `zoo.json` keeps those.', '',
             '| tool | cause named | located | nothing said | errors reported of kernels without the defect | of decoys | correct programs broken |', '|---|---|---|---|---|---|---|']
    for tool in TOOLS:
        fixed = '-' if tool == 'cuda-gdb' else count(kept, f'{tool} fixed', hangs, 'false')
        lines.append(f"| {tool} | {count(kept, tool, hangs, 'cause')} | {count(kept, tool, hangs, 'located')} | {count(kept, tool, hangs, 'nothing')} | {fixed} | "
                     f"{count(kept, tool, ('decoy',), 'false')} | {'-' if tool == 'cuda-gdb' else count(kept, f'{tool} fixed', hangs, 'breaks')} |")
    lines += ['', '| case | expected | ' + ' | '.join(TOOLS) + ' |', '|---|---|' + '---|' * len(TOOLS)]
    lines += [f"| `{row['name']}` | {row['cause']} | " + ' | '.join(cell(row, tool) for tool in TOOLS) + ' |' for row in kept.values()]
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--out', default='others.json')
    parser.add_argument('--seconds', type=float, default=300)
    parser.add_argument('--jobs', type=int, default=8)
    parser.add_argument('--cases')
    parser.add_argument('--table')
    options = parser.parse_args()
    if options.table:
        kept = json.load(open(options.table))
        results.save('others', kept, page(kept), 'zoo')
    else:
        measure(options)


if __name__ == '__main__':
    main()
