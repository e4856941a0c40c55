/* walk_words.h - what the warps of a CTA hand to each other through shared memory: stores whose address and value a
 * walk knows.  Private to the walks.
 *
 * A store comes before a load if both are in one walk in this order, or if the storing lane joins a named barrier, the
 * cluster barrier or an mbarrier behind the store whose phase the loading lane passes before the load.  Every lane that
 * uses a barrier is taken to join each of its phases.  Lanes of one warp come to a named barrier, and to a __syncwarp
 * of all of them, together.  What they stored before a __syncwarp comes before what lane 0 joins behind it; and what
 * lane 0 passed before it, they have passed, too.  If a lane stores to a place again only after it has waited at some
 * barrier, it is taken to wait for the lanes that read what it stored before.
 *
 * A warp may load what one stores that is walked after it.  So the warps of a CTA are walked in passes, until a pass
 * stores what the one before it stored.  A walk may be lost in one pass and not in the next one, which knows more: so
 * what a walk may have stored behind its end counts only against loads of the same pass, unless it turns out that some
 * load was told too much.
 */
#ifndef WSDBG_SASS_WALK_WORDS_H
#define WSDBG_SASS_WALK_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sass/walk_clouds.h"
#include "sass/walk_marks.h"

/* Named barriers by their ids, the cluster barrier, and mbarriers in the order in which the walks came to them. */
enum { WSDBG_WALK_CLUSTER = 16, WSDBG_WALK_MBARRIER_FIRST, WSDBG_WALK_MBARRIERS_MOST = 64 };
enum { WSDBG_WALK_WARPS_MOST = 32 }; /* of a CTA */
enum { WSDBG_WALK_ANSWER_ROWS = 1 << 13 };
enum { WSDBG_WALK_BARRIERS = WSDBG_WALK_MBARRIER_FIRST + WSDBG_WALK_MBARRIERS_MOST, WSDBG_WALK_STORE_WORDS = 4 };

/* A place in a walk: by barrier, how often the lanes have joined it, and the phases up to the last that they waited
 * for; and how often they have met all others of their warp (__syncwarp). */
struct walk_place {
    uint32_t walk, meetings;
    uint32_t joined[WSDBG_WALK_BARRIERS], passed[WSDBG_WALK_BARRIERS];
};

struct walk_store {
    struct walk_place place;
    uint32_t warp;
    uint32_t address, bytes;
    uint32_t words[WSDBG_WALK_STORE_WORDS]; /* of fewer than four bytes the low ones hold */
    bool is_known;
    bool has_gaps; /* several stores of unknown data; between them no known word was stored or loaded */
};

/* Where lane 0 of a warp met the other lanes, each time. */
struct walk_meetings {
    uint32_t warp, count;
    struct walk_place *rows;
    size_t capacity;
};

/* What a load was told; `place`: where the walk loaded it last. */
struct walk_answer {
    uint32_t address, bytes, warp;
    uint32_t next; /* of the same hash: its row + 1; 0 = there is no more */
    struct walk_place place;
};

/* From this place on a walk may have stored anything anywhere. */
struct walk_loss {
    struct walk_place place;
    uint32_t warp, pass;
};

/* Zeroed: no store.  The owner calls walk_words_free. */
struct walk_words {
    struct walk_store *stores;
    struct walk_place *ends; /* by walk: where it ended */
    size_t count, capacity, end_count, end_capacity;
    struct walk_marks stored;  /* by `stores`, in this pass or before */
    struct walk_marks gappy;   /* ... by those that have gaps */
    struct walk_clouds clouds; /* unknown data for which there were no rows */
    struct walk_store *before; /* what the last pass stored */
    size_t before_count, before_capacity;
    struct walk_loss *losses, *losses_before; /* so far, and of the last pass */
    size_t loss_count, loss_capacity, losses_before_count, losses_before_capacity;
    uint32_t pass, warp;                           /* at hand */
    uint32_t mbarriers[WSDBG_WALK_MBARRIERS_MOST]; /* addresses */
    uint32_t mbarrier_count;
    struct walk_answer *answered; /* so far in this pass */
    size_t answered_count, answered_capacity;
    struct walk_marks asked;                      /* by `answered` */
    uint32_t answered_at[WSDBG_WALK_ANSWER_ROWS]; /* by a hash of address and walk: the first row + 1; 0 = none */
    struct walk_meetings meetings[WSDBG_WALK_WARPS_MOST];
    uint32_t meeting_warps;
    uint32_t givers[WSDBG_WALK_WARPS_MOST]; /* warps that stored words for which others asked, in all passes */
    uint32_t giver_count;
    bool is_asked;        /* in this pass: some load asked for a word */
    bool is_cautious;     /* losses of the last pass count, too, until their warps are walked again */
    bool is_spoilt;       /* something may have been stored that is not kept: nothing is known */
    bool is_contradicted; /* a load was told what a later walk of the pass makes doubtful */
    bool is_torn;         /* ... by another lane of its own warp, which another pass does not know earlier */
};

/* The number of an mbarrier of the CTA; WSDBG_WALK_BARRIERS: there are too many.  Places count joins and phases of an
 * mbarrier only under a number that this gave. */
uint32_t walk_words_mbarrier(struct walk_words *words, uint32_t address);
/* The warp is walked next: what it stored in the pass before is forgotten. */
void walk_words_begin_warp(struct walk_words *words, uint32_t warp);
/* Whether the warp has stored a word for which another one asked.  The next pass should walk such warps before others:
 * if these are lost, it is not known what they store behind that place. */
bool walk_words_gives(const struct walk_words *words, uint32_t warp);
/* The pass is over: all warps were walked.  AGAIN: another pass begins, which may know more. */
enum walk_words_end { WALK_WORDS_HOLD, WALK_WORDS_AGAIN, WALK_WORDS_DOUBTFUL };
enum walk_words_end walk_words_end_pass(struct walk_words *words);

/* The pass is over and its words hold: another one begins all the same. */
void walk_words_go_on(struct walk_words *words);

/* One that is kept already, of other lanes, is not kept twice. */
void walk_words_put(struct walk_words *words, const struct walk_store *store);
/* A walk, of the next number, has ended here. */
void walk_words_end(struct walk_words *words, const struct walk_place *place);
/* The lanes of the warp at hand meet at this place of a walk, by whose count of meetings it is known which meeting it
 * is.  The walk with lane 0 comes first; from its place the others take what they have passed. */
void walk_words_meet(struct walk_words *words, struct walk_place *place, bool has_lane_0);
/* Those of a warp; NULL = there were none. */
const struct walk_meetings *walk_words_meetings(const struct walk_words *words, uint32_t warp);
/* What is stored, and where, is not known: from a place of a walk on, or at all. */
void walk_words_lose(struct walk_words *words, const struct walk_place *place);
void walk_words_spoil(struct walk_words *words);
void walk_words_forget(struct walk_words *words);
void walk_words_free(struct walk_words *words);

enum walk_word { WALK_WORD_NOT_STORED, WALK_WORD_UNKNOWN, WALK_WORD_KNOWN };
/* What a load of one to four bytes gets at this place: the last store before it, if that is known. */
enum walk_word walk_words_get(struct walk_words *words, const struct walk_place *place, uint32_t address,
                              uint32_t bytes, uint32_t *value);

#endif
