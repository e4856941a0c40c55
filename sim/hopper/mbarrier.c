/* mbarrier.c - see mbarrier.h.
 *
 * Besides the word a record says whether mbarrier.init wrote it and how many phases nobody waited for.
 * Reads and writes: shared memory of CTAs, their records, the gpu's reports.
 */
#include "hopper/mbarrier.h"

#include "hopper/device.h"
#include "hopper/race.h"

#include <stdlib.h>
#include <string.h>

enum { PENDING_SHIFT = 43, BYTES_SHIFT = 21, EXPECTED_SHIFT = 1, RECORDS_FIRST = 64 };
#define COUNT_MASK 0xfffffull
#define BYTES_MASK 0x1fffffull
#define PHASE_BIT (1ull << 63)
#define LOCK_BIT (1ull << 42)

struct record {
    uint32_t offset; /* 0: free; no barrier lies there, it is the system's */
    bool is_initialised;
    uint32_t unseen; /* phases that completed since somebody waited successfully */
    uint32_t phases; /* that completed */
};

/* Open addressing; never full. */
struct hopper_mbarriers {
    size_t capacity, count;
    struct record *rows;
};

/* ---- the word ---- */

uint64_t hopper_mbarrier_initial(uint32_t count)
{
    const uint32_t negative = 0x100000u - count;
    return (uint64_t)(negative << 11) << 32 | (uint32_t)(negative << 1);
}

uint32_t hopper_mbarrier_pending(uint64_t word)
{
    return (uint32_t)(-(word >> PENDING_SHIFT) & COUNT_MASK);
}

uint32_t hopper_mbarrier_expected(uint64_t word)
{
    return (uint32_t)(-(word >> EXPECTED_SHIFT) & COUNT_MASK);
}

static int32_t bytes_of(uint64_t word)
{
    const int32_t bytes = (int32_t)(word >> BYTES_SHIFT & BYTES_MASK);
    return bytes & 0x100000 ? bytes - 0x200000 : bytes;
}

static uint64_t with(uint64_t word, unsigned shift, uint64_t mask, uint64_t value)
{
    return (word & ~(mask << shift)) | (value & mask) << shift;
}

static enum hopper_mbarrier_effect arrive(uint64_t *word, uint32_t count, bool is_drop)
{
    const uint32_t pending = hopper_mbarrier_pending(*word), expected = hopper_mbarrier_expected(*word);
    if (count > pending || (is_drop && count > expected))
        return HOPPER_MBARRIER_SPENT;
    *word = with(*word, PENDING_SHIFT, COUNT_MASK, -(uint64_t)(pending - count));
    if (is_drop)
        *word = with(*word, EXPECTED_SHIFT, COUNT_MASK, -(uint64_t)(expected - count));
    return HOPPER_MBARRIER_SAME_PHASE;
}

static enum hopper_mbarrier_effect add_bytes(uint64_t *word, int64_t amount)
{
    const int64_t bytes = bytes_of(*word) + amount;
    if (bytes > HOPPER_MBARRIER_BYTES_MOST || bytes < -HOPPER_MBARRIER_BYTES_MOST)
        return HOPPER_MBARRIER_TOO_BYTES;
    *word = with(*word, BYTES_SHIFT, BYTES_MASK, (uint64_t)bytes);
    return HOPPER_MBARRIER_SAME_PHASE;
}

enum hopper_mbarrier_effect hopper_mbarrier_step(uint64_t *word, enum hopper_mbarrier_operation operation,
                                                 uint32_t amount)
{
    enum hopper_mbarrier_effect effect;
    if (operation == HOPPER_MBARRIER_EXPECT)
        effect = add_bytes(word, -(int64_t)amount);
    else if (operation == HOPPER_MBARRIER_COMPLETE)
        effect = add_bytes(word, amount);
    else
        effect = arrive(word, amount, operation == HOPPER_MBARRIER_DROP);
    if (effect != HOPPER_MBARRIER_SAME_PHASE || hopper_mbarrier_pending(*word) || bytes_of(*word))
        return effect;
    *word = with(*word, PENDING_SHIFT, COUNT_MASK, -(uint64_t)hopper_mbarrier_expected(*word)) ^ PHASE_BIT;
    return HOPPER_MBARRIER_NEXT_PHASE;
}

/* ---- the records ---- */

static struct record *slot_of(const struct hopper_mbarriers *table, uint32_t offset)
{
    size_t i = offset / sizeof(uint64_t) & (table->capacity - 1);
    while (table->rows[i].offset && table->rows[i].offset != offset)
        i = (i + 1) & (table->capacity - 1);
    return &table->rows[i];
}

static bool grow(struct hopper_mbarriers *table)
{
    struct hopper_mbarriers larger = {.capacity = table->capacity ? table->capacity * 2 : RECORDS_FIRST,
                                      .count = table->count};
    larger.rows = calloc(larger.capacity, sizeof *larger.rows);
    if (!larger.rows)
        return false;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->rows[i].offset)
            *slot_of(&larger, table->rows[i].offset) = table->rows[i];
    free(table->rows);
    *table = larger;
    return true;
}

/* NULL when there is none, or no memory for a new one: reports are lost then, nothing else. */
static struct record *find_record(struct hopper_cta *cta, uint32_t offset, bool make)
{
    if (!cta->mbarriers && (!make || !(cta->mbarriers = calloc(1, sizeof *cta->mbarriers))))
        return NULL;
    struct hopper_mbarriers *const table = cta->mbarriers;
    if (make && table->count * 2 >= table->capacity && !grow(table))
        return NULL;
    if (!table->capacity || !offset)
        return NULL;
    struct record *const record = slot_of(table, offset);
    if (!record->offset && !make)
        return NULL;
    if (!record->offset) {
        record->offset = offset;
        table->count++;
    }
    return record;
}

