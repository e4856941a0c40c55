/* command.h - the command table: one sub-command is one file and one row.
 *
 * Read by: main.c (dispatch), options.c (parsing), help.c (--help, man pages, completion).  A new command is a
 * new file with one `const struct wsdbg_command`, and its line in commands.c; nothing else knows its name.
 */
#ifndef WSDBG_CMD_COMMAND_H
#define WSDBG_CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Exit statuses of wsdbg's own, as timeout(1) has them. */
enum wsdbg_exit {
    WSDBG_EXIT_HANG = 124,
    WSDBG_EXIT_FAILED = 125,
    WSDBG_EXIT_CANNOT_EXECUTE = 126,
    WSDBG_EXIT_NOT_FOUND = 127,
    WSDBG_EXIT_SIGNAL = 128, /* + signal number; a command that gives -N has wsdbg die of signal N */
};

/* A word an option accepts.  `missing` names what this version lacks when the word is understood but refused. */
struct wsdbg_choice {
    const char *word;
    const char *missing;
};

struct wsdbg_option {
    char letter;          /* 0 = none */
    const char *name;     /* without the dashes */
    const char *argument; /* NULL = a flag */
    const char *help;
    const struct wsdbg_choice *choices; /* ends with word NULL; NULL = any argument */
    const char *missing;                /* what this version lacks when the whole option is refused */
};

#define WSDBG_OPTIONS_MAX 24

struct wsdbg_command;

/* A parsed command line.  values[i] belongs to row i of the command's options: NULL = not given, "" = a flag
 * that was given.  Points into argv. */
struct wsdbg_invocation {
    const struct wsdbg_command *command;
    const char *values[WSDBG_OPTIONS_MAX];
    char **operands; /* NULL-terminated */
    int operand_count;
    bool help;
};

/* What a command's exit status can be, beside 0 and 125. */
enum wsdbg_exits {
    WSDBG_EXITS_PLAIN,
    WSDBG_EXITS_VERDICT,    /* 124 when a hang is shown */
    WSDBG_EXITS_FOUND,      /* 1 when something was found */
    WSDBG_EXITS_CHECK,      /* 1 when something that is needed is not there */
    WSDBG_EXITS_PROGRAM,    /* 124 when a hang was found, and whatever the program ended with */
    WSDBG_EXITS_AS_PROGRAM, /* whatever the program ended with */
};
/* What bash offers for an operand; files where there is nothing better. */
enum wsdbg_operand_words {
    WSDBG_OPERAND_FILE,
    WSDBG_OPERAND_COMMAND,
    WSDBG_OPERAND_DEMO,
    WSDBG_OPERAND_QUERY,
    WSDBG_OPERAND_CAUSE
};

struct wsdbg_command {
    const char *name;
    const char *summary;     /* one line */
    const char *usage;       /* what follows the name */
    const char *description; /* paragraphs separated by an empty line */
    const char *needs;       /* what the machine must have, NULL = nothing */
    const struct wsdbg_option *options;
    size_t option_count;
    int operands_min, operands_max; /* max -1 = any number */
    bool runs_program;              /* options end at the first operand: the rest belongs to the program */
    bool hidden;                    /* not listed */
    bool lives_on;                  /* beyond a failed allocation, which it has seen to */
    enum wsdbg_exits exits;
    enum wsdbg_operand_words operand;
    /* Does the work; *status is wsdbg's exit status.  An error makes it WSDBG_EXIT_FAILED. */
    struct wsdbg_error *(*run)(const struct wsdbg_invocation *invocation, int *status);
};

/* Ends with NULL. */
extern const struct wsdbg_command *const wsdbg_commands[];

/* The command of that name, or NULL. */
const struct wsdbg_command *wsdbg_command_find(const char *name);
/* The name of the command that a mistyped word may mean; NULL = none is near. */
const char *wsdbg_command_meant(const char *word);

extern const struct wsdbg_command wsdbg_command_run, wsdbg_command_arm, wsdbg_command_attach, wsdbg_command_top,
    wsdbg_command_view, wsdbg_command_report, wsdbg_command_query, wsdbg_command_export, wsdbg_command_merge,
    wsdbg_command_replay, wsdbg_command_demo, wsdbg_command_doctor, wsdbg_command_core, wsdbg_command_explore,
    wsdbg_command_lint, wsdbg_command_why, wsdbg_command_help;

#endif
