/* sessions.h - session databases for the screens: real hangs replayed, and hand-made ones.  The same bytes on every
 * machine: what differs by machine (host, command line) is written over. */
#ifndef TESTS_VIEWER_SESSIONS_H
#define TESTS_VIEWER_SESSIONS_H

#include <stdint.h>

#include "viewer/screen.h"

/* Replays tests/recorded/NAME.wsrec into NAME.db in the current folder, unless it is there. */
void session_replayed(const char *name);
/* Makes the hung example with this kernel name into NAME.db. */
void session_example(const char *name, const char *kernel);
/* Makes the hang that only the machine's own state shows into NAME.db. */
void session_machine(const char *name);
/* Makes the sessions of two nodes, and the merged one as NAME.db. */
void session_merged(const char *name);
/* Makes a hang of so many ranks, at least 2, into NAME.db: rank 1 is at fault, rank 0 waits for it, the last is gone. */
void session_ranks(const char *name, uint32_t count);
/* Runs one statement on a database. */
void session_change(const char *name, const char *sql);

/* wsdbg view NAME.db in a terminal of that size. */
struct screen *view_start(const char *name, int columns, int rows, const char *const *settings);
/* The same at 80 x 24, as usual. */
struct screen *view_open(const char *name);
/* Types q and waits for a clean end. */
void view_leave(struct screen *screen);

/* A screen of a replayed session: types `keys`, compares with golden/NAME-COLUMNSxROWS.txt, leaves. */
void view_screen(const char *name, const char *session, const char *keys, int columns, int rows);
/* At 80 x 24 and at 200 x 60. */
void view_screens(const char *name, const char *session, const char *keys);

#endif
