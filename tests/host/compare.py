#!/usr/bin/env python3
"""compare.py PRINT_STACKS PYTHON... - does wsdbg read of each interpreter what the interpreter says of itself?

Runs oracle.py with each PYTHON that is there, and compares.  Prints a line each; status 1 where one differs, 77 where none
is there.
"""
import json
import os
import re
import shutil
import subprocess
import sys

INNER, OUTER = 96, 32  # frames that are kept of a deep stack (tracer/host/python_stack.h)


def read_stacks(print_stacks, process):
    """The Python frames of each thread: [function, file, line], and the version."""
    text = subprocess.run([print_stacks, str(process)], stdout=subprocess.PIPE, check=True).stdout.decode()
    stacks, version = [], re.search(r"python (\S+),", text).group(1)
    for line in text.splitlines():
        if line.startswith("  thread "):
            stacks.append([])
        match = re.match(r"    python (.*) (\S+):(\d+|\?)$", line)
        if match:
            number = None if match.group(3) == "?" else int(match.group(3))
            stacks[-1].append([match.group(1), match.group(2), number])
        match = re.match(r"    \.\.\. (\d+) frames$", line)
        if match:
            stacks[-1].append(int(match.group(1)))
    return version, stacks


def shorten(frames):
    if len(frames) <= INNER + OUTER:
        return frames
    return frames[:INNER] + [len(frames) - INNER - OUTER] + frames[-OUTER:]


def compare(print_stacks, python):
    folder = os.path.dirname(os.path.abspath(__file__))
    program = subprocess.Popen([python, os.path.join(folder, "oracle.py")], stdout=subprocess.PIPE)
    try:
        expected = [shorten(frames) for frames in json.loads(program.stdout.readline())]
        version, stacks = read_stacks(print_stacks, program.pid)
    finally:
        program.kill()
        program.wait()
    missing = [frames for frames in expected if frames not in stacks]
    frames = sum(len(stack) for stack in expected)
    print(f"{python}: Python {version}, {len(expected)} threads, {frames} frames: "
          f"{'the same' if not missing else 'differs'}")
    for stack in missing:
        near = max(stacks, key=lambda other: sum(row in other for row in stack))
        print("  expected", *stack, "  read", *near, sep="\n    ")
    return not missing


def main():
    print_stacks, pythons = sys.argv[1], [shutil.which(name) for name in sys.argv[2:]]
    found = [python for python in pythons if python and subprocess.run(
        [python, "-c", ""], stderr=subprocess.DEVNULL).returncode == 0]  # a version manager's stand-in may find none
    if not found:
        sys.exit(77)
    same = [compare(print_stacks, python) for python in dict.fromkeys(found)]
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
