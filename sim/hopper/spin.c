/* spin.c - finds splits that go round a loop in which nothing changes: they are parked until something does.
 *
 * Reads: the warp's registers and local memory when a backward branch is taken, and the words of mbarriers that its
 * loop tests.  A loop that comes back to its first instruction with these as they were, and whose warp wrote nothing
 * else in between, does the same for ever unless memory changes.  Registers that depend on a clock do not count unless
 * the clock decided something (clock.h).  A loop may poll several words in turn, and come back only after some rounds.
 * Registers are looked at in round 2^n and the few rounds behind it only, so a loop that works pays next to nothing.
 */
#include <stdlib.h>

#include "hopper/clock.h"
#include "hopper/code.h"
#include "hopper/device.h"
#include "hopper/mbarrier.h"
#include "hopper/values.h"

enum { ROUNDS_BEFORE = 8, PERIOD_MOST = 4 };

/* Of whole groups of four words. */
static uint64_t hash_words(uint64_t hash, const unsigned char *bytes, size_t byte_count)
{
    const uint64_t *words = (const uint64_t *)(const void *)bytes;
    uint64_t hashes[4] = {1, 2, 3, 4};
    for (size_t i = 0; i + 4 <= byte_count / sizeof *words; i += 4)
        for (unsigned k = 0; k < 4; k++)
            hashes[k] = (hashes[k] ^ words[i + k]) * 0x9fb21c651e98df25;
    for (unsigned k = 0; k < 4; k++)
        hash = (hash ^ hashes[k] ^ hash >> 29) * 0x9fb21c651e98df25;
    return hash;
}

static uint64_t hash_local(const struct hopper_warp *warp)
{
    return warp->local ? hash_words(0, warp->local, (size_t)HOPPER_LANES * warp->local_bytes) : 0;
}

static uint64_t add(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9fb21c651e98df25;
    return hash ^ hash >> 29;
}

/* Of one register, without these lanes. */
static uint64_t hash_register(uint64_t hash, const struct hopper_warp *warp, uint32_t number, uint32_t left_out)
{
    const unsigned bytes = wsdbg_ptx_type_bytes(warp->frame->function->register_types[number]);
    if (bytes == 0)
        return add(hash, *hopper_predicate(warp, number) & ~left_out);
    const unsigned words = bytes <= 4 ? 1 : bytes / 4;
    const uint32_t *values = hopper_register32(warp, number);
    for (unsigned i = 0; i < words * HOPPER_LANES; i++) {
        const unsigned lane = words <= 2 ? i / words : HOPPER_LANES; /* 128 bits are kept whole */
        if (lane == HOPPER_LANES || !(left_out >> lane & 1))
            hash = add(hash, values[i]);
    }
    return hash;
}

/* Without what depends on clocks, a set of registers for each split; false without memory. */
static bool hash_but_clocks(const struct hopper_warp *warp, uint64_t *hash)
{
    const struct hopper_clock_uses *clocks = warp->frame->clocks;
    const size_t words = hopper_clock_set_words(clocks);
    uint64_t *sets = calloc(words * warp->split_count + 1, sizeof *sets);
    if (!sets)
        return false;
    for (uint32_t i = 0; i < warp->split_count; i++)
        hopper_clock_registers(clocks, warp->splits[i].pc, sets + i * words);
    *hash = warp->carries;
    for (uint32_t number = 0; number < warp->frame->function->register_count; number++) {
        uint32_t left_out = 0;
        for (uint32_t i = 0; i < warp->split_count; i++)
            if (sets[i * words + number / 64] >> number % 64 & 1)
                left_out |= warp->splits[i].lanes;
        *hash = hash_register(*hash, warp, number, left_out);
    }
    free(sets);
    return true;
}

/* A function that is called from two places has the same pc for both. */
static uint64_t hash_place(uint64_t hash, const struct hopper_split *split)
{
    hash = (hash ^ ((uint64_t)split->pc << 32 | split->lanes)) * 0x9fb21c651e98df25;
    for (uint32_t i = 0; i < split->depth; i++)
        hash = (hash ^ split->returns[i]) * 0x9fb21c651e98df25;
    return hash;
}

