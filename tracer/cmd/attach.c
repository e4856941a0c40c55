/* attach.c - see attach.h.
 *
 * Between two pictures of the run's there are twenty of ours: slots are read as often as the viewer draws.  A picture
 * with a verdict comes from the database, and stands there until the run says that something moved.
 *
 * Kernels without probes are seen only by looks at the GPU, and only the run can take one.  This process sends it
 * a signal for each look, and reads the result from the database.  Without a viewer there are no signals and no looks.
 */
#include "cmd/attach.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/console.h"
#include "evidence/evidence.h"
#include "viewer/source_live.h"

enum { LOG_LINES = 20000, LOG_BYTES = 8 << 20, DATABASE_EVERY_NS = 200000000 };

/* Tells whether a file is another one than before. */
struct stamp {
    struct timespec changed;
    off_t bytes;
    ino_t number;
};

struct attachment {
    struct viewer_feed feed;
    struct viewer_source *source;
    struct wsdbg_evidence *evidence;
    char *database, *wal;
    struct stamp seen[2]; /* database, WAL */
    uint64_t look_ns;     /* when the database is looked at again */
    struct viewer_log_ring *log;
    uint64_t log_lines;               /* read so far */
    struct wsdbg_loaded first, shown; /* strings that pictures point to; first: the session's facts */
    int64_t shown_number;             /* picture of the database given last */
    uint64_t look_every_ns;           /* the run is asked for a look so often, 0 = never */
    uint64_t asked_ns;                /* ... and was asked then */
    bool standing;                    /* … and nothing moved since */
    bool passing;                     /* … and it is what a look saw of work that goes on */
    bool over;
    bool looks; /* the run answers the signal */
    pid_t run;
    int run_pidfd; /* -1 = it was gone already */
};

static struct stamp stamp_of(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return (struct stamp){0};
    return (struct stamp){status.st_mtim, status.st_size, status.st_ino};
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
    return a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec && a->bytes == b->bytes &&
           a->number == b->number;
}

/* True when the database may hold something new. */
static bool database_changed(struct attachment *attachment)
{
    const struct stamp now[2] = {stamp_of(attachment->database), stamp_of(attachment->wal)};
    if (same_stamp(&now[0], &attachment->seen[0]) && same_stamp(&now[1], &attachment->seen[1]))
        return false;
    memcpy(attachment->seen, now, sizeof now);
    return true;
}

static struct wsdbg_error *read_log(struct attachment *attachment, struct wsdbg_store *store, uint64_t count)
{
    struct wsdbg_error *error = NULL;
    /* What would leave the ring at once need not be read. */
    if (count > LOG_LINES && attachment->log_lines < count - LOG_LINES)
        attachment->log_lines = count - LOG_LINES;
    for (bool found = true; !error && found && attachment->log_lines < count;) {
        struct wsdbg_log_line line;
        error = wsdbg_store_log_line(store, attachment->log_lines, &line, &found);
        if (error || !found)
            break;
        viewer_log_ring_add(attachment->log, line.time_ns, line.origin, line.text);
        attachment->log_lines++;
    }
    return error;
}

/* Moves a picture of the database out, the newest one or the shown one; its strings stay here until the next one. */
static struct wsdbg_error *take_stored(struct attachment *attachment, struct wsdbg_store *store, int64_t number,
                                       bool newest, bool *newer, struct viewer_fresh *fresh)
{
    struct wsdbg_loaded loaded;
    struct wsdbg_error *error =
        newest ? wsdbg_store_load_newest(store, &loaded) : wsdbg_store_load(store, true, &loaded);
    if (error)
        return error;
    attachment->shown_number = number;
    attachment->over = loaded.ended;
    attachment->passing = loaded.snapshot.look_count > 0 && !loaded.diagnosis.hang;
    if (loaded.ended)
        viewer_live_end(attachment->source, &loaded.end);
    *newer = loaded.has_snapshot;
    *fresh = (struct viewer_fresh){loaded.snapshot, loaded.diagnosis, loaded.diagnosed};
    loaded.snapshot = (struct wsdbg_snapshot){0};
    loaded.diagnosis = (struct wsdbg_diagnosis){0};
    wsdbg_loaded_deinit(&attachment->shown);
    attachment->shown = loaded;
    return NULL;
}

static struct wsdbg_error *read_database(struct attachment *attachment, bool *newer, struct viewer_fresh *fresh)
{
    struct wsdbg_store *store;
    struct wsdbg_store_state state;
    struct wsdbg_error *error = wsdbg_store_open(attachment->database, &store);
    if (error)
        return error;
    error = wsdbg_store_get_state(store, &state);
    if (!error)
        error = read_log(attachment, store, state.log_lines);
    if (!error) {
        /* What is shown is the newest verdict's picture; before there is one, the newest picture. */
        const bool looked = !state.ended && state.newest_looked && (state.newest > state.shown || !state.diagnosed);
        const int64_t number = looked ? state.newest : state.shown;
        attachment->standing = state.diagnosed && !state.moved_since && !looked;
        if (state.ended || ((attachment->standing || looked) && number != attachment->shown_number))
            error = take_stored(attachment, store, number, looked, newer, fresh);
    }
    wsdbg_store_close(store);
    return error;
}

static bool run_is_gone(const struct attachment *attachment)
{
    struct pollfd process = {.fd = attachment->run_pidfd, .events = POLLIN};
    return attachment->run_pidfd < 0 || poll(&process, 1, 0) > 0;
}

