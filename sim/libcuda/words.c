/* words.c - what the stand-in says, on the stderr that the program was started with.
 *
 * Reads: which file stderr is when the library is loaded.  Writes: lines there; none into a file that the program has put
 * on descriptor 2 since.
 */
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "libcuda/driver.h"

static struct stat own_stderr;
static bool has_own_stderr;

__attribute__((constructor)) static void remember(void)
{
    has_own_stderr = fstat(STDERR_FILENO, &own_stderr) == 0;
}

static bool is_own_stderr(void)
{
    struct stat now;
    return has_own_stderr && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == own_stderr.st_dev &&
           now.st_ino == own_stderr.st_ino;
}

static void say(const char *who, const char *format, va_list arguments)
{
    char line[1024], clean[2048];
    if (!is_own_stderr())
        return;
    vsnprintf(line, sizeof line, format, arguments);
    wsdbg_text_escape_into(line, clean, sizeof clean);
    fprintf(stderr, "%s: %s\n", who, clean);
}

void driver_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("wsdbg simulator", format, arguments);
    va_end(arguments);
}

void driver_say_of_wsdbg(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("wsdbg", format, arguments);
    va_end(arguments);
}
