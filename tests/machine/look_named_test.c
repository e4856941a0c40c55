/* look_named_test.c - which named barrier a warp waits at where the registers that its BAR named were written again:
 * from registers that a look has not read yet, and from the index of the warp's threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../sass/instructions.h"

#include "machine/look_lane.h"
#include "sass/definitions.h"

/* clang-format off */
#define OF(...) .words = {1, 0}, __VA_ARGS__ /* machine code */
#define PACK(to, id, threads) \
    {OF(OP(MOV), UNGUARDED, TO(R(to)), FROM(NUMBER((threads) << 16)))}, \
    {OF(OP(LOP3), UNGUARDED, TO(R(to)), FROM(R(to), NUMBER(15), R(id)), .table = 0xf8)}
/* The form whose only register is threads << 16 | id. */
#define SYNC(reg) {.words = {0x31d, 0}, OP(BAR), UNGUARDED, FROM(R(reg), R(reg)), .mode = WSDBG_BAR_SYNC}
#define SET(reg, n) {OF(OP(MOV), UNGUARDED, TO(R(reg)), FROM(NUMBER(n)))}
#define FINISH {.words = {1, (uint64_t)WSDBG_PT << 23}, OP(EXIT), UNGUARDED}
/* clang-format on */

enum { TID_X = 33, REGISTERS = 96, ID = 68, BAR_THREADS = 160, BAR_ID = 5 };

/* One lane: R68 is 1, unless the machine does not tell it.  All other registers are 7. */
struct scene {
    struct wsdbg_machine machine;
    bool is_told;
};

static struct wsdbg_error *registers_of(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                        uint32_t count, uint32_t *out, uint32_t *known_count)
{
    const bool is_told = ((const struct scene *)machine)->is_told;
    (void)warp, (void)lane;
    for (*known_count = 0; *known_count < count && first + *known_count < REGISTERS; ++*known_count)
        out[*known_count] = first + *known_count == ID ? 1 : 7;
    if (!is_told && first + count > WSDBG_EXCERPT_WORDS)
        *known_count = 0;
    return NULL;
}

static struct wsdbg_error *no_constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank, uint32_t offset,
                                       void *out, uint32_t byte_count, bool *known)
{
    (void)machine, (void)grid, (void)bank, (void)offset, (void)out, (void)byte_count;
    *known = false;
    return NULL;
}

static const struct wsdbg_machine_ops ops = {.registers = registers_of, .constant = no_constant};

static struct wsdbg_graph *graph_of(const struct wsdbg_instruction *code, uint32_t count)
{
    struct wsdbg_graph *graph;
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    return graph;
}

static struct wsdbg_part_operands read_bar(const struct wsdbg_instruction *code, uint32_t count, uint32_t bar,
                                           bool is_told)
{
    struct scene scene = {.machine = {.ops = &ops}, .is_told = is_told};
    struct wsdbg_code_function function = {.graph = graph_of(code, count)};
    const struct wsdbg_look_part part = {.place = {&function, count - 1},
                                         .site = {.barrier_before = bar, .guard_holds = true, .bar_holds = false}};
    struct wsdbg_part_operands operands = {0};
    struct look_lane lane = {.machine = &scene.machine, .general_count = WSDBG_EXCERPT_WORDS};
    for (uint32_t i = 0; i < WSDBG_EXCERPT_WORDS; i++)
        lane.general[i] = 7;
    look_bar_read(&lane, &part, &operands);
    assert_null(lane.error);
    wsdbg_graph_destroy(function.graph);
    return operands;
}

/* bar.sync (4 + w), 160; the register is used for something else before the warp is held. */
static const struct wsdbg_instruction by_variable[] = {
    {OF(OP(IADD3), UNGUARDED, TO(R(0)), FROM(R(ID), NUMBER(4), ZERO))},
    PACK(3, 0, BAR_THREADS),
    SYNC(3),
    SET(0, 0),
    SET(3, 0),
    FINISH};
enum { BAR_AT = 3, COUNT = 7 };

static void a_register_that_was_not_read_is_asked_for(void **state)
{
    const struct wsdbg_part_operands operands = read_bar(by_variable, COUNT, BAR_AT, true);
    (void)state;
    assert_true(operands.bar_known);
    assert_int_equal(operands.bar_id, BAR_ID);
    assert_int_equal(operands.bar_threads, BAR_THREADS);
    assert_false(read_bar(by_variable, COUNT, BAR_AT, false).bar_known);
}

