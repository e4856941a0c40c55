#!/usr/bin/env python3
"""agreement.py - compares what ptxas says of wgmma with what lint says, kernel by kernel.

    agreement.py WSDBG docs/results/lint.md [PTXAS]
                                                compiles the kernels of wgmma_variants.py and wgmma/ with nvcc (of the
                                                path) and writes the section between BEGIN and END; exit status 1
                                                below 95 % where lint has the machine code and PTX

PTXAS is that of a CUDA 12 (pip download nvidia-cuda-nvcc-cu12==12.3.107): it gets the same PTX, marked as of its version.

ptxas speaks where it serializes wgmma (advisories C7508 to C7516, C7518, C7520) or puts in a wait (C7517); an arrive that
it puts in (C7519) does not keep wgmma apart.  lint speaks with a warning that has a WGMMA code.
"""
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import wgmma_variants

HERE = pathlib.Path(__file__).parent
AGREED_LEAST = 0.95
BATCH = 16  # kernels in a source
BEGIN, END = "<!-- agreement.py: begin -->", "<!-- agreement.py: end -->"
ADVISORY = re.compile(r"\((C75\d\d)\).*function '(\w+)'")
IGNORED = "C7519"
# What lint's sentence says of the cause, in a word, and which advisories mean the same.
CAUSES = {
    "call": (r"the kernel calls|is called issues", {"C7508", "C7509", "C7510", "C7520"}),
    "local memory": (r"local memory", {"C7511", "C7512", "C7514", "C7515", "C7517"}),
    "wait in a branch": (r"on some paths", {"C7514", "C7515", "C7517", "C7518"}),
    "accumulators used": (r"accumulators are (read|written|used)", {"C7511", "C7514", "C7515", "C7517"}),
    "first matrix": (r"first matrix", {"C7513", "C7515", "C7516"}),
    "threads part": (r"may part", {"C7515", "C7518", "C7520"}),
    "registers": (r"too many for", {"C7511", "C7512"}),
    "scale-d": (r"scale-d", {"C7515"}),
    "first values": (r"first values", {"C7515"}),
}
# Why they do not agree: by kernel, of all inputs or of one.  Another disagreement is shown as unexplained.
NOT_A_WAIT_OF_A_STAGE = "ptxas waits before the trap, where the stage ends anyway; lint looks at uses of accumulators"
WHOSE_WAIT = "wgmma of a stage overlap; that the wait behind them is ptxas's own only the PTX shows"
A_NOTE = "lint has a note, no warning: ptxas 13.0 mostly takes a computed scale-d as it is"
EXPLAINED = (
    (r"inside_trap_wait[01]", r".*", NOT_A_WAIT_OF_A_STAGE),
    (r"m64n\d+_indexed_2|wait_none_last_none", r"bare\.cubin", WHOSE_WAIT),
    (r"scale_.*", r"ptx", A_NOTE),
    (r"inside_branch_wait1", r"ptx", "ptxas takes a branch in a stage apart here and not in inside_branch_wait0: lint does "
                                     "not predict it"),
)


def explained(name, ending):
    return next((why for kernel, of, why in EXPLAINED if re.fullmatch(kernel, name) and re.fullmatch(of, ending)),
                "unexplained")


