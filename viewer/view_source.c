/* view_source.c - the source of the modules whose warps wait, with the sites of the waits marked at their lines.
 * Reads the picture, and source files through the source. */
#include "viewer/folded.h"
#include "viewer/phrases.h"
#include "viewer/source_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a row shows; in the upper half of its data, in the lower one the number of a group where it shows one. */
enum part { FILE_TITLE, TEXT_LINE, BARE_LINE, SITE, NO_LINES_TITLE };
#define DATA(part, group) ((uint64_t)(part) << 32 | (uint64_t)(group))
#define PART(row) ((enum part)((row)->data >> 32))
#define GROUP(row) ((uint32_t)(row)->data)

/* Warps that wait at one line. */
struct site {
    uint32_t module, line, group; /* line 0 = not known */
};

struct source {
    struct viewer_folded folded;
    struct site *sites; /* by module and line */
    size_t site_count;
    struct viewer_source_text *files; /* by module; only those with sites are read */
    size_t file_count;
};

static void free_files(struct source *state)
{
    for (size_t i = 0; i < state->file_count; i++)
        viewer_source_text_deinit(&state->files[i]);
    free(state->files);
    state->files = NULL;
    state->file_count = 0;
}

static void deinit(void *memory)
{
    struct source *state = memory;
    viewer_folded_deinit(&state->folded);
    free(state->sites);
    free_files(state);
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

static int by_line(const void *left, const void *right)
{
    const struct site *a = left, *b = right;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

static struct wsdbg_error *read_sites(const struct viewer_context *context, struct source *state)
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
                (struct site){s->grids[f->groups[i].grid].module, warp->line.known ? warp->line.value : 0, i};
    }
    qsort(state->sites, state->site_count, sizeof *state->sites, by_line);
    return NULL;
}

static struct wsdbg_error *read_files(const struct viewer_context *context, struct source *state)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    struct wsdbg_error *error = NULL;
    free_files(state);
    state->files = calloc(s->module_count + 1, sizeof *state->files);
    if (!state->files)
        return &wsdbg_error_no_memory;
    state->file_count = s->module_count;
    for (size_t i = 0; !error && i < state->site_count; i++)
        if (state->sites[i].module < s->module_count &&
            (i == 0 || state->sites[i - 1].module != state->sites[i].module))
            error =
                viewer_source_text_read(context->source, state->sites[i].module, &state->files[state->sites[i].module]);
    return error;
}

static bool add(struct viewer_rows *rows, enum viewer_object_kind kind, uint32_t index, uint32_t part, uint64_t data)
{
    const struct viewer_row row = {.object = {kind, index, part}, .data = data};
    return viewer_rows_add(rows, &row);
}

/* The sites [first, end) that lie on `line`. */
static bool add_sites(const struct source *state, struct viewer_rows *rows, size_t first, size_t end, uint32_t line)
{
    for (size_t i = first; i < end; i++) {
        const uint32_t group = state->sites[i].group;
        if (state->sites[i].line == line &&
            !add(rows, VIEWER_OBJECT_WARP, state->folded.groups[group].source, 0, DATA(SITE, group)))
            return false;
    }
    return true;
}

static bool placed(const struct viewer_source_text *file, uint32_t line)
{
    return viewer_source_text_line(file, line) && viewer_source_text_has_probe(file, line);
}

/* Sites whose line cannot be one of the text, each line once, before the text. */
static bool add_bare(const struct source *state, struct viewer_rows *rows, size_t first, size_t end,
                     const struct viewer_source_text *file)
{
    for (size_t i = first; i < end; i++) {
        const struct site *site = &state->sites[i];
        const bool again = i > first && state->sites[i - 1].line == site->line;
        if (again || site->line == 0 || (file && file->text && placed(file, site->line)))
            continue;
        if (!add(rows, VIEWER_OBJECT_SOURCE_LINE, site->module, site->line, DATA(BARE_LINE, site->group)) ||
            !add_sites(state, rows, first, end, site->line))
            return false;
    }
    return true;
}

static bool add_text(const struct source *state, struct viewer_rows *rows, size_t first, size_t end,
                     const struct viewer_source_text *file)
{
    const uint32_t module = state->sites[first].module;
    size_t next = first;
    for (uint32_t line = 1; line <= file->line_count; line++) {
        if (!add(rows, VIEWER_OBJECT_SOURCE_LINE, module, line, DATA(TEXT_LINE, 0)))
            return false;
        while (next < end && state->sites[next].line < line)
            next++;
        if (next < end && state->sites[next].line == line && placed(file, line) &&
            !add_sites(state, rows, next, end, line))
            return false;
    }
    return true;
}

