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

/* Starts a program (words end with NULL) in a terminal, with TERM=xterm-256color and a UTF-8 locale; `settings`
 * ("NAME=value", ends with NULL) come on top.  NULL = none. */
struct screen *screen_start(int columns, int rows, const char *const *settings, const char *const *words);
#define SCREEN(columns, rows, ...) screen_start(columns, rows, NULL, (const char *const[]){__VA_ARGS__, NULL})

void screen_press(struct screen *screen, const char *keys);
void screen_resize(struct screen *screen, int columns, int rows);
/* The lines of the screen, blanks at their ends cut; valid until the next call. */
const char *screen_text(struct screen *screen);
/* Waits until the screen shows the text in one line, or no longer does. */
void screen_expect(struct screen *screen, const char *text);
void screen_expect_gone(struct screen *screen, const char *text);
/* Waits until the screen is the file WSDBG_GOLDEN_DIR/name.txt; UPDATE_GOLDEN=1 writes it when the screen has stood
 * still for a second. */
void screen_expect_golden(struct screen *screen, const char *name);
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
