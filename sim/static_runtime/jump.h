/* jump.h - makes functions that are in memory continue elsewhere: where a slot says when they are called. */
#ifndef WSDBG_STATIC_RUNTIME_JUMP_H
#define WSDBG_STATIC_RUNTIME_JUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "static_runtime/targets.h"

struct jump {
    uint64_t from; /* address in memory */
    target_slot *slot;
};

/* The memory that the jumps of one object take.  Given back with jump_forget once the object is gone. */
struct jump_pages {
    void *first; /* NULL: none */
    size_t byte_count;
};

/* Whether a function of this length, with these first bytes, has room for a jump.  Filler behind it counts, up to the
 * next multiple of 16; `readable` bytes may be looked at. */
bool jump_fits(const unsigned char *first, uint64_t byte_count, uint64_t readable);

/* Places all jumps or none.  [text, text + text_bytes) holds every `from` and is mapped with this protection (PROT_*);
 * nobody else may execute it meanwhile.  NULL, or why it cannot be done. */
const char *jump_place(const struct jump *jumps, size_t count, uint64_t text, size_t text_bytes, int protection,
                       struct jump_pages *out);
void jump_forget(struct jump_pages *pages);

#endif
