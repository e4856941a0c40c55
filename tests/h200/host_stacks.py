#!/usr/bin/env python3
"""host_stacks.py - are the stacks of a hung Python program's threads read on a real GPU, and how long does that take?

    tests/h200/host_stacks.py [--build build] [--runs 10] [--python python3]

Runs tests/host/hang.py under wsdbg: alone, with threads, deep, and with PyTorch where that can be imported.  Each run must be
called a hang, and the main thread's innermost Python line must be that of the call that waits.  Prints a line a kind: how many
were right, what the thread did (sleeps, runs), how long the reading took.  Exit status 1 where one was wrong, 77 without a
driver.  A development script, for a machine with an H100 or H200.
"""
import argparse
import collections
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HANG = os.path.join(os.path.dirname(HERE), "host", "hang.py")
KINDS = {"alone": [], "31 threads": ["31"], "5000 deep": ["3", "5000"], "PyTorch": ["3", "0", "torch"]}


def wait_line():
    with open(HANG) as file:
        return 1 + next(number for number, line in enumerate(file) if line.strip() == "wait())")


def run(options, words, folder):
    """What the main thread did, whether its line is right, and the milliseconds; None where no hang was found."""
    database = os.path.join(folder, "hang.db")
    command = [os.path.join(options.build, "bin", "wsdbg"), "run", "--device", "gpu", "--stall", "2", "-o", database, "--json",
               "--", options.python, HANG, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    os.remove(database)
    if done.returncode != 124:
        return None
    process = json.loads(done.stdout)["host_stacks"][0]
    main = process["stacks"][0]
    python = [frame for frame in main["frames"] if frame["kind"] == "python" and frame["file"].endswith("hang.py")]
    right = bool(python) and python[0]["line"] == wait_line()
    return main["motion"], right, process["read_ns"] / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--python", default="python3")
    options = parser.parse_args()
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        sys.exit(77)
    failed = False
    for kind, words in KINDS.items():
        if kind == "PyTorch" and subprocess.run([options.python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
            print(f"{kind}: not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows = [run(options, words, folder) for _ in range(options.runs)]
        hangs = [row for row in rows if row]
        right = sum(row[1] for row in hangs)
        motions = dict(collections.Counter(row[0] for row in hangs))
        times = [row[2] for row in hangs] or [0]
        print(f"{kind}: {len(hangs)} of {len(rows)} hangs, line right {right}, {motions}, "
              f"read in {statistics.median(times):.1f} ms (at most {max(times):.1f})")
        failed |= right != len(rows)
    sys.exit(failed)


main()
