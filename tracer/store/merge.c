/* merge.c - see merge.h.  The order of a merge, and the rows that are of the whole: session, nodes, pictures, the order
 * of findings and of the log, whose fault it is. */
#include "store/merge_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/load.h"
#include "store/tables.h"
#include "store/words.h"

enum { FIRST_NEW_NUMBER = 4194305, SOURCE_BYTES = 32 }; /* above the largest number of a process on Linux */

struct merge {
    struct wsdbg_store *output;
    struct wsdbg_merge_input *inputs;
    size_t count;
};

/* ---- new numbers ---- */

static bool is_taken(const struct merge *m, size_t until, int64_t number)
{
    for (size_t i = 0; i < until; i++)
        for (size_t j = 0; j < m->inputs[i].process_count; j++)
            if (m->inputs[i].new_processes[j] == number)
                return true;
    return false;
}

/* A process keeps its number unless another node has it: what people read is mostly what they know. */
static struct wsdbg_error *number_processes(struct merge *m)
{
    int64_t next = FIRST_NEW_NUMBER;
    for (size_t i = 0; i < m->count; i++) {
        struct wsdbg_merge_input *input = &m->inputs[i];
        input->new_processes = calloc(input->process_count + 1, sizeof *input->new_processes);
        if (!input->new_processes)
            return &wsdbg_error_no_memory;
        for (size_t j = 0; j < input->process_count; j++) {
            const bool keeps = input->processes[j] < FIRST_NEW_NUMBER && !is_taken(m, i, input->processes[j]);
            input->new_processes[j] = keeps ? input->processes[j] : next++;
        }
    }
    return NULL;
}

/* The findings of one input that are still to be put in order. */
struct heads {
    struct wsdbg_select select;
    struct wsdbg_finding finding;
    int64_t id;
    bool has;
};

static void next_finding(struct heads *heads, size_t input)
{
    struct wsdbg_select *q = &heads->select;
    heads->has = wsdbg_select_next(q);
    if (!heads->has)
        return;
    heads->id = wsdbg_select_number(q);
    heads->finding = (struct wsdbg_finding){.grid = (uint32_t)input};
    heads->finding.cause = (enum wsdbg_cause)wsdbg_word_value(wsdbg_select_string(q), wsdbg_cause_word,
                                                              WSDBG_CAUSE_COUNT, WSDBG_CAUSE_UNKNOWN);
    heads->finding.confidence = (enum wsdbg_confidence)wsdbg_word_value(
        wsdbg_select_string(q), wsdbg_confidence_word, WSDBG_CONFIDENCE_PROVEN + 1, WSDBG_CONFIDENCE_POSSIBLE);
    heads->finding.cta_count = (uint32_t)wsdbg_select_number(q);
    heads->finding.leads = wsdbg_select_number(q) != 0;
}

static bool take_finding(struct wsdbg_merge_input *input, int64_t id, int64_t number)
{
    size_t count = input->finding_count;
    if (!wsdbg_array_push(&input->findings, &input->finding_count, sizeof *input->findings) ||
        !wsdbg_array_push(&input->new_findings, &count, sizeof *input->new_findings))
        return false;
    input->findings[count - 1] = id;
    input->new_findings[count - 1] = number;
    return true;
}

/* As one diagnosis of all would have ordered them; each node's stay in the order that they have. */
static bool order_findings(struct merge *m, struct heads *heads)
{
    for (size_t i = 0; i < m->count; i++)
        next_finding(&heads[i], i);
    for (int64_t number = 1;; number++) {
        size_t best = m->count;
        for (size_t i = 0; i < m->count; i++)
            if (heads[i].has &&
                (best == m->count || wsdbg_finding_compare(&heads[i].finding, &heads[best].finding) < 0))
                best = i;
        if (best == m->count)
            return true;
        if (!take_finding(&m->inputs[best], heads[best].id, number))
            return false;
        next_finding(&heads[best], best);
    }
}

