#!/usr/bin/env python3
"""late_work.py - is work that is given to the GPU after a look done beside the kernel that was looked at?

    tests/h200/late_work.py [--build build]

Runs `late_work` alone, under wsdbg where nothing looks, under wsdbg where two looks come before the work, and by default evidence, which
should not look; prints a line a run.  Exit status 1 where the default keeps the work back.  A development script, for a machine with an H200.
"""
import argparse, os, subprocess, sys, tempfile

WAYS = {'alone': None, 'no look': ('--evidence', 'live', '--stall', '30'), 'looked at': ('--evidence', 'live', '--stall', '0.4', '--on-stall', 'wait'),
        'default': ('--stall', '0.4')}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    bin = os.path.join(os.path.abspath(parser.parse_args().build), 'bin')
    held_back = False
    for kind in ('copy', 'memset', 'kernel'):
        for way, options in WAYS.items():
            with tempfile.TemporaryDirectory() as folder:
                watch = [os.path.join(bin, 'wsdbg'), 'run', '-q', '-o', folder + '/run.db', *options, '--'] if options else []
                run = subprocess.run([*watch, os.path.join(bin, 'late_work'), kind, '1.2'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30)
            held_back = held_back or (way == 'default' and run.returncode != 0)
            print(f'{way}: {run.stdout.strip() or "nothing"} (status {run.returncode})', flush=True)
    return int(held_back)


if __name__ == '__main__':
    sys.exit(main())
