/* look_turns.c - which copies and announcements of bytes always come with an arrival on the same mbarrier: before it or
 * behind it, with no wait between.
 *
 * Reads: accesses and control flow.  Writes: comes_with_arrival of rows in snapshot.accesses.
 *
 * A phase whose arrivals were all made gets no more of such bytes: they would bring an arrival too many.  A turn is the
 * way from the kernel's start or a wait to the next wait or the end.  A copy that may be for the barrier of another CTA
 * has no mark.  An arrival that names its CTA in a register, as CUTLASS has them, is taken to be on the own one.  Of
 * two accesses to the same array of stages, one stage is taken to be meant in one turn.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/look.h"

#define SEARCHES_MOST 512u /* through a graph; kernels that need more have no marks */

struct turns {
    const struct wsdbg_code_kernel *kernel;
    size_t words;       /* of a set of instructions */
    uint64_t *arrivals; /* on the places of one access */
    uint64_t *reached;
};

static bool brings_bytes(const struct wsdbg_access *access)
{
    return (access->kind == WSDBG_ACCESS_EXPECT || access->kind == WSDBG_ACCESS_COPY) && access->address.known &&
           !access->is_any_rank;
}

static bool arrives(const struct wsdbg_access *access)
{
    return wsdbg_look_is_arrival(access) && access->address.known;
}

static bool has(const uint64_t *set, uint32_t instruction)
{
    return set[instruction / 64] >> instruction % 64 & 1;
}

static void note_arrivals(struct turns *turns, const struct wsdbg_access *access)
{
    memset(turns->arrivals, 0, turns->words * sizeof *turns->arrivals);
    for (size_t i = 0; i < turns->kernel->access_count; i++) {
        const struct wsdbg_access *other = &turns->kernel->accesses[i];
        if (arrives(other) && wsdbg_look_on_same_places(other, access))
            turns->arrivals[other->instruction / 64] |= (uint64_t)1 << other->instruction % 64;
    }
}

/* Finds the instructions that a warp can reach from this one before it arrives.  False: not all of them are known. */
static bool reach(struct turns *turns, uint32_t from)
{
    return !wsdbg_graph_reach_set(turns->kernel->function->graph, from, turns->arrivals, turns->reached);
}

/* Whether a warp that executes the access always arrives before its turn ends. */
static bool arrives_behind(struct turns *turns, const struct wsdbg_access *access)
{
    if (!reach(turns, access->instruction))
        return false;
    for (size_t i = 0; i < turns->kernel->access_count; i++)
        if (wsdbg_look_ends_turn(&turns->kernel->accesses[i]) &&
            has(turns->reached, turns->kernel->accesses[i].instruction))
            return false;
    return true;
}

/* Takes the mark from the accesses to the same places that a warp can reach from this instruction before it arrives. */
static void unmark_reached(struct turns *turns, uint32_t from, const struct wsdbg_access *access, bool *is_marked)
{
    const bool is_known = reach(turns, from);
    for (size_t i = 0; i < turns->kernel->access_count; i++)
        if (brings_bytes(&turns->kernel->accesses[i]) &&
            wsdbg_look_on_same_places(&turns->kernel->accesses[i], access) &&
            (!is_known || has(turns->reached, turns->kernel->accesses[i].instruction)))
            is_marked[i] = false;
}

/* Marks the accesses to the same places: those behind an arrival on every way of their turn, then those before one. */
static void mark_places(struct turns *turns, const struct wsdbg_access *access, bool *is_marked)
{
    const struct wsdbg_code_kernel *kernel = turns->kernel;
    note_arrivals(turns, access);
    for (size_t i = 0; i < kernel->access_count; i++)
        if (brings_bytes(&kernel->accesses[i]) && wsdbg_look_on_same_places(&kernel->accesses[i], access))
            is_marked[i] = true;
    unmark_reached(turns, 0, access, is_marked);
    for (size_t i = 0; i < kernel->access_count; i++)
        if (wsdbg_look_ends_turn(&kernel->accesses[i]) && kernel->accesses[i].kind != WSDBG_ACCESS_EXIT)
            unmark_reached(turns, kernel->accesses[i].instruction, access, is_marked);
    for (size_t i = 0; i < kernel->access_count; i++)
        if (!is_marked[i] && brings_bytes(&kernel->accesses[i]) &&
            wsdbg_look_on_same_places(&kernel->accesses[i], access))
            is_marked[i] = arrives_behind(turns, &kernel->accesses[i]);
}

static bool is_first_on_its_places(const struct wsdbg_code_kernel *kernel, size_t access)
{
    for (size_t i = 0; i < access; i++)
        if (brings_bytes(&kernel->accesses[i]) &&
            wsdbg_look_on_same_places(&kernel->accesses[i], &kernel->accesses[access]))
            return false;
    return brings_bytes(&kernel->accesses[access]);
}

static bool is_small_enough(const struct wsdbg_code_kernel *kernel)
{
    size_t places = 0, waits = 0, bringers = 0; /* each of these costs a search at most, and each wait for each place */
    for (size_t i = 0; i < kernel->access_count; i++) {
        places += is_first_on_its_places(kernel, i);
        bringers += brings_bytes(&kernel->accesses[i]);
        waits += wsdbg_look_ends_turn(&kernel->accesses[i]);
    }
    return bringers + places * waits <= SEARCHES_MOST;
}

static struct wsdbg_error *judge_kernel(const struct wsdbg_code_kernel *kernel, struct wsdbg_access_row *rows)
{
    const size_t words = wsdbg_graph_instruction_count(kernel->function->graph) / 64 + 1;
    uint64_t *sets = calloc(2 * words, sizeof *sets);
    bool *is_marked = calloc(kernel->access_count + 1, sizeof *is_marked);
    struct turns turns = {.kernel = kernel, .words = words, .arrivals = sets, .reached = sets ? sets + words : NULL};
    const bool has_room = sets && is_marked;
    for (size_t i = 0; has_room && i < kernel->access_count; i++)
        if (is_first_on_its_places(kernel, i))
            mark_places(&turns, &kernel->accesses[i], is_marked);
    for (size_t i = 0; has_room && i < kernel->access_count; i++)
        rows[i].comes_with_arrival = is_marked[i];
    free(sets);
    free(is_marked);
    return has_room ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_look_turns(const struct wsdbg_look_seen *seen, const uint32_t *access_first,
                                     struct wsdbg_snapshot *out)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t grid = 0; !error && grid < out->grid_count; grid++) {
        const struct wsdbg_code_kernel *kernel = seen->grids[grid].kernel;
        if (kernel && kernel->access_count && is_small_enough(kernel))
            error = judge_kernel(kernel, &out->accesses[access_first[grid]]);
    }
    return error;
}
