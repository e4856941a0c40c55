/* code_rows.c - see code_rows.h.  Reads the snapshot's code. */
#include "viewer/code_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/place.h"
#include "model/symbol.h"
#include "viewer/phrases.h"

enum { INSTRUCTION_BYTES = 16, OFFSET_COLUMNS = 8, LINE_COLUMNS = 20 };

bool viewer_code_known(const struct wsdbg_snapshot *s, uint32_t function)
{
    for (size_t i = 0; i < s->code_count; i++)
        if (s->code[i].function == function)
            return true;
    return false;
}

static bool add(struct viewer_rows *rows, struct viewer_object object, uint64_t data)
{
    return viewer_rows_add(rows, &(struct viewer_row){.object = object, .data = data});
}

static bool is_at(const struct viewer_code_site *site, const struct wsdbg_code_row *code)
{
    return site->function == code->function && site->offset_bytes == code->offset_bytes;
}

/* The sites that lie at an instruction: their rows follow it. */
static bool add_sites(const struct wsdbg_code_row *code, const struct viewer_code_site *sites, size_t count,
                      struct viewer_rows *rows)
{
    for (size_t i = 0; i < count; i++)
        if (is_at(&sites[i], code) &&
            !add(rows, (struct viewer_object){VIEWER_OBJECT_WARP, sites[i].warp, 0}, sites[i].data))
            return false;
    return true;
}

static bool add_function(const struct wsdbg_snapshot *s, uint32_t function, const struct viewer_code_site *sites,
                         size_t count, struct viewer_rows *rows)
{
    const struct wsdbg_code_row *before = NULL;
    if (!add(rows, (struct viewer_object){VIEWER_OBJECT_NONE, function, 0}, VIEWER_CODE_TITLE))
        return false;
    for (uint32_t i = 0; i < s->code_count; i++) {
        const struct wsdbg_code_row *code = &s->code[i];
        if (code->function != function)
            continue;
        if (before && before->offset_bytes + INSTRUCTION_BYTES != code->offset_bytes &&
            !add(rows, (struct viewer_object){VIEWER_OBJECT_NONE, function, i}, VIEWER_CODE_GAP))
            return false;
        if (!add(rows, (struct viewer_object){VIEWER_OBJECT_CODE_LINE, function, i}, VIEWER_CODE_LINE) ||
            !add_sites(code, sites, count, rows))
            return false;
        before = code;
    }
    return true;
}

bool viewer_code_add(const struct wsdbg_snapshot *s, const struct viewer_code_site *sites, size_t count,
                     struct viewer_rows *rows)
{
    for (size_t i = 0; i < count; i++)
        if ((i == 0 || sites[i - 1].function != sites[i].function) &&
            !add_function(s, sites[i].function, sites, count, rows))
            return false;
    return true;
}

static void draw_line(const struct wsdbg_code_row *code, bool stuck, struct viewer_canvas *canvas)
{
    const enum viewer_style style = stuck ? VIEWER_STYLE_STRONG : VIEWER_STYLE_TEXT;
    char line[LINE_COLUMNS + 64] = "", cut[sizeof line] = "";
    if (stuck)
        viewer_put_glyph(canvas, 0, 0, VIEWER_STYLE_STUCK, VIEWER_GLYPH_MARK);
    viewer_print(canvas, 0, 1, VIEWER_STYLE_DIM, "%5" PRIx32, code->offset_bytes);
    if (code->line.known && code->file[0])
        snprintf(line, sizeof line, "%.64s:%" PRIu32, wsdbg_place_file(code->file), code->line.value);
    viewer_tail_text(line, LINE_COLUMNS, cut, sizeof cut);
    viewer_cell(canvas, 0, OFFSET_COLUMNS, LINE_COLUMNS, VIEWER_STYLE_DIM, cut);
    viewer_put(canvas, 0, OFFSET_COLUMNS + LINE_COLUMNS + 1, code->text[0] ? style : VIEWER_STYLE_UNKNOWN,
               code->text[0] ? code->text : "?");
}

void viewer_code_draw(const struct wsdbg_snapshot *s, const struct viewer_row *row, bool stuck,
                      struct viewer_canvas *canvas)
{
    char name[512] = "?";
    switch (VIEWER_CODE_PART(row->data)) {
    case VIEWER_CODE_LINE:
        if (row->object.part < s->code_count)
            draw_line(&s->code[row->object.part], stuck, canvas);
        break;
    case VIEWER_CODE_GAP:
        viewer_put(canvas, 0, OFFSET_COLUMNS, VIEWER_STYLE_DIM, "…");
        break;
    default:
        if (row->object.index < s->function_count)
            wsdbg_symbol_name(s->functions[row->object.index].name, name, sizeof name);
        viewer_put(canvas, 0, 0, VIEWER_STYLE_TITLE, name);
        break;
    }
}
