/* syncs_test.c - two warpgroups that meet at named barriers, with one defect at a time: what the walks alone tell of a
 * named barrier that some of them stand at.
 *
 * A test writes the named barriers of each warp's walk and who stands at barrier 1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

#define TO(last) | last << 8 /* warps: first TO(last) */
enum { WARPS = 8, USES = 3, ALL = 256, ID = 1, OTHER_ID = 2, NOBODY = WARPS };

static const struct kernel {
    const char *name, *cause; /* NULL: the rule says nothing */
    const char *says;         /* words of the sentence */
    uint32_t counts[USES];    /* that all warps name for barrier 1, one after the other; 0 = no further use */
    uint32_t arrive_count;    /* the second warpgroup only arrives, with this count; 0 = it syncs, too */
    uint32_t silent;          /* this warp, or these, leave out their first use; NOBODY */
    uint32_t apart;           /* this warp does not use barrier 2 either */
    uint32_t waiting;         /* warps at barrier 1, a bit each; the others stand at barrier 2 */
    bool silent_left, is_open;
    uint32_t second_count; /* that the second warpgroup names instead; 0 = the same */
} kernels[] = {
    {"all counts are right", NULL, NULL, {ALL, ALL, ALL}, 0, NOBODY, NOBODY, 0x30, false, false, 0},
    /* Each warpgroup meets alone, at one id: a mistake, but not one of the count. */
    {"half of them at a time", NULL, NULL, {128, 128}, 0, NOBODY, NOBODY, 0x10, false, false, 0},
    {"the second warpgroup names more, while the first one meets alone",
     NULL,
     NULL,
     {128, 128},
     0,
     NOBODY,
     NOBODY,
     0x10,
     false,
     false,
     ALL},
    {"pairs of warps", NULL, NULL, {64, 64}, 0, NOBODY, NOBODY, 0x10, false, false, 0},
    {"one warpgroup waits for the other", NULL, NULL, {ALL, ALL}, ALL, NOBODY, NOBODY, 0x01, false, false, 0},
    {"a warp leaves out a sync",
     "ARRIVE_MISSING",
     "uses the barrier 2 times, against 3 times in that of each of warps 4, 6-7",
     {ALL, ALL, ALL},
     0,
     5,
     NOBODY,
     0xd0,
     false,
     false,
     0},
    {"... the only one",
     "ARRIVE_MISSING",
     "uses the barrier 0 times, against 1 time in that of each of warps 4, 6-7.",
     {ALL},
     0,
     5,
     NOBODY,
     0xd0,
     false,
     false,
     0},
    {"... of the second warpgroup, and the first one waits, too",
     "ARRIVE_MISSING",
     "but warp 5 leaves it out",
     {ALL, ALL, ALL},
     0,
     5,
     NOBODY,
     0xdf,
     false,
     false,
     0},
    {"... and has left", "WAKER_EXITED", "It has exited", {ALL, ALL, ALL}, 0, 5, NOBODY, 0xd0, true, false, 0},
    {"... which does not count it", NULL, NULL, {224}, 0, 5, NOBODY, 0xd0, false, false, 0},
    /* Its way is not known to be the same as theirs; but all of them meet at barrier 1. */
    {"... and does other things than its mates",
     "ARRIVE_MISSING",
     "but warp 5 leaves it out on the way",
     {ALL, ALL, ALL},
     0,
     5,
     5,
     0xd0,
     false,
     false,
     0},
    {"... and all of them do not meet there", NULL, NULL, {128, 128, 128}, 0, 5, 5, 0xd0, false, false, 0},
    {"... behind which nobody knows how it goes on", NULL, NULL, {ALL, ALL, ALL}, 0, 5, 5, 0xd0, false, true, 0},
    {"three warps leave it out",
     "ARRIVE_MISSING",
     "warps 5-7 leave it out on the way: from the kernel's start to its end they use it 2 times, the other warps 3",
     {ALL, ALL, ALL},
     0,
     5 TO(7),
     NOBODY,
     0x1f,
     false,
     false,
     0},
    {"as many leave it out as come", NULL, NULL, {ALL, ALL, ALL}, 0, 4 TO(7), NOBODY, 0x0f, false, false, 0},
    {"one of those that leave it out stands there",
     NULL,
     NULL,
     {ALL, ALL, ALL},
     0,
     5 TO(7),
     NOBODY,
     0x3f,
     false,
     false,
     0},
};

