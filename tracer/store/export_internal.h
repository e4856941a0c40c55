/* export_internal.h - private to the room: what the files of the Perfetto export share. */
#ifndef WSDBG_STORE_EXPORT_INTERNAL_H
#define WSDBG_STORE_EXPORT_INTERNAL_H

#include "model/process.h"
#include "store/load.h"
#include "store/trace_writer.h"

/* Numbers that no process or thread of Linux has: its largest pid is 2^22. */
enum {
    WSDBG_PID_GRID = 10000000,
    WSDBG_PID_ACTIVITY = 20000000,
    WSDBG_PID_SESSION = 30000000,
    WSDBG_TID_WARP = 40000000
};

struct wsdbg_trace_export {
    struct wsdbg_store *store;
    struct wsdbg_loaded loaded;
    struct wsdbg_trace_file trace;
    uint64_t host_zero_ns; /* host time that the trace counts from */
    uint64_t *gpu_zero_ns; /* by context: the oldest time stamp of its histories */
    uint32_t next_barrier; /* the first one of the CTAs to come */
};

/* The histories of one CTA. */
struct wsdbg_cta_events {
    struct wsdbg_history_event *events; /* of its warps, one warp after another */
    size_t count, capacity;
    uint32_t *starts; /* by warp of the CTA: number of its first event; one more for the end */
    uint32_t start_capacity;
};

/* Launches, blocked threads, the stall; kernels and copies that CUPTI saw. */
struct wsdbg_error *wsdbg_export_host(struct wsdbg_trace_export *e);
/* Pending arrivals of the CTA's mbarriers over time, where its histories tell all of them. */
struct wsdbg_error *wsdbg_export_counters(struct wsdbg_trace_export *e, uint32_t cta,
                                          const struct wsdbg_cta_events *events);

/* Whether a process of the trace has all that is seen of this process, on every clock: it is one of several ranks. */
bool wsdbg_export_is_rank(const struct wsdbg_trace_export *e, uint32_t process_id);
/* The process of the trace that a grid's tracks are in: its rank's, or one of its own. */
uint64_t wsdbg_export_grid_pid(const struct wsdbg_trace_export *e, uint32_t grid);
static inline bool wsdbg_export_is_of_rank(const struct wsdbg_trace_export *e, uint32_t grid)
{
    return wsdbg_export_grid_pid(e, grid) != WSDBG_PID_GRID + (uint64_t)grid;
}
/* "gemm<128>, grid 77": what tells grids of one rank apart. */
void wsdbg_export_grid_text(const struct wsdbg_trace_export *e, uint32_t grid, char *out, size_t bytes);
struct wsdbg_track wsdbg_export_warp_track(const struct wsdbg_trace_export *e, uint32_t warp);
/* On the clock of its context, from the oldest time stamp on. */
uint64_t wsdbg_export_gpu_time(const struct wsdbg_trace_export *e, uint32_t grid, uint64_t gpu_time_ns);

#endif
