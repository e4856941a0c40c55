/* outside_test.c - waits that lead out of a CTA, as the probes record them: polls of global memory, CTAs that are not
 * there, a grid that waits for another one.  Each row states a kernel, what else is known, and what is to be said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device.h"
#include "diagnose/finding.h"
#include "wsdbg/session.h"

#define POSSIBLE WSDBG_CONFIDENCE_POSSIBLE
#define LIKELY WSDBG_CONFIDENCE_LIKELY
enum { DEPTH = 32, FLAG = 0, OTHER = 1, ALL_THREADS = 64, STREAM = 0x7000, SIDE_STREAM = 0x8000 };

/* ---- kernels: CTAs of two warps ---- */

/* Warp 0 polls, warp 1 waits for it at the block's barrier. */
static void polls(struct device *d, uint32_t cta, uint32_t writer)
{
    poll(d, cta, 0, FLAG, writer);
    for (uint32_t w = 0; w < 2; w++) {
        named_sync(d, cta, w, 0, ALL_THREADS);
        leave(d, cta, w);
    }
}

static struct device *all_poll(uint32_t ctas, uint32_t writer)
{
    struct device *d = device_create(ctas, 2, 1, 64);
    for (uint32_t cta = 0; cta < ctas; cta++)
        polls(d, cta, writer);
    return d;
}

static struct device *nobody_writes(void)
{
    return all_poll(2, WSDBG_POLL_OF_GPU);
}

static struct device *host_writes(void)
{
    return all_poll(2, WSDBG_POLL_OF_SYSTEM);
}

static struct device *one_writes(void)
{
    struct device *d = all_poll(2, WSDBG_POLL_OF_GPU);
    write_word(d, 1, 1, OTHER);
    poll(d, 1, 1, OTHER, WSDBG_POLL_OF_GPU);
    return d;
}

/* A warp of the other CTA has no probe beyond its begin. */
static struct device *somebody_computes(void)
{
    struct device *d = device_create(2, 2, 1, 64);
    polls(d, 0, WSDBG_POLL_OF_GPU);
    poll(d, 1, 0, FLAG, WSDBG_POLL_OF_GPU);
    return d;
}

/* The poll is not what the CTA lacks: the consumer waits for an arrival of a warp that has left. */
static struct device *arrival_missing_too(void)
{
    struct device *d = device_create(1, 3, 1, 64);
    device_role(d, 0, "producer");
    device_role(d, 1, "consumer");
    device_mbarrier(d, 0, "full", 1, false, 1 << 0, 1 << 1);
    role(d, 0, 0, 0);
    role(d, 0, 1, 1);
    role(d, 0, 2, 2);
    init(d, 0, 0, 0, 0, 1);
    named_sync(d, 0, 0, 0, ALL_THREADS);
    named_sync(d, 0, 1, 0, ALL_THREADS);
    leave(d, 0, 0);
    wait(d, 0, 1, 0, 0, 0, 0);
    poll(d, 0, 2, FLAG, WSDBG_POLL_OF_GPU);
    return d;
}

/* CTAs 0-1 are made the grid before, 2-3 its dependent: see dependent_grid(). */
static struct device *dependent_waits(void)
{
    struct device *d = device_create(4, 2, 1, 64);
    for (uint32_t cta = 0; cta < 2; cta++)
        polls(d, cta, WSDBG_POLL_OF_GPU);
    for (uint32_t cta = 2; cta < 4; cta++)
        for (uint32_t w = 0; w < 2; w++)
            grid_wait(d, cta, w);
    return d;
}

static struct device *first_works(void)
{
    struct device *d = device_create(4, 2, 1, 64);
    for (uint32_t cta = 2; cta < 4; cta++)
        for (uint32_t w = 0; w < 2; w++)
            grid_wait(d, cta, w);
    return d;
}

static struct device *first_polls_for_host(void)
{
    struct device *d = first_works();
    for (uint32_t cta = 0; cta < 2; cta++) {
        poll(d, cta, 0, FLAG, WSDBG_POLL_OF_GPU);
        poll(d, cta, 1, OTHER, WSDBG_POLL_OF_SYSTEM);
    }
    return d;
}

