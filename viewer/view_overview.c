/* view_overview.c - the session on one page: grids and how far they are, launches, host threads that wait, faults, what
 * could not be seen.  Reads the picture. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/fault.h"
#include "store/report.h"
#include "base/text.h"
#include "model/host_stack.h"
#include "model/launch_site.h"
#include "model/symbol.h"
#include "viewer/columns.h"
#include "viewer/phrases.h"

/* What a row shows, in the upper half of its data; the lower half is a number in that table. */
enum part {
    SESSION,
    GRIDS_TITLE,
    GRID,
    GRID_SITE,
    RANKS_TITLE,
    RANK,
    THREADS_TITLE,
    THREAD,
    STACKS_TITLE,
    STACK,
    OBSTACLE,
    FAULT,
    LAUNCHES,
    LOOKS_TITLE,
    LOOK,
    NOTES_TITLE,
    NOTE,
    BLANK
};
#define DATA(part, number) ((uint64_t)(part) << 32 | (uint64_t)(number))
#define PART(row) ((enum part)((row)->data >> 32))
#define NUMBER(row) ((uint32_t)(row)->data)

enum column { KERNEL, STATE, CTAS, RUN, WAIT, LEFT, QUIET, DEVICE, COLUMN_COUNT };
static const struct viewer_column columns[COLUMN_COUNT] = {
    [KERNEL] = {"KERNEL", 24, 0, true}, [STATE] = {"STATE", 7, 0, false},    [CTAS] = {"CTAS SEEN", -11, 3, false},
    [RUN] = {"RUN", -6, 5, false},      [WAIT] = {"WAIT", -6, 6, false},     [LEFT] = {"EXITED", -6, 2, false},
    [QUIET] = {"QUIET", -8, 7, false},  [DEVICE] = {"DEVICE", 14, 1, false},
};

static bool add(struct viewer_rows *rows, enum part part, size_t number, struct viewer_object object)
{
    return viewer_rows_add(rows, &(struct viewer_row){.object = object, .data = DATA(part, number)});
}

static bool add_plain(struct viewer_rows *rows, enum part part, size_t number)
{
    return add(rows, part, number, (struct viewer_object){0});
}

/* Where in the program it was launched, if that was kept. */
static bool add_site(const struct wsdbg_snapshot *s, uint32_t grid, struct viewer_rows *rows)
{
    char text[WSDBG_SITE_TEXT_BYTES];
    wsdbg_grid_site_text(s, grid, text, sizeof text);
    return !text[0] || add_plain(rows, GRID_SITE, grid);
}

/* Grids that run come first: the others are history. */
static bool add_grids(struct viewer_context *context, struct viewer_rows *rows)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    bool fine = add_plain(rows, GRIDS_TITLE, 0);
    for (int running = 1; running >= 0; running--)
        for (uint32_t i = 0; fine && i < s->grid_count; i++)
            if (s->grids[i].running == (running == 1) && viewer_filter_grid(context->filter, s, i))
                fine = add(rows, GRID, i, (struct viewer_object){VIEWER_OBJECT_GRID, i, 0}) && add_site(s, i, rows);
    return fine;
}

static bool add_ranks(const struct wsdbg_snapshot *s, struct viewer_rows *rows)
{
    bool fine = !wsdbg_snapshot_has_ranks(s) || (add_plain(rows, BLANK, 4) && add_plain(rows, RANKS_TITLE, 0));
    for (uint32_t i = 0; fine && wsdbg_snapshot_has_ranks(s) && i < s->process_count; i++)
        fine = add_plain(rows, RANK, i);
    return fine;
}

/* How many threads do the same as this one; 0 = an earlier one stands for it. */
static size_t alike(const struct wsdbg_snapshot *s, size_t stack)
{
    size_t count = 0;
    for (size_t i = 0; i < s->host_stack_count; i++) {
        if (!wsdbg_host_stacks_are_alike(&s->host_stacks[i], &s->host_stacks[stack], s->host_frames))
            continue;
        if (i < stack)
            return 0;
        count++;
    }
    return count;
}

