/* manual.c - manual pages and bash completion from the command table.  Writes: the given stream. */
#include "cmd/help.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

/* Text in troff: hyphens and backslashes escaped, a line never starts with a control character. */
static void print_escaped(const char *text, FILE *out)
{
    for (const char *at = text; *at; at++) {
        bool line_start = at == text || at[-1] == '\n';
        if (line_start && (*at == '.' || *at == '\''))
            fputs("\\&", out);
        if (*at == '-')
            fputs("\\-", out);
        else if (*at == '\\')
            fputs("\\e", out);
        else
            fputc(*at, out);
    }
}

/* An empty line becomes .PP; a line that starts with two spaces is shown as it is. */
static void print_paragraphs(const char *text, FILE *out)
{
    bool literal = false;
    while (*text) {
        size_t bytes = strcspn(text, "\n");
        bool wants_literal = strncmp(text, "  ", 2) == 0;
        if (wants_literal != literal)
            fputs(wants_literal ? ".nf\n" : ".fi\n", out);
        literal = wants_literal;
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)bytes, text);
        if (bytes == 0)
            fputs(".PP", out);
        else
            print_escaped(line, out);
        fputc('\n', out);
        text += bytes + (text[bytes] == '\n');
    }
    if (literal)
        fputs(".fi\n", out);
}

static void print_header(const char *page, const char *summary, FILE *out)
{
    char title[64];
    size_t length = strlen(page);
    for (size_t i = 0; i <= length && i < sizeof title; i++)
        title[i] = (char)toupper((unsigned char)page[i]);
    fprintf(out, ".TH %s 1 \"\" \"wsdbg %s\" \"wsdbg manual\"\n.SH NAME\n", title, WSDBG_VERSION);
    print_escaped(page, out);
    fputs(" \\- ", out);
    fputc(tolower((unsigned char)summary[0]), out);
    print_escaped(summary + 1, out);
    fputc('\n', out);
}

