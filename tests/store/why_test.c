/* why_test.c - one object of a session explained: what it says of warps and barriers, how objects may be called, what
 * is not known, what is refused.  Sessions are replayed from recordings of an H200, read from its dumps, or made by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"
#include "store/json_schema.h"
#include "store/opened.h"
#include "store/why.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *folder;

static int set_up(void **state)
{
    (void)state;
    folder = example_folder();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    example_clean(folder);
    return 0;
}

/* A session of a GPU core dump that was taken on an H200. */
static struct wsdbg_store *dumped(const char *name)
{
    char command[1024];
    const char *path = example_path(folder, "dump.db");
    struct wsdbg_store *store = NULL;
    snprintf(command, sizeof command, "'%s' core '%s/%s.core.gz' -o '%s' >/dev/null 2>&1", WSDBG_PROGRAM,
             WSDBG_DUMPS_DIR, name, path);
    assert_int_not_equal(system(command), -1);
    example_ok(wsdbg_store_open(path, &store));
    unlink(path);
    return store;
}

static struct wsdbg_error *answer(struct wsdbg_store *store, const char *object, const char *cta, bool json, char **out)
{
    struct wsdbg_why *why;
    size_t bytes;
    const struct wsdbg_why_question question = {object, cta};
    struct wsdbg_error *error = wsdbg_why_ask(store, &question, &why);
    *out = NULL;
    if (error)
        return error;
    FILE *memory = open_memstream(out, &bytes);
    assert_non_null(memory);
    if (json)
        error = wsdbg_why_json(why, memory);
    else
        wsdbg_why_text(why, &(struct wsdbg_sheet){.file = memory});
    fclose(memory);
    wsdbg_why_destroy(why);
    return error;
}

static char *text_of(struct wsdbg_store *store, const char *object, const char *cta)
{
    char *text;
    example_ok(answer(store, object, cta, false, &text));
    return text;
}

static void says(struct wsdbg_store *store, const char *object, const char *expected)
{
    char *text = text_of(store, object, NULL);
    assert_string_equal(text, expected);
    free(text);
}

static void says_among_others(struct wsdbg_store *store, const char *object, const char *expected)
{
    char *text = text_of(store, object, NULL);
    if (!strstr(text, expected))
        fail_msg("\"%s\" is not in:\n%s", expected, text);
    free(text);
}

static void refuses(struct wsdbg_store *store, const char *object, const char *cta, const char *reason)
{
    char *text;
    struct wsdbg_error *error = answer(store, object, cta, false, &text);
    assert_non_null(error);
    assert_string_equal(wsdbg_error_message(error), reason);
    wsdbg_error_destroy(error);
}

#define ARRIVE_MISSING                                                                                                \
    "Cause: ARRIVE_MISSING (proven)\n"                                                                                \
    "  Warps 4-7 (consumer 0) passed iteration 15 without arriving on \"empty\" stage 3. Only 4 of 8 arrivals were "  \
    "made,\n"                                                                                                         \
    "  so warp 0 (producer) waits forever (line 132).\n"                                                              \
    "Fix: Arrive on \"empty\" on every path through the iteration, including skipped iterations and the last one of " \
    "a tile.\n"

static void a_warp_hop_by_hop_to_the_ring(void **state)
{
    (void)state;
    struct wsdbg_store *store = replayed(folder, "arrive-missing");
    says(
        store, "warp 0",
        "warp 0 (producer) of CTA (0,0,0), gemm_cooperative\n"
        "  WAIT_MBARRIER  empty[3] parity 1, iteration 19, line 132, 2.0 s\n"
        "  empty[3]: phase 1, pending 4 of 8 arrivals, 0 bytes\n"
        "  and 3 more CTAs in the same state\n" ARRIVE_MISSING "Who could end that, and what they do\n"
        "  warps 4-7 (consumer 0), declared to arrive: WAIT_MBARRIER  full[3] parity 0, iteration 19, line 222, 2.0 s\n"
        "      full[3]: phase ?, pending ? of 1 arrivals, ? bytes\n"
        "    warp 0 (producer), declared to arrive: WAIT_MBARRIER  <- back to a wait above\n"
        "    warps 1-3 (producer): EXITED, can end nothing any more\n"
        "  warps 8-11 (consumer 1), declared to arrive: WAIT_MBARRIER  full[3] parity 0, iteration 19, line 222, 2.0 "
        "s\n"
        "      full[3]: phase ?, pending ? of 1 arrivals, ? bytes\n"
        "    warp 0 (producer), declared to arrive: WAIT_MBARRIER  <- back to a wait above\n"
        "    warps 1-3 (producer): EXITED, can end nothing any more\n"
        "  So every known way leads back to a wait above or to warps that left.\n"
        "More about this cause: wsdbg why ARRIVE_MISSING\n");
    wsdbg_store_close(store);
}

