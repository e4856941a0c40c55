/* view_registers.c - the register pool of CTAs: four bars, one a register file of the SM, and who holds and asks what.
 * CTAs whose warps agree in all of it are shown once.  Reads the picture. */
#include "viewer/columns.h"
#include "viewer/phrases.h"
#include "viewer/register_pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/fold.h"

/* A row's data: what it shows, and of which fold. */
enum part { TITLE, FILE_BAR, WARPS, BLANK };
#define DATA(part, fold) ((uint64_t)(part) << 32 | (fold))
#define PART(row) ((enum part)((row)->data >> 32))
#define FOLD(row) ((uint32_t)(row)->data)

enum column { NAME, MEMBERS, BAR, HELD, ASKED, FREE, OF, COLUMN_COUNT };

static const struct viewer_column columns[COLUMN_COUNT] = {
    [NAME] = {"REGISTER FILE", 13, 0, false},
    [MEMBERS] = {"WARPS", 9, 4, false},
    [BAR] = {"HELD, ASKED, FREE", 18, 5, true},
    [HELD] = {"HELD", -8, 0, false},
    [ASKED] = {"ASKED", -8, 6, false},
    [FREE] = {"FREE", -7, 3, false},
    [OF] = {"OF", -7, 2, false},
};

/* CTAs that agree: those from `cta` on with the same account. */
struct fold {
    uint32_t cta, count; /* the first one, and how many */
    uint64_t hash;
};

struct registers {
    struct fold *folds;
    size_t count, capacity;
};

static void deinit(void *state)
{
    struct registers *registers = state;
    free(registers->folds);
}

static uint32_t or_none(struct wsdbg_optional_u32 value)
{
    return value.known ? value.value : WSDBG_NONE;
}

/* What two warps must agree in to be one row. */
struct account {
    uint32_t role, held, asked, exited;
};

static struct account account_of(const struct wsdbg_warp_row *warp)
{
    return (struct account){or_none(warp->role), or_none(warp->registers_held),
                            warp->state == WSDBG_WARP_WAIT_REGISTERS ? or_none(warp->registers_asked) : 0,
                            warp->state == WSDBG_WARP_EXITED};
}

static bool same_account(const struct wsdbg_warp_row *a, const struct wsdbg_warp_row *b)
{
    const struct account x = account_of(a), y = account_of(b);
    return memcmp(&x, &y, sizeof x) == 0;
}

static bool same_ctas(const struct wsdbg_snapshot *s, uint32_t left, uint32_t right)
{
    const struct wsdbg_cta *a = &s->ctas[left], *b = &s->ctas[right];
    if (a->grid != b->grid || a->warp_count != b->warp_count)
        return false;
    for (uint32_t i = 0; i < a->warp_count; i++) {
        const struct wsdbg_warp_row *x = &s->warps[a->warp_first + i], *y = &s->warps[b->warp_first + i];
        if (x->warp != y->warp || !same_account(x, y))
            return false;
    }
    return true;
}

/* FNV-1a over what same_ctas compares, so that many CTAs are told apart quickly. */
static uint64_t hash_cta(const struct wsdbg_snapshot *s, uint32_t cta)
{
    uint64_t hash = 14695981039346656037u ^ s->ctas[cta].grid;
    for (uint32_t i = 0; i < s->ctas[cta].warp_count; i++) {
        const struct account account = account_of(&s->warps[s->ctas[cta].warp_first + i]);
        const uint32_t words[] = {account.role, account.held, account.asked, account.exited};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            hash = (hash ^ words[k]) * 1099511628211u;
    }
    return hash;
}

static bool add_cta(const struct wsdbg_snapshot *s, struct registers *registers, uint32_t cta)
{
    const uint64_t hash = hash_cta(s, cta);
    for (size_t i = 0; i < registers->count; i++)
        if (registers->folds[i].hash == hash && same_ctas(s, registers->folds[i].cta, cta)) {
            registers->folds[i].count++;
            return true;
        }
    if (registers->count == registers->capacity) {
        const size_t capacity = registers->capacity ? registers->capacity * 2 : 16;
        struct fold *grown = realloc(registers->folds, capacity * sizeof *grown);
        if (!grown)
            return false;
        registers->folds = grown;
        registers->capacity = capacity;
    }
    registers->folds[registers->count++] = (struct fold){cta, 1, hash};
    return true;
}

static bool add(struct viewer_rows *rows, enum viewer_object_kind kind, uint32_t index, uint32_t part, uint64_t data)
{
    const struct viewer_row row = {.object = {kind, index, part}, .data = data, .depth = 1};
    return viewer_rows_add(rows, &row);
}

