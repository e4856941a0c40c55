/* poll_writers.c - what a warp polls, and who but the warps that are seen could still write it.
 *
 * Reads: parts, last events, the process's memory, what its contexts were given, host threads, looks.  Writes: nothing.
 *
 * Shared memory: only the cluster can write it.  Device memory that is not shared: only work that this process gives
 * the GPU can write it, and no work can come where no host thread is free to give any (host_waits.c).  Host memory: any
 * thread of the process can write it by a plain store; a blocked thread cannot.  Host memory that the program allocated
 * itself may also be mapped by another process.  Memory open to another GPU: that GPU can write it while it has work
 * that is not known to be done.  Memory shared with another process: that process can always write it, as long as it
 * lives: where all processes that wsdbg follows beside this one have ended, one of them had memory of others, and this
 * one's was given to processes of this machine alone, it is judged as not shared.  Memory of an unknown allocation: the
 * instruction decides; a read with system scope means that an outside writer is expected.
 *
 * A warp whose own poll somebody may end may write, once it goes on, what other warps poll.
 */
#include "diagnose/poll_writers.h"

#include <stdlib.h>

#include "base/grow.h"
#include "diagnose/code_case.h"
#include "diagnose/code_graph.h"
#include "diagnose/hangs_alone.h"
#include "diagnose/phrase.h"

const struct wsdbg_part *wsdbg_polling_part(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const struct wsdbg_part *first = NULL;
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!wsdbg_warp_state_polls(parts[i].state))
            continue;
        if (parts[i].state == row->state && parts[i].site == row->site)
            return &parts[i];
        first = first ? first : &parts[i];
    }
    return first;
}

bool wsdbg_event_polls_system(const struct wsdbg_warp_row *warp)
{
    return warp->last.kind != WSDBG_EVENT_POLL_BEGIN || warp->last.stage != WSDBG_POLL_OF_GPU;
}

/* Lanes of a grid that poll at one place in the code. */
struct place {
    uint32_t grid, site;
    const struct wsdbg_allocation *memory; /* of all that were read; NULL = not known, or not one */
};

struct wsdbg_polls {
    struct place *places;
    size_t count, capacity;
    bool *later_work;  /* by context: some poll of its process may be ended from outside */
    bool *hangs_alone; /* by context: some CTA of its process does (hangs_alone.h) */
};

/* ---- memory ---- */

static const struct wsdbg_allocation *memory_at(const struct wsdbg_case *c, struct wsdbg_optional_u64 address)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const uint32_t context = snapshot->grids[c->grid].context;
    const struct wsdbg_launch *launch = wsdbg_launch_of(snapshot, c->grid);
    if (!address.known || context >= snapshot->context_count)
        return NULL;
    return wsdbg_snapshot_allocation(snapshot, snapshot->contexts[context].process_id, address.value,
                                     launch ? launch->time_ns : 0);
}

static bool is_of_others(const struct wsdbg_allocation_row *row)
{
    switch (row->kind) {
    case WSDBG_ALLOCATION_DEVICE:
    case WSDBG_ALLOCATION_PITCHED:
    case WSDBG_ALLOCATION_POOL:
    case WSDBG_ALLOCATION_HOST:
    case WSDBG_ALLOCATION_REGISTERED:
    case WSDBG_ALLOCATION_MANAGED:
    case WSDBG_ALLOCATION_VMM:
        return row->flags & WSDBG_ALLOCATION_EXPORTED;
    default:
        return true;
    }
}

/* To no network card, other machine or multicast object; memory that cards may be let into unseen: the process has
 * none. */
static bool is_given_to_processes(const struct wsdbg_allocation_row *row, const struct wsdbg_context *own)
{
    return row->flags & WSDBG_ALLOCATION_EXPORTED && !(row->flags & WSDBG_ALLOCATION_ELSEWHERE) &&
           (!(row->flags & WSDBG_ALLOCATION_CARDS) || own->no_network_card);
}

