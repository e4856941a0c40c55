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

enum { OPTION_COLUMN_BYTES = 26, HELP_BYTES_MOST = 1024 };

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

/* The help of an option with the choices of it that are refused.  It takes no memory: help also shows without any. */
static void option_help(const struct wsdbg_option *option, char *out, size_t bytes)
{
    const char *separator = " (not in this version: ";
    size_t used = (size_t)snprintf(out, bytes, "%s%s", option->help, option->missing ? " (not in this version)" : "");
    for (const struct wsdbg_choice *choice = option->missing ? NULL : option->choices; choice && choice->word;
         choice++) {
        if (!choice->missing || used >= bytes)
            continue;
        used += (size_t)snprintf(out + used, bytes - used, "%s%s", separator, choice->word);
        separator = ", ";
    }
    if (separator[0] == ',' && used < bytes)
        snprintf(out + used, bytes - used, ")");
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
    char text[HELP_BYTES_MOST];
    if (!command->needs)
        return;
    snprintf(text, sizeof text, "%s.", command->needs);
    fputc('\n', sheet->file);
    wsdbg_sheet_put(sheet, NULL, "Needs: ", 0, SIZE_MAX, text);
}

static void put_option_row(const struct wsdbg_sheet *sheet, const struct wsdbg_option *option)
{
    char name[128], help[HELP_BYTES_MOST];
    option_help(option, help, sizeof help);
    name_text(option, name, sizeof name);
    put_option(sheet, name, help);
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
