#!/usr/bin/env python3
"""speed.py - how fast the simulator is, what a resident CTA costs, where the time goes; docs/results/sim.md's second part.

    tests/sim/speed.py [--build build] [--runs 5]

Runs bench_hopper and the demo GEMM's plain image without wsdbg.  Needs perf for the profile, no GPU.  A development script: wsdbg
itself needs no Python.
"""
import argparse, json, os, re, subprocess, sys, tempfile, time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import results

SIZES = (256, 512, 1024)
CTAS = (1, 8, 32, 128)
SPREAD = ('2048', '2048', '256')  # 128 tiles, so that so many CTAs have one each
PROFILED = '1024'
SYMBOLS = 8


class Speed:
    def __init__(self, options):
        self.build, self.runs = os.path.abspath(options.build), options.runs
        self.environment = {**os.environ, 'LD_LIBRARY_PATH': os.path.join(self.build, 'lib', 'wsdbg', 'sim')}

    def gemm(self, m, n, k):
        return [os.path.join(self.build, 'bin', 'gemm'), '--variant', 'plain', '--m', m, '--n', n, '--k', k]

    def once(self, command, multiprocessors):
        """One run alone: seconds, seconds of processor time, KiB at most."""
        environment = {**self.environment, 'WSDBG_SIM_MULTIPROCESSORS': str(multiprocessors)}
        start = time.monotonic()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)}: status {process.returncode}")
        return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss

    def series(self, command, multiprocessors=132):
        columns = zip(*[self.once(command, multiprocessors) for _ in range(self.runs)])
        return dict(zip(('seconds', 'cpu_seconds', 'kib'), map(results.spread, columns)))

    def instructions(self):
        runs = [json.loads(subprocess.run([os.path.join(self.build, 'bin', 'bench_hopper')], capture_output=True, text=True, check=True).stdout)
                for _ in range(self.runs)]
        return {name: results.spread([run[name] for run in runs]) for name in runs[0] if name != 'unit'}

    def profile(self):
        """[share in percent, function], the largest first."""
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, 'perf.data')
            subprocess.run(['perf', 'record', '-q', '-F', '4999', '-o', data, *self.gemm(PROFILED, PROFILED, PROFILED)], env=self.environment,
                           capture_output=True, check=True)
            text = subprocess.run(['perf', 'report', '-i', data, '--stdio', '--no-children', '--sort', 'symbol'], capture_output=True, text=True,
                                  check=True).stdout
        rows = re.findall(r'^\s+([\d.]+)%\s+\[(.)\] (\S+)', text, re.M)
        kernel = sum(float(share) for share, where, _ in rows if where == 'k')
        return [[float(share), name] for share, where, name in rows if where == '.'][:SYMBOLS] + [[round(kernel, 2), 'the operating system']]

    def measure(self):
        data = {'machine': results.machine(), 'runs': self.runs, 'load_before': os.getloadavg()[0], 'instructions': self.instructions()}
        data['gemm'] = {str(size): self.series(self.gemm(*[str(size)] * 3)) for size in SIZES}
        data['ctas'] = {str(count): self.series(self.gemm(*SPREAD), count) for count in CTAS}
        median = lambda count: data['ctas'][str(count)]['kib']['median']
        data['kib_per_cta'] = (median(CTAS[-1]) - median(CTAS[0])) / (CTAS[-1] - CTAS[0])
        data['profile'] = self.profile()
        data['load_after'] = os.getloadavg()[0]
        return data


def page(data):
    lines = ['## Speed and memory', '',
             f"`tests/sim/speed.py`: {data['machine']}; {data['runs']} runs; load average {data['load_before']:.1f} before and "
             f"{data['load_after']:.1f} after (other work ran beside it, so processor time says more than seconds). A context executes on one thread.", '',
             '| `bench_hopper`, eight warps on each of four multiprocessors | million warp-instructions a second of one core |', '|---|---|']
    lines += [f'| {name} | {results.cell(rate, 1)} |' for name, rate in data['instructions'].items()]
    lines += ['', '| healthy GEMM, plain image, start to end of the program | seconds | processor seconds | peak MiB |', '|---|---|---|---|']
    lines += [f"| {size}³ | {results.cell(row['seconds'], 2)} | {results.cell(row['cpu_seconds'], 2)} | {results.cell(row['kib'], 1, 1 / 1024)} |"
              for size, row in data['gemm'].items()]
    lines += ['', f"{' × '.join(SPREAD)}, 128 tiles, on a chip of `WSDBG_SIM_MULTIPROCESSORS` (one CTA each):", '',
              '| CTAs | seconds | processor seconds | peak MiB |', '|---|---|---|---|']
    lines += [f"| {count} | {results.cell(row['seconds'], 2)} | {results.cell(row['cpu_seconds'], 2)} | {results.cell(row['kib'], 1, 1 / 1024)} |"
              for count, row in data['ctas'].items()]
    lines += ['', f"A resident CTA of 384 threads and 229,440 bytes of shared memory takes {data['kib_per_cta']:.0f} KiB (from the first row to the last).", '',
              f"Where the time of {PROFILED}³ goes (perf): " + ', '.join(f'{name} {share:.0f} %' for share, name in data['profile']) + '.']
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--runs', type=int, default=5)
    data = Speed(parser.parse_args()).measure()
    results.save('speed', data, page(data), 'sim')


if __name__ == '__main__':
    main()
