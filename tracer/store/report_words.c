/* report_words.c - the words for a row of the report: numbers and their ranges, sets of warps, what is waited for.
 * Pure: a row in, text out. */
#include "store/fold.h"
#include "store/report_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void wsdbg_range_text(struct wsdbg_range range, char *out, size_t bytes)
{
    if (!range.known)
        snprintf(out, bytes, "?");
    else if (range.low == range.high)
        snprintf(out, bytes, "%" PRId64, range.low);
    else
        snprintf(out, bytes, "%" PRId64 "-%" PRId64, range.low, range.high);
}

static bool member(const struct wsdbg_members *members, int i)
{
    return i < 256 && (members->bits[i / 64] >> (i % 64) & 1);
}

void wsdbg_members_text(const struct wsdbg_members *members, char *out, size_t bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < 256 && used + 1 < bytes; i++) {
        if (!member(members, i))
            continue;
        const int first = i;
        while (member(members, i + 1))
            i++;
        used += (size_t)snprintf(out + used, bytes - used, "%s%d", used ? "," : "", first);
        if (i > first && used + 1 < bytes)
            used += (size_t)snprintf(out + used, bytes - used, "-%d", i);
    }
}

void wsdbg_report_members_text(const struct wsdbg_members *members, char *out, size_t bytes)
{
    char numbers[128];
    wsdbg_members_text(members, numbers, sizeof numbers);
    snprintf(out, bytes, "%s %s", strpbrk(numbers, ",-") ? "warps" : "warp", numbers);
}

void wsdbg_report_cta_text(uint32_t count, const uint32_t *cta, char *out, size_t bytes)
{
    if (count == 1)
        snprintf(out, bytes, "CTA (%u,%u,%u)", cta[0], cta[1], cta[2]);
    else
        snprintf(out, bytes, "%u CTAs", count);
}

void wsdbg_report_role_text(const struct wsdbg_report_warps *w, char *out, size_t bytes)
{
    if (w->role_name[0])
        snprintf(out, bytes, "%s", w->role_name);
    else if (w->role.known)
        snprintf(out, bytes, "role %u", w->role.value);
    else
        snprintf(out, bytes, "?");
}

/* "warp 3", "warps 0-3": what a role is called of which the code tells no more. */
static bool is_called_by_warps(const char *role)
{
    unsigned first, last;
    int end = -1;
    if (sscanf(role, "warps %u-%u%n", &first, &last, &end) < 2)
        sscanf(role, "warp %u%n", &first, &end);
    return end > 0 && role[end] == '\0';
}

/* "mbarrier 0x400", "mbarrier 3": what a barrier is called of which the code tells no more. */
static bool is_called_by_place(const char *barrier)
{
    static const char kind[] = "mbarrier ";
    return strncmp(barrier, kind, strlen(kind)) == 0 && isdigit((unsigned char)barrier[strlen(kind)]);
}

const char *wsdbg_report_names_text(const struct wsdbg_report *r)
{
    bool has[WSDBG_ORIGIN_UNKNOWN + 1] = {false};
    for (size_t i = 0; i < r->row_count; i++) {
        const struct wsdbg_report_warps *w = &r->rows[i];
        has[w->role_origin] |= !is_called_by_warps(w->role_name);
        has[w->barrier_origin] |= !is_called_by_place(w->barrier_name);
    }
    for (size_t i = 0; i < r->barrier_row_count; i++)
        has[r->barrier_rows[i].name_origin] |= !is_called_by_place(r->barrier_rows[i].name);
    return has[WSDBG_ORIGIN_CODE]      ? "of roles and barriers are inferred from the code"
           : has[WSDBG_ORIGIN_UNKNOWN] ? "of roles and barriers may be inferred from the code"
                                       : NULL;
}

void wsdbg_report_role_beside_warps(const struct wsdbg_report_warps *w, char *out, size_t bytes)
{
    if (is_called_by_warps(w->role_name))
        snprintf(out, bytes, "-");
    else
        wsdbg_report_role_text(w, out, bytes);
}

void wsdbg_report_who_text(const struct wsdbg_report_warps *w, char *out, size_t bytes)
{
    char role[WSDBG_REPORT_LABEL_BYTES], members[136];
    wsdbg_report_role_text(w, role, sizeof role);
    wsdbg_report_members_text(&w->members, members, sizeof members);
    if (is_called_by_warps(w->role_name))
        snprintf(out, bytes, "%s", members);
    else
        snprintf(out, bytes, "%s, %s", role, members);
}

