/* options.c - parses options from a command's table.
 *
 * Understands -x, -xVALUE, -x VALUE, grouped flags (-qx), --name, --name=VALUE, --name VALUE and --.  A prefix of
 * a name is not accepted: a script must not change its meaning when an option is added.
 */
#include "cmd/options.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near_word.h"

static struct wsdbg_error *check_choice(const struct wsdbg_option *option, const char *value)
{
    if (option->missing)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--%s: this version does not have %s yet", option->name,
                                  option->missing);
    if (!option->choices)
        return NULL;
    for (const struct wsdbg_choice *choice = option->choices; choice->word; choice++) {
        if (strcmp(choice->word, value) != 0)
            continue;
        return choice->missing ? wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--%s=%s: this version does not have %s yet",
                                                    option->name, value, choice->missing)
                               : NULL;
    }
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--%s: '%s' is not one of %s", option->name, value,
                              option->argument);
}

static struct wsdbg_error *set_value(struct wsdbg_invocation *out, size_t row, const char *value)
{
    struct wsdbg_error *error = check_choice(&out->command->options[row], value);
    if (!error)
        out->values[row] = value;
    return error;
}

static struct wsdbg_error *unknown_option(const struct wsdbg_command *command, const char *name, size_t length)
{
    char word[64];
    const char *meant = NULL;
    size_t fewest = SIZE_MAX;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), name);
    for (size_t row = 0; row < command->option_count; row++)
        if (wsdbg_word_is_nearer(word, command->options[row].name, &fewest))
            meant = command->options[row].name;
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "unknown option '--%.*s'%s%s%s", (int)length, name,
                              meant ? "; did you mean --" : "", meant ? meant : "", meant ? "?" : "");
}

/* "--name", "--name=value"; `following` is the next word.  *words = words used up. */
static struct wsdbg_error *parse_long(struct wsdbg_invocation *out, const char *word, const char *following, int *words)
{
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    *words = 1;
    if (length == 4 && strncmp(name, "help", 4) == 0 && !equals) {
        out->help = true;
        return NULL;
    }
    for (size_t row = 0; row < out->command->option_count; row++) {
        const struct wsdbg_option *option = &out->command->options[row];
        if (strlen(option->name) != length || strncmp(option->name, name, length) != 0)
            continue;
        if (!option->argument)
            return equals ? wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--%s takes no value", option->name)
                          : set_value(out, row, "");
        if (equals)
            return set_value(out, row, equals + 1);
        if (!following)
            return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--%s needs a value: %s", option->name, option->argument);
        *words = 2;
        return set_value(out, row, following);
    }
    return unknown_option(out->command, name, length);
}

static bool find_letter(const struct wsdbg_command *command, char letter, size_t *row)
{
    for (*row = 0; *row < command->option_count; ++*row)
        if (command->options[*row].letter == letter)
            return true;
    return false;
}

/* "-x", "-xVALUE", "-xy". */
static struct wsdbg_error *parse_short(struct wsdbg_invocation *out, const char *word, const char *following,
                                       int *words)
{
    *words = 1;
    for (const char *letter = word + 1; *letter; letter++) {
        size_t row;
        struct wsdbg_error *error;
        if (*letter == 'h') {
            out->help = true;
            continue;
        }
        if (!find_letter(out->command, *letter, &row))
            return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "unknown option '-%c'", *letter);
        if (out->command->options[row].argument) {
            if (letter[1])
                return set_value(out, row, letter + 1);
            *words = 2;
            return following ? set_value(out, row, following)
                             : wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "-%c needs a value: %s", *letter,
                                                  out->command->options[row].argument);
        }
        error = set_value(out, row, "");
        if (error)
            return error;
    }
    return NULL;
}

/* The operands that must be there are the words in capitals outside of brackets. */
static struct wsdbg_error *say_missing(const struct wsdbg_command *command, int number)
{
    const char *word = command->usage;
    int depth = 0;
    for (bool inside = false; *word; word++) {
        depth += (*word == '[') - (*word == ']');
        const bool capital = depth == 0 && *word >= 'A' && *word <= 'Z';
        if (capital && !inside && number-- == 0)
            break;
        inside = capital || (inside && *word != ' ');
    }
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%.*s is missing; usage: wsdbg %s %s",
                              *word ? (int)strcspn(word, " ") : 9, *word ? word : "something", command->name,
                              command->usage);
}

static struct wsdbg_error *check_operands(const struct wsdbg_invocation *out)
{
    const struct wsdbg_command *command = out->command;
    if (out->help)
        return NULL;
    if (out->operand_count < command->operands_min)
        return say_missing(command, out->operand_count);
    if (command->operands_max >= 0 && out->operand_count > command->operands_max)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "'%s' is one operand too many; usage: wsdbg %s %s",
                                  out->operands[command->operands_max], command->name, command->usage);
    return NULL;
}

/* Takes one word, or ends the options. */
static struct wsdbg_error *parse_word(struct wsdbg_invocation *out, char **word, bool *options_over, int *words)
{
    *words = 1;
    if (!*options_over && strcmp(*word, "--") == 0) {
        *options_over = true;
        return NULL;
    }
    if (!*options_over && (*word)[0] == '-' && (*word)[1] == '-')
        return parse_long(out, *word, word[1], words);
    if (!*options_over && (*word)[0] == '-' && (*word)[1])
        return parse_short(out, *word, word[1], words);
    out->operands[out->operand_count++] = *word;
    *options_over |= out->command->runs_program;
    return NULL;
}

struct wsdbg_error *wsdbg_options_parse(const struct wsdbg_command *command, char **arguments,
                                        struct wsdbg_invocation *out)
{
    /* Operands move to the front of the same array: they never outrun the word being read. */
    *out = (struct wsdbg_invocation){.command = command, .operands = arguments};
    bool options_over = false;
    for (char **word = arguments; *word;) {
        int words;
        struct wsdbg_error *error = parse_word(out, word, &options_over, &words);
        if (error)
            return error;
        word += words;
    }
    out->operands[out->operand_count] = NULL;
    return check_operands(out);
}

const char *wsdbg_option_value(const struct wsdbg_invocation *invocation, const char *name)
{
    for (size_t row = 0; row < invocation->command->option_count; row++)
        if (strcmp(invocation->command->options[row].name, name) == 0)
            return invocation->values[row];
    return NULL;
}

struct wsdbg_error *wsdbg_parse_seconds(const char *option, const char *text, uint64_t *out_ns)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !isfinite(seconds) || seconds < 0.001 || seconds > 86400.0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--%s: '%s' is not a number of seconds from 0.001 to 86400",
                                  option, text);
    *out_ns = (uint64_t)(seconds * 1e9 + 0.5);
    return NULL;
}

struct wsdbg_error *wsdbg_parse_number(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
                                       uint64_t *out)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value < minimum || value > maximum)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--%s: '%s' is not a whole number from %llu to %llu", option,
                                  text, (unsigned long long)minimum, (unsigned long long)maximum);
    *out = value;
    return NULL;
}

struct wsdbg_error *wsdbg_parse_count(const char *option, const char *text, unsigned minimum, unsigned maximum,
                                      unsigned *out)
{
    uint64_t value = 0;
    struct wsdbg_error *error = wsdbg_parse_number(option, text, minimum, maximum, &value);
    if (!error)
        *out = (unsigned)value;
    return error;
}
