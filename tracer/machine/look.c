/* look.c - one look at a machine, from its rows to the rows of a snapshot; see interpret.h, and look.h for what
 * the steps hand on.
 *
 * Reads: a machine and its code.  Writes: a look, which needs neither any more.
 */
#include "machine/look.h"

#include <stdlib.h>
#include <string.h>

enum { READ_NS = 150000000 };

/* What the steps hand on; see look.h. */
struct steps {
    struct wsdbg_look_source source;
    struct wsdbg_look_tables tables;
    struct wsdbg_look_seen seen;
    struct wsdbg_words *words; /* beside the CTAs */
    struct wsdbg_look_operands operands;
    uint32_t *deciding;              /* beside the warps */
    struct wsdbg_families *families; /* beside the grids */
    uint32_t *access_first;          /* likewise */
};

static struct wsdbg_error *make_room(struct steps *steps, struct wsdbg_look *look)
{
    const struct wsdbg_snapshot *rows = &look->found;
    steps->words = calloc(rows->cta_count + 1, sizeof *steps->words);
    steps->operands.parts = calloc(rows->part_count + 1, sizeof *steps->operands.parts);
    steps->operands.warps = calloc(rows->warp_count + 1, sizeof *steps->operands.warps);
    steps->deciding = calloc(rows->warp_count + 1, sizeof *steps->deciding);
    steps->families = calloc(rows->grid_count + 1, sizeof *steps->families);
    steps->access_first = calloc(rows->grid_count + 1, sizeof *steps->access_first);
    look->warps = calloc(rows->warp_count + 1, sizeof *look->warps);
    return steps->words && steps->operands.parts && steps->operands.warps && steps->deciding && steps->families &&
                   steps->access_first && look->warps
               ? NULL
               : &wsdbg_error_no_memory;
}

static void free_room(struct steps *steps)
{
    for (size_t i = 0; steps->words && i < steps->tables.out->cta_count; i++)
        free(steps->words[i].rows);
    free(steps->words);
    free(steps->operands.parts);
    free(steps->operands.warps);
    free(steps->deciding);
    free(steps->families);
    free(steps->access_first);
    free(steps->seen.grids);
    free(steps->seen.ctas);
    free(steps->seen.warps);
    free(steps->seen.parts);
    free(steps->tables.sites);
}

/* What is there, and what the warps wait for. */
static struct wsdbg_error *observe(struct steps *steps, struct wsdbg_look *look)
{
    const struct wsdbg_look_source *source = &steps->source;
    const struct wsdbg_snapshot *rows = &look->found;
    struct wsdbg_error *error = wsdbg_look_rows(source, &steps->tables, &steps->seen);
    if (!error)
        error = make_room(steps, look);
    if (!error)
        error = wsdbg_look_words(source, &steps->seen, rows, steps->words);
    if (!error)
        error = wsdbg_look_reads(source, &steps->seen, steps->words, &steps->tables, &steps->operands);
    if (!error)
        error = wsdbg_look_copies(source, &steps->operands, rows, &steps->seen);
    if (!error)
        error = wsdbg_look_named(source, &steps->seen, rows, &steps->operands);
    if (!error)
        error = wsdbg_look_standing(source, &steps->seen, &steps->operands, rows, look->warps);
    if (!error)
        error = wsdbg_look_waited_words(source, &steps->seen, &steps->operands, rows, steps->words);
    return error;
}

/* What each warp does, and who does what with which barrier. */
static struct wsdbg_error *conclude(struct steps *steps)
{
    const struct wsdbg_look_source *source = &steps->source;
    const struct wsdbg_look_seen *seen = &steps->seen;
    struct wsdbg_look_tables *tables = &steps->tables;
    struct wsdbg_snapshot *out = tables->out;
    struct wsdbg_error *error = wsdbg_look_states(seen, &steps->operands, steps->words, tables, steps->deciding);
    if (!error)
        error = wsdbg_look_writers(source, seen, &steps->operands, tables);
    if (!error)
        error = wsdbg_look_families(source, seen, &steps->operands, steps->words, out, steps->families);
    if (!error)
        error = wsdbg_look_roles(source, seen, tables, steps->families);
    if (!error)
        error =
            wsdbg_look_barriers(source, seen, &steps->operands, steps->families, steps->deciding, steps->words, out);
    if (!error)
        error = wsdbg_look_exceptions(source, seen, tables);
    return error;
}

