/* key_map.h - finds a number by a 64-bit key (an address, a handle): open addressing in memory of the owner's.
 *
 * Takes no lock: the owner does.  Key 0 is none.  The owner keeps at least one place free.
 */
#ifndef WSDBG_SHIM_KEY_MAP_H
#define WSDBG_SHIM_KEY_MAP_H

#include <stdint.h>

#include "wsdbg/session.h"

struct key_place {
    uint64_t key; /* 0 = free */
    uint32_t value;
};

struct key_map {
    struct key_place *places;
    uint32_t size; /* a power of two */
};

static inline uint32_t key_home(const struct key_map *map, uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (map->size - 1);
}

/* The place of a key, or the free one where it would be. */
static inline uint32_t key_place_of(const struct key_map *map, uint64_t key)
{
    uint32_t at = key_home(map, key);
    while (map->places[at].key && map->places[at].key != key)
        at = (at + 1) & (map->size - 1);
    return at;
}

/* The key's number, WSDBG_UNKNOWN32 = it has none. */
static inline uint32_t key_map_find(const struct key_map *map, uint64_t key)
{
    const struct key_place *place = &map->places[key_place_of(map, key)];
    return key && place->key ? place->value : WSDBG_UNKNOWN32;
}

static inline void key_map_put(struct key_map *map, uint64_t key, uint32_t value)
{
    if (key)
        map->places[key_place_of(map, key)] = (struct key_place){key, value};
}

/* What stands behind the key moves up, unless it is at home or between its home and the gap. */
static inline void key_map_remove(struct key_map *map, uint64_t key)
{
    const uint32_t mask = map->size - 1;
    uint32_t gap = key_place_of(map, key);
    if (!key || !map->places[gap].key)
        return;
    for (uint32_t at = (gap + 1) & mask; map->places[at].key; at = (at + 1) & mask) {
        const uint32_t home = key_home(map, map->places[at].key);
        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        map->places[gap] = map->places[at];
        gap = at;
    }
    map->places[gap].key = 0;
}

#endif
