/* run_tui.c - see run_tui.h.  Reads: keys, the program's output.  Writes: the terminal, the program's input, its lines
 * into the session's log.
 *
 * One thread: the watch's clock serves this file between two looks.  Drawing cannot hold the watch up: a frame is
 * drawn only when the terminal has taken the one before.
 */
#include "cmd/run_tui.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "base/console.h"
#include "program/output_lines.h"
#include "cmd/program_log.h"
#include "watch/sources.h"
#include "program/terminal_relay.h"
#include "viewer/source_live.h"
#include "viewer/viewer.h"

enum { LOG_LINES = 20000, LOG_BYTES = 8 << 20 };

struct wsdbg_tui {
    struct wsdbg_listener listener;
    struct wsdbg_companion companion;
    struct viewer_feed feed;
    struct wsdbg_child *child;
    const struct wsdbg_session *session;
    int terminal;       /* what is drawn on */
    bool owns_terminal; /* it was opened here: /dev/tty */
    struct wsdbg_relay *relay;
    struct wsdbg_output_lines *lines;
    struct wsdbg_program_log *program_log;
    struct viewer_log_ring *log; /* what the viewer shows */
    struct viewer_source *source;
    struct viewer *viewer;               /* NULL = before it was opened, or the reader has left */
    bool blocked;                        /* the terminal has not taken the last frame yet */
    uint64_t look_every_ns, look_due_ns; /* the reader wants a look at the GPU; 0 = never */
    const struct wsdbg_snapshot *newest; /* the watch's own; NULL = taken, or gone */
    struct viewer_fresh kept;            /* a picture that must not be missed */
    bool has_kept;
    bool ended, ends_program, leave_at_end;
    bool passing; /* the reader has left: the real terminal and the program's are one */
    struct termios modes_before;
    FILE *words; /* for stderr, later */
    char *words_text;
    size_t words_bytes;
};

static struct wsdbg_tui *of_listener(struct wsdbg_listener *listener)
{
    return (struct wsdbg_tui *)((char *)listener - offsetof(struct wsdbg_tui, listener));
}

static struct wsdbg_tui *of_companion(struct wsdbg_companion *companion)
{
    return (struct wsdbg_tui *)((char *)companion - offsetof(struct wsdbg_tui, companion));
}

static struct wsdbg_tui *of_feed(struct viewer_feed *feed)
{
    return (struct wsdbg_tui *)((char *)feed - offsetof(struct wsdbg_tui, feed));
}

/* ---- what the watch tells ---- */

static void keep_picture(struct wsdbg_tui *tui, const struct wsdbg_snapshot *snapshot,
                         const struct wsdbg_diagnosis *diagnosis)
{
    struct viewer_fresh fresh = {.diagnosed = diagnosis != NULL};
    struct wsdbg_error *error = wsdbg_snapshot_copy(snapshot, &fresh.snapshot);
    if (!error && diagnosis)
        error = wsdbg_diagnosis_copy(diagnosis, &fresh.diagnosis);
    if (error) {
        wsdbg_error_destroy(error);
        wsdbg_snapshot_deinit(&fresh.snapshot);
        return;
    }
    wsdbg_snapshot_deinit(&tui->kept.snapshot);
    wsdbg_diagnosis_deinit(&tui->kept.diagnosis);
    tui->kept = fresh;
    tui->has_kept = true;
}

static void tui_looked(struct wsdbg_listener *listener, const struct wsdbg_snapshot *snapshot, bool last)
{
    struct wsdbg_tui *tui = of_listener(listener);
    const bool looked = snapshot->look_count > 0; /* the next one will show less */
    tui->newest = last || looked ? NULL : snapshot;
    if (looked || (last && !tui->has_kept))
        keep_picture(tui, snapshot, NULL);
}

static void tui_judged(struct wsdbg_listener *listener, const struct wsdbg_snapshot *snapshot,
                       const struct wsdbg_diagnosis *diagnosis)
{
    struct wsdbg_tui *tui = of_listener(listener);
    tui->newest = NULL;
    keep_picture(tui, snapshot, diagnosis);
}

static void show_line(struct wsdbg_tui *tui, const char *line)
{
    uint64_t now_ns = wsdbg_monotonic_ns();
    wsdbg_program_log_flush(tui->program_log, wsdbg_session_store(tui->session), now_ns);
    viewer_log_ring_add(tui->log, now_ns, WSDBG_LOG_WSDBG, line);
}