/* A stack is two rows: the thread, and below it its frames. */
static bool add_stacks(const struct wsdbg_snapshot *s, struct viewer_rows *rows)
{
    bool fine = s->host_process_count == 0 || (add_plain(rows, BLANK, 4) && add_plain(rows, STACKS_TITLE, 0));
    for (size_t i = 0; fine && i < s->host_stack_count; i++)
        fine = alike(s, i) == 0 || (add_plain(rows, STACK, 2 * i) && add_plain(rows, STACK, 2 * i + 1));
    for (size_t i = 0; fine && i < s->host_process_count; i++)
        fine = !s->host_processes[i].obstacle[0] || add_plain(rows, OBSTACLE, i);
    return fine;
}

static bool add_snapshot(struct viewer_context *context, struct viewer_rows *rows)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    bool fine = true;
    for (uint32_t i = 0; fine && i < s->context_count; i++)
        fine = s->contexts[i].error == 0 || add_plain(rows, FAULT, i);
    fine = fine && add_grids(context, rows) && add_plain(rows, LAUNCHES, 0);
    fine = fine && add_ranks(s, rows);
    fine = fine && (s->thread_count == 0 || (add_plain(rows, BLANK, 0) && add_plain(rows, THREADS_TITLE, 0)));
    for (uint32_t i = 0; fine && i < s->thread_count; i++)
        fine = add_plain(rows, THREAD, i);
    fine = fine && add_stacks(s, rows);
    fine = fine && (s->look_count == 0 || (add_plain(rows, BLANK, 3) && add_plain(rows, LOOKS_TITLE, 0)));
    for (uint32_t i = 0; fine && i < s->look_count; i++)
        fine = add_plain(rows, LOOK, i);
    fine = fine && (s->note_count == 0 || (add_plain(rows, BLANK, 1) && add_plain(rows, NOTES_TITLE, 0)));
    for (uint32_t i = 0; fine && i < s->note_count; i++)
        fine = add_plain(rows, NOTE, i);
    return fine;
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    bool fine = !context->picture->info || (add_plain(rows, SESSION, 0) && add_plain(rows, SESSION, 1));
    if (fine && context->picture->end)
        fine = add_plain(rows, SESSION, 2);
    fine = fine && add_plain(rows, BLANK, 2);
    if (fine && context->picture->snapshot)
        fine = add_snapshot(context, rows);
    else
        fine = fine && add_plain(rows, LAUNCHES, 1);
    return fine ? NULL : &wsdbg_error_no_memory;
}

static const char *or_unknown(const char *text)
{
    return text && *text ? text : "?";
}

/* Of what is shown: a look at the device goes before what the run began with. */
static const char *evidence_of(const struct viewer_picture *picture)
{
    const bool looked = picture->snapshot && picture->snapshot->look_count > 0;
    return or_unknown(looked ? picture->snapshot->source : picture->info->evidence);
}

static void draw_session(const struct viewer_picture *picture, uint32_t line, struct viewer_canvas *canvas)
{
    const struct wsdbg_session_info *info = picture->info;
    char duration[32] = "?";
    if (line == 0) {
        const int at = viewer_put(canvas, 0, 0, VIEWER_STYLE_DIM, "program  ");
        viewer_put(canvas, 0, at, VIEWER_STYLE_STRONG, or_unknown(info->command));
    } else if (line == 1) {
        const int at = viewer_put(canvas, 0, 0, VIEWER_STYLE_DIM, "watched  ");
        viewer_print(canvas, 0, at, VIEWER_STYLE_TEXT, "on %s, device %s, observer %s, evidence %s",
                     or_unknown(info->hostname), or_unknown(info->device), or_unknown(info->observer),
                     evidence_of(picture));
    } else {
        const struct wsdbg_session_end *end = picture->end;
        if (end->ended_ns > info->started_ns) /* a dump was not watched */
            viewer_duration_text(end->ended_ns - info->started_ns, duration, sizeof duration);
        const int at = viewer_put(canvas, 0, 0, VIEWER_STYLE_DIM, "ended    ");
        viewer_print(canvas, 0, at, VIEWER_STYLE_TEXT, "%s, status %d, after %s", or_unknown(end->outcome),
                     end->exit_status, duration);
    }
}

struct counts {
    uint32_t running, waiting, exited;
    uint64_t changed_ns;
};

