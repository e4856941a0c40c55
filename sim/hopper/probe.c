/* probe.c - slots and histories of warps without probes are written here.
 *
 * Reads: configs.  Writes: slots and events, where the device has memory: a config may hold any address.
 */
#include "hopper/probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "hopper/split.h"

static void write_device(struct wsdbg_gpu *gpu, uint64_t address, const void *bytes, uint32_t byte_count)
{
    if (hopper_find_range(gpu, address, byte_count))
        memcpy((void *)(uintptr_t)address, bytes, byte_count);
}

static void put_event(struct hopper_warp *warp, struct wsdbg_event event)
{
    struct wsdbg_gpu *const gpu = warp->cta->grid->gpu;
    struct hopper_probe *const probe = warp->probe;
    event.sequence = probe->sequence++;
    event.time = (uint32_t)(hopper_time_ns(gpu) >> WSDBG_TIME_SHIFT);
    if (probe->has_history)
        write_device(gpu, probe->ring + (event.sequence & probe->mask) * sizeof event, &event, sizeof event);
    if (!probe->has_history || wsdbg_event_is_milestone(event.kind))
        write_device(gpu, probe->slot, &event, sizeof event);
}

static void tell_inits(struct hopper_warp *warp)
{
    struct hopper_probe *const probe = warp->probe;
    for (uint32_t i = 0; i < probe->init_count; i++) {
        struct hopper_probe_stage stage;
        if (hopper_probe_find(warp->cta, probe->inits[i].offset, &stage))
            put_event(warp, (struct wsdbg_event){.kind = WSDBG_EVENT_MBARRIER_INIT,
                                                 .barrier = stage.id,
                                                 .stage = stage.stage,
                                                 .iteration = WSDBG_NO_ITERATION,
                                                 .value = probe->inits[i].count});
    }
    probe->init_count = 0;
}

void hopper_probe_note_init(struct hopper_warp *warp, uint32_t offset, uint32_t count)
{
    struct hopper_probe *const probe = warp->probe;
    if (probe->init_count == HOPPER_PROBE_INITS)
        tell_inits(warp);
    if (wsdbg_grow((void **)&probe->inits, &probe->init_capacity, probe->init_count + 1u, sizeof *probe->inits))
        probe->inits[probe->init_count++] = (struct hopper_probe_init){offset, count};
}

void hopper_probe_free(struct hopper_probe *probe)
{
    if (probe)
        free(probe->inits);
    free(probe);
}

static void tell_held(struct hopper_warp *warp)
{
    struct hopper_probe *const probe = warp->probe;
    for (uint32_t i = 0; i < probe->held_count; i++)
        put_event(warp, probe->held[i]);
    probe->held_count = 0;
}

static void write_event(struct hopper_warp *warp, struct wsdbg_event event)
{
    warp->probe->last_kind = event.kind;
    tell_inits(warp);
    tell_held(warp);
    put_event(warp, event);
}

/* A warp's last event says what the warp does: a wait of some lanes is not told while others go on. */
static void hold_event(struct hopper_warp *warp, struct wsdbg_event event)
{
    struct hopper_probe *const probe = warp->probe;
    probe->last_kind = event.kind;
    tell_inits(warp);
    if (probe->held_count == HOPPER_PROBE_HELD)
        tell_held(warp);
    probe->held[probe->held_count++] = event;
}

/* Lanes that run, or poll something and wait for no barrier. */
static bool some_go_on(const struct hopper_warp *warp, const struct hopper_split *but)
{
    for (uint32_t i = 0; i < warp->split_count; i++) {
        const struct hopper_split *const split = &warp->splits[i];
        const bool polls = split->wait.kind == HOPPER_SPINS || split->wait.kind == HOPPER_SLEEPS;
        if (split != but && (polls || hopper_split_can_run(split)))
            return true;
    }
    return false;
}

void hopper_probe_blocked(struct hopper_warp *warp)
{
    tell_inits(warp);
    if (warp->probe->held_count && !some_go_on(warp, NULL))
        tell_held(warp);
}

static bool begins_wait(enum wsdbg_event_kind kind)
{
    return kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN || kind == WSDBG_EVENT_NAMED_SYNC_BEGIN ||
           kind == WSDBG_EVENT_CLUSTER_WAIT_BEGIN || kind == WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN;
}

static uint32_t cluster_number(const struct hopper_cta *cta)
{
    const struct wsdbg_gpu_launch *const launch = &cta->grid->launch;
    return cta->index[1] / launch->cluster[1] * (launch->grid[0] / launch->cluster[0]) +
           cta->index[0] / launch->cluster[0];
}

static uint32_t check_of(const struct wsdbg_slot *slot)
{
    return WSDBG_IDENTITY_SEED ^ (uint32_t)slot->grid_id ^ (uint32_t)(slot->grid_id >> 32) ^ slot->cta_x ^ slot->cta_y ^
           slot->cta_z ^ slot->warp_in_cta ^ slot->placement ^ slot->module_id ^ slot->cluster_id ^ slot->grid_ctas;
}

