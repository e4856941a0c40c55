/* look_rows.c - what is there: contexts, grids, CTAs and warps, and of each warp the parts that stand at one place.
 *
 * Reads: a machine's rows and the code at its program counters.  Writes: rows of the snapshot in the order of the
 * ring's (grids by context and id, CTAs by z, y, x, warps by index), exited warps among them, and what stands beside
 * them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"

static struct wsdbg_error *add_contexts(struct wsdbg_looking *looking)
{
    const struct wsdbg_machine *machine = looking->machine;
    looking->out->contexts = calloc(machine->context_count + 1, sizeof *looking->out->contexts);
    if (!looking->out->contexts)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < machine->context_count; i++) {
        struct wsdbg_context *row = &looking->out->contexts[looking->out->context_count++];
        *row = (struct wsdbg_context){.handle = machine->contexts[i].handle, .alive = true};
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
static struct wsdbg_error *add_modules(struct wsdbg_looking *looking)
{
    const struct wsdbg_machine *machine = looking->machine;
    looking->out->modules = calloc(machine->module_count + 1, sizeof *looking->out->modules);
    if (!looking->out->modules)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < machine->module_count; i++)
        looking->out->modules[looking->out->module_count++] = (struct wsdbg_module){
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

static void note_unknown_code(struct wsdbg_looking *looking, const struct wsdbg_machine_grid *grid)
{
    const char *reason = wsdbg_code_reason(looking->code, looking->machine, grid->module);
    wsdbg_machine_note(looking->machine,
                       "the code of grid %" PRIu64 " is not known%s%s: what its warps wait for is not seen",
                       grid->grid_id, *reason ? ", " : "", reason);
}

/* What called functions do to barriers is not in the kernel's accesses. */
static void note_calls(struct wsdbg_looking *looking, const struct wsdbg_code_kernel *kernel)
{
    const struct wsdbg_graph *graph = kernel->function->graph;
    for (uint32_t i = 0; i < wsdbg_graph_block_count(graph); i++) {
        const struct wsdbg_block *block = wsdbg_graph_block(graph, i);
        if (!block->calls || block->callee != UINT32_MAX)
            continue;
        wsdbg_machine_note(looking->machine,
                           "%s calls functions that are not inlined: what they do to barriers is not seen",
                           kernel->function->cubin->name);
        return;
    }
}

/* False: some CTA lies outside the stated size, so the size is wrong.  Driver 580 says 1x1x1 for cooperative grids. */
static bool size_fits(const struct wsdbg_machine *machine, uint32_t machine_row)
{
    const struct wsdbg_machine_grid *grid = &machine->grids[machine_row];
    const uint64_t total = (uint64_t)grid->grid[0] * grid->grid[1] * grid->grid[2];
    for (size_t i = 0; i < machine->cta_count; i++) {
        const struct wsdbg_machine_cta *cta = &machine->ctas[i];
        if (cta->grid == machine_row && (cta->x >= grid->grid[0] || cta->y >= grid->grid[1] || cta->z >= grid->grid[2]))
            return false;
    }
    return total > 0 && total <= UINT32_MAX;
}

static void fill_size(const struct wsdbg_machine *machine, uint32_t machine_row, struct wsdbg_grid *row)
{
    const struct wsdbg_machine_grid *grid = &machine->grids[machine_row];
    if (size_fits(machine, machine_row)) {
        memcpy(row->size, grid->grid, sizeof row->size);
        row->cta_total = grid->grid[0] * grid->grid[1] * grid->grid[2];
    }
    memcpy(row->block, grid->block, sizeof row->block);
    memcpy(row->cluster, grid->cluster, sizeof row->cluster);
}

