/* walk_words.h - what the warps of a CTA hand to each other through shared memory: stores whose address and value a
 * walk knows.  Private to the walks.
 *
 * A store comes before a load if both are in one walk in this order, or if the storing lane joins a named barrier, or
 * the cluster barrier, behind the store whose phase the loading lane passes before the load.  Every warp that uses a
 * barrier is taken to join each of its phases.
 */
#ifndef WSDBG_SASS_WALK_WORDS_H
#define WSDBG_SASS_WALK_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Named barriers by their ids, and the cluster barrier as one more. */
enum { WSDBG_WALK_CLUSTER = 16, WSDBG_WALK_BARRIERS, WSDBG_WALK_STORE_WORDS = 4 };

/* A place in a walk: by barrier, how often the lanes have joined it, and the phases up to the last that they waited
 * for. */
struct walk_place {
    uint32_t walk;
    uint32_t joined[WSDBG_WALK_BARRIERS], passed[WSDBG_WALK_BARRIERS];
};

struct walk_store {
    struct walk_place place;
    uint32_t address, bytes;
    uint32_t words[WSDBG_WALK_STORE_WORDS]; /* of fewer than four bytes the low ones hold */
    bool is_known;
};

/* Zeroed: no store.  The owner calls walk_words_free. */
struct walk_words {
    struct walk_store *stores;
    struct walk_place *ends; /* by walk: where it ended */
    size_t count, capacity, end_count, end_capacity;
    uint32_t (*answered)[2]; /* first byte and count: what loads were told so far */
    size_t answered_count, answered_capacity;
    bool is_spoilt;       /* something may have been stored that is not kept: nothing is known */
    bool is_contradicted; /* ... or a load was told what a later walk makes doubtful */
};

/* One that is kept already, of other lanes, is not kept twice. */
void walk_words_put(struct walk_words *words, const struct walk_store *store);
/* A walk, of the next number, has ended here. */
void walk_words_end(struct walk_words *words, const struct walk_place *place);
/* What is stored, and where, is not known. */
void walk_words_spoil(struct walk_words *words);
void walk_words_forget(struct walk_words *words);
void walk_words_free(struct walk_words *words);

enum walk_word { WALK_WORD_NOT_STORED, WALK_WORD_UNKNOWN, WALK_WORD_KNOWN };
/* What a load of one to four bytes gets at this place: the last store before it, if that is known. */
enum walk_word walk_words_get(struct walk_words *words, const struct walk_place *place, uint32_t address,
                              uint32_t bytes, uint32_t *value);

#endif
