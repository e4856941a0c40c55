/* live_looks.c - see live_looks.h. */
#include "evidence/live_looks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "evidence/inspector.h"
#include "evidence/live_machine.h"
#include "evidence/look_choice.h"
#include "evidence/look_keeper.h"

enum { LOOKS = 2 };
#define APART_NS 60000000ull          /* from one suspension to the next: a spinning warp has gone round many times */
#define APART_LATE_NS 250000000ull    /* ... also where other programs have the GPU in turns */
#define AHEAD_AT_MOST_NS 500000000ull /* a look ahead is compared with one that comes no later */
#define OPENED_NS 1000000000ull       /* time for an inspector to load the driver's library before it asks */
#define HELD_NS 50000000ull           /* ... and then for an observer to report the locks of its GPUs */
#define STOPPED_AT_MOST_NS 1000000000ull
#define ATTACH_LIMIT_NS 2750000000ull /* and never more than half of the time there is */
#define STEP_LIMIT_NS WSDBG_INSPECTOR_BLOCKED_NS
#define FREED_LIMIT_NS 1500000000ull
/* For registers, more than a millisecond a warp: the GPU stands still meanwhile.  The report shows the last look; the
 * one before it only tells what moved, for which one warp of each state and some others do.  A CTA of a large kernel
 * takes 5 ms to follow. */
static const struct wsdbg_look_budget registers_budget[LOOKS] = {
    {.states_ns = 120000000, .rest_ns = 8000000}, {.states_ns = 120000000, .rest_ns = 25000000, .walks_ns = 400000000}};
/* There is one look at a fault. */
static const struct wsdbg_look_budget *const fault_budget = &registers_budget[LOOKS - 1];

struct wsdbg_live_process {
    uint32_t process_id;
    struct wsdbg_attach_link attach;
    struct wsdbg_machine *machine;
    struct wsdbg_code *code;
    struct wsdbg_look *looks[LOOKS];
    struct wsdbg_look_row times[LOOKS]; /* the lengths of their steps */
    size_t count;
    bool saw_warps, looked_ahead;
    uint64_t attached_ns, earlier_attach_ns; /* this time, and the time before; 0 = never */
    bool saw_fault;                          /* the last look is that of an exception */
    bool held_nothing_back;                  /* the last looks were those of an inspector that stays */
    uint64_t first_attach_ns;                /* of those before; 0 = there was none */
    uint64_t begun_ns;                       /* when an attach was begun before its look */
    uint64_t leaves_ns;                      /* since when the inspector of a late look leaves; 0 = none does */
    char fault[256];                         /* about an exception that no warp shows any more, "" = there is none */
    struct wsdbg_look_keeper *keeper;        /* NULL = looks are not kept */
};

struct wsdbg_error *wsdbg_live_process_open(uint32_t process_id, const struct wsdbg_attach_link *attach,
                                            struct wsdbg_live_process **out)
{
    struct wsdbg_live_process *process = calloc(1, sizeof *process);
    if (!process) {
        struct wsdbg_attach_link unused = *attach;
        wsdbg_attach_close(&unused);
        return &wsdbg_error_no_memory;
    }
    process->process_id = process_id;
    process->attach = *attach;
    struct wsdbg_error *error = wsdbg_live_machine_open(&process->attach, &process->machine);
    if (!error)
        error = wsdbg_code_create(&process->code);
    if (error)
        wsdbg_live_process_close(process);
    else
        *out = process;
    return error;
}

static void forget_looks(struct wsdbg_live_process *process)
{
    while (process->count)
        wsdbg_look_destroy(process->looks[--process->count]);
    process->saw_warps = false;
}

void wsdbg_live_process_close(struct wsdbg_live_process *process)
{
    if (!process)
        return;
    forget_looks(process);
    if (process->machine)
        process->machine->ops->close(process->machine);
    if (process->code)
        wsdbg_code_destroy(process->code);
    wsdbg_look_keeper_destroy(process->keeper);
    wsdbg_attach_close(&process->attach);
    free(process);
}

/* The time since *since_ns, which becomes now. */
static uint64_t lap(uint64_t *since_ns)
{
    const uint64_t now_ns = wsdbg_attach_clock_ns(), length_ns = now_ns - *since_ns;
    *since_ns = now_ns;
    return length_ns;
}

