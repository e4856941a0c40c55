/* lasting_sender.h - test side: a spool folder, and the observer's messages about memory that outlives its context.
 *
 * The memory that is sent is of the test process: to the fake libcuda its descriptor is as good as one of a GPU's.
 */
#ifndef WSDBG_TESTS_LASTING_SENDER_H
#define WSDBG_TESTS_LASTING_SENDER_H

#include <stddef.h>
#include <stdint.h>

#include "wsdbg/session.h"

enum { ALLOCATED = 65536, SLOTS_AT = 0x10000, HISTORY_AT = 0x20000, CONTEXT = 3 };

/* Of the test that runs: a fresh folder and a session name. */
extern char spool[64], session[64];
/* cmocka setup and teardown. */
int make_spool(void **state);
int remove_spool(void **state);

/* Open ones of this process. */
int count_descriptors(void);
/* Memory whose every byte is `fill`; a descriptor. */
int memory_of(uint8_t fill);
/* What the observer says of this process's context CONTEXT. */
struct wsdbg_memory_message message_of(enum wsdbg_memory_kind kind, uint64_t used_bytes);
/* Sends `bytes` of the message (what is longer is zeroes) with so many descriptors of one memory. */
void send_message(const struct wsdbg_memory_message *message, size_t bytes, size_t descriptors, uint8_t fill);

#endif
