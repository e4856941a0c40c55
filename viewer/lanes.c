/* lanes.c - see lanes.h.  Events become spans of time, spans are added up by column, each column shows its largest. */
#include "viewer/lanes.h"

#include <string.h>

#define GROUP_WARPS 4u
#define EVENTS_WHOLE 512u /* read at once, with every event */
#define CHUNKS 48u        /* else: places looked at in a window */
#define CHUNK_EVENTS 8u

/* What a column holds: nanoseconds of each kind of cell. */
struct column {
    uint64_t ns[VIEWER_CELL_COUNT];
};

struct lane {
    const struct viewer_window *window;
    struct column columns[VIEWER_LANE_COLUMNS];
    bool event[VIEWER_LANE_COLUMNS][VIEWER_CELL_COUNT]; /* one began here: shown although it takes no time */
};

/* What a warp does from an event on until its next one. */
static enum viewer_cell cell_after(const struct wsdbg_history_event *event)
{
    switch (event->kind) {
    case WSDBG_EVENT_REGISTERS_REQUEST:
    case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
    case WSDBG_EVENT_BULK_WAIT_BEGIN:
    case WSDBG_EVENT_NAMED_SYNC_BEGIN:
    case WSDBG_EVENT_CLUSTER_WAIT_BEGIN:
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN:
    case WSDBG_EVENT_POLL_BEGIN:
        return VIEWER_CELL_WAITS;
    case WSDBG_EVENT_WGMMA_ISSUE:
    case WSDBG_EVENT_WGMMA_COMMIT:
    case WSDBG_EVENT_WGMMA_WAIT_BEGIN:
        return VIEWER_CELL_WGMMA;
    case WSDBG_EVENT_TMA_ISSUE:
    case WSDBG_EVENT_TMA_STORE_ISSUE:
    case WSDBG_EVENT_BULK_COMMIT:
        return VIEWER_CELL_TMA;
    case WSDBG_EVENT_EXIT:
        return VIEWER_CELL_EXITED;
    default:
        return VIEWER_CELL_RUNS;
    }
}

static int column_of(const struct viewer_window *w, int64_t time_ns)
{
    const double part = (double)(time_ns - w->begin_ns) / (double)(w->end_ns - w->begin_ns);
    const int column = (int)(part * w->columns);
    return column < w->columns ? column : w->columns - 1;
}

static int64_t start_of(const struct viewer_window *w, int column)
{
    return w->begin_ns + (int64_t)((double)(w->end_ns - w->begin_ns) * column / w->columns);
}

/* Adds [from, to) of one kind; `weight` in thousandths of that time. */
static void add_span(struct lane *lane, int64_t from_ns, int64_t to_ns, enum viewer_cell cell, uint64_t weight)
{
    const struct viewer_window *w = lane->window;
    from_ns = from_ns > w->begin_ns ? from_ns : w->begin_ns;
    to_ns = to_ns < w->end_ns ? to_ns : w->end_ns;
    if (from_ns >= to_ns)
        return;
    const int last = column_of(w, to_ns - 1);
    for (int c = column_of(w, from_ns); c <= last; c++) {
        const int64_t low = start_of(w, c) > from_ns ? start_of(w, c) : from_ns;
        const int64_t high = start_of(w, c + 1) < to_ns ? start_of(w, c + 1) : to_ns;
        if (high > low)
            lane->columns[c].ns[cell] += (uint64_t)(high - low) * weight;
    }
}

static void mark_event(struct lane *lane, const struct wsdbg_history_event *event)
{
    const struct viewer_window *w = lane->window;
    const int64_t at_ns = (int64_t)event->gpu_time_ns;
    if (at_ns >= w->begin_ns && at_ns < w->end_ns)
        lane->event[column_of(w, at_ns)][cell_after(event)] = true;
}

/* Events in a row: each lasts until the next one. */
static void add_events(struct lane *lane, const struct wsdbg_history_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        mark_event(lane, &events[i]);
        if (i + 1 < count)
            add_span(lane, (int64_t)events[i].gpu_time_ns, (int64_t)events[i + 1].gpu_time_ns, cell_after(&events[i]),
                     1000);
    }
}

/* From the warp's last event to the newest time stamp, and beyond. */
static void add_tail(struct lane *lane, const struct wsdbg_history_event *last)
{
    enum viewer_cell cell = cell_after(last);
    if (cell == VIEWER_CELL_WAITS || last->kind == WSDBG_EVENT_WGMMA_WAIT_BEGIN)
        cell = VIEWER_CELL_STALLED;
    add_span(lane, (int64_t)last->gpu_time_ns, lane->window->end_ns, cell, 1000);
}

