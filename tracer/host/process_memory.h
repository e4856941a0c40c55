/* process_memory.h - the memory of another process, read from outside while the process runs on.
 *
 * What is read may change while it is read.  Whoever needs more than one word at one moment reads twice, and calls
 * wsdbg_host_memory_forget() in between.  After the deadline nothing is read any more, so every loop that reads ends.
 */
#ifndef WSDBG_HOST_PROCESS_MEMORY_H
#define WSDBG_HOST_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct wsdbg_host_memory;

/* Reads up to `bytes` bytes; returns how many came, or -1 with errno. */
typedef ssize_t wsdbg_host_memory_source(void *context, uint64_t address, void *out, size_t bytes);

/* Times are CLOCK_MONOTONIC nanoseconds.  Closed by the caller. */
struct wsdbg_error *wsdbg_host_memory_open(pid_t process, uint64_t deadline_ns, struct wsdbg_host_memory **out);
/* The same for an image that is no process's; `context` outlives it. */
struct wsdbg_error *wsdbg_host_memory_of(wsdbg_host_memory_source *source, void *context, uint64_t deadline_ns,
                                         struct wsdbg_host_memory **out);
void wsdbg_host_memory_close(struct wsdbg_host_memory *memory);

/* All `bytes` bytes, or false. */
bool wsdbg_host_read(struct wsdbg_host_memory *memory, uint64_t address, void *out, size_t bytes);
/* One word of eight bytes. */
bool wsdbg_host_read_word(struct wsdbg_host_memory *memory, uint64_t address, uint64_t *out);
/* Pages that were read before are read again. */
void wsdbg_host_memory_forget(struct wsdbg_host_memory *memory);

/* Whether the deadline has passed. */
bool wsdbg_host_memory_is_late(const struct wsdbg_host_memory *memory);
/* The errno for which the whole process could not be read (EPERM, EACCES, ESRCH …); 0 = it could be, so far. */
int wsdbg_host_memory_error(const struct wsdbg_host_memory *memory);

#endif
