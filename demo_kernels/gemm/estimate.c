/* estimate.c - see estimate.h.  Reads sizes alone.
 *
 * A product is waves of tiles.  A tile is its k-blocks and a store.  A k-block takes as long as the tensor cores or L2
 * need for it, whichever is longer.  tests/h200/fit_plans.py finds the constants from times on an H200
 * (tests/measured/plans.json.gz).  It does not change BLOCK_LEAST_NS and the constants of memory.
 */
#include "estimate.h"

#include <math.h>
#include <stddef.h>

#include "geometry.h"

/* What takes time besides k-blocks: a launch; a launch with clusters; each wave but the first; the store of a tile, and
 * each column of it. */
#define LAUNCH_NS 1272
#define CLUSTER_NS 221
#define WAVE_NS 146
#define TILE_NS 141
#define TILE_COLUMN_NS 3.63
/* Stream-K: a CTA waits for another one; each column of the sums that it gets; it also gives sums itself. */
#define GIVING_NS 3061
#define GIVEN_COLUMN_NS 10.83
#define BOTH_NS 107
/* Split-K: low tiles; each KiB of sums that the busiest CTA of a cluster gets, and each that it sends. */
#define SPLIT_LOW_NS 437
#define GOT_KIB_NS 24.4
#define SENT_KIB_NS 39.1

/* How long a k-block of a tile takes while other multiprocessors are idle, with 64 rows (low) and with 128 (high): one
 * entry for each row of tiles.def. */
struct pace {
    int columns;
    double low_ns, high_ns;
};
static const struct pace paces[] = {
    {64, 87, 211}, {96, 100, 237}, {128, 116, 290}, {160, 136, 375}, {192, 161, 463}, {224, 182, 532}, {256, 219, 570},
};
/* How much longer it takes while all multiprocessors work, as a fraction; the least that it takes. */
#define BUSY_LOW 0.870
#define BUSY 0.307
#define BLOCK_LEAST_NS 115
/* How long L2 takes for each row of A and B in a k-block, 128 bytes.  If they lie in two lines, or in five sectors
 * instead of four, it takes longer. */
#define ROW_NS 0.992
#define TWO_LINES_NS 0.729
#define FIVE_SECTORS_NS 1.206

/* Memory, for matrices that are too large to stay in L2. */
#define MEMORY_BYTES_A_NS 3600.0
#define CACHED_BYTES 45e6
/* The part of L2's time that is added to the time of memory. */
#define L2_BESIDE_MEMORY 0.1

/* What the busiest cluster does: how many k-blocks it multiplies, how many tiles it stores, how many clusters give it
 * their sums, and whether it gives sums, too. */
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

/* The product of a k-block on the tensor cores.  `busy` is the share of multiprocessors that work. */
static double product_ns(const struct gemm_plan *plan, double busy)
{
    const bool is_low = gemm_plan_rows(plan) == CONSUMER_M;
    double ns = 0;
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++)
        if (paces[i].columns == plan->columns)
            ns = is_low ? paces[i].low_ns : paces[i].high_ns;
    return fmax(ns * (1 + (is_low ? BUSY_LOW : BUSY) * busy), BLOCK_LEAST_NS);
}

/* How long L2 takes for the rows of a k-block, while it serves the other CTAs, too. */
static double l2_ns(const struct gemm_plan *plan, int k, double busy)
{
    int aligned = BLOCK_K; /* every row begins at a multiple of so many elements */
    while (k % aligned)
        aligned /= 2;
    const double row_ns =
        ROW_NS + TWO_LINES_NS * (1 - (double)aligned / BLOCK_K) + (aligned < 16 ? FIVE_SECTORS_NS : 0);
    return row_ns * (gemm_plan_rows(plan) + plan->columns * gemm_plan_splits(plan) / plan->cluster) * sqrt(busy);
}

/* How long memory takes for A and B. */
static double memory_ns(int m, int n, int k, double all_l2_ns)
{
    const double bytes = sizeof(bf16) * (double)k * (m + n);
    const bool is_cached = bytes + sizeof(bf16) * (double)m * n < CACHED_BYTES;
    return is_cached ? 0 : bytes / MEMORY_BYTES_A_NS + L2_BESIDE_MEMORY * all_l2_ns;
}

/* The time that split-K adds: CTAs send one another sums, in whole boxes. */
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
    double ns = fmax(load.k_blocks * product_ns(plan, busy), fmax(all_l2_ns, memory_ns(m, n, k, all_l2_ns)));
    ns += LAUNCH_NS + (plan->cluster > 1 ? CLUSTER_NS : 0) + (load.waves - 1) * WAVE_NS;
    ns += load.tiles * (TILE_NS + TILE_COLUMN_NS * plan->columns / splits);
    if (load.givers)
        ns += GIVING_NS + load.givers * GIVEN_COLUMN_NS * plan->columns + (load.gives_too ? BOTH_NS : 0);
    return splits > 1 ? ns + split_ns(plan) : ns;
}
