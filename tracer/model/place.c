/* place.c - see place.h.  Pure: reads a snapshot's sites. */
#include "model/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/symbol.h"

enum { LEVELS = 16 }; /* of inlined calls that are followed; a damaged file may hold a circle */

/* The levels of a site that have a line, outermost first.  Returns how many. */
static size_t levels_of(const struct wsdbg_snapshot *s, uint32_t site, const struct wsdbg_site *out[LEVELS])
{
    const struct wsdbg_site *inner[LEVELS];
    size_t count = 0;
    const struct wsdbg_site *at = wsdbg_snapshot_site(s, site);
    for (size_t step = 0; at && step < LEVELS; step++, at = wsdbg_snapshot_site(s, at->inlined_at))
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

/* Takes one more site of the stem's function: where its levels part from the deepest ones so far, the shared ones end.
 * The deepest site stands for all before it: each is a beginning of it, or parted from it at `shared` or further in. */
static void follow_site(const struct wsdbg_snapshot *s, uint32_t site, struct wsdbg_place_stem *stem)
{
    const struct wsdbg_site *own[LEVELS], *deepest[LEVELS];
    const size_t count = levels_of(s, site, own);
    const size_t depth = stem->deepest != WSDBG_NONE ? levels_of(s, stem->deepest, deepest) : 0;
    size_t same = 0;
    while (same < count && same < depth && same_line(own[same], deepest[same]))
        same++;
    if (same < count && same < depth && same < stem->shared)
        stem->shared = (uint32_t)same;
    if (same == depth && count > depth)
        stem->deepest = site;
}

/* The call of the row before it, of which the levels go on from this one's. */
static bool is_call_of_last(const struct wsdbg_snapshot *s, uint32_t site)
{
    return site > 0 && s->sites[site - 1].inlined_at == site && s->sites[site - 1].function == s->sites[site].function;
}

static struct wsdbg_place_stem no_sites(void)
{
    return (struct wsdbg_place_stem){.deepest = WSDBG_NONE, .shared = LEVELS};
}

static struct wsdbg_place_stem stem_of(const struct wsdbg_snapshot *s, uint32_t function)
{
    struct wsdbg_place_stem stem = no_sites();
    for (uint32_t i = 0; i < s->site_count; i++)
        if (s->sites[i].function == function && !is_call_of_last(s, i))
            follow_site(s, i, &stem);
    return stem;
}

struct wsdbg_error *wsdbg_place_stems_create(const struct wsdbg_snapshot *s, struct wsdbg_place_stem **out)
{
    *out = calloc(s->function_count + 1, sizeof **out);
    if (!*out)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < s->function_count; i++)
        (*out)[i] = no_sites();
    for (uint32_t i = 0; i < s->site_count; i++)
        if (s->sites[i].function < s->function_count && !is_call_of_last(s, i))
            follow_site(s, i, &(*out)[s->sites[i].function]);
    return NULL;
}

/* The innermost level in the file of the first level that not all of the function's sites share; of the outermost one
 * where there is none such.  A site of which the levels are the beginning of another one's parts from it nowhere: the
 * call of inlined code is a site too. */
static const struct wsdbg_site *telling_level(const struct wsdbg_snapshot *s, uint32_t site,
                                              const struct wsdbg_place_stem *stem)
{
    const struct wsdbg_site *own[LEVELS];
    const size_t count = levels_of(s, site, own);
    if (count == 0)
        return NULL;
    size_t level = stem->shared < count ? stem->shared : 0;
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

/* `stem` is that of the site's function. */
static void place_text(const struct wsdbg_snapshot *s, uint32_t site, const struct wsdbg_place_stem *stem,
                       char out[WSDBG_PLACE_BYTES])
{
    char function[WSDBG_PLACE_BYTES - 16];
    const struct wsdbg_site *at = &s->sites[site];
    const struct wsdbg_site *level = telling_level(s, site, stem);
    out[0] = '\0';
    if (level && level->file[0]) {
        snprintf(out, WSDBG_PLACE_BYTES, "%.*s:%u", WSDBG_PLACE_BYTES - 16, wsdbg_place_file(level->file),
                 level->line.value);
    } else if (at->offset_bytes.known) {
        function_text(s, at->function, function, sizeof function);
        snprintf(out, WSDBG_PLACE_BYTES, "%s+0x%x", function, at->offset_bytes.value);
    } else if (at->pc) {
        snprintf(out, WSDBG_PLACE_BYTES, "0x%llx", (unsigned long long)at->pc);
    }
}

void wsdbg_place_text(const struct wsdbg_snapshot *s, uint32_t site, char out[WSDBG_PLACE_BYTES])
{
    out[0] = '\0';
    if (site >= s->site_count)
        return;
    const struct wsdbg_place_stem stem = stem_of(s, s->sites[site].function);
    place_text(s, site, &stem, out);
}

void wsdbg_place_text_on(const struct wsdbg_snapshot *s, const struct wsdbg_place_stem *stems, uint32_t site,
                         char out[WSDBG_PLACE_BYTES])
{
    if (site < s->site_count && s->sites[site].function < s->function_count)
        place_text(s, site, &stems[s->sites[site].function], out);
    else
        wsdbg_place_text(s, site, out);
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
