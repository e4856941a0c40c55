/* access_kind.h - what an instruction does to a barrier, in the words of PTX. */
#ifndef WSDBG_SASS_ACCESS_KIND_H
#define WSDBG_SASS_ACCESS_KIND_H

#include <stdbool.h>
#include <stdint.h>

enum wsdbg_access_kind {
    WSDBG_ACCESS_INIT = 1,      /* mbarrier.init: count */
    WSDBG_ACCESS_WAIT,          /* test_wait, try_wait: parity */
    WSDBG_ACCESS_ARRIVE,        /* count arrivals a lane */
    WSDBG_ACCESS_ARRIVE_EXPECT, /* one arrival a lane, count = bytes */
    WSDBG_ACCESS_EXPECT,        /* count = bytes */
    WSDBG_ACCESS_COMPLETE,      /* count = bytes */
    WSDBG_ACCESS_DROP,          /* arrive_drop */
    WSDBG_ACCESS_COPY_ARRIVE,   /* cp.async.mbarrier.arrive; with .noinc count = 1, arrivals a lane */
    WSDBG_ACCESS_COPY,          /* a tensor or bulk copy into shared memory that completes bytes on the mbarrier */
    WSDBG_ACCESS_INVALIDATE,
    WSDBG_ACCESS_NAMED_SYNC, /* id, count = threads, 0 = the whole CTA */
    WSDBG_ACCESS_NAMED_ARRIVE,
    WSDBG_ACCESS_CLUSTER_ARRIVE,
    WSDBG_ACCESS_CLUSTER_WAIT,
    WSDBG_ACCESS_REGISTERS_RELEASE, /* setmaxnreg.dec: count */
    WSDBG_ACCESS_REGISTERS_REQUEST, /* setmaxnreg.inc: count */
    WSDBG_ACCESS_WGMMA,
    WSDBG_ACCESS_WGMMA_WAIT,  /* count = groups that may stay under way */
    WSDBG_ACCESS_STORE,       /* a tensor or bulk copy out of shared memory */
    WSDBG_ACCESS_STORE_WAIT,  /* count likewise */
    WSDBG_ACCESS_GRID_WAIT,   /* griddepcontrol.wait */
    WSDBG_ACCESS_GRID_LAUNCH, /* griddepcontrol.launch_dependents */
    WSDBG_ACCESS_EXIT,
    WSDBG_ACCESS_KIND_COUNT
};
static inline bool wsdbg_is_mbarrier_access(uint32_t kind)
{
    return kind >= WSDBG_ACCESS_INIT && kind <= WSDBG_ACCESS_INVALIDATE;
}

const char *wsdbg_access_kind_name(enum wsdbg_access_kind kind); /* "arrive.expect_tx", … */

/* Which memory that other threads may use too is read and written; a bit each.  An access by a generic address may be
 * to either. */
enum wsdbg_traffic {
    WSDBG_READS_SHARED = 1 << 0, /* of any CTA */
    WSDBG_READS_GLOBAL = 1 << 1,
    WSDBG_WRITES_SHARED = 1 << 2,
    WSDBG_WRITES_GLOBAL = 1 << 3,
    WSDBG_TRAFFIC_READS = WSDBG_READS_SHARED | WSDBG_READS_GLOBAL,
    WSDBG_TRAFFIC_WRITES = WSDBG_WRITES_SHARED | WSDBG_WRITES_GLOBAL,
    WSDBG_TRAFFIC_ALL = WSDBG_TRAFFIC_READS | WSDBG_TRAFFIC_WRITES
};

/* How many of a warp's lanes execute the instruction when the warp reaches it. */
enum wsdbg_lanes { WSDBG_LANES_UNKNOWN, WSDBG_LANES_ONE, WSDBG_LANES_ALL };

#endif
