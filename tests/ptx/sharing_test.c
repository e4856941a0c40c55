/* sharing_test.c - registers share a number only where no value is lost.
 *
 * Long bodies only: short ones stay as they are.  Programs at random are executed twice, by the names in the text and
 * by the numbers of the parsed program: every instruction must write the same.
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

enum { BODY_BYTES = 1 << 16 };

static uint32_t registers_of(const char *body)
{
    struct wsdbg_ptx_program *program = parse_body(body);
    const uint32_t count = wsdbg_ptx_find_function(program, "k")->register_count;
    wsdbg_ptx_program_destroy(program);
    return count;
}

/* %r0 = 1; %r1 = %r0 + 1; ... */
static char *chain(char *at, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++)
        at += sprintf(at, "add.s32 %%r%u, %%r%u, 1;\n", i + 1, i);
    return at;
}

static void a_chain_needs_two_registers(void **state)
{
    (void)state;
    char body[BODY_BYTES];
    chain(body, 0, 100);
    assert_int_equal(registers_of(body), 2); /* a result and its source are never one register */
    chain(body, 0, 20);
    assert_int_equal(registers_of(body), 21); /* short: as it is */
}

static void widths_and_predicates_do_not_mix(void **state)
{
    (void)state;
    char body[BODY_BYTES], *at = chain(body, 0, 80);
    sprintf(at, "mov.b64 %%d1, 1;\nsetp.eq.b64 %%p1, %%d1, 2;\n@%%p1 mov.b16 %%h1, 3;\n");
    struct wsdbg_ptx_program *program = parse_body(body);
    const struct wsdbg_ptx_function *kernel = wsdbg_ptx_find_function(program, "k");
    const struct wsdbg_ptx_instruction *code = program->instructions;
    assert_int_equal(kernel->register_types[code[0].operands[0].number], WSDBG_PTX_B32);
    assert_int_equal(kernel->register_types[code[80].operands[0].number], WSDBG_PTX_B64);
    assert_int_equal(kernel->register_types[code[81].operands[0].number], WSDBG_PTX_PRED);
    assert_int_equal(code[82].guard, code[81].operands[0].number);
    wsdbg_ptx_program_destroy(program);
}

/* Read behind the chain, or in the next round of a loop around it: kept all the time. */
static void values_live_as_long_as_they_are_needed(void **state)
{
    (void)state;
    char body[BODY_BYTES], *at = body;
    at += sprintf(at, "mov.b32 %%r200, 7;\n");
    at = chain(at, 0, 100);
    sprintf(at, "add.s32 %%r201, %%r200, %%r100;\n");
    assert_int_equal(registers_of(body), 3);
    at = body + sprintf(body, "mov.b32 %%r200, 7;\nagain: mov.b32 %%r0, %%r200;\n");
    at = chain(at, 0, 100);
    sprintf(at, "setp.lt.s32 %%p1, %%r100, 9;\n@%%p1 bra again;\n");
    assert_int_equal(registers_of(body), 4);
}

/* A guarded instruction keeps the lanes' values for which the guard is false. */
static void a_guarded_write_does_not_end_a_value(void **state)
{
    (void)state;
    char body[BODY_BYTES], *at = body + sprintf(body, "mov.b32 %%r200, 7;\nmov.b32 %%r0, 1;\n");
    at = chain(at, 0, 100);
    sprintf(at, "@%%p1 mov.b32 %%r200, 8;\nadd.s32 %%r201, %%r200, %%r100;\n");
    struct wsdbg_ptx_program *program = parse_body(body);
    const uint32_t kept = program->instructions[0].operands[0].number;
    for (uint32_t i = 1; i < 102; i++)
        assert_int_not_equal(program->instructions[i].operands[0].number, kept);
    wsdbg_ptx_program_destroy(program);
}

/* It is read and written until its group has completed, whatever the text says. */
static void registers_of_wgmma_are_not_shared(void **state)
{
    (void)state;
    char body[BODY_BYTES], *at = chain(body, 0, 100);
    at += sprintf(
        at, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%%f0, %%f1, %%f2, %%f3}, {%%r250, %%r251, %%r252, "
            "%%r253}, %%d1, %%p1, 1, 1, 0;\n");
    chain(at, 100, 200);
    struct wsdbg_ptx_program *program = parse_body(body);
    const struct wsdbg_ptx_instruction *code = program->instructions;
    for (uint32_t i = 0; i < 201; i++)
        for (uint32_t element = 0; element < 8 && i != 100; element++)
            assert_int_not_equal(code[i].operands[0].number,
                                 program->vectors[code[100].operands[element / 4].number + element % 4].number);
    assert_int_equal(wsdbg_ptx_find_function(program, "k")->register_count, 2 + 8 + 1 + 1);
    wsdbg_ptx_program_destroy(program);
}

/* ---- programs at random ---- */

enum { BLOCKS = 12, LOCALS = 10, GLOBALS = 6, PREDICATES = 4, LENGTH_MAX = 400, STEPS = 2000, NUMBERS = 256 };

struct step {
    enum { CONSTANT, ADD, COMPARE, BRANCH } kind;
    unsigned d, a, b; /* d = a; d = a + b; p = a < b; to block a */
    unsigned guard;   /* %p1 to %p4, 0 = always */
};
struct text {
    struct step steps[LENGTH_MAX];
    unsigned count, block_first[BLOCKS];
    char body[BODY_BYTES], *end;
};

