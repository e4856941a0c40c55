#!/usr/bin/env python3
"""expect.py - what nvdisasm says of machine code, for the tests of the decoder.

    expect.py write NVDISASM OUT.zst CUBIN...   keeps the distinct instructions of our own kernels for CI
    expect.py check NVDISASM TEST CUBIN...      compares any kernels now; TEST is the program test_sass_expected

Reads cubins for sm_90: demo images and forms.cu as nvcc makes them (cuobjdump -xelf all takes cubins out of a fatbin or
a library).  nvdisasm of CUDA 13 comes with pip download nvidia-cuda-nvdisasm.  The words and texts of kernels that are
not ours stay outside this repository.
"""
import re
import subprocess
import sys

FIRST = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s+/\* 0x([0-9a-f]{16}) \*/$")
SECOND = re.compile(r"^\s+/\* 0x([0-9a-f]{16}) \*/$")
LABEL = re.compile(r"^([.\w$@]+):\s*$")
BRANCHES = (0x343, 0x344, 0x348, 0x944, 0x945, 0x947, 0x949, 0x950)


def plain(text):
    """Without remarks and scheduling marks."""
    text = re.sub(r"\(\*.*?\*\)", "", text).replace(".reuse", "").rstrip(" ;")
    return re.sub(r"\s+", " ", text)


def with_addresses(rows, labels):
    """A label stands for its address within the section; a branch into another section is left out."""
    for address, low, high, text in rows:
        text = re.sub(r"`\((.*?)\)", lambda label: hex(labels[label[1]]) if label[1] in labels else label[0], text)
        if "`" not in text:
            yield address, low, high, text


def instructions(nvdisasm, cubin):
    done = subprocess.run([nvdisasm, "-c", "-hex", "-ndf", cubin], capture_output=True, text=True)
    rows, labels, waiting, first = [], {}, [], None
    for line in done.stdout.splitlines():
        if line.startswith("//----"):
            yield from with_addresses(rows, labels)
            rows, labels, waiting = [], {}, []
        elif match := LABEL.match(line):
            waiting.append(match[1])
        elif match := FIRST.match(line):
            first = match
            labels.update((label, int(match[1], 16)) for label in waiting)
            waiting = []
        elif (match := SECOND.match(line)) and first:
            rows.append((int(first[1], 16), first[3], match[1], plain(first[2])))
            first = None
    yield from with_addresses(rows, labels)


def distinct(nvdisasm, cubins):
    """Once for each pair of words but for the marks of scheduling; branches of the same words may lead elsewhere."""
    seen = set()
    for cubin in cubins:
        for address, low, high, text in instructions(nvdisasm, cubin):
            is_branch = int(low, 16) & 0xFFF in BRANCHES
            key = (low, int(high, 16) & (1 << 41) - 1, address if is_branch else None)
            if key not in seen:
                seen.add(key)
                yield f"{address:x} {low} {high} {text}\n"


def main():
    if len(sys.argv) < 5 or sys.argv[1] not in ("write", "check"):
        sys.exit(__doc__)
    lines = "".join(distinct(sys.argv[2], sys.argv[4:]))
    if sys.argv[1] == "check":
        sys.exit(subprocess.run([sys.argv[3], "-"], input=lines, text=True).returncode)
    with open(sys.argv[3], "wb") as out:
        subprocess.run(["zstd", "-19", "-c"], input=lines.encode(), stdout=out, check=True)


main()
