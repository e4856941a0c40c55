#!/usr/bin/env python3
"""fit_plans.py - improves the constants of demo_kernels/gemm/estimate.c by what many plans took.

    tests/h200/measure.py --out FILE candidates                   on the GPU
    tests/h200/fit_plans.py [FILE] [--sweeps 6] [--write]         prints the constants, or puts them into estimate.c

Reads the times on the GPU (FILE may be packed; those that estimate.c rests on are tests/measured/plans.json.gz) and the
constants that estimate.c has.  The search begins with these and makes each a little larger or smaller as long as that
helps.  A set of constants is judged by what its choices lose, and by the errors of all its estimates: plans that were
not timed may be chosen, too.  The constants in GIVEN stay as they are.  Plans that now take their tiles in another
order than when they were timed do not count.  A development script: wsdbg itself needs no Python.
"""
import argparse, gzip, json, math, os, re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ESTIMATE = os.path.join(ROOT, 'demo_kernels', 'gemm', 'estimate.c')
GIVEN = ('BLOCK_LEAST_NS', 'MEMORY_BYTES_A_NS', 'CACHED_BYTES', 'L2_BESIDE_MEMORY')
BLOCK_K, MULTIPROCESSORS, BAND_COLUMNS = 64, 132, 8
USED = (0, 132, 132, 117, 120, 110, 102, 105, 120)  # of the multiprocessors by clusters of so many, as plan.c has it
LISTED = 9  # products that measure.py puts first; they weigh the most
ALIKE = 0.02  # plans whose estimates differ by less are about equally likely to be chosen


