/* look_copies.c - in which copy of a function a part of a warp stands: a kernel's graph has one for each call.
 *
 * Reads: the copies of each place, what parts wait for, which warps come to which instruction.  Writes: places and wait
 * sites of parts.
 *
 * A program counter tells the function only.  The stack frames of the part's first lane tell the calls; where those of
 * other lanes tell others, nothing more is said of the part.  Where they are not known, what the part waits for, and
 * which copies its threads can come to, mostly leave one of them.  Otherwise the part has the first one that is left.
 */
#include "machine/look_calls.h"

enum { COPIES_MOST = 256 };

struct copies {
    struct wsdbg_joined_place places[COPIES_MOST];
    size_t count;
};

/* `own`: in the function's own code. */
static void find_copies(const struct wsdbg_code_function *kernel, const struct wsdbg_code_place *own,
                        struct copies *out)
{
    uint32_t number;
    const struct wsdbg_cubin_function *function = wsdbg_code_origin(own, &number);
    out->count = wsdbg_joined_places(kernel->joined, function, number, out->places, COPIES_MOST);
    if (out->count > COPIES_MOST)
        out->count = 0;
}

/* Whether the copy was called as the calls say, as far as they are known. */
static bool was_called_so(const struct wsdbg_joined *joined, uint32_t copy, const struct wsdbg_look_calls *calls)
{
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct wsdbg_joined_copy *row = &joined->copies[copy];
        if (row->caller == WSDBG_GRAPH_NONE || row->call != calls->rows[i].call ||
            joined->copies[row->caller].function != calls->rows[i].function)
            return false;
        copy = row->caller;
    }
    return true;
}

/* Leaves the copies that were called so; false: there are none, and all are left. */
static bool keep_called(const struct wsdbg_joined *joined, const struct wsdbg_look_calls *calls, struct copies *copies)
{
    size_t kept = 0;
    for (size_t i = 0; i < copies->count; i++)
        if (was_called_so(joined, copies->places[i].copy, calls))
            copies->places[kept++] = copies->places[i];
    copies->count = kept ? kept : copies->count;
    return kept > 0;
}

static void take(const struct wsdbg_code_function *kernel, struct wsdbg_joined_place place,
                 struct wsdbg_look_part *part)
{
    part->place = part->named = (struct wsdbg_code_place){kernel, place.instruction};
    part->copy = place.copy;
}

struct wsdbg_error *wsdbg_look_first_copy(const struct wsdbg_code_kernel *kernel, struct wsdbg_look_part *part)
{
    struct copies copies = {.count = 0};
    part->copies = 0;
    if (!kernel || !kernel->function->joined || part->place.function == kernel->function)
        return NULL;
    find_copies(kernel->function, &part->place, &copies);
    if (!copies.count)
        return NULL;
    part->own = part->place;
    take(kernel->function, copies.places[0], part);
    part->copies = (uint32_t)copies.count;
    return NULL;
}

/* As far as the calls of both are known. */
static bool are_same_calls(const struct wsdbg_look_calls *one, const struct wsdbg_look_calls *other)
{
    for (uint32_t i = 0; i < one->count && i < other->count; i++)
        if (one->rows[i].function != other->rows[i].function || one->rows[i].call != other->rows[i].call)
            return false;
    return true;
}

/* Lanes that may have come another way than the first one.  Those that are active came together; of the others that is
 * not known, and to read a lane's registers takes a millisecond: the first and the last of them are asked.  Those that
 * wait for other lanes wait for nothing else. */
static uint32_t others_to_ask(const struct wsdbg_machine_warp *warp, const struct wsdbg_look_part *part, uint32_t lanes)
{
    const struct wsdbg_instruction *at = wsdbg_graph_instruction(part->own.function->graph, part->own.instruction);
    const bool meets = at->operation == WSDBG_OP_BSYNC || at->operation == WSDBG_OP_WARPSYNC;
    const uint32_t active = lanes & warp->active_lanes, idle = lanes & ~warp->active_lanes;
    uint32_t asked = active & -active;
    if (idle && !meets)
        asked |= (idle & -idle) | UINT32_C(1) << (31 - __builtin_clz(idle));
    return asked & ~(UINT32_C(1) << part->lane);
}

