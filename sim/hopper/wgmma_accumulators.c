/* wgmma_accumulators.c - accumulators between the warp's registers and rows of floats; see wgmma.h.
 *
 * Of each 8 rows and 8 columns a lane has two columns of one row.  As floats these are two registers, as halves one.
 */
#include "hopper/integer.h"
#include "hopper/number.h"
#include "hopper/wgmma.h"

enum { BLOCK = 8, LANES_OF_ROW = 4 };

uint32_t wgmma_d_registers(const struct wgmma_operation *operation)
{
    return operation->n / (operation->d_type == WSDBG_PTX_F16 ? 4 : 2);
}

static uint32_t *lanes_of(const struct wgmma_operation *operation, unsigned char *registers, uint32_t number)
{
    return (uint32_t *)(void *)(registers + operation->d[number]);
}

/* ---- a block: `d` is its first row and column ---- */

static void read_floats(const uint32_t *restrict left, const uint32_t *restrict right,
                        float (*restrict d)[WGMMA_N_MOST])
{
    for (uint32_t row = 0; row < BLOCK; row++)
        for (uint32_t i = 0; i < LANES_OF_ROW; i++) {
            d[row][2 * i] = hopper_float_of_bits(left[row * LANES_OF_ROW + i]);
            d[row][2 * i + 1] = hopper_float_of_bits(right[row * LANES_OF_ROW + i]);
        }
}

static void write_floats(uint32_t *restrict left, uint32_t *restrict right, float (*restrict d)[WGMMA_N_MOST])
{
    for (uint32_t row = 0; row < BLOCK; row++)
        for (uint32_t i = 0; i < LANES_OF_ROW; i++) {
            left[row * LANES_OF_ROW + i] = hopper_bits_of_float(d[row][2 * i]);
            right[row * LANES_OF_ROW + i] = hopper_bits_of_float(d[row][2 * i + 1]);
        }
}

static void read_halves(const uint32_t *both, float (*d)[WGMMA_N_MOST])
{
    for (uint32_t lane = 0; lane < HOPPER_LANES; lane++) {
        float *const to = &d[lane / LANES_OF_ROW][lane % LANES_OF_ROW * 2];
        to[0] = hopper_f16_to_float((uint16_t)both[lane]);
        to[1] = hopper_f16_to_float((uint16_t)(both[lane] >> 16));
    }
}

static void write_halves(uint32_t *both, float (*d)[WGMMA_N_MOST])
{
    for (uint32_t lane = 0; lane < HOPPER_LANES; lane++) {
        const float *const from = &d[lane / LANES_OF_ROW][lane % LANES_OF_ROW * 2];
        both[lane] = hopper_float_to_f16(from[0]) | (uint32_t)hopper_float_to_f16(from[1]) << 16;
    }
}

static void add_whole(uint32_t *left, uint32_t *right, float (*d)[WGMMA_N_MOST], bool adds, bool is_clamped)
{
    for (uint32_t lane = 0; lane < HOPPER_LANES; lane++) {
        const float *const from = &d[lane / LANES_OF_ROW][lane % LANES_OF_ROW * 2];
        left[lane] = hopper_whole_sum((adds ? (int32_t)left[lane] : 0) + (int64_t)from[0], is_clamped);
        right[lane] = hopper_whole_sum((adds ? (int32_t)right[lane] : 0) + (int64_t)from[1], is_clamped);
    }
}

/* ---- all blocks, in the order of their registers ---- */

#define EACH_BLOCK(...)                                                                        \
    do {                                                                                       \
        uint32_t number = 0;                                                                   \
        for (uint32_t column = 0; column < operation->n; column += BLOCK)                      \
            for (uint32_t row = 0; row < WGMMA_ROWS; row += BLOCK) {                           \
                float(*const block)[WGMMA_N_MOST] = (float(*)[WGMMA_N_MOST]) & d[row][column]; \
                uint32_t *const first = lanes_of(operation, registers, number++);              \
                __VA_ARGS__                                                                    \
            }                                                                                  \
    } while (0)

void wgmma_read_d(const struct wgmma_operation *operation, unsigned char *registers, float d[WGMMA_ROWS][WGMMA_N_MOST])
{
    if (operation->d_type == WSDBG_PTX_F16)
        EACH_BLOCK(read_halves(first, block););
    else
        EACH_BLOCK(read_floats(first, lanes_of(operation, registers, number++), block););
}

void wgmma_write_d(const struct wgmma_operation *operation, unsigned char *registers, float d[WGMMA_ROWS][WGMMA_N_MOST])
{
    if (operation->d_type == WSDBG_PTX_F16)
        EACH_BLOCK(write_halves(first, block););
    else
        EACH_BLOCK(write_floats(first, lanes_of(operation, registers, number++), block););
}

void wgmma_add_whole(const struct wgmma_operation *operation, unsigned char *registers,
                     float d[WGMMA_ROWS][WGMMA_N_MOST])
{
    EACH_BLOCK(
        add_whole(first, lanes_of(operation, registers, number++), block, operation->adds, operation->is_clamped););
}
