/* look_code.c - the instructions around the places where warps stand, for people to read: the program that they belong
 * to may be gone when somebody does.
 *
 * Reads: the places of parts, decoded code.  Writes: snapshot.code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"

enum { AROUND = 64, SPOTS_MAX = 32, LEVELS_MAX = 16 };

/* A place where somebody stands; `row` is its function's. */
struct spot {
    uint32_t row;
    struct wsdbg_code_place place;
};

static int by_place(const void *left, const void *right)
{
    const struct spot *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->place.instruction > b->place.instruction) - (a->place.instruction < b->place.instruction);
}

static bool is_known(const struct spot *spots, size_t count, const struct wsdbg_code_place *place)
{
    for (size_t i = 0; i < count; i++)
        if (spots[i].place.function == place->function && spots[i].place.instruction == place->instruction)
            return true;
    return false;
}

static struct wsdbg_error *find_spots(const struct wsdbg_look_seen *seen, struct wsdbg_look_tables *tables,
                                      struct spot spots[SPOTS_MAX], size_t *count)
{
    const struct wsdbg_snapshot *s = tables->out;
    *count = 0;
    for (size_t i = 0; i < s->part_count && *count < SPOTS_MAX; i++) {
        const struct wsdbg_code_place *place = &seen->parts[i].place;
        if (!place->function || is_known(spots, *count, place))
            continue;
        const uint32_t module = s->grids[s->ctas[s->warps[s->parts[i].warp].cta].grid].module;
        spots[*count].place = *place;
        uint32_t number;
        struct wsdbg_error *error =
            wsdbg_look_function(tables, wsdbg_code_origin(place, &number), module, &spots[*count].row);
        if (error)
            return error;
        ++*count;
    }
    return NULL;
}

/* The level that the place of a warp at this instruction is named by. */
static void say_line(const struct wsdbg_code_place *place, struct wsdbg_code_row *row)
{
    struct wsdbg_line lines[LEVELS_MAX];
    const size_t count = wsdbg_code_lines(place, lines, LEVELS_MAX);
    if (count == 0)
        return;
    const size_t level = wsdbg_lines_place(lines, count);
    snprintf(row->file, sizeof row->file, "%s", lines[level].file);
    row->line = wsdbg_known_u32(lines[level].line);
}

static struct wsdbg_error *add_row(struct wsdbg_look_tables *tables, uint32_t function,
                                   const struct wsdbg_code_place *place)
{
    struct wsdbg_snapshot *s = tables->out;
    if (!wsdbg_grow((void **)&s->code, &tables->capacity.code, s->code_count + 1, sizeof *s->code))
        return &wsdbg_error_no_memory;
    struct wsdbg_code_row *row = &s->code[s->code_count++];
    *row = (struct wsdbg_code_row){.function = function, .offset_bytes = place->instruction * WSDBG_INSTRUCTION_BYTES};
    /* Targets of branches are then offsets, as the rows are. */
    wsdbg_code_text(place, row->offset_bytes, row->text);
    say_line(place, row);
    return NULL;
}

/* The instructions around one place that none before it had. */
static struct wsdbg_error *add_around(struct wsdbg_look_tables *tables, const struct spot *spot, uint32_t *beyond)
{
    const uint32_t count = wsdbg_graph_instruction_count(spot->place.function->graph);
    const uint32_t at = spot->place.instruction;
    const uint32_t first = at > AROUND ? at - AROUND : 0, last = at + AROUND < count ? at + AROUND + 1 : count;
    struct wsdbg_error *error = NULL;
    for (uint32_t i = first > *beyond ? first : *beyond; !error && i < last; i++)
        error = add_row(tables, spot->row, &(struct wsdbg_code_place){spot->place.function, i});
    *beyond = last;
    return error;
}

struct wsdbg_error *wsdbg_look_code(const struct wsdbg_look_seen *seen, struct wsdbg_look_tables *tables)
{
    struct spot spots[SPOTS_MAX];
    size_t count;
    uint32_t beyond = 0;
    struct wsdbg_error *error = find_spots(seen, tables, spots, &count);
    if (!error)
        qsort(spots, count, sizeof *spots, by_place);
    for (size_t i = 0; !error && i < count; i++) {
        if (i > 0 && spots[i - 1].row != spots[i].row)
            beyond = 0;
        error = add_around(tables, &spots[i], &beyond);
    }
    return error;
}
