/* prepare.c - prepares a module's instructions (code.h): the executor of each, and where its operands lie.
 *
 * A kernel's code has the functions that it calls behind it, with registers among the kernel's own: one layout a
 * kernel.
 */
#include "hopper/prepare.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "hopper/clock.h"
#include "hopper/operand.h"
#include "hopper/probe.h"

static hopper_executor *const executors[WSDBG_PTX_OPERATION_COUNT] = {
#define PTX(id, ...) [WSDBG_PTX_OP_##id] = hopper_do_##id,
#include "ptx/instructions.def"
#undef PTX
};

static uint32_t register_bytes(enum wsdbg_ptx_type type)
{
    switch (wsdbg_ptx_type_bytes(type)) {
    case 0:
        return sizeof(uint32_t); /* a predicate */
    case 16:
        return 2 * HOPPER_BYTES_64;
    case 8:
        return HOPPER_BYTES_64;
    default:
        return HOPPER_BYTES_32;
    }
}

/* Wide values first, so that every array is aligned to 64 bytes; predicates last. */
static struct wsdbg_error *lay_out(struct hopper_registers *frame)
{
    const struct wsdbg_ptx_function *function = frame->function;
    frame->offsets = calloc(function->register_count + 1u, sizeof *frame->offsets);
    if (!frame->offsets)
        return &wsdbg_error_no_memory;
    uint64_t end = 0;
    static const uint32_t sizes[] = {2 * HOPPER_BYTES_64, HOPPER_BYTES_64, HOPPER_BYTES_32, sizeof(uint32_t)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t number = 0; number < function->register_count; number++)
            if (register_bytes(function->register_types[number]) == sizes[i]) {
                frame->offsets[number] = (uint32_t)end;
                end += sizes[i];
                if (end > HOPPER_OFFSET_MASK)
                    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: too many registers", function->name);
            }
    frame->byte_count = (uint32_t)((end + 63) / 64 * 64);
    return NULL;
}

/* A constant's place, added to the pool. */
static bool add_constant(struct hopper_code *code, size_t *capacity, uint64_t value, uint32_t *place)
{
    if (code->constant_bytes + HOPPER_CONSTANT_BYTES > HOPPER_OFFSET_MASK ||
        !wsdbg_grow((void **)&code->constants, capacity, code->constant_bytes + HOPPER_CONSTANT_BYTES, 1))
        return false;
    unsigned char *to = code->constants + code->constant_bytes;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        const uint32_t low = (uint32_t)value;
        memcpy(to + sizeof value * lane, &value, sizeof value);
        memcpy(to + HOPPER_CONSTANT_32 + sizeof low * lane, &low, sizeof low);
    }
    *place = (uint32_t)HOPPER_OF_CODE << HOPPER_BASE_SHIFT | (uint32_t)code->constant_bytes;
    code->constant_bytes += HOPPER_CONSTANT_BYTES;
    return true;
}

/* Operations that may have a variable's name as a plain source; for others an ADDRESS is memory. */
static bool takes_names(uint16_t operation)
{
    return operation == WSDBG_PTX_OP_mov || operation == WSDBG_PTX_OP_cvta || operation == WSDBG_PTX_OP_add ||
           operation == WSDBG_PTX_OP_sub || operation == WSDBG_PTX_OP_isspacep;
}

/* The place of a register or constant. */
static bool place_value(struct hopper_code *code, size_t *capacity, const struct hopper_registers *frame,
                        const struct wsdbg_ptx_operand *operand, uint32_t *place)
{
    *place = WSDBG_PTX_NONE;
    if (operand->kind == WSDBG_PTX_OPERAND_IMMEDIATE)
        return add_constant(code, capacity, (uint64_t)operand->value, place);
    const bool is_register = operand->kind == WSDBG_PTX_OPERAND_REGISTER || operand->kind == WSDBG_PTX_OPERAND_ADDRESS;
    if (!is_register || operand->number == WSDBG_PTX_NONE)
        return true;
    *place = frame->offsets[operand->number];
    if (wsdbg_ptx_type_bytes(frame->function->register_types[operand->number]) >= 8)
        *place |= HOPPER_PLACE_WIDE;
    return true;
}

static bool place_operand(struct hopper_code *code, size_t *capacity, struct hopper_op *op, uint16_t operation,
                          const struct wsdbg_ptx_operand *operand, unsigned number)
{
    const bool is_vector = operand->kind == WSDBG_PTX_OPERAND_VECTOR;
    for (uint32_t i = 0; is_vector && i < operand->count; i++)
        if (!place_value(code, capacity, op->frame, &code->program->vectors[operand->number + i],
                         &code->vector_places[operand->number + i]))
            return false;
    if (operand->kind == WSDBG_PTX_OPERAND_SPECIAL && operand->number == WSDBG_PTX_RESERVED_SMEM_OFFSET_1)
        code->uses_groups_memory = true;
    if (operand->kind == WSDBG_PTX_OPERAND_SPECIAL ||
        (operand->kind == WSDBG_PTX_OPERAND_ADDRESS && takes_names(operation))) {
        op->has_scratch = true;
        op->places[number] = (uint32_t)HOPPER_OF_STEP << HOPPER_BASE_SHIFT | number * HOPPER_CONSTANT_BYTES;
        return true;
    }
    return place_value(code, capacity, op->frame, operand, &op->places[number]);
}

