/* cache_lines.h - asks for cache lines that this thread is going to write, so that they are here by then.
 *
 * The tables of the segment are larger than a core's caches, and wsdbg reads some of them.  A store to a line that is
 * elsewhere is slow, and the next atomic operation waits for it.
 */
#ifndef WSDBG_SHIM_CACHE_LINES_H
#define WSDBG_SHIM_CACHE_LINES_H

#include <stddef.h>

enum { CACHE_LINE_BYTES = 64 };

/* A hint: returns at once, and does nothing where the memory is not mapped. */
static inline void cache_lines_ask(const void *from, size_t bytes)
{
    const char *const begin = from;
    for (size_t at = 0; at < bytes + CACHE_LINE_BYTES - 1; at += CACHE_LINE_BYTES) {
        const char *const line = begin + (at < bytes ? at : bytes - 1);
#if defined(__x86_64__)
        __asm__ volatile("prefetchw (%0)" : : "r"(line)); /* the compiler's own asks for reading only */
#else
        __builtin_prefetch(line, 1);
#endif
    }
}

#endif