static void write_identity(const struct hopper_warp *warp, const struct wsdbg_config *config)
{
    const struct hopper_cta *const cta = warp->cta;
    struct wsdbg_slot slot = {
        .grid_id = cta->grid->id,
        .cta_x = cta->index[0],
        .cta_y = cta->index[1],
        .cta_z = cta->index[2],
        .warp_in_cta = warp->index | cta->warp_count << 8 | cta->rank << 16 | cta->cluster->cta_count << 24,
        .placement = cta->sm | warp->slot << 16,
        .module_id = config->module_id,
        .cluster_id = cluster_number(cta),
        .grid_ctas = (uint32_t)cta->grid->ctas_total,
    };
    slot.check = check_of(&slot);
    write_device(cta->grid->gpu, warp->probe->slot, &slot, sizeof slot);
}

static struct hopper_probe *probe_create(const struct hopper_warp *warp, const struct wsdbg_config *config)
{
    struct hopper_probe *const probe = calloc(1, sizeof *probe);
    if (!probe)
        return NULL;
    uint64_t place = (uint64_t)warp->cta->sm * config->warps_per_sm + warp->slot;
    place = place < config->slot_count ? place : config->slot_count - 1u;
    probe->slot = config->slots_address + place * sizeof(struct wsdbg_slot);
    probe->ring = config->history_address + place * config->history_stride;
    probe->mask = config->history_mask;
    probe->has_history = config->history_address != config->slots_address;
    for (size_t i = 0; i < HOPPER_PROBE_STAGES; i++) {
        probe->stages[i].round = WSDBG_PTX_NONE;
        probe->stages[i].id = UINT16_MAX;
    }
    return probe;
}

void hopper_probe_begin(struct hopper_warp *warp)
{
    const struct hopper_probes *const probes = warp->cta->grid->launch.module->probes;
    struct wsdbg_config config;
    if (!probes)
        return;
    memcpy(&config, (const void *)(uintptr_t)probes->config_address, sizeof config);
    if (!config.slot_count || !(warp->probe = probe_create(warp, &config)))
        return;
    write_identity(warp, &config);
    write_event(warp, (struct wsdbg_event){.kind = WSDBG_EVENT_BEGIN, .iteration = WSDBG_NO_ITERATION});
}

void hopper_probe_exit(struct hopper_warp *warp)
{
    write_event(warp, (struct wsdbg_event){.kind = WSDBG_EVENT_EXIT, .iteration = WSDBG_NO_ITERATION});
}

/* ---- events of instructions ---- */

static bool has_site(enum wsdbg_event_kind kind)
{
    return kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN || kind == WSDBG_EVENT_MBARRIER_WAIT_END ||
           kind == WSDBG_EVENT_MBARRIER_ARRIVE ||
           (kind >= WSDBG_EVENT_CLUSTER_ARRIVE && kind <= WSDBG_EVENT_GRID_DEPENDENCY_WAIT_END);
}

/* The innermost place in the kernel's own file, behind functions that only wrap a barrier's instruction. */
static uint32_t line_of(const struct hopper_step *step)
{
    const struct wsdbg_ptx_program *const program = step->program;
    uint32_t place = step->instruction->place;
    if (place == WSDBG_PTX_NONE)
        return step->instruction->text_line;
    const uint32_t file = hopper_probe_main_file(program, place);
    while (program->places[place].file != file ||
           (program->places[place].is_wrapper && program->places[place].inlined_at != WSDBG_PTX_NONE))
        place = program->places[place].inlined_at;
    return program->places[place].line;
}

/* What the warp does: what it has done, else what it can still reach. */
static void tell_role_kind(const struct hopper_step *step, enum wsdbg_event_kind kind)
{
    struct hopper_probe *const probe = step->warp->probe;
    if (kind == WSDBG_EVENT_TMA_ISSUE || kind == WSDBG_EVENT_WGMMA_ISSUE)
        probe->done = kind == WSDBG_EVENT_TMA_ISSUE ? WSDBG_ROLE_KIND_LOADS : WSDBG_ROLE_KIND_COMPUTES;
    const uint32_t role = probe->done
                              ? probe->done
                              : hopper_probe_role_kind(step->warp->cta->grid,
                                                       (uint32_t)(step->instruction - step->program->instructions));
    if (role != probe->role)
        write_device(step->gpu, probe->slot + offsetof(struct wsdbg_slot, role), &role, sizeof role);
    probe->role = role;
}

void hopper_probe_event(const struct hopper_step *step, enum wsdbg_event_kind kind, struct hopper_probe_stage stage,
                        uint32_t parity, uint32_t value)
{
    tell_role_kind(step, kind);
    if (has_site(kind))
        value |= line_of(step) & 0xffff;
    const struct wsdbg_event event = {.kind = (uint8_t)kind,
                                      .barrier = stage.id,
                                      .stage = (uint8_t)(stage.stage | parity << WSDBG_PARITY_SHIFT),
                                      .iteration = stage.iteration,
                                      .value = value};
    if (begins_wait(kind) && some_go_on(step->warp, step->split))
        hold_event(step->warp, event);
    else
        write_event(step->warp, event);
}
