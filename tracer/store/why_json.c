/* why_json.c - an answer as JSON, as docs/why.schema.json says: unknown is null.  Reads an answer, writes one object.
 */
#include "store/json_rows.h"
#include "store/why_internal.h"

#define WHY_SCHEMA_VERSION 1

static json_t *group_json(const struct wsdbg_why *why, const struct wsdbg_why_group *g)
{
    json_t *row = json_object();
    json_object_set_new(row, "name", wsdbg_json_text(g->who));
    json_object_set_new(row, "state", wsdbg_json_warps(&why->report, &g->words));
    return row;
}

static json_t *cta_json(const struct wsdbg_snapshot *s, uint32_t cta)
{
    const struct wsdbg_cta *row = &s->ctas[cta];
    const bool cluster = row->cluster_size > 1;
    json_t *out = json_object();
    const char *kernel = row->grid < s->grid_count ? wsdbg_snapshot_grid_name(s, &s->grids[row->grid]) : NULL;
    json_object_set_new(out, "kernel", kernel ? wsdbg_json_kernel(kernel) : json_null());
    json_object_set_new(out, "index", wsdbg_json_triple((uint32_t[]){row->x, row->y, row->z}));
    json_object_set_new(out, "cluster_rank", cluster ? json_integer(row->cluster_rank) : json_null());
    json_object_set_new(out, "cluster_size", cluster ? json_integer(row->cluster_size) : json_null());
    return out;
}

static json_t *barrier_json(const struct wsdbg_snapshot *s, uint32_t barrier)
{
    if (barrier >= s->barrier_count)
        return json_null();
    char name[256];
    const struct wsdbg_report_barriers words = wsdbg_why_barrier_words(s, barrier);
    wsdbg_report_barrier_text(&words, name, sizeof name);
    json_t *row = json_object();
    json_object_set_new(row, "name", wsdbg_json_text(name));
    json_object_set_new(row, "state", wsdbg_json_barriers(&words));
    return row;
}

static json_t *hops_json(const struct wsdbg_why *why, const struct wsdbg_why_hops *hops)
{
    static const char *const ends[] = {
        [WSDBG_WHY_GOES_ON] = "goes on",       [WSDBG_WHY_RING] = "ring",   [WSDBG_WHY_SHOWN] = "above",
        [WSDBG_WHY_NO_WAIT] = "no wait",       [WSDBG_WHY_LEFT] = "exited", [WSDBG_WHY_NOBODY] = "nobody known",
        [WSDBG_WHY_NOT_JUDGED] = "not judged",
    };
    json_t *array = json_array();
    for (size_t i = 0; i < hops->count; i++) {
        const struct wsdbg_why_hop *hop = &hops->hops[i];
        json_t *row = json_object();
        json_object_set_new(row, "depth", json_integer(hop->depth));
        json_object_set_new(row, "warps", group_json(why, &hop->group));
        json_object_set_new(row, "known_as", wsdbg_json_text(hop->how));
        json_object_set_new(row, "waits_on", barrier_json(&why->loaded.snapshot, hop->barrier));
        json_object_set_new(row, "end", json_string(ends[hop->end]));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *shares_json(unsigned shares)
{
    static const char *const names[] = {"waits",   "arrived", "expected bytes", "issued copies", "went past",
                                        "to come", "left"};
    json_t *array = json_array();
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (shares >> i & 1)
            json_array_append_new(array, json_string(names[i]));
    return array;
}

static json_t *parts_json(const struct wsdbg_why *why, const struct wsdbg_why_answer *a)
{
    json_t *array = json_array();
    for (size_t i = 0; i < a->part_count; i++) {
        const struct wsdbg_why_part *part = &a->parts[i];
        const struct wsdbg_history_event *deed = &part->last_deed;
        const bool known = deed->kind != WSDBG_EVENT_NONE;
        json_t *row = json_object();
        json_object_set_new(row, "warps", group_json(why, &part->group));
        json_object_set_new(row, "shares", shares_json(part->shares));
        json_object_set_new(row, "last_deed",
                            known ? json_string(wsdbg_event_kind_name((enum wsdbg_event_kind)deed->kind))
                                  : json_null());
        json_object_set_new(row, "last_deed_iteration",
                            known && deed->iteration != WSDBG_NO_ITERATION ? json_integer(deed->iteration)
                                                                           : json_null());
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *phase_json(const struct wsdbg_why *why, const struct wsdbg_why_answer *a)
{
    if (a->barrier == WSDBG_NONE)
        return json_null();
    json_t *row = json_object();
    json_object_set_new(row, "whole", json_boolean(a->account.phase_known));
    json_object_set_new(row, "over", json_boolean(a->account.phase_over));
    json_object_set_new(row, "to_come_whole", json_boolean(a->account.to_come_known));
    json_object_set_new(row, "iteration", wsdbg_json_u32(a->account.iteration));
    json_object_set_new(row, "expected_bytes", wsdbg_json_u64(a->account.expected_bytes));
    json_object_set_new(row, "issued_bytes", wsdbg_json_u64(a->account.issued_bytes));
    json_object_set_new(row, "parts", parts_json(why, a));
    return row;
}

static json_t *answer_json(const struct wsdbg_why *why, const struct wsdbg_why_answer *a)
{
    static const char *const relations[] = {[WSDBG_WHY_UNRELATED] = "none",
                                            [WSDBG_WHY_NEAR] = "same CTA",
                                            [WSDBG_WHY_LEADS] = "consequence",
                                            [WSDBG_WHY_CONCERNS] = "cause"};
    const bool of_barrier = a->barrier != WSDBG_NONE;
    json_t *row = json_object();
    json_object_set_new(row, "kind", json_string(of_barrier ? "barrier" : "warps"));
    json_object_set_new(row, "cta", cta_json(&why->loaded.snapshot, a->cta));
    json_object_set_new(row, "warps", of_barrier ? json_null() : group_json(why, &a->group));
    json_object_set_new(row, "barrier", barrier_json(&why->loaded.snapshot, a->barrier));
    json_object_set_new(row, "ctas_in_same_state", json_integer(a->same_ctas));
    json_object_set_new(row, "ctas_in_another_state", json_integer(a->other_ctas));
    json_object_set_new(row, "finding", wsdbg_json_index(a->finding, why->report.finding_count));
    json_object_set_new(row, "relation", json_string(relations[a->relation]));
    json_object_set_new(row, "hops", hops_json(why, &a->hops));
    json_object_set_new(row, "hops_cut", json_boolean(a->hops.cut));
    json_object_set_new(row, "phase", phase_json(why, a));
    return row;
}

struct wsdbg_error *wsdbg_why_json(const struct wsdbg_why *why, FILE *out)
{
    json_t *root = json_object(), *findings = json_array(), *answers = json_array();
    for (size_t i = 0; i < why->report.finding_count; i++)
        json_array_append_new(findings, wsdbg_json_finding(&why->report.findings[i]));
    for (size_t i = 0; i < why->answer_count; i++)
        json_array_append_new(answers, answer_json(why, &why->answers[i]));
    json_object_set_new(root, "schema_version", json_integer(WHY_SCHEMA_VERSION));
    json_object_set_new(root, "hang", why->report.diagnosed ? json_boolean(why->report.hang) : json_null());
    json_object_set_new(root, "findings", findings);
    json_object_set_new(root, "same_name", wsdbg_json_text(why->others));
    json_object_set_new(root, "answers", answers);
    return wsdbg_json_print(root, out);
}
