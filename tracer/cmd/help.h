/* help.h - help texts, manual pages and shell completion, all made from the command table. */
#ifndef WSDBG_CMD_HELP_H
#define WSDBG_CMD_HELP_H

#include <stdio.h>

#include "cmd/command.h"

/* What `wsdbg --help` prints. */
void wsdbg_help_overview(FILE *out);
/* What `wsdbg COMMAND --help` prints. */
void wsdbg_help_command(const struct wsdbg_command *command, FILE *out);
/* Manual page (troff) of a command; NULL = wsdbg(1) itself. */
void wsdbg_help_man(const struct wsdbg_command *command, FILE *out);
/* Bash completion of all commands. */
void wsdbg_help_completion(FILE *out);

#endif
