/* options_test.c - the option parser, and the environment a traced program gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program/environment.h"
#include "cmd/options.h"

static const struct wsdbg_choice colours[] = {{"red", NULL}, {"blue", "blue paint"}, {NULL, NULL}};
static const struct wsdbg_option rows[] = {
    {'o', "output", "FILE", "", NULL, NULL},
    {'q', "quiet", NULL, "", NULL, NULL},
    {0, "colour", "red|blue", "", colours, NULL},
    {0, "later", NULL, "", NULL, "the later thing"},
};
static const struct wsdbg_command plain = {
    .name = "plain", .usage = "FILE", .options = rows, .option_count = 4, .operands_min = 0, .operands_max = 2};
static const struct wsdbg_command runner = {.name = "runner",
                                            .usage = "PROGRAM",
                                            .options = rows,
                                            .option_count = 4,
                                            .operands_min = 1,
                                            .operands_max = -1,
                                            .runs_program = true};

/* Copies of the words: the parser reorders the array it is given. */
struct line {
    char *words[8];
    struct wsdbg_invocation invocation;
};

static struct wsdbg_error *parse(const struct wsdbg_command *command, struct line *line, const char *const *words)
{
    size_t count = 0;
    for (; words[count]; count++)
        line->words[count] = (char *)(uintptr_t)words[count];
    line->words[count] = NULL;
    return wsdbg_options_parse(command, line->words, &line->invocation);
}
#define PARSE(command, line, ...) parse(command, line, (const char *const[]){__VA_ARGS__, NULL})

