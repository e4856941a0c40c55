/* arena.c - see arena.h. */
#include "ptx/arena.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16, ALIGNMENT = 16 };

struct ptx_chunk {
    struct ptx_chunk *next;
    size_t used, room;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void *ptx_arena_take(struct ptx_arena *arena, size_t count, size_t size)
{
    if (count > (SIZE_MAX - CHUNK_BYTES) / (size ? size : 1))
        return NULL;
    const size_t wanted = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct ptx_chunk *chunk = arena->chunks;
    if (!chunk || chunk->room - chunk->used < wanted) {
        const size_t room = wanted > CHUNK_BYTES ? wanted : CHUNK_BYTES;
        chunk = calloc(1, sizeof *chunk + room);
        if (!chunk)
            return NULL;
        chunk->room = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    chunk->used += wanted;
    return chunk->bytes + chunk->used - wanted;
}

char *ptx_arena_text(struct ptx_arena *arena, const char *bytes, size_t length)
{
    char *copy = ptx_arena_take(arena, length + 1, 1);
    return copy ? memcpy(copy, bytes, length) : NULL;
}

void ptx_arena_destroy(struct ptx_arena *arena)
{
    while (arena->chunks) {
        struct ptx_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}