static bool is_import(const struct wsdbg_allocation *memory)
{
    return memory->row.kind == WSDBG_ALLOCATION_IMPORTED || memory->row.kind == WSDBG_ALLOCATION_VMM_IMPORTED;
}

bool wsdbg_took_memory(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (size_t i = 0; i < snapshot->allocation_count; i++)
        if (snapshot->allocations[i].process_id == process_id && is_import(&snapshot->allocations[i]))
            return true;
    return false;
}

bool wsdbg_others_have_ended(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    bool had_memory = false;
    for (size_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (context->process_id == process_id)
            continue;
        if (!context->process_ended)
            return false;
        had_memory = had_memory || wsdbg_took_memory(snapshot, context->process_id);
    }
    return had_memory;
}

/* Other processes could write it, were they alive. */
static bool was_of_others(const struct wsdbg_case *c, const struct wsdbg_allocation_row *row)
{
    const uint32_t own = c->snapshot->grids[c->grid].context;
    return own < c->snapshot->context_count && is_of_others(row) &&
           is_given_to_processes(row, &c->snapshot->contexts[own]) &&
           wsdbg_others_have_ended(c->snapshot, c->snapshot->contexts[own].process_id);
}

static bool is_of_host(const struct wsdbg_allocation_row *row)
{
    return row->kind == WSDBG_ALLOCATION_HOST || row->kind == WSDBG_ALLOCATION_REGISTERED ||
           row->kind == WSDBG_ALLOCATION_MANAGED || row->flags & WSDBG_ALLOCATION_HOST_ACCESS;
}

/* ---- who may write ---- */

static bool may_work(const struct wsdbg_context *context)
{
    if (!context->alive || (context->given_ns.known && context->given_ns.value == 0))
        return false;
    return context->unfinished_ns.known || !context->given_ns.known || !context->done_given_ns.known ||
           context->given_ns.value > context->done_given_ns.value;
}

/* A context of the process on one of those devices, but not the grid's own. */
static bool another_may_work(const struct wsdbg_case *c, uint32_t devices)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const uint32_t own = snapshot->grids[c->grid].context;
    for (uint32_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        const bool meant = context->device_ordinal >= 32 || devices >> context->device_ordinal & 1;
        if (i != own && meant && context->process_id == snapshot->contexts[own].process_id && may_work(context))
            return true;
    }
    return false;
}

/* Devices, but for the grid's own, whose work reaches the memory: those that were let in, and the one it lies on. */
static uint32_t devices_beside(const struct wsdbg_case *c, const struct wsdbg_allocation_row *row)
{
    const uint32_t own = c->snapshot->contexts[c->snapshot->grids[c->grid].context].device_ordinal;
    if (row->device == own)
        return row->peer_devices;
    return row->device < 32 ? row->peer_devices | 1u << row->device : UINT32_MAX;
}

/* What only work that is given to the GPU can write. */
static enum wsdbg_writer writer_by_work(const struct wsdbg_case *c)
{
    if (wsdbg_host_is_held_back(c))
        return WSDBG_WRITER_HELD_BACK;
    return wsdbg_host_waits(c) ? WSDBG_WRITER_NOBODY : WSDBG_WRITER_HOST_WORK;
}

static enum wsdbg_writer writer_of_host_memory(const struct wsdbg_case *c, const struct wsdbg_allocation_row *row)
{
    const enum wsdbg_writer by_work = writer_by_work(c);
    if (row->kind == WSDBG_ALLOCATION_REGISTERED || by_work == WSDBG_WRITER_HOST_WORK)
        return WSDBG_WRITER_HOST_STORE;
    return by_work == WSDBG_WRITER_NOBODY && another_may_work(c, UINT32_MAX) ? WSDBG_WRITER_PEER : by_work;
}

