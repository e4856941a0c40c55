/* race_sync.c - what a warp learns from synchronisation, and what it tells; see race.h.
 *
 * The edges are those of the PTX ISA, "Memory Consistency Model" and "Parallel Synchronization and Communication
 * Instructions"; docs/design/races.md says where they are weaker.
 * Reads and writes: what warps know, and what was released at barriers and addresses.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "hopper/device.h"
#include "hopper/race.h"
#include "hopper/race_state.h"
#include "ptx/parse.h"

enum { PLACES_FIRST = 64, TEXT_BYTES = 160 };

static struct hopper_race_place **slot_of(struct hopper_race_place **rows, size_t capacity, uint64_t key)
{
    size_t i = (key * 0x9e3779b97f4a7c15ull) >> 32 & (capacity - 1);
    while (rows[i] && rows[i]->key != key)
        i = (i + 1) & (capacity - 1);
    return &rows[i];
}

static bool grow(struct hopper_race_places *places)
{
    const size_t capacity = places->capacity ? 2 * places->capacity : PLACES_FIRST;
    struct hopper_race_place **const rows = calloc(capacity, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < places->capacity; i++)
        if (places->rows[i])
            *slot_of(rows, capacity, places->rows[i]->key) = places->rows[i];
    free(places->rows);
    places->rows = rows;
    places->capacity = capacity;
    return true;
}

/* NULL: there is none, or no memory for a new one. */
static struct hopper_race_place *find_place(struct hopper_race_places *places, uint64_t key, bool make)
{
    if (make && 2 * (places->count + 1) > places->capacity && !grow(places))
        return NULL;
    if (!places->capacity)
        return NULL;
    struct hopper_race_place **const slot = slot_of(places->rows, places->capacity, key);
    if (!*slot && make && (*slot = calloc(1, sizeof **slot))) {
        (*slot)->key = key;
        places->count++;
    }
    return *slot;
}

static void text_of(const struct hopper_step *step, char text[TEXT_BYTES])
{
    wsdbg_ptx_text(step->program, hopper_race_site(step), text, TEXT_BYTES);
    char *const operands = strpbrk(text[0] == '@' && strchr(text, ' ') ? strchr(text, ' ') + 1 : text, " \t");
    if (operands)
        *operands = '\0';
}

/* What a release says; a relaxed operation says what a fence before it did, and which asynchronous work is over. */
static void release(const struct hopper_race_warp *agent, struct race_knowledge *to, bool is_relaxed, bool is_wide)
{
    if (!is_relaxed) {
        race_knowledge_join(to, &agent->now);
        return;
    }
    race_knowledge_join(to, &agent->fenced[is_wide]);
    race_clock_join(&to->ways[RACE_SEEN], &agent->now.ways[RACE_SEEN], true);
    race_clock_join(&to->ways[RACE_SEEN_INIT], &agent->now.ways[RACE_SEEN_INIT], false);
}

/* ---- fences ---- */

void hopper_race_fence(struct hopper_step *step)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    char text[TEXT_BYTES];
    if (!agent)
        return;
    text_of(step, text);
    struct race_clock *const ways = agent->now.ways;
    if (strstr(text, "mbarrier_init")) {
        race_clock_join(&ways[RACE_SEEN_INIT], &ways[RACE_SEEN], false);
    } else if (strstr(text, "tensormap")) {
        if (strstr(text, ".acquire"))
            race_clock_join(&ways[RACE_SEEN_MAP], &ways[RACE_SEEN], false);
    } else if (strstr(text, "async")) {
        race_clock_join(&ways[RACE_SEEN_ASYNC], &ways[RACE_SEEN], false);
        race_clock_join(&ways[RACE_SEEN_INIT], &ways[RACE_SEEN], false);
    } else if (!strstr(text, "alias")) {
        race_knowledge_join(&agent->now, &agent->pending);
        race_knowledge_join(&agent->fenced[0], &agent->now);
        if (!strstr(text, ".cta"))
            race_knowledge_join(&agent->fenced[1], &agent->now);
    }
    hopper_race_tick(agent);
}