static struct wsdbg_error *compare_lanes(const struct wsdbg_look_source *source,
                                         const struct wsdbg_code_function *kernel, struct wsdbg_look_stand stand,
                                         uint32_t lanes, const struct wsdbg_look_calls *first,
                                         struct wsdbg_look_part *part)
{
    struct wsdbg_error *error = NULL;
    uint32_t others = others_to_ask(&source->machine->warps[stand.warp], part, lanes);
    for (; !error && others && !part->are_apart; others &= others - 1) {
        struct wsdbg_look_calls calls;
        stand.lane = (uint32_t)__builtin_ctz(others);
        error = wsdbg_look_calls(source, &stand, kernel, &calls);
        part->are_apart = !error && !are_same_calls(first, &calls);
    }
    return error;
}

struct wsdbg_error *wsdbg_look_called_copy(const struct wsdbg_look_source *source,
                                           const struct wsdbg_code_kernel *kernel, uint32_t grid, uint32_t warp,
                                           uint32_t lanes, struct wsdbg_look_part *part)
{
    struct copies copies = {.count = 0};
    struct wsdbg_look_calls calls;
    const struct wsdbg_look_stand stand = {grid, warp, part->lane, part->place};
    struct wsdbg_error *error = wsdbg_look_first_copy(kernel, part);
    if (error || part->copies <= 1)
        return error;
    error = wsdbg_look_calls(source, &stand, kernel->function, &calls);
    if (!error)
        error = compare_lanes(source, kernel->function, stand, lanes, &calls, part);
    if (error || !calls.count || part->are_apart)
        return error;
    find_copies(kernel->function, &part->own, &copies);
    part->calls = keep_called(kernel->function->joined, &calls, &copies) ? calls.count : 0;
    take(kernel->function, copies.places[0], part);
    part->copies = (uint32_t)copies.count;
    return NULL;
}

/* Whether the last `calls` calls that led to two copies of a function are the same. */
static bool are_called_alike(const struct wsdbg_joined *joined, uint32_t one, uint32_t other, uint32_t calls)
{
    for (; calls && one != WSDBG_GRAPH_NONE && other != WSDBG_GRAPH_NONE; calls--) {
        if (joined->copies[one].call != joined->copies[other].call)
            return false;
        one = joined->copies[one].caller;
        other = joined->copies[other].caller;
        if (one != WSDBG_GRAPH_NONE && other != WSDBG_GRAPH_NONE &&
            joined->copies[one].function != joined->copies[other].function)
            return false;
    }
    return true;
}

static bool has_home(const struct wsdbg_look_homes *homes, uint64_t address)
{
    for (uint32_t i = 0; i < homes->count; i++)
        if (homes->addresses[i] == address)
            return true;
    return false;
}

struct wsdbg_error *wsdbg_look_copy_homes(const struct wsdbg_code_kernel *kernel, const struct wsdbg_look_part *part,
                                          struct wsdbg_look_homes *out)
{
    const struct wsdbg_code_function *function = kernel->function;
    struct copies copies = {.count = 0};
    struct wsdbg_error *error = NULL;
    out->count = 0;
    find_copies(function, &part->own, &copies);
    for (size_t i = 0; !error && i < copies.count && out->count < WSDBG_LOOK_HOMES_MOST; i++) {
        struct wsdbg_wait_site site;
        if (!are_called_alike(function->joined, part->copy, copies.places[i].copy, part->calls))
            continue;
        error = wsdbg_wait_sites_find(function->sites, copies.places[i].instruction, &site);
        const struct wsdbg_code_place home = {function, error ? 0 : site.home};
        if (!error && !has_home(out, wsdbg_code_address(&home)))
            out->addresses[out->count++] = wsdbg_code_address(&home);
    }
    return error;
}