/* The variable itself was written again: nobody knows what it was. */
static void a_register_that_was_written_again_is_not_known(void **state)
{
    static const struct wsdbg_instruction code[] = {{OF(OP(IADD3), UNGUARDED, TO(R(0)), FROM(R(ID), NUMBER(4), ZERO))},
                                                    PACK(3, 0, BAR_THREADS),
                                                    SYNC(3),
                                                    SET(0, 0),
                                                    SET(3, 0),
                                                    SET(ID, 0),
                                                    FINISH};
    (void)state;
    assert_false(read_bar(code, COUNT + 1, BAR_AT, true).bar_known);
}

/* ---- by the index of threads ---- */

/* bar.sync (4 + threadIdx.x / 128), 160 */
static const struct wsdbg_instruction by_index[] = {
    {OF(OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(TID_X)))},
    {OF(OP(SHF), UNGUARDED, TO(R(0)), FROM(ZERO, NUMBER(7), R(0)), .is_right_shift = true, .is_high = true)},
    {OF(OP(IADD3), UNGUARDED, TO(R(0)), FROM(R(0), NUMBER(4), ZERO))},
    PACK(3, 0, BAR_THREADS),
    SYNC(3),
    SET(0, 0),
    SET(3, 0),
    FINISH};
enum { INDEX_BAR_AT = 5, INDEX_COUNT = 9, WARPS = 12 };

/* A CTA all of whose warps stand behind the BAR; `threads`: of its block. */
static void name_all(const uint32_t block[3], struct wsdbg_part_operands *operands)
{
    struct scene scene = {.machine = {.ops = &ops}};
    struct wsdbg_machine_grid machine_grid = {.block = {block[0], block[1], block[2]}, .grid = {1, 1, 1}};
    struct wsdbg_code_function function = {.graph = graph_of(by_index, INDEX_COUNT)};
    struct wsdbg_code_kernel kernel = {.function = &function};
    struct wsdbg_look_grid grid = {.kernel = &kernel};
    struct wsdbg_look_part parts[WARPS];
    struct wsdbg_part rows[WARPS];
    struct wsdbg_warp_row warps[WARPS];
    struct wsdbg_cta cta = {.warp_count = WARPS};
    scene.machine.grids = &machine_grid;
    scene.machine.grid_count = 1;
    assert_null(wsdbg_accesses_find(function.graph, NULL, &kernel.accesses, &kernel.access_count));
    for (uint32_t i = 0; i < WARPS; i++) {
        parts[i] = (struct wsdbg_look_part){.place = {&function, INDEX_COUNT - 1},
                                            .site = {.barrier_before = INDEX_BAR_AT, .guard_holds = true}};
        rows[i] = (struct wsdbg_part){.warp = i, .lanes = UINT32_MAX};
        warps[i] = (struct wsdbg_warp_row){.warp = i, .part_first = i, .part_count = 1};
    }
    const struct wsdbg_look_source source = {.machine = &scene.machine};
    const struct wsdbg_look_seen seen = {.machine = &scene.machine, .grids = &grid, .parts = parts};
    const struct wsdbg_snapshot snapshot = {
        .ctas = &cta, .cta_count = 1, .warps = warps, .warp_count = WARPS, .parts = rows, .part_count = WARPS};
    struct wsdbg_look_operands out = {.parts = operands};
    assert_null(wsdbg_look_named(&source, &seen, &snapshot, &out));
    free(kernel.accesses);
    wsdbg_graph_destroy(function.graph);
}

static void the_index_of_threads_tells_the_barrier(void **state)
{
    struct wsdbg_part_operands operands[WARPS] = {{0}};
    (void)state;
    operands[2] = (struct wsdbg_part_operands){.bar_known = true, .bar_id = 9, .bar_threads = 64}; /* it was read */
    name_all((const uint32_t[]){WARPS * 32, 1, 1}, operands);
    for (uint32_t i = 0; i < WARPS; i++) {
        assert_true(operands[i].bar_known);
        assert_int_equal(operands[i].bar_id, i == 2 ? 9 : 4 + i / 4);
        assert_int_equal(operands[i].bar_threads, i == 2 ? 64 : BAR_THREADS);
    }
}

/* A warp has threads of several rows there. */
static void rows_of_threads_tell_nothing(void **state)
{
    struct wsdbg_part_operands operands[WARPS] = {{0}};
    (void)state;
    name_all((const uint32_t[]){16, 24, 1}, operands);
    for (uint32_t i = 0; i < WARPS; i++)
        assert_false(operands[i].bar_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_register_that_was_not_read_is_asked_for),
        cmocka_unit_test(a_register_that_was_written_again_is_not_known),
        cmocka_unit_test(the_index_of_threads_tells_the_barrier),
        cmocka_unit_test(rows_of_threads_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