/* The warps from `first` on that agree with it; at most those of one warpgroup, which setmaxnreg is for. */
static uint32_t equal_warps(const struct wsdbg_snapshot *s, const struct wsdbg_cta *cta, uint32_t first)
{
    uint32_t count = 1;
    const struct wsdbg_warp_row *warp = &s->warps[first];
    while (first + count < cta->warp_first + cta->warp_count && s->warps[first + count].warp / 4 == warp->warp / 4 &&
           same_account(warp, &s->warps[first + count]))
        count++;
    return count;
}

static bool add_fold(const struct wsdbg_snapshot *s, struct viewer_rows *rows, const struct fold *fold, uint32_t index)
{
    const struct wsdbg_cta *cta = &s->ctas[fold->cta];
    if (index > 0 && !add(rows, VIEWER_OBJECT_NONE, index, 0, DATA(BLANK, index)))
        return false;
    if (!add(rows, VIEWER_OBJECT_CTA, fold->cta, 0, DATA(TITLE, index)))
        return false;
    for (uint32_t f = 0; f < VIEWER_REGISTER_FILES; f++)
        if (!add(rows, VIEWER_OBJECT_NONE, fold->cta, f, DATA(FILE_BAR, index)))
            return false;
    for (uint32_t w = 0; w < cta->warp_count; w += equal_warps(s, cta, cta->warp_first + w))
        if (!add(rows, VIEWER_OBJECT_WARP, cta->warp_first + w, 0, DATA(WARPS, index)))
            return false;
    return true;
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    struct registers *registers = context->state;
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    bool fine = true;
    registers->count = 0;
    for (uint32_t c = 0; fine && s && c < s->cta_count; c++)
        if (s->ctas[c].warp_count > 0 && viewer_filter_cta(context->filter, s, c))
            fine = add_cta(s, registers, c);
    for (uint32_t i = 0; fine && i < registers->count; i++)
        fine = add_fold(s, rows, &registers->folds[i], i);
    return fine ? NULL : &wsdbg_error_no_memory;
}

static void number_text(struct wsdbg_optional_u32 value, char *out, size_t bytes)
{
    if (value.known)
        snprintf(out, bytes, "%" PRIu32, value.value);
    else
        snprintf(out, bytes, "?");
}

static struct wsdbg_optional_u32 free_in(const struct viewer_register_file *file)
{
    const bool known = file->total.known && file->held.known && file->held.value <= file->total.value;
    return (struct wsdbg_optional_u32){known ? file->total.value - file->held.value : 0, known};
}

/* Held, then what is asked as far as it is free, then the rest; what is asked and not there stands out. */
static void draw_bar(const struct viewer_register_file *file, struct viewer_place at, struct viewer_canvas *canvas)
{
    const struct wsdbg_optional_u32 left = free_in(file);
    if (!left.known || file->total.value == 0) {
        viewer_columns_cell(canvas, at, VIEWER_STYLE_UNKNOWN, "?");
        return;
    }
    const bool short_of = file->asked.known && file->asked.value > left.value;
    const enum viewer_style look = short_of ? VIEWER_STYLE_BAD : VIEWER_STYLE_WAITING;
    const uint64_t total = file->total.value,
                   columns_held = (file->held.value * (uint64_t)at.width + total / 2) / total;
    const uint64_t asked = file->asked.known ? file->held.value + (uint64_t)file->asked.value : file->held.value;
    const uint64_t columns_asked = (asked * (uint64_t)at.width + total / 2) / total;
    for (int i = 0; i < at.width; i++) {
        const bool held = (uint64_t)i < columns_held, wanted = (uint64_t)i < columns_asked;
        viewer_put_glyph(canvas, 0, at.at + i,
                         held     ? VIEWER_STYLE_MOVING
                         : wanted ? look
                                  : VIEWER_STYLE_DIM,
                         held     ? VIEWER_GLYPH_BLOCK
                         : wanted ? VIEWER_GLYPH_LIGHT
                                  : VIEWER_GLYPH_DOT);
    }
    if (short_of)
        viewer_put_glyph(canvas, 0, at.at + at.width - 1, look, VIEWER_GLYPH_MARK);
}