static void a_barrier_with_who_came_and_who_went_past(void **state)
{
    (void)state;
    struct wsdbg_store *store = replayed(folder, "arrive-missing");
    says(store, "empty[3]",
         "empty[3] of CTA (0,0,0), gemm_cooperative\n"
         "  phase 1, pending 4 of 8 arrivals, 0 bytes; 3 phases completed\n"
         "  and 3 more CTAs in the same state\n" ARRIVE_MISSING "Wait on it\n"
         "  warp 0 (producer): WAIT_MBARRIER  empty[3] parity 1, iteration 19, line 132, 2.0 s\n"
         "Done for this phase (iteration 15)\n"
         "  warps 8-11 (consumer 1): arrived; newest: mbarrier arrive in iteration 15\n"
         "  warps 4-7 (consumer 0): went past without arriving; newest: mbarrier arrive in iteration 11\n"
         "Still to come: nobody\n"
         "More about this cause: wsdbg why ARRIVE_MISSING\n");
    wsdbg_store_close(store);
}

/* An arrival too many: whose count for the phase under way is not known, the newest ones are. */
static void the_newest_deeds_are_told_where_the_phase_is_not_known(void **state)
{
    (void)state;
    struct wsdbg_store *store = replayed(folder, "double-arrive");
    says_among_others(store, "empty[0]",
                      "Done for this phase: ?; newest on record\n"
                      "  warps 4-7 (consumer 0): mbarrier arrive\n"
                      "  warps 8-11 (consumer 1): mbarrier arrive\n"
                      "Still to come\n");
    wsdbg_store_close(store);
}

static void bytes_of_a_phase_are_added_up(void **state)
{
    (void)state;
    struct wsdbg_store *store = replayed(folder, "tx-mismatch");
    says_among_others(store, "full[0]", "  warp 0 (producer): arrived, announced bytes, issued copies; newest: ");
    says_among_others(store, "full[0]", " bytes announced, copies of ");
    says_among_others(store, "full[0]", "Cause: TX_MISMATCH (proven)\n");
    wsdbg_store_close(store);
}

static void warps_that_left_end_the_way(void **state)
{
    (void)state;
    struct wsdbg_store *store = replayed(folder, "waker-exited");
    says_among_others(store, "4",
                      "Who could end that, and what they do\n"
                      "  warps 0-3 (producer): EXITED, can end nothing any more\n"
                      "  So every known way leads to warps that left the kernel.\n");
    says_among_others(store, "full[0]",
                      "Still to come: nobody\n"
                      "Have left the kernel without it\n"
                      "  warps 0-3 (producer): EXITED\n");
    wsdbg_store_close(store);
}

static void without_an_object_it_is_what_the_first_finding_is_about(void **state)
{
    (void)state;
    struct wsdbg_store *store = replayed(folder, "waker-exited");
    says_among_others(store, NULL, "HANG: WAKER_EXITED (proven)\n  Warp 4 (consumer 0) waits on \"full\" stage 0");
    says_among_others(store, NULL, "\nwarp 4 (consumer 0) of CTA (0,0,0), gemm_cooperative\n");
    says_among_others(store, NULL, "\nfull[0] of CTA (0,0,0), gemm_cooperative\n");
    wsdbg_store_close(store);
}

static void the_register_pool_has_askers_and_holders(void **state)
{
    (void)state;
    struct wsdbg_store *store = replayed(folder, "regs-exhausted");
    says_among_others(store, "register pool", "Cause: REGS_EXHAUSTED (proven)\n");
    says_among_others(store, "Register Pool", "WAIT_REGISTERS  asks 240, holds 168 registers");
    wsdbg_store_close(store);
}

