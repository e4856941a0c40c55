/* loads.cuh - the copies that fill a slot. */
#ifndef GEMM_LOADS_CUH
#define GEMM_LOADS_CUH

#include "gemm.cuh"

/* What this CTA loads of each k-block of a tile: rows of A, and a part of B's rows for all CTAs of the cluster. */
struct loads {
    int row_a, rows_a, row_b, rows_b;
    uint32_t bytes; /* that land in this CTA, also from copies of the others */
};

/* How many of `rows` lie in tile number `tile`, each `height` rows high. */
DEVICE int rows_inside(int rows, int tile, int height)
{
    const int whole = rows / height;
    return tile < whole ? height : tile == whole ? rows % height : 0;
}

/* If a tile reaches over the edge, only the rows inside are loaded: the copy engine takes longer for rows outside. */
DEVICE struct loads loads_of(const struct gemm *g, struct tile tile)
{
    const int tile_a = tile.row * g->cluster_size + g->rank;
    const int rows_b = MORE ? rows_inside(g->schedule.columns, tile.column, TILE_N) : TILE_N; /* all CTAs' */
    struct loads l;
    l.row_a = tile_a * g->tile_m;
    l.rows_a = MORE ? rows_inside(g->schedule.rows, tile_a, g->tile_m) : g->tile_m;
    l.rows_b = rows_of_part(rows_b, g->cluster_size);
    l.row_b = tile.column * TILE_N + g->rank * l.rows_b;
    const int bytes_a = l.rows_a * BLOCK_K * (BUG(tx_mismatch) ? sizeof(float) : sizeof(bf16));
    int rows_landed = 0;
    for (int rank = 0; rank < g->cluster_size; rank++)
        rows_landed += rank * l.rows_b < rows_b ? l.rows_b : 0;
    l.bytes = bytes_a + rows_landed * BLOCK_K * sizeof(bf16);
    if (g->rank * l.rows_b >= rows_b)
        l.rows_b = 0;
    return l;
}

DEVICE void load_a(const struct gemm *g, const struct loads *l, int k_block, uint32_t slot)
{
    const struct tensor_map *const map = l->rows_a == g->tile_m ? g->a : g->a_edge;
    if (l->rows_a > 0)
        tma_load(slot_a(g, slot), map, &g->shared.full[slot], k_block * BLOCK_K, l->row_a);
}

DEVICE void load_b(const struct gemm *g, const struct loads *l, int k_block, uint32_t slot)
{
    const struct tensor_map *const map = l->rows_b == TILE_N / g->cluster_size ? g->b : g->b_edge;
    bf16 *const destination = slot_b(g, slot) + g->rank * l->rows_b * BLOCK_K;
    uint64_t *const full = &g->shared.full[slot];
    if (g->cluster_size == 1)
        tma_load(destination, map, full, k_block * BLOCK_K, l->row_b);
    else if (l->rows_b > 0)
        tma_load_multicast(destination, map, full, k_block * BLOCK_K, l->row_b, (1 << g->cluster_size) - 1);
}

#endif