static enum wsdbg_writer writer_of(const struct wsdbg_case *c, const struct wsdbg_poll *poll)
{
    if (poll->shared)
        return WSDBG_WRITER_NOBODY;
    if (!poll->memory) /* with rows left out it may be anybody's */
        return poll->system || c->snapshot->allocations_left_out ? WSDBG_WRITER_SYSTEM : writer_by_work(c);
    const struct wsdbg_allocation_row *row = &poll->memory->row;
    if (is_of_others(row) && !poll->others_ended)
        return WSDBG_WRITER_PROCESS;
    if (is_of_host(row))
        return writer_of_host_memory(c, row);
    return another_may_work(c, devices_beside(c, row)) ? WSDBG_WRITER_PEER : writer_by_work(c);
}

static const struct place *place_of(const struct wsdbg_polls *polls, uint32_t grid, uint32_t site)
{
    for (size_t i = 0; polls && i < polls->count; i++)
        if (polls->places[i].grid == grid && polls->places[i].site == site)
            return &polls->places[i];
    return NULL;
}

/* The program may have registered host memory that other processes map too. */
bool wsdbg_others_may_write(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    const uint32_t context = snapshot->grids[grid].context;
    if (context >= snapshot->context_count || snapshot->allocations_left_out)
        return true;
    for (size_t i = 0; i < snapshot->allocation_count; i++) {
        const struct wsdbg_allocation *memory = &snapshot->allocations[i];
        if (memory->process_id == snapshot->contexts[context].process_id &&
            (is_of_others(&memory->row) || memory->row.kind == WSDBG_ALLOCATION_REGISTERED))
            return true;
    }
    const struct wsdbg_case c = {.snapshot = snapshot, .grid = grid};
    return another_may_work(&c, UINT32_MAX);
}

/* But for what other warps may do. */
static struct wsdbg_poll complete(const struct wsdbg_case *c, struct wsdbg_poll poll)
{
    const struct place *place = poll.address.known ? NULL : place_of(c->polls, c->grid, poll.site);
    if (!poll.shared)
        poll.memory = place ? place->memory : memory_at(c, poll.address);
    poll.host_store = !poll.shared && (poll.memory ? is_of_host(&poll.memory->row) : poll.system);
    poll.others_ended = poll.memory && was_of_others(c, &poll.memory->row);
    poll.may_time_out = poll.site < c->snapshot->site_count && c->snapshot->sites[poll.site].may_time_out;
    poll.writer = writer_of(c, &poll);
    if (poll.writer == WSDBG_WRITER_NOBODY && poll.may_time_out)
        poll.writer = WSDBG_WRITER_CLOCK;
    return poll;
}

static struct wsdbg_poll poll_in_code(const struct wsdbg_case *c, enum wsdbg_warp_state state, uint32_t site,
                                      struct wsdbg_optional_u64 address)
{
    return complete(c, (struct wsdbg_poll){.site = site,
                                           .barrier = WSDBG_NONE,
                                           .address = address,
                                           .shared = state == WSDBG_WARP_SPIN_SHARED,
                                           .system = wsdbg_code_polls_system(c->snapshot, site)});
}

/* ---- all polls ---- */

/* A warp of the case polls what somebody outside of its cluster may write. */
static bool case_may_get_later_work(const struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count;
        const struct wsdbg_part *parts = wsdbg_code_parts(c, w, &count);
        for (uint32_t i = 0; i < count; i++)
            if (wsdbg_warp_state_polls(parts[i].state) &&
                poll_in_code(c, parts[i].state, parts[i].site, parts[i].address).writer != WSDBG_WRITER_NOBODY)
                return true;
    }
    return false;
}

/* A case of one grid alone, which is enough to ask who may write. */
static struct wsdbg_case case_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_polls *polls, uint32_t grid)
{
    return (struct wsdbg_case){.snapshot = snapshot, .grid = grid, .of_machine = true, .polls = polls};
}

