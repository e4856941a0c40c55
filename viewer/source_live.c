/* source_live.c - see source_live.h.
 *
 * A picture with a diagnosis stays until something moves: the looks that follow it show the same warps without
 * their histories and without the verdict.
 */
#include "viewer/source_live.h"

#include <stdlib.h>
#include <string.h>

#include "model/place.h"

#define LOOK_EVERY_NS 500000000u
#define LOOK_STAYS_NS UINT64_C(3000000000)

/* What was read of a module. */
struct read_file {
    uint32_t process_id, row; /* the module */
    uint64_t read_ns;
    struct wsdbg_source_file file;
};

struct live {
    struct viewer_source base;
    struct viewer_feed *feed;
    struct viewer_picture picture;
    struct viewer_fresh shown;
    struct wsdbg_session_end end;
    char outcome[128];
    bool ended, end_changed;
    struct read_file *files; /* by module */
    size_t file_count;
    size_t log_seen;
    uint64_t log_lost_seen;
    char unfinished_seen[sizeof((struct viewer_feed *)0)->unfinished];
};

static void fresh_deinit(struct viewer_fresh *fresh)
{
    wsdbg_snapshot_deinit(&fresh->snapshot);
    wsdbg_diagnosis_deinit(&fresh->diagnosis);
    *fresh = (struct viewer_fresh){0};
}

static bool has_unfinished_work(const struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->context_count; i++)
        if (snapshot->contexts[i].alive && snapshot->contexts[i].unfinished_ns.known)
            return true;
    return false;
}

/* What a look at the GPU saw stays while its work goes on, and for a moment after that; a hang stays. */
static bool look_stays(const struct viewer_fresh *shown, const struct wsdbg_snapshot *now)
{
    const struct wsdbg_look_row *look = &shown->snapshot.looks[shown->snapshot.look_count - 1];
    return (shown->diagnosed && shown->diagnosis.hang) || has_unfinished_work(now) ||
           now->time_ns < look->time_ns + LOOK_STAYS_NS;
}

/* True for a picture that says less than the one shown: without the verdict, or without what a look at the GPU saw. */
static bool says_less(const struct live *live, const struct viewer_fresh *fresh)
{
    if (live->shown.snapshot.look_count > 0 && fresh->snapshot.look_count == 0 && fresh->snapshot.grid_count == 0)
        return look_stays(&live->shown, &fresh->snapshot);
    return live->shown.diagnosed && !fresh->diagnosed &&
           fresh->snapshot.progress_ns <= live->shown.snapshot.progress_ns;
}

static void show(struct live *live, struct viewer_fresh *fresh)
{
    fresh_deinit(&live->shown);
    live->shown = *fresh;
    live->picture.snapshot = &live->shown.snapshot;
    live->picture.diagnosis = live->shown.diagnosed ? &live->shown.diagnosis : NULL;
    live->picture.number++;
}

/* True when the log is another one than at the last look. */
static bool log_changed(struct live *live)
{
    const struct viewer_feed *feed = live->feed;
    const size_t count = feed->log ? viewer_log_ring_count(feed->log) : 0;
    const uint64_t lost = feed->log ? viewer_log_ring_lost(feed->log) : 0;
    if (count == live->log_seen && lost == live->log_lost_seen && strcmp(feed->unfinished, live->unfinished_seen) == 0)
        return false;
    live->log_seen = count;
    live->log_lost_seen = lost;
    memcpy(live->unfinished_seen, feed->unfinished, sizeof live->unfinished_seen);
    return true;
}

static struct wsdbg_error *live_update(struct viewer_source *source, uint64_t now_ns, bool *changed)
{
    struct live *live = (struct live *)source;
    struct viewer_fresh fresh = {0};
    bool newer = false;
    struct wsdbg_error *error = live->feed->take(live->feed, now_ns, &newer, &fresh);
    if (error)
        return error;
    if (newer && says_less(live, &fresh)) {
        fresh_deinit(&fresh);
        newer = false;
    }
    if (newer)
        show(live, &fresh);
    /* After the end nothing grows older. */
    if (!live->ended)
        live->picture.now_ns = now_ns;
    *changed = log_changed(live) || newer || live->end_changed;
    live->end_changed = false;
    return NULL;
}

static const struct viewer_picture *live_picture(struct viewer_source *source)
{
    return &((struct live *)source)->picture;
}

static uint32_t live_event_count(struct viewer_source *source, uint32_t warp)
{
    const struct wsdbg_snapshot *snapshot = &((struct live *)source)->shown.snapshot;
    return warp < snapshot->warp_count ? snapshot->warps[warp].history_count : 0;
}

static uint32_t live_events(struct viewer_source *source, uint32_t warp, uint32_t first, uint32_t count,
                            struct wsdbg_history_event *out)
{
    const struct wsdbg_snapshot *snapshot = &((struct live *)source)->shown.snapshot;
    const uint32_t have = live_event_count(source, warp);
    if (first >= have)
        return 0;
    const uint32_t got = count < have - first ? count : have - first;
    memcpy(out, &snapshot->history[snapshot->warps[warp].history_first + first], got * sizeof *out);
    return got;
}

static size_t live_log_count(struct viewer_source *source)
{
    const struct viewer_feed *feed = ((struct live *)source)->feed;
    return (feed->log ? viewer_log_ring_count(feed->log) : 0) + (feed->unfinished[0] != '\0');
}