static bool is_silent(const struct kernel *k, uint32_t warp)
{
    const uint32_t first = k->silent & 0xff, last = k->silent >> 8;
    return warp >= first && warp <= (last ? last : first);
}

/* Barrier 1 as often as asked, then barrier 2, at which all meet. */
static void put_way(struct way *way, const struct kernel *k, uint32_t warp)
{
    *way = (struct way){.warp = warp, .lanes = UINT32_MAX, .is_open = k->is_open};
    for (uint32_t i = 0; i < USES && k->counts[i]; i++) {
        const bool is_second = warp >= WARPS / 2, arrives = k->arrive_count && is_second;
        if (i > 0 || !is_silent(k, warp))
            way_add(way, arrives ? WSDBG_ACCESS_NAMED_ARRIVE : WSDBG_ACCESS_NAMED_SYNC, ID,
                    arrives                        ? k->arrive_count
                    : is_second && k->second_count ? k->second_count
                                                   : k->counts[i]);
    }
    if (warp != k->apart)
        way_add(way, WSDBG_ACCESS_NAMED_SYNC, OTHER_ID, ALL);
}

static void put_kernel(struct picture *p, const struct kernel *k)
{
    static struct way ways[WARPS];
    picture_init(p, 1, WARPS, 32);
    const uint32_t one = picture_object(p, WSDBG_BARRIER_NAMED, ID),
                   other = picture_object(p, WSDBG_BARRIER_NAMED, OTHER_ID);
    picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 0, 0, WSDBG_LANES_ALL);
    for (uint32_t w = 0; w < WARPS; w++)
        picture_wait(p, w, w, WSDBG_WARP_WAIT_NAMED, k->waiting >> w & 1 ? one : other, 0);
    if (k->silent_left)
        picture_exit(p, k->silent, k->silent);
    for (uint32_t w = 0; w < WARPS; w++)
        put_way(&ways[w], k, w);
    ways_put(p, ways, WARPS);
}

/* The finding of this rule about barrier 1. */
static const struct wsdbg_finding *finding_of(const struct wsdbg_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const char *sentence = diagnosis->findings[i].sentence;
        if (strstr(sentence, " it out"))
            return &diagnosis->findings[i];
    }
    return NULL;
}

static void test_walks_tell_what_is_wrong_with_a_named_barrier(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        print_message("%s\n", kernels[i].name);
        put_kernel(&p, &kernels[i]);
        picture_still(&p);
        picture_judge(&p, &diagnosis);
        const struct wsdbg_finding *finding = finding_of(&diagnosis);
        if (!kernels[i].cause && finding)
            fail_msg("%s", finding->sentence);
        if (kernels[i].cause) {
            assert_non_null(finding);
            assert_string_equal(wsdbg_cause_name(finding->cause), kernels[i].cause);
            assert_int_equal(finding->confidence, WSDBG_CONFIDENCE_LIKELY);
            if (!strstr(finding->sentence, kernels[i].says))
                fail_msg("%s", finding->sentence);
        }
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
    (void)state;
}

/* Warps 0 to 3 meet at barrier 1 in each round; warps 4 to 7 only arrive there, and less often. */
static bool stands_with_fewer_arrivals(struct picture *p, bool stays)
{
    enum { ROUNDS = 6, FEWER = 3 };
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    for (uint32_t w = 0; w < WARPS; w++) {
        const bool arrives = w >= WARPS / 2;
        ways[w].warp = w;
        ways[w].lanes = UINT32_MAX;
        for (uint32_t i = 0; i < (arrives ? ROUNDS - FEWER : ROUNDS); i++)
            way_add(&ways[w], arrives ? WSDBG_ACCESS_NAMED_ARRIVE : WSDBG_ACCESS_NAMED_SYNC, ID, ALL);
        if (stays)
            way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, ALL);
    }
    picture_init(p, 1, WARPS, 32);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_object(p, WSDBG_BARRIER_NAMED, ID);
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void a_side_that_comes_less_often_and_has_left_is_said_to_have_exited(void **state)
{
    for (uint32_t stays = 0; stays < 2; stays++) {
        struct picture p;
        assert_true(stands_with_fewer_arrivals(&p, stays));
        ways_expect(
            &p, stays ? "ARRIVE_MISSING" : "WAKER_EXITED",
            "Warps 0-3 come to named barrier 1 6 times from the kernel's start to its end, warps 4-7 only 3 times");
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks_tell_what_is_wrong_with_a_named_barrier),
        cmocka_unit_test(a_side_that_comes_less_often_and_has_left_is_said_to_have_exited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
