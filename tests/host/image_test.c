/* image_test.c - stacks in the memory of interpreters that never ran: every version's layout, lists without an end,
 * rows that refer to the wrong thing, memory that changes while it is read, and random damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/python_lines.h"
#include "image.h"

static const struct {
    uint32_t version;
    bool free_threaded;
} versions[] = {{0x0309, false}, {0x030a, false}, {0x030b, false}, {0x030c, false},
                {0x030d, false}, {0x030d, true},  {0x030e, false}, {0x030e, true}};
enum { VERSIONS = sizeof versions / sizeof *versions };

static struct image image;

/* Line `first` for the first four bytes of code, then the next one. */
static uint64_t code(const char *file, const char *function, uint32_t first)
{
    static const unsigned char lnotab[] = {0, 0, 4, 1}, ranges[] = {4, 0, 40, 1},
                               locations[] = {0xd1, 0, 0, 0xdf, 0, 0};
    switch (image.python.layout.lines) {
    case WSDBG_PYTHON_LNOTAB:
        return image_code(&image, file, function, first, lnotab, sizeof lnotab);
    case WSDBG_PYTHON_RANGES:
        return image_code(&image, file, function, first, ranges, sizeof ranges);
    default:
        return image_code(&image, file, function, first, locations, sizeof locations);
    }
}

static void check_frame(struct wsdbg_python_codes *codes, const struct wsdbg_python_frame *frame, const char *function,
                        uint32_t line)
{
    const struct wsdbg_python_code *row = wsdbg_python_code_at(codes, frame->code);
    assert_non_null(row);
    assert_true(row->whole);
    assert_string_equal(row->function, function);
    assert_string_equal(row->file, "/home/me/train.py");
    assert_int_equal(
        wsdbg_python_line(image.python.layout.lines, row->lines, row->lines_bytes, row->first_line, frame->offset_bytes)
            .value,
        line);
}

static void check_version(uint32_t version, bool free_threaded)
{
    struct wsdbg_python_thread threads[4];
    struct wsdbg_python_stack stack;
    struct wsdbg_python_codes *codes = NULL;
    const char *end = NULL;
    image_init(&image, version, free_threaded);
    const uint64_t outer = image_frame(&image, code("/home/me/train.py", "<module>", 40), 4, 0);
    const uint64_t inner = image_frame(&image, code("/home/me/train.py", "step", 11), 0, outer);
    image_thread(&image, 4711, 0);
    image_thread(&image, 4712, inner);
    struct wsdbg_host_memory *memory = image_memory(&image);
    assert_int_equal(wsdbg_python_threads(&image.python, memory, threads, 4, &end), 2);
    assert_null(end);
    assert_int_equal(threads[0].thread_id, image.python.layout.thread_native ? 4712 : 0);
    assert_int_equal(threads[0].pthread, 0x1000 + 4712);
    assert_int_equal(threads[0].frame, inner);
    assert_int_equal(threads[1].frame, 0);
    wsdbg_python_stack_read(&image.python, memory, threads[0].frame, &stack);
    assert_null(stack.end);
    assert_int_equal(stack.count, 2);
    assert_null(wsdbg_python_codes_create(&image.python, memory, &codes));
    check_frame(codes, &stack.frames[0], "step", 11);
    check_frame(codes, &stack.frames[1], "<module>", 41);
    wsdbg_python_codes_destroy(codes);
    wsdbg_host_memory_close(memory);
}

static void every_version_is_read_where_it_keeps_things(void **state)
{
    (void)state;
    for (int i = 0; i < VERSIONS; i++)
        check_version(versions[i].version, versions[i].free_threaded);
}

static void other_versions_have_no_layout(void **state)
{
    struct wsdbg_python_layout layout;
    uint32_t version;
    (void)state;
    assert_null(wsdbg_python_layout_of(0x0308));
    assert_null(wsdbg_python_layout_of(0x030f));
    image_init(&image, 0x030e, false);
    struct wsdbg_host_memory *memory = image_memory(&image);
    image_put(&image, image.python.runtime + 8, 0x030f00f0); /* 3.15 */
    assert_false(wsdbg_python_layout_read(memory, image.python.runtime, &layout, &version));
    wsdbg_host_memory_close(memory);
}