static bool live_log_line(struct viewer_source *source, size_t number, struct wsdbg_log_line *out)
{
    const struct live *live = (struct live *)source;
    if (live->feed->log && viewer_log_ring_line(live->feed->log, number, out))
        return true;
    if (!live->feed->unfinished[0] || number + 1 != live_log_count(source))
        return false;
    *out = (struct wsdbg_log_line){live->picture.now_ns, WSDBG_LOG_TERMINAL, live->feed->unfinished};
    return true;
}

/* The place for what was read of a module; NULL = out of memory. */
static struct read_file *place_of(struct live *live, uint32_t module)
{
    if (module >= live->file_count) {
        struct read_file *larger = realloc(live->files, (module + 1) * sizeof *larger);
        if (!larger)
            return NULL;
        memset(larger + live->file_count, 0, (module + 1 - live->file_count) * sizeof *larger);
        live->files = larger;
        live->file_count = module + 1;
    }
    return &live->files[module];
}

/* A text is read once: what counts is the file as it was when the program began to run, or soon after.  Until there is
 * one it is looked for now and then, since it becomes known while the program runs. */
static const struct wsdbg_source_file *live_source_file(struct viewer_source *source, uint32_t module)
{
    struct live *live = (struct live *)source;
    const struct wsdbg_snapshot *snapshot = &live->shown.snapshot;
    struct read_file *place = module < snapshot->module_count ? place_of(live, module) : NULL;
    if (!place)
        return NULL;
    const struct wsdbg_module *asked = &snapshot->modules[module];
    const bool same = place->process_id == asked->process_id && place->row == asked->row;
    const bool found = place->file.text || place->file.ptx;
    if (same && (found || live->picture.now_ns - place->read_ns < LOOK_EVERY_NS))
        return &place->file;
    wsdbg_source_file_deinit(&place->file);
    place->process_id = asked->process_id;
    place->row = asked->row;
    place->read_ns = live->picture.now_ns;
    const struct wsdbg_module named = wsdbg_place_module(snapshot, module);
    wsdbg_error_destroy(live->feed->read_source(live->feed, &named, &place->file));
    return &place->file;
}

static void live_input(struct viewer_source *source, const char *bytes, size_t count)
{
    struct live *live = (struct live *)source;
    live->feed->input(live->feed, bytes, count);
}

static const char *live_question(struct viewer_source *source)
{
    struct live *live = (struct live *)source;
    return live->feed->question(live->feed);
}

static bool live_answer(struct viewer_source *source, int key)
{
    struct live *live = (struct live *)source;
    return live->feed->answer(live->feed, key);
}

static void live_interrupt(struct viewer_source *source)
{
    struct live *live = (struct live *)source;
    live->feed->interrupt(live->feed);
}

static void live_stop(struct viewer_source *source)
{
    struct live *live = (struct live *)source;
    live->feed->stop(live->feed);
}

static bool live_look(struct viewer_source *source)
{
    struct live *live = (struct live *)source;
    if (live->ended || !live->feed->look)
        return false;
    live->feed->look(live->feed);
    return true;
}

static void live_close(struct viewer_source *source)
{
    struct live *live = (struct live *)source;
    fresh_deinit(&live->shown);
    for (size_t i = 0; i < live->file_count; i++)
        wsdbg_source_file_deinit(&live->files[i].file);
    free(live->files);
    live->feed->close(live->feed);
    free(live);
}

#define LOOKING                                                                                                 \
    .update = live_update, .picture = live_picture, .event_count = live_event_count, .events = live_events,     \
    .log_count = live_log_count, .log_line = live_log_line, .source_file = live_source_file, .look = live_look, \
    .close = live_close

static const struct viewer_source_ops attached_ops = {.name = "attached", LOOKING};
static const struct viewer_source_ops live_ops = {.name = "live",
                                                  LOOKING,
                                                  .input = live_input,
                                                  .question = live_question,
                                                  .answer = live_answer,
                                                  .interrupt = live_interrupt,
                                                  .stop = live_stop};

struct wsdbg_error *viewer_source_open_live(struct viewer_feed *feed, struct viewer_source **out)
{
    struct live *live = calloc(1, sizeof *live);
    if (!live) {
        feed->close(feed);
        return &wsdbg_error_no_memory;
    }
    live->feed = feed;
    live->base.ops = feed->input ? &live_ops : &attached_ops;
    live->picture = (struct viewer_picture){.number = 1, .info = feed->info, .live = true};
    *out = &live->base;
    return NULL;
}

void viewer_live_end(struct viewer_source *source, const struct wsdbg_session_end *end)
{
    struct live *live = (struct live *)source;
    live->ended = live->end_changed = true;
    live->picture.live = false;
    if (!end)
        return;
    live->end = *end;
    snprintf(live->outcome, sizeof live->outcome, "%s", end->outcome ? end->outcome : "");
    live->end.outcome = live->outcome;
    live->picture.end = &live->end;
    live->picture.now_ns = end->ended_ns;
}

void viewer_live_set_status(struct viewer_source *source, const char *status)
{
    struct live *live = (struct live *)source;
    live->end_changed = true;
    snprintf(live->picture.status, sizeof live->picture.status, "%s", status);
}
