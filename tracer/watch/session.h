/* session.h - one watched session from its start to its end: evidence, database, watch, last words.
 *
 * Used by run (a live program) and by replay and demo (a recording): what differs is the clock and the evidence.
 */
#ifndef WSDBG_WATCH_SESSION_H
#define WSDBG_WATCH_SESSION_H

#include "watch/watch.h"

struct wsdbg_session_options {
    const char *output;              /* database to create; NULL = a private file that is removed at the end */
    const char *command;             /* the command line, quoted */
    const char *device;              /* "gpu", "sim", "replay" */
    const char *observer;            /* "driver", "cupti", "none" */
    const char *evidence;            /* what the session names at its start; NULL = the evidence's own name */
    const char *spool;               /* folder of module images, NULL = none */
    const char *record_path;         /* NULL = no recording */
    const char *looks_all_the_same;  /* see watch.h */
    const char *after_hang;          /* for the report's last line */
    bool omits_delay;                /* the caller says after a hang how long the verdict took */
    struct wsdbg_listener *listener; /* NULL = words go to stderr */
    uint64_t stall_ns, work_stall_ns, look_ns; /* see watch.h; look_ns 0 = the evidence cannot look at the GPU itself */
    uint64_t give_up_ns;                       /* see watch.h */
    uint32_t program_id;                       /* likewise */
    bool look_ends_work, look_spares_later_work;
    bool stop_at_hang, keep_history, counts_from_now;
    bool json; /* JSON report on stdout at the end */
};

struct wsdbg_session;

/* Takes the evidence and closes it in wsdbg_session_destroy, also when this fails.  Creates the database. */
struct wsdbg_error *wsdbg_session_create(const struct wsdbg_session_options *options, struct wsdbg_evidence *evidence,
                                         struct wsdbg_clock *clock, struct wsdbg_session **out);
/* Watches; the result stays readable until the session is destroyed. */
const struct wsdbg_watch *wsdbg_session_watch(struct wsdbg_session *session);
/* The watch as it is: for whoever its clock calls. */
const struct wsdbg_watch *wsdbg_session_state(const struct wsdbg_session *session);
/* Writes the end into the database. */
struct wsdbg_error *wsdbg_session_end(struct wsdbg_session *session, int exit_status, const char *outcome);
/* The JSON report of the ended session on stdout, if it was asked for. */
struct wsdbg_error *wsdbg_session_print(const struct wsdbg_session *session);
/* What these return belongs to the session; the store is NULL after its end. */
const struct wsdbg_session_info *wsdbg_session_info(const struct wsdbg_session *session);
struct wsdbg_store *wsdbg_session_store(const struct wsdbg_session *session);
/* Folder of module images, NULL = none. */
const char *wsdbg_session_spool(const struct wsdbg_session *session);
/* discard: the database is removed, nothing happened that is worth keeping. */
void wsdbg_session_destroy(struct wsdbg_session *session, bool discard);

/* The words of a command line, quoted for a shell.  The caller frees; NULL = no memory. */
char *wsdbg_quote_command(char *const *words);

#endif
