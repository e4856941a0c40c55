/* place.c - see place.h.  Pure: reads a snapshot's sites. */
#include "store/place.h"

#include <stdio.h>
#include <string.h>

#include "store/symbol.h"

enum { LEVELS = 16 }; /* of inlined calls that are followed; a damaged file may hold a circle */

/* The levels of a site that have a line, outermost first.  Returns how many. */
static size_t levels_of(const struct wsdbg_snapshot *s, uint32_t site, const struct wsdbg_site *out[LEVELS])
{
    const struct wsdbg_site *inner[LEVELS];
    size_t count = 0;
    for (const struct wsdbg_site *at = wsdbg_snapshot_site(s, site); at && count < LEVELS;
         at = wsdbg_snapshot_site(s, at->inlined_at))
        if (at->line.known)
            inner[count++] = at;
    for (size_t i = 0; i < count; i++)
        out[i] = inner[count - 1 - i];
    return count;
}

static bool same_line(const struct wsdbg_site *a, const struct wsdbg_site *b)
{
    return a->line.value == b->line.value && strcmp(a->file, b->file) == 0;
}

/* The innermost level in the file of the outermost level that not all of the function's sites have.  The call of
 * inlined code is a site too: one whose levels all belong to this one as well says nothing. */
static const struct wsdbg_site *telling_level(const struct wsdbg_snapshot *s, uint32_t site)
{
    const struct wsdbg_site *own[LEVELS], *other[LEVELS];
    const size_t count = levels_of(s, site, own);
    size_t common = count;
    for (uint32_t i = 0; i < s->site_count; i++) {
        const size_t others = i == site || s->sites[i].function != s->sites[site].function ? 0 : levels_of(s, i, other);
        size_t same = 0;
        while (same < common && same < others && same_line(own[same], other[same]))
            same++;
        if (same < others && same < common)
            common = same;
    }
    if (count == 0)
        return NULL;
    size_t level = common < count ? common : 0;
    const char *file = own[level]->file;
    for (size_t i = level + 1; i < count; i++)
        if (strcmp(own[i]->file, file) == 0)
            level = i;
    return own[level];
}

const char *wsdbg_place_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* A function's name without its template arguments. */
static void function_text(const struct wsdbg_snapshot *s, uint32_t function, char *out, size_t bytes)
{
    char name[512] = "?";
    if (function < s->function_count)
        wsdbg_symbol_name(s->functions[function].name, name, sizeof name);
    name[strcspn(name, "<(")] = '\0';
    snprintf(out, bytes, "%s", name[0] ? name : "?");
}

void wsdbg_place_text(const struct wsdbg_snapshot *s, uint32_t site, char out[WSDBG_PLACE_BYTES])
{
    char function[WSDBG_PLACE_BYTES - 16];
    const struct wsdbg_site *at = wsdbg_snapshot_site(s, site);
    const struct wsdbg_site *level = at ? telling_level(s, site) : NULL;
    out[0] = '\0';
    if (level && level->file[0]) {
        snprintf(out, WSDBG_PLACE_BYTES, "%.*s:%u", WSDBG_PLACE_BYTES - 16, wsdbg_place_file(level->file),
                 level->line.value);
    } else if (at && at->offset_bytes.known) {
        function_text(s, at->function, function, sizeof function);
        snprintf(out, WSDBG_PLACE_BYTES, "%s+0x%x", function, at->offset_bytes.value);
    } else if (at && at->pc) {
        snprintf(out, WSDBG_PLACE_BYTES, "0x%llx", (unsigned long long)at->pc);
    }
}

void wsdbg_place_levels(const struct wsdbg_snapshot *s, uint32_t site, char *out, size_t bytes)
{
    const struct wsdbg_site *levels[LEVELS];
    size_t used = 0;
    out[0] = '\0';
    for (size_t count = levels_of(s, site, levels); count > 0 && used + 1 < bytes; count--)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s:%u", used ? " < " : "",
                                 wsdbg_place_file(levels[count - 1]->file), levels[count - 1]->line.value);
}

uint32_t wsdbg_place_line(const struct wsdbg_snapshot *s, uint32_t site, const char *file)
{
    const struct wsdbg_site *levels[LEVELS];
    for (size_t count = levels_of(s, site, levels); count > 0; count--)
        if (strcmp(levels[count - 1]->file, file) == 0)
            return levels[count - 1]->line.value;
    return 0;
}

struct wsdbg_module wsdbg_place_module(const struct wsdbg_snapshot *s, size_t module)
{
    const struct wsdbg_site *levels[LEVELS];
    struct wsdbg_module row = s->modules[module];
    for (uint32_t i = 0; i < s->site_count && !row.source_path[0]; i++) {
        const uint32_t function = s->sites[i].function;
        if (function < s->function_count && s->functions[function].module == module && levels_of(s, i, levels) > 0)
            snprintf(row.source_path, sizeof row.source_path, "%s", levels[0]->file);
    }
    return row;
}
