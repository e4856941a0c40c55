/* contexts.h - contexts as this process knows them, each with its row of the segment. */
#ifndef WSDBG_SHIM_CONTEXTS_H
#define WSDBG_SHIM_CONTEXTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wsdbg/ring.h"
#include "wsdbg/session.h"
#include "driver_api.h"

enum ring_state { RING_NONE, RING_BUSY, RING_READY, RING_FAILED };
struct shim_context {
    _Atomic uint64_t handle; /* 0 = free or destroyed */
    _Atomic int closing;     /* the app is destroying it: start nothing new */
    _Atomic int users;       /* our own thread is inside it */
    _Atomic int setup_busy;  /* a module of it is being configured */
    _Atomic int ring;        /* enum ring_state */
    _Atomic bool launched;   /* something was launched since the last marker */
    bool created;            /* by cuCtxCreate; else a device's primary context, as far as we know */
    CUdevice device;
    struct wsdbg_config config; /* module_id is filled in per module */
    void *bounce;               /* registered memory for small copies */
    CUstream stream;            /* our own, non-blocking */
    struct shim_memory {
        CUdeviceptr address;
        uint64_t mapped_bytes; /* 0 = ordinary memory: the context's end frees it */
    } memory[2];
    CUdeviceptr slots;  /* as the GPU sees them */
    void *slots_mirror; /* in the segment, as the history's */
    uint64_t slots_bytes;
    void *mirror; /* history in the segment */
    /* Registered memory to which the GPU copies slots and history: the mirrors, or region_landing(). */
    void *slots_landing, *history_landing;
    CUdeviceptr history;
    uint64_t history_bytes;
    CUstream copy_stream;
    bool is_mapped; /* slots and history are the mirrors themselves, which the GPU writes: nothing is copied */
};
#define SHIM_BOUNCE_BYTES 65536u
extern struct shim_context shim_contexts[WSDBG_CONTEXT_ROWS]; /* index = row */

/* Row of the current context, recorded at first sight; WSDBG_UNKNOWN32 if there is none. */
uint32_t contexts_current(void);
uint32_t contexts_add(CUcontext handle, CUdevice device, bool created);
uint32_t contexts_find(uint64_t handle);
uint32_t contexts_find_primary(CUdevice device);
/* True for errors after which a context is of no more use; all others leave it usable. */
bool contexts_ended_by(CUresult result);
/* Marks the context as ended when `result` is an error that ends contexts. */
void contexts_check(CUresult result);
/* A context that the driver has ended: its handle may come again for another one. */
void contexts_forget(uint32_t row);

#endif
