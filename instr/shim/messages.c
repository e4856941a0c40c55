/* messages.c - see messages.h.
 *
 * Reads:  which file stderr is.
 * Writes: stderr ("wsdbg: ..."), $WSDBG_SPOOL/<pid>.off, off_reason and notes of the segment.
 *
 * errno is kept, no signal comes of a write, and nothing is written where the program has a file of its own.
 */
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "own_files.h"
#include "segment.h"
#include "state.h"

static char spool[512];        /* "" = there is none */
static struct stat own_stderr; /* as the program was started with */
static bool has_own_stderr;

void messages_start(const char *folder)
{
    has_own_stderr = fstat(STDERR_FILENO, &own_stderr) == 0;
    if (folder && strlen(folder) < sizeof spool)
        strcpy(spool, folder);
}

/* A program may have put a file of its own on that descriptor: nothing of ours belongs there. */
static bool is_own_stderr(void)
{
    struct stat now;
    return has_own_stderr && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == own_stderr.st_dev &&
           now.st_ino == own_stderr.st_ino;
}

/* Formats the arguments after `format` into `text`, an array of WSDBG_TEXT_BYTES; what does not fit is cut. */
#define FORMAT_INTO(text, format)                        \
    do {                                                 \
        va_list arguments;                               \
        va_start(arguments, format);                     \
        vsnprintf(text, sizeof text, format, arguments); \
        va_end(arguments);                               \
    } while (0)

static void write_line(const char *text)
{
    if (!is_own_stderr())
        return;
    char line[WSDBG_TEXT_BYTES + 16];
    struct shim_signals signals;
    int length = snprintf(line, sizeof line, "wsdbg: %s\n", text);
    if (length > (int)sizeof line - 1)
        length = (int)sizeof line - 1;
    shim_signals_off(&signals);
    ssize_t written = length > 0 ? write(STDERR_FILENO, line, (size_t)length) : 0;
    (void)written; /* nowhere to complain */
    shim_signals_on(&signals);
}

void shim_say(const char *format, ...)
{
    int kept = errno;
    char text[WSDBG_TEXT_BYTES];
    FORMAT_INTO(text, format);
    write_line(text);
    errno = kept;
}

/* For wsdbg's closing line: a program that was not watched is not one that used no CUDA. */
int shim_open_reason(int access)
{
    char path[sizeof spool + 32];
    snprintf(path, sizeof path, "%s/%d.off", spool, (int)getpid());
    return spool[0] ? shim_above_streams(open(path, access | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)) : -1;
}

static void leave_reason(const char *text)
{
    struct shim_signals signals;
    shim_signals_off(&signals);
    const int fd = shim_open_reason(O_WRONLY);
    ssize_t written = fd >= 0 ? write(fd, text, strlen(text)) : 0;
    (void)written;
    if (fd >= 0)
        close(fd);
    shim_signals_on(&signals);
}

void shim_off(const char *format, ...)
{
    int kept = errno;
    if (atomic_exchange(&shim_state, SHIM_OFF) == SHIM_OFF)
        return;
    char text[WSDBG_TEXT_BYTES];
    FORMAT_INTO(text, format);
    write_line(text);
    leave_reason(text);
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    if (segment) {
        memcpy(segment->off_reason, text, sizeof text);
        __atomic_store_n(&segment->observer_state, WSDBG_OBSERVER_OFF, __ATOMIC_RELEASE);
    }
    errno = kept;
}

void shim_note(const char *format, ...)
{
    int kept = errno;
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    char text[WSDBG_TEXT_BYTES] = "";
    FORMAT_INTO(text, format);
    if (segment) {
        shim_lock();
        uint32_t count = segment->note_count;
        uint32_t same = 0;
        while (same < count && strcmp(segment->notes[same], text) != 0)
            same++;
        if (same == count && count < WSDBG_NOTE_ROWS) {
            memcpy(segment->notes[count], text, sizeof text);
            __atomic_store_n(&segment->note_count, count + 1, __ATOMIC_RELEASE);
        }
        shim_unlock();
    }
    errno = kept;
}
