/* slot_warp.h - one warp with a slot and a history, for tests of how these are read. */
#ifndef WSDBG_TESTS_EVIDENCE_SLOT_WARP_H
#define WSDBG_TESTS_EVIDENCE_SLOT_WARP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "evidence/segment_snapshot.h"

#define DEPTH 8u

static inline struct segment_warp the_warp(void)
{
    return (struct segment_warp){.grid_id = 7, .ctas = 1, .warps = 4, .warp = 2, .sm = 1, .sm_warp = 3};
}

/* One context with one probed module; the slot of the_warp is 1 * 16 + 3. */
static inline struct segment_writer *one_context(uint32_t depth)
{
    struct segment_writer *writer = segment_writer_create(100);
    segment_writer_context(writer, 2, 16, depth);
    segment_writer_module(writer, 0, NULL, 0);
    return writer;
}

/* BEGIN and then `marks` user marks with the values 1, 2, 3 ... */
static inline struct segment_warp marks(struct segment_writer *writer, uint32_t count)
{
    struct segment_warp warp = the_warp();
    segment_writer_begin(writer, &warp);
    for (uint32_t i = 1; i <= count; i++)
        segment_writer_event(writer, &warp, (struct segment_event){.kind = WSDBG_EVENT_USER_MARK, .value = i});
    return warp;
}

static inline struct wsdbg_snapshot look_and_destroy(struct segment_writer *writer)
{
    struct wsdbg_snapshot snapshot = segment_snapshot(writer);
    segment_writer_destroy(writer);
    return snapshot;
}

/* `count` arrivals with the values 1, 2, 3 ...: events that leave the slot alone. */
static inline void arrivals(struct segment_writer *writer, struct segment_warp *warp, uint32_t count)
{
    for (uint32_t i = 1; i <= count; i++)
        segment_writer_event(writer, warp,
                             (struct segment_event){.kind = WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX, .value = i});
}

#endif
