/* standstill.c - see standstill.h.
 *
 * What a look is believed to show: a warp in a wait that the code or the record names, and that other warps end, stands
 * there, for the look itself saw no movement; one in a wait that the hardware ends, or at any other place, stands only
 * where two looks found the same registers too (machine/look_standing.c).  Words of mbarriers that changed are
 * movement.
 */
#include "diagnose/standstill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/case.h"

/* Looks come late on a loaded machine, and the next one then early. */
#define SPREAD_PARTS 7u / 8u

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static uint64_t mix_optional(uint64_t hash, bool known, uint64_t value)
{
    return mix(mix(hash, known), known ? value : 0);
}

/* ---- one look ---- */

static bool is_of_machine(const struct wsdbg_warp_row *warp)
{
    return warp->part_count > 0;
}

static bool stands(const struct wsdbg_warp_row *warp)
{
    const bool by_hardware = warp->state == WSDBG_WARP_WAIT_WGMMA || warp->state == WSDBG_WARP_WAIT_BULK;
    if (warp->state == WSDBG_WARP_UNKNOWN || (by_hardware && is_of_machine(warp)))
        return warp->stands != 0;
    return warp->state == WSDBG_WARP_EXITED || wsdbg_warp_state_waits(warp->state);
}

static uint64_t mix_barrier(uint64_t hash, const struct wsdbg_snapshot *snapshot, uint32_t barrier)
{
    if (barrier >= snapshot->barrier_count)
        return mix(hash, WSDBG_NONE);
    const struct wsdbg_barrier *row = &snapshot->barriers[barrier];
    hash = mix(mix(mix(hash, row->kind), row->id), row->stage);
    return mix_optional(hash, row->shared_offset.known, row->shared_offset.value);
}

/* A wait's site is that of the instruction that waits, wherever in its loop the warp is; of a warp that gathers its own
 * lanes, or of which nothing is known, it is the warp's own place. */
static uint64_t mix_warp(uint64_t hash, const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp)
{
    hash = mix(mix(hash, warp->warp), warp->state);
    hash = mix_optional(mix_barrier(hash, snapshot, warp->barrier), warp->parity.known, warp->parity.value);
    if (!is_of_machine(warp))
        return mix(mix(mix(hash, warp->last.kind), warp->last.gpu_time_ns), warp->stands);
    const bool waits = wsdbg_warp_state_waits(warp->state) && warp->state != WSDBG_WARP_RECONVERGE;
    const struct wsdbg_site *site = waits ? wsdbg_snapshot_site(snapshot, warp->site) : NULL;
    hash = mix_optional(hash, site != NULL, site ? site->pc : 0);
    return warp->state == WSDBG_WARP_RECONVERGE ? hash : mix(hash, warp->stands);
}

static uint64_t mix_words(uint64_t hash, const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid)
{
    for (size_t i = 0; i < snapshot->barrier_count; i++) {
        const struct wsdbg_barrier *row = &snapshot->barriers[i];
        if (row->cta - grid->cta_first < grid->cta_count && row->word.known)
            hash = mix(mix_barrier(hash, snapshot, (uint32_t)i), row->word.value);
    }
    return hash;
}

/* The record has only CTAs that wrote into it: another one of the cluster may still arrive. */
static bool cluster_is_seen(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid,
                            const struct wsdbg_cta *cta)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < grid->cta_count; i++)
        seen += snapshot->ctas[grid->cta_first + i].cluster_id == cta->cluster_id;
    return seen >= cta->cluster_size;
}

static bool cta_stands(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid,
                       const struct wsdbg_cta *cta)
{
    bool machine = false;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        const struct wsdbg_warp_row *warp = &snapshot->warps[cta->warp_first + w];
        machine |= is_of_machine(warp);
        if (!stands(warp))
            return false;
    }
    return cta->warp_count >= grid->warps_per_cta &&
           (machine || cta->cluster_size <= 1 || cluster_is_seen(snapshot, grid, cta));
}

uint64_t wsdbg_standstill_picture(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    const struct wsdbg_grid *row = &snapshot->grids[grid];
    if (!row->running || row->moves || row->cta_count == 0 || !wsdbg_grid_is_sound(snapshot, row))
        return 0;
    uint64_t hash = mix(1, row->cta_count);
    for (uint32_t i = 0; i < row->cta_count; i++) {
        const struct wsdbg_cta *cta = &snapshot->ctas[row->cta_first + i];
        if (!cta_stands(snapshot, row, cta))
            return 0;
        hash = mix(mix(mix(hash, cta->x), cta->y), cta->z);
        for (uint32_t w = 0; w < cta->warp_count; w++)
            hash = mix_warp(hash, snapshot, &snapshot->warps[cta->warp_first + w]);
    }
    return mix_words(hash, snapshot, row) | 1;
}

/* ---- several looks ---- */

void wsdbg_standstills_deinit(struct wsdbg_standstills *standstills)
{
    free(standstills->rows);
    *standstills = (struct wsdbg_standstills){0};
}

static struct wsdbg_standing standing_of(const struct wsdbg_snapshot *snapshot, uint32_t grid, uint64_t now_ns)
{
    const struct wsdbg_grid *row = &snapshot->grids[grid];
    struct wsdbg_standing standing = {
        .grid_id = row->grid_id, .picture = wsdbg_standstill_picture(snapshot, grid), .first_ns = now_ns, .looks = 1};
    if (row->context < snapshot->context_count) {
        standing.process_id = snapshot->contexts[row->context].process_id;
        standing.context = snapshot->contexts[row->context].handle;
    }
    return standing;
}

