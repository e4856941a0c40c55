/* words.h - private to the room: enum values as the words the database and JSON hold, and back. */
#ifndef WSDBG_STORE_WORDS_H
#define WSDBG_STORE_WORDS_H

#include "diagnose/finding.h"

/* "warp", "barrier", "event", "text". */
const char *wsdbg_evidence_kind_word(enum wsdbg_evidence_kind kind);

/* The value whose word this is; `fallback` for a word of a later version or NULL. */
typedef const char *wsdbg_word_fn(unsigned value);
unsigned wsdbg_word_value(const char *word, wsdbg_word_fn *name, unsigned count, unsigned fallback);

/* The enums' name functions with the one type wsdbg_word_value takes. */
const char *wsdbg_state_word(unsigned value);
const char *wsdbg_barrier_word(unsigned value);
const char *wsdbg_cause_word(unsigned value);
const char *wsdbg_confidence_word(unsigned value);
const char *wsdbg_evidence_word(unsigned value);
const char *wsdbg_access_word(unsigned value);
/* "device", "mapped", NULL where it is not known. */
const char *wsdbg_ring_word(unsigned value);
/* "one", "all", NULL where it is not known. */
const char *wsdbg_lanes_word(unsigned value);
/* struct wsdbg_reach's `after`: "never", "perhaps", "can". */
const char *wsdbg_after_word(unsigned value);
/* "register", "uniform register", "shared memory", "global memory". */
const char *wsdbg_excerpt_word(unsigned value);

#endif
