/* screen.c - see screen.h.  A pseudo terminal, and libvterm to know what a terminal would show. */
#include "viewer/screen.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <vterm.h>

enum { LIMIT_MS = 10000, STEP_MS = 20, STILL_MS = 1000, TEXT_BYTES = 1 << 18 };

struct screen {
    int master; /* -1 = hung up */
    pid_t pid;
    int columns, rows;
    VTerm *terminal;
    VTermScreen *screen;
    bool full_screen, cursor_hidden;
    char text[TEXT_BYTES];
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int note_property(VTermProp property, VTermValue *value, void *user)
{
    struct screen *screen = user;
    if (property == VTERM_PROP_ALTSCREEN)
        screen->full_screen = value->boolean;
    if (property == VTERM_PROP_CURSORVISIBLE)
        screen->cursor_hidden = !value->boolean;
    return 1;
}

static void become_program(const char *const *settings, const char *const *words)
{
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("NO_COLOR");
    unsetenv("LINES");
    unsetenv("COLUMNS");
    for (; settings && *settings; settings++)
        putenv((char *)(uintptr_t)*settings);
    execvp(words[0], (char **)(uintptr_t)words);
    _exit(99);
}

struct screen *screen_start(int columns, int rows, const char *const *settings, const char *const *words)
{
    static const VTermScreenCallbacks callbacks = {.settermprop = note_property};
    struct screen *screen = calloc(1, sizeof *screen);
    assert_non_null(screen);
    const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    screen->columns = columns;
    screen->rows = rows;
    screen->terminal = vterm_new(rows, columns);
    vterm_set_utf8(screen->terminal, 1);
    screen->screen = vterm_obtain_screen(screen->terminal);
    vterm_screen_enable_altscreen(screen->screen, 1);
    vterm_screen_set_callbacks(screen->screen, &callbacks, screen);
    vterm_screen_reset(screen->screen, 1);
    screen->pid = forkpty(&screen->master, NULL, NULL, &size);
    assert_true(screen->pid >= 0);
    if (screen->pid == 0)
        become_program(settings, words);
    fcntl(screen->master, F_SETFL, O_NONBLOCK);
    fcntl(screen->master, F_SETFD, FD_CLOEXEC);
    return screen;
}

/* Takes what the program wrote; false when nothing came within the time. */
static bool feed(struct screen *screen, int wait_ms)
{
    char bytes[65536];
    struct pollfd output = {.fd = screen->master, .events = POLLIN};
    if (poll(&output, 1, wait_ms) <= 0)
        return false;
    ssize_t count = read(screen->master, bytes, sizeof bytes);
    if (count <= 0) {
        /* The program has closed its end: nothing more will come. */
        poll(NULL, 0, wait_ms);
        return false;
    }
    vterm_input_write(screen->terminal, bytes, (size_t)count);
    /* Answers of the terminal to questions of the program. */
    size_t answer = vterm_output_read(screen->terminal, bytes, sizeof bytes);
    if (answer > 0 && write(screen->master, bytes, answer) < 0)
        return true;
    return true;
}

void screen_press(struct screen *screen, const char *keys)
{
    assert_int_equal(write(screen->master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* `what`: M = pressed, m = released. */
static void mouse(struct screen *screen, int button, int column, int row, char what)
{
    char bytes[64];
    snprintf(bytes, sizeof bytes, "\x1b[<%d;%d;%d%c", button, column + 1, row + 1, what);
    screen_press(screen, bytes);
}

void screen_click(struct screen *screen, int column, int row)
{
    mouse(screen, 0, column, row, 'M');
    mouse(screen, 0, column, row, 'm');
}

void screen_wheel(struct screen *screen, int direction, int column, int row)
{
    mouse(screen, direction < 0 ? 64 : 65, column, row, 'M');
}

void screen_resize(struct screen *screen, int columns, int rows)
{
    const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    screen->columns = columns;
    screen->rows = rows;
    vterm_set_size(screen->terminal, rows, columns);
    assert_int_equal(ioctl(screen->master, TIOCSWINSZ, &size), 0);
}

static size_t append_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[more] | (c >> (6 * more)));
    for (int i = 1; i <= more; i++)
        out[i] = (char)(0x80 | ((c >> (6 * (more - i))) & 0x3f));
    return (size_t)more + 1;
}

static char *append_characters(const VTermScreenCell *cell, char *out)
{
    if (!cell->chars[0])
        *out++ = ' ';
    for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell->chars[i]; i++)
        out += append_utf8(out, cell->chars[i]);
    return out;
}

static char *append_look(const VTermScreenCell *cell, char *out)
{
    char look = cell->attrs.bold ? 'B' : cell->attrs.underline ? '_' : ' ';
    if (cell->attrs.reverse)
        look = '#';
    else if (VTERM_COLOR_IS_INDEXED(&cell->fg) && !VTERM_COLOR_IS_DEFAULT_FG(&cell->fg))
        look = (cell->attrs.bold ? "KRGYBMCW" : "krgybmcw")[cell->fg.indexed.idx % 8];
    *out++ = look;
    return out;
}

typedef char *append_fn(const VTermScreenCell *cell, char *out);

static char *append_row(struct screen *screen, int row, append_fn *append, char *out)
{
    char *end = out; /* after the last character that is no blank */
    for (int column = 0; column < screen->columns;) {
        VTermScreenCell cell;
        vterm_screen_get_cell(screen->screen, (VTermPos){.row = row, .col = column}, &cell);
        out = append(&cell, out);
        if (out[-1] != ' ')
            end = out;
        column += cell.width > 0 ? cell.width : 1;
    }
    *end++ = '\n';
    return end;
}

static const char *text_of(struct screen *screen, bool looks)
{
    while (feed(screen, 0))
        continue;
    char *out = screen->text;
    for (int row = 0; row < screen->rows; row++)
        out = append_row(screen, row, append_characters, out);
    for (int row = 0; looks && row < screen->rows; row++)
        out = append_row(screen, row, append_look, out);
    *out = '\0';
    return screen->text;
}

const char *screen_text(struct screen *screen)
{
    return text_of(screen, false);
}

static void fail_with(struct screen *screen, const char *what, const char *wanted)
{
    print_error("%s:\n%s\nbut the screen is:\n%s\n", what, wanted, screen_text(screen));
    fail();
}

static void wait_for(struct screen *screen, const char *text, bool wanted)
{
    for (int64_t limit = now_ms() + LIMIT_MS; (strstr(screen_text(screen), text) != NULL) != wanted;) {
        if (now_ms() > limit)
            fail_with(screen, wanted ? "expected on the screen" : "expected to be gone", text);
        feed(screen, STEP_MS);
    }
}

void screen_expect(struct screen *screen, const char *text)
{
    wait_for(screen, text, true);
}

void screen_expect_gone(struct screen *screen, const char *text)
{
    wait_for(screen, text, false);
}

static bool cursor_is_on(struct screen *screen, const char *text)
{
    while (feed(screen, 0))
        continue;
    for (int row = 0; row < screen->rows; row++) {
        VTermScreenCell last;
        vterm_screen_get_cell(screen->screen, (VTermPos){.row = row, .col = screen->columns - 1}, &last);
        *append_row(screen, row, append_characters, screen->text) = '\0';
        if (last.attrs.reverse && strstr(screen->text, text))
            return true;
    }
    return false;
}

void screen_expect_cursor_on(struct screen *screen, const char *text)
{
    for (int64_t limit = now_ms() + LIMIT_MS; !cursor_is_on(screen, text);) {
        if (now_ms() > limit)
            fail_with(screen, "expected under the cursor", text);
        feed(screen, STEP_MS);
    }
}

void screen_expect_restored(struct screen *screen)
{
    for (int64_t limit = now_ms() + LIMIT_MS; screen->full_screen || screen->cursor_hidden;) {
        if (now_ms() > limit)
            fail_with(screen, "expected to be given back", "the terminal");
        feed(screen, STEP_MS);
    }
}

void screen_expect_stopped(struct screen *screen)
{
    int status = 0;
    for (int64_t limit = now_ms() + LIMIT_MS; waitpid(screen->pid, &status, WNOHANG | WUNTRACED) != screen->pid;) {
        if (now_ms() > limit)
            fail_with(screen, "expected to stop", "the program");
        feed(screen, STEP_MS);
    }
    assert_true(WIFSTOPPED(status));
}

/* Takes a unit of time at `at` as "T": how long something took decides which one it is. */
static size_t unit_bytes(const char *at)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "min", "h"};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strncmp(at, units[i], strlen(units[i])) == 0 && !isalnum((unsigned char)at[strlen(units[i])]))
            return strlen(units[i]);
    return 0;
}

