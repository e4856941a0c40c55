/* segment_reader.c - see segment_reader.h. */
#include "evidence/segment_reader.h"

#include <stddef.h>
#include <string.h>

#define LOAD(view, field) __atomic_load_n(&segment_of(view)->field, __ATOMIC_ACQUIRE)

/* Every row type is copied in 8-byte words. */
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_context_row) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_module_row) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_function_row) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_thread_row) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_activity_row) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, off_reason) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, notes) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, names) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, markers) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, refusals) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, graph_kernels) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, allocations) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, communicators) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, collectives) % 8 == 0, "word copies");
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, rank) % 8 == 0, "word copies");

static const struct wsdbg_segment *segment_of(const struct wsdbg_segment_view *view)
{
    return (const struct wsdbg_segment *)view->bytes;
}

void wsdbg_segment_copy(void *destination, const void *source, size_t byte_count)
{
    const uint64_t *words = source;
    unsigned char *out = destination;
    /* Acquire keeps the loads in order without a fence, so a check word read afterwards is read afterwards. */
    for (size_t i = 0; i < byte_count / 8; i++) {
        const uint64_t word = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
        memcpy(out + 8 * i, &word, 8);
    }
}

struct wsdbg_error *wsdbg_segment_check(const struct wsdbg_segment_view *view, const char *label)
{
    if (view->byte_count < WSDBG_SEGMENT_FIRST_BYTES)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: %zu bytes, a segment has at least %zu", label,
                                  view->byte_count, WSDBG_SEGMENT_FIRST_BYTES);
    if (LOAD(view, magic) != WSDBG_SEGMENT_MAGIC)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: offset 0: not a wsdbg segment", label);
    if (LOAD(view, version) != WSDBG_SEGMENT_VERSION || LOAD(view, ring_version) != WSDBG_ABI_VERSION)
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "%s: segment version %u.%u, this wsdbg reads %u.%u", label,
                                  LOAD(view, version), LOAD(view, ring_version), WSDBG_SEGMENT_VERSION,
                                  WSDBG_ABI_VERSION);
    const uint64_t fixed_bytes = LOAD(view, fixed_bytes), used_bytes = LOAD(view, used_bytes);
    if (fixed_bytes < WSDBG_SEGMENT_FIRST_BYTES || used_bytes < fixed_bytes)
        return wsdbg_error_create(
            WSDBG_ERROR_BAD_INPUT, "%s: %llu bytes used of which %llu fixed, expected at least %zu", label,
            (unsigned long long)used_bytes, (unsigned long long)fixed_bytes, WSDBG_SEGMENT_FIRST_BYTES);
    return NULL;
}

static uint32_t at_most(uint32_t count, uint32_t capacity)
{
    return count < capacity ? count : capacity;
}