/* A size or an offset that cannot be makes the whole table worthless. */
static void a_table_that_does_not_fit_itself_is_refused(void **state)
{
    static const struct {
        uint8_t word;
        uint64_t value;
    } wrong[] = {{5, 1020}, {9, 4000}, {22, 0}, {26, 1 << 30}, {31, 5000}, {33, 90}, {40, 250}, {51, 12}, {78, 70}};
    struct wsdbg_python_layout layout;
    uint32_t version;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        image_init(&image, 0x030e, false);
        image_put(&image, image.python.runtime + 8 * wrong[i].word, wrong[i].value);
        struct wsdbg_host_memory *memory = image_memory(&image);
        if (wsdbg_python_layout_read(memory, image.python.runtime, &layout, &version))
            fail_msg("word %u may be %lu", wrong[i].word, (unsigned long)wrong[i].value);
        wsdbg_host_memory_close(memory);
    }
}

static void frames_of_the_interpreter_are_no_frames_but_end_a_run(void **state)
{
    static struct wsdbg_python_stack stack;
    (void)state;
    image_init(&image, 0x030c, false);
    const uint64_t function = code("f.py", "f", 1);
    uint64_t frame = image_frame(&image, function, 0, image_foreign_frame(&image, 0));
    frame = image_frame(&image, function, 0, frame);
    frame = image_frame(&image, function, 0, image_foreign_frame(&image, frame));
    struct wsdbg_host_memory *memory = image_memory(&image);
    wsdbg_python_stack_read(&image.python, memory, frame, &stack);
    assert_int_equal(stack.count, 3);
    assert_true(stack.frames[0].is_entry);
    assert_false(stack.frames[1].is_entry);
    assert_true(stack.frames[2].is_entry);
    wsdbg_host_memory_close(memory);
}

static void of_a_deep_stack_both_ends_are_kept(void **state)
{
    static struct wsdbg_python_stack stack;
    enum { DEPTH = 500, KEPT = WSDBG_PYTHON_INNER_FRAMES + WSDBG_PYTHON_OUTER_FRAMES };
    uint64_t frames[DEPTH], frame = 0;
    (void)state;
    image_init(&image, 0x030c, false);
    const uint64_t function = code("f.py", "f", 1);
    for (int i = 0; i < DEPTH; i++)
        frames[i] = frame = image_frame(&image, function, 0, frame);
    struct wsdbg_host_memory *memory = image_memory(&image);
    wsdbg_python_stack_read(&image.python, memory, frame, &stack);
    assert_null(stack.end);
    assert_int_equal(stack.count, KEPT);
    assert_int_equal(stack.left_out, DEPTH - KEPT);
    assert_int_equal(stack.frames[0].address, frames[DEPTH - 1]);
    assert_int_equal(stack.frames[WSDBG_PYTHON_INNER_FRAMES].address, frames[WSDBG_PYTHON_OUTER_FRAMES - 1]);
    assert_int_equal(stack.frames[KEPT - 1].address, frames[0]);
    wsdbg_host_memory_close(memory);
}

static void a_chain_without_an_end_ends(void **state)
{
    static struct wsdbg_python_stack stack;
    struct wsdbg_python_thread threads[8];
    const char *end = NULL;
    (void)state;
    image_init(&image, 0x030c, false);
    const uint64_t function = code("f.py", "f", 1);
    const uint64_t first = image_frame(&image, function, 0, 0), second = image_frame(&image, function, 0, first);
    image_put(&image, first + image.python.layout.frame_previous, second);
    const uint64_t state_address = image_thread(&image, 1, first);
    image_put(&image, state_address + image.python.layout.thread_next, state_address);
    struct wsdbg_host_memory *memory = image_memory(&image);
    wsdbg_python_stack_read(&image.python, memory, second, &stack);
    assert_string_equal(stack.end, "the chain of frames does not end");
    assert_int_equal(wsdbg_python_threads(&image.python, memory, threads, 8, &end), 8);
    assert_string_equal(end, "there are too many Python threads");
    wsdbg_host_memory_close(memory);
}

