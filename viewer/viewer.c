/* viewer.c - see viewer.h: takes the terminal, steps, gives it back.
 * Reads: keys, the source.  Writes: the terminal, through frame.c. */
#include <errno.h>
#include <ncurses.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "viewer/terminal_kind.h"
#include "viewer/viewer_internal.h"

#define LIVE_UPDATE_NS 80000000u
#define IDLE_UPDATE_NS 500000000u
#define FRAME_NS 50000000u
#define SAMPLE_BYTES ((size_t)8 << 20)
#define ESCAPE_DELAY_MS 25
#define END_OF_INPUT 0x1d /* Ctrl-] */

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the terminal ---- */

static struct wsdbg_error *open_terminal(struct viewer *viewer, const char *name)
{
    FILE *in = stdin, *out = stdout;
    if (name) {
        viewer->terminal = fopen(name, "r+e");
        if (!viewer->terminal)
            return wsdbg_error_os(errno, "open %s", name);
        in = out = viewer->terminal;
    }
    if (!isatty(fileno(in)) || !isatty(fileno(out)))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the viewer needs a terminal, for its keys and its screen");
    struct wsdbg_error *error = viewer_terminal_check(fileno(out));
    if (error)
        return error;
    setlocale(LC_CTYPE, "");
    viewer->screen = newterm(NULL, out, in);
    if (!viewer->screen)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "TERM=%s: ncurses cannot use this terminal", getenv("TERM"));
    viewer->descriptor = fileno(in);
    return NULL;
}

static void prepare_terminal(struct viewer *viewer)
{
    raw();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
    set_escdelay(ESCAPE_DELAY_MS);
    mouseinterval(0);
    mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    viewer_look_init(&viewer->look);
}

static struct wsdbg_error *open_panes(struct viewer *viewer, const char *start)
{
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && viewer_views[i]; i++) {
        error = viewer_pane_init(&viewer->panes[viewer->pane_count++], viewer_views[i]);
        if (start && strcmp(viewer_views[i]->name, start) == 0)
            viewer->current = i;
    }
    return error;
}

struct wsdbg_error *viewer_open(const struct viewer_options *options, struct viewer_source *source, struct viewer **out)
{
    struct viewer *viewer = calloc(1, sizeof *viewer);
    if (!viewer) {
        source->ops->close(source);
        return &wsdbg_error_no_memory;
    }
    viewer->source = source;
    viewer->clicked_row = SIZE_MAX;
    snprintf(viewer->title, sizeof viewer->title, "%s", options->title ? options->title : "");
    struct wsdbg_error *error = open_panes(viewer, options->start);
    if (!error)
        error = open_terminal(viewer, options->terminal);
    if (error) {
        viewer_close(viewer);
        return error;
    }
    viewer->samples = viewer_samples_create(SAMPLE_BYTES);
    prepare_terminal(viewer);
    viewer_set_stale(viewer);
    *out = viewer;
    return NULL;
}

void viewer_close(struct viewer *viewer)
{
    if (!viewer)
        return;
    if (viewer->screen) {
        endwin();
        delscreen(viewer->screen);
    }
    for (size_t i = 0; i < viewer->pane_count; i++)
        viewer_pane_deinit(&viewer->panes[i]);
    viewer_samples_destroy(viewer->samples);
    if (viewer->terminal)
        fclose(viewer->terminal);
    viewer->source->ops->close(viewer->source);
    free(viewer);
}

void viewer_stop(struct viewer *viewer)
{
    def_prog_mode();
    endwin();
    if (viewer->source->ops->stop)
        viewer->source->ops->stop(viewer->source);
    else
        raise(SIGSTOP);
    reset_prog_mode();
    clearok(curscr, TRUE);
    viewer->dirty = true;
}

int viewer_descriptor(const struct viewer *viewer)
{
    return viewer->descriptor;
}

/* ---- a step ---- */