/* The grid of lanes that poll; WSDBG_NONE where they do not, or the row is not sound. */
static uint32_t grid_of_poll(const struct wsdbg_snapshot *snapshot, const struct wsdbg_part *part)
{
    if (!wsdbg_warp_state_polls(part->state) || part->warp >= snapshot->warp_count)
        return WSDBG_NONE;
    const uint32_t cta = snapshot->warps[part->warp].cta;
    const uint32_t grid = cta < snapshot->cta_count ? snapshot->ctas[cta].grid : WSDBG_NONE;
    return grid < snapshot->grid_count ? grid : WSDBG_NONE;
}

static bool add_place(struct wsdbg_polls *polls, uint32_t grid, const struct wsdbg_part *part,
                      const struct wsdbg_allocation *memory)
{
    const struct place *known = place_of(polls, grid, part->site);
    if (known) {
        struct place *place = &polls->places[known - polls->places];
        place->memory = place->memory == memory ? memory : NULL;
        return true;
    }
    if (!wsdbg_grow((void **)&polls->places, &polls->capacity, polls->count + 1, sizeof *polls->places))
        return false;
    polls->places[polls->count++] = (struct place){.grid = grid, .site = part->site, .memory = memory};
    return true;
}

static bool find_places(const struct wsdbg_snapshot *snapshot, struct wsdbg_polls *polls)
{
    for (size_t i = 0; i < snapshot->part_count; i++) {
        const struct wsdbg_part *part = &snapshot->parts[i];
        const uint32_t grid = part->address.known ? grid_of_poll(snapshot, part) : WSDBG_NONE;
        if (grid == WSDBG_NONE)
            continue;
        const struct wsdbg_case c = case_of(snapshot, polls, grid);
        if (!add_place(polls, grid, part, memory_at(&c, part->address)))
            return false;
    }
    return true;
}

static bool may_get_later_work(const struct wsdbg_polls *polls, const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    const uint32_t context = snapshot->grids[grid].context;
    return polls && context < snapshot->context_count && polls->later_work[context];
}

/* Notes something of all contexts of the grid's process: its warps may write what the others poll. */
static void note_of_process(const struct wsdbg_snapshot *snapshot, uint32_t grid, bool *by_context)
{
    const uint32_t context = snapshot->grids[grid].context;
    for (uint32_t i = 0; i < snapshot->context_count; i++)
        if (context >= snapshot->context_count ||
            snapshot->contexts[i].process_id == snapshot->contexts[context].process_id)
            by_context[i] = true;
}

/* Polls at one place of one word are judged alike, and lie beside one another. */
static void find_later_work(const struct wsdbg_snapshot *snapshot, struct wsdbg_polls *polls)
{
    const struct wsdbg_part *last = NULL;
    uint32_t last_grid = WSDBG_NONE;
    for (size_t i = 0; i < snapshot->part_count; i++) {
        const struct wsdbg_part *part = &snapshot->parts[i];
        const uint32_t grid = grid_of_poll(snapshot, part);
        const bool same = last && grid == last_grid && part->site == last->site &&
                          part->address.known == last->address.known && part->address.value == last->address.value;
        if (grid == WSDBG_NONE || !snapshot->grids[grid].running || same || may_get_later_work(polls, snapshot, grid))
            continue;
        const struct wsdbg_case c = case_of(snapshot, polls, grid);
        if (poll_in_code(&c, part->state, part->site, part->address).writer != WSDBG_WRITER_NOBODY)
            note_of_process(snapshot, grid, polls->later_work); /* a warp of it may go on */
        last = part;
        last_grid = grid;
    }
}

struct wsdbg_error *wsdbg_polls_create(const struct wsdbg_snapshot *snapshot, struct wsdbg_polls **out)
{
    struct wsdbg_polls *polls = calloc(1, sizeof *polls);
    *out = NULL;
    if (polls)
        *polls = (struct wsdbg_polls){
            .later_work = calloc(snapshot->context_count + 1, sizeof *polls->later_work),
            .hangs_alone = calloc(snapshot->context_count + 1, sizeof *polls->hangs_alone),
        };
    if (!polls || !polls->later_work || !polls->hangs_alone || !find_places(snapshot, polls)) {
        wsdbg_polls_destroy(polls);
        return &wsdbg_error_no_memory;
    }
    find_later_work(snapshot, polls);
    for (uint32_t grid = 0; grid < snapshot->grid_count; grid++)
        if (wsdbg_grid_is_sound(snapshot, &snapshot->grids[grid]) && wsdbg_some_cta_hangs_alone(snapshot, grid))
            note_of_process(snapshot, grid, polls->hangs_alone);
    *out = polls;
    return NULL;
}

