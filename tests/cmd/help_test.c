/* help_test.c - every command explains itself, and the manual pages and the completion file say what the table says. */
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

static void check_page(const char *name, const char *page)
{
    char path[512];
    snprintf(path, sizeof path, "%s/docs/man/%s.1", WSDBG_SOURCE, page);
    struct outcome made = WSDBG("help", "--man", name);
    char *kept = read_file(path);
    assert_int_equal(made.status, 0);
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

static void the_completion_file_equals_the_table(void **state)
{
    (void)state;
    struct outcome made = WSDBG("help", "--completion", "bash");
    char *kept = read_file(WSDBG_SOURCE "/completions/wsdbg");
    assert_string_equal(made.out, kept);
    free(kept);
    outcome_free(&made);
}

/* What bash offers for the last of `words`. */
static void completes(const char *words, const char *expected)
{
    char script[1024];
    FILE *shell;
    snprintf(script, sizeof script,
             ". " WSDBG_SOURCE "/completions/wsdbg; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _wsdbg;"
             " echo \"${COMPREPLY[*]}\"",
             words);
    char text[256] = "";
    setenv("SCRIPT", script, 1);
    shell = popen("bash -c \"$SCRIPT\"", "r");
    assert_non_null(shell);
    size_t bytes = fread(text, 1, sizeof text - 1, shell);
    text[bytes] = '\0';
    assert_int_equal(pclose(shell), 0);
    assert_string_equal(text, expected);
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
        cmocka_unit_test(the_completion_file_equals_the_table),
        cmocka_unit_test(bash_completes_values_options_and_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
