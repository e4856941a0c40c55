/* code_case.c - questions to the machine's state and the code of a case.  See code_case.h.
 *
 * Reads: the snapshot.  Writes: nothing.
 */
#include "diagnose/code_case.h"

#include "diagnose/phrase.h"
#include "diagnose/wait_graph.h"

/* A bulk copy takes microseconds, milliseconds at worst when it faults pages in; looks are about 100 ms apart. */
#define TRANSFER_EXCLUDED_NS 50000000ull

bool wsdbg_case_is_of_machine(const struct wsdbg_case *c)
{
    bool has_events = false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->part_count > 0)
            return true;
        has_events |= row->last.kind != WSDBG_EVENT_NONE || row->history_count > 0;
    }
    return c->warp_count > 0 && !has_events && (c->snapshot->part_count > 0 || c->snapshot->look_count > 0);
}

/* The same CTA in the look before; WSDBG_NONE = it was not there. */
static uint32_t cta_before(const struct wsdbg_snapshot *now, uint32_t cta)
{
    const uint32_t grid = wsdbg_snapshot_same_grid(now, now->ctas[cta].grid, now->before);
    return grid == WSDBG_NONE ? WSDBG_NONE : wsdbg_snapshot_same_cta(now, cta, now->before, grid);
}

static bool word_changed(const struct wsdbg_snapshot *before, const struct wsdbg_barrier *row, uint32_t cta)
{
    for (size_t i = 0; i < before->barrier_count; i++) {
        const struct wsdbg_barrier *other = &before->barriers[i];
        if (other->cta == cta && other->kind == row->kind && other->id == row->id && other->stage == row->stage)
            return other->word.known && row->word.known && other->word.value != row->word.value;
    }
    return false;
}

static bool words_changed(const struct wsdbg_case *c)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    for (uint32_t i = 0; i < c->cta_count; i++) {
        const uint32_t was = cta_before(snapshot, c->ctas[i]);
        for (size_t b = 0; b < snapshot->barrier_count; b++)
            if (snapshot->barriers[b].cta == c->ctas[i] && snapshot->barriers[b].kind == WSDBG_BARRIER_MBARRIER &&
                (was == WSDBG_NONE || word_changed(snapshot->before, &snapshot->barriers[b], was)))
                return true;
    }
    return false;
}

/* Warps that moved between the looks are shown as running. */
static bool some_warp_moved(const struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_RUNNING || wsdbg_case_warp(c, w)->state == WSDBG_WARP_UNKNOWN)
            return true;
    return false;
}

static uint32_t process_of(const struct wsdbg_snapshot *snapshot, uint32_t context)
{
    return context < snapshot->context_count ? snapshot->contexts[context].process_id : 0;
}

/* The newest look at the case's process among the first `count` ones; NULL = none. */
static const struct wsdbg_look_row *look_at_case(const struct wsdbg_case *c, size_t count)
{
    const uint32_t process_id = process_of(c->snapshot, c->snapshot->grids[c->grid].context);
    while (count-- > 0)
        if (c->snapshot->looks[count].process_id == 0 || c->snapshot->looks[count].process_id == process_id)
            return &c->snapshot->looks[count];
    return NULL;
}

/* The look before may be one at another process. */
static bool before_shows_case(const struct wsdbg_case *c)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot, *before = snapshot->before;
    const uint32_t process_id = process_of(snapshot, snapshot->grids[c->grid].context);
    for (size_t i = 0; before && i < before->grid_count; i++)
        if (process_of(snapshot, before->grids[i].context) == process_id)
            return true;
    return before && snapshot->looks[0].process_id == 0;
}

