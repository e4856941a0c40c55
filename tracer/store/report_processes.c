/* report_processes.c - the processes of a report: which rank each is, what it does, whose fault the hang is.
 * Reads a snapshot and its diagnosis; writes the report's rows and their words. */
#include "store/report_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/host_stack.h"
#include "model/symbol.h"

enum { KERNEL_COLUMNS = 48, KERNEL_BYTES = 512 };

/* ---- words ---- */

static void kernel_words(const struct wsdbg_snapshot *s, const struct wsdbg_process_work *work, char *out, size_t bytes)
{
    char name[KERNEL_BYTES] = "";
    const char *symbol = wsdbg_snapshot_grid_name(s, &s->grids[work->grid]);
    if (symbol)
        wsdbg_symbol_name(symbol, name, sizeof name);
    wsdbg_text_cut_middle(name, KERNEL_COLUMNS);
    snprintf(out, bytes, "runs %s%s", name[0] ? name : "?",
             work->polls_peers ? ", polls memory of another process" : "");
}

static void call_words(const struct wsdbg_snapshot *s, const struct wsdbg_host_thread *thread, char *out, size_t bytes)
{
    const uint64_t seen_ns = wsdbg_snapshot_seen_ns(s, thread->process_id);
    char time[32] = "?";
    if (thread->since_ns && thread->since_ns <= seen_ns)
        wsdbg_duration_text(seen_ns - thread->since_ns, time, sizeof time);
    snprintf(out, bytes, "in %s for %s", thread->call[0] ? thread->call : "?", time);
}

void wsdbg_process_does(const struct wsdbg_snapshot *s, uint32_t process, char *out, size_t bytes)
{
    const struct wsdbg_process_work work = wsdbg_process_work(s, process);
    char text[WSDBG_PROCESS_BYTES];
    switch (work.state) {
    case WSDBG_PROCESS_GONE:
        wsdbg_process_end_text(s->processes[process].end, text);
        snprintf(out, bytes, "%s", text);
        return;
    case WSDBG_PROCESS_FAULT:
        snprintf(out, bytes, "an error of the GPU ended its work");
        return;
    case WSDBG_PROCESS_KERNEL:
        kernel_words(s, &work, out, bytes);
        return;
    case WSDBG_PROCESS_CALL:
        call_words(s, &s->threads[work.thread], out, bytes);
        return;
    case WSDBG_PROCESS_NO_WORK:
        snprintf(out, bytes, "has nothing to do on the GPU");
        return;
    default:
        snprintf(out, bytes, "?");
    }
}

/* ---- rows ---- */

static struct wsdbg_optional_u32 known_index(uint32_t index)
{
    return (struct wsdbg_optional_u32){.value = index == WSDBG_NONE ? 0 : index, .known = index != WSDBG_NONE};
}

static void fill_call(const struct wsdbg_snapshot *s, const struct wsdbg_host_thread *thread,
                      struct wsdbg_report_process *out)
{
    const uint64_t seen_ns = wsdbg_snapshot_seen_ns(s, out->process_id);
    memcpy(out->call, thread->call, sizeof out->call);
    if (thread->since_ns && thread->since_ns <= seen_ns)
        out->waiting_ns = wsdbg_known_u64(seen_ns - thread->since_ns);
}

static void fill_process(const struct wsdbg_snapshot *s, const struct wsdbg_diagnosis *d, uint32_t index,
                         const char *host, struct wsdbg_report_process *out)
{
    const struct wsdbg_process_work work = wsdbg_process_work(s, index);
    *out = (struct wsdbg_report_process){.process_id = s->processes[index].process_id,
                                         .process = s->processes[index],
                                         .state = work.state,
                                         .grid = known_index(work.grid),
                                         .polls_peers = work.polls_peers};
    if (!out->process.host[0])
        snprintf(out->process.host, sizeof out->process.host, "%s", host ? host : "");
    wsdbg_process_text(&s->processes[index], host, out->name);
    wsdbg_process_short_text(s, out->process_id, out->title);
    wsdbg_process_does(s, index, out->does, sizeof out->does);
    wsdbg_host_python_line(s, index, out->python, sizeof out->python);
    if (work.thread < s->thread_count)
        fill_call(s, &s->threads[work.thread], out);
    if (!d)
        return;
    out->blame = wsdbg_blame_of(s, d, index);
    wsdbg_blame_waits_for(s, d, index, out->waits_for, sizeof out->waits_for);
    out->finding = known_index(wsdbg_finding_of_process(s, d, out->process_id));
}

bool wsdbg_report_gather_processes(const struct wsdbg_snapshot *s, const struct wsdbg_diagnosis *d,
                                   struct wsdbg_report *r)
{
    r->processes = calloc(s->process_count + 1, sizeof *r->processes);
    r->process_count = r->processes ? s->process_count : 0;
    r->has_ranks = wsdbg_snapshot_has_ranks(s);
    for (uint32_t i = 0; i < r->process_count; i++)
        fill_process(s, d, i, r->hostname, &r->processes[i]);
    return r->processes;
}

const char *wsdbg_report_rank(const struct wsdbg_report *r, uint32_t process)
{
    return process < r->process_count && r->processes[process].process.rank.known ? r->processes[process].title : "";
}

/* ---- order ---- */

/* Where a process stands in the list: by blame, then by rank. */
static uint64_t place_of(const struct wsdbg_report_process *p)
{
    static const unsigned char places[] = {
        [WSDBG_BLAME_ORIGIN] = 0, [WSDBG_BLAME_VICTIM] = 1, [WSDBG_BLAME_UNKNOWN] = 2};
    const uint64_t rank = p->process.rank.known ? p->process.rank.value : UINT32_MAX;
    return (uint64_t)places[p->blame] << 40 | rank;
}

static int compare_places(const void *left, const void *right, void *report)
{
    const struct wsdbg_report *r = report;
    const uint64_t a = place_of(&r->processes[*(const uint32_t *)left]),
                   b = place_of(&r->processes[*(const uint32_t *)right]);
    return (a > b) - (a < b);
}

uint32_t *wsdbg_report_process_order(const struct wsdbg_report *r)
{
    uint32_t *order = calloc(r->process_count + 1, sizeof *order);
    for (uint32_t i = 0; order && i < r->process_count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, r->process_count, sizeof *order, compare_places, (void *)(uintptr_t)r);
    return order;
}
