/* replayed.h - databases of sessions that were recorded on an H200 (tests/recorded). */
#ifndef TESTS_STORE_REPLAYED_H
#define TESTS_STORE_REPLAYED_H

#include "store/store.h"

/* Replays tests/recorded/SESSION.wsrec in `folder` and opens what came of it; the caller closes. */
struct wsdbg_store *replayed(const char *folder, const char *session);

#endif
