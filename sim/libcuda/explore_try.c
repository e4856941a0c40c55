/* explore_try.c - one schedule of a launch: a forked child runs it to its end and sends what came of it.
 *
 * The child has host and device memory of its own, touches nothing else that its parent has, and its one thread ends
 * with _exit.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hopper/state.h"
#include "libcuda/explore.h"
#include "libcuda/queue.h"
#include "libcuda/races.h"

/* Of the usual schedule; others may take so many times what that took. */
#define USUAL_INSTRUCTIONS_MOST (1ull << 30)
enum { BUDGET_TIMES = 20, BUDGET_LEAST = 1 << 20 };
/* Of a mix: one pair of so many is random, the others go by priority, with 1 to `depth` change points. */
enum { MIX_OF = 2 };

bool explore_is_bad(enum wsdbg_gpu_outcome outcome)
{
    return outcome == WSDBG_GPU_DEADLOCK || outcome == WSDBG_GPU_STALLED || outcome == WSDBG_GPU_FAULT;
}

struct wsdbg_schedule_options explore_schedule(const struct explore_launch *launch, uint64_t seed)
{
    const struct explore_options *options = launch->options;
    const bool mixes = options->kind == EXPLORE_MIX;
    const bool by_priority = options->kind == EXPLORE_PRIORITY || (mixes && seed / 2 % MIX_OF != 0);
    const uint64_t depth = mixes && options->depth ? 1 + seed / (2 * MIX_OF) % options->depth : options->depth;
    return (struct wsdbg_schedule_options){.kind = by_priority ? WSDBG_SCHEDULE_PRIORITY : WSDBG_SCHEDULE_RANDOM,
                                           .seed = seed,
                                           .change_points = (uint32_t)depth,
                                           .length = launch->usual_instructions,
                                           .usual_engines = seed % 2 == 0};
}

/* ---- in the child ---- */

static bool send_all(int pipe, const void *bytes, size_t count)
{
    for (const char *at = bytes; count;) {
        const ssize_t sent = write(pipe, at, count);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        count -= (size_t)sent;
    }
    return true;
}

/* Of the parts of one warp: lanes that wait for others of their warp say least, and those in a barrier of the CTA may
 * be there for them. */
static int says_more(uint32_t wait)
{
    return wait == WSDBG_GPU_WAITS_LANES ? 0 : wait == WSDBG_GPU_WAITS_NAMED ? 1 : wait == WSDBG_GPU_SPINS ? 3 : 2;
}

static void count_wait(void *data, const struct wsdbg_gpu_warp *warp)
{
    struct explore_record *record = data;
    if (!warp->live)
        return;
    const struct wsdbg_gpu_part *part = &warp->parts[0];
    for (uint32_t i = 1; i < warp->part_count; i++)
        if (says_more(warp->parts[i].wait) > says_more(part->wait))
            part = &warp->parts[i];
    for (uint32_t i = 0; i < record->wait_count; i++)
        if (record->waits[i].kind == part->wait && record->waits[i].instruction == part->instruction) {
            record->waits[i].warps++;
            return;
        }
    if (record->wait_count < EXPLORE_WAITS)
        record->waits[record->wait_count++] = (struct explore_wait){part->wait, part->instruction, 1};
}

static int compare_waits(const void *a, const void *b)
{
    const struct explore_wait *left = a, *right = b;
    return left->warps != right->warps
               ? (left->warps < right->warps ? 1 : -1)
               : (left->instruction > right->instruction) - (left->instruction < right->instruction);
}

static void fill_record(struct wsdbg_gpu *gpu, const struct wsdbg_grid_run *run, uint64_t before,
                        struct explore_record *record)
{
    static const struct wsdbg_gpu_visitor visitor = {.warp = count_wait};
    const struct wsdbg_gpu_fault *fault = wsdbg_gpu_fault(run);
    const struct wsdbg_gpu_report *reports;
    size_t count;
    record->instructions = wsdbg_gpu_instructions(gpu) - before;
    wsdbg_gpu_decisions(gpu, &count);
    record->decisions = count;
    if (fault) {
        memcpy(record->fault, fault->text, sizeof record->fault);
        record->driver_error = fault->driver_error;
    } else if (explore_is_bad(record->outcome))
        wsdbg_gpu_walk(gpu, &visitor, record);
    qsort(record->waits, record->wait_count, sizeof record->waits[0], compare_waits);
    count = wsdbg_gpu_reports(gpu, &reports);
    for (size_t i = 0; i < count && record->report_count < EXPLORE_REPORTS; i++)
        if (reports[i].grid_id == wsdbg_gpu_grid_id(run))
            record->reports[record->report_count++] = reports[i];
}

static bool run(const struct explore_launch *launch, const struct wsdbg_schedule_options *schedule,
                struct explore_record *record)
{
    struct wsdbg_gpu *gpu = launch->gpu;
    struct wsdbg_grid_run *grid;
    const uint64_t before = wsdbg_gpu_instructions(gpu);
    const uint64_t most =
        launch->usual_instructions ? BUDGET_TIMES * launch->usual_instructions + BUDGET_LEAST : USUAL_INSTRUCTIONS_MOST;
    int driver_error;
    wsdbg_gpu_mute(gpu);
    struct wsdbg_error *error = wsdbg_gpu_set_schedule(gpu, schedule);
    if (!error)
        error = wsdbg_gpu_submit(gpu, launch->launch, &driver_error, &grid);
    if (error)
        return false;
    do /* in the slices that the device's thread takes: where they end is part of a schedule */
        record->outcome = wsdbg_gpu_run(gpu, DEVICE_SLICE_INSTRUCTIONS);
    while (record->outcome == WSDBG_GPU_BUDGET && wsdbg_gpu_instructions(gpu) - before < most);
    size_t told = 0;
    races_tell(gpu, &told);
    fill_record(gpu, grid, before, record);
    if (launch->results && record->outcome == WSDBG_GPU_IDLE) {
        if (launch->usual_instructions)
            explore_results_compare(launch->results, &record->difference);
        else
            explore_results_keep(launch->results);
    }
    return true;
}