enum wsdbg_motion wsdbg_case_motion(const struct wsdbg_case *c)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const struct wsdbg_look_row *last = look_at_case(c, snapshot->look_count);
    const struct wsdbg_look_row *look = last ? look_at_case(c, (size_t)(last - snapshot->looks)) : NULL;
    if (!look)
        return WSDBG_MOTION_UNKNOWN;
    const bool apart = last->time_ns >= look->time_ns + TRANSFER_EXCLUDED_NS;
    if (last->moved == 0 && last->barriers_changed.known && last->barriers_changed.value == 0)
        return apart ? WSDBG_MOTION_STILL : WSDBG_MOTION_UNKNOWN;
    if (!before_shows_case(c))
        return WSDBG_MOTION_UNKNOWN;
    /* Something moved somewhere: here? */
    if (words_changed(c))
        return WSDBG_MOTION_MOVED;
    return apart && !some_warp_moved(c) ? WSDBG_MOTION_STILL : WSDBG_MOTION_UNKNOWN;
}

bool wsdbg_case_looked_twice(const struct wsdbg_case *c)
{
    const struct wsdbg_look_row *last = look_at_case(c, c->snapshot->look_count);
    return last && look_at_case(c, (size_t)(last - c->snapshot->looks));
}

bool wsdbg_case_saw_movement(const struct wsdbg_case *c)
{
    if (!c->of_machine)
        return !c->quiet;
    if (!wsdbg_case_looked_twice(c))
        return false;
    bool moved = c->moved;
    for (uint32_t w = 0; w < c->warp_count; w++)
        moved |=
            wsdbg_case_warp(c, w)->state == WSDBG_WARP_RUNNING && look_at_case(c, c->snapshot->look_count)->moved > 0;
    return moved;
}

const struct wsdbg_part *wsdbg_code_parts(const struct wsdbg_case *c, uint32_t warp, uint32_t *count)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    *count = row->part_count;
    return row->part_count ? &c->snapshot->parts[row->part_first] : NULL;
}

uint32_t wsdbg_code_lanes_gone(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count, gone = UINT32_MAX;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    if (wsdbg_case_warp(c, warp)->state == WSDBG_WARP_EXITED)
        return gone;
    for (uint32_t i = 0; i < count; i++)
        gone &= ~parts[i].lanes;
    return count ? gone : 0;
}

static bool set_holds(const struct wsdbg_access_row *access, uint32_t value)
{
    const uint32_t first = access->address.value;
    if (access->places == 1 || access->stride == 0 || value < first)
        return value == first;
    return (value - first) % access->stride == 0 &&
           (access->places == 0 || (value - first) / access->stride < access->places);
}

static enum wsdbg_match match_place(const struct wsdbg_access_row *access, struct wsdbg_optional_u32 place)
{
    if (!access->address.known || !place.known)
        return WSDBG_MATCH_OPEN;
    if (!set_holds(access, place.value))
        return access->certain ? WSDBG_MATCH_NO : WSDBG_MATCH_OPEN;
    return access->places == 1 && access->certain ? WSDBG_MATCH_ONE : WSDBG_MATCH_MAY;
}

enum wsdbg_match wsdbg_access_match(const struct wsdbg_case *c, const struct wsdbg_access_row *access, uint32_t barrier)
{
    if (barrier >= c->snapshot->barrier_count)
        return WSDBG_MATCH_OPEN;
    const struct wsdbg_barrier *row = &c->snapshot->barriers[barrier];
    switch (row->kind) {
    case WSDBG_BARRIER_MBARRIER:
        return wsdbg_is_mbarrier_access(access->kind) ? match_place(access, row->shared_offset) : WSDBG_MATCH_NO;
    case WSDBG_BARRIER_NAMED:
        return wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_NAMED) ? match_place(access, wsdbg_known_u32(row->id))
                                                                  : WSDBG_MATCH_NO;
    default:
        return WSDBG_MATCH_ONE;
    }
}

