/* load_rows.c - what every reader of a table needs: rows of a snapshot, ids of the database, texts that stay.  It calls
 * none of the readers.  Reads: a statement's columns.  Writes: what is loaded. */
#include "store/load_internal.h"

#include <stdlib.h>
#include <string.h>

bool wsdbg_id_map_push(struct wsdbg_id_map *map, int64_t id)
{
    if (!wsdbg_array_push(&map->ids, &map->count, sizeof *map->ids))
        return false;
    map->ids[map->count - 1] = id;
    return true;
}

uint32_t wsdbg_id_map_find(const struct wsdbg_id_map *map, int64_t id)
{
    size_t low = 0, high = map->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (map->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < map->count && map->ids[low] == id ? (uint32_t)low : WSDBG_NONE;
}

const char *wsdbg_loader_string(struct wsdbg_loader *loader, struct wsdbg_select *select)
{
    const char *text = wsdbg_select_string(select);
    struct wsdbg_loaded *loaded = loader->loaded;
    if (!text)
        return NULL;
    char *copy = strdup(text);
    if (!copy || !wsdbg_array_push(&loaded->strings, &loaded->string_count, sizeof *loaded->strings)) {
        free(copy);
        wsdbg_select_fail(select, SQLITE_NOMEM);
        return NULL;
    }
    return loaded->strings[loaded->string_count - 1] = copy;
}

bool wsdbg_load_row(struct wsdbg_select *select, struct wsdbg_id_map *map, void *array, size_t *count, size_t bytes)
{
    if (wsdbg_array_push(array, count, bytes) && (!map || wsdbg_id_map_push(map, wsdbg_select_number(select))))
        return true;
    wsdbg_select_fail(select, SQLITE_NOMEM);
    return false;
}

void wsdbg_load_count(uint32_t *first, uint32_t *count, size_t index)
{
    if ((*count)++ == 0)
        *first = (uint32_t)index;
}
