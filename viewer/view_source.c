/* view_source.c - the source of the modules whose warps wait, with the sites of the waits marked at their lines; where
 * it is not at hand, or asked for, the machine code around them.  Reads the picture, and source files through the
 * source. */
#include "viewer/code_rows.h"
#include "viewer/phrases.h"
#include "model/place.h"
#include "viewer/source_sites.h"
#include "sass/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a row shows; in the upper half of its data, in the lower one the number of a group where it shows one. */
enum part { FILE_TITLE, FILE_NOTE, TEXT_LINE, BARE_LINE, SITE, NO_LINES_TITLE, CODE_FILE };
#define DATA(part, group) ((uint64_t)(part) << 32 | (uint64_t)(group))
#define PART(row) ((enum part)((row)->data >> 32))
#define GROUP(row) ((uint32_t)(row)->data)

#define NOTE_BYTES 192

static void deinit(void *memory)
{
    viewer_sites_deinit(memory);
}

static bool add(struct viewer_rows *rows, enum viewer_object_kind kind, uint32_t index, uint32_t part, uint64_t data)
{
    const struct viewer_row row = {.object = {kind, index, part}, .data = data};
    return viewer_rows_add(rows, &row);
}

/* The sites [first, end) that stand where `place` does. */
static bool add_sites(const struct viewer_sites *state, struct viewer_rows *rows, size_t first, size_t end,
                      const struct viewer_site *place)
{
    for (size_t i = first; i < end; i++) {
        const uint32_t group = state->sites[i].group;
        if (state->sites[i].at == place->at && (place->at || state->sites[i].line == place->line) &&
            !add(rows, VIEWER_OBJECT_WARP, state->folded.groups[group].source, 0, DATA(SITE, group)))
            return false;
    }
    return true;
}

/* Sites that are not in the text, each line once, before it. */
static bool add_bare(const struct viewer_sites *state, struct viewer_rows *rows, size_t first, size_t end)
{
    for (size_t i = first; i < end && state->sites[i].at == 0; i++) {
        const struct viewer_site *site = &state->sites[i];
        if (i > first && state->sites[i - 1].line == site->line)
            continue;
        const enum part title = site->line ? BARE_LINE : NO_LINES_TITLE;
        if (!add(rows, VIEWER_OBJECT_NONE, site->module, site->line, DATA(title, site->group)) ||
            !add_sites(state, rows, first, end, site))
            return false;
    }
    return true;
}

static bool add_text(const struct viewer_sites *state, struct viewer_rows *rows, size_t first, size_t end,
                     const struct viewer_source_text *file)
{
    const uint32_t module = state->sites[first].module;
    size_t next = first;
    for (uint32_t line = 1; line <= file->line_count; line++) {
        if (!add(rows, VIEWER_OBJECT_SOURCE_LINE, module, line, DATA(TEXT_LINE, 0)))
            return false;
        while (next < end && state->sites[next].at < line)
            next++;
        if (next < end && state->sites[next].at == line && !add_sites(state, rows, next, end, &state->sites[next]))
            return false;
    }
    return true;
}

/* What the title has no room for: why no line of PTX is marked, or that there is nothing to read.  "" = nothing. */
static void note_of(const struct viewer_source_text *file, char *out, size_t bytes)
{
    out[0] = '\0';
    if (!file)
        return;
    if (file->is_ptx && !file->path)
        snprintf(out, bytes, "No line is marked: the module names no source file.");
    else if (file->is_ptx && file->origin_count == 0)
        snprintf(out, bytes, "No line is marked: the PTX has none of that file (nvcc -lineinfo adds them).");
    else if (file->ptx_missing)
        snprintf(out, bytes, "%s", file->ptx_missing);
}

static bool add_title(const struct viewer_sites *state, struct viewer_rows *rows, uint32_t module)
{
    char note[NOTE_BYTES];
    note_of(viewer_sites_file(state, module), note, sizeof note);
    return add(rows, VIEWER_OBJECT_NONE, module, 0, DATA(FILE_TITLE, 0)) &&
           (!note[0] || add(rows, VIEWER_OBJECT_NONE, module, 0, DATA(FILE_NOTE, 0)));
}