/* What a lane loads or stores, where registers are moved as they are: 4, 8 or 16 bytes. */
static uint8_t lane_bytes_of(const struct hopper_code *code, const struct wsdbg_ptx_instruction *instruction,
                             const struct hopper_op *op)
{
    const bool is_store = instruction->operation == WSDBG_PTX_OP_st;
    if (!is_store && instruction->operation != WSDBG_PTX_OP_ld && instruction->operation != WSDBG_PTX_OP_ldu)
        return 0;
    const struct wsdbg_ptx_operand *const values = &instruction->operands[is_store];
    const bool is_vector = values->kind == WSDBG_PTX_OPERAND_VECTOR;
    const uint32_t *const places = is_vector ? &code->vector_places[values->number] : &op->places[is_store];
    const unsigned count = is_vector ? values->count : 1, bytes = op->type_bytes * count;
    if ((op->type_bytes != 4 && op->type_bytes != 8) || (count != 1 && count != 2 && count != 4) || bytes > 16)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        const bool is_register = places[i] >> HOPPER_BASE_SHIFT == HOPPER_OF_WARP;
        if (places[i] == WSDBG_PTX_NONE || (is_register && !(places[i] & HOPPER_PLACE_WIDE) != (op->type_bytes == 4)))
            return 0;
    }
    return (uint8_t)bytes;
}

/* Operands that are values of a lane are computed first. */
static enum hopper_outcome execute_with_scratch(struct hopper_step *step)
{
    hopper_fill_scratch(step);
    return executors[step->instruction->operation](step);
}

static struct wsdbg_error *prepare_function(struct hopper_code *code, size_t *capacity,
                                            const struct hopper_registers *frame)
{
    const struct wsdbg_ptx_program *program = code->program;
    for (uint32_t i = frame->function->first; i < frame->function->end; i++) {
        const struct wsdbg_ptx_instruction *instruction = &program->instructions[i];
        struct hopper_op *op = &code->ops[i];
        op->frame = frame;
        op->instruction = instruction;
        op->guard = instruction->guard == WSDBG_PTX_NONE ? WSDBG_PTX_NONE : frame->offsets[instruction->guard];
        op->guard_flips = instruction->guard_negated ? UINT32_MAX : 0;
        op->type_bytes = (uint8_t)wsdbg_ptx_type_bytes(instruction->type);
        op->is_last = i + 1 == frame->function->end;
        op->is_plain = instruction->operation < WSDBG_PTX_OP_st && !op->is_last;
        op->clock_matters = frame->clocks && hopper_clock_matters(frame->clocks, i);
        op->probe = (uint8_t)hopper_probe_class(instruction->operation);
        for (unsigned number = 0; number < WSDBG_PTX_OPERANDS_MAX; number++) {
            op->places[number] = WSDBG_PTX_NONE;
            if (number < instruction->operand_count &&
                !place_operand(code, capacity, op, instruction->operation, &instruction->operands[number], number))
                return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: too many constants", frame->function->name);
        }
        op->lane_bytes = lane_bytes_of(code, instruction, op);
        op->execute = op->has_scratch ? execute_with_scratch : executors[instruction->operation];
    }
    return NULL;
}

struct wsdbg_error *hopper_code_create(const struct wsdbg_ptx_program *program, uint64_t global_address,
                                       uint64_t const_address, struct hopper_code **out)
{
    struct hopper_code *code = calloc(1, sizeof *code);
    if (!code)
        return &wsdbg_error_no_memory;
    *code = (struct hopper_code){.program = program, .global_address = global_address, .const_address = const_address};
    code->ops = calloc(program->instruction_count + 1, sizeof *code->ops);
    code->frames = calloc(program->function_count + 1, sizeof *code->frames);
    code->vector_places = calloc(program->vector_count + 1, sizeof *code->vector_places);
    struct wsdbg_error *error = code->ops && code->frames && code->vector_places ? NULL : &wsdbg_error_no_memory;
    size_t capacity = 0;
    for (size_t i = 0; !error && i < program->function_count; i++) {
        struct hopper_registers *frame = &code->frames[i];
        frame->function = &program->functions[i];
        error = lay_out(frame);
        if (!error)
            error = hopper_clock_uses_create(program, frame->function, &frame->clocks);
        if (!error)
            error = prepare_function(code, &capacity, frame);
    }
    if (error) {
        hopper_code_destroy(code);
        return error;
    }
    *out = code;
    return NULL;
}

void hopper_code_destroy(struct hopper_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; code->frames && i < code->program->function_count; i++) {
        free(code->frames[i].offsets);
        hopper_clock_uses_destroy(code->frames[i].clocks);
    }
    free(code->frames);
    free(code->ops);
    free(code->vector_places);
    free(code->constants);
    free(code);
}
