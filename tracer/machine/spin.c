/* spin.c - see spin.h.  Reads: code, registers, memory.  Writes: what the lane polls or tests.
 *
 * The lane executes one instruction after the other (spin_run.h).  If its registers and its local memory are what they
 * were at the same place before, and other memory is as it was, it does the same for ever: only a write by somebody
 * else can end that.  Values of the clock are not known.  Where one of the ways that it decides leaves a loop, the lane
 * stays there; others meet again.  A count of rounds changes a register in each round: if the lane has gone round for
 * long enough, and what it loads decides its way, it polls as well, but may have a limit.
 */
#include "machine/spin.h"

#include <stdlib.h>
#include <string.h>

#include "machine/spin_access.h"

/* Calls and returns make code of functions that are joined several times longer. */
enum { STEPS_MOST = 4000, JOINED_STEPS_MOST = 1 << 15, ROUNDS_LEAST = 4, SIDE_STEPS_MOST = 1024, SIDES_DEEP_MOST = 3 };
/* Of all ways of a lane, and of all lanes of a look: some 0.3 s. */
enum { STEPS_OF_ALL_MOST = 1 << 16, STEPS_OF_LOOK_MOST = 1 << 18 };

static bool advance(struct spin_run *run, unsigned depth);

/* ---- branches of which it is not known how they go ---- */

/* Both ways of a branch, up to where they meet. */
struct sides {
    struct spin_run one, other;
    struct wsdbg_spin_place trail[SIDE_STEPS_MOST]; /* of the one */
    uint32_t count;
};

static bool is_place(const struct wsdbg_spin_place *a, const struct wsdbg_spin_place *b)
{
    return a->copy == b->copy && a->number == b->number;
}

static uint32_t find_in_trail(const struct sides *sides, const struct wsdbg_spin_place *place)
{
    for (uint32_t i = 0; i < sides->count; i++)
        if (is_place(&sides->trail[i], place))
            return i;
    return WSDBG_GRAPH_NONE;
}

static void begin_side(const struct spin_run *run, const struct wsdbg_spin_place *to, struct spin_run *side)
{
    *side = *run;
    side->at = *to;
    side->traps = false;
}

static void take_looks(const struct spin_run *from, struct spin_run *to)
{
    memcpy(to->looks, from->looks, sizeof to->looks);
    to->look_count = from->look_count;
}

static bool meet(struct spin_run *run, struct spin_run *other, uint64_t why)
{
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++) {
        const bool differs = run->state.known[reg] != other->state.known[reg] ||
                             (run->state.known[reg] && run->state.value[reg] != other->state.value[reg]);
        run->depends[reg] |= other->depends[reg] | (differs ? why : 0);
    }
    wsdbg_thread_meet(&run->state, &other->state);
    run->decides |= other->decides;
    run->leaves |= other->leaves;
    run->clock_is_taken |= other->clock_is_taken;
    run->home = other->home < run->home ? other->home : run->home;
    run->steps += other->steps;
    return spin_memory_meet(&run->memory, &other->memory, run->world, why);
}

/* Follows the other side to where it meets the one; WSDBG_GRAPH_NONE: nowhere. */
static uint32_t find_meeting(struct sides *sides, unsigned depth)
{
    uint32_t at, steps = 0;
    while ((at = find_in_trail(sides, &sides->other.at)) == WSDBG_GRAPH_NONE)
        if (steps++ == SIDE_STEPS_MOST || !advance(&sides->other, depth))
            return WSDBG_GRAPH_NONE;
    return at;
}

/* A side on which the kernel ends with an error is none: a kernel that hangs has not gone there.  The looks of one side
 * are the other one's as well, so that both name them alike. */
static bool join_sides(struct spin_run *run, const struct spin_ways *ways, uint64_t why, unsigned depth,
                       struct sides *sides)
{
    begin_side(run, &ways->ways[0], &sides->one);
    sides->trail[sides->count++] = sides->one.at;
    while (sides->count < SIDE_STEPS_MOST && !is_place(&sides->one.at, &run->at) && advance(&sides->one, depth))
        sides->trail[sides->count++] = sides->one.at;
    begin_side(run, &ways->ways[1], &sides->other);
    take_looks(&sides->one, &sides->other);
    const uint32_t at = sides->one.traps ? 0 : find_meeting(sides, depth);
    if (sides->one.traps || sides->other.traps) {
        run->at = ways->ways[sides->one.traps];
        return !sides->one.traps || !sides->other.traps;
    }
    begin_side(run, &ways->ways[0], &sides->one);
    take_looks(&sides->other, &sides->one);
    for (uint32_t i = 0; i < at; i++)
        if (at == WSDBG_GRAPH_NONE || !advance(&sides->one, depth))
            return false;
    sides->other.steps -= run->steps;
    if (!meet(&sides->one, &sides->other, why))
        return false;
    *run = sides->one;
    return true;
}