static void a_cluster_is_told_by_ranks(void **state)
{
    (void)state;
    struct wsdbg_store *store = dumped("waits-cluster-missing");
    says_among_others(store, "cluster barrier",
                      "Wait on it\n"
                      "  rank 0 warps 0-1: WAIT_CLUSTER  cluster barrier, waits.cu:82");
    says_among_others(store, "cluster barrier", "Still to come\n  rank 1 warps 0-1: WAIT_MBARRIER  mbarrier 0x400[0]");
    says_among_others(store, "rank 1 warp 0", "warp 0 of CTA (1,0,0), cluster rank 1 of 2, wait_cluster_missing\n");
    says_among_others(store, "rank 1 warp 0", "Cause: CLUSTER_MISSING (likely)\n");
    says_among_others(store, "warp 1 of cluster rank 1", "warp 1 of CTA (1,0,0), cluster rank 1 of 2");
    says_among_others(store, "rank 0 0x400", "mbarrier 0x400[0] of CTA (0,0,0), cluster rank 0 of 2");
    refuses(store, "rank 2 warp 0", NULL, "no CTA of cluster rank 2 was seen");
    wsdbg_store_close(store);
}

static void equal_ctas_are_counted_and_others_too(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 132, 4);
    e.snapshot.warps[131 * 12].state = WSDBG_WARP_RUNNING;
    struct wsdbg_store *store = stored(folder, &e);
    says_among_others(store, "0",
                      "  and 130 more CTAs in the same state\n"
                      "  in 1 CTA it is in another state (--cta X,Y,Z names one)\n");
    char *odd = text_of(store, "0", "131,0,0");
    assert_non_null(strstr(odd, "warp 0 (producer) of CTA (131,0,0), cluster rank 1 of 2"));
    assert_non_null(strstr(odd, "  RUNNING"));
    assert_non_null(strstr(odd, "  in 131 CTAs it is in another state"));
    free(odd);
    wsdbg_store_close(store);
    example_free(&e);
}

/* A finding names one CTA for all that are alike: in another one the same object has the same cause. */
static void an_object_of_another_cta_has_the_cause_of_the_example(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 132, 4);
    struct wsdbg_store *store = stored(folder, &e);
    for (int i = 0; i < 2; i++) {
        char *text = text_of(store, i ? "warp 3" : "empty[0]", "130");
        assert_non_null(strstr(text, "CTA (130,0,0)"));
        assert_non_null(strstr(text, "Cause: PARITY_WRONG (proven)\n"));
        free(text);
    }
    says_among_others(store, "full[1]", "of its CTA: PARITY_WRONG (proven)\n");
    wsdbg_store_close(store);
    example_free(&e);
}

/* Waits of warps 0 -> 4 -> 8, which runs. */
static void the_way_ends_at_a_warp_that_waits_for_nobody(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 1, 4);
    e.snapshot.warps[8].state = WSDBG_WARP_RUNNING;
    e.diagnosis.edges[0] = (struct wsdbg_edge){0, 2, 4, false, "declared"};
    e.diagnosis.edges[1] = (struct wsdbg_edge){4, 0, 8, false, "arrived before"};
    struct wsdbg_store *store = stored(folder, &e);
    says_among_others(store, "0", "    rank 0 warp 8 (consumer), arrived before: RUNNING");
    says_among_others(store, "0",
                      "        <- waits for nobody\n  So it depends on what those do that wait for nobody.\n");
    /* Nobody asked what warp 1 waits for, as no edge says anything of it. */
    says_among_others(store, "1", "Who could end that: ?\n");
    wsdbg_store_close(store);
    example_free(&e);
}

static void what_nobody_can_end_is_said(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 1, 4);
    e.diagnosis.edges[0].waker = WSDBG_NONE;
    struct wsdbg_store *store = stored(folder, &e);
    says_among_others(store, "0", "Who could end that: nobody who was seen\n");
    wsdbg_store_close(store);
    example_free(&e);
}

static void what_is_not_known_is_a_question_mark(void **state)
{
    (void)state;
    struct example e;
    example_unknown(&e);
    struct wsdbg_store *store = stored(folder, &e);
    refuses(store, NULL, NULL, "this session has no finding; name a warp or a barrier to ask about");
    says_among_others(store, "0", "No stall was judged: no cause is known.\n");
    says_among_others(store, "mbarrier 0[0]", "phase ?, pending ? of ? arrivals, ? bytes");
    says_among_others(store, "mbarrier 0", "Done for this phase: ?\n");
    wsdbg_store_close(store);
    example_free(&e);
}

