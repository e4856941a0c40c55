/* stages_test.c - a producer and a consumer that go round a ring by the same code, which flips the phase when the stage
 * index wraps, or one stage too early.  At its end the producer waits until all slots are free.  And two producers, of
 * which one begins with a wrong parity.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, STAGES = 4, WARPS = 2, PRODUCER = 0, CONSUMER, ROUNDS = 12 };

static const struct kernel {
    const char *name, *says; /* says NULL: the kernel finishes */
    bool is_early[WARPS];    /* the warp flips its phase at the last stage */
    bool has_own_wait;       /* the producer waits for the last stage by another instruction, of its own source line */
    bool has_other_wait;     /* ... of the same source line */
} kernels[] = {
    {.name = "nothing is wrong"},
    {.name = "both flip too early: all rounds are done, and the producer waits for one more",
     .says =
         "Warp 0 begins with parity 0 to wait on \"empty\" stage 3, and so all these waits ask for the wrong phase, "
         "as do those on other mbarriers: with parity 1 first, as on other stages, the kernel would "
         "finish.",
     .is_early = {true, true}},
    {.name = "only the producer does",
     .says =
         "Warp 0 begins with parity 0 to wait on \"empty\" stage 3, and so all these waits ask for the wrong phase: "
         "with parity 1",
     .is_early = {true, false}},
    {.name = "... by two instructions of one line",
     .says =
         "Warp 0 begins with parity 0 to wait on \"empty\" stage 3, and so all these waits ask for the wrong phase: ",
     .is_early = {true, false},
     .has_other_wait = true},
    {.name = "only the producer's wait for the last stage does, a wait of its own",
     .says =
         "Warp 0 begins with parity 0 to wait on \"empty\" stage 3, and so all these waits ask for the wrong phase: ",
     .is_early = {true, false},
     .has_own_wait = true},
};

static uint32_t phase_of(uint32_t round, bool is_early)
{
    return ((round + is_early) / STAGES) & 1;
}

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS];
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w};
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(&ways[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 1);
    }
    for (uint32_t w = 0; w < WARPS; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < ROUNDS + STAGES; i++) {
        const uint32_t full = MBARRIER_AT(FULL, i % STAGES), empty = MBARRIER_AT(EMPTY, i % STAGES);
        const bool is_of_last = i % STAGES == STAGES - 1 && (k->has_own_wait || k->has_other_wait);
        way_add(&ways[PRODUCER], WSDBG_ACCESS_WAIT, empty, phase_of(i, k->is_early[PRODUCER]) ^ 1)->access = is_of_last;
        if (i >= ROUNDS)
            continue;
        way_add(&ways[PRODUCER], WSDBG_ACCESS_ARRIVE, full, 1);
        way_add(&ways[CONSUMER], WSDBG_ACCESS_WAIT, full, phase_of(i, k->is_early[CONSUMER]));
        way_add(&ways[CONSUMER], WSDBG_ACCESS_ARRIVE, empty, 1);
    }
    ways_put(p, ways, WARPS);
}

static bool stand(struct picture *p, const struct kernel *k)
{
    ways_begin_rings(p, WARPS, FULL, EMPTY, STAGES);
    for (uint32_t i = 0; i < 2; i++) /* those of the producer */
        picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, WSDBG_LANES_ONE);
    if (!k->has_own_wait)
        p->snapshot.accesses[1].site = p->snapshot.accesses[0].site;
    put_ways(p, k);
    return ways_stand(p);
}

static const char *cause_of(const struct kernel *k)
{
    return !k->says ? NULL : k->has_own_wait ? "PARITY_WRONG" : "PARITY_DRIFT";
}

static void a_phase_that_flips_at_the_wrong_stage_is_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        ways_check(&p, stand(&p, &kernels[i]), cause_of(&kernels[i]), kernels[i].says);
    }
    (void)state;
}

/* ---- a short loop ---- */

/* The consumer fills the first slot itself, the producer the second one, and then waits until the first one is free.
 * Nobody knows how many bytes a copy brings.  is_early: the consumer's phase flips before it waits for the second one.
 */
