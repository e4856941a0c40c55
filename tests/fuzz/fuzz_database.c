/* fuzz_database.c - damaged session databases, to what reports, queries and wsdbg why say of them. */
#include "fuzz/damaged_session.h"
#include "fuzz/fuzz_targets.h"

#include "store/query.h"
#include "store/why.h"

static void explain(struct wsdbg_store *store, FILE *out)
{
    struct wsdbg_why *why;
    struct wsdbg_error *error = wsdbg_why_ask(store, &(struct wsdbg_why_question){0}, &why);
    if (!error) {
        wsdbg_why_text(why, &(struct wsdbg_sheet){.file = out});
        error = wsdbg_why_json(why, out);
        wsdbg_why_destroy(why);
    }
    wsdbg_error_destroy(error);
}

/* Those that take no arguments. */
static void ask_everything(struct wsdbg_store *store, FILE *out)
{
    char call[64];
    for (const struct wsdbg_canned_query *query = wsdbg_canned_queries; query->name; query++) {
        snprintf(call, sizeof call, "@%s", query->name);
        wsdbg_error_destroy(wsdbg_store_query(store, call, WSDBG_QUERY_ALIGNED, 80, out));
    }
}

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    struct wsdbg_store *store = damaged_session_open(bytes, count);
    if (!store)
        return 0;
    FILE *out = damaged_session_output();
    wsdbg_error_destroy(wsdbg_report_text(store, &(struct wsdbg_sheet){.file = out}));
    wsdbg_error_destroy(wsdbg_report_json(store, out));
    explain(store, out);
    ask_everything(store, out);
    fclose(out);
    wsdbg_store_close(store);
    return 0;
}
