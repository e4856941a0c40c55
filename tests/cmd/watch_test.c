/* watch_test.c - the watch over evidence and a clock of the test's own: kernels without probes.
 *
 * One context whose work is unfinished since 1 s; a stall is 10 s of it.  What a look at the GPU sees is scripted.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "cmd/processes.h"
#include "cmd/watch.h"

#define S UINT64_C(1000000000)
#define LOOK_NS (3 * S)

/* What the looks at the GPU see, one after the other; the last one again and again. */
enum sight { STANDS, MOVES, SHUT, FAILS, HANGS, NEXT, BUSY };

struct world {
    struct wsdbg_evidence evidence;
    struct wsdbg_clock clock;
    struct wsdbg_listener listener;
    const enum sight *sights;
    size_t sight_count;
    uint64_t now_ns, end_ns;
    uint64_t done_ns; /* the work is done then; 0 = never */
    bool hidden;      /* stream captures hide since 1 s whether there is work */
    bool look_ends_work, look_spares_fed;
    uint64_t waits_ns;         /* a thread of the host waits for the GPU from then on; 0 = none does */
    uint64_t goes_on_until_ns; /* till then another thread that used the driver is not at rest */
    pid_t held; /* a process whose work it is, which a debugger lets go at held_until_ns; 0 = another process */
    uint64_t held_until_ns;
    bool is_followed;   /* ... or which goes on between any two ticks, and is stopped at each */
    bool is_held_often; /* ... or which runs one second in four */
    uint64_t asked_ns;  /* somebody asks for a look then; 0 = nobody does */
    uint64_t every_ns;  /* somebody looks on, and wants a new picture so often; 0 = nobody does */
    uint64_t wanted_ns; /* ... the next one */
    uint64_t looks[16]; /* when the GPU was looked at, in seconds */
    size_t look_count;
    char said[4096]; /* lines */
    size_t judged;
    size_t pictures; /* of looks, as they went to who looks on */
};

static struct world *world_of_clock(struct wsdbg_clock *clock)
{
    return (struct world *)((char *)clock - offsetof(struct world, clock));
}

static struct world *world_of_listener(struct wsdbg_listener *listener)
{
    return (struct world *)((char *)listener - offsetof(struct world, listener));
}

static uint64_t now_ns(struct wsdbg_clock *clock)
{
    return world_of_clock(clock)->now_ns;
}

/* A child of this process, stopped as a debugger stops one: its parent traces it. */
static pid_t hold_a_process(void)
{
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        for (;;)
            pause();
    }
    assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
    return child;
}

/* A child of this process, stopped by a signal. */
static pid_t stop_a_process(void)
{
    const pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    kill(child, SIGSTOP);
    assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
    return child;
}

static void set_stopped(pid_t held, bool stopped)
{
    struct wsdbg_process_stop stop;
    kill(held, stopped ? SIGSTOP : SIGCONT);
    while (wsdbg_process_is_stopped(held, &stop) != stopped)
        usleep(100);
}

/* It goes on for a moment. */
static void stop_again(pid_t held)
{
    kill(held, SIGCONT);
    kill(held, SIGSTOP);
    assert_int_equal(waitpid(held, NULL, WUNTRACED), held);
}

static void let_go(pid_t held)
{
    kill(held, SIGCONT);
    ptrace(PTRACE_DETACH, held, NULL, NULL);
    struct wsdbg_process_stop stop;
    while (wsdbg_process_is_stopped(held, &stop))
        usleep(1000);
}

static enum wsdbg_wait wait_until(struct wsdbg_clock *clock, uint64_t deadline_ns)
{
    struct world *world = world_of_clock(clock);
    bool asked = world->asked_ns && deadline_ns >= world->asked_ns;
    world->now_ns = deadline_ns;
    if (world->held && deadline_ns >= world->held_until_ns && world->held_until_ns) {
        world->held_until_ns = 0;
        let_go(world->held);
    }
    if (world->is_followed)
        stop_again(world->held);
    if (world->is_held_often)
        set_stopped(world->held, deadline_ns / S % 4 != 0);
    if (asked)
        world->asked_ns = 0;
    if (deadline_ns >= world->end_ns)
        return WSDBG_WAIT_OVER;
    if (asked)
        return WSDBG_WAIT_LOOK;
    if (!world->every_ns || deadline_ns < world->wanted_ns)
        return WSDBG_WAIT_TICK;
    world->wanted_ns = deadline_ns + world->every_ns;
    return WSDBG_WAIT_REFRESH;
}