static void tui_said(struct wsdbg_listener *listener, const char *line)
{
    struct wsdbg_tui *tui = of_listener(listener);
    show_line(tui, line);
    char *clean = tui->viewer ? wsdbg_text_escape(line) : NULL;
    if (clean)
        fprintf(tui->words, "wsdbg: %s\n", clean);
    else if (!tui->viewer)
        wsdbg_say("%s", line);
    free(clean);
}

static void tui_reported(struct wsdbg_listener *listener, const char *text, const char *verdict)
{
    struct wsdbg_tui *tui = of_listener(listener);
    show_line(tui, verdict);
    fputs(text, tui->viewer ? tui->words : stderr);
}

/* ---- what the viewer asks ---- */

static struct wsdbg_error *feed_take(struct viewer_feed *feed, uint64_t now_ns, bool *newer, struct viewer_fresh *fresh)
{
    struct wsdbg_tui *tui = of_feed(feed);
    (void)now_ns;
    if (!tui->has_kept && tui->newest) {
        keep_picture(tui, tui->newest, NULL);
        tui->newest = NULL;
    }
    *newer = tui->has_kept;
    if (tui->has_kept)
        *fresh = tui->kept;
    tui->kept = (struct viewer_fresh){0};
    tui->has_kept = false;
    return NULL;
}

static void feed_input(struct viewer_feed *feed, const char *bytes, size_t count)
{
    wsdbg_relay_write(of_feed(feed)->relay, bytes, count);
}

static const char *feed_question(struct viewer_feed *feed)
{
    return of_feed(feed)->ended ? NULL : "The program still runs.  y: end it   d: leave it running here   n: stay";
}

static bool feed_answer(struct viewer_feed *feed, int key)
{
    struct wsdbg_tui *tui = of_feed(feed);
    tui->ends_program = key == 'y' || key == 'Y';
    tui->passing = key == 'd' || key == 'D';
    return tui->ends_program || tui->passing;
}

static void feed_interrupt(struct viewer_feed *feed)
{
    /* Typed, not sent: the program's terminal makes SIGINT of it, or not, as the program wants it. */
    wsdbg_relay_write(of_feed(feed)->relay, "\x03", 1);
}

static void feed_look(struct viewer_feed *feed)
{
    of_feed(feed)->look_due_ns = 1;
}

static void feed_stop(struct viewer_feed *feed)
{
    wsdbg_child_stop_both(of_feed(feed)->child);
}

static struct wsdbg_error *feed_read_source(struct viewer_feed *feed, const struct wsdbg_module *module,
                                            struct wsdbg_source_file *out)
{
    return wsdbg_source_read(wsdbg_session_spool(of_feed(feed)->session), module, out);
}

/* The feed is part of the tui. */
static void feed_close(struct viewer_feed *feed)
{
    of_feed(feed)->source = NULL;
}

/* ---- the program's output ---- */

static void add_line(void *owner, const char *text)
{
    struct wsdbg_tui *tui = owner;
    uint64_t now_ns = wsdbg_monotonic_ns();
    viewer_log_ring_add(tui->log, now_ns, WSDBG_LOG_TERMINAL, text);
    wsdbg_program_log_add(tui->program_log, now_ns, text);
}

static void add_output(void *owner, const char *bytes, size_t count)
{
    struct wsdbg_tui *tui = owner;
    wsdbg_output_lines_add(tui->lines, bytes, count);
    snprintf(tui->feed.unfinished, sizeof tui->feed.unfinished, "%s", wsdbg_output_lines_unfinished(tui->lines));
    /* A terminal that is gone takes nothing; its program gets SIGHUP. */
    if (tui->passing && write(tui->terminal, bytes, count) < 0)
        tui->passing = false;
}

/* ---- served between two looks ---- */

/* Keys are the program's from now on; its terminal makes signals of them. */
static void start_passing(struct wsdbg_tui *tui)
{
    struct termios modes;
    if (tcgetattr(tui->terminal, &modes) < 0) {
        tui->passing = false;
        return;
    }
    tui->modes_before = modes;
    cfmakeraw(&modes);
    modes.c_oflag |= OPOST | ONLCR;
    tcsetattr(tui->terminal, TCSANOW, &modes);
}