static bool pass_branch(struct spin_run *run, uint64_t why, unsigned depth)
{
    struct spin_ways ways;
    if (!spin_run_ways(run, &ways))
        return false;
    const struct wsdbg_spin_place *stays = spin_run_way_that_stays(run, &ways);
    if (stays && why == SPIN_CLOCK) {
        run->clock_is_taken = true;
        run->at = *stays;
        return true;
    }
    struct sides *sides = !stays && depth < SIDES_DEEP_MOST ? malloc(sizeof *sides) : NULL;
    if (!sides)
        return false;
    sides->count = 0;
    const bool met = join_sides(run, &ways, why, depth + 1, sides);
    free(sides);
    return met;
}

static bool advance(struct spin_run *run, unsigned depth)
{
    uint64_t why;
    const enum spin_step step = spin_run_step(run, &why);
    return step == SPIN_STEP_GOES || (step == SPIN_STEP_BRANCHES && pass_branch(run, why, depth));
}

/* ---- the circle ---- */

/* The lane as it was at one moment. */
struct note {
    struct wsdbg_spin_place at;
    struct wsdbg_thread_state state;
    struct spin_memory memory;
};

static void take_note(const struct spin_run *run, struct note *note)
{
    note->at = run->at;
    note->state = run->state;
    note->memory = run->memory;
}

/* Values that depend on the clock are not known, and need not be the same. */
static bool is_as_noted(const struct spin_run *run, const struct note *note)
{
    return is_place(&run->at, &note->at) &&
           memcmp(run->state.known, note->state.known, sizeof note->state.known) == 0 &&
           memcmp(run->state.value, note->state.value, sizeof note->state.value) == 0 &&
           spin_memory_is_same(&run->memory, &note->memory);
}

/* Forgets what belongs to the way so far, so that it is known of the circle alone. */
static void begin_circle(struct spin_run *run)
{
    for (size_t i = 0; i < WSDBG_REGISTER_COUNT; i++)
        run->depends[i] &= SPIN_NO_LOOK;
    for (uint32_t i = 0; i < run->memory.count; i++)
        run->memory.words[i].depends &= SPIN_NO_LOOK;
    run->look_count = 0;
    run->decides = run->leaves = 0;
    run->clock_is_taken = false;
    run->home = WSDBG_GRAPH_NONE;
}

/* What decides how long the loop goes on, looked at in each of several rounds. */
static bool goes_round(const struct spin_run *run)
{
    bool any = false;
    for (unsigned i = 0; i < run->look_count; i++) {
        if (run->looks[i].times < ROUNDS_LEAST)
            return false;
        any |= run->leaves >> i & 1;
    }
    return any;
}

/* Looks that decide the way and are no pointers to others; in a circle of pointers any.  Plain loads only where there
 * is nothing else. */
static uint64_t ends_of(const struct spin_run *run)
{
    uint64_t pointers = 0, plain = 0;
    for (unsigned i = 0; i < run->look_count; i++) {
        pointers |= run->decides >> i & 1 ? run->looks[i].places : 0;
        plain |= (uint64_t)run->looks[i].is_plain << i;
    }
    const uint64_t all = run->decides & ~SPIN_NO_LOOK, ends = all & ~pointers ? all & ~pointers : all;
    return ends & ~plain ? ends & ~plain : ends;
}

/* The last of these.  If the lane tests a barrier, that must be all. */
static const struct spin_look *deciding_look(const struct spin_run *run)
{
    const uint64_t ends = ends_of(run);
    const struct spin_look *last = NULL;
    bool tests = false;
    for (unsigned i = 0; i < run->look_count; i++) {
        tests |= ends >> i & 1 && run->looks[i].is_test;
        if (ends >> i & 1 && (!last || run->looks[i].step > last->step))
            last = &run->looks[i];
    }
    return tests && ends & (ends - 1) ? NULL : last;
}

static bool tell(const struct spin_run *run, bool may_time_out, struct wsdbg_spin *out)
{
    enum { WORD_BYTES = 4 };
    const struct spin_look *last = deciding_look(run);
    if (!last || run->home == WSDBG_GRAPH_NONE || (last->is_test && may_time_out))
        return false;
    *out = (struct wsdbg_spin){.load = last->instruction,
                               .home = run->home,
                               .is_test = last->is_test,
                               .is_shared = last->is_shared,
                               .may_time_out = may_time_out,
                               .phase = last->phase,
                               .address = last->address,
                               .width_bytes = last->word_count > 1 ? 2 * WORD_BYTES : WORD_BYTES,
                               .value = (uint64_t)(last->word_count > 1 ? last->words[1] : 0) << 32 | last->words[0]};
    return true;
}

