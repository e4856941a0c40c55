/* flow_test.c - where the paths of a divergent branch meet.
 *
 * A row is a body and, for its branches in order, the instruction of the meeting point; EXIT = they meet at the exit
 * only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parsed.h"

#define EXIT WSDBG_PTX_NONE
enum { BRANCHES = 6, MANY_BLOCKS = 20000 };

struct row {
    const char *body;
    uint32_t meets[BRANCHES];
    size_t count;
};

static void check(const struct row *row)
{
    struct wsdbg_ptx_program *program = parse_body(row->body);
    size_t branch = 0;
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const struct wsdbg_ptx_instruction *instruction = &program->instructions[i];
        if (instruction->operation != WSDBG_PTX_OP_bra && instruction->operation != WSDBG_PTX_OP_brx) {
            assert_int_equal(instruction->reconverge, WSDBG_PTX_NONE);
            continue;
        }
        assert_true(branch < row->count);
        if (instruction->reconverge != row->meets[branch])
            fail_msg("branch %zu meets at %d, not %d, in\n%s", branch, (int)instruction->reconverge,
                     (int)row->meets[branch], row->body);
        branch++;
    }
    assert_int_equal(branch, row->count);
    wsdbg_ptx_program_destroy(program);
}

static void an_if_meets_behind_it(void **state)
{
    (void)state;
    check(&(struct row){"@%p1 bra end;\n"   /* 0 */
                        "mov.b32 %r1, 1;\n" /* 1 */
                        "end: ret;",        /* 2 */
                        {2},
                        1});
}

static void an_if_with_else_meets_behind_both(void **state)
{
    (void)state;
    check(&(struct row){"@%p1 bra other;\n"        /* 0 */
                        "mov.b32 %r1, 1;\n"        /* 1 */
                        "bra end;\n"               /* 2 */
                        "other: mov.b32 %r1, 2;\n" /* 3 */
                        "end: ret;",               /* 4 */
                        {4, 4},
                        2});
}

static void ifs_in_ifs_meet_inside(void **state)
{
    (void)state;
    check(&(struct row){"@%p1 bra end;\n"          /* 0 */
                        "@%p2 bra inner;\n"        /* 1 */
                        "mov.b32 %r1, 1;\n"        /* 2 */
                        "inner: mov.b32 %r1, 2;\n" /* 3 */
                        "end: ret;",               /* 4 */
                        {4, 3},
                        2});
}

static void a_loop_meets_behind_its_end(void **state)
{
    (void)state;
    check(&(struct row){"again: mov.b32 %r1, 1;\n" /* 0 */
                        "@%p2 bra leave;\n"        /* 1: out of the loop */
                        "@%p1 bra again;\n"        /* 2 */
                        "mov.b32 %r1, 3;\n"        /* 3 */
                        "leave: ret;",             /* 4 */
                        {4, 4},
                        2});
}

static void paths_that_end_apart_never_meet(void **state)
{
    (void)state;
    check(&(struct row){"@%p1 bra other;\n" /* 0 */
                        "exit;\n"           /* 1 */
                        "other: ret;",      /* 2 */
                        {EXIT},
                        1});
    check(&(struct row){"@%p1 bra end;\n" /* 0: lanes that exit below are gone, the others reach the end */
                        "@%p2 exit;\n"    /* 1 */
                        "end: ret;",      /* 2 */
                        {EXIT},
                        1});
}

static void endless_loops_meet_inside(void **state)
{
    (void)state;
    check(&(struct row){"again: @%p1 bra skip;\n" /* 0 */
                        "mov.b32 %r1, 1;\n"       /* 1 */
                        "skip: mov.b32 %r1, 2;\n" /* 2 */
                        "bra again;",             /* 3 */
                        {2, EXIT},
                        2});
}

static void tables_meet_behind_all_cases(void **state)
{
    (void)state;
    check(&(struct row){"t: .branchtargets a, b, c;\n"
                        "brx.idx %r1, t;\n"    /* 0 */
                        "a: mov.b32 %r1, 1;\n" /* 1 */
                        "bra end;\n"           /* 2 */
                        "b: bra end;\n"        /* 3 */
                        "c: mov.b32 %r1, 3;\n" /* 4 */
                        "end: ret;",           /* 5 */
                        {5, 5, 5},
                        3});
}

static void code_that_nothing_reaches_does_no_harm(void **state)
{
    (void)state;
    check(&(struct row){"bra end;\n"             /* 0 */
                        "lost: @%p1 bra lost;\n" /* 1 */
                        "mov.b32 %r1, 1;\n"      /* 2 */
                        "end: ret;",             /* 3 */
                        {3, 2},
                        2});
}