/* The first row at or behind `first` that is of the warp or of one behind it. */
static size_t reaches_from(const struct wsdbg_snapshot *snapshot, size_t first, size_t warp)
{
    size_t end = snapshot->reach_count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (snapshot->reaches[middle].warp < warp)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

const struct wsdbg_reach *wsdbg_code_reaches(const struct wsdbg_case *c, uint32_t warp, uint32_t *count)
{
    const size_t row = c->warps[warp];
    const size_t first = reaches_from(c->snapshot, 0, row);
    *count = (uint32_t)(reaches_from(c->snapshot, first, row + 1) - first);
    return c->snapshot->reaches + first;
}

const struct wsdbg_reach *wsdbg_code_reach(const struct wsdbg_case *c, uint32_t warp, uint32_t access)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (reaches[i].access == access)
            return &reaches[i];
    return NULL;
}

const struct wsdbg_walk_row *wsdbg_code_walk(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    const struct wsdbg_walk_row *walk = NULL;
    for (size_t i = 0; i < s->walk_count; i++)
        if (s->walks[i].warp == c->warps[warp] &&
            (!walk || __builtin_popcount(s->walks[i].lanes) > __builtin_popcount(walk->lanes)))
            walk = &s->walks[i];
    return walk;
}

/* An instruction that takes its barrier from a register has an access for each barrier, all of one site.  The warp may
 * have a reach of another one of these than the step names. */
bool wsdbg_code_may_have_taken(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_step_row *step)
{
    const struct wsdbg_access_row *rows = c->snapshot->accesses;
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    bool any = false;
    if (step->access >= c->snapshot->access_count || rows[step->access].site == wsdbg_case_warp(c, warp)->site)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        if (reaches[i].access >= c->snapshot->access_count || rows[reaches[i].access].site != rows[step->access].site)
            continue;
        if (!reaches[i].before_known || reaches[i].before_most > 0)
            return true;
        any = true;
    }
    return !any;
}

const struct wsdbg_access_row *wsdbg_code_access(const struct wsdbg_case *c, const struct wsdbg_reach *reach)
{
    if (reach->access >= c->snapshot->access_count || c->snapshot->accesses[reach->access].kind > 31)
        return NULL;
    return &c->snapshot->accesses[reach->access];
}

bool wsdbg_access_is_near(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_access_row *access,
                          uint32_t barrier)
{
    return barrier >= c->snapshot->barrier_count || access->any_rank ||
           c->snapshot->barriers[barrier].kind == WSDBG_BARRIER_CLUSTER ||
           c->snapshot->barriers[barrier].cta == wsdbg_case_warp(c, warp)->cta;
}

enum wsdbg_can wsdbg_code_can(const struct wsdbg_case *c, uint32_t warp, wsdbg_access_kinds kinds, uint32_t barrier,
                              uint32_t *access)
{
    uint32_t count;
    enum wsdbg_can best = WSDBG_CAN_NOT;
    if (access)
        *access = WSDBG_NONE;
    if (wsdbg_case_warp(c, warp)->state == WSDBG_WARP_EXITED)
        return WSDBG_CAN_NOT;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    if (count == 0)
        return WSDBG_CAN_DOUBTFUL;
    for (uint32_t i = 0; i < count && best < WSDBG_CAN; i++) {
        const struct wsdbg_access_row *row = wsdbg_code_access(c, &reaches[i]);
        if (!row || reaches[i].after == 0 || !wsdbg_is_of_kinds(row->kind, kinds) ||
            !wsdbg_access_is_near(c, warp, row, barrier))
            continue;
        const enum wsdbg_match match = wsdbg_access_match(c, row, barrier);
        const enum wsdbg_can can = match == WSDBG_MATCH_NO                              ? WSDBG_CAN_NOT
                                   : match == WSDBG_MATCH_OPEN && barrier != WSDBG_NONE ? WSDBG_CAN_DOUBTFUL
                                   : reaches[i].after == 1                              ? WSDBG_CAN_DOUBTFUL
                                                                                        : WSDBG_CAN;
        if (can > best && access)
            *access = reaches[i].access;
        best = can > best ? can : best;
    }
    return best;
}

