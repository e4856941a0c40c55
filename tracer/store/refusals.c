/* refusals.c - writes and reads the table refusal: what the driver refused, in words. */
#include "store/tables.h"
#include "store/load_internal.h"
#include "store/report_internal.h"

#include <stdlib.h>
#include <string.h>

static struct wsdbg_error *write_process(struct wsdbg_store *store, const struct wsdbg_refusal *refusal)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, WSDBG_INSERT_PROCESS_NUMBER);
    wsdbg_insert_number(&insert, refusal->process_id);
    wsdbg_insert_number(&insert, (int64_t)refusal->row.time_ns);
    wsdbg_insert_row(&insert);
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_refusal(struct wsdbg_store *store, const struct wsdbg_refusal *refusal,
                                         const struct wsdbg_refused_words *words)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO refusal (process_id, number, time_ns, times, call, result, cause, kernel, subject, "
                       "sentence, fix) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                       "ON CONFLICT DO UPDATE SET times = excluded.times");
    wsdbg_insert_number(&insert, refusal->process_id);
    wsdbg_insert_number(&insert, refusal->number);
    wsdbg_insert_number(&insert, (int64_t)refusal->row.time_ns);
    wsdbg_insert_number(&insert, refusal->row.times);
    wsdbg_insert_string(&insert, refusal->row.call);
    wsdbg_insert_number(&insert, refusal->row.result);
    wsdbg_insert_string(&insert, wsdbg_refused_name(words->cause));
    wsdbg_insert_text(&insert, refusal->row.name);
    wsdbg_insert_string(&insert, words->subject);
    wsdbg_insert_string(&insert, words->sentence);
    wsdbg_insert_text(&insert, words->fix);
    wsdbg_insert_row(&insert);
    return wsdbg_insert_end(&insert);
}

struct wsdbg_error *wsdbg_store_refusal(struct wsdbg_store *store, const struct wsdbg_refusal *refusal,
                                        const struct wsdbg_refused_words *words)
{
    struct wsdbg_error *error = wsdbg_db_begin(store);
    if (error)
        return error;
    error = write_process(store, refusal);
    if (!error)
        error = write_refusal(store, refusal, words);
    return wsdbg_db_end(store, error);
}

struct wsdbg_error *wsdbg_report_load_refusals(struct wsdbg_store *store, struct wsdbg_report *report)
{
    struct wsdbg_select q;
    wsdbg_select_begin(&q, store,
                       "SELECT process_id, time_ns, times, call, result, cause, kernel, subject, sentence, fix "
                       "FROM refusal ORDER BY time_ns, id",
                       0);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, NULL, &report->refusals, &report->refusal_count, sizeof *report->refusals)) {
        struct wsdbg_report_refusal *out = &report->refusals[report->refusal_count - 1];
        out->process_id = (uint32_t)wsdbg_select_number(&q);
        out->time_ns = (uint64_t)wsdbg_select_number(&q);
        out->times = (uint64_t)wsdbg_select_number(&q);
        wsdbg_select_text(&q, out->call, sizeof out->call);
        out->result = (int32_t)wsdbg_select_number(&q);
        wsdbg_select_text(&q, out->cause, sizeof out->cause);
        wsdbg_select_text(&q, out->kernel, sizeof out->kernel);
        wsdbg_select_text(&q, out->subject, sizeof out->subject);
        wsdbg_select_text(&q, out->sentence, sizeof out->sentence);
        wsdbg_select_text(&q, out->fix, sizeof out->fix);
    }
    return wsdbg_select_end(&q);
}