/* Whatever reports and their sentences call it. */
static void every_name_of_an_object_is_understood(void **state)
{
    (void)state;
    static const char *const warps[] = {"0", "warp 0", "  warp   0 ", "warp 0 (producer)", "warps 0", "rank 0 warp 0"};
    static const char *const barriers[] = {"empty[0]", "EMPTY[0]",      "\"empty\" stage 0", "empty stage 0",
                                           "empty",    "mbarrier 1[0]", "mbarrier 1"};
    struct example e;
    example_hang(&e, 2, 4);
    struct wsdbg_store *store = stored(folder, &e);
    for (size_t i = 0; i < sizeof warps / sizeof *warps; i++)
        says_among_others(store, warps[i], "warp 0 (producer) of CTA (0,0,0)");
    for (size_t i = 0; i < sizeof barriers / sizeof *barriers; i++)
        says_among_others(store, barriers[i], "empty[0] of CTA (0,0,0)");
    says_among_others(store, "empty", "  (empty[1] goes by this name, too)\n");
    says_among_others(store, "warps 0-3, 5 (producer, consumer)", "warps 0-3 (producer) of CTA (0,0,0)");
    says_among_others(store, "warps 0-3, 5 (producer, consumer)", "\nwarp 5 (consumer) of CTA (0,0,0)");
    says_among_others(store, "consumer", "warps 4-11 (consumer) of CTA (0,0,0)");
    wsdbg_store_close(store);
    example_free(&e);
}

/* "bars+24" is a part of a variable of the program, which has the rest of the name. */
static void a_variable_s_name_means_its_parts(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 1, 4);
    snprintf(e.snapshot.names[2].name, sizeof e.snapshot.names[2].name, "bars+0");
    snprintf(e.snapshot.names[3].name, sizeof e.snapshot.names[3].name, "bars+24");
    struct wsdbg_store *store = stored(folder, &e);
    says_among_others(store, "bars", "bars+24[0] of CTA (0,0,0)");
    says_among_others(store, "Bars", "bars+24[0] of CTA (0,0,0)");
    says_among_others(store, "bars+0", "bars+0[0] of CTA (0,0,0)");
    refuses(store, "bar", NULL, "nothing called \"bar\" in CTA (0,0,0); it has warps 0-11, bars+0[0-1], bars+24[0-1]");
    refuses(store, "bars+2", NULL,
            "nothing called \"bars+2\" in CTA (0,0,0); it has warps 0-11, bars+0[0-1], bars+24[0-1]");
    wsdbg_store_close(store);
    example_free(&e);
}

static void what_is_not_there_is_refused_with_what_there_is(void **state)
{
    (void)state;
    static const char there[] = "in CTA (0,0,0); it has warps 0-11, full[0-1], empty[0-1]";
    static const char *const names[] = {
        "",     "40",       "256",    "999999999999999999999", "3-1",   "4-",   "-4",   "4,",
        "warp", "empty[2]", "empty[", "named barrier 1",       "0x400", "%s%n", "rank", "stage 1"};
    char reason[256], long_name[5000];
    struct example e;
    example_hang(&e, 2, 4);
    struct wsdbg_store *store = stored(folder, &e);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(reason, sizeof reason, "nothing called \"%s\" %s", names[i], there);
        refuses(store, names[i], NULL, reason);
    }
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    snprintf(reason, sizeof reason, "nothing called \"%.80s\" %s", long_name, there);
    refuses(store, long_name, NULL, reason);
    refuses(store, "0", "7", "no CTA (7,0,0) was seen");
    refuses(store, "0", "1,2", "\"1,2\" is no CTA: name it as X or X,Y,Z");
    refuses(store, "0", "-1", "\"-1\" is no CTA: name it as X or X,Y,Z");
    refuses(store, "0", "", "\"\" is no CTA: name it as X or X,Y,Z");
    refuses(store, "0", "0,0,0,0", "\"0,0,0,0\" is no CTA: name it as X or X,Y,Z");
    wsdbg_store_close(store);
    example_free(&e);
}

static void a_session_without_warps_says_so(void **state)
{
    (void)state;
    struct example e;
    example_quiet(&e, 3);
    struct wsdbg_store *store = stored(folder, &e);
    refuses(store, NULL, NULL, "this session shows no warp");
    refuses(store, "0", NULL, "this session shows no warp");
    wsdbg_store_close(store);
    example_free(&e);
}

