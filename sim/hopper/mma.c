/* mma.c - mma.sync of one warp: 16 rows by 8 columns, all operands in registers; short floats.  Others: mma_exact.c.
 *
 * A register has 4 bytes of K of one row (A: registers 1 and 3 are 8 rows down) or one column (B); A's registers 2 and
 * 3 and B's register 1 are the next 16 bytes of K.
 * Reads and writes: the warp's registers.
 */
#include "hopper/device.h"
#include "hopper/number.h"
#include "hopper/wgmma.h"

#include <string.h>

enum { QUAD = 4, COLUMNS = 8, HALF_ROWS = 8, REGISTER_BYTES = 4 };
enum { OPERAND_D, OPERAND_A, OPERAND_B, OPERAND_C };

/* The elements of register `number` of a vector operand; how many. */
static uint32_t elements(const struct hopper_step *step, unsigned operand, unsigned number, unsigned lane,
                         enum wsdbg_ptx_type type, float values[WGMMA_CHUNK_ELEMENTS])
{
    unsigned char chunk[WGMMA_CHUNK_BYTES] = {0};
    const uint32_t bits = (uint32_t)hopper_element(step, operand, number, lane);
    memcpy(chunk, &bits, sizeof bits);
    wgmma_convert_chunk(type, chunk, values);
    return REGISTER_BYTES / wsdbg_ptx_type_bytes(type);
}

/* How much of K there is. */
static uint32_t read_a(const struct hopper_step *step, float a[WGMMA_ROWS][WGMMA_K_MOST])
{
    const enum wsdbg_ptx_type type = (enum wsdbg_ptx_type)step->instruction->source_type;
    const uint32_t registers = step->instruction->operands[OPERAND_A].count;
    uint32_t each = 0;
    for (unsigned i = 0; i < registers; i++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
            float values[WGMMA_CHUNK_ELEMENTS];
            each = elements(step, OPERAND_A, i, lane, type, values);
            memcpy(&a[lane / QUAD + i % 2 * HALF_ROWS][(lane % QUAD + i / 2 * QUAD) * each], values,
                   each * sizeof *values);
        }
    return registers / 2 * QUAD * each;
}

static void read_b(const struct hopper_step *step, float b[WGMMA_K_MOST][WGMMA_N_MOST])
{
    const enum wsdbg_ptx_type type = (enum wsdbg_ptx_type)step->instruction->third_type;
    for (unsigned i = 0; i < step->instruction->operands[OPERAND_B].count; i++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
            float values[WGMMA_CHUNK_ELEMENTS];
            const uint32_t each = elements(step, OPERAND_B, i, lane, type, values);
            for (uint32_t e = 0; e < each; e++)
                b[(lane % QUAD + i * QUAD) * each + e][lane / QUAD] = values[e];
        }
}

static void read_c(const struct hopper_step *step, bool is_half, float d[WGMMA_ROWS][WGMMA_N_MOST])
{
    for (unsigned half = 0; half < 2; half++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
            float *const to = &d[lane / QUAD + half * HALF_ROWS][lane % QUAD * 2];
            if (is_half) {
                float values[WGMMA_CHUNK_ELEMENTS];
                elements(step, OPERAND_C, half, lane, WSDBG_PTX_F16, values);
                memcpy(to, values, 2 * sizeof *values);
                continue;
            }
            for (unsigned i = 0; i < 2; i++)
                to[i] = hopper_float_of_bits((uint32_t)hopper_element(step, OPERAND_C, half * 2 + i, lane));
        }
}

static void write_d(const struct hopper_step *step, bool is_half, float d[WGMMA_ROWS][WGMMA_N_MOST])
{
    for (unsigned half = 0; half < 2; half++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
            const float *const from = &d[lane / QUAD + half * HALF_ROWS][lane % QUAD * 2];
            if (is_half)
                hopper_result_element(step, OPERAND_D, half, lane,
                                      hopper_float_to_f16(from[0]) | (uint32_t)hopper_float_to_f16(from[1]) << 16);
            for (unsigned i = 0; i < 2 && !is_half; i++)
                hopper_result_element(step, OPERAND_D, half * 2 + i, lane, hopper_bits_of_float(from[i]));
        }
}

enum hopper_outcome hopper_do_mma(struct hopper_step *step)
{
    if (step->instruction->type == WSDBG_PTX_S32 || step->instruction->type == WSDBG_PTX_F64)
        return hopper_mma_exact(step);
    float a[WGMMA_ROWS][WGMMA_K_MOST], b[WGMMA_K_MOST][WGMMA_N_MOST], d[WGMMA_ROWS][WGMMA_N_MOST];
    const bool is_half = step->instruction->type == WSDBG_PTX_F16;
    if (hopper_gather(step, step->warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    const uint32_t k = read_a(step, a);
    read_b(step, b);
    read_c(step, is_half, d);
    wgmma_multiply(COLUMNS, k, (const float(*)[WGMMA_K_MOST])a, (const float(*)[WGMMA_N_MOST])b, d);
    write_d(step, is_half, d);
    return HOPPER_NEXT;
}
