/* help.c - `wsdbg help`, --help and the text of both.
 *
 * Reads: the command table.  Writes: stdout.  The manual pages of the source tree are the output of `wsdbg help
 * --man NAME`; a test keeps them equal.  The installed completion file asks `wsdbg help --completion bash`.
 */
#include "cmd/help.h"

#include <string.h>

#include "cmd/options.h"

enum { OPTION_COLUMN_BYTES = 26 };

void wsdbg_help_overview(FILE *out)
{
    fputs("usage: wsdbg COMMAND [options]\n"
          "Finds out why a warp-specialized GPU kernel hangs.\n\n",
          out);
    for (size_t i = 0; wsdbg_commands[i]; i++)
        if (!wsdbg_commands[i]->hidden)
            fprintf(out, "  %-8s  %s\n", wsdbg_commands[i]->name, wsdbg_commands[i]->summary);
    fputs("\nwsdbg COMMAND --help says more.  Start with: wsdbg run -- PROGRAM\n", out);
}

/* "  -o, --output FILE". */
static int print_option_name(const struct wsdbg_option *option, FILE *out)
{
    int bytes = option->letter ? fprintf(out, "  -%c, --%s", option->letter, option->name)
                               : fprintf(out, "      --%s", option->name);
    if (option->argument)
        bytes += fprintf(out, " %s", option->argument);
    return bytes;
}

static void print_missing(const struct wsdbg_option *option, FILE *out)
{
    const char *separator = " (not in this version: ";
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

void wsdbg_help_command(const struct wsdbg_command *command, FILE *out)
{
    fprintf(out, "usage: wsdbg %s %s\n%s.\n\n%s\n\n", command->name, command->usage, command->summary,
            command->description);
    for (size_t i = 0; i < command->option_count; i++) {
        int bytes = print_option_name(&command->options[i], out);
        if (bytes >= OPTION_COLUMN_BYTES)
            bytes = fprintf(out, "\n") - 1;
        fprintf(out, "%*s%s", OPTION_COLUMN_BYTES - bytes, "", command->options[i].help);
        print_missing(&command->options[i], out);
        fputc('\n', out);
    }
    fprintf(out, "  -h, --help%*sthis text\n", OPTION_COLUMN_BYTES - 12, "");
    if (command->needs)
        fprintf(out, "\nNeeds: %s.\n", command->needs);
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
