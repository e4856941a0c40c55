/* access_kind.c - see access_kind.h. */
#include "sass/access_kind.h"

#include <stddef.h>

const char *wsdbg_access_kind_name(enum wsdbg_access_kind kind)
{
    static const char *const names[WSDBG_ACCESS_KIND_COUNT] = {
        [WSDBG_ACCESS_INIT] = "init",
        [WSDBG_ACCESS_WAIT] = "wait",
        [WSDBG_ACCESS_ARRIVE] = "arrive",
        [WSDBG_ACCESS_ARRIVE_EXPECT] = "arrive.expect_tx",
        [WSDBG_ACCESS_EXPECT] = "expect_tx",
        [WSDBG_ACCESS_COMPLETE] = "complete_tx",
        [WSDBG_ACCESS_DROP] = "arrive_drop",
        [WSDBG_ACCESS_COPY_ARRIVE] = "cp.async.mbarrier.arrive",
        [WSDBG_ACCESS_COPY] = "TMA load",
        [WSDBG_ACCESS_INVALIDATE] = "inval",
        [WSDBG_ACCESS_NAMED_SYNC] = "bar.sync",
        [WSDBG_ACCESS_NAMED_ARRIVE] = "bar.arrive",
        [WSDBG_ACCESS_CLUSTER_ARRIVE] = "barrier.cluster.arrive",
        [WSDBG_ACCESS_CLUSTER_WAIT] = "barrier.cluster.wait",
        [WSDBG_ACCESS_REGISTERS_RELEASE] = "setmaxnreg.dec",
        [WSDBG_ACCESS_REGISTERS_REQUEST] = "setmaxnreg.inc",
        [WSDBG_ACCESS_WGMMA] = "wgmma",
        [WSDBG_ACCESS_WGMMA_WAIT] = "wgmma.wait_group",
        [WSDBG_ACCESS_STORE] = "TMA store",
        [WSDBG_ACCESS_STORE_WAIT] = "cp.async.bulk.wait_group",
        [WSDBG_ACCESS_GRID_WAIT] = "griddepcontrol.wait",
        [WSDBG_ACCESS_GRID_LAUNCH] = "griddepcontrol.launch_dependents",
        [WSDBG_ACCESS_EXIT] = "exit",
    };
    return (unsigned)kind < WSDBG_ACCESS_KIND_COUNT && names[kind] ? names[kind] : "unknown access";
}