static struct counts count_warps(const struct wsdbg_snapshot *s, const struct wsdbg_grid *grid)
{
    struct counts counts = {.exited = grid->warps_exited};
    for (uint32_t c = grid->cta_first; c < grid->cta_first + grid->cta_count && c < s->cta_count; c++) {
        const struct wsdbg_cta *cta = &s->ctas[c];
        for (uint32_t w = cta->warp_first; w < cta->warp_first + cta->warp_count && w < s->warp_count; w++) {
            counts.waiting += wsdbg_warp_state_waits(s->warps[w].state);
            counts.running += s->warps[w].state == WSDBG_WARP_RUNNING;
            if (s->warps[w].changed_ns > counts.changed_ns)
                counts.changed_ns = s->warps[w].changed_ns;
        }
    }
    return counts;
}

/* A grid that was running when the picture was taken is not any more once the program has ended. */
static const char *grid_state(const struct viewer_picture *picture, const struct wsdbg_grid *grid)
{
    const struct wsdbg_snapshot *s = picture->snapshot;
    if (grid->context < s->context_count && s->contexts[grid->context].error != 0 && grid->warps_live > 0)
        return "faulted";
    if (!grid->running)
        return "done";
    return picture->diagnosis && picture->diagnosis->hang ? "hung" : picture->end ? "ended" : "running";
}

static void draw_grid(struct viewer_context *context, uint32_t index, struct viewer_canvas *canvas)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const struct wsdbg_grid *grid = &s->grids[index];
    const struct counts counts = count_warps(s, grid);
    struct viewer_place place[COLUMN_COUNT];
    char name[512] = "?", text[64], quiet[32] = "?";
    const char *symbol = wsdbg_snapshot_grid_name(s, grid);
    if (symbol)
        wsdbg_symbol_name(symbol, name, sizeof name);
    viewer_columns_place(columns, COLUMN_COUNT, viewer_canvas_columns(canvas), place);
    if (place[KERNEL].width > 0)
        wsdbg_text_cut_middle(name, (size_t)place[KERNEL].width);
    viewer_columns_cell(canvas, place[KERNEL], VIEWER_STYLE_TEXT, name);
    viewer_columns_cell(canvas, place[STATE], grid->running ? VIEWER_STYLE_MOVING : VIEWER_STYLE_GONE,
                        grid_state(context->picture, grid));
    if (grid->cta_total)
        snprintf(text, sizeof text, "%" PRIu32 "/%" PRIu32, grid->cta_count, grid->cta_total);
    else
        snprintf(text, sizeof text, "%" PRIu32 "/?", grid->cta_count);
    viewer_columns_cell(canvas, place[CTAS], VIEWER_STYLE_TEXT, text);
    snprintf(text, sizeof text, "%" PRIu32, counts.running);
    viewer_columns_cell(canvas, place[RUN], VIEWER_STYLE_MOVING, text);
    snprintf(text, sizeof text, "%" PRIu32, counts.waiting);
    viewer_columns_cell(canvas, place[WAIT], counts.waiting ? VIEWER_STYLE_WAITING : VIEWER_STYLE_DIM, text);
    snprintf(text, sizeof text, "%" PRIu32, counts.exited);
    viewer_columns_cell(canvas, place[LEFT], VIEWER_STYLE_GONE, text);
    const uint64_t seen_ns = viewer_context_seen_ns(context->picture, grid->context);
    if (counts.changed_ns && seen_ns >= counts.changed_ns)
        viewer_duration_text(seen_ns - counts.changed_ns, quiet, sizeof quiet);
    viewer_columns_cell(canvas, place[QUIET], VIEWER_STYLE_TEXT, grid->running ? quiet : "");
    viewer_columns_cell(canvas, place[DEVICE], VIEWER_STYLE_DIM,
                        grid->context < s->context_count ? or_unknown(s->contexts[grid->context].device_name) : "?");
}

static void draw_site(const struct wsdbg_snapshot *s, uint32_t grid, struct viewer_canvas *canvas)
{
    const size_t width = (size_t)viewer_canvas_columns(canvas);
    char text[WSDBG_SITE_TEXT_BYTES];
    wsdbg_grid_site_text(s, grid, text, sizeof text);
    wsdbg_text_cut(text, width > 8 ? width - 4 : 4);
    viewer_put(canvas, 0, 4, VIEWER_STYLE_DIM, text);
}

