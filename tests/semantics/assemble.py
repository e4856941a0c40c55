#!/usr/bin/env python3
"""Assembles the corpus with ptxas, and keeps the list of instructions that it refuses.

usage: assemble.py SEMANTICS IMAGES [--ptxas PTXAS]

SEMANTICS is the program; IMAGES becomes a folder of UNIT-NUMBER.cubin.  refused.tsv beside this script is written anew:
every instruction of the table that ptxas does not take, with its words.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
REFUSED = HERE / "refused.tsv"
HEAD = "# Instructions of code/ptx/instructions.def that ptxas refuses for sm_90a, and its words; written by assemble.py.\n"
ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*:\s*(.*)")


def assemble(ptxas, text, image):
    """The messages by name of the case (a comment before it)."""
    done = subprocess.run([ptxas, "-arch=sm_90a", "-O1", str(text), "-o", str(image)], capture_output=True, text=True)
    if done.returncode == 0:
        return {}
    lines = text.read_text().split("\n")
    found = {}
    for number, message in ERROR.findall(done.stderr):
        at = int(number) - 1
        while at >= 0 and not lines[at].startswith("// "):
            at -= 1
        found.setdefault(lines[at][3:] if at >= 0 else "", message)
    if not found or "" in found:
        raise SystemExit(f"{text}: {done.stderr[:2000]}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("semantics")
    parser.add_argument("images", type=pathlib.Path)
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--fresh", action="store_true", help="forget what was refused before")
    arguments = parser.parse_args()
    arguments.images.mkdir(parents=True, exist_ok=True)
    for old in arguments.images.glob("*.cubin"):
        old.unlink()
    refused = {}
    if REFUSED.exists() and not arguments.fresh:
        refused = dict(line.split("\t") for line in REFUSED.read_text().splitlines() if not line.startswith("#"))
    while True:
        REFUSED.write_text(HEAD + "".join(f"{name}\t{refused[name]}\n" for name in sorted(refused)))
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([arguments.semantics, "--refused", REFUSED, "--write-ptx", folder], check=True)
            texts = sorted(pathlib.Path(folder).glob("*.ptx"))
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                answers = list(pool.map(lambda text: assemble(arguments.ptxas, text,
                                                              arguments.images / (text.stem + ".cubin")), texts))
        new = {name: message for answer in answers for name, message in answer.items()}
        print(f"{len(texts)} units, {len(new)} more refused")
        if not new:
            return
        refused.update(new)


main()
