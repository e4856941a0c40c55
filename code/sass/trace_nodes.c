/* trace_nodes.c - see trace_nodes.h.  Keeps nodes, found by a hash of their keys. */
#include "sass/trace_nodes.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_MOST = 1 << 17 };

void *wsdbg_trace_append(struct wsdbg_trace *trace, struct wsdbg_trace_list *list, size_t size)
{
    if (list->count == list->room) {
        const uint32_t room = list->room ? list->room * 2 : 256;
        void *items = realloc(list->items, room * size);
        if (!items) {
            trace->has_failed = true;
            return NULL;
        }
        list->items = items;
        list->room = room;
    }
    void *item = (char *)list->items + list->count++ * size;
    memset(item, 0, size);
    return item;
}

uint64_t wsdbg_trace_key(enum wsdbg_trace_kind kind, uint32_t at, unsigned reg)
{
    return (uint64_t)kind << 56 | (uint64_t)reg << 40 | at;
}

unsigned wsdbg_trace_register_of(uint64_t key)
{
    return key >> 40 & 0xffff;
}

static uint32_t *slot_of(const struct wsdbg_trace *trace, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    for (hash ^= hash >> 32;; hash++) {
        uint32_t *slot = &trace->table[hash & (trace->table_size - 1)];
        if (!*slot || wsdbg_trace_node_at(trace, *slot - 1)->key == key)
            return slot;
    }
}

static bool has_room_in_table(struct wsdbg_trace *trace)
{
    if (trace->nodes.count * 2 < trace->table_size)
        return true;
    uint32_t *old = trace->table;
    trace->table = calloc((size_t)trace->table_size * 2, sizeof *trace->table);
    if (!trace->table) {
        trace->table = old;
        trace->has_failed = true;
        return false;
    }
    trace->table_size *= 2;
    for (uint32_t i = 0; i < trace->nodes.count; i++)
        *slot_of(trace, wsdbg_trace_node_at(trace, i)->key) = i + 1;
    free(old);
    return true;
}

uint32_t wsdbg_trace_node_of(struct wsdbg_trace *trace, uint64_t key)
{
    uint32_t *slot = slot_of(trace, key);
    if (*slot)
        return *slot - 1;
    if (trace->nodes.count == NODES_MOST || !has_room_in_table(trace))
        return WSDBG_GRAPH_NONE;
    struct wsdbg_trace_node *node = wsdbg_trace_append(trace, &trace->nodes, sizeof *node);
    if (!node)
        return WSDBG_GRAPH_NONE;
    node->key = key;
    *slot_of(trace, key) = trace->nodes.count;
    return trace->nodes.count - 1;
}
