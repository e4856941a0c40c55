/* why_text.c - an answer as text: the cause and what to change first, then the object, then the ways out of its wait.
 * Reads an answer, writes text. */
#include "store/report_internal.h"
#include "model/symbol.h"
#include "store/why_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT_MOST = 8 }; /* hops deeper than this stand below each other */

struct writing {
    const struct wsdbg_why *why;
    const struct wsdbg_sheet *out;
    uint32_t told; /* the finding that was printed last, WSDBG_NONE at first */
};

static void heading(struct writing *w, const char *text)
{
    wsdbg_report_line(w->out, w->out->colour ? "1" : NULL, "%s", text);
}

static const struct wsdbg_snapshot *picture(struct writing *w)
{
    return &w->why->loaded.snapshot;
}

/* "WAIT_MBARRIER  empty[0] parity 1, gemm.cu:132, 2.0 s" */
static void state_text(const struct wsdbg_why_group *g, char *out, size_t bytes)
{
    char *detail = wsdbg_report_detail_text(&g->words);
    const bool more = detail && detail[0];
    snprintf(out, bytes, "%s%s%s", wsdbg_warp_state_name(g->words.state), more ? "  " : "", more ? detail : "");
    free(detail);
}

/* " of CTA (0,0,0), cluster rank 1 of 2, gemm_cooperative" */
static void place_text(const struct wsdbg_snapshot *s, uint32_t cta, char *out, size_t bytes)
{
    const struct wsdbg_cta *row = &s->ctas[cta];
    char kernel[256] = "?", rank[64] = "";
    const char *name = row->grid < s->grid_count ? wsdbg_snapshot_grid_name(s, &s->grids[row->grid]) : NULL;
    if (name)
        wsdbg_symbol_name(name, kernel, sizeof kernel);
    if (row->cluster_size > 1)
        snprintf(rank, sizeof rank, ", cluster rank %u of %u", row->cluster_rank, row->cluster_size);
    snprintf(out, bytes, "CTA (%u,%u,%u)%s, %s", row->x, row->y, row->z, rank, kernel);
}

static void same_line(struct writing *w, const struct wsdbg_why_answer *a)
{
    if (a->same_ctas)
        wsdbg_report_line(w->out, NULL, "  and %u more CTA%s in the same state", a->same_ctas,
                          a->same_ctas == 1 ? "" : "s");
    if (a->other_ctas)
        wsdbg_report_line(w->out, NULL, "  in %u CTA%s it is in another state (--cta X,Y,Z names one)", a->other_ctas,
                          a->other_ctas == 1 ? "" : "s");
    if (w->why->others[0])
        wsdbg_report_line(w->out, NULL, "  (%s goes by this name, too)", w->why->others);
}

static void finding_block(struct writing *w, uint32_t index, const char *before)
{
    const struct wsdbg_report_finding *f = &w->why->report.findings[index];
    const char *tint = w->why->report.hang && index == 0 ? "1;31" : "1;33";
    const bool again = w->told == index;
    char title[WSDBG_TITLE_BYTES];
    wsdbg_report_title(&w->why->report, index, title);
    wsdbg_report_line(w->out, w->out->colour ? tint : NULL, "%s%s%s", before, title, again ? ", as above" : "");
    w->told = index;
    if (again)
        return;
    wsdbg_report_wrap(w->out, NULL, "  ", f->sentence);
    if (f->fix[0])
        wsdbg_report_wrap(w->out, w->out->colour ? "32" : NULL, "Fix: ", f->fix);
}

static void relation_block(struct writing *w, const struct wsdbg_why_answer *a)
{
    switch (a->relation) {
    case WSDBG_WHY_CONCERNS:
        finding_block(w, a->finding, "Cause: ");
        break;
    case WSDBG_WHY_LEADS:
        finding_block(w, a->finding, "A consequence of: ");
        break;
    case WSDBG_WHY_NEAR:
        finding_block(w, a->finding, "No finding speaks of it; of its CTA: ");
        break;
    case WSDBG_WHY_UNRELATED:
        heading(w, w->why->loaded.diagnosed ? "No finding speaks of it." : "No stall was judged: no cause is known.");
        break;
    }
}