/* What came before the first kept event is not known, unless that is the warp's begin. */
static void add_head(struct lane *lane, const struct wsdbg_history_event *first)
{
    if (first->kind != WSDBG_EVENT_BEGIN)
        add_span(lane, lane->window->begin_ns, (int64_t)first->gpu_time_ns, VIEWER_CELL_UNKNOWN, 1000);
}

static bool read_one(struct viewer_source *source, uint32_t warp, uint32_t number, struct wsdbg_history_event *out)
{
    return source->ops->events(source, warp, number, 1, out) == 1;
}

uint32_t viewer_event_after(struct viewer_source *source, uint32_t warp, int64_t time_ns)
{
    uint32_t low = 0, high = source->ops->event_count(source, warp);
    while (low < high) {
        struct wsdbg_history_event event;
        const uint32_t middle = low + (high - low) / 2;
        if (read_one(source, warp, middle, &event) && (int64_t)event.gpu_time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Events [first, first + count), at most EVENTS_WHOLE of the `total` a warp has. */
static void add_whole(struct lane *lane, struct viewer_source *source, uint32_t warp, uint32_t first, uint32_t count,
                      uint32_t total)
{
    struct wsdbg_history_event events[EVENTS_WHOLE];
    const uint32_t got = source->ops->events(source, warp, first, count, events);
    if (got == 0)
        return;
    if (first == 0)
        add_head(lane, &events[0]);
    add_events(lane, events, got);
    if (first + got == total)
        add_tail(lane, &events[got - 1]);
}

/* The time up to the next chunk's first event, shared out as the few events of this chunk share theirs. */
static void add_chunk(struct lane *lane, const struct wsdbg_history_event *events, uint32_t count, int64_t until_ns)
{
    const int64_t first_ns = (int64_t)events[0].gpu_time_ns;
    const int64_t seen_ns = (int64_t)events[count - 1].gpu_time_ns - first_ns;
    for (uint32_t i = 0; i + 1 < count && seen_ns > 0; i++) {
        const int64_t part_ns = (int64_t)(events[i + 1].gpu_time_ns - events[i].gpu_time_ns);
        add_span(lane, first_ns, until_ns, cell_after(&events[i]), (uint64_t)(part_ns * 1000 / seen_ns));
    }
}

static void add_sampled(struct lane *lane, struct viewer_source *source, uint32_t warp, uint32_t first, uint32_t count)
{
    struct wsdbg_history_event chunk[2][CHUNK_EVENTS];
    uint32_t got = 0;
    for (uint32_t i = 0; i < CHUNKS; i++) {
        const uint32_t number = first + (uint32_t)((uint64_t)count * i / CHUNKS);
        struct wsdbg_history_event *const now = chunk[i % 2], *const before = chunk[(i + 1) % 2];
        const uint32_t read = source->ops->events(source, warp, number, CHUNK_EVENTS, now);
        if (got > 0 && read > 0)
            add_chunk(lane, before, got, (int64_t)now[0].gpu_time_ns);
        got = read;
    }
    if (got > 0)
        add_chunk(lane, chunk[(CHUNKS - 1) % 2], got, lane->window->end_ns);
}

/* False: the warp has more events in the window than are read. */
static bool add_warp(struct lane *lane, struct viewer_source *source, uint32_t warp)
{
    const uint32_t total = source->ops->event_count(source, warp);
    if (total <= EVENTS_WHOLE) {
        add_whole(lane, source, warp, 0, total, total);
        return true;
    }
    const uint32_t after = viewer_event_after(source, warp, lane->window->begin_ns);
    const uint32_t first = after > 0 ? after - 1 : 0;
    uint32_t end = viewer_event_after(source, warp, lane->window->end_ns);
    end += end < total;
    if (end - first <= EVENTS_WHOLE) {
        add_whole(lane, source, warp, first, end - first, total);
        return true;
    }
    add_sampled(lane, source, warp, first, end - first - EVENTS_WHOLE / 8);
    add_whole(lane, source, warp, end - EVENTS_WHOLE / 8, EVENTS_WHOLE / 8, total);
    return false;
}

static enum viewer_cell activity(const struct lane *lane, int column)
{
    const struct column *c = &lane->columns[column];
    if (c->ns[VIEWER_CELL_WGMMA] || lane->event[column][VIEWER_CELL_WGMMA])
        return VIEWER_CELL_WGMMA;
    return c->ns[VIEWER_CELL_TMA] || lane->event[column][VIEWER_CELL_TMA] ? VIEWER_CELL_TMA : VIEWER_CELL_RUNS;
}

static enum viewer_cell most(const struct lane *lane, int column)
{
    const uint64_t *ns = lane->columns[column].ns;
    const uint64_t active = ns[VIEWER_CELL_RUNS] + ns[VIEWER_CELL_TMA] + ns[VIEWER_CELL_WGMMA];
    const uint64_t waits = ns[VIEWER_CELL_WAITS] + ns[VIEWER_CELL_STALLED];
    if (active == 0 && waits == 0)
        return ns[VIEWER_CELL_EXITED]    ? VIEWER_CELL_EXITED
               : ns[VIEWER_CELL_UNKNOWN] ? VIEWER_CELL_UNKNOWN
                                         : VIEWER_CELL_NOTHING;
    if (active > waits)
        return activity(lane, column);
    return ns[VIEWER_CELL_STALLED] >= ns[VIEWER_CELL_WAITS] ? VIEWER_CELL_STALLED : VIEWER_CELL_WAITS;
}

static void show(const struct lane *lane, unsigned char *cells)
{
    for (int c = 0; c < lane->window->columns; c++)
        cells[c] = (unsigned char)most(lane, c);
}

bool viewer_lane_read(struct viewer_source *source, const struct wsdbg_snapshot *s, uint32_t cta, uint32_t warpgroup,
                      const struct viewer_window *window, unsigned char *cells)
{
    struct lane lane = {.window = window};
    const struct wsdbg_cta *c = &s->ctas[cta];
    bool whole = true;
    for (uint32_t w = c->warp_first; w < c->warp_first + c->warp_count && whole; w++)
        if (s->warps[w].warp / GROUP_WARPS == warpgroup)
            whole = add_warp(&lane, source, w);
    show(&lane, cells);
    return !whole;
}

static enum viewer_cell cell_of(enum wsdbg_warp_state state)
{
    if (state == WSDBG_WARP_UNKNOWN)
        return VIEWER_CELL_NOTHING;
    if (state == WSDBG_WARP_WAIT_WGMMA)
        return VIEWER_CELL_WGMMA;
    if (wsdbg_warp_state_waits(state))
        return VIEWER_CELL_WAITS;
    return state == WSDBG_WARP_EXITED ? VIEWER_CELL_EXITED : VIEWER_CELL_RUNS;
}

void viewer_lane_sample(const struct viewer_samples *samples, const struct wsdbg_snapshot *s, uint32_t cta,
                        uint32_t warpgroup, const struct viewer_window *window, unsigned char *cells)
{
    struct lane lane = {.window = window};
    const struct wsdbg_cta *c = &s->ctas[cta];
    const uint64_t grid_id = s->grids[c->grid].grid_id;
    const uint32_t linear = viewer_samples_cta(s, cta);
    for (uint32_t w = c->warp_first; w < c->warp_first + c->warp_count; w++)
        for (int i = 0; s->warps[w].warp / GROUP_WARPS == warpgroup && i < window->columns; i++) {
            const int64_t at_ns = start_of(window, i);
            if (at_ns >= 0)
                lane.columns[i]
                    .ns[cell_of(viewer_samples_state(samples, grid_id, linear, s->warps[w].warp, (uint64_t)at_ns))]++;
        }
    show(&lane, cells);
}

static int64_t distance(const struct wsdbg_history_event *event, int64_t time_ns)
{
    const int64_t at_ns = (int64_t)event->gpu_time_ns;
    return at_ns > time_ns ? at_ns - time_ns : time_ns - at_ns;
}

bool viewer_event_near(struct viewer_source *source, const struct wsdbg_snapshot *s, uint32_t cta, uint32_t warpgroup,
                       int64_t time_ns, uint32_t *warp, struct wsdbg_history_event *event)
{
    const struct wsdbg_cta *c = &s->ctas[cta];
    bool found = false;
    for (uint32_t w = c->warp_first; w < c->warp_first + c->warp_count; w++) {
        if (s->warps[w].warp / GROUP_WARPS != warpgroup)
            continue;
        const uint32_t after = viewer_event_after(source, w, time_ns);
        struct wsdbg_history_event pair[2];
        const uint32_t got = source->ops->events(source, w, after > 0 ? after - 1 : 0, 2, pair);
        for (uint32_t i = 0; i < got; i++)
            if (!found || distance(&pair[i], time_ns) < distance(event, time_ns)) {
                *event = pair[i];
                *warp = w;
                found = true;
            }
    }
    return found;
}