uint32_t hopper_mbarrier_next(const struct hopper_cta *cta, uint32_t offset, bool *is_initialised)
{
    const struct hopper_mbarriers *const table = cta->mbarriers;
    const struct record *next = NULL;
    for (size_t i = 0; table && i < table->capacity; i++) {
        const struct record *other = &table->rows[i];
        if (other->offset > offset && (!next || other->offset < next->offset))
            next = other;
    }
    *is_initialised = next && next->is_initialised;
    return next ? next->offset : 0;
}

bool hopper_mbarrier_is_initialised(const struct hopper_cta *cta, uint32_t offset)
{
    const struct hopper_mbarriers *const table = cta->mbarriers;
    const struct record *const record = table && table->capacity ? slot_of(table, offset) : NULL;
    return record && record->offset == offset && record->is_initialised;
}

uint32_t hopper_mbarrier_phases(const struct hopper_cta *cta, uint32_t offset)
{
    const struct hopper_mbarriers *const table = cta->mbarriers;
    return table && table->capacity ? slot_of(table, offset)->phases : 0;
}

void hopper_mbarriers_free(struct hopper_cta *cta)
{
    if (cta->mbarriers)
        free(cta->mbarriers->rows);
    free(cta->mbarriers);
    cta->mbarriers = NULL;
}

/* ---- a CTA's mbarriers ---- */

static void report(struct hopper_cta *cta, struct hopper_actor actor, enum wsdbg_gpu_report_kind kind, uint32_t offset)
{
    hopper_report(cta, actor.warp, kind, actor.instruction, offset);
}

void hopper_mbarrier_init(struct hopper_cta *cta, uint32_t offset, uint32_t count)
{
    const uint64_t word = hopper_mbarrier_initial(count);
    memcpy(cta->shared + offset, &word, sizeof word);
    struct record *const record = find_record(cta, offset, true);
    if (record)
        *record = (struct record){.offset = offset, .is_initialised = true};
    hopper_changed_barrier(cta);
}

void hopper_mbarrier_invalidate(struct hopper_cta *cta, uint32_t offset)
{
    struct record *const record = find_record(cta, offset, false);
    if (record)
        record->is_initialised = false;
}

void hopper_mbarrier_expect_arrival(struct hopper_cta *cta, uint32_t offset)
{
    uint64_t word;
    memcpy(&word, cta->shared + offset, sizeof word);
    word = with(word, PENDING_SHIFT, COUNT_MASK, -(uint64_t)(hopper_mbarrier_pending(word) + 1));
    memcpy(cta->shared + offset, &word, sizeof word);
}

static struct record *checked_record(struct hopper_cta *cta, uint32_t offset, struct hopper_actor actor)
{
    struct record *const record = find_record(cta, offset, false);
    if (record && record->is_initialised)
        return record;
    report(cta, actor, WSDBG_GPU_BARRIER_NOT_INITIALISED, offset);
    return NULL;
}

enum hopper_mbarrier_effect hopper_mbarrier_apply(struct hopper_cta *cta, uint32_t offset,
                                                  enum hopper_mbarrier_operation operation, uint32_t amount,
                                                  uint32_t times, struct hopper_actor actor, uint64_t *before)
{
    enum hopper_mbarrier_effect effect = HOPPER_MBARRIER_SAME_PHASE;
    struct record *const record = checked_record(cta, offset, actor);
    bool is_next = false;
    uint64_t word;
    memcpy(&word, cta->shared + offset, sizeof word);
    while (times-- && effect < HOPPER_MBARRIER_SPENT) {
        if (before)
            *before = word;
        effect = hopper_mbarrier_step(&word, operation, amount);
        is_next |= effect == HOPPER_MBARRIER_NEXT_PHASE;
        if (record && effect == HOPPER_MBARRIER_NEXT_PHASE)
            record->phases++;
        if (record && effect == HOPPER_MBARRIER_NEXT_PHASE && ++record->unseen == 2)
            report(cta, actor, WSDBG_GPU_PHASE_OVERRUN, offset);
    }
    memcpy(cta->shared + offset, &word, sizeof word);
    if (is_next && cta->grid->gpu->races)
        hopper_race_mbarrier_phase(cta, offset);
    /* Waits look at the phase only; a warp that polls the word itself spins. */
    if (is_next)
        hopper_changed_barrier(cta);
    else
        hopper_changed_shared(cta);
    return effect;
}

bool hopper_mbarrier_is_over(struct hopper_cta *cta, uint32_t offset, uint32_t parity, struct hopper_actor actor)
{
    uint64_t word;
    memcpy(&word, cta->shared + offset, sizeof word);
    struct record *const record = checked_record(cta, offset, actor);
    const bool is_over = hopper_mbarrier_phase(word) != parity;
    if (record && is_over)
        record->unseen = 0;
    return is_over;
}

void hopper_mbarrier_lock(struct hopper_cta *cta, uint32_t offset)
{
    uint64_t word;
    memcpy(&word, cta->shared + offset, sizeof word);
    word |= LOCK_BIT;
    memcpy(cta->shared + offset, &word, sizeof word);
}

const char *hopper_mbarrier_effect_text(enum hopper_mbarrier_effect effect)
{
    switch (effect) {
    case HOPPER_MBARRIER_SPENT:
        return "an arrival after all arrivals of the phase were already made";
    case HOPPER_MBARRIER_TOO_BYTES:
        return "the count of expected bytes leaves its range (2^20 - 1)";
    default:
        return "";
    }
}