static unsigned pick(uint64_t *seed, unsigned most)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % most;
}

static unsigned pick_register(uint64_t *seed, unsigned block)
{
    return pick(seed, 3) ? GLOBALS + block * LOCALS + pick(seed, LOCALS) : pick(seed, GLOBALS);
}

static void write_step(struct text *text, struct step step)
{
    text->steps[text->count++] = step;
    if (step.guard)
        text->end += sprintf(text->end, "@%%p%u ", step.guard);
    if (step.kind == CONSTANT)
        text->end += sprintf(text->end, "mov.b32 %%r%u, %u;\n", step.d, step.a);
    else if (step.kind == ADD)
        text->end += sprintf(text->end, "add.s32 %%r%u, %%r%u, %%r%u;\n", step.d, step.a, step.b);
    else if (step.kind == COMPARE)
        text->end += sprintf(text->end, "setp.lt.s32 %%p%u, %%r%u, %%r%u;\n", step.d, step.a, step.b);
    else
        text->end += sprintf(text->end, "bra b%u;\n", step.a);
}

/* Each block has registers of its own beside those of all, and writes most of them before it reads them. */
static void write_block(struct text *text, unsigned block, uint64_t *seed)
{
    text->block_first[block] = text->count;
    text->end += sprintf(text->end, "b%u:\n", block);
    for (unsigned i = 0; i < 8; i++)
        write_step(text, (struct step){.kind = CONSTANT, .d = pick_register(seed, block), .a = pick(seed, 1000)});
    for (unsigned i = 0; i < 12; i++) {
        const unsigned d = pick_register(seed, block), guard = pick(seed, 3) ? 0 : 1 + pick(seed, PREDICATES);
        write_step(text, (struct step){ADD, d, pick_register(seed, block), pick_register(seed, block), guard});
    }
    const unsigned p = 1 + pick(seed, PREDICATES), guard = 1 + pick(seed, PREDICATES);
    write_step(text, (struct step){COMPARE, p, pick_register(seed, block), pick_register(seed, block), 0});
    write_step(text, (struct step){.kind = BRANCH, .a = pick(seed, BLOCKS), .guard = guard});
}

/* Values by the names of the text; `known`: it does not come from a register that was never written. */
struct named {
    uint32_t value[NUMBERS];
    bool known[NUMBERS];
};

/* One instruction both ways; *at is where to go on.  The path is that of the names. */
static void execute_step(const struct text *text, const struct wsdbg_ptx_instruction *instruction, unsigned *at,
                         struct named *registers, struct named *predicates, uint32_t numbered[NUMBERS])
{
    const struct step *step = &text->steps[(*at)++];
    const struct wsdbg_ptx_operand *operands = instruction->operands;
    if (step->guard && predicates->known[step->guard])
        assert_int_equal(numbered[instruction->guard], predicates->value[step->guard]);
    if (step->guard && !predicates->value[step->guard])
        return;
    if (step->kind == BRANCH) {
        *at = text->block_first[step->a];
        return;
    }
    struct named *written = step->kind == COMPARE ? predicates : registers;
    bool known = true;
    uint32_t by_name = step->a, by_number = step->a;
    if (step->kind != CONSTANT) {
        const uint32_t a = registers->value[step->a], b = registers->value[step->b];
        const uint32_t x = numbered[operands[1].number], y = numbered[operands[2].number];
        known = registers->known[step->a] && registers->known[step->b];
        by_name = step->kind == ADD ? a + b : (int32_t)a < (int32_t)b;
        by_number = step->kind == ADD ? x + y : (int32_t)x < (int32_t)y;
        if (known && (a != x || b != y))
            fail_msg("a value was lost before instruction %u of\n%s", *at - 1, text->body);
    }
    written->value[step->d] = by_name;
    written->known[step->d] = known;
    numbered[operands[0].number] = by_number;
}

static void no_value_is_lost_in_random_programs(void **state)
{
    (void)state;
    uint64_t seed = 2024;
    unsigned checked = 0, shared = 0;
    static struct text text;
    for (unsigned round = 0; round < 200; round++) {
        struct named registers = {{0}, {0}}, predicates = {{0}, {0}};
        uint32_t numbered[NUMBERS] = {0};
        text.count = 0;
        text.end = text.body;
        for (unsigned block = 0; block < BLOCKS; block++)
            write_block(&text, block, &seed);
        struct wsdbg_ptx_program *program = parse_body(text.body);
        shared += wsdbg_ptx_find_function(program, "k")->register_count < 80;
        for (unsigned count = 0, at = 0; count < STEPS && at < text.count; count++, checked++)
            execute_step(&text, &program->instructions[at], &at, &registers, &predicates, numbered);
        wsdbg_ptx_program_destroy(program);
    }
    assert_true(checked > 20000);
    assert_true(shared > 100); /* of about 120 names */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_needs_two_registers),
        cmocka_unit_test(widths_and_predicates_do_not_mix),
        cmocka_unit_test(values_live_as_long_as_they_are_needed),
        cmocka_unit_test(a_guarded_write_does_not_end_a_value),
        cmocka_unit_test(registers_of_wgmma_are_not_shared),
        cmocka_unit_test(no_value_is_lost_in_random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
