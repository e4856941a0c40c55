/* matrix.c - ldmatrix and stmatrix: 8x8 matrices of 16-bit elements between shared memory and a warp's registers;
 * movmatrix, among registers.
 *
 * Lane 8m + r holds the address of row r of matrix m.  A lane's register m has two neighbours of row lane / 4; with
 * .trans of column lane / 4.
 * Reads and writes: shared memory of the CTA, the warp's registers.
 */
#include "hopper/device.h"
#include "hopper/number.h"
#include "hopper/race.h"
#include "hopper/wgmma.h"

#include <string.h>

enum { MATRIX_ROWS = 8, ROW_BYTES = 16, MATRICES_MOST = 4, QUAD = 4 };

struct matrices {
    unsigned char *rows[MATRICES_MOST][MATRIX_ROWS];
};

/* Where the rows lie, by ADDRESS operand `number`; false after a fault. */
static bool find_rows(const struct hopper_step *step, unsigned number, bool for_writing, struct matrices *out)
{
    for (unsigned lane = 0; lane < step->instruction->vector_length * MATRIX_ROWS; lane++) {
        const uint64_t address = hopper_address(step, number, lane);
        unsigned char *const row = hopper_memory(step, (enum wsdbg_ptx_space)step->instruction->space, address,
                                                 ROW_BYTES, ROW_BYTES, lane, for_writing);
        if (!row)
            return false;
        if (step->gpu->races)
            hopper_race_lane(step, (enum wsdbg_ptx_space)step->instruction->space, address, ROW_BYTES, for_writing, 0);
        out->rows[lane / MATRIX_ROWS][lane % MATRIX_ROWS] = row;
    }
    return true;
}

/* The two 16-bit elements of a lane's register. */
static unsigned char *element(const struct matrices *matrices, const struct wsdbg_ptx_instruction *instruction,
                              unsigned matrix, unsigned lane, unsigned i)
{
    unsigned row = lane / QUAD, column = lane % QUAD * 2 + i;
    if (instruction->flags & WSDBG_PTX_TRANSPOSED) {
        row = lane % QUAD * 2 + i;
        column = lane / QUAD;
    }
    return matrices->rows[matrix][row] + column * sizeof(uint16_t);
}

enum hopper_outcome hopper_do_ldmatrix(struct hopper_step *step)
{
    struct matrices matrices;
    if (hopper_gather(step, step->warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    if (!find_rows(step, 1, false, &matrices))
        return HOPPER_FAULTED;
    hopper_looks(step);
    uint16_t values[MATRICES_MOST][HOPPER_LANES][2];
    for (unsigned m = 0; m < step->instruction->vector_length; m++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
            for (unsigned i = 0; i < 2; i++)
                memcpy(&values[m][lane][i], element(&matrices, step->instruction, m, lane, i), sizeof(uint16_t));
    for (unsigned m = 0; m < step->instruction->vector_length; m++)
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
            if (step->lanes >> lane & 1)
                hopper_result_element(step, 0, m, lane, values[m][lane][0] | (uint32_t)values[m][lane][1] << 16);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_stmatrix(struct hopper_step *step)
{
    struct matrices matrices;
    if (hopper_gather(step, step->warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    if (!find_rows(step, 0, true, &matrices))
        return HOPPER_FAULTED;
    for (unsigned m = 0; m < step->instruction->vector_length; m++) {
        const struct wsdbg_ptx_operand *const vector = &step->instruction->operands[1];
        const uint32_t *const values = hopper_register32(step->warp, step->program->vectors[vector->number + m].number);
        for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
            for (unsigned i = 0; i < 2; i++) {
                const uint16_t value = (uint16_t)(values[lane] >> 16 * i);
                memcpy(element(&matrices, step->instruction, m, lane, i), &value, sizeof value);
            }
    }
    step->warp->writes++;
    hopper_changed_shared(step->warp->cta);
    return HOPPER_NEXT;
}

/* A lane's register holds columns 2 (lane % 4) and the next of row lane / 4. */
enum hopper_outcome hopper_do_movmatrix(struct hopper_step *step)
{
    uint16_t matrix[MATRIX_ROWS][MATRIX_ROWS];
    if (hopper_gather(step, step->warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
        for (unsigned i = 0; i < 2; i++)
            matrix[lane / QUAD][lane % QUAD * 2 + i] = (uint16_t)(hopper_source(step, 1, lane) >> 16 * i);
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        const unsigned row = lane % QUAD * 2, column = lane / QUAD;
        hopper_result(step, 0, lane, matrix[row][column] | (uint32_t)matrix[row + 1][column] << 16);
    }
    return HOPPER_NEXT;
}
