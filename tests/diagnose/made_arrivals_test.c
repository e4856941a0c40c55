/* made_arrivals_test.c - the reference GEMM stands still with half of the arrivals on "empty".  From the words
 * alone it seems that some consumers left out an arrival.  The walks show whether they did.
 *
 * A test makes the picture of that moment and judges it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gemm_shape.h"
#include "ways.h"

enum { CTAS = 2, WARPS = 12, PRODUCER = 0, CONSUMERS = 4, LAST_GROUP = 8, ROUNDS = 4 * STAGES };

static const struct kernel {
    const char *name;
    bool has_walks;
    uint32_t leave_out; /* by their walks, warps from this one on leave out one release of stage 0 */
    enum wsdbg_confidence confidence;
} kernels[] = {
    {"no walk is known", false, WARPS, WSDBG_CONFIDENCE_LIKELY},
    {"a group leaves out a release", true, LAST_GROUP, WSDBG_CONFIDENCE_LIKELY},
    {"all leave it out", true, CONSUMERS, WSDBG_CONFIDENCE_LIKELY},
    {"all releases are made: something else is wrong", true, WARPS, WSDBG_CONFIDENCE_POSSIBLE},
};

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[CTAS * WARPS];
    for (uint32_t w = 0; w < CTAS * WARPS; w++) {
        const uint32_t number = w % WARPS;
        ways[w] = (struct way){.warp = w};
        for (uint32_t s = 0; s < STAGES && number == PRODUCER; s++) {
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1);
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 8);
        }
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        for (uint32_t i = 0; i < ROUNDS; i++) {
            const uint32_t full = MBARRIER_AT(FULL, i % STAGES), empty = MBARRIER_AT(EMPTY, i % STAGES);
            if (number == PRODUCER) {
                way_add(&ways[w], WSDBG_ACCESS_WAIT, empty, (i / STAGES & 1) ^ 1);
                way_add(&ways[w], WSDBG_ACCESS_ARRIVE, full, 1);
            } else if (number >= CONSUMERS) {
                way_add(&ways[w], WSDBG_ACCESS_WAIT, full, i / STAGES & 1);
                if (i != STAGES || number < k->leave_out)
                    way_add(&ways[w], WSDBG_ACCESS_ARRIVE, empty, 1);
            }
        }
    }
    ways_put(p, ways, CTAS * WARPS);
}

/* One lane of each warp arrives, and consumers have one place where they release. */
static void make_simple(struct picture *p, const struct gemm *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->snapshot.access_count; i++)
        p->snapshot.accesses[i].lanes = WSDBG_LANES_ONE;
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].access != g->release + 1)
            p->pending[kept++] = p->pending[i];
    p->pending_count = kept;
}

static void put_kernel(struct picture *p, const struct kernel *k)
{
    const struct words half = {.pending = {4, 8, 8, 8}};
    const struct gemm g = gemm_picture(p, &full_filled, &half);
    make_simple(p, &g);
    both_wait(p, g.empty[0], 0, g.full[0], 1);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    if (k->has_walks)
        put_ways(p, k);
    picture_still(p);
}

static void arrivals_that_all_walks_make_are_not_left_out(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        put_kernel(&p, &kernels[i]);
        assert_int_equal(picture_confidence_of(&p, WSDBG_CAUSE_ARRIVE_MISSING), kernels[i].confidence);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_that_all_walks_make_are_not_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
