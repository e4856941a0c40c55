#!/usr/bin/env python3
"""measure.py - how long it takes to read the stacks of a program's threads from outside; docs/results/host.md.

    tests/host/measure.py [--build build] [--runs 9] [PYTHON...]

Runs standing.py and threads_app, and BUILD/tests/print_stacks on them.  Use an optimised build and an idle machine.
"""
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import results

LIMIT_MS = 10000  # none: the time that it takes is measured
SHAPES = [  # words, what, asked for
    ((1, 10, 0), "two threads, 10 Python frames", ""),
    ((1, 10000, 0), "one thread of 10,000 Python frames", "≤ 50"),
    ((500, 10, 0), "500 threads of 10 Python frames", "≤ 50"),
    ((500, 200, 0), "500 threads of 200 Python frames", "≤ 50"),
    ((500, 1000, 0), "500 threads of 1,000 Python frames", "≤ 50"),
    ((4, 10, 8), "8 threads that compute, each read twice or more", "≤ 50"),
]


def read_ms(print_stacks, process):
    text = subprocess.run([print_stacks, str(process), str(LIMIT_MS)], stdout=subprocess.PIPE, check=True).stdout.decode()
    head = text.splitlines()[0]
    if head.count(":") > 0:
        sys.exit(f"measure.py: {head}")
    return float(re.search(r"read in ([\d.]+) ms", head).group(1)), len(re.findall(r"^    \S", text, re.M))


def measure(print_stacks, words, runs):
    """The times, in ms, and the rows that a reading gave."""
    program = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        program.stdout.readline()
        rows = [read_ms(print_stacks, program.pid) for _ in range(runs)]
    finally:
        program.kill()
        program.wait()
    return {"read_ms": results.spread([ms for ms, _ in rows]), "frames": rows[0][1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("python", nargs="*", default=["python3"])
    options = parser.parse_args()
    tests = os.path.join(options.build, "tests")
    print_stacks, standing = os.path.join(tests, "print_stacks"), os.path.join(HERE, "standing.py")
    data, rows = {}, []

    def add(name, what, goal, words):
        data[name] = measure(print_stacks, words, options.runs)
        rows.append(f"| {what} | {data[name]['frames']} | {results.cell(data[name]['read_ms'], 1)} | {goal} |")

    add("native", "a C program, 24 threads, stack of one shown", "", [os.path.join(tests, "threads_app_plain")])
    for python in options.python:
        version = subprocess.run([python, "-c", "import platform; print(platform.python_version())"],
                                 stdout=subprocess.PIPE, check=True).stdout.decode().strip()
        for words, what, goal in SHAPES:
            add(f"{version} {words}", f"Python {version}: {what}", goal, [python, standing, *map(str, words)])
    text = (f"## Reading the stacks of a process\n\n`tests/host/measure.py`: {results.machine()}; {options.runs} readings each. "
            "At most 64 stacks of a process are read, with 96 + 32 Python frames and 128 native ones each; the rest is "
            "counted. Nothing of this is done before something stands still.\n\n"
            "| process | frames read | ms, median (smallest–largest) | asked for |\n|---|---|---|---|\n" + "\n".join(rows))
    results.save("host", data, text, "host")


main()
