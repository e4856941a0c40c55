/* system_calls.c - functions without a body, which the system brings: failed assertions, printing.
 *
 * Reads: the arguments in the lane's local memory, text in global memory.  Writes: the grid's fault, results.
 */
#include "hopper/system_calls.h"

#include <string.h>

#include "hopper/device.h"
#include "hopper/print.h"
#include "hopper/values.h"

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

/* __assertfail(text, file, line, function, bytes of a character). */
static enum hopper_outcome fail_assertion(const struct hopper_step *step, const struct wsdbg_ptx_function *callee,
                                          unsigned lane)
{
    enum { TEXT, FILE_NAME, LINE, FUNCTION, ARGUMENT_COUNT = 5 };
    char text[128], file[96], function[64];
    if (callee->parameter_count != ARGUMENT_COUNT)
        return hopper_fault(step, lane, HOPPER_ASSERT, "an assertion failed");
    hopper_read_text(step->gpu, argument_of(step, callee, TEXT, lane), text, sizeof text);
    hopper_read_text(step->gpu, argument_of(step, callee, FILE_NAME, lane), file, sizeof file);
    hopper_read_text(step->gpu, argument_of(step, callee, FUNCTION, lane), function, sizeof function);
    return hopper_fault(step, lane, HOPPER_ASSERT, "%s:%u: %s: assertion `%s' failed", file,
                        (unsigned)argument_of(step, callee, LINE, lane), function, text);
}

/* count = vprintf(format, arguments), lane after lane. */
static enum hopper_outcome print(const struct hopper_step *step, const struct wsdbg_ptx_function *callee)
{
    enum { RESULT, FORMAT, ARGUMENTS, COUNT };
    if (callee->parameter_count != COUNT)
        return HOPPER_NEXT;
    HOPPER_LANES_OF (step->lanes) {
        int count;
        if (!hopper_print(step, lane, argument_of(step, callee, FORMAT, lane),
                          argument_of(step, callee, ARGUMENTS, lane), &count))
            return HOPPER_FAULTED;
        const uint64_t offset = (uint64_t)step->instruction->operands[1].value + callee->parameters[RESULT].offset;
        if (offset + sizeof count <= step->warp->local_bytes)
            memcpy(step->warp->local + (size_t)lane * step->warp->local_bytes + offset, &count, sizeof count);
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_call_system(const struct hopper_step *step, const struct wsdbg_ptx_function *callee)
{
    const unsigned first = (unsigned)__builtin_ctz(step->lanes);
    if (strcmp(callee->name, "__assertfail") == 0)
        return fail_assertion(step, callee, first);
    if (strcmp(callee->name, "vprintf") == 0)
        return print(step, callee);
    return hopper_fault(step, first, HOPPER_ILLEGAL_INSTRUCTION, "%s has no body here", callee->name);
}
