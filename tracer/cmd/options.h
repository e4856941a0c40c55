/* options.h - the one option parser: command line + option table -> invocation.  No global state. */
#ifndef WSDBG_CMD_OPTIONS_H
#define WSDBG_CMD_OPTIONS_H

#include <stdint.h>

#include "cmd/command.h"

/* Parses what follows the command's name.  `arguments` is NULL-terminated and is reordered in place (operands
 * to the front) unless the command runs a program; the invocation points into it.  Errors name the option and
 * what is wrong with it. */
struct wsdbg_error *wsdbg_options_parse(const struct wsdbg_command *command, char **arguments,
                                        struct wsdbg_invocation *out);

/* The value of an option by its long name, NULL = not given. */
const char *wsdbg_option_value(const struct wsdbg_invocation *invocation, const char *name);

/* "2", "0.25": a positive number of seconds, at most a day. */
struct wsdbg_error *wsdbg_parse_seconds(const char *option, const char *text, uint64_t *out_ns);
/* A decimal number in [minimum, maximum]. */
struct wsdbg_error *wsdbg_parse_count(const char *option, const char *text, unsigned minimum, unsigned maximum,
                                      unsigned *out);

/* The same with 64 bits. */
struct wsdbg_error *wsdbg_parse_number(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
                                       uint64_t *out);

#endif
