/* tables_test.c - every table of tables.def and every reference of its rows: freed, copied, appended, dropped.
 *
 * Each table gets ROWS rows of bytes that no other table has.  Row i belongs to row i of its owners and refers to row
 * i + 1 of other tables, the last one to none; its spans begin at row i.  What is no reference must stay as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <malloc.h>

#include "model/rows.h"

enum { ROWS = 3, LAST = ROWS - 1, DROPPED = 1 };

static uint32_t next(uint32_t i)
{
    return i == LAST ? WSDBG_NONE : i + 1;
}

static struct wsdbg_optional_u32 known(uint32_t row)
{
    return row != WSDBG_NONE ? wsdbg_known_u32(row) : (struct wsdbg_optional_u32){0};
}

static void fill(struct wsdbg_snapshot *s)
{
    unsigned char mark = 0;
    *s = (struct wsdbg_snapshot){.source = "test", .time_ns = 7};
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    s->rows = reallocarray(NULL, ROWS, sizeof *s->rows);            \
    assert_non_null(s->rows);                                       \
    memset(s->rows, ++mark, ROWS * sizeof *s->rows);                \
    s->count = ROWS;
#include "model/tables.def"
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    for (uint32_t i = 0; i < ROWS; i++) {                           \
        row_type *row = &s->rows[i];                                \
        (void)row;                                                  \
        references;                                                 \
    }
#define WSDBG_OWNER(member, table) row->member = i;
#define WSDBG_ROW(member, table) row->member = next(i);
#define WSDBG_KNOWN_ROW(member, table) row->member = known(next(i));
#define WSDBG_SPAN(first, count, table) row->first = i, row->count = 1;
#define WSDBG_POINTER(member, table) row->member = next(i) != WSDBG_NONE ? &s->table[next(i)] : NULL;
#include "model/tables.def"
}

/* The rows from `first` on are those of a filled snapshot but for their references: these are made alike in a copy of
 * the row before it is compared. */
static void check_rest(const struct wsdbg_snapshot *s, const struct wsdbg_table_counts *first)
{
    struct wsdbg_snapshot plain;
    fill(&plain);
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references)     \
    for (uint32_t i = 0; first->rows + i < s->count && i < ROWS; i++) { \
        row_type copy[1], *row = &plain.rows[i];                        \
        memcpy(copy, &s->rows[first->rows + i], sizeof copy);           \
        references;                                                     \
        assert_memory_equal(copy, row, sizeof copy);                    \
    }
#define WSDBG_OWNER(member, table) copy->member = row->member;
#define WSDBG_ROW(member, table) copy->member = row->member;
#define WSDBG_KNOWN_ROW(member, table) copy->member = row->member;
#define WSDBG_SPAN(first, count, table) copy->first = row->first, copy->count = row->count;
#define WSDBG_POINTER(member, table) copy->member = row->member;
#include "model/tables.def"
    wsdbg_snapshot_deinit(&plain);
}

static uint32_t mapped(uint32_t row, struct wsdbg_table_map map)
{
    return row == WSDBG_NONE ? row : map.numbers ? map.numbers[row] : row + map.shift;
}

/* The rows from `first` on refer to those that the maps say. */
static void check_references(const struct wsdbg_snapshot *s, const struct wsdbg_table_counts *first,
                             const struct wsdbg_table_maps *maps)
{
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references)     \
    for (uint32_t i = 0; first->rows + i < s->count && i < ROWS; i++) { \
        const row_type *row = &s->rows[first->rows + i];                \
        (void)row;                                                      \
        references;                                                     \
    }
#define WSDBG_OWNER(member, table) assert_int_equal(row->member, mapped(i, maps->table));
#define WSDBG_ROW(member, table) assert_int_equal(row->member, mapped(next(i), maps->table));
#define WSDBG_KNOWN_ROW(member, table)                                               \
    assert_int_equal(row->member.known, mapped(next(i), maps->table) != WSDBG_NONE); \
    assert_int_equal(row->member.value, known(mapped(next(i), maps->table)).value);
