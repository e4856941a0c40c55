/* report_overlap.c - the report's rows of wgmma in flight, and the words for them.
 * Reads the histories of a stored session through the table wgmma_stage; writes report.overlaps. */
#include "store/load_internal.h"
#include "store/overlap.h"
#include "store/report_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Stamps count 32 ns and take some themselves: a wait for nothing is not quite 0 of a short round. */
#define FEW_ROUNDS 0.25

static void fill_row(struct wsdbg_select *q, struct wsdbg_report_overlap *out)
{
    out->role = wsdbg_select_u32(q);
    wsdbg_select_text(q, out->role_name, sizeof out->role_name);
    out->grid = (uint32_t)wsdbg_select_number(q);
    out->warpgroup = (uint32_t)wsdbg_select_number(q);
    out->stages = (uint64_t)wsdbg_select_number(q);
    out->wait_ns = (uint64_t)wsdbg_select_number(q);
    out->round_ns = wsdbg_select_u64(q);
    out->rounds = wsdbg_select_real(q);
    out->in_flight = wsdbg_select_real(q);
    out->least = wsdbg_select_real(q);
    out->most = wsdbg_select_real(q);
    out->earlier_waits = (uint64_t)wsdbg_select_number(q);
    out->earlier_wait_ns = wsdbg_select_u64(q);
}

struct wsdbg_error *wsdbg_report_load_overlaps(struct wsdbg_store *store, struct wsdbg_report *report)
{
    struct wsdbg_select q;
    wsdbg_select_begin(&q, store,
                       WSDBG_OVERLAP_SQL
                       "SELECT o.role, (SELECT name FROM name n WHERE n.module_id = g.module_id AND n.kind = 'role' "
                       "AND n.identifier = o.role ORDER BY n.id LIMIT 1), "
                       "(SELECT count(*) FROM grid h WHERE h.snapshot_id = g.snapshot_id AND h.id < g.id), "
                       "o.warpgroup, o.stages, o.wait_ns, o.round_ns, o.rounds, o.in_flight, o.least, o.most, "
                       "o.earlier_waits, o.earlier_wait_ns FROM overlap o JOIN grid g ON g.id = o.grid_id "
                       "ORDER BY o.grid_id, o.warpgroup, o.role",
                       0);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, NULL, &report->overlaps, &report->overlap_count, sizeof *report->overlaps))
        fill_row(&q, &report->overlaps[report->overlap_count - 1]);
    return wsdbg_select_end(&q);
}

const char *wsdbg_report_overlap_caption(void)
{
    return "wgmma in flight when their warps began to wait for all of them, in rounds of the main loop";
}

void wsdbg_report_overlap_role(const struct wsdbg_report_overlap *o, char *out, size_t bytes)
{
    if (o->role_name[0])
        snprintf(out, bytes, "%s", o->role_name);
    else if (o->role.known)
        snprintf(out, bytes, "role %u", o->role.value);
    else
        snprintf(out, bytes, "-");
}

/* "573 ns", "12 us" */
static void time_text(uint64_t ns, char *out, size_t bytes)
{
    if (ns < 10000)
        snprintf(out, bytes, "%" PRIu64 " ns", ns);
    else
        wsdbg_duration_text(ns, out, bytes);
}

void wsdbg_report_overlap_text(const struct wsdbg_report_overlap *o, char *out, size_t bytes)
{
    char earlier[64] = "", wait[32], round[32];
    time_text(o->wait_ns, wait, sizeof wait);
    if (o->earlier_waits > 0) {
        time_text(o->earlier_wait_ns.value, round, sizeof round);
        snprintf(earlier, sizeof earlier, "; earlier waits %s", round);
    }
    const char *plural = o->stages == 1 ? "" : "s";
    if (!o->round_ns.known) {
        snprintf(out, bytes, "? rounds, waited %s; %" PRIu64 " stage%s%s", wait, o->stages, plural, earlier);
        return;
    }
    time_text(o->round_ns.value, round, sizeof round);
    snprintf(out, bytes, "%.2f (%.2f-%.2f), waited %s, a round %s; %" PRIu64 " stage%s of %.4g%s", o->in_flight,
             o->least, o->most, wait, round, o->stages, plural, o->rounds, earlier);
}

const char *wsdbg_report_overlap_note(const struct wsdbg_report *r)
{
    if (r->device && strcmp(r->device, "sim") == 0)
        return "The simulator's times are chosen, and it does not execute the waits that ptxas puts in.";
    for (size_t i = 0; i < r->overlap_count; i++)
        if (r->overlaps[i].round_ns.known && r->overlaps[i].in_flight < FEW_ROUNDS)
            return "Close to 0: the tensor cores were done before anybody waited, as where ptxas serialized the wgmma "
                   "(wsdbg lint says so: WGMMA_SERIALIZED) or where their data came late.";
    return "";
}
