/* system_calls.c - functions without a body, which the system brings: failed assertions; printing, which is not done.
 *
 * Reads: the arguments in the lane's local memory, text in global memory.  Writes: the grid's fault.
 */
#include "hopper/system_calls.h"

#include <string.h>

#include "hopper/device.h"

/* Argument `number` of the call that the step is at. */
static uint64_t argument_of(const struct hopper_step *step, const struct wsdbg_ptx_function *callee, size_t number,
                            unsigned lane)
{
    const struct wsdbg_ptx_parameter *parameter = &callee->parameters[number];
    const uint64_t offset = (uint64_t)step->instruction->operands[1].value + parameter->offset;
    const struct hopper_warp *warp = step->warp;
    uint64_t value = 0;
    if (parameter->byte_count <= sizeof value && offset + parameter->byte_count <= warp->local_bytes)
        memcpy(&value, warp->local + (size_t)lane * warp->local_bytes + offset, parameter->byte_count);
    return value;
}

/* Text of unknown length at a global address; "?" where there is none. */
static void read_text(const struct hopper_step *step, uint64_t address, char *out, size_t room)
{
    const struct hopper_range *range = hopper_find_range(step->gpu, address, 1);
    const uint64_t most = range ? range->end - address : 0;
    const size_t length = range ? strnlen((const char *)(uintptr_t)address, most < room - 1 ? most : room - 1) : 0;
    memcpy(out, range ? (const char *)(uintptr_t)address : "?", range ? length : 1);
    out[range ? length : 1] = '\0';
}

/* __assertfail(text, file, line, function, bytes of a character). */
static enum hopper_outcome fail_assertion(const struct hopper_step *step, const struct wsdbg_ptx_function *callee,
                                          unsigned lane)
{
    enum { TEXT, FILE_NAME, LINE, FUNCTION, ARGUMENT_COUNT = 5 };
    char text[128], file[96], function[64];
    if (callee->parameter_count != ARGUMENT_COUNT)
        return hopper_fault(step, lane, HOPPER_ASSERT, "an assertion failed");
    read_text(step, argument_of(step, callee, TEXT, lane), text, sizeof text);
    read_text(step, argument_of(step, callee, FILE_NAME, lane), file, sizeof file);
    read_text(step, argument_of(step, callee, FUNCTION, lane), function, sizeof function);
    return hopper_fault(step, lane, HOPPER_ASSERT, "%s:%u: %s: assertion `%s' failed", file,
                        (unsigned)argument_of(step, callee, LINE, lane), function, text);
}

enum hopper_outcome hopper_call_system(const struct hopper_step *step, const struct wsdbg_ptx_function *callee)
{
    const unsigned first = (unsigned)__builtin_ctz(step->lanes);
    if (strcmp(callee->name, "__assertfail") == 0)
        return fail_assertion(step, callee, first);
    if (strcmp(callee->name, "vprintf") == 0)
        return HOPPER_NEXT;
    return hopper_fault(step, first, HOPPER_ILLEGAL_INSTRUCTION, "%s has no body here", callee->name);
}
