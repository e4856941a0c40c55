/* watch_world.c - see watch_world.h.  Reads: tests/recorded.  Writes: x.db; stops and ends child processes of its own.
 */
#include "cmd/watch_world.h"

#include <signal.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/processes.h"

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

pid_t hold_a_process(void)
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

pid_t stop_a_process(void)
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

void end_process(pid_t process)
{
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
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
    const bool asked = world->asked_ns && deadline_ns >= world->asked_ns,
               marked = world->marked_ns && deadline_ns >= world->marked_ns;
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
    if (marked)
        world->marked_ns = 0;
    if (deadline_ns >= world->end_ns)
        return WSDBG_WAIT_OVER;
    if (asked)
        return WSDBG_WAIT_LOOK;
    if (marked)
        return WSDBG_WAIT_MARKED;
    if (!world->every_ns || deadline_ns < world->wanted_ns)
        return WSDBG_WAIT_TICK;
    world->wanted_ns = deadline_ns + world->every_ns;
    return WSDBG_WAIT_REFRESH;
}

/* Process 1 has called a collective at 1 s, and process 2 has not. */
static void add_ranks(struct wsdbg_snapshot *out)
{
    out->processes = calloc(2, sizeof *out->processes);
    out->communicators = calloc(2, sizeof *out->communicators);
    for (uint32_t i = 0; i < 2; i++) {
        out->processes[i] = (struct wsdbg_process){.process_id = i + 1, .pid = i + 1, .rank = wsdbg_known_u32(i)};
        out->communicators[i] = (struct wsdbg_communicator){
            .process_id = i + 1,
            .context = i ? WSDBG_NONE : 0,
            .row = {.identity = 7, .rank = i, .rank_count = 2, .ready_ns = 1, .calls = !i, .collectives = !i}};
    }
    out->process_count = out->communicator_count = 2;
    out->contexts[0].process_id = 1;
    if (out->thread_count)
        out->threads[0].process_id = 1;
    out->launches = calloc(1, sizeof *out->launches);
    out->launches[0] = (struct wsdbg_launch){.process_id = 1, .function = WSDBG_NONE};
    out->collectives = calloc(1, sizeof *out->collectives);
    out->collectives[0] = (struct wsdbg_collective){.row = {.number = 1,
                                                            .time_ns = 1 * S,
                                                            .issued_ns = 1 * S,
                                                            .count = 64,
                                                            .operation = WSDBG_COLLECTIVE_ALL_REDUCE,
                                                            .peer = WSDBG_UNKNOWN32}};
    out->launch_count = out->collective_count = 1;
}

static struct wsdbg_error *poll(struct wsdbg_evidence *evidence, uint64_t time_ns, struct wsdbg_snapshot *out)
{
    const struct world *world = (struct world *)evidence;
    *out = (struct wsdbg_snapshot){.time_ns = time_ns, .source = "test", .launches_total = 1};
    out->contexts = calloc(2, sizeof *out->contexts);
    out->context_count = 1;
    out->contexts[0] = (struct wsdbg_context){
        .process_id = world->held ? (uint32_t)world->held : 0, .alive = true, .work_followed = true};
    if (world->waits_ns && time_ns >= world->waits_ns) {
        out->threads = calloc(1, sizeof *out->threads);
        out->thread_count = 1;
        out->threads[0] =
            (struct wsdbg_host_thread){.process_id = out->contexts[0].process_id,
                                       .since_ns = world->waits_ns,
                                       .host_state = time_ns >= world->goes_on_until_ns ? WSDBG_HOST_ALL_BLOCKED
                                                     : world->goes_on_as                ? *world->goes_on_as
                                                                                        : WSDBG_HOST_GOES_ON};
    }
    out->contexts[0].attended = world->attended;
    if (world->hidden) {
        out->contexts[0].work_followed = false;
        out->contexts[0].hidden_ns = wsdbg_known_u64(1 * S);
    } else if (!world->done_ns || time_ns < world->done_ns)
        out->contexts[0].unfinished_ns = wsdbg_known_u64(1 * S);
    out->contexts[0].unfinished_is_guess = world->guessed;
    if (world->other_since_ns && time_ns >= world->other_since_ns) {
        out->contexts[out->context_count++] = (struct wsdbg_context){
            .alive = true, .work_followed = true, .unfinished_ns = wsdbg_known_u64(world->other_since_ns)};
    }
    if (world->lacks_rank)
        add_ranks(out);
    return NULL;
}