/* One module: its file's name, sites that are not in the text, the text, waits without a line. */
static bool add_module(const struct source *state, struct viewer_rows *rows, size_t first, size_t end)
{
    const uint32_t module = state->sites[first].module;
    const struct viewer_source_text *file = module < state->file_count ? &state->files[module] : NULL;
    if (!add(rows, VIEWER_OBJECT_NONE, module, 0, DATA(FILE_TITLE, 0)) || !add_bare(state, rows, first, end, file))
        return false;
    if (state->sites[first].line == 0 &&
        (!add(rows, VIEWER_OBJECT_NONE, module, 0, DATA(NO_LINES_TITLE, 0)) || !add_sites(state, rows, first, end, 0)))
        return false;
    return !file || !file->text || add_text(state, rows, first, end, file);
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    struct source *state = context->state;
    if (!context->picture->snapshot)
        return NULL;
    struct wsdbg_error *error = fold_by_line(context, &state->folded);
    if (!error)
        error = read_sites(context, state);
    if (!error)
        error = read_files(context, state);
    for (size_t first = 0, end; !error && first < state->site_count; first = end) {
        for (end = first + 1; end < state->site_count && state->sites[end].module == state->sites[first].module;)
            end++;
        if (!add_module(state, rows, first, end))
            error = &wsdbg_error_no_memory;
    }
    return error;
}

static const struct viewer_source_text *file_of(const struct source *state, uint32_t module)
{
    return module < state->file_count ? &state->files[module] : NULL;
}

static void draw_title(const struct source *state, uint32_t module, struct viewer_canvas *canvas)
{
    const struct viewer_source_text *file = file_of(state, module);
    const char *path = file && file->path ? file->path : "source file ?";
    const int at = viewer_put(canvas, 0, 0, VIEWER_STYLE_TITLE, path);
    if (!file || !file->path)
        viewer_put(canvas, 0, at + 2, VIEWER_STYLE_UNKNOWN, "source text not stored: the module's file is not known");
    else if (!file->text)
        viewer_put(canvas, 0, at + 2, VIEWER_STYLE_UNKNOWN,
                   "source text not stored: the file could not be read when the program ran");
}

/* Whether somebody waits at a line of the text. */
static bool has_site(const struct source *state, uint32_t module, uint32_t line)
{
    for (size_t i = 0; i < state->site_count; i++)
        if (state->sites[i].module == module && state->sites[i].line == line)
            return placed(&state->files[module], line);
    return false;
}

static void draw_text(const struct source *state, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const uint32_t module = row->object.index, line = row->object.part;
    const bool site = has_site(state, module, line);
    if (site)
        viewer_put_glyph(canvas, 0, 0, VIEWER_STYLE_STUCK, VIEWER_GLYPH_MARK);
    viewer_print(canvas, 0, 1, VIEWER_STYLE_DIM, "%5" PRIu32, line);
    viewer_put(canvas, 0, 8, site ? VIEWER_STYLE_STRONG : VIEWER_STYLE_TEXT,
               viewer_source_text_line(&state->files[module], line));
}

static void draw_bare(const struct source *state, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct viewer_source_text *file = file_of(state, row->object.index);
    viewer_put_glyph(canvas, 0, 0, VIEWER_STYLE_STUCK, VIEWER_GLYPH_MARK);
    const int at = viewer_print(canvas, 0, 1, VIEWER_STYLE_STRONG, "%5" PRIu32, row->object.part);
    if (file && file->text)
        viewer_put(canvas, 0, at + 2, VIEWER_STYLE_DIM,
                   "no probe at this line of the file: a line of another, included file");
}

static void draw_site(const struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct source *state = context->state;
    struct wsdbg_report_warps w;
    char role[WSDBG_REPORT_LABEL_BYTES], wait[192], members[96], ctas[48], since[24];
    wsdbg_fold_warps_row(context->picture->snapshot, &state->folded.groups[GROUP(row)], &w);
    wsdbg_report_role_text(&w, role, sizeof role);
    wsdbg_report_wait_text(&w, wait, sizeof wait);
    viewer_members_text(&w.members, members, sizeof members);
    wsdbg_report_cta_text(w.cta_count, w.cta, ctas, sizeof ctas);
    viewer_warps_time_text(context->picture, &w, since, sizeof since);
    viewer_put_glyph(canvas, 0, 8, VIEWER_STYLE_WAITING, VIEWER_GLYPH_LAST_BRANCH);
    const int at = viewer_print(canvas, 0, 10, VIEWER_STYLE_WAITING, "%s: %s", role, wait);
    const unsigned mask = viewer_folded_mask(&state->folded, &state->folded.groups[GROUP(row)]);
    viewer_print(canvas, 0, at, mask ? VIEWER_STYLE_STRONG : VIEWER_STYLE_TEXT, "  %s, %s, %s", ctas, members, since);
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct source *state = context->state;
    switch (PART(row)) {
    case FILE_TITLE:
        draw_title(state, row->object.index, canvas);
        break;
    case TEXT_LINE:
        draw_text(state, row, canvas);
        break;
    case BARE_LINE:
        draw_bare(state, row, canvas);
        break;
    case SITE:
        draw_site(context, row, canvas);
        break;
    case NO_LINES_TITLE:
        viewer_put(canvas, 0, 0, VIEWER_STYLE_DIM, "These waits record no source line:");
    }
}

