/* walk_words.c - keeps the stores of the walks so far, and joins them where they are too many.  See walk_words.h. */
#include "sass/walk_words_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { GAP_MOST = 2048 }; /* bytes between stores of one tile of data */
enum { LOSSES_MOST = 512 };
enum { MEETINGS_MOST = 512 }; /* of a warp */
enum { STORES_MOST = 2048, GAPS_FROM = STORES_MOST - 128 };

void walk_words_spoil(struct walk_words *words)
{
    words->is_contradicted |= words->answered_count > 0;
    words->is_spoilt = true;
}

uint32_t walk_words_mbarrier(struct walk_words *words, uint32_t address)
{
    for (uint32_t i = 0; i < words->mbarrier_count; i++)
        if (words->mbarriers[i] == address)
            return WSDBG_WALK_MBARRIER_FIRST + i;
    if (words->mbarrier_count == WSDBG_WALK_MBARRIERS_MOST)
        return WSDBG_WALK_BARRIERS;
    words->mbarriers[words->mbarrier_count] = address;
    return WSDBG_WALK_MBARRIER_FIRST + words->mbarrier_count++;
}

bool walk_words_is_same_place(const struct walk_place *a, const struct walk_place *b)
{
    return a->meetings == b->meetings && !memcmp(a->joined, b->joined, sizeof a->joined) &&
           !memcmp(a->passed, b->passed, sizeof a->passed);
}

bool walk_words_is_same(const struct walk_store *a, const struct walk_store *b)
{
    return a->address == b->address && a->bytes == b->bytes && a->is_known == b->is_known &&
           (!a->is_known || !memcmp(a->words, b->words, sizeof a->words)) &&
           walk_words_is_same_place(&a->place, &b->place);
}

/* Whether the same is stored at the same place already, and the walk at hand has not stored something else there since.
 */
static bool is_kept(const struct walk_words *words, const struct walk_store *store)
{
    bool is_overwritten = false;
    if (!store->is_known || !walk_marks_have(&words->stored, store->address, store->bytes))
        return false;
    for (size_t i = words->count; i-- > 0;) {
        const struct walk_store *kept = &words->stores[i];
        const bool is_own = kept->place.walk == store->place.walk;
        if (walk_words_is_same(kept, store) && !(is_own && is_overwritten))
            return true;
        is_overwritten |= is_own && walk_words_overlaps(kept, store->address, store->bytes);
    }
    return false;
}

static bool is_near(const struct walk_store *a, const struct walk_store *b, uint32_t gap)
{
    return a->address <= b->address + b->bytes + gap && b->address <= a->address + a->bytes + gap;
}

/* Whether a known word was stored there, or was read. */
static bool is_of_words(const struct walk_words *words, uint32_t address, uint32_t bytes)
{
    const bool is_stored = walk_marks_have(&words->stored, address, bytes);
    const bool is_asked = walk_marks_have(&words->asked, address, bytes);
    for (size_t i = 0; i < words->count && is_stored; i++)
        if (words->stores[i].is_known && walk_words_overlaps(&words->stores[i], address, bytes))
            return true;
    for (size_t i = 0; i < words->answered_count && is_asked; i++)
        if (words->answered[i].address < address + bytes &&
            address < words->answered[i].address + words->answered[i].bytes)
            return true;
    return false;
}

bool walk_words_is_in_gaps(const struct walk_words *words, uint32_t address, uint32_t bytes)
{
    if (!walk_marks_have(&words->gappy, address, bytes))
        return false;
    for (size_t i = words->count; i-- > 0;) /* the last walk stores most near its last stores */
        if (words->stores[i].has_gaps && walk_words_overlaps(&words->stores[i], address, bytes))
            return true;
    return false;
}

static void mark(struct walk_words *words, const struct walk_store *kept, uint32_t first, uint32_t end)
{
    if (first >= end)
        return;
    walk_marks_add(&words->stored, first, end - first);
    if (kept->has_gaps)
        walk_marks_add(&words->gappy, first, end - first);
}

/* Lets a kept store have the bytes from `first` to `end`, which hold its own; these have their marks already. */
static void widen(struct walk_words *words, struct walk_store *kept, uint32_t first, uint32_t end, bool is_beside)
{
    const uint32_t was_first = kept->address, was_end = was_first + kept->bytes;
    if (!is_beside && !kept->has_gaps)
        walk_marks_add(&words->gappy, was_first, kept->bytes);
    kept->has_gaps |= !is_beside;
    mark(words, kept, first, was_first);
    mark(words, kept, was_end, end);
    kept->address = first;
    kept->bytes = end - first;
}

/* Joins a store of unknown data to another one beside it, so that a tile of data takes few rows.  Once there are many,
 * also to one near it. */
static bool join_unknown(struct walk_words *words, const struct walk_store *store)
{
    const uint32_t gap = words->count < GAPS_FROM ? 0 : GAP_MOST;
    for (size_t i = words->count; i-- > 0 && !store->is_known && words->stores[i].place.walk == store->place.walk;) {
        struct walk_store *kept = &words->stores[i];
        if (kept->is_known || !is_near(kept, store, gap) || !walk_words_is_same_place(&kept->place, &store->place)) {
            if (walk_words_overlaps(kept, store->address, store->bytes))
                return false;
            continue;
        }
        const uint32_t first = kept->address < store->address ? kept->address : store->address;
        const uint32_t end = kept->address + kept->bytes > store->address + store->bytes
                                 ? kept->address + kept->bytes
                                 : store->address + store->bytes;
        const bool is_beside = is_near(kept, store, 0);
        if (!is_beside && is_of_words(words, first, end - first))
            continue;
        widen(words, kept, first, end, is_beside);
        return true;
    }
    return false;
}

