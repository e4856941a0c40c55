/* lists.h - lists of numbers by a key in two arrays: the edges of a graph by the block they leave or enter, and the
 * like. */
#ifndef WSDBG_FLOW_LISTS_H
#define WSDBG_FLOW_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* One list a key: those of `key` are numbers[first[key]] to numbers[first[key + 1] - 1]. */
struct wsdbg_lists {
    uint32_t *first, *numbers;
};

/* A key or number that is none. */
#define WSDBG_LISTS_NONE UINT32_MAX

/* The lists of pairs (keys[i], numbers[i]), i < count, each in the order of the pairs; a key of WSDBG_LISTS_NONE is
 * left out.  The others are below key_count. */
struct wsdbg_error *wsdbg_lists_create(const uint32_t *keys, const uint32_t *numbers, size_t count, uint32_t key_count,
                                       struct wsdbg_lists *out);
void wsdbg_lists_destroy(struct wsdbg_lists *lists);

#endif
