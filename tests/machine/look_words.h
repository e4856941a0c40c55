/* look_words.h - a snapshot's warps and barriers as lines that a test can hold next to its input. */
#ifndef TESTS_MACHINE_LOOK_WORDS_H
#define TESTS_MACHINE_LOOK_WORDS_H

#include "model/snapshot.h"

enum { LOOK_WORDS_BYTES = 8192 };

/* A CTA's warps, those that say the same joined: "4-7 consumer 0 WAIT_MBARRIER full[3] parity 0"; then its barriers
 * that somebody waits on: "full[3] at 0x38418: phase 0, 1 of 1 missing, 0 bytes". */
void look_words(const struct wsdbg_snapshot *snapshot, uint32_t cta, char out[LOOK_WORDS_BYTES]);

#endif