#define WSDBG_SPAN(first, count, table)                   \
    assert_int_equal(row->first, mapped(i, maps->table)); \
    assert_int_equal(row->count, 1);
#define WSDBG_POINTER(member, table) \
    assert_ptr_equal(row->member,    \
                     mapped(next(i), maps->table) != WSDBG_NONE ? &s->table[mapped(next(i), maps->table)] : NULL);
#include "model/tables.def"
}

static const struct wsdbg_table_counts from_the_first;
static const struct wsdbg_table_maps same_numbers;

/* ---- the list ---- */

/* Who takes a reference out of the list by mistake sees it here; tables_check.c sees what is missing. */
static void test_the_list_is_whole(void **state)
{
    unsigned tables = 0, owners = 0, rows_ = 0, known_rows = 0, spans = 0, pointers = 0;
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) tables++, references(void) 0;
#define WSDBG_OWNER(member, table) owners++,
#define WSDBG_ROW(member, table) rows_++,
#define WSDBG_KNOWN_ROW(member, table) known_rows++,
#define WSDBG_SPAN(first, count, table) spans++,
#define WSDBG_POINTER(member, table) pointers++,
#include "model/tables.def"
    assert_int_equal(tables, 35);
    assert_int_equal(owners, 17);
    assert_int_equal(rows_, 33);
    assert_int_equal(known_rows, 2);
    assert_int_equal(spans, 8);
    assert_int_equal(pointers, 1);
    (void)state;
}

/* ---- copy and end ---- */

static void test_a_copy_shares_nothing(void **state)
{
    struct wsdbg_snapshot s, copy;
    fill(&s);
    s.before = calloc(1, sizeof *s.before);
    s.record = calloc(1, sizeof *s.record);
    fill(s.before);
    fill(s.record);
    assert_null(wsdbg_snapshot_copy(&s, &copy));
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    assert_int_equal(copy.count, ROWS);                             \
    assert_ptr_not_equal(copy.rows, s.rows);                        \
    memset(s.rows, 0, ROWS * sizeof *s.rows);
#include "model/tables.def"
    assert_ptr_not_equal(copy.before, s.before);
    assert_ptr_not_equal(copy.record, s.record);
    wsdbg_snapshot_deinit(&s);
    const struct wsdbg_snapshot *copies[] = {&copy, copy.before, copy.record};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        check_rest(copies[i], &from_the_first);
        check_references(copies[i], &from_the_first, &same_numbers);
        assert_string_equal(copies[i]->source, "test");
    }
    wsdbg_snapshot_deinit(&copy);
    (void)state;
}

static void test_the_end_frees_all(void **state)
{
    struct wsdbg_snapshot s, copy;
    const size_t held = mallinfo2().uordblks;
    fill(&s);
    assert_null(wsdbg_snapshot_copy(&s, &copy));
    wsdbg_snapshot_deinit(&copy);
    wsdbg_snapshot_deinit(&s);
    assert_int_equal(mallinfo2().uordblks, held);
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    assert_null(s.rows);                                            \
    assert_int_equal(s.count, 0);
#include "model/tables.def"
    (void)state;
}

static void test_a_view_has_the_chosen_kinds(void **state)
{
    struct wsdbg_snapshot s, view = {.time_ns = 9};
    fill(&s);
    wsdbg_rows_borrow(&s, WSDBG_TABLES_SHARED | WSDBG_TABLES_PICTURE, &view);
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references)                        \
    assert_ptr_equal(view.rows, WSDBG_TABLES_##kind == WSDBG_TABLES_HOST ? NULL : s.rows); \
    assert_int_equal(view.count, WSDBG_TABLES_##kind == WSDBG_TABLES_HOST ? 0 : ROWS);
#include "model/tables.def"
    assert_int_equal(view.time_ns, 9);
    wsdbg_snapshot_deinit(&s);
    (void)state;
}

/* ---- more rows ---- */

static void test_room_moves_no_reference(void **state)
{
    struct wsdbg_snapshot s;
    struct wsdbg_table_counts more;
    fill(&s);
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) more.rows = 1000;
#include "model/tables.def"
    assert_null(wsdbg_rows_reserve(&s, &more));
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    assert_int_equal(s.count, ROWS);                                \
    memset(&s.rows[ROWS], 0xee, 1000 * sizeof *s.rows);
#include "model/tables.def"
    check_rest(&s, &from_the_first);
    check_references(&s, &from_the_first, &same_numbers);
    wsdbg_snapshot_deinit(&s);
    (void)state;
}

