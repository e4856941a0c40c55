/* debug_interface.h - the variables and functions that libcuda exports for debuggers. */
#ifndef WSDBG_SHIM_DEBUG_INTERFACE_H
#define WSDBG_SHIM_DEBUG_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

/* Types as they are documented. */
struct debug_interface {
    uint32_t *client_pid, *client_revision, *session_id, *capabilities;
    uint32_t *initialized, *ipc_flag, *resume_flag, *external;
    uint32_t *suspended_mask; /* not in every driver */
    int32_t *attach_fd;       /* likewise: newer ones want a byte written there instead of a call */
    uint64_t *error;
    void (*attach)(void), (*detach)(void);
};

/* False: this libcuda lacks one that an attach needs. */
bool debug_interface_find(struct debug_interface *out);

/* A variable that this libcuda does not have is not written, and reads as 0. */
static inline void debug_put32(uint32_t *word, uint32_t value)
{
    if (word)
        __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline uint32_t debug_get32(const uint32_t *word)
{
    return word ? __atomic_load_n(word, __ATOMIC_SEQ_CST) : 0;
}

#endif
