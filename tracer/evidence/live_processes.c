/* live_processes.c - see live_processes.h.
 *
 * Reads: the newest snapshot, the segments' attach rows.  Writes: the same rows.
 */
#include "evidence/live_processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "evidence/look_choice.h"
#include "evidence/ring_source.h"
#include "evidence/segment_map.h"

/* ---- who is followed ---- */

static struct wsdbg_live_followed *find(const struct wsdbg_live_processes *processes, uint32_t process_id)
{
    for (size_t i = 0; i < processes->count; i++)
        if (!processes->list[i].ended && wsdbg_live_process_id(processes->list[i].looks) == process_id)
            return &processes->list[i];
    return NULL;
}

/* Two inspectors at a time in one process would be one too many. */
static bool is_left(const struct wsdbg_live_processes *processes, uint32_t process_id)
{
    bool left = true;
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i].ended && wsdbg_live_process_id(processes->list[i].looks) == process_id)
            left &= wsdbg_live_process_dismiss(processes->list[i].looks);
    return left;
}

static struct wsdbg_error *follow(struct wsdbg_live_processes *processes, uint32_t process_id,
                                  struct wsdbg_live_process **out)
{
    struct wsdbg_attach_link attach;
    struct wsdbg_segment_map *map = wsdbg_ring_map(processes->ring, process_id);
    if (!map)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "its segment cannot be read");
    if (!is_left(processes, process_id))
        return wsdbg_error_create(WSDBG_ERROR_BUSY, "the inspector of the program before it has not left yet");
    if (!wsdbg_grow((void **)&processes->list, &processes->capacity, processes->count + 1, sizeof *processes->list))
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = wsdbg_segment_map_attach_link(map, &attach);
    if (!error)
        error = wsdbg_live_process_open(process_id, &attach, out);
    if (!error && processes->kept) {
        error = wsdbg_live_process_keep(*out, processes->kept);
        if (error) {
            wsdbg_live_process_close(*out);
            *out = NULL;
        }
    }
    if (!error)
        processes->list[processes->count++] =
            (struct wsdbg_live_followed){.looks = *out,
                                         .inode = wsdbg_segment_map_inode(map),
                                         .stay = {.policy.always = processes->use == WSDBG_ATTACH_ALWAYS,
                                                  .began_ns = processes->opened_ns,
                                                  .ticked_ns = processes->opened_ns}};
    return error;
}

bool wsdbg_live_processes_is_replaced(const struct wsdbg_live_processes *processes,
                                      const struct wsdbg_live_followed *process)
{
    const struct wsdbg_segment_map *map = wsdbg_ring_map(processes->ring, wsdbg_live_process_id(process->looks));
    return map && wsdbg_segment_map_inode(map) != process->inode;
}

static bool is_past(const struct wsdbg_live_processes *processes, const struct wsdbg_live_followed *process)
{
    return !wsdbg_live_process_is_alive(process->looks) || wsdbg_live_processes_is_replaced(processes, process);
}

/* What is past is told from what is now at each use: an inspector of the wrong program would be worse than none. */
static void note_end(struct wsdbg_live_processes *processes, struct wsdbg_live_followed *process)
{
    if (process->ended || !is_past(processes, process))
        return;
    process->ended = true;
    wsdbg_live_stay_add(&process->stay, process->looks, &processes->account);
}

struct wsdbg_error *wsdbg_live_processes_ensure(struct wsdbg_live_processes *processes, uint32_t process_id,
                                                struct wsdbg_live_process **out)
{
    struct wsdbg_live_followed *found = find(processes, process_id);
    *out = NULL;
    if (found)
        note_end(processes, found);
    if (!found || found->ended)
        return follow(processes, process_id, out);
    *out = found->looks;
    return NULL;
}

/* A process that cannot be followed now is tried again at the next look; a look says what is in the way. */
static void follow_all(struct wsdbg_live_processes *processes, const struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->context_count; i++) {
        struct wsdbg_live_process *unused;
        if (snapshot->contexts[i].alive && !wsdbg_look_came_before(snapshot, i))
            wsdbg_error_destroy(wsdbg_live_processes_ensure(processes, snapshot->contexts[i].process_id, &unused));
    }
}

/* ---- who has ended ---- */

static size_t count_faults(const struct wsdbg_live_processes *processes)
{
    size_t count = 0;
    for (size_t i = 0; i < processes->count; i++)
        count += processes->list[i].ended && wsdbg_live_process_saw_fault(processes->list[i].looks);
    return count;
}

static void forget(struct wsdbg_live_processes *processes, size_t at)
{
    wsdbg_live_process_close(processes->list[at].looks);
    processes->count--;
    for (size_t i = at; i < processes->count; i++)
        processes->list[i] = processes->list[i + 1];
}

/* Each has two processes of wsdbg's, and descriptors. */
static void let_go(struct wsdbg_live_processes *processes)
{
    size_t faults = count_faults(processes);
    for (size_t i = 0; i < processes->count;) {
        const struct wsdbg_live_followed *process = &processes->list[i];
        const bool saw_fault = wsdbg_live_process_saw_fault(process->looks);
        if (!process->ended || !wsdbg_live_process_dismiss(process->looks) ||
            (saw_fault && faults <= WSDBG_LIVE_FAULTS_KEPT) ||
            (processes->recorded && wsdbg_live_process_has_kept(process->looks))) {
            i++;
            continue;
        }
        faults -= saw_fault;
        forget(processes, i);
    }
}

