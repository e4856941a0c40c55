/* progress_line.c - see progress_line.h.  Writes: stderr, where that is a terminal, a few times a second. */
#include "base/progress_line.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/console.h"

enum { INTERVAL_NS = 100000000 };

/* No more of the text than the terminal is wide: the rest could not be taken away again. */
static void put(struct wsdbg_progress_line *line, const char *text)
{
    struct winsize size;
    const bool has_width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    dprintf(STDERR_FILENO, "\r\033[K%.*s", has_width ? size.ws_col - 1 : 79, text);
    line->shown_ns = wsdbg_monotonic_ns();
}

void wsdbg_progress_show(struct wsdbg_progress_line *line, const char *text)
{
    if (line->terminal)
        put(line, text);
}

static void write_bar(const char *doing, double part, char *out, size_t bytes)
{
    static const char full[] = "########################################";
    const int width = sizeof full - 1, filled = (int)(part * width);
    snprintf(out, bytes, "%s: %u %% [%.*s%*s]", doing, (unsigned)(100 * part), filled, full, width - filled, "");
}

static void show(struct wsdbg_progress *progress, uint64_t done, uint64_t total)
{
    struct wsdbg_progress_line *line = (struct wsdbg_progress_line *)progress;
    if (!line->terminal || total == 0)
        return;
    const uint64_t now_ns = wsdbg_monotonic_ns();
    if (line->begun_ns == 0)
        line->begun_ns = now_ns;
    const bool early = now_ns - line->begun_ns < line->patience_ns;
    if (!early && (line->shown_ns == 0 || now_ns - line->shown_ns >= INTERVAL_NS)) {
        char text[256];
        if (total != WSDBG_TOTAL_UNKNOWN)
            write_bar(line->doing, (double)done / (double)total, text, sizeof text);
        else
            snprintf(text, sizeof text, "%s: %.1f s, %.1f MB", line->doing, (double)(now_ns - line->begun_ns) / 1e9,
                     (double)done / 1e6);
        put(line, text);
    }
    if (done >= total)
        wsdbg_progress_end(line);
}

void wsdbg_progress_begin(struct wsdbg_progress_line *line, const char *doing, uint64_t patience_ns)
{
    *line = (struct wsdbg_progress_line){.progress = {.advance = show},
                                         .doing = doing,
                                         .patience_ns = patience_ns,
                                         .terminal = isatty(STDERR_FILENO) == 1};
}

void wsdbg_progress_hide(struct wsdbg_progress_line *line)
{
    if (line->shown_ns != 0)
        dprintf(STDERR_FILENO, "\r\033[K");
    line->shown_ns = 0;
}

void wsdbg_progress_end(struct wsdbg_progress_line *line)
{
    wsdbg_progress_hide(line);
    line->begun_ns = 0;
}