/* While the GPU is stopped.  The first error counts; the GPU is resumed after any. */
static struct wsdbg_error *read_stopped(struct wsdbg_live_process *process, struct wsdbg_look_row *times,
                                        uint64_t *since_ns)
{
    const struct wsdbg_look_budget *budget =
        wsdbg_live_machine_has_fault(process->machine) ? fault_budget : &registers_budget[process->count];
    struct wsdbg_error *error = wsdbg_live_machine_read_warps(process->machine, STEP_LIMIT_NS);
    if (!error)
        error = wsdbg_look_keeper_take(process->keeper, process->machine, process->code, *budget,
                                       &process->looks[process->count]);
    times->read_ns = lap(since_ns);
    if (error)
        return error;
    wsdbg_look_set_process(process->looks[process->count], process->process_id);
    process->count++;
    process->saw_warps = process->saw_warps || process->machine->warp_count > 0;
    return NULL;
}

static struct wsdbg_error *look_once(struct wsdbg_live_process *process)
{
    struct wsdbg_look_row *times = &process->times[process->count];
    uint64_t since_ns = wsdbg_attach_clock_ns();
    struct wsdbg_error *error = wsdbg_live_machine_suspend(process->machine, STOPPED_AT_MOST_NS, STEP_LIMIT_NS);
    times->suspend_ns = lap(&since_ns);
    if (error)
        return error;
    times->time_ns = since_ns;
    error = read_stopped(process, times, &since_ns);
    if (!error)
        wsdbg_live_machine_fault_sentence(process->machine, process->fault, sizeof process->fault);
    struct wsdbg_error *resumed = wsdbg_live_machine_resume(process->machine, WSDBG_INSPECTOR_LEAVE_NS);
    times->resume_ns = lap(&since_ns);
    if (!error)
        wsdbg_look_keeper_write(process->keeper, process->machine);
    if (!error)
        return resumed;
    wsdbg_error_destroy(resumed);
    return error;
}

static void wait_until(uint64_t time_ns)
{
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    if (time_ns <= now_ns)
        return;
    struct timespec rest = {.tv_sec = (time_t)((time_ns - now_ns) / 1000000000u),
                            .tv_nsec = (long)((time_ns - now_ns) % 1000000000u)};
    nanosleep(&rest, NULL);
}

/* A second look that there is no time for is left out: one alone says where every warp stands. */
static struct wsdbg_error *look_next(struct wsdbg_live_process *process, uint64_t deadline_ns)
{
    const uint64_t apart_ns = process->held_nothing_back ? APART_NS : APART_LATE_NS;
    if (process->count == LOOKS)
        return NULL;
    if (process->count) {
        const uint64_t next_ns = process->times[process->count - 1].time_ns + apart_ns;
        if (next_ns + apart_ns > deadline_ns)
            return NULL;
        wait_until(next_ns);
    }
    return look_once(process);
}

static struct wsdbg_error *look_apart(struct wsdbg_live_process *process, uint64_t deadline_ns)
{
    struct wsdbg_error *error = NULL;
    process->looked_ahead = false;
    for (size_t before = LOOKS; !error && process->count != before;) {
        before = process->count;
        error = look_next(process, deadline_ns);
    }
    return error;
}

static void begin_looks(struct wsdbg_live_process *process)
{
    forget_looks(process);
    for (size_t i = 0; i < LOOKS; i++)
        process->times[i] = (struct wsdbg_look_row){0};
}

bool wsdbg_live_process_is_ahead(const struct wsdbg_live_process *process)
{
    return process->count == 1 && process->looked_ahead &&
           wsdbg_attach_clock_ns() < process->times[0].time_ns + AHEAD_AT_MOST_NS;
}

static void note_attach(struct wsdbg_live_process *process, uint64_t time_ns)
{
    process->earlier_attach_ns = process->attached_ns;
    if (!process->first_attach_ns)
        process->first_attach_ns = process->attached_ns;
    process->attached_ns = time_ns;
}

static uint64_t attach_limit_ns(uint64_t now_ns, uint64_t deadline_ns)
{
    const uint64_t half_ns = deadline_ns > now_ns ? (deadline_ns - now_ns) / 2 : 0;
    return half_ns < ATTACH_LIMIT_NS ? half_ns : ATTACH_LIMIT_NS;
}

static bool holds_gpus(const struct wsdbg_live_process *process)
{
    return __atomic_load_n(&process->attach.row->held_gpus, __ATOMIC_ACQUIRE) != 0;
}

/* Until the observer has reported its locks, or had the time for that. */
static void await_locks(const struct wsdbg_live_process *process)
{
    uint64_t until_ns = process->begun_ns + OPENED_NS;
    bool has_asked = false;
    while (wsdbg_live_machine_is_attaching(process->machine) && !holds_gpus(process) &&
           wsdbg_attach_clock_ns() < until_ns) {
        if (!has_asked && wsdbg_live_machine_has_asked(process->machine)) {
            has_asked = true;
            until_ns = wsdbg_attach_clock_ns() + HELD_NS;
        }
        wait_until(wsdbg_attach_clock_ns() + HELD_NS / 50);
    }
}

