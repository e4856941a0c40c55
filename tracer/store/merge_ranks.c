/* merge_ranks.c - judges the calls of NCCL anew once the pictures of all nodes are one.
 *
 * Reads: the merged picture and its findings.  Writes: findings about ranks, in the place that one diagnosis of all
 * ranks would have given them.
 *
 * The nodes took their pictures at different moments.  So a finding counts only if each of its processes was still seen
 * some time after the calls that the finding names.  A kernel stands still if its own node found something about it;
 * nodes keep no more.
 */
#include "store/merge_internal.h"

#include <stdlib.h>

#include "diagnose/call_sites.h"
#include "diagnose/missing_ranks.h"
#include "model/process.h"

/* How long after a call the other rank must have been seen.  The clocks of two hosts may be as far apart. */
#define AFTER_NS UINT64_C(500000000)

/* ---- the picture as it was ---- */

/* Processes that lived when the newest picture was taken, as far as is known.  wsdbg ends those of a hang later; a
 * program that ended of itself half a second before was gone. */
static const char living_sql[] =
    "SELECT m.process_id FROM member m JOIN process p USING (process_id) JOIN node n ON n.id = p.node_id "
    "JOIN snapshot s ON s.id = m.snapshot_id WHERE s.id = ?1 AND m.state <> 'gone' AND "
    "NOT ((n.outcome GLOB 'exited *' OR n.outcome GLOB 'killed by *') AND "
    "coalesce(n.ended_ns <= s.time_ns - 500000000, 0))";

static struct wsdbg_error *revive(struct wsdbg_store *output, struct wsdbg_snapshot *s)
{
    struct wsdbg_select q;
    wsdbg_select_begin(&q, output, living_sql, WSDBG_MERGED_SHOWN);
    while (wsdbg_select_next(&q)) {
        const uint32_t process = wsdbg_snapshot_process(s, (uint32_t)wsdbg_select_number(&q));
        if (process != WSDBG_NONE)
            s->processes[process].end.kind = WSDBG_END_NONE;
    }
    return wsdbg_select_end(&q);
}

static void mark_moving(const struct wsdbg_diagnosis *diagnosis, struct wsdbg_snapshot *s)
{
    for (size_t i = 0; i < s->grid_count; i++)
        s->grids[i].moves = true;
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        if (diagnosis->findings[i].grid < s->grid_count && diagnosis->findings[i].cause != WSDBG_CAUSE_SLOW)
            s->grids[diagnosis->findings[i].grid].moves = false;
}

/* ---- what the pictures bear out ---- */

static uint64_t seen_ns(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    const uint32_t process = wsdbg_snapshot_process(s, process_id);
    if (process == WSDBG_NONE)
        return 0;
    if (s->processes[process].end.kind != WSDBG_END_NONE)
        return s->time_ns; /* nothing of it changes any more */
    return s->processes[process].seen_ns.known ? s->processes[process].seen_ns.value : s->time_ns;
}

static bool is_borne_out(const struct wsdbg_snapshot *s, const struct wsdbg_finding *finding)
{
    uint64_t called_ns = 0, least_ns = finding->process_id.known ? seen_ns(s, finding->process_id.value) : 0;
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (!finding->evidence[i].call.known)
            continue;
        const struct wsdbg_collective *call = &s->collectives[finding->evidence[i].call.value];
        const uint64_t own_ns = seen_ns(s, s->communicators[call->communicator].process_id);
        called_ns = call->row.time_ns > called_ns ? call->row.time_ns : called_ns;
        least_ns = own_ns < least_ns ? own_ns : least_ns;
    }
    return called_ns && least_ns >= called_ns + AFTER_NS;
}

/* Those from `first` on are new.  What is not borne out goes. */
static void drop_doubtful(const struct wsdbg_snapshot *s, size_t first, struct wsdbg_diagnosis *diagnosis)
{
    size_t kept = first;
    for (size_t i = first; i < diagnosis->finding_count; i++) {
        if (is_borne_out(s, &diagnosis->findings[i]))
            diagnosis->findings[kept++] = diagnosis->findings[i];
        else
            free(diagnosis->findings[i].evidence);
    }
    diagnosis->finding_count = kept;
}

/* ---- writing ---- */

static struct wsdbg_error *write_evidence(struct wsdbg_store *output, const struct wsdbg_finding *finding, int64_t id)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, output, "INSERT INTO evidence (finding_id, kind, text) VALUES (?, 'text', ?)");
    for (size_t i = 0; i < finding->evidence_count; i++) {
        wsdbg_insert_number(&insert, id);
        wsdbg_insert_string(&insert, finding->evidence[i].text);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_finding(struct wsdbg_store *output, const struct wsdbg_finding *finding, int64_t id)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, output,
                       "INSERT INTO finding (id, snapshot_id, cause, confidence, grid_id, cta_count, sentence, fix, "
                       "process_id) VALUES (?1, ?2, ?3, ?4, (SELECT id FROM grid WHERE snapshot_id = ?2 ORDER BY id "
                       "LIMIT 1 OFFSET ?5), ?6, ?7, ?8, ?9)");
    wsdbg_insert_number(&insert, id);
    wsdbg_insert_number(&insert, WSDBG_MERGED_SHOWN);
    wsdbg_insert_string(&insert, wsdbg_cause_name(finding->cause));
    wsdbg_insert_string(&insert, wsdbg_confidence_name(finding->confidence));
    wsdbg_insert_number(&insert, finding->grid); /* of a call that waits on the host: behind the last one */
    wsdbg_insert_number(&insert, finding->cta_count);
    wsdbg_insert_string(&insert, finding->sentence);
    wsdbg_insert_text(&insert, finding->fix);
    wsdbg_insert_u32(&insert, finding->process_id);
    wsdbg_insert_row(&insert);
    struct wsdbg_error *error = wsdbg_insert_end(&insert);
    return error ? error : write_evidence(output, finding, id);
}