static bool stand_filled(struct picture *p, bool is_early)
{
    enum { BYTES = 64, FILLED = 2 };
    static struct way of[WARPS];
    for (uint32_t w = 0; w < WARPS; w++)
        of[w] = (struct way){.warp = w};
    ways_begin_rings(p, WARPS, FULL, EMPTY, FILLED);
    for (uint32_t s = 0; s < FILLED; s++) {
        way_add(&of[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
        way_add(&of[PRODUCER], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 1);
    }
    for (uint32_t i = 0; i < FILLED; i++) {
        struct way *filler = &of[i == 0 ? CONSUMER : PRODUCER];
        way_add(filler, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        way_add(filler, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, i), BYTES);
        way_add(filler, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, i), BYTES)->number_known = false;
        way_add(filler, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    }
    for (uint32_t i = 0; i < FILLED; i++) {
        way_add(&of[CONSUMER], WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, i), is_early && i == 1);
        way_add(&of[CONSUMER], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, i), 1);
    }
    way_add(&of[PRODUCER], WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), 0);
    ways_put(p, of, WARPS);
    return ways_stand(p);
}

static void an_arrival_that_fills_a_slot_is_not_too_many(void **state)
{
    struct picture p;
    (void)state;
    ways_check(&p, stand_filled(&p, false), NULL, NULL);
    ways_check(&p, stand_filled(&p, true), "PARITY_DRIFT", "begins with parity 1 to wait on \"full\" stage 1");
}

/* ---- two producers ---- */

enum { SLOT = 3, LOADERS = 2, READER = LOADERS, SLOTS = 2 };

/* Both fill each slot; the reader frees it.  Each slot has an mbarrier of its own name. */
static void put_loaders(struct picture *p, const uint32_t first_parity[LOADERS])
{
    static struct way of[LOADERS + 1];
    for (uint32_t w = 0; w <= LOADERS; w++)
        of[w] = (struct way){.warp = w};
    for (uint32_t s = 0; s < SLOTS; s++) {
        way_add(&of[READER], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), LOADERS);
        way_add(&of[READER], WSDBG_ACCESS_INIT, MBARRIER_AT(SLOT + s, 0), 1);
    }
    for (uint32_t w = 0; w <= LOADERS; w++)
        way_add(&of[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t full = MBARRIER_AT(FULL, i % SLOTS), empty = MBARRIER_AT(SLOT + i % SLOTS, 0);
        for (uint32_t w = 0; w < LOADERS; w++) {
            way_add(&of[w], WSDBG_ACCESS_WAIT, empty, (i / SLOTS & 1) ^ first_parity[w]);
            way_add(&of[w], WSDBG_ACCESS_ARRIVE, full, 1);
        }
        way_add(&of[READER], WSDBG_ACCESS_WAIT, full, i / SLOTS & 1);
        way_add(&of[READER], WSDBG_ACCESS_ARRIVE, empty, 1);
    }
    ways_put(p, of, LOADERS + 1);
}

static bool stand_with(struct picture *p, const uint32_t first_parity[LOADERS])
{
    picture_init(p, 1, LOADERS + 1, 32);
    picture_name(p, FULL, "full", SLOTS, 3, 4);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    for (uint32_t s = 0; s < SLOTS; s++) {
        picture_name(p, SLOT + s, s ? "second slot" : "first slot", 1, 4, 3);
        picture_mbarrier(p, FULL, s, 0, LOADERS, LOADERS, 0);
        picture_mbarrier(p, SLOT + s, 0, 0, 1, 1, 0);
    }
    put_loaders(p, first_parity);
    return ways_stand(p);
}

static void a_producer_that_begins_unlike_another_is_told(void **state)
{
    struct picture p;
    (void)state;
    ways_check(&p, stand_with(&p, (const uint32_t[LOADERS]){1, 1}), NULL, NULL);
    ways_check(&p, stand_with(&p, (const uint32_t[LOADERS]){1, 0}), "PARITY_WRONG",
               "Warp 1 begins with parity 0 to wait on \"first slot\", and so all these waits ask for the wrong phase, "
               "as do those on other mbarriers: with parity 1 first the kernel would finish.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_phase_that_flips_at_the_wrong_stage_is_told),
        cmocka_unit_test(an_arrival_that_fills_a_slot_is_not_too_many),
        cmocka_unit_test(a_producer_that_begins_unlike_another_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
