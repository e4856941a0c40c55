/* transfer.c - see transfer.h.
 *
 * A load reads global memory when its bytes arrive, in one to three pieces that may come in any order.  A store reads
 * shared memory some time after its issue and writes global memory later.
 * Reads and writes: global memory, shared memory of the cluster's CTAs, mbarriers, copy groups.
 */
#include "hopper/transfer.h"

#include <stdlib.h>
#include <string.h>

#include "hopper/combine.h"
#include "hopper/copy_groups.h"
#include "hopper/device.h"
#include "hopper/mbarrier.h"
#include "hopper/race.h"

enum { LATENCY_NS = 700, BYTES_PER_NS = 64, PIECES_MOST = 3, PIECE_BYTES_LEAST = 2048 };

struct work {
    struct hopper_transfer transfer;
    uint32_t first_row, end_row;
    uint32_t filled;
    unsigned char data[]; /* of a copy between its read and its write */
};

static uint64_t latency_ns(uint32_t byte_count)
{
    return LATENCY_NS + byte_count / BYTES_PER_NS;
}

static void add_work(struct hopper_cta *cta)
{
    cta->engine_works++;
}

/* Warps may wait for room in a full engine (copy_groups.c). */
static void take_work(struct hopper_cta *cta)
{
    if (cta->engine_works-- == HOPPER_WORKS_MOST)
        hopper_changed_barrier(cta);
}

/* CTAs whose memory is used are kept. */
static void count_works(const struct hopper_transfer *transfer, void (*count)(struct hopper_cta *cta))
{
    count(transfer->issuer);
    if (transfer->to) {
        count(transfer->to);
        count(transfer->barrier_cta);
    }
}

static struct work *work_create(const struct hopper_transfer *transfer, uint32_t data_bytes)
{
    struct work *const work = malloc(sizeof *work + data_bytes);
    if (work)
        *work = (struct work){.transfer = *transfer, .end_row = hopper_box_rows(&transfer->box)};
    return work;
}

static bool start(struct work *work, uint64_t after_ns, void (*complete)(struct wsdbg_gpu *gpu, void *work))
{
    struct hopper_grid *const grid = work->transfer.issuer->grid;
    struct wsdbg_error *const error = hopper_engine_add(grid->gpu, grid, after_ns, complete, work);
    if (!error) {
        count_works(&work->transfer, add_work);
        return true;
    }
    wsdbg_error_destroy(error);
    free(work);
    return false;
}

/* The engine's call for `work`: it does its part and is gone. */
static void finish(struct work *work, void (*part)(struct work *work))
{
    count_works(&work->transfer, take_work);
    part(work);
    free(work);
}

static bool no_memory(const struct hopper_transfer *transfer)
{
    struct hopper_grid *const grid = transfer->issuer->grid;
    hopper_engine_fault(grid->gpu, grid, HOPPER_OUT_OF_MEMORY, "no memory for a bulk copy");
    return false;
}

static unsigned char *global_memory(const struct work *work, const struct hopper_run *run)
{
    struct hopper_grid *const grid = work->transfer.issuer->grid;
    if (hopper_find_range(grid->gpu, run->address, run->byte_count))
        return (unsigned char *)(uintptr_t)run->address;
    char nearest[256];
    hopper_describe_address(grid->gpu, run->address, nearest, sizeof nearest);
    hopper_engine_fault(grid->gpu, grid, HOPPER_INVALID_ADDRESS,
                        "bulk copy of CTA (%u, %u, %u): %u bytes at 0x%llx: %s", work->transfer.issuer->index[0],
                        work->transfer.issuer->index[1], work->transfer.issuer->index[2], run->byte_count,
                        (unsigned long long)run->address, nearest);
    return NULL;
}

static void combine(const struct hopper_transfer *transfer, unsigned char *to, const unsigned char *from,
                    uint32_t byte_count)
{
    if (transfer->combination.operation == WSDBG_PTX_NO_VARIANT)
        memcpy(to, from, byte_count);
    else
        hopper_combine(transfer->combination, to, from, byte_count);
}

/* The bytes have come: the mbarrier hears of it. */
static void complete_bytes(const struct hopper_transfer *transfer, uint32_t byte_count)
{
    struct hopper_cta *const cta = transfer->barrier_cta;
    if (!hopper_shared(cta, transfer->barrier_offset, sizeof(uint64_t)))
        return; /* its CTA has gone: nobody sees it */
    if (cta->grid->gpu->races)
        hopper_race_mbarrier_bytes(cta, transfer->barrier_offset, transfer->race, byte_count);
    const enum hopper_mbarrier_effect effect =
        hopper_mbarrier_apply(cta, transfer->barrier_offset, HOPPER_MBARRIER_COMPLETE, byte_count, 1,
                              (struct hopper_actor){NULL, WSDBG_PTX_NONE}, NULL);
    if (effect >= HOPPER_MBARRIER_SPENT)
        hopper_engine_fault(cta->grid->gpu, cta->grid, HOPPER_LAUNCH_FAILED,
                            "bulk copy: mbarrier 0x%x of CTA rank %u: %s", transfer->barrier_offset, cta->rank,
                            hopper_mbarrier_effect_text(effect));
}

/* ---- global to shared memory ---- */

