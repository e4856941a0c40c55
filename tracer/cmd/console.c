/* console.c - see console.h.  Writes: stderr.  Reads: the clocks, NO_COLOR and TERM. */
#include "cmd/console.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

/* A message is one line, whatever the names and texts in it hold. */
static void say(const char *who, const char *text)
{
    char *clean = wsdbg_text_escape(text);
    if (clean)
        dprintf(STDERR_FILENO, "%s: %s\n", who, clean);
    free(clean);
}

void wsdbg_say(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (text)
        say("wsdbg", text);
    free(text);
}

void wsdbg_say_error(const char *command, struct wsdbg_error *error)
{
    char who[64];
    snprintf(who, sizeof who, "wsdbg %s", command);
    say(who, wsdbg_error_message(error));
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
