/* look_rows.c - what is there: contexts, grids, CTAs and warps, and of each warp the parts that stand at one place.
 *
 * Reads: a machine's rows and the code at its program counters.  Writes: rows of the snapshot in the order of the
 * ring's (grids by context and id, CTAs by z, y, x, warps by index), exited warps among them, and what stands beside
 * them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"

enum { RECENT_PLACES = 1024 };

struct listing {
    const struct wsdbg_look_source *source;
    struct wsdbg_look_tables *tables;
    struct wsdbg_look_seen *seen;
    struct wsdbg_machine *machine;
    struct wsdbg_snapshot *out;
    uint32_t recent[RECENT_PLACES]; /* parts, by their counters */
    struct wsdbg_look_spins spins;
    uint64_t calls_until_ns; /* when no more stack frames are read */
};

static struct wsdbg_error *add_contexts(struct listing *listing)
{
    const struct wsdbg_machine *machine = listing->machine;
    listing->out->contexts = calloc(machine->context_count + 1, sizeof *listing->out->contexts);
    if (!listing->out->contexts)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < machine->context_count; i++) {
        struct wsdbg_context *row = &listing->out->contexts[listing->out->context_count++];
        *row = (struct wsdbg_context){.handle = machine->contexts[i].handle, .alive = true};
        row->error_grid = machine->contexts[i].error_grid;
        memcpy(row->error_words, machine->contexts[i].error_words, sizeof row->error_words);
        if (machine->contexts[i].device >= machine->device_count)
            continue;
        const struct wsdbg_machine_device *device = &machine->devices[machine->contexts[i].device];
        row->device_ordinal = device->ordinal;
        memcpy(row->device_name, device->name, sizeof row->device_name);
        row->device_name[sizeof row->device_name - 1] = '\0';
        row->sm_count = device->sm_count;
        row->compute_capability = device->compute_capability;
    }
    return NULL;
}

/* Modules are rows of the same number, whether a grid uses them or not. */
static struct wsdbg_error *add_modules(struct listing *listing)
{
    const struct wsdbg_machine *machine = listing->machine;
    listing->out->modules = calloc(machine->module_count + 1, sizeof *listing->out->modules);
    if (!listing->out->modules)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < machine->module_count; i++)
        listing->out->modules[listing->out->module_count++] = (struct wsdbg_module){
            .context = machine->modules[i].context < machine->context_count ? machine->modules[i].context : WSDBG_NONE,
            .row = WSDBG_NONE,
        };
    return NULL;
}

/* Rows of the machine in the order in which the snapshot has them. */
struct ordered {
    uint32_t major, row;
    uint64_t minor;
};