void wsdbg_polls_destroy(struct wsdbg_polls *polls)
{
    if (!polls)
        return;
    free(polls->later_work);
    free(polls->hangs_alone);
    free(polls->places);
    free(polls);
}

/* ---- one poll ---- */

struct wsdbg_poll wsdbg_poll_at(const struct wsdbg_case *c, enum wsdbg_warp_state state, uint32_t site,
                                struct wsdbg_optional_u64 address)
{
    struct wsdbg_poll poll = poll_in_code(c, state, site, address);
    if (poll.writer == WSDBG_WRITER_NOBODY &&
        (poll.shared ? case_may_get_later_work(c) : may_get_later_work(c->polls, c->snapshot, c->grid)))
        poll.writer = WSDBG_WRITER_WARP;
    return poll;
}

static struct wsdbg_poll poll_of_part(const struct wsdbg_case *c, const struct wsdbg_part *part)
{
    struct wsdbg_poll poll = wsdbg_poll_at(c, part->state, part->site, part->address);
    poll.barrier = part->barrier;
    poll.width_bytes = part->width_bytes;
    poll.value = part->value;
    return poll;
}

/* Of a warp whose lanes poll at several places, the one at which somebody may still end the poll. */
static struct wsdbg_poll poll_of_lanes(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_part *main)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    struct wsdbg_poll poll = poll_of_part(c, main);
    for (uint32_t i = 0; i < count && poll.writer == WSDBG_WRITER_NOBODY; i++)
        if (wsdbg_warp_state_polls(parts[i].state)) {
            const struct wsdbg_poll other = poll_of_part(c, &parts[i]);
            poll = other.writer != WSDBG_WRITER_NOBODY ? other : poll;
        }
    return poll;
}

struct wsdbg_poll wsdbg_poll_of(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const struct wsdbg_part *part = wsdbg_polling_part(c, warp);
    if (!c->of_machine)
        return complete(c, (struct wsdbg_poll){.site = WSDBG_NONE,
                                               .barrier = part ? part->barrier : row->barrier,
                                               .system = wsdbg_event_polls_system(row)});
    if (part)
        return poll_of_lanes(c, warp, part);
    struct wsdbg_poll poll = wsdbg_poll_at(c, row->state, row->site, (struct wsdbg_optional_u64){0});
    poll.barrier = row->barrier;
    return poll;
}

bool wsdbg_writer_may_hang(const struct wsdbg_case *c)
{
    const uint32_t context = c->snapshot->grids[c->grid].context;
    return c->of_machine && c->polls && context < c->snapshot->context_count && c->polls->hangs_alone[context];
}

/* ---- words ---- */

struct wsdbg_phrase wsdbg_say_ended(const struct wsdbg_case *c, const struct wsdbg_poll *poll)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    struct wsdbg_phrase phrase = {""};
    size_t length = 0, count = 0;
    uint32_t last = 0;
    if (!poll->others_ended || poll->writer != WSDBG_WRITER_NOBODY)
        return phrase;
    for (size_t i = 0; i < snapshot->context_count && length < sizeof phrase.text / 2; i++) {
        const uint32_t id = snapshot->contexts[i].process_id;
        if (id == last || !snapshot->contexts[i].process_ended || !wsdbg_took_memory(snapshot, id))
            continue;
        length += wsdbg_print(phrase.text + length, sizeof phrase.text - length, count++ ? ", %u" : "%u", id);
        last = id;
    }
    wsdbg_print(phrase.text + length, sizeof phrase.text - length, count == 1 ? " has ended" : " have ended");
    return phrase;
}