static struct wsdbg_error *poll(struct wsdbg_evidence *evidence, uint64_t time_ns, struct wsdbg_snapshot *out)
{
    const struct world *world = (struct world *)evidence;
    *out = (struct wsdbg_snapshot){.time_ns = time_ns, .source = "test", .launches_total = 1};
    out->contexts = calloc(1, sizeof *out->contexts);
    out->context_count = 1;
    out->contexts[0] = (struct wsdbg_context){
        .process_id = world->held ? (uint32_t)world->held : 0, .alive = true, .work_followed = true};
    if (world->waits_ns && time_ns >= world->waits_ns) {
        out->threads = calloc(1, sizeof *out->threads);
        out->thread_count = 1;
        out->threads[0] = (struct wsdbg_host_thread){
            .process_id = out->contexts[0].process_id,
            .since_ns = world->waits_ns,
            .host_state = time_ns < world->goes_on_until_ns ? WSDBG_HOST_GOES_ON : WSDBG_HOST_RESTS};
    }
    if (world->hidden) {
        out->contexts[0].work_followed = false;
        out->contexts[0].hidden_ns = wsdbg_known_u64(1 * S);
    } else if (!world->done_ns || time_ns < world->done_ns)
        out->contexts[0].unfinished_ns = wsdbg_known_u64(1 * S);
    return NULL;
}

/* A grid of one warp that a look saw. */
static void add_grid(struct wsdbg_snapshot *out, bool moves, uint64_t id)
{
    out->grids = calloc(1, sizeof *out->grids);
    out->grids[0] = (struct wsdbg_grid){.module = WSDBG_NONE,
                                        .launch = WSDBG_NONE,
                                        .function = WSDBG_NONE,
                                        .grid_id = id,
                                        .cta_total = 1,
                                        .warps_per_cta = 1,
                                        .cta_count = 1,
                                        .warps_live = 1,
                                        .running = true};
    out->ctas = calloc(1, sizeof *out->ctas);
    out->ctas[0] = (struct wsdbg_cta){.cluster_size = 1, .warp_count = 1};
    out->warps = calloc(1, sizeof *out->warps);
    out->warps[0] = (struct wsdbg_warp_row){.barrier = WSDBG_NONE, .site = WSDBG_NONE};
    out->warps[0].state = moves ? WSDBG_WARP_RUNNING : WSDBG_WARP_UNKNOWN;
    out->looks = calloc(1, sizeof *out->looks);
    out->grid_count = out->cta_count = out->warp_count = out->look_count = 1;
}

/* What was once recorded of a hang: an arrival that a consumer forgot. */
static struct wsdbg_error *look_at_recorded_hang(struct wsdbg_snapshot *out)
{
    uint64_t first_ns, last_ns;
    struct wsdbg_evidence *recorded;
    struct wsdbg_error *error = wsdbg_evidence_open_recorded(WSDBG_SOURCE "/tests/recorded/arrive-missing.wsrec",
                                                             &first_ns, &last_ns, &recorded);
    if (error)
        return error;
    error = recorded->ops->poll(recorded, first_ns, out);
    wsdbg_snapshot_deinit(out);
    if (!error)
        error = recorded->ops->inspect(recorded, last_ns, LOOK_NS, out);
    recorded->ops->close(recorded);
    if (!error) {
        out->looks = calloc(1, sizeof *out->looks);
        out->look_count = 1;
    }
    return error;
}

/* A look elsewhere, and beside it the slots of a kernel with probes that would pass for that hang but for their last
 * change, which was just now. */
