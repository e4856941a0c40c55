/* walk_tickets.c - see walk_tickets.h.
 *
 * Reads: the lane's registers, its CTA's turn.  Writes: the plan's counters.
 */
#include "sass/walk_tickets.h"

#include <string.h>

#include "sass/thread_load.h"

/* Fields of ATOMG and ATOM, as nvdisasm of CUDA 13.0 shows them: the operation lies in bits 87 to 90, the type in bits
 * 73 to 75.  Of floating-point numbers the opcode is another one. */
enum { OPCODE_MASK = 0xfff, ATOMG_UNIFORM = 0x9a8, ATOMG_GENERAL = 0x3a8, ATOM_UNIFORM = 0x98a };
enum { OPERATION_SHIFT = 87 - 64, OPERATION_MASK = 0xf, OPERATION_ADD = 0 };
enum { TYPE_SHIFT = 73 - 64, TYPE_MASK = 7, TYPE_S32 = 1 };
enum { ADDEND = 1, SHARED_WINDOW_BYTES = 1 << 24 };

static bool is_addition(const struct wsdbg_instruction *atomic)
{
    const uint64_t opcode = atomic->words[0] & OPCODE_MASK;
    return wsdbg_walk_is_atomic(atomic) && wsdbg_is_machine_code(atomic) && atomic->source_count > ADDEND &&
           (opcode == ATOMG_UNIFORM || opcode == ATOMG_GENERAL || opcode == ATOM_UNIFORM) &&
           (atomic->words[1] >> OPERATION_SHIFT & OPERATION_MASK) == OPERATION_ADD &&
           (atomic->words[1] >> TYPE_SHIFT & TYPE_MASK) <= TYPE_S32;
}

/* A generic address may be one of shared memory. */
static bool is_global(const struct wsdbg_thread_world *world, const struct wsdbg_instruction *atomic, uint64_t address)
{
    return atomic->operation == WSDBG_OP_ATOMG ||
           (world->shared_window && address - world->shared_window >= SHARED_WINDOW_BYTES);
}

/* A kernel takes its work from one or two counters.  Where there are more, they count something of each tile. */
static struct wsdbg_walk_counter *counter_at(struct wsdbg_walk_plan *plan, uint64_t address)
{
    unsigned i = 0;
    while (i < plan->counter_count && plan->counters[i].address != address)
        i++;
    if (i == WSDBG_WALK_COUNTERS_MOST)
        return NULL;
    if (i == plan->counter_count)
        plan->counters[plan->counter_count++] = (struct wsdbg_walk_counter){.address = address};
    return &plan->counters[i];
}

bool walk_tickets_may_be_taken(const struct wsdbg_walk_plan *plan)
{
    for (uint32_t i = 0; i < plan->graph->instruction_count; i++)
        if (plan->executes[i] && is_addition(&plan->graph->instructions[i]))
            return true;
    return false;
}

void walk_tickets_begin(struct wsdbg_walk_plan *plan)
{
    plan->counter_count = 0;
}

bool walk_ticket(const struct walk_lane *lane, const struct wsdbg_instruction *atomic, uint32_t *value)
{
    const struct wsdbg_thread_world *world = lane->world;
    struct wsdbg_walk_plan *plan = lane->group->plan;
    uint64_t address;
    uint32_t addend;
    if (!plan->supposes || !world->takers || !is_addition(atomic) || lane->group->uncounted >> lane->lane & 1 ||
        !wsdbg_thread_address(lane->state, &atomic->sources[0], &address) || !is_global(world, atomic, address) ||
        !walk_value(lane, &atomic->sources[ADDEND], 0, &addend))
        return false;
    struct wsdbg_walk_counter *counter = counter_at(plan, address);
    if (!counter)
        return false;
    *value = (world->taker + counter->taken[lane->lane]++ * world->takers) * addend;
    return true;
}