static void draw_thread(const struct viewer_picture *picture, uint32_t index, struct viewer_canvas *canvas)
{
    const struct wsdbg_host_thread *thread = &picture->snapshot->threads[index];
    const uint64_t seen_ns = viewer_seen_ns(picture, thread->process_id);
    char waiting[32] = "?", process[WSDBG_PROCESS_BYTES];
    if (seen_ns >= thread->since_ns)
        viewer_duration_text(seen_ns - thread->since_ns, waiting, sizeof waiting);
    wsdbg_process_short_text(picture->snapshot, thread->process_id, process);
    viewer_print(canvas, 0, 2, VIEWER_STYLE_TEXT, "%s thread %" PRIu32 " in %s for %s", process, thread->thread_id,
                 thread->call, waiting);
}

static void draw_rank(const struct viewer_picture *picture, uint32_t index, struct viewer_canvas *canvas)
{
    const struct wsdbg_snapshot *s = picture->snapshot;
    char name[WSDBG_PROCESS_BYTES], does[256];
    const enum wsdbg_blame blame =
        picture->diagnosis ? wsdbg_blame_of(s, picture->diagnosis, index) : WSDBG_BLAME_UNKNOWN;
    wsdbg_process_text(&s->processes[index], picture->info ? picture->info->hostname : NULL, name);
    wsdbg_process_does(s, index, does, sizeof does);
    const int at = viewer_print(canvas, 0, 2, VIEWER_STYLE_TEXT, "%s: %s", name, does);
    if (wsdbg_blame_name(blame))
        viewer_print(canvas, 0, at + 2, blame == WSDBG_BLAME_ORIGIN ? VIEWER_STYLE_BAD : VIEWER_STYLE_WAITING, "%s",
                     wsdbg_blame_name(blame));
}

static void draw_stack_thread(const struct wsdbg_snapshot *s, uint32_t index, uint32_t process_id,
                              struct viewer_canvas *canvas)
{
    const struct wsdbg_host_stack *stack = &s->host_stacks[index];
    const size_t count = alike(s, index);
    char process[WSDBG_PROCESS_BYTES], text[WSDBG_HOST_THREAD_TEXT_BYTES];
    wsdbg_process_short_text(s, process_id, process);
    wsdbg_host_thread_text(process, wsdbg_process_is_main(s, process_id, stack->thread_id), stack, text, sizeof text);
    int at = viewer_put(canvas, 0, 2, VIEWER_STYLE_TEXT, text);
    if (count > 1)
        at = viewer_print(canvas, 0, at, VIEWER_STYLE_TEXT, ", and %zu more like it", count - 1);
    wsdbg_host_motion_text(stack, text, sizeof text);
    viewer_put(canvas, 0, at, VIEWER_STYLE_DIM, text);
}

static void draw_stack(const struct wsdbg_snapshot *s, uint32_t row, struct viewer_canvas *canvas)
{
    const struct wsdbg_host_stack *stack = &s->host_stacks[row / 2];
    const size_t width = (size_t)viewer_canvas_columns(canvas);
    char text[WSDBG_HOST_STACK_TEXT_BYTES];
    const uint32_t process_id =
        stack->process < s->host_process_count ? s->host_processes[stack->process].process_id : 0;
    if (row % 2 == 0) {
        draw_stack_thread(s, row / 2, process_id, canvas);
        return;
    }
    wsdbg_host_stack_levels(stack, s->host_frames,
                            wsdbg_host_call_of(s->threads, s->thread_count, process_id, stack->thread_id), text,
                            sizeof text);
    wsdbg_text_cut(text, width > 8 ? width - 4 : 4);
    viewer_put(canvas, 0, 4, VIEWER_STYLE_DIM, text);
}

static bool has_probes(const struct wsdbg_snapshot *s)
{
    for (size_t i = 0; i < s->module_count; i++)
        if (s->modules[i].probed)
            return true;
    return false;
}

static void draw_launches(const struct viewer_picture *picture, struct viewer_canvas *canvas)
{
    if (!picture->snapshot) {
        viewer_put(canvas, 0, 0, VIEWER_STYLE_DIM, "no picture of the GPU yet");
        return;
    }
    /* A core dump shows grids, and no launch. */
    if (picture->snapshot->launches_total > 0 || picture->snapshot->grid_count == 0)
        viewer_print(canvas, 0, 0, VIEWER_STYLE_DIM, "%" PRIu64 " kernel launch%s seen",
                     picture->snapshot->launches_total, picture->snapshot->launches_total == 1 ? "" : "es");
    if (picture->snapshot->grid_count == 0)
        viewer_put(canvas, 0, 32, VIEWER_STYLE_DIM,
                   has_probes(picture->snapshot) ? "no warp is in the last picture"
                                                 : "no module with probes: warps cannot be seen");
}