static struct wsdbg_error *look_beside_busy_slots(struct wsdbg_snapshot *out)
{
    struct wsdbg_error *error = look_at_recorded_hang(out);
    for (size_t i = 0; !error && i < out->grid_count; i++)
        out->grids[i].progress_ns = out->time_ns;
    out->progress_ns = 0; /* the recording's clock is not this test's */
    return error;
}

static struct wsdbg_error *inspect(struct wsdbg_evidence *evidence, uint64_t time_ns, uint64_t deadline_ns,
                                   struct wsdbg_snapshot *out)
{
    struct world *world = (struct world *)evidence;
    assert_int_equal(deadline_ns, LOOK_NS);
    assert_true(world->look_count < sizeof world->looks / sizeof world->looks[0]);
    const size_t at = world->look_count < world->sight_count ? world->look_count : world->sight_count - 1;
    const enum sight sight = world->sights[at];
    world->looks[world->look_count++] = time_ns / S;
    if (sight == FAILS)
        return wsdbg_error_create(WSDBG_ERROR_OS, "the inspector died");
    if (sight == HANGS)
        return look_at_recorded_hang(out);
    if (sight == BUSY)
        return look_beside_busy_slots(out);
    struct wsdbg_error *error = poll(evidence, time_ns, out);
    if (sight == SHUT) {
        out->notes = calloc(1, sizeof *out->notes);
        snprintf(out->notes[out->note_count++], sizeof *out->notes, "the GPU cannot be looked at: MPS is in the way");
        return error;
    }
    add_grid(out, sight == MOVES, sight == NEXT ? world->look_count : 1);
    if (sight == MOVES)
        out->progress_ns = time_ns;
    return error;
}

static void close_nothing(struct wsdbg_evidence *evidence)
{
    (void)evidence;
}

static void looked(struct wsdbg_listener *listener, const struct wsdbg_snapshot *snapshot, bool last)
{
    (void)last;
    world_of_listener(listener)->pictures += snapshot->look_count;
}

static void judged(struct wsdbg_listener *listener, const struct wsdbg_snapshot *snapshot,
                   const struct wsdbg_diagnosis *diagnosis)
{
    (void)snapshot, (void)diagnosis;
    world_of_listener(listener)->judged++;
}

static void said(struct wsdbg_listener *listener, const char *line)
{
    char *text = world_of_listener(listener)->said;
    const size_t used = strlen(text);
    snprintf(text + used, sizeof world_of_listener(listener)->said - used, "%s\n", line);
}

static void reported(struct wsdbg_listener *listener, const char *text, const char *verdict)
{
    (void)text;
    said(listener, verdict);
}

/* Runs the watch to world->end_ns. */
static struct wsdbg_watch run(struct world *world, uint64_t look_ns)
{
    static const struct wsdbg_evidence_ops ops = {
        .name = "test", .poll = poll, .inspect = inspect, .close = close_nothing};
    struct wsdbg_session_info info = {.command = "test",
                                      .wsdbg_version = "0",
                                      .device = "gpu",
                                      .observer = "driver",
                                      .evidence = "test",
                                      .hostname = "here",
                                      .stall_seconds = 2};
    world->evidence.ops = &ops;
    world->clock = (struct wsdbg_clock){.now_ns = now_ns, .wait = wait_until, .is_live = true};
    world->listener = (struct wsdbg_listener){.looked = looked, .judged = judged, .said = said, .reported = reported};
    world->now_ns = 1 * S;
    struct wsdbg_watch watch = {.listener = &world->listener,
                                .evidence = &world->evidence,
                                .clock = &world->clock,
                                .info = &info,
                                .stall_ns = 2 * S,
                                .work_stall_ns = 10 * S,
                                .stop_at_hang = true,
                                .look_ends_work = world->look_ends_work,
                                .look_spares_fed = world->look_spares_fed,
                                .after_hang = "nothing happens to it",
                                .look_ns = look_ns};
    assert_null(wsdbg_store_create("x.db", &info, &watch.store));
    wsdbg_watch_run(&watch);
    wsdbg_store_close(watch.store);
    return watch;
}