bool wsdbg_live_process_begin(struct wsdbg_live_process *process, uint64_t deadline_ns)
{
    wsdbg_live_process_await_leave(process, NULL);
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    if (process->saw_fault) /* no inspector attaches to it again */
        return true;
    if (wsdbg_live_machine_stays(process->machine))
        return holds_gpus(process);
    process->begun_ns = now_ns;
    wsdbg_error_destroy(wsdbg_live_machine_begin_attach(
        process->machine, attach_limit_ns(now_ns, deadline_ns))); /* the look reports it */
    await_locks(process);
    return holds_gpus(process);
}

bool wsdbg_live_process_has_begun(const struct wsdbg_live_process *process)
{
    return wsdbg_live_machine_is_attaching(process->machine);
}

/* An inspector that comes late. */
static struct wsdbg_error *come_in_late(struct wsdbg_live_process *process, uint64_t deadline_ns)
{
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    const bool is_begun = wsdbg_live_machine_is_attaching(process->machine);
    const uint64_t began_ns = is_begun ? process->begun_ns : now_ns;
    uint64_t since_ns = began_ns;
    struct wsdbg_error *error = wsdbg_live_machine_attach(process->machine, attach_limit_ns(now_ns, deadline_ns));
    process->times[0].attach_ns = lap(&since_ns);
    if (!wsdbg_live_process_is_taken(process, error)) /* one that failed in another way may have been in */
        note_attach(process, began_ns);
    return error;
}

static void begin_leave(struct wsdbg_live_process *process)
{
    process->leaves_ns = wsdbg_attach_clock_ns();
    wsdbg_error_destroy(wsdbg_live_machine_leave(process->machine)); /* what was seen was seen */
}

struct wsdbg_error *wsdbg_live_process_look_late(struct wsdbg_live_process *process, uint64_t deadline_ns)
{
    begin_looks(process);
    process->held_nothing_back = process->looked_ahead = false;
    struct wsdbg_error *error = come_in_late(process, deadline_ns);
    if (error)
        return error;
    error = wsdbg_code_prepare(process->code, process->machine);
    if (!error)
        error = look_apart(process, deadline_ns);
    begin_leave(process);
    if (error)
        forget_looks(process);
    return error;
}

/* The row of the process's last look; NULL = it is not there. */
static struct wsdbg_look_row *last_row(const struct wsdbg_live_process *process, struct wsdbg_snapshot *snapshot)
{
    for (size_t i = snapshot->look_count; i-- > 0;)
        if (snapshot->looks[i].process_id == process->process_id)
            return &snapshot->looks[i];
    return NULL;
}

void wsdbg_live_process_await_leave(struct wsdbg_live_process *process, struct wsdbg_snapshot *snapshot)
{
    uint64_t since_ns = process->leaves_ns;
    if (!since_ns)
        return;
    process->leaves_ns = 0;
    wsdbg_error_destroy(wsdbg_live_machine_finish(process->machine));
    const uint64_t length_ns = lap(&since_ns);
    struct wsdbg_look_row *row = snapshot ? last_row(process, snapshot) : NULL;
    process->times[process->count ? process->count - 1 : 0].detach_ns = length_ns;
    if (row)
        row->detach_ns = length_ns;
    wsdbg_live_machine_await_rescue(process->machine, FREED_LIMIT_NS);
}

static struct wsdbg_error *look_staying(struct wsdbg_live_process *process, uint64_t deadline_ns)
{
    struct wsdbg_error *error = look_apart(process, deadline_ns);
    if (error)
        wsdbg_live_machine_await_rescue(process->machine, FREED_LIMIT_NS);
    return error;
}

struct wsdbg_error *wsdbg_live_process_look(struct wsdbg_live_process *process, uint64_t deadline_ns)
{
    wsdbg_live_process_await_leave(process, NULL);
    if (process->saw_fault)
        return NULL;
    if (!wsdbg_live_machine_stays(process->machine))
        return wsdbg_live_process_look_late(process, deadline_ns);
    if (!wsdbg_live_process_is_ahead(process))
        begin_looks(process);
    process->held_nothing_back = true;
    struct wsdbg_error *error = look_staying(process, deadline_ns);
    if (error)
        forget_looks(process);
    return error;
}

