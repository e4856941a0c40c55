/* explore_schedules.c - the explorer: tries schedules of a launch, some at a time, stops at the first hang, and reduces
 * it.
 *
 * Runs in a process of its own, from the moment before the launch.  Schedule 0 is the usual one, which also tells how
 * long the launch is; the others are numbered by their seeds.  Which schedule is the first to hang does not depend on
 * how many are tried at a time.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcuda/explore.h"

/* Most to spend on reducing one schedule. */
#define REDUCE_NS 20000000000ull
enum { JOBS_MOST = 256, REPORTS_MOST = 64 };

struct job {
    struct explore_child child;
    uint64_t seed;
};

struct search {
    struct explore_launch *launch;
    uint64_t begin_ns, tried, decisions, hangs, faults, unended;
    uint64_t next_seed, end_seed; /* still to be tried */
    struct job jobs[JOBS_MOST];
    bool has_found;
    uint64_t found_seed;
    struct explore_record found;
    size_t report_count;
    struct {
        struct wsdbg_gpu_report report;
        uint64_t schedules, seed; /* the lowest */
        bool is_usual;
    } reports[REPORTS_MOST];
};

static const char *outcome_word(enum wsdbg_gpu_outcome outcome)
{
    return outcome == WSDBG_GPU_FAULT ? "fault" : outcome == WSDBG_GPU_STALLED ? "stalled" : "deadlock";
}

/* Which one of those that are tried it is, from 1; the usual one is the first. */
static uint64_t place_of(const struct search *search, uint64_t seed)
{
    const struct explore_options *options = search->launch->options;
    return options->replays ? 1 : seed - options->seed + 2;
}

static void say_found(const struct search *search, const char *seed, uint64_t place,
                      const struct explore_record *record)
{
    explore_say(search->launch->log, "found %s %s %llu %llu %llu %llu\n", seed, outcome_word(record->outcome),
                (unsigned long long)place, (unsigned long long)record->decisions,
                (unsigned long long)record->instructions, (unsigned long long)(explore_now_ns() - search->begin_ns));
    explore_say_waits(search->launch, record);
}

/* ---- what schedules came to ---- */

static void note_report(struct search *search, const struct wsdbg_gpu_report *report, bool is_usual, uint64_t seed)
{
    for (size_t i = 0; i < search->report_count; i++) {
        const struct wsdbg_gpu_report *known = &search->reports[i].report;
        if (known->kind == report->kind && known->instruction == report->instruction &&
            known->offset == report->offset) {
            search->reports[i].schedules++;
            if (seed < search->reports[i].seed)
                search->reports[i].seed = seed;
            return;
        }
    }
    if (search->report_count == REPORTS_MOST)
        return;
    search->reports[search->report_count].report = *report;
    search->reports[search->report_count].is_usual = is_usual;
    search->reports[search->report_count].seed = seed;
    search->reports[search->report_count++].schedules = 1;
}

/* Counts a schedule; true when it hangs or faults. */
static bool note(struct search *search, const struct explore_record *record, bool is_usual, uint64_t seed)
{
    search->tried++;
    search->decisions += record->decisions;
    search->hangs += explore_is_hang(record->outcome);
    search->faults += record->outcome == WSDBG_GPU_FAULT;
    search->unended += record->outcome == WSDBG_GPU_BUDGET;
    for (uint32_t i = 0; i < record->report_count; i++)
        note_report(search, &record->reports[i], is_usual, seed);
    return explore_is_hang(record->outcome) || record->outcome == WSDBG_GPU_FAULT;
}

static void finish_job(struct search *search, struct job *job)
{
    struct explore_record record;
    if (!explore_take(&job->child, &record) || !note(search, &record, false, job->seed))
        return;
    char seed[EXPLORE_SEED_BYTES];
    explore_seed_word(false, job->seed, seed);
    if (search->launch->options->all)
        say_found(search, seed, place_of(search, job->seed), &record);
    if (search->has_found && search->found_seed < job->seed)
        return;
    search->has_found = true;
    search->found_seed = job->seed;
    search->found = record;
}

/* ---- the search ---- */

static bool may_start(const struct search *search)
{
    const struct explore_options *options = search->launch->options;
    if (search->next_seed == search->end_seed || (search->has_found && !options->all))
        return false;
    return !options->limit_ns || explore_now_ns() - search->begin_ns < options->limit_ns;
}

static bool start_jobs(struct search *search)
{
    bool any = false;
    for (uint64_t i = 0; i < search->launch->options->jobs; i++) {
        struct job *job = &search->jobs[i];
        if (job->child.pipe < 0 && may_start(search)) {
            const struct wsdbg_schedule_options schedule = explore_schedule(search->launch, search->next_seed);
            job->seed = search->next_seed;
            if (!explore_start(search->launch, &schedule, &job->child))
                break;
            search->next_seed++;
        }
        any |= job->child.pipe >= 0;
    }
    return any;
}