/* What is only possible and goes before a standstill that is likely leads there, too: see finding.h. */
static const char findings_sql[] =
    "SELECT f.id, f.cause, f.confidence, f.cta_count, f.confidence = 'possible' AND EXISTS (SELECT 1 FROM finding s "
    "WHERE s.snapshot_id = f.snapshot_id AND s.id > f.id AND s.confidence = 'likely' AND s.cause IN ('WAIT_CYCLE', "
    "'UNKNOWN')) FROM finding f WHERE f.snapshot_id = ?1 ORDER BY f.id";

static struct wsdbg_error *number_findings(struct merge *m)
{
    struct heads *heads = calloc(m->count, sizeof *heads);
    struct wsdbg_error *error = heads ? NULL : &wsdbg_error_no_memory;
    for (size_t i = 0; heads && i < m->count; i++)
        wsdbg_select_begin(&heads[i].select, m->inputs[i].store, findings_sql, m->inputs[i].shown);
    if (heads && !order_findings(m, heads))
        error = &wsdbg_error_no_memory;
    for (size_t i = 0; heads && i < m->count; i++) {
        struct wsdbg_error *own = wsdbg_select_end(&heads[i].select);
        if (error)
            wsdbg_error_destroy(own);
        else
            error = own;
    }
    free(heads);
    return error;
}

/* ---- nodes and pictures ---- */