/* Which instructions could bring what the barriers miss. */
static struct wsdbg_error *look_around(struct steps *steps)
{
    const struct wsdbg_look_seen *seen = &steps->seen;
    struct wsdbg_look_tables *tables = &steps->tables;
    struct wsdbg_error *error = wsdbg_look_accesses(seen, steps->families, tables, steps->access_first);
    if (!error)
        error = wsdbg_look_reaches(&steps->source, seen, steps->deciding, steps->access_first, tables);
    if (!error)
        error = wsdbg_look_early(seen, steps->families, steps->access_first, tables->out);
    if (!error)
        error = wsdbg_look_turns(seen, steps->access_first, tables->out);
    if (!error)
        error = wsdbg_look_polls(seen, steps->access_first, tables->out);
    if (!error)
        error = wsdbg_look_answers(seen, steps->access_first, tables);
    if (!error)
        error = wsdbg_look_walks(&steps->source, seen, steps->access_first, tables);
    if (!error)
        error = wsdbg_look_places(&steps->source, seen, steps->words, tables->out);
    if (!error)
        wsdbg_look_rings(tables->out);
    if (!error)
        error = wsdbg_look_told(tables->out);
    if (!error)
        error = wsdbg_look_code(seen, tables);
    return error;
}

static struct wsdbg_error *finish(const struct steps *steps, struct wsdbg_look *look)
{
    const struct wsdbg_machine *machine = steps->source.machine;
    look->found.notes = calloc(machine->note_count + 1, sizeof *look->found.notes);
    if (!look->found.notes)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < look->found.warp_count; i++)
        look->row.warps += steps->seen.warps[i].machine != WSDBG_NONE;
    if (machine->note_count)
        memcpy(look->found.notes, machine->notes, machine->note_count * sizeof *machine->notes);
    look->found.note_count = machine->note_count;
    look->found.time_ns = look->row.time_ns = machine->time_ns;
    look->found.source = machine->source;
    look->found.names_inferred = look->found.name_count > 0;
    look->row.warps_read = steps->operands.warps_read;
    return NULL;
}

struct wsdbg_error *wsdbg_look_take_within(struct wsdbg_machine *machine, struct wsdbg_code *code,
                                           struct wsdbg_look_budget budget, struct wsdbg_look **out)
{
    struct wsdbg_look *look = calloc(1, sizeof *look);
    if (!look)
        return &wsdbg_error_no_memory;
    struct steps steps = {.source = {machine, code, budget}, .tables.out = &look->found, .seen.machine = machine};
    wsdbg_code_begin(code);
    struct wsdbg_error *error = observe(&steps, look);
    if (!error)
        error = conclude(&steps);
    if (!error)
        error = look_around(&steps);
    if (!error)
        error = finish(&steps, look);
    free_room(&steps);
    if (error) {
        wsdbg_look_destroy(look);
        return error;
    }
    *out = look;
    return NULL;
}

struct wsdbg_error *wsdbg_look_take(struct wsdbg_machine *machine, struct wsdbg_code *code, struct wsdbg_look **out)
{
    return wsdbg_look_take_within(machine, code, (struct wsdbg_look_budget){READ_NS, READ_NS, READ_NS}, out);
}

void wsdbg_look_set_process(struct wsdbg_look *look, uint32_t process_id)
{
    look->row.process_id = process_id;
    for (size_t i = 0; i < look->found.context_count; i++)
        look->found.contexts[i].process_id = process_id;
}

void wsdbg_look_destroy(struct wsdbg_look *look)
{
    if (!look)
        return;
    wsdbg_snapshot_deinit(&look->found);
    free(look->warps);
    free(look);
}
