/* communicators_test.c - communicators of NCCL and the calls on them come back from a session as they were, and the
 * queries tell who is behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example.h"
#include "store/example_machine.h"

#include <stdlib.h>
#include <string.h>

#include "store/load.h"

static const struct wsdbg_communicator_row communicators[] = {{.number = 1,
                                                               .identity = 0x8f2a01c300000001,
                                                               .began_ns = 10,
                                                               .ready_ns = 20,
                                                               .calls = 2,
                                                               .collectives = 2,
                                                               .rank = 0,
                                                               .rank_count = 2,
                                                               .device = 0,
                                                               .context = WSDBG_UNKNOWN32,
                                                               .made_by = "ncclCommInitRank"},
                                                              {.number = 2,
                                                               .identity = 0x8f2a01c300000001,
                                                               .began_ns = 10,
                                                               .ended_ns = 40,
                                                               .calls = 1,
                                                               .collectives = 1,
                                                               .rank = 1,
                                                               .rank_count = 2,
                                                               .device = 1,
                                                               .context = WSDBG_UNKNOWN32,
                                                               .end = WSDBG_COMMUNICATOR_ABORTED,
                                                               .error = 3,
                                                               .made_by = "ncclCommInitRankConfig"},
                                                              {.number = 3,
                                                               .began_ns = 10,
                                                               .rank = WSDBG_UNKNOWN32,
                                                               .rank_count = WSDBG_UNKNOWN32,
                                                               .device = WSDBG_UNKNOWN32,
                                                               .context = WSDBG_UNKNOWN32,
                                                               .made_by = "ncclCommSplit"}};

static const struct wsdbg_collective calls[] = {
    {.communicator = 0,
     .launch = 0,
     .done = true,
     .row = {.sequence = 1,
             .number = 1,
             .time_ns = 100,
             .issued_ns = 110,
             .count = 64,
             .operation = WSDBG_COLLECTIVE_ALL_REDUCE,
             .datatype = 7,
             .reduction = 0,
             .peer = WSDBG_UNKNOWN32,
             .thread_id = 5}},
    {.communicator = 0,
     .launch = WSDBG_NONE,
     .row = {.sequence = 2,
             .number = 2,
             .time_ns = 200,
             .count = 64,
             .operation = WSDBG_COLLECTIVE_BROADCAST,
             .datatype = 9,
             .reduction = WSDBG_UNKNOWN32,
             .peer = 1,
             .thread_id = 5,
             .flags = WSDBG_COLLECTIVE_CAPTURED | WSDBG_COLLECTIVE_GROUPED}},
    {.communicator = 1,
     .launch = WSDBG_NONE,
     .row = {.sequence = 1,
             .time_ns = 100,
             .count = 1,
             .operation = WSDBG_COLLECTIVE_SEND,
             .datatype = WSDBG_UNKNOWN32,
             .reduction = WSDBG_UNKNOWN32,
             .peer = 0,
             .thread_id = 6,
             .flags = WSDBG_COLLECTIVE_REFUSED}}};

enum { COMMUNICATORS = sizeof communicators / sizeof *communicators, CALLS = sizeof calls / sizeof *calls };

static void add(struct wsdbg_snapshot *s)
{
    s->communicators = calloc(s->communicator_count = COMMUNICATORS, sizeof *s->communicators);
    s->collectives = calloc(s->collective_count = CALLS, sizeof *s->collectives);
    for (size_t i = 0; i < COMMUNICATORS; i++)
        s->communicators[i] = (struct wsdbg_communicator){
            .process_id = s->contexts[0].process_id, .context = i ? WSDBG_NONE : 0, .row = communicators[i]};
    memcpy(s->collectives, calls, sizeof calls);
}

static void they_come_back_as_they_were(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    struct wsdbg_loaded loaded;
    char *folder = example_folder();
    const char *path = example_path(folder, "nccl.db");
    example_machine(&e, 2);
    add(&e.snapshot);
    example_store(&e, path);
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.communicator_count, COMMUNICATORS);
    assert_int_equal(loaded.snapshot.collective_count, CALLS);
    for (size_t i = 0; i < COMMUNICATORS; i++) {
        assert_memory_equal(&loaded.snapshot.communicators[i].row, &communicators[i], sizeof *communicators);
        assert_int_equal(loaded.snapshot.communicators[i].context, i ? WSDBG_NONE : 0);
    }
    for (size_t i = 0; i < CALLS; i++) {
        struct wsdbg_collective_row row = loaded.snapshot.collectives[i].row;
        assert_memory_equal(&row, &calls[i].row, sizeof row);
        assert_int_equal(loaded.snapshot.collectives[i].communicator, calls[i].communicator);
        assert_int_equal(loaded.snapshot.collectives[i].launch, calls[i].launch);
        assert_int_equal(loaded.snapshot.collectives[i].done, calls[i].done);
    }
    char *text = example_query(store, "@collectives", WSDBG_QUERY_CSV);
    assert_non_null(strstr(text, "\r\n8f2a01c300000001,,0,2,lives,2,,broadcast,2,64,bfloat16,,1,1,"));
    assert_non_null(strstr(text, "\r\n8f2a01c300000001,,1,2,aborted,1,,send,,1,,,0,0,"));
    free(text);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
    example_free(&e);
    example_clean(folder);
}

static void who_is_behind_is_known_where_all_calls_count(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    const char *path = example_path(folder, "behind.db");
    example_machine(&e, 2);
    add(&e.snapshot);
    e.snapshot.collectives[1].row.flags = e.snapshot.collectives[2].row.flags = 0;
    e.snapshot.collectives[2].row.number = 1;
    example_store(&e, path);
    example_ok(wsdbg_store_open(path, &store));
    char *text = example_query(store, "@collectives", WSDBG_QUERY_CSV);
    assert_non_null(strstr(text, "\r\n8f2a01c300000001,,0,2,lives,2,0,broadcast,2,64,"));
    assert_non_null(strstr(text, "\r\n8f2a01c300000001,,1,2,aborted,1,1,send,1,1,"));
    free(text);
    wsdbg_store_close(store);
    example_free(&e);
    example_clean(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(they_come_back_as_they_were),
                                       cmocka_unit_test(who_is_behind_is_known_where_all_calls_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