/* ---- barriers of the CTA and of the cluster ---- */

static void arrive_turn(struct hopper_race_turn *turns, uint64_t generation, struct hopper_race_warp *agent,
                        bool is_relaxed)
{
    struct hopper_race_turn *const turn = &turns[generation & 1];
    if (turn->generation != generation)
        race_knowledge_free(&turn->known);
    turn->generation = generation;
    release(agent, &turn->known, is_relaxed, false);
    hopper_race_tick(agent);
}

void hopper_race_named_arrive(struct hopper_step *step, uint32_t id, uint64_t generation)
{
    struct hopper_cta *const cta = step->warp->cta;
    struct hopper_race_cluster *const race = hopper_race_cluster(cta->cluster);
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    if (race && agent)
        arrive_turn(race->named[cta->rank].turns[id], generation, agent, false);
}

void hopper_race_named_pass(struct hopper_step *step, uint32_t id, uint64_t generation)
{
    struct hopper_cta *const cta = step->warp->cta;
    struct hopper_race_cluster *const race = hopper_race_cluster(cta->cluster);
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    if (race && agent)
        race_knowledge_join(&agent->now, &race->named[cta->rank].turns[id][generation & 1].known);
}

void hopper_race_cluster_arrive(struct hopper_step *step)
{
    struct hopper_race_cluster *const race = hopper_race_cluster(step->warp->cta->cluster);
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    if (race && agent)
        arrive_turn(race->cluster, step->warp->cta->cluster->generation, agent,
                    step->instruction->flags & WSDBG_PTX_RELAXED);
}

void hopper_race_cluster_wait(struct hopper_step *step, uint32_t parity)
{
    struct hopper_race_cluster *const race = hopper_race_cluster(step->warp->cta->cluster);
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    if (race && agent)
        race_knowledge_join(&agent->now, &race->cluster[parity].known);
}

/* ---- mbarriers ---- */

enum { OPEN, OVER };

static struct hopper_race_place *barrier_of(struct hopper_cta *cta, uint32_t offset, bool make)
{
    struct hopper_race_cluster *const race = hopper_race_cluster(cta->cluster);
    return race ? find_place(&race->places, hopper_race_key(cta, offset), make) : NULL;
}

void hopper_race_mbarrier_init(struct hopper_step *step, struct hopper_cta *cta, uint32_t offset)
{
    struct hopper_race_place *const place = barrier_of(cta, offset, true);
    if (place) {
        race_knowledge_free(&place->released[OPEN]);
        race_knowledge_free(&place->released[OVER]);
    }
    hopper_race_lane(step, WSDBG_PTX_SHARED_CLUSTER, hopper_race_key(cta, offset), sizeof(uint64_t), true, RACE_INIT);
}

/* The warp uses the mbarrier: its initialisation must be known. */
static void use(const struct hopper_step *step, const struct hopper_race_warp *agent, const struct hopper_cta *cta,
                uint32_t offset)
{
    struct race_shadow *const shadow = hopper_race_shared(cta->cluster);
    const uint64_t key = hopper_race_key(cta, offset);
    const struct race_access *const made = shadow ? race_shadow_written(shadow, key) : NULL;
    if (!made || !(made->flags & RACE_INIT) ||
        made->time <= race_clock_time(&agent->now.ways[RACE_SEEN], made->component) ||
        made->time <= race_clock_time(&agent->now.ways[RACE_SEEN_INIT], made->component))
        return;
    const struct race_access access = {.component = agent->component,
                                       .site = hopper_race_site(step),
                                       .agent = agent->agent,
                                       .time = race_clock_time(&agent->now.ways[RACE_SEEN], agent->component)};
    struct hopper_race_context context = {cta->grid, cta->cluster};
    const bool is_remote = cta != step->warp->cta;
    hopper_race_found(&context, is_remote ? RACE_FENCE_INIT : RACE_USE_BEFORE_INIT, key, made, true, &access, false);
}

