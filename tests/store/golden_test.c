/* golden_test.c - whole text reports against golden/NAME.txt.  UPDATE_GOLDEN=1 rewrites the files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wsdbg/session.h"

static void compare(const char *name, const struct example *e)
{
    char path[512], expected[16384] = "";
    char *text = example_report(e, false);
    snprintf(path, sizeof path, "%s/%s.txt", WSDBG_GOLDEN_DIR, name);
    if (getenv("UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    }
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    expected[fread(expected, 1, sizeof expected - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
    free(text);
}

static void a_hang_on_the_whole_chip(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 132, 4);
    compare("hang", &e);
    example_free(&e);
}

/* Ten consumers ask the register pool, one warp is gone, one still runs, one CTA is not like the others. */
static void every_kind_of_state(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 4, 4);
    e.end.outcome = NULL;
    for (uint32_t cta = 0; cta < 4; cta++) {
        struct wsdbg_warp_row *w = &e.snapshot.warps[cta * 12];
        for (int i = 8; i < 12; i++) {
            w[i].state = WSDBG_WARP_WAIT_REGISTERS;
            w[i].barrier = WSDBG_NONE;
            w[i].line.known = false;
            w[i].registers_held = wsdbg_known_u32(168);
            w[i].registers_asked = wsdbg_known_u32(240);
            w[i].last = (struct wsdbg_history_event){
                .kind = WSDBG_EVENT_REGISTERS_REQUEST, .value = 240, .iteration = WSDBG_NO_ITERATION};
        }
        w[3] = (struct wsdbg_warp_row){.cta = cta,
                                       .warp = 3,
                                       .state = WSDBG_WARP_EXITED,
                                       .role = w[3].role,
                                       .barrier = WSDBG_NONE,
                                       .last = {.kind = WSDBG_EVENT_EXIT}};
        w[2] = (struct wsdbg_warp_row){.cta = cta,
                                       .warp = 2,
                                       .state = WSDBG_WARP_RUNNING,
                                       .barrier = WSDBG_NONE,
                                       .last = {.kind = WSDBG_EVENT_TMA_ISSUE, .iteration = 7 + cta}};
    }
    e.snapshot.warps[12 * 3 + 5].state = WSDBG_WARP_UNKNOWN;
    e.snapshot.grids[0].warps_exited = 4;
    e.snapshot.torn_events = 3;
    e.diagnosis.findings[0].confidence = WSDBG_CONFIDENCE_LIKELY;
    compare("states", &e);
    example_free(&e);
}

static void nothing_known(void **state)
{
    (void)state;
    struct example e;
    example_unknown(&e);
    e.diagnosis.finding_count = 1;
    e.diagnosis.findings = calloc(1, sizeof *e.diagnosis.findings);
    e.diagnosis.findings[0] = (struct wsdbg_finding){.cause = WSDBG_CAUSE_UNKNOWN,
                                                     .confidence = WSDBG_CONFIDENCE_POSSIBLE,
                                                     .barrier = WSDBG_NONE,
                                                     .sentence = "Nothing seen explains the stall."};
    compare("unknown", &e);
    example_free(&e);
}

static void the_machine_s_own_state(void **state)
{
    (void)state;
    struct example e;
    example_machine(&e, 4);
    compare("machine", &e);
    for (size_t i = 0; i < e.snapshot.site_count; i++)
        e.snapshot.sites[i].line.known = false;
    compare("machine-no-lines", &e);
    example_free(&e);
}

static void a_run_without_a_stall(void **state)
{
    (void)state;
    struct example e;
    example_quiet(&e, 69);
    compare("quiet", &e);
    e.snapshot.activities = calloc(2, sizeof *e.snapshot.activities);
    e.snapshot.activity_count = 2;
    e.snapshot.activities[0] =
        (struct wsdbg_activity){.process_id = 77, .kind = WSDBG_ACTIVITY_KERNEL, .end_ns = 1500000};
    e.snapshot.activities[1] =
        (struct wsdbg_activity){.process_id = 77, .kind = WSDBG_ACTIVITY_COPY, .end_ns = 40000, .bytes = 2500000};
    compare("activity", &e);
    example_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hang_on_the_whole_chip),
        cmocka_unit_test(every_kind_of_state),
        cmocka_unit_test(nothing_known),
        cmocka_unit_test(the_machine_s_own_state),
        cmocka_unit_test(a_run_without_a_stall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
