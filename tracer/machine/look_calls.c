/* look_calls.c - which calls led a lane to the function in which it stands.
 *
 * Reads: registers and stack frames of the lane, code.  Writes: nothing.
 */
#include "machine/look_calls.h"

#include "sass/call_frame.h"

enum { REGISTERS = 32, STACK_POINTER = 1 };

struct climb {
    const struct wsdbg_look_source *source;
    uint32_t grid, warp, lane; /* rows of the machine */
    uint32_t registers[REGISTERS], register_count;
    uint32_t pointer; /* of the frame at hand */
};

static bool read_word(const struct climb *climb, int32_t at_bytes, uint32_t *word, struct wsdbg_error **error)
{
    struct wsdbg_machine *machine = climb->source->machine;
    bool known = false;
    if (machine->ops->local)
        *error = machine->ops->local(machine, climb->warp, climb->lane, climb->pointer + (uint32_t)at_bytes, word,
                                     sizeof *word, &known);
    return known && !*error;
}

/* The address at which the caller goes on.  Only the innermost function can have it in registers. */
static bool return_address(const struct climb *climb, const struct wsdbg_call_frame *frame, bool is_innermost,
                           uint64_t *address, struct wsdbg_error **error)
{
    uint32_t low, high;
    if (frame->is_in_registers) {
        if (!is_innermost || frame->number + 1 >= climb->register_count)
            return false;
        low = climb->registers[frame->number];
        high = climb->registers[frame->number + 1];
    } else if (!read_word(climb, frame->low_bytes, &low, error) || !read_word(climb, frame->high_bytes, &high, error)) {
        return false;
    }
    *address = (uint64_t)high << 32 | low;
    return true;
}

/* One frame up; *number: the instruction of the caller at which it goes on.  False: it is not known who called. */
static bool climb_once(struct climb *climb, struct wsdbg_code_place *place, bool is_innermost, uint32_t *number,
                       struct wsdbg_error **error)
{
    struct wsdbg_call_frame frame;
    struct wsdbg_code_place caller;
    uint64_t address;
    if (!wsdbg_call_frame_at(place->function->graph, place->instruction, &frame) ||
        !return_address(climb, &frame, is_innermost, &address, error))
        return false;
    *error = wsdbg_code_find(climb->source->code, climb->source->machine, climb->grid, address, &caller);
    if (*error || !caller.function)
        return false;
    climb->pointer += frame.frame_bytes;
    *place = caller;
    *number = (uint32_t)((address - caller.function->cubin->address) / WSDBG_INSTRUCTION_BYTES);
    return *number > 0;
}

struct wsdbg_error *wsdbg_look_calls(const struct wsdbg_look_source *source, const struct wsdbg_look_stand *stand,
                                     const struct wsdbg_code_function *kernel, struct wsdbg_look_calls *out)
{
    struct wsdbg_machine *machine = source->machine;
    struct climb climb = {.source = source, .grid = stand->grid, .warp = stand->warp, .lane = stand->lane};
    struct wsdbg_code_place place = stand->place;
    out->count = 0;
    out->is_whole = false;
    struct wsdbg_error *error = machine->ops->registers(machine, stand->warp, stand->lane, 0, REGISTERS,
                                                        climb.registers, &climb.register_count);
    if (error || climb.register_count <= STACK_POINTER)
        return error;
    climb.pointer = climb.registers[STACK_POINTER];
    uint32_t number;
    while (out->count < WSDBG_LOOK_CALLS_MOST && climb_once(&climb, &place, out->count == 0, &number, &error)) {
        out->rows[out->count].function = place.function->cubin;
        out->rows[out->count++].call = number - 1;
        out->is_whole = place.function == kernel;
        if (out->is_whole)
            break;
    }
    return error;
}