static void every_spelling_of_a_value_is_the_same(void **state)
{
    static const char *const spellings[][3] = {{"-o", "x.db", NULL},
                                               {"-ox.db", NULL},
                                               {"--output", "x.db", NULL},
                                               {"--output=x.db", NULL},
                                               {"-qo", "x.db", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        struct line line;
        assert_null(parse(&plain, &line, spellings[i]));
        assert_string_equal(wsdbg_option_value(&line.invocation, "output"), "x.db");
        assert_int_equal(line.invocation.operand_count, 0);
    }
}

static void operands_may_stand_before_options(void **state)
{
    struct line line;
    (void)state;
    assert_null(PARSE(&plain, &line, "a", "-q", "b"));
    assert_int_equal(line.invocation.operand_count, 2);
    assert_string_equal(line.invocation.operands[0], "a");
    assert_string_equal(line.invocation.operands[1], "b");
    assert_non_null(wsdbg_option_value(&line.invocation, "quiet"));
}

static void options_after_the_program_are_the_programs(void **state)
{
    struct line line;
    (void)state;
    assert_null(PARSE(&runner, &line, "-q", "prog", "-o", "--", "--unknown"));
    assert_int_equal(line.invocation.operand_count, 4);
    assert_string_equal(line.invocation.operands[1], "-o");
    assert_string_equal(line.invocation.operands[2], "--");
    assert_null(wsdbg_option_value(&line.invocation, "output"));
}

static void two_dashes_end_the_options(void **state)
{
    struct line line;
    (void)state;
    assert_null(PARSE(&runner, &line, "--", "-prog"));
    assert_string_equal(line.invocation.operands[0], "-prog");
}

static void a_bad_line_is_refused_with_its_reason(void **state)
{
    static const struct {
        const char *words[4];
        const char *says;
    } cases[] = {
        {{"--nonsense"}, "unknown option '--nonsense'"},
        {{"--outp=x"}, "unknown option '--outp'; did you mean --output?"},
        {{"-z"}, "unknown option '-z'"},
        {{"-o"}, "-o needs a value: FILE"},
        {{"--output"}, "--output needs a value: FILE"},
        {{"--quiet=1"}, "--quiet takes no value"},
        {{"--colour=green"}, "--colour: 'green' is not one of red|blue"},
        {{"--colour", "blue"}, "--colour=blue: this version does not have blue paint yet"},
        {{"--later"}, "--later: this version does not have the later thing yet"},
        {{"a", "b", "c"}, "'c' is one operand too many; usage: wsdbg plain FILE"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct line line;
        struct wsdbg_error *error = parse(&plain, &line, cases[i].words);
        assert_non_null(error);
        assert_string_equal(wsdbg_error_message(error), cases[i].says);
        wsdbg_error_destroy(error);
    }
}

/* What brackets hold may be left out, so it is not what is missing. */
static void what_is_missing_is_named(void **state)
{
    static const struct {
        const char *usage, *word, *says;
    } cases[] = {
        {"[-x WHAT] FILE [OTHER]", NULL, "FILE is missing; usage: wsdbg two [-x WHAT] FILE [OTHER]"},
        {"[options] [--] PROGRAM [ARGS...]", NULL,
         "PROGRAM is missing; usage: wsdbg two [options] [--] PROGRAM [ARGS...]"},
        {"FILE.db OUT", "a.db", "OUT is missing; usage: wsdbg two FILE.db OUT"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct wsdbg_command two = {
            .name = "two", .usage = cases[i].usage, .operands_min = cases[i].word ? 2 : 1, .operands_max = 2};
        struct line line;
        struct wsdbg_error *error = PARSE(&two, &line, cases[i].word);
        assert_non_null(error);
        assert_string_equal(wsdbg_error_message(error), cases[i].says);
        wsdbg_error_destroy(error);
    }
}

static void seconds_are_decimal_and_positive(void **state)
{
    static const char *const bad[] = {"", "0", "-1", "x", "2s", "nan", "inf", "1e9"};
    uint64_t ns = 0;
    (void)state;
    assert_null(wsdbg_parse_seconds("stall", "0.25", &ns));
    assert_int_equal(ns, 250000000);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct wsdbg_error *error = wsdbg_parse_seconds("stall", bad[i], &ns);
        assert_non_null(error);
        assert_non_null(strstr(wsdbg_error_message(error), "--stall"));
        wsdbg_error_destroy(error);
    }
    assert_int_equal(ns, 250000000);
}

static void counts_are_whole_and_in_range(void **state)
{
    static const char *const bad[] = {"", "-1", "129", "1.5", "0x10", " 3", "99999999999999999999"};
    unsigned count = 7;
    (void)state;
    assert_null(wsdbg_parse_count("history", "128", 0, 128, &count));
    assert_int_equal(count, 128);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct wsdbg_error *error = wsdbg_parse_count("history", bad[i], 0, 128, &count);
        assert_non_null(error);
        wsdbg_error_destroy(error);
    }
    assert_int_equal(count, 128);
}

static const char *lookup(char **environment, const char *name)
{
    size_t length = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

static void the_shim_goes_before_what_was_preloaded(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"LD_PRELOAD=", "/w/libwsdbg-shim.so"},
        {"LD_PRELOAD=/a.so /b.so", "/w/libwsdbg-shim.so:/a.so:/b.so"},
        {"LD_PRELOAD=/old/libwsdbg-shim.so:/a.so", "/w/libwsdbg-shim.so:/a.so"},
        {"LD_PRELOADED=/no.so", "/w/libwsdbg-shim.so"},
    };
    struct wsdbg_environment_options options = {.shim = "/w/libwsdbg-shim.so", .session = "s", .observer = "driver"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *from[] = {(char *)(uintptr_t)cases[i].before, NULL}, **made;
        assert_null(wsdbg_environment_create(&options, from, &made));
        assert_string_equal(lookup(made, "LD_PRELOAD"), cases[i].after);
        wsdbg_environment_destroy(made);
    }
}

