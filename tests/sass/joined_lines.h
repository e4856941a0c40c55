/* joined_lines.h - joined code that tests write by hand, one line an instruction, and what becomes of its stack frame.
 */
#ifndef TEST_SASS_JOINED_LINES_H
#define TEST_SASS_JOINED_LINES_H

#include "instructions.h"

#include <stdlib.h>

#include "sass/joined_code.h"

/* clang-format off */
#define OF(...) .words = {1, 0}, __VA_ARGS__ /* machine code */
#define JUMP(rows) .has_target = true, .target_offset_bytes = (rows) * WSDBG_INSTRUCTION_BYTES
#define IF(n) .guard = (n)
#define SET(reg, n) {OF(OP(MOV), UNGUARDED, TO(R(reg)), FROM(NUMBER(n)))}
#define LOAD_CONSTANT(reg, offset) {OF(OP(LDC), UNGUARDED, TO(R(reg)), FROM(CONSTANT(offset)), .width_bytes = 4)}
#define PLUS(to, from, n) {OF(OP(VIADD), UNGUARDED, TO(R(to)), FROM(R(from), NUMBER(n)))}
#define SUM(to, a, b) {OF(OP(IADD3), UNGUARDED, TO(R(to)), FROM(R(a), R(b), ZERO))}
#define STORE(address, offset, reg) {OF(OP(STL), UNGUARDED, FROM(AT(address, offset), R(reg)), .width_bytes = 4)}
#define LOAD(reg, address, offset) {OF(OP(LDL), UNGUARDED, TO(R(reg)), FROM(AT(address, offset)), .width_bytes = 4)}
#define STORE_GENERIC(pair, reg) {OF(OP(ST), UNGUARDED, FROM(PAIR_AT(pair), R(reg)), .width_bytes = 4)}
#define LOAD_GENERIC(reg, pair) {OF(OP(LD), UNGUARDED, TO(R(reg)), FROM(PAIR_AT(pair)), .width_bytes = 4)}
/* Instructions that lead elsewhere have a second condition, here PT. */
#define LEAD(...) .words = {1, (uint64_t)WSDBG_PT << 23}, __VA_ARGS__
#define FINISH {LEAD(OP(EXIT), UNGUARDED)}
#define BRANCH_IF(n, rows) {LEAD(OP(BRA), IF(n), JUMP(rows))}
#define BRANCH(rows) BRANCH_IF(WSDBG_PT, rows)
/* clang-format on */

/* The stack pointer, with a frame of 16 bytes; the window of local memory, and that of shared memory. */
enum { STACK = 1, FRAME_BYTES = 16, WINDOW = 0x20, SHARED_HIGH = 0x2f, PARAMETER = 0x210 };
#define PROLOGUE LOAD_CONSTANT(STACK, 0x28), PLUS(STACK, STACK, -FRAME_BYTES)

static inline struct wsdbg_graph *graph_of_lines(const struct joined_code *code)
{
    struct wsdbg_instruction *instructions = calloc(code->count, sizeof *instructions);
    struct wsdbg_graph *graph;
    assert_non_null(instructions);
    for (uint32_t i = 0; i < code->count; i++)
        instructions[i] = code->lines[i].instruction;
    assert_null(wsdbg_graph_create_decoded(instructions, code->count, &graph));
    free(instructions);
    return graph;
}

static inline struct joined_code lines_of(const struct wsdbg_instruction *instructions, uint32_t count)
{
    struct joined_code code = {.lines = calloc(count, sizeof *code.lines), .count = count};
    assert_non_null(code.lines);
    for (uint32_t i = 0; i < count; i++)
        code.lines[i] = (struct joined_line){.instruction = instructions[i], .origin = {0, i}};
    return code;
}

/* The caller frees the lines. */
static inline struct joined_code followed(const struct wsdbg_instruction *instructions, uint32_t count)
{
    struct joined_code code = lines_of(instructions, count);
    struct wsdbg_graph *graph = graph_of_lines(&code);
    assert_null(joined_follow_frame(&code, graph));
    wsdbg_graph_destroy(graph);
    return code;
}

#define FOLLOWED(rows) followed(rows, sizeof(rows) / sizeof *(rows))

#endif
