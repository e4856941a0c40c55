/* lines_test.c - lines of Python's code objects.  The tables are those that CPython 3.9, 3.10, 3.12 and 3.14 made of
 *
 *      1  def f(a,                  7                   a)
 *      2        b):                 8
 *      3      x = a                 9
 *      4      if a:                10      else:
 *      5          for i in b:      11          x = [j
 *      6              x = (i +     12               for j in b]
 *                                  13      return x
 *
 * and the expected lines are what code.co_lines() and dis.findlinestarts() said of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/python_lines.h"

/* From this offset on the line is this one; 0 = none. */
struct expected {
    int64_t offset_bytes;
    uint32_t line;
};

static void check(enum wsdbg_python_lines kind, const unsigned char *table, size_t bytes,
                  const struct expected *expected, size_t count)
{
    const struct wsdbg_optional_u32 first = wsdbg_python_line(kind, table, bytes, 1, -2);
    assert_true(first.known);
    assert_int_equal(first.value, 1); /* the code has not begun */
    for (size_t i = 0; i + 1 < count; i++)
        for (int64_t at = expected[i].offset_bytes; at < expected[i + 1].offset_bytes; at += 2) {
            const struct wsdbg_optional_u32 line = wsdbg_python_line(kind, table, bytes, 1, at);
            assert_int_equal(line.known, expected[i].line != 0);
            assert_int_equal(line.value, expected[i].line);
        }
}
#define CHECK(kind, table, expected) check(kind, table, sizeof(table), expected, sizeof(expected) / sizeof *(expected))

static void python_3_9_counts_steps(void **state)
{
    (void)state;
    static const unsigned char table[] = {0x00, 0x02, 0x04, 0x01, 0x04, 0x01, 0x08, 0x01, 0x02, 0x01,
                                          0x02, 0xff, 0x08, 0x05, 0x06, 0x01, 0x02, 0xff, 0x06, 0x02};
    static const struct expected expected[] = {{0, 3},   {4, 4},   {8, 5},   {16, 6},  {18, 7}, {20, 6},
                                               {28, 11}, {34, 12}, {36, 11}, {42, 13}, {46, 0}};
    CHECK(WSDBG_PYTHON_LNOTAB, table, expected);
}

static void python_3_10_has_ranges(void **state)
{
    (void)state;
    static const unsigned char table[] = {0x04, 0x02, 0x04, 0x01, 0x08, 0x01, 0x02, 0x01, 0x02, 0x01, 0x06,
                                          0xff, 0x04, 0x07, 0x06, 0xfe, 0x02, 0x01, 0x06, 0xff, 0x04, 0x02};
    static const struct expected expected[] = {{0, 3},   {4, 4},   {8, 5},   {16, 6},  {18, 7},  {20, 6},
                                               {26, 13}, {30, 11}, {36, 12}, {38, 11}, {44, 13}, {48, 0}};
    CHECK(WSDBG_PYTHON_RANGES, table, expected);
}

static void python_3_12_has_locations_and_code_without_a_line(void **state)
{
    (void)state;
    static const unsigned char table[] = {
        0x80, 0x00, 0xe0, 0x08, 0x09, 0x80, 0x41, 0xd9, 0x07, 0x08, 0xd8, 0x11, 0x12, 0xf2, 0x00, 0x02, 0x09, 0x14,
        0x88, 0x41, 0xd8, 0x11, 0x12, 0xd8, 0x11, 0x12, 0xf1, 0x03, 0x01, 0x12, 0x13, 0x89, 0x41, 0xf0, 0x03, 0x02,
        0x09, 0x14, 0xf0, 0x10, 0x00, 0x0c, 0x0d, 0x80, 0x48, 0xf0, 0x03, 0x00, 0x17, 0x18, 0xf6, 0x03, 0x01, 0x0d,
        0x19, 0xd8, 0x11, 0x12, 0xf2, 0x03, 0x00, 0x0e, 0x0f, 0xf0, 0x00, 0x01, 0x0d, 0x19, 0x88, 0x01, 0xf0, 0x00,
        0x01, 0x0d, 0x19, 0xe0, 0x0b, 0x0c, 0x80, 0x48, 0xf9, 0xf2, 0x05, 0x01, 0x0d, 0x19};
    static const struct expected expected[] = {{0, 1},   {2, 3},   {6, 4},   {10, 5},  {20, 6},  {22, 7},
                                               {24, 6},  {32, 5},  {34, 13}, {38, 12}, {40, 11}, {54, 12},
                                               {56, 11}, {68, 13}, {72, 0},  {76, 11}, {82, 0}};
    CHECK(WSDBG_PYTHON_LOCATIONS, table, expected);
}