/* The simplest definition, on graphs at random: every path to the exit from the branch passes the meeting point, and
 * the meeting points of all blocks that do so form a chain of which it is the nearest. */
static bool reaches_exit_without(const struct wsdbg_ptx_program *program, uint32_t from, uint32_t without)
{
    bool *seen = calloc(program->instruction_count + 1, 1);
    uint32_t *left = malloc((2 * program->instruction_count + 2) * sizeof *left), count = 0;
    bool exits = false;
    left[count++] = from;
    while (count && !exits) {
        const uint32_t at = left[--count];
        const struct wsdbg_ptx_instruction *instruction = &program->instructions[at];
        if (at == without || seen[at])
            continue;
        seen[at] = true;
        if (instruction->operation == WSDBG_PTX_OP_ret)
            exits = true;
        if (instruction->operation == WSDBG_PTX_OP_bra)
            left[count++] = instruction->target;
        if (instruction->operation != WSDBG_PTX_OP_ret &&
            (instruction->operation != WSDBG_PTX_OP_bra || instruction->guard != WSDBG_PTX_NONE))
            left[count++] = at + 1;
    }
    free(seen);
    free(left);
    return exits;
}

/* Endless loops are joined to the exit, which the definition does not know. */
static bool all_reach_exit(const struct wsdbg_ptx_program *program)
{
    for (uint32_t i = 0; i < program->instruction_count; i++)
        if (!reaches_exit_without(program, i, WSDBG_PTX_NONE))
            return false;
    return true;
}

static void check_definition(const struct wsdbg_ptx_program *program)
{
    for (uint32_t branch = 0; branch < program->instruction_count; branch++) {
        const struct wsdbg_ptx_instruction *instruction = &program->instructions[branch];
        const uint32_t meets = instruction->reconverge;
        if (instruction->operation != WSDBG_PTX_OP_bra)
            continue;
        if (meets != WSDBG_PTX_NONE)
            assert_false(reaches_exit_without(program, branch, meets));
        for (uint32_t other = 0; other < program->instruction_count; other++) {
            if (other == branch || other == meets || reaches_exit_without(program, branch, other))
                continue;
            /* `other` is on all paths too: then it lies behind the meeting point. */
            assert_true(meets != WSDBG_PTX_NONE && !reaches_exit_without(program, meets, other));
        }
    }
}

static void random_graphs_meet_at_the_nearest_point(void **state)
{
    (void)state;
    uint64_t seed = 12345;
    unsigned checked = 0;
    for (unsigned round = 0; round < 200; round++) {
        char body[4096] = "", line[64];
        const unsigned blocks = 4 + round % 12;
        for (unsigned block = 0; block < blocks; block++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const unsigned target = (unsigned)(seed >> 33) % blocks, kind = (unsigned)(seed >> 60);
            snprintf(line, sizeof line, "b%u: mov.b32 %%r1, 1;\n%sbra b%u;\n", block, kind < 14 ? "@%p1 " : "", target);
            strcat(body, line);
        }
        struct wsdbg_ptx_program *program = parse_body(body);
        if (all_reach_exit(program)) {
            check_definition(program);
            checked++;
        }
        wsdbg_ptx_program_destroy(program);
    }
    assert_true(checked > 50);
}

/* As many blocks as a long kernel has, nested as deep as can be: no recursion, no quadratic time. */
static void long_bodies_are_no_trouble(void **state)
{
    (void)state;
    char *body = malloc((size_t)MANY_BLOCKS * 80), *at = body;
    for (unsigned i = 0; i < MANY_BLOCKS; i++)
        at += sprintf(at, "@%%p1 bra e%u;\nmov.b32 %%r1, 1;\n", i);
    for (unsigned i = MANY_BLOCKS; i-- > 0;)
        at += sprintf(at, "e%u: @%%p2 bra e%u;\n", i, i / 2);
    struct wsdbg_ptx_program *program = parse_body(body);
    assert_int_equal(program->instructions[0].reconverge, program->instructions[0].target);
    wsdbg_ptx_program_destroy(program);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_if_meets_behind_it),
        cmocka_unit_test(an_if_with_else_meets_behind_both),
        cmocka_unit_test(ifs_in_ifs_meet_inside),
        cmocka_unit_test(a_loop_meets_behind_its_end),
        cmocka_unit_test(paths_that_end_apart_never_meet),
        cmocka_unit_test(endless_loops_meet_inside),
        cmocka_unit_test(tables_meet_behind_all_cases),
        cmocka_unit_test(code_that_nothing_reaches_does_no_harm),
        cmocka_unit_test(random_graphs_meet_at_the_nearest_point),
        cmocka_unit_test(long_bodies_are_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
