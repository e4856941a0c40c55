/* console.h - wsdbg's own words: lines on stderr.  stdout belongs to the program, to --json and to query. */
#ifndef WSDBG_BASE_CONSOLE_H
#define WSDBG_BASE_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* One line on stderr, "wsdbg: " before it, written in one piece so that it cannot mix with the program's own.  On a
 * terminal it is broken at its width. */
void wsdbg_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says the error, "wsdbg COMMAND: message", and destroys it. */
void wsdbg_say_error(const char *command, struct wsdbg_error *error);

/* CLOCK_MONOTONIC and CLOCK_REALTIME. */
uint64_t wsdbg_monotonic_ns(void);
uint64_t wsdbg_unix_ns(void);

#endif
