/* newest.h - the session that a command means when no file was named. */
#ifndef WSDBG_CMD_NEWEST_H
#define WSDBG_CMD_NEWEST_H

#include "cmd/command.h"

/* The session database that the command's first operand names, or, with `named` false, the newest one of this user in
 * the current folder; its name is printed on stderr.  *out is the caller's to free.  NOT_FOUND where there is none. */
struct wsdbg_error *wsdbg_session_file(const struct wsdbg_invocation *invocation, bool named, char **out);

/* Adds to an error about a session that no operand named, so that the user knows what to do: to name another one. */
struct wsdbg_error *wsdbg_session_hint(struct wsdbg_error *error, bool named);

#endif