struct wsdbg_segment_head wsdbg_segment_read_head(const struct wsdbg_segment_view *view)
{
    const bool has_refusals =
        WSDBG_SEGMENT_HAS(LOAD(view, fixed_bytes), refusals) && WSDBG_SEGMENT_HAS(view->byte_count, refusals);
    const bool has_given =
        WSDBG_SEGMENT_HAS(LOAD(view, fixed_bytes), given) && WSDBG_SEGMENT_HAS(view->byte_count, given);
    const bool has_host =
        WSDBG_SEGMENT_HAS(LOAD(view, fixed_bytes), host_state) && WSDBG_SEGMENT_HAS(view->byte_count, host_state);
    const bool has_graphs =
        WSDBG_SEGMENT_HAS(LOAD(view, fixed_bytes), graph_kernels) && WSDBG_SEGMENT_HAS(view->byte_count, graph_kernels);
    const bool has_cards =
        WSDBG_SEGMENT_HAS(LOAD(view, fixed_bytes), network_cards) && WSDBG_SEGMENT_HAS(view->byte_count, network_cards);
    const bool has_exit =
        WSDBG_SEGMENT_HAS(LOAD(view, fixed_bytes), exit_called) && WSDBG_SEGMENT_HAS(view->byte_count, exit_called);
    const bool has_communicators =
        WSDBG_SEGMENT_HAS(LOAD(view, fixed_bytes), collectives) && WSDBG_SEGMENT_HAS(view->byte_count, collectives);
    const uint32_t host = has_host ? LOAD(view, host_state) : WSDBG_HOST_NOT_KNOWN;
    return (struct wsdbg_segment_head){
        .used_bytes = LOAD(view, used_bytes),
        .created_ns = LOAD(view, created_ns),
        .launch_count = LOAD(view, launch_count),
        .activity_count = LOAD(view, activity_count),
        .lost_rows = LOAD(view, lost_rows),
        .left_ns = LOAD(view, left_ns),
        .program_device = LOAD(view, program_device),
        .program_inode = LOAD(view, program_inode),
        .process_id = LOAD(view, process_id),
        .history_request = LOAD(view, history_request),
        .history_done = LOAD(view, history_done),
        .context_count = at_most(LOAD(view, context_count), WSDBG_CONTEXT_ROWS),
        .module_count = at_most(LOAD(view, module_count), WSDBG_MODULE_ROWS),
        .function_count = at_most(LOAD(view, function_count), WSDBG_FUNCTION_ROWS),
        .name_count = at_most(LOAD(view, name_count), WSDBG_NAME_ROWS),
        .thread_count = at_most(LOAD(view, thread_count), WSDBG_THREAD_ROWS),
        .note_count = at_most(LOAD(view, note_count), WSDBG_NOTE_ROWS),
        .refusal_count = has_refusals ? at_most(LOAD(view, refusal_count), WSDBG_REFUSAL_ROWS) : 0,
        .refusals_left_out = has_refusals ? LOAD(view, refusals_left_out) : 0,
        .graph_kernel_count = has_graphs ? at_most(LOAD(view, graph_kernel_count), WSDBG_GRAPH_KERNEL_ROWS) : 0,
        .allocation_count = has_given ? at_most(LOAD(view, allocation_count), WSDBG_ALLOCATION_ROWS) : 0,
        .allocations_left_out = has_given ? LOAD(view, allocations_left_out) : 0,
        .has_given = has_given,
        .host_state = host <= WSDBG_HOST_ALL_BLOCKED ? host : WSDBG_HOST_NOT_KNOWN,
        .has_no_network_card = has_cards && LOAD(view, network_cards) == WSDBG_NETWORK_CARDS_NONE,
        .is_off = LOAD(view, observer_state) == WSDBG_OBSERVER_OFF,
        .exit_called = has_exit && LOAD(view, exit_called) == 1,
        .exit_status = has_exit ? LOAD(view, exit_status) : 0,
        .communicator_count = has_communicators ? at_most(LOAD(view, communicator_count), WSDBG_COMMUNICATOR_ROWS) : 0,
        .communicators_left_out = has_communicators ? LOAD(view, communicators_left_out) : 0,
        .has_rank = WSDBG_SEGMENT_HAS(LOAD(view, fixed_bytes), rank) && WSDBG_SEGMENT_HAS(view->byte_count, rank),
    };
}

void wsdbg_segment_read_context(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_context_row *out)
{
    wsdbg_segment_copy(out, &segment_of(view)->contexts[row], sizeof *out);
    out->device_name[sizeof out->device_name - 1] = '\0';
}

enum wsdbg_ring_memory wsdbg_segment_read_ring_place(const struct wsdbg_segment_view *view, uint32_t row)
{
    if (!WSDBG_SEGMENT_HAS(LOAD(view, fixed_bytes), ring_places) || !WSDBG_SEGMENT_HAS(view->byte_count, ring_places))
        return WSDBG_RING_NOT_KNOWN;
    const uint32_t place = LOAD(view, ring_places[row]);
    return place <= WSDBG_RING_IN_HOST ? (enum wsdbg_ring_memory)place : WSDBG_RING_NOT_KNOWN;
}

void wsdbg_segment_read_module(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_module_row *out)
{
    wsdbg_segment_copy(out, &segment_of(view)->modules[row], sizeof *out);
}

void wsdbg_segment_read_function(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_function_row *out)
{
    wsdbg_segment_copy(out, &segment_of(view)->functions[row], sizeof *out);
    out->name[sizeof out->name - 1] = '\0';
}

void wsdbg_segment_read_name(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_name *out)
{
    wsdbg_segment_copy(out, &segment_of(view)->names[row], sizeof *out);
    out->name[sizeof out->name - 1] = '\0';
}

