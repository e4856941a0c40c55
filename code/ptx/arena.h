/* arena.h - memory of a program that is freed in one go, and a text's names in it. */
#ifndef WSDBG_PTX_ARENA_H
#define WSDBG_PTX_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct ptx_arena {
    struct ptx_chunk *chunks; /* the newest first */
};

/* Zeroed bytes; NULL = out of memory. */
void *ptx_arena_take(struct ptx_arena *arena, size_t count, size_t size);
/* A copy with a zero byte behind it. */
char *ptx_arena_text(struct ptx_arena *arena, const char *bytes, size_t length);
void ptx_arena_destroy(struct ptx_arena *arena);

#endif