/* What the one warp does. */
static void place_warp(struct wsdbg_snapshot *out, enum sight sight, uint64_t number)
{
    static const enum wsdbg_warp_state states[] = {
        [MOVES] = WSDBG_WARP_RUNNING,
        [WGMMA] = WSDBG_WARP_WAIT_WGMMA,
        [WGMMA_ELSEWHERE] = WSDBG_WARP_WAIT_WGMMA,
        [POLLS] = WSDBG_WARP_SPIN_GLOBAL,
        [POLLS_IN_TWO] = WSDBG_WARP_SPIN_GLOBAL,
        [TAKEN_PARTLY] = WSDBG_WARP_SPIN_GLOBAL,
        [BUSY] = WSDBG_WARP_UNKNOWN,
    };
    out->warps = calloc(1, sizeof *out->warps);
    out->warps[0] = (struct wsdbg_warp_row){.barrier = WSDBG_NONE, .site = 0, .part_count = 1, .state = states[sight]};
    if (sight == LOST || sight == WGMMA || sight == WGMMA_ELSEWHERE)
        out->warps[0].stands = 7;
    out->warps[0].unmoved = sight == STANDS || sight == LOST || sight == NEXT;
    out->parts = calloc(1, sizeof *out->parts);
    out->parts[0] = (struct wsdbg_part){.lanes = UINT32_MAX, .barrier = WSDBG_NONE, .site = 0, .state = states[sight]};
    out->sites = calloc(1, sizeof *out->sites);
    out->sites[0] = (struct wsdbg_site){.function = WSDBG_NONE, .inlined_at = WSDBG_NONE, .pc = 0x1000};
    if (sight == WGMMA_ELSEWHERE)
        out->sites[0].pc += 16 * number;
    snprintf(out->sites[0].instruction, sizeof out->sites[0].instruction, "%s",
             states[sight] == WSDBG_WARP_SPIN_GLOBAL ? "LDG.E.STRONG.GPU R2, [R4]" : "NOP");
    out->warp_count = out->part_count = out->site_count = 1;
}

/* Two looks at each process, apart in time. */
static void add_looks(struct wsdbg_snapshot *out, bool moved, uint32_t processes)
{
    out->look_count = 2 * processes;
    out->looks = calloc(out->look_count, sizeof *out->looks);
    for (uint32_t i = 0; i < out->look_count; i++)
        out->looks[i] = (struct wsdbg_look_row){.process_id = i / 2,
                                                .time_ns = out->time_ns + i % 2 * S / 10,
                                                .moved = i % 2 && moved,
                                                .barriers_changed = wsdbg_known_u32(0)};
}

/* A grid of one warp that a look saw. */
static void add_grid(struct wsdbg_snapshot *out, enum sight sight, uint64_t id, uint64_t number)
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
    out->grid_count = out->cta_count = 1;
    place_warp(out, sight, number);
    add_looks(out, sight == MOVES, sight == POLLS_IN_TWO ? 2 : 1);
}

static void free_grid(struct wsdbg_snapshot *out)
{
    free(out->grids);
    free(out->ctas);
    free(out->warps);
    out->grids = NULL;
    out->ctas = NULL;
    out->warps = NULL;
    out->grid_count = out->cta_count = out->warp_count = 0;
}

/* What the kernel recorded itself: one warp is outside of any wait. */
static void add_slots(struct wsdbg_snapshot *out)
{
    add_grid(out, MOVES, 1, 0);
    free(out->parts);
    free(out->looks);
    out->parts = NULL;
    out->looks = NULL;
    out->part_count = out->look_count = 0;
    out->warps[0].part_count = 0;
    out->warps[0].last.kind = WSDBG_EVENT_BEGIN;
    out->progress_ns = out->grids[0].progress_ns = out->warps[0].changed_ns = 1 * S;
}

static struct wsdbg_error *poll_slots(struct wsdbg_evidence *evidence, uint64_t time_ns, struct wsdbg_snapshot *out)
{
    const struct world *world = (struct world *)evidence;
    if (time_ns >= world->blind_from_ns && time_ns < world->blind_until_ns)
        return wsdbg_error_os(EMFILE, "open /dev/shm");
    struct wsdbg_error *error = poll(evidence, time_ns, out);
    if (((struct world *)evidence)->probed)
        add_slots(out);
    return error;
}

/* A look at the GPU beside the record. */
static struct wsdbg_error *complete(struct wsdbg_evidence *evidence, uint64_t deadline_ns, struct wsdbg_snapshot *both)
{
    struct world *world = (struct world *)evidence;
    const size_t at = world->look_count < world->sight_count ? world->look_count : world->sight_count - 1;
    assert_int_equal(deadline_ns, LOOK_NS);
    assert_true(world->look_count < sizeof world->looks / sizeof world->looks[0]);
    world->looks[world->look_count++] = both->time_ns / S;
    free_grid(both);
    free(both->sites);
    add_grid(both, world->sights[at], 1, world->look_count);
    if (world->sights[at] == MOVES)
        both->progress_ns = both->time_ns;
    return NULL;
}

