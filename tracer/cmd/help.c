/* help.c - `wsdbg help`, --help and the text of both.
 *
 * Reads: the command table.  Writes: stdout.  The manual pages of the source tree are the output of `wsdbg help
 * --man NAME`; a test keeps them equal.  The installed completion file asks `wsdbg help --completion bash`.
 */
#include "cmd/help.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/sheet.h"
#include "cmd/options.h"

enum { OPTION_COLUMN_BYTES = 26 };

void wsdbg_help_overview(FILE *out)
{
    const struct wsdbg_sheet sheet = wsdbg_sheet_on(out, out);
    fputs("usage: wsdbg COMMAND [options]\n"
          "Finds out why a warp-specialized GPU kernel hangs.\n\n",
          out);
    for (size_t i = 0; wsdbg_commands[i]; i++) {
        char first[32];
        const int columns = snprintf(first, sizeof first, "  %-8s  ", wsdbg_commands[i]->name);
        if (!wsdbg_commands[i]->hidden)
            wsdbg_sheet_put(&sheet, NULL, first, (size_t)columns, SIZE_MAX, wsdbg_commands[i]->summary);
    }
    wsdbg_sheet_put_paragraphs(&sheet, "\nwsdbg COMMAND --help says more.  Start with: wsdbg run -- PROGRAM\n");
}

/* "  -o, --output FILE". */
static void name_text(const struct wsdbg_option *option, char *out, size_t bytes)
{
    char letter[8] = "      ";
    if (option->letter)
        snprintf(letter, sizeof letter, "  -%c, ", option->letter);
    snprintf(out, bytes, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
}

static void print_option_help(const struct wsdbg_option *option, FILE *out)
{
    const char *separator = " (not in this version: ";
    fputs(option->help, out);
    if (option->missing) {
        fputs(" (not in this version)", out);
        return;
    }
    for (const struct wsdbg_choice *choice = option->choices; choice && choice->word; choice++) {
        if (!choice->missing)
            continue;
        fprintf(out, "%s%s", separator, choice->word);
        separator = ", ";
    }
    if (separator[0] == ',')
        fputc(')', out);
}

/* A name that is too long for its column has a line of its own. */
static void put_option(const struct wsdbg_sheet *sheet, const char *name, const char *help)
{
    char first[OPTION_COLUMN_BYTES + 1];
    const bool is_long = strlen(name) >= OPTION_COLUMN_BYTES;
    if (is_long)
        fprintf(sheet->file, "%s\n", name);
    snprintf(first, sizeof first, "%-*s", OPTION_COLUMN_BYTES, is_long ? "" : name);
    wsdbg_sheet_put(sheet, NULL, first, OPTION_COLUMN_BYTES, SIZE_MAX, help);
}

static void put_needs(const struct wsdbg_sheet *sheet, const struct wsdbg_command *command)
{
    char *text = NULL;
    if (!command->needs || asprintf(&text, "%s.", command->needs) < 0)
        return;
    fputc('\n', sheet->file);
    wsdbg_sheet_put(sheet, NULL, "Needs: ", 0, SIZE_MAX, text);
    free(text);
}

/* An option with its help and the choices of it that are refused. */
static void put_option_row(const struct wsdbg_sheet *sheet, const struct wsdbg_option *option)
{
    char name[128], *help = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&help, &bytes);
    if (!memory)
        return;
    print_option_help(option, memory);
    fclose(memory);
    name_text(option, name, sizeof name);
    if (help)
        put_option(sheet, name, help);
    free(help);
}

void wsdbg_help_command(const struct wsdbg_command *command, FILE *out)
{
    const struct wsdbg_sheet sheet = wsdbg_sheet_on(out, out);
    char first[32];
    const int columns = snprintf(first, sizeof first, "usage: wsdbg %s ", command->name);
    wsdbg_sheet_put(&sheet, NULL, first, (size_t)columns, SIZE_MAX, command->usage);
    fprintf(out, "%s.\n\n", command->summary);
    wsdbg_sheet_put_paragraphs(&sheet, command->description);
    fputs("\n\n", out);
    for (size_t i = 0; i < command->option_count; i++)
        put_option_row(&sheet, &command->options[i]);
    put_option(&sheet, "  -h, --help", "this text");
    put_needs(&sheet, command);
}

static struct wsdbg_error *help_man(const char *name)
{
    const struct wsdbg_command *command = wsdbg_command_find(name);
    if (!command && strcmp(name, "wsdbg") != 0)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "--man: no page '%s'", name);
    wsdbg_help_man(command, stdout);
    return NULL;
}

static struct wsdbg_error *help_run(const struct wsdbg_invocation *invocation, int *status)
{
    const char *man = wsdbg_option_value(invocation, "man");
    *status = 0;
    if (man)
        return help_man(man);
    if (wsdbg_option_value(invocation, "completion")) {
        wsdbg_help_completion(stdout);
        return NULL;
    }
    if (invocation->operand_count == 0) {
        wsdbg_help_overview(stdout);
        return NULL;
    }
    const struct wsdbg_command *command = wsdbg_command_find(invocation->operands[0]);
    const char *meant = command ? NULL : wsdbg_command_meant(invocation->operands[0]);
    if (meant)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "unknown command '%s'; did you mean %s?",
                                  invocation->operands[0], meant);
    if (!command)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "unknown command '%s'; wsdbg --help lists the commands",
                                  invocation->operands[0]);
    wsdbg_help_command(command, stdout);
    return NULL;
}

static const struct wsdbg_choice shells[] = {{"bash", NULL}, {NULL, NULL}};

static const struct wsdbg_option options[] = {
    {0, "man", "NAME", "the manual page of a command, or of wsdbg, as troff", NULL, NULL},
    {0, "completion", "bash", "the completion file of a shell", shells, NULL},
};

const struct wsdbg_command wsdbg_command_help = {
    .name = "help",
    .summary = "Explain a command",
    .usage = "[COMMAND]",
    .description = "Prints what a command does and its options; without one, the list of commands.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_max = 1,
    .operand = WSDBG_OPERAND_COMMAND,
    .run = help_run,
};
