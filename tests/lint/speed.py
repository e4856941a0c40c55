#!/usr/bin/env python3
"""speed.py - how fast `wsdbg lint` reads libraries of kernels, and in how much memory.

    speed.py WSDBG LIBRARY...      a table in Markdown on stdout, as docs/results/lint.md has it

Each library is read once before it is timed, so that it lies in the page cache, then five times, the libraries by turns: medians, and
the slowest and quickest of the five.  MB are 10^6 bytes of cubin for sm_90 and sm_90a, unpacked; time is that of one core (user and
system); memory is the most that was resident.
"""
import json
import os
import statistics
import subprocess
import sys

RUNS = 5


def run(command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return out, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main():
    wsdbg, libraries = sys.argv[1], sys.argv[2:]
    print("| library | file, MB | kernels | judged | cubin, MB | s | MB/s | resident, MB | errors | warnings |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for library in libraries:
        with open(library, "rb") as file:
            while file.read(1 << 16):
                pass
    timed = {library: [] for library in libraries}
    for _ in range(RUNS):
        for library in libraries:
            timed[library].append(run([wsdbg, "lint", "--json", library]))
    for library, results in timed.items():
        totals = json.loads(results[0][0])["totals"]
        code = totals["code_bytes"] / 1e6
        seconds = [taken for _, taken, _ in results]
        rate = f"{code / statistics.median(seconds):.0f} ({code / max(seconds):.0f}–{code / min(seconds):.0f})"
        print(f"| {os.path.basename(library)} | {os.path.getsize(library) / 1e6:.0f} | {totals['kernels']} | {totals['judged']} "
              f"| {code:.0f} | {statistics.median(seconds):.1f} | {rate} | {max(resident for _, _, resident in results):.0f} "
              f"| {totals['errors']} | {totals['warnings']} |")


if __name__ == "__main__":
    main()