struct wsdbg_warp_set wsdbg_code_able(const struct wsdbg_case *c, wsdbg_access_kinds kinds, uint32_t barrier,
                                      enum wsdbg_can at_least)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_code_can(c, w, kinds, barrier, NULL) >= at_least)
            wsdbg_set_add(&set, w);
    return set;
}

uint32_t wsdbg_code_behind(const struct wsdbg_case *c, uint32_t warp, wsdbg_access_kinds kinds, uint32_t barrier,
                           uint32_t *times)
{
    uint32_t count, behind = 0, most = 0;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *row = wsdbg_code_access(c, &reaches[i]);
        if (!row || !wsdbg_is_of_kinds(row->kind, kinds) || !wsdbg_access_is_near(c, warp, row, barrier) ||
            reaches[i].after > 0 || !reaches[i].before_known || reaches[i].before_most == 0 ||
            wsdbg_access_match(c, row, barrier) < WSDBG_MATCH_MAY)
            continue;
        behind++;
        most = reaches[i].before_most > most ? reaches[i].before_most : most;
    }
    if (times)
        *times = most;
    return behind;
}

bool wsdbg_code_arrives_anew(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *row = wsdbg_code_access(c, &reaches[i]);
        const bool has_been = reaches[i].before_known && reaches[i].before_most > 0;
        if (row && wsdbg_is_of_kinds(row->kind, WSDBG_KINDS_ARRIVAL) && reaches[i].after > 0 && !has_been &&
            wsdbg_access_is_near(c, warp, row, barrier) && wsdbg_access_match(c, row, barrier) != WSDBG_MATCH_NO)
            return true;
    }
    return false;
}

enum wsdbg_can wsdbg_code_could(const struct wsdbg_case *c, uint32_t warp, wsdbg_access_kinds kinds, uint32_t barrier)
{
    enum wsdbg_can could = WSDBG_CAN_NOT;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *row = &c->snapshot->accesses[i];
        const enum wsdbg_match match = wsdbg_access_match(c, row, barrier);
        if (row->grid != c->grid || !wsdbg_is_of_kinds(row->kind, kinds) ||
            !wsdbg_access_is_near(c, warp, row, barrier) || match == WSDBG_MATCH_NO)
            continue;
        const struct wsdbg_reach *reach = wsdbg_code_reach(c, warp, i);
        const bool known = reach && reach->before_known;
        if (known && reach->before_most == 0)
            continue;
        if (!known || match == WSDBG_MATCH_OPEN)
            return WSDBG_CAN_DOUBTFUL;
        could = WSDBG_CAN;
    }
    return could;
}

struct wsdbg_optional_u32 wsdbg_code_role(const struct wsdbg_case *c, const struct wsdbg_warp_set *warps,
                                          uint32_t barrier)
{
    const uint32_t first = wsdbg_first_of(warps);
    const struct wsdbg_name *name = c->snapshot->barriers[barrier].name;
    const uint32_t roles = name ? name->arriving_roles : 0;
    if (first != WSDBG_NONE)
        return wsdbg_case_warp(c, first)->role;
    return roles && !(roles & (roles - 1)) ? wsdbg_known_u32((uint32_t)__builtin_ctz(roles))
                                           : (struct wsdbg_optional_u32){0};
}

enum wsdbg_match wsdbg_code_has(const struct wsdbg_case *c, wsdbg_access_kinds kinds, uint32_t barrier,
                                uint32_t *access)
{
    enum wsdbg_match best = WSDBG_MATCH_NO;
    if (access)
        *access = WSDBG_NONE;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *row = &c->snapshot->accesses[i];
        if (row->grid != c->grid || !wsdbg_is_of_kinds(row->kind, kinds))
            continue;
        const enum wsdbg_match match = wsdbg_access_match(c, row, barrier);
        if (match > best && access)
            *access = i;
        best = match > best ? match : best;
    }
    return best;
}

