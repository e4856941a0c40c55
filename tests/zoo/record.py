#!/usr/bin/env python3
"""record.py - records the zoo on an H200, for pack.py and by that for tests/zoo/h200.

    tests/zoo/record.py OUT [--build build] [--kinds ring,live,both,core] [--cases NAME,...] [--seconds 520] [--limit 8]

Writes OUT/record.log, a line a run, and OUT/KIND.tar.xz after the last case of each kind: KIND/CASE/ with
  ring  ring.wsrec, what probes recorded             live  look-*.core, the first two looks at the kernel without probes
  both  looks and record of one run, with probes     core  core, a GPU core dump that the driver was asked for
After --seconds no run is begun and what there is is packed; a run that lasts longer than --limit seconds is killed.
Exit status: 1 where a case was left out for want of time.  A development script.
"""
import argparse, glob, json, os, subprocess, sys, tarfile, tempfile, time

DUMP = 'skip_nonrelocated_elf_images,skip_global_memory,skip_constbank_memory,skip_local_memory,skip_abort'
HANG_MS, DECOY_MS, STALL = '4000', '1500', '0.4'
DUMP_AFTER_S, DUMP_WITHIN_S, DECOY_IS_DUMPED_MS = 0.9, 6, '6000'
KINDS = {  # variant, evidence, what is kept
    'ring': ('probes', 'ring', ['--record', '{}/ring.wsrec']),
    'live': ('plain', 'live', ['--keep-looks', '{}']),
    'both': ('probes', 'live', ['--keep-looks', '{}', '--record', '{}/ring.wsrec']),
    'core': ('plain', None, None),
}


class Recorder:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.bin = os.path.join(os.path.abspath(options.build), 'bin')
        self.until = time.monotonic() + options.seconds
        os.makedirs(options.out, exist_ok=True)
        self.log = open(os.path.join(options.out, 'record.log'), 'a')
        self.left_out = 0

    def say(self, *words):
        print(*words, file=self.log, flush=True)

    def zoo(self, case, variant, decoy_ms=DECOY_MS, limit_ms=HANG_MS):
        words = [os.path.join(self.bin, 'zoo'), '--case', case['name'], '--variant', variant, '--timeout-ms', limit_ms]
        return words + (['--work-ms', decoy_ms] if case['kind'] == 'decoy' else [])

    def cases(self):
        listed = subprocess.run([os.path.join(self.bin, 'zoo'), '--list'], capture_output=True, text=True, timeout=20, check=True)
        rows = [line.split('\t') for line in listed.stdout.splitlines()]
        chosen = self.options.cases.split(',') if self.options.cases else None
        return [{'name': row[0], 'kind': row[4]} for row in rows if not chosen or row[0] in chosen]

    def watched(self, kind, case, folder):
        """One run under wsdbg; its first words are the line of the log."""
        variant, evidence, kept = KINDS[kind]
        process = subprocess.Popen(
            [os.path.join(self.bin, 'wsdbg'), 'run', '--stall', STALL, '--evidence', evidence, '--json', '-o', folder + '.db',
             *[word.format(folder) for word in kept], '--', *self.zoo(case, variant)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        out = ''
        for end in (None, process.terminate, process.kill):  # wsdbg ends its program when it is asked to end
            if end:
                end()
            try:
                out, _ = process.communicate(timeout=self.options.limit)
                break
            except subprocess.TimeoutExpired:
                pass
        for path in glob.glob(glob.escape(folder) + '.db*'):
            os.unlink(path)
        looks = sorted(glob.glob(os.path.join(folder, 'look-*.core')), key=lambda path: int(path.rsplit('-', 1)[1][:-5]))
        for path in looks[2:]:
            os.unlink(path)
        try:
            first = (json.loads(out[out.find('{\n'):]).get('findings') or [{}])[0]
        except ValueError:
            first = {}
        return process.returncode, first.get('cause'), first.get('confidence')

    def dumped(self, case, folder):
        """The driver is asked by a byte in a pipe, and says on stderr when it has done."""
        pipe, said = os.path.join(folder, 'pipe'), folder + '.said'
        environment = {**os.environ, 'CUDA_ENABLE_USER_TRIGGERED_COREDUMP': '1', 'CUDA_COREDUMP_PIPE': pipe,
                       'CUDA_COREDUMP_FILE': os.path.join(folder, 'core'), 'CUDA_COREDUMP_GENERATION_FLAGS': DUMP,
                       'CUDA_COREDUMP_SHOW_PROGRESS': '1'}
        with open(said, 'w') as err:
            process = subprocess.Popen(self.zoo(case, 'plain', DECOY_IS_DUMPED_MS, '9000'), env=environment, stdout=subprocess.DEVNULL,
                                       stderr=err, stdin=subprocess.DEVNULL)
        done = False
        try:
            time.sleep(DUMP_AFTER_S)
            if os.path.exists(pipe) and process.poll() is None:
                descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
                os.write(descriptor, b'1')
                os.close(descriptor)
                end = time.monotonic() + min(DUMP_WITHIN_S, self.options.limit)
                while time.monotonic() < end and not done:
                    done = 'All done' in open(said).read()
                    if process.poll() is not None:
                        break
                    time.sleep(0.01)
        finally:
            process.kill()
            process.wait()
            for path in (pipe, said) if done else (pipe, said, os.path.join(folder, 'core')):
                if os.path.exists(path):
                    os.unlink(path)
        return 'dumped' if done else 'no dump'

    def record(self, kind):
        for case in self.cases():
            if time.monotonic() > self.until:
                self.left_out += 1
                self.say(kind, case['name'], 'left out: no time')
                continue
            folder = os.path.join(self.folder, kind, case['name'])
            os.makedirs(folder)
            start = time.monotonic()
            try:
                answer = self.dumped(case, folder) if kind == 'core' else self.watched(kind, case, folder)
            except OSError as error:
                answer = error
            self.say(kind, case['name'], answer, f'{time.monotonic() - start:.1f} s',
                     {name: os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)})

    def pack(self, kind):
        path = os.path.join(self.options.out, f'{kind}.tar.xz')
        with tarfile.open(path + '.new', 'w:xz', preset=3) as tar:
            tar.add(os.path.join(self.folder, kind), kind)
        os.replace(path + '.new', path)
        self.say('packed', kind, os.path.getsize(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out')
    parser.add_argument('--build', default='build')
    parser.add_argument('--kinds', default=','.join(KINDS))
    parser.add_argument('--cases')
    parser.add_argument('--seconds', type=float, default=520)
    parser.add_argument('--limit', type=float, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(options, folder)
        for kind in options.kinds.split(','):
            os.makedirs(os.path.join(folder, kind))
            recorder.record(kind)
            recorder.pack(kind)
    return int(recorder.left_out > 0)


if __name__ == '__main__':
    sys.exit(main())