static int by_offset(const void *left, const void *right)
{
    const struct viewer_code_site *a = left, *b = right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return (a->offset_bytes > b->offset_bytes) - (a->offset_bytes < b->offset_bytes);
}

static bool add_code(const struct wsdbg_snapshot *s, const struct viewer_sites *state, struct viewer_rows *rows,
                     size_t first, size_t end)
{
    struct viewer_code_site *sites = calloc(end - first, sizeof *sites);
    size_t count = 0;
    for (size_t i = first; sites && i < end; i++) {
        const struct wsdbg_site *site = wsdbg_snapshot_site(s, state->sites[i].machine);
        const uint32_t group = state->sites[i].group;
        if (site && site->offset_bytes.known)
            sites[count++] = (struct viewer_code_site){site->function, site->offset_bytes.value,
                                                       state->folded.groups[group].source, DATA(SITE, group)};
    }
    if (sites)
        qsort(sites, count, sizeof *sites, by_offset);
    const bool fine = sites && viewer_code_add(s, sites, count, rows);
    free(sites);
    return fine;
}

/* Machine code where it is asked for, or where there is no better text. */
static bool shows_code(const struct wsdbg_snapshot *s, const struct viewer_sites *state, size_t first, size_t end)
{
    const struct viewer_source_text *file = viewer_sites_file(state, state->sites[first].module);
    const bool has_source = file && file->text && !file->is_ptx;
    for (size_t i = first; i < end && (state->machine_code || !has_source); i++) {
        const struct wsdbg_site *site = wsdbg_snapshot_site(s, state->sites[i].machine);
        if (site && viewer_code_known(s, site->function))
            return true;
    }
    return false;
}

/* One module: its file's name, waits that are not in the text, the text. */
static bool add_module(const struct wsdbg_snapshot *s, const struct viewer_sites *state, struct viewer_rows *rows,
                       size_t first, size_t end)
{
    const uint32_t module = state->sites[first].module;
    const struct viewer_source_text *file = viewer_sites_file(state, module);
    if (shows_code(s, state, first, end))
        return add(rows, VIEWER_OBJECT_NONE, module, 0, DATA(CODE_FILE, 0)) && add_code(s, state, rows, first, end);
    if (!add_title(state, rows, module) || !add_bare(state, rows, first, end))
        return false;
    return !file || !file->text || add_text(state, rows, first, end, file);
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    struct viewer_sites *state = context->state;
    if (!context->picture->snapshot)
        return NULL;
    struct wsdbg_error *error = viewer_sites_read(context, state);
    for (size_t first = 0, end; !error && first < state->site_count; first = end) {
        for (end = first + 1; end < state->site_count && state->sites[end].module == state->sites[first].module;)
            end++;
        if (!add_module(context->picture->snapshot, state, rows, first, end))
            error = &wsdbg_error_no_memory;
    }
    return error;
}

/* Why the text is not the source, and what would make it so. */
static void draw_missing(const struct viewer_source_text *file, int at, struct viewer_canvas *canvas)
{
    const char *unsaid = file->path ? "not kept when the program ran" : "the module names no source file";
    const char *why = file->text_missing ? file->text_missing : unsaid;
    const char *remedy = !file->path            ? "nvcc -lineinfo names it"
                         : file->path[0] != '/' ? "run wsdbg where it was compiled"
                                                : "put it there and run again";
    if (file->is_ptx)
        viewer_print(canvas, 0, at, VIEWER_STYLE_UNKNOWN, "%s; this is the module's PTX (%s)", why, remedy);
    else
        viewer_print(canvas, 0, at, VIEWER_STYLE_UNKNOWN, "%s: %s", why, remedy);
}

static void draw_title(const struct viewer_sites *state, uint32_t module, struct viewer_canvas *canvas)
{
    static const struct viewer_source_text nothing_known;
    const struct viewer_source_text *file = viewer_sites_file(state, module);
    if (!file)
        file = &nothing_known;
    const int at = viewer_put(canvas, 0, 0, VIEWER_STYLE_TITLE, file->path ? file->path : "source file ?");
    if (!file->text || file->is_ptx)
        draw_missing(file, at + 2, canvas);
}

