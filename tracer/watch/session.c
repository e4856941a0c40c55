/* session.c - see session.h.  Reads: the evidence, through the watch.  Writes: the session database, JSON on stdout. */
#include "watch/session.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/console.h"
#include "watch/database_place.h"
#include "base/progress_line.h"
#include "watch/refusals.h"

/* Storing that takes longer says how far it is. */
enum { STORE_PATIENCE_NS = 500000000 };

struct wsdbg_session {
    struct wsdbg_session_options options;
    struct wsdbg_session_info info;
    struct wsdbg_watch watch;
    struct wsdbg_refusals_said refusals;
    struct wsdbg_store *store;
    char hostname[256];
    struct wsdbg_database_place place;
    struct wsdbg_progress_line progress;
};

static bool is_plain(const char *word)
{
    for (const char *at = word; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("_-./=:,+@%", *at))
            return false;
    return *word != '\0';
}

static void print_quoted(const char *word, FILE *out)
{
    if (is_plain(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

char *wsdbg_quote_command(char *const *words)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    for (size_t i = 0; words[i]; i++) {
        if (i > 0)
            fputc(' ', out);
        print_quoted(words[i], out);
    }
    return fclose(out) == 0 ? text : NULL;
}

/* The system's own reason, and what the user can do: every command that keeps a session has the option. */
static struct wsdbg_error *tell_other_place(struct wsdbg_error *error)
{
    if (!error || wsdbg_error_code(error) != WSDBG_ERROR_OS)
        return error;
    struct wsdbg_error *out =
        wsdbg_error_create(WSDBG_ERROR_OS, "%s; -o FILE puts it elsewhere", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return out;
}

static struct wsdbg_error *open_store(struct wsdbg_session *session, struct wsdbg_evidence *evidence)
{
    const struct wsdbg_session_options *options = &session->options;
    if (gethostname(session->hostname, sizeof session->hostname - 1) < 0)
        session->hostname[0] = '\0';
    session->info = (struct wsdbg_session_info){
        .command = options->command,
        .wsdbg_version = WSDBG_VERSION,
        .device = options->device,
        .observer = options->observer,
        .evidence = options->evidence ? options->evidence : evidence->ops->name,
        .hostname = session->hostname,
        .started_unix_ns = wsdbg_unix_ns(),
        .started_ns = session->watch.clock->now_ns(session->watch.clock),
        .stall_seconds = (double)options->stall_ns / 1e9,
    };
    struct wsdbg_error *error = wsdbg_database_place_choose(options->output, &session->place);
    if (error)
        return error;
    error = tell_other_place(wsdbg_store_create(session->place.path, &session->info, &session->store));
    if (error)
        wsdbg_database_place_disown(&session->place);
    return error;
}

struct wsdbg_error *wsdbg_session_create(const struct wsdbg_session_options *options, struct wsdbg_evidence *evidence,
                                         struct wsdbg_clock *clock, struct wsdbg_session **out)
{
    struct wsdbg_session *session = calloc(1, sizeof *session);
    if (!session) {
        evidence->ops->close(evidence);
        return &wsdbg_error_no_memory;
    }
    session->options = *options;
    session->watch = (struct wsdbg_watch){
        .evidence = evidence,
        .clock = clock,
        .info = &session->info,
        .refusals = &session->refusals,
        .listener = options->listener,
        .stall_ns = options->stall_ns,
        .work_stall_ns = options->work_stall_ns,
        .give_up_ns = options->give_up_ns,
        .look_ns = options->look_ns,
        .look_ends_work = options->look_ends_work,
        .look_spares_later_work = options->look_spares_later_work,
        .program_id = options->program_id,
        .spool = options->spool,
        .record_path = options->record_path,
        .looks_all_the_same = options->looks_all_the_same,
        .after_hang = options->after_hang,
        .omits_delay = options->omits_delay,
        .stop_at_hang = options->stop_at_hang,
        .keep_history = options->keep_history,
        .counts_from_now = options->counts_from_now,
        .read_stacks = clock->is_live,
    };
    if (options->keep_history && evidence->ops->hold_record)
        evidence->ops->hold_record(evidence);
    struct wsdbg_error *error = open_store(session, evidence);
    if (error) {
        wsdbg_session_destroy(session, true);
        return error;
    }
    session->watch.store = session->store;
    /* A live program has the terminal for itself. */
    if (!clock->is_live && !options->listener) {
        wsdbg_progress_begin(&session->progress, "storing", STORE_PATIENCE_NS);
        wsdbg_store_show_progress(session->store, &session->progress.progress);
    }
    *out = session;
    return NULL;
}

const struct wsdbg_watch *wsdbg_session_state(const struct wsdbg_session *session)
{
    return &session->watch;
}

const struct wsdbg_watch *wsdbg_session_watch(struct wsdbg_session *session)
{
    wsdbg_watch_run(&session->watch);
    return &session->watch;
}

struct wsdbg_error *wsdbg_session_print(const struct wsdbg_session *session)
{
    struct wsdbg_store *store;
    if (!session->options.json)
        return NULL;
    struct wsdbg_error *error = wsdbg_store_open(session->place.path, &store);
    if (error)
        return error;
    error = wsdbg_report_json(store, stdout);
    wsdbg_store_close(store);
    return error;
}

struct wsdbg_error *wsdbg_session_end(struct wsdbg_session *session, int exit_status, const char *outcome)
{
    const struct wsdbg_watch *watch = &session->watch;
    struct wsdbg_session_end end = {
        .exit_status = exit_status,
        .hang = watch->hang,
        .outcome = outcome,
        .stalled_ns = watch->stalled_ns,
        .verdict_ns = watch->verdict_ns,
        .stall_seconds = (double)watch->threshold_ns / 1e9,
        .stall_proven = watch->stall_proven,
        .evidence = watch->looked_by,
        .ended_ns = watch->clock->now_ns(watch->clock),
    };
    struct wsdbg_error *error = wsdbg_store_end(session->store, &end);
    wsdbg_store_close(session->store);
    session->store = session->watch.store = NULL;
    return error;
}

const struct wsdbg_session_info *wsdbg_session_info(const struct wsdbg_session *session)
{
    return &session->info;
}

const char *wsdbg_session_spool(const struct wsdbg_session *session)
{
    return session->options.spool;
}

struct wsdbg_store *wsdbg_session_store(const struct wsdbg_session *session)
{
    return session->store;
}

void wsdbg_session_destroy(struct wsdbg_session *session, bool discard)
{
    if (!session)
        return;
    wsdbg_store_close(session->store);
    session->watch.evidence->ops->close(session->watch.evidence);
    wsdbg_refusals_said_deinit(&session->refusals);
    wsdbg_database_place_deinit(&session->place, discard);
    free(session);
}
