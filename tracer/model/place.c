/* place.c - see place.h.  Pure: reads a snapshot's sites. */
#include "model/place.h"

#include <stdio.h>
#include <string.h>

#include "base/inlined.h"
#include "model/symbol.h"

enum { LEVELS = 16 }; /* of inlined calls that are followed; a damaged file may hold a circle */

/* Sites at which warps of a module wait, each once; more than these change no choice of a file. */
enum { WAITING_MOST = 64 };

struct waiting {
    uint32_t sites[WAITING_MOST];
    size_t count;
};

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

/* The number of the level that is the place: the first, from the innermost outwards, that it does not pass over. */
static size_t telling_number(const struct wsdbg_site *const levels[LEVELS], size_t count)
{
    size_t level = count - 1;
    while (level > 0 && levels[level]->is_passed)
        level--;
    return level;
}

/* NULL = no lines. */
static const struct wsdbg_site *telling_level(const struct wsdbg_snapshot *s, uint32_t site)
{
    const struct wsdbg_site *levels[LEVELS];
    const size_t count = levels_of(s, site, levels);
    return count ? levels[telling_number(levels, count)] : NULL;
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

static void line_text(const struct wsdbg_site *level, char out[WSDBG_PLACE_BYTES])
{
    snprintf(out, WSDBG_PLACE_BYTES, "%.*s:%u", WSDBG_PLACE_BYTES - 16, wsdbg_place_file(level->file),
             level->line.value);
}

void wsdbg_place_text(const struct wsdbg_snapshot *s, uint32_t site, char out[WSDBG_PLACE_BYTES])
{
    char function[WSDBG_PLACE_BYTES - 16];
    out[0] = '\0';
    if (site >= s->site_count)
        return;
    const struct wsdbg_site *at = &s->sites[site];
    const struct wsdbg_site *level = telling_level(s, site);
    if (level && level->file[0]) {
        line_text(level, out);
    } else if (at->offset_bytes.known) {
        function_text(s, at->function, function, sizeof function);
        snprintf(out, WSDBG_PLACE_BYTES, "%s+0x%x", function, at->offset_bytes.value);
    } else if (at->pc) {
        snprintf(out, WSDBG_PLACE_BYTES, "0x%llx", (unsigned long long)at->pc);
    }
}

bool wsdbg_place_is_elsewhere(const struct wsdbg_site *site, const char *place)
{
    char own[WSDBG_PLACE_BYTES];
    if (!site->line.known || !site->file[0] || !place[0])
        return false;
    line_text(site, own);
    return strcmp(own, place) != 0;
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

/* Whether two paths may be of one file.  A probe has its file as it was named to the compiler, which may be relative;
 * -lineinfo has the whole path of the same. */
static bool is_one_file(const char *a, const char *b)
{
    const char *whole = a[0] == '/' ? a : b, *relative = whole == a ? b : a;
    const size_t bytes = strlen(whole), part = strlen(relative);
    if (whole[0] != '/' || relative[0] == '/')
        return strcmp(a, b) == 0;
    return part > 0 && part < bytes && whole[bytes - part - 1] == '/' && strcmp(whole + bytes - part, relative) == 0;
}

/* The place, or the first level outwards from it, in the file; NULL = none. */
static const struct wsdbg_site *level_in(const struct wsdbg_snapshot *s, uint32_t site, const char *file)
{
    const struct wsdbg_site *levels[LEVELS];
    const size_t count = levels_of(s, site, levels);
    for (size_t left = count ? telling_number(levels, count) + 1 : 0; left > 0; left--)
        if (is_one_file(levels[left - 1]->file, file))
            return levels[left - 1];
    return NULL;
}

uint32_t wsdbg_place_line(const struct wsdbg_snapshot *s, uint32_t site, const char *file)
{
    const struct wsdbg_site *level = level_in(s, site, file);
    return level ? level->line.value : 0;
}

bool wsdbg_place_has_lines(const struct wsdbg_snapshot *s, uint32_t site)
{
    return telling_level(s, site) != NULL;
}

/* ---- the file that shows a module ---- */

static bool is_in(const struct wsdbg_snapshot *s, uint32_t site, size_t module)
{
    const uint32_t function = site < s->site_count ? s->sites[site].function : WSDBG_NONE;
    return function < s->function_count && s->functions[function].module == module;
}

static bool waits_in(const struct wsdbg_snapshot *s, size_t warp, size_t module)
{
    return wsdbg_warp_state_waits(s->warps[warp].state) && is_in(s, s->warps[warp].site, module);
}

/* How many of the sites have a line in this file. */
static size_t shown_in(const struct wsdbg_snapshot *s, const struct waiting *waiting, const char *file)
{
    size_t count = 0;
    for (size_t i = 0; i < waiting->count; i++)
        count += level_in(s, waiting->sites[i], file) != NULL;
    return count;
}

static void find_waiting(const struct wsdbg_snapshot *s, size_t module, struct waiting *out)
{
    out->count = 0;
    for (size_t i = 0; i < s->warp_count && out->count < WAITING_MOST; i++) {
        size_t at = 0;
        if (!waits_in(s, i, module))
            continue;
        while (at < out->count && out->sites[at] != s->warps[i].site)
            at++;
        if (at == out->count)
            out->sites[out->count++] = s->warps[i].site;
    }
}

/* The file of most waiting sites, the outermost of as many.  A launcher's file shows one line for all. */
static const char *waiting_file(const struct wsdbg_snapshot *s, const struct waiting *waiting)
{
    const char *best = "";
    size_t most = 0;
    for (size_t i = 0; i < waiting->count; i++) {
        const struct wsdbg_site *levels[LEVELS];
        const size_t count = levels_of(s, waiting->sites[i], levels);
        for (size_t level = 0; count && level <= telling_number(levels, count); level++) {
            const size_t shown =
                wsdbg_is_launcher_file(levels[level]->file) ? 0 : shown_in(s, waiting, levels[level]->file);
            if (shown > most) {
                most = shown;
                best = levels[level]->file;
            }
        }
    }
    return best;
}

struct wsdbg_module wsdbg_place_module(const struct wsdbg_snapshot *s, size_t module)
{
    struct wsdbg_module row = s->modules[module];
    struct waiting waiting;
    if (row.source_path[0])
        return row;
    find_waiting(s, module, &waiting);
    snprintf(row.source_path, sizeof row.source_path, "%s", waiting_file(s, &waiting));
    for (uint32_t i = 0; i < s->site_count && !row.source_path[0]; i++) {
        const struct wsdbg_site *level = is_in(s, i, module) ? telling_level(s, i) : NULL;
        if (level)
            snprintf(row.source_path, sizeof row.source_path, "%s", level->file);
    }
    return row;
}