static void draw_note(const struct viewer_sites *state, uint32_t module, struct viewer_canvas *canvas)
{
    char note[NOTE_BYTES];
    note_of(viewer_sites_file(state, module), note, sizeof note);
    viewer_put(canvas, 0, 0, VIEWER_STYLE_UNKNOWN, note);
}

/* Whether somebody waits at a line of the text. */
static bool has_site(const struct viewer_sites *state, uint32_t module, uint32_t number)
{
    for (size_t i = 0; i < state->site_count; i++)
        if (state->sites[i].module == module &&
            (state->sites[i].at == number ||
             viewer_source_text_shows(viewer_sites_file(state, module), number, state->sites[i].line)))
            return true;
    return false;
}

static void draw_text(const struct viewer_sites *state, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const uint32_t module = row->object.index, number = row->object.part;
    const bool site = has_site(state, module, number);
    if (site)
        viewer_put_glyph(canvas, 0, 0, VIEWER_STYLE_STUCK, VIEWER_GLYPH_MARK);
    viewer_print(canvas, 0, 1, VIEWER_STYLE_DIM, "%5" PRIu32, number);
    viewer_put(canvas, 0, 8, site ? VIEWER_STYLE_STRONG : VIEWER_STYLE_TEXT,
               viewer_source_text_line(viewer_sites_file(state, module), number));
}

static void draw_bare(const struct viewer_sites *state, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct viewer_source_text *file = viewer_sites_file(state, row->object.index);
    viewer_put_glyph(canvas, 0, 0, VIEWER_STYLE_STUCK, VIEWER_GLYPH_MARK);
    const int at = viewer_print(canvas, 0, 1, VIEWER_STYLE_STRONG, "%5" PRIu32, row->object.part);
    if (!file || !file->text)
        return;
    if (!file->is_ptx)
        viewer_put(canvas, 0, at + 2, VIEWER_STYLE_DIM,
                   "no probe at this line of the file: a line of another, included file");
    else if (file->origin_count > 0)
        viewer_put(canvas, 0, at + 2, VIEWER_STYLE_DIM, "line of the source; no line of the PTX comes from it");
    else
        viewer_put(canvas, 0, at + 2, VIEWER_STYLE_DIM, "line of the source");
}

/* Of waits that are at no line of the text. */
static void draw_no_lines(const struct viewer_context *context, const struct viewer_row *row,
                          struct viewer_canvas *canvas)
{
    const struct viewer_sites *state = context->state;
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const uint32_t machine = s->warps[state->folded.groups[GROUP(row)].source].site;
    viewer_put(canvas, 0, 0, VIEWER_STYLE_DIM,
               wsdbg_place_has_lines(s, machine) ? "These waits are at lines of other files:"
                                                 : "These waits record no source line:");
}

static void draw_site(const struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct viewer_sites *state = context->state;
    struct wsdbg_report_warps w;
    char role[WSDBG_REPORT_LABEL_BYTES], wait[192], members[96], ctas[48], since[24];
    wsdbg_fold_warps_row(context->picture->snapshot, &state->folded.groups[GROUP(row)], &w);
    wsdbg_report_role_text(&w, role, sizeof role);
    wsdbg_report_wait_text(&w, wait, sizeof wait);
    wsdbg_report_members_text(&w.members, members, sizeof members);
    wsdbg_report_cta_text(w.cta_count, w.cta, ctas, sizeof ctas);
    viewer_warps_time_text(context->picture, &w, since, sizeof since);
    viewer_put_glyph(canvas, 0, 8, VIEWER_STYLE_WAITING, VIEWER_GLYPH_LAST_BRANCH);
    const int at = viewer_print(canvas, 0, 10, VIEWER_STYLE_WAITING, "%s: %s", role, wait);
    const unsigned mask = viewer_folded_mask(&state->folded, &state->folded.groups[GROUP(row)]);
    const char *place = viewer_sites_are_elsewhere(state, GROUP(row)) ? w.place : "";
    viewer_print(canvas, 0, at, mask ? VIEWER_STYLE_STRONG : VIEWER_STYLE_TEXT, "  %s, %s, %s%s%s", ctas, members,
                 since, place[0] ? ", " : "", place);
}

