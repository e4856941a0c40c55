/* parity_apart_test.c - the "full" and the "empty" barriers of a pipeline lie behind one another and seem to be stages
 * of one ring.  A first parity may still be wrong on those of one kind alone.
 *
 * Warp 1 fills two slots by copies, warp 2 empties them.  Warp 1 begins to wait for empty slots with parity 0, so both
 * wait from the start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "replay_kernel.h"

enum { SLOTS = 2, ROUNDS = 4, BYTES = 64, RING = 3 };
#define FULL(slot) MBARRIER_AT(RING, slot)
#define EMPTY(slot) MBARRIER_AT(RING, SLOTS + (slot))

enum kernel_kind {
    BY_COPIES,
    BY_ARRIVALS, /* nothing tells which side brings data */
    OPEN,        /* nobody knows how a third warp goes on, which may use the barriers, too */
    SWAPPED      /* in odd rounds the warps change places, so that all barriers have the same users */
};

static void fill(struct kernel *k, uint32_t warp, uint32_t round, bool copies)
{
    const uint32_t slot = round % SLOTS;
    kernel_add(k, warp, WSDBG_ACCESS_WAIT, EMPTY(slot), round / SLOTS & 1);
    kernel_add(k, warp, copies ? WSDBG_ACCESS_ARRIVE_EXPECT : WSDBG_ACCESS_ARRIVE, FULL(slot), copies ? BYTES : 1);
    if (copies)
        kernel_add(k, warp, WSDBG_ACCESS_COPY, FULL(slot), BYTES);
}

static void empty(struct kernel *k, uint32_t warp, uint32_t round)
{
    kernel_add(k, warp, WSDBG_ACCESS_WAIT, FULL(round % SLOTS), round / SLOTS & 1);
    kernel_add(k, warp, WSDBG_ACCESS_ARRIVE, EMPTY(round % SLOTS), 1);
}

static void put(struct kernel *k, enum kernel_kind kind)
{
    kernel_begin(k);
    picture_name(&k->p, RING, "ring", 2 * SLOTS, 0, 0);
    for (uint32_t s = 0; s < 2 * SLOTS; s++)
        picture_mbarrier(&k->p, RING, s, 0, 1, 1, 0);
    for (uint32_t s = 0; s < 2 * SLOTS; s++)
        kernel_add(k, 0, WSDBG_ACCESS_INIT, MBARRIER_AT(RING, s), 1);
    kernel_sync(k);
    k->ways[0].is_open = kind == OPEN;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const bool is_swapped = kind == SWAPPED && i / SLOTS % 2;
        fill(k, is_swapped ? 2 : 1, i, kind != BY_ARRIVALS);
        empty(k, is_swapped ? 1 : 2, i);
    }
    kernel_run(k);
    assert_false(k->replay->has_ended);
    ways_take_picture(&k->p, k->replay);
}

static void a_first_parity_is_wrong_on_the_barriers_of_one_kind(void **state)
{
    struct kernel k;
    put(&k, BY_COPIES);
    ways_expect(&k.p, "PARITY_WRONG", "Warp 1 begins with parity 0 to wait on \"ring\" stage 2");
    kernel_end(&k);
    (void)state;
}

static void without_a_reason_no_first_parity_is_wrong(void **state)
{
    for (enum kernel_kind kind = BY_ARRIVALS; kind <= SWAPPED; kind++) {
        struct kernel k;
        print_message("kind %d\n", kind);
        put(&k, kind);
        assert_false(ways_say(&k.p, "begins with parity"));
        kernel_end(&k);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_parity_is_wrong_on_the_barriers_of_one_kind),
        cmocka_unit_test(without_a_reason_no_first_parity_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
