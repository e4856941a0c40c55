#!/usr/bin/env python3
"""large.py - `wsdbg lint` on files of more than a gigabyte: in how much memory, how long, and what its progress bar does.

    large.py WSDBG RESULTS FOLDER LIBRARY...    RESULTS: docs/results/lint.md, whose section between BEGIN and END is written;
                                                FOLDER: where some 2.2 GB of files are made, one at a time

Two files are made of the libraries' images, each as often as it takes to be longer than 2^30 bytes: a shared library that the
linker makes, with the .nv_fatbin sections one behind another, and one single fatbin with all entries.  lint runs with --json into
a file and a terminal as its stderr.  The bar must be seen there, only grow, come to its end and be gone before the summary; the
kernels must be as many as in the libraries, each as often as it was taken.  Exit status 1 where that is not so; nothing is
written then.
"""
import json
import os
import pty
import re
import struct
import subprocess
import sys

BEGIN, END = "<!-- large.py: begin -->", "<!-- large.py: end -->"
LEAST_BYTES = 1 << 30
SHOWN_LEAST = 90
HEADER = struct.Struct("<IHHQ")  # magic, version, bytes of the header, bytes of the entries
MAGIC = 0xBA55ED50
SHOWN = re.compile(rb"reading: (\d+) % \[#* *\]")


def section(library, path):
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin", library, path], check=True)
    return os.path.getsize(path)


def taken(sizes):
    """The numbers of the sections, by turns, until there are enough bytes."""
    numbers, length = [], 0
    while length < LEAST_BYTES:
        numbers.append(len(numbers) % len(sizes))
        length += sizes[numbers[-1]]
    return numbers


def make_library(folder, parts, path):
    source = os.path.join(folder, "large.s")
    with open(source, "w") as out:
        out.write('.section .nv_fatbin,"a"\n')
        for part in parts:
            out.write(f'.balign 8\n.incbin "{part}"\n')
    subprocess.run(["cc", "-shared", "-nostdlib", "-Wl,--build-id=none", "-o", path, source], check=True)
    os.remove(source)


def copy(file, out, length):
    while length:
        piece = file.read(min(length, 1 << 20))
        out.write(piece)
        length -= len(piece)


def copy_entries(part, out):
    """The entries of all fatbins of a section.  Piece by piece: what this process once held counts as its children's memory."""
    end = os.path.getsize(part)
    offset = 0
    with open(part, "rb") as file:
        while offset + HEADER.size <= end:
            file.seek(offset)
            magic, _, header_bytes, entries_bytes = HEADER.unpack(file.read(HEADER.size))
            if magic != MAGIC:
                offset += 8
                continue
            file.seek(offset + header_bytes)
            copy(file, out, entries_bytes)
            offset += header_bytes + entries_bytes


def make_fatbin(parts, path):
    with open(path, "wb") as out:
        out.write(bytes(HEADER.size))
        for part in parts:
            copy_entries(part, out)
        length = out.tell() - HEADER.size
        out.seek(0)
        out.write(HEADER.pack(MAGIC, 1, HEADER.size, length))


def on_terminal(command, stdout):
    """What the command wrote to a terminal as its stderr, and what it used."""
    master, terminal = pty.openpty()
    process = subprocess.Popen(command, stdout=stdout, stderr=terminal)
    os.close(terminal)
    screen = b""
    while True:
        try:
            read = os.read(master, 1 << 16)
        except OSError:  # its other end was closed
            break
        if not read:
            break
        screen += read
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    os.close(master)
    return screen, usage


def faults(screen):
    shown = [int(number) for number in SHOWN.findall(screen)]
    last = screen.rfind(b"reading:")
    if not shown:
        return ["no bar was shown"]
    found = []
    if shown != sorted(shown):
        found.append("the bar went back")
    if shown[-1] < SHOWN_LEAST:  # it is drawn ten times a second, and taken away at 100 %
        found.append(f"the bar ended at {shown[-1]} %")
    if not re.match(rb"reading: [^\r\n]*\r\x1b\[K", screen[last:]):
        found.append("the bar was left on the terminal")
    return found


def measure(wsdbg, path, folder):
    with open(path, "rb") as file:  # from the page cache, as far as that holds it
        while file.read(1 << 20):
            pass
    out = os.path.join(folder, "large.json")
    with open(out, "wb") as stdout:
        screen, usage = on_terminal([wsdbg, "lint", "--json", "--fail-on", "never", path], stdout)
    with open(out) as file:
        totals = json.load(file)["totals"]
    os.remove(out)
    return {"bytes": os.path.getsize(path), "totals": totals, "seconds": usage.ru_utime + usage.ru_stime,
            "resident": usage.ru_maxrss / 1000, "shown": SHOWN.findall(screen), "faults": faults(screen)}


def kernels(wsdbg, path):
    done = subprocess.run([wsdbg, "lint", "--json", "--fail-on", "never", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["totals"]["kernels"]


def table(rows, libraries, counts):
    out = ["## Large files", "",
           "Made by `tests/lint/large.py` on one core of a shared x86-64 machine; s is that core's time. The images are those of "
           + ", ".join(f"{os.path.basename(library)} ({count} times)" for library, count in zip(libraries, counts))
           + ", section .nv_fatbin. `--json` goes into a file and stderr to a terminal: the bar was shown, only grew and was taken "
           "away; the kernels are those of the libraries, none is lost.", "",
           "| file | MB | kernels | judged | cubin, MB | s | resident, MB | bar drawn, times | last at |",
           "|---|---|---|---|---|---|---|---|---|"]
    for name, row in rows:
        totals = row["totals"]
        out.append(f"| {name} | {row['bytes'] / 1e6:.0f} | {totals['kernels']} | {totals['judged']} "
                   f"| {totals['code_bytes'] / 1e6:.0f} | {row['seconds']:.0f} | {row['resident']:.0f} "
                   f"| {len(row['shown'])} | {int(row['shown'][-1])} % |")
    return "\n".join(out) + "\n"


def main():
    wsdbg, results, folder, *libraries = sys.argv[1:]
    parts = [os.path.abspath(os.path.join(folder, f"part{i}")) for i in range(len(libraries))]
    numbers = taken([section(library, part) for library, part in zip(libraries, parts)])
    counts = [numbers.count(i) for i in range(len(libraries))]
    expected = sum(kernels(wsdbg, part) * count for part, count in zip(parts, counts) if count)
    rows, failed = [], False
    for name, make in (("a shared library", lambda path: make_library(folder, [parts[i] for i in numbers], path)),
                       ("one fatbin", lambda path: make_fatbin([parts[i] for i in numbers], path))):
        path = os.path.join(folder, "large")
        make(path)
        row = measure(wsdbg, path, folder)
        os.remove(path)
        if row["totals"]["kernels"] != expected:
            row["faults"].append(f"{row['totals']['kernels']} kernels, not {expected}")
        for fault in row["faults"]:
            print(f"{name}: {fault}", file=sys.stderr)
            failed = True
        rows.append((name, row))
    for part in parts:
        os.remove(part)
    if failed:
        return 1
    with open(results) as file:
        before, rest = file.read().split(BEGIN)
    with open(results, "w") as file:
        file.write(before + BEGIN + "\n" + table(rows, libraries, counts) + END + rest.split(END)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