/* Whether somebody waits at a row of code. */
static bool stands_at(const struct viewer_context *context, const struct viewer_row *row)
{
    const struct viewer_sites *state = context->state;
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    for (size_t i = 0; row->object.kind == VIEWER_OBJECT_CODE_LINE && i < state->site_count; i++) {
        const struct wsdbg_site *site = wsdbg_snapshot_site(s, state->sites[i].machine);
        if (site && site->function == row->object.index && site->offset_bytes.known &&
            site->offset_bytes.value == s->code[row->object.part].offset_bytes)
            return true;
    }
    return false;
}

/* The file of the first line that the machine code of a module was compiled from; NULL = none is known. */
static const char *compiled_from(const struct wsdbg_snapshot *s, uint32_t module)
{
    for (size_t i = 0; i < s->code_count; i++)
        if (s->code[i].file[0] && s->code[i].function < s->function_count &&
            s->functions[s->code[i].function].module == module)
            return s->code[i].file;
    return NULL;
}

static void draw_code_title(const struct wsdbg_snapshot *s, const struct viewer_sites *state, uint32_t module,
                            struct viewer_canvas *canvas)
{
    const struct viewer_source_text *file = viewer_sites_file(state, module);
    const char *path = file && file->path ? file->path : compiled_from(s, module);
    const bool is_ptx = path && strcmp(path, WSDBG_FILE_OF_PTX) == 0;
    const int at = viewer_put(canvas, 0, 0, VIEWER_STYLE_TITLE, path ? path : "source file ?");
    if (is_ptx)
        viewer_put(canvas, 0, at + 2, VIEWER_STYLE_DIM, "of the program's image; compiled without -lineinfo");
    else if (state->machine_code && file && file->text)
        viewer_put(canvas, 0, at + 2, VIEWER_STYLE_DIM, "machine code; m shows the source");
    else
        viewer_print(canvas, 0, at + 2, VIEWER_STYLE_UNKNOWN, "%s; this is machine code",
                     file && file->text_missing ? file->text_missing : "source text not stored");
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct viewer_sites *state = context->state;
    if (VIEWER_CODE_PART(row->data)) {
        viewer_code_draw(context->picture->snapshot, row, stands_at(context, row), canvas);
        return;
    }
    switch (PART(row)) {
    case CODE_FILE:
        draw_code_title(context->picture->snapshot, state, row->object.index, canvas);
        break;
    case FILE_TITLE:
        draw_title(state, row->object.index, canvas);
        break;
    case FILE_NOTE:
        draw_note(state, row->object.index, canvas);
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
        draw_no_lines(context, row, canvas);
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
static size_t site_at(const struct viewer_sites *state, struct viewer_object at)
{
    size_t i = 0;
    for (; i < state->site_count; i++) {
        const struct viewer_site *site = &state->sites[i];
        if (at.kind == VIEWER_OBJECT_WARP && state->folded.groups[site->group].source == at.index)
            break;
        if (at.kind == VIEWER_OBJECT_SOURCE_LINE &&
            (site->module > at.index || (site->module == at.index && site->at >= at.part)))
            break;
    }
    return i;
}

static bool same_place(const struct viewer_site *a, const struct viewer_site *b)
{
    return a->module == b->module && a->at == b->at && (a->at || a->line == b->line);
}

/* To the last one that waits where site number `i` is: then all of them, and the line, are in sight. */
static void go_to(struct viewer_context *context, size_t i)
{
    const struct viewer_sites *state = context->state;
    while (i + 1 < state->site_count && same_place(&state->sites[i], &state->sites[i + 1]))
        i++;
    const uint32_t group = state->sites[i].group;
    context->selected = (struct viewer_object){VIEWER_OBJECT_WARP, state->folded.groups[group].source, 0};
}

static bool press(struct viewer_context *context, int key)
{
    struct viewer_sites *state = context->state;
    if (key == 'm') {
        state->machine_code = !state->machine_code;
        return true;
    }
    if (key != '[' && key != ']')
        return false;
    if (state->site_count == 0)
        return true;
    const struct viewer_site *sites = state->sites;
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
                                          sites[i].module == at.index && sites[i].at == at.part))
        while (i < state->site_count && same_place(&sites[i], &sites[here]))
            i++;
    go_to(context, i < state->site_count ? i : state->site_count - 1);
    return true;
}

