/* explore_schedules.c - the explorer: tries schedules of a launch, some at a time, stops at the first that is bad, and
 * reduces it.
 *
 * Runs in a process of its own, from the moment before the launch.  The first schedule is the usual one, which also
 * tells how long the launch is; the others are numbered by their seeds.  What they came to is taken in the order of
 * their numbers, so that nothing that is told depends on how many are tried at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcuda/explore.h"
#include "wsdbg/session.h"

/* Most to spend on reducing one schedule. */
#define REDUCE_NS 20000000000ull
/* AHEAD: schedules may be done so many times the jobs before the first that still runs. */
enum { AHEAD = 4, REPORTS_MOST = 64 };

enum slot_state { SLOT_FREE, SLOT_RUNS, SLOT_DONE, SLOT_DIED };
struct slot {
    enum slot_state state;
    struct explore_child child;
    struct explore_record record;
};

struct search {
    struct explore_launch *launch;
    const char *why; /* it ended: a word of the log; NULL = not yet */
    uint64_t begin_ns, tried, decisions, hangs, stalls, faults, unended, died;
    uint64_t oldest_seed, next_seed,
        end_seed;       /* [oldest, next) run, or wait for a lower one; [next, end) are to come */
    struct slot *slots; /* of a seed: its number modulo slot_count */
    uint64_t slot_count, running;
    struct {
        bool any, is_usual;
        uint64_t seed;
        struct explore_record record;
    } found; /* first */
    struct {
        uint64_t schedules, seed; /* the lowest */
        struct explore_difference difference;
    } differs;
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

static void say_found(const struct search *search, const char *seed, const struct explore_record *record)
{
    explore_say(search->launch->log, "found %s %s %llu %llu %llu %llu\n", seed, outcome_word(record->outcome),
                (unsigned long long)search->tried, (unsigned long long)record->decisions,
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

static void keep_found(struct search *search, const struct explore_record *record, bool is_usual, uint64_t seed)
{
    char name[EXPLORE_SEED_BYTES];
    explore_seed_word(is_usual, seed, name);
    say_found(search, name, record);
    /* What waits for the host, or for another launch, as usual does so under every schedule, and may be meant. */
    if (is_usual && record->outcome == WSDBG_GPU_STALLED) {
        search->why = "host";
        return;
    }
    if (!search->found.any) {
        search->found.any = true;
        search->found.is_usual = is_usual;
        search->found.seed = seed;
        search->found.record = *record;
    }
    if (!search->launch->options->all)
        search->why = "found";
}

static void note(struct search *search, const struct explore_record *record, bool is_usual, uint64_t seed)
{
    search->tried++;
    search->decisions += record->decisions;
    search->hangs += record->outcome == WSDBG_GPU_DEADLOCK;
    search->stalls += record->outcome == WSDBG_GPU_STALLED;
    search->faults += record->outcome == WSDBG_GPU_FAULT;
    search->unended += record->outcome == WSDBG_GPU_BUDGET;
    for (uint32_t i = 0; i < record->report_count; i++)
        note_report(search, &record->reports[i], is_usual, seed);
    if (record->difference.is_there && !search->differs.schedules++) {
        search->differs.seed = seed;
        search->differs.difference = record->difference;
    }
    if (explore_is_bad(record->outcome))
        keep_found(search, record, is_usual, seed);
}

/* ---- the search ---- */

static struct slot *slot_of(const struct search *search, uint64_t seed)
{
    return &search->slots[seed % search->slot_count];
}

static uint64_t left_ns(const struct search *search)
{
    const uint64_t limit_ns = search->launch->options->limit_ns, spent_ns = explore_now_ns() - search->begin_ns;
    return !limit_ns ? UINT64_MAX : spent_ns < limit_ns ? limit_ns - spent_ns : 0;
}

static void start_jobs(struct search *search)
{
    while (search->running < search->launch->options->jobs && search->next_seed != search->end_seed &&
           search->next_seed - search->oldest_seed < search->slot_count) {
        struct slot *slot = slot_of(search, search->next_seed);
        const struct wsdbg_schedule_options schedule = explore_schedule(search->launch, search->next_seed);
        if (!explore_start(search->launch, &schedule, &slot->child))
            break;
        slot->state = SLOT_RUNS;
        search->running++;
        search->next_seed++;
    }
    if (!search->running && search->oldest_seed != search->end_seed)
        search->why = "processes";
}

static void finish_job(struct search *search, struct slot *slot)
{
    slot->state = explore_take(&slot->child, &slot->record) ? SLOT_DONE : SLOT_DIED;
    search->running--;
}

/* Waits for any of the jobs, for a moment; takes those that are done. */
static void take_jobs(struct search *search)
{
    struct pollfd pipes[WSDBG_EXPLORE_JOBS_MAX + 1];
    struct slot *slots[WSDBG_EXPLORE_JOBS_MAX];
    nfds_t count = 0;
    for (uint64_t seed = search->oldest_seed; seed != search->next_seed; seed++)
        if (slot_of(search, seed)->state == SLOT_RUNS) {
            slots[count] = slot_of(search, seed);
            pipes[count] = (struct pollfd){.fd = slots[count]->child.pipe, .events = POLLIN};
            count++;
        }
    const uint64_t most_ns = left_ns(search) < EXPLORE_TICK_NS ? left_ns(search) : EXPLORE_TICK_NS;
    explore_wait(search->launch, pipes, count, most_ns);
    for (nfds_t i = 0; i < count; i++)
        if (pipes[i].revents)
            finish_job(search, slots[i]);
}

static void note_done(struct search *search)
{
    for (; search->oldest_seed != search->next_seed && !search->why; search->oldest_seed++) {
        struct slot *slot = slot_of(search, search->oldest_seed);
        if (slot->state == SLOT_RUNS)
            break;
        if (slot->state == SLOT_DONE)
            note(search, &slot->record, false, search->oldest_seed);
        else
            search->died++;
        slot->state = SLOT_FREE;
    }
    explore_say_progress(search->launch, "tried %llu %llu\n", (unsigned long long)search->tried,
                         (unsigned long long)(search->hangs + search->stalls + search->faults));
    if (search->why)
        return;
    if (search->oldest_seed == search->end_seed)
        search->why = "schedules";
    else if (explore_must_end(search->launch))
        search->why = "asked";
    else if (!left_ns(search))
        search->why = "time";
}

static void drop_jobs(struct search *search)
{
    for (uint64_t i = 0; i < search->slot_count; i++)
        if (search->slots[i].state == SLOT_RUNS)
            explore_drop(&search->slots[i].child);
}

static void try_seeds(struct search *search)
{
    const struct explore_options *options = search->launch->options;
    const uint64_t count = options->replays ? 1 : options->schedules - 1;
    search->oldest_seed = search->next_seed = options->seed;
    search->end_seed = count > UINT64_MAX - options->seed ? UINT64_MAX : options->seed + count;
    search->slot_count = options->jobs * AHEAD;
    search->slots = calloc(search->slot_count, sizeof *search->slots);
    if (!search->slots)
        search->why = "processes";
    note_done(search); /* there may be no time, or none to try */
    while (!search->why) {
        start_jobs(search);
        take_jobs(search);
        note_done(search);
    }
    if (search->slots)
        drop_jobs(search);
    free(search->slots);
}

/* ---- what was found ---- */

static size_t unusual(const struct explore_turns *turns)
{
    size_t count = 0;
    for (size_t i = 0; i < turns->engine_count; i++)
        count += turns->engine[i] != 0;
    return count;
}

/* How far warps run under it is seen in one more run. */
static void tell(const struct explore_launch *launch, const struct explore_turns *turns)
{
    const struct wsdbg_schedule_options schedule = {.kind = WSDBG_SCHEDULE_SWITCHES,
                                                    .switches = turns->rows,
                                                    .switch_count = turns->count,
                                                    .replay = turns->engine,
                                                    .replay_count = turns->engine_count};
    struct explore_record record;
    struct explore_turns run;
    if (explore_record_turns(launch, &schedule, &record, &run))
        explore_say_story(launch, turns, &run);
    explore_turns_free(&run);
}

static void reduce(struct search *search, const struct wsdbg_schedule_options *schedule)
{
    struct explore_launch *launch = search->launch;
    struct explore_record record;
    struct explore_turns turns;
    const uint64_t begin_ns = explore_now_ns();
    if (explore_record_turns(launch, schedule, &record, &turns)) {
        const size_t had = turns.count;
        if (explore_reduce(launch, &turns, &search->found.record, begin_ns + REDUCE_NS)) {
            explore_say(launch->log, "turns %zu %zu %zu %.2f\n", turns.count, had, unusual(&turns),
                        (double)(explore_now_ns() - begin_ns) / 1e9);
            explore_say_turns(launch, &turns);
            tell(launch, &turns);
        }
    }
    explore_turns_free(&turns);
}

/* The schedule that the launch would have had anyway. */
static void try_usual(struct search *search)
{
    const struct explore_options *options = search->launch->options;
    const uint64_t until_ns = options->limit_ns ? search->begin_ns + options->limit_ns : 0;
    struct explore_record record;
    if (!explore_try(search->launch, &driver.gpu_options.schedule, until_ns, &record)) {
        search->why = explore_must_end(search->launch) ? "asked" : left_ns(search) ? "processes" : "time";
        return;
    }
    search->launch->usual_instructions = record.instructions;
    if (options->replays)
        return;
    note(search, &record, true, 0);
    if (record.outcome == WSDBG_GPU_BUDGET)
        search->why = "usual";
    else if (record.outcome == WSDBG_GPU_IDLE && !options->compares && !options->all && !record.report_count &&
             options->launch == EXPLORE_EVERY_LAUNCH &&
             explore_all_alike(wsdbg_gpu_program(search->launch->launch->module), search->launch->launch->function))
        search->why = "alike";
}

/* How the launch is to run.  The schedule found first is reduced. */
static struct explore_choice choose(struct search *search)
{
    struct explore_launch *launch = search->launch;
    if (!search->found.any && !launch->options->replays)
        return (struct explore_choice){0};
    const uint64_t seed = search->found.any ? search->found.seed : launch->options->seed;
    const struct explore_choice choice = {true, search->found.is_usual ? driver.gpu_options.schedule
                                                                       : explore_schedule(launch, seed)};
    if (search->found.any && !explore_must_end(launch)) {
        char name[EXPLORE_SEED_BYTES];
        explore_seed_word(search->found.is_usual, seed, name);
        explore_say(launch->log, "again %s\n", name);
        reduce(search, &choice.schedule);
    }
    return choice;
}

static void say_end(const struct search *search)
{
    for (size_t i = 0; i < search->report_count; i++) {
        char seed[EXPLORE_SEED_BYTES];
        explore_seed_word(search->reports[i].is_usual, search->reports[i].seed, seed);
        explore_say_report(search->launch, &search->reports[i].report, search->reports[i].schedules, seed);
    }
    if (search->differs.schedules) {
        char seed[EXPLORE_SEED_BYTES];
        explore_seed_word(false, search->differs.seed, seed);
        explore_say_difference(search->launch, &search->differs.difference, search->differs.schedules, seed);
    }
    explore_say(search->launch->log, "end %s %llu %llu %llu %llu %llu %llu %llu %llu\n", search->why,
                (unsigned long long)search->tried, (unsigned long long)search->decisions,
                (unsigned long long)(explore_now_ns() - search->begin_ns), (unsigned long long)search->hangs,
                (unsigned long long)search->stalls, (unsigned long long)search->faults,
                (unsigned long long)search->unended, (unsigned long long)search->died);
}

struct explore_choice explore_schedules(struct explore_launch *launch)
{
    struct search *search = calloc(1, sizeof *search);
    if (!search)
        return (struct explore_choice){0};
    search->launch = launch;
    search->begin_ns = explore_now_ns();
    explore_say(launch->log, "launch %llu %llu %llu %s\n", (unsigned long long)launch->number,
                (unsigned long long)launch->options->schedules, (unsigned long long)launch->options->limit_ns,
                launch->launch->function->name);
    launch->results = launch->options->compares ? explore_results_create(launch) : NULL;
    try_usual(search);
    if (!search->why)
        try_seeds(search);
    const struct explore_choice choice = choose(search);
    say_end(search);
    if (choice.has_schedule)
        explore_say(launch->log, "runs\n");
    explore_results_destroy(launch->results);
    free(search);
    return choice;
}
