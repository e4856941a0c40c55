/* limits.h - how long reading a file may take, and to how much packed bytes may unpack.
 *
 * Limits of the process, as ulimit has them: the command line sets them once, before any file is read, and every room
 * that reads files of unknown origin asks here.
 */
#ifndef WSDBG_BASE_LIMITS_H
#define WSDBG_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { WSDBG_LIMITS_SECONDS = 300 }; /* for reading, unless somebody sets another time */

struct wsdbg_limits {
    uint64_t time_ns;        /* for reading one file; 0 = no limit */
    uint64_t unpacked_bytes; /* of one packed piece; 0 = what wsdbg_limits_unpacked says */
};

/* Before the first file, and by one thread. */
void wsdbg_limits_set(struct wsdbg_limits limits);
struct wsdbg_limits wsdbg_limits_get(void);

/* Now, for wsdbg_limits_is_late. */
uint64_t wsdbg_limits_clock_ns(void);
/* Whether reading that began then has taken longer than it may. */
bool wsdbg_limits_is_late(uint64_t began_ns);
/* "PATH: takes longer than 300 s; --time-limit allows more". */
struct wsdbg_error *wsdbg_limits_late(const char *path);

/* To how many bytes so many packed ones may unpack.  128 MiB are always allowed, more only where that is no more than
 * 256 times what they are packed in: compilers and drivers write nothing that packs better.  Never more than `most`,
 * which is what the reader can take. */
uint64_t wsdbg_limits_unpacked(uint64_t packed_bytes, uint64_t most);
/* "150 bytes that unpack to more than 128 MiB; --unpack-limit allows more", or without the option's name where the
 * reader can take no more than `allowed`. */
struct wsdbg_error *wsdbg_limits_unpacks_to_more(uint64_t packed_bytes, uint64_t allowed, uint64_t most);

#endif