static struct wsdbg_error *write_node(struct merge *m, const struct wsdbg_merge_input *input)
{
    static const char columns[] = "hostname, command, wsdbg_version, device, observer, evidence, started_unix_ns, "
                                  "started_ns + ?1, stall_seconds, ended_ns + ?1, exit_status, hang, outcome, "
                                  "stalled_ns + ?1, verdict_ns + ?1, stall_proven";
    const char *slash = strrchr(input->node->path, '/');
    struct wsdbg_insert insert;
    struct wsdbg_select q;
    char *sql = sqlite3_mprintf("SELECT %s FROM session", columns);
    if (!sql)
        return &wsdbg_error_no_memory;
    wsdbg_insert_begin(&insert, m->output,
                       "INSERT INTO node (id, database, hostname, command, wsdbg_version, device, observer, evidence, "
                       "started_unix_ns, started_ns, stall_seconds, ended_ns, exit_status, hang, outcome, stalled_ns, "
                       "verdict_ns, stall_proven, shift_ns) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    wsdbg_select_begin(&q, input->store, sql, input->shift_ns);
    sqlite3_free(sql);
    if (wsdbg_select_next(&q)) {
        wsdbg_insert_number(&insert, input->number);
        wsdbg_insert_string(&insert, slash ? slash + 1 : input->node->path);
        for (int i = 0; i < sqlite3_column_count(q.statement) && insert.status == SQLITE_OK; i++)
            insert.status = sqlite3_bind_value(insert.statement, ++insert.column, sqlite3_column_value(q.statement, i));
        wsdbg_insert_number(&insert, input->shift_ns);
        wsdbg_insert_row(&insert);
    }
    struct wsdbg_error *error = wsdbg_select_end(&q), *own = wsdbg_insert_end(&insert);
    if (!error)
        return own;
    wsdbg_error_destroy(own);
    return error;
}

/* What the pictures of one role sum up to. */
struct picture {
    int64_t time_ns;
    uint64_t launches, torn, foreign, lost;
    bool any, diagnosed, hang, names_inferred;
    char source[SOURCE_BYTES];
};

static struct wsdbg_error *add_picture(const struct wsdbg_merge_input *input, int64_t id, struct picture *sum)
{
    struct wsdbg_select q;
    char own[SOURCE_BYTES];
    wsdbg_select_begin(&q, input->store,
                       "SELECT time_ns, launches_total, torn_events, foreign_slots, lost_rows, diagnosed, "
                       "coalesce(hang, 0), names_inferred, source FROM snapshot WHERE id = ?1",
                       id);
    if (wsdbg_select_next(&q)) {
        const int64_t time_ns = wsdbg_select_number(&q) + input->shift_ns;
        sum->time_ns = time_ns > sum->time_ns ? time_ns : sum->time_ns;
        sum->launches += (uint64_t)wsdbg_select_number(&q);
        sum->torn += (uint64_t)wsdbg_select_number(&q);
        sum->foreign += (uint64_t)wsdbg_select_number(&q);
        sum->lost += (uint64_t)wsdbg_select_number(&q);
        sum->diagnosed |= wsdbg_select_number(&q) != 0;
        sum->hang |= wsdbg_select_number(&q) != 0;
        sum->names_inferred |= wsdbg_select_number(&q) != 0;
        wsdbg_select_text(&q, own, sizeof own);
        if (!sum->any)
            memcpy(sum->source, own, sizeof own);
        else if (strcmp(sum->source, own) != 0)
            snprintf(sum->source, sizeof sum->source, "several");
        sum->any = true;
    }
    return wsdbg_select_end(&q);
}

/* Nothing had moved anywhere for at least so long. */
static int64_t least_still_ns(const struct merge *m)
{
    uint64_t least_ns = UINT64_MAX;
    for (size_t i = 0; i < m->count; i++)
        if (m->inputs[i].shown && m->inputs[i].still_ns < least_ns)
            least_ns = m->inputs[i].still_ns;
    return least_ns == UINT64_MAX ? 0 : (int64_t)least_ns;
}

static struct wsdbg_error *write_picture(struct merge *m, bool is_before, bool has_before, bool *has)
{
    struct picture sum = {0};
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < m->count; i++) {
        const int64_t id = is_before ? m->inputs[i].before : m->inputs[i].shown;
        if (id)
            error = add_picture(&m->inputs[i], id, &sum);
    }
    *has = sum.any;
    if (error || !sum.any)
        return error;
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, m->output,
                       "INSERT INTO snapshot (id, time_ns, source, launches_total, torn_events, foreign_slots, "
                       "lost_rows, progress_ns, diagnosed, hang, names_inferred, before_id) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    wsdbg_insert_number(&insert, is_before ? WSDBG_MERGED_BEFORE : WSDBG_MERGED_SHOWN);
    wsdbg_insert_number(&insert, sum.time_ns);
    wsdbg_insert_text(&insert, sum.source);
    wsdbg_insert_number(&insert, (int64_t)sum.launches);
    wsdbg_insert_number(&insert, (int64_t)sum.torn);
    wsdbg_insert_number(&insert, (int64_t)sum.foreign);
    wsdbg_insert_number(&insert, (int64_t)sum.lost);
    wsdbg_insert_maybe(&insert, !is_before, sum.time_ns - least_still_ns(m));
    wsdbg_insert_number(&insert, sum.diagnosed);
    wsdbg_insert_maybe(&insert, sum.diagnosed, sum.hang);
    wsdbg_insert_number(&insert, sum.names_inferred);
    wsdbg_insert_maybe(&insert, !is_before && has_before, WSDBG_MERGED_BEFORE);
    wsdbg_insert_row(&insert);
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_pictures(struct merge *m)
{
    bool has_before = false, has_shown;
    struct wsdbg_error *error = write_picture(m, true, false, &has_before);
    return error ? error : write_picture(m, false, has_before, &has_shown);
}

/* A database of before schema version 7 does not say what its processes do, but when they were looked at. */
static struct wsdbg_error *add_members(struct merge *m, const struct wsdbg_merge_input *input)
{
    struct wsdbg_insert insert;
    if (!input->shown)
        return NULL;
    wsdbg_insert_begin(
        &insert, m->output,
        "INSERT OR IGNORE INTO member (snapshot_id, process_id, state, polls_peers, seen_ns) "
        "SELECT DISTINCT ?, x.process_id, 'unknown', 0, ? FROM context x "
        "JOIN process p ON p.process_id = x.process_id WHERE p.node_id = ?3 AND NOT EXISTS (SELECT 1 FROM "
        "member m JOIN process q ON q.process_id = m.process_id WHERE q.node_id = ?3)");
    wsdbg_insert_number(&insert, WSDBG_MERGED_SHOWN);
    wsdbg_insert_number(&insert, (int64_t)input->shown_ns + input->shift_ns);
    wsdbg_insert_number(&insert, input->number);
    wsdbg_insert_row(&insert);
    return wsdbg_insert_end(&insert);
}

/* A merged session shows the pictures of the verdicts.  That something moved later would not be seen, so a note says
 * it. */
static struct wsdbg_error *note_movement(struct merge *m, const struct wsdbg_merge_input *input)
{
    struct wsdbg_insert insert;
    if (wsdbg_db_number(input->store->db,
                        "SELECT (SELECT max(progress_ns) FROM snapshot) > (SELECT progress_ns FROM shown_snapshot)",
                        0) == 0)
        return NULL;
    char *text = sqlite3_mprintf("%s: something moved after the verdict", input->node->label);
    if (!text)
        return &wsdbg_error_no_memory;
    wsdbg_insert_begin(&insert, m->output, "INSERT INTO note (snapshot_id, text) VALUES (?, ?)");
    wsdbg_insert_number(&insert, WSDBG_MERGED_SHOWN);
    wsdbg_insert_string(&insert, text);
    wsdbg_insert_row(&insert);
    sqlite3_free(text);
    return wsdbg_insert_end(&insert);
}

/* ---- the whole ---- */

/* Of values that nodes share: one, or all different ones.  Outcomes have their numbers: "2 nodes: 1 exited 0, …". */
static const char end_sql[] =
    "UPDATE session SET "
    "command = (SELECT group_concat(command, ' | ') FROM (SELECT command FROM node GROUP BY command ORDER BY "
    "min(id))), "
    "hostname = (SELECT group_concat(hostname, ', ') FROM (SELECT hostname FROM node GROUP BY hostname ORDER BY "
    "min(id))), "
    "wsdbg_version = (SELECT group_concat(wsdbg_version, ', ') FROM (SELECT wsdbg_version FROM node GROUP BY "
    "wsdbg_version ORDER BY min(id))), "
    "device = (SELECT group_concat(device, ', ') FROM (SELECT device FROM node GROUP BY device ORDER BY min(id))), "
    "observer = (SELECT group_concat(observer, ', ') FROM (SELECT observer FROM node GROUP BY observer ORDER BY "
    "min(id))), "
    "evidence = (SELECT group_concat(evidence, ', ') FROM (SELECT evidence FROM node GROUP BY evidence ORDER BY "
    "min(id))), "
    "started_ns = (SELECT min(started_ns) FROM node), "
    "started_unix_ns = (SELECT started_unix_ns FROM node ORDER BY started_ns, id LIMIT 1), "
    "stall_seconds = (SELECT max(stall_seconds) FROM node), "
    "stall_proven = (SELECT min(coalesce(stall_proven, 0)) FROM node WHERE hang), "
    "ended_ns = (SELECT iif(count(*) = count(ended_ns), max(ended_ns), NULL) FROM node), "
    "exit_status = (SELECT iif(count(*) = count(ended_ns), iif(max(hang), 124, max(exit_status)), NULL) FROM node), "
    "hang = (SELECT iif(count(*) = count(ended_ns), max(hang), NULL) FROM node), "
    "outcome = (SELECT iif(sum(ends) = sum(nodes), sum(nodes) || ' nodes: ' || group_concat(nodes || ' ' || outcome, "
    "', '), NULL) FROM (SELECT count(*) AS nodes, count(ended_ns) AS ends, coalesce(outcome, '?') AS outcome FROM node "
    "GROUP BY 3 ORDER BY max(hang) DESC, nodes DESC)), "
    "stalled_ns = (SELECT stalled_ns FROM node WHERE verdict_ns IS NOT NULL ORDER BY stalled_ns LIMIT 1), "
    "verdict_ns = (SELECT verdict_ns FROM node WHERE verdict_ns IS NOT NULL ORDER BY stalled_ns LIMIT 1);"
    /* Lines have the numbers 1, 2, 3, …, in the order in which they were written. */
    "CREATE TEMP TABLE merged_log AS SELECT time_ns, origin, text FROM log ORDER BY time_ns, id;"
    "DELETE FROM log;"
    "INSERT INTO log (time_ns, origin, text) SELECT time_ns, origin, text FROM merged_log ORDER BY rowid;"
    "DROP TABLE merged_log;";

/* Of sessions without a common clock it is not known which call came first. */
static bool has_common_clock(const struct merge *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->inputs[i].node->tie == WSDBG_CLOCK_UNKNOWN)
            return false;
    return true;
}

