/* opened.h - databases to read from: of sessions recorded on an H200 (tests/recorded), of sessions built by hand. */
#ifndef TESTS_STORE_OPENED_H
#define TESTS_STORE_OPENED_H

#include "store/example.h"

/* Replays tests/recorded/SESSION.wsrec in `folder` and opens what came of it; the caller closes. */
struct wsdbg_store *replayed(const char *folder, const char *session);
/* Stores the example in `folder` and opens it; the caller closes. */
struct wsdbg_store *stored(const char *folder, const struct example *example);

/* Calls `check`, which closes the store, for recordings of each kind: a hang, a run without one, exited warps, registers,
 * a fault. */
void every_recording(const char *folder, void (*check)(struct wsdbg_store *store));

#endif