static void assert_looks(const struct world *world, const uint64_t *seconds, size_t count)
{
    assert_int_equal(world->look_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(world->looks[i], seconds[i]);
}
#define ASSERT_LOOKS(world, ...) \
    assert_looks(world, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static size_t line_count(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void work_that_gets_done_is_not_looked_at(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){MOVES}, .sight_count = 1, .done_ns = 10 * S, .end_ns = 100 * S};
    run(&world, LOOK_NS);
    assert_int_equal(world.look_count, 0);
    assert_string_equal(world.said, "");
}

static void evidence_that_cannot_look_is_not_asked_to(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){MOVES}, .sight_count = 1, .end_ns = 100 * S};
    run(&world, 0);
    assert_int_equal(world.look_count, 0);
}

/* Looked at again after twice the time, from the last movement on; said once. */
static void a_slow_kernel_is_looked_at_ever_more_rarely(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){MOVES}, .sight_count = 1, .end_ns = 200 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 31, 71, 151);
    assert_false(watch.hang || watch.not_looked);
    assert_int_equal(line_count(world.said), 1);
    assert_non_null(strstr(world.said, "the GPU has been at its work for 10.0 s; it moves, the program goes on (SLOW"));
    assert_int_equal(world.judged, 4);
}

static void a_kernel_that_stands_without_a_cause_is_looked_at_again(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){STANDS}, .sight_count = 1, .end_ns = 60 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 41);
    assert_false(watch.hang);
    assert_int_equal(line_count(world.said), 3);
    assert_non_null(strstr(world.said, "nothing has moved for 10.0 s; not known to be a hang"));
}

/* The kernel may wait for a copy that would then wait for the kernel. */
static void work_that_the_host_may_feed_is_not_looked_at(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){HANGS}, .sight_count = 1, .look_spares_fed = true, .end_ns = 60 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    assert_int_equal(world.look_count, 0);
    assert_int_equal(watch.not_looked, WSDBG_SPARED_FED);
    assert_int_equal(line_count(world.said), 1);
    assert_non_null(strstr(world.said, "no thread of the program waits for it: not looked at"));
}

static void it_is_looked_at_when_the_host_has_waited_for_half_of_the_stall(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){HANGS},
                          .sight_count = 1,
                          .look_spares_fed = true,
                          .waits_ns = 15 * S,
                          .end_ns = 60 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 29); /* unfinished since 1 s */
    assert_true(watch.hang);
}

/* One thread waits, another one used the driver and rests from 30 s on. */
static void it_is_not_looked_at_while_another_thread_may_feed_it(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){HANGS},
                          .sight_count = 1,
                          .look_spares_fed = true,
                          .waits_ns = 1 * S,
                          .goes_on_until_ns = 30 * S,
                          .end_ns = 60 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 30);
    assert_true(watch.hang);
    assert_non_null(strstr(world.said, "for 10.0 s and beside the thread that waits for it another one that uses it "
                                       "goes on: not looked at"));
}

static void what_is_in_the_way_of_a_look_is_said(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){SHUT}, .sight_count = 1, .end_ns = 15 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11);
    assert_int_equal(watch.not_looked, WSDBG_COULD_NOT_LOOK);
    assert_non_null(strstr(world.said, "MPS is in the way\n"));
    assert_non_null(strstr(world.said, "the GPU has not done its work for 10.0 s; no look at it succeeded"));
}

static void a_look_that_fails_is_said_and_tried_again(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){FAILS, MOVES}, .sight_count = 2, .end_ns = 25 * S};
    run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21);
    assert_non_null(strstr(world.said, "the look at it failed: the inspector died"));
    assert_non_null(strstr(world.said, "it moves"));
}

static void a_hang_is_reported_with_the_threshold_of_kernels_without_probes(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){MOVES, HANGS}, .sight_count = 2, .end_ns = 100 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 31);
    assert_true(watch.hang);
    assert_string_equal(watch.cause, "ARRIVE_MISSING");
    assert_int_equal(watch.stalled_ns / S, 21); /* ten seconds after the last movement */
    assert_non_null(strstr(world.said, "hang: ARRIVE_MISSING (proven)"));
    assert_non_null(strstr(world.said, "after the 10.0 s threshold; nothing happens to it"));
}