/* A warp is found at the site where it waits. */
static size_t find(struct viewer_context *context, const struct viewer_rows *rows, struct viewer_object object)
{
    const struct viewer_sites *state = context->state;
    if (object.kind == VIEWER_OBJECT_WARP) {
        const struct wsdbg_fold_group *group = viewer_folded_holder(&state->folded, object.index);
        object.index = group ? group->source : WSDBG_NONE;
    }
    for (size_t i = 0; i < rows->count; i++)
        if (memcmp(&rows->rows[i].object, &object, sizeof object) == 0)
            return i;
    return SIZE_MAX;
}

static struct viewer_object wait_of(const struct viewer_sites *state, uint32_t warp)
{
    const struct wsdbg_fold_group *group = warp != WSDBG_NONE ? viewer_folded_holder(&state->folded, warp) : NULL;
    for (size_t i = 0; group && i < state->site_count; i++)
        if (&state->folded.groups[state->sites[i].group] == group)
            return (struct viewer_object){VIEWER_OBJECT_WARP, group->source, 0};
    return (struct viewer_object){0};
}

/* Whether a warp is, or waits for, what another view's cursor stood on. */
static bool belongs_to(const struct wsdbg_snapshot *s, uint32_t warp, struct viewer_object from)
{
    const struct wsdbg_warp_row *row = &s->warps[warp];
    switch (from.kind) {
    case VIEWER_OBJECT_CTA:
        return row->cta == from.index;
    case VIEWER_OBJECT_WARPGROUP:
        return row->cta == from.index && row->warp / 4 == from.part;
    case VIEWER_OBJECT_BARRIER:
        return row->barrier == from.index;
    default:
        return false;
    }
}

/* The wait of what another view's cursor stood on; NONE = it does not wait. */
static struct viewer_object wait_of_object(struct viewer_context *context, struct viewer_object from)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const struct wsdbg_diagnosis *diagnosis = context->picture->diagnosis;
    struct viewer_object found = {0};
    if (from.kind == VIEWER_OBJECT_WARP || from.kind == VIEWER_OBJECT_PART)
        return wait_of(context->state, from.index);
    if (from.kind == VIEWER_OBJECT_EDGE && diagnosis && from.index < diagnosis->edge_count)
        return wait_of(context->state, diagnosis->edges[from.index].waiter);
    for (uint32_t warp = 0; s && warp < s->warp_count && found.kind == VIEWER_OBJECT_NONE; warp++)
        if (belongs_to(s, warp, from))
            found = wait_of(context->state, warp);
    return found;
}

/* The wait of the warp that was selected, else of one that the findings are about, else the first there is. */
static struct viewer_object arrive(struct viewer_context *context, struct viewer_object from)
{
    const struct viewer_sites *state = context->state;
    const struct wsdbg_diagnosis *diagnosis = context->picture->diagnosis;
    struct viewer_object found = wait_of_object(context, from);
    if (found.kind != VIEWER_OBJECT_NONE || context->visited)
        return found;
    for (size_t i = 0; diagnosis && i < diagnosis->finding_count; i++)
        for (size_t j = 0; j < diagnosis->findings[i].evidence_count && found.kind == VIEWER_OBJECT_NONE; j++)
            found = wait_of(state, diagnosis->findings[i].evidence[j].warp);
    if (found.kind == VIEWER_OBJECT_NONE && state->site_count > 0)
        found = wait_of(state, state->folded.groups[state->sites[0].group].source);
    return found;
}

static const struct viewer_key keys[] = {{"[ ]", "go to the line before or after where somebody waits"},
                                         {"m", "machine code in place of the source, and back"},
                                         {NULL, NULL}};

const struct viewer_view viewer_source_lines = {
    .name = "source",
    .key = 'o',
    .summary = "the source, marked where somebody waits",
    .state_bytes = sizeof(struct viewer_sites),
    .header_lines = 1,
    .draw_header = draw_header,
    .build = build,
    .draw_row = draw_row,
    .nothing = nothing,
    .press = press,
    .keys = keys,
    .find = find,
    .arrive = arrive,
    .deinit = deinit,
};
