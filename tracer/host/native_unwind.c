/* native_unwind.c - see native_unwind.h.
 *
 * Reads: the stack in the process's memory, the unwind tables of the files it runs (libdw).  Writes: nothing.
 *
 * Each frame's tables say where its canonical frame address (CFA) is and where the registers of its caller are saved.
 * A stack grows towards lower addresses, so each CFA lies above the one before: that bounds the walk.
 */
#include "host/native_unwind.h"

#include <dwarf.h>
#include <stdlib.h>

#include "host/native_pointer.h"

enum { RBX = 3, RBP = 6, RSP = 7, RETURN = 16, REGISTERS = 17, VALUES_MOST = 8 };

static const uint8_t kept_by_calls[] = {RBX, RBP, 12, 13, 14, 15};

struct registers {
    uint64_t values[REGISTERS];
    bool known[REGISTERS];
};

struct unwinder {
    struct wsdbg_host_modules *modules;
    struct wsdbg_host_memory *memory;
    struct registers now;
    uint64_t stack_end; /* 0 = the whole stack is known */
    bool is_call;       /* pc is a return address: the call lies before it */
};

/* ---- DWARF expressions, as far as unwind tables have them ---- */

struct evaluation {
    const struct registers *registers;
    struct wsdbg_host_memory *memory;
    uint64_t cfa;
    uint64_t values[VALUES_MOST];
    size_t count;
};

static bool push(struct evaluation *e, uint64_t value)
{
    if (e->count == VALUES_MOST)
        return false;
    e->values[e->count++] = value;
    return true;
}

static bool push_register(struct evaluation *e, uint64_t number, uint64_t offset)
{
    return number < REGISTERS && e->registers->known[number] && push(e, e->registers->values[number] + offset);
}

static bool add(struct evaluation *e)
{
    if (e->count < 2)
        return false;
    e->count--;
    e->values[e->count - 1] += e->values[e->count];
    return true;
}

static bool step(struct evaluation *e, const Dwarf_Op *op)
{
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        return push_register(e, op->atom - DW_OP_breg0, op->number);
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        return push(e, op->atom - DW_OP_lit0);
    switch (op->atom) {
    case DW_OP_bregx:
        return push_register(e, op->number, op->number2);
    case DW_OP_call_frame_cfa:
        return push(e, e->cfa);
    case DW_OP_plus_uconst:
        return e->count > 0 && (e->values[e->count - 1] += op->number, true);
    case DW_OP_plus:
        return add(e);
    case DW_OP_deref:
        return e->count > 0 && wsdbg_host_read_word(e->memory, e->values[e->count - 1], &e->values[e->count - 1]);
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
        return push(e, op->number);
    default:
        return false;
    }
}

/* *is_value: what comes out is the value itself, not where it lies. */
static bool evaluate(struct evaluation *e, const Dwarf_Op *ops, size_t count, uint64_t *out, bool *is_value)
{
    *is_value = count > 0 && ops[count - 1].atom == DW_OP_stack_value;
    for (size_t i = 0; i < count - *is_value; i++)
        if (!step(e, &ops[i]))
            return false;
    if (e->count == 0)
        return false;
    *out = e->values[e->count - 1];
    return true;
}

/* ---- one frame ---- */

static bool find_cfa(const struct unwinder *u, Dwarf_Frame *frame, uint64_t *out)
{
    struct evaluation e = {.registers = &u->now, .memory = u->memory};
    Dwarf_Op *ops = NULL;
    size_t count = 0;
    bool is_value;
    return dwarf_frame_cfa(frame, &ops, &count) == 0 && evaluate(&e, ops, count, out, &is_value);
}

enum saved { SAVED, SAME, NOWHERE, UNREADABLE };

static enum saved find_register(const struct unwinder *u, Dwarf_Frame *frame, uint64_t cfa, int number, uint64_t *out)
{
    struct evaluation e = {.registers = &u->now, .memory = u->memory, .cfa = cfa};
    Dwarf_Op room[3], *ops = NULL;
    size_t count = 0;
    bool is_value;
    if (dwarf_frame_register(frame, number, room, &ops, &count) != 0)
        return UNREADABLE;
    if (count == 0)
        return ops ? NOWHERE : SAME;
    if (!evaluate(&e, ops, count, out, &is_value))
        return UNREADABLE;
    return is_value || wsdbg_host_read_word(u->memory, *out, out) ? SAVED : UNREADABLE;
}

/* libdw calls a register that no table mentions undefined; a call keeps these. */
static void step_registers(const struct unwinder *u, Dwarf_Frame *frame, uint64_t cfa, struct registers *out)
{
    for (size_t i = 0; i < sizeof kept_by_calls; i++) {
        const uint8_t number = kept_by_calls[i];
        const enum saved saved = find_register(u, frame, cfa, number, &out->values[number]);
        out->known[number] = saved == SAVED;
        if (saved == SAME || saved == NOWHERE) {
            out->values[number] = u->now.values[number];
            out->known[number] = u->now.known[number];
        }
    }
    out->values[RSP] = cfa;
    out->known[RSP] = true;
}