void hopper_race_mbarrier_arrive(struct hopper_step *step, struct hopper_cta *cta, uint32_t offset)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    struct hopper_race_place *const place = barrier_of(cta, offset, true);
    if (!agent || !place)
        return;
    use(step, agent, cta, offset);
    const uint16_t operation = step->instruction->operation;
    if (operation == WSDBG_PTX_OP_mbarrier_expect_tx || operation == WSDBG_PTX_OP_mbarrier_complete_tx)
        return;
    const bool is_remote = cta != step->warp->cta; /* only the mbarrier's own CTA waits: its fences will do there */
    release(agent, &place->released[OPEN], step->instruction->flags & WSDBG_PTX_RELAXED, is_remote);
    hopper_race_tick(agent);
}

void hopper_race_mbarrier_waited(const struct hopper_step *step, struct hopper_cta *cta, uint32_t offset)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    const struct hopper_race_place *const place = barrier_of(cta, offset, false);
    if (!agent || !place)
        return;
    use(step, agent, cta, offset);
    const bool is_relaxed = step->instruction->flags & WSDBG_PTX_RELAXED;
    race_knowledge_join(is_relaxed ? &agent->pending : &agent->now, &place->released[OVER]);
}

/* For an agent that sees the phase end, copies have happened before, but for those on their way and behind them. */
void hopper_race_mbarrier_phase(struct hopper_cta *cta, uint32_t offset)
{
    struct hopper_race_place *const place = barrier_of(cta, offset, false);
    if (!place)
        return;
    uint32_t over = place->issued;
    for (size_t i = 0; i < place->copy_count; i++)
        if (place->copies[i].number <= over)
            over = place->copies[i].number - 1;
    if (place->component)
        race_clock_raise(&place->released[OPEN].ways[RACE_SEEN], place->component, over);
    race_knowledge_join(&place->released[OVER], &place->released[OPEN]);
    race_knowledge_free(&place->released[OPEN]);
}

uint32_t hopper_race_mbarrier_copy(struct hopper_cta *cta, uint32_t offset, uint32_t byte_count, uint32_t *component)
{
    struct hopper_race_place *const place = barrier_of(cta, offset, true);
    if (!place ||
        !wsdbg_grow((void **)&place->copies, &place->copy_capacity, place->copy_count + 1, sizeof *place->copies))
        return 0;
    if (!place->component)
        place->component = hopper_race_component(cta->cluster, true);
    *component = place->component;
    place->copies[place->copy_count++] = (struct hopper_race_pending){++place->issued, byte_count};
    return place->issued;
}

void hopper_race_mbarrier_bytes(struct hopper_cta *cta, uint32_t offset, uint32_t number, uint32_t byte_count)
{
    struct hopper_race_place *const place = barrier_of(cta, offset, false);
    for (size_t i = 0; place && i < place->copy_count; i++) {
        struct hopper_race_pending *const copy = &place->copies[i];
        if (copy->number != number)
            continue;
        copy->bytes_left -= byte_count < copy->bytes_left ? byte_count : copy->bytes_left;
        if (!copy->bytes_left)
            *copy = place->copies[--place->copy_count];
        return;
    }
}

/* ---- strong operations ---- */

void hopper_race_strong(const struct hopper_step *step, struct hopper_cta *cta, uint64_t address, bool reads,
                        bool writes)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    struct hopper_race_cluster *const shared = cta ? hopper_race_cluster(cta->cluster) : NULL;
    struct hopper_race_grid *const global = cta ? NULL : hopper_race_grid(step->warp->cta->grid);
    struct hopper_race_places *const places = shared ? &shared->places : global ? &global->places : NULL;
    struct hopper_race_place *const place = places ? find_place(places, address, writes) : NULL;
    const uint32_t flags = step->instruction->flags;
    char text[TEXT_BYTES];
    if (!agent || !place)
        return;
    text_of(step, text);
    const bool is_wide = !strstr(text, ".cta.");
    if (reads) {
        struct race_knowledge *const to = flags & WSDBG_PTX_ACQUIRE ? &agent->now : &agent->pending;
        race_knowledge_join(to, &place->released[1]);
        if (place->owner == step->warp->cta || place->has_owners)
            race_knowledge_join(to, &place->released[0]);
    }
    if (!writes)
        return;
    const bool is_relaxed = !(flags & WSDBG_PTX_RELEASE);
    place->has_owners |= place->owner && place->owner != step->warp->cta;
    place->owner = step->warp->cta;
    release(agent, &place->released[0], is_relaxed, false);
    if (is_wide)
        release(agent, &place->released[1], is_relaxed, true);
    hopper_race_tick(agent);
}