static void what_is_no_code_object_ends_a_stack(void **state)
{
    static struct wsdbg_python_stack stack;
    (void)state;
    image_init(&image, 0x030d, false);
    const uint64_t function = code("f.py", "f", 1), frame = image_frame(&image, function, 0, 0);
    image_put(&image, function + image.python.layout.object_type, image.python.text_type);
    struct wsdbg_host_memory *memory = image_memory(&image);
    wsdbg_python_stack_read(&image.python, memory, frame, &stack);
    assert_int_equal(stack.count, 0);
    assert_string_equal(stack.end, "a frame has no code");
    wsdbg_python_stack_read(&image.python, memory, 0x1234, &stack);
    assert_string_equal(stack.end, "a frame could not be read");
    wsdbg_host_memory_close(memory);
}

/* A name of no text, and one of characters that a terminal obeys. */
static void names_are_unknown_or_harmless(void **state)
{
    struct wsdbg_python_codes *codes = NULL;
    (void)state;
    image_init(&image, 0x030b, false);
    const uint64_t function = code("/tmp/\033[31m.py", "f", 1);
    struct wsdbg_host_memory *memory = image_memory(&image);
    assert_null(wsdbg_python_codes_create(&image.python, memory, &codes));
    assert_string_equal(wsdbg_python_code_at(codes, function)->file, "/tmp/\\x1b[31m.py");
    image_put(&image, function + image.python.layout.code_name, function); /* it is no text */
    wsdbg_host_memory_forget(memory);
    const struct wsdbg_python_code *row = wsdbg_python_code_at(codes, function);
    assert_false(row->whole);
    assert_string_equal(row->function, "");
    wsdbg_python_codes_destroy(codes);
    wsdbg_host_memory_close(memory);
}

/* ---- memory that changes ---- */

static void two_readings_agree_on_what_did_not_change(void **state)
{
    static struct wsdbg_python_stack first, second;
    (void)state;
    image_init(&image, 0x030c, false);
    const uint64_t outer = image_frame(&image, code("f.py", "outer", 1), 4, 0);
    const uint64_t middle = image_frame(&image, code("f.py", "middle", 10), 0, outer);
    const uint64_t inner = image_frame(&image, code("f.py", "inner", 20), 0, middle);
    struct wsdbg_host_memory *memory = image_memory(&image);
    wsdbg_python_stack_read(&image.python, memory, inner, &first);
    wsdbg_host_memory_forget(memory);
    wsdbg_python_stack_read(&image.python, memory, inner, &second);
    struct wsdbg_python_agreement same = wsdbg_python_stacks_agree(&first, &second);
    assert_true(same.all);
    assert_int_equal(same.frames, 3);
    /* inner has returned, and middle goes on in another line */
    image_put(&image, middle + image.python.layout.frame_instruction,
              second.frames[1].code + image.python.layout.code_instructions + 6);
    wsdbg_host_memory_forget(memory);
    wsdbg_python_stack_read(&image.python, memory, middle, &second);
    same = wsdbg_python_stacks_agree(&first, &second);
    assert_false(same.all);
    assert_int_equal(same.frames, 1);
    assert_true(same.goes_on_in);
    second.end = "cut";
    assert_int_equal(wsdbg_python_stacks_agree(&first, &second).frames, 0);
    wsdbg_host_memory_close(memory);
}

static void what_was_read_stays_until_it_is_forgotten(void **state)
{
    uint64_t word;
    (void)state;
    image_init(&image, 0x030c, false);
    struct wsdbg_host_memory *memory = image_memory(&image);
    assert_true(wsdbg_host_read_word(memory, IMAGE_BASE, &word));
    image_put(&image, IMAGE_BASE, 99);
    assert_true(wsdbg_host_read_word(memory, IMAGE_BASE, &word));
    assert_int_not_equal(word, 99);
    wsdbg_host_memory_forget(memory);
    assert_true(wsdbg_host_read_word(memory, IMAGE_BASE, &word));
    assert_int_equal(word, 99);
    wsdbg_host_memory_close(memory);
}

