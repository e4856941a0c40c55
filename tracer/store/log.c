/* log.c - the session's log and the source files: written while it runs, read back by number.
 * Reads and writes the tables log and source_file.  Lines have the ids 1, 2, 3, … without gaps. */
#include "store/database.h"
#include "store/load_internal.h"
#include "store/report_internal.h"
#include "store/words.h"

#include <stdlib.h>
#include <string.h>

static const char *origin_word(unsigned origin)
{
    static const char *const words[] = {[WSDBG_LOG_WSDBG] = "wsdbg",
                                        [WSDBG_LOG_STDOUT] = "stdout",
                                        [WSDBG_LOG_STDERR] = "stderr",
                                        [WSDBG_LOG_TERMINAL] = "terminal",
                                        [WSDBG_LOG_SCHEDULE] = "schedule"};
    return origin < sizeof words / sizeof *words ? words[origin] : "wsdbg";
}

struct wsdbg_error *wsdbg_store_log_lines(struct wsdbg_store *store, const struct wsdbg_log_line *lines, size_t count)
{
    struct wsdbg_error *error = wsdbg_db_begin(store);
    if (error)
        return error;
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "INSERT INTO log (time_ns, origin, text) VALUES (?, ?, ?)");
    for (size_t i = 0; i < count; i++) {
        wsdbg_insert_number(&insert, (int64_t)lines[i].time_ns);
        wsdbg_insert_string(&insert, origin_word(lines[i].origin));
        wsdbg_insert_string(&insert, lines[i].text);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_db_end(store, wsdbg_insert_end(&insert));
}

struct wsdbg_error *wsdbg_store_log(struct wsdbg_store *store, uint64_t time_ns, enum wsdbg_log_origin origin,
                                    const char *text)
{
    return wsdbg_store_log_lines(store, &(struct wsdbg_log_line){time_ns, origin, text}, 1);
}

struct wsdbg_error *wsdbg_store_source(struct wsdbg_store *store, uint32_t module, const struct wsdbg_source_file *file)
{
    if (module >= store->module_count)
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "%s: the source of a module that is not stored", store->path);
    struct wsdbg_error *error = wsdbg_db_begin(store);
    if (error)
        return error;
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO source_file (module_id, path, text, text_missing, ptx, ptx_missing) "
                       "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET path = excluded.path, "
                       "text = excluded.text, text_missing = excluded.text_missing, ptx = excluded.ptx, "
                       "ptx_missing = excluded.ptx_missing");
    wsdbg_insert_number(&insert, store->module_ids[module]);
    wsdbg_insert_text(&insert, file->path);
    if (file->text) /* an empty file is one, too */
        wsdbg_insert_string(&insert, file->text);
    else
        wsdbg_insert_null(&insert);
    wsdbg_insert_text(&insert, file->text_missing);
    wsdbg_insert_text(&insert, file->ptx);
    wsdbg_insert_text(&insert, file->ptx_missing);
    wsdbg_insert_row(&insert);
    return wsdbg_db_end(store, wsdbg_insert_end(&insert));
}

uint64_t wsdbg_store_log_count(struct wsdbg_store *store)
{
    return (uint64_t)wsdbg_db_number(store->db, "SELECT coalesce(max(id), 0) FROM log", 0);
}

/* A copy of the next text column, so that no read transaction stays open.  The caller frees. */
static char *copy_text(struct wsdbg_select *select)
{
    const char *text = wsdbg_select_string(select);
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        wsdbg_select_fail(select, SQLITE_NOMEM);
    return copy;
}

struct wsdbg_error *wsdbg_store_log_line(struct wsdbg_store *store, uint64_t number, struct wsdbg_log_line *out,
                                         bool *found)
{
    struct wsdbg_log_line line = {0};
    struct wsdbg_select q;
    wsdbg_select_begin(&q, store, "SELECT time_ns, origin, text FROM log WHERE id = ?1 + 1", (int64_t)number);
    const bool row = wsdbg_select_next(&q);
    if (row) {
        line.time_ns = (uint64_t)wsdbg_select_number(&q);
        line.origin = (enum wsdbg_log_origin)wsdbg_word_value(wsdbg_select_string(&q), origin_word,
                                                              WSDBG_LOG_SCHEDULE + 1, WSDBG_LOG_WSDBG);
        free(store->kept);
        line.text = store->kept = copy_text(&q);
    }
    struct wsdbg_error *error = wsdbg_select_end(&q);
    if (error)
        return error;
    *found = row;
    if (row)
        *out = line;
    return NULL;
}

struct wsdbg_error *wsdbg_report_load_schedules(struct wsdbg_store *store, struct wsdbg_report *report)
{
    struct wsdbg_select q;
    wsdbg_select_begin(&q, store, "SELECT text FROM log WHERE origin = 'schedule' ORDER BY id", 0);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, NULL, &report->schedules, &report->schedule_count, sizeof *report->schedules))
        report->schedules[report->schedule_count - 1] = copy_text(&q);
    return wsdbg_select_end(&q);
}

void wsdbg_source_file_deinit(struct wsdbg_source_file *file)
{
    const char *const texts[] = {file->path, file->text, file->text_missing, file->ptx, file->ptx_missing};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((char *)texts[i]);
    *file = (struct wsdbg_source_file){0};
}

struct wsdbg_error *wsdbg_store_source_file(struct wsdbg_store *store, const struct wsdbg_module *module,
                                            struct wsdbg_source_file *out)
{
    struct wsdbg_source_file file = {0};
    struct wsdbg_select q;
    wsdbg_select_begin(&q, store,
                       "SELECT path, text, text_missing, ptx, ptx_missing FROM source_file WHERE module_id = "
                       "(SELECT id FROM module WHERE process_id = ?1 AND \"row\" = ?2)",
                       module->process_id);
    wsdbg_select_bind(&q, 2, module->row);
    if (wsdbg_select_next(&q)) {
        const char **texts[] = {&file.path, &file.text, &file.text_missing, &file.ptx, &file.ptx_missing};
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            *texts[i] = copy_text(&q);
    }
    struct wsdbg_error *error = wsdbg_select_end(&q);
    if (error)
        wsdbg_source_file_deinit(&file);
    else
        *out = file;
    return error;
}