static void barrier_line(struct writing *w, uint32_t barrier, int indent)
{
    char name[256], state[256];
    const struct wsdbg_report_barriers words = wsdbg_why_barrier_words(picture(w), barrier);
    wsdbg_report_barrier_text(&words, name, sizeof name);
    wsdbg_report_barrier_state_text(&words, state, sizeof state);
    if (state[0])
        wsdbg_report_line(w->out, NULL, "%*s%s: %s", indent, "", name, state);
}

/* How a hop ends, in its own line. */
static const char *end_words(enum wsdbg_why_end end)
{
    switch (end) {
    case WSDBG_WHY_RING:
        return "  <- back to a wait above";
    case WSDBG_WHY_SHOWN:
        return "  (see above)";
    case WSDBG_WHY_LEFT:
        return ", can end nothing any more";
    default:
        return "";
    }
}

/* How it ends, in a line below it: "" = not there. */
static const char *end_below(enum wsdbg_why_end end)
{
    switch (end) {
    case WSDBG_WHY_NO_WAIT:
        return "<- waits for nobody";
    case WSDBG_WHY_NOBODY:
        return "<- nobody is known who could end this";
    case WSDBG_WHY_NOT_JUDGED:
        return "<- who could end this: ?";
    default:
        return "";
    }
}

/* Why a group can end the wait a hop above, at its first mention. */
static const char *how_words(const struct wsdbg_why_hop *hop)
{
    if (!hop->how || hop->end == WSDBG_WHY_LEFT)
        return NULL;
    return strcmp(hop->how, "declared") == 0 ? "declared to arrive" : hop->how;
}

static void hop_line(struct writing *w, const struct wsdbg_why_hop *hop, int indent)
{
    char state[512];
    const bool known = hop->end == WSDBG_WHY_SHOWN || hop->end == WSDBG_WHY_RING;
    const char *how = how_words(hop);
    const char *tint = !w->out->colour ? NULL : wsdbg_warp_state_waits(hop->group.words.state) ? "33" : "2";
    state_text(&hop->group, state, sizeof state);
    wsdbg_report_line(w->out, tint, "%*s%s%s%s: %s%s", indent, "", hop->group.who, how ? ", " : "", how ? how : "",
                      known ? wsdbg_warp_state_name(hop->group.words.state) : state, end_words(hop->end));
    if (!known && hop->barrier != WSDBG_NONE)
        barrier_line(w, hop->barrier, indent + 4);
    if (end_below(hop->end)[0])
        wsdbg_report_line(w->out, NULL, "%*s%s", indent + 4, "", end_below(hop->end));
}

/* Hops from number `from` on; those of depth `top` stand at the left. */
static void hops_block(struct writing *w, const struct wsdbg_why_hops *hops, size_t from, unsigned top)
{
    for (size_t i = from; i < hops->count; i++) {
        const unsigned depth = hops->hops[i].depth - top;
        hop_line(w, &hops->hops[i], 2 + 2 * (int)(depth < INDENT_MOST ? depth : INDENT_MOST));
    }
    if (hops->cut)
        wsdbg_report_line(w->out, NULL, "  … and more (@edges)");
}

/* The last line: where the ways shown above lead. */
static void ends_line(struct writing *w, const struct wsdbg_why_hops *hops)
{
    bool ends[WSDBG_WHY_NOT_JUDGED + 1] = {false};
    for (size_t i = 0; i < hops->count; i++)
        ends[hops->hops[i].end] = true;
    if (hops->cut || hops->count < 2 || ends[WSDBG_WHY_NOT_JUDGED])
        return;
    if (ends[WSDBG_WHY_NO_WAIT])
        wsdbg_report_line(w->out, NULL, "  So it depends on what those do that wait for nobody.");
    else if (ends[WSDBG_WHY_NOBODY])
        wsdbg_report_line(w->out, NULL, "  So it depends on waits that nobody who was seen could end.");
    else if (ends[WSDBG_WHY_RING])
        wsdbg_report_line(w->out, NULL, "  So every known way leads back to a wait above%s.",
                          ends[WSDBG_WHY_LEFT] ? " or to warps that left" : "");
    else if (ends[WSDBG_WHY_LEFT])
        wsdbg_report_line(w->out, NULL, "  So every known way leads to warps that left the kernel.");
}

