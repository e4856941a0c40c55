/* wgmma_multiply.c - the product of 16 rows; see wgmma.h.
 *
 * Each result is the sum over k in its order, in float, added to what was there: the same on every machine.  Blocks of
 * 4 rows and 16 columns stay in vector registers.
 */
#include "hopper/wgmma.h"

#include <string.h>

enum { BLOCK_ROWS = 4, VECTOR_FLOATS = 8, VECTORS = 2, BLOCK_COLUMNS = VECTOR_FLOATS * VECTORS };
typedef float vector __attribute__((vector_size(VECTOR_FLOATS * sizeof(float))));

#if defined(__x86_64__) && defined(__linux__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

CLONES
void wgmma_multiply(uint32_t n, uint32_t k, const float a[WGMMA_ROWS][WGMMA_K_MOST],
                    const float b[WGMMA_K_MOST][WGMMA_N_MOST], float d[WGMMA_ROWS][WGMMA_N_MOST])
{
    /* N is a multiple of 8: the last block may compute 8 columns that nobody reads. */
    for (uint32_t column = 0; column < n; column += BLOCK_COLUMNS)
        for (uint32_t row = 0; row < WGMMA_ROWS; row += BLOCK_ROWS) {
            vector sums[BLOCK_ROWS][VECTORS] = {0};
            for (uint32_t i = 0; i < k; i++) {
                vector columns[VECTORS];
                memcpy(columns, &b[i][column], sizeof columns);
                for (uint32_t r = 0; r < BLOCK_ROWS; r++)
                    for (uint32_t v = 0; v < VECTORS; v++)
                        sums[r][v] += a[row + r][i] * columns[v];
            }
            for (uint32_t r = 0; r < BLOCK_ROWS; r++) {
                vector before[VECTORS];
                memcpy(before, &d[row + r][column], sizeof before);
                for (uint32_t v = 0; v < VECTORS; v++)
                    before[v] += sums[r][v];
                memcpy(&d[row + r][column], before, sizeof before);
            }
        }
}