/* ---- groups ---- */

static void over(struct hopper_race_warp *agent, uint32_t component, uint32_t time)
{
    if (component)
        race_clock_raise(&agent->now.ways[RACE_SEEN], component, time);
}

void hopper_race_wgmma_fence(struct hopper_step *step)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    if (agent)
        agent->has_wgmma_fence = true;
}

/* A group is work of the whole warpgroup: where it is over for one warp, the operands were read for all four.  So one
 * thread may say for the warpgroup that a slot is free. */
static void group_over(const struct hopper_warp *warp, struct hopper_race_warp *agent, uint32_t done)
{
    enum { WARPS_OF_GROUP = 4 };
    const struct hopper_cta *const cta = warp->cta;
    const uint32_t first = warp->index / WARPS_OF_GROUP * WARPS_OF_GROUP;
    for (uint32_t i = first; i < first + WARPS_OF_GROUP && i < cta->warp_count; i++) {
        struct hopper_race_warp *const other = cta->warps[i].race;
        if (!other)
            continue;
        if (!other->wgmma)
            other->wgmma = hopper_race_component(cta->cluster, true);
        over(agent, other->wgmma, done);
    }
}

void hopper_race_wgmma_wait(struct hopper_step *step, uint32_t done)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    if (!agent)
        return;
    over(agent, agent->wgmma, done);
    group_over(step->warp, agent, done);
    bool is_busy = false;
    for (size_t i = 0; i < agent->busy_count; i++) {
        if (agent->busy[i].group <= done)
            agent->busy[i].group = 0;
        is_busy |= agent->busy[i].group != 0;
    }
    step->warp->watches_registers = is_busy;
}

void hopper_race_bulk_wait(struct hopper_step *step, uint32_t keep, bool reads_only)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    const struct hopper_copy_groups *const groups = step->warp->bulk;
    if (!agent || !groups)
        return;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        const uint32_t open = groups->lanes[lane].open;
        if (!(step->lanes >> lane & 1) || open <= keep)
            continue;
        over(agent, agent->bulk_reads[lane], open - keep);
        if (!reads_only)
            over(agent, agent->bulk_writes[lane], open - keep);
    }
}

void hopper_race_copies_commit(struct hopper_step *step)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    const uint32_t open = hopper_copies_open(step->warp, (unsigned)__builtin_ctz(step->lanes));
    if (agent)
        agent->copy_groups[open % RACE_GROUPS] = agent->copies_issued;
}

void hopper_race_copies_wait(struct hopper_step *step, uint32_t keep, bool all)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    const uint32_t open = hopper_copies_open(step->warp, (unsigned)__builtin_ctz(step->lanes));
    if (agent && all)
        over(agent, agent->copies, agent->copies_issued);
    else if (agent && open > keep)
        over(agent, agent->copies, agent->copy_groups[(open - keep) % RACE_GROUPS]);
}

void hopper_race_copies_arrive(struct hopper_step *step, uint32_t offset)
{
    struct hopper_race_warp *const agent = hopper_race_warp(step->warp);
    struct hopper_race_place *const place = barrier_of(step->warp->cta, offset, true);
    if (!agent || !place)
        return;
    use(step, agent, step->warp->cta, offset);
    release(agent, &place->released[OPEN], false, true);
    if (agent->copies)
        race_clock_raise(&place->released[OPEN].ways[RACE_SEEN], agent->copies, agent->copies_issued);
    hopper_race_tick(agent);
}
