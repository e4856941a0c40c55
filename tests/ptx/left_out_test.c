/* left_out_test.c - the table of instructions and the list of what is left out do not contradict each other: what
 * left_out.c refuses, instructions.def does not take.  A refusal is only asked for after the table, so a row of both
 * would say in docs/PTX.md that the simulator lacks what it has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parse_table.h"

enum { SUFFIXES_MAX = 8 };

static struct ptx_slice slice(const char *text)
{
    return (struct ptx_slice){text, strlen(text)};
}

static bool is_suffix_of_some_form(const struct ptx_table *table, const char *word)
{
    for (uint32_t i = 0; i < table->choice_count; i++)
        if (table->choices[i].word.length == strlen(word) &&
            memcmp(table->choices[i].word.bytes, word, strlen(word)) == 0)
            return true;
    return false;
}

static size_t split(const char *dotted, struct ptx_slice suffixes[SUFFIXES_MAX])
{
    size_t count = 0;
    while (*dotted && count < SUFFIXES_MAX) {
        const size_t length = strcspn(++dotted, ".");
        suffixes[count++] = (struct ptx_slice){dotted, length};
        dotted += length;
    }
    return count;
}

/* Whether a form of the mnemonic that `word` begins with goes on as the word does. */
static bool begins_a_form(const struct ptx_table *table, const char *word)
{
    size_t length;
    struct ptx_slice suffixes[SUFFIXES_MAX];
    const enum wsdbg_ptx_operation operation = ptx_table_find(table, slice(word), &length);
    if (operation == WSDBG_PTX_NO_OPERATION)
        return false;
    const size_t count = split(word + length, suffixes);
    for (uint32_t i = table->first_form[operation]; i < table->first_form[operation + 1]; i++) {
        struct wsdbg_ptx_instruction instruction = {.operation = operation};
        const struct ptx_slice only = table->forms[i].mnemonic;
        size_t fitted = 0;
        if (only.bytes && (only.length != length || memcmp(only.bytes, word, length) != 0))
            continue;
        if (ptx_form_suffixes(table, &table->forms[i], suffixes, count, &instruction, &fitted) || fitted == count)
            return true;
    }
    return false;
}

static bool is_taken(const struct ptx_table *table, const char *word)
{
    return *word == '.' ? is_suffix_of_some_form(table, word + 1) : begins_a_form(table, word);
}

static struct ptx_table *table_of_instructions(void)
{
    struct ptx_table *table;
    assert_null(ptx_table_create(&table));
    return table;
}

static void nothing_is_both_taken_and_left_out(void **state)
{
    (void)state;
    struct ptx_table *table = table_of_instructions();
    const char *word, *reason;
    for (size_t i = 0; ptx_left_out_at(i, &word, &reason); i++)
        if (is_taken(table, word))
            fail_msg("%s is in instructions.def, and left_out.c refuses it: \"%s\"", word, reason);
    free(table);
}

/* The question that the test above asks, of words whose answer is known. */
static void the_table_takes_what_it_has(void **state)
{
    (void)state;
    static const char *const taken[] = {"add", "add.cc", "add.cc.u32", "shfl.sync", "redux.sync.min.u32", ".relu"};
    static const char *const refused[] = {"shfl", "add.f8", "redux.sync.min.f32", "nothing", ".nothing"};
    struct ptx_table *table = table_of_instructions();
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!is_taken(table, taken[i]))
            fail_msg("%s is not taken", taken[i]);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (is_taken(table, refused[i]))
            fail_msg("%s is taken", refused[i]);
    free(table);
}

/* The first row that fits gives the reason: a second one of the same word would never be read. */
static void nothing_is_left_out_twice(void **state)
{
    (void)state;
    const char *word, *other, *reason;
    for (size_t i = 0; ptx_left_out_at(i, &word, &reason); i++)
        for (size_t j = 0; j < i && ptx_left_out_at(j, &other, &reason); j++)
            assert_string_not_equal(word, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_both_taken_and_left_out),
        cmocka_unit_test(the_table_takes_what_it_has),
        cmocka_unit_test(nothing_is_left_out_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