static void draw_looks_title(const struct wsdbg_snapshot *s, struct viewer_canvas *canvas)
{
    char looks[128];
    wsdbg_report_looks_text(s->looks, s->look_count, looks, sizeof looks);
    const int at = viewer_put(canvas, 0, 0, VIEWER_STYLE_TITLE, "Looks at the GPU");
    viewer_put(canvas, 0, at + 2, VIEWER_STYLE_DIM, looks);
}

static void draw_look(const struct viewer_picture *picture, const struct wsdbg_look_row *look, bool is_first,
                      struct viewer_canvas *canvas)
{
    char age[32] = "?";
    int at = 2;
    if (picture->now_ns >= look->time_ns)
        viewer_duration_text(picture->now_ns - look->time_ns, age, sizeof age);
    if (look->read_ns > 0) /* of a dump nobody knows what it cost */
        at = viewer_print(canvas, 0, at, VIEWER_STYLE_TEXT, "%s ago: %.0f ms (+%.0f to attach); ", age,
                          (double)(look->suspend_ns + look->read_ns + look->resume_ns) / 1e6,
                          (double)(look->attach_ns + look->detach_ns) / 1e6);
    at = viewer_print(canvas, 0, at, VIEWER_STYLE_TEXT, "read %" PRIu32 " of %" PRIu32 " warps", look->warps_read,
                      look->warps);
    if (!is_first)
        at = viewer_print(canvas, 0, at, VIEWER_STYLE_TEXT, "; moved %" PRIu32 " warps", look->moved);
    if (!is_first && look->barriers_changed.known)
        viewer_print(canvas, 0, at, VIEWER_STYLE_TEXT, ", %" PRIu32 " words", look->barriers_changed.value);
}

static const char *const titles[] = {
    [RANKS_TITLE] = "Ranks",
    [THREADS_TITLE] = "Host threads that wait in the driver",
    [STACKS_TITLE] = "Host stacks, innermost first",
    [NOTES_TITLE] = "Not seen",
};

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct viewer_picture *picture = context->picture;
    char sentence[WSDBG_FAULT_BYTES];
    switch (PART(row)) {
    case RANKS_TITLE:
    case THREADS_TITLE:
    case STACKS_TITLE:
    case NOTES_TITLE:
        viewer_put(canvas, 0, 0, VIEWER_STYLE_TITLE, titles[PART(row)]);
        break;
    case SESSION:
        draw_session(picture, NUMBER(row), canvas);
        break;
    case GRIDS_TITLE:
        viewer_columns_header(canvas, 0, columns, COLUMN_COUNT);
        break;
    case GRID:
        draw_grid(context, NUMBER(row), canvas);
        break;
    case GRID_SITE:
        draw_site(picture->snapshot, NUMBER(row), canvas);
        break;
    case RANK:
        draw_rank(picture, NUMBER(row), canvas);
        break;
    case THREAD:
        draw_thread(picture, NUMBER(row), canvas);
        break;
    case STACK:
        draw_stack(picture->snapshot, NUMBER(row), canvas);
        break;
    case OBSTACLE:
        viewer_print(canvas, 0, 2, VIEWER_STYLE_TEXT, "process %" PRIu32 ": %s",
                     picture->snapshot->host_processes[NUMBER(row)].process_id,
                     picture->snapshot->host_processes[NUMBER(row)].obstacle);
        break;
    case FAULT:
        wsdbg_fault_sentence(picture->snapshot, NUMBER(row), sentence);
        viewer_put(canvas, 0, 0, VIEWER_STYLE_BAD, sentence);
        break;
    case LAUNCHES:
        draw_launches(picture, canvas);
        break;
    case LOOKS_TITLE:
        draw_looks_title(picture->snapshot, canvas);
        break;
    case LOOK:
        draw_look(picture, &picture->snapshot->looks[NUMBER(row)], NUMBER(row) == 0, canvas);
        break;
    case NOTE:
        viewer_put(canvas, 0, 2, VIEWER_STYLE_TEXT, picture->snapshot->notes[NUMBER(row)]);
        break;
    case BLANK:
        break;
    }
}

const struct viewer_view viewer_overview = {
    .name = "overview",
    .key = 'v',
    .summary = "the session: grids and their progress, host threads, what could not be seen",
    .build = build,
    .draw_row = draw_row,
};
