/* source_sites.c - see source_sites.h. */
#include "viewer/source_sites.h"

#include <stdlib.h>
#include <string.h>

#include "model/place.h"

void viewer_sites_deinit(struct viewer_sites *state)
{
    viewer_folded_deinit(&state->folded);
    free(state->sites);
    for (size_t i = 0; i < state->file_count; i++)
        viewer_source_text_deinit(&state->files[i].text);
    free(state->files);
}

/* Lines are never folded together: they are what this view is about. */
static struct wsdbg_error *fold_by_line(const struct viewer_context *context, struct viewer_folded *folded)
{
    const uint32_t level = wsdbg_fold_warp_levels[1] | WSDBG_FOLD_BIT(WSDBG_WARP_KEY_LAST);
    const uint32_t coarse =
        level | WSDBG_FOLD_BIT(WSDBG_WARP_KEY_STAGE) | WSDBG_FOLD_BIT(WSDBG_WARP_KEY_PARITY) | WSDBG_FOLD_MEMBERS;
    const uint32_t levels[WSDBG_FOLD_LEVELS] = {level, coarse, coarse, coarse, coarse};
    return viewer_fold_warps(context, levels, NULL, folded);
}

static int by_place(const void *left, const void *right)
{
    const struct viewer_site *a = left, *b = right;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (a->line != b->line) /* 0, not known, comes last */
        return a->line - 1u < b->line - 1u ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

static struct wsdbg_error *read_sites(const struct viewer_context *context, struct viewer_sites *state)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const struct viewer_folded *f = &state->folded;
    free(state->sites);
    state->site_count = 0;
    state->sites = calloc(f->group_count + 1, sizeof *state->sites);
    if (!state->sites)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < f->group_count; i++) {
        const struct wsdbg_warp_row *warp = &s->warps[f->groups[i].source];
        if (wsdbg_warp_state_waits(warp->state))
            state->sites[state->site_count++] =
                (struct viewer_site){s->grids[f->groups[i].grid].module, warp->line.known ? warp->line.value : 0, 0, i,
                                     warp->site < s->site_count ? warp->site : WSDBG_NONE};
    }
    return NULL;
}

/* Room for one of every module. */
static bool grow_files(struct viewer_sites *state, size_t count)
{
    if (count <= state->file_count)
        return true;
    struct viewer_module_file *files = realloc(state->files, count * sizeof *files);
    if (!files)
        return false;
    memset(files + state->file_count, 0, (count - state->file_count) * sizeof *files);
    state->files = files;
    state->file_count = count;
    return true;
}

/* A text that was found stays: a live picture comes often, and PTX can be long. */
static struct wsdbg_error *read_file(const struct viewer_context *context, struct viewer_sites *state, uint32_t module)
{
    const struct wsdbg_module *asked = &context->picture->snapshot->modules[module];
    struct viewer_module_file *file = &state->files[module];
    if (file->text.text && file->process_id == asked->process_id && file->row == asked->row)
        return NULL;
    file->process_id = asked->process_id;
    file->row = asked->row;
    return viewer_source_text_read(context->source, module, &file->text);
}

const struct viewer_source_text *viewer_sites_file(const struct viewer_sites *state, uint32_t module)
{
    return module < state->file_count ? &state->files[module].text : NULL;
}

/* A line that the machine's own state gives is believed; one that a probe gives may be another file's.  A site with
 * lines, none of them in this file, is not shown in it. */
static void place_site(const struct wsdbg_snapshot *s, const struct viewer_source_text *file, struct viewer_site *site)
{
    const bool known = site->machine != WSDBG_NONE && file->path && wsdbg_place_has_lines(s, site->machine);
    const uint32_t line = known ? wsdbg_place_line(s, site->machine, file->path) : 0;
    if (known)
        site->line = line;
    const bool certain = line && !file->is_ptx && line <= file->line_count;
    site->at = certain ? line : site->line ? viewer_source_text_find(file, site->line) : 0;
}

/* Reads the files that the sites lie in and finds the sites in them. */
static struct wsdbg_error *place_sites(const struct viewer_context *context, struct viewer_sites *state)
{
    const size_t module_count = context->picture->snapshot->module_count;
    struct wsdbg_error *error = grow_files(state, module_count) ? NULL : &wsdbg_error_no_memory;
    qsort(state->sites, state->site_count, sizeof *state->sites, by_place);
    for (size_t i = 0; !error && i < state->site_count; i++) {
        struct viewer_site *site = &state->sites[i];
        if (site->module >= module_count)
            continue;
        if (i == 0 || state->sites[i - 1].module != site->module)
            error = read_file(context, state, site->module);
        if (!error)
            place_site(context->picture->snapshot, viewer_sites_file(state, site->module), site);
    }
    qsort(state->sites, state->site_count, sizeof *state->sites, by_place);
    return error;
}

struct wsdbg_error *viewer_sites_read(const struct viewer_context *context, struct viewer_sites *state)
{
    struct wsdbg_error *error = fold_by_line(context, &state->folded);
    if (!error)
        error = read_sites(context, state);
    return error ? error : place_sites(context, state);
}

bool viewer_sites_are_elsewhere(const struct viewer_sites *state, uint32_t group)
{
    for (size_t i = 0; i < state->site_count && !state->machine_code; i++) {
        const struct viewer_source_text *file = viewer_sites_file(state, state->sites[i].module);
        if (state->sites[i].group == group && !state->sites[i].at && file && file->text)
            return true;
    }
    return false;
}
