/* ptx_registers_test.c - which registers of a PTX kernel have numbers, and which of them share one.
 *
 * A test names a register by a number that the kernel moves to it: SET(r1, 7) is register 7.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "translate/ptx_code.h"
#include "translate/ptx_registers.h"
#include "ptx/parse.h"

#define MODULE ".version 8.6\n.target sm_90a\n.address_size 64\n"
#define KERNEL(body)                                                                                      \
    ".visible .entry kernel()\n{\n.shared .align 8 .b64 bars[8];\n.reg .pred %p<4>;\n.reg .b32 %r<20>;\n" \
    ".reg .b32 %a<8>;\n.reg .b64 %d<4>;\nmov.u32 %r9, %tid.x;\nsetp.eq.u32 %p1, %r9, 3;\n" body "ret;\n}\n"
#define SET(reg, name) "mov.u32 %" reg ", " name ";\n"
/* The register matters up to here. */
#define USE(reg) "mbarrier.arrive.shared::cta.b64 _, [%" reg "];\n"
#define NEW_BLOCK(label) "@%p1 bra " label ";\n" label ":\n"

struct numbered {
    struct wsdbg_ptx_program *program;
    struct wsdbg_ptx_registers registers;
};

static struct numbered number(const char *text)
{
    struct numbered numbered;
    struct wsdbg_error *error = wsdbg_ptx_parse_to_read(text, strlen(text), "the test's text", &numbered.program);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    const struct wsdbg_ptx_function *kernel = wsdbg_ptx_find_function(numbered.program, "kernel");
    assert_non_null(kernel);
    assert_null(wsdbg_ptx_registers_create(numbered.program, kernel, &numbered.registers));
    return numbered;
}

static void destroy(struct numbered *numbered)
{
    wsdbg_ptx_registers_destroy(&numbered->registers);
    wsdbg_ptx_program_destroy(numbered->program);
}

/* The number of the register to which the kernel first moves `name`. */
static int number_of(const struct numbered *numbered, int64_t name)
{
    for (size_t i = 0; i < numbered->program->instruction_count; i++) {
        const struct wsdbg_ptx_instruction *instruction = &numbered->program->instructions[i];
        if (instruction->operation != WSDBG_PTX_OP_mov ||
            instruction->operands[1].kind != WSDBG_PTX_OPERAND_IMMEDIATE || instruction->operands[1].value != name)
            continue;
        const struct wsdbg_ptx_number *found = &numbered->registers.numbers[instruction->operands[0].number];
        return found->kind == WSDBG_OPERAND_REGISTER ? found->number : -1;
    }
    fail_msg("nothing is set to %d", (int)name);
    return -1;
}

/* Whether two registers have one number; both have one. */
static bool share(const char *text, int64_t one, int64_t other)
{
    struct numbered numbered = number(text);
    const int a = number_of(&numbered, one), b = number_of(&numbered, other);
    destroy(&numbered);
    assert_true(a >= 0 && b >= 0);
    return a == b;
}

#define FUNCTION                                                        \
    ".func called(.param .b32 a)\n{\n.reg .b32 %r<4>;\n" SET("r2", "7") \
        USE("r2") "ld.param.u32 %r1, [a];\n" USE("r1") "ret;\n}\n"
#define CALL "{\n.param .b32 p;\nst.param.b32 [p], 0;\ncall.uni called, (p);\n}\n"

/* Register 7 is one of the function. */
static void a_called_function_shares_numbers_with_what_its_caller_needs_no_more(void **state)
{
    (void)state;
    static const char text[] = MODULE FUNCTION KERNEL(SET("r1", "1") SET("r2", "2") USE("r2") CALL USE("r1"));
    assert_false(share(text, 7, 1));
    assert_true(share(text, 7, 2));
}

/* What a function calls executes in the midst of the kernel, too, and so does what that calls. */
static void a_function_of_a_function_overwrites_nothing(void **state)
{
    (void)state;
#define CALLS_IT                                                                   \
    ".func inner()\n{\n.reg .b32 %r<4>;\n" SET("r1", "5") SET("r2", "6") USE("r1") \
        CALL USE("r2") "ret;\n}\n"                                                 \
                       ".func outer()\n{\ncall.uni inner;\nret;\n}\n"
    static const char text[] = MODULE FUNCTION CALLS_IT KERNEL(SET("r1", "1") "call.uni outer;\n" USE("r1"));
    assert_false(share(text, 7, 1));
    assert_false(share(text, 7, 6));
    assert_false(share(text, 6, 1));
    assert_true(share(text, 7, 5));
}

/* Between two places where register 1 is written another one is needed. */
static void a_register_that_is_written_under_a_guard_is_needed_before(void **state)
{
    (void)state;
#define WRITTEN_AGAIN(guard)                                                                                     \
    MODULE KERNEL(SET("r1", "1") NEW_BLOCK("ONE") SET("r2", "2") USE("r2") NEW_BLOCK("TWO") guard SET("r1", "3") \
                      USE("r1"))
    assert_true(share(WRITTEN_AGAIN(""), 1, 2));
    assert_false(share(WRITTEN_AGAIN("@%p1 "), 1, 2));
}