/* ---- staying ---- */

bool wsdbg_live_processes_is_attended(const struct wsdbg_live_processes *processes, uint32_t process_id)
{
    const struct wsdbg_live_followed *process = find(processes, process_id);
    return process && process->stay.policy.stays;
}

/* An obstacle that many processes meet one after the other is reported once. */
static void say_trouble(struct wsdbg_live_processes *processes, struct wsdbg_live_followed *process, char *line,
                        size_t size)
{
    wsdbg_live_stay_trouble(&process->stay, line, size);
    if (!line[0])
        return;
    if (strcmp(line, processes->said) == 0)
        line[0] = '\0';
    else
        snprintf(processes->said, sizeof processes->said, "%s", line);
}

static bool has_waiting_thread(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (size_t i = 0; i < snapshot->thread_count; i++)
        if (snapshot->threads[i].process_id == process_id)
            return true;
    return false;
}

/* Where nobody stays, the inspector is made ready for the look that may come. */
static void attend_one(struct wsdbg_live_processes *processes, struct wsdbg_live_followed *process,
                       const struct wsdbg_snapshot *snapshot, uint64_t now_ns)
{
    wsdbg_live_process_look_at_fault(process->looks);
    if (!processes->never_stays)
        wsdbg_live_stay_tick(&process->stay, process->looks, snapshot, &processes->wishes, processes->account.spent_ns,
                             now_ns);
    else if (has_waiting_thread(snapshot, wsdbg_live_process_id(process->looks)))
        wsdbg_live_process_prepare(process->looks);
}

void wsdbg_live_processes_attend(struct wsdbg_live_processes *processes, const struct wsdbg_snapshot *snapshot,
                                 uint64_t now_ns, char *line, size_t size)
{
    line[0] = '\0';
    wsdbg_gpu_wishes_drop_old(&processes->wishes, now_ns);
    follow_all(processes, snapshot);
    for (size_t i = 0; i < processes->count; i++) {
        struct wsdbg_live_followed *process = &processes->list[i];
        note_end(processes, process);
        if (process->ended)
            continue;
        attend_one(processes, process, snapshot, now_ns);
        if (!line[0])
            say_trouble(processes, process, line, size);
    }
    let_go(processes);
}

void wsdbg_live_processes_account(struct wsdbg_live_processes *processes, char *line, size_t size)
{
    for (size_t i = 0; i < processes->count; i++)
        if (!processes->list[i].ended)
            wsdbg_live_stay_add(&processes->list[i].stay, processes->list[i].looks, &processes->account);
    wsdbg_stay_account_line(&processes->account, line, size);
}

/* ---- looking ---- */

/* Sends away an inspector of this session that stays at another process and holds the GPU which this process was
 * refused. */
static bool make_way(struct wsdbg_live_processes *processes, const struct wsdbg_live_process *process)
{
    const uint16_t wanted = __atomic_load_n(&wsdbg_live_process_attach_link(process)->taken_gpu, __ATOMIC_ACQUIRE);
    bool any = false;
    for (size_t i = 0; i < processes->count && wanted >= 1 && wanted <= 16; i++) {
        struct wsdbg_live_followed *other = &processes->list[i];
        const uint16_t held =
            __atomic_load_n(&wsdbg_live_process_attach_link(other->looks)->held_gpus, __ATOMIC_ACQUIRE);
        if (!other->ended && other->looks != process && held >> (wanted - 1) & 1)
            any |= wsdbg_live_stay_make_way(&other->stay, other->looks, wsdbg_attach_clock_ns());
    }
    return any;
}

/* Another wsdbg's inspector may make way. */
static void note_taken(struct wsdbg_live_processes *processes, const struct wsdbg_live_process *process)
{
    const uint16_t wanted = __atomic_load_n(&wsdbg_live_process_attach_link(process)->taken_gpu, __ATOMIC_ACQUIRE);
    processes->was_taken = true;
    if (wanted)
        wsdbg_gpu_wish(&processes->wishes, wanted - 1u, wsdbg_attach_clock_ns());
}

struct wsdbg_error *wsdbg_live_processes_look_at(struct wsdbg_live_processes *processes,
                                                 struct wsdbg_live_process *process, uint64_t deadline_ns)
{
    struct wsdbg_error *error = wsdbg_live_process_look(process, deadline_ns);
    if (!wsdbg_live_process_is_taken(process, error))
        return error;
    if (make_way(processes, process)) {
        wsdbg_error_destroy(error);
        error = wsdbg_live_process_look(process, deadline_ns);
    }
    if (wsdbg_live_process_is_taken(process, error))
        note_taken(processes, process);
    return error;
}

void wsdbg_live_processes_await_leave(struct wsdbg_live_processes *processes, struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < processes->count; i++)
        wsdbg_live_process_await_leave(processes->list[i].looks, snapshot);
}

struct wsdbg_error *wsdbg_live_processes_keep(struct wsdbg_live_processes *processes, const char *folder)
{
    struct wsdbg_error *error = NULL;
    processes->kept = folder;
    for (size_t i = 0; !error && i < processes->count; i++)
        error = wsdbg_live_process_keep(processes->list[i].looks, folder);
    return error;
}

void wsdbg_live_processes_deinit(struct wsdbg_live_processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        wsdbg_live_process_close(processes->list[i].looks);
    free(processes->list);
    wsdbg_gpu_wishes_deinit(&processes->wishes);
}
