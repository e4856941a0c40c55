/* mma_exact.c - mma.sync of one warp on integers of 8 and 4 bits, on single bits, and on doubles.
 *
 * Registers hold parts of matrices as in mma.c: 4 bytes of K each (a double: 8), B's register n and A's registers 2n
 * and 2n + 1 the n-th quarter, half or whole of it; A's odd registers are 8 rows down.  Of 8 rows A has register 0
 * only. Reads and writes: the warp's registers.
 */
#include "hopper/device.h"
#include "hopper/number.h"
#include "hopper/wgmma.h"

#include <math.h>

enum { QUAD = 4, ROWS = 16, COLUMNS = 8, HALF_ROWS = 8, K_MOST = 256, K_MOST_F64 = 16, SUMS_MOST = 4 };
enum { OPERAND_D, OPERAND_A, OPERAND_B, OPERAND_C };

struct place {
    uint32_t row, column;
};

/* Where element `i` of C or D lies. */
static struct place place_of_sum(unsigned lane, uint32_t i)
{
    return (struct place){lane / QUAD + i / 2 * HALF_ROWS, lane % QUAD * 2 + i % 2};
}

static uint32_t count_of(const struct hopper_step *step, unsigned operand)
{
    return step->instruction->operands[operand].count;
}

/* Before D is written: it may be C. */
static void read_sums(const struct hopper_step *step, uint64_t c[SUMS_MOST][HOPPER_LANES])
{
    for (uint32_t i = 0; i < count_of(step, OPERAND_C); i++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
            c[i][lane] = hopper_element(step, OPERAND_C, i, lane);
}

/* ---- integers ---- */

static int32_t element_of(uint32_t bits, enum wsdbg_ptx_type type, uint32_t number)
{
    const uint32_t width = wsdbg_ptx_type_bits(type);
    const uint32_t left = bits << (32 - width * (number + 1));
    const bool is_signed = type == WSDBG_PTX_S8 || type == WSDBG_PTX_S4;
    return is_signed ? (int32_t)left >> (32 - width) : (int32_t)(left >> (32 - width));
}

/* A by rows, B by columns: `halves` of 8 of them lie in registers one behind the other. */
static void read_whole(const struct hopper_step *step, unsigned operand, enum wsdbg_ptx_type type, uint32_t halves,
                       int32_t values[ROWS][K_MOST])
{
    const uint32_t each = 32 / wsdbg_ptx_type_bits(type);
    for (uint32_t i = 0; i < count_of(step, operand); i++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
            const uint32_t bits = (uint32_t)hopper_element(step, operand, i, lane);
            for (uint32_t e = 0; e < each; e++)
                values[lane / QUAD + i % halves * HALF_ROWS][(lane % QUAD + i / halves * QUAD) * each + e] =
                    element_of(bits, type, e);
        }
}

static int64_t product(const int32_t *a, const int32_t *b, uint32_t k, enum wsdbg_ptx_combine combine)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < k; i++)
        sum += combine == WSDBG_PTX_XOR ? a[i] ^ b[i] : a[i] * b[i];
    return sum;
}

static void multiply_whole(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    int32_t a[ROWS][K_MOST], b[ROWS][K_MOST];
    uint64_t c[SUMS_MOST][HOPPER_LANES];
    read_sums(step, c);
    read_whole(step, OPERAND_A, (enum wsdbg_ptx_type)instruction->source_type, instruction->m / HALF_ROWS, a);
    read_whole(step, OPERAND_B, (enum wsdbg_ptx_type)instruction->third_type, 1, b);
    for (uint32_t i = 0; i < count_of(step, OPERAND_D); i++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
            const struct place at = place_of_sum(lane, i);
            const int64_t before = (int32_t)c[i][lane];
            const int64_t sum =
                before + product(a[at.row], b[at.column], instruction->k, (enum wsdbg_ptx_combine)instruction->combine);
            hopper_result_element(step, OPERAND_D, i, lane,
                                  hopper_whole_sum(sum, instruction->flags & WSDBG_PTX_SATFINITE));
        }
}

/* ---- doubles ---- */

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void read_doubles(const struct hopper_step *step, unsigned operand, uint32_t halves,
                         double values[ROWS][K_MOST_F64])
{
    for (uint32_t i = 0; i < count_of(step, operand); i++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
            values[lane / QUAD + i % halves * HALF_ROWS][lane % QUAD + i / halves * QUAD] =
                double_of(hopper_element(step, operand, i, lane));
}

/* Rounded after each product that is added. */
static void multiply_doubles(struct hopper_step *step)
{
    double a[ROWS][K_MOST_F64], b[ROWS][K_MOST_F64];
    uint64_t c[SUMS_MOST][HOPPER_LANES];
    read_sums(step, c);
    read_doubles(step, OPERAND_A, step->instruction->m / HALF_ROWS, a);
    read_doubles(step, OPERAND_B, 1, b);
    for (uint32_t i = 0; i < count_of(step, OPERAND_D); i++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
            const struct place at = place_of_sum(lane, i);
            double sum = double_of(c[i][lane]);
            for (uint32_t k = 0; k < step->instruction->k; k++)
                sum = fma(a[at.row][k], b[at.column][k], sum);
            uint64_t bits;
            memcpy(&bits, &sum, sizeof bits);
            hopper_result_element(step, OPERAND_D, i, lane, bits);
        }
}

enum hopper_outcome hopper_mma_exact(struct hopper_step *step)
{
    if (hopper_gather(step, step->warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    if (step->instruction->type == WSDBG_PTX_F64)
        multiply_doubles(step);
    else
        multiply_whole(step);
    return HOPPER_NEXT;
}
