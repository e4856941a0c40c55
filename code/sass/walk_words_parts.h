/* walk_words_parts.h - what the files of walk_words.h share: walk_words.c keeps stores, walk_words_load.c says what a
 * load gets, walk_words_pass.c compares one pass over a CTA with the pass before.
 */
#ifndef WSDBG_SASS_WALK_WORDS_PARTS_H
#define WSDBG_SASS_WALK_WORDS_PARTS_H

#include "sass/walk_words.h"

static inline bool walk_words_overlaps(const struct walk_store *store, uint32_t address, uint32_t bytes)
{
    return store->address < address + bytes && address < store->address + store->bytes;
}

bool walk_words_is_same_place(const struct walk_place *a, const struct walk_place *b); /* of whatever walks */
/* Whether both store the same at the same place, and were made at the same place of a walk. */
bool walk_words_is_same(const struct walk_store *a, const struct walk_store *b);
/* Whether the bytes may lie between stores that were joined: there they would wrongly count as unknown data. */
bool walk_words_is_in_gaps(const struct walk_words *words, uint32_t address, uint32_t bytes);
struct walk_load {
    uint32_t address, bytes, warp;
    const struct walk_place *place;
};

/* Whether what is loaded may come from a store that is not known. */
bool walk_words_may_be_lost(const struct walk_words *words, const struct walk_loss *loss, struct walk_load load);

#endif