/* What differs from run to run: numbers, also with a point, become #, blanks in a row one. */
static void blur(char *text)
{
    char *out = text;
    for (const char *at = text; *at; at++) {
        const bool number = isdigit((unsigned char)*at), after = out > text && out[-1] == '#';
        const bool point = *at == '.' && after && isdigit((unsigned char)at[1]);
        const size_t unit = *at != ' ' && out - text > 1 && out[-1] == ' ' && out[-2] == '#' ? unit_bytes(at) : 0;
        if (point || (number && after) || (*at == ' ' && out > text && out[-1] == ' '))
            continue;
        *out++ = number ? '#' : unit ? 'T' : *at;
        at += unit ? unit - 1 : 0;
    }
    *out = '\0';
}

/* What of a screen is compared with a file. */
enum aspect { TEXT, TEXT_AND_LOOKS, BLURRED_TEXT };

/* The machine's name, which a session carries, becomes HOST. */
static void blur_host(char *text)
{
    char host[256] = "", name[300];
    if (gethostname(host, sizeof host - 1) != 0 || !host[0])
        return;
    snprintf(name, sizeof name, " on %s,", host);
    char *at = strstr(text, name);
    if (!at)
        return;
    static const char instead[] = " on HOST,";
    memmove(at + strlen(instead), at + strlen(name), strlen(at + strlen(name)) + 1);
    memcpy(at, instead, strlen(instead));
}

