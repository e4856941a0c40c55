#!/usr/bin/env python3
"""dumps.py - lets every deliberate hang leave a GPU core dump, the way its user would ask the driver for one.

    tests/h200/dumps.py [--build build] [--out FOLDER] [--full] [NAME ...]

Writes FOLDER/PROGRAM-NAME.core.gz for each hang of the demo programs without probes, and with --full one of the whole chip.  The program is ended afterwards.  A development script: fixtures are cut from what it leaves.
"""
import argparse, gzip, os, shutil, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = 'skip_nonrelocated_elf_images,skip_global_memory,skip_constbank_memory,skip_local_memory,skip_abort'


def names(program):
    text = subprocess.run([program, '--list-bugs'], capture_output=True, text=True, timeout=20).stdout
    rows = [line.split('\t') for line in text.splitlines() if line.strip()]
    return [row[0] for row in rows if row[4].lower() in ('hang', 'race')]


def environment(folder):
    return {**os.environ, 'CUDA_ENABLE_USER_TRIGGERED_COREDUMP': '1', 'CUDA_COREDUMP_PIPE': f'{folder}/pipe',
            'CUDA_COREDUMP_FILE': f'{folder}/core', 'CUDA_COREDUMP_GENERATION_FLAGS': FLAGS,
            'CUDA_COREDUMP_SHOW_PROGRESS': '1'}


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def dump(command, out, wait=2.0, limit=40):
    """Starts the program, triggers after `wait` seconds; seconds until the file was whole, or None."""
    folder = out + '.tmp'
    os.makedirs(folder, exist_ok=True)
    errors = open(f'{folder}/stderr', 'w+')
    process = subprocess.Popen(command, env=environment(folder), stdout=subprocess.DEVNULL, stderr=errors)
    time.sleep(wait)
    start = time.monotonic()
    if os.path.exists(f'{folder}/pipe') and process.poll() is None:
        pipe = os.open(f'{folder}/pipe', os.O_WRONLY | os.O_NONBLOCK)
        os.write(pipe, b'1')
        os.close(pipe)
        done = wait_until(lambda: 'All done' in open(f'{folder}/stderr').read() or process.poll() is not None, limit)
    else:
        done = False
    seconds = time.monotonic() - start
    process.kill()
    process.wait()
    text = open(f'{folder}/stderr').read()
    if done and os.path.exists(f'{folder}/core'):
        with open(f'{folder}/core', 'rb') as plain, gzip.open(out + '.core.gz', 'wb', 6) as packed:
            shutil.copyfileobj(plain, packed)
    size = os.path.getsize(f'{folder}/core') if os.path.exists(f'{folder}/core') else 0
    for name in ('core', 'pipe', 'stderr'):
        if os.path.exists(f'{folder}/{name}'):
            os.unlink(f'{folder}/{name}')
    os.rmdir(folder)
    print(f'{os.path.basename(out)}: {"whole" if done else "no dump"} after {seconds:.2f} s, {size} bytes', flush=True)
    if not done:
        print(text[-400:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default=os.path.join(ROOT, 'build'))
    parser.add_argument('--out', default='dumps')
    parser.add_argument('--full', action='store_true')
    parser.add_argument('names', nargs='*')
    a = parser.parse_args()
    os.makedirs(a.out, exist_ok=True)
    for program in ('gemm', 'two_async_warps', 'waits'):
        path = os.path.join(a.build, 'bin', program)
        variant = [] if program == 'waits' else ['--variant', 'plain']
        for name in names(path):
            if not a.names or name in a.names:
                dump([path, '--bug', name, *variant], f'{a.out}/{program}-{name}')
    if not a.names:
        gemm = [os.path.join(a.build, 'bin', 'gemm'), '--variant', 'plain']
        dump([*gemm, '--m', '4096', '--n', '4096', '--k', '4096', '--ctas', '2', '--repeat', '1000000'], f'{a.out}/gemm-healthy')
        dump([*gemm, '--cluster', '2', '--ctas', '2', '--repeat', '1000000'], f'{a.out}/gemm-healthy-cluster')
        dump([os.path.join(a.build, 'bin', 'waits'), '--bug', 'long-work'], f'{a.out}/waits-long-work')
    if a.full:
        dump([*gemm, '--bug', 'arrive-missing', '--m', '8192', '--n', '8192', '--k', '1024', '--ctas', '132'], f'{a.out}/full-chip')
    return 0


if __name__ == '__main__':
    sys.exit(main())