static void python_3_14_has_the_same_kind_of_table(void **state)
{
    (void)state;
    static const unsigned char table[] = {
        0x80, 0x00, 0xe0, 0x08, 0x09, 0x80, 0x41, 0xdf, 0x07, 0x08, 0xdb, 0x11, 0x12, 0x88, 0x41, 0xd8, 0x11,
        0x12, 0xd8, 0x11, 0x12, 0xf5, 0x03, 0x01, 0x12, 0x13, 0x8a, 0x41, 0xf1, 0x03, 0x00, 0x12, 0x13, 0xf0,
        0x10, 0x00, 0x0c, 0x0d, 0x80, 0x48, 0xf1, 0x03, 0x00, 0x17, 0x18, 0xf3, 0x03, 0x01, 0x0d, 0x19, 0xd9,
        0x16, 0x17, 0x90, 0x11, 0xf3, 0x03, 0x00, 0x0e, 0x0f, 0xd9, 0x16, 0x17, 0xf0, 0x03, 0x00, 0x09, 0x0a,
        0xf0, 0x00, 0x01, 0x0d, 0x19, 0xe0, 0x0b, 0x0c, 0x80, 0x48, 0xf9, 0xf2, 0x05, 0x01, 0x0d, 0x19};
    static const struct expected expected[] = {{0, 1},   {2, 3},   {6, 4},   {22, 5},   {32, 6},  {34, 7},  {36, 6},
                                               {54, 5},  {58, 13}, {62, 12}, {66, 11},  {74, 12}, {80, 11}, {88, 12},
                                               {92, 11}, {96, 13}, {100, 0}, {104, 11}, {110, 0}};
    CHECK(WSDBG_PYTHON_LOCATIONS, table, expected);
}

static void what_lies_behind_the_table_has_no_line(void **state)
{
    (void)state;
    static const unsigned char ranges[] = {0x04, 0x02}, locations[] = {0x80, 0x00};
    assert_false(wsdbg_python_line(WSDBG_PYTHON_RANGES, ranges, sizeof ranges, 1, 4).known);
    assert_false(wsdbg_python_line(WSDBG_PYTHON_LOCATIONS, locations, sizeof locations, 1, 2).known);
    assert_false(wsdbg_python_line(WSDBG_PYTHON_LOCATIONS, locations, 0, 1, 0).known);
}

/* A table of random bytes ends, and is not read beyond its end (the address sanitizer looks on). */
static void no_table_is_read_beyond_its_end(void **state)
{
    (void)state;
    srandom(1);
    for (int i = 0; i < 20000; i++) {
        const size_t bytes = (size_t)random() % 40;
        unsigned char *table = malloc(bytes ? bytes : 1);
        for (size_t k = 0; k < bytes; k++)
            table[k] = (unsigned char)(random() | (random() % 3 ? 0x70 : 0));
        for (int kind = WSDBG_PYTHON_LNOTAB; kind <= WSDBG_PYTHON_LOCATIONS; kind++)
            wsdbg_python_line((enum wsdbg_python_lines)kind, table, bytes, (uint32_t)random(), random() % 100000);
        free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_3_9_counts_steps),
        cmocka_unit_test(python_3_10_has_ranges),
        cmocka_unit_test(python_3_12_has_locations_and_code_without_a_line),
        cmocka_unit_test(python_3_14_has_the_same_kind_of_table),
        cmocka_unit_test(what_lies_behind_the_table_has_no_line),
        cmocka_unit_test(no_table_is_read_beyond_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
