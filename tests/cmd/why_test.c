/* why_test.c - `wsdbg why` as it is typed: objects in one word or several, pages of causes, what is refused.  And the
 * pages themselves: one for each code, an index that lists them (UPDATE_GOLDEN=1 writes it from causes.def), and the
 * zoo's cases that show each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/harness.h"
#include "diagnose/finding.h"
#include "diagnose/refused.h"
#include "lint/finding.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES WSDBG_SOURCE "/docs/causes"

static void make_session(void)
{
    struct outcome made = WSDBG("replay", WSDBG_SOURCE "/tests/recorded/waker-exited.wsrec", "-o", "a.db");
    assert_int_equal(made.status, 124);
    outcome_free(&made);
}

static void refuses(struct outcome why, const char *reason)
{
    assert_int_equal(why.status, 125);
    assert_string_equal(why.err, reason);
    assert_string_equal(why.out, "");
    outcome_free(&why);
}

static void begins(struct outcome why, const char *text)
{
    assert_int_equal(why.status, 0);
    assert_string_equal(why.err, "");
    assert_memory_equal(why.out, text, strlen(text));
    outcome_free(&why);
}

static void an_object_may_be_several_words(void **state)
{
    (void)state;
    make_session();
    begins(WSDBG("why", "a.db", "warp", "4"), "warp 4 (consumer 0) of CTA (0,0,0), gemm_cooperative\n");
    begins(WSDBG("why", "a.db", "warp 4"), "warp 4 (consumer 0) of CTA (0,0,0), gemm_cooperative\n");
    begins(WSDBG("why", "--cta", "1", "a.db", "\"full\"", "stage", "0"), "full[0] of CTA (1,0,0), gemm_cooperative\n");
    begins(WSDBG("why", "a.db", "4", "--json"), "{\n  \"schema_version\": 1,\n");
}

static void without_an_object_it_begins_with_the_verdict(void **state)
{
    (void)state;
    make_session();
    begins(WSDBG("why", "a.db"), "HANG: WAKER_EXITED (proven)\n");
}

static void what_cannot_be_answered_is_one_line(void **state)
{
    (void)state;
    make_session();
    write_file("text", "no database", 11);
    refuses(WSDBG("why", "a.db", "empty[9]"),
            "wsdbg why: a.db: nothing called \"empty[9]\" in CTA (0,0,0); it has warps 0-11, full[0-3], empty[0-3], "
            "store 0 (id 1), store 1 (id 2), register pool, wgmma group, bulk-store group\n");
    refuses(WSDBG("why", "a.db", "--cta", "1"), "wsdbg why: a.db: --cta needs a warp or barrier of that CTA\n");
    refuses(WSDBG("why", "a.db", "4", "--cta", "x"), "wsdbg why: a.db: \"x\" is no CTA: name it as X or X,Y,Z\n");
    struct outcome none = WSDBG("why", "text");
    assert_int_equal(none.status, 125);
    assert_int_equal(count_lines(none.err), 1);
    outcome_free(&none);
    refuses(WSDBG("why", "PARITY_RONG"),
            "wsdbg why: PARITY_RONG: no such session database, and no cause; did you mean PARITY_WRONG?\n");
    refuses(WSDBG("why", "NOTHING_LIKE_IT"),
            "wsdbg why: NOTHING_LIKE_IT: no such session database, and no cause (docs/CAUSES.md has them all)\n");
    refuses(WSDBG("why", "PARITY_WRONG", "4"),
            "wsdbg why: PARITY_WRONG is a cause, which has no warps and barriers: FILE.db is missing\n");
    refuses(WSDBG("why", "PARITY_WRONG", "--json"), "wsdbg why: the page of a cause takes no option\n");
}

static void a_code_may_be_written_in_small_letters(void **state)
{
    (void)state;
    begins(WSDBG("why", "regs_order"), "REGS_ORDER\n");
}

/* A file of the name of a cause is a file when it is written as one. */
static void a_file_may_have_the_name_of_a_cause(void **state)
{
    (void)state;
    make_session();
    assert_int_equal(rename("a.db", "WAKER_EXITED"), 0);
    begins(WSDBG("why", "WAKER_EXITED"), "WAKER_EXITED\n\n");
    begins(WSDBG("why", "./WAKER_EXITED"), "HANG: WAKER_EXITED (proven)\n");
    begins(WSDBG("why", "WAKER_EXITED", "4"), "warp 4 (consumer 0)");
}

/* What run and explore find with --races (sim/hopper/race_report.c). */
static const char *const races[] = {
    "RACE_WRITE_WRITE", "RACE_READ_WRITE",        "FENCE_PROXY_MISSING", "FENCE_INIT_MISSING",
    "USE_BEFORE_INIT",  "WGMMA_ACCUMULATOR_RACE", "TMAP_FENCE_MISSING",
};
enum { RACE_COUNT = sizeof races / sizeof *races };

/* Causes of hangs, what the driver refuses, races, what lint says: some codes are in two of the lists. */
static const char *code_at(unsigned number)
{
    if (number < WSDBG_CAUSE_COUNT)
        return wsdbg_cause_name((enum wsdbg_cause)number);
    number -= WSDBG_CAUSE_COUNT;
    if (number < WSDBG_REFUSED_COUNT)
        return wsdbg_refused_name((enum wsdbg_refused)number);
    number -= WSDBG_REFUSED_COUNT;
    if (number < RACE_COUNT)
        return races[number];
    number -= RACE_COUNT;
    return number < WSDBG_LINT_CODE_COUNT ? wsdbg_lint_code_name((enum wsdbg_lint_code)number) : NULL;
}

