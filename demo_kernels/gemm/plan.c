/* plan.c - see plan.h.  Reads sizes alone. */
#include "plan.h"

#include <stddef.h>
#include <stdlib.h>

#include "estimate.h"
#include "geometry.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

int gemm_plan_rows(const struct gemm_plan *plan)
{
    const bool is_low = plan->schedule == SCHEDULE_PINGPONG || plan->schedule == SCHEDULE_SPLITK_LOW;
    return is_low ? CONSUMER_M : CONSUMERS * CONSUMER_M;
}

bool gemm_plan_is_split_k(const struct gemm_plan *plan)
{
    return plan->schedule == SCHEDULE_SPLITK || plan->schedule == SCHEDULE_SPLITK_LOW;
}

int gemm_plan_splits(const struct gemm_plan *plan)
{
    return gemm_plan_is_split_k(plan) ? plan->cluster : 1;
}

bool gemm_plan_exists(const struct gemm_plan *plan)
{
    switch (plan->schedule) {
    case SCHEDULE_SPLITK:
    case SCHEDULE_SPLITK_LOW:
        return plan->cluster >= 2 && plan->cluster <= CLUSTER_MOST;
    case SCHEDULE_PINGPONG:
        return plan->cluster == 1 || plan->cluster == 2;
    case SCHEDULE_STREAMK:
        if (plan->columns > STREAMK_COLUMNS_MOST)
            return false;
    }
    return plan->cluster == 1 || plan->cluster == 2 || plan->cluster == 4;
}

/* Clusters of more than two leave some multiprocessors idle.  `used`: how many of an H200's 132 work, by their size. */
int gemm_plan_clusters(const struct gemm_plan *plan, int multiprocessors)
{
    static const int used[] = {0, 132, 132, 117, 120, 110, 102, 105, 120};
    return multiprocessors * used[plan->cluster] / 132 / plan->cluster;
}

int gemm_plan_tile_rows(const struct gemm_plan *plan, int m, int n)
{
    return divide_up(plan->transposed ? n : m, gemm_plan_rows(plan) * plan->cluster / gemm_plan_splits(plan));
}

int gemm_plan_tile_columns(const struct gemm_plan *plan, int m, int n)
{
    return divide_up(plan->transposed ? m : n, plan->columns);
}

int gemm_plan_tiles(const struct gemm_plan *plan, int m, int n)
{
    return gemm_plan_tile_rows(plan, m, n) * gemm_plan_tile_columns(plan, m, n);
}

struct gemm_plan gemm_plan_complete(struct gemm_plan plan, int m, int n, int k, int multiprocessors)
{
    if (gemm_plan_splits(&plan) > divide_up(k, BLOCK_K))
        plan.cluster = divide_up(k, BLOCK_K);
    const int tiles = gemm_plan_tiles(&plan, m, n);
    const int units = plan.schedule == SCHEDULE_STREAMK ? tiles * least(divide_up(k, BLOCK_K), 1024) : tiles;
    int clusters = least(plan.ctas ? plan.ctas / plan.cluster : gemm_plan_clusters(&plan, multiprocessors), units);
    if (gemm_plan_is_split_k(&plan))
        clusters = tiles; /* the kernel's barriers serve one tile; clusters that find no room wait for it */
    plan.ctas = (clusters > 0 ? clusters : 1) * plan.cluster;
    if (plan.band_rows == 0)
        plan.band_rows = 2048 / (gemm_plan_rows(&plan) * plan.cluster / gemm_plan_splits(&plan));
    return plan;
}

/* ---- all plans ---- */

/* With at most so many columns of tiles, and fewer columns than rows, tiles are taken row by row.  Then tiles that
 * share rows of A or columns of B run at the same time, and one read by L2 serves several of them. */
#define BAND_COLUMNS 8

/* The plans of one kernel.  The first uses all multiprocessors.  Stream-K with few tiles has a second one, with the
 * same number of clusters for each tile. */
static int plans_of(struct gemm_plan plan, int m, int n, int k, int multiprocessors, struct gemm_plan *out)
{
    const int tiles = gemm_plan_tiles(&plan, m, n), clusters = gemm_plan_clusters(&plan, multiprocessors);
    if (plan.schedule == SCHEDULE_STREAMK && tiles % clusters == 0)
        return 0;
    if (gemm_plan_splits(&plan) > 1 && tiles > clusters)
        return 0;
    if (gemm_plan_tile_columns(&plan, m, n) < least(gemm_plan_tile_rows(&plan, m, n), BAND_COLUMNS + 1))
        plan.band_rows = 1;
    int count = 0;
    out[count++] = gemm_plan_complete(plan, m, n, k, multiprocessors);
    plan.ctas = clusters / tiles * tiles * plan.cluster;
    if (plan.schedule == SCHEDULE_STREAMK && 2 * tiles <= clusters && plan.ctas < out[0].ctas)
        out[count++] = gemm_plan_complete(plan, m, n, k, multiprocessors);
    return count;
}

/* Whether there is such a kernel, the GPU has room for a cluster, and split-K has a k-block for each CTA of it. */
static bool fits(const struct gemm_plan *plan, int k, int multiprocessors)
{
    return gemm_plan_exists(plan) && gemm_plan_clusters(plan, multiprocessors) > 0 &&
           gemm_plan_splits(plan) <= divide_up(k, BLOCK_K);
}

/* Sorts plans by estimate, the fastest first.  Of two equal ones, the one that is not transposed comes first. */
static int by_estimate(const void *a, const void *b)
{
    const struct gemm_plan *const x = a, *const y = b;
    if (x->estimated_ns == y->estimated_ns)
        return x->transposed - y->transposed;
    return x->estimated_ns > y->estimated_ns ? 1 : -1;
}

int gemm_plan_all(int m, int n, int k, int multiprocessors, struct gemm_plan *out)
{
    static const int all_columns[] = {
#define TILE(columns) columns,
#include "tiles.def"
#undef TILE
    };
    int count = 0;
    for (size_t i = 0; i < 2 * sizeof all_columns / sizeof *all_columns; i++)
        for (int cluster = 1; cluster <= CLUSTER_MOST; cluster++)
            for (int schedule = SCHEDULE_COOPERATIVE; schedule < SCHEDULE_AUTO; schedule++) {
                const struct gemm_plan plan = {.schedule = schedule,
                                               .columns = all_columns[i / 2],
                                               .cluster = cluster,
                                               .transposed = i % 2,
                                               .overlaps = true};
                if (fits(&plan, k, multiprocessors))
                    count += plans_of(plan, m, n, k, multiprocessors, out + count);
            }
    for (int i = 0; i < count; i++)
        out[i].estimated_ns = gemm_plan_estimate_ns(&out[i], m, n, k, multiprocessors);
    qsort(out, (size_t)count, sizeof *out, by_estimate);
    return count;
}

struct gemm_plan gemm_plan_choose(int m, int n, int k, int multiprocessors)
{
    struct gemm_plan all[GEMM_PLANS_MOST];
    gemm_plan_all(m, n, k, multiprocessors, all);
    return all[0];
}
