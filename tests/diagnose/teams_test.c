/* teams_test.c - two teams of a warp that loads and three that compute meet at named barriers whose numbers they take
 * from registers.  The warps of a team are of different warpgroups.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 * The diagnosis of the picture must name the defect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { TEAMS = 2, COMPUTE = 3, WARPS = TEAMS * (1 + COMPUTE), ROUNDS = 4, TEAM_THREADS = (1 + COMPUTE) * 32 };
enum { EMPTY = 1, FULL = EMPTY + TEAMS, IDS = FULL + TEAMS };
/* Accesses of the picture: one instruction each, for both teams. */
enum { AWAITS_EMPTY, TELLS_FULL, TELLS_EMPTY, AWAITS_FULL };

struct kernel {
    const char *name, *cause, *says;
    uint32_t full_threads; /* that all uses of FULL name */
    bool only_meet;        /* the warps of a team only meet at FULL, and the last one of all never comes there */
};

static const struct kernel kernels[] = {
    {.name = "nothing", .full_threads = TEAM_THREADS},
    {.name = "a count that no team has",
     .cause = "NAMED_COUNT",
     .says = "and so do others at the barriers of the same instruction. With 128 threads there, as many as come to it",
     .full_threads = TEAM_THREADS + 32},
    {.name = "a warp that does not come, where the other team shows that the count is right",
     .cause = "UNKNOWN",
     .says = "Warp 1 waits on named barrier 4",
     .full_threads = TEAM_THREADS,
     .only_meet = true},
};

static void use(struct way *way, uint8_t kind, uint32_t id, uint32_t threads, uint32_t access)
{
    way_add(way, kind, id, threads)->access = access;
}

static void load(const struct kernel *k, struct way *way, uint32_t team)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        use(way, WSDBG_ACCESS_NAMED_SYNC, EMPTY + team, TEAM_THREADS, AWAITS_EMPTY);
        use(way, WSDBG_ACCESS_NAMED_ARRIVE, FULL + team, k->full_threads, TELLS_FULL);
    }
}

static void compute(const struct kernel *k, struct way *way, uint32_t team)
{
    use(way, WSDBG_ACCESS_NAMED_ARRIVE, EMPTY + team, TEAM_THREADS, TELLS_EMPTY);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        use(way, WSDBG_ACCESS_NAMED_SYNC, FULL + team, k->full_threads, AWAITS_FULL);
        if (i + 1 < ROUNDS)
            use(way, WSDBG_ACCESS_NAMED_ARRIVE, EMPTY + team, TEAM_THREADS, TELLS_EMPTY);
    }
}

static void meet(const struct kernel *k, struct way *way, uint32_t team)
{
    for (uint32_t i = 0; i < ROUNDS && way->warp != WARPS - 1; i++)
        use(way, WSDBG_ACCESS_NAMED_SYNC, FULL + team, k->full_threads, AWAITS_FULL);
}

static bool stand_still(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, WARPS, 32);
    for (uint32_t id = 0; id < IDS; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    for (uint32_t access = AWAITS_EMPTY; access <= AWAITS_FULL; access++)
        picture_access(
            p, access == AWAITS_EMPTY || access == AWAITS_FULL ? WSDBG_ACCESS_NAMED_SYNC : WSDBG_ACCESS_NAMED_ARRIVE, 0,
            0, 0, WSDBG_LANES_ALL);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        ways[w].lanes = ~0u;
        const uint32_t team = w < TEAMS ? w : (w - TEAMS) / COMPUTE;
        if (k->only_meet)
            meet(k, &ways[w], team);
        else if (w < TEAMS)
            load(k, &ways[w], team);
        else
            compute(k, &ways[w], team);
    }
    ways_put(p, ways, WARPS);
    const bool stands = ways_stand(p);
    for (uint32_t w = 0; w < WARPS; w++)
        picture_count(p, w, w, w < TEAMS ? TEAM_THREADS : k->full_threads);
    return stands;
}

static void what_is_wrong_with_teams_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        const bool stands = stand_still(&p, &kernels[i]);
        ways_check(&p, stands, kernels[i].cause, kernels[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_wrong_with_teams_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
