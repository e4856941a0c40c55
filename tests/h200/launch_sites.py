#!/usr/bin/env python3
"""launch_sites.py - on a real GPU: is the line named that launched the kernel which stands still, and what does that cost a launch?

    tests/h200/launch_sites.py [--build build] [--parts sites,launches,training] [--rounds 5] [--seconds 3] [--out FILE.json]
    tests/h200/launch_sites.py --page FILE.json         writes the section of docs/results/host.md from what was kept

sites: programs that stand still, under wsdbg run.  launches: null_launch alone, armed without launch sites, and armed with them, in turns.
training: the loop of stands.py, likewise.  Exit status 1 where a line was wrong.  A development script.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
PROGRAM = os.path.join(HERE, "launch_sites_program.py")
WAYS = ("alone", "off", "on")
KERNELS = {  # case: what runs, the words that the place must have
    "C, driver API": ([], "gemm --bug arrive-missing", ("launched at", "kernel.c:", "called from gemm.c:")),
    "CUDA C++, static runtime": ([], "stands --case grid-barrier", ("launched at", "called from main")),
    "Python, ctypes": (["ctypes"], None, ("launched at {ctypes} in by_ctypes, called from {train} in train",)),
    "Python, Triton": (["triton"], None, ("launched at {triton} in by_triton, called from {train} in train",)),
    "Python, graph of PyTorch": (["graph"], None, ("{replayed} in by_graph, called from {train} in train", "put into a graph at {captured} in by_graph")),
}


def lines():
    """'launch_sites_program.py:12' by the word of its comment."""
    with open(PROGRAM) as file:
        found = [(number, re.search(r"# SITE (\w+)$", line)) for number, line in enumerate(file, 1)]
    return {match.group(1): f"{os.path.basename(PROGRAM)}:{number}" for number, match in found if match}


def tool(options, name):
    return os.path.join(os.path.abspath(options.build), "bin", name)


def site(options, words, native):
    """What the report says of the place, and how long the stacks took in ms."""
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "run.db")
        command = [tool(options, "wsdbg"), "run", "--device", "gpu", "--stall", "2", "--give-up", "4", "-o", database, "--"]
        command += [tool(options, native.split()[0]), *native.split()[1:]] if native else [sys.executable, PROGRAM, *words]
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=options.limit)
            status, said = done.returncode, done.stderr
        except subprocess.TimeoutExpired as late:
            status, said = "limit", (late.stderr or b"").decode(errors="replace")
        report = subprocess.run([tool(options, "wsdbg"), "report", database, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            data = json.loads(report.stdout)
        except ValueError:
            data = {}
    places = [grid["launched_at"] for grid in data.get("grids", []) if grid.get("launched_at")]
    return {"status": status, "cause": data.get("cause"), "places": places,
            "read_ms": [process["read_ns"] / 1e6 for process in data.get("host_stacks", [])], "said": said[-1500:] if not places else ""}


def judge(text, expected, where):
    """Whether the place is named: yes, among others that may be the one, or no."""
    if not text or not all(part.format(**where) in text for part in expected):
        return "no"
    return "among others" if " or " in text else "yes"


def sites(options, kept):
    where, bad = lines(), False
    for name, (words, native, expected) in KERNELS.items():
        if options.only and options.only not in name:
            continue
        row = site(options, words, native)
        text = " | ".join(row["places"])
        row["right"] = judge(text, expected, where)
        bad = bad or row["right"] == "no"
        kept.setdefault("sites", {})[name] = row
        print(f"{name}: {row['right']}, {row['cause']}, status {row['status']}, {row['read_ms']} ms: {text or row['said']}", flush=True)
        save(options, kept)
    return bad


def measure(options, kept, part, command, figure):
    for number in range(options.rounds):
        for way in WAYS[number % 3:] + WAYS[:number % 3]:
            with tempfile.TemporaryDirectory() as folder:
                arm = [tool(options, "wsdbg"), "arm", "--folder", os.path.join(folder, "armed"), "--launch-sites", way, "--"] if way != "alone" else []
                done = subprocess.run([*arm, *command], capture_output=True, text=True)
            value = figure(done.stdout)
            kept.setdefault(part, {}).setdefault(way, []).append(value)
            save(options, kept)
    print(part, {way: statistics.median(values) for way, values in kept[part].items()}, flush=True)


def save(options, kept):
    if options.out:
        with open(options.out, "w") as file:
            json.dump(kept, file, indent=1)


def page(path):
    import results

    with open(path) as file:
        kept = json.load(file)
    rows = [f"| {name} | {row['right']} | {row['cause'] or '?'} | {'; '.join(row['places'])} | "
            f"{', '.join(f'{ms:.1f}' for ms in row['read_ms'])} |" for name, row in kept["sites"].items()]
    text = (f"## Launch sites on a GPU\n\n`tests/h200/launch_sites.py`: {kept['device']}. One run each; the time is that of all stacks of the process, "
            "launch sites among them.\n\n| program | line right | verdict | where | ms |\n|---|---|---|---|---|\n" + "\n".join(rows))
    for part, unit, digits in (("launches", "ns a launch", 0), ("training", "steps a second", 1)):
        if all(kept.get(part, {}).get(way) for way in WAYS):
            cells = " | ".join(results.cell(results.spread(kept[part][way]), digits) for way in WAYS)
            text += f"\n\n{part[0].upper() + part[1:]}, {unit}, {len(kept[part]['on'])} processes each, in turns:\n\n" \
                    f"| alone | armed, sites off | armed, sites on |\n|---|---|---|\n| {cells} |"
    results.save("launch-sites-gpu", kept, text, "host")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--parts", default="sites,launches,training")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--limit", type=float, default=25)
    parser.add_argument("--out", default="")
    parser.add_argument("--page", default="")
    options = parser.parse_args()
    if options.page:
        return page(options.page)
    device = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    kept = {"device": device.stdout.strip()}
    parts = options.parts.split(",")
    if "launches" in parts:
        number = lambda name: lambda text: json.loads(text[text.index("{"):])[name]
        measure(options, kept, "launches", [tool(options, "null_launch"), "5"], number("launch_ns"))
    if "training" in parts:
        loop = [sys.executable, os.path.join(HERE, "stands", "stands.py"), "--case", "train-loop", "--seconds", str(options.seconds)]
        measure(options, kept, "training", loop, lambda text: float(re.search(r"steps_per_s=([0-9.]+)", text).group(1)))
    bad = "sites" in parts and sites(options, kept)
    save(options, kept)
    sys.exit(1 if bad else 0)


main()
