/* lasting_memory.h - the ring's device memory after its context is gone: a GPU fault ends a context, not the memory
 * that a file descriptor refers to.
 *
 * Reads: the messages that observers send to the socket in the spool folder (wsdbg/session.h), and device memory,
 * from a context in a child process of its own.  Writes: the caller's buffers.
 */
#ifndef WSDBG_EVIDENCE_LASTING_MEMORY_H
#define WSDBG_EVIDENCE_LASTING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "wsdbg/session.h"

struct wsdbg_lasting_memory;

/* Listens in the spool folder, before any observer can send. */
struct wsdbg_error *wsdbg_lasting_memory_open(const char *spool, struct wsdbg_lasting_memory **out);
/* Takes in what has been sent.  Never blocks. */
void wsdbg_lasting_memory_receive(struct wsdbg_lasting_memory *memory);
/* Lets go of a context's memory: it ended in good order. */
void wsdbg_lasting_memory_drop(struct wsdbg_lasting_memory *memory, uint32_t process_id, uint32_t context);
/* Closes the socket and lets go of all memory. NULL is fine. */
void wsdbg_lasting_memory_close(struct wsdbg_lasting_memory *memory);

/* A copy of one context's slots and history.  The caller frees both; history NULL = there is none. */
struct wsdbg_lasting_copy {
    void *slots, *history;
    uint64_t slots_bytes, history_bytes;
};
/* Reads the memory whose device addresses the context's row names.  *found = false: nobody sent it.  Takes a context
 * on the GPU, so some 0.2 s; an error says what the driver refused or that it did not answer in time. */
struct wsdbg_error *wsdbg_lasting_memory_read(struct wsdbg_lasting_memory *memory, uint32_t process_id,
                                              uint32_t context, const struct wsdbg_context_row *row, bool *found,
                                              struct wsdbg_lasting_copy *out);

/* One descriptor to read: private to the two files of this header. */
struct wsdbg_lasting_part {
    struct wsdbg_memory_message message;
    int fd;
};
/* Copies the parts' used bytes, one behind the other, into `out` (shared memory).  Runs the driver in a child, which
 * is ended when it has not answered after limit_ms. */
struct wsdbg_error *wsdbg_lasting_read_parts(const struct wsdbg_lasting_part *parts, size_t count, int limit_ms,
                                             void *out);

#endif
