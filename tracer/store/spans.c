/* spans.c - see spans.h. */
#include "store/spans.h"

#include <stdio.h>

#include "store/event_fields.h"

/* The kind that ends a wait of kind `begin`; NONE for events that begin none. */
static unsigned end_of(unsigned begin)
{
    switch (begin) {
    case WSDBG_EVENT_REGISTERS_REQUEST:
        return WSDBG_EVENT_REGISTERS_GRANTED;
    case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
        return WSDBG_EVENT_MBARRIER_WAIT_END;
    case WSDBG_EVENT_BULK_WAIT_BEGIN:
        return WSDBG_EVENT_BULK_WAIT_END;
    case WSDBG_EVENT_WGMMA_WAIT_BEGIN:
        return WSDBG_EVENT_WGMMA_WAIT_END;
    case WSDBG_EVENT_NAMED_SYNC_BEGIN:
        return WSDBG_EVENT_NAMED_SYNC_END;
    case WSDBG_EVENT_CLUSTER_WAIT_BEGIN:
        return WSDBG_EVENT_CLUSTER_WAIT_END;
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN:
        return WSDBG_EVENT_GRID_DEPENDENCY_WAIT_END;
    case WSDBG_EVENT_POLL_BEGIN:
        return WSDBG_EVENT_POLL_END;
    default:
        return WSDBG_EVENT_NONE;
    }
}

static struct wsdbg_wait_span moment(const struct wsdbg_history_event *event)
{
    return (struct wsdbg_wait_span){WSDBG_SPAN_MOMENT, *event, event->gpu_time_ns};
}

static struct wsdbg_wait_span lasting(enum wsdbg_span_kind kind, const struct wsdbg_history_event *first,
                                      uint64_t end_ns)
{
    /* Histories are checked to go forward; a database from elsewhere may not. */
    return (struct wsdbg_wait_span){kind, *first, end_ns > first->gpu_time_ns ? end_ns : first->gpu_time_ns};
}

size_t wsdbg_spans_add(struct wsdbg_spans *s, const struct wsdbg_history_event *event,
                       struct wsdbg_wait_span out[WSDBG_SPANS_AN_EVENT])
{
    size_t count = 0;
    const bool ends = s->wait.kind != WSDBG_EVENT_NONE && event->kind == end_of(s->wait.kind);
    if (ends)
        out[count++] = lasting(WSDBG_SPAN_WAIT, &s->wait, event->gpu_time_ns);
    else if (s->wait.kind != WSDBG_EVENT_NONE)
        out[count++] = moment(&s->wait);
    if (event->kind == WSDBG_EVENT_WGMMA_WAIT_END && s->wgmma.kind != WSDBG_EVENT_NONE && s->drains) {
        out[count++] = lasting(WSDBG_SPAN_WGMMA, &s->wgmma, event->gpu_time_ns);
        s->wgmma.kind = WSDBG_EVENT_NONE;
    }
    s->wait = *event;
    if (end_of(event->kind) == WSDBG_EVENT_NONE) {
        s->wait.kind = WSDBG_EVENT_NONE;
        if (!ends)
            out[count++] = moment(event);
    }
    if (event->kind == WSDBG_EVENT_WGMMA_ISSUE && s->wgmma.kind == WSDBG_EVENT_NONE)
        s->wgmma = *event;
    if (event->kind == WSDBG_EVENT_WGMMA_WAIT_BEGIN)
        s->drains = event->value == 0;
    return count;
}

bool wsdbg_spans_end(struct wsdbg_spans *s, struct wsdbg_wait_span *out)
{
    if (s->wait.kind == WSDBG_EVENT_NONE)
        return false;
    *out = lasting(WSDBG_SPAN_OPEN, &s->wait, s->wait.gpu_time_ns);
    s->wait.kind = WSDBG_EVENT_NONE;
    return true;
}

static const char *name_of(const struct wsdbg_snapshot *s, uint32_t module, enum wsdbg_name_kind kind, uint32_t id)
{
    const struct wsdbg_name *name = wsdbg_snapshot_name(s, module, kind, id);
    return name && name->name[0] ? name->name : NULL;
}

static void named_text(const struct wsdbg_snapshot *s, uint32_t module, enum wsdbg_name_kind kind, const char *word,
                       uint32_t id, char *out, size_t bytes)
{
    const char *name = name_of(s, module, kind, id);
    if (name)
        snprintf(out, bytes, "%s", name);
    else
        snprintf(out, bytes, "%s %u", word, id);
}

void wsdbg_event_object_text(const struct wsdbg_snapshot *s, uint32_t module, const struct wsdbg_history_event *event,
                             char *out, size_t bytes)
{
    const unsigned fields = wsdbg_event_fields(event->kind);
    char name[WSDBG_SOURCE_PART + 1 + 32];
    out[0] = '\0';
    if (event->kind == WSDBG_EVENT_ROLE_BEGIN)
        named_text(s, module, WSDBG_NAME_ROLE, "role", event->value, out, bytes);
    else if (event->kind == WSDBG_EVENT_USER_MARK)
        named_text(s, module, WSDBG_NAME_MARK, "mark", event->barrier, out, bytes);
    else if (event->kind == WSDBG_EVENT_POLL_BEGIN || event->kind == WSDBG_EVENT_POLL_END)
        snprintf(out, bytes, "word %u", event->barrier);
    else if (event->kind == WSDBG_EVENT_TILE_BEGIN)
        snprintf(out, bytes, "%u", event->value);
    else if (event->kind == WSDBG_EVENT_REGISTERS_REQUEST)
        snprintf(out, bytes, "%u a thread", event->value);
    else if ((fields & WSDBG_FIELD_BARRIER) && !(fields & WSDBG_FIELD_STAGE))
        named_text(s, module, WSDBG_NAME_NAMED_BARRIER, "named barrier", event->barrier, out, bytes);
    if (!(fields & WSDBG_FIELD_BARRIER) || !(fields & WSDBG_FIELD_STAGE))
        return;
    named_text(s, module, WSDBG_NAME_MBARRIER, "mbarrier", event->barrier, name, sizeof name);
    if (fields & WSDBG_FIELD_PARITY)
        snprintf(out, bytes, "%s[%u] parity %u", name, event->stage, event->parity);
    else
        snprintf(out, bytes, "%s[%u]", name, event->stage);
}

void wsdbg_wait_object_text(const struct wsdbg_snapshot *s, uint32_t module, const struct wsdbg_history_event *event,
                            char *out, size_t bytes)
{
    if (event->kind == WSDBG_EVENT_REGISTERS_REQUEST)
        snprintf(out, bytes, "%u registers a thread", event->value);
    else
        wsdbg_event_object_text(s, module, event, out, bytes);
}

uint64_t wsdbg_stall_ns(const struct wsdbg_loaded *loaded, uint32_t grid)
{
    const struct wsdbg_snapshot *s = &loaded->snapshot;
    if (!s->grids[grid].running || s->progress_ns == 0 || s->time_ns < s->progress_ns)
        return 0;
    return s->time_ns - s->progress_ns;
}

const char *wsdbg_open_words(const struct wsdbg_loaded *loaded, uint32_t grid)
{
    const struct wsdbg_diagnosis *d = &loaded->diagnosis;
    for (size_t i = 0; d->hang && i < d->finding_count; i++)
        if (d->findings[i].grid == grid && loaded->snapshot.grids[grid].running)
            return "never ends";
    return "not over in the picture";
}
