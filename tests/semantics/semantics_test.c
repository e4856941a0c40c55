/* semantics_test.c - the simulator against what an H200 answered (h200.semantics), instruction by instruction.
 *
 * The corpus is made from the table, so an instruction that is new there has no answer yet: it must be in without.tsv,
 * with the reason, and whatever is there must really have none.  differs.tsv lists, with the reason, what is known not
 * to agree; what is there must really differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/program.h"
#include "semantics/compare.h"
#include "semantics/must.h"

#define DATA SEMANTICS_DATA "/"
enum { UNIT_SECONDS = 60, NAMED_MOST = 40 };

struct entry { /* a line of without.tsv or differs.tsv: cases whose name begins so, or a row */
    char *name;
    unsigned used;
};
struct list {
    struct entry *entries;
    size_t count, room;
};

struct checked {
    struct semantics_corpus *corpus;
    struct semantics_answers *answers;
    struct semantics_run *run;
    struct list without, differs;
};

static void read_list(struct list *list, const char *path)
{
    FILE *const file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    assert_non_null(file);
    while (getline(&line, &room, file) > 0) {
        char *const tab = strchr(line, '\t');
        if (*line == '#')
            continue;
        if (!tab || strcspn(tab + 1, "\n") == 0)
            fail_msg("%s: no reason: %s", path, line);
        *tab = 0;
        list->entries = must_grow(list->entries, &list->room, list->count, sizeof *list->entries);
        list->entries[list->count++] = (struct entry){must_copy(line), 0};
    }
    free(line);
    fclose(file);
}

/* The entry that the name begins with, or NULL; it counts as used. */
static struct entry *listed(struct list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(name, list->entries[i].name, strlen(list->entries[i].name)) == 0) {
            list->entries[i].used++;
            return &list->entries[i];
        }
    return NULL;
}

static unsigned unused(const struct list *list, const char *what)
{
    unsigned count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!list->entries[i].used) {
            print_error("%s: %s\n", list->entries[i].name, what);
            count++;
        }
    return count;
}

static void free_list(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].name);
    free(list->entries);
}

static int set_up(void **state)
{
    struct checked *const checked = *state = must_zeros(1, sizeof *checked);
    checked->corpus = semantics_corpus_create(DATA "refused.tsv");
    const char *const wrong = semantics_answers_read(DATA "h200.semantics", &checked->answers);
    if (wrong) {
        print_error("h200.semantics: %s\n", wrong);
        return 1;
    }
    read_list(&checked->without, DATA "without.tsv");
    read_list(&checked->differs, DATA "differs.tsv");
    checked->run =
        semantics_run(checked->corpus, &(struct semantics_run_options){.library = LIBCUDA, .seconds = UNIT_SECONDS});
    return 0;
}

static int tear_down(void **state)
{
    struct checked *const checked = *state;
    semantics_run_destroy(checked->run);
    semantics_answers_destroy(checked->answers);
    semantics_corpus_destroy(checked->corpus);
    free_list(&checked->without);
    free_list(&checked->differs);
    free(checked);
    return 0;
}

static void check_case(struct checked *checked, size_t unit, const struct semantics_case *of, unsigned *differing)
{
    const struct semantics_outcome *const outcome = &checked->run->outcomes[unit];
    const unsigned char *const output = checked->run->outputs + outcome->offset;
    const struct semantics_answer *const answer = semantics_answer(checked->answers, of);
    struct semantics_difference difference;
    if (!answer || semantics_agrees(of, outcome, output, answer, &difference) || listed(&checked->differs, of->name))
        return;
    char *text;
    size_t bytes;
    if ((*differing)++ >= NAMED_MOST)
        return;
    FILE *const to = must(open_memstream(&text, &bytes));
    semantics_print_difference(to, of, outcome, output, answer, &difference);
    fclose(to);
    print_error("%s", text);
    free(text);
}

static void the_simulator_answers_as_the_h200(void **state)
{
    struct checked *const checked = *state;
    unsigned differing = 0;
    for (size_t i = 0; i < checked->corpus->unit_count; i++)
        for (size_t k = 0; k < checked->corpus->units[i].case_count; k++)
            check_case(checked, i, &checked->corpus->units[i].cases[k], &differing);
    if (differing)
        fail_msg("%u cases differ from the H200", differing);
    assert_int_equal(unused(&checked->differs, "in differs.tsv, but it agrees"), 0);
}

static void what_has_no_answer_is_listed(void **state)
{
    struct checked *const checked = *state;
    unsigned unlisted = 0;
    bool has_answer[WSDBG_PTX_OPERATION_COUNT] = {false};
    for (size_t i = 0; i < checked->corpus->unit_count; i++)
        for (size_t k = 0; k < checked->corpus->units[i].case_count; k++) {
            const struct semantics_case *const of = &checked->corpus->units[i].cases[k];
            const struct semantics_answer *const answer = semantics_answer(checked->answers, of);
            has_answer[of->operation] |= answer && answer->state == SEMANTICS_RAN;
            if (!answer && !listed(&checked->without, of->name) && unlisted++ < NAMED_MOST)
                print_error("%s: no answer of an H200, and not in without.tsv\n", of->name);
        }
    for (unsigned operation = 1; operation < WSDBG_PTX_OPERATION_COUNT; operation++) {
        char name[80];
        snprintf(name, sizeof name, "row %s", semantics_operation_id(operation));
        if (!has_answer[operation] && !listed(&checked->without, name)) {
            print_error("%s: no answer of an H200, and not in without.tsv\n", name);
            unlisted++;
        }
    }
    assert_int_equal(unlisted, 0);
    assert_int_equal(unused(&checked->without, "in without.tsv, but it has an answer"), 0);
}

/* An answer that no case asks for is a case that has gone, or whose inputs changed. */
static void every_answer_is_asked_for(void **state)
{
    struct checked *const checked = *state;
    size_t asked = 0;
    for (size_t i = 0; i < checked->corpus->unit_count; i++)
        for (size_t k = 0; k < checked->corpus->units[i].case_count; k++)
            asked += semantics_answer(checked->answers, &checked->corpus->units[i].cases[k]) != NULL;
    assert_int_equal(asked, checked->answers->count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_simulator_answers_as_the_h200),
        cmocka_unit_test(what_has_no_answer_is_listed),
        cmocka_unit_test(every_answer_is_asked_for),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
