#!/usr/bin/env python3
"""zoo_lint.py - what lint says of the barriers of the zoo's kernels before they run.

    zoo_lint.py WSDBG IMAGES docs/results/lint.md     lints each case's image of the folder IMAGES (built without probes), its
                                                      kernel with the defect and the one without, and the other demo
                                                      kernels; writes the section between BEGIN and END; exit status 1
                                                      where a right kernel has an error or a warning, or a defect the
                                                      code of another cause

Most defects of the zoo depend on values, so that nothing can be said of them: the table says of which.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
BEGIN, END = "<!-- zoo_lint.py: begin -->", "<!-- zoo_lint.py: end -->"
ROW = re.compile(r'^ZOO\((\w+), "([^"]*)", "([^"]*)", "[^"]*", "[^"]*", (\w+),')
FINDING = re.compile(r": (error|warning|note): .*\[([A-Z_]+)\]$")
KERNEL = re.compile(r"^    in kernel ([^+\s]+)")
# Families of codes that mean the zoo's cause: of registers lint has codes of its own.
SAME = {"REGS_EXHAUSTED": "REGS_BUDGET"}
RIGHT = ("gemm_plain", "gemm_off", "gemm_probes", "gemm_bare")


def is_of_interest(severity, code):
    """Warnings about registers and wgmma have pages of their own: two_async_warps does ask for what only some are given."""
    return severity == "error" or (severity == "warning" and not code.startswith(("REGS_", "WGMMA_")))


def findings(wsdbg, image):
    """(kernel, severity, code) of each finding of interest."""
    done = subprocess.run([wsdbg, "lint", "--fail-on", "never", image], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{image}: {done.stderr}")
    said, found = set(), None
    for line in done.stdout.splitlines():
        if match := FINDING.search(line):
            found = match.groups()
            named = re.search(r"kernel ([^+:\s]+)", line[:match.start()])
            if named and is_of_interest(*found):
                said.add((named.group(1), *found))
        elif (match := KERNEL.match(line)) and found:
            if is_of_interest(*found):
                said.add((match.group(1), *found))
            found = None
    return said


def case(wsdbg, images, row):
    """What is said of the kernel with the defect, and of the one without."""
    identifier, _, _, _ = row
    said = findings(wsdbg, images / f"zoo_{identifier}_plain.fatbin")
    defect = sorted((severity, code) for kernel, severity, code in said if not kernel.endswith("_fixed"))
    fixed = sorted((severity, code) for kernel, severity, code in said if kernel.endswith("_fixed"))
    return defect, fixed


def words(said):
    return ", ".join(f"{code} ({severity})" for severity, code in said) or "-"


def section(wsdbg, images):
    rows = [ROW.match(line).groups() for line in (ROOT / "demo_kernels/zoo/zoo.def").read_text().splitlines()
            if ROW.match(line)]
    table, right, wrong, found, defects = [], 0, [], 0, 0
    for row in rows:
        identifier, name, cause, kind = row
        said, fixed = case(wsdbg, images, row)
        right += 1 + (kind == "DECOY")
        wrong += [f"{name} without its defect: {words(fixed)}"] if fixed else []
        if kind == "DECOY":
            wrong += [f"{name}: {words(said)}"] if said else []
            continue
        defects += 1
        fits = [code for _, code in said if code in (cause, SAME.get(cause))]
        found += bool(fits)
        wrong += [f"{name} is {cause}: {words(said)}"] if said and not fits else []
        if said:
            table.append(f"| `{name}` | {cause} | {words(said)} |")
    others = [images / f"{name}.fatbin" for name in RIGHT] + sorted(images.glob("two_async_warps_none_*.fatbin"))
    for image in others:
        right += 1
        said = sorted((severity, code) for _, severity, code in findings(wsdbg, image))
        wrong += [f"{image.stem}: {words(said)}"] if said else []
    text = [BEGIN, "## Barriers: the zoo before it runs", "",
            "Made by `tests/lint/zoo_lint.py` with the demo kernels' images without probes.", "",
            f"Of {defects} defects {found} are seen in the file, with the zoo's cause; the others depend on values. "
            f"On {right} right kernels (the defects' twins, the decoys with theirs, the GEMM's and two_async_warps' images) "
            f"and with another cause than the zoo's: {len(wrong)} findings.", "",
            "| case | cause | lint |", "|---|---|---|", *table, "", *[f"- {line}" for line in wrong],
            *([""] if wrong else []), END]
    return "\n".join(text) + "\n", wrong


def main():
    wsdbg, images, page = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    text, wrong = section(wsdbg, images)
    old = page.read_text()
    if BEGIN in old:
        old = old[:old.index(BEGIN)] + old[old.index(END) + len(END) + 1:]
    page.write_text(old.rstrip("\n") + "\n\n" + text)
    print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