/* The lane is noted behind 1, 2, 4, … steps and compared with each later one (Brent's way to find a circle).  Twice
 * round, so that what the first round depends on is known. */
static bool find_circle(struct spin_run *run, struct note *note, struct wsdbg_spin *out)
{
    const uint32_t steps_most = run->code->joined ? JOINED_STEPS_MOST : STEPS_MOST;
    uint32_t next_note = 1;
    unsigned rounds = 0;
    take_note(run, note);
    while (run->steps < steps_most) {
        if (!advance(run, 0))
            return false;
        if (is_as_noted(run, note) && ++rounds == 2)
            return tell(run, run->clock_is_taken, out);
        if (run->steps < next_note)
            continue;
        take_note(run, note);
        while (next_note <= run->steps)
            next_note *= 2;
        rounds = 0;
        begin_circle(run);
    }
    return goes_round(run) && tell(run, true, out);
}

/* A lane at a place of machine code; NULL: there is none, or no memory. */
static struct spin_run *begin_run(struct wsdbg_spin_code *code, struct wsdbg_spin_place from,
                                  const struct wsdbg_thread_state *state, const struct wsdbg_thread_world *world,
                                  uint32_t *steps_left)
{
    const struct wsdbg_graph *graph = wsdbg_spin_graph(code, from.copy);
    if (!graph || from.number >= wsdbg_graph_instruction_count(graph) ||
        !wsdbg_is_machine_code(wsdbg_graph_instruction(graph, from.number)))
        return NULL;
    struct spin_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->code = code;
    run->world = world;
    run->state = *state;
    run->at = from;
    run->home = WSDBG_GRAPH_NONE;
    run->steps_left = steps_left;
    return run;
}

bool wsdbg_spin_has_steps(const struct wsdbg_spin_code *code)
{
    return code->steps < STEPS_OF_LOOK_MOST;
}

static uint32_t steps_of(const struct wsdbg_spin_code *code)
{
    const uint32_t left = code->steps < STEPS_OF_LOOK_MOST ? STEPS_OF_LOOK_MOST - code->steps : 0;
    return left < STEPS_OF_ALL_MOST ? left : STEPS_OF_ALL_MOST;
}

static void end_run(struct wsdbg_spin_code *code, struct spin_run *run, uint32_t steps_left)
{
    code->steps += steps_of(code) - steps_left;
    free(run);
}

bool wsdbg_spin_find(struct wsdbg_spin_code *code, struct wsdbg_spin_place from, const struct wsdbg_thread_state *state,
                     const struct wsdbg_thread_world *world, struct wsdbg_spin *out)
{
    uint32_t steps_left = steps_of(code);
    struct spin_run *run = begin_run(code, from, state, world, &steps_left);
    struct note *note = calloc(1, sizeof *note);
    const bool found = run && note && find_circle(run, note, out);
    end_run(code, run, steps_left);
    free(note);
    return found;
}

/* ---- the way to one look ---- */

static bool take_target(const struct spin_run *run, struct wsdbg_spin_target *out)
{
    struct spin_look look;
    const struct wsdbg_graph *graph = wsdbg_spin_graph(run->code, run->at.copy);
    if (!spin_look_of(run, wsdbg_graph_instruction(graph, run->at.number), &look))
        return false;
    *out = (struct wsdbg_spin_target){
        .is_test = look.is_test, .is_shared = look.is_shared, .phase = look.phase, .address = look.address};
    return true;
}

bool wsdbg_spin_reach(struct wsdbg_spin_code *code, struct wsdbg_spin_place from,
                      const struct wsdbg_thread_state *state, const struct wsdbg_thread_world *world,
                      uint32_t instruction, struct wsdbg_spin_target *out)
{
    uint32_t steps_left = steps_of(code);
    struct spin_run *run = begin_run(code, from, state, world, &steps_left);
    bool found = false;
    while (run && !found && run->steps < JOINED_STEPS_MOST) {
        /* What the graph leaves out is where the next instruction is, which alone may look. */
        found = wsdbg_spin_in_graph(code, run->at) == instruction && take_target(run, out);
        if (!found && !advance(run, 0))
            break;
    }
    end_run(code, run, steps_left);
    return found;
}