static struct wsdbg_error *add_grid(struct wsdbg_looking *looking, uint32_t machine_row)
{
    const struct wsdbg_machine_grid *grid = &looking->machine->grids[machine_row];
    struct wsdbg_look_grid *beside = &looking->grids[looking->out->grid_count];
    struct wsdbg_grid *row = &looking->out->grids[looking->out->grid_count++];
    *beside = (struct wsdbg_look_grid){.machine = machine_row};
    *row = (struct wsdbg_grid){
        .context = grid->context,
        .grid_id = grid->grid_id,
        .module = grid->module < looking->out->module_count ? grid->module : WSDBG_NONE,
        .launch = WSDBG_NONE,
        .function = WSDBG_NONE,
        .warps_per_cta = block_warps(grid),
        .running = true,
    };
    fill_size(looking->machine, machine_row, row);
    struct wsdbg_error *error = wsdbg_code_kernel(looking->code, looking->machine, machine_row, &beside->kernel);
    if (!error && !beside->kernel)
        note_unknown_code(looking, grid);
    if (error || !beside->kernel)
        return error;
    note_calls(looking, beside->kernel);
    beside->span_count = wsdbg_words_spans(beside->kernel->accesses, beside->kernel->access_count, beside->spans);
    error = wsdbg_look_function(looking, beside->kernel->function, row->module, &row->function);
    if (!error && grid->registers.known)
        looking->out->functions[row->function].registers = grid->registers;
    return error;
}

static struct wsdbg_error *add_grids(struct wsdbg_looking *looking)
{
    const size_t count = looking->machine->grid_count;
    struct ordered *order = calloc(count + 1, sizeof *order);
    looking->grids = calloc(count + 1, sizeof *looking->grids);
    looking->out->grids = calloc(count + 1, sizeof *looking->out->grids);
    struct wsdbg_error *error = NULL;
    if (!order || !looking->grids || !looking->out->grids)
        error = &wsdbg_error_no_memory;
    size_t listed = 0;
    for (uint32_t i = 0; !error && i < count; i++)
        if (looking->machine->grids[i].context < looking->machine->context_count)
            order[listed++] =
                (struct ordered){looking->machine->grids[i].context, i, looking->machine->grids[i].grid_id};
    if (!error && listed)
        qsort(order, listed, sizeof *order, by_order);
    for (size_t i = 0; !error && i < listed; i++)
        error = add_grid(looking, order[i].row);
    free(order);
    return error;
}

static uint32_t at_least_1(struct wsdbg_optional_u32 value)
{
    return value.known && value.value ? value.value : 1;
}

/* Rank and number of its cluster, x counting fastest. */
static void place_in_cluster(const struct wsdbg_machine_grid *grid, const struct wsdbg_machine_cta *cta,
                             struct wsdbg_cta *row)
{
    const uint32_t at[3] = {cta->x, cta->y, cta->z};
    uint32_t size[3];
    row->cluster_size = 1;
    for (unsigned i = 0; i < 3; i++) {
        size[i] = at_least_1(cta->cluster_size[i].known && cta->cluster_size[i].value ? cta->cluster_size[i]
                                                                                      : grid->cluster[i]);
        row->cluster_size *= size[i];
    }
    for (unsigned i = 3; i-- > 0;) {
        row->cluster_rank = row->cluster_rank * size[i] + at[i] % size[i];
        row->cluster_id = row->cluster_id * (grid->grid[i] / size[i]) + at[i] / size[i];
    }
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
static struct wsdbg_error *part_of(struct wsdbg_looking *looking, uint32_t warp, uint32_t lane,
                                   const struct wsdbg_machine_lane *state, struct wsdbg_part **out)
{
    struct wsdbg_snapshot *snapshot = looking->out;
    const struct wsdbg_machine_wait *wait = wait_of(looking->machine, state);
    for (size_t i = snapshot->warps[warp].part_first; i < snapshot->part_count; i++)
        if (looking->parts[i].pc == state->pc && looking->parts[i].wait == wait) {
            *out = &snapshot->parts[i];
            return NULL;
        }
    const size_t count = snapshot->part_count + 1;
    if (!wsdbg_grow((void **)&snapshot->parts, &looking->capacity.parts, count, sizeof *snapshot->parts) ||
        !wsdbg_grow((void **)&looking->parts, &looking->part_capacity, count, sizeof *looking->parts))
        return &wsdbg_error_no_memory;
    looking->parts[snapshot->part_count] = (struct wsdbg_look_part){.lane = lane, .pc = state->pc, .wait = wait};
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
                                     .gathers = said == WSDBG_WARP_RECONVERGE,
                                     .operands_hold = true};
}

static uint32_t context_of(const struct wsdbg_looking *looking, size_t part)
{
    const uint32_t cta = looking->out->warps[looking->out->parts[part].warp].cta;
    return looking->out->grids[looking->out->ctas[cta].grid].context;
}