static bool find_pointer(struct unwinder *u, const struct wsdbg_native_frame *row)
{
    const struct wsdbg_native_body body = {
        .cfi = wsdbg_host_modules_cfi(u->modules, row->file),
        .address = row->address,
        .bias = wsdbg_host_module_bias(wsdbg_host_modules_get(u->modules, row->file)),
        .sp = u->now.values[RSP],
    };
    if (u->now.known[RBP] || !wsdbg_native_find_pointer(u->memory, &body, &u->now.values[RBP]))
        return false;
    u->now.known[RBP] = true;
    return true;
}

/* NULL and *whole, or why the stack ends here. */
static const char *step_frame(struct unwinder *u, const struct wsdbg_native_frame *row, Dwarf_Frame *frame, bool *whole)
{
    struct registers caller = {0};
    uint64_t cfa, pc;
    bool signal = false;
    Dwarf_Addr start, end;
    if (dwarf_frame_info(frame, &start, &end, &signal) < 0)
        signal = false;
    const enum saved to = find_register(u, frame, 0, RETURN, &pc);
    if (to == NOWHERE) {
        *whole = true;
        return NULL;
    }
    if (!find_cfa(u, frame, &cfa) && !(find_pointer(u, row) && find_cfa(u, frame, &cfa)))
        return "a register that a frame needs is not known";
    if (u->stack_end && cfa > u->stack_end)
        return "the rest of the stack was not kept";
    if (cfa <= u->now.values[RSP] || find_register(u, frame, cfa, RETURN, &pc) != SAVED)
        return "a frame's caller could not be read";
    step_registers(u, frame, cfa, &caller);
    u->now = caller;
    u->now.values[RETURN] = pc;
    u->is_call = !signal;
    *whole = pc == 0;
    return NULL;
}

/* NULL where it can be unwound. */
static const char *find_frame(struct unwinder *u, struct wsdbg_native_frame *out, Dwarf_Frame **frame)
{
    const struct wsdbg_host_maps *maps = wsdbg_host_modules_maps(u->modules);
    const uint64_t at = out->pc - u->is_call;
    const struct wsdbg_host_mapping *mapping = wsdbg_host_mapping_at(maps, at);
    if (!mapping)
        return "code that is of no file";
    const struct wsdbg_host_module *module = wsdbg_host_modules_get(u->modules, mapping->file);
    const uint64_t address = module ? at - wsdbg_host_module_bias(module) : at - mapping->start + mapping->offset;
    if (module ? !wsdbg_host_module_has_code(module, address) : mapping->is_copy)
        return "code that is of no file";
    out->file = mapping->file;
    out->address = address;
    if (!module)
        return "a library's file cannot be read";
    Dwarf_CFI *cfi = wsdbg_host_modules_cfi(u->modules, mapping->file);
    if (!cfi || dwarf_cfi_addrframe(cfi, out->address, frame) != 0)
        return "code without unwind tables";
    return NULL;
}

static void begin(struct unwinder *u, const struct wsdbg_native_start *start)
{
    u->now.values[RSP] = start->sp;
    u->now.known[RSP] = true;
    u->now.values[RETURN] = start->pc;
    u->stack_end = start->stack_end;
    for (size_t i = 0; start->kept && i < sizeof kept_by_calls; i++) {
        u->now.values[kept_by_calls[i]] = start->kept[i];
        u->now.known[kept_by_calls[i]] = true;
    }
}

void wsdbg_native_unwind(struct wsdbg_host_modules *modules, struct wsdbg_host_memory *memory,
                         const struct wsdbg_native_start *start, struct wsdbg_native_stack *out)
{
    struct unwinder u = {.modules = modules, .memory = memory};
    bool whole = false;
    begin(&u, start);
    out->count = 0;
    out->end = NULL;
    while (!whole && !out->end) {
        Dwarf_Frame *frame = NULL;
        if (out->count == WSDBG_NATIVE_FRAMES_MAX) {
            out->end = "there are more frames";
            return;
        }
        struct wsdbg_native_frame *row = &out->frames[out->count];
        *row = (struct wsdbg_native_frame){.pc = u.now.values[RETURN], .file = UINT32_MAX};
        out->end = find_frame(&u, row, &frame);
        out->count++;
        if (!out->end)
            out->end = step_frame(&u, row, frame, &whole);
        if (!out->end && !whole)
            row->cfa = u.now.values[RSP];
        free(frame);
    }
    if (out->end && wsdbg_host_memory_is_late(memory))
        out->end = "there was no time to read it all";
}