def compiled(folder, name, text):
    """The cubin with lines, the fatbin with PTX and the PTX of a source, and what ptxas said."""
    (folder / f"{name}.cu").write_text(text)
    done = subprocess.run(["nvcc", "-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]", "-std=c++17", "-lineinfo",
                           "-fatbin", "-I", HERE / "wgmma", "-o", f"{name}.fatbin", "--keep", "--keep-dir", ".",
                           f"{name}.cu"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr[-2000:]}")
    ptx = (folder / f"{name}.ptx").read_text()
    bare = re.sub(r"(?m)^\s*\.(loc|file)\s.*\n", "", ptx.split("\t.section")[0]) + "\n"
    (folder / f"{name}.bare.ptx").write_text(bare)
    subprocess.run(["ptxas", "-arch=sm_90a", "-o", f"{name}.bare.cubin", f"{name}.bare.ptx"], cwd=folder, check=True,
                   capture_output=True)
    return done.stderr


def advisories(stderr):
    found = collections.defaultdict(set)
    for line in stderr.splitlines():
        if (match := ADVISORY.search(line)) and match[1] != IGNORED:
            found[match[2]].add(match[1])
    return found


def linted(wsdbg, path):
    """By kernel: code and sentence of the first warning about wgmma."""
    done = subprocess.run([wsdbg, "lint", "--json", path], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{path}: {done.stderr}")
    found = {}
    for row in json.loads(done.stdout)["findings"]:
        if row["severity"] == "warning" and row["code"].startswith("WGMMA_"):
            found.setdefault(row["symbol"], (row["code"], row["message"]))
    return found


def cause(sentence):
    return next((name for name, (pattern, _) in CAUSES.items() if re.search(pattern, sentence)), "not known")


def sources():
    """Names of kernels, and a source for each batch of them."""
    rows = list(wgmma_variants.variants().items())
    for first in range(0, len(rows), BATCH):
        batch = rows[first:first + BATCH]
        yield (f"batch{first}", [name for name, _ in batch],
               wgmma_variants.HEAD + "".join(wgmma_variants.source(*row) for row in batch))
    for path in sorted((HERE / "wgmma").glob("*.cu")):
        text = path.read_text()
        names = [f"{path.stem}_{which}" for which in ("defect", "fixed")]
        for which, name in zip(("defect", "fixed"), names):
            text = text.replace(f"KERNEL({which})", f"KERNEL({name})")
        yield path.stem, names, text


def matrix(rows, ending, out):
    count = collections.Counter((bool(row["ptxas"]), bool(row["lint"])) for row in rows)
    agreed = (count[True, True] + count[False, False]) / len(rows)
    out.append("| | lint warns | lint is silent |\n|---|---|---|\n"
               f"| ptxas advises | {count[True, True]} | {count[True, False]} |\n"
               f"| ptxas is silent | {count[False, True]} | {count[False, False]} |\n")
    out.append(f"{len(rows)} kernels, {100 * agreed:.1f} % agree.\n")
    apart = [row for row in rows if bool(row["ptxas"]) != bool(row["lint"])]
    if apart:
        out.append("| they do not agree on | ptxas | lint | why |\n|---|---|---|---|")
        for row in apart:
            out.append(f"| {row['name']} | {', '.join(sorted(row['ptxas'])) or '-'} | "
                       f"{row['lint'][0] if row['lint'] else '-'} | {explained(row['name'], ending)} |")
        out.append("")
    return agreed


def causes(rows, out):
    """Which cause lint names for which advisories, and whether they mean the same."""
    both = [row for row in rows if row["ptxas"] and row["lint"]]
    table = collections.Counter((", ".join(sorted(row["ptxas"])), row["lint"][0], cause(row["lint"][1])) for row in both)
    same = sum(1 for row in both if cause(row["lint"][1]) in CAUSES
               and row["ptxas"] & CAUSES[cause(row["lint"][1])][1])
    out.append("| ptxas | lint | cause that lint names | kernels |\n|---|---|---|---|")
    out += [f"| {advice} | {code} | {name} | {count} |" for (advice, code, name), count in sorted(table.items())]
    out.append(f"\nOf the {len(both)} kernels that both speak of, lint's cause fits ptxas's advisory in {same}.\n")


def release(ptxas):
    return subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout.split("release ")[1].split(",")[0]


def older(wsdbg, ptxas, folder, all_sources, out):
    """The same kernels as a ptxas of CUDA 12 assembles them, with lines."""
    rows, version = [], release(ptxas)
    for file, kernels, _ in all_sources:
        ptx = (folder / f"{file}.ptx").read_text()
        (folder / f"{file}.old.ptx").write_text(re.sub(r"(?m)^\.version .*", f".version 8.{version.split('.')[1]}", ptx))
        done = subprocess.run([ptxas, "-arch=sm_90a", "-lineinfo", "-o", f"{file}.old.cubin", f"{file}.old.ptx"],
                              cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{file}: {done.stderr[-2000:]}")
        advice, spoken = advisories(done.stderr), linted(wsdbg, folder / f"{file}.old.cubin")
        rows += [{"name": kernel, "ptxas": advice[kernel], "lint": spoken.get(kernel)} for kernel in kernels]
    out += [f"### ptxas {version}, a cubin with -lineinfo", "",
            "The same PTX, of the compiler of CUDA 13, with its version changed. This ptxas serializes more: above all "
            "accumulators that other instructions set before the loop (C7515), for which lint's advice is to peel the "
            "first iteration.", ""]
    matrix(rows, "old.cubin", out)
    causes(rows, out)


INPUTS = (("fatbin", "machine code and PTX", "What nvcc makes by default: the module with its PTX."),
          ("sm_90a.cubin", "a cubin with -lineinfo", "The cubin keeps its PTX then."),
          ("bare.cubin", "machine code alone", "No PTX, no lines. A missing wait that ptxas put in cannot be seen, "
           "and whose a wait is neither."),
          ("ptx", "PTX alone", "A prediction: what ptxas makes of it is not known."))


def main():
    wsdbg, path = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        folder, all_sources = pathlib.Path(name), list(sources())
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            said = list(pool.map(lambda row: compiled(folder, row[0], row[2]), all_sources))
        found = {ending: [] for ending, _, _ in INPUTS}
        for (file, kernels, _), stderr in zip(all_sources, said):
            advice = advisories(stderr)
            for ending in found:
                spoken = linted(wsdbg, folder / f"{file}.{ending}")
                found[ending] += [{"name": kernel, "ptxas": advice[kernel], "lint": spoken.get(kernel)}
                                  for kernel in kernels]
        section = []
        if len(sys.argv) > 3:
            older(wsdbg, str(pathlib.Path(sys.argv[3]).resolve()), folder, all_sources, section)
    out = ["## wgmma: lint and ptxas", "",
           f"Made by `tests/lint/agreement.py` with ptxas {release('ptxas')}. Kernels: those of "
           "`tests/lint/wgmma` (a defect and its twin each) and of `tests/lint/wgmma_variants.py`.", ""]
    agreed = []
    for ending, title, text in INPUTS:
        out += [f"### {title}", "", text, ""]
        agreed.append(matrix(found[ending], ending, out))
        causes(found[ending], out)
    out += section
    before, rest = pathlib.Path(path).read_text().split(BEGIN)
    after = rest.split(END)[1]
    pathlib.Path(path).write_text(before + "\n".join([BEGIN, *out, END]) + after)
    for (_, title, _), share in zip(INPUTS, agreed):
        print(f"{title}: {100 * share:.1f} %")
    return agreed[0] < AGREED_LEAST


if __name__ == "__main__":
    sys.exit(main())
