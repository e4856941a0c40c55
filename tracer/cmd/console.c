/* console.c - see console.h.  Writes: stderr.  Reads: the clocks, NO_COLOR and TERM. */
#include "cmd/console.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void wsdbg_say(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (text)
        dprintf(STDERR_FILENO, "wsdbg: %s\n", text);
    free(text);
}

void wsdbg_say_error(const char *command, struct wsdbg_error *error)
{
    dprintf(STDERR_FILENO, "wsdbg %s: %s\n", command, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

bool wsdbg_console_colour(FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if ((no_colour && no_colour[0]) || !term || strcmp(term, "dumb") == 0)
        return false;
    return isatty(fileno(stream));
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t wsdbg_monotonic_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t wsdbg_unix_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}
