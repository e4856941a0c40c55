/* plan.c - see plan.h.  Reads sizes alone.
 *
 * The time of a plan is estimated: waves of tiles, each tile its k-blocks and a store.  How long a k-block takes is in
 * the table below, for each tile and cluster.  tests/h200/fit_plans.py finds those numbers from what an H100 took
 * (tests/measured/plans.json.gz).  What memory delivers is given, not found.
 */
#include "plan.h"

#include <stddef.h>

#include "geometry.h"

static int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

bool gemm_plan_exists(const struct gemm_plan *plan)
{
    if (plan->cluster != 1 && plan->cluster != 2 && plan->cluster != 4)
        return false;
    if (plan->schedule == SCHEDULE_PINGPONG)
        return plan->cluster <= 2;
    return plan->schedule == SCHEDULE_COOPERATIVE || plan->columns < TILE_N;
}

int gemm_plan_rows(const struct gemm_plan *plan)
{
    return plan->schedule == SCHEDULE_PINGPONG ? CONSUMER_M : CONSUMERS * CONSUMER_M;
}

/* Clusters that run at a time; 0 on a GPU that is smaller than one.  Those of four leave multiprocessors over: of an
 * H100's 132 they use 120. */
static int clusters_at_a_time(const struct gemm_plan *plan, int multiprocessors)
{
    return (plan->cluster > 2 ? multiprocessors * 10 / 11 : multiprocessors) / plan->cluster;
}

/* Tiles that a cluster computes at a time. */
static int cluster_tiles(const struct gemm_plan *plan, int m, int n)
{
    return divide_up(m, gemm_plan_rows(plan) * plan->cluster) * divide_up(n, plan->columns);
}

struct gemm_plan gemm_plan_complete(struct gemm_plan plan, int m, int n, int k, int multiprocessors)
{
    const int tiles = cluster_tiles(&plan, m, n);
    const int units = plan.schedule == SCHEDULE_STREAMK ? tiles * least(divide_up(k, BLOCK_K), 1024) : tiles;
    const int clusters =
        least(plan.ctas ? plan.ctas / plan.cluster : clusters_at_a_time(&plan, multiprocessors), units);
    plan.ctas = (clusters > 0 ? clusters : 1) * plan.cluster;
    if (plan.band_rows == 0)
        plan.band_rows = 2048 / (gemm_plan_rows(&plan) * plan.cluster);
    return plan;
}

/* ns a k-block, while every multiprocessor works: where each row of a box is one cache line, and where it lies in two.
 */
struct pace {
    int schedule, columns, cluster;
    double whole_ns, split_ns;
};

/* Stream-K goes at the pace of cooperative.  What is not here is not chosen. */
static const struct pace paces[] = {
    {SCHEDULE_COOPERATIVE, 64, 1, 301, 512},  {SCHEDULE_COOPERATIVE, 64, 2, 299, 419},
    {SCHEDULE_COOPERATIVE, 64, 4, 281, 393},  {SCHEDULE_COOPERATIVE, 128, 1, 453, 654},
    {SCHEDULE_COOPERATIVE, 128, 2, 430, 552}, {SCHEDULE_COOPERATIVE, 128, 4, 424, 501},
    {SCHEDULE_COOPERATIVE, 192, 1, 583, 799}, {SCHEDULE_COOPERATIVE, 192, 2, 619, 699},
    {SCHEDULE_COOPERATIVE, 192, 4, 606, 616}, {SCHEDULE_COOPERATIVE, 256, 1, 715, 1022},
    {SCHEDULE_COOPERATIVE, 256, 2, 763, 840}, {SCHEDULE_COOPERATIVE, 256, 4, 811, 713},
    {SCHEDULE_PINGPONG, 64, 1, 175, 312},     {SCHEDULE_PINGPONG, 128, 1, 256, 414},
    {SCHEDULE_PINGPONG, 192, 1, 373, 517},    {SCHEDULE_PINGPONG, 256, 1, 459, 631},
};

static const struct pace *find_pace(const struct gemm_plan *plan)
{
    const int schedule = plan->schedule == SCHEDULE_STREAMK ? SCHEDULE_COOPERATIVE : plan->schedule;
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++)
        if (paces[i].schedule == schedule && paces[i].columns == plan->columns && paces[i].cluster == plan->cluster)
            return &paces[i];
    return NULL;
}

/* What takes time besides k-blocks, in ns: a launch, clusters, each column of a tile; where sums are given, that one
 * CTA waits for another, each column of what it gets, and that it gives too. */
#define LAUNCH_NS 2569
#define CLUSTER_NS 347
#define TILE_COLUMN_NS 3.9
#define GIVING_NS 2823
#define GIVEN_COLUMN_NS 5.8
#define BOTH_NS 127
/* The share of its time that a k-block takes however few multiprocessors work. */
#define ALONE 0.60
#define MEMORY_BYTES_A_NS 3000.0