void wsdbg_segment_read_note(const struct wsdbg_segment_view *view, uint32_t row, char out[WSDBG_TEXT_BYTES])
{
    wsdbg_segment_copy(out, segment_of(view)->notes[row], WSDBG_TEXT_BYTES);
    out[WSDBG_TEXT_BYTES - 1] = '\0';
}

void wsdbg_segment_read_refusal(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_refusal_row *out)
{
    wsdbg_segment_copy(out, &segment_of(view)->refusals[row], sizeof *out);
    out->call[sizeof out->call - 1] = '\0';
    out->name[sizeof out->name - 1] = '\0';
}

void wsdbg_segment_read_graph_kernel(const struct wsdbg_segment_view *view, uint32_t row,
                                     struct wsdbg_graph_kernel_row *out)
{
    wsdbg_segment_copy(out, &segment_of(view)->graph_kernels[row], sizeof *out);
}

void wsdbg_segment_read_off_reason(const struct wsdbg_segment_view *view, char out[WSDBG_TEXT_BYTES])
{
    wsdbg_segment_copy(out, segment_of(view)->off_reason, WSDBG_TEXT_BYTES);
    out[WSDBG_TEXT_BYTES - 1] = '\0';
}

bool wsdbg_segment_read_marker(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_marker_row *out)
{
    const uint64_t fixed_bytes = LOAD(view, fixed_bytes);
    const struct wsdbg_marker_row *source = &segment_of(view)->markers[row];
    *out = (struct wsdbg_marker_row){0};
    if (!WSDBG_SEGMENT_HAS(fixed_bytes, markers) || !WSDBG_SEGMENT_HAS(view->byte_count, markers))
        return true;
    const uint64_t recorded_ns = __atomic_load_n(&source->recorded_ns, __ATOMIC_ACQUIRE);
    wsdbg_segment_copy(out, source, sizeof *out);
    return __atomic_load_n(&source->recorded_ns, __ATOMIC_ACQUIRE) == recorded_ns && out->recorded_ns == recorded_ns;
}

bool wsdbg_segment_read_allocation(const struct wsdbg_segment_view *view, uint32_t row,
                                   struct wsdbg_allocation_row *out)
{
    const struct wsdbg_allocation_row *source = &segment_of(view)->allocations[row];
    const uint64_t number = __atomic_load_n(&source->number, __ATOMIC_ACQUIRE);
    wsdbg_segment_copy(out, source, sizeof *out);
    out->call[sizeof out->call - 1] = '\0';
    return number && out->number == number && __atomic_load_n(&source->number, __ATOMIC_ACQUIRE) == number;
}

void wsdbg_segment_read_given(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_given_row *out)
{
    wsdbg_segment_copy(out, &segment_of(view)->given[row], sizeof *out);
}

bool wsdbg_segment_read_rank(const struct wsdbg_segment_view *view, struct wsdbg_rank_row *out)
{
    const struct wsdbg_rank_row *source = &segment_of(view)->rank;
    const uint32_t version = __atomic_load_n(&source->version, __ATOMIC_ACQUIRE);
    wsdbg_segment_copy(out, source, sizeof *out);
    out->rank_from[sizeof out->rank_from - 1] = '\0';
    out->job[sizeof out->job - 1] = '\0';
    return version && out->version == version && __atomic_load_n(&source->version, __ATOMIC_ACQUIRE) == version;
}

bool wsdbg_segment_read_communicator(const struct wsdbg_segment_view *view, uint32_t row,
                                     struct wsdbg_communicator_row *out)
{
    const struct wsdbg_communicator_row *source = &segment_of(view)->communicators[row];
    const uint64_t number = __atomic_load_n(&source->number, __ATOMIC_ACQUIRE);
    wsdbg_segment_copy(out, source, sizeof *out);
    out->made_by[sizeof out->made_by - 1] = '\0';
    return number && out->number == number && __atomic_load_n(&source->number, __ATOMIC_ACQUIRE) == number;
}

