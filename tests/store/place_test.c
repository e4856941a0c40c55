/* place_test.c - the words for a place in a kernel's code: the line of the author's own file that tells its sites
 * apart, of one site alone and of all of them at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/example.h"
#include "model/place.h"

enum { NONE = 0xffff, SITES_MAX = 24, FUNCTIONS = 3 };

struct site {
    uint32_t function, inlined_at, line; /* line 0 = none is known */
    const char *file, *place;
};

static struct wsdbg_function functions[FUNCTIONS] = {{.name = "gemm<3>(int)"}, {.name = "copy"}, {.name = "plain"}};

static struct wsdbg_snapshot snapshot_of(const struct site *table, size_t count, struct wsdbg_site *sites)
{
    for (size_t i = 0; i < count; i++) {
        sites[i] = (struct wsdbg_site){.pc = 0x1000 + 16 * i,
                                       .function = table[i].function == NONE ? WSDBG_NONE : table[i].function,
                                       .inlined_at = table[i].inlined_at == NONE ? WSDBG_NONE : table[i].inlined_at,
                                       .offset_bytes = wsdbg_known_u32((uint32_t)(16 * i))};
        snprintf(sites[i].file, sizeof sites[i].file, "%s", table[i].file);
        if (table[i].line)
            sites[i].line = wsdbg_known_u32(table[i].line);
    }
    return (struct wsdbg_snapshot){
        .sites = sites, .site_count = count, .functions = functions, .function_count = FUNCTIONS};
}

static void expect_places(const struct site *table, size_t count)
{
    struct wsdbg_site sites[SITES_MAX];
    struct wsdbg_place_stem *stems;
    char place[WSDBG_PLACE_BYTES];
    const struct wsdbg_snapshot s = snapshot_of(table, count, sites);
    example_ok(wsdbg_place_stems_create(&s, &stems));
    for (uint32_t i = 0; i < count; i++) {
        wsdbg_place_text_on(&s, stems, i, place);
        assert_string_equal(place, table[i].place);
        wsdbg_place_text(&s, i, place);
        assert_string_equal(place, table[i].place);
    }
    wsdbg_place_text_on(&s, stems, (uint32_t)count, place);
    assert_string_equal(place, "");
    free(stems);
}
#define EXPECT_PLACES(table) expect_places(table, sizeof(table) / sizeof *(table))

/* All of the kernel is inlined into run.h:9 and that into gemm.cu:5: only from main.h on do its sites differ. */
static void levels_that_all_sites_share_are_left_aside(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, 1, 31, "/lib/barrier.h", "main.h:70"}, {0, 2, 70, "/src/main.h", "main.h:70"},
        {0, 3, 9, "/src/run.h", "gemm.cu:5"},      {0, NONE, 5, "/src/gemm.cu", "gemm.cu:5"},
        {0, 5, 31, "/lib/barrier.h", "main.h:80"}, {0, 2, 80, "/src/main.h", "main.h:80"},
    };
    EXPECT_PLACES(table);
}

/* A level deeper in the same file says more than the one where sites part. */
static void the_innermost_level_of_the_own_file_is_told(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, 1, 31, "/lib/barrier.h", "gemm.cu:150"},
        {0, 2, 150, "/src/gemm.cu", "gemm.cu:150"},
        {0, NONE, 300, "/src/gemm.cu", "gemm.cu:300"},
        {0, NONE, 310, "/src/gemm.cu", "gemm.cu:310"},
    };
    EXPECT_PLACES(table);
}

/* A deeper site after a parting, and a parting further in after that, do not move where the first one was. */
static void the_first_parting_counts_in_whatever_order_sites_come(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, NONE, 5, "/src/gemm.cu", "gemm.cu:5"}, {0, 0, 20, "/src/main.h", "main.h:20"},
        {0, 0, 10, "/src/main.h", "main.h:10"},    {0, 2, 40, "/src/load.h", "main.h:10"},
        {0, 2, 44, "/src/load.h", "main.h:10"},    {0, 4, 31, "/lib/barrier.h", "main.h:10"},
    };
    EXPECT_PLACES(table);
}

/* What one function's sites share is nothing to another's; where one site is all there is, nothing parts. */
static void functions_are_told_apart(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, 2, 10, "/src/main.h", "main.h:10"},    {0, 2, 20, "/src/main.h", "main.h:20"},
        {0, NONE, 5, "/src/gemm.cu", "gemm.cu:5"}, {1, 4, 10, "/src/main.h", "copy.cu:7"},
        {1, NONE, 7, "/src/copy.cu", "copy.cu:7"},
    };
    EXPECT_PLACES(table);
}

static void a_place_without_lines_is_an_offset(void **state)
{
    (void)state;
    static const struct site table[] = {
        {2, NONE, 0, "", "plain+0x0"},
        {0, NONE, 0, "", "gemm+0x10"},
        {NONE, NONE, 0, "", "?+0x20"},
        {NONE, NONE, 8, "/src/a.cu", "a.cu:8"},
        {0, NONE, 5, "/src/gemm.cu", "gemm.cu:5"},
    };
    EXPECT_PLACES(table);
}

/* No compiler writes that; a damaged file may. */
static void a_circle_of_calls_ends(void **state)
{
    (void)state;
    static const struct site table[] = {
        {0, 1, 10, "/src/a.h", "b.h:20"},
        {0, 0, 20, "/src/b.h", "a.h:10"},
        {0, 2, 30, "/src/c.h", "c.h:30"},
        {2, 3, 0, "", "plain+0x30"},
    };
    EXPECT_PLACES(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_that_all_sites_share_are_left_aside),
        cmocka_unit_test(the_innermost_level_of_the_own_file_is_told),
        cmocka_unit_test(the_first_parting_counts_in_whatever_order_sites_come),
        cmocka_unit_test(functions_are_told_apart),
        cmocka_unit_test(a_place_without_lines_is_an_offset),
        cmocka_unit_test(a_circle_of_calls_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
