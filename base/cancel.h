/* cancel.h - a way to end a long wait early: the code that waits asks, the code that takes the signals answers. */
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
