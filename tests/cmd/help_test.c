/* help_test.c - every command explains itself, the manual pages are those of the table, and bash
 * completes what the program takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/command.h"
#include "cmd/harness.h"
#include "diagnose/finding.h"

static void the_overview_lists_every_command(void **state)
{
    (void)state;
    struct outcome help = WSDBG("--help");
    assert_int_equal(help.status, 0);
    for (size_t i = 0; wsdbg_commands[i]; i++)
        assert_non_null(strstr(help.out, wsdbg_commands[i]->summary));
    assert_string_equal(help.err, "");
    outcome_free(&help);
}

static void help_of_a_command_shows_every_option(void **state)
{
    (void)state;
    for (size_t i = 0; wsdbg_commands[i]; i++) {
        const struct wsdbg_command *command = wsdbg_commands[i];
        struct outcome help = WSDBG(command->name, "--help");
        assert_int_equal(help.status, 0);
        assert_non_null(strstr(help.out, command->usage));
        for (size_t row = 0; row < command->option_count; row++)
            assert_non_null(strstr(help.out, command->options[row].name));
        outcome_free(&help);
    }
}

/* UPDATE_GOLDEN=1: writes the page before it is compared. */
static void check_page(const char *name, const char *page)
{
    char path[512];
    snprintf(path, sizeof path, "%s/docs/man/%s.1", WSDBG_SOURCE, page);
    struct outcome made = WSDBG("help", "--man", name);
    assert_int_equal(made.status, 0);
    if (getenv("UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs(made.out, file) >= 0 && fclose(file) == 0);
    }
    char *kept = read_file(path);
    assert_string_equal(made.out, kept);
    free(kept);
    outcome_free(&made);
}

static void manual_pages_equal_the_table(void **state)
{
    (void)state;
    check_page("wsdbg", "wsdbg");
    for (size_t i = 0; wsdbg_commands[i]; i++) {
        char page[64];
        snprintf(page, sizeof page, "wsdbg-%s", wsdbg_commands[i]->name);
        check_page(wsdbg_commands[i]->name, page);
    }
}

/* What a shell prints that has read the completion file; its PATH begins with `folder`. */
static void shell_says(const char *folder, const char *commands, char *text, size_t bytes)
{
    char script[2048];
    snprintf(script, sizeof script, "PATH=%s:$PATH; . " WSDBG_SOURCE "/completions/wsdbg; %s", folder, commands);
    setenv("SCRIPT", script, 1);
    FILE *shell = popen("bash -c \"$SCRIPT\" 2>&1", "r");
    assert_non_null(shell);
    text[fread(text, 1, bytes - 1, shell)] = '\0';
    assert_int_equal(pclose(shell), 0);
}

/* What bash offers for the last of `words`. */
static void completes(const char *words, const char *expected)
{
    char folder[] = WSDBG_BINARY, commands[1024], text[1024];
    *strrchr(folder, '/') = '\0';
    snprintf(commands, sizeof commands,
             "COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _wsdbg; echo \"${COMPREPLY[*]}\"", words);
    shell_says(folder, commands, text, sizeof text);
    assert_string_equal(text, expected);
}

static void bash_completes_every_command_and_cause(void **state)
{
    (void)state;
    char expected[1024];
    size_t used = 0;
    for (size_t i = 0; wsdbg_commands[i]; i++)
        if (!wsdbg_commands[i]->hidden)
            used += (size_t)snprintf(expected + used, sizeof expected - used, "%s ", wsdbg_commands[i]->name);
    snprintf(expected + used, sizeof expected - used, "--help --version\n");
    completes("wsdbg ''", expected);
    for (unsigned cause = 0; cause < WSDBG_CAUSE_COUNT; cause++) {
        const char *code = wsdbg_cause_name((enum wsdbg_cause)cause);
        char words[64];
        snprintf(words, sizeof words, "wsdbg why %s", code);
        snprintf(expected, sizeof expected, "%s\n", code);
        completes(words, expected);
    }
}

/* The completion file outlives the program: a shell that reads it then says nothing. */
static void the_completion_file_is_silent_without_the_program(void **state)
{
    (void)state;
    char text[256];
    shell_says("/nonexistent; PATH=/nonexistent", "complete -p wsdbg 2>/dev/null || echo none", text, sizeof text);
    assert_string_equal(text, "none\n");
}

static void bash_completes_values_options_and_operands(void **state)
{
    (void)state;
    completes("wsdbg run --on-stall w", "wait\n");
    completes("wsdbg run --rec", "--record\n");
    completes("wsdbg help dem", "demo\n");
    completes("wsdbg query x.db @look", "@looks\n");
    completes("wsdbg query x.db @ look", "looks\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_overview_lists_every_command),
        cmocka_unit_test(help_of_a_command_shows_every_option),
        cmocka_unit_test(manual_pages_equal_the_table),
        cmocka_unit_test(bash_completes_every_command_and_cause),
        cmocka_unit_test(the_completion_file_is_silent_without_the_program),
        cmocka_unit_test(bash_completes_values_options_and_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
