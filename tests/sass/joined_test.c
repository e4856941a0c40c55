/* joined_test.c - functions that are joined to the one that calls them: a copy for each call, and where each of its
 * instructions is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sass/cubin.h"
#include "sass/joined.h"

enum { INSTRUCTIONS_MOST = 8, FUNCTIONS = 3 };

/* Machine code of small functions that lie one behind another. */
struct function {
    uint64_t words[INSTRUCTIONS_MOST][2];
    struct wsdbg_cubin_function row;
};

#define KERNEL_AT UINT64_C(0x7f1200001000)
#define FUNCTION_AT(n) (KERNEL_AT + (uint64_t)(n)*0x1000)

static void put(struct function *function, uint32_t number, uint64_t low, uint64_t high)
{
    function->words[number][0] = low;
    function->words[number][1] = high;
}

/* MOV R4, n; RET.ABS.NODEC R20; EXIT */
static void put_move(struct function *function, uint32_t number, uint32_t value)
{
    put(function, number, 0x0000000000047802 | (uint64_t)value << 32, 0x003fde0000000f00);
}

static void put_return(struct function *function, uint32_t number)
{
    put(function, number, 0x0000000014007950, 0x003fde0003e00000);
}

static void put_exit(struct function *function, uint32_t number)
{
    put(function, number, 0x000000000000794d, 0x003fde0003800000);
}

/* CALL.ABS.NOINC: the address in steps of 4 bytes, its low 8 bits at 16, the others at 34. */
static void put_call(struct function *function, uint32_t number, uint64_t address)
{
    const uint64_t steps = address / 4, high = steps >> 8;
    put(function, number, 0x7943 | (steps & 0xff) << 16 | high << 34, 0x003fde0003c00000 | high >> 30);
}

/* The same in the image that driver 580 gives to debuggers: its fields begin with bit 2 of the address. */
static void put_changed_call(struct function *function, uint32_t number, uint64_t address)
{
    const uint64_t steps = address / 4;
    put(function, number, 0x7943 | (steps & 0x7f) << 16 | (steps & 0x1fffffff) << 34,
        0x003fde0003c00000 | (steps & 0xffff));
}

static struct function functions[FUNCTIONS];

static const struct wsdbg_cubin_function *function_at(void *context, uint64_t address)
{
    (void)context;
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        if (functions[i].row.address == address)
            return &functions[i].row;
    return NULL;
}

static void begin(uint32_t number, uint32_t instruction_count)
{
    static const char *const names[] = {"kernel", "outer", "inner"};
    functions[number].row = (struct wsdbg_cubin_function){
        .name = names[number],
        .code = {(const unsigned char *)functions[number].words, (size_t)instruction_count * WSDBG_INSTRUCTION_BYTES},
        .address = FUNCTION_AT(number),
        .is_kernel = number == 0,
    };
}

/* The kernel calls `outer` twice, which calls `inner`. */
static struct wsdbg_joined *joined(void (*put_a_call)(struct function *, uint32_t, uint64_t), uint64_t inner_calls)
{
    static const struct wsdbg_joined_module module = {NULL, function_at};
    struct wsdbg_joined *joined;
    memset(functions, 0, sizeof functions);
    begin(0, 4);
    put_a_call(&functions[0], 0, FUNCTION_AT(1));
    put_move(&functions[0], 1, 1);
    put_a_call(&functions[0], 2, FUNCTION_AT(1));
    put_exit(&functions[0], 3);
    begin(1, 3);
    put_a_call(&functions[1], 0, FUNCTION_AT(2));
    put_move(&functions[1], 1, 2);
    put_return(&functions[1], 2);
    begin(2, inner_calls ? 3 : 2);
    put_move(&functions[2], 0, 3);
    if (inner_calls)
        put_a_call(&functions[2], 1, inner_calls);
    put_return(&functions[2], inner_calls ? 2 : 1);
    assert_null(wsdbg_joined_create(&functions[0].row, &module, &joined));
    return joined;
}

static uint32_t count_of(const struct wsdbg_joined *joined, enum wsdbg_operation_class class)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(joined->graph); i++)
        count += wsdbg_operation_class(wsdbg_graph_instruction(joined->graph, i)->operation) == class;
    return count;
}

