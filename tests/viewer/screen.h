/* screen.h - drives a terminal program as a person would: a terminal of some size, keys, and eyes on the screen.
 *
 * Every wait has a limit (ten seconds): a screen that does not come fails the test and is printed, with the one that
 * was there instead.
 */
#ifndef WSDBG_TESTS_VIEWER_SCREEN_H
#define WSDBG_TESTS_VIEWER_SCREEN_H

#include <stdbool.h>
#include <sys/types.h>

struct screen;

/* Keys as a terminal of TERM=xterm sends them. */
#define KEY_ENTER "\r"
#define KEY_ESCAPE "\x1b"
#define KEY_BACKSPACE "\x7f"
#define KEY_UP "\x1bOA"
#define KEY_DOWN "\x1bOB"
#define KEY_RIGHT "\x1bOC"
#define KEY_LEFT "\x1bOD"
#define KEY_HOME "\x1bOH"
#define KEY_END "\x1bOF"
#define KEY_PAGE_UP "\x1b[5~"
#define KEY_PAGE_DOWN "\x1b[6~"
#define KEY_SHIFT_TAB "\x1b[Z"
#define KEY_F1 "\x1bOP"

/* Starts a program (words end with NULL) in a terminal, with TERM=xterm-256color and a UTF-8 locale; `settings`
 * ("NAME=value", or "NAME" to take it away; ends with NULL) come on top.  NULL = none. */
struct screen *screen_start(int columns, int rows, const char *const *settings, const char *const *words);
#define SCREEN(columns, rows, ...) screen_start(columns, rows, NULL, (const char *const[]){__VA_ARGS__, NULL})

void screen_press(struct screen *screen, const char *keys);
/* The left button, or the wheel (-1 up, 1 down), on a cell counted from 0. */
void screen_click(struct screen *screen, int column, int row);
void screen_wheel(struct screen *screen, int direction, int column, int row);
void screen_resize(struct screen *screen, int columns, int rows);
/* The lines of the screen, blanks at their ends cut; valid until the next call. */
const char *screen_text(struct screen *screen);
/* Waits until the screen shows the text in one line, or no longer does. */
void screen_expect(struct screen *screen, const char *text);
void screen_expect_gone(struct screen *screen, const char *text);
/* Waits until the viewer's cursor, a line shown reversed to its end, is on a line with the text. */
void screen_expect_cursor_on(struct screen *screen, const char *text);
/* Waits until the terminal is as it was: no full screen, a cursor. */
void screen_expect_restored(struct screen *screen);
/* Waits until the program has stopped itself, as Ctrl-Z makes it. */
void screen_expect_stopped(struct screen *screen);
/* Waits until the screen is the file WSDBG_GOLDEN_DIR/name.txt; UPDATE_GOLDEN=1 writes it when the screen has stood
 * still for a second. */
void screen_expect_golden(struct screen *screen, const char *name);
/* The same, and how each cell looks, as a second block: # reversed, the first letter of a colour (capital: bold), B
 * bold, _ underlined. */
void screen_expect_golden_looks(struct screen *screen, const char *name);
/* The same where times and process ids differ from run to run: numbers count as #, blanks in a row as one. */
void screen_expect_like(struct screen *screen, const char *name);

pid_t screen_pid(const struct screen *screen);
/* The terminal goes away, as when its window is closed. */
void screen_hang_up(struct screen *screen);
/* Waits for the program's end: exit status, or -signal.  Frees the screen. */
int screen_finish(struct screen *screen);
/* Ends it however it is.  For teardown. */
void screen_destroy(struct screen *screen);

#endif
