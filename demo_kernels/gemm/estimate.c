/* estimate.c - see estimate.h.  Reads sizes alone.
 *
 * A product is waves of tiles.  A tile is its k-blocks and a store.  How long a k-block takes follows from what the
 * tensor cores need for it and what L2 needs for it.  tests/h200/fit_plans.py finds the constants from times on an H200
 * (tests/measured/plans.json.gz).
 */
#include "estimate.h"

#include <math.h>
#include <stddef.h>

#include "geometry.h"

/* What takes time besides k-blocks: a launch; a launch with clusters; every schedule but ping-pong; each wave but the
 * first; each column of a tile that is stored. */
#define LAUNCH_NS 1504
#define CLUSTER_NS 156.9
#define NOT_PINGPONG_NS 275.3
#define WAVE_NS 84.28
#define TILE_COLUMN_NS 2.943
/* Stream-K: a CTA waits for another one; each column of the sums that the first CTA gives, and that each other one
 * gives; it also gives sums itself. */
#define GIVING_NS 1835
#define GIVEN_COLUMN_NS 6.386
#define MORE_COLUMN_NS 7.55
#define BOTH_NS 1077
/* Split-K: each CTA of a cluster but two; each KiB of sums that the busiest CTA gets, and each that it sends. */
#define SPLIT_NS 158.5
#define GOT_KIB_NS 14.91
#define SENT_KIB_NS 36.08

/* What the tensor cores need for a k-block while other multiprocessors are idle, with tiles of 64 rows (low) and of 128
 * (high): one entry for each row of tiles.def. */
struct pace {
    int columns;
    double low_ns, high_ns;
};
static const struct pace paces[] = {
    {64, 103, 150}, {96, 121, 198}, {128, 141, 247}, {160, 168, 316}, {192, 190, 371}, {224, 222, 449}, {256, 254, 494},
};
/* How much longer that is while all multiprocessors work, as a fraction. */
#define BUSY_LOW 0.4716
#define BUSY 0.4459

/* How long L2 takes for each row of A and B in a k-block, 128 bytes.  If they lie in two lines, or in five sectors
 * instead of four, it takes longer. */
#define ROW_NS 0.4765
#define TWO_LINES_NS 1.279
#define FIVE_SECTORS_NS 1.078
/* The part of that time which depends on how many multiprocessors work; how much longer it takes if both of a pair do.
 */
#define L2_BUSY 0.426
#define PAIR 0.2599
/* L2 reads rows that several clusters want at the same time less often.  The parts of the time which that may save:
 * copies to one CTA, and multicast.  MULTICAST is the time of a row that is multicast, against one that is not. */
#define SHARED 0.1728
#define SHARED_MULTICAST 0.01234
#define MULTICAST 0.7821
/* How much longer a k-block takes in a cluster, and in stream-K. */
#define CLUSTER_BLOCK 1.03
#define STREAMK_BLOCK 1.024

/* How fast memory is, and the part of L2's time that is added to its time: L2 reads again what it could not keep. */
#define MEMORY_BYTES_A_NS 4046
#define L2_BESIDE_MEMORY 0.3392

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

/* How long two things take that go on at the same time.  Where both take about as long, each waits for the other now
 * and then. */
static double together_ns(double one_ns, double other_ns)
{
    return sqrt(sqrt(pow(one_ns, 4) + pow(other_ns, 4)));
}

/* The tensor cores work while L2 reads the next k-blocks. */
static double block_ns(const struct gemm_plan *plan, double product, double l2)
{
    const double cluster = plan->cluster > 1 ? CLUSTER_BLOCK : 1;
    return together_ns(product, l2) * cluster * (plan->schedule == SCHEDULE_STREAMK ? STREAMK_BLOCK : 1);
}

/* How long memory takes for A and B.  `all_l2_ns`: L2's time for all k-blocks. */
static double memory_ns(int m, int n, int k, double all_l2_ns)
{
    const double bytes = sizeof(bf16) * (double)k * (m + n);
    return bytes / MEMORY_BYTES_A_NS + L2_BESIDE_MEMORY * all_l2_ns;
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
    const double blocks_ns = load.k_blocks * block_ns(plan, product_ns(plan, busy), l2);
    double ns = together_ns(blocks_ns, memory_ns(m, n, k, load.k_blocks * l2));
    ns += LAUNCH_NS + (plan->cluster > 1 ? CLUSTER_NS : 0) + (load.waves - 1) * WAVE_NS;
    ns += plan->schedule == SCHEDULE_PINGPONG ? 0 : NOT_PINGPONG_NS;
    ns += load.tiles * TILE_COLUMN_NS * plan->columns / splits;
    if (load.givers)
        ns += giving_ns(plan, &load);
    return splits > 1 ? ns + split_ns(plan) : ns;
}
