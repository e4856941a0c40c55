/* block_test.c - barriers for all threads of a CTA to which one role comes alone: behind it, that role is one barrier
 * ahead of the others, or stands at the last one.
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

enum { DONE = 1, GROUP = 4, WARPS = 8 };
/* Barriers for all threads: at the kernel's start, in the role, in the other roles, in rounds of all, at the end. */
enum { AT_START, IN_ROLE, IN_OTHERS, IN_ROUNDS, AT_END, ACCESSES };

static struct way ways[WARPS];

static void meet(uint32_t warp, uint32_t access)
{
    way_add(&ways[warp], WSDBG_ACCESS_NAMED_SYNC, 0, 0)->access = access;
}

static void begin(void)
{
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w] = (struct way){.warp = w};
        if (w == 0)
            way_add(&ways[w], WSDBG_ACCESS_INIT, MBARRIER_AT(DONE, 0), 1);
        meet(w, AT_START);
    }
}

/* What warps do between the first barrier and the last one. */
struct kernel {
    const char *name, *says;        /* says NULL: nothing is said of a barrier in a role */
    uint32_t role_first, role_last; /* these warps come to the barrier of the role */
    uint32_t in_role;               /* so often */
    uint32_t in_rounds, more;       /* all come to that of the rounds so often, and those of the role so often more */
    bool others_too;                /* the other warps come to a barrier of their own as often */
    bool never_done;                /* nobody arrives on "done" */
};

static const struct kernel kernels[] = {
    {.name = "consumers come to one alone",
     .says = "Warps 4-7 come to a barrier for all threads of the CTA at kernel.cu:201 to which the other warps never "
             "come. Without it the kernel would finish.",
     .role_first = GROUP,
     .role_last = WARPS - 1,
     .in_role = 1},
    {.name = "... twice",
     .says = "Warps 4-7 come to a barrier for all threads of the CTA at kernel.cu:201",
     .role_first = GROUP,
     .role_last = WARPS - 1,
     .in_role = 2},
    {.name = "... between barriers of all",
     .says = "Warps 4-7 come to a barrier for all threads of the CTA at kernel.cu:201",
     .role_first = GROUP,
     .role_last = WARPS - 1,
     .in_role = 1,
     .in_rounds = 2},
    {.name = "one warp comes to it alone",
     .says = "Warp 1 comes to a barrier for all threads of the CTA at kernel.cu:201",
     .role_first = 1,
     .role_last = 1,
     .in_role = 1},
    {.name = "all warps come to it, but some once more",
     .role_first = GROUP,
     .role_last = WARPS - 1,
     .in_rounds = 2,
     .more = 1},
    {.name = "the others come to one of their own, and something else is wrong",
     .role_first = GROUP,
     .role_last = WARPS - 1,
     .in_role = 1,
     .others_too = true,
     .never_done = true},
};

static bool is_of_role(const struct kernel *k, uint32_t warp)
{
    return warp >= k->role_first && warp <= k->role_last;
}

/* Behind the last barrier the role tells all others that it is done. */
static void write_walk(const struct kernel *k, uint32_t warp)
{
    const bool is_role = is_of_role(k, warp);
    for (uint32_t i = 0; i < k->in_rounds + is_role * k->more; i++)
        meet(warp, IN_ROUNDS);
    for (uint32_t i = 0; i < k->in_role && (is_role || k->others_too); i++)
        meet(warp, is_role ? IN_ROLE : IN_OTHERS);
    meet(warp, AT_END);
    if (!is_role)
        way_add(&ways[warp], WSDBG_ACCESS_WAIT, MBARRIER_AT(DONE, 0), 0);
    else if (warp == k->role_first && !k->never_done)
        way_add(&ways[warp], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DONE, 0), 1);
}

static bool stand(struct picture *p, const struct kernel *k)
{
    begin();
    for (uint32_t w = 0; w < WARPS; w++)
        write_walk(k, w);
    picture_init(p, 1, WARPS, 32);
    picture_name(p, DONE, "done", 1, 2, 1);
    picture_mbarrier(p, DONE, 0, 0, 1, 1, 0);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    for (uint32_t i = 0; i < ACCESSES; i++)
        picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void a_barrier_for_all_in_the_branch_of_one_role_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        assert_true(stand(&p, &kernels[i]));
        if (kernels[i].says)
            ways_expect(&p, "BLOCK_SYNC_IN_ROLE", kernels[i].says);
        else
            assert_false(ways_say(&p, "barrier for all threads"));
        picture_deinit(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_for_all_in_the_branch_of_one_role_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
