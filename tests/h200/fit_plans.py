#!/usr/bin/env python3
"""fit_plans.py - finds the constants of demo_kernels/gemm/plan.c from what every plan took.

    tests/h200/measure.py --out FILE candidates          on the GPU
    tests/h200/fit_plans.py FILE [--rounds 12]           prints the table and the constants

Reads the times on the GPU; FILE may be packed.  Those that plan.c rests on are tests/measured/plans.json.gz.  The estimate is linear in all constants but
one, so least squares find them.  What memory delivers (MEMORY_BYTES_A_NS) is given, and so are the clusters of four that run at a time and the rows of a band.  A development script: wsdbg itself needs no Python.
"""
import argparse, gzip, json, math

BLOCK_K = 64
BYTES_A_US = 3e6  # what an H100's memory delivers
NAMES = {'cooperative': 'SCHEDULE_COOPERATIVE', 'pingpong': 'SCHEDULE_PINGPONG'}


def read(path):
    with gzip.open(path) if path.endswith('.gz') else open(path) as file:
        return json.load(file)


def divide_up(a, b):
    return -(-a // b)


def load(row, plan):
    """What `busiest` of plan.c works out: k-blocks, tiles and givers of the busiest cluster, and whether it gives too."""
    rows = 64 if plan['schedule'] == 'pingpong' else 128
    blocks, clusters = divide_up(row['k'], BLOCK_K), plan['ctas'] // plan['cluster']
    tiles = divide_up(row['m'], rows * plan['cluster']) * divide_up(row['n'], plan['columns'])
    waves = divide_up(tiles, clusters)
    if plan['schedule'] == 'cooperative':
        return waves * blocks, waves, 0, False
    if plan['schedule'] == 'pingpong':
        return waves * blocks, 1, 0, False
    whole = waves if tiles % clusters == 0 else max(waves - 2, 0)
    givers = divide_up(clusters, tiles) - 1 if tiles < clusters else 1
    gives_too = tiles > clusters or clusters % tiles > 0
    return whole * blocks + divide_up((tiles - whole * clusters) * blocks, clusters), whole + 1, givers, gives_too


def samples(rows):
    """(product, us, pace, k-blocks, what else takes time: {constant: how often}, share of the multiprocessors, share of the
    rows that lie in two cache lines, us in which memory delivers A and B) of each plan."""
    for number, row in enumerate(rows):
        for plan in row['plans']:
            if plan['schedule'] == 'pingpong' and plan['cluster'] > 1:
                continue  # seldom the fastest, and hard to foretell
            schedule = 'pingpong' if plan['schedule'] == 'pingpong' else 'cooperative'
            pace = (schedule, plan['columns'], plan['cluster'])
            blocks, tiles, givers, gives_too = load(row, plan)
            others = {'LAUNCH': 1, 'CLUSTER': int(plan['cluster'] > 1), 'TILE_COLUMN': tiles * plan['columns'],
                      'GIVING': int(givers > 0), 'GIVEN_COLUMN': givers * plan['columns'], 'BOTH': int(gives_too)}
            split = 0 if row['k'] % BLOCK_K == 0 else 0.5 if row['k'] % (BLOCK_K // 2) == 0 else 1
            memory_us = 2 * row['k'] * (row['m'] + row['n']) / BYTES_A_US
            yield number, plan['gpu_us'][1], pace, blocks, others, plan['ctas'] / 132, split, memory_us


def terms(sample, alone):
    """How often each constant counts in the estimate."""
    _, _, pace, blocks, others, busy, split, _ = sample
    times = blocks * max(alone, busy)
    return {(*pace, 'whole'): times * (1 - split), (*pace, 'split'): times * split, **others}


def estimate(constants, sample, alone):
    found = terms(sample, alone)
    blocks_us = sum(constants.get(name, 0) * times for name, times in found.items() if isinstance(name, tuple))
    return max(blocks_us, sample[7]) + sum(constants.get(name, 0) * times for name, times in found.items() if isinstance(name, str))


def solve(matrix, vector):
    """The x of matrix * x = vector, by elimination; both are changed."""
    size = len(vector)
    for i in range(size):
        pivot = max(range(i, size), key=lambda row: abs(matrix[row][i]))
        matrix[i], matrix[pivot], vector[i], vector[pivot] = matrix[pivot], matrix[i], vector[pivot], vector[i]
        for row in range(i + 1, size):
            factor = matrix[row][i] / matrix[i][i]
            for column in range(i, size):
                matrix[row][column] -= factor * matrix[i][column]
            vector[row] -= factor * vector[i]
    for i in reversed(range(size)):
        vector[i] = (vector[i] - sum(matrix[i][column] * vector[column] for column in range(i + 1, size))) / matrix[i][i]
    return vector


def least_squares(data, weights, alone):
    """The constants with the least weighted squares of relative errors, each pulled a little towards 0 and none below."""
    names = sorted({name for sample in data for name in terms(sample, alone)}, key=str)
    while True:
        at = {name: i for i, name in enumerate(names)}
        matrix = [[1e-6 * (i == j) for j in range(len(names))] for i in range(len(names))]
        vector = [0.0] * len(names)
        for sample, weight in zip(data, weights):
            if sample[7] > sample[1] / 2:
                continue  # here it is memory that takes the time
            row = [(at[name], times / sample[1]) for name, times in terms(sample, alone).items() if name in at]
            for i, x in row:
                vector[i] += weight * x
                for j, y in row:
                    matrix[i][j] += weight * x * y
        found = dict(zip(names, solve(matrix, vector)))
        if min(found.values()) >= 0:
            return found
        names = [name for name in names if found[name] >= 0]


def choices(constants, data, alone):
    """{product: the sample with the best estimate}."""
    chosen = {}
    for sample in data:
        value = estimate(constants, sample, alone)
        if sample[0] not in chosen or value < chosen[sample[0]][0]:
            chosen[sample[0]] = value, sample
    return {product: sample for product, (_, sample) in chosen.items()}


def fit(data, rounds):
    """What was chosen wrongly, and what should have been, counts more in the next round; the best round is kept."""
    best = {}
    for sample in data:
        if sample[0] not in best or sample[1] < best[sample[0]][1]:
            best[sample[0]] = sample
    kept = None
    for alone in (0.5, 0.55, 0.6, 0.65, 0.7, 0.8):
        weights = [1 if sample[1] < 1.35 * best[sample[0]][1] else 0.3 for sample in data]
        for _ in range(rounds):
            constants = least_squares(data, weights, alone)
            chosen = choices(constants, data, alone)
            lost = {product: sample[1] / best[product][1] - 1 for product, sample in chosen.items()}
            score = sum(lost.values()) / len(lost) + math.sqrt(sum(x * x for x in lost.values()) / len(lost)) / 2
            if kept is None or score < kept[0]:
                kept = score, constants, alone, sum(lost.values()) / len(lost), max(lost.values())
            for i, sample in enumerate(data):
                product = sample[0]
                if lost[product] > 0.02 and (sample is chosen[product] or sample is best[product]):
                    weights[i] *= 1 + min(4 * lost[product], 0.6)
    return kept[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file')
    parser.add_argument('--rounds', type=int, default=12)
    arguments = parser.parse_args()
    data = list(samples(read(arguments.file)['candidates']))
    constants, alone, mean, most = fit(data, arguments.rounds)
    for pace in sorted({name[:3] for name in constants if isinstance(name, tuple)}):
        whole, split = (constants.get((*pace, kind), 0) * 1e3 for kind in ('whole', 'split'))
        print(f'    {{{NAMES[pace[0]]}, {pace[1]}, {pace[2]}, {whole:.0f}, {split:.0f}}},')
    for name in ('LAUNCH', 'CLUSTER', 'TILE_COLUMN', 'GIVING', 'GIVEN_COLUMN', 'BOTH'):
        print(f'#define {name}_NS {constants.get(name, 0) * 1e3:.{1 if "COLUMN" in name else 0}f}')
    print(f'#define ALONE {alone:.2f}\n\nlost by the choices: {mean * 100:.1f} % in the mean, {most * 100:.0f} % at most')


if __name__ == '__main__':
    main()