static void pass_keys(struct wsdbg_tui *tui)
{
    char bytes[512];
    if (poll(&(struct pollfd){.fd = tui->terminal, .events = POLLIN}, 1, 0) <= 0)
        return;
    ssize_t count = read(tui->terminal, bytes, sizeof bytes);
    if (count > 0)
        wsdbg_relay_write(tui->relay, bytes, (size_t)count);
    else if (count == 0 || errno != EINTR)
        tui->passing = false;
}

static void say_words(struct wsdbg_tui *tui)
{
    fflush(tui->words);
    fwrite(tui->words_text, 1, tui->words_bytes, stderr);
    fflush(stderr);
    rewind(tui->words);
}

static void leave(struct wsdbg_tui *tui)
{
    viewer_close(tui->viewer);
    tui->viewer = NULL;
    say_words(tui);
    tui->passing = tui->passing && !tui->ended; /* it may have ended while the reader was asked */
    if (tui->passing)
        start_passing(tui);
}

static void serve_viewer(struct wsdbg_tui *tui)
{
    struct pollfd terminal = {.fd = viewer_descriptor(tui->viewer), .events = POLLIN};
    struct pollfd room = {.fd = tui->terminal, .events = POLLOUT};
    tui->blocked = poll(&room, 1, 0) == 0;
    if (tui->blocked)
        return;
    uint64_t now_ns = wsdbg_monotonic_ns();
    bool key = poll(&terminal, 1, 0) > 0;
    if ((key || now_ns >= viewer_due_ns(tui->viewer)) && !viewer_step(tui->viewer, now_ns))
        leave(tui);
}

static void tui_serve(struct wsdbg_companion *companion)
{
    struct wsdbg_tui *tui = of_companion(companion);
    wsdbg_relay_serve(tui->relay);
    wsdbg_program_log_write(tui->program_log, wsdbg_session_store(tui->session), wsdbg_monotonic_ns());
    if (tui->viewer)
        serve_viewer(tui);
    else if (tui->passing)
        pass_keys(tui);
}

static size_t tui_watch(struct wsdbg_companion *companion, struct pollfd *descriptors, size_t capacity,
                        uint64_t *due_ns)
{
    struct wsdbg_tui *tui = of_companion(companion);
    size_t count = 0;
    if (capacity < 2)
        return 0;
    descriptors[count++] =
        (struct pollfd){.fd = wsdbg_relay_descriptor(tui->relay), .events = wsdbg_relay_events(tui->relay)};
    if (tui->viewer && tui->blocked) {
        descriptors[count++] = (struct pollfd){.fd = tui->terminal, .events = POLLOUT};
    } else if (tui->viewer) {
        descriptors[count++] = (struct pollfd){.fd = viewer_descriptor(tui->viewer), .events = POLLIN};
        if (viewer_due_ns(tui->viewer) < *due_ns)
            *due_ns = viewer_due_ns(tui->viewer);
    } else if (tui->passing) {
        descriptors[count++] = (struct pollfd){.fd = tui->terminal, .events = POLLIN};
    }
    return count;
}

static void tui_end(struct wsdbg_companion *companion)
{
    of_companion(companion)->leave_at_end = true;
}

/* ---- its life ---- */

/* The terminal of stdin and stdout, or the one that this process is controlled by. */
static struct wsdbg_error *find_terminal(struct wsdbg_tui *tui)
{
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        tui->terminal = STDOUT_FILENO;
        return NULL;
    }
    tui->terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (tui->terminal < 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--tui needs a terminal, and there is none");
    tui->owns_terminal = true;
    return NULL;
}

static bool is_terminal(const struct wsdbg_tui *tui, int fd)
{
    struct stat one, other;
    if (!isatty(fd) || fstat(fd, &one) < 0 || fstat(tui->terminal, &other) < 0)
        return false;
    pid_t session = tcgetsid(fd);
    return one.st_rdev == other.st_rdev || (session >= 0 && session == tcgetsid(tui->terminal));
}

static struct wsdbg_error *create_parts(struct wsdbg_tui *tui)
{
    tui->log = viewer_log_ring_create(LOG_LINES, LOG_BYTES);
    tui->program_log = wsdbg_program_log_create();
    tui->words = open_memstream(&tui->words_text, &tui->words_bytes);
    if (!tui->log || !tui->program_log || !tui->words)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = wsdbg_output_lines_create(add_line, tui, &tui->lines);
    if (!error)
        error = find_terminal(tui);
    return error ? error : wsdbg_relay_create(tui->terminal, add_output, tui, &tui->relay);
}