/* That of an earlier part where it has the same counter. */
static struct wsdbg_error *find_site(struct wsdbg_looking *looking, uint32_t grid, size_t part)
{
    struct wsdbg_look_part *row = &looking->parts[part];
    uint32_t *recent = &looking->recent[row->pc / WSDBG_INSTRUCTION_BYTES % WSDBG_RECENT_PLACES];
    const size_t earlier = *recent;
    *recent = (uint32_t)part;
    if (earlier < part && looking->parts[earlier].pc == row->pc && looking->parts[earlier].wait == NULL &&
        context_of(looking, earlier) == context_of(looking, part)) {
        row->place = looking->parts[earlier].place;
        row->site = looking->parts[earlier].site;
        return NULL;
    }
    struct wsdbg_error *error =
        wsdbg_code_find(looking->code, looking->machine, looking->grids[grid].machine, row->pc, &row->place);
    if (error || !row->place.function)
        return error;
    return wsdbg_wait_site_find(row->place.function->graph, row->place.instruction, &row->site);
}

/* The code at a part's counter, and what waits there. */
static struct wsdbg_error *locate(struct wsdbg_looking *looking, uint32_t grid, size_t part)
{
    struct wsdbg_look_part *row = &looking->parts[part];
    struct wsdbg_error *error = find_site(looking, grid, part);
    if (!error && row->wait && row->place.function)
        believe_wait(row);
    return error;
}

static struct wsdbg_error *add_parts(struct wsdbg_looking *looking, uint32_t grid, uint32_t warp)
{
    const struct wsdbg_machine_warp *machine_row = &looking->machine->warps[looking->warps[warp].machine];
    struct wsdbg_error *error = NULL;
    looking->out->warps[warp].part_first = (uint32_t)looking->out->part_count;
    for (uint32_t lane = 0; !error && lane < WSDBG_MACHINE_LANES; lane++) {
        struct wsdbg_part *part;
        if (!splits_lanes(machine_row, lane))
            continue;
        error = part_of(looking, warp, lane, &machine_row->lanes[lane], &part);
        if (!error)
            part->lanes |= 1u << lane;
    }
    for (size_t i = looking->out->warps[warp].part_first; !error && i < looking->out->part_count; i++) {
        error = locate(looking, grid, i);
        const struct wsdbg_look_part *part = &looking->parts[i];
        const uint64_t home =
            part->place.function ? part->place.function->cubin->address + (uint64_t)part->site.home * 16 : part->pc;
        for (uint32_t lanes = looking->out->parts[i].lanes; lanes; lanes &= lanes - 1)
            looking->warps[warp].stands += wsdbg_mix(home, (uint64_t)__builtin_ctz(lanes) + 1);
    }
    return error;
}

/* With machine_row WSDBG_NONE a warp that has exited, or of which nothing is known. */
static struct wsdbg_error *add_warp(struct wsdbg_looking *looking, uint32_t cta, uint32_t index, uint32_t machine_row,
                                    bool exited)
{
    struct wsdbg_grid *grid = &looking->out->grids[looking->out->ctas[cta].grid];
    const uint32_t number = (uint32_t)looking->out->warp_count++;
    looking->warps[number] =
        (struct wsdbg_look_warp){.machine = machine_row, .decides = WSDBG_NONE, .sample = WSDBG_NONE};
    looking->out->warps[number] = (struct wsdbg_warp_row){
        .cta = cta,
        .warp = index,
        .state = exited ? WSDBG_WARP_EXITED : WSDBG_WARP_UNKNOWN,
        .barrier = WSDBG_NONE,
        .site = WSDBG_NONE,
        .part_first = (uint32_t)looking->out->part_count,
        .changed_ns = looking->machine->time_ns,
        .last = {.iteration = WSDBG_NO_ITERATION},
    };
    looking->out->ctas[cta].warp_count++;
    *(exited ? &grid->warps_exited : &grid->warps_live) += 1;
    if (machine_row == WSDBG_NONE)
        return NULL;
    looking->out->warps[number].registers_held = looking->machine->warps[machine_row].registers;
    return add_parts(looking, looking->out->ctas[cta].grid, number);
}

/* The CTA's warps by index; one without a row has exited, unless there is a row of which it is not known whose it is.
 */