static void assert_is_joined(const struct wsdbg_joined *joined)
{
    static const uint32_t calls[] = {WSDBG_GRAPH_NONE, 0, 2, 0, 0}, callers[] = {WSDBG_GRAPH_NONE, 0, 0, 1, 2};
    struct wsdbg_joined_place places[4];
    assert_non_null(joined);
    assert_int_equal(joined->copy_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(joined->copies[i].caller, callers[i]);
        assert_int_equal(joined->copies[i].call, calls[i]);
    }
    assert_int_equal(count_of(joined, WSDBG_CLASS_CALL), 0);
    assert_int_equal(count_of(joined, WSDBG_CLASS_RETURN), 0);
    assert_int_equal(wsdbg_joined_places(joined, &functions[2].row, 0, places, 4), 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct wsdbg_joined_origin *origin = &joined->origins[places[i].instruction];
        assert_int_equal(origin->instruction, 0);
        assert_int_equal(origin->copy, places[i].copy);
        assert_ptr_equal(joined->copies[origin->copy].function, &functions[2].row);
    }
}

/* The code of all copies is one block: inner, outer, and what is behind the call. */
static void test_each_call_has_a_copy(void **state)
{
    static const uint32_t moved[] = {3, 2, 1, 3, 2};
    struct wsdbg_joined *all = joined(put_call, 0);
    assert_is_joined(all);
    assert_int_equal(wsdbg_graph_instruction_count(all->graph), 6);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(wsdbg_graph_instruction(all->graph, i)->sources[0].value, moved[i]);
    wsdbg_joined_destroy(all);
    (void)state;
}

static void test_addresses_in_images_for_debuggers_are_found(void **state)
{
    struct wsdbg_joined *all = joined(put_changed_call, 0);
    assert_is_joined(all);
    wsdbg_joined_destroy(all);
    (void)state;
}

static void test_a_function_that_calls_itself_stays_called(void **state)
{
    struct wsdbg_joined *all = joined(put_call, FUNCTION_AT(1));
    assert_non_null(all);
    assert_int_equal(all->copy_count, 5);
    assert_int_equal(count_of(all, WSDBG_CLASS_CALL), 2);
    wsdbg_joined_destroy(all);
    (void)state;
}

static void test_a_function_of_the_driver_stays_called(void **state)
{
    struct wsdbg_joined *all = joined(put_call, FUNCTION_AT(7));
    assert_int_equal(count_of(all, WSDBG_CLASS_CALL), 2);
    wsdbg_joined_destroy(all);
    (void)state;
}

static void test_without_calls_nothing_is_joined(void **state)
{
    static const struct wsdbg_joined_module module = {NULL, function_at};
    struct wsdbg_joined *none;
    memset(functions, 0, sizeof functions);
    begin(0, 2);
    put_move(&functions[0], 0, 1);
    put_exit(&functions[0], 1);
    assert_null(wsdbg_joined_create(&functions[0].row, &module, &none));
    assert_null(none);
    (void)state;
}

/* Several of MOV R4, R4 tell that the code is not optimised; one or two are in optimised code, too. */
static void test_code_that_is_not_optimised_is_joined_without_calls(void **state)
{
    static const struct wsdbg_joined_module module = {NULL, function_at};
    for (uint32_t moves = 1; moves <= 3; moves++) {
        struct wsdbg_joined *alone;
        memset(functions, 0, sizeof functions);
        begin(0, moves + 2);
        put_move(&functions[0], 0, 1);
        for (uint32_t i = 1; i <= moves; i++)
            put(&functions[0], i, 0x0000000400047202, 0x003fde0000000f00);
        put_exit(&functions[0], moves + 1);
        assert_null(wsdbg_joined_create(&functions[0].row, &module, &alone));
        assert_int_equal(alone != NULL, moves == 3);
        if (!alone)
            continue;
        assert_int_equal(alone->copy_count, 1);
        assert_int_equal(wsdbg_graph_instruction_count(alone->graph), 2);
        wsdbg_joined_destroy(alone);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call_has_a_copy),
        cmocka_unit_test(test_addresses_in_images_for_debuggers_are_found),
        cmocka_unit_test(test_a_function_that_calls_itself_stays_called),
        cmocka_unit_test(test_a_function_of_the_driver_stays_called),
        cmocka_unit_test(test_without_calls_nothing_is_joined),
        cmocka_unit_test(test_code_that_is_not_optimised_is_joined_without_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