bool wsdbg_segment_read_collective(const struct wsdbg_segment_view *view, uint32_t row,
                                   const struct wsdbg_communicator_row *communicator, uint64_t number,
                                   struct wsdbg_collective_row *out)
{
    const struct wsdbg_collective_row *source = &segment_of(view)->collectives[row][number % WSDBG_COLLECTIVE_ROWS];
    const uint64_t sequence = __atomic_load_n(&source->sequence, __ATOMIC_ACQUIRE);
    wsdbg_segment_copy(out, source, sizeof *out);
    return sequence == number + 1 && out->sequence == sequence && out->communicator == communicator->number &&
           __atomic_load_n(&source->sequence, __ATOMIC_ACQUIRE) == sequence;
}

bool wsdbg_segment_read_thread(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_thread_row *out)
{
    const struct wsdbg_thread_row *source = &segment_of(view)->threads[row];
    wsdbg_segment_copy(out, source, sizeof *out);
    out->call[sizeof out->call - 1] = '\0';
    const uint64_t since_ns = __atomic_load_n(&source->since_ns, __ATOMIC_ACQUIRE);
    return out->thread_id && out->since_ns && out->since_ns == since_ns;
}

bool wsdbg_segment_read_launch(const struct wsdbg_segment_view *view, uint64_t number, struct wsdbg_launch_row *out)
{
    const struct wsdbg_launch_row *source = &segment_of(view)->launches[number % WSDBG_LAUNCH_ROWS];
    if (__atomic_load_n(&source->sequence, __ATOMIC_ACQUIRE) != number + 1)
        return false;
    wsdbg_segment_copy(out, source, sizeof *out);
    return __atomic_load_n(&source->sequence, __ATOMIC_ACQUIRE) == number + 1 && out->sequence == number + 1;
}

bool wsdbg_segment_read_activity(const struct wsdbg_segment_view *view, uint64_t number, struct wsdbg_activity_row *out)
{
    const struct wsdbg_activity_row *source = &segment_of(view)->activities[number % WSDBG_ACTIVITY_ROWS];
    if (__atomic_load_n(&source->sequence, __ATOMIC_ACQUIRE) != number + 1)
        return false;
    wsdbg_segment_copy(out, source, sizeof *out);
    out->name[sizeof out->name - 1] = '\0';
    return __atomic_load_n(&source->sequence, __ATOMIC_ACQUIRE) == number + 1 && out->sequence == number + 1;
}

/* `count` elements at `offset` behind the fixed part, aligned, inside what is used and really there. */
static const void *area(const struct wsdbg_segment_view *view, uint64_t offset, uint64_t count, size_t element_bytes)
{
    const uint64_t used_bytes = LOAD(view, used_bytes);
    const uint64_t end = used_bytes < view->byte_count ? used_bytes : view->byte_count;
    const bool placed = offset >= LOAD(view, fixed_bytes) && offset <= end && offset % 16 == 0;
    if (!placed || count == 0 || count > (end - offset) / element_bytes)
        return NULL;
    return view->bytes + offset;
}

bool wsdbg_segment_sites(const struct wsdbg_segment_view *view, size_t *first, size_t *end)
{
    if (!WSDBG_SEGMENT_HAS(LOAD(view, fixed_bytes), site_counts))
        return false;
    const unsigned char *rows = area(view, LOAD(view, sites_offset), WSDBG_SITES_ROWS, sizeof(struct wsdbg_site_row));
    if (!rows)
        return false;
    *first = (size_t)(rows - view->bytes);
    *end = *first + WSDBG_SITES_ROWS * sizeof(struct wsdbg_site_row);
    return true;
}

const struct wsdbg_slot *wsdbg_segment_slots(const struct wsdbg_segment_view *view,
                                             const struct wsdbg_context_row *context)
{
    return area(view, context->slots_offset, context->slot_count, sizeof(struct wsdbg_slot));
}

const struct wsdbg_event *wsdbg_segment_mirror(const struct wsdbg_segment_view *view,
                                               const struct wsdbg_context_row *context)
{
    const uint32_t depth = context->history_depth;
    if (depth == 0 || depth > WSDBG_HISTORY_DEPTH_MAX || (depth & (depth - 1)) != 0 || context->history_offset == 0)
        return NULL;
    return area(view, context->history_offset, (uint64_t)context->slot_count * depth, sizeof(struct wsdbg_event));
}