/* Waits of 200 kinds, each for the next: the tree stops, and says so. */
static void a_long_way_is_cut(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 20, 4);
    struct wsdbg_edge *edges = calloc(200, sizeof *edges);
    assert_non_null(edges);
    for (uint32_t i = 0; i < 200; i++) {
        e.snapshot.warps[i].parity = wsdbg_known_u32(i % 2);
        edges[i] = (struct wsdbg_edge){i, i / 12 * 4, i + 1, false, "declared"};
    }
    free(e.diagnosis.edges);
    e.diagnosis.edges = edges;
    e.diagnosis.edge_count = 200;
    struct wsdbg_store *store = stored(folder, &e);
    char *text = text_of(store, "0", NULL);
    assert_non_null(strstr(text, "  … and more (@edges)\n"));
    assert_null(strstr(text, "So every known way"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(wsdbg_text_width(line) <= 120);
    free(text);
    wsdbg_store_close(store);
    example_free(&e);
}

static void control_characters_are_escaped(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 1, 4);
    snprintf(e.snapshot.names[0].name, sizeof e.snapshot.names[0].name, "pro\033[2Jducer");
    struct wsdbg_store *store = stored(folder, &e);
    char *text = text_of(store, "0", NULL);
    assert_null(strchr(text, '\033'));
    free(text);
    wsdbg_store_close(store);
    example_free(&e);
}

static void the_json_follows_the_schema(void **state)
{
    (void)state;
    static const char *const sessions[] = {"arrive-missing", "waker-exited", "regs-exhausted", "shared-full-barrier",
                                           "two-async-all"};
    static const char *const objects[] = {NULL, "0", "4", "full", "empty[1]", "register pool", "0-11"};
    json_t *schema = schema_load("why.schema.json");
    size_t answered = 0;
    for (size_t s = 0; s < sizeof sessions / sizeof *sessions; s++) {
        struct wsdbg_store *store = replayed(folder, sessions[s]);
        for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
            char *text;
            struct wsdbg_error *error = answer(store, objects[i], NULL, true, &text);
            wsdbg_error_destroy(error);
            if (error)
                continue;
            json_t *json = json_loads(text, 0, NULL);
            assert_non_null(json);
            schema_check(schema, json, objects[i] ? objects[i] : sessions[s]);
            assert_true(json_array_size(json_object_get(json, "answers")) > 0);
            answered++;
            json_decref(json);
            free(text);
        }
        wsdbg_store_close(store);
    }
    assert_in_range(answered, 25, 35);
    json_decref(schema);
}

/* Files of older versions answer like those of today. */
static void older_databases_answer(void **state)
{
    (void)state;
    static const char *const scripts[] = {"version_1.sql", "version_2.sql", "version_3.sql"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char script[512], *sql = NULL;
        size_t bytes = 0;
        const char *path = example_path(folder, scripts[i]);
        sqlite3 *db;
        struct wsdbg_store *store;
        snprintf(script, sizeof script, "%s/%s", WSDBG_FIXTURES_DIR, scripts[i]);
        FILE *file = fopen(script, "r");
        assert_non_null(file);
        assert_true(getdelim(&sql, &bytes, '\0', file) > 0);
        fclose(file);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        free(sql);
        example_ok(wsdbg_store_open(path, &store));
        says_among_others(store, "4", "warp 4 (");
        says_among_others(store, NULL, "More about this cause: wsdbg why ");
        wsdbg_store_close(store);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_warp_hop_by_hop_to_the_ring),
        TEST(a_barrier_with_who_came_and_who_went_past),
        TEST(the_newest_deeds_are_told_where_the_phase_is_not_known),
        TEST(bytes_of_a_phase_are_added_up),
        TEST(warps_that_left_end_the_way),
        TEST(without_an_object_it_is_what_the_first_finding_is_about),
        TEST(the_register_pool_has_askers_and_holders),
        TEST(a_cluster_is_told_by_ranks),
        TEST(equal_ctas_are_counted_and_others_too),
        TEST(an_object_of_another_cta_has_the_cause_of_the_example),
        TEST(the_way_ends_at_a_warp_that_waits_for_nobody),
        TEST(what_nobody_can_end_is_said),
        TEST(what_is_not_known_is_a_question_mark),
        TEST(every_name_of_an_object_is_understood),
        TEST(a_variable_s_name_means_its_parts),
        TEST(what_is_not_there_is_refused_with_what_there_is),
        TEST(a_session_without_warps_says_so),
        TEST(a_long_way_is_cut),
        TEST(control_characters_are_escaped),
        TEST(the_json_follows_the_schema),
        TEST(older_databases_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