/* Each is needed at two places, and not between them. */
static void many_registers_have_numbers_where_few_are_needed_at_a_time(void **state)
{
    enum { MANY = 600, FIRST = 1000, ROOM = 1 << 17 };
    static char text[ROOM];
    size_t at = (size_t)snprintf(text, ROOM,
                                 MODULE ".visible .entry kernel()\n{\n.reg .pred %%p<2>;\n"
                                        ".reg .b32 %%r<%d>;\nsetp.eq.u32 %%p1, %%r0, 3;\n",
                                 MANY);
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < MANY; i++)
            at +=
                (size_t)snprintf(text + at, ROOM - at,
                                 "mov.u32 %%r%d, %d;\nmbarrier.arrive.shared::cta.b64 _, [%%r%d];\n", i, FIRST + i, i);
        at += (size_t)snprintf(text + at, ROOM - at, "@%%p1 bra L%d;\nL%d:\n", part, part);
    }
    snprintf(text + at, ROOM - at, "ret;\n}\n");
    struct numbered numbered = number(text);
    for (int i = 0; i < MANY; i++)
        assert_in_range(number_of(&numbered, FIRST + i), 0, 1);
    destroy(&numbered);
    (void)state;
}

/* Eight sums of a product of matrices.  Each of them matters; register 1 is read most often. */
static const char product[] = MODULE KERNEL(
    SET("a0", "1") SET("a1", "2") SET("a2", "3") SET("a3", "4") SET("a4", "5") SET("a5", "6") SET("a6", "7")
        SET("a7", "8") USE("a0") USE("a0") "wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 {%a0, %a1, %a2, %a3, %a4, "
                                           "%a5, %a6, %a7}, %d1, %d2, 1;\n" USE("a0") USE("a1") USE("a2") USE("a3")
                                               USE("a4") USE("a5") USE("a6") USE("a7"));

static void of_a_product_of_matrices_no_more_have_numbers_than_there_are_destinations(void **state)
{
    struct numbered numbered = number(product);
    unsigned count = 0;
    for (int name = 1; name <= 8; name++)
        count += number_of(&numbered, name) >= 0;
    assert_int_equal(count, WSDBG_DESTINATIONS_MAX);
    assert_true(number_of(&numbered, 1) >= 0);
    destroy(&numbered);
    (void)state;
}

static void a_product_of_matrices_writes_nothing_else(void **state)
{
    struct wsdbg_ptx_code *code;
    struct wsdbg_graph *graph;
    unsigned products = 0;
    assert_null(wsdbg_ptx_code_create(&(struct wsdbg_image){(const unsigned char *)product, strlen(product)}, &code));
    assert_null(wsdbg_ptx_code_graph(code, wsdbg_ptx_code_function(code, 0), &graph));
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        assert_int_not_equal(graph->instructions[i].operation, WSDBG_OP_OTHER);
        products += graph->instructions[i].destination_count == WSDBG_DESTINATIONS_MAX;
    }
    assert_int_equal(products, 1);
    wsdbg_graph_destroy(graph);
    wsdbg_ptx_code_destroy(code);
    (void)state;
}

static void local_memory_is_private_unless_its_address_goes_elsewhere(void **state)
{
    static const struct {
        const char *name, *text;
        bool is_private;
    } rows[] = {
        {"arguments of a call lie there", MODULE FUNCTION KERNEL(CALL), true},
        {"words", MODULE KERNEL(".local .b32 kept;\nst.local.u32 [kept], %r9;\n"), true},
        {"a generic address", MODULE KERNEL(".local .b32 kept;\nmov.u64 %d1, kept;\ncvta.local.u64 %d2, %d1;\n"),
         false},
        {"... beside a call",
         MODULE FUNCTION KERNEL(".local .b32 kept;\nmov.u64 %d1, kept;\ncvta.local.u64 %d2, %d1;\n" CALL), false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("%s\n", rows[i].name);
        struct numbered numbered = number(rows[i].text);
        assert_int_equal(numbered.registers.is_local_private, rows[i].is_private);
        destroy(&numbered);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_called_function_shares_numbers_with_what_its_caller_needs_no_more),
        cmocka_unit_test(a_function_of_a_function_overwrites_nothing),
        cmocka_unit_test(a_register_that_is_written_under_a_guard_is_needed_before),
        cmocka_unit_test(many_registers_have_numbers_where_few_are_needed_at_a_time),
        cmocka_unit_test(of_a_product_of_matrices_no_more_have_numbers_than_there_are_destinations),
        cmocka_unit_test(a_product_of_matrices_writes_nothing_else),
        cmocka_unit_test(local_memory_is_private_unless_its_address_goes_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