/* What the busiest cluster does: how many k-blocks it multiplies, of how many tiles it stores something, how many
 * clusters give it their sums, and whether it gives some too. */
struct load {
    int k_blocks, tiles, givers;
    bool gives_too;
};

static struct load busiest(const struct gemm_plan *plan, int tiles, int clusters, int k_blocks)
{
    const int waves = divide_up(tiles, clusters);
    if (plan->schedule == SCHEDULE_COOPERATIVE)
        return (struct load){.k_blocks = waves * k_blocks, .tiles = waves};
    if (plan->schedule == SCHEDULE_PINGPONG) /* hides all stores but the last */
        return (struct load){.k_blocks = waves * k_blocks, .tiles = 1};
    const int whole = tiles % clusters == 0 ? waves : waves > 2 ? waves - 2 : 0; /* as scheduler.cuh deals them out */
    const int dealt = (tiles - whole * clusters) * k_blocks;
    return (struct load){.k_blocks = whole * k_blocks + divide_up(dealt, clusters),
                         .tiles = whole + 1,
                         .givers = tiles < clusters ? divide_up(clusters, tiles) - 1 : 1,
                         .gives_too = tiles > clusters || clusters % tiles != 0};
}

static double k_block_ns(const struct pace *pace, int k, double busy)
{
    const double split = k % BLOCK_K == 0 ? 0 : k % (BLOCK_K / 2) == 0 ? 0.5 : 1; /* of the rows */
    return (pace->whole_ns * (1 - split) + pace->split_ns * split) * (busy > ALONE ? busy : ALONE);
}

static double estimated_ns(const struct gemm_plan *plan, const struct pace *pace, int m, int n, int k,
                           int multiprocessors)
{
    const struct load load =
        busiest(plan, cluster_tiles(plan, m, n), plan->ctas / plan->cluster, divide_up(k, BLOCK_K));
    const double memory_ns = sizeof(bf16) * (double)k * (m + n) / MEMORY_BYTES_A_NS;
    double ns = load.k_blocks * k_block_ns(pace, k, (double)plan->ctas / multiprocessors);
    if (ns < memory_ns)
        ns = memory_ns;
    ns += LAUNCH_NS + (plan->cluster > 1 ? CLUSTER_NS : 0) + load.tiles * TILE_COLUMN_NS * plan->columns;
    if (load.givers)
        ns += GIVING_NS + load.givers * GIVEN_COLUMN_NS * plan->columns + (load.gives_too ? BOTH_NS : 0);
    return ns;
}

/* The plans of one kernel: all multiprocessors; and, to share few tiles evenly, as many clusters for each. */
static int plans_of(struct gemm_plan plan, int m, int n, int k, int multiprocessors, struct gemm_plan *out)
{
    const int tiles = cluster_tiles(&plan, m, n), clusters = clusters_at_a_time(&plan, multiprocessors);
    if (plan.schedule == SCHEDULE_STREAMK && tiles % clusters == 0)
        return 0;
    int count = 0;
    out[count++] = gemm_plan_complete(plan, m, n, k, multiprocessors);
    plan.ctas = clusters / tiles * tiles * plan.cluster;
    if (plan.schedule == SCHEDULE_STREAMK && 2 * tiles <= clusters && plan.ctas < out[0].ctas)
        out[count++] = gemm_plan_complete(plan, m, n, k, multiprocessors);
    return count;
}

int gemm_plan_all(int m, int n, int k, int multiprocessors, struct gemm_plan *out)
{
    static const int all_columns[] = {
#define TILE(columns) columns,
#include "tiles.def"
#undef TILE
    };
    int count = 0;
    for (size_t i = 0; i < sizeof all_columns / sizeof *all_columns; i++)
        for (int cluster = 1; cluster <= CLUSTER_MOST; cluster *= 2)
            for (int schedule = SCHEDULE_COOPERATIVE; schedule <= SCHEDULE_STREAMK; schedule++) {
                const struct gemm_plan plan = {.schedule = schedule, .columns = all_columns[i], .cluster = cluster};
                if (gemm_plan_exists(&plan) && clusters_at_a_time(&plan, multiprocessors) > 0)
                    count += plans_of(plan, m, n, k, multiprocessors, out + count);
            }
    return count;
}

struct gemm_plan gemm_plan_choose(int m, int n, int k, int multiprocessors)
{
    struct gemm_plan all[GEMM_PLANS_MOST];
    const int count = gemm_plan_all(m, n, k, multiprocessors, all);
    int best = 0;
    double best_ns = 0;
    for (int i = 0; i < count; i++) {
        const struct pace *const pace = find_pace(&all[i]);
        const double ns = pace ? estimated_ns(&all[i], pace, m, n, k, multiprocessors) : 0;
        if (pace && (best_ns == 0 || ns < best_ns)) {
            best = i;
            best_ns = ns;
        }
    }
    return all[best];
}
