#!/usr/bin/env python3
"""kills.py - does a program go on as if nothing had happened when those who look at it are killed, at any moment?

    tests/h200/kills.py [--build build] [--runs 100] [--threads 1,4,16] [--victims inspector,wsdbg,named,stopped,frozen,watchdog,coming] [--seconds 4] [--deadline S]
                         [--evidence live] [--rest-us 0] [--out FILE] [--jobs 1] [--gpus 1]

Runs `launch_cost`, whose threads launch and synchronise as fast as they can, or with --rest-us sleep after each launch, under `wsdbg run
--evidence live`, so that an inspector stays attached; under `--evidence auto` it may have left before: "too late".
At a random moment after its first launches one of wsdbg's processes is killed (SIGKILL), or the inspector is stopped, once (`stopped`) or again and again
(`frozen`); in half of the runs a look was asked for some milliseconds before, so that the GPU may be stopped just then.  `coming`: the inspector is killed while
it attaches, before the first launch.  `named`: all processes of this run that `pkill -9 wsdbg` would find are killed.  The program must print its figures and end with status 0
within its time.  --jobs: so many programs at a time, spread over --gpus; inspectors take turns on a GPU, so no more than one for each.  Prints a
line a kind, writes JSON.  Exit status 1 where a program did not, 77 without a driver.  A development script, for a machine with an H200.
"""
import argparse, concurrent.futures, json, os, random, signal, subprocess, sys, tempfile, threading, time

FIRST_LAUNCH_S = 10
LATEST_S = 25  # a frozen inspector's lease runs out after 3 s, its watchdog needs some more


def maps_driver(pid):
    try:
        with open(f'/proc/{pid}/maps') as maps:
            return 'libcuda.so' in maps.read()
    except OSError:
        return False


def children(pid):
    found = []
    for entry in os.listdir('/proc'):
        try:
            if entry.isdigit() and int(open(f'/proc/{entry}/stat').read().rsplit(')', 1)[1].split()[1]) == pid:
                found.append(int(entry))
        except (OSError, IndexError):
            pass
    return found


def name_of(pid):
    try:
        return open(f'/proc/{pid}/comm').read().strip()
    except OSError:
        return ''


def descendants(pid):
    return [found for child in children(pid) for found in (child, *descendants(child))]


def kill_named(pids):
    for pid in pids:
        try:
            if 'wsdbg' in name_of(pid):
                os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it ended in between


def find_victim(victim, wsdbg):
    """The process that is to die, once an inspector is there; None = not yet."""
    sides = {name_of(pid): pid for pid in children(wsdbg)}
    if not {'gpu-inspector', 'attach-watchdog'} <= set(sides) or not maps_driver(sides['gpu-inspector']):
        return None
    return {'wsdbg': wsdbg, 'named': wsdbg, 'watchdog': sides['attach-watchdog']}.get(victim, sides['gpu-inspector'])


def wait_for(path, words, until):
    """The file's text when it has these words, or at the latest then."""
    text = ''
    while words not in text and time.monotonic() < until:
        time.sleep(0.02)
        text = open(path).read()
    return text