static void nothing_is_read_after_the_deadline(void **state)
{
    struct wsdbg_host_memory *memory = NULL;
    uint64_t word;
    (void)state;
    image_init(&image, 0x030c, false);
    assert_null(wsdbg_host_memory_of(image_read, &image, 0, &memory));
    assert_false(wsdbg_host_read_word(memory, IMAGE_BASE, &word));
    assert_true(wsdbg_host_memory_is_late(memory));
    assert_int_equal(image.reads, 0);
    wsdbg_host_memory_close(memory);
}

/* ---- damage ---- */

static void read_all(void)
{
    static struct wsdbg_python_stack stack;
    struct wsdbg_python_thread threads[64];
    struct wsdbg_python_codes *codes = NULL;
    const char *end = NULL;
    struct wsdbg_host_memory *memory = image_memory(&image);
    assert_null(wsdbg_python_codes_create(&image.python, memory, &codes));
    const size_t count = wsdbg_python_threads(&image.python, memory, threads, 64, &end);
    for (size_t i = 0; i < count && i < 8; i++) {
        wsdbg_python_stack_read(&image.python, memory, threads[i].frame, &stack);
        assert_true(stack.count <= WSDBG_PYTHON_INNER_FRAMES + WSDBG_PYTHON_OUTER_FRAMES);
        for (size_t k = 0; k < stack.count && k < 8; k++) {
            const struct wsdbg_python_code *row = wsdbg_python_code_at(codes, stack.frames[k].code);
            if (row && row->lines)
                wsdbg_python_line(image.python.layout.lines, row->lines, row->lines_bytes, row->first_line,
                                  stack.frames[k].offset_bytes);
        }
    }
    wsdbg_python_codes_destroy(codes);
    wsdbg_host_memory_close(memory);
}

/* Another thread of the process writes while it is read. */
static void write_anywhere(struct image *changed, uint64_t reads)
{
    (void)reads;
    changed->bytes[(size_t)random() % changed->used] = (unsigned char)random();
}

static void build_for_damage(int i)
{
    image_init(&image, versions[i % VERSIONS].version, versions[i % VERSIONS].free_threaded);
    const uint64_t function = code("/home/me/train.py", "step", 11);
    uint64_t frame = 0;
    for (int k = 0; k < 20; k++)
        frame = image_frame(&image, function, 2 * k, frame);
    image_thread(&image, 1, frame);
    image_thread(&image, 2, frame);
}

static void damaged_memory_neither_crashes_nor_loops(void **state)
{
    (void)state;
    srandom(2);
    for (int i = 0; i < 2000; i++) {
        build_for_damage(i);
        for (int k = random() % 60; k >= 0; k--) {
            const size_t at = (size_t)random() % image.used / 8 * 8;
            /* a wrong pointer is worse than a wrong byte */
            image_put(&image, IMAGE_BASE + at,
                      random() % 2 ? IMAGE_BASE + (uint64_t)random() % image.used / 8 * 8 : (uint64_t)random());
        }
        image.changed = i % 3 ? NULL : write_anywhere;
        read_all();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_is_read_where_it_keeps_things),
        cmocka_unit_test(other_versions_have_no_layout),
        cmocka_unit_test(a_table_that_does_not_fit_itself_is_refused),
        cmocka_unit_test(frames_of_the_interpreter_are_no_frames_but_end_a_run),
        cmocka_unit_test(of_a_deep_stack_both_ends_are_kept),
        cmocka_unit_test(a_chain_without_an_end_ends),
        cmocka_unit_test(what_is_no_code_object_ends_a_stack),
        cmocka_unit_test(names_are_unknown_or_harmless),
        cmocka_unit_test(two_readings_agree_on_what_did_not_change),
        cmocka_unit_test(what_was_read_stays_until_it_is_forgotten),
        cmocka_unit_test(nothing_is_read_after_the_deadline),
        cmocka_unit_test(damaged_memory_neither_crashes_nor_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
