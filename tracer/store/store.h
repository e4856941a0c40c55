/* store.h - the session database: writing it while the program runs, opening it afterwards.
 *
 * Reads: snapshots and diagnoses.  Writes: one SQLite file (docs/SCHEMA.md, PRAGMA user_version).
 * WAL while live; every write is one transaction, so a run killed at any moment leaves a readable file.
 * A store is used by one thread at a time; a reader opens a store of its own.
 */
#ifndef WSDBG_STORE_STORE_H
#define WSDBG_STORE_STORE_H

#include <stdio.h>

#include "base/sheet.h"
#include "base/progress.h"
#include "diagnose/finding.h"
#include "diagnose/refused.h"

struct wsdbg_store;

struct wsdbg_session_info {
    const char *command; /* the command line, words quoted for a shell */
    const char *wsdbg_version;
    const char *device;   /* "gpu", "sim", "replay" */
    const char *observer; /* "driver", "cupti", or "none" */
    const char *evidence; /* "ring", … */
    const char *hostname;
    uint64_t started_unix_ns;
    uint64_t started_ns; /* CLOCK_MONOTONIC at the same moment */
    double stall_seconds;
    bool stall_proven; /* the simulator proved that nothing can move: nobody waited for stall_seconds */
};

struct wsdbg_session_end {
    int exit_status; /* what wsdbg run returns */
    bool hang;
    const char *outcome;  /* "exited 0", "killed after a hang", "killed by SIGKILL", … */
    uint64_t stalled_ns;  /* host time of the stall, 0 = none */
    uint64_t verdict_ns;  /* host time of the verdict, 0 = none */
    double stall_seconds; /* the threshold that this stall passed, 0 = the session's own */
    bool stall_proven;    /* as in wsdbg_session_info */
    const char *evidence; /* what the verdict or the pictures rest on, NULL = what the session began with */
    uint64_t ended_ns;
};

/* Creates `path` (fails if it exists: nothing is overwritten) and writes the session row. */
struct wsdbg_error *wsdbg_store_create(const char *path, const struct wsdbg_session_info *info,
                                       struct wsdbg_store **out);
/* Has every later wsdbg_store_snapshot say how far it is; `progress` must outlive the store.  NULL = no longer. */
void wsdbg_store_show_progress(struct wsdbg_store *store, struct wsdbg_progress *progress);
/* Replaces the current picture: contexts, modules, functions, launches (new ones are added), grids, CTAs,
 * warps, barriers, events.  Cheap enough to call about once a second. */
struct wsdbg_error *wsdbg_store_snapshot(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot);
/* Adds the findings, evidence and edges of a diagnosis made from the snapshot stored just before. */
struct wsdbg_error *wsdbg_store_diagnosis(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                          const struct wsdbg_diagnosis *diagnosis);
/* Keeps a refusal and what was said of it; the same one again replaces its count. */
struct wsdbg_error *wsdbg_store_refusal(struct wsdbg_store *store, const struct wsdbg_refusal *refusal,
                                        const struct wsdbg_refused_words *words);
/* Who wrote a line of the log.  TERMINAL: the program's terminal, where its two streams are one.  SCHEDULE: wsdbg, of
 * the schedule that leads to a hang or fault, which reports show, too. */
enum wsdbg_log_origin { WSDBG_LOG_WSDBG, WSDBG_LOG_STDOUT, WSDBG_LOG_STDERR, WSDBG_LOG_TERMINAL, WSDBG_LOG_SCHEDULE };
/* Adds one line (without its newline) to the session's log: wsdbg's own words always, the program's where wsdbg
 * carries them (--tui). */
struct wsdbg_error *wsdbg_store_log(struct wsdbg_store *store, uint64_t time_ns, enum wsdbg_log_origin origin,
                                    const char *text);
/* A line of the session's log, without its newline. */
struct wsdbg_log_line {
    uint64_t time_ns;
    enum wsdbg_log_origin origin;
    const char *text;
};
/* Adds many lines as one transaction. */
struct wsdbg_error *wsdbg_store_log_lines(struct wsdbg_store *store, const struct wsdbg_log_line *lines, size_t count);
/* What a module was made from, for people to read.  NULL = not known, or not there.  Its maker says who owns the
 * strings. */
struct wsdbg_source_file {
    const char *path;         /* of the source, as the compiler had it */
    const char *text;         /* the whole source */
    const char *text_missing; /* why there is no source: "not found", … */
    const char *ptx;          /* the module's PTX, looked for where there is no source */
    const char *ptx_missing;  /* why there is no PTX either: "the module is a cubin, …" */
};
/* Frees the strings and forgets them. */
void wsdbg_source_file_deinit(struct wsdbg_source_file *file);
/* Keeps the source of a module (index in the snapshot stored last), in place of what was kept of it before. */
struct wsdbg_error *wsdbg_store_source(struct wsdbg_store *store, uint32_t module,
                                       const struct wsdbg_source_file *file);
struct wsdbg_error *wsdbg_store_end(struct wsdbg_store *store, const struct wsdbg_session_end *end);
/* Closes; the WAL is folded back into the file.  NULL is fine. */
void wsdbg_store_close(struct wsdbg_store *store);

/* Opens an existing database read-only after checking that it is one of ours and whole enough to read:
 * errors name the file and the reason (not a database, empty, corrupt, schema version N, not a wsdbg file).
 * A file of an older schema version is read through a private copy; the file itself is never changed. */
struct wsdbg_error *wsdbg_store_open(const char *path, struct wsdbg_store **out);
/* Reading ends with an error once it takes longer than base/limits.h allows, counted from the opening, or from here:
 * for who reads again and again. */
void wsdbg_store_restart_time(struct wsdbg_store *store);
/* From here on it may take any time. */
void wsdbg_store_lift_time_limit(struct wsdbg_store *store);

/* Runs one SQL statement, or the canned query "@name ARGUMENT…", on a read-only store and prints its rows.  An aligned
 * table has its long texts cut to fit in `columns`, the width of a terminal; 0 = nothing is cut.  Few rows that do not
 * fit are shown whole, a line a column.  The aligned table of a
 * canned query has kernels' names as their authors wrote them. */
enum wsdbg_query_format { WSDBG_QUERY_ALIGNED, WSDBG_QUERY_CSV, WSDBG_QUERY_JSON };
struct wsdbg_error *wsdbg_store_query(struct wsdbg_store *store, const char *sql_or_name,
                                      enum wsdbg_query_format format, size_t columns, FILE *out);
/* Whether "@name" asks about histories, and the session holds none: there are no rows then. */
struct wsdbg_error *wsdbg_store_lacks_histories(struct wsdbg_store *store, const char *sql_or_name, bool *out);
/* Lists the canned queries: name, arguments, question. */
void wsdbg_store_list_queries(FILE *out);

/* The report of a stored session, from the database alone. */
struct wsdbg_error *wsdbg_report_text(struct wsdbg_store *store, const struct wsdbg_sheet *out);
struct wsdbg_error *wsdbg_report_json(struct wsdbg_store *store, FILE *out);

#endif
