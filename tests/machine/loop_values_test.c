/* loop_values_test.c - what the registers of a loop hold where their numbers are above those of the hardware: joined
 * code has words of the stack frame in them.
 */
#include "sass/instructions.h"

#include <stdlib.h>

#include "machine/loop.h"
#include "sass/flow.h"

/* clang-format off */
#define OF(...) .words = {1, 0}, __VA_ARGS__ /* machine code */
#define LEAD(...) .words = {1, (uint64_t)WSDBG_PT << 23}, __VA_ARGS__
#define BRANCH_IF(n, rows) \
    {LEAD(OP(BRA), .guard = (n), .has_target = true, .target_offset_bytes = (rows) * WSDBG_INSTRUCTION_BYTES)}
#define COPY(to, from) {OF(OP(MOV), UNGUARDED, TO(R(to)), FROM(R(from)))}
/* clang-format on */

/* WORD is a word of the frame; the register that has its number in 8 bits is another one. */
enum { WORD = 300, OTHER = WORD - 256, LOADED = 0, TESTED = 2 };

/* A loop that ends when a word of global memory changes. */
static struct wsdbg_loop loop_of(unsigned stored, unsigned tested)
{
    const struct wsdbg_instruction code[] = {
        {OF(OP(LDG), UNGUARDED, TO(R(4)), FROM(PAIR_AT(30)), .width_bytes = 4)},
        COPY(stored, 4),
        {OF(OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(tested), NUMBER(3), ALWAYS), .mode = WSDBG_COMPARE_EQ)},
        BRANCH_IF(0, -3),
        {LEAD(OP(EXIT), UNGUARDED)},
    };
    struct wsdbg_graph *graph;
    struct wsdbg_loop loop;
    bool found;
    assert_null(wsdbg_graph_create_decoded(code, sizeof code / sizeof *code, &graph));
    assert_null(wsdbg_loop_around(graph, LOADED, &loop, &found));
    assert_true(found);
    return loop;
}

static void free_loop(struct wsdbg_loop *loop)
{
    struct wsdbg_graph *graph = (struct wsdbg_graph *)(uintptr_t)loop->graph;
    free(loop->body);
    wsdbg_graph_destroy(graph);
}

static void a_loop_ends_by_what_its_word_holds(void **state)
{
    struct wsdbg_loop loop = loop_of(WORD, WORD);
    assert_true(wsdbg_loop_ends_by(&loop, LOADED));
    free_loop(&loop);
    (void)state;
}

static void a_word_is_not_a_register_with_a_like_number(void **state)
{
    const struct wsdbg_operand word = R(WORD), other = R(OTHER);
    struct wsdbg_loop loop = loop_of(OTHER, WORD);
    assert_false(wsdbg_loop_ends_by(&loop, LOADED));
    assert_true(wsdbg_loop_keeps(&loop, TESTED, &word));
    assert_false(wsdbg_loop_keeps(&loop, TESTED, &other));
    free_loop(&loop);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_ends_by_what_its_word_holds),
        cmocka_unit_test(a_word_is_not_a_register_with_a_like_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
