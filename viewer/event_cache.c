/* event_cache.c - see event_cache.h.  A warp has one place, and a warp that comes later may take it over. */
#include "viewer/event_cache.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 1024, EVENTS_MAX = 512 };

struct place {
    struct wsdbg_history_event *events; /* NULL = free */
    uint32_t warp, count;
};

struct viewer_event_cache {
    struct place places[PLACES];
};

struct viewer_event_cache *viewer_event_cache_create(void)
{
    return calloc(1, sizeof(struct viewer_event_cache));
}

static void free_place(struct place *place)
{
    free(place->events);
    *place = (struct place){0};
}

/* Reads the whole history of a warp into its place. */
static struct wsdbg_error *fill(struct place *place, struct wsdbg_store *store, const struct wsdbg_loaded *loaded,
                                uint32_t warp)
{
    const uint32_t count = loaded->events[warp].count;
    struct wsdbg_history_event *events = malloc((count + 1) * sizeof *events);
    uint32_t got = 0;
    if (!events)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = wsdbg_store_events(store, loaded, warp, 0, count, events, &got);
    free_place(place);
    if (error)
        free(events);
    else
        *place = (struct place){.events = events, .warp = warp, .count = got};
    return error;
}

struct wsdbg_error *viewer_event_cache_read(struct viewer_event_cache *cache, struct wsdbg_store *store,
                                            const struct wsdbg_loaded *loaded, uint32_t warp, uint32_t first,
                                            uint32_t count, struct wsdbg_history_event *out, uint32_t *got)
{
    struct place *place = &cache->places[warp % PLACES];
    if (warp >= loaded->snapshot.warp_count || loaded->events[warp].count > EVENTS_MAX)
        return wsdbg_store_events(store, loaded, warp, first, count, out, got);
    struct wsdbg_error *error = place->events && place->warp == warp ? NULL : fill(place, store, loaded, warp);
    if (error)
        return error;
    const uint32_t from = first < place->count ? first : place->count;
    *got = count < place->count - from ? count : place->count - from;
    memcpy(out, place->events + from, *got * sizeof *out);
    return NULL;
}

void viewer_event_cache_clear(struct viewer_event_cache *cache)
{
    for (size_t i = 0; i < PLACES; i++)
        free_place(&cache->places[i]);
}

void viewer_event_cache_destroy(struct viewer_event_cache *cache)
{
    if (cache)
        viewer_event_cache_clear(cache);
    free(cache);
}
