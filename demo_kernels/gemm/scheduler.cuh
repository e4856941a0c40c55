/* scheduler.cuh - which tile of C a cluster works on next.
 *
 * The grid is persistent: cluster c of n takes tiles c, c + n, c + 2n, ...  Tiles are numbered down a band of
 * `band_rows` tile rows before the next column, so that the clusters running at one time share few rows of A
 * and columns of B and find them in L2.
 */
#ifndef GEMM_SCHEDULER_CUH
#define GEMM_SCHEDULER_CUH

#include "../common/sync.cuh"
#include "geometry.h"

struct schedule {
    int tile_rows, tile_columns; /* of C, in cluster tiles */
    int band_rows;
    int first, stride; /* this cluster's tiles: first + ordinal * stride */
    int count;         /* how many those are */
};

struct tile {
    int index;
    int row, column; /* in cluster tiles */
};

DEVICE int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

/* `tile_m`, `tile_n`: what one cluster computes at a time. */
DEVICE struct schedule schedule_make(const struct gemm_problem *problem, int tile_m, int tile_n, int cluster,
                                     int clusters)
{
    struct schedule s;
    s.tile_rows = divide_up(problem->m, tile_m);
    s.tile_columns = divide_up(problem->n, tile_n);
    s.band_rows = problem->band_rows;
    s.first = cluster;
    s.stride = clusters;
    s.count = divide_up(s.tile_rows * s.tile_columns - cluster, clusters);
    return s;
}

DEVICE struct tile schedule_tile(const struct schedule *s, int ordinal)
{
    struct tile t;
    t.index = s->first + ordinal * s->stride;
    const int band_tiles = s->band_rows * s->tile_columns;
    const int band_first = t.index / band_tiles * s->band_rows;
    const int rows = min(s->band_rows, s->tile_rows - band_first);
    const int in_band = t.index % band_tiles;
    t.row = band_first + in_band % rows;
    t.column = in_band / rows;
    return t;
}

#endif