static bool load_run(void *context, const struct hopper_run *run)
{
    const struct work *const work = context;
    unsigned char *const to = hopper_shared(work->transfer.to, run->offset, run->byte_count);
    if (!to)
        return true;
    if (!run->is_inside) {
        hopper_box_fill(&work->transfer.box, to, run->byte_count);
        return true;
    }
    const unsigned char *const from = global_memory(work, run);
    if (!from)
        return false;
    memcpy(to, from, run->byte_count);
    hopper_box_convert(&work->transfer.box, to, run->byte_count);
    return true;
}

static void load(struct work *work)
{
    const struct hopper_transfer *const transfer = &work->transfer;
    if (!hopper_box_walk(&transfer->box, transfer->to_offset, work->first_row, work->end_row, load_run, work))
        return;
    hopper_changed_shared(transfer->to);
    complete_bytes(transfer, (work->end_row - work->first_row) * transfer->box.row_bytes);
}

static void load_arrives(struct wsdbg_gpu *gpu, void *work)
{
    (void)gpu;
    finish(work, load);
}

bool hopper_transfer_load(const struct hopper_transfer *transfer)
{
    struct wsdbg_gpu *const gpu = transfer->issuer->grid->gpu;
    const uint32_t rows = hopper_box_rows(&transfer->box), bytes = hopper_box_bytes(&transfer->box);
    uint32_t most = bytes / PIECE_BYTES_LEAST < PIECES_MOST ? bytes / PIECE_BYTES_LEAST : PIECES_MOST;
    most = most > rows ? rows : most;
    const uint32_t pieces = most > 1 ? 1 + hopper_decide(gpu, most) : 1;
    for (uint32_t i = 0; i < pieces; i++) {
        struct work *const work = work_create(transfer, 0);
        if (!work)
            return no_memory(transfer);
        work->first_row = (uint32_t)((uint64_t)rows * i / pieces);
        work->end_row = (uint32_t)((uint64_t)rows * (i + 1) / pieces);
        if (!start(work, latency_ns(bytes), load_arrives))
            return no_memory(transfer);
    }
    return true;
}

/* ---- out of shared memory: read now, written later ---- */

static bool keep_run(void *context, const struct hopper_run *run)
{
    struct work *const work = context;
    if (!run->is_inside)
        return true;
    memcpy(work->data + work->filled, work->transfer.issuer->shared + run->offset, run->byte_count);
    work->filled += run->byte_count;
    return true;
}

static void write_shared(struct work *work)
{
    const struct hopper_transfer *const transfer = &work->transfer;
    unsigned char *const to = hopper_shared(transfer->to, transfer->to_offset, work->filled);
    if (!to)
        return;
    combine(transfer, to, work->data, work->filled);
    hopper_changed_shared(transfer->to);
    complete_bytes(transfer, work->filled);
}

static bool store_run(void *context, const struct hopper_run *run)
{
    struct work *const work = context;
    if (!run->is_inside)
        return true;
    unsigned char *const to = global_memory(work, run);
    if (!to)
        return false;
    combine(&work->transfer, to, work->data + work->filled, run->byte_count);
    work->filled += run->byte_count;
    return true;
}

static void write_global(struct work *work)
{
    const struct hopper_transfer *const transfer = &work->transfer;
    work->filled = 0;
    if (!hopper_box_walk(&transfer->box, transfer->from_offset, 0, work->end_row, store_run, work))
        return;
    hopper_copy_finished(transfer->warp->bulk, transfer->lane, transfer->group);
    hopper_changed_global(transfer->issuer->grid->gpu);
    hopper_changed_barrier(transfer->issuer);
}

static void data_arrives(struct wsdbg_gpu *gpu, void *context)
{
    struct work *const work = context;
    (void)gpu;
    finish(work, work->transfer.to ? write_shared : write_global);
}

/* The second half of the way begins. */
static void read_source(struct work *before)
{
    const struct hopper_transfer *const transfer = &before->transfer;
    const uint32_t bytes = hopper_box_bytes(&transfer->box);
    struct work *const work = work_create(transfer, bytes);
    if (!work) {
        no_memory(transfer);
        return;
    }
    hopper_box_walk(&transfer->box, transfer->from_offset, 0, work->end_row, keep_run, work);
    if (!transfer->to) {
        hopper_copy_has_read(transfer->warp->bulk, transfer->lane, transfer->group);
        hopper_changed_barrier(transfer->issuer);
    }
    if (!start(work, latency_ns(bytes), data_arrives))
        no_memory(transfer);
}

static void source_is_due(struct wsdbg_gpu *gpu, void *work)
{
    (void)gpu;
    finish(work, read_source);
}

bool hopper_transfer_send(const struct hopper_transfer *transfer)
{
    struct work *const work = work_create(transfer, 0);
    return (work && start(work, latency_ns(0), source_is_due)) || no_memory(transfer);
}

bool hopper_transfer_bytes(const struct hopper_transfer *transfer, const void *bytes, uint32_t byte_count)
{
    struct work *const work = work_create(transfer, byte_count);
    if (!work)
        return no_memory(transfer);
    memcpy(work->data, bytes, byte_count);
    work->filled = byte_count;
    return start(work, latency_ns(byte_count), data_arrives) || no_memory(transfer);
}