def divide_up(a, b):
    return -(-a // b)


def read(path):
    with gzip.open(path) if path.endswith('.gz') else open(path) as file:
        return json.load(file)


def constants_of(text):
    """{name: value}; a pace is (rows, columns)."""
    found = {name: float(value) for name, value in re.findall(r'^#define (\w+) ([\d.e]+)$', text, re.M)}
    for columns, low, high in re.findall(r'\{(\d+), (\d+), (\d+)\}', text):
        found[64, int(columns)], found[128, int(columns)] = float(low), float(high)
    return found


class Sample:
    """What estimate.c computes from one plan without its constants."""

    def __init__(self, row, plan):
        schedule, columns, cluster = plan['schedule'], plan['columns'], plan['cluster']
        self.us, self.schedule, self.cluster, self.columns = plan['gpu_us'][1], schedule, cluster, columns
        self.rows = 64 if schedule in ('pingpong', 'splitk-low') else 128
        self.splits = cluster if schedule.startswith('splitk') else 1
        m, n, k = row['m'], row['n'], row['k']
        if plan['transposed']:
            m, n = n, m
        tile_rows, tile_columns = divide_up(m, self.rows * cluster // self.splits), divide_up(n, columns)
        self.is_reordered = 1 < tile_columns < min(tile_rows, BAND_COLUMNS + 1)
        tiles, blocks = tile_rows * tile_columns, divide_up(k, BLOCK_K)
        clusters = min(plan['ctas'] // cluster, USED[cluster] // cluster)
        self.waves = divide_up(tiles, clusters)
        self.busy = clusters * cluster / MULTIPROCESSORS
        self.blocks, self.tiles, self.givers, self.gives_too = self.load(tiles, clusters, blocks)
        if schedule != 'streamk':
            self.busy *= tiles / (self.waves * clusters)
        aligned = math.gcd(k, BLOCK_K)
        self.two_lines, self.five_sectors = 1 - aligned / BLOCK_K, aligned < 16
        self.loaded = (self.rows + columns * self.splits // cluster) * math.sqrt(self.busy)
        self.bytes = 2 * k * (m + n)
        self.all_bytes = self.bytes + 2 * m * n
        box = 64 if columns % 64 == 0 else 32
        boxes = self.rows // 64 * columns // box
        self.got_kib = divide_up(boxes, self.splits) * (self.splits - 1) * box / 4
        self.sent_kib = (boxes - boxes // self.splits) * box / 4

    def load(self, tiles, clusters, blocks):
        if self.schedule == 'pingpong':
            return self.waves * blocks, 1, 0, False
        if self.schedule != 'streamk':
            return self.waves * divide_up(blocks, self.splits), self.waves, 0, False
        whole = self.waves if tiles % clusters == 0 else max(self.waves - 2, 0)
        givers = divide_up(clusters, tiles) - 1 if tiles < clusters else 1
        return (whole * blocks + divide_up((tiles - whole * clusters) * blocks, clusters), whole + 1, givers,
                tiles > clusters or clusters % tiles > 0)

    def estimate_us(self, c):
        product = c[self.rows, self.columns] * (1 + c['BUSY_LOW' if self.rows == 64 else 'BUSY'] * self.busy)
        row = c['ROW_NS'] + c['TWO_LINES_NS'] * self.two_lines + c['FIVE_SECTORS_NS'] * self.five_sectors
        l2 = self.blocks * row * self.loaded
        memory = 0 if self.all_bytes < c['CACHED_BYTES'] else self.bytes / c['MEMORY_BYTES_A_NS'] + c['L2_BESIDE_MEMORY'] * l2
        ns = max(self.blocks * max(product, c['BLOCK_LEAST_NS']), l2, memory)
        ns += c['LAUNCH_NS'] + (self.cluster > 1) * c['CLUSTER_NS'] + (self.waves - 1) * c['WAVE_NS']
        ns += self.tiles * (c['TILE_NS'] + c['TILE_COLUMN_NS'] * self.columns / self.splits)
        if self.givers:
            ns += c['GIVING_NS'] + self.givers * c['GIVEN_COLUMN_NS'] * self.columns + self.gives_too * c['BOTH_NS']
        if self.splits > 1:
            ns += (self.rows == 64) * c['SPLIT_LOW_NS'] + c['GOT_KIB_NS'] * self.got_kib + c['SENT_KIB_NS'] * self.sent_kib
        return ns / 1e3


def samples(rows):
    """The plans of each product."""
    products = [[Sample(row, plan) for plan in row['plans']] for row in rows]
    return [kept for kept in ([s for s in product if not s.is_reordered] for product in products) if kept]


def cost(constants, products):
    """(what the search makes small, what the choices lose in the mean, and at most)"""
    lost, soft, wrong, weights = [], 0, 0, 0
    for number, product in enumerate(products):
        estimates = [sample.estimate_us(constants) for sample in product]
        best, least = min(sample.us for sample in product), min(estimates)
        lost.append(product[estimates.index(least)].us / best - 1)
        likely = [math.exp((1 - estimate / least) / ALIKE) for estimate in estimates]
        loss = sum(p * (sample.us / best - 1) for p, sample in zip(likely, product)) / sum(likely)
        weight = 6 if number < LISTED else 1
        soft += weight * (loss + 3 * loss * loss)
        weights += weight
        errors = [(1 if sample.us < 1.25 * best else 0.5) * min(math.log(estimate / sample.us) ** 2, 0.06)
                  for estimate, sample in zip(estimates, product)]
        wrong += sum(errors) / len(errors)
    return soft / weights + 3 * wrong / len(products), sum(lost) / len(lost), max(lost)


def improve(constants, products, sweeps):
    least = cost(constants, products)[0]
    names = [name for name in constants if name not in GIVEN]
    for sweep in range(sweeps):
        step = 0.16 / 2 ** (sweep * 4 // sweeps)
        for name in names:
            for factor in (1 + step, 1 / (1 + step)):
                tried = {**constants, name: constants[name] * factor}
                value = cost(tried, products)[0]
                if value < least:
                    least, constants = value, tried
                    break
    return constants


def written(text, constants):
    """The text of estimate.c with these constants."""
    for name, value in constants.items():
        if isinstance(name, str) and name not in GIVEN:
            text = re.sub(rf'^#define {name} [\d.e]+$', f'#define {name} {value:.4g}', text, flags=re.M)
    paces = ', '.join(f'{{{columns}, {constants[64, columns]:.0f}, {constants[128, columns]:.0f}}}'
                      for rows, columns in (name for name in constants if isinstance(name, tuple)) if rows == 64)
    return re.sub(r'^    \{64, .*\},$', f'    {paces},', text, flags=re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file', nargs='?', default=os.path.join(ROOT, 'tests', 'measured', 'plans.json.gz'))
    parser.add_argument('--sweeps', type=int, default=6)
    parser.add_argument('--write', action='store_true')
    arguments = parser.parse_args()
    products, text = samples(read(arguments.file)['candidates']), open(ESTIMATE).read()
    constants = constants_of(text)
    for sweeps, what in ((0, 'now'), (arguments.sweeps, 'found')):
        constants = improve(constants, products, sweeps)
        _, mean, most = cost(constants, products)
        print(f'{what}: the choices lose {mean * 100:.1f} % in the mean, {most * 100:.0f} % at most')
    if arguments.write:
        open(ESTIMATE, 'w').write(written(text, constants))
    else:
        print('\n'.join(f'{name} {value:.4g}' for name, value in constants.items() if name not in GIVEN))


if __name__ == '__main__':
    main()