struct wsdbg_error *look_at_recorded_hang(struct wsdbg_snapshot *out)
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
    if (world->probed)
        return poll_slots(evidence, time_ns, out);
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
    if (sight == TAKEN || sight == TAKEN_PARTLY) {
        out->notes = calloc(1, sizeof *out->notes);
        snprintf(out->notes[out->note_count++], sizeof *out->notes, "an inspector is attached to another program");
    }
    if (sight == TAKEN)
        return error;
    if (sight == SHUT) {
        out->notes = calloc(1, sizeof *out->notes);
        snprintf(out->notes[out->note_count++], sizeof *out->notes, "the GPU cannot be looked at: MPS is in the way");
        return error;
    }
    if (sight == NO_GRID) {
        add_looks(out, false, 1);
        return error;
    }
    add_grid(out, sight, sight == NEXT ? world->look_count : 1, world->look_count);
    out->grids[0].context = out->context_count - 1;
    if (sight == MOVES)
        out->progress_ns = time_ns;
    return error;
}

static bool was_taken(const struct wsdbg_evidence *evidence)
{
    const struct world *world = (const struct world *)evidence;
    const size_t last = world->look_count < world->sight_count ? world->look_count : world->sight_count;
    return last && (world->sights[last - 1] == TAKEN || world->sights[last - 1] == TAKEN_PARTLY);
}

static void attend(struct wsdbg_evidence *evidence, const struct wsdbg_snapshot *snapshot, uint64_t time_ns, bool over,
                   char *line, size_t size)
{
    struct world *world = (struct world *)evidence;
    assert_int_equal(snapshot->time_ns, time_ns);
    world->attend_count++;
    world->over_count += over;
    line[0] = '\0';
    if (over)
        snprintf(line, size, "%s",
                 world->over_count <= world->account_count ? world->accounts[world->over_count - 1] : "");
    else if (world->trouble_ns && time_ns >= world->trouble_ns) {
        world->trouble_ns = 0;
        snprintf(line, size, "nobody can stay");
    }
}

static void look_ahead(struct wsdbg_evidence *evidence, const struct wsdbg_snapshot *snapshot)
{
    struct world *world = (struct world *)evidence;
    assert_true(world->ahead_count < sizeof world->aheads_ns / sizeof world->aheads_ns[0]);
    world->aheads_ns[world->ahead_count++] = snapshot->time_ns;
}

static void close_nothing(struct wsdbg_evidence *evidence)
{
    (void)evidence;
}

static void looked(struct wsdbg_listener *listener, const struct wsdbg_snapshot *snapshot, bool last)
{
    (void)last;
    world_of_listener(listener)->pictures += snapshot->look_count > 0;
}

static void judged(struct wsdbg_listener *listener, const struct wsdbg_snapshot *snapshot,
                   const struct wsdbg_diagnosis *diagnosis)
{
    struct world *world = world_of_listener(listener);
    world->judged++;
    world->looks_judged = snapshot->look_count;
    world->is_hang = diagnosis->hang;
    world->cause = diagnosis->finding_count ? diagnosis->findings[0].cause : WSDBG_CAUSE_UNKNOWN;
}

static void said(struct wsdbg_listener *listener, const char *line)
{
    char *text = world_of_listener(listener)->said;
    const size_t used = strlen(text);
    snprintf(text + used, sizeof world_of_listener(listener)->said - used, "%s\n", line);
}

static void reported(struct wsdbg_listener *listener, const char *text, const char *verdict)
{
    struct world *world = world_of_listener(listener);
    snprintf(world->report, sizeof world->report, "%s", text);
    world->reports++;
    said(listener, verdict);
}

struct wsdbg_watch world_watch(struct world *world, uint64_t look_ns)
{
    static const struct wsdbg_evidence_ops ops = {.name = "test",
                                                  .poll = poll_slots,
                                                  .inspect = inspect,
                                                  .was_taken = was_taken,
                                                  .complete = complete,
                                                  .attend = attend,
                                                  .look_ahead = look_ahead,
                                                  .close = close_nothing};
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
    world->now_ns = world->came_ns ? world->came_ns : 1 * S;
    struct wsdbg_watch watch = {.listener = &world->listener,
                                .evidence = &world->evidence,
                                .clock = &world->clock,
                                .info = &info,
                                .stall_ns = 2 * S,
                                .work_stall_ns = 10 * S,
                                .give_up_ns = world->give_up_ns,
                                .stop_at_hang = true,
                                .counts_from_now = world->came_ns != 0,
                                .look_ends_work = world->look_ends_work,
                                .look_spares_later_work = world->look_spares_later_work,
                                .after_hang = "nothing happens to it",
                                .look_ns = look_ns};
    assert_null(wsdbg_store_create("x.db", &info, &watch.store));
    wsdbg_watch_run(&watch);
    wsdbg_store_close(watch.store);
    return watch;
}

void assert_looks(const struct world *world, const uint64_t *seconds, size_t count)
{
    assert_int_equal(world->look_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(world->looks[i], seconds[i]);
}
