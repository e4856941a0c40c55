/* segment_writer.h - test side: writes the shared segment of a traced process as shim and device would.
 *
 * A segment lives in memory (segment_writer_create) or in /dev/shm (segment_writer_create_shm).  Contexts,
 * modules, functions, launches and warps are added by calls; warps write events by scripts.  Milestones go to
 * the slot at once, every event to a "device" history that reaches the mirror by segment_writer_copy_history;
 * with history off every event goes to the slot, as on the GPU.  Everything is deterministic: every event is 1 us after
 * the one before.
 *
 * Use from cmocka tests: a call that cannot do its work fails the test.
 */
#ifndef WSDBG_TESTS_SEGMENT_WRITER_H
#define WSDBG_TESTS_SEGMENT_WRITER_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "wsdbg/session.h"

struct segment_writer;

struct segment_writer *segment_writer_create(uint32_t process_id);
/* Creates /dev/shm/wsdbg.<session>/wsdbg.<session>.<process_id>; destroy unlinks it if it is still there. */
struct segment_writer *segment_writer_create_shm(const char *session, uint32_t process_id);
void segment_writer_destroy(struct segment_writer *writer);

/* The raw bytes: for readers, and for tests that break them. */
struct wsdbg_segment *segment_writer_segment(struct segment_writer *writer);
size_t segment_writer_bytes(const struct segment_writer *writer);
struct wsdbg_slot *segment_writer_slot(struct segment_writer *writer, uint32_t context, uint32_t slot);
/* Event `n` of a slot in the mirror (what the reader sees). */
struct wsdbg_event *segment_writer_mirror(struct segment_writer *writer, uint32_t context, uint32_t slot, uint32_t n);

/* Rows; each returns its row number. history_depth 0 = history off. */
uint32_t segment_writer_context(struct segment_writer *writer, uint32_t sm_count, uint32_t warps_per_sm,
                                uint32_t history_depth);
/* The context's ring is one that the GPU maps: every event reaches slot and mirror at once.  Before the first event. */
void segment_writer_map_ring(struct segment_writer *writer, uint32_t context);
uint32_t segment_writer_module(struct segment_writer *writer, uint32_t context, const struct wsdbg_name *names,
                               uint32_t name_count);
uint32_t segment_writer_function(struct segment_writer *writer, uint32_t module, const char *name, uint32_t registers);

struct segment_launch {
    uint32_t function; /* WSDBG_UNKNOWN32 = a graph launch */
    uint32_t context;
    uint32_t ctas;    /* along x */
    uint32_t threads; /* along x */
    uint64_t stream;
    uint32_t thread_id;
    uint32_t flags;
    int32_t result;
    uint32_t cluster; /* CTAs along x, 0 = not given */
    uint32_t graph;   /* of a graph launch, 0 = not known */
};
/* Returns the launch's number, from 0. */
uint64_t segment_writer_launch(struct segment_writer *writer, const struct segment_launch *launch);
/* A kernel that a graph holds. */
void segment_writer_graph_kernel(struct segment_writer *writer, uint32_t graph, uint32_t function, uint32_t ctas,
                                 uint32_t threads);
/* Makes the rings of launch sites; the first of their rows. */
struct wsdbg_site_row *segment_writer_sites(struct segment_writer *writer);
void segment_writer_thread(struct segment_writer *writer, uint32_t thread_id, uint32_t context, const char *call,
                           uint64_t since_ns);

/* A warp and where it writes. */
struct segment_warp {
    uint32_t context, module;
    uint64_t grid_id;
    uint32_t cta, ctas;    /* along x */
    uint32_t warp, warps;  /* in the CTA */
    uint32_t cluster_size; /* 0 = 1; ranks run along x */
    uint32_t sm, sm_warp;  /* %smid, %warpid: the slot */
    uint32_t count;        /* events so far; kept by segment_writer_* */
};

/* One line of a script.  For *_WAIT_BEGIN/END and ARRIVE `value` is a site: use SITE. */
struct segment_event {
    enum wsdbg_event_kind kind;
    uint8_t barrier, stage, parity;
    uint32_t iteration;
    uint32_t value;
};
#define SITE(line, lanes) ((uint32_t)(line) | ((uint32_t)(lanes) << 21))
#define SITE_REMOTE(line, lanes, rank) (SITE(line, lanes) | (((uint32_t)(rank) + 1u) << 27))

/* Writes identity and the BEGIN event, as WSDBG_BEGIN does. */
void segment_writer_begin(struct segment_writer *writer, struct segment_warp *warp);
void segment_writer_role(struct segment_writer *writer, struct segment_warp *warp, uint32_t role);
void segment_writer_event(struct segment_writer *writer, struct segment_warp *warp, struct segment_event event);
void segment_writer_script(struct segment_writer *writer, struct segment_warp *warp, const struct segment_event *events,
                           size_t count);
/* The device clock: %globaltimer of the next event. */
void segment_writer_set_gpu_time(struct segment_writer *writer, uint64_t gpu_time_ns);
/* Serves a history request: device histories reach the mirror of every living context. */
void segment_writer_copy_history(struct segment_writer *writer);

#endif