/* CTA 0 came through: the word was there once, without the dependent grid. */
static struct device *first_came_through(void)
{
    struct device *d = device_create(4, 2, 1, 64);
    write_word(d, 0, 0, FLAG);
    polls(d, 0, WSDBG_POLL_OF_GPU);
    poll(d, 1, 0, OTHER, WSDBG_POLL_OF_GPU);
    named_sync(d, 1, 1, 0, ALL_THREADS);
    for (uint32_t cta = 2; cta < 4; cta++)
        for (uint32_t w = 0; w < 2; w++)
            grid_wait(d, cta, w);
    return d;
}

/* ---- what else is known ---- */

static void nothing(struct wsdbg_snapshot *s)
{
    (void)s;
}

static void more_ctas(struct wsdbg_snapshot *s)
{
    s->grids[0].cta_total = 150;
}

static void more_ctas_one_is_last(struct wsdbg_snapshot *s)
{
    more_ctas(s);
    s->ctas[1].x = 149;
}

static void moved_just_now(struct wsdbg_snapshot *s)
{
    s->progress_ns = s->time_ns;
}

/* Launch 0 is the grid's, in STREAM; another kernel comes `after` it, or before. */
static void add_launch(struct wsdbg_snapshot *s, bool after, uint64_t stream, bool probed, uint32_t flags)
{
    s->launches = calloc(2, sizeof *s->launches);
    s->functions = realloc(s->functions, 2 * sizeof *s->functions);
    s->modules = realloc(s->modules, 2 * sizeof *s->modules);
    must(s->launches && s->functions && s->modules);
    s->launch_count = s->function_count = s->module_count = 2;
    s->functions[1] = (struct wsdbg_function){.module = 1};
    s->modules[0].probed = true;
    s->modules[1] = (struct wsdbg_module){.probed = probed};
    s->launches[0] = (struct wsdbg_launch){.sequence = 5, .stream = STREAM};
    s->launches[1] = (struct wsdbg_launch){.sequence = after ? 6 : 4, .stream = stream, .function = 1, .flags = flags};
    s->grids[0].launch = 0;
}

static void probed_kernel_queued(struct wsdbg_snapshot *s)
{
    add_launch(s, true, SIDE_STREAM, true, 0);
}

static void bare_kernel_before(struct wsdbg_snapshot *s)
{
    add_launch(s, false, STREAM, false, 0);
}

static void bare_kernel_queued(struct wsdbg_snapshot *s)
{
    add_launch(s, true, STREAM, false, 0);
}

static void bare_dependent_queued(struct wsdbg_snapshot *s)
{
    add_launch(s, true, STREAM, false, WSDBG_LAUNCH_PROGRAMMATIC);
}

static void bare_kernel_beside(struct wsdbg_snapshot *s)
{
    add_launch(s, false, SIDE_STREAM, false, 0);
}

static void bare_kernel_beside_done(struct wsdbg_snapshot *s)
{
    bare_kernel_beside(s);
    s->contexts[0].done_launches = wsdbg_known_u64(5);
}

static void host_waits(struct wsdbg_snapshot *s)
{
    s->threads = calloc(2, sizeof *s->threads);
    must(s->threads);
    s->thread_count = 1;
    s->threads[0] = (struct wsdbg_host_thread){
        .thread_id = 77, .call = "cuStreamSynchronize", .since_ns = 1000000000, .host_state = WSDBG_HOST_ALL_BLOCKED};
}

static void host_waits_for_other_stream(struct wsdbg_snapshot *s)
{
    add_launch(s, false, STREAM, true, 0);
    s->threads[0].stream = wsdbg_known_u64(SIDE_STREAM);
}

static void host_waits_for_legacy_stream(struct wsdbg_snapshot *s)
{
    add_launch(s, false, STREAM, true, 0);
    s->threads[0].stream = wsdbg_known_u64(0);
}

static void host_is_free(struct wsdbg_snapshot *s)
{
    s->thread_count = 0;
}

static void host_is_free_of_more_ctas(struct wsdbg_snapshot *s)
{
    more_ctas(s);
    host_is_free(s);
}

