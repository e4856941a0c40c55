/* estimate.c - see estimate.h.  Reads sizes alone.
 *
 * A product is waves of tiles.  A tile is its k-blocks and a store.  How long a k-block takes follows from what the
 * tensor cores need for it and what L2 needs for it.  tests/h200/fit_plans.py finds the constants from times on an H200
 * (tests/measured/plans.json.gz).  It does not change CACHED_BYTES and MEMORY_BYTES_A_NS.
 */
#include "estimate.h"

#include <math.h>
#include <stddef.h>

#include "geometry.h"

/* What takes time besides k-blocks: a launch; a launch with clusters; every schedule but ping-pong; each wave but the
 * first; each column of a tile that is stored. */
#define LAUNCH_NS 1571
#define CLUSTER_NS 133.9
#define NOT_PINGPONG_NS 294.1
#define WAVE_NS 94.66
#define TILE_COLUMN_NS 2.962
/* Stream-K: a CTA waits for another one; each column of the sums that the first CTA gives, and that each other one
 * gives; it also gives sums itself. */
#define GIVING_NS 1785
#define GIVEN_COLUMN_NS 5.987
#define MORE_COLUMN_NS 8.078
#define BOTH_NS 1057
/* Split-K: each CTA of a cluster but two; each KiB of sums that the busiest CTA gets, and each that it sends. */
#define SPLIT_NS 172.2
#define GOT_KIB_NS 14.24
#define SENT_KIB_NS 32.6

/* What the tensor cores need for a k-block while other multiprocessors are idle, with tiles of 64 rows (low) and of 128
 * (high): one entry for each row of tiles.def. */
struct pace {
    int columns;
    double low_ns, high_ns;
};
static const struct pace paces[] = {
    {64, 94, 137}, {96, 110, 183}, {128, 129, 232}, {160, 157, 297}, {192, 175, 349}, {224, 209, 427}, {256, 237, 468},
};
/* How much longer that is while all multiprocessors work, as a fraction. */
#define BUSY_LOW 0.5022
#define BUSY 0.4703

/* How long L2 takes for each row of A and B in a k-block, 128 bytes.  If they lie in two lines, or in five sectors
 * instead of four, it takes longer. */
#define ROW_NS 0.8703
#define TWO_LINES_NS 1.262
#define FIVE_SECTORS_NS 1.296
/* The part of that time which depends on how many multiprocessors work; how much longer it takes if both of a pair do.
 */
#define L2_BUSY 0.4776
#define PAIR 0.2385
/* L2 reads rows that several clusters want at the same time less often.  The parts of the time which that may save:
 * copies to one CTA, and multicast.  MULTICAST is the time of a row that is multicast, against one that is not. */
#define SHARED 0.336
#define SHARED_MULTICAST 0.2079
#define MULTICAST 0.8132
/* How much longer a k-block takes in a cluster, and in stream-K. */
#define CLUSTER_BLOCK 1.057
#define STREAMK_BLOCK 1.023

/* Memory, for matrices that are too large to stay in L2. */
#define MEMORY_BYTES_A_NS 3600.0
#define CACHED_BYTES 45e6

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
    return ns * (1 + (is_low ? BUSY_LOW : BUSY) * busy);
}

static double row_ns(int k)
{
    int aligned = BLOCK_K; /* every row begins at a multiple of so many elements */
    while (k % aligned)
        aligned /= 2;
    return ROW_NS + TWO_LINES_NS * (1 - (double)aligned / BLOCK_K) + (aligned < 16 ? FIVE_SECTORS_NS : 0);
}

/* How long L2 takes for the rows of a k-block, while it serves the other CTAs, too.  `is_paired`: both multiprocessors
 * of a pair work.  At the edges of C, tiles have fewer rows. */
static double l2_ns(const struct gemm_plan *plan, int m, int n, int k, double busy, bool is_paired)
{
    const int splits = gemm_plan_splits(plan), tile_rows = gemm_plan_tile_rows(plan, m, n);
    const int tile_columns = gemm_plan_tile_columns(plan, m, n);
    const int height = gemm_plan_rows(plan) * plan->cluster / splits;
    const double inside_a = (double)(plan->transposed ? n : m) / (tile_rows * height);
    const double inside_b = (double)(plan->transposed ? m : n) / (tile_columns * plan->columns);
    const double others_a = 1 - 1.0 / tile_columns, others_b = 1 - 1.0 / tile_rows;
    const double share_b = plan->cluster > splits ? MULTICAST - SHARED_MULTICAST * others_b : 1 - SHARED * others_b;
    const double rows = gemm_plan_rows(plan) * inside_a * (1 - SHARED * others_a) +
                        (double)plan->columns * splits / plan->cluster * inside_b * share_b;
    return row_ns(k) * rows * (is_paired ? 1 + PAIR : 1) * (1 - L2_BUSY + L2_BUSY * busy);
}

/* The tensor cores work while L2 reads the next k-blocks.  Where both take about as long, each waits for the other now
 * and then. */
static double block_ns(const struct gemm_plan *plan, double product, double l2)
{
    const double ns = sqrt(sqrt(pow(product, 4) + pow(l2, 4)));
    const double cluster = plan->cluster > 1 ? CLUSTER_BLOCK : 1;
    return ns * cluster * (plan->schedule == SCHEDULE_STREAMK ? STREAMK_BLOCK : 1);
}

/* How long memory takes for A and B. */
static double memory_ns(int m, int n, int k)
{
    const double bytes = sizeof(bf16) * (double)k * (m + n);
    const bool is_cached = bytes + sizeof(bf16) * (double)m * n < CACHED_BYTES;
    return is_cached ? 0 : bytes / MEMORY_BYTES_A_NS;
}

/* The time that split-K adds: CTAs send one another sums, in whole boxes. */
static double split_ns(const struct gemm_plan *plan)
{
    const int splits = gemm_plan_splits(plan), box_columns = STORE_COLUMNS_OF(plan->columns);
    const int boxes = gemm_plan_rows(plan) / CONSUMER_M * plan->columns / box_columns;
    const double box_kib = CONSUMER_M * box_columns * (int)sizeof(float) / 1024.0;
    return SPLIT_NS * (splits - 2) + GOT_KIB_NS * box_kib * divide_up(boxes, splits) * (splits - 1) +
           SENT_KIB_NS * box_kib * (boxes - boxes / splits);
}

/* The time that stream-K adds: CTAs wait for sums of others. */
static double giving_ns(const struct gemm_plan *plan, const struct load *load)
{
    return GIVING_NS + (GIVEN_COLUMN_NS + MORE_COLUMN_NS * (load->givers - 1)) * plan->columns +
           (load->gives_too ? BOTH_NS : 0);
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
    const double l2 = l2_ns(plan, m, n, k, busy, plan->ctas > multiprocessors / 2);
    double ns = fmax(load.k_blocks * block_ns(plan, product_ns(plan, busy), l2), memory_ns(m, n, k));
    ns += LAUNCH_NS + (plan->cluster > 1 ? CLUSTER_NS : 0) + (load.waves - 1) * WAVE_NS;
    ns += plan->schedule == SCHEDULE_PINGPONG ? 0 : NOT_PINGPONG_NS;
    ns += load.tiles * TILE_COLUMN_NS * plan->columns / splits;
    if (load.givers)
        ns += giving_ns(plan, &load);
    return splits > 1 ? ns + split_ns(plan) : ns;
}