static void child_main(const struct explore_launch *launch, const struct wsdbg_schedule_options *schedule, int pipe)
{
    struct explore_record record;
    memset(&record, 0, sizeof record);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!run(launch, schedule, &record))
        _exit(1);
    size_t count = 0, engine_count = 0;
    const struct wsdbg_schedule_switch *turns = wsdbg_gpu_switches(launch->gpu, &count);
    const uint32_t *engine = wsdbg_gpu_engine_decisions(launch->gpu, &engine_count);
    record.turns = schedule->keeps_switches ? count : 0;
    record.engine_decisions = schedule->keeps_switches ? engine_count : 0;
    bool is_sent = send_all(pipe, &record, sizeof record);
    if (is_sent && record.turns)
        is_sent = send_all(pipe, turns, count * sizeof *turns);
    if (is_sent && record.engine_decisions)
        is_sent = send_all(pipe, engine, engine_count * sizeof *engine);
    _exit(!is_sent);
}

/* ---- in the explorer ---- */

bool explore_start(const struct explore_launch *launch, const struct wsdbg_schedule_options *schedule,
                   struct explore_child *out)
{
    int ends[2];
    *out = (struct explore_child){.pipe = -1};
    if (pipe(ends) != 0)
        return false;
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child_main(launch, schedule, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    *out = (struct explore_child){pid, ends[0]};
    return true;
}

static bool take_all(int pipe, void *bytes, size_t count)
{
    for (char *at = bytes; count;) {
        const ssize_t taken = read(pipe, at, count);
        if (taken < 0 && errno == EINTR)
            continue;
        if (taken <= 0)
            return false;
        at += taken;
        count -= (size_t)taken;
    }
    return true;
}

static void end_child(struct explore_child *child)
{
    close(child->pipe);
    child->pipe = -1;
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

void explore_drop(struct explore_child *child)
{
    kill(child->pid, SIGKILL);
    end_child(child);
}

bool explore_must_end(const struct explore_launch *launch)
{
    struct pollfd end = {.fd = launch->end_asked, .events = POLLIN};
    return poll(&end, 1, 0) > 0;
}

void explore_wait(const struct explore_launch *launch, struct pollfd *pipes, nfds_t count, uint64_t most_ns)
{
    const struct timespec most = {.tv_sec = (time_t)(most_ns / 1000000000), .tv_nsec = (long)(most_ns % 1000000000)};
    pipes[count] = (struct pollfd){.fd = launch->end_asked, .events = POLLIN};
    if (ppoll(pipes, count + 1, &most, NULL) <= 0)
        for (nfds_t i = 0; i < count; i++)
            pipes[i].revents = 0;
}

bool explore_take(struct explore_child *child, struct explore_record *out)
{
    const bool is_taken = take_all(child->pipe, out, sizeof *out);
    end_child(child);
    return is_taken;
}

bool explore_try(struct explore_launch *launch, const struct wsdbg_schedule_options *schedule, uint64_t until_ns,
                 struct explore_record *out)
{
    struct explore_child child;
    struct pollfd pipes[2] = {{0}};
    const uint64_t begin_ns = explore_now_ns();
    if (!explore_start(launch, schedule, &child))
        return false;
    while (!pipes[0].revents) {
        pipes[0] = (struct pollfd){.fd = child.pipe, .events = POLLIN};
        explore_wait(launch, pipes, 1, EXPLORE_TICK_NS);
        const uint64_t now_ns = explore_now_ns();
        if (!pipes[0].revents && (explore_must_end(launch) || (until_ns && now_ns >= until_ns))) {
            explore_drop(&child);
            return false;
        }
        if (!launch->usual_instructions)
            explore_say_progress(launch, "usual %llu\n", (unsigned long long)(now_ns - begin_ns));
    }
    return explore_take(&child, out);
}

bool explore_record_turns(const struct explore_launch *launch, const struct wsdbg_schedule_options *schedule,
                          struct explore_record *record, struct explore_turns *out)
{
    struct wsdbg_schedule_options keeps = *schedule;
    struct explore_child child;
    keeps.keeps_switches = true;
    *out = (struct explore_turns){0};
    if (!explore_start(launch, &keeps, &child))
        return false;
    bool is_taken = take_all(child.pipe, record, sizeof *record);
    if (is_taken) {
        out->count = record->turns;
        out->engine_count = record->engine_decisions;
        out->rows = calloc(out->count + 1, sizeof *out->rows);
        out->engine = calloc(out->engine_count + 1, sizeof *out->engine);
    }
    is_taken = is_taken && out->rows && out->engine &&
               take_all(child.pipe, out->rows, out->count * sizeof *out->rows) &&
               take_all(child.pipe, out->engine, out->engine_count * sizeof *out->engine);
    end_child(&child);
    return is_taken;
}

void explore_turns_free(struct explore_turns *turns)
{
    free(turns->rows);
    free(turns->engine);
}
