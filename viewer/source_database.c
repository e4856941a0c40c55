/* source_database.c - pictures from a session's database alone, finished or still being written.
 * Reads: the store.  Writes: nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "viewer/event_cache.h"
#include "viewer/picture.h"

#define LOOK_EVERY_NS 500000000u

struct database_source {
    struct viewer_source base;
    struct wsdbg_store *store;
    struct wsdbg_loaded loaded;
    bool has_loaded;
    struct viewer_event_cache *cache;
    int64_t version; /* of the file's content */
    uint64_t looked_ns;
    bool grew; /* the file was seen to change: somebody writes it */
    struct viewer_picture picture;
    struct wsdbg_source_file file; /* asked for last */
};

static void show(struct database_source *source)
{
    const struct wsdbg_loaded *loaded = &source->loaded;
    source->picture = (struct viewer_picture){
        .number = source->picture.number + 1,
        .info = &loaded->info,
        .end = loaded->ended ? &loaded->end : NULL,
        .snapshot = loaded->has_snapshot ? &loaded->snapshot : NULL,
        .diagnosis = loaded->diagnosed ? &loaded->diagnosis : NULL,
        .now_ns = loaded->has_snapshot ? loaded->snapshot.time_ns : 0,
        .live = source->grew && !loaded->ended,
    };
    if (!loaded->ended && !source->grew)
        snprintf(source->picture.status, sizeof source->picture.status,
                 "the session has no end: it is still running, or wsdbg was killed");
}

/* The old picture stays when the new one cannot be read, and the next look tries again. */
static struct wsdbg_error *reload(struct database_source *source)
{
    struct wsdbg_loaded loaded;
    struct wsdbg_error *error = wsdbg_store_load(source->store, false, &loaded);
    if (error)
        return error;
    if (source->has_loaded)
        wsdbg_loaded_deinit(&source->loaded);
    source->loaded = loaded;
    source->has_loaded = true;
    viewer_event_cache_clear(source->cache);
    show(source);
    return NULL;
}

static struct wsdbg_error *update(struct viewer_source *base, uint64_t now_ns, bool *changed)
{
    struct database_source *source = (struct database_source *)base;
    *changed = false;
    wsdbg_store_restart_time(source->store); /* for what is asked until the next look */
    if (source->has_loaded && (source->loaded.ended || now_ns - source->looked_ns < LOOK_EVERY_NS))
        return NULL;
    source->looked_ns = now_ns;
    const int64_t version = wsdbg_store_version(source->store);
    if (source->has_loaded && version == source->version)
        return NULL;
    source->grew = source->has_loaded;
    struct wsdbg_error *error = reload(source);
    if (error)
        return error;
    source->version = version;
    *changed = true;
    return NULL;
}

static const struct viewer_picture *picture(struct viewer_source *base)
{
    return &((struct database_source *)base)->picture;
}

static uint32_t event_count(struct viewer_source *base, uint32_t warp)
{
    const struct database_source *source = (struct database_source *)base;
    const bool known = source->has_loaded && warp < source->loaded.snapshot.warp_count && source->loaded.events;
    return known ? source->loaded.events[warp].count : 0;
}

static uint32_t events(struct viewer_source *base, uint32_t warp, uint32_t first, uint32_t count,
                       struct wsdbg_history_event *out)
{
    struct database_source *source = (struct database_source *)base;
    uint32_t got = 0;
    if (event_count(base, warp) == 0)
        return 0;
    struct wsdbg_error *error =
        viewer_event_cache_read(source->cache, source->store, &source->loaded, warp, first, count, out, &got);
    if (error)
        snprintf(source->picture.status, sizeof source->picture.status, "%s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return error ? 0 : got;
}

static size_t log_count(struct viewer_source *base)
{
    return wsdbg_store_log_count(((struct database_source *)base)->store);
}

static bool log_line(struct viewer_source *base, size_t number, struct wsdbg_log_line *out)
{
    bool found = false;
    struct wsdbg_error *error = wsdbg_store_log_line(((struct database_source *)base)->store, number, out, &found);
    wsdbg_error_destroy(error);
    return !error && found;
}

static const struct wsdbg_source_file *source_file(struct viewer_source *base, uint32_t module)
{
    struct database_source *source = (struct database_source *)base;
    if (!source->has_loaded || module >= source->loaded.snapshot.module_count)
        return NULL;
    wsdbg_source_file_deinit(&source->file);
    wsdbg_error_destroy(
        wsdbg_store_source_file(source->store, &source->loaded.snapshot.modules[module], &source->file));
    return &source->file;
}

static void close_source(struct viewer_source *base)
{
    struct database_source *source = (struct database_source *)base;
    if (source->has_loaded)
        wsdbg_loaded_deinit(&source->loaded);
    wsdbg_source_file_deinit(&source->file);
    viewer_event_cache_destroy(source->cache);
    wsdbg_store_close(source->store);
    free(source);
}

static const struct viewer_source_ops database_ops = {
    .name = "database",
    .update = update,
    .picture = picture,
    .event_count = event_count,
    .events = events,
    .log_count = log_count,
    .log_line = log_line,
    .source_file = source_file,
    .close = close_source,
};

struct wsdbg_error *viewer_source_open_database(struct wsdbg_store *store, struct viewer_source **out)
{
    struct database_source *source = calloc(1, sizeof *source);
    if (!source) {
        wsdbg_store_close(store);
        return &wsdbg_error_no_memory;
    }
    source->base.ops = &database_ops;
    source->store = store;
    source->version = -1;
    source->cache = viewer_event_cache_create();
    struct wsdbg_error *error = source->cache ? reload(source) : &wsdbg_error_no_memory;
    if (error) {
        close_source(&source->base);
        return error;
    }
    source->version = wsdbg_store_version(store);
    *out = &source->base;
    return NULL;
}
