/* cancel.h - whether somebody wants a long wait to end: asked by who waits, answered by who takes the signals. */
#ifndef WSDBG_BASE_CANCEL_H
#define WSDBG_BASE_CANCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsdbg_cancel {
    /* Whether a signal that wants wsdbg to end came after since_ns (CLOCK_MONOTONIC).  Often called, so cheap. */
    bool (*is_wanted)(struct wsdbg_cancel *cancel, uint64_t since_ns);
};

/* NULL is fine: nobody can ask for it. */
static inline bool wsdbg_cancel_is_wanted(struct wsdbg_cancel *cancel, uint64_t since_ns)
{
    return cancel && cancel->is_wanted(cancel, since_ns);
}

#endif