struct wsdbg_error *wsdbg_tui_create(uint64_t look_every_ns, struct wsdbg_tui **out)
{
    struct wsdbg_tui *tui = calloc(1, sizeof *tui);
    if (!tui)
        return &wsdbg_error_no_memory;
    tui->terminal = -1;
    tui->look_every_ns = tui->look_due_ns = look_every_ns;
    tui->listener =
        (struct wsdbg_listener){.looked = tui_looked, .judged = tui_judged, .said = tui_said, .reported = tui_reported};
    tui->companion = (struct wsdbg_companion){.watch = tui_watch, .serve = tui_serve, .end = tui_end};
    tui->feed = (struct viewer_feed){.take = feed_take,
                                     .input = feed_input,
                                     .question = feed_question,
                                     .answer = feed_answer,
                                     .interrupt = feed_interrupt,
                                     .stop = feed_stop,
                                     .look = feed_look,
                                     .read_source = feed_read_source,
                                     .close = feed_close};
    struct wsdbg_error *error = create_parts(tui);
    if (error) {
        wsdbg_tui_destroy(tui);
        return error;
    }
    *out = tui;
    return NULL;
}

void wsdbg_tui_prepare_child(struct wsdbg_tui *tui, struct wsdbg_child_options *options)
{
    options->terminal = wsdbg_relay_slave(tui->relay);
    for (int fd = 0; fd < 3; fd++)
        options->on_terminal[fd] = is_terminal(tui, fd);
    options->companion = &tui->companion;
}

struct wsdbg_listener *wsdbg_tui_listener(struct wsdbg_tui *tui)
{
    return &tui->listener;
}

struct wsdbg_error *wsdbg_tui_open(struct wsdbg_tui *tui, struct wsdbg_child *child,
                                   const struct wsdbg_session *session)
{
    tui->child = child;
    tui->session = session;
    tui->feed.info = wsdbg_session_info(session);
    tui->feed.log = tui->log;
    wsdbg_relay_release(tui->relay);
    struct viewer_options options = {.title = tui->feed.info->command,
                                     .terminal = tui->owns_terminal ? "/dev/tty" : NULL};
    struct wsdbg_error *error = viewer_source_open_live(&tui->feed, &tui->source);
    return error ? error : viewer_open(&options, tui->source, &tui->viewer);
}

bool wsdbg_tui_wants_look(struct wsdbg_tui *tui, uint64_t now_ns)
{
    if (!tui->viewer || !tui->look_due_ns || now_ns < tui->look_due_ns)
        return false;
    tui->look_due_ns = tui->look_every_ns ? now_ns + tui->look_every_ns : 0;
    return true;
}

bool wsdbg_tui_ends_program(const struct wsdbg_tui *tui)
{
    return tui->ends_program;
}

void wsdbg_tui_finish_log(struct wsdbg_tui *tui)
{
    wsdbg_relay_drain(tui->relay);
    wsdbg_output_lines_finish(tui->lines);
    tui->feed.unfinished[0] = '\0';
    wsdbg_program_log_flush(tui->program_log, wsdbg_session_store(tui->session), wsdbg_monotonic_ns());
}

void wsdbg_tui_hold(struct wsdbg_tui *tui, const struct wsdbg_session_end *end)
{
    tui->ended = true;
    if (tui->source)
        viewer_live_end(tui->source, end);
    while (tui->viewer && !tui->leave_at_end)
        wsdbg_child_pause(tui->child, UINT64_MAX);
}

static void stop_passing(struct wsdbg_tui *tui)
{
    if (tui->passing)
        tcsetattr(tui->terminal, TCSANOW, &tui->modes_before);
    tui->passing = false;
}

void wsdbg_tui_destroy(struct wsdbg_tui *tui)
{
    if (!tui)
        return;
    stop_passing(tui);
    if (tui->viewer)
        leave(tui);
    if (tui->words)
        fclose(tui->words);
    free(tui->words_text);
    wsdbg_snapshot_deinit(&tui->kept.snapshot);
    wsdbg_diagnosis_deinit(&tui->kept.diagnosis);
    wsdbg_relay_destroy(tui->relay);
    wsdbg_output_lines_destroy(tui->lines);
    wsdbg_program_log_destroy(tui->program_log);
    viewer_log_ring_destroy(tui->log);
    if (tui->owns_terminal)
        close(tui->terminal);
    free(tui);
}