static void another_thread_works(struct wsdbg_snapshot *s)
{
    s->threads[0].host_state = WSDBG_HOST_GOES_ON;
}

static void a_new_thread_works(struct wsdbg_snapshot *s)
{
    s->threads[0].host_state = WSDBG_HOST_STRANGER_GOES_ON;
}

static void other_threads_are_not_known(struct wsdbg_snapshot *s)
{
    s->threads[0].host_state = WSDBG_HOST_NOT_KNOWN;
}

/* Thread 78 is in a call too. */
static void two_in_calls(struct wsdbg_snapshot *s, uint64_t since_ns)
{
    s->threads[1] = s->threads[0];
    s->threads[1].thread_id++;
    s->threads[1].since_ns = since_ns;
    s->thread_count = 2;
}

static void another_waits_too(struct wsdbg_snapshot *s)
{
    two_in_calls(s, 1500000000);
}

static void another_copies_in_pieces(struct wsdbg_snapshot *s)
{
    two_in_calls(s, s->time_ns - 1000000);
}

static void another_process_waits(struct wsdbg_snapshot *s)
{
    s->threads[0].process_id = 5;
}

static void split_grid(struct wsdbg_snapshot *s, uint32_t first_total)
{
    s->grids = realloc(s->grids, 2 * sizeof *s->grids);
    must(s->grids);
    s->grid_count = 2;
    s->grids[1] = s->grids[0];
    s->grids[0].cta_count = 2;
    s->grids[0].cta_total = first_total;
    s->grids[1].cta_first = s->grids[1].cta_count = s->grids[1].cta_total = 2;
    for (uint32_t i = 2; i < 4; i++)
        s->ctas[i].grid = 1;
}

static void dependent_grid(struct wsdbg_snapshot *s)
{
    split_grid(s, 2);
}

static void dependent_of_more_ctas(struct wsdbg_snapshot *s)
{
    split_grid(s, 3);
}

/* ... of which one between those that are seen has ended. */
static void dependent_of_some_left(struct wsdbg_snapshot *s)
{
    split_grid(s, 3);
    s->ctas[1].x = 2;
}

static void grids_of_two_streams(struct wsdbg_snapshot *s)
{
    split_grid(s, 2);
    add_launch(s, true, SIDE_STREAM, true, 0);
    s->grids[1].launch = 1;
}