static void draw_header(struct viewer_context *context, struct viewer_canvas *canvas)
{
    (void)context;
    viewer_put(canvas, 0, 0, VIEWER_STYLE_HEADER, "  LINE  SOURCE, AND WHO WAITS THERE");
}

static const char *nothing(const struct viewer_context *context)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    return s && s->warp_count > 0 ? "No warp that passes the filter waits, so no line is marked."
                                  : viewer_nothing_text(context);
}

/* Number of the site that the cursor is at or after; site_count = none. */
static size_t site_at(const struct source *state, struct viewer_object at)
{
    size_t i = 0;
    for (; i < state->site_count; i++) {
        const struct site *site = &state->sites[i];
        if (at.kind == VIEWER_OBJECT_WARP && state->folded.groups[site->group].source == at.index)
            break;
        if (at.kind == VIEWER_OBJECT_SOURCE_LINE &&
            (site->module > at.index || (site->module == at.index && site->line >= at.part)))
            break;
    }
    return i;
}

static bool same_place(const struct site *a, const struct site *b)
{
    return a->module == b->module && a->line == b->line;
}

/* To the last one that waits where site number `i` is: then all of them, and the line, are in sight. */
static void go_to(struct viewer_context *context, size_t i)
{
    const struct source *state = context->state;
    while (i + 1 < state->site_count && same_place(&state->sites[i], &state->sites[i + 1]))
        i++;
    const uint32_t group = state->sites[i].group;
    context->selected = (struct viewer_object){VIEWER_OBJECT_WARP, state->folded.groups[group].source, 0};
}

static bool press(struct viewer_context *context, int key)
{
    const struct source *state = context->state;
    if (key != '[' && key != ']')
        return false;
    if (state->site_count == 0)
        return true;
    const struct site *sites = state->sites;
    const struct viewer_object at = context->selected;
    size_t i = at.kind == VIEWER_OBJECT_NONE ? 0 : site_at(state, at);
    if (key == '[') {
        while (i > 0 && i < state->site_count && same_place(&sites[i - 1], &sites[i]))
            i--;
        go_to(context, i > 0 ? i - 1 : 0);
        return true;
    }
    const size_t here = i;
    if (at.kind == VIEWER_OBJECT_WARP || (at.kind == VIEWER_OBJECT_SOURCE_LINE && i < state->site_count &&
                                          sites[i].module == at.index && sites[i].line == at.part))
        while (i < state->site_count && same_place(&sites[i], &sites[here]))
            i++;
    go_to(context, i < state->site_count ? i : state->site_count - 1);
    return true;
}

/* A warp is found at the site where it waits. */
static size_t find(struct viewer_context *context, const struct viewer_rows *rows, struct viewer_object object)
{
    const struct source *state = context->state;
    if (object.kind == VIEWER_OBJECT_WARP) {
        const struct wsdbg_fold_group *group = viewer_folded_holder(&state->folded, object.index);
        object.index = group ? group->source : WSDBG_NONE;
    }
    for (size_t i = 0; i < rows->count; i++)
        if (memcmp(&rows->rows[i].object, &object, sizeof object) == 0)
            return i;
    return SIZE_MAX;
}

static const struct viewer_key keys[] = {{"[ ]", "go to the line before or after where somebody waits"}, {NULL, NULL}};

const struct viewer_view viewer_source_lines = {
    .name = "source",
    .key = 'o',
    .summary = "the source, marked where somebody waits",
    .state_bytes = sizeof(struct source),
    .header_lines = 1,
    .draw_header = draw_header,
    .build = build,
    .draw_row = draw_row,
    .nothing = nothing,
    .press = press,
    .keys = keys,
    .find = find,
    .deinit = deinit,
};
