#!/usr/bin/env python3
"""expect.py - what nvdisasm says of machine code, for the tests of the decoder.

    expect.py write NVDISASM OUT.zst CUBIN...   keeps the distinct instructions of our own kernels for CI
    expect.py append NVDISASM OUT.zst CUBIN...  adds those that OUT.zst does not have; no row of OUT.zst changes.  Where
                                                nvdisasm now says something else of a row, that is an error
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


def key_of(address, low, high):
    """Equal for instructions that differ only in the marks of scheduling; branches of the same words may lead
    elsewhere."""
    is_branch = int(low, 16) & 0xFFF in BRANCHES
    return low, int(high, 16) & (1 << 41) - 1, address if is_branch else None


def distinct(nvdisasm, cubins):
    """One row for each key: its texts by key, in the order of the cubins."""
    rows = {}
    for cubin in cubins:
        for address, low, high, text in instructions(nvdisasm, cubin):
            rows.setdefault(key_of(address, low, high), (f"{address:x} {low} {high}", text))
    return rows


def lines_of(rows):
    return "".join(f"{words} {text}\n" for words, text in rows.values())


def kept(path):
    """The rows of a file that was written before."""
    unpacked = subprocess.run(["zstd", "-dc", path], capture_output=True, text=True)
    if unpacked.returncode:
        sys.exit(f"{path}: {unpacked.stderr.strip()}")
    rows = {}
    for line in unpacked.stdout.splitlines():
        address, low, high, text = line.split(" ", 3)
        rows[key_of(int(address, 16), low, high)] = (f"{address} {low} {high}", text)
    return unpacked.stdout, rows


def appended(path, rows):
    """The file's lines as they are, and after them the rows that it does not have."""
    lines, old = kept(path)
    changed = [f"{old[key][0]}: {old[key][1]}  now  {text}" for key, (_, text) in rows.items()
               if key in old and old[key][1] != text]
    if changed:
        sys.exit(f"{path}: nothing was written, for nvdisasm now says something else of rows that are there:\n" +
                 "\n".join(changed))
    new = {key: row for key, row in rows.items() if key not in old}
    print(f"{path}: {len(new)} rows added to {len(old)}")
    sys.stdout.write(lines_of(new))
    return lines + lines_of(new)


def main():
    if len(sys.argv) < 5 or sys.argv[1] not in ("write", "append", "check"):
        sys.exit(__doc__)
    mode, nvdisasm, target = sys.argv[1:4]
    rows = distinct(nvdisasm, sys.argv[4:])
    if not rows:
        sys.exit(f"{nvdisasm} shows no instruction of {' '.join(sys.argv[4:])}")
    if mode == "check":
        sys.exit(subprocess.run([target, "-"], input=lines_of(rows), text=True).returncode)
    lines = appended(target, rows) if mode == "append" else lines_of(rows)
    packed = subprocess.run(["zstd", "-19", "-c"], input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout
    with open(target, "wb") as out:
        out.write(packed)


main()