static uint64_t hash_registers(const struct hopper_warp *warp)
{
    uint64_t hash;
    if (!warp->frame->clocks || !hash_but_clocks(warp, &hash))
        hash = hash_words(warp->carries, warp->registers, warp->frame->byte_count);
    for (uint32_t i = 0; i < warp->split_count; i++)
        hash = hash_place(hash, &warp->splits[i]);
    return hash;
}

uint64_t hopper_hash_own(const struct hopper_warp *warp)
{
    return (hash_registers(warp) ^ hash_local(warp)) | 1;
}

static uint32_t power_of_2_before(uint32_t number)
{
    return 1u << (31 - __builtin_clz(number));
}

static bool has_some_arrivals(const struct hopper_warp *warp, const struct hopper_test *test)
{
    uint64_t word;
    memcpy(&word, warp->cta->cluster->ctas[test->cta_rank]->shared + test->offset, sizeof word);
    return hopper_mbarrier_pending(word) != hopper_mbarrier_expected(word);
}

/* Of several barriers that the loop tests the one to show: the first one with some of its arrivals, else the first.
 * Only tests in the loop's own function: the split's calls are those that lead there. */
static const struct hopper_test *test_to_show(const struct hopper_warp *warp, const struct hopper_split *split)
{
    const struct hopper_test *first = NULL;
    for (uint32_t i = warp->test_count; i-- > 0;) {
        const struct hopper_test *test = &warp->tests[i];
        if (test->depth == split->depth && (!first || has_some_arrivals(warp, test) || !has_some_arrivals(warp, first)))
            first = test;
    }
    return first;
}

static bool are_same(const struct hopper_test *a, const struct hopper_test *b)
{
    return a->cta_rank == b->cta_rank && a->offset == b->offset && a->parity == b->parity;
}

static void park(struct hopper_warp *warp, struct hopper_split *split)
{
    const struct hopper_test *test = warp->read.width_bytes ? NULL : test_to_show(warp, split);
    split->wait = (struct hopper_wait){.kind = HOPPER_SPINS,
                                       .address = warp->read.address,
                                       .value = warp->read.value,
                                       .width_bytes = warp->read.width_bytes,
                                       .of_global = warp->read.of_global};
    if (test) {
        split->wait.tests = true;
        split->wait.tests_pc = test->pc;
        split->wait.cta_rank = test->cta_rank;
        split->wait.offset = test->offset;
        split->wait.parity = test->parity;
        for (uint32_t i = 0; i < warp->test_count; i++)
            split->wait.tests_others |= !are_same(test, &warp->tests[i]);
        split->wait.tests_others |= warp->test_count == HOPPER_TESTS; /* there may be more */
    }
    warp->cta->cluster->spinning_warps++;
}

bool hopper_came_round(struct hopper_step *step, struct hopper_split *split, uint32_t target)
{
    struct hopper_warp *warp = step->warp;
    struct hopper_loop *loop = &split->loop;
    if (loop->target != target || loop->writes != warp->writes) {
        *loop = (struct hopper_loop){.target = target, .writes = warp->writes};
        return false;
    }
    loop->rounds++;
    const struct hopper_clock_uses *clocks = warp->frame->clocks;
    if (loop->rounds < ROUNDS_BEFORE || (clocks && hopper_clock_may_pass_by(clocks, target)))
        return false;
    const uint32_t since = loop->rounds - power_of_2_before(loop->rounds);
    if (since == 0) {
        loop->hash = hopper_hash_own(warp);
        loop->changes = step->gpu->changes;
        warp->read = (struct hopper_read){0};
        warp->test_count = 0;
        warp->watched_lanes = split->lanes;
        return false;
    }
    if (since > PERIOD_MOST)
        return false;
    if (warp->watched_lanes != split->lanes) { /* another split's loop is watched since: what was read is not known */
        loop->rounds = ROUNDS_BEFORE - 1;
        return false;
    }
    const bool is_back = loop->hash == hopper_hash_own(warp);
    if (is_back || since == PERIOD_MOST)
        warp->watched_lanes = 0;
    if (!is_back)
        return false;
    /* What changed after it looked would not wake it. */
    const uint64_t looked = warp->read.looked ? warp->read.changes : loop->changes;
    if (looked != step->gpu->changes) {
        loop->rounds = ROUNDS_BEFORE - 1;
        return false;
    }
    if (warp->read.of_global && !hopper_list_spin(step->gpu, warp))
        return false;
    park(warp, split);
    loop->rounds = 0;
    return true;
}