/* Nobody looks at it, and nothing is judged, before it could go on for as long as a stall lasts: it could not from 1 s
 * on, when its work began. */
static void a_program_that_a_debugger_holds_is_not_judged(void **state)
{
    (void)state;
    struct world world = {
        .sights = (enum sight[]){HANGS}, .sight_count = 1, .held_until_ns = 30 * S, .end_ns = 100 * S};
    world.held = hold_a_process();
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    kill(world.held, SIGKILL);
    waitpid(world.held, NULL, 0);
    ASSERT_LOOKS(&world, 39); /* the last tick that found it stopped came before 30 s */
    assert_true(watch.hang);
}

/* Each tick finds it stopped, and each time it is another stop. */
static void a_program_that_a_debugger_follows_is_judged(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){HANGS}, .sight_count = 1, .is_followed = true, .end_ns = 60 * S};
    world.held = stop_a_process();
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    kill(world.held, SIGKILL);
    waitpid(world.held, NULL, 0);
    ASSERT_LOOKS(&world, 11);
    assert_true(watch.hang);
}

/* Three seconds in four it is stopped. */
static void a_program_that_is_held_now_and_then_is_judged_by_the_time_it_had(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){HANGS}, .sight_count = 1, .is_held_often = true, .end_ns = 100 * S};
    world.held = stop_a_process();
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    kill(world.held, SIGKILL);
    waitpid(world.held, NULL, 0);
    assert_int_equal(world.look_count, 1);
    assert_in_range(world.looks[0], 36, 41);
    assert_true(watch.hang);
}

/* Beside a grid that stands one may move: what its warps wait for at that moment is no hang. */
static void a_grid_that_moves_is_not_judged(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis stands, moves;
    assert_null(look_at_recorded_hang(&snapshot));
    assert_null(wsdbg_diagnose(&snapshot, &stands));
    for (size_t i = 0; i < snapshot.grid_count; i++)
        snapshot.grids[i].moves = true;
    assert_null(wsdbg_diagnose(&snapshot, &moves));
    assert_true(stands.hang);
    assert_false(moves.hang);
    assert_int_equal(moves.finding_count, 0);
    wsdbg_diagnosis_deinit(&stands);
    wsdbg_diagnosis_deinit(&moves);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The pictures that are asked for are shown and stored; they say nothing, and judge nothing. */
static void who_looks_on_gets_new_pictures(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){SHUT, MOVES},
                          .sight_count = 2,
                          .every_ns = S,
                          .wanted_ns = 2 * S,
                          .end_ns = 4 * S + S / 2};
    run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 2, 3, 4);
    assert_int_equal(world.pictures, 2);
    assert_int_equal(world.judged, 0);
    assert_string_equal(world.said, "the GPU cannot be looked at: MPS is in the way\n");
    struct outcome query = WSDBG("query", "x.db", "--csv", "SELECT count(*) FROM look");
    assert_string_equal(query.out, "count(*)\r\n1\r\n");
    outcome_free(&query);
}

static void a_look_that_is_asked_for_shows_where_warps_stand_and_judges_nothing(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){STANDS}, .sight_count = 1, .asked_ns = 4 * S, .end_ns = 6 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 4);
    assert_false(watch.hang);
    assert_string_equal(world.said, "where every warp stands now; no verdict\n");
    assert_int_equal(world.judged, 0);
}

#define HIDDEN_WORDS "stream captures have kept wsdbg from seeing for 10.0 s whether the GPU does its work"

static void what_captures_hide_is_a_hang_when_two_looks_see_it(void **state)
{
    (void)state;
    struct world world = {.hidden = true, .sights = (enum sight[]){HANGS}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21);
    assert_true(watch.hang);
    assert_non_null(strstr(world.said, HIDDEN_WORDS "; it looks at the GPU itself"));
    assert_non_null(strstr(world.said, "hang: ARRIVE_MISSING (proven)"));
}

