/* questions_test.c - the driver refuses to find a kernel that was only asked for: when wsdbg says so.
 *
 * The snapshots are made up: 16 look-ups of a module's kernels, as a library makes that has code for other devices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "watch/refusals.h"

enum { LOOKED_UP = 16, PROCESS = 7, MODULE = 2, NO_BINARY = 209, OUT_OF_RESOURCES = 701 };
#define WORDS_OF_CODE "refused: LAUNCH_NO_IMAGE: kernel_0: "

/* What is said of one program. */
struct told {
    struct wsdbg_listener listener;
    struct wsdbg_watch watch;
    struct wsdbg_refusals_said said;
    struct wsdbg_refusal rows[LOOKED_UP + 2];
    size_t count;
    char text[8192];
};

static void keep_line(struct wsdbg_listener *listener, const char *line)
{
    char *text = ((struct told *)(void *)listener)->text;
    const size_t used = strlen(text);
    snprintf(text + used, sizeof((struct told *)NULL)->text - used, "%s\n", line);
}

static struct wsdbg_refusal_row *add(struct told *told, enum wsdbg_refusal_kind kind, const char *call, int result,
                                     const char *name)
{
    struct wsdbg_refusal *out = &told->rows[told->count];
    memset(&out->row, 0xff, sizeof out->row);
    out->process_id = PROCESS;
    out->number = (uint32_t)told->count++;
    out->module = WSDBG_NONE;
    out->image_path[0] = '\0';
    out->row.kind = kind;
    out->row.handle = 1000 + told->count;
    out->row.result = result;
    out->row.times = 1;
    out->row.flags = out->row.image = 0;
    out->row.module = MODULE;
    snprintf(out->row.call, sizeof out->row.call, "%s", call);
    snprintf(out->row.name, sizeof out->row.name, "%s", name);
    return &out->row;
}

static void look(struct told *told)
{
    const struct wsdbg_snapshot snapshot = {.refusals = told->rows, .refusal_count = told->count};
    wsdbg_refusals_say(&told->said, &told->watch, &snapshot, false);
}

/* A library that looks its kernels up, twice each. */
static void begin_with(struct told *told, const char *prefix)
{
    *told = (struct told){.listener.said = keep_line};
    told->watch.listener = &told->listener;
    for (int i = 0; i < LOOKED_UP; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_%d", prefix, i);
        add(told, WSDBG_REFUSAL_CODE, "cuLibraryGetKernel", NO_BINARY, name)->times = 2;
    }
    look(told);
}

static void begin(struct told *told)
{
    begin_with(told, "kernel");
}

static struct wsdbg_refusal_row *launch(struct told *told, int result, const char *name)
{
    struct wsdbg_refusal_row *row = add(told, WSDBG_REFUSAL_LAUNCH, "cuLaunchKernel", result, name);
    memset(row->grid, 0, sizeof row->grid); /* a reason that is not the questions' */
    memcpy(row->block, (uint32_t[]){128, 1, 1}, sizeof row->block);
    return row;
}

static size_t said(const struct told *told, const char *words)
{
    size_t count = 0;
    for (const char *at = told->text; (at = strstr(at, words)); at++)
        count++;
    return count;
}

static void questions_alone_are_not_said(void **state)
{
    (void)state;
    struct told told;
    begin(&told);
    look(&told);
    assert_string_equal(told.text, "");
    wsdbg_refusals_said_deinit(&told.said);
}

static void at_a_bad_end_they_are_one_line(void **state)
{
    (void)state;
    struct told told;
    begin(&told);
    wsdbg_refusals_say_held(&told.said, &told.watch);
    assert_int_equal(said(&told, "refused: "), 1);
    assert_int_equal(said(&told, WORDS_OF_CODE), 1);
    assert_int_equal(said(&told, "(cuLibraryGetKernel: error 209, CUDA_ERROR_NO_BINARY_FOR_GPU; 32 such calls, 16 "
                                 "different)\n"),
                     1);
    wsdbg_refusals_say_held(&told.said, &told.watch);
    assert_int_equal(said(&told, "refused: "), 1);
    wsdbg_refusals_said_deinit(&told.said);
}

/* NCCL asks which of its kernels there are, and none of them is the program's. */
static void what_nccl_asks_is_not_said_at_a_bad_end_either(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"ncclDevKernel", "_Z15ncclDevKernel"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        struct told told;
        char name[32];
        begin_with(&told, prefixes[i]);
        wsdbg_refusals_say_held(&told.said, &told.watch);
        assert_string_equal(told.text, "");
        snprintf(name, sizeof name, "%s_2", prefixes[i]);
        launch(&told, NO_BINARY, name);
        look(&told);
        assert_int_equal(said(&told, "refused: LAUNCH_NO_IMAGE: "), 1);
        wsdbg_refusals_said_deinit(&told.said);
    }
}