static void draw_file(const struct wsdbg_snapshot *s, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct viewer_register_pool pool = viewer_register_pool_read(s, row->object.index);
    const struct viewer_register_file *file = &pool.files[row->object.part];
    const struct wsdbg_cta *cta = &s->ctas[row->object.index];
    struct wsdbg_members members = {0};
    struct viewer_place at[COLUMN_COUNT];
    char text[COLUMN_COUNT][64] = {""};
    for (uint32_t w = cta->warp_first; w < cta->warp_first + cta->warp_count; w++)
        if (s->warps[w].warp % VIEWER_REGISTER_FILES == row->object.part)
            members.bits[s->warps[w].warp / 64 % 4] |= 1ull << s->warps[w].warp % 64;
    viewer_columns_place(columns, COLUMN_COUNT, viewer_canvas_columns(canvas), at);
    snprintf(text[NAME], sizeof *text, "  file %" PRIu32, row->object.part);
    wsdbg_members_text(&members, text[MEMBERS], sizeof *text);
    number_text(file->held, text[HELD], sizeof *text);
    number_text(file->asked, text[ASKED], sizeof *text);
    number_text(free_in(file), text[FREE], sizeof *text);
    number_text(file->total, text[OF], sizeof *text);
    const struct wsdbg_optional_u32 left = free_in(file);
    const bool short_of = left.known && file->asked.known && file->asked.value > left.value;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        enum viewer_style style = strcmp(text[i], "?") == 0 ? VIEWER_STYLE_UNKNOWN : VIEWER_STYLE_TEXT;
        if (i != BAR)
            viewer_columns_cell(canvas, at[i], i == ASKED && short_of ? VIEWER_STYLE_BAD : style, text[i]);
        else if (at[i].width > 0)
            draw_bar(file, at[i], canvas);
    }
}

static void draw_title(const struct wsdbg_snapshot *s, const struct fold *fold, struct viewer_canvas *canvas)
{
    const struct wsdbg_cta *cta = &s->ctas[fold->cta];
    const uint32_t place[] = {cta->x, cta->y, cta->z};
    const struct viewer_register_pool pool = viewer_register_pool_read(s, fold->cta);
    char ctas[48], grid[320], launch[24];
    wsdbg_report_cta_text(fold->count, place, ctas, sizeof ctas);
    viewer_grid_text(s, cta->grid, grid, sizeof grid);
    number_text(pool.launch, launch, sizeof launch);
    const int at = viewer_print(canvas, 0, 0, VIEWER_STYLE_TITLE, "%s", ctas);
    viewer_print(canvas, 0, at + 2, VIEWER_STYLE_TEXT, "%s a thread at launch, %s", launch, grid);
}

static void draw_warps(const struct wsdbg_snapshot *s, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct wsdbg_warp_row *warp = &s->warps[row->object.index];
    const uint32_t last = warp->warp + equal_warps(s, &s->ctas[warp->cta], row->object.index) - 1;
    const bool asks = warp->state == WSDBG_WARP_WAIT_REGISTERS;
    struct viewer_place at[COLUMN_COUNT];
    char role[64], members[32], held[24], asked[24] = "";
    viewer_columns_place(columns, COLUMN_COUNT, viewer_canvas_columns(canvas), at);
    viewer_role_text(s, warp, role, sizeof role);
    if (last > warp->warp)
        snprintf(members, sizeof members, "%" PRIu32 "-%" PRIu32, warp->warp, last);
    else
        snprintf(members, sizeof members, "%" PRIu32, warp->warp);
    number_text(warp->registers_held, held, sizeof held);
    if (asks)
        number_text(warp->registers_asked, asked, sizeof asked);
    viewer_cell(canvas, 0, 2, at[NAME].width - 2, VIEWER_STYLE_TEXT, role);
    viewer_columns_cell(canvas, at[MEMBERS], VIEWER_STYLE_TEXT, members);
    viewer_columns_cell(canvas, at[BAR], viewer_state_style(warp->state),
                        asks                               ? "a thread, asks for"
                        : warp->state == WSDBG_WARP_EXITED ? "a thread, exited"
                                                           : "a thread");
    viewer_columns_cell(canvas, at[HELD], warp->registers_held.known ? VIEWER_STYLE_TEXT : VIEWER_STYLE_UNKNOWN, held);
    viewer_columns_cell(canvas, at[ASKED], VIEWER_STYLE_WAITING, asked);
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct registers *registers = context->state;
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    if (PART(row) == TITLE)
        draw_title(s, &registers->folds[FOLD(row)], canvas);
    else if (PART(row) == FILE_BAR)
        draw_file(s, row, canvas);
    else if (PART(row) == WARPS)
        draw_warps(s, row, canvas);
}

static void draw_header(struct viewer_context *context, struct viewer_canvas *canvas)
{
    (void)context;
    viewer_columns_header(canvas, 0, columns, COLUMN_COUNT);
}

const struct viewer_view viewer_registers = {
    .name = "registers",
    .tab = "regs",
    .key = 'r',
    .summary = "the register pool: held, asked, free in each of the four register files",
    .state_bytes = sizeof(struct registers),
    .header_lines = 1,
    .draw_header = draw_header,
    .build = build,
    .draw_row = draw_row,
    .nothing = viewer_nothing_text,
    .deinit = deinit,
};
