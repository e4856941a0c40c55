/* phrases.c - see phrases.h. */
#include "viewer/phrases.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "store/event_fields.h"
#include "store/spans.h"
#include "model/symbol.h"

void viewer_grid_text(const struct wsdbg_snapshot *s, uint32_t grid, char *out, size_t bytes)
{
    char kernel[256] = "kernel ?", rank[WSDBG_PROCESS_BYTES] = "";
    const char *symbol = wsdbg_snapshot_grid_name(s, &s->grids[grid]);
    const uint32_t process = wsdbg_snapshot_has_ranks(s) ? wsdbg_snapshot_grid_process(s, grid) : WSDBG_NONE;
    if (symbol)
        wsdbg_symbol_name(symbol, kernel, sizeof kernel);
    if (process != WSDBG_NONE)
        wsdbg_process_short_text(s, s->processes[process].process_id, rank);
    snprintf(out, bytes, "%s%s%s, grid %" PRIu64 "%s", rank, rank[0] ? ": " : "", kernel, s->grids[grid].grid_id,
             s->grids[grid].running ? "" : ", over");
}

void viewer_draw_grid_title(const struct wsdbg_snapshot *s, uint32_t grid, struct viewer_canvas *canvas)
{
    char text[320];
    viewer_grid_text(s, grid, text, sizeof text);
    viewer_put(canvas, 0, 0, VIEWER_STYLE_TITLE, text);
}

void viewer_cta_text(const struct wsdbg_snapshot *s, uint32_t cta, char *out, size_t bytes)
{
    const uint32_t place[] = {s->ctas[cta].x, s->ctas[cta].y, s->ctas[cta].z};
    wsdbg_report_cta_text(1, place, out, bytes);
}

void viewer_warp_text(const struct wsdbg_snapshot *s, uint32_t warp, char *out, size_t bytes)
{
    char role[64];
    if (warp >= s->warp_count) {
        snprintf(out, bytes, "?");
        return;
    }
    viewer_role_text(s, &s->warps[warp], role, sizeof role);
    snprintf(out, bytes, "warp %" PRIu32 " (%s)", s->warps[warp].warp, role);
}

uint64_t viewer_gpu_now_ns(const struct wsdbg_snapshot *s, uint32_t warp)
{
    const uint32_t context = s->grids[s->ctas[s->warps[warp].cta].grid].context;
    const uint64_t known_ns = context < s->context_count ? s->contexts[context].gpu_now_ns : 0;
    /* A context without a clock cannot be older than its warp. */
    return known_ns > s->warps[warp].last.gpu_time_ns ? known_ns : s->warps[warp].last.gpu_time_ns;
}

/* Text that is put together piece by piece; what is too long is cut. */
struct phrase {
    char *out;
    size_t bytes, used;
};

static void say(struct phrase *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct phrase *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(p->out + p->used, p->bytes - p->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        p->used = p->used + (size_t)length < p->bytes ? p->used + (size_t)length : p->bytes - 1;
}

/* What an event's value says that its object does not. */
static void say_value(struct phrase *p, const struct wsdbg_history_event *event)
{
    switch (event->kind) {
    case WSDBG_EVENT_REGISTERS_GRANTED:
    case WSDBG_EVENT_REGISTERS_RELEASE:
        say(p, " %" PRIu32 " a thread", event->value);
        break;
    case WSDBG_EVENT_MBARRIER_INIT:
        say(p, ", %" PRIu32 " arrivals expected", event->value);
        break;
    case WSDBG_EVENT_TMA_ISSUE:
        say(p, ", %" PRIu32 " bytes", WSDBG_TMA_BYTES(event->value));
        break;
    case WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX:
    case WSDBG_EVENT_MBARRIER_EXPECT_TX:
    case WSDBG_EVENT_TMA_STORE_ISSUE:
        say(p, ", %" PRIu32 " bytes", event->value);
        break;
    case WSDBG_EVENT_NAMED_ARRIVE:
    case WSDBG_EVENT_NAMED_SYNC_BEGIN:
        say(p, ", %" PRIu32 " threads", event->value);
        break;
    case WSDBG_EVENT_USER_MARK:
        say(p, ", value %" PRIu32, event->value);
        break;
    case WSDBG_EVENT_BULK_WAIT_BEGIN:
    case WSDBG_EVENT_WGMMA_WAIT_BEGIN:
        say(p, ", %" PRIu32 " groups may stay open", event->value);
        break;
    default:
        break;
    }
}

void viewer_event_text(const struct wsdbg_snapshot *s, uint32_t warp, const struct wsdbg_history_event *event,
                       char *out, size_t bytes)
{
    char object[128];
    struct phrase p = {out, bytes, 0};
    wsdbg_event_object_text(s, s->grids[s->ctas[s->warps[warp].cta].grid].module, event, object, sizeof object);
    say(&p, "%s%s%s", wsdbg_event_kind_name((enum wsdbg_event_kind)event->kind), object[0] ? " " : "", object);
    say_value(&p, event);
    if (wsdbg_event_has_iteration(event))
        say(&p, ", iteration %" PRIu32, event->iteration);
    if (wsdbg_event_fields(event->kind) & WSDBG_FIELD_SITE)
        say(&p, ", line %" PRIu32, WSDBG_SITE_LINE(event->value));
}

uint64_t viewer_seen_ns(const struct viewer_picture *picture, uint32_t process_id)
{
    const uint32_t process = wsdbg_snapshot_process(picture->snapshot, process_id);
    const bool apart = process != WSDBG_NONE && picture->snapshot->processes[process].seen_ns.known;
    return apart ? picture->snapshot->processes[process].seen_ns.value : picture->now_ns;
}

uint64_t viewer_context_seen_ns(const struct viewer_picture *picture, uint32_t context)
{
    const struct wsdbg_snapshot *s = picture->snapshot;
    return context < s->context_count ? viewer_seen_ns(picture, s->contexts[context].process_id) : picture->now_ns;
}

void viewer_warps_time_text(const struct viewer_picture *picture, const struct wsdbg_report_warps *w, char *out,
                            size_t bytes)
{
    const uint64_t taken_ns = picture->snapshot->time_ns;
    const uint64_t since_ns = picture->now_ns > taken_ns ? picture->now_ns - taken_ns : 0;
    if (w->waiting_ns.known && w->state != WSDBG_WARP_EXITED)
        viewer_duration_text((uint64_t)w->waiting_ns.high + since_ns, out, bytes);
    else
        snprintf(out, bytes, "%s", w->state == WSDBG_WARP_EXITED ? "" : "?");
}

void viewer_tail_text(const char *place, int columns, char *out, size_t bytes)
{
    const size_t width = wsdbg_text_width(place), length = strlen(place);
    if (columns < 2 || width <= (size_t)columns || width != length)
        snprintf(out, bytes, "%s", place);
    else
        snprintf(out, bytes, "…%s", place + length - ((size_t)columns - 1));
}

const char *viewer_nothing_text(const struct viewer_context *context)
{
    if (!context->picture->snapshot)
        return "No picture of the GPU yet.";
    if (context->picture->snapshot->warp_count == 0)
        return "No warp is in the last picture: no kernel with probes was running then.";
    return "Nothing passes the filter.";
}
