/* gpu_probe.h - what the NVIDIA driver says about this machine, asked in a process of its own. */
#ifndef WSDBG_CMD_GPU_PROBE_H
#define WSDBG_CMD_GPU_PROBE_H

#include "base/optional.h"

#define WSDBG_GPUS_MAX 16

struct wsdbg_gpu_facts {
    char name[96];
    struct wsdbg_optional_u32 compute_capability; /* 10 * major + minor */
};

struct wsdbg_gpu_probe {
    bool library_found;                       /* libcuda.so.1 could be loaded */
    bool ready;                               /* cuInit succeeded */
    char reason[256];                         /* why not, one clause */
    struct wsdbg_optional_u32 driver_version; /* 1000 * major + 10 * minor of the CUDA version it supports */
    bool debug_known;                         /* it has a debug interface, of this revision: */
    uint32_t debug_major, debug_minor, debug_revision;
    bool may_stay;       /* ... by which launches need not wait for an inspector that stays attached */
    bool debugger_found; /* libcudadebugger.so.1, which an attach loads, can be loaded */
    struct wsdbg_gpu_facts gpus[WSDBG_GPUS_MAX];
    uint32_t gpu_count;
};

enum { WSDBG_GPU_PROBE_MS = 20000 }; /* the usual timeout: a driver may take seconds to wake its GPUs */

/* Asks in a child process for at most `timeout_ms`: a driver that crashes or hangs does not take wsdbg along. */
void wsdbg_gpu_probe(int timeout_ms, struct wsdbg_gpu_probe *out);

/* True when there is certainly no NVIDIA driver.  Wakes no GPU, so it takes some milliseconds. */
bool wsdbg_gpu_driver_is_missing(int timeout_ms);

/* True when one of the GPUs runs sm_90 code of warp-specialized kernels. */
bool wsdbg_gpu_probe_has_hopper(const struct wsdbg_gpu_probe *probe);

#endif
