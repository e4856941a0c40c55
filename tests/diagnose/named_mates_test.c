/* named_mates_test.c - two warpgroups that hand a buffer to each other at two named barriers.  Some warps of the first
 * one do not announce that they are done with it.
 *
 * A test writes the walks of all warps, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { GROUP = 4, WARPS = 2 * GROUP, ROUNDS = 3, FILLED = 1, DONE, WRONG };
enum { WAITS_FILLED, ANNOUNCES, FILLS, WAITS_DONE, ACCESSES };

static struct way ways[WARPS];

static void use(struct way *way, uint8_t kind, uint32_t access, uint32_t id, uint32_t threads)
{
    way_add(way, kind, id, threads)->access = access;
}

/* What the other warps of the first warpgroup do, which do not announce it. */
enum others { WAIT_TOO, NAME_ANOTHER_ID, ARE_IDLE };

/* announces: the warps of the first warpgroup that do, a bit each; threads: what the barrier DONE counts. */
static bool stand(struct picture *p, uint32_t announces, uint32_t threads, enum others others)
{
    static const bool waits[ACCESSES] = {[WAITS_FILLED] = true, [WAITS_DONE] = true};
    const uint32_t all = others == ARE_IDLE ? 160 : WARPS * 32;
    picture_init(p, 1, WARPS, 32);
    for (uint32_t id = 0; id <= WRONG; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    for (uint32_t i = 0; i < ACCESSES; i++)
        picture_access(p, waits[i] ? WSDBG_ACCESS_NAMED_SYNC : WSDBG_ACCESS_NAMED_ARRIVE, 0, 0, 0, WSDBG_LANES_ALL);
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w] = (struct way){.warp = w, .lanes = UINT32_MAX};
        for (uint32_t i = 0; i < ROUNDS; i++) {
            const bool announces_it = w < GROUP && announces >> w & 1;
            if (w < GROUP && (announces_it || others != ARE_IDLE))
                use(&ways[w], WSDBG_ACCESS_NAMED_SYNC, WAITS_FILLED, FILLED, all);
            if (announces_it || (w < GROUP && others == NAME_ANOTHER_ID))
                use(&ways[w], WSDBG_ACCESS_NAMED_ARRIVE, ANNOUNCES, announces_it ? DONE : WRONG, threads);
            if (w >= GROUP) {
                use(&ways[w], WSDBG_ACCESS_NAMED_ARRIVE, FILLS, FILLED, all);
                use(&ways[w], WSDBG_ACCESS_NAMED_SYNC, WAITS_DONE, DONE, threads);
            }
        }
    }
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void warps_that_never_come_with_their_mates_are_told(void **state)
{
    static const struct {
        const char *name;
        uint32_t announces, threads;
        const char *cause, *says; /* cause NULL: the kernel finishes */
    } rows[] = {
        {"all four announce it", 0xf, 256, NULL, NULL},
        {"one warp does, as the barrier counts", 0x1, 160, NULL, NULL},
        {"one warp does, and the barrier counts all", 0x1, 256, "ARRIVE_MISSING",
         "Warps 1-3 never come to named barrier 2, though warp 0 of the same warpgroup does at kernel.cu:201. Uses of "
         "it name 256 threads, just as many as would come then. Had they come, too, the kernel would finish."},
        {"two warps do", 0x3, 256, "ARRIVE_MISSING", "Warps 2-3 never come to named barrier 2, though warp 0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        print_message("%s\n", rows[i].name);
        const bool stands = stand(&p, rows[i].announces, rows[i].threads, WAIT_TOO);
        ways_check(&p, stands, rows[i].cause, rows[i].says);
    }
    (void)state;
}

static void who_names_another_id_or_has_no_part_is_not_called_likely(void **state)
{
    static const enum others rows[] = {NAME_ANOTHER_ID, ARE_IDLE};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        assert_true(stand(&p, 0x1, 256, rows[i]));
        picture_still(&p);
        picture_judge(&p, &diagnosis);
        for (size_t k = 0; k < diagnosis.finding_count; k++) {
            print_message("  %s\n", diagnosis.findings[k].sentence);
            assert_false(strstr(diagnosis.findings[k].sentence, "never come to named barrier 2, though") &&
                         diagnosis.findings[k].confidence >= WSDBG_CONFIDENCE_LIKELY);
        }
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_that_never_come_with_their_mates_are_told),
        cmocka_unit_test(who_names_another_id_or_has_no_part_is_not_called_likely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