static void test_appended_rows_refer_to_one_another(void **state)
{
    struct wsdbg_snapshot to, from;
    struct wsdbg_table_counts added;
    struct wsdbg_table_maps maps;
    fill(&to);
    fill(&from);
    assert_null(wsdbg_rows_append(&to, &from, &same_numbers));
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    assert_int_equal(to.count, 2 * ROWS);                           \
    added.rows = ROWS;                                              \
    maps.rows = (struct wsdbg_table_map){.shift = ROWS};
#include "model/tables.def"
    check_rest(&to, &from_the_first);
    check_references(&to, &from_the_first, &same_numbers);
    check_rest(&to, &added);
    check_references(&to, &added, &maps);
    check_references(&from, &from_the_first, &same_numbers);
    wsdbg_snapshot_deinit(&to);
    wsdbg_snapshot_deinit(&from);
    (void)state;
}

/* Each table that looks find again has its rows in the opposite order, and one of them not at all. */
static void test_rows_that_are_there_are_not_appended(void **state)
{
    uint32_t numbers[ROWS] = {2, WSDBG_NONE, 0};
    struct wsdbg_snapshot to, from;
    struct wsdbg_table_counts added;
    struct wsdbg_table_maps found = {0}, maps;
    fill(&to);
    fill(&from);
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    if (WSDBG_TABLES_##kind == WSDBG_TABLES_SHARED)                 \
        found.rows.numbers = numbers;
#include "model/tables.def"
    assert_null(wsdbg_rows_append(&to, &from, &found));
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references)   \
    assert_int_equal(to.count, found.rows.numbers ? ROWS : 2 * ROWS); \
    added.rows = ROWS;                                                \
    maps.rows = (struct wsdbg_table_map){found.rows.numbers, ROWS};
#include "model/tables.def"
    check_rest(&to, &from_the_first);
    check_references(&to, &from_the_first, &same_numbers);
    check_rest(&to, &added);
    check_references(&to, &added, &maps);
    wsdbg_snapshot_deinit(&to);
    wsdbg_snapshot_deinit(&from);
    (void)state;
}

/* ---- fewer rows ---- */

/* What is left of a table of which row DROPPED goes: of its marks and of its references. */
static void check_left(const struct wsdbg_snapshot *s, const struct wsdbg_table_counts *gone)
{
    static uint32_t numbers[ROWS] = {0, WSDBG_NONE, 1};
    struct wsdbg_table_maps maps = {0};
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    assert_int_equal(s->count, ROWS - gone->rows);                  \
    maps.rows.numbers = gone->rows ? numbers : NULL;
#include "model/tables.def"
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    for (uint32_t k = 0; k < s->count; k++) {                       \
        const row_type *row = &s->rows[k];                          \
        const uint32_t i = k + (gone->rows && k >= DROPPED);        \
        (void)row, (void)i;                                         \
        references;                                                 \
    }
#define WSDBG_OWNER(member, table) assert_int_equal(row->member, mapped(i, maps.table));
#define WSDBG_ROW(member, table) assert_int_equal(row->member, mapped(next(i), maps.table));
#define WSDBG_KNOWN_ROW(member, table) assert_int_equal(row->member.known, mapped(next(i), maps.table) != WSDBG_NONE);
#define WSDBG_SPAN(first, count, table)                  \
    assert_int_equal(row->first, mapped(i, maps.table)); \
    assert_int_equal(row->count, 1);
#define WSDBG_POINTER(member, table) assert_ptr_equal(row->member, next(i) != WSDBG_NONE ? &s->table[next(i)] : NULL);
#include "model/tables.def"
}

