/* walk_words_load.c - what a load from shared memory gets of the stores that walks have made.  See walk_words.h.
 *
 * Reads: the stores so far, where walks were lost.  Writes: which stores were told, to take it back if that was wrong.
 */
#include "sass/walk_words_parts.h"

#include <string.h>

#include "base/grow.h"

enum { WORD_BYTES = 4, BYTE_BITS = 8 };

/* How many barriers walks have come to: the counts of a place are 0 for those behind. */
static unsigned barriers_of(const struct walk_words *words)
{
    return WSDBG_WALK_MBARRIER_FIRST + words->mbarrier_count;
}

/* Whether a barrier orders the one place before the other.  `joins`: of the walk of the first place, how often it
 * joins each barrier, as far as that is known. */
static bool is_before(const struct walk_words *words, const struct walk_place *first, const struct walk_place *joins,
                      const struct walk_place *then)
{
    for (unsigned id = 0, count = barriers_of(words); id < count; id++)
        if (joins->joined[id] > 0 && then->passed[id] > first->joined[id])
            return true;
    return false;
}

/* Whether the lanes of the warp that came to the first place met lane 0 behind it, and that joined a barrier which
 * orders what comes before it and the other place. */
static bool is_before_by_lane_0(const struct walk_words *words, uint32_t warp, const struct walk_place *first,
                                const struct walk_place *then)
{
    const struct walk_meetings *met = walk_words_meetings(words, warp);
    if (!met || first->meetings >= met->count)
        return false;
    const struct walk_place *next = &met->rows[first->meetings];
    if (next->walk == first->walk || next->walk >= words->end_count)
        return false;
    const struct walk_place *end = &words->ends[next->walk];
    return is_before(words, next, end, then) && !is_before(words, end, end, then);
}

/* Whether a place of the warp comes before a place of another walk. */
static bool is_place_before(const struct walk_words *words, uint32_t warp, const struct walk_place *first,
                            const struct walk_place *then)
{
    return first->walk < words->end_count &&
           (is_before(words, first, &words->ends[first->walk], then) || is_before_by_lane_0(words, warp, first, then));
}

static bool is_stored_before(const struct walk_words *words, const struct walk_store *store,
                             const struct walk_place *place)
{
    return is_place_before(words, store->warp, &store->place, place);
}

/* The bytes of a load, all of which the store wrote. */
static bool bytes_of(const struct walk_store *store, uint32_t address, uint32_t bytes, uint32_t *value)
{
    if (!store->is_known || store->address > address || address + bytes > store->address + store->bytes)
        return false;
    *value = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        const uint32_t at = address - store->address + i;
        *value |= (store->words[at / WORD_BYTES] >> at % WORD_BYTES * BYTE_BITS & 0xff) << i * BYTE_BITS;
    }
    return true;
}

/* Whether a lane waited between two of its places, at an mbarrier, or at another barrier for a phase that the reader
 * has not passed. */
static bool has_waited_since(const struct walk_words *words, const struct walk_place *first,
                             const struct walk_place *then, const struct walk_place *reader)
{
    for (unsigned id = 0, count = barriers_of(words); id < count; id++)
        if (then->passed[id] > first->passed[id] &&
            (id >= WSDBG_WALK_MBARRIER_FIRST || then->passed[id] > reader->passed[id]))
            return true;
    return false;
}

enum when { WHEN_AFTER, WHEN_BEFORE, WHEN_AT_ANY_TIME };

/* Of lanes of one warp, which come together to a named barrier and where they meet: by how often they have come. */
static enum when is_stored_when_in_warp(const struct walk_place *store, const struct walk_place *place)
{
    enum when when = place->meetings > store->meetings ? WHEN_BEFORE : WHEN_AT_ANY_TIME;
    if (place->meetings < store->meetings)
        return WHEN_AFTER;
    for (unsigned id = 0; id < WSDBG_WALK_CLUSTER; id++)
        if (place->joined[id] < store->joined[id])
            return WHEN_AFTER;
        else if (place->joined[id] > store->joined[id])
            when = WHEN_BEFORE;
    return when;
}

/* Whether `then` overwrites what `first` stored, whatever the schedule. */
static bool overwrites(const struct walk_words *words, const struct walk_store *first, const struct walk_store *then)
{
    if (first->place.walk == then->place.walk)
        return then > first;
    return is_stored_before(words, first, &then->place) ||
           (first->warp == then->warp && is_stored_when_in_warp(&first->place, &then->place) == WHEN_BEFORE);
}

