/* process_maps.c - see process_maps.h.  Reads /proc/PID/maps. */
#include "host/process_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { LINE_BYTES = 4096 + 128 };
#define MAPPINGS_MOST (1u << 18)

const char *wsdbg_host_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The mappings of a file mostly follow one another. */
static bool file_of(struct wsdbg_host_maps *maps, const char *path, uint32_t *out)
{
    for (size_t i = maps->file_count; i-- > 0;)
        if (strcmp(maps->files[i].path, path) == 0) {
            *out = (uint32_t)i;
            return true;
        }
    if (!wsdbg_grow((void **)&maps->files, &maps->file_capacity, maps->file_count + 1, sizeof *maps->files))
        return false;
    char *copy = strdup(path);
    if (!copy)
        return false;
    maps->files[maps->file_count].path = copy;
    *out = (uint32_t)maps->file_count++;
    return true;
}

static bool add(struct wsdbg_host_maps *maps, const struct wsdbg_host_mapping *mapping)
{
    if (!wsdbg_grow((void **)&maps->mappings, &maps->capacity, maps->count + 1, sizeof *maps->mappings))
        return false;
    maps->mappings[maps->count++] = *mapping;
    return true;
}

/* The anonymous code, if the mapping behind it is of the same file as the one before it. */
static bool add_copy(struct wsdbg_host_maps *maps, struct wsdbg_host_mapping *copy, uint32_t file)
{
    const struct wsdbg_host_mapping *before = maps->count ? &maps->mappings[maps->count - 1] : NULL;
    const bool is_between = copy->is_code && before && before->file == file;
    if (is_between) {
        copy->file = file;
        copy->is_copy = true;
        copy->offset = before->offset + (copy->start - before->start);
    }
    const bool fine = !is_between || add(maps, copy);
    *copy = (struct wsdbg_host_mapping){0};
    return fine;
}

/* "7f..-7f.. r-xp 00001000 08:01 123   /path".  *copy: the first anonymous code since the last mapping of a file.
 * False = out of memory. */
static bool add_line(struct wsdbg_host_maps *maps, char *line, struct wsdbg_host_mapping *copy)
{
    struct wsdbg_host_mapping mapping = {0};
    char rights[5] = "";
    int at = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping.start, &mapping.end, rights,
               &mapping.offset, &at) < 4 ||
        mapping.end <= mapping.start || maps->count + 1 >= MAPPINGS_MOST)
        return true;
    mapping.is_code = strchr(rights, 'x') != NULL;
    if (line[at] == '\0' && mapping.is_code && !copy->is_code)
        *copy = mapping;
    if (line[at] != '/')
        return true;
    return file_of(maps, line + at, &mapping.file) && add_copy(maps, copy, mapping.file) && add(maps, &mapping);
}

struct wsdbg_error *wsdbg_host_maps_parse(FILE *text, struct wsdbg_host_maps *out)
{
    char line[LINE_BYTES];
    struct wsdbg_host_mapping copy = {0};
    *out = (struct wsdbg_host_maps){0};
    while (fgets(line, sizeof line, text))
        if (!add_line(out, line, &copy)) {
            wsdbg_host_maps_free(out);
            return &wsdbg_error_no_memory;
        }
    return NULL;
}

struct wsdbg_error *wsdbg_host_maps_read(pid_t process, struct wsdbg_host_maps *out)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)process);
    FILE *text = fopen(path, "re");
    if (!text)
        return wsdbg_error_os(errno, "%s", path);
    struct wsdbg_error *error = wsdbg_host_maps_parse(text, out);
    fclose(text);
    return error;
}

void wsdbg_host_maps_free(struct wsdbg_host_maps *maps)
{
    for (size_t i = 0; i < maps->file_count; i++)
        free(maps->files[i].path);
    free(maps->files);
    free(maps->mappings);
    *maps = (struct wsdbg_host_maps){0};
}

const struct wsdbg_host_mapping *wsdbg_host_mapping_at(const struct wsdbg_host_maps *maps, uint64_t address)
{
    size_t low = 0, high = maps->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (maps->mappings[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < maps->count && maps->mappings[low].start <= address ? &maps->mappings[low] : NULL;
}
