/* process_test.c - a process in words, and what it does by a snapshot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <string.h>

#include <cmocka.h>

#include "model/process.h"

static struct wsdbg_optional_u32 known(int value)
{
    return value < 0 ? (struct wsdbg_optional_u32){0} : wsdbg_known_u32((uint32_t)value);
}

static void a_process_is_called_by_what_is_known_of_it(void **state)
{
    static const struct {
        int rank, local_rank, world_size;
        const char *own_host, *host, *text;
    } examples[] = {
        {1, 0, 2, "", "a", "rank 1 of 2 (local 0, host a, process 17)"},
        {1, -1, 2, "", "a", "rank 1 of 2 (host a, process 17)"},
        {1, 0, -1, "b", "a", "rank 1 (local 0, host b, process 17)"},
        {1, -1, -1, "", NULL, "rank 1 (process 17)"},
        {-1, -1, -1, "", "a", "process 17"},
        {-1, -1, -1, "b", "a", "process 17 on b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char text[WSDBG_PROCESS_BYTES];
        struct wsdbg_process process = {.process_id = 17,
                                        .pid = 17,
                                        .rank = known(examples[i].rank),
                                        .local_rank = known(examples[i].local_rank),
                                        .world_size = known(examples[i].world_size)};
        strcpy(process.host, examples[i].own_host);
        wsdbg_process_text(&process, examples[i].host, text);
        assert_string_equal(text, examples[i].text);
    }
}

static void an_end_is_told_as_far_as_it_is_known(void **state)
{
    static const struct {
        struct wsdbg_process_end end;
        const char *text;
    } examples[] = {
        {{WSDBG_END_NONE, 0}, ""},
        {{WSDBG_END_UNKNOWN, 0}, "ended"},
        {{WSDBG_END_EXITED, 1}, "exited 1"},
        {{WSDBG_END_SIGNAL, SIGKILL}, "killed by SIGKILL"},
        {{WSDBG_END_SIGNAL, 63}, "killed by signal 63"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char text[WSDBG_PROCESS_BYTES];
        wsdbg_process_end_text(examples[i].end, text);
        assert_string_equal(text, examples[i].text);
    }
}

/* A snapshot of process 5 with one context, one grid, one thread; and of process 6, of which nothing may count. */
struct world {
    struct wsdbg_process processes[2];
    struct wsdbg_context contexts[2];
    struct wsdbg_grid grids[2];
    struct wsdbg_host_thread threads[3];
    struct wsdbg_snapshot snapshot;
};

static void fill(struct world *w)
{
    *w = (struct world){.processes = {{.process_id = 5, .pid = 5}, {.process_id = 6, .pid = 6}},
                        .contexts = {{.process_id = 6, .alive = true, .error = 700}, {.process_id = 5, .alive = true}},
                        .grids = {{.context = 0, .running = true}, {.context = 1}},
                        .threads = {{.process_id = 6, .since_ns = 1},
                                    {.process_id = 5, .since_ns = 9},
                                    {.process_id = 5, .since_ns = 4}}};
    w->snapshot = (struct wsdbg_snapshot){.processes = w->processes,
                                          .process_count = 2,
                                          .contexts = w->contexts,
                                          .context_count = 2,
                                          .grids = w->grids,
                                          .grid_count = 2,
                                          .threads = w->threads,
                                          .thread_count = 1};
}

static void what_it_does_is_the_first_thing_that_holds(void **state)
{
    struct world w;
    (void)state;
    fill(&w);
    assert_int_equal(wsdbg_process_work(&w.snapshot, 0).state, WSDBG_PROCESS_UNKNOWN);
    w.contexts[1].given_ns = wsdbg_known_u64(7);
    w.contexts[1].done_given_ns = wsdbg_known_u64(6);
    assert_int_equal(wsdbg_process_work(&w.snapshot, 0).state, WSDBG_PROCESS_UNKNOWN);
    w.contexts[1].done_given_ns = wsdbg_known_u64(7);
    assert_int_equal(wsdbg_process_work(&w.snapshot, 0).state, WSDBG_PROCESS_NO_WORK);
    w.snapshot.thread_count = 3;
    const struct wsdbg_process_work call = wsdbg_process_work(&w.snapshot, 0);
    assert_int_equal(call.state, WSDBG_PROCESS_CALL);
    assert_int_equal(call.thread, 2); /* it has waited longest */
    w.grids[1].running = true;
    const struct wsdbg_process_work kernel = wsdbg_process_work(&w.snapshot, 0);
    assert_int_equal(kernel.state, WSDBG_PROCESS_KERNEL);
    assert_int_equal(kernel.grid, 1);
    w.contexts[1].error = 719;
    assert_int_equal(wsdbg_process_work(&w.snapshot, 0).state, WSDBG_PROCESS_FAULT);
    w.processes[0].end.kind = WSDBG_END_UNKNOWN;
    assert_int_equal(wsdbg_process_work(&w.snapshot, 0).state, WSDBG_PROCESS_GONE);
}

static void memory_of_others_is_what_was_exported_or_imported(void **state)
{
    static const struct {
        unsigned kind, flags;
        bool shared;
    } examples[] = {
        {WSDBG_ALLOCATION_DEVICE, 0, false},
        {WSDBG_ALLOCATION_HOST, WSDBG_ALLOCATION_HOST_ACCESS, false},
        {WSDBG_ALLOCATION_DEVICE, WSDBG_ALLOCATION_EXPORTED, true},
        {WSDBG_ALLOCATION_VMM, WSDBG_ALLOCATION_EXPORTED, true},
        {WSDBG_ALLOCATION_VMM_IMPORTED, 0, true},
        {WSDBG_ALLOCATION_IMPORTED, 0, true},
    };
    struct world w;
    struct wsdbg_cta cta = {.grid = 1};
    struct wsdbg_warp_row warp = {.cta = 0};
    struct wsdbg_part part = {.state = WSDBG_WARP_SPIN_GLOBAL, .address = wsdbg_known_u64(0x1008)};
    struct wsdbg_allocation memory = {.process_id = 5, .row = {.number = 1, .address = 0x1000, .bytes = 64}};
    (void)state;
    fill(&w);
    w.grids[1].running = true;
    w.snapshot.ctas = &cta, w.snapshot.cta_count = 1;
    w.snapshot.warps = &warp, w.snapshot.warp_count = 1;
    w.snapshot.parts = &part, w.snapshot.part_count = 1;
    w.snapshot.allocations = &memory, w.snapshot.allocation_count = 1;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        memory.row.kind = examples[i].kind;
        memory.row.flags = examples[i].flags;
        assert_int_equal(wsdbg_process_work(&w.snapshot, 0).polls_peers, examples[i].shared);
        assert_false(wsdbg_process_work(&w.snapshot, 1).polls_peers);
    }
    part.state = WSDBG_WARP_WAIT_MBARRIER;
    assert_false(wsdbg_process_work(&w.snapshot, 0).polls_peers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_is_called_by_what_is_known_of_it),
        cmocka_unit_test(an_end_is_told_as_far_as_it_is_known),
        cmocka_unit_test(what_it_does_is_the_first_thing_that_holds),
        cmocka_unit_test(memory_of_others_is_what_was_exported_or_imported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
