/* sources.c - see sources.h.  Reads: files named by modules.  Writes: the table source_file.
 *
 * A path is the compiler's: absolute, or relative to where the compiler ran, which is tried as seen from here.
 */
#include "cmd/sources.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SOURCE_BYTES_MAX ((off_t)4 << 20)

static char *read_text(FILE *file, size_t bytes)
{
    char *text = malloc(bytes + 1);
    if (!text)
        return NULL;
    const size_t got = fread(text, 1, bytes, file);
    text[got] = '\0';
    if (strlen(text) == got)
        return text;
    free(text);
    return NULL;
}

char *wsdbg_source_read(const char *path, const char **why)
{
    struct stat status;
    FILE *file = fopen(path, "re");
    *why = NULL;
    if (!file) {
        *why = "not found";
        return NULL;
    }
    char *text = NULL;
    if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
        *why = "no file";
    else if (status.st_size > SOURCE_BYTES_MAX)
        *why = "larger than 4 MiB";
    else if (!(text = read_text(file, (size_t)status.st_size)))
        *why = "no text";
    fclose(file);
    return text;
}

static size_t count_named(const struct wsdbg_snapshot *snapshot)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot->module_count; i++)
        count += snapshot->modules[i].source_path[0] != '\0';
    return count;
}

struct wsdbg_error *wsdbg_sources_keep(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot, size_t *kept)
{
    const size_t named = count_named(snapshot);
    struct wsdbg_error *error = NULL;
    if (named == *kept)
        return NULL;
    for (size_t i = 0; i < snapshot->module_count && !error; i++) {
        const char *path = snapshot->modules[i].source_path, *why;
        if (!path[0])
            continue;
        char *text = wsdbg_source_read(path, &why);
        error = wsdbg_store_source(store, (uint32_t)i, path, text);
        free(text);
    }
    if (!error)
        *kept = named;
    return error;
}
