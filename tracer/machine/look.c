/* look.c - one look at a machine, from its rows to the rows of a snapshot; see interpret.h and look.h.
 *
 * Reads: a machine and its code.  Writes: a look, which needs neither any more.
 */
#include "machine/look.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { READ_NS = 150000000 };

static void free_beside(struct wsdbg_looking *looking)
{
    for (size_t i = 0; looking->ctas && i < looking->out->cta_count; i++)
        free(looking->ctas[i].words.rows);
    wsdbg_look_forget_loops(looking);
    wsdbg_look_forget_ways(looking);
    for (size_t i = 0; looking->grids && i < looking->out->grid_count; i++)
        free(looking->grids[i].by_id);
    free(looking->grids);
    free(looking->ctas);
    free(looking->warps);
    free(looking->parts);
    free(looking->sites);
}

static struct wsdbg_error *look_at(struct wsdbg_looking *looking)
{
    static struct wsdbg_error *(*const steps[])(struct wsdbg_looking *) = {
        wsdbg_look_rows,    wsdbg_look_words,    wsdbg_look_reads,   wsdbg_look_samples,  wsdbg_look_states,
        wsdbg_look_writers, wsdbg_look_families, wsdbg_look_roles,   wsdbg_look_barriers, wsdbg_look_exceptions,
        wsdbg_look_reaches, wsdbg_look_early,    wsdbg_look_answers, wsdbg_look_code,
    };
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < sizeof steps / sizeof *steps; i++)
        error = steps[i](looking);
    return error;
}

static struct wsdbg_error *finish(struct wsdbg_looking *looking, struct wsdbg_look *look)
{
    const struct wsdbg_machine *machine = looking->machine;
    look->warps = calloc(look->found.warp_count + 1, sizeof *look->warps);
    look->found.notes = calloc(machine->note_count + 1, sizeof *look->found.notes);
    if (!look->warps || !look->found.notes)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < look->found.warp_count; i++) {
        const struct wsdbg_look_warp *warp = &looking->warps[i];
        look->warps[i] = (struct wsdbg_look_moved){.stands = warp->stands,
                                                   .wants = warp->wants,
                                                   .wants_known = warp->wants_known,
                                                   .explained = wsdbg_look_explains(looking, (uint32_t)i),
                                                   .sample = warp->sample,
                                                   .registers = warp->registers,
                                                   .registers_known = warp->registers_known};
        look->row.warps += warp->machine != WSDBG_NONE;
    }
    if (machine->note_count)
        memcpy(look->found.notes, machine->notes, machine->note_count * sizeof *machine->notes);
    look->found.note_count = machine->note_count;
    look->found.time_ns = look->row.time_ns = machine->time_ns;
    look->found.source = machine->source;
    look->found.names_inferred = look->found.name_count > 0;
    look->row.warps_read = looking->warps_read;
    return NULL;
}

struct wsdbg_error *wsdbg_look_take_within(struct wsdbg_machine *machine, struct wsdbg_code *code,
                                           struct wsdbg_look_budget budget, struct wsdbg_look **out)
{
    struct wsdbg_looking *looking = calloc(1, sizeof *looking);
    struct wsdbg_look *look = calloc(1, sizeof *look);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (looking && look) {
        *looking = (struct wsdbg_looking){.machine = machine, .code = code, .out = &look->found, .budget = budget};
        wsdbg_code_begin(code);
        error = look_at(looking);
        if (!error)
            error = finish(looking, look);
        free_beside(looking);
    }
    free(looking);
    if (error) {
        if (look)
            wsdbg_look_destroy(look);
        return error;
    }
    *out = look;
    return NULL;
}

struct wsdbg_error *wsdbg_look_take(struct wsdbg_machine *machine, struct wsdbg_code *code, struct wsdbg_look **out)
{
    return wsdbg_look_take_within(machine, code, (struct wsdbg_look_budget){READ_NS, READ_NS}, out);
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
