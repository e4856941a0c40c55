/* walk_marks_test.c - what has no mark was not touched; what was touched has one, wherever it lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sass/walk_marks.h"

static void what_was_touched_has_a_mark(void **state)
{
    static const struct {
        const char *name;
        uint32_t address, bytes; /* touched */
        uint32_t asked, asked_bytes;
        bool has_mark;
    } rows[] = {
        {"the same word", 0x100, 4, 0x100, 4, true},
        {"one byte of it", 0x100, 4, 0x103, 1, true},
        {"the word behind it", 0x100, 4, 0x104, 4, false},
        {"the word before it", 0x100, 4, 0xfc, 4, false},
        {"a double word that begins before it", 0x100, 4, 0xfc, 8, true},
        {"two bytes beside two others of one word: a mark is for four", 0x100, 2, 0x102, 2, true},
        {"the middle of a tile", 0x1000, 0x8000, 0x4321, 4, true},
        {"the last byte of a tile", 0x1000, 0x8000, 0x8fff, 1, true},
        {"behind a tile", 0x1000, 0x8000, 0x9000, 4, false},
        {"the same place of another CTA", 0x100, 4, 0x01000100, 4, true},
        {"a range that goes round", 0x3fffc, 8, 0, 4, true},
        {"more than all there is", 0, UINT32_MAX, 0x38000, 4, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct walk_marks marks = {0};
        print_message("%s\n", rows[i].name);
        assert_false(walk_marks_have(&marks, rows[i].asked, rows[i].asked_bytes));
        walk_marks_add(&marks, rows[i].address, rows[i].bytes);
        assert_int_equal(walk_marks_have(&marks, rows[i].asked, rows[i].asked_bytes), rows[i].has_mark);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_touched_has_a_mark)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