static void an_attribute_that_a_kernel_of_nccl_could_not_have_is_said_at_a_bad_end(void **state)
{
    (void)state;
    struct told told;
    begin_with(&told, "ncclDevKernel");
    add(&told, WSDBG_REFUSAL_SETTING, "cuFuncSetAttribute", 1, "ncclDevKernel_2");
    look(&told);
    wsdbg_refusals_say_held(&told.said, &told.watch);
    assert_int_equal(said(&told, "refused: "), 1);
    wsdbg_refusals_said_deinit(&told.said);
}

/* The launch fails for want of code as well: it is said, and explains the look-ups. */
static void a_launch_without_code_is_said_when_it_happens(void **state)
{
    (void)state;
    struct told told;
    begin(&told);
    launch(&told, NO_BINARY, "kernel_3");
    look(&told);
    assert_int_equal(said(&told, "refused: LAUNCH_NO_IMAGE: kernel_3, grid 0x0x0"), 1);
    assert_int_equal(said(&told, "refused: "), 1);
    wsdbg_refusals_say_held(&told.said, &told.watch);
    assert_int_equal(said(&told, "refused: "), 1);
    wsdbg_refusals_said_deinit(&told.said);
}

static void the_question_about_a_kernel_is_said_with_its_refused_launch(void **state)
{
    (void)state;
    struct told told;
    begin(&told);
    launch(&told, OUT_OF_RESOURCES, "kernel_0");
    look(&told);
    assert_int_equal(said(&told, "refused: LAUNCH_GRID: kernel_0"), 1);
    assert_int_equal(said(&told, WORDS_OF_CODE), 1);
    assert_int_equal(said(&told, "2 such calls, 1 different"), 1);
    assert_int_equal(said(&told, "refused: "), 2);
    wsdbg_refusals_said_deinit(&told.said);
}

/* Another kernel of the module, whose code was there; another process's kernel of that name. */
static void other_launches_bring_no_question_up(void **state)
{
    (void)state;
    struct told told;
    begin(&told);
    launch(&told, OUT_OF_RESOURCES, "another");
    launch(&told, NO_BINARY, "kernel_0")->module = MODULE;
    told.rows[told.count - 1].process_id = PROCESS + 1;
    told.rows[told.count - 1].row.handle = told.rows[0].row.handle;
    look(&told);
    assert_int_equal(said(&told, "refused: "), 2);
    assert_int_equal(said(&told, "grid 0x0x0"), 2);
    wsdbg_refusals_said_deinit(&told.said);
}

/* Also where the launch was refused first. */
static void an_attribute_that_could_not_be_set_is_said_with_the_launch(void **state)
{
    (void)state;
    struct told told = {.listener.said = keep_line};
    told.watch.listener = &told.listener;
    const uint64_t handle = launch(&told, OUT_OF_RESOURCES, "kernel")->handle;
    look(&told);
    struct wsdbg_refusal_row *row = add(&told, WSDBG_REFUSAL_SETTING, "cuFuncSetAttribute", 1, "");
    row->handle = handle;
    row->attribute = 3;
    row->value = 4;
    look(&told);
    assert_int_equal(said(&told, "the kernel's attribute 3 cannot be set to 4"), 1);
    wsdbg_refusals_said_deinit(&told.said);
}

/* Where the observer had no room it is a matter of the questions alone, until a launch is refused. */
static void what_was_left_out_is_said_with_a_launch_or_at_a_bad_end(void **state)
{
    (void)state;
    struct told told;
    begin(&told);
    const struct wsdbg_snapshot snapshot = {
        .refusals = told.rows, .refusal_count = told.count, .refusals_left_out = 300};
    wsdbg_refusals_say(&told.said, &told.watch, &snapshot, false);
    assert_string_equal(told.text, "");
    wsdbg_refusals_say_held(&told.said, &told.watch);
    assert_int_equal(said(&told, "the driver refused more different calls than there is room to tell of"), 1);
    wsdbg_refusals_said_deinit(&told.said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_alone_are_not_said),
        cmocka_unit_test(at_a_bad_end_they_are_one_line),
        cmocka_unit_test(what_nccl_asks_is_not_said_at_a_bad_end_either),
        cmocka_unit_test(an_attribute_that_a_kernel_of_nccl_could_not_have_is_said_at_a_bad_end),
        cmocka_unit_test(a_launch_without_code_is_said_when_it_happens),
        cmocka_unit_test(the_question_about_a_kernel_is_said_with_its_refused_launch),
        cmocka_unit_test(other_launches_bring_no_question_up),
        cmocka_unit_test(an_attribute_that_could_not_be_set_is_said_with_the_launch),
        cmocka_unit_test(what_was_left_out_is_said_with_a_launch_or_at_a_bad_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
