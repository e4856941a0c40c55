/* sources.c - see sources.h.  Reads: files named by modules, images of modules.  Writes: the table source_file.
 *
 * A path is the compiler's: absolute, or relative to where the compiler ran, which is tried as seen from here.
 */
#include "watch/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "sass/ptx.h"
#include "model/place.h"

#define TEXT_BYTES_MAX ((size_t)4 << 20)
#define IMAGE_BYTES_MAX ((size_t)64 << 20)

/* A file's bytes and a zero behind them; the caller frees. */
struct content {
    char *bytes;
    size_t count;
};

/* A file that grows meanwhile is cut where it ended before. */
static struct wsdbg_error *read_open(int fd, size_t count, struct content *out)
{
    char *bytes = malloc(count + 1);
    size_t got = 0;
    if (!bytes)
        return &wsdbg_error_no_memory;
    while (got < count) {
        const ssize_t more = read(fd, bytes + got, count - got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    bytes[got] = '\0';
    *out = (struct content){bytes, got};
    return NULL;
}

/* Errors have a few words, for a title: "not found", "no file", "larger than 4 MiB". */
static struct wsdbg_error *read_whole(const char *path, size_t most, struct content *out)
{
    struct stat status;
    struct wsdbg_error *error;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "not found");
    if (fd < 0)
        return wsdbg_error_os(errno, "cannot be opened");
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "no file");
    else if ((size_t)status.st_size > most)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "larger than %zu MiB", most >> 20);
    else
        error = read_open(fd, (size_t)status.st_size, out);
    close(fd);
    return error;
}

static struct wsdbg_error *read_text(const char *path, char **out)
{
    struct content content = {0};
    struct wsdbg_error *error = read_whole(path, TEXT_BYTES_MAX, &content);
    if (error)
        return error;
    if (strlen(content.bytes) != content.count) {
        free(content.bytes);
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "no text");
    }
    *out = content.bytes;
    return NULL;
}

static struct wsdbg_error *read_ptx(const char *spool, const struct wsdbg_module *module, char **out)
{
    struct content content = {0};
    char *path = NULL;
    if (!spool || !module->image_path[0])
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the module's image was not kept");
    if (asprintf(&path, "%s/%s", spool, module->image_path) < 0)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = wsdbg_error_prefix(read_whole(path, IMAGE_BYTES_MAX, &content), "the module's image");
    free(path);
    if (error)
        return error;
    error =
        wsdbg_ptx_of_image(&(struct wsdbg_image){(unsigned char *)content.bytes, content.count}, TEXT_BYTES_MAX, out);
    free(content.bytes);
    return error;
}

struct wsdbg_error *wsdbg_file_holds(const char *path, struct wsdbg_holds *out)
{
    struct content content = {0};
    struct wsdbg_error *error = read_whole(path, IMAGE_BYTES_MAX, &content);
    if (error)
        return error;
    error = wsdbg_holds_read(&(struct wsdbg_image){(unsigned char *)content.bytes, content.count}, out);
    free(content.bytes);
    return error;
}

/* Keeps the words of an error as a fact about the module; false = out of memory. */
static bool keep_words(struct wsdbg_error *error, const char **words)
{
    *words = error == &wsdbg_error_no_memory ? NULL : strdup(wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return *words != NULL;
}

struct wsdbg_error *wsdbg_source_read(const char *spool, const struct wsdbg_module *module,
                                      struct wsdbg_source_file *out)
{
    struct wsdbg_source_file file = {0};
    char *text = NULL, *ptx = NULL;
    struct wsdbg_error *error = NULL;
    bool kept = true;
    if (module->source_path[0]) {
        kept = (file.path = strdup(module->source_path)) != NULL;
        error = read_text(module->source_path, &text);
        file.text = text;
        kept = (!error || keep_words(error, &file.text_missing)) && kept;
    }
    if (!text) {
        error = read_ptx(spool, module, &ptx);
        file.ptx = ptx;
        kept = (!error || keep_words(error, &file.ptx_missing)) && kept;
    }
    if (!kept) {
        wsdbg_source_file_deinit(&file);
        return &wsdbg_error_no_memory;
    }
    *out = file;
    return NULL;
}

static bool is_wanted(const struct wsdbg_snapshot *snapshot, size_t module)
{
    bool wanted = snapshot->modules[module].probed || snapshot->modules[module].source_path[0];
    for (size_t i = 0; i < snapshot->grid_count && !wanted; i++)
        wanted = snapshot->grids[i].module == module;
    return wanted;
}

/* A module of which something is in the database, and what was known of it then. */
struct wsdbg_kept_source {
    uint32_t process_id, row;
    char source_path[sizeof((struct wsdbg_module *)0)->source_path]; /* "" = none was known */
    bool imaged;
};

/* The module's own; a new one where there is none yet.  NULL = out of memory. */
static struct wsdbg_kept_source *kept_of(struct wsdbg_sources *sources, const struct wsdbg_module *module, bool *is_new)
{
    *is_new = false;
    for (size_t i = 0; i < sources->count; i++)
        if (sources->kept[i].process_id == module->process_id && sources->kept[i].row == module->row)
            return &sources->kept[i];
    if (!wsdbg_grow((void **)&sources->kept, &sources->capacity, sources->count + 1, sizeof *sources->kept))
        return NULL;
    *is_new = true;
    sources->kept[sources->count] = (struct wsdbg_kept_source){.process_id = module->process_id, .row = module->row};
    return &sources->kept[sources->count++];
}

static struct wsdbg_error *keep_one(struct wsdbg_sources *sources, struct wsdbg_store *store,
                                    const struct wsdbg_snapshot *snapshot, size_t module, const char *spool)
{
    struct wsdbg_module m = wsdbg_place_module(snapshot, module);
    const bool imaged = m.image_path[0] != '\0';
    struct wsdbg_source_file file;
    bool is_new;
    struct wsdbg_kept_source *kept = kept_of(sources, &m, &is_new);
    if (!kept)
        return &wsdbg_error_no_memory;
    if (!m.source_path[0]) /* a later picture may know less: without sites, for instance */
        memcpy(m.source_path, kept->source_path, sizeof m.source_path);
    if (!is_new && strcmp(kept->source_path, m.source_path) == 0 && kept->imaged == imaged)
        return NULL;
    memcpy(kept->source_path, m.source_path, sizeof kept->source_path);
    kept->imaged = imaged;
    struct wsdbg_error *error = wsdbg_source_read(spool, &m, &file);
    if (error)
        return error;
    error = wsdbg_store_source(store, (uint32_t)module, &file);
    wsdbg_source_file_deinit(&file);
    return error;
}

struct wsdbg_error *wsdbg_sources_keep(struct wsdbg_sources *sources, struct wsdbg_store *store,
                                       const struct wsdbg_snapshot *snapshot, const char *spool)
{
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; i < snapshot->module_count && !error; i++)
        if (is_wanted(snapshot, i))
            error = keep_one(sources, store, snapshot, i, spool);
    return error;
}

void wsdbg_sources_deinit(struct wsdbg_sources *sources)
{
    free(sources->kept);
    *sources = (struct wsdbg_sources){0};
}