static void a_slow_kernel_that_captures_hide_is_not_blamed(void **state)
{
    (void)state;
    struct world world = {.hidden = true, .sights = (enum sight[]){MOVES}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 41, 81);
    assert_false(watch.hang || watch.not_looked);
    assert_int_equal(line_count(world.said), 2);
    assert_non_null(strstr(world.said, "the GPU has been at its work for 10.0 s; it moves"));
}

/* Each look sees another grid: they get done. */
static void grids_that_come_and_go_behind_captures_are_not_judged(void **state)
{
    (void)state;
    struct world world = {.hidden = true, .sights = (enum sight[]){NEXT}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 41, 81);
    assert_false(watch.hang);
    assert_int_equal(line_count(world.said), 1);
    assert_int_equal(world.judged, 0);
}

/* Another context's work takes long, or is hidden; what has slots goes on. */
static void slots_that_change_beside_a_look_are_not_judged(void **state)
{
    (void)state;
    for (int hidden = 0; hidden < 2; hidden++) {
        struct world world = {.hidden = hidden, .sights = (enum sight[]){BUSY}, .sight_count = 1, .end_ns = 100 * S};
        const struct wsdbg_watch watch = run(&world, LOOK_NS);
        ASSERT_LOOKS(&world, 11, 21, 41, 81);
        assert_false(watch.hang);
        assert_null(strstr(world.said, "hang: "));
        unlink("x.db");
    }
}

static void what_captures_hide_is_not_worth_a_look_that_ends_work(void **state)
{
    (void)state;
    struct world world = {
        .hidden = true, .look_ends_work = true, .sights = (enum sight[]){HANGS}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = run(&world, LOOK_NS);
    assert_int_equal(world.look_count, 0);
    assert_int_equal(watch.not_looked, WSDBG_SPARED_WORK);
    assert_string_equal(world.said, HIDDEN_WORDS "; a hang would not be noticed meanwhile\n");
}

static void a_look_that_is_asked_for_during_a_capture_is_had(void **state)
{
    (void)state;
    struct world world = {
        .hidden = true, .sights = (enum sight[]){STANDS}, .sight_count = 1, .asked_ns = 4 * S, .end_ns = 6 * S};
    run(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 4);
    assert_string_equal(world.said, "where every warp stands now; no verdict\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(work_that_gets_done_is_not_looked_at),
        TEST(evidence_that_cannot_look_is_not_asked_to),
        TEST(a_slow_kernel_is_looked_at_ever_more_rarely),
        TEST(a_kernel_that_stands_without_a_cause_is_looked_at_again),
        TEST(work_that_the_host_may_feed_is_not_looked_at),
        TEST(it_is_looked_at_when_the_host_has_waited_for_half_of_the_stall),
        TEST(it_is_not_looked_at_while_another_thread_may_feed_it),
        TEST(what_is_in_the_way_of_a_look_is_said),
        TEST(a_look_that_fails_is_said_and_tried_again),
        TEST(a_hang_is_reported_with_the_threshold_of_kernels_without_probes),
        TEST(a_program_that_a_debugger_holds_is_not_judged),
        TEST(a_program_that_a_debugger_follows_is_judged),
        TEST(a_program_that_is_held_now_and_then_is_judged_by_the_time_it_had),
        TEST(a_grid_that_moves_is_not_judged),
        TEST(what_captures_hide_is_a_hang_when_two_looks_see_it),
        TEST(a_slow_kernel_that_captures_hide_is_not_blamed),
        TEST(grids_that_come_and_go_behind_captures_are_not_judged),
        TEST(slots_that_change_beside_a_look_are_not_judged),
        TEST(what_captures_hide_is_not_worth_a_look_that_ends_work),
        TEST(a_look_that_is_asked_for_during_a_capture_is_had),
        TEST(who_looks_on_gets_new_pictures),
        TEST(a_look_that_is_asked_for_shows_where_warps_stand_and_judges_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
