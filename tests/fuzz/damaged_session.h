/* damaged_session.h - session databases that a fuzzer's input damages: any bytes would hardly ever be one.
 *
 * An input is a list of changes to a good database, each with a head of five bytes: what is changed, where (three
 * bytes), and how many bytes follow.  Bytes of the file, whole numbers in cells and texts in cells are changed.
 */
#ifndef WSDBG_TESTS_FUZZ_DAMAGED_SESSION_H
#define WSDBG_TESTS_FUZZ_DAMAGED_SESSION_H

#include <stdint.h>
#include <stdio.h>

#include "store/store.h"

/* Opens the damaged database as every command does, in bounded time; NULL where that is refused, as it should mostly
 * be.  The caller closes. */
struct wsdbg_store *damaged_session_open(const uint8_t *bytes, size_t count);
/* A stream that keeps nothing, and fails when more is written than a report can need. */
FILE *damaged_session_output(void);

#endif
