#!/usr/bin/env python3
"""contexts.py - looks at a program that makes and ends contexts all the time: does it survive them?

    tests/h200/contexts.py [--build build] [--seconds 60] [--modes ctx,primary,keep,one]

Runs `contexts` under wsdbg and asks for a look four to eight times a second (SIGQUIT).  Prints a line a run: mode, exit status (139: the
driver crashed in the program), rounds, looks asked for; docs/results/live-attach.md tells what came of it.  Exit status 1 where a program died.
A development script, for a machine with an H200.
"""
import argparse, collections, os, signal, subprocess, sys, tempfile, time

ROUND_S = 4


def one(bin, mode):
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.join(bin, 'wsdbg'), 'run', '--stall', '5', '-o', folder + '/run.db', '--', os.path.join(bin, 'contexts'), str(ROUND_S)]
        process = subprocess.Popen(command + ([] if mode == 'ctx' else [mode]), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(0.8)
        looks, until = 0, time.monotonic() + ROUND_S
        while process.poll() is None and time.monotonic() < until:
            process.send_signal(signal.SIGQUIT)
            looks += 1
            time.sleep(0.11 + 0.013 * (looks % 7))
        try:
            out, _ = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
    return process.returncode, out.strip(), looks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--modes', default='ctx,primary,keep,one')
    options = parser.parse_args()
    until, ends = time.monotonic() + options.seconds, collections.Counter()
    while time.monotonic() < until:
        for mode in options.modes.split(','):
            status, rounds, looks = one(os.path.join(os.path.abspath(options.build), 'bin'), mode)
            ends[mode, status] += 1
            print(mode, status, rounds or 'no end', looks, 'looks', flush=True)
    for (mode, status), count in sorted(ends.items()):
        print(f'{mode}: status {status} in {count} runs')
    return int(any(status != 0 for _, status in ends))


if __name__ == '__main__':
    sys.exit(main())
