/* joined_steps.c - one instruction of joined code, and calls that are left in it: see joined_frame_parts.h.
 *
 * Reads, writes: the state at hand.  Writes: what is known of the instruction as an access.
 */
#include "sass/joined_frame_parts.h"

void frame_write(struct frame *frame, const struct wsdbg_instruction *in, unsigned reg, uint32_t value)
{
    const unsigned at = state_index(reg);
    if (at < REGISTERS)
        frame->state[at] = frame_executes(frame, in) == WSDBG_TRUTH_YES ? value : meet(frame->state[at], value);
}

/* What kinds of address the instruction puts into registers. */
static void note_address(struct frame *frame, struct joined_access *access, const struct wsdbg_instruction *in,
                         unsigned reg, uint32_t value)
{
    if (reg == JOINED_STACK_POINTER) {
        if (kind_of(value) == KIND_LOCAL && number_of(value) < frame->out->deepest_bytes)
            frame->out->deepest_bytes = number_of(value);
        const bool is_constant = in->source_count && in->sources[0].kind == WSDBG_OPERAND_CONSTANT;
        access->sets_pointer |= kind_of(value) == KIND_LOCAL && is_constant;
        access->moves_pointer |= kind_of(value) == KIND_LOCAL && !is_constant;
    } else if (kind_of(value) == KIND_LOCAL && in->operation != WSDBG_OP_LDL && in->operation != WSDBG_OP_LD) {
        access->makes_address = true;
        access->offset_bytes = number_of(value);
    }
}

static void write_results(struct frame *frame, const struct wsdbg_instruction *in, struct joined_access *access)
{
    const bool is_access = frame_is_access(in);
    uint32_t values[WSDBG_DESTINATIONS_MAX][WSDBG_SOURCES_MAX] = {{0}};
    for (unsigned i = 0; i < in->destination_count; i++)
        for (unsigned part = 0; part < WSDBG_SOURCES_MAX && (part == 0 || part < in->destinations[i].registers); part++)
            values[i][part] = is_access ? frame_loaded(frame, in, access, part) : frame_computed(frame, in, part);
    for (unsigned i = 0; i < in->destination_count; i++)
        for (unsigned part = 0; part == 0 || part < in->destinations[i].registers; part++) {
            const unsigned reg = wsdbg_register_of(&in->destinations[i], part);
            const uint32_t value = part < WSDBG_SOURCES_MAX ? values[i][part] : OTHER;
            if (wsdbg_is_predicate(&in->destinations[i])) {
                frame_write(frame, in, reg,
                            access->asks_space && !i ? with_number(KIND_NUMBER, access->is_in_space) : OTHER);
                continue;
            }
            frame_write(frame, in, reg, value);
            if (!is_access)
                note_address(frame, access, in, reg, value);
        }
}

/* An instruction of which nothing is known but that it leaves the stack pointer alone. */
static void write_anything(struct frame *frame)
{
    for (unsigned reg = 0; reg < REGISTERS; reg++)
        if (reg != JOINED_STACK_POINTER)
            frame->state[reg] = is_of_frame(frame->state[reg]) ? DERIVED : OTHER;
}

/* QSPC: whether a generic address is one of global memory, local memory, the CTA's shared memory, or shared memory of
 * its cluster. */
static void answer_space(const struct frame *frame, const struct wsdbg_instruction *in, struct joined_access *access)
{
    enum { REGISTER_SHIFT = 24, SPACE_SHIFT = 9, SPACES = 3 };
    enum space { SPACE_GLOBAL, SPACE_LOCAL, SPACE_SHARED, SPACE_CLUSTER };
    const struct wsdbg_operand place = {
        .kind = WSDBG_OPERAND_REGISTER, .number = (uint8_t)(in->words[0] >> REGISTER_SHIFT), .registers = 2};
    const enum space asked = in->words[1] >> SPACE_SHIFT & SPACES;
    const uint32_t low = frame_value_of(frame, &place, 0), high = frame_value_of(frame, &place, 1);
    access->asks_space = kind_of(low) == KIND_GENERIC || high == SHARED || high == PASSED;
    if (kind_of(low) == KIND_GENERIC)
        access->is_in_space = asked == SPACE_LOCAL;
    else if (high == SHARED)
        access->is_in_space = asked == SPACE_SHARED || asked == SPACE_CLUSTER;
    else
        access->is_in_space = asked == SPACE_GLOBAL;
}