static void print_option(const struct wsdbg_option *option, FILE *out)
{
    fputs(".TP\n", out);
    if (option->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    print_escaped(option->name, out);
    fputs("\\fR", out);
    if (option->argument) {
        fputs(" \\fI", out);
        print_escaped(option->argument, out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    print_escaped(option->help, out);
    fputs(".\n", out);
    if (option->missing)
        fputs("Not in this version.\n", out);
    for (const struct wsdbg_choice *choice = option->choices; choice && choice->word; choice++)
        if (choice->missing)
            fprintf(out, "Not in this version: %s.\n", choice->word);
}

static void print_exit_status(enum wsdbg_exits exits, FILE *out)
{
    const bool runs = exits == WSDBG_EXITS_PROGRAM || exits == WSDBG_EXITS_AS_PROGRAM;
    fputs(".SH EXIT STATUS\n", out);
    if (!runs)
        fputs(".TP\n0\nit was done\n", out);
    if (exits == WSDBG_EXITS_VERDICT)
        fputs(".TP\n124\na hang is shown\n", out);
    if (exits == WSDBG_EXITS_FOUND)
        fputs(".TP\n1\nsomething was found, of the severity that \\-\\-fail\\-on names or a higher one\n", out);
    if (exits == WSDBG_EXITS_CHECK)
        fputs(".TP\n1\nsomething that is needed is not there\n", out);
    if (exits == WSDBG_EXITS_PROGRAM)
        fputs(".TP\n124\na hang was found, whatever the program did afterwards\n", out);
    fputs(".TP\n125\nwsdbg itself failed, or its command line or input is wrong\n", out);
    if (!runs)
        return;
    fputs(".TP\n126\nthe program cannot be executed\n"
          ".TP\n127\nthe program was not found\n"
          ".TP\n128+N\nthe program died of signal N, and wsdbg of the same\n"
          ".TP\nelse\nthe program's own\n",
          out);
}

static void print_overview(FILE *out)
{
    print_header("wsdbg", "Find out why a warp-specialized GPU kernel hangs", out);
    fputs(".SH SYNOPSIS\n\\fBwsdbg\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH COMMANDS\n", out);
    for (size_t i = 0; wsdbg_commands[i]; i++)
        if (!wsdbg_commands[i]->hidden)
            fprintf(out, ".TP\n\\fB%s\\fR\n%s.\n", wsdbg_commands[i]->name, wsdbg_commands[i]->summary);
    print_exit_status(WSDBG_EXITS_PROGRAM, out);
}

void wsdbg_help_man(const struct wsdbg_command *command, FILE *out)
{
    if (!command) {
        print_overview(out);
        return;
    }
    char page[64];
    snprintf(page, sizeof page, "wsdbg-%s", command->name);
    print_header(page, command->summary, out);
    fprintf(out, ".SH SYNOPSIS\n\\fBwsdbg %s\\fR ", command->name);
    print_escaped(command->usage, out);
    fputs("\n.SH DESCRIPTION\n", out);
    print_paragraphs(command->description, out);
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; i < command->option_count; i++)
        print_option(&command->options[i], out);
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint a short help.\n", out);
    if (command->needs) {
        fputs(".SH NEEDS\n", out);
        print_escaped(command->needs, out);
        fputs(".\n", out);
    }
    print_exit_status(command->exits, out);
    fputs(".SH SEE ALSO\n.BR wsdbg (1)\n", out);
}

/* The names of the canned queries, from their list. */
static void print_queries(FILE *out)
{
    char *list = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&list, &bytes);
    if (!memory)
        return;
    wsdbg_store_list_queries(memory);
    fclose(memory);
    for (char *line = strtok(list, "\n"); line; line = strtok(NULL, "\n"))
        if (line[strspn(line, " ")] == '@')
            fprintf(out, "%.*s ", (int)strcspn(line + strspn(line, " "), " "), line + strspn(line, " "));
    free(list);
}

/* Shell that gives the words of an operand; "" = files. */
static void print_operand_words(const struct wsdbg_command *command, FILE *out)
{
    switch (command->operand) {
    case WSDBG_OPERAND_COMMAND:
        for (size_t i = 0; wsdbg_commands[i]; i++)
            if (!wsdbg_commands[i]->hidden)
                fprintf(out, "%s ", wsdbg_commands[i]->name);
        break;
    case WSDBG_OPERAND_DEMO:
        fputs("$(wsdbg demo --list 2>/dev/null | cut -d' ' -f1)", out);
        break;
    case WSDBG_OPERAND_QUERY:
        print_queries(out);
        break;
    case WSDBG_OPERAND_CAUSE:
        for (unsigned cause = 0; cause < WSDBG_CAUSE_COUNT; cause++)
            fprintf(out, "%s ", wsdbg_cause_name((enum wsdbg_cause)cause));
        break;
    case WSDBG_OPERAND_FILE:
        break;
    }
}

/* When the words are offered: a query comes after the file; a cause begins with a capital, as few files do. */
static const char *operand_condition(enum wsdbg_operand_words kind)
{
    if (kind == WSDBG_OPERAND_QUERY)
        return "[ \"$COMP_CWORD\" -lt 3 ] || ";
    return kind == WSDBG_OPERAND_CAUSE ? "[[ \"$COMP_CWORD\" -gt 2 || \"$current\" != [A-Z]* ]] || " : "";
}

static void print_completion_operands(const struct wsdbg_command *command, FILE *out)
{
    if (command->operand == WSDBG_OPERAND_FILE)
        return;
    fprintf(out, "        %s) %soperands=\"", command->name, operand_condition(command->operand));
    print_operand_words(command, out);
    fputs("\" ;;\n", out);
}

static void print_completion_row(const struct wsdbg_command *command, FILE *out)
{
    fprintf(out, "    %s) words=\"", command->name);
    for (size_t i = 0; i < command->option_count; i++)
        if (!command->options[i].missing)
            fprintf(out, "--%s ", command->options[i].name);
    fputs("--help\" ;;\n", out);
}

static void print_completion_values(const struct wsdbg_command *command, FILE *out)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct wsdbg_option *option = &command->options[i];
        if (!option->choices)
            continue;
        fprintf(out, "    %s:--%s) words=\"", command->name, option->name);
        const char *separator = "";
        for (const struct wsdbg_choice *choice = option->choices; choice->word; choice++) {
            if (choice->missing)
                continue;
            fprintf(out, "%s%s", separator, choice->word);
            separator = " ";
        }
        fputs("\" ;;\n", out);
    }
}

void wsdbg_help_completion(FILE *out)
{
    fputs("# bash completion of wsdbg; made by: wsdbg help --completion bash\n"
          "_wsdbg()\n{\n"
          "    local current=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\"\" "
          "operands=\"\"\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"",
          out);
    for (size_t i = 0; wsdbg_commands[i]; i++)
        if (!wsdbg_commands[i]->hidden)
            fprintf(out, "%s ", wsdbg_commands[i]->name);
    fputs("--help --version\" -- \"$current\"))\n        return\n    fi\n    case \"${COMP_WORDS[1]}:$before\" in\n",
          out);
    for (size_t i = 0; wsdbg_commands[i]; i++)
        print_completion_values(wsdbg_commands[i], out);
    fputs("    *) case \"${COMP_WORDS[1]}\" in\n", out);
    for (size_t i = 0; wsdbg_commands[i]; i++)
        print_completion_row(wsdbg_commands[i], out);
    fputs("    esac ;;\n    esac\n"
          "    if [[ \"$current\" == -* || ( -n \"$words\" && \"$words\" != --* ) ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "        return\n    fi\n    case \"${COMP_WORDS[1]}\" in\n",
          out);
    for (size_t i = 0; wsdbg_commands[i]; i++)
        print_completion_operands(wsdbg_commands[i], out);
    /* To bash @ begins a word of its own. */
    fputs("    esac\n"
          "    [ \"$before\" != @ ] || operands=\"${operands//@/}\"\n"
          "    COMPREPLY=($(compgen -W \"$operands\" -- \"$current\"))\n"
          "    [ -n \"${COMPREPLY[*]}\" ] || COMPREPLY=($(compgen -f -- \"$current\"))\n}\n"
          "complete -o filenames -F _wsdbg wsdbg\n",
          out);
}
