/* walk_words.c - see walk_words.h.  Reads and writes: the stores of the walks so far. */
#include "sass/walk_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { GAP_MOST = 2048 }; /* bytes between stores of one tile of data */
enum { LOSSES_MOST = 512 };
enum { STORES_MOST = 2048, GAPS_FROM = STORES_MOST - 128, PASSES_MOST = 6, WORD_BYTES = 4, BYTE_BITS = 8 };

static bool overlaps(const struct walk_store *store, uint32_t address, uint32_t bytes)
{
    return store->address < address + bytes && address < store->address + store->bytes;
}

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

static bool is_same(const struct walk_store *a, const struct walk_store *b)
{
    return a->address == b->address && a->bytes == b->bytes && a->is_known == b->is_known &&
           (!a->is_known || !memcmp(a->words, b->words, sizeof a->words)) &&
           !memcmp(a->place.joined, b->place.joined, sizeof a->place.joined) &&
           !memcmp(a->place.passed, b->place.passed, sizeof a->place.passed);
}

/* Whether the same is stored at the same place already, and the walk at hand has not stored something else there since.
 */
static bool is_kept(const struct walk_words *words, const struct walk_store *store)
{
    bool is_overwritten = false;
    for (size_t i = words->count; i-- > 0 && store->is_known;) {
        const struct walk_store *kept = &words->stores[i];
        const bool is_own = kept->place.walk == store->place.walk;
        if (is_same(kept, store) && !(is_own && is_overwritten))
            return true;
        is_overwritten |= is_own && overlaps(kept, store->address, store->bytes);
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
    for (size_t i = 0; i < words->count; i++)
        if (words->stores[i].is_known && overlaps(&words->stores[i], address, bytes))
            return true;
    for (size_t i = 0; i < words->answered_count; i++)
        if (words->answered[i].address < address + bytes &&
            address < words->answered[i].address + words->answered[i].bytes)
            return true;
    return false;
}

/* Whether the bytes may lie between stores that were joined: there they would wrongly count as unknown data. */
static bool is_in_gaps(const struct walk_words *words, uint32_t address, uint32_t bytes)
{
    for (size_t i = 0; i < words->count; i++)
        if (words->stores[i].has_gaps && overlaps(&words->stores[i], address, bytes))
            return true;
    return false;
}

/* Joins a store of unknown data to another one beside it, so that a tile of data takes few rows.  Once there are many,
 * also to one near it. */
static bool join_unknown(struct walk_words *words, const struct walk_store *store)
{
    const uint32_t gap = words->count < GAPS_FROM ? 0 : GAP_MOST;
    for (size_t i = words->count; i-- > 0 && !store->is_known && words->stores[i].place.walk == store->place.walk;) {
        struct walk_store *kept = &words->stores[i];
        if (kept->is_known || !is_near(kept, store, gap) ||
            memcmp(kept->place.joined, store->place.joined, sizeof kept->place.joined) ||
            memcmp(kept->place.passed, store->place.passed, sizeof kept->place.passed)) {
            if (overlaps(kept, store->address, store->bytes))
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
        kept->has_gaps |= !is_beside;
        kept->address = first;
        kept->bytes = end - first;
        return true;
    }
    return false;
}

void walk_words_put(struct walk_words *words, const struct walk_store *store)
{
    for (size_t i = 0; i < words->answered_count && !words->is_torn; i++) {
        const struct walk_answer *answer = &words->answered[i];
        if (!overlaps(store, answer->address, answer->bytes) || is_kept(words, store))
            continue;
        words->is_contradicted = true;
        words->is_torn = answer->warp == words->warp && answer->place.walk != store->place.walk;
    }
    if (words->is_spoilt || is_kept(words, store) || join_unknown(words, store))
        return;
    const bool is_in_data = is_in_gaps(words, store->address, store->bytes) ||
                            walk_clouds_have(&words->clouds, store->address, store->bytes);
    if ((store->is_known && is_in_data) || (!store->is_known && words->count >= STORES_MOST))
        walk_clouds_add(&words->clouds, store->address, store->bytes);
    else if (words->count >= STORES_MOST ||
             !wsdbg_grow((void **)&words->stores, &words->capacity, words->count + 1, sizeof *words->stores))
        walk_words_spoil(words);
    else {
        words->stores[words->count] = *store;
        words->stores[words->count++].warp = words->warp;
    }
}

void walk_words_end(struct walk_words *words, const struct walk_place *place)
{
    if (!wsdbg_grow((void **)&words->ends, &words->end_capacity, words->end_count + 1, sizeof *place))
        walk_words_spoil(words);
    else
        words->ends[words->end_count++] = *place;
}

void walk_words_forget(struct walk_words *words)
{
    words->count = words->end_count = words->answered_count = words->before_count = 0;
    words->loss_count = words->losses_before_count = 0;
    words->pass = words->mbarrier_count = 0;
    words->clouds.count = 0;
    words->is_spoilt = words->is_contradicted = words->is_torn = false;
    words->is_asked = words->is_cautious = false;
}

/* ---- passes ---- */

void walk_words_begin_warp(struct walk_words *words, uint32_t warp)
{
    size_t kept = 0;
    for (size_t i = 0; i < words->count; i++)
        if (words->stores[i].warp != warp)
            words->stores[kept++] = words->stores[i];
    words->count = kept;
    kept = 0;
    for (size_t i = 0; i < words->loss_count; i++)
        if (words->losses[i].warp != warp)
            words->losses[kept++] = words->losses[i];
    words->loss_count = kept;
    words->warp = warp;
}

/* Where known words were stored, or something was read: from low to high addresses, and none overlap. */
struct spans {
    struct span {
        uint32_t first, end;
    } * rows;
    size_t count;
};

static int by_address(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

static void add_span(struct spans *spans, uint32_t address, uint32_t bytes)
{
    spans->rows[spans->count++] = (struct span){address, address + bytes};
}

static void join_spans(struct spans *spans)
{
    size_t kept = 0;
    if (spans->count)
        qsort(spans->rows, spans->count, sizeof *spans->rows, by_address);
    for (size_t i = 0; i < spans->count; i++) {
        const struct span span = spans->rows[i];
        struct span *last = kept ? &spans->rows[kept - 1] : NULL;
        if (!last || span.first > last->end)
            spans->rows[kept++] = span;
        else if (span.end > last->end)
            last->end = span.end;
    }
    spans->count = kept;
}

/* False: no memory.  The caller frees out->rows. */
static bool find_spans(const struct walk_words *words, struct spans *out)
{
    *out = (struct spans){.rows = malloc((words->count + words->answered_count + 1) * sizeof *out->rows)};
    if (!out->rows)
        return false;
    for (size_t i = 0; i < words->count; i++)
        if (words->stores[i].is_known)
            add_span(out, words->stores[i].address, words->stores[i].bytes);
    for (size_t i = 0; i < words->answered_count; i++)
        add_span(out, words->answered[i].address, words->answered[i].bytes);
    join_spans(out);
    return true;
}

static bool is_in_spans(const struct spans *spans, const struct walk_store *store)
{
    size_t low = 0, high = spans->count; /* the first one that ends behind the store's begin */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (spans->rows[middle].end > store->address)
            high = middle;
        else
            low = middle + 1;
    }
    return low < spans->count && spans->rows[low].first < store->address + store->bytes;
}

/* The first store from `at` on that may decide what is read.  Others are of data, and how these are joined depends on
 * how many stores are kept. */
static size_t next_that_counts(const struct walk_store *stores, size_t count, size_t at, const struct spans *spans)
{
    while (at < count && !stores[at].is_known && !is_in_spans(spans, &stores[at]))
        at++;
    return at;
}

static bool is_same_place(const struct walk_place *a, const struct walk_place *b)
{
    return !memcmp(a->joined, b->joined, sizeof a->joined) && !memcmp(a->passed, b->passed, sizeof a->passed);
}

static bool are_losses_as_before(const struct walk_words *words)
{
    bool are_same = words->loss_count == words->losses_before_count;
    for (size_t i = 0; are_same && i < words->loss_count; i++)
        are_same = words->losses[i].warp == words->losses_before[i].warp &&
                   is_same_place(&words->losses[i].place, &words->losses_before[i].place);
    return are_same;
}

static bool is_as_before(const struct walk_words *words)
{
    struct spans spans;
    if ((words->is_cautious && !are_losses_as_before(words)) || !find_spans(words, &spans))
        return false;
    size_t i = next_that_counts(words->stores, words->count, 0, &spans),
           k = next_that_counts(words->before, words->before_count, 0, &spans);
    while (i < words->count && k < words->before_count && is_same(&words->stores[i], &words->before[k])) {
        i = next_that_counts(words->stores, words->count, i + 1, &spans);
        k = next_that_counts(words->before, words->before_count, k + 1, &spans);
    }
    free(spans.rows);
    return i >= words->count && k >= words->before_count;
}

static enum walk_words_end begin_pass(struct walk_words *words)
{
    if (!wsdbg_grow((void **)&words->before, &words->before_capacity, words->count + 1, sizeof *words->before) ||
        !wsdbg_grow((void **)&words->losses_before, &words->losses_before_capacity, words->loss_count + 1,
                    sizeof *words->losses_before))
        return WALK_WORDS_DOUBTFUL;
    if (words->count)
        memcpy(words->before, words->stores, words->count * sizeof *words->stores);
    words->before_count = words->count;
    if (words->loss_count)
        memcpy(words->losses_before, words->losses, words->loss_count * sizeof *words->losses);
    words->losses_before_count = words->loss_count;
    words->answered_count = 0;
    words->is_contradicted = words->is_asked = false;
    words->pass++;
    return WALK_WORDS_AGAIN;
}

void walk_words_free(struct walk_words *words)
{
    free(words->stores);
    free(words->before);
    free(words->losses);
    free(words->losses_before);
    free(words->ends);
    free(words->answered);
    *words = (struct walk_words){0};
}

/* Whether a barrier orders the one place before the other.  `joins`: of the walk of the first place, how often it
 * joins each barrier, as far as that is known. */
static bool is_before(const struct walk_place *first, const struct walk_place *joins, const struct walk_place *then)
{
    for (unsigned id = 0; id < WSDBG_WALK_BARRIERS; id++)
        if (joins->joined[id] > 0 && then->passed[id] > first->joined[id])
            return true;
    return false;
}

/* Whether the store comes before a place of another walk. */
static bool is_stored_before(const struct walk_words *words, const struct walk_store *store,
                             const struct walk_place *place)
{
    const uint32_t walk = store->place.walk;
    return walk < words->end_count && is_before(&store->place, &words->ends[walk], place);
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

/* Whether `then` overwrites what `first` stored, whatever the schedule. */
static bool overwrites(const struct walk_words *words, const struct walk_store *first, const struct walk_store *then)
{
    if (first->place.walk == then->place.walk)
        return then > first;
    return is_stored_before(words, first, &then->place);
}

/* Whether a lane waited between two of its places, at an mbarrier, or at another barrier for a phase that the reader
 * has not passed. */
static bool has_waited_since(const struct walk_place *first, const struct walk_place *then,
                             const struct walk_place *reader)
{
    for (unsigned id = 0; id < WSDBG_WALK_BARRIERS; id++)
        if (then->passed[id] > first->passed[id] &&
            (id >= WSDBG_WALK_MBARRIER_FIRST || then->passed[id] > reader->passed[id]))
            return true;
    return false;
}

/* Whether the lane waited before it overwrote what the place reads. */
static bool is_held_back(const struct walk_words *words, const struct walk_store *store, const struct walk_place *place)
{
    for (const struct walk_store *first = store; first-- > words->stores;)
        if (first->place.walk == store->place.walk && overlaps(first, store->address, store->bytes) &&
            is_stored_before(words, first, place))
            return has_waited_since(&first->place, &store->place, place);
    return false;
}

enum when { WHEN_AFTER, WHEN_BEFORE, WHEN_AT_ANY_TIME };

/* Of lanes of one warp, which come to a named barrier together: by how often they have come. */
static enum when is_stored_when_in_warp(const struct walk_place *store, const struct walk_place *place)
{
    enum when when = WHEN_AT_ANY_TIME;
    for (unsigned id = 0; id < WSDBG_WALK_CLUSTER; id++)
        if (place->joined[id] < store->joined[id])
            return WHEN_AFTER;
        else if (place->joined[id] > store->joined[id])
            when = WHEN_BEFORE;
    return when;
}

static enum when is_stored_when(const struct walk_words *words, const struct walk_store *store,
                                const struct walk_place *place)
{
    if (store->place.walk == place->walk || is_stored_before(words, store, place))
        return WHEN_BEFORE;
    if (store->warp == words->warp && is_stored_when_in_warp(&store->place, place) != WHEN_AT_ANY_TIME)
        return is_stored_when_in_warp(&store->place, place);
    return is_before(place, place, &store->place) || is_held_back(words, store, place) ? WHEN_AFTER : WHEN_AT_ANY_TIME;
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
    return has_waited_since(&first->place, &common, reader);
}

/* Whether the loss is behind a wait that came after the store which the load reads.  Any lane of the warp may have
 * stored. */
static bool is_loss_held_back(const struct walk_words *words, const struct walk_loss *loss,
                              const struct walk_answer *load)
{
    for (const struct walk_store *first = words->stores + words->count; first-- > words->stores;)
        if (first->warp == loss->warp && overlaps(first, load->address, load->bytes) &&
            is_stored_before(words, first, &load->place))
            return has_warp_waited_since(words, first, &loss->place, &load->place);
    return false;
}

/* Whether what is loaded may come from a store that is not known. */
static bool may_be_lost(const struct walk_words *words, const struct walk_loss *loss, const struct walk_answer *load)
{
    const struct walk_place *place = &load->place;
    const struct walk_store store = {.place = loss->place, .warp = loss->warp};
    if (store.place.walk == place->walk || is_stored_before(words, &store, place))
        return true;
    if (loss->warp == load->warp && is_stored_when_in_warp(&loss->place, place) == WHEN_AFTER)
        return false;
    return !is_before(place, place, &loss->place) && !is_loss_held_back(words, loss, load);
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

/* The last of the stores before the load; NULL = there is none.  *is_race: the order of some store and the load is not
 * known. */
static const struct walk_store *last_before(const struct walk_words *words, const struct walk_place *place,
                                            uint32_t address, uint32_t bytes, bool *is_race)
{
    const struct walk_store *last = NULL;
    *is_race = false;
    for (size_t i = 0; i < words->count; i++) {
        const struct walk_store *store = &words->stores[i];
        if (!overlaps(store, address, bytes))
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
        if (store == last || !overlaps(store, address, bytes) || is_stored_when(words, store, place) == WHEN_AFTER ||
            overwrites(words, store, last))
            continue;
        if (!bytes_of(last, address, bytes, &mine) || !bytes_of(store, address, bytes, &other) || mine != other)
            return false;
    }
    return true;
}

static bool is_stored(const struct walk_words *words, uint32_t address, uint32_t bytes)
{
    for (size_t i = 0; i < words->count; i++)
        if (overlaps(&words->stores[i], address, bytes))
            return true;
    return false;
}

static bool keep_answer(struct walk_words *words, const struct walk_answer *load)
{
    for (size_t i = 0; i < words->answered_count; i++)
        if (words->answered[i].address == load->address && words->answered[i].bytes == load->bytes &&
            words->answered[i].place.walk == load->place.walk) {
            words->answered[i].place = load->place;
            return true;
        }
    if (!wsdbg_grow((void **)&words->answered, &words->answered_capacity, words->answered_count + 1,
                    sizeof *words->answered))
        return false;
    words->answered[words->answered_count++] = *load;
    return true;
}

/* Whether the place is behind a phase that the storing lanes join only after their walk's end: it is not known what
 * they store until then. */
static bool has_ended_before(const struct walk_words *words, const struct walk_store *store,
                             const struct walk_place *place)
{
    const uint32_t walk = store->place.walk;
    return walk != place->walk && walk < words->end_count && is_before(&words->ends[walk], &words->ends[walk], place);
}

enum walk_word walk_words_get(struct walk_words *words, const struct walk_place *place, uint32_t address,
                              uint32_t bytes, uint32_t *value)
{
    const struct walk_answer load = {address, bytes, words->warp, *place};
    bool is_race;
    words->is_asked = true;
    if (words->is_spoilt || is_in_gaps(words, address, bytes) || walk_clouds_have(&words->clouds, address, bytes))
        return WALK_WORD_UNKNOWN;
    for (size_t i = 0; i < words->loss_count; i++)
        if ((words->is_cautious || words->losses[i].pass == words->pass) &&
            may_be_lost(words, &words->losses[i], &load))
            return WALK_WORD_UNKNOWN;
    if (!is_stored(words, address, bytes))
        return keep_answer(words, &load) ? WALK_WORD_NOT_STORED : WALK_WORD_UNKNOWN;
    const struct walk_store *last = last_before(words, place, address, bytes, &is_race);
    const bool is_known = last && !is_race && !has_ended_before(words, last, place) &&
                          is_last_of_all(words, last, place, address, bytes) && bytes_of(last, address, bytes, value) &&
                          keep_answer(words, &load);
    return is_known ? WALK_WORD_KNOWN : WALK_WORD_UNKNOWN;
}

/* Whether some load was told a word that a walk may have overwritten behind the place where it is lost. */
static bool was_told_too_much(const struct walk_words *words)
{
    for (size_t i = 0; i < words->answered_count; i++)
        for (size_t k = 0; k < words->loss_count; k++)
            if (words->losses[k].place.walk != words->answered[i].place.walk && /* else it came behind the load */
                may_be_lost(words, &words->losses[k], &words->answered[i]))
                return true;
    return false;
}

static enum walk_words_end end_stable_pass(struct walk_words *words)
{
    if (words->is_torn)
        return WALK_WORDS_DOUBTFUL;
    if (!was_told_too_much(words))
        return WALK_WORDS_HOLD;
    if (words->is_cautious || words->pass + 1 >= PASSES_MOST)
        return WALK_WORDS_DOUBTFUL;
    words->is_cautious = true;
    return begin_pass(words);
}

enum walk_words_end walk_words_end_pass(struct walk_words *words)
{
    const bool is_repeated = words->pass > 0 && is_as_before(words);
    if (words->is_spoilt)
        return words->is_contradicted ? WALK_WORDS_DOUBTFUL : WALK_WORDS_HOLD;
    if (is_repeated || !words->is_asked || (!words->count && !words->loss_count))
        return end_stable_pass(words);
    if (!words->loss_count && !words->is_contradicted)
        return WALK_WORDS_HOLD;
    return words->pass + 1 < PASSES_MOST ? begin_pass(words) : WALK_WORDS_DOUBTFUL;
}
