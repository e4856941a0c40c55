/* words.c - see words.h.  Reads: a CTA's shared memory.  Writes: copies of its mbarriers' words. */
#include "machine/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { WORD_BYTES = 8, GAP_BYTES = 64, UNCOUNTED_PLACES = 16 };
/* At the beginning of a CTA's shared memory: the system's own, which not every machine reads.  A span that begins there
 * comes from an index that the code does not bound. */
enum { RESERVED_BYTES = 1024 };

static int by_first(const void *left, const void *right)
{
    const uint32_t a = ((const struct wsdbg_span *)left)->first, b = ((const struct wsdbg_span *)right)->first;
    return (a > b) - (a < b);
}

/* Adds a span to ordered ones, joined with a neighbour where that makes no long one. */
static size_t join(struct wsdbg_span *spans, size_t count, struct wsdbg_span added)
{
    const uint64_t end = (uint64_t)added.first + added.byte_count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t other_end = (uint64_t)spans[i].first + spans[i].byte_count;
        if (added.first > other_end + GAP_BYTES || end + GAP_BYTES < spans[i].first)
            continue;
        const uint32_t first = added.first < spans[i].first ? added.first : spans[i].first;
        const uint64_t joined = (end > other_end ? end : other_end) - first;
        if (joined > WSDBG_SPAN_BYTES_MAX)
            continue;
        spans[i] = (struct wsdbg_span){first, (uint32_t)joined};
        return count;
    }
    if (count < WSDBG_SPANS_MAX)
        spans[count++] = added;
    return count;
}

size_t wsdbg_words_spans(const struct wsdbg_access *accesses, size_t count, struct wsdbg_span out[WSDBG_SPANS_MAX])
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wsdbg_value_set *address = &accesses[i].address;
        const bool is_mbarrier = accesses[i].kind >= WSDBG_ACCESS_INIT && accesses[i].kind <= WSDBG_ACCESS_INVALIDATE;
        if (!is_mbarrier || !address->known || address->base % WORD_BYTES)
            continue;
        const uint64_t places = address->count ? address->count : UNCOUNTED_PLACES;
        uint64_t bytes = (places - 1) * address->stride + WORD_BYTES;
        if (bytes > WSDBG_SPAN_BYTES_MAX)
            bytes = address->count ? WSDBG_SPAN_BYTES_MAX : WORD_BYTES;
        found = join(out, found, (struct wsdbg_span){address->base & WSDBG_OFFSET_MASK, (uint32_t)bytes});
    }
    if (found)
        qsort(out, found, sizeof *out, by_first);
    return found;
}

static struct wsdbg_error *add(struct wsdbg_words *words, struct wsdbg_word word)
{
    if (wsdbg_words_find(words, word.offset))
        return NULL;
    if (!wsdbg_grow((void **)&words->rows, &words->capacity, words->count + 1, sizeof *words->rows))
        return &wsdbg_error_no_memory;
    words->rows[words->count++] = word;
    return NULL;
}

/* How many words from the span's first on can be read, into `out`: a span of guessed length may run past the end of the
 * CTA's memory, where no machine reads any of it. */
static struct wsdbg_error *read_prefix(struct wsdbg_machine *machine, uint32_t cta, struct wsdbg_span span,
                                       uint64_t *out, uint32_t *count)
{
    uint32_t readable = 0, beyond = span.byte_count / WORD_BYTES + 1, wanted = beyond - 1;
    struct wsdbg_error *error = NULL;
    while (!error && wanted > readable) {
        bool known = false;
        error = machine->ops->shared(machine, cta, span.first, out, wanted * WORD_BYTES, &known);
        if (known)
            readable = wanted;
        else
            beyond = wanted;
        wanted = readable ? readable + (beyond - readable) / 2 : beyond > 1;
    }
    *count = readable;
    return error;
}

/* A file may hold some words of a span, where who wrote it asked for others.  Of a live GPU each read would be an order
 * to its driver. */
static bool holds_single_words(const struct wsdbg_machine *machine)
{
    return machine->source && strcmp(machine->source, "core") == 0;
}

struct wsdbg_error *wsdbg_words_read(struct wsdbg_words *words, struct wsdbg_machine *machine, uint32_t cta,
                                     struct wsdbg_span span)
{
    uint64_t bytes[WSDBG_SPAN_BYTES_MAX / WORD_BYTES];
    uint32_t readable;
    if (span.first < RESERVED_BYTES && span.first + span.byte_count > RESERVED_BYTES) {
        span.byte_count -= RESERVED_BYTES - span.first;
        span.first = RESERVED_BYTES;
    }
    if (span.byte_count > sizeof bytes)
        span.byte_count = sizeof bytes;
    struct wsdbg_error *error = read_prefix(machine, cta, span, bytes, &readable);
    for (uint32_t i = 0; !error && i < span.byte_count / WORD_BYTES; i++) {
        struct wsdbg_word word = {span.first + i * WORD_BYTES, i < readable, i < readable ? bytes[i] : 0};
        if (!word.known && holds_single_words(machine))
            error = machine->ops->shared(machine, cta, word.offset, &word.value, WORD_BYTES, &word.known);
        if (!error)
            error = add(words, word);
    }
    return error;
}

const struct wsdbg_word *wsdbg_words_find(const struct wsdbg_words *words, uint32_t offset)
{
    for (size_t i = 0; i < words->count; i++)
        if (words->rows[i].offset == offset)
            return &words->rows[i];
    return NULL;
}

/* The GPU locks a word when an arrival is one too many, and any word that a thread arrives on which is no mbarrier.
 * What is no mbarrier seldom looks like one with so few arrivals; these are the threads of two CTAs. */
enum { LOCKED_EXPECTED_MOST = 2048 };

struct wsdbg_mbarrier_word wsdbg_mbarrier_word(uint64_t word)
{
    const uint32_t bytes = word >> 21 & 0x1fffff;
    struct wsdbg_mbarrier_word out = {
        .phase = (uint32_t)(word >> 63),
        .pending = -(uint32_t)(word >> 43) & 0xfffff,
        .expected = -(uint32_t)(word >> 1) & 0xfffff,
        .missing_bytes = bytes & 0x100000 ? (int32_t)(0x200000 - bytes) : -(int32_t)bytes,
    };
    const bool is_locked = word >> 42 & 1;
    out.is_valid = !(word & 1) && out.expected && out.pending <= out.expected &&
                   (!is_locked || out.expected <= LOCKED_EXPECTED_MOST);
    return out;
}
