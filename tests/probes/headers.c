/* headers.c - the public headers compile alone as C11 and C++17, and their layout is the promised one. */
#include "wsdbg/ring.h"
#include "wsdbg/session.h"
#include "wsdbg/probe.h"

#include <stddef.h>

/* Offsets are the ABI: a kernel built last year writes them, today's reader reads them. */
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_slot, grid_id) == 16, "slot");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_slot, cta_x) == 24, "slot");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_slot, cta_z) == 32, "slot");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_slot, warp_in_cta) == 36, "slot");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_slot, cluster_id) == 48, "slot");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_slot, role) == 52, "slot");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_slot, check) == 60, "slot");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_config, history_mask) == 20, "config: the probes' PTX reads +20");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_config, slot_count) == 28, "config: the probes' PTX reads +28");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_config, leavers_offset) == 36, "config: the probes' PTX reads +36");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_name, name) == 16, "name");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_launch_row, grid) == 36, "launch");
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_context_row) == 192, "context");
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_function_row) == 288, "function");
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_segment) % 8 == 0, "segment");

int main(void)
{
    return 0;
}
