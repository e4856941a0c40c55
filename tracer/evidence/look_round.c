/* look_round.c - see look_round.h.
 *
 * Processes with an inspector that stays come first, because that inspector may have to leave a GPU to another process.
 * An attach takes up to 2 s.  So the other processes are attached to together, and looked at together, by a thread
 * each.  Processes that share a GPU are looked at one after the other.
 */
#include "evidence/look_round.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "evidence/look_choice.h"

#define LEAST_NS 300000000ull /* a look that has less time than this is not begun */

/* A late look at one process, which a thread may take. */
struct late_look {
    struct wsdbg_live_process *process;
    uint64_t deadline_ns;
    struct wsdbg_error *error;
    pthread_t thread;
    bool has_thread;
};

struct look_round {
    struct wsdbg_live_processes *processes;
    enum wsdbg_attach_use use;
    uint64_t deadline_ns;
    struct wsdbg_snapshot *snapshot;
    struct wsdbg_live_process **looked; /* with room for one a context */
    struct late_look *begun;            /* likewise: whose attach was begun */
    size_t looked_count, begun_count;
};

/* Lists the process as looked at, or adds a note with the reason why it was not. */
static void settle(struct look_round *round, uint32_t process_id, struct wsdbg_live_process *process,
                   struct wsdbg_error *error)
{
    if (!error)
        round->looked[round->looked_count++] = process;
    else if (!process || wsdbg_live_process_is_alive(process)) /* of an ended process only its end is reported */
        wsdbg_look_add_trouble(round->snapshot, process_id, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

/* The process of a context if a look at it is wanted, at the process's first context; else 0. */
static uint32_t wanted_process(const struct look_round *round, size_t context, bool attended)
{
    const struct wsdbg_snapshot *snapshot = round->snapshot;
    const uint32_t process_id = snapshot->contexts[context].process_id;
    const bool is_wanted = snapshot->contexts[context].attended == attended &&
                           !wsdbg_look_came_before(snapshot, context) &&
                           wsdbg_look_is_wanted(snapshot, process_id, round->use, false);
    return is_wanted ? process_id : 0;
}

static bool was_begun(const struct look_round *round, uint32_t process_id)
{
    for (size_t i = 0; i < round->begun_count; i++)
        if (wsdbg_live_process_id(round->begun[i].process) == process_id)
            return true;
    return false;
}

static bool has_time(const struct look_round *round)
{
    return wsdbg_attach_clock_ns() + LEAST_NS <= round->deadline_ns;
}

/* The processes that were looked at before may have the same GPU. */
static void look_at_one(struct look_round *round, uint32_t process_id)
{
    struct wsdbg_live_process *process = NULL;
    wsdbg_live_processes_await_leave(round->processes, NULL);
    struct wsdbg_error *error = wsdbg_live_processes_ensure(round->processes, process_id, &process);
    if (!error && !has_time(round))
        error = wsdbg_error_create(WSDBG_ERROR_BUSY, "no time was left for it");
    if (!error)
        error = wsdbg_live_processes_look_at(round->processes, process, round->deadline_ns);
    settle(round, process_id, process, error);
}

static void look_at_each(struct look_round *round, bool attended)
{
    for (size_t i = 0; i < round->snapshot->context_count; i++) {
        const uint32_t process_id = wanted_process(round, i, attended);
        if (process_id && !was_begun(round, process_id))
            look_at_one(round, process_id);
    }
}

static void begin_attaches(struct look_round *round)
{
    bool may_begin = has_time(round);
    for (size_t i = 0; may_begin && i < round->snapshot->context_count; i++) {
        const uint32_t process_id = wanted_process(round, i, false);
        struct wsdbg_live_process *process = NULL;
        if (process_id) /* look_at_one() meets the same error again and reports it */
            wsdbg_error_destroy(wsdbg_live_processes_ensure(round->processes, process_id, &process));
        if (!process)
            continue;
        may_begin = wsdbg_live_process_begin(process, round->deadline_ns);
        if (wsdbg_live_process_has_begun(process))
            round->begun[round->begun_count++] =
                (struct late_look){.process = process, .deadline_ns = round->deadline_ns};
    }
}

static void *take_look(void *argument)
{
    struct late_look *look = argument;
    look->error = wsdbg_live_process_look_late(look->process, look->deadline_ns);
    return NULL;
}

/* Signals are for the threads that expect them. */
static void start_looks(struct late_look *looks, size_t count)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* of files that are cut short (base/mapping_guard.h) */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 0; i < count; i++)
        looks[i].has_thread = pthread_create(&looks[i].thread, NULL, take_look, &looks[i]) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* If no thread can be started for a look, the caller takes it. */
static void take_looks(struct late_look *looks, size_t count)
{
    if (count > 1)
        start_looks(looks + 1, count - 1);
    for (size_t i = 0; i < count; i++)
        if (!looks[i].has_thread)
            take_look(&looks[i]);
    for (size_t i = 0; i < count; i++)
        if (looks[i].has_thread)
            pthread_join(looks[i].thread, NULL);
}

/* A process whose GPU was taken stays out of `begun`, and is looked at later. */
static void look_together(struct look_round *round)
{
    size_t kept = 0;
    take_looks(round->begun, round->begun_count);
    for (size_t i = 0; i < round->begun_count; i++) {
        const struct late_look look = round->begun[i];
        if (wsdbg_live_process_is_taken(look.process, look.error)) {
            wsdbg_error_destroy(look.error);
            continue;
        }
        settle(round, wsdbg_live_process_id(look.process), look.process, look.error);
        round->begun[kept++] = look;
    }
    round->begun_count = kept;
}

struct wsdbg_error *wsdbg_look_round(struct wsdbg_live_processes *processes, enum wsdbg_attach_use use,
                                     uint64_t deadline_ns, struct wsdbg_snapshot *snapshot,
                                     struct wsdbg_live_process ***looked, size_t *count)
{
    const size_t most = snapshot->context_count + 1;
    struct look_round round = {.processes = processes,
                               .use = use,
                               .deadline_ns = deadline_ns,
                               .snapshot = snapshot,
                               .looked = calloc(most, sizeof(*round.looked)),
                               .begun = calloc(most, sizeof(*round.begun))};
    const bool is_ready = round.looked && round.begun;
    processes->was_taken = false;
    if (is_ready) {
        look_at_each(&round, true);
        begin_attaches(&round);
        look_together(&round);
        look_at_each(&round, false);
        if (!processes->was_taken)
            wsdbg_gpu_wishes_drop(&processes->wishes);
        *looked = round.looked;
        *count = round.looked_count;
    } else
        free(round.looked);
    free(round.begun);
    return is_ready ? NULL : &wsdbg_error_no_memory;
}
