/* console.c - see console.h.  Writes: stderr.  Reads: the clocks. */
#include "base/console.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/sheet.h"
#include "base/text.h"

/* Without dprintf, which may need memory. */
static void write_line(const char *who, const char *text)
{
    const struct iovec parts[] = {{(char *)(uintptr_t)who, strlen(who)},
                                  {(char[]){": "}, 2},
                                  {(char *)(uintptr_t)text, strlen(text)},
                                  {(char[]){"\n"}, 1}};
    ssize_t written = writev(STDERR_FILENO, parts, sizeof parts / sizeof *parts);
    (void)written; /* nowhere to complain */
}

/* On a terminal that is too narrow, broken between words; still written in one piece.  False: it fits, or there is no
 * memory. */
static bool write_broken(const char *who, const char *text)
{
    const size_t columns = wsdbg_sheet_columns(stderr), blanks = strspn(text, " ");
    char *first = NULL, *broken = NULL;
    size_t bytes = 0;
    if (!columns || strlen(who) + 2 + wsdbg_text_width(text) <= columns ||
        asprintf(&first, "%s: %*s", who, (int)blanks, "") < 0)
        return false;
    FILE *memory = open_memstream(&broken, &bytes);
    if (memory) {
        const struct wsdbg_sheet sheet = {.file = memory, .columns = columns};
        wsdbg_sheet_put(&sheet, NULL, first, strlen(first) + (blanks ? 2 : 0), columns, text + blanks);
        fclose(memory);
    }
    const bool done = broken && write(STDERR_FILENO, broken, bytes) > 0;
    free(broken);
    free(first);
    return done;
}

/* A message is one line, whatever the names and texts in it hold. */
static void say(const char *who, const char *text)
{
    char *clean = wsdbg_text_escape(text);
    char cut[1024];
    if (clean && write_broken(who, clean)) {
        free(clean);
        return;
    }
    if (!clean)
        wsdbg_text_escape_into(text, cut, sizeof cut);
    write_line(who, clean ? clean : cut);
    free(clean);
}

void wsdbg_say(const char *format, ...)
{
    char *text = NULL, cut[1024];
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (!text) {
        va_start(arguments, format);
        vsnprintf(cut, sizeof cut, format, arguments);
        va_end(arguments);
    }
    say("wsdbg", text ? text : cut);
    free(text);
}

void wsdbg_say_error(const char *command, struct wsdbg_error *error)
{
    char who[64];
    snprintf(who, sizeof who, "wsdbg %s", command);
    say(who, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
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
