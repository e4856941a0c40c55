/* estimate.c - see estimate.h.  Reads sizes alone.
 *
 * Waves of tiles, each tile its k-blocks and a store.  A k-block takes what the tensor cores need for it, or L2,
 * whichever is more.  tests/h200/fit_plans.py finds the constants from what an H200 took
 * (tests/measured/plans.json.gz); those of memory and the least of a k-block are given, not found.
 */
#include "estimate.h"

#include <math.h>
#include <stddef.h>

#include "geometry.h"

/* What takes time besides k-blocks: a launch; a cluster; each wave but the first; the store of a tile, and of each of
 * its columns. */
#define LAUNCH_NS 1272
#define CLUSTER_NS 221
#define WAVE_NS 146
#define TILE_NS 141
#define TILE_COLUMN_NS 3.63
/* Stream-K: that one CTA waits for another, each column of what it gets, and that it gives too. */
#define GIVING_NS 3061
#define GIVEN_COLUMN_NS 10.83
#define BOTH_NS 107
/* Split-K with low tiles; each KiB of sums that the busiest CTA of a cluster gets, and that it sends. */
#define SPLIT_LOW_NS 437
#define GOT_KIB_NS 24.4
#define SENT_KIB_NS 39.1

/* A k-block of a tile of `columns`, of 64 rows and of 128, when hardly any other multiprocessor works: a row each of
 * tiles.def. */
struct pace {
    int columns;
    double low_ns, high_ns;
};
static const struct pace paces[] = {
    {64, 87, 211}, {96, 100, 237}, {128, 116, 290}, {160, 136, 375}, {192, 161, 463}, {224, 182, 532}, {256, 219, 570},
};
/* How much longer when all of them do; the least. */
#define BUSY_LOW 0.870
#define BUSY 0.307
#define BLOCK_LEAST_NS 115
/* L2, for each row of A and B: 128 bytes, that may lie in two lines, and in five sectors instead of four. */
#define ROW_NS 0.992
#define TWO_LINES_NS 0.729
#define FIVE_SECTORS_NS 1.206

/* Memory, for A and B that do not stay in L2. */
#define MEMORY_BYTES_A_NS 3600.0
#define CACHED_BYTES 45e6
/* Of the time of L2, that slows memory down. */
#define L2_BESIDE_MEMORY 0.1

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* What the busiest cluster does: how many k-blocks it multiplies, of how many tiles it stores something, how many
 * clusters give it their sums, and whether it gives some too. */
struct load {
    int waves, k_blocks, tiles, givers;
    bool gives_too;
};

static struct load busiest(const struct gemm_plan *plan, int tiles, int clusters, int k_blocks)
{
    const int waves = divide_up(tiles, clusters);
    if (plan->schedule == SCHEDULE_PINGPONG) /* hides all stores but the last */
        return (struct load){.waves = waves, .k_blocks = waves * k_blocks, .tiles = 1};
    if (plan->schedule != SCHEDULE_STREAMK)
        return (struct load){
            .waves = waves, .k_blocks = waves * divide_up(k_blocks, gemm_plan_splits(plan)), .tiles = waves};
    const int whole = tiles % clusters == 0 ? waves : waves > 2 ? waves - 2 : 0; /* as scheduler.cuh deals them out */
    const int dealt = (tiles - whole * clusters) * k_blocks;
    return (struct load){.waves = waves,
                         .k_blocks = whole * k_blocks + divide_up(dealt, clusters),
                         .tiles = whole + 1,
                         .givers = tiles < clusters ? divide_up(clusters, tiles) - 1 : 1,
                         .gives_too = tiles > clusters || clusters % tiles != 0};
}

/* The product of a k-block, while a share of the multiprocessors works on one each. */
static double product_ns(const struct gemm_plan *plan, double busy)
{
    const bool is_low = gemm_plan_rows(plan) == CONSUMER_M;
    double ns = 0;
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++)
        if (paces[i].columns == plan->columns)
            ns = is_low ? paces[i].low_ns : paces[i].high_ns;
    return most(ns * (1 + (is_low ? BUSY_LOW : BUSY) * busy), BLOCK_LEAST_NS);
}

/* What L2 takes for the rows of a k-block, with all the others. */
static double l2_ns(const struct gemm_plan *plan, int k, double busy)
{
    int aligned = BLOCK_K; /* every row begins at a multiple of so many elements */
    while (k % aligned)
        aligned /= 2;
    const double row_ns =
        ROW_NS + TWO_LINES_NS * (1 - (double)aligned / BLOCK_K) + (aligned < 16 ? FIVE_SECTORS_NS : 0);
    return row_ns * (gemm_plan_rows(plan) + plan->columns * gemm_plan_splits(plan) / plan->cluster) * sqrt(busy);
}

/* What memory takes for A and B. */
static double memory_ns(int m, int n, int k, double all_l2_ns)
{
    const double bytes = sizeof(bf16) * (double)k * (m + n);
    const bool is_cached = bytes + sizeof(bf16) * (double)m * n < CACHED_BYTES;
    return is_cached ? 0 : bytes / MEMORY_BYTES_A_NS + L2_BESIDE_MEMORY * all_l2_ns;
}

/* What split-K adds: sums go from CTA to CTA in whole boxes. */
static double split_ns(const struct gemm_plan *plan)
{
    const int splits = gemm_plan_splits(plan), box_columns = STORE_COLUMNS_OF(plan->columns);
    const int boxes = gemm_plan_rows(plan) / CONSUMER_M * plan->columns / box_columns;
    const double box_kib = CONSUMER_M * box_columns * (int)sizeof(float) / 1024.0;
    const double low_ns = gemm_plan_rows(plan) == CONSUMER_M ? SPLIT_LOW_NS : 0;
    return low_ns + GOT_KIB_NS * box_kib * divide_up(boxes, splits) * (splits - 1) +
           SENT_KIB_NS * box_kib * (boxes - boxes / splits);
}

double gemm_plan_estimate_ns(const struct gemm_plan *plan, int m, int n, int k, int multiprocessors)
{
    const int tiles = gemm_plan_tiles(plan, m, n), splits = gemm_plan_splits(plan);
    const int possible = gemm_plan_clusters(plan, multiprocessors), launched = plan->ctas / plan->cluster;
    const int clusters = launched < possible ? launched : possible;
    const struct load load = busiest(plan, tiles, clusters, divide_up(k, BLOCK_K));
    double busy = (double)clusters * plan->cluster / multiprocessors;
    if (plan->schedule != SCHEDULE_STREAMK)
        busy *= (double)tiles / (load.waves * clusters);
    const double all_l2_ns = load.k_blocks * l2_ns(plan, k, busy);
    double ns = most(load.k_blocks * product_ns(plan, busy), most(all_l2_ns, memory_ns(m, n, k, all_l2_ns)));
    ns += LAUNCH_NS + (plan->cluster > 1 ? CLUSTER_NS : 0) + (load.waves - 1) * WAVE_NS;
    ns += load.tiles * (TILE_NS + TILE_COLUMN_NS * plan->columns / splits);
    if (load.givers)
        ns += GIVING_NS + load.givers * GIVEN_COLUMN_NS * plan->columns + (load.gives_too ? BOTH_NS : 0);
    return splits > 1 ? ns + split_ns(plan) : ns;
}