/* What a process does at one moment, and in which functions of the C library, is not the same each time. */
static void blur_stacks(char *text)
{
    static const char mark[] = "main thread";
    char *at = strstr(text, "Host stacks, inn");
    at = at ? strstr(at, mark) : NULL;
    if (!at)
        return;
    at += strlen(mark);
    char *line_end = at + strcspn(at, "\n"), *stack_end = line_end + (*line_end != '\0');
    stack_end += strcspn(stack_end, "\n");
    memmove(at, stack_end, strlen(stack_end) + 1);
}

static char *current(struct screen *screen, enum aspect aspect)
{
    const char *shown = text_of(screen, aspect == TEXT_AND_LOOKS);
    char *text = malloc(strlen(shown) + sizeof "HOST");
    assert_non_null(text);
    strcpy(text, shown);
    if (aspect == BLURRED_TEXT) {
        blur_host(text);
        blur_stacks(text);
        blur(text);
    }
    return text;
}

/* Waits until nothing has changed for a while, and returns that. */
static char *stand_still(struct screen *screen, enum aspect aspect)
{
    char *text = current(screen, aspect);
    for (int64_t since = now_ms(), limit = since + LIMIT_MS; now_ms() - since < STILL_MS && now_ms() < limit;) {
        feed(screen, STEP_MS);
        char *next = current(screen, aspect);
        if (strcmp(next, text) != 0)
            since = now_ms();
        free(text);
        text = next;
    }
    return text;
}

static char *read_golden(const char *path)
{
    char *text = calloc(1, TEXT_BYTES);
    FILE *file = fopen(path, "re");
    assert_non_null(text);
    if (!file || fread(text, 1, TEXT_BYTES - 1, file) == 0)
        print_error("%s cannot be read; UPDATE_GOLDEN=1 makes it\n", path);
    if (file)
        fclose(file);
    return text;
}

static void update_golden(struct screen *screen, const char *path, enum aspect aspect)
{
    char *text = stand_still(screen, aspect);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(text);
}

static void expect_file(struct screen *screen, const char *name, enum aspect aspect)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.txt", WSDBG_GOLDEN_DIR, name);
    if (getenv("UPDATE_GOLDEN")) {
        update_golden(screen, path, aspect);
        return;
    }
    char *wanted = read_golden(path), *seen = current(screen, aspect);
    for (int64_t limit = now_ms() + LIMIT_MS; strcmp(seen, wanted) != 0;) {
        if (now_ms() > limit)
            fail_with(screen, path, wanted);
        feed(screen, STEP_MS);
        free(seen);
        seen = current(screen, aspect);
    }
    free(seen);
    free(wanted);
}

void screen_expect_golden(struct screen *screen, const char *name)
{
    expect_file(screen, name, TEXT);
}

void screen_expect_golden_looks(struct screen *screen, const char *name)
{
    expect_file(screen, name, TEXT_AND_LOOKS);
}

void screen_expect_like(struct screen *screen, const char *name)
{
    expect_file(screen, name, BLURRED_TEXT);
}

pid_t screen_pid(const struct screen *screen)
{
    return screen->pid;
}

void screen_hang_up(struct screen *screen)
{
    close(screen->master);
    screen->master = -1;
}

int screen_finish(struct screen *screen)
{
    int status = 0;
    pid_t ended = 0;
    for (int64_t limit = now_ms() + LIMIT_MS; !ended && now_ms() < limit;) {
        feed(screen, STEP_MS);
        ended = waitpid(screen->pid, &status, WNOHANG);
    }
    if (!ended)
        fail_with(screen, "expected to end", "the program");
    screen->pid = 0;
    screen_destroy(screen);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void screen_destroy(struct screen *screen)
{
    if (screen->pid > 0) {
        kill(screen->pid, SIGKILL);
        waitpid(screen->pid, NULL, 0);
    }
    if (screen->master >= 0)
        close(screen->master);
    vterm_free(screen->terminal);
    free(screen);
}
