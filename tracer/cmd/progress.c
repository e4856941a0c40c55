/* progress.c - see progress.h.  Writes: stderr, where that is a terminal, a few times a second. */
#include "cmd/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "cmd/console.h"

enum { INTERVAL_NS = 100000000 };

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
        line->shown_ns = now_ns;
        if (total != WSDBG_TOTAL_UNKNOWN)
            dprintf(STDERR_FILENO, "\r\033[K%s: %u %%", line->doing, (unsigned)(100.0 * (double)done / (double)total));
        else
            dprintf(STDERR_FILENO, "\r\033[K%s: %.1f s, %.1f MB", line->doing, (double)(now_ns - line->begun_ns) / 1e9,
                    (double)done / 1e6);
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

void wsdbg_progress_end(struct wsdbg_progress_line *line)
{
    if (line->shown_ns != 0)
        dprintf(STDERR_FILENO, "\r\033[K");
    line->begun_ns = line->shown_ns = 0;
}