/* Whether the lane, or one that went with it so far, stored the one before the other. */
static bool is_earlier_of_lane(const struct walk_store *first, const struct walk_store *then)
{
    return first->place.walk == then->place.walk ||
           (first->warp == then->warp && is_stored_when_in_warp(&first->place, &then->place) == WHEN_BEFORE);
}

/* Whether the lane waited before it overwrote what the place reads. */
static bool is_held_back(const struct walk_words *words, const struct walk_store *store, const struct walk_place *place)
{
    for (const struct walk_store *first = store; first-- > words->stores;)
        if (is_earlier_of_lane(first, store) && walk_words_overlaps(first, store->address, store->bytes) &&
            is_stored_before(words, first, place))
            return has_waited_since(words, &first->place, &store->place, place);
    return false;
}

static enum when is_stored_when(const struct walk_words *words, const struct walk_store *store,
                                const struct walk_place *place)
{
    if (store->place.walk == place->walk || is_stored_before(words, store, place))
        return WHEN_BEFORE;
    if (store->warp == words->warp && is_stored_when_in_warp(&store->place, place) != WHEN_AT_ANY_TIME)
        return is_stored_when_in_warp(&store->place, place);
    return is_before(words, place, place, &store->place) || is_held_back(words, store, place) ? WHEN_AFTER
                                                                                              : WHEN_AT_ANY_TIME;
}

/* Whether lanes of one warp, `then` and those of the store, waited between: for a phase that those of the store wait
 * for, too, or for one of the same lanes. */
static bool has_warp_waited_since(const struct walk_words *words, const struct walk_store *first,
                                  const struct walk_place *then, const struct walk_place *reader)
{
    struct walk_place common = *then;
    if (first->place.walk != then->walk && first->place.walk >= words->end_count)
        return false;
    for (unsigned id = 0; id < WSDBG_WALK_BARRIERS && first->place.walk != then->walk; id++)
        if (words->ends[first->place.walk].passed[id] < then->passed[id])
            common.passed[id] = 0;
    return has_waited_since(words, &first->place, &common, reader);
}

/* Whether the loss is behind a wait that came after the store which the load reads.  Any lane of the warp may have
 * stored. */
static bool is_loss_held_back(const struct walk_words *words, const struct walk_loss *loss,
                              const struct walk_load *load)
{
    if (!walk_marks_have(&words->stored, load->address, load->bytes))
        return false;
    for (const struct walk_store *first = words->stores + words->count; first-- > words->stores;)
        if (first->warp == loss->warp && walk_words_overlaps(first, load->address, load->bytes) &&
            is_stored_before(words, first, load->place))
            return has_warp_waited_since(words, first, &loss->place, load->place);
    return false;
}

bool walk_words_may_be_lost(const struct walk_words *words, const struct walk_loss *loss, struct walk_load load)
{
    const struct walk_place *place = load.place;
    if (loss->place.walk == place->walk || is_place_before(words, loss->warp, &loss->place, place))
        return true;
    if (loss->warp == load.warp && is_stored_when_in_warp(&loss->place, place) == WHEN_AFTER)
        return false;
    return !is_before(words, place, place, &loss->place) && !is_loss_held_back(words, loss, &load);
}

/* The last of the stores before the load; NULL = there is none.  *is_race: the order of some store and the load is not
 * known. */
static const struct walk_store *last_before(const struct walk_words *words, const struct walk_place *place,
                                            uint32_t address, uint32_t bytes, bool *is_race)
{
    const struct walk_store *last = NULL;
    *is_race = false;
    for (size_t i = 0; i < words->count; i++) {
        const struct walk_store *store = &words->stores[i];
        if (!walk_words_overlaps(store, address, bytes))
            continue;
        const enum when when = is_stored_when(words, store, place);
        *is_race = *is_race || when == WHEN_AT_ANY_TIME;
        if (when == WHEN_BEFORE && (!last || overwrites(words, last, store)))
            last = store;
    }
    return last;
}

