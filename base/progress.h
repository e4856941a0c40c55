/* progress.h - the progress of long work: the code that does the work calls, the code that asked for it shows it. */
#ifndef WSDBG_BASE_PROGRESS_H
#define WSDBG_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#define WSDBG_TOTAL_UNKNOWN UINT64_MAX

struct wsdbg_progress {
    /* `done` of `total` units, or `done` bytes of WSDBG_TOTAL_UNKNOWN; done = total ends it.  Often called, so cheap.
     */
    void (*advance)(struct wsdbg_progress *progress, uint64_t done, uint64_t total);
};

/* NULL is fine: nobody asked. */
static inline void wsdbg_progress_advance(struct wsdbg_progress *progress, uint64_t done, uint64_t total)
{
    if (progress)
        progress->advance(progress, done, total);
}

#endif
