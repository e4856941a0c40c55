#!/usr/bin/env python3
"""expect_test.py EXPECT.py - what expect.py append does to a file of expectations: it adds what is new, and never
changes what is there.  A script stands in for nvdisasm: it prints the "cubin" as it is.  Skips without zstd."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

EXIT = ("exit", "        /*{0}*/                   {1} ;      /* 0x000000000000794d */\n"
                "                                            /* 0x000fea0003800000 */\n")
NOP = ("nop", "        /*{0}*/                   {1} ;      /* 0x0000000000007918 */\n"
              "                                           /* 0x000fc00000000000 */\n")


def listing(folder, *rows):
    path = folder / "cubin"
    path.write_text("".join(shape[1].format(address, text) for shape, address, text in rows))
    return str(path)


def run(mode, nvdisasm, target, cubin):
    return subprocess.run([sys.executable, sys.argv[1], mode, nvdisasm, str(target), cubin], capture_output=True, text=True)


def rows_of(target):
    return subprocess.run(["zstd", "-dc", str(target)], capture_output=True, text=True, check=True).stdout.splitlines()


def main():
    if not shutil.which("zstd"):
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        nvdisasm, target = folder / "nvdisasm", folder / "expected.zst"
        nvdisasm.write_text('#!/bin/sh\nfor last; do :; done\ncat "$last"\n')
        os.chmod(nvdisasm, 0o755)
        exit_row, nop_row = "10 000000000000794d 000fea0003800000 EXIT", "20 0000000000007918 000fc00000000000 NOP"

        assert run("write", nvdisasm, target, listing(folder, (EXIT, "0010", "EXIT"))).returncode == 0
        assert rows_of(target) == [exit_row]

        # A known instruction at another place is no new row; a new one comes last and is printed.
        done = run("append", nvdisasm, target, listing(folder, (NOP, "0020", "NOP"), (EXIT, "0030", "EXIT")))
        assert done.returncode == 0, done.stderr
        assert rows_of(target) == [exit_row, nop_row], rows_of(target)
        assert "1 rows added to 1" in done.stdout and nop_row in done.stdout, done.stdout

        # Another text for words that are there: an error that names both, and the file stays.
        before = target.read_bytes()
        done = run("append", nvdisasm, target, listing(folder, (NOP, "0020", "NOP.WAIT")))
        assert done.returncode == 1 and "NOP  now  NOP.WAIT" in done.stderr, (done.returncode, done.stderr)
        assert target.read_bytes() == before

        # A listing without instructions must not make an empty file.
        done = run("write", nvdisasm, target, listing(folder))
        assert done.returncode == 1 and "shows no instruction" in done.stderr, done.stderr
        assert target.read_bytes() == before


main()
