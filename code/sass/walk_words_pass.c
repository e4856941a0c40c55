/* walk_words_pass.c - the passes in which the warps of a CTA are walked: what a pass keeps, and whether another one may
 * tell more.  See walk_words.h.
 *
 * Reads: the stores and losses of this pass and of the one before.  Writes: which of them the next pass begins with.
 */
#include "sass/walk_words_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { PASSES_MOST = 6 };

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
    for (uint32_t i = 0; i < words->meeting_warps; i++)
        if (words->meetings[i].warp == warp)
            words->meetings[i].count = 0;
}

bool walk_words_gives(const struct walk_words *words, uint32_t warp)
{
    for (uint32_t i = 0; i < words->giver_count; i++)
        if (words->givers[i] == warp)
            return true;
    return false;
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

static bool are_losses_as_before(const struct walk_words *words)
{
    bool are_same = words->loss_count == words->losses_before_count;
    for (size_t i = 0; are_same && i < words->loss_count; i++)
        are_same = words->losses[i].warp == words->losses_before[i].warp &&
                   walk_words_is_same_place(&words->losses[i].place, &words->losses_before[i].place);
    return are_same;
}

static bool is_as_before(const struct walk_words *words)
{
    struct spans spans;
    if ((words->is_cautious && !are_losses_as_before(words)) || !find_spans(words, &spans))
        return false;
    size_t i = next_that_counts(words->stores, words->count, 0, &spans),
           k = next_that_counts(words->before, words->before_count, 0, &spans);
    while (i < words->count && k < words->before_count && walk_words_is_same(&words->stores[i], &words->before[k])) {
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
    memset(words->answered_at, 0, sizeof words->answered_at);
    words->asked = (struct walk_marks){0};
    words->is_contradicted = words->is_asked = false;
    words->pass++;
    return WALK_WORDS_AGAIN;
}

void walk_words_go_on(struct walk_words *words)
{
    if (begin_pass(words) != WALK_WORDS_AGAIN)
        walk_words_spoil(words);
}

/* Some walks are lost half way.  What they store behind that place is not known.  Whether a load was given a word that
 * such a store may have changed. */
static bool was_told_too_much(const struct walk_words *words)
{
    for (size_t i = 0; i < words->answered_count; i++) {
        const struct walk_answer *answer = &words->answered[i];
        const struct walk_load load = {answer->address, answer->bytes, answer->warp, &answer->place};
        for (size_t k = 0; k < words->loss_count; k++)
            if (words->losses[k].place.walk != answer->place.walk && /* else it came behind the load */
                walk_words_may_be_lost(words, &words->losses[k], load))
                return true;
    }
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
