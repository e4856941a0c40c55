/* event_fields.h - which fields of a ring event mean something for its kind.  Read by: the store, the viewer.
 * Follows the table in wsdbg/ring.h.  A field that means nothing is NULL in the database. */
#ifndef WSDBG_STORE_EVENT_FIELDS_H
#define WSDBG_STORE_EVENT_FIELDS_H

#include "model/snapshot.h"

enum wsdbg_event_field {
    WSDBG_FIELD_BARRIER = 1,
    WSDBG_FIELD_STAGE = 2,
    WSDBG_FIELD_PARITY = 4,
    WSDBG_FIELD_VALUE = 8,
    WSDBG_FIELD_SITE = 16, /* the value holds a site, so a source line */
};

static inline unsigned wsdbg_event_fields(unsigned kind)
{
    enum { MBARRIER = WSDBG_FIELD_BARRIER | WSDBG_FIELD_STAGE, SITE = WSDBG_FIELD_VALUE | WSDBG_FIELD_SITE };
    switch (kind) {
    case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
    case WSDBG_EVENT_MBARRIER_WAIT_END:
        return MBARRIER | WSDBG_FIELD_PARITY | SITE;
    case WSDBG_EVENT_MBARRIER_ARRIVE:
        return MBARRIER | SITE;
    case WSDBG_EVENT_MBARRIER_INIT:
    case WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX:
    case WSDBG_EVENT_MBARRIER_EXPECT_TX:
    case WSDBG_EVENT_TMA_ISSUE:
        return MBARRIER | WSDBG_FIELD_VALUE;
    case WSDBG_EVENT_NAMED_ARRIVE:
    case WSDBG_EVENT_NAMED_SYNC_BEGIN:
    case WSDBG_EVENT_USER_MARK:
        return WSDBG_FIELD_BARRIER | WSDBG_FIELD_VALUE;
    case WSDBG_EVENT_NAMED_SYNC_END:
        return WSDBG_FIELD_BARRIER;
    case WSDBG_EVENT_POLL_BEGIN:
    case WSDBG_EVENT_POLL_END:
        return WSDBG_FIELD_BARRIER | SITE;
    case WSDBG_EVENT_WGMMA_ISSUE:
        return WSDBG_FIELD_STAGE;
    case WSDBG_EVENT_CLUSTER_WAIT_BEGIN:
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN:
        return SITE;
    case WSDBG_EVENT_ROLE_BEGIN:
    case WSDBG_EVENT_REGISTERS_REQUEST:
    case WSDBG_EVENT_REGISTERS_GRANTED:
    case WSDBG_EVENT_REGISTERS_RELEASE:
    case WSDBG_EVENT_TMA_STORE_ISSUE:
    case WSDBG_EVENT_BULK_WAIT_BEGIN:
    case WSDBG_EVENT_WGMMA_WAIT_BEGIN:
    case WSDBG_EVENT_TILE_BEGIN:
        return WSDBG_FIELD_VALUE;
    default:
        return 0;
    }
}

/* BEGIN keeps its count of lost events there, which is no iteration. */
static inline bool wsdbg_event_has_iteration(const struct wsdbg_history_event *event)
{
    return event->iteration != WSDBG_NO_ITERATION && event->kind != WSDBG_EVENT_NONE &&
           event->kind != WSDBG_EVENT_BEGIN;
}

#endif
