/* attach.h - a session that another wsdbg watches, as a source of the viewer.
 *
 * Reads: the session's shared segments (mapped read-only) for what moves; its database for verdict, log and end.
 * Writes: nothing.  The database is open only for moments, so that the run can close it as one file.
 */
#ifndef WSDBG_CMD_ATTACH_H
#define WSDBG_CMD_ATTACH_H

#include "cmd/sessions.h"
#include "viewer/picture.h"

/* `session` is not kept.  After the session's end the source shows what its database holds. */
struct wsdbg_error *wsdbg_attach(const struct wsdbg_running *session, uint64_t look_every_ns,
                                 struct viewer_source **out);

#endif