void frame_step(struct frame *frame, uint32_t number, struct joined_access *access)
{
    const struct wsdbg_instruction *in = &frame->graph->instructions[number];
    *access = (struct joined_access){0};
    if (frame_executes(frame, in) == WSDBG_TRUTH_NO)
        return;
    if (in->operation == WSDBG_OP_OTHER) {
        write_anything(frame);
        return;
    }
    if (in->operation == WSDBG_OP_QSPC)
        answer_space(frame, in, access);
    if (frame_is_access(in))
        *access = frame_access_of(frame, in);
    if (frame_is_access(in) && wsdbg_operation_class(in->operation) != WSDBG_CLASS_LOAD)
        frame_store(frame, in, access);
    if (frame_is_access(in) || access->asks_space || !frame_write_numbers(frame, in))
        write_results(frame, in, access);
}

/* ---- calls that are left ---- */

/* By the conventions for calls, arguments are in R4 to R15, and a function leaves R1, R2 and those from R16 on as they
 * were.  A function of the program may store to any word of a frame of which it gets an address.  One at a fixed
 * address that is not of the program is the driver's: it prints, reports an error or gives memory, and stores nothing
 * there. */
void frame_call_unknown(struct frame *frame, const struct wsdbg_instruction *call)
{
    enum { FIRST_ARGUMENT = 4, FIRST_KEPT = 16, ALSO_KEPT = 2 };
    const bool may_be_of_program = call->source_count || frame->calls_program;
    bool gets_address = frame->has_escaped;
    for (unsigned reg = 0; reg < FIRST_KEPT; reg++) {
        gets_address |= reg >= FIRST_ARGUMENT && is_of_frame(frame->state[reg]);
        if (reg != JOINED_STACK_POINTER && reg != ALSO_KEPT)
            frame->state[reg] = OTHER;
    }
    for (unsigned i = 0; i < WSDBG_PT; i++)
        frame->state[PREDICATES_AT + i] = OTHER;
    if (!gets_address || !may_be_of_program)
        return;
    frame->out->is_given_away = true;
    frame_store_anywhere(frame, DERIVED);
}

/* Whether the instruction may store to the frame. */
static bool may_store_there(const struct wsdbg_instruction *in)
{
    const enum wsdbg_operation_space space = wsdbg_operation_space(in->operation);
    return frame_is_access(in) && wsdbg_operation_class(in->operation) != WSDBG_CLASS_LOAD &&
           (space == WSDBG_SPACE_LOCAL || space == WSDBG_SPACE_GENERIC);
}

void frame_add_inner(struct inner *inner, const struct wsdbg_instruction *in)
{
    inner->stores |= may_store_there(in);
    for (unsigned d = 0; d < in->destination_count; d++)
        for (unsigned part = 0; part == 0 || part < in->destinations[d].registers; part++) {
            const unsigned reg = wsdbg_register_of(&in->destinations[d], part), at = state_index(reg);
            if (at < REGISTERS && reg != JOINED_STACK_POINTER)
                inner->writes[at / 64] |= UINT64_C(1) << at % 64;
        }
}

static void pass_inner(struct frame *frame, const struct inner *inner)
{
    for (unsigned at = 0; at < REGISTERS; at++)
        if (inner->writes[at / 64] >> at % 64 & 1)
            frame->state[at] = is_of_frame(frame->state[at]) ? DERIVED : OTHER;
}

/* An inner function writes some registers, and perhaps words of the frame. */
void frame_call_inner(struct frame *frame, uint32_t procedure)
{
    const struct wsdbg_graph *graph = frame->graph;
    const struct inner *own = &frame->inner[procedure], *several = &frame->inner[graph->procedure_count];
    pass_inner(frame, own);
    pass_inner(frame, several);
    if (own->stores || several->stores)
        frame_store_anywhere(frame, DERIVED);
}