class Freezer(threading.Thread):
    """Stops a process again whenever somebody lets it go on."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.over = pid, False

    def run(self):
        while not self.over:
            try:
                os.kill(self.pid, signal.SIGSTOP)
            except ProcessLookupError:
                return
            time.sleep(0.0002)


def one(options, bin, victim, threads, draw, gpu):
    """What became of the program: 'good' or how it went wrong; and when it was hit."""
    seconds = options.seconds
    with tempfile.TemporaryDirectory() as folder:
        program = f'{bin}/launch_cost --threads {threads} --seconds {seconds} --rest-us {options.rest_us}; echo status=$?'
        command = [f'{bin}/wsdbg', 'run', '-q', '--evidence', options.evidence, '--stall', '60', '--on-stall', 'detach', '-o', f'{folder}/run.db', '--', 'sh', '-c', program]
        out = open(f'{folder}/out', 'w+')
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True, env={**os.environ, **gpu})
        pid = None
        while pid is None and time.monotonic() < began + 5 and process.poll() is None:
            pid = find_victim(victim, process.pid)
            time.sleep(0.01)
        if pid is None:
            process.kill()
            return 'nobody attached', 0
        if victim == 'coming':
            time.sleep(draw.random() * 0.3)
        else:
            wait_for(f'{folder}/out', 'launching', began + FIRST_LAUNCH_S)
            time.sleep(draw.random() * (seconds - 1))
        looked = victim != 'coming' and draw.random() < 0.5
        if looked:
            os.kill(process.pid, signal.SIGQUIT)
            time.sleep(draw.random() * 0.06)
        hit = time.monotonic() - began
        if victim == 'named':
            kill_named([process.pid, *descendants(process.pid)])
        try:
            os.kill(pid, signal.SIGSTOP if victim in ('frozen', 'stopped') else signal.SIGKILL)
        except ProcessLookupError:
            return 'too late', hit
        freezer = Freezer(pid)
        if victim == 'frozen':
            freezer.start()
        text = wait_for(f'{folder}/out', 'status=', time.monotonic() + LATEST_S)
        freezer.over = True
        if victim in ('frozen', 'stopped'):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if process.poll() is None:
            time.sleep(0.3)
            process.kill()
        process.wait()
        if 'status=0' in text:
            return 'good', hit
        return (text.strip().splitlines() or ['no end'])[-1] + (' (looked)' if looked else ''), hit


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--runs', type=int, default=100, help='of all kinds together')
    parser.add_argument('--threads', default='1,4,16')
    parser.add_argument('--victims', default='inspector,wsdbg,stopped,frozen,watchdog')
    parser.add_argument('--seconds', type=float, default=4.0, help='that a program launches for, more than 1')
    parser.add_argument('--evidence', default='live')
    parser.add_argument('--rest-us', type=int, default=0, help='that a thread sleeps after each launch')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--deadline', type=float, default=600)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--gpus', type=int, default=1)
    parser.add_argument('--out')
    options = parser.parse_args()
    bin, until = os.path.join(os.path.abspath(options.build), 'bin'), time.monotonic() + options.deadline
    if not os.path.exists('/dev/nvidia0'):
        print('kills.py: no NVIDIA driver here', file=sys.stderr)
        return 77
    kinds, counts = [(v, int(t)) for v in options.victims.split(',') for t in options.threads.split(',')], {}

    of_thread, gpus = threading.local(), iter(range(options.jobs))

    def run(number):
        if time.monotonic() > until:
            return
        victim, threads = kinds[number % len(kinds)]
        gpu = {'CUDA_VISIBLE_DEVICES': str(of_thread.gpu)} if options.gpus > 1 else {}
        outcome, hit = one(options, bin, victim, threads, random.Random(options.seed * 1000003 + number), gpu)
        rows = counts.setdefault(f'{victim}, {threads} threads', {})
        rows[outcome] = rows.get(outcome, 0) + 1
        if outcome != 'good':
            print(f'{victim}, {threads} threads, hit after {hit:.2f} s: {outcome}', flush=True)

    def take_gpu():
        of_thread.gpu = next(gpus) % options.gpus

    with concurrent.futures.ThreadPoolExecutor(options.jobs, initializer=take_gpu) as pool:
        list(pool.map(run, range(options.runs)))
    for kind, rows in counts.items():
        print(kind + ': ' + ', '.join(f'{count} {outcome}' for outcome, count in sorted(rows.items())))
    if options.out:
        json.dump(counts, open(options.out, 'w'), indent=1)
    return int(any(outcome not in ('good', 'too late') for rows in counts.values() for outcome in rows))


if __name__ == '__main__':
    sys.exit(main())