static void warp_answer(struct writing *w, const struct wsdbg_why_answer *a)
{
    char place[512], state[512], line[700];
    const struct wsdbg_why_hop *self = &a->hops.hops[0];
    place_text(picture(w), a->cta, place, sizeof place);
    snprintf(line, sizeof line, "%s of %s", a->group.who + a->group.rank_bytes, place);
    heading(w, line);
    state_text(&a->group, state, sizeof state);
    wsdbg_report_line(w->out, NULL, "  %s", state);
    wsdbg_report_part_lines(&w->why->report, &a->group.words, w->out);
    if (self->barrier != WSDBG_NONE)
        barrier_line(w, self->barrier, 2);
    same_line(w, a);
    if (!w->why->of_finding)
        relation_block(w, a);
    if (a->hops.count > 1) {
        heading(w, "Who could end that, and what they do");
        hops_block(w, &a->hops, 1, 1);
        ends_line(w, &a->hops);
    } else if (wsdbg_warp_state_waits(a->group.words.state)) {
        wsdbg_report_line(w->out, NULL, "Who could end that: %s",
                          self->end == WSDBG_WHY_NOBODY ? "nobody who was seen" : "?");
    }
}

/* "mbarrier arrive in iteration 15": what was done last for the barrier; "" = nothing on record, or they differ. */
static void deed_text(const struct wsdbg_history_event *deed, char *out, size_t bytes)
{
    char iteration[32] = "";
    out[0] = '\0';
    if (deed->kind == WSDBG_EVENT_NONE)
        return;
    if (deed->iteration != WSDBG_NO_ITERATION)
        snprintf(iteration, sizeof iteration, " in iteration %u", deed->iteration);
    snprintf(out, bytes, "%s%s", wsdbg_event_kind_name((enum wsdbg_event_kind)deed->kind), iteration);
}

/* The warps that share in it, with what they do now; false = none. */
static bool part_block(struct writing *w, const struct wsdbg_why_answer *a, unsigned share, const char *title)
{
    bool any = false;
    for (size_t i = 0; i < a->part_count; i++) {
        char state[512];
        if (!(a->parts[i].shares & share))
            continue;
        if (!any)
            heading(w, title);
        any = true;
        state_text(&a->parts[i].group, state, sizeof state);
        wsdbg_report_line(w->out, NULL, "  %s: %s", a->parts[i].group.who, state);
    }
    return any;
}

static void deeds_line(struct writing *w, const struct wsdbg_why_part *part)
{
    static const struct {
        unsigned share;
        const char *words;
    } deeds[] = {{WSDBG_SHARE_ARRIVED, "arrived"},
                 {WSDBG_SHARE_EXPECTED, "announced bytes"},
                 {WSDBG_SHARE_ISSUED, "issued copies"},
                 {WSDBG_SHARE_SKIPPED, "went past without arriving"}};
    char text[160] = "", newest[96];
    size_t used = 0;
    if (part->threads)
        used = (size_t)snprintf(text, sizeof text, "%u of %u lanes arrived, %u did not", part->arrived, part->threads,
                                part->threads - part->arrived);
    for (size_t i = part->threads ? 1 : 0; i < sizeof deeds / sizeof *deeds; i++)
        if (part->shares & deeds[i].share)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", deeds[i].words);
    deed_text(&part->last_deed, newest, sizeof newest);
    wsdbg_report_line(w->out, NULL, "  %s: %s%s%s", part->group.who, text, used && newest[0] ? "; newest: " : "",
                      newest);
}

static bool is_done_for_phase(const struct wsdbg_why_part *part)
{
    return part->shares & (WSDBG_SHARE_ARRIVED | WSDBG_SHARE_EXPECTED | WSDBG_SHARE_ISSUED | WSDBG_SHARE_SKIPPED);
}

static bool has_deed(const struct wsdbg_why_part *part)
{
    return part->last_deed.kind != WSDBG_EVENT_NONE;
}

static void phase_heading(struct writing *w, const struct wsdbg_why_answer *a, bool done, bool deeds)
{
    const struct wsdbg_account *account = &a->account;
    char iteration[48] = "", title[160];
    const char *of = account->phase_over ? "the phase that its waiters must see, which is complete" : "this phase";
    if (account->iteration.known && (done || account->phase_known))
        snprintf(iteration, sizeof iteration, " (iteration %u)", account->iteration.value);
    const char *rest = done                   ? (account->phase_known ? "" : ", as far as recorded")
                       : account->phase_known ? ": nothing"
                       : deeds                ? ": ?; newest on record"
                                              : ": ?";
    snprintf(title, sizeof title, "Done for %s%s%s", of, iteration, rest);
    heading(w, title);
}