/* What only shows in all of them together. */
static struct wsdbg_error *judge(struct merge *m)
{
    struct wsdbg_loaded loaded;
    struct wsdbg_error *error = wsdbg_store_load(m->output, false, &loaded);
    if (error)
        return error;
    m->output->snapshot_id = WSDBG_MERGED_SHOWN;
    if (loaded.diagnosed && has_common_clock(m))
        error = wsdbg_merge_judge_ranks(m->output, &loaded);
    if (!error && loaded.diagnosed)
        error = wsdbg_write_blame(m->output, &loaded.snapshot, &loaded.diagnosis);
    wsdbg_loaded_deinit(&loaded);
    return error;
}

static struct wsdbg_error *write_all(struct merge *m)
{
    struct wsdbg_error *error = wsdbg_db_exec(m->output, "PRAGMA defer_foreign_keys = ON");
    for (size_t i = 0; !error && i < m->count; i++)
        error = write_node(m, &m->inputs[i]);
    if (!error)
        error = write_pictures(m);
    for (size_t i = 0; !error && i < m->count; i++) {
        wsdbg_store_restart_time(m->inputs[i].store);
        error = wsdbg_merge_copy(m->output, &m->inputs[i]);
        if (!error)
            error = add_members(m, &m->inputs[i]);
        if (!error)
            error = note_movement(m, &m->inputs[i]);
    }
    if (!error)
        error = wsdbg_db_exec(m->output, end_sql);
    return error ? error : judge(m);
}

