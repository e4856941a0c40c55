/* race_agents.c - what the race checker keeps of warps, clusters and grids; see race.h.
 *
 * Made when it is first asked for, freed with what it belongs to.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "hopper/device.h"
#include "hopper/race.h"
#include "hopper/race_state.h"

struct hopper_race_cluster *hopper_race_cluster(struct hopper_cluster *cluster)
{
    if (cluster->race)
        return cluster->race;
    struct hopper_race_cluster *const race = calloc(1, sizeof *race);
    if (race) {
        race->shadow = race_shadow_create();
        race->named = calloc(cluster->cta_count, sizeof *race->named);
    }
    if (race && race->shadow && race->named)
        return cluster->race = race;
    if (race) {
        race_shadow_destroy(race->shadow);
        free(race->named);
    }
    free(race);
    return NULL;
}

struct hopper_race_grid *hopper_race_grid(struct hopper_grid *grid)
{
    if (grid->race)
        return grid->race;
    struct hopper_race_grid *const race = calloc(1, sizeof *race);
    if (race)
        race->shadow = race_shadow_create();
    if (race && race->shadow)
        return grid->race = race;
    free(race);
    return NULL;
}

struct race_shadow *hopper_race_shared(struct hopper_cluster *cluster)
{
    struct hopper_race_cluster *const race = hopper_race_cluster(cluster);
    return race ? race->shadow : NULL;
}

struct race_shadow *hopper_race_global(struct hopper_grid *grid)
{
    struct hopper_race_grid *const race = hopper_race_grid(grid);
    return race ? race->shadow : NULL;
}

uint32_t hopper_race_component(struct hopper_cluster *cluster, bool is_async)
{
    struct hopper_race_cluster *const race = hopper_race_cluster(cluster);
    if (!race)
        return 0;
    uint32_t *const next = &race->next_component[is_async];
    if (*next % RACE_BLOCK_COMPONENTS == 0) {
        struct hopper_races *const races = cluster->ctas[0]->grid->gpu->races;
        races->blocks += 2; /* the first two are nobody's */
        *next = (races->blocks | is_async) << RACE_BLOCK_SHIFT;
    }
    return (*next)++;
}

static uint32_t add_who(struct hopper_race_grid *race, const struct hopper_warp *warp)
{
    if (!race || !wsdbg_grow((void **)&race->who, &race->who_capacity, race->who_count + 1, sizeof *race->who))
        return UINT32_MAX;
    struct hopper_race_who *const who = &race->who[race->who_count];
    memcpy(who->cta, warp->cta->index, sizeof who->cta);
    who->warp = warp->index;
    return (uint32_t)race->who_count++;
}

const struct hopper_race_who *hopper_race_who(const struct hopper_grid *grid, uint32_t agent)
{
    static const struct hopper_race_who unknown = {{WSDBG_PTX_NONE, WSDBG_PTX_NONE, WSDBG_PTX_NONE}, WSDBG_PTX_NONE};
    return grid->race && agent < grid->race->who_count ? &grid->race->who[agent] : &unknown;
}

struct hopper_race_warp *hopper_race_warp(struct hopper_warp *warp)
{
    if (warp->race)
        return warp->race;
    struct hopper_race_warp *const race = calloc(1, sizeof *race);
    if (!race)
        return NULL;
    race->component = hopper_race_component(warp->cta->cluster, false);
    race->agent = add_who(hopper_race_grid(warp->cta->grid), warp);
    hopper_race_tick(race);
    return warp->race = race;
}

void hopper_race_tick(struct hopper_race_warp *agent)
{
    struct race_clock *const seen = &agent->now.ways[RACE_SEEN];
    race_clock_raise(seen, agent->component, race_clock_time(seen, agent->component) + 1);
}

void hopper_race_warp_freed(struct hopper_warp *warp)
{
    struct hopper_race_warp *const race = warp->race;
    if (!race)
        return;
    race_knowledge_free(&race->now);
    race_knowledge_free(&race->pending);
    race_knowledge_free(&race->fenced[0]);
    race_knowledge_free(&race->fenced[1]);
    free(race->busy);
    free(race);
    warp->race = NULL;
}

static void free_places(struct hopper_race_places *places)
{
    for (size_t i = 0; i < places->capacity; i++)
        if (places->rows[i]) {
            for (unsigned j = 0; j < 2; j++)
                race_knowledge_free(&places->rows[i]->released[j]);
            free(places->rows[i]->copies);
            free(places->rows[i]);
        }
    free(places->rows);
}

void hopper_race_cluster_freed(struct hopper_cluster *cluster)
{
    struct hopper_race_cluster *const race = cluster->race;
    if (!race)
        return;
    race_shadow_destroy(race->shadow);
    free_places(&race->places);
    for (uint32_t rank = 0; rank < cluster->cta_count; rank++)
        for (unsigned id = 0; id < HOPPER_NAMED_BARRIERS; id++)
            for (unsigned i = 0; i < 2; i++)
                race_knowledge_free(&race->named[rank].turns[id][i].known);
    free(race->named);
    race_knowledge_free(&race->cluster[0].known);
    race_knowledge_free(&race->cluster[1].known);
    free(race);
    cluster->race = NULL;
}

void hopper_race_grid_freed(struct hopper_grid *grid)
{
    struct hopper_race_grid *const race = grid->race;
    if (!race)
        return;
    race_shadow_destroy(race->shadow);
    free_places(&race->places);
    free(race->who);
    free(race);
    grid->race = NULL;
}

void hopper_races_destroy(struct hopper_races *races)
{
    if (races)
        free(races->rows);
    free(races);
}
