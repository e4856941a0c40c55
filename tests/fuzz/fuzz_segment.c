/* fuzz_segment.c - any bytes as a segment, to a snapshot with histories.
 *
 * The input is a list of patches {u32 offset, u8 length, bytes} applied to a small healthy segment: a
 * segment is megabytes of zeros, which no fuzzer finds its way through.  Offsets count 4-byte words from
 * the parts that matter most, picked by the top bits.
 */
#include "fuzz/fuzz_targets.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/snapshot_build.h"

enum { SLOTS = 16, DEPTH = 8 };

static const size_t slots_at = (sizeof(struct wsdbg_segment) + 63) / 64 * 64;
static const size_t history_at = (sizeof(struct wsdbg_segment) + 63) / 64 * 64 + SLOTS * sizeof(struct wsdbg_slot);
static const size_t total_bytes = (sizeof(struct wsdbg_segment) + 63) / 64 * 64 + SLOTS * sizeof(struct wsdbg_slot) +
                                  SLOTS * DEPTH * sizeof(struct wsdbg_event);

static void make_healthy(struct wsdbg_segment *segment)
{
    segment->magic = WSDBG_SEGMENT_MAGIC;
    segment->version = WSDBG_SEGMENT_VERSION;
    segment->ring_version = WSDBG_ABI_VERSION;
    segment->fixed_bytes = sizeof *segment;
    segment->used_bytes = total_bytes;
    segment->process_id = 1;
    segment->history_done = 1;
    segment->context_count = segment->module_count = segment->function_count = segment->name_count = 1;
    segment->launch_count = 2;
    segment->contexts[0] = (struct wsdbg_context_row){.state = WSDBG_CONTEXT_ALIVE,
                                                      .warps_per_sm = SLOTS,
                                                      .slot_count = SLOTS,
                                                      .slots_offset = slots_at,
                                                      .history_offset = history_at,
                                                      .history_depth = DEPTH,
                                                      .history_copied = 1};
    segment->modules[0] = (struct wsdbg_module_row){.probed = 1, .names_count = 1};
    segment->functions[0].registers = 168;
    for (uint64_t i = 0; i < 2; i++)
        segment->launches[i] = (struct wsdbg_launch_row){.sequence = i + 1, .grid = {1, 1, 1}, .block = {32, 1, 1}};
}

/* Where a patch goes: the top three bits of its offset choose a part. */
static size_t place_of(uint32_t offset)
{
    static const size_t parts[8] = {0,
                                    offsetof(struct wsdbg_segment, history_request),
                                    offsetof(struct wsdbg_segment, modules),
                                    offsetof(struct wsdbg_segment, functions),
                                    offsetof(struct wsdbg_segment, launches),
                                    offsetof(struct wsdbg_segment, threads),
                                    (sizeof(struct wsdbg_segment) + 63) / 64 * 64,
                                    (sizeof(struct wsdbg_segment) + 63) / 64 * 64 + SLOTS * sizeof(struct wsdbg_slot)};
    return (parts[offset >> 29] + (size_t)(offset & 0xffff) * 4) % total_bytes;
}

/* Identities with a right check, or the fuzzer would never get past it. */
static void heal_identities(unsigned char *bytes)
{
    struct wsdbg_slot *slots = (struct wsdbg_slot *)(bytes + slots_at);
    for (uint32_t i = 0; i < SLOTS; i++) {
        uint32_t words[16], check = WSDBG_IDENTITY_SEED;
        slots[i].placement = slots[i].warp_in_cta ? i << 16 : slots[i].placement;
        memcpy(words, &slots[i], sizeof words);
        for (int w = 4; w <= 12; w++)
            check ^= words[w];
        if (slots[i].warp_in_cta && slots[i].check == 0)
            slots[i].check = check ^ words[14];
    }
}

static void apply_patches(unsigned char *segment, const uint8_t *bytes, size_t count)
{
    while (count > 5) {
        uint32_t offset;
        memcpy(&offset, bytes, sizeof offset);
        size_t length = bytes[4];
        bytes += 5;
        count -= 5;
        length = length < count ? length : count;
        const size_t place = place_of(offset);
        length = length < total_bytes - place ? length : total_bytes - place;
        memcpy(segment + place, bytes, length);
        bytes += length;
        count -= length;
    }
}

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    /* Exactly as long as it says, so that the address sanitizer sees one byte too many. */
    unsigned char *segment = calloc(1, total_bytes);
    if (!segment)
        return 0;
    make_healthy((struct wsdbg_segment *)segment);
    apply_patches(segment, bytes, count);
    heal_identities(segment);
    const struct wsdbg_segment_view view = {segment, total_bytes};
    struct wsdbg_tracker tracker = {0}, *trackers[] = {&tracker};
    struct wsdbg_snapshot snapshot;
    struct wsdbg_error *error = wsdbg_segment_check(&view, "input");
    if (!error)
        error = wsdbg_tracker_look(&tracker, &view, true, 1000);
    if (!error)
        wsdbg_tracker_read_histories(&tracker, 1000);
    const struct wsdbg_build_request request = {
        .processes = trackers, .process_count = 1, .now_ns = 1000, .histories = true};
    if (!error)
        error = wsdbg_snapshot_build(&request, &snapshot);
    if (!error)
        wsdbg_snapshot_deinit(&snapshot);
    wsdbg_error_destroy(error);
    wsdbg_tracker_deinit(&tracker);
    free(segment);
    return 0;
}