static void poll_text(const struct wsdbg_report_warps *w, char *out, size_t bytes)
{
    char value[48] = "?", width[32] = "";
    if (w->value.known && w->value.low == w->value.high)
        snprintf(value, sizeof value, "%" PRIu64, (uint64_t)w->value.low);
    else if (w->value.known)
        snprintf(value, sizeof value, "various");
    if (w->width_bytes.known)
        snprintf(width, sizeof width, " (%u bytes)", w->width_bytes.value);
    if (w->address.known && w->address.low == w->address.high)
        snprintf(out, bytes, "polls 0x%" PRIx64 "%s, value %s", (uint64_t)w->address.low, width, value);
    else
        snprintf(out, bytes, "polls %s addresses%s, value %s", w->address.known ? "several" : "unknown", width, value);
}

bool wsdbg_report_lacks_ctas(const struct wsdbg_report *r, const struct wsdbg_report_grid *g)
{
    return g->running && g->cta_seen < g->cta_total && r->look_count > 0;
}

void wsdbg_report_where_text(const struct wsdbg_report_warps *w, char *out, size_t bytes)
{
    char lines[48];
    wsdbg_range_text(w->line, lines, sizeof lines);
    if (w->place[0])
        snprintf(out, bytes, "%s", w->place);
    else if (w->line.known)
        snprintf(out, bytes, "%s%s%s", w->file[0] ? w->file : "line ", w->file[0] ? ":" : "", lines);
    else
        snprintf(out, bytes, "%s", "");
}

void wsdbg_report_wait_text(const struct wsdbg_report_warps *w, char *out, size_t bytes)
{
    char id[48], stage[48], parity[48];
    wsdbg_range_text(w->barrier_id, id, sizeof id);
    wsdbg_range_text(w->stage, stage, sizeof stage);
    wsdbg_range_text(w->parity, parity, sizeof parity);
    out[0] = '\0';
    if (w->state == WSDBG_WARP_WAIT_MBARRIER) {
        if (w->barrier_name[0])
            snprintf(out, bytes, "%s[%s] parity %s", w->barrier_name, stage, parity);
        else
            snprintf(out, bytes, "mbarrier %s[%s] parity %s", id, stage, parity);
    } else if (w->state == WSDBG_WARP_WAIT_REGISTERS) {
        wsdbg_range_text(w->registers_asked, id, sizeof id);
        wsdbg_range_text(w->registers_held, stage, sizeof stage);
        snprintf(out, bytes, "asks %s, holds %s registers", id, stage);
    } else if (w->state == WSDBG_WARP_WAIT_NAMED) {
        snprintf(out, bytes, "%s (id %s)", w->barrier_name[0] ? w->barrier_name : "named barrier", id);
    } else if (wsdbg_warp_state_polls(w->state) && w->site != WSDBG_NONE) {
        poll_text(w, out, bytes);
    } else if (wsdbg_warp_state_waits(w->state)) {
        snprintf(out, bytes, "%s", w->barrier_kind[0] ? w->barrier_kind : "?");
    } else if (w->last_event.known && w->state != WSDBG_WARP_EXITED) {
        const bool one = w->last_event.low == w->last_event.high;
        snprintf(out, bytes, "last: %s",
                 one ? wsdbg_event_kind_name((enum wsdbg_event_kind)w->last_event.low) : "various");
    }
}

void wsdbg_report_barrier_text(const struct wsdbg_report_barriers *b, char *out, size_t bytes)
{
    char id[48], stages[128];
    wsdbg_range_text(b->id, id, sizeof id);
    wsdbg_members_text(&b->members, stages, sizeof stages);
    if (b->kind == WSDBG_BARRIER_MBARRIER && b->name[0])
        snprintf(out, bytes, "%s[%s]", b->name, stages);
    else if (b->kind == WSDBG_BARRIER_MBARRIER)
        snprintf(out, bytes, "mbarrier %s[%s]", id, stages);
    else if (b->kind == WSDBG_BARRIER_NAMED)
        snprintf(out, bytes, "%s (id %s)", b->name[0] ? b->name : "named barrier", id);
    else
        snprintf(out, bytes, "%s", wsdbg_barrier_kind_name(b->kind));
}

void wsdbg_report_waited_text(const struct wsdbg_report_barriers *b, char *out, size_t bytes)
{
    char stages[128];
    out[0] = '\0';
    if (b->kind != WSDBG_BARRIER_MBARRIER || wsdbg_members_first(&b->waited) == 256 ||
        memcmp(&b->waited, &b->members, sizeof b->waited) == 0)
        return;
    wsdbg_members_text(&b->waited, stages, sizeof stages);
    snprintf(out, bytes, "[%s]", stages);
}