void walk_words_put(struct walk_words *words, const struct walk_store *store)
{
    const bool is_asked = walk_marks_have(&words->asked, store->address, store->bytes);
    for (size_t i = 0; i < words->answered_count && is_asked && !words->is_torn; i++) {
        const struct walk_answer *answer = &words->answered[i];
        if (!walk_words_overlaps(store, answer->address, answer->bytes) || is_kept(words, store))
            continue;
        words->is_contradicted = true;
        words->is_torn = answer->warp == words->warp && answer->place.walk != store->place.walk;
    }
    if (words->is_spoilt || is_kept(words, store) || join_unknown(words, store))
        return;
    const bool is_in_data = walk_words_is_in_gaps(words, store->address, store->bytes) ||
                            walk_clouds_have(&words->clouds, store->address, store->bytes);
    if ((store->is_known && is_in_data) || (!store->is_known && words->count >= STORES_MOST))
        walk_clouds_add(&words->clouds, store->address, store->bytes);
    else if (words->count >= STORES_MOST ||
             !wsdbg_grow((void **)&words->stores, &words->capacity, words->count + 1, sizeof *words->stores))
        walk_words_spoil(words);
    else {
        words->stores[words->count] = *store;
        words->stores[words->count++].warp = words->warp;
        walk_marks_add(&words->stored, store->address, store->bytes);
    }
}

void walk_words_end(struct walk_words *words, const struct walk_place *place)
{
    if (!wsdbg_grow((void **)&words->ends, &words->end_capacity, words->end_count + 1, sizeof *place))
        walk_words_spoil(words);
    else
        words->ends[words->end_count++] = *place;
}

const struct walk_meetings *walk_words_meetings(const struct walk_words *words, uint32_t warp)
{
    for (uint32_t i = 0; i < words->meeting_warps; i++)
        if (words->meetings[i].warp == warp)
            return &words->meetings[i];
    return NULL;
}

/* Those that are too many are not kept: then less is known to be in order. */
static void keep_meeting(struct walk_words *words, const struct walk_place *place)
{
    uint32_t i = 0;
    while (i < words->meeting_warps && words->meetings[i].warp != words->warp)
        i++;
    if (i == WSDBG_WALK_WARPS_MOST)
        return;
    struct walk_meetings *met = &words->meetings[i];
    if (i == words->meeting_warps) {
        words->meeting_warps++;
        met->warp = words->warp;
        met->count = 0;
    }
    if (met->count + 1 == place->meetings && met->count < MEETINGS_MOST &&
        wsdbg_grow((void **)&met->rows, &met->capacity, met->count + 1, sizeof *met->rows))
        met->rows[met->count++] = *place;
}

void walk_words_meet(struct walk_words *words, struct walk_place *place, bool has_lane_0)
{
    place->meetings++;
    if (has_lane_0) {
        keep_meeting(words, place);
        return;
    }
    const struct walk_meetings *met = walk_words_meetings(words, words->warp);
    if (!met || place->meetings > met->count)
        return;
    const struct walk_place *other = &met->rows[place->meetings - 1];
    for (unsigned id = 0; id < WSDBG_WALK_BARRIERS; id++)
        if (other->passed[id] > place->passed[id])
            place->passed[id] = other->passed[id];
}

void walk_words_forget(struct walk_words *words)
{
    words->meeting_warps = 0;
    memset(words->answered_at, 0, sizeof words->answered_at);
    words->count = words->end_count = words->answered_count = words->before_count = 0;
    words->loss_count = words->losses_before_count = 0;
    words->pass = words->mbarrier_count = words->giver_count = 0;
    words->clouds.count = 0;
    words->stored = words->gappy = words->asked = (struct walk_marks){0};
    words->is_spoilt = words->is_contradicted = words->is_torn = false;
    words->is_asked = words->is_cautious = false;
}

void walk_words_free(struct walk_words *words)
{
    free(words->stores);
    free(words->before);
    free(words->losses);
    free(words->losses_before);
    free(words->ends);
    free(words->answered);
    for (uint32_t i = 0; i < WSDBG_WALK_WARPS_MOST; i++)
        free(words->meetings[i].rows);
    *words = (struct walk_words){0};
}

void walk_words_lose(struct walk_words *words, const struct walk_place *place)
{
    const struct walk_loss loss = {.place = *place, .warp = words->warp, .pass = words->pass};
    for (size_t i = words->loss_count; i-- > 0 && words->losses[i].pass == words->pass;)
        if (words->losses[i].place.walk == place->walk) /* what comes behind it was already lost */
            return;
    if (words->loss_count == LOSSES_MOST ||
        !wsdbg_grow((void **)&words->losses, &words->loss_capacity, words->loss_count + 1, sizeof *words->losses))
        walk_words_spoil(words);
    else
        words->losses[words->loss_count++] = loss;
}