/* Arrivals and bytes of the phase under way, as far as they are on record. */
static void phase_block(struct writing *w, const struct wsdbg_why_answer *a)
{
    const struct wsdbg_account *account = &a->account;
    bool done = false, deeds = false;
    for (size_t i = 0; i < a->part_count; i++) {
        done = done || is_done_for_phase(&a->parts[i]);
        deeds = deeds || has_deed(&a->parts[i]);
    }
    phase_heading(w, a, done, deeds);
    for (size_t i = 0; i < a->part_count; i++)
        if (done ? is_done_for_phase(&a->parts[i]) : !account->phase_known && has_deed(&a->parts[i]))
            deeds_line(w, &a->parts[i]);
    if (account->expected_bytes.value || account->issued_bytes.value)
        wsdbg_report_line(w->out, NULL, "  %" PRIu64 " bytes announced, copies of %" PRIu64 " bytes issued",
                          account->expected_bytes.value, account->issued_bytes.value);
}

static void barrier_heading(struct writing *w, const struct wsdbg_why_answer *a)
{
    char place[512], name[256], state[256], line[800];
    const struct wsdbg_report_barriers words = wsdbg_why_barrier_words(picture(w), a->barrier);
    wsdbg_report_barrier_text(&words, name, sizeof name);
    wsdbg_report_barrier_state_text(&words, state, sizeof state);
    place_text(picture(w), a->cta, place, sizeof place);
    snprintf(line, sizeof line, "%s of %s", name, place);
    heading(w, line);
    if (state[0] && words.completed_phases.known)
        wsdbg_report_line(w->out, NULL, "  %s; %" PRId64 " phase%s completed", state, words.completed_phases.low,
                          words.completed_phases.low == 1 ? "" : "s");
    else if (state[0])
        wsdbg_report_line(w->out, NULL, "  %s", state);
    same_line(w, a);
}

/* Who has not come and could: with the ways on from there where the barrier was asked about. */
static void to_come_block(struct writing *w, const struct wsdbg_why_answer *a)
{
    const bool whole = a->account.to_come_known;
    const char *title = whole ? "Still to come" : "Still to come, perhaps others too";
    if (!w->why->of_finding && a->hops.count > 0) {
        heading(w, title);
        hops_block(w, &a->hops, 0, 0);
        ends_line(w, &a->hops);
    } else if (!part_block(w, a, WSDBG_SHARE_TO_COME, title)) {
        heading(w, whole ? "Still to come: nobody" : "Still to come: ?");
    }
}

static void barrier_answer(struct writing *w, const struct wsdbg_why_answer *a)
{
    barrier_heading(w, a);
    if (!w->why->of_finding)
        relation_block(w, a);
    if (!part_block(w, a, WSDBG_SHARE_WAITS, "Wait on it"))
        heading(w, "Nobody waits on it");
    if (picture(w)->barriers[a->barrier].kind == WSDBG_BARRIER_MBARRIER)
        phase_block(w, a);
    to_come_block(w, a);
    part_block(w, a, WSDBG_SHARE_LEFT, "Have left the kernel without it");
}

static void more_line(struct writing *w)
{
    const struct wsdbg_why *why = w->why;
    const uint32_t finding = why->of_finding ? 0 : why->answers[0].finding;
    if (finding < why->report.finding_count)
        wsdbg_report_line(w->out, NULL, "More about this cause: wsdbg why %s",
                          wsdbg_cause_name(why->report.findings[finding].cause));
}

void wsdbg_why_text(const struct wsdbg_why *why, const struct wsdbg_sheet *out)
{
    struct writing w = {why, out, WSDBG_NONE};
    if (why->of_finding)
        finding_block(&w, 0, why->report.hang ? "HANG: " : "");
    for (size_t i = 0; i < why->answer_count; i++) {
        if (i > 0 || why->of_finding)
            fputc('\n', out->file);
        if (why->answers[i].barrier == WSDBG_NONE)
            warp_answer(&w, &why->answers[i]);
        else
            barrier_answer(&w, &why->answers[i]);
    }
    more_line(&w);
}