static struct wsdbg_error *add_warps(struct wsdbg_looking *looking, uint32_t cta)
{
    const struct wsdbg_machine *machine = looking->machine;
    const struct wsdbg_machine_cta *machine_row = &machine->ctas[looking->ctas[cta].machine];
    const uint32_t expected = looking->out->grids[looking->out->ctas[cta].grid].warps_per_cta;
    uint32_t rows[WSDBG_LOOK_WARPS_MAX];
    bool all_known = true;
    memset(rows, 0xff, sizeof rows);
    for (uint32_t i = 0; i < machine_row->warp_count && machine_row->warp_first + i < machine->warp_count; i++) {
        const uint32_t row = machine_row->warp_first + i;
        const uint32_t index = wsdbg_machine_warp_index(machine, &machine->warps[row]);
        if (index < expected)
            rows[index] = row;
        all_known = all_known && index != WSDBG_NONE;
    }
    struct wsdbg_error *error = NULL;
    looking->out->ctas[cta].warp_first = (uint32_t)looking->out->warp_count;
    for (uint32_t i = 0; !error && i < expected; i++)
        error = add_warp(looking, cta, i, rows[i], rows[i] == WSDBG_NONE && all_known);
    return error;
}

static struct wsdbg_error *add_cta(struct wsdbg_looking *looking, uint32_t grid, uint32_t machine_row)
{
    const struct wsdbg_machine_cta *cta = &looking->machine->ctas[machine_row];
    const uint32_t number = (uint32_t)looking->out->cta_count++;
    struct wsdbg_cta *row = &looking->out->ctas[number];
    if (looking->out->grids[grid].cta_count++ == 0)
        looking->out->grids[grid].cta_first = number;
    looking->ctas[number] = (struct wsdbg_look_cta){.machine = machine_row};
    *row = (struct wsdbg_cta){.grid = grid, .x = cta->x, .y = cta->y, .z = cta->z, .sm = wsdbg_known_u32(cta->sm)};
    place_in_cluster(&looking->machine->grids[looking->grids[grid].machine], cta, row);
    return add_warps(looking, number);
}

static struct wsdbg_error *make_room(struct wsdbg_looking *looking)
{
    const struct wsdbg_machine *machine = looking->machine;
    size_t warps = 0;
    for (size_t i = 0; i < machine->cta_count; i++)
        if (machine->ctas[i].grid < machine->grid_count)
            warps += block_warps(&machine->grids[machine->ctas[i].grid]);
    looking->ctas = calloc(machine->cta_count + 1, sizeof *looking->ctas);
    looking->out->ctas = calloc(machine->cta_count + 1, sizeof *looking->out->ctas);
    looking->warps = calloc(warps + 1, sizeof *looking->warps);
    looking->out->warps = calloc(warps + 1, sizeof *looking->out->warps);
    return looking->ctas && looking->out->ctas && looking->warps && looking->out->warps ? NULL : &wsdbg_error_no_memory;
}

static uint64_t place_of(const struct wsdbg_machine_cta *cta)
{
    return (uint64_t)(cta->z & 0xffff) << 48 | (uint64_t)(cta->y & 0xffff) << 32 | cta->x;
}

static struct wsdbg_error *add_ctas(struct wsdbg_looking *looking)
{
    const struct wsdbg_machine *machine = looking->machine;
    struct ordered *order = calloc(machine->cta_count + 1, sizeof *order);
    struct wsdbg_error *error = order ? make_room(looking) : &wsdbg_error_no_memory;
    size_t listed = 0;
    for (uint32_t grid = 0; !error && grid < looking->out->grid_count; grid++)
        for (uint32_t i = 0; i < machine->cta_count; i++)
            if (machine->ctas[i].grid == looking->grids[grid].machine)
                order[listed++] = (struct ordered){grid, i, place_of(&machine->ctas[i])};
    if (!error && listed)
        qsort(order, listed, sizeof *order, by_order);
    for (size_t i = 0; !error && i < listed; i++)
        error = add_cta(looking, order[i].major, order[i].row);
    free(order);
    return error;
}

struct wsdbg_error *wsdbg_look_rows(struct wsdbg_looking *looking)
{
    struct wsdbg_error *error = add_contexts(looking);
    if (!error)
        error = add_modules(looking);
    if (!error)
        error = add_grids(looking);
    return error ? error : add_ctas(looking);
}
