/* database_place.c - see database_place.h.  Reads: TMPDIR.  Writes: a private folder, which goes with the place. */
#include "watch/database_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wsdbg_error *wsdbg_database_place_choose(const char *wanted, struct wsdbg_database_place *out)
{
    struct wsdbg_database_place place = {0};
    const char *temporary = getenv("TMPDIR");
    if (!temporary || !temporary[0])
        temporary = "/tmp";
    if (wanted) {
        place.path = strdup(wanted);
    } else {
        if (asprintf(&place.private_folder, "%s/wsdbg.XXXXXX", temporary) < 0)
            return &wsdbg_error_no_memory;
        if (!mkdtemp(place.private_folder)) {
            free(place.private_folder);
            return wsdbg_error_create(WSDBG_ERROR_OS, "cannot create a folder for the session in %s", temporary);
        }
        if (asprintf(&place.path, "%s/session.db", place.private_folder) < 0)
            place.path = NULL;
    }
    if (!place.path) {
        wsdbg_database_place_deinit(&place, false);
        return &wsdbg_error_no_memory;
    }
    *out = place;
    return NULL;
}

void wsdbg_database_place_disown(struct wsdbg_database_place *place)
{
    free(place->path);
    place->path = NULL;
}

static void remove_database(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *file = NULL;
        if (asprintf(&file, "%s%s", path, suffixes[i]) < 0)
            return;
        unlink(file);
        free(file);
    }
}

void wsdbg_database_place_deinit(struct wsdbg_database_place *place, bool discard)
{
    if (place->path && (discard || place->private_folder))
        remove_database(place->path);
    if (place->private_folder)
        rmdir(place->private_folder);
    free(place->path);
    free(place->private_folder);
    *place = (struct wsdbg_database_place){0};
}