void wsdbg_report_barrier_waited_text(const struct wsdbg_report_barriers *b, char *out, size_t bytes)
{
    char waited[160];
    wsdbg_report_barrier_text(b, out, bytes);
    wsdbg_report_waited_text(b, waited, sizeof waited);
    if (waited[0]) {
        const size_t used = strlen(out);
        snprintf(out + used, bytes - used, ": waits at %s", waited);
    }
}

void wsdbg_report_tx_text(const struct wsdbg_report_barriers *b, char *out, size_t bytes)
{
    if (!b->pending_tx_known)
        snprintf(out, bytes, "?");
    else if (b->pending_tx_bytes.low < 0)
        snprintf(out, bytes, "%" PRId64 " early", -b->pending_tx_bytes.low);
    else
        wsdbg_range_text(b->pending_tx_bytes, out, bytes);
}

void wsdbg_report_offset_text(const struct wsdbg_report_barriers *b, char *out, size_t bytes)
{
    const struct wsdbg_range offset = b->shared_offset;
    if (!offset.known)
        snprintf(out, bytes, "?");
    else if (offset.low == offset.high)
        snprintf(out, bytes, "0x%" PRIx64, (uint64_t)offset.low);
    else
        snprintf(out, bytes, "0x%" PRIx64 "-0x%" PRIx64, (uint64_t)offset.low, (uint64_t)offset.high);
}

void wsdbg_report_barrier_state_text(const struct wsdbg_report_barriers *b, char *out, size_t bytes)
{
    char phase[48], pending[48], expected[48], tx[64], offset[64];
    wsdbg_range_text(b->phase, phase, sizeof phase);
    wsdbg_range_text(b->pending_arrivals, pending, sizeof pending);
    wsdbg_range_text(b->expected_arrivals, expected, sizeof expected);
    wsdbg_report_tx_text(b, tx, sizeof tx);
    wsdbg_report_offset_text(b, offset, sizeof offset);
    out[0] = '\0';
    if (b->kind == WSDBG_BARRIER_MBARRIER)
        snprintf(out, bytes, "phase %s, pending %s of %s arrivals, %s bytes%s%s", phase, pending, expected, tx,
                 b->shared_offset.known ? ", shared " : "", b->shared_offset.known ? offset : "");
    else if (b->kind == WSDBG_BARRIER_NAMED)
        snprintf(out, bytes, "%s threads expected", expected);
    else if (b->kind == WSDBG_BARRIER_CLUSTER && b->expected_arrivals.known)
        snprintf(out, bytes, "pending %s of %s threads", pending, expected);
}

void wsdbg_report_lanes_text(uint32_t lanes, char *out, size_t bytes)
{
    char numbers[112];
    wsdbg_members_text(&(struct wsdbg_members){{lanes}}, numbers, sizeof numbers);
    const bool one = lanes && (lanes & (lanes - 1)) == 0;
    snprintf(out, bytes, "%s %s", one ? "lane" : "lanes", lanes ? numbers : "?");
}

void wsdbg_report_part_text(const struct wsdbg_report_part *p, char *out, size_t bytes)
{
    char lanes[128], wait[256] = "";
    wsdbg_report_lanes_text(p->part.lanes, lanes, sizeof lanes);
    if (wsdbg_warp_state_polls(p->part.state) && p->part.address.known)
        snprintf(wait, sizeof wait, " polls 0x%" PRIx64, p->part.address.value);
    else if (p->part.state == WSDBG_WARP_WAIT_MBARRIER && p->part.parity.known)
        snprintf(wait, sizeof wait, " %s parity %u", p->barrier[0] ? p->barrier : "?", p->part.parity.value);
    else if (p->barrier[0])
        snprintf(wait, sizeof wait, " %s", p->barrier);
    snprintf(out, bytes, "%s: %s%s%s%s", lanes, wsdbg_warp_state_name(p->part.state), wait, p->place[0] ? ", " : "",
             p->place);
}

void wsdbg_report_looks_text(const struct wsdbg_look_row *looks, size_t count, char *out, size_t bytes)
{
    uint64_t stopped_ns = 0;
    char apart[64] = "", stopped[64] = "";
    for (size_t i = 0; i < count; i++)
        stopped_ns += looks[i].suspend_ns + looks[i].read_ns + looks[i].resume_ns;
    /* A core dump tells neither when it was made nor how long that took. */
    if (stopped_ns)
        snprintf(stopped, sizeof stopped, ", the GPU stopped for %.0f ms%s", (double)stopped_ns / 1e6,
                 count > 1 ? " in all" : "");
    if (count > 1 && looks[count - 2].time_ns)
        snprintf(apart, sizeof apart, " %.2f s apart",
                 (double)(looks[count - 1].time_ns - looks[count - 2].time_ns) / 1e9);
    snprintf(out, bytes, "%zu look%s%s%s", count, count == 1 ? "" : "s", apart, stopped);
}