static int by_order(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    if (a->major != b->major)
        return a->major < b->major ? -1 : 1;
    if (a->minor != b->minor)
        return a->minor < b->minor ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static uint32_t block_warps(const struct wsdbg_machine_grid *grid)
{
    const uint64_t threads = (uint64_t)grid->block[0] * grid->block[1] * grid->block[2];
    const uint64_t warps = (threads + WSDBG_MACHINE_LANES - 1) / WSDBG_MACHINE_LANES;
    return warps <= WSDBG_LOOK_WARPS_MAX ? (uint32_t)warps : 0;
}

/* Adds one note for all kernels of the same architecture. */
static void note_architecture(struct wsdbg_machine *machine, const char *what, uint32_t architecture)
{
    char note[sizeof machine->notes[0]];
    snprintf(note, sizeof note, "%s sm_%u: only the code of sm_90 is understood, so what warps wait for is not known",
             what, architecture);
    for (size_t i = 0; i < machine->note_count; i++)
        if (strcmp(machine->notes[i], note) == 0)
            return;
    wsdbg_machine_note(machine, "%s", note);
}

/* Notes that the GPU, or else the code, is of an architecture that is not understood.  A live look does not give the
 * GPU, and an sm_86 may run code for sm_80.  True if it is. */
static bool note_other_architecture(struct listing *listing, const struct wsdbg_machine_grid *grid)
{
    struct wsdbg_machine *machine = listing->machine;
    const uint32_t gpu =
        grid->device < machine->device_count ? machine->devices[grid->device].compute_capability.value : 0;
    const uint32_t code = wsdbg_code_architecture(listing->source->code, machine, grid->module);
    const bool is_other_gpu = gpu && gpu != WSDBG_SASS_ARCHITECTURE;
    const bool is_other_code = code && code != WSDBG_SASS_ARCHITECTURE;
    if (is_other_gpu)
        note_architecture(machine, "the GPU is an", gpu);
    else if (is_other_code)
        note_architecture(machine, "the kernel is code for", code);
    return is_other_gpu || is_other_code;
}

static void note_unknown_code(struct listing *listing, const struct wsdbg_machine_grid *grid)
{
    const bool is_other = note_other_architecture(listing, grid);
    const char *reason = wsdbg_code_reason(listing->source->code, listing->machine, grid->module);
    if (is_other && !*reason)
        return;
    wsdbg_machine_note(listing->machine,
                       "the code of grid %" PRIu64 " is not known%s%s: what its warps wait for is not seen",
                       grid->grid_id, *reason ? ", " : "", reason);
}

/* Code that is not decoded has no kernel here, but its function has a name. */
static struct wsdbg_error *name_kernel(struct listing *listing, const struct wsdbg_look_grid *beside,
                                       struct wsdbg_grid *row)
{
    const struct wsdbg_machine_grid *grid = &listing->machine->grids[beside->machine];
    struct wsdbg_code_place entry = {0};
    struct wsdbg_error *error =
        beside->kernel || !grid->function_entry
            ? NULL
            : wsdbg_code_locate(listing->source->code, listing->machine, beside->machine, grid->function_entry, &entry);
    const struct wsdbg_code_function *function = beside->kernel ? beside->kernel->function : entry.function;
    if (error || !function)
        return error;
    error = wsdbg_look_function(listing->tables, function->cubin, row->module, &row->function);
    if (!error && grid->registers.known)
        listing->out->functions[row->function].registers = grid->registers;
    return error;
}

/* What called functions do to barriers is not in the kernel's accesses. */
static void note_calls(struct listing *listing, const struct wsdbg_code_kernel *kernel)
{
    const struct wsdbg_graph *graph = kernel->function->graph;
    for (uint32_t i = 0; i < wsdbg_graph_block_count(graph); i++) {
        const struct wsdbg_block *block = wsdbg_graph_block(graph, i);
        if (!block->calls || block->callee != UINT32_MAX)
            continue;
        wsdbg_machine_note(listing->machine,
                           "%s calls functions that are not inlined: what they do to barriers is not seen",
                           kernel->function->cubin->name);
        return;
    }
}

static void fill_size(const struct wsdbg_machine *machine, uint32_t machine_row, struct wsdbg_grid *row)
{
    const struct wsdbg_machine_grid *grid = &machine->grids[machine_row];
    if (wsdbg_look_size_fits(machine, machine_row)) {
        memcpy(row->size, grid->grid, sizeof row->size);
        row->cta_total = grid->grid[0] * grid->grid[1] * grid->grid[2];
    }
    memcpy(row->block, grid->block, sizeof row->block);
    memcpy(row->cluster, grid->cluster, sizeof row->cluster);
}

static struct wsdbg_error *add_grid(struct listing *listing, uint32_t machine_row)
{
    const struct wsdbg_machine_grid *grid = &listing->machine->grids[machine_row];
    struct wsdbg_look_grid *beside = &listing->seen->grids[listing->out->grid_count];
    struct wsdbg_grid *row = &listing->out->grids[listing->out->grid_count++];
    *beside = (struct wsdbg_look_grid){.machine = machine_row};
    *row = (struct wsdbg_grid){
        .context = grid->context,
        .grid_id = grid->grid_id,
        .module = grid->module < listing->out->module_count ? grid->module : WSDBG_NONE,
        .launch = WSDBG_NONE,
        .function = WSDBG_NONE,
        .warps_per_cta = block_warps(grid),
        .running = true,
    };
    fill_size(listing->machine, machine_row, row);
    struct wsdbg_error *error =
        wsdbg_code_kernel(listing->source->code, listing->machine, machine_row, &beside->kernel);
    if (!error)
        error = name_kernel(listing, beside, row);
    if (!error && !beside->kernel)
        note_unknown_code(listing, grid);
    if (error || !beside->kernel)
        return error;
    note_calls(listing, beside->kernel);
    beside->span_count = wsdbg_words_spans(beside->kernel->accesses, beside->kernel->access_count, beside->spans);
    return NULL;
}

static struct wsdbg_error *add_grids(struct listing *listing)
{
    const size_t count = listing->machine->grid_count;
    struct ordered *order = calloc(count + 1, sizeof *order);
    listing->seen->grids = calloc(count + 1, sizeof *listing->seen->grids);
    listing->out->grids = calloc(count + 1, sizeof *listing->out->grids);
    struct wsdbg_error *error = NULL;
    if (!order || !listing->seen->grids || !listing->out->grids)
        error = &wsdbg_error_no_memory;
    size_t listed = 0;
    for (uint32_t i = 0; !error && i < count; i++)
        if (listing->machine->grids[i].context < listing->machine->context_count)
            order[listed++] =
                (struct ordered){listing->machine->grids[i].context, i, listing->machine->grids[i].grid_id};
    if (!error && listed)
        qsort(order, listed, sizeof *order, by_order);
    for (size_t i = 0; !error && i < listed; i++)
        error = add_grid(listing, order[i].row);
    free(order);
    return error;
}

static bool splits_lanes(const struct wsdbg_machine_warp *warp, uint32_t lane)
{
    const uint32_t gone = warp->exited_lanes.known ? warp->exited_lanes.value : 0;
    return (warp->valid_lanes & ~gone) >> lane & 1;
}

static const struct wsdbg_machine_wait *wait_of(const struct wsdbg_machine *machine,
                                                const struct wsdbg_machine_lane *lane)
{
    return lane->wait && lane->wait <= machine->wait_count ? &machine->waits[lane->wait - 1] : NULL;
}

/* The part of the warp with the lane's PC and wait, added where it is new. */
static struct wsdbg_error *part_of(struct listing *listing, uint32_t warp, uint32_t lane,
                                   const struct wsdbg_machine_lane *state, struct wsdbg_part **out)
{
    struct wsdbg_snapshot *snapshot = listing->out;
    const struct wsdbg_machine_wait *wait = wait_of(listing->machine, state);
    for (size_t i = snapshot->warps[warp].part_first; i < snapshot->part_count; i++)
        if (listing->seen->parts[i].pc == state->pc && listing->seen->parts[i].wait == wait) {
            *out = &snapshot->parts[i];
            return NULL;
        }
    const size_t count = snapshot->part_count + 1;
    if (!wsdbg_grow((void **)&snapshot->parts, &listing->tables->capacity.parts, count, sizeof *snapshot->parts) ||
        !wsdbg_grow((void **)&listing->seen->parts, &listing->seen->part_capacity, count, sizeof *listing->seen->parts))
        return &wsdbg_error_no_memory;
    listing->seen->parts[snapshot->part_count] = (struct wsdbg_look_part){.lane = lane, .pc = state->pc, .wait = wait};
    *out = &snapshot->parts[snapshot->part_count++];
    **out = (struct wsdbg_part){.warp = warp, .site = WSDBG_NONE, .barrier = WSDBG_NONE};
    snapshot->warps[warp].part_count++;
    return NULL;
}

/* The source's word against what the code says: a poll, and a wait behind a BAR, the code tells more exactly. */
static void believe_wait(struct wsdbg_look_part *part)
{
    const enum wsdbg_warp_state said = part->wait->state;
    struct wsdbg_wait_site *site = &part->site;
    if (said == WSDBG_WARP_WAIT_NAMED)
        return;
    if (said == WSDBG_WARP_SPIN_GLOBAL && wsdbg_warp_state_polls(site->state)) {
        site->barrier_before = WSDBG_NO_INSTRUCTION;
        return;
    }
    *site = (struct wsdbg_wait_site){.state = said,
                                     .instruction = part->place.instruction,
                                     .home = part->place.instruction,
                                     .barrier_before = WSDBG_NO_INSTRUCTION,
                                     .of_several = part->wait->of_several,
                                     .gathers = said == WSDBG_WARP_RECONVERGE,
                                     .operands_hold = true};
}

static uint32_t context_of(const struct listing *listing, size_t part)
{
    const uint32_t cta = listing->out->warps[listing->out->parts[part].warp].cta;
    return listing->out->grids[listing->out->ctas[cta].grid].context;
}

/* The kernel's own place of a part that stands in a function which the kernel calls. */
static struct wsdbg_error *find_copy(struct listing *listing, uint32_t grid, size_t part)
{
    struct wsdbg_look_part *row = &listing->seen->parts[part];
    const struct wsdbg_look_grid *beside = &listing->seen->grids[grid];
    const uint32_t warp = listing->seen->warps[listing->out->parts[part].warp].machine;
    const struct wsdbg_look_part before = *row;
    struct wsdbg_error *error = wsdbg_look_first_copy(beside->kernel, row);
    row->was_asked = row->copies > 1;
    if (error || !row->was_asked || wsdbg_look_now_ns() >= listing->calls_until_ns)
        return error;
    *row = before;
    row->was_asked = true;
    return wsdbg_look_called_copy(listing->source, beside->kernel, beside->machine, warp,
                                  listing->out->parts[part].lanes, row);
}

/* That of an earlier part where it has the same counter. */
static struct wsdbg_error *find_site(struct listing *listing, uint32_t grid, size_t part)
{
    struct wsdbg_look_part *row = &listing->seen->parts[part];
    uint32_t *recent = &listing->recent[row->pc / WSDBG_INSTRUCTION_BYTES % RECENT_PLACES];
    const size_t earlier = *recent;
    *recent = (uint32_t)part;
    if (earlier < part && listing->seen->parts[earlier].pc == row->pc && listing->seen->parts[earlier].wait == NULL &&
        !listing->seen->parts[earlier].spin.is_found && context_of(listing, earlier) == context_of(listing, part) &&
        !listing->seen->parts[earlier].was_asked) { /* lanes at one counter may have been called from several places */
        const struct wsdbg_look_part *other = &listing->seen->parts[earlier];
        row->named = other->named;
        row->place = other->place;
        row->site = other->site;
        row->own = other->own;
        row->copy = other->copy;
        row->copies = other->copies;
        row->calls = other->calls;
        row->was_asked = other->was_asked;
        row->spin.is_known_not_to = other->spin.is_known_not_to;
        return NULL;
    }
    struct wsdbg_error *error = wsdbg_code_locate(listing->source->code, listing->machine,
                                                  listing->seen->grids[grid].machine, row->pc, &row->named);
    if (error || !wsdbg_code_is_decoded(&row->named))
        return error;
    row->place = row->named;
    error = find_copy(listing, grid, part);
    if (error)
        return error;
    error = wsdbg_wait_sites_find(row->place.function->sites, row->place.instruction, &row->site);
    if (row->are_apart) { /* each of its lanes may wait for something else */
        row->site.state = WSDBG_WARP_UNKNOWN;
        row->site.barrier_before = WSDBG_NO_INSTRUCTION;
    }
    return error;
}

/* The code at a part's counter, and what waits there. */
static struct wsdbg_error *locate(struct listing *listing, uint32_t grid, size_t part)
{
    struct wsdbg_look_part *row = &listing->seen->parts[part];
    const uint32_t warp = listing->out->parts[part].warp;
    struct wsdbg_error *error = find_site(listing, grid, part);
    if (!error && row->wait && row->place.function)
        believe_wait(row);
    else if (!error && row->place.function)
        error = wsdbg_look_spin(listing->machine, listing->seen->warps[warp].machine,
                                &listing->out->ctas[listing->out->warps[warp].cta], &listing->spins, row);
    return error;
}

/* A name for these lanes at one home. */
static uint64_t sum_of_lanes(uint64_t home, uint32_t lanes)
{
    uint64_t sum = 0;
    for (; lanes; lanes &= lanes - 1)
        sum += wsdbg_mix(home, (uint64_t)__builtin_ctz(lanes) + 1);
    return sum;
}

/* What a function waits for depends on who called it.  A loop may call functions, and begin in their caller. */
static void add_home(struct wsdbg_look_warp *warp, const struct wsdbg_look_part *part, uint64_t home, uint32_t lanes)
{
    const bool is_joined = part->place.function && part->place.function->joined;
    const uint64_t called = is_joined ? wsdbg_mix(home, part->site.home) : home;
    warp->is_copy_open |= part->copies > 1;
    warp->stands += sum_of_lanes(called, lanes);
    warp->places += sum_of_lanes(home, lanes);
}

/* Where it is not known who called the function in which all lanes of a warp stand together. */
static struct wsdbg_error *add_homes(struct listing *listing, uint32_t grid, uint32_t warp)
{
    struct wsdbg_look_warp *row = &listing->seen->warps[warp];
    const uint32_t first = listing->out->warps[warp].part_first;
    struct wsdbg_look_homes homes;
    if (!row->is_copy_open || listing->out->warps[warp].part_count != 1)
        return NULL;
    struct wsdbg_error *error =
        wsdbg_look_copy_homes(listing->seen->grids[grid].kernel, &listing->seen->parts[first], &homes);
    row->may_be_count = error ? 0 : homes.count;
    for (uint32_t i = 0; i < row->may_be_count; i++)
        row->may_be[i] = sum_of_lanes(homes.addresses[i], listing->out->parts[first].lanes);
    return error;
}

static struct wsdbg_error *add_parts(struct listing *listing, uint32_t grid, uint32_t warp)
{
    const struct wsdbg_machine_warp *machine_row = &listing->machine->warps[listing->seen->warps[warp].machine];
    struct wsdbg_error *error = NULL;
    listing->out->warps[warp].part_first = (uint32_t)listing->out->part_count;
    for (uint32_t lane = 0; !error && lane < WSDBG_MACHINE_LANES; lane++) {
        struct wsdbg_part *part;
        if (!splits_lanes(machine_row, lane))
            continue;
        error = part_of(listing, warp, lane, &machine_row->lanes[lane], &part);
        if (!error)
            part->lanes |= 1u << lane;
    }
    for (size_t i = listing->out->warps[warp].part_first; !error && i < listing->out->part_count; i++) {
        error = locate(listing, grid, i);
        const struct wsdbg_look_part *part = &listing->seen->parts[i];
        const struct wsdbg_code_place at = {part->place.function, part->site.home};
        const uint64_t home = at.function ? wsdbg_code_address(&at) : part->pc;
        add_home(&listing->seen->warps[warp], part, home, listing->out->parts[i].lanes);
    }
    return error ? error : add_homes(listing, grid, warp);
}

/* With machine_row WSDBG_NONE a warp that has exited, or of which nothing is known. */
static struct wsdbg_error *add_warp(struct listing *listing, uint32_t cta, uint32_t index, uint32_t machine_row,
                                    bool exited)
{
    struct wsdbg_grid *grid = &listing->out->grids[listing->out->ctas[cta].grid];
    const uint32_t number = (uint32_t)listing->out->warp_count++;
    listing->seen->warps[number] = (struct wsdbg_look_warp){.machine = machine_row};
    listing->out->warps[number] = (struct wsdbg_warp_row){
        .cta = cta,
        .warp = index,
        .state = exited ? WSDBG_WARP_EXITED : WSDBG_WARP_UNKNOWN,
        .barrier = WSDBG_NONE,
        .site = WSDBG_NONE,
        .part_first = (uint32_t)listing->out->part_count,
        .changed_ns = listing->machine->time_ns,
        .last = {.iteration = WSDBG_NO_ITERATION},
    };
    listing->out->ctas[cta].warp_count++;
    *(exited ? &grid->warps_exited : &grid->warps_live) += 1;
    if (machine_row == WSDBG_NONE)
        return NULL;
    listing->out->warps[number].registers_held = listing->machine->warps[machine_row].registers;
    return add_parts(listing, listing->out->ctas[cta].grid, number);
}

/* The CTA's warps by index; one without a row has exited, unless there is a row of which it is not known whose it is.
 */
static struct wsdbg_error *add_warps(struct listing *listing, uint32_t cta)
{
    const struct wsdbg_machine *machine = listing->machine;
    const uint32_t cta_row = listing->seen->ctas[cta].machine;
    const uint32_t first = cta_row == WSDBG_NONE ? 0 : machine->ctas[cta_row].warp_first;
    const uint32_t count = cta_row == WSDBG_NONE ? 0 : machine->ctas[cta_row].warp_count;
    const uint32_t expected = listing->out->grids[listing->out->ctas[cta].grid].warps_per_cta;
    uint32_t rows[WSDBG_LOOK_WARPS_MAX];
    bool all_known = true;
    memset(rows, 0xff, sizeof rows);
    for (uint32_t row = first; row < first + count && row < machine->warp_count; row++) {
        const uint32_t index = wsdbg_machine_warp_index(machine, &machine->warps[row]);
        if (index < expected)
            rows[index] = row;
        all_known = all_known && index != WSDBG_NONE;
    }
    struct wsdbg_error *error = NULL;
    listing->out->ctas[cta].warp_first = (uint32_t)listing->out->warp_count;
    for (uint32_t i = 0; !error && i < expected; i++)
        error = add_warp(listing, cta, i, rows[i], rows[i] == WSDBG_NONE && all_known);
    return error;
}

static struct wsdbg_error *add_cta(struct listing *listing, const struct wsdbg_look_seat *seat)
{
    const struct wsdbg_machine *machine = listing->machine;
    const struct wsdbg_machine_cta *sibling = &machine->ctas[seat->sibling];
    const uint32_t number = (uint32_t)listing->out->cta_count++, grid = seat->grid;
    struct wsdbg_cta *row = &listing->out->ctas[number];
    if (listing->out->grids[grid].cta_count++ == 0)
        listing->out->grids[grid].cta_first = number;
    listing->seen->ctas[number] =
        (struct wsdbg_look_cta){.machine = seat->has_left ? WSDBG_NONE : seat->sibling, .sibling = seat->sibling};
    *row = (struct wsdbg_cta){.grid = grid, .x = seat->at[0], .y = seat->at[1], .z = seat->at[2]};
    if (!seat->has_left)
        row->sm = wsdbg_known_u32(sibling->sm);
    wsdbg_look_place_in_cluster(&machine->grids[listing->seen->grids[grid].machine], sibling, row);
    return add_warps(listing, number);
}

static struct wsdbg_error *make_room(struct listing *listing, const struct wsdbg_look_seats *seats)
{
    size_t warps = 0;
    for (size_t i = 0; i < seats->count; i++)
        warps += listing->out->grids[seats->rows[i].grid].warps_per_cta;
    listing->seen->ctas = calloc(seats->count + 1, sizeof *listing->seen->ctas);
    listing->out->ctas = calloc(seats->count + 1, sizeof *listing->out->ctas);
    listing->seen->warps = calloc(warps + 1, sizeof *listing->seen->warps);
    listing->out->warps = calloc(warps + 1, sizeof *listing->out->warps);
    return listing->seen->ctas && listing->out->ctas && listing->seen->warps && listing->out->warps
               ? NULL
               : &wsdbg_error_no_memory;
}

static struct wsdbg_error *add_ctas(struct listing *listing)
{
    struct wsdbg_look_seats seats = {0};
    struct wsdbg_error *error = NULL;
    for (uint32_t grid = 0; !error && grid < listing->out->grid_count; grid++)
        error = wsdbg_look_seats_add(listing->machine, grid, listing->seen->grids[grid].machine, &seats);
    if (!error)
        error = make_room(listing, &seats);
    for (size_t i = 0; !error && i < seats.count; i++)
        error = add_cta(listing, &seats.rows[i]);
    free(seats.rows);
    return error;
}

struct wsdbg_error *wsdbg_look_rows(const struct wsdbg_look_source *source, struct wsdbg_look_tables *tables,
                                    struct wsdbg_look_seen *seen)
{
    struct listing listing = {.source = source,
                              .tables = tables,
                              .seen = seen,
                              .machine = source->machine,
                              .out = tables->out,
                              .calls_until_ns = wsdbg_look_now_ns() + source->budget.states_ns / 2};
    struct wsdbg_error *error = add_contexts(&listing);
    if (!error)
        error = add_modules(&listing);
    if (!error)
        error = add_grids(&listing);
    if (!error)
        error = add_ctas(&listing);
    wsdbg_look_spins_destroy(&listing.spins);
    return error;
}