/* The size is asked for, not signalled: whoever runs the loop owns the signals. */
static void follow_size(struct viewer *viewer)
{
    struct winsize size;
    if (ioctl(viewer->descriptor, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        return;
    if (size.ws_row == LINES && size.ws_col == COLS)
        return;
    resizeterm(size.ws_row, size.ws_col);
    clearok(curscr, TRUE);
    viewer_lay_out(viewer);
    viewer->dirty = true;
}

/* Bytes as they come, for the program.  False: the terminal is gone. */
static bool pass_input(struct viewer *viewer)
{
    char bytes[256];
    struct pollfd ready = {.fd = viewer->descriptor, .events = POLLIN};
    while (viewer->input && poll(&ready, 1, 0) > 0) {
        const ssize_t count = read(viewer->descriptor, bytes, sizeof bytes);
        if (count <= 0)
            return count < 0 && (errno == EINTR || errno == EAGAIN);
        const char *end = memchr(bytes, END_OF_INPUT, (size_t)count);
        viewer->source->ops->input(viewer->source, bytes, end ? (size_t)(end - bytes) : (size_t)count);
        if (end)
            viewer->input = false;
        viewer->dirty = true;
    }
    return true;
}

/* False: the terminal is gone. */
static bool take_keys(struct viewer *viewer)
{
    struct pollfd ready = {.fd = viewer->descriptor, .events = POLLIN};
    if (!pass_input(viewer))
        return false;
    if (poll(&ready, 1, 0) < 0)
        return true;
    if (ready.revents & (POLLHUP | POLLERR | POLLNVAL))
        return false;
    for (int key; !viewer->leave && !viewer->input && (key = getch()) != ERR;) {
        if (key == KEY_RESIZE)
            viewer->dirty = true;
        else
            viewer_press(viewer, key);
        viewer->typed = true;
    }
    return true;
}

static uint64_t update_every_ns(const struct viewer *viewer)
{
    return viewer->source->ops->picture(viewer->source)->live ? LIVE_UPDATE_NS : IDLE_UPDATE_NS;
}

static void update(struct viewer *viewer)
{
    bool changed = false;
    if (viewer->paused || (viewer->updated_ns && viewer->now_ns - viewer->updated_ns < update_every_ns(viewer)))
        return;
    viewer->updated_ns = viewer->now_ns;
    struct wsdbg_error *error = viewer->source->ops->update(viewer->source, viewer->now_ns, &changed);
    char before[sizeof viewer->trouble];
    memcpy(before, viewer->trouble, sizeof before);
    snprintf(viewer->trouble, sizeof viewer->trouble, "%s", error ? wsdbg_error_message(error) : "");
    wsdbg_error_destroy(error);
    viewer->dirty |= strcmp(before, viewer->trouble) != 0;
    const struct viewer_picture *picture = viewer->source->ops->picture(viewer->source);
    if (!changed)
        return;
    if (picture->live && picture->snapshot && viewer->samples)
        viewer_samples_add(viewer->samples, picture->snapshot, picture->now_ns);
    viewer_set_stale(viewer);
}

/* What was asked about may be over before the answer. */
static void review_question(struct viewer *viewer)
{
    const struct viewer_source_ops *ops = viewer->source->ops;
    if (!viewer->question || ops->question(viewer->source))
        return;
    viewer->question = NULL;
    viewer->dirty = true;
}

uint64_t viewer_due_ns(const struct viewer *viewer)
{
    const uint64_t update_ns = viewer->updated_ns + update_every_ns(viewer);
    const uint64_t draw_ns = viewer->drawn_ns + FRAME_NS;
    return viewer->dirty && draw_ns < update_ns ? draw_ns : update_ns;
}

bool viewer_step(struct viewer *viewer, uint64_t now_ns)
{
    viewer->now_ns = now_ns;
    follow_size(viewer);
    if (!take_keys(viewer) || viewer->leave)
        return false;
    update(viewer);
    review_question(viewer);
    /* What a key does is seen at once; what the program does, as often as eyes can follow. */
    if (viewer->dirty && (viewer->typed || now_ns - viewer->drawn_ns >= FRAME_NS)) {
        viewer->dirty = viewer->typed = false;
        viewer->drawn_ns = now_ns;
        viewer_draw(viewer);
    }
    return true;
}

/* ---- a loop of its own ---- */

/* A signal that came, 0 = none. */
static int wait_for(struct viewer *viewer, int signals)
{
    const uint64_t now_ns = monotonic_ns(), due_ns = viewer_due_ns(viewer);
    const int timeout_ms = due_ns > now_ns ? (int)((due_ns - now_ns + 999999) / 1000000) : 0;
    struct pollfd descriptors[] = {{.fd = viewer->descriptor, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    struct signalfd_siginfo info;
    poll(descriptors, 2, timeout_ms);
    return read(signals, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

struct wsdbg_error *viewer_run(struct viewer *viewer, int *signal_number)
{
    static const int ending[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    sigset_t set, before;
    int came = 0;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaddset(&set, ending[i]);
    const int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        return wsdbg_error_os(errno, "signalfd");
    sigprocmask(SIG_BLOCK, &set, &before);
    while (!came && viewer_step(viewer, monotonic_ns()))
        came = wait_for(viewer, signals);
    close(signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    *signal_number = came;
    return NULL;
}
