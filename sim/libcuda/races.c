/* races.c - see races.h.
 *
 * Reads: the environment, the device's races.  Writes: one line at a time, so that several processes may add theirs.
 */
#include "libcuda/races.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wsdbg/session.h"

enum { LINE_BYTES = 2048 };

static int side(const struct wsdbg_gpu_race_side *side, char *out, size_t byte_count)
{
    const char *const what = side->writes ? "writes" : "reads", *const by = side->is_async ? "async" : "threads";
    if (side->warp == WSDBG_PTX_NONE)
        return snprintf(out, byte_count, "?\t?\t%s\t%s\t%s", what, by, side->place);
    return snprintf(out, byte_count, "(%u,%u,%u)\t%u\t%s\t%s\t%s", side->cta[0], side->cta[1], side->cta[2], side->warp,
                    what, by, side->place);
}

static void add_line(int file, const struct wsdbg_gpu_race *race)
{
    char earlier[256], later[256], line[LINE_BYTES];
    side(&race->earlier, earlier, sizeof earlier);
    side(&race->later, later, sizeof later);
    int length = snprintf(line, sizeof line, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", race->code, race->kernel, race->memory,
                          earlier, later, race->missing, race->change);
    if (length >= (int)sizeof line) {
        length = sizeof line - 1;
        line[length - 1] = '\n';
    }
    if (write(file, line, (size_t)length) < 0)
        perror("wsdbg simulator: the file of races");
}

void races_tell(const struct wsdbg_gpu *gpu, size_t *told)
{
    const struct wsdbg_gpu_race *rows;
    const size_t count = wsdbg_gpu_races(gpu, &rows);
    const char *const name = getenv(WSDBG_ENV_RACES);
    if (*told >= count || !name)
        return;
    const bool is_file = strcmp(name, "-") != 0;
    const int file = is_file ? open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    for (; *told < count; ++*told) {
        char text[LINE_BYTES];
        wsdbg_gpu_race_text(&rows[*told], text, sizeof text);
        if (file >= 0)
            add_line(file, &rows[*told]);
        else
            fprintf(stderr, "wsdbg simulator: %s\n", text);
    }
    if (file >= 0)
        close(file);
}