/* The page as a terminal shows it: complete, nothing of the next one, no line too long, no marks of Markdown. */
static void every_cause_has_its_page(void **state)
{
    (void)state;
    for (unsigned number = 0; number < WSDBG_CAUSE_COUNT + WSDBG_REFUSED_COUNT + RACE_COUNT; number++) {
        const char *code = code_at(number);
        char path[512], title[64];
        snprintf(path, sizeof path, PAGES "/%s.md", code);
        snprintf(title, sizeof title, "%s\n\n", code);
        char *kept = read_file(path);
        struct outcome page = WSDBG("why", code);
        assert_int_equal(page.status, 0);
        assert_memory_equal(page.out, title, strlen(title));
        assert_true(strlen(page.out) > 300);
        for (unsigned other = 0; code_at(other); other++) {
            snprintf(title, sizeof title, "\n%s\n\n", code_at(other));
            assert_null(strstr(page.out, title));
        }
        assert_null(strchr(page.out, '`'));
        assert_null(strchr(page.out, '\033'));
        for (char *line = strtok(page.out, "\n"); line; line = strtok(NULL, "\n"))
            if (strlen(line) > 124)
                fail_msg("%s: too long: %s", code, line);
        free(kept);
        outcome_free(&page);
    }
}

static bool is_code(const char *word)
{
    for (unsigned i = 0; code_at(i); i++)
        if (strcmp(word, code_at(i)) == 0)
            return true;
    return false;
}

static void no_page_is_of_an_unknown_cause(void **state)
{
    (void)state;
    DIR *folder = opendir(PAGES);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char code[256];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(code, sizeof code, "%.*s", (int)strcspn(entry->d_name, "."), entry->d_name);
        if (!is_code(code))
            fail_msg("docs/causes/%s: no such cause", entry->d_name);
    }
    closedir(folder);
}

/* "name, name" of the zoo's cases that show the cause; "-" = none. */
static void cases_of(const char *table, const char *code, char *out, size_t bytes)
{
    size_t used = 0;
    char *copy = strdup(table), *rest = copy, *line;
    assert_non_null(copy);
    snprintf(out, bytes, "-");
    while ((line = strsep(&rest, "\n"))) {
        char name[64] = "", cause[64] = "";
        if (sscanf(line, "%63[^\t]\t%63[^\t]", name, cause) == 2 && strcmp(cause, code) == 0)
            used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? ", " : "", name);
    }
    free(copy);
}

static const struct {
    const char *code, *title;
} causes[] = {
#define CAUSE(code, kind, title) {#code, title},
#include "diagnose/causes.def"
};

/* The table of causes as docs/CAUSES.md shows it: the rows of causes.def, with the zoo's cases of each. */
static char *table_of_causes(const char *zoo)
{
    char *table = NULL, cases[512];
    size_t bytes;
    FILE *out = open_memstream(&table, &bytes);
    assert_non_null(out);
    fputs("| code | in one line | in the zoo |\n|---|---|---|\n", out);
    for (unsigned i = 0; i < WSDBG_CAUSE_COUNT; i++) {
        cases_of(zoo, causes[i].code, cases, sizeof cases);
        fprintf(out, "| [%s](causes/%s.md) | %s | %s |\n", causes[i].code, causes[i].code, causes[i].title, cases);
    }
    fclose(out);
    return table;
}

/* UPDATE_GOLDEN=1 writes the table anew, between its head and the empty line behind it. */
static void the_index_is_the_table_of_causes(void **state)
{
    (void)state;
    char *index = read_file(WSDBG_SOURCE "/docs/CAUSES.md"), *zoo = read_file(WSDBG_SOURCE "/tests/zoo/cases.tsv");
    char *expected = table_of_causes(zoo), *kept = strstr(index, "| code | in one line | in the zoo |\n");
    assert_non_null(kept);
    const char *behind = strstr(kept, "\n\n");
    assert_non_null(behind);
    if (getenv("UPDATE_GOLDEN")) {
        FILE *file = fopen(WSDBG_SOURCE "/docs/CAUSES.md", "w");
        assert_non_null(file);
        fprintf(file, "%.*s%s%s", (int)(kept - index), index, expected, behind + 1);
        fclose(file);
    } else {
        kept[behind + 1 - kept] = '\0';
        assert_string_equal(kept, expected);
    }
    free(expected);
    free(index);
    free(zoo);
}

/* The page names each of the zoo's cases of it, or says why there is none. */
static void the_pages_name_the_cases_of_the_zoo(void **state)
{
    (void)state;
    char *table = read_file(WSDBG_SOURCE "/tests/zoo/cases.tsv");
    for (unsigned cause = 0; cause < WSDBG_CAUSE_COUNT; cause++) {
        const char *code = wsdbg_cause_name((enum wsdbg_cause)cause);
        char cases[512];
        cases_of(table, code, cases, sizeof cases);
        struct outcome page = WSDBG("why", code);
        const char *zoo = strstr(page.out, "\nIn the zoo\n");
        if (!zoo)
            fail_msg("docs/causes/%s.md says nothing of the zoo", code);
        for (char *name = strtok(cases, ", "); name && strcmp(name, "-") != 0; name = strtok(NULL, ", "))
            if (!strstr(zoo, name))
                fail_msg("docs/causes/%s.md does not name the case %s", code, name);
        outcome_free(&page);
    }
    free(table);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_object_may_be_several_words),      TEST(without_an_object_it_begins_with_the_verdict),
        TEST(what_cannot_be_answered_is_one_line), TEST(a_code_may_be_written_in_small_letters),
        TEST(a_file_may_have_the_name_of_a_cause), TEST(every_cause_has_its_page),
        TEST(no_page_is_of_an_unknown_cause),      TEST(the_index_is_the_table_of_causes),
        TEST(the_pages_name_the_cases_of_the_zoo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