static void an_outer_session_does_not_show_through(void **state)
{
    struct wsdbg_environment_options options = {.shim = "/w/libwsdbg-shim.so", .session = "mine", .observer = "driver"};
    char *from[] = {(char[]){"WSDBG_SESSION=outer"},         (char[]){"WSDBG_HISTORY=8"}, (char[]){"WSDBG_SPOOL=/x"},
                    (char[]){"WSDBG_SEGMENT_BYTES=1000000"}, (char[]){"HOME=/h"},         NULL};
    char **made;
    (void)state;
    assert_null(wsdbg_environment_create(&options, from, &made));
    assert_string_equal(lookup(made, "WSDBG_SESSION"), "mine");
    assert_null(lookup(made, "WSDBG_HISTORY"));
    assert_null(lookup(made, "WSDBG_SPOOL"));
    assert_string_equal(lookup(made, "WSDBG_SEGMENT_BYTES"), "1000000");
    assert_string_equal(lookup(made, "HOME"), "/h");
    wsdbg_environment_destroy(made);
}

static void core_dumps_are_asked_for_only_where_they_are_wanted(void **state)
{
    struct wsdbg_environment_options options = {.shim = "/w/libwsdbg-shim.so", .session = "s"};
    char *from[] = {(char[]){"CUDA_COREDUMP_FILE=/mine"}, (char[]){"CUDA_COREDUMP_GENERATION_FLAGS=skip_shared_memory"},
                    NULL};
    char **made;
    (void)state;
    assert_null(wsdbg_environment_create(&options, from, &made));
    assert_string_equal(lookup(made, "CUDA_COREDUMP_FILE"), "/mine");
    assert_string_equal(lookup(made, "CUDA_COREDUMP_GENERATION_FLAGS"), "skip_shared_memory");
    assert_null(lookup(made, "CUDA_ENABLE_USER_TRIGGERED_COREDUMP"));
    wsdbg_environment_destroy(made);

    options.core_folder = "/spool";
    assert_null(wsdbg_environment_create(&options, from, &made));
    assert_string_equal(lookup(made, "CUDA_COREDUMP_FILE"), "/spool/gpu-core.%p");
    assert_string_equal(lookup(made, "CUDA_COREDUMP_PIPE"), "/spool/gpu-core-pipe.%p");
    assert_string_equal(lookup(made, "CUDA_ENABLE_USER_TRIGGERED_COREDUMP"), "1");
    assert_string_equal(
        lookup(made, "CUDA_COREDUMP_GENERATION_FLAGS"),
        "skip_nonrelocated_elf_images,skip_global_memory,skip_constbank_memory,skip_local_memory,skip_abort");
    wsdbg_environment_destroy(made);
}

static void a_shim_that_cannot_be_named_is_refused(void **state)
{
    struct wsdbg_environment_options options = {.shim = "/my tools/libwsdbg-shim.so", .session = "s"};
    char *from[] = {NULL}, **made;
    (void)state;
    struct wsdbg_error *error = wsdbg_environment_create(&options, from, &made);
    assert_non_null(error);
    assert_non_null(strstr(wsdbg_error_message(error), "/my tools/libwsdbg-shim.so"));
    wsdbg_error_destroy(error);
}

/* An invocation has room for so many values; an option past it would be taken for another. */
static void no_command_has_more_options_than_an_invocation_holds(void **state)
{
    (void)state;
    for (size_t i = 0; wsdbg_commands[i]; i++)
        if (wsdbg_commands[i]->option_count > WSDBG_OPTIONS_MAX)
            fail_msg("wsdbg %s has %zu options, WSDBG_OPTIONS_MAX is %d", wsdbg_commands[i]->name,
                     (size_t)wsdbg_commands[i]->option_count, WSDBG_OPTIONS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_a_value_is_the_same),
        cmocka_unit_test(operands_may_stand_before_options),
        cmocka_unit_test(options_after_the_program_are_the_programs),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(a_bad_line_is_refused_with_its_reason),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(no_command_has_more_options_than_an_invocation_holds),
        cmocka_unit_test(seconds_are_decimal_and_positive),
        cmocka_unit_test(counts_are_whole_and_in_range),
        cmocka_unit_test(the_shim_goes_before_what_was_preloaded),
        cmocka_unit_test(an_outer_session_does_not_show_through),
        cmocka_unit_test(core_dumps_are_asked_for_only_where_they_are_wanted),
        cmocka_unit_test(a_shim_that_cannot_be_named_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
