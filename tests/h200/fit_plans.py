#!/usr/bin/env python3
"""fit_plans.py - finds the constants of demo_kernels/gemm/estimate.c from what many plans took.

    tests/h200/measure.py --out FILE candidates    on the GPU
    tests/h200/fit_plans.py [FILE] [--write]       prints the constants, or puts them into estimate.c

Reads the times on the GPU (FILE may be packed; those that estimate.c rests on are tests/measured/plans.json.gz) and the
constants that estimate.c has, with which the search begins.  It makes the errors of the estimates small, as logarithms.
Plans near the fastest of their product count the most.  What all plans of a product have in common hardly counts: it
chooses none.  Prints what the choices lose against the fastest plan: with the constants as they are, with those that
were found, and, as a check, of each quarter of the products with constants from the other three.  A development script
that needs numpy and scipy; wsdbg itself needs no Python.
"""
import argparse, gzip, json, math, os, re

import numpy
from scipy.optimize import least_squares

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ESTIMATE = os.path.join(ROOT, 'demo_kernels', 'gemm', 'estimate.c')
BLOCK_K, MULTIPROCESSORS = 64, 132
USED = (0, 132, 132, 117, 120, 110, 102, 105, 120)  # of the multiprocessors by clusters of so many, as plan.c has it
NEAR = 0.2  # a plan that is slower by this part counts less than one that is the fastest, by a factor of e
COMMON = 0.85  # the part of an error which all plans of a product have that does not count
QUARTERS = 4
LISTED, LISTED_COUNT_AS = 9, 12  # products that measure.py puts first; each counts as so many


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


def load(schedule, tiles, clusters, blocks, splits):
    """What the busiest cluster does, as estimate.c has it: waves, k-blocks, tiles, givers, whether it gives sums, too."""
    waves = divide_up(tiles, clusters)
    if schedule == 'pingpong':
        return waves, waves * blocks, 1, 0, False
    if schedule != 'streamk':
        return waves, waves * divide_up(blocks, splits), waves, 0, False
    whole = waves if tiles % clusters == 0 else max(waves - 2, 0)
    dealt = divide_up((tiles - whole * clusters) * blocks, clusters)
    givers = divide_up(clusters, tiles) - 1 if tiles < clusters else 1
    return waves, whole * blocks + dealt, whole + 1, givers, tiles > clusters or clusters % tiles > 0