void wsdbg_live_process_look_ahead(struct wsdbg_live_process *process)
{
    if (process->saw_fault || !wsdbg_live_machine_stays(process->machine))
        return;
    begin_looks(process);
    struct wsdbg_error *error = look_once(process);
    process->looked_ahead = !error;
    if (error)
        forget_looks(process);
    wsdbg_error_destroy(error);
}

void wsdbg_live_process_look_at_fault(struct wsdbg_live_process *process)
{
    if (process->saw_fault || !wsdbg_live_machine_has_fault(process->machine))
        return;
    begin_looks(process);
    struct wsdbg_error *error = look_once(process);
    process->saw_fault = process->count > 0; /* what was seen was seen */
    wsdbg_error_destroy(error);
}

bool wsdbg_live_process_saw_fault(const struct wsdbg_live_process *process)
{
    return process->saw_fault;
}

bool wsdbg_live_process_is_alive(const struct wsdbg_live_process *process)
{
    return wsdbg_live_machine_is_alive(process->machine);
}

const struct wsdbg_attach_row *wsdbg_live_process_attach_link(const struct wsdbg_live_process *process)
{
    return process->attach.row;
}

bool wsdbg_live_process_is_taken(const struct wsdbg_live_process *process, const struct wsdbg_error *error)
{
    char text[WSDBG_TEXT_BYTES];
    memcpy(text, process->attach.row->text, sizeof text);
    text[sizeof text - 1] = '\0';
    /* The word may be an older answer's; the error's text is that of the answer that came. */
    return error && text[0] &&
           __atomic_load_n(&process->attach.row->obstacle, __ATOMIC_ACQUIRE) == WSDBG_OBSTACLE_TAKEN &&
           strstr(wsdbg_error_message(error), text);
}

void wsdbg_live_process_prepare(struct wsdbg_live_process *process)
{
    wsdbg_error_destroy(wsdbg_live_machine_prepare(process->machine)); /* the look meets it again */
}

void wsdbg_live_process_expect_nobody(struct wsdbg_live_process *process)
{
    __atomic_store_n(&process->attach.row->nobody_comes, 1, __ATOMIC_RELEASE);
}

void wsdbg_live_process_knows_code(struct wsdbg_live_process *process, uint64_t code_bytes)
{
    __atomic_store_n(&process->attach.row->code_bytes_known, code_bytes, __ATOMIC_RELEASE);
}

struct wsdbg_machine *wsdbg_live_process_machine(struct wsdbg_live_process *process)
{
    return process->machine;
}

bool wsdbg_live_process_saw_warps(const struct wsdbg_live_process *process)
{
    return process->saw_warps;
}

struct wsdbg_error *wsdbg_live_process_add(const struct wsdbg_live_process *process, struct wsdbg_snapshot *snapshot)
{
    const size_t before = snapshot->look_count;
    struct wsdbg_error *error = wsdbg_look_snapshot(process->looks, process->count, snapshot);
    for (size_t i = 0; !error && i < process->count && before + i < snapshot->look_count; i++) {
        struct wsdbg_look_row *row = &snapshot->looks[before + i];
        const struct wsdbg_look_row *times = &process->times[i];
        row->attach_ns = times->attach_ns;
        row->suspend_ns = times->suspend_ns;
        row->read_ns = times->read_ns;
        row->resume_ns = times->resume_ns;
        row->detach_ns = times->detach_ns;
        row->earlier_attach_ns = process->held_nothing_back ? 0 : process->earlier_attach_ns;
        row->first_attach_ns = process->held_nothing_back ? 0 : process->first_attach_ns;
        row->held_nothing_back = process->held_nothing_back;
    }
    if (process->fault[0])
        wsdbg_look_add_note(snapshot, process->fault);
    if (!error && wsdbg_look_keeper_trouble(process->keeper))
        wsdbg_look_add_note(snapshot, wsdbg_look_keeper_trouble(process->keeper));
    return error;
}

struct wsdbg_error *wsdbg_live_process_keep(struct wsdbg_live_process *process, const char *folder)
{
    return wsdbg_look_keeper_create(folder, process->process_id, &process->keeper);
}

char *wsdbg_live_process_next_kept(struct wsdbg_live_process *process)
{
    return wsdbg_look_keeper_next(process->keeper);
}

bool wsdbg_live_process_has_kept(const struct wsdbg_live_process *process)
{
    return wsdbg_look_keeper_has_next(process->keeper);
}

bool wsdbg_live_process_dismiss(struct wsdbg_live_process *process)
{
    return wsdbg_live_machine_dismiss(process->machine);
}

uint32_t wsdbg_live_process_id(const struct wsdbg_live_process *process)
{
    return process->process_id;
}