/* Waits for any of the jobs, takes those that are done. */
static void take_jobs(struct search *search)
{
    struct pollfd pipes[JOBS_MOST];
    const nfds_t count = (nfds_t)search->launch->options->jobs;
    for (nfds_t i = 0; i < count; i++)
        pipes[i] = (struct pollfd){.fd = search->jobs[i].child.pipe, .events = POLLIN};
    if (poll(pipes, count, -1) < 0)
        return;
    for (nfds_t i = 0; i < count; i++)
        if (pipes[i].revents)
            finish_job(search, &search->jobs[i]);
}

static size_t unusual(const struct explore_turns *turns)
{
    size_t count = 0;
    for (size_t i = 0; i < turns->engine_count; i++)
        count += turns->engine[i] != 0;
    return count;
}

static void reduce(struct search *search, const struct wsdbg_schedule_options *schedule)
{
    struct explore_launch *launch = search->launch;
    struct explore_record record;
    struct explore_turns turns;
    const uint64_t begin_ns = explore_now_ns();
    if (explore_record_turns(launch, schedule, &record, &turns)) {
        const size_t had = turns.count;
        if (explore_reduce(launch, &turns, begin_ns + REDUCE_NS)) {
            explore_say(launch->log, "turns %zu %zu %zu %.2f\n", turns.count, had, unusual(&turns),
                        (double)(explore_now_ns() - begin_ns) / 1e9);
            explore_say_turns(launch, &turns);
        }
    }
    explore_turns_free(&turns);
}

/* The schedule that the launch would have had anyway.  False: no use in trying others. */
static bool try_usual(struct search *search, struct explore_choice *choice)
{
    const struct wsdbg_schedule_options *schedule = &driver.gpu_options.schedule;
    struct explore_record record;
    if (!explore_try(search->launch, schedule, &record))
        return false;
    search->launch->usual_instructions = record.instructions;
    if (search->launch->options->replays)
        return true;
    const bool is_found = note(search, &record, true, 0);
    if (is_found) {
        say_found(search, "usual", 1, &record);
        *choice = (struct explore_choice){true, explore_is_hang(record.outcome), *schedule};
        if (choice->hangs)
            reduce(search, schedule);
    }
    return record.outcome == WSDBG_GPU_IDLE || (is_found && search->launch->options->all);
}

static void try_seeds(struct search *search, struct explore_choice *choice)
{
    const struct explore_options *options = search->launch->options;
    search->next_seed = options->seed;
    search->end_seed = options->replays                                      ? options->seed + 1
                       : options->schedules - 1 > UINT64_MAX - options->seed ? UINT64_MAX
                                                                             : options->seed + options->schedules - 1;
    while (start_jobs(search))
        take_jobs(search);
    if (choice->has_schedule || (!search->has_found && !options->replays))
        return;
    const uint64_t seed = search->has_found ? search->found_seed : options->seed;
    const struct wsdbg_schedule_options schedule = explore_schedule(search->launch, seed);
    *choice = (struct explore_choice){true, search->has_found && explore_is_hang(search->found.outcome), schedule};
    if (!search->has_found)
        return;
    char name[EXPLORE_SEED_BYTES];
    explore_seed_word(false, seed, name);
    /* Those that were tried beside it do not count. */
    if (!options->all)
        search->tried = place_of(search, seed);
    if (options->all)
        explore_say(search->launch->log, "again %s\n", name);
    else
        say_found(search, name, search->tried, &search->found);
    if (choice->hangs)
        reduce(search, &schedule);
}

static void say_end(const struct search *search)
{
    for (size_t i = 0; i < search->report_count; i++) {
        char seed[EXPLORE_SEED_BYTES];
        explore_seed_word(search->reports[i].is_usual, search->reports[i].seed, seed);
        explore_say_report(search->launch, &search->reports[i].report, search->reports[i].schedules, seed);
    }
    explore_say(search->launch->log, "end %llu %llu %llu %llu %llu %llu\n", (unsigned long long)search->tried,
                (unsigned long long)search->decisions, (unsigned long long)(explore_now_ns() - search->begin_ns),
                (unsigned long long)search->hangs, (unsigned long long)search->faults,
                (unsigned long long)search->unended);
}

struct explore_choice explore_schedules(struct explore_launch *launch)
{
    struct explore_choice choice = {0};
    struct search *search = calloc(1, sizeof *search);
    if (!search)
        return choice;
    search->launch = launch;
    search->begin_ns = explore_now_ns();
    for (size_t i = 0; i < JOBS_MOST; i++)
        search->jobs[i].child.pipe = -1;
    explore_say(launch->log, "launch %llu %llu %s\n", (unsigned long long)launch->number,
                (unsigned long long)launch->options->schedules, launch->launch->function->name);
    if (try_usual(search, &choice))
        try_seeds(search, &choice);
    say_end(search);
    if (choice.has_schedule)
        explore_say(launch->log, "runs\n");
    free(search);
    return choice;
}
