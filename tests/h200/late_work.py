#!/usr/bin/env python3
"""late_work.py - is work that is given to the GPU after a look done beside the kernel that was looked at?

    tests/h200/late_work.py [--build build] [--device gpu]

Runs `late_work` alone, under wsdbg where nothing looks, under wsdbg where two looks come before the work, and by default evidence, which
should not look; each with the first thread asking again and again, and with it waiting while another one gives the work.  Prints a line a run.
Exit status 1 where the default keeps the work back or a run is called a hang, 77 without a driver.  A development script, for a machine with an
H200; with --device sim it shows that the runs themselves work: nothing is held back there, and there is no run alone.
"""
import argparse, os, subprocess, sys, tempfile

WAYS = {'alone': None, 'no look': ('--evidence', 'live', '--stall', '30'), 'looked at': ('--evidence', 'live', '--stall', '0.4', '--on-stall', 'wait'),
        'default': ('--stall', '0.4')}
NO_DRIVER, HANG = 77, 124


def one(bin, device, options, words):
    with tempfile.TemporaryDirectory() as folder:
        watch = [os.path.join(bin, 'wsdbg'), 'run', '-q', '--device', device, '-o', folder + '/run.db', *options, '--'] if options else []
        return subprocess.run([*watch, os.path.join(bin, 'late_work'), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--device', default='gpu', choices=('gpu', 'sim'))
    options = parser.parse_args()
    bin, wrong = os.path.join(os.path.abspath(options.build), 'bin'), False
    for kind in ('copy', 'memset', 'kernel'):
        for giver in ((), ('thread',)):
            for way, evidence in WAYS.items():
                if options.device == 'sim' and way in ('alone', 'no look', 'looked at'):
                    continue  # no driver; no live evidence
                run = one(bin, options.device, evidence, (kind, '1.2', *giver))
                if run.returncode == NO_DRIVER:
                    print(run.stderr.strip(), file=sys.stderr)
                    return NO_DRIVER
                wrong = wrong or run.returncode == HANG or (way == 'default' and run.returncode != 0)
                print(f'{way}{", by another thread" if giver else ""}: {run.stdout.strip() or "nothing"} (status {run.returncode})', flush=True)
    return int(wrong)


if __name__ == '__main__':
    sys.exit(main())