bool wsdbg_word_of(const struct wsdbg_case *c, uint32_t barrier, struct wsdbg_barrier_word *out)
{
    if (barrier >= c->snapshot->barrier_count)
        return false;
    const struct wsdbg_barrier *row = &c->snapshot->barriers[barrier];
    if (row->kind != WSDBG_BARRIER_MBARRIER || !row->phase.known || !row->pending_arrivals.known ||
        !row->expected_arrivals.known || !row->pending_tx_bytes.known)
        return false;
    *out = (struct wsdbg_barrier_word){.barrier = barrier,
                                       .phase = row->phase.value,
                                       .pending = row->pending_arrivals.value,
                                       .expected = row->expected_arrivals.value,
                                       .bytes = (int64_t)row->pending_tx_bytes.value};
    out->untouched = out->pending == out->expected && out->bytes == 0;
    return true;
}

bool wsdbg_word_next(const struct wsdbg_case *c, uint32_t barrier, uint32_t *at, struct wsdbg_barrier_word *out)
{
    const struct wsdbg_barrier *mine = &c->snapshot->barriers[barrier];
    while (*at < c->snapshot->barrier_count) {
        const struct wsdbg_barrier *row = &c->snapshot->barriers[(*at)++];
        if (row->cta == mine->cta && row->kind == mine->kind && row->id == mine->id && wsdbg_word_of(c, *at - 1, out))
            return true;
    }
    return false;
}

bool wsdbg_code_waits_for_one_of(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    for (uint32_t i = row->part_first; i < row->part_first + row->part_count; i++)
        if (c->snapshot->parts[i].of_several)
            return true;
    return false;
}

bool wsdbg_code_wait(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_barrier_word *out)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    return row->state == WSDBG_WARP_WAIT_MBARRIER && row->parity.known && wsdbg_word_of(c, row->barrier, out) &&
           out->phase == row->parity.value && !wsdbg_code_waits_for_one_of(c, warp);
}

/* Some warp is outside of any wait, or in one that the hardware ends. */
static bool somebody_runs(const struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_wait_node *node = &c->graph->nodes[w];
        const enum wsdbg_warp_state state = wsdbg_case_warp(c, w)->state;
        const bool by_hardware = state == WSDBG_WARP_WAIT_WGMMA || state == WSDBG_WARP_WAIT_BULK;
        if (state != WSDBG_WARP_EXITED && (!node->waits || (by_hardware && node->outside)))
            return true;
    }
    return false;
}

enum wsdbg_confidence wsdbg_code_cap(const struct wsdbg_case *c, enum wsdbg_confidence wanted)
{
    enum wsdbg_confidence cap = WSDBG_CONFIDENCE_PROVEN;
    if (!c->still || somebody_runs(c))
        cap = WSDBG_CONFIDENCE_LIKELY;
    if (c->moved || (!c->still && somebody_runs(c)))
        cap = WSDBG_CONFIDENCE_POSSIBLE;
    return wanted < cap ? wanted : cap;
}

bool wsdbg_code_is_waited_on(const struct wsdbg_case *c, uint32_t barrier)
{
    const struct wsdbg_barrier *rows = c->snapshot->barriers;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->state == WSDBG_WARP_WAIT_MBARRIER && row->barrier < c->snapshot->barrier_count &&
            row->cta == rows[barrier].cta && rows[row->barrier].id == rows[barrier].id)
            return true;
    }
    return false;
}

const struct wsdbg_history_event *wsdbg_code_recorded_wait(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    const struct wsdbg_optional_u32 parity = wsdbg_case_warp(c, warp)->parity;
    const struct wsdbg_history_event *last = count ? &events[count - 1] : NULL;
    const bool waits = last && last->kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN;
    return waits && (!parity.known || parity.value == last->parity) ? last : NULL;
}