static void test_what_belongs_to_a_grid_goes_with_it(void **state)
{
    static const bool chosen[ROWS] = {[DROPPED] = true};
    static const struct wsdbg_table_counts gone = {.grids = 1,
                                                   .ctas = 1,
                                                   .warps = 1,
                                                   .barriers = 1,
                                                   .parts = 1,
                                                   .accesses = 1,
                                                   .answers = 1,
                                                   .reaches = 1,
                                                   .walks = 1,
                                                   .excerpts = 1,
                                                   .exceptions = 1};
    struct wsdbg_snapshot s;
    fill(&s);
    assert_null(wsdbg_rows_drop(&s, &(struct wsdbg_table_choice){.grids = chosen}));
    check_left(&s, &gone);
    wsdbg_snapshot_deinit(&s);
    (void)state;
}

static void test_nothing_chosen_drops_nothing(void **state)
{
    static const bool chosen[ROWS];
    struct wsdbg_snapshot s;
    fill(&s);
    assert_null(wsdbg_rows_drop(&s, &(struct wsdbg_table_choice){.grids = chosen, .sites = chosen}));
    check_rest(&s, &from_the_first);
    check_references(&s, &from_the_first, &same_numbers);
    wsdbg_snapshot_deinit(&s);
    (void)state;
}

/* Memory that is no CTA's and no warp's is excerpted too. */
static void test_a_row_that_belongs_to_none_stays(void **state)
{
    static const bool chosen[ROWS] = {true, true, true};
    struct wsdbg_snapshot s;
    fill(&s);
    s.excerpts[1].cta = s.excerpts[1].warp = WSDBG_NONE;
    assert_null(wsdbg_rows_drop(&s, &(struct wsdbg_table_choice){.grids = chosen}));
    assert_int_equal(s.warp_count, 0);
    assert_int_equal(s.excerpt_count, 1);
    assert_int_equal(s.excerpts[0].cta, WSDBG_NONE);
    assert_int_equal(s.history_count, ROWS);
    wsdbg_snapshot_deinit(&s);
    (void)state;
}

static void test_a_span_keeps_what_is_left(void **state)
{
    static const bool chosen[ROWS] = {true, false, false};
    struct wsdbg_snapshot s;
    fill(&s);
    s.ctas[0].warp_first = 0;
    s.ctas[0].warp_count = ROWS;
    assert_null(wsdbg_rows_drop(&s, &(struct wsdbg_table_choice){.warps = chosen}));
    assert_int_equal(s.warp_count, 2);
    assert_int_equal(s.ctas[0].warp_first, 0);
    assert_int_equal(s.ctas[0].warp_count, 2);
    assert_int_equal(s.ctas[1].warp_first, 0);
    assert_int_equal(s.ctas[2].warp_first, 1);
    wsdbg_snapshot_deinit(&s);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_list_is_whole),
        cmocka_unit_test(test_a_copy_shares_nothing),
        cmocka_unit_test(test_the_end_frees_all),
        cmocka_unit_test(test_a_view_has_the_chosen_kinds),
        cmocka_unit_test(test_room_moves_no_reference),
        cmocka_unit_test(test_appended_rows_refer_to_one_another),
        cmocka_unit_test(test_rows_that_are_there_are_not_appended),
        cmocka_unit_test(test_what_belongs_to_a_grid_goes_with_it),
        cmocka_unit_test(test_nothing_chosen_drops_nothing),
        cmocka_unit_test(test_a_row_that_belongs_to_none_stays),
        cmocka_unit_test(test_a_span_keeps_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
