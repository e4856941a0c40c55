/* limits.h - the options that bound what a file can cost, the same for every command that reads one. */
#ifndef WSDBG_CMD_LIMITS_H
#define WSDBG_CMD_LIMITS_H

#include "cmd/command.h"

/* Rows of a command's options. */
#define WSDBG_OPTION_TIME_LIMIT                                                                                   \
    {                                                                                                             \
        0, "time-limit", "SECONDS", "give up reading the file after so long, 0 = never (default 300)", NULL, NULL \
    }
#define WSDBG_OPTION_UNPACK_LIMIT                                                                                   \
    {                                                                                                               \
        0, "unpack-limit", "MIB",                                                                                   \
            "unpack so much of a packed piece at most (default 128, or 256 times the piece if that is more)", NULL, \
            NULL                                                                                                    \
    }

/* Sets the limits of the process (base/limits.h) by the options given, as far as the command has them. */
struct wsdbg_error *wsdbg_limits_take(const struct wsdbg_invocation *invocation);

#endif