static struct wsdbg_error *run(struct wsdbg_store *output, const char *sql, int64_t number, const char *text)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, output, sql);
    wsdbg_insert_number(&insert, number);
    if (text)
        wsdbg_insert_string(&insert, text);
    wsdbg_insert_row(&insert);
    return wsdbg_insert_end(&insert);
}

/* Makes room before the first finding.  No two rows may have the same id on the way. */
static struct wsdbg_error *shift_findings(struct wsdbg_store *output, size_t by)
{
    struct wsdbg_error *error = run(output, "UPDATE finding SET id = -id - ?", (int64_t)by, NULL);
    if (!error)
        error = wsdbg_db_exec(output, "UPDATE finding SET id = -id");
    return error ? error : run(output, "UPDATE evidence SET finding_id = finding_id + ?", (int64_t)by, NULL);
}

/* Findings of the nodes that are less sure now.  Their ids count from 1 in this order. */
static struct wsdbg_error *write_lowered(struct wsdbg_store *output, const struct wsdbg_diagnosis *before,
                                         const struct wsdbg_diagnosis *after)
{
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; i < before->finding_count && !error; i++)
        if (before->findings[i].confidence != after->findings[i].confidence)
            error = run(output, "UPDATE finding SET confidence = ?2 WHERE id = ?1", (int64_t)i + 1,
                        wsdbg_confidence_name(after->findings[i].confidence));
    return error;
}

static struct wsdbg_error *write_hang(struct wsdbg_store *output)
{
    struct wsdbg_error *error = run(output, "UPDATE snapshot SET hang = 1 WHERE id = ?", WSDBG_MERGED_SHOWN, NULL);
    return error ? error : wsdbg_db_exec(output, "UPDATE session SET hang = 1");
}

static int compare(const void *left, const void *right)
{
    return wsdbg_finding_compare(left, right);
}

/* The new findings stand behind the others in memory.  They are written before them where the first one goes before. */
static struct wsdbg_error *write_new(struct wsdbg_store *output, size_t first, struct wsdbg_diagnosis *all)
{
    const size_t count = all->finding_count - first;
    struct wsdbg_finding *rows = all->findings + first;
    qsort(rows, count, sizeof *rows, compare);
    const bool goes_before = first && wsdbg_finding_compare(&rows[0], &all->findings[0]) < 0;
    const int64_t id = goes_before ? 1 : (int64_t)first + 1;
    bool is_hang = false;
    struct wsdbg_error *error = goes_before ? shift_findings(output, count) : NULL;
    for (size_t i = 0; i < count && !error; i++) {
        error = write_finding(output, &rows[i], id + (int64_t)i);
        is_hang |= rows[i].confidence >= WSDBG_CONFIDENCE_LIKELY;
    }
    all->hang |= is_hang;
    return error || !is_hang ? error : write_hang(output);
}

/* ---- the whole ---- */

static struct wsdbg_error *judge(struct wsdbg_store *output, struct wsdbg_loaded *loaded, struct wsdbg_diagnosis *all)
{
    struct wsdbg_snapshot *s = &loaded->snapshot;
    const size_t first = all->finding_count;
    struct wsdbg_error *error = revive(output, s);
    mark_moving(all, s);
    if (!error)
        error = wsdbg_find_missing_ranks(s, all);
    if (error)
        return error;
    drop_doubtful(s, first, all);
    if (all->finding_count == first)
        return NULL;
    struct wsdbg_diagnosis new_ones = {.findings = all->findings + first, .finding_count = all->finding_count - first};
    wsdbg_place_missing_ranks(s, &new_ones);
    wsdbg_place_calls(s, &new_ones);
    error = write_lowered(output, &loaded->diagnosis, all);
    return error ? error : write_new(output, first, all);
}

struct wsdbg_error *wsdbg_merge_judge_ranks(struct wsdbg_store *output, struct wsdbg_loaded *loaded)
{
    struct wsdbg_diagnosis all = {0};
    struct wsdbg_error *error = wsdbg_diagnosis_copy(&loaded->diagnosis, &all);
    if (!error)
        error = judge(output, loaded, &all);
    if (error) {
        wsdbg_diagnosis_deinit(&all);
        return error;
    }
    wsdbg_diagnosis_deinit(&loaded->diagnosis);
    loaded->diagnosis = all;
    return NULL;
}