static struct wsdbg_error *write_output(struct merge *m, const char *path)
{
    const struct wsdbg_session_info info = {0}; /* end_sql fills it */
    struct wsdbg_error *error = wsdbg_store_create(path, &info, &m->output);
    if (error)
        return error;
    error = wsdbg_db_begin(m->output);
    if (!error)
        error = wsdbg_db_end(m->output, write_all(m));
    wsdbg_store_close(m->output);
    if (error)
        unlink(path);
    return error;
}

struct wsdbg_error *wsdbg_store_merge(const char *const *paths, size_t count, const char *output,
                                      struct wsdbg_merge *out)
{
    *out = (struct wsdbg_merge){.nodes = calloc(count, sizeof *out->nodes), .node_count = count};
    struct merge m = {.inputs = calloc(count, sizeof *m.inputs), .count = count};
    struct wsdbg_error *error = out->nodes && m.inputs ? NULL : &wsdbg_error_no_memory;
    if (!error && access(output, F_OK) == 0)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s exists already, not overwritten; -o FILE names another",
                                   output);
    if (!error)
        error = wsdbg_merge_open(paths, count, out, m.inputs);
    if (!error)
        error = wsdbg_merge_check(out, m.inputs);
    if (!error)
        error = number_processes(&m);
    if (!error)
        error = number_findings(&m);
    if (!error)
        error = write_output(&m, output);
    if (m.inputs)
        wsdbg_merge_close(m.inputs, count);
    return error;
}

void wsdbg_merge_deinit(struct wsdbg_merge *merge)
{
    for (size_t i = 0; merge->nodes && i < merge->node_count; i++) {
        free(merge->nodes[i].label);
        free(merge->nodes[i].ranks);
    }
    free(merge->nodes);
    free(merge->same);
    *merge = (struct wsdbg_merge){0};
}
