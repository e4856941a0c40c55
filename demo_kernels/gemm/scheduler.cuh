/* scheduler.cuh - which tile of C a cluster works on next, on which k-blocks of it, and through which slots they go.
 *
 * The grid is persistent: cluster c of n takes tiles c, c + n, c + 2n, ...  Tiles are numbered down a band of
 * `band_rows` tile rows before the next column, so that the clusters running at one time share few rows of A
 * and columns of B and find them in L2.
 *
 * Stream-K: where the number of tiles is no multiple of the clusters, the last wave would leave clusters idle.  So the
 * k-blocks of the last tiles, less than two tiles a cluster, are dealt out evenly.  Each cluster gets one run of them,
 * often from the middle of one tile to the middle of another.  It goes through its run from the end.  First, it gives
 * its sums of the last tile if another cluster has the end of that tile.  Last, it takes the sums of the first tile if
 * others have its beginning.  So a cluster waits only for clusters before it, and only for what these do first.
 */
#ifndef GEMM_SCHEDULER_CUH
#define GEMM_SCHEDULER_CUH

#include "../common/sync.cuh"
#include "geometry.h"

struct schedule {
    int rows, columns;           /* of the product that is computed, in elements */
    int tile_rows, tile_columns; /* the same in cluster tiles */
    int band_rows;
    int k_blocks;       /* of a tile */
    int k_begin, k_end; /* this CTA's k-blocks of a whole tile: all, or in split-K a part */
    int first, stride;  /* this cluster's whole tiles: first + i * stride */
    int count;          /* of tiles this cluster works on */

    int stream_k;    /* constant; without it the rest is 0 */
    int first_dealt; /* the first tile whose k-blocks are dealt out */
    int dealt;       /* how many k-blocks are dealt out */
    int run;         /* how many of them this cluster gets */
    int parts;       /* how many tiles the run touches; the cluster takes them first, from the last one back */
    int last;        /* the last tile of the run */
    int last_end;    /* the run ends before this k-block of its last tile */
    int first_begin; /* and begins with this k-block of its first tile */
};

struct tile {
    int index;
    int row, column;    /* in cluster tiles */
    int k_begin, k_end; /* this cluster's k-blocks of it */
    uint32_t iteration; /* how many k-blocks this cluster had before these */
};

/* Where the run of `cluster` begins among the k-blocks that are dealt out.  It ends where the next cluster's begins. */
DEVICE int schedule_share(const struct schedule *s, int cluster)
{
    return s->dealt / s->stride * cluster + min(cluster, s->dealt % s->stride);
}

/* Deals out k-blocks.  Whole waves get the tiles with the lowest numbers, so that what is dealt out lies together. */
DEVICE void schedule_deal(struct schedule *s, int tiles)
{
    const int clusters = s->stride, waves = tiles / clusters - (tiles % clusters && tiles > clusters ? 1 : 0);
    s->first_dealt = waves * clusters;
    s->dealt = (tiles - s->first_dealt) * s->k_blocks;
    const int begin = schedule_share(s, s->first), end = schedule_share(s, s->first + 1);
    const int first_tile = begin / s->k_blocks, last_tile = (end - 1) / s->k_blocks;
    s->run = end - begin;
    s->parts = s->run > 0 ? last_tile - first_tile + 1 : 0;
    s->last = s->first_dealt + last_tile;
    s->last_end = end - last_tile * s->k_blocks;
    s->first_begin = begin - first_tile * s->k_blocks;
    s->count = s->parts + waves;
}

/* `tile_m`, `tile_n`: what one cluster computes at a time; `stream_k` is constant. */
DEVICE struct schedule schedule_make(const struct gemm_problem *problem, int tile_m, int tile_n, int cluster,
                                     int clusters, int stream_k, int transposed)
{
    struct schedule s;
    s.rows = transposed ? problem->n : problem->m;
    s.columns = transposed ? problem->m : problem->n;
    s.tile_rows = divide_up(s.rows, tile_m);
    s.tile_columns = divide_up(s.columns, tile_n);
    s.band_rows = problem->band_rows;
    s.k_blocks = divide_up(problem->k, BLOCK_K);
    s.k_begin = 0;
    s.k_end = s.k_blocks;
    s.first = cluster;
    s.stride = clusters;
    s.stream_k = stream_k;
    s.first_dealt = s.dealt = s.run = s.parts = s.last = s.last_end = s.first_begin = 0;
    if (stream_k)
        schedule_deal(&s, s.tile_rows * s.tile_columns);
    else
        s.count = divide_up(s.tile_rows * s.tile_columns - cluster, clusters);
    return s;
}

/* Split-K: this CTA gets part number `part` of `splits` of each tile's k-blocks. */
DEVICE void schedule_split(struct schedule *s, int part, int splits)
{
    s->k_begin = s->k_blocks * part / splits;
    s->k_end = s->k_blocks * (part + 1) / splits;
}

/* Tile `index` as a whole tile: where it lies, and this CTA's k-blocks of it. */
DEVICE struct tile schedule_whole(const struct schedule *s, int index)
{
    struct tile t;
    t.index = index;
    const int band_tiles = s->band_rows * s->tile_columns;
    const int band_first = t.index / band_tiles * s->band_rows;
    const int rows = min(s->band_rows, s->tile_rows - band_first);
    const int in_band = t.index % band_tiles;
    t.row = band_first + in_band % rows;
    t.column = in_band / rows;
    t.k_begin = s->k_begin;
    t.k_end = s->k_end;
    return t;
}

DEVICE struct tile schedule_tile(const struct schedule *s, int ordinal)
{
    if (!s->stream_k || ordinal >= s->parts) {
        struct tile t = schedule_whole(s, s->first + (ordinal - s->parts) * s->stride);
        t.iteration = s->run + (ordinal - s->parts) * s->k_blocks;
        return t;
    }
    struct tile t = schedule_whole(s, s->last - ordinal);
    if (ordinal == 0)
        t.k_end = s->last_end;
    if (ordinal == s->parts - 1)
        t.k_begin = s->first_begin;
    t.iteration = ordinal == 0 ? 0 : s->last_end + (ordinal - 1) * s->k_blocks;
    return t;
}

/* The k-block of `tile` with which `cluster` begins; 0 or less if that has the tile's first one.  `cluster` comes
 * before this one and has k-blocks of the tile. */
DEVICE int schedule_begin_in(const struct schedule *s, struct tile tile, int cluster)
{
    return schedule_share(s, cluster) - (tile.index - s->first_dealt) * s->k_blocks;
}

#endif