static const struct row {
    const char *name;
    struct device *(*kernel)(void);
    void (*known)(struct wsdbg_snapshot *s);
    const char *cause;
    enum wsdbg_confidence confidence;
} table[] = {
    {"a word that nobody writes", nobody_writes, nothing, "GLOBAL_SPIN", LIKELY},
    {"two words", one_writes, nothing, "GLOBAL_SPIN", LIKELY},
    {"a word that the host may write", host_writes, host_is_free, "GLOBAL_SPIN", POSSIBLE},
    {"something moved just now", nobody_writes, moved_just_now, "GLOBAL_SPIN", POSSIBLE},
    {"a warp computes", somebody_computes, nothing, "UNKNOWN", POSSIBLE},
    {"an arrival is missing too", arrival_missing_too, nothing, "WAKER_EXITED", WSDBG_CONFIDENCE_PROVEN},
    {"CTAs have not started", nobody_writes, more_ctas, "NOT_RESIDENT", LIKELY},
    {"CTAs have ended", nobody_writes, more_ctas_one_is_last, "GLOBAL_SPIN", LIKELY},
    {"CTAs have not started, the host may write", host_writes, more_ctas, "NOT_RESIDENT", POSSIBLE},
    {"a kernel with probes has not begun", nobody_writes, probed_kernel_queued, "GLOBAL_SPIN", LIKELY},
    {"a kernel without probes came before", nobody_writes, bare_kernel_before, "GLOBAL_SPIN", LIKELY},
    {"a kernel without probes comes after", nobody_writes, bare_kernel_queued, "GLOBAL_SPIN", LIKELY},
    {"one without probes may have begun early", nobody_writes, bare_dependent_queued, "GLOBAL_SPIN", POSSIBLE},
    {"one without probes may run beside", nobody_writes, bare_kernel_beside, "GLOBAL_SPIN", POSSIBLE},
    {"the one beside is done", nobody_writes, bare_kernel_beside_done, "GLOBAL_SPIN", LIKELY},
    {"the host waits for the kernel", host_writes, nothing, "HOST_WAIT", POSSIBLE},
    {"the host waits for another stream", host_writes, host_waits_for_other_stream, "GLOBAL_SPIN", POSSIBLE},
    {"the host may copy the word", nobody_writes, host_is_free, "GLOBAL_SPIN", POSSIBLE},
    {"... as it waits for another stream only", nobody_writes, host_waits_for_other_stream, "GLOBAL_SPIN", POSSIBLE},
    {"the host waits for all streams", nobody_writes, host_waits_for_legacy_stream, "GLOBAL_SPIN", LIKELY},
    {"a thread of another process waits", nobody_writes, another_process_waits, "GLOBAL_SPIN", POSSIBLE},
    {"another thread that works with the GPU goes on", nobody_writes, another_thread_works, "GLOBAL_SPIN", POSSIBLE},
    {"another thread may begin to", nobody_writes, a_new_thread_works, "GLOBAL_SPIN", POSSIBLE},
    {"other threads are not known", nobody_writes, other_threads_are_not_known, "GLOBAL_SPIN", POSSIBLE},
    {"another thread waits too", nobody_writes, another_waits_too, "GLOBAL_SPIN", LIKELY},
    {"another thread copies in pieces", nobody_writes, another_copies_in_pieces, "GLOBAL_SPIN", POSSIBLE},
    {"CTAs have not started, the host is free", nobody_writes, host_is_free_of_more_ctas, "NOT_RESIDENT", POSSIBLE},
    {"the grid before polls", dependent_waits, dependent_grid, "GRID_DEPENDENCY", LIKELY},
    {"a warp computes, and was seen to", somebody_computes, moved_just_now, "SLOW", LIKELY},
    {"the grid before works", first_works, dependent_grid, "UNKNOWN", POSSIBLE},
    {"the grid before polls for the host too", first_polls_for_host, dependent_grid, "GRID_DEPENDENCY", POSSIBLE},
    {"the grid before has not begun whole", dependent_waits, dependent_of_more_ctas, "NOT_RESIDENT", LIKELY},
    {"some of the grid before have left", dependent_waits, dependent_of_some_left, "GLOBAL_SPIN", LIKELY},
    {"a CTA of the grid before came through", first_came_through, dependent_grid, "GLOBAL_SPIN", LIKELY},
    {"the other grid is of another stream", dependent_waits, grids_of_two_streams, "GLOBAL_SPIN", LIKELY},
};

static void check(const struct row *row)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    struct device *d = row->kernel();
    device_run(d, 1);
    device_snapshot(d, DEPTH, &snapshot);
    device_destroy(d);
    host_waits(&snapshot); /* unless the row says otherwise */
    row->known(&snapshot);
    assert_null(wsdbg_diagnose(&snapshot, &diagnosis));
    assert_true(diagnosis.finding_count > 0);
    const struct wsdbg_finding *first = &diagnosis.findings[0];
    for (size_t i = 1; i < diagnosis.finding_count; i++) /* nothing as sure contradicts the verdict */
        assert_true(diagnosis.findings[i].confidence < LIKELY || diagnosis.findings[i].cause == first->cause ||
                    diagnosis.findings[i].cause == WSDBG_CAUSE_SLOW);
    if (strcmp(wsdbg_cause_name(first->cause), row->cause) != 0 || first->confidence != row->confidence)
        print_error("%s: %s (%s): %s\n", row->name, wsdbg_cause_name(first->cause),
                    wsdbg_confidence_name(first->confidence), first->sentence);
    assert_string_equal(wsdbg_cause_name(first->cause), row->cause);
    assert_int_equal(first->confidence, row->confidence);
    assert_int_equal(diagnosis.hang, row->confidence >= LIKELY && strcmp(row->cause, "SLOW") != 0);
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
}

static void what_leads_out_of_a_cta_is_told_as_far_as_the_record_shows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(&table[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leads_out_of_a_cta_is_told_as_far_as_the_record_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