/* Goes on with what the look before found, if that was the same. */
static void carry_on(struct wsdbg_standing *now, const struct wsdbg_standstills *before)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct wsdbg_standing *row = &before->rows[i];
        if (row->process_id != now->process_id || row->context != now->context || row->grid_id != now->grid_id ||
            row->picture != now->picture)
            continue;
        now->first_ns = row->first_ns;
        now->looks = row->looks + 1;
    }
}

static bool says_more(const struct wsdbg_standstill *a, const struct wsdbg_standstill *b)
{
    if (b->grid == WSDBG_NONE || !a->outside != !b->outside)
        return b->grid == WSDBG_NONE || !a->outside;
    return a->looks > b->looks;
}

struct wsdbg_standstill wsdbg_standstills_note(struct wsdbg_standstills *standstills,
                                               const struct wsdbg_snapshot *snapshot, uint64_t now_ns)
{
    struct wsdbg_standstill best = {.grid = WSDBG_NONE};
    struct wsdbg_standstills newest = {.rows = calloc(snapshot->grid_count + 1, sizeof *newest.rows)};
    for (uint32_t i = 0; newest.rows && i < snapshot->grid_count; i++) {
        struct wsdbg_standing row = standing_of(snapshot, i, now_ns);
        if (!row.picture)
            continue;
        carry_on(&row, standstills);
        newest.rows[newest.count++] = row;
        const struct wsdbg_standstill found = {i, wsdbg_outside_can_end(snapshot, i), row.looks, now_ns - row.first_ns};
        if (says_more(&found, &best))
            best = found;
    }
    wsdbg_standstills_deinit(standstills);
    *standstills = newest;
    return best;
}

bool wsdbg_standstill_is_hang(const struct wsdbg_standstill *standstill, uint64_t stall_ns)
{
    return standstill->grid != WSDBG_NONE && standstill->outside == WSDBG_OUTSIDE_NOBODY &&
           standstill->looks >= WSDBG_STANDSTILL_LOOKS &&
           standstill->lasted_ns >= (WSDBG_STANDSTILL_LOOKS - 1) * stall_ns * SPREAD_PARTS;
}

/* ---- the verdict ---- */

/* On a GPU whose code is not understood, the sentence says why there is no cause. */
static const char *no_cause(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    return wsdbg_causes_are_known(snapshot, &snapshot->grids[grid])
               ? "No warp of this kernel moves, and nothing can end that; the cause is not known."
               : "No warp of this kernel moves, and nothing can end that; " WSDBG_CAUSES_KNOWN ".";
}

static struct wsdbg_error *add_unknown(struct wsdbg_diagnosis *diagnosis, const struct wsdbg_snapshot *snapshot,
                                       uint32_t grid)
{
    struct wsdbg_finding *finding = wsdbg_diagnosis_add(diagnosis, WSDBG_CAUSE_UNKNOWN, WSDBG_CONFIDENCE_LIKELY, grid);
    if (!finding)
        return &wsdbg_error_no_memory;
    finding->cta = snapshot->grids[grid].cta_first;
    finding->cta_count = snapshot->grids[grid].cta_count;
    snprintf(finding->sentence, sizeof finding->sentence, "%s", no_cause(snapshot, grid));
    return NULL;
}

static size_t first_about(const struct wsdbg_diagnosis *diagnosis, uint32_t grid)
{
    size_t i = 0;
    while (i < diagnosis->finding_count &&
           (diagnosis->findings[i].grid != grid || diagnosis->findings[i].cause == WSDBG_CAUSE_SLOW))
        i++;
    return i;
}

static void put_first(struct wsdbg_diagnosis *diagnosis, size_t at)
{
    const struct wsdbg_finding finding = diagnosis->findings[at];
    memmove(diagnosis->findings + 1, diagnosis->findings, at * sizeof *diagnosis->findings);
    diagnosis->findings[0] = finding;
}

static struct wsdbg_error *tell_standstill(struct wsdbg_finding *finding, const struct wsdbg_standstill *standstill)
{
    char text[sizeof finding->evidence->text];
    snprintf(text, sizeof text, "%u looks in %.1f s found every warp at the same place; %s", standstill->looks,
             (double)standstill->lasted_ns / 1e9, wsdbg_outside_text(standstill->outside));
    return wsdbg_finding_add_text(finding, text) ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_diagnosis_call_hang(struct wsdbg_diagnosis *diagnosis, const struct wsdbg_snapshot *snapshot,
                                              const struct wsdbg_standstill *standstill)
{
    size_t at = first_about(diagnosis, standstill->grid);
    struct wsdbg_error *error =
        at == diagnosis->finding_count ? add_unknown(diagnosis, snapshot, standstill->grid) : NULL;
    if (error)
        return error;
    put_first(diagnosis, at);
    diagnosis->hang = true;
    if (diagnosis->findings[0].open) /* what was open is not any more */
        snprintf(diagnosis->findings[0].sentence, sizeof diagnosis->findings[0].sentence, "%s",
                 no_cause(snapshot, standstill->grid));
    diagnosis->findings[0].open = false;
    return tell_standstill(&diagnosis->findings[0], standstill);
}