/* Whether every other store before the load is overwritten by this one, or stored the same. */
static bool is_last_of_all(const struct walk_words *words, const struct walk_store *last,
                           const struct walk_place *place, uint32_t address, uint32_t bytes)
{
    for (size_t i = 0; i < words->count; i++) {
        const struct walk_store *store = &words->stores[i];
        uint32_t mine = 0, other = 0;
        if (store == last || !walk_words_overlaps(store, address, bytes) ||
            is_stored_when(words, store, place) == WHEN_AFTER || overwrites(words, store, last))
            continue;
        if (!bytes_of(last, address, bytes, &mine) || !bytes_of(store, address, bytes, &other) || mine != other)
            return false;
    }
    return true;
}

static bool is_stored(const struct walk_words *words, uint32_t address, uint32_t bytes)
{
    if (!walk_marks_have(&words->stored, address, bytes))
        return false;
    for (size_t i = 0; i < words->count; i++)
        if (walk_words_overlaps(&words->stores[i], address, bytes))
            return true;
    return false;
}

static bool is_answer(const struct walk_answer *answer, const struct walk_load *load)
{
    return answer->address == load->address && answer->bytes == load->bytes && answer->place.walk == load->place->walk;
}

/* The row of the load among those of its hash; a new one, if there is none yet.  NULL: no memory. */
static struct walk_answer *find_answer(struct walk_words *words, const struct walk_load *load)
{
    const uint32_t hash = (load->address ^ load->place->walk << 20) * UINT32_C(2654435761);
    uint32_t *first = &words->answered_at[hash >> 16 & (WSDBG_WALK_ANSWER_ROWS - 1)];
    for (uint32_t at = *first; at; at = words->answered[at - 1].next)
        if (is_answer(&words->answered[at - 1], load))
            return &words->answered[at - 1];
    if (!wsdbg_grow((void **)&words->answered, &words->answered_capacity, words->answered_count + 1,
                    sizeof *words->answered))
        return NULL;
    words->answered[words->answered_count].next = *first;
    *first = (uint32_t)++words->answered_count;
    return &words->answered[words->answered_count - 1];
}

static bool keep_answer(struct walk_words *words, const struct walk_load *load)
{
    struct walk_answer *answer = find_answer(words, load);
    if (!answer)
        return false;
    *answer = (struct walk_answer){load->address, load->bytes, load->warp, answer->next, *load->place};
    walk_marks_add(&words->asked, load->address, load->bytes);
    return true;
}

/* Whether the place is behind a phase that the storing lanes join only after their walk's end: it is not known what
 * they store until then. */
static bool has_ended_before(const struct walk_words *words, const struct walk_store *store,
                             const struct walk_place *place)
{
    const uint32_t walk = store->place.walk;
    return walk != place->walk && walk < words->end_count &&
           is_before(words, &words->ends[walk], &words->ends[walk], place);
}

static void note_givers(struct walk_words *words, uint32_t address, uint32_t bytes)
{
    if (!walk_marks_have(&words->stored, address, bytes))
        return;
    for (size_t i = 0; i < words->count; i++)
        if (words->stores[i].warp != words->warp && words->giver_count < WSDBG_WALK_WARPS_MOST &&
            walk_words_overlaps(&words->stores[i], address, bytes) && !walk_words_gives(words, words->stores[i].warp))
            words->givers[words->giver_count++] = words->stores[i].warp;
}

enum walk_word walk_words_get(struct walk_words *words, const struct walk_place *place, uint32_t address,
                              uint32_t bytes, uint32_t *value)
{
    const struct walk_load load = {address, bytes, words->warp, place};
    bool is_race;
    words->is_asked = true;
    note_givers(words, address, bytes);
    if (words->is_spoilt || walk_words_is_in_gaps(words, address, bytes) ||
        walk_clouds_have(&words->clouds, address, bytes))
        return WALK_WORD_UNKNOWN;
    for (size_t i = 0; i < words->loss_count; i++)
        if ((words->is_cautious || words->losses[i].pass == words->pass) &&
            walk_words_may_be_lost(words, &words->losses[i], load))
            return WALK_WORD_UNKNOWN;
    if (!is_stored(words, address, bytes))
        return keep_answer(words, &load) ? WALK_WORD_NOT_STORED : WALK_WORD_UNKNOWN;
    const struct walk_store *last = last_before(words, place, address, bytes, &is_race);
    const bool is_known = last && !is_race && !has_ended_before(words, last, place) &&
                          is_last_of_all(words, last, place, address, bytes) && bytes_of(last, address, bytes, value) &&
                          keep_answer(words, &load);
    return is_known ? WALK_WORD_KNOWN : WALK_WORD_UNKNOWN;
}