def features(product, plan, number):
    """What estimate.c computes from one plan without its constants."""
    schedule, columns, cluster = plan['schedule'], plan['columns'], plan['cluster']
    m, n, k = product['m'], product['n'], product['k']
    if plan['transposed']:
        m, n = n, m
    rows = 64 if schedule in ('pingpong', 'splitk-low') else 128
    splits = cluster if schedule.startswith('splitk') else 1
    height = rows * cluster // splits
    tile_rows, tile_columns = divide_up(m, height), divide_up(n, columns)
    tiles, clusters = tile_rows * tile_columns, min(plan['ctas'] // cluster, USED[cluster] // cluster)
    waves, blocks, stored, givers, gives_too = load(schedule, tiles, clusters, divide_up(k, BLOCK_K), splits)
    busy = clusters * cluster / MULTIPROCESSORS * (1 if schedule == 'streamk' else tiles / (waves * clusters))
    aligned, box = math.gcd(k, BLOCK_K), 64 if columns % 64 == 0 else 32
    boxes = rows // 64 * columns // box
    return {'product': number, 'us': plan['gpu_us'], 'cublas_us': product['cublas']['gpu_us'],
            'rows': rows, 'columns': columns, 'splits': splits, 'waves': waves, 'blocks': blocks, 'stored': stored,
            'is_cluster': cluster > 1, 'is_multicast': cluster > splits, 'is_pingpong': schedule == 'pingpong',
            'is_streamk': schedule == 'streamk', 'givers': givers, 'gives_too': gives_too, 'busy': busy,
            'is_paired': plan['ctas'] > MULTIPROCESSORS // 2,
            'two_lines': 1 - aligned / BLOCK_K, 'five_sectors': aligned < 16,
            'rows_a': rows * m / (tile_rows * height), 'others_a': 1 - 1 / tile_columns,
            'rows_b': columns * splits / cluster * n / (tile_columns * columns), 'others_b': 1 - 1 / tile_rows,
            'bytes': 2 * k * (m + n),
            'got_kib': divide_up(boxes, splits) * (splits - 1) * box / 4, 'sent_kib': (boxes - boxes // splits) * box / 4}


class Samples:
    """The plans of all products, each feature an array."""

    def __init__(self, products):
        rows = [features(product, plan, number) for number, product in enumerate(products) for plan in product['plans']]
        self.of = {name: numpy.array([row[name] for row in rows], float) for name in rows[0]}
        self.product = self.of['product'].astype(int)
        self.count = len(products)
        self.best = numpy.full(self.count, numpy.inf)
        numpy.minimum.at(self.best, self.product, self.of['us'])
        self.weight = numpy.exp((1 - self.of['us'] / self.best[self.product]) / NEAR)

    def sums(self, values):
        return numpy.bincount(self.product, values, self.count)

    def estimates_us(self, c):
        f = self.of
        is_low = f['rows'] == 64
        pace = numpy.array([c[int(rows), int(columns)] for rows, columns in zip(f['rows'], f['columns'])])
        product = pace * (1 + numpy.where(is_low, c['BUSY_LOW'], c['BUSY']) * f['busy'])
        row = c['ROW_NS'] + c['TWO_LINES_NS'] * f['two_lines'] + c['FIVE_SECTORS_NS'] * f['five_sectors']
        share_b = numpy.where(f['is_multicast'], c['MULTICAST'] - c['SHARED_MULTICAST'] * f['others_b'],
                              1 - c['SHARED'] * f['others_b'])
        rows = f['rows_a'] * (1 - c['SHARED'] * f['others_a']) + f['rows_b'] * share_b
        l2 = row * rows * (1 + c['PAIR'] * f['is_paired']) * (1 - c['L2_BUSY'] + c['L2_BUSY'] * f['busy'])
        block = (product ** 4 + l2 ** 4) ** 0.25 * numpy.where(f['is_cluster'], c['CLUSTER_BLOCK'], 1) * numpy.where(
            f['is_streamk'], c['STREAMK_BLOCK'], 1)
        memory = f['bytes'] / c['MEMORY_BYTES_A_NS'] + c['L2_BESIDE_MEMORY'] * f['blocks'] * l2
        ns = ((f['blocks'] * block) ** 4 + memory ** 4) ** 0.25
        ns += c['LAUNCH_NS'] + f['is_cluster'] * c['CLUSTER_NS'] + (f['waves'] - 1) * c['WAVE_NS']
        ns += (1 - f['is_pingpong']) * c['NOT_PINGPONG_NS'] + f['stored'] * c['TILE_COLUMN_NS'] * f['columns'] / f['splits']
        sums = (c['GIVEN_COLUMN_NS'] + c['MORE_COLUMN_NS'] * (f['givers'] - 1)) * f['columns']
        ns += (f['givers'] > 0) * (c['GIVING_NS'] + sums + f['gives_too'] * c['BOTH_NS'])
        split = c['SPLIT_NS'] * (f['splits'] - 2) + c['GOT_KIB_NS'] * f['got_kib'] + c['SENT_KIB_NS'] * f['sent_kib']
        return (ns + (f['splits'] > 1) * split) / 1e3

    def errors(self, c):
        """The logarithm of each estimate's error, weighted, without what a product's plans have in common."""
        error = numpy.log(self.estimates_us(c) / self.of['us'])
        weights = self.sums(self.weight)
        common = self.sums(self.weight * error) / weights
        counts = numpy.where(self.product < LISTED, LISTED_COUNT_AS, 1)
        return (error - COMMON * common[self.product]) * numpy.sqrt(counts * self.weight / weights[self.product])

    def choices(self, estimates):
        """The plan of each product with the least estimate."""
        order = numpy.lexsort((estimates, self.product))
        return order[numpy.unique(self.product[order], return_index=True)[1]]


def found(samples, constants, counts=None):
    """Constants with small errors in the products that count."""
    names = list(constants)
    start = numpy.array([constants[name] for name in names])

    def errors(factors):
        of_plans = samples.errors({**constants, **dict(zip(names, start * factors))})
        # With few plans of a kind, a constant stays where it was.
        return numpy.append(of_plans if counts is None else of_plans[counts], 0.003 * (factors - 1))

    return {**constants, **dict(zip(names, start * least_squares(errors, numpy.ones(len(start)), max_nfev=100).x))}


def print_losses(what, samples, estimates):
    chosen = samples.choices(estimates)
    lost, speed = samples.of['us'][chosen] / samples.best - 1, samples.of['cublas_us'][chosen] / samples.of['us'][chosen]
    print(f'{what}: the choices lose {lost.mean():.1%} in the mean, {numpy.quantile(lost, 0.9):.0%} or more in a tenth, {lost.max():.0%} at most; '
          f'speed / cuBLAS {numpy.median(speed):.3f} in the median, {speed.min():.2f} at worst, below 0.9 in {(speed < 0.9).sum()} of {len(speed)}')


def written(text, constants):
    """The text of estimate.c with these constants."""
    for name, value in constants.items():
        if isinstance(name, str):
            text = re.sub(rf'^#define {name} [\d.e]+$', f'#define {name} {value:.4g}', text, flags=re.M)
    paces = ', '.join(f'{{{columns}, {constants[64, columns]:.0f}, {constants[128, columns]:.0f}}}'
                      for rows, columns in (name for name in constants if isinstance(name, tuple)) if rows == 64)
    return re.sub(r'^    \{64, .*\},$', f'    {paces},', text, flags=re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file', nargs='?', default=os.path.join(ROOT, 'tests', 'measured', 'plans.json.gz'))
    parser.add_argument('--write', action='store_true')
    arguments = parser.parse_args()
    samples, text = Samples(read(arguments.file)['candidates']), open(ESTIMATE).read()
    constants = constants_of(text)
    print_losses('now', samples, samples.estimates_us(constants))
    checked = numpy.empty(len(samples.product))
    for quarter in range(QUARTERS):
        is_left_out = samples.product % QUARTERS == quarter
        checked[is_left_out] = samples.estimates_us(found(samples, constants, ~is_left_out))[is_left_out]
    print_losses('check', samples, checked)
    constants = found(samples, constants)
    print_losses('found', samples, samples.estimates_us(constants))
    if arguments.write:
        open(ESTIMATE, 'w').write(written(text, constants))
    else:
        print('\n'.join(f'{name} {value:.4g}' for name, value in constants.items()))


if __name__ == '__main__':
    main()
