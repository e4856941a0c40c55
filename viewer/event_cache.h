/* event_cache.h - histories that were read from a database lately, so that zooming over the same lanes reads nothing.
 * Reads: the store.  Bounded: 1024 warps, short histories only; long ones are read as asked. */
#ifndef VIEWER_EVENT_CACHE_H
#define VIEWER_EVENT_CACHE_H

#include "store/load.h"

struct viewer_event_cache;

/* NULL = no memory. */
struct viewer_event_cache *viewer_event_cache_create(void);
/* As wsdbg_store_events. */
struct wsdbg_error *viewer_event_cache_read(struct viewer_event_cache *cache, struct wsdbg_store *store,
                                            const struct wsdbg_loaded *loaded, uint32_t warp, uint32_t first,
                                            uint32_t count, struct wsdbg_history_event *out, uint32_t *got);
/* Another picture is shown: nothing that was read belongs to it. */
void viewer_event_cache_clear(struct viewer_event_cache *cache);
/* NULL is fine. */
void viewer_event_cache_destroy(struct viewer_event_cache *cache);

#endif
