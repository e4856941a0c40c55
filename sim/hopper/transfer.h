/* transfer.h - bulk copies while they are under way: between global memory and shared memory of a cluster.
 *
 * Private to hopper/.  Made by execute_bulk.c; carried out by transfer.c when the scheduler says that they complete.
 */
#ifndef WSDBG_HOPPER_TRANSFER_H
#define WSDBG_HOPPER_TRANSFER_H

#include "hopper/box.h"
#include "hopper/combine.h"
#include "hopper/warp.h"

struct hopper_transfer {
    struct hopper_cta *issuer;
    struct hopper_box box; /* in global memory; between CTAs: its bytes alone */
    struct hopper_combination combination;
    /* Into shared memory: where to, and the mbarrier that counts the bytes. */
    struct hopper_cta *to;
    uint32_t to_offset, barrier_offset;
    struct hopper_cta *barrier_cta;
    /* Out of the issuer's shared memory: where from. */
    uint32_t from_offset;
    /* Into global memory: the thread's group. */
    struct hopper_warp *warp;
    uint32_t lane, group;
    uint32_t race; /* the race checker's number of it */
};

/* Each is given up to the engine at once; false after a fault of the grid (no memory). */
bool hopper_transfer_load(const struct hopper_transfer *transfer);
/* `byte_count` bytes that are known already, into shared memory of `to`; the box is not used. */
bool hopper_transfer_bytes(const struct hopper_transfer *transfer, const void *bytes, uint32_t byte_count);
/* Out of the issuer's shared memory: into that of `to`, or with `to` NULL into global memory. */
bool hopper_transfer_send(const struct hopper_transfer *transfer);

#endif
