/* followed_test.c - what a hang without a cause says of how far its threads could be followed: two warps wait for each
 * other's arrival.
 *
 * A test writes the walks of both, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { LEFT = 1, RIGHT, WARPS = 2 };

struct row {
    const char *name;
    bool is_open[WARPS]; /* the walk is lost behind its last step */
    bool is_elsewhere;   /* the picture has a phase that the walks never complete */
    const char *says;
};

static struct way ways[WARPS];

static void init(struct picture *p, uint32_t id, const char *name)
{
    picture_name(p, id, name, 1, 0, 0);
    picture_mbarrier(p, id, 0, 0, 1, 1, 0);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(id, 0), 1);
}

/* Each waits first for the phase that the other one completes behind its own wait. */
static void make(struct picture *p, const struct row *row)
{
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w, .is_open = row->is_open[w]};
    picture_init(p, 1, WARPS, 32);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    init(p, LEFT, "left");
    init(p, RIGHT, "right");
    for (uint32_t w = 0; w < WARPS; w++) {
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(w == 0 ? LEFT : RIGHT, 0), 0);
        way_add(&ways[w], WSDBG_ACCESS_ARRIVE, MBARRIER_AT(w == 0 ? RIGHT : LEFT, 0), 1);
    }
    ways_put(p, ways, WARPS);
    assert_true(ways_stand(p));
    for (uint32_t w = 0; w < WARPS; w++)
        if (row->is_open[w])
            p->snapshot.walks[w].lost_site = wsdbg_known_u32(p->snapshot.warps[w].site);
    for (uint32_t b = 0; b < p->snapshot.barrier_count && row->is_elsewhere; b++)
        if (p->snapshot.barriers[b].kind == WSDBG_BARRIER_MBARRIER)
            p->snapshot.barriers[b].expected_arrivals = p->snapshot.barriers[b].pending_arrivals = wsdbg_known_u32(2);
}

static bool is_said(struct picture *p, const char *words)
{
    struct wsdbg_diagnosis diagnosis;
    bool is_said = false;
    picture_judge(p, &diagnosis);
    assert_int_equal(diagnosis.finding_count, 1);
    const struct wsdbg_finding *finding = &diagnosis.findings[0];
    assert_int_equal(finding->cause, WSDBG_CAUSE_WAIT_CYCLE);
    for (size_t i = 0; i < finding->evidence_count; i++) {
        print_message("  %s\n", finding->evidence[i].text);
        is_said |= strcmp(finding->evidence[i].text, words) == 0;
    }
    wsdbg_diagnosis_deinit(&diagnosis);
    return is_said;
}

static void a_hang_without_a_cause_says_how_far_threads_were_followed(void **state)
{
    static const struct row rows[] = {
        {"all to their ends",
         {false, false},
         false,
         "followed from its start, the kernel stops in just this state; no single change that wsdbg tries lets it "
         "finish"},
        {"one is lost",
         {true, false},
         false,
         "warp 0 cannot be followed from the kernel's start beyond kernel.cu:100: the way from there on is not known"},
        {"both are lost",
         {true, true},
         false,
         "warp 1 cannot be followed from the kernel's start beyond kernel.cu:101: the way from there on is not known"},
        {"to another state than was seen",
         {false, false},
         true,
         "followed from its start, the kernel comes to this state in none of the orders of its warps that wsdbg tries"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        make(&p, &rows[i]);
        picture_still(&p);
        assert_true(is_said(&p, rows[i].says));
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_hang_without_a_cause_says_how_far_threads_were_followed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