/* A run that was killed never says that it is over. */
static void give_run_up(struct attachment *attachment)
{
    char text[96];
    attachment->over = true;
    snprintf(text, sizeof text, "wsdbg (pid %d) is gone and did not finish the session", (int)attachment->run);
    viewer_live_end(attachment->source, NULL);
    viewer_live_set_status(attachment->source, text);
}

static struct wsdbg_error *look_at_database(struct attachment *attachment, uint64_t now_ns, bool *newer,
                                            struct viewer_fresh *fresh)
{
    if (attachment->over || now_ns < attachment->look_ns)
        return NULL;
    attachment->look_ns = now_ns + DATABASE_EVERY_NS;
    /* Asked before the last look, so that an end written just before the run went is seen. */
    const bool gone = run_is_gone(attachment);
    struct wsdbg_error *error = database_changed(attachment) || gone ? read_database(attachment, newer, fresh) : NULL;
    if (gone && !attachment->over)
        give_run_up(attachment);
    return error;
}

/* A process that is gone, or may not be sent signals, makes no looks. */
static void ask_for_look(struct attachment *attachment, uint64_t now_ns)
{
    attachment->asked_ns = now_ns;
    syscall(SYS_pidfd_send_signal, attachment->run_pidfd, WSDBG_LOOK_SIGNAL, NULL, 0);
}

/* Kernels with probes show themselves. */
static bool wants_look(const struct attachment *attachment, const struct wsdbg_snapshot *snapshot, uint64_t now_ns)
{
    return attachment->look_every_ns && attachment->run_pidfd >= 0 && snapshot->grid_count == 0 &&
           snapshot->context_count > 0 && now_ns - attachment->asked_ns >= attachment->look_every_ns;
}

static struct wsdbg_error *attachment_take(struct viewer_feed *feed, uint64_t now_ns, bool *newer,
                                           struct viewer_fresh *fresh)
{
    struct attachment *attachment = (struct attachment *)feed;
    *newer = false;
    struct wsdbg_error *error = look_at_database(attachment, now_ns, newer, fresh);
    if (error || *newer || attachment->over || (attachment->standing && !attachment->passing))
        return error;
    error = attachment->evidence->ops->poll(attachment->evidence, now_ns, &fresh->snapshot);
    if (!error && wants_look(attachment, &fresh->snapshot, now_ns))
        ask_for_look(attachment, now_ns);
    *newer = !error;
    return error;
}

static void attachment_look(struct viewer_feed *feed)
{
    struct attachment *attachment = (struct attachment *)feed;
    if (attachment->looks && attachment->run_pidfd >= 0)
        ask_for_look(attachment, wsdbg_monotonic_ns());
}

/* As the run kept it: the images of modules are in a folder of its own. */
static struct wsdbg_error *read_source(struct viewer_feed *feed, const struct wsdbg_module *module,
                                       struct wsdbg_source_file *out)
{
    struct wsdbg_store *store;
    struct wsdbg_error *error = wsdbg_store_open(((struct attachment *)feed)->database, &store);
    if (error)
        return error;
    error = wsdbg_store_source_file(store, module, out);
    wsdbg_store_close(store);
    return error;
}

static void attachment_close(struct viewer_feed *feed)
{
    struct attachment *attachment = (struct attachment *)feed;
    if (attachment->evidence)
        attachment->evidence->ops->close(attachment->evidence);
    if (attachment->run_pidfd >= 0)
        close(attachment->run_pidfd);
    viewer_log_ring_destroy(attachment->log);
    wsdbg_loaded_deinit(&attachment->first);
    wsdbg_loaded_deinit(&attachment->shown);
    free(attachment->database);
    free(attachment->wal);
    free(attachment);
}

static struct wsdbg_error *open_parts(struct attachment *attachment, const struct wsdbg_running *session)
{
    struct wsdbg_store *store;
    attachment->database = strdup(session->database);
    attachment->log = viewer_log_ring_create(LOG_LINES, LOG_BYTES);
    if (!attachment->database || !attachment->log || asprintf(&attachment->wal, "%s-wal", session->database) < 0)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = wsdbg_store_open(session->database, &store);
    if (error)
        return error;
    error = wsdbg_store_load(store, false, &attachment->first);
    wsdbg_store_close(store);
    if (!error)
        error = wsdbg_evidence_attach_ring(session->name, session->spool, &attachment->evidence);
    if (!error && session->join)
        attachment->evidence->ops->join(attachment->evidence, session->join);
    attachment->run_pidfd = (int)syscall(SYS_pidfd_open, session->wsdbg_pid, 0);
    return error;
}

struct wsdbg_error *wsdbg_attach(const struct wsdbg_running *session, uint64_t look_every_ns,
                                 struct viewer_source **out)
{
    struct attachment *attachment = calloc(1, sizeof *attachment);
    if (!attachment)
        return &wsdbg_error_no_memory;
    attachment->feed =
        (struct viewer_feed){.take = attachment_take, .read_source = read_source, .close = attachment_close};
    attachment->looks = session->looks;
    if (session->looks) {
        attachment->look_every_ns = look_every_ns;
        attachment->feed.look = attachment_look;
    }
    attachment->run = session->wsdbg_pid;
    attachment->run_pidfd = -1;
    struct wsdbg_error *error = open_parts(attachment, session);
    if (error) {
        attachment_close(&attachment->feed);
        return error;
    }
    attachment->feed.info = &attachment->first.info;
    attachment->feed.log = attachment->log;
    error = viewer_source_open_live(&attachment->feed, &attachment->source);
    if (error)
        return error;
    *out = attachment->source;
    return NULL;
}
