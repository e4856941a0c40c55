#!/usr/bin/env python3
"""site_cost.py - what a launch site costs at each launch, on a stand-in for libcuda; docs/results/host.md.

    tests/host/site_cost.py [--build build] [--runs 9] [PYTHON...]

Runs site_cost without the observer, with it and no launch sites, and with both, in turns.  From Python it calls the
same code at the end of a chain of functions.  Use an optimised build and an idle machine.
"""
import argparse
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import results

ROUNDS = "101"
PROGRAM = """
import ctypes, sys
library = ctypes.PyDLL(sys.argv[1])
library.site_cost.restype = ctypes.c_double
def down(depth):
    return down(depth - 1) if depth else library.site_cost(int(sys.argv[2]), 5)
print(down(int(sys.argv[3]) - 2))
"""
WAYS = ("none", "off", "on")


def environment(build, way):
    variables = dict(os.environ, LD_LIBRARY_PATH=os.path.join(build, "tests", "shim"))
    if way != "none":
        variables["LD_PRELOAD"] = os.path.join(build, "lib", "wsdbg", "libwsdbg-shim.so")
        variables["WSDBG_SESSION"] = f"site-cost-{os.getpid()}"
        variables["WSDBG_LAUNCH_SITES"] = way
    return variables


def measure(build, words, runs):
    """Of each way the times in ns, a run each."""
    times = {way: [] for way in WAYS}
    for _ in range(runs):
        for way in WAYS:
            text = subprocess.run(words, env=environment(build, way), stdout=subprocess.PIPE, check=True).stdout
            times[way].append(float(text))
    shutil.rmtree(f"/dev/shm/wsdbg.site-cost-{os.getpid()}", ignore_errors=True)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("python", nargs="*", default=["python3"])
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    tests = os.path.join(build, "tests")
    data, rows = {}, []

    def add(name, words):
        times = measure(build, words, options.runs)
        data[name] = {way: results.spread(values) for way, values in times.items()}
        data[name]["site"] = results.spread([on - off for on, off in zip(times["on"], times["off"])])
        cells = [results.cell(data[name][way]) for way in (*WAYS, "site")]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")

    for depth in (1, 20):
        add(f"C, {depth} frame{'s' if depth > 1 else ''} of 200 bytes and more",
            [os.path.join(tests, "site_cost"), ROUNDS, str(depth)])
    for python in options.python:
        version = subprocess.run([python, "-c", "import platform; print(platform.python_version())"],
                                 stdout=subprocess.PIPE, check=True).stdout.decode().strip()
        for depth in (3, 16, 100):
            add(f"Python {version}, {depth} Python frames",
                [python, "-c", PROGRAM, os.path.join(tests, "libsite_cost_library.so"), ROUNDS, str(depth)])
    text = (f"## What a launch site costs\n\n`tests/host/site_cost.py`: {results.machine()}; {options.runs} runs each, in "
            f"turns, of {ROUNDS} rounds of 1000 launches. The driver is a stand-in that does nearly nothing. The last column "
            "is the difference between the two before it, of runs beside each other.\n\n"
            "| launched from | no observer, ns a launch | observer, sites off | observer, sites on | a site |\n"
            "|---|---|---|---|---|\n" + "\n".join(rows))
    results.save("launch-sites", data, text, "host")


main()