static const struct wsdbg_access *access_at(const struct wsdbg_code_kernel *kernel, uint32_t instruction, size_t *at)
{
    for (*at = 0; *at < kernel->access_count; ++*at)
        if (kernel->accesses[*at].instruction == instruction)
            return &kernel->accesses[*at];
    return NULL;
}

static bool may_name(const struct wsdbg_value_set *set, uint32_t value)
{
    if (!set->known)
        return true;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->base + i * set->stride == value)
            return true;
    return set->count == 0;
}

/* What decides between the copies. */
struct choice {
    const struct wsdbg_code_kernel *kernel;
    const struct wsdbg_part_operands *operands;
    const uint64_t *comers; /* NULL = not known */
    uint32_t warp;          /* in its CTA */
};

static bool fits(const struct choice *choice, const struct wsdbg_wait_site *site)
{
    size_t number;
    const struct wsdbg_part_operands *operands = choice->operands;
    const bool waits = site->state == WSDBG_WARP_WAIT_MBARRIER;
    const uint32_t at = waits ? site->instruction : site->barrier_before;
    const struct wsdbg_access *access = access_at(choice->kernel, at, &number);
    if (!access)
        return true;
    if (choice->comers && !(choice->comers[number] >> choice->warp & 1))
        return false;
    if (waits)
        return !operands->resolved || access->is_any_rank ||
               may_name(&access->address, operands->mbarrier & WSDBG_OFFSET_MASK);
    return !operands->bar_known || may_name(&access->address, operands->bar_id);
}

/* Takes the first copy that fits. */
static struct wsdbg_error *choose(const struct choice *choice, struct wsdbg_look_part *part)
{
    struct copies copies;
    size_t fitting = 0;
    struct wsdbg_look_part first = *part;
    find_copies(choice->kernel->function, &part->own, &copies);
    for (size_t i = 0; i < copies.count; i++) {
        struct wsdbg_look_part other = *part;
        if (!are_called_alike(choice->kernel->function->joined, part->copy, copies.places[i].copy, part->calls))
            continue;
        take(choice->kernel->function, copies.places[i], &other);
        struct wsdbg_error *error =
            wsdbg_wait_sites_find(choice->kernel->function->sites, copies.places[i].instruction, &other.site);
        if (error)
            return error;
        if (other.site.state != part->site.state || !fits(choice, &other.site))
            continue;
        if (!fitting++)
            first = other;
    }
    if (fitting)
        *part = first;
    part->copies = fitting ? (uint32_t)fitting : part->copies;
    return NULL;
}

static struct wsdbg_error *choose_for(const struct wsdbg_look_source *source,
                                      const struct wsdbg_look_operands *operands, const struct wsdbg_snapshot *rows,
                                      uint32_t number, struct wsdbg_look_seen *seen)
{
    const struct wsdbg_warp_row *warp = &rows->warps[rows->parts[number].warp];
    const struct wsdbg_look_grid *grid = &seen->grids[rows->ctas[warp->cta].grid];
    struct choice choice = {grid->kernel, &operands->parts[number], NULL, warp->warp};
    struct wsdbg_error *error = wsdbg_code_comers(source->machine, grid->machine, grid->kernel, &choice.comers);
    return error ? error : choose(&choice, &seen->parts[number]);
}

struct wsdbg_error *wsdbg_look_copies(const struct wsdbg_look_source *source,
                                      const struct wsdbg_look_operands *operands, const struct wsdbg_snapshot *rows,
                                      struct wsdbg_look_seen *seen)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < rows->part_count; i++)
        if (seen->parts[i].copies > 1 && !seen->parts[i].wait && !seen->parts[i].are_apart)
            error = choose_for(source, operands, rows, i, seen);
    return error;
}
