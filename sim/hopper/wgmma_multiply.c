/* wgmma_multiply.c - the product of 16 rows; see wgmma.h.
 *
 * Each result is the sum over k in its order, in float, added to what was there: the same on every machine.  Blocks of
 * 8 rows and 8 columns stay in vector registers.
 */
#include "hopper/wgmma.h"

#include <string.h>

enum { BLOCK_ROWS = 8, BLOCK_COLUMNS = 8 };
typedef float vector __attribute__((vector_size(BLOCK_COLUMNS * sizeof(float))));

/* Not under the thread sanitizer: what chooses the clone runs before the sanitizer is there. */
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

CLONES
void wgmma_multiply(uint32_t n, uint32_t k, const float a[WGMMA_ROWS][WGMMA_K_MOST],
                    const float b[WGMMA_K_MOST][WGMMA_N_MOST], float d[WGMMA_ROWS][WGMMA_N_MOST])
{
    for (uint32_t column = 0; column < n; column += BLOCK_COLUMNS)
        for (uint32_t row = 0; row < WGMMA_ROWS; row += BLOCK_ROWS) {
            vector sums[BLOCK_ROWS] = {0};
            for (uint32_t i = 0; i < k; i++) {
                vector columns;
                memcpy(&columns, &b[i][column], sizeof columns);
                for (uint32_t r = 0; r < BLOCK_ROWS; r++)
                    sums[r] += a[row + r][i] * columns;
            }
            for (uint32_t r = 0; r < BLOCK_ROWS; r++) {
                vector before;
                memcpy(&before, &d[row + r][column], sizeof before);
                before += sums[r];
                memcpy(&d[row + r][column], &before, sizeof before);
            }
        }
}
