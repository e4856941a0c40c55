/* top.h - the viewer on a session that another process watches, as `wsdbg top` shows it. */
#ifndef WSDBG_CMD_TOP_H
#define WSDBG_CMD_TOP_H

#include "cmd/sessions.h"

/* Shows it until the reader leaves; *status is below 0 where a signal ended that.  look_every_ns: see attach.h. */
struct wsdbg_error *wsdbg_top_show(const struct wsdbg_running *session, uint64_t look_every_ns, int *status);

#endif
