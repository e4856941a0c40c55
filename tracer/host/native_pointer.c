/* native_pointer.c - see native_pointer.h.
 *
 * Reads: unwind tables, the function's first instructions and the stack, in the process's memory.  Writes: nothing.
 *
 * Such a function begins with push %rbp; mov %rsp,%rbp; pushes of registers that it keeps for its caller; sub $N,%rsp.
 * The tables tell how many registers these are.  Where rsp was moved again, as by alloca(), the place found is a wrong
 * one, and no call of this function lies before what stands there.
 */
#include "host/native_pointer.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { RSP = 7, WORD = 8, PROLOGUE_BYTES = 48, ENTRY_BYTES_MOST = 96, ROWS_MOST = 16 };

static const uint8_t kept_beside_rbp[] = {3, 12, 13, 14, 15};

/* ---- the size of the frame ---- */

/* CFA = register + offset; false for any other form. */
static bool cfa_of(Dwarf_Frame *frame, unsigned *number, uint64_t *offset)
{
    Dwarf_Op *ops = NULL;
    size_t count = 0;
    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1)
        return false;
    if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
        *number = ops[0].atom - DW_OP_breg0;
        *offset = ops[0].number;
        return true;
    }
    *number = (unsigned)ops[0].number;
    *offset = ops[0].number2;
    return ops[0].atom == DW_OP_bregx;
}

static uint64_t saved_bytes(Dwarf_Frame *frame)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof kept_beside_rbp; i++) {
        Dwarf_Op room[3], *ops = NULL;
        size_t count = 0;
        if (dwarf_frame_register(frame, kept_beside_rbp[i], room, &ops, &count) == 0 && count > 0)
            bytes += WORD;
    }
    return bytes;
}

/* sub $N,%rsp in what follows the move to rbp; 0 where there is none. */
static uint64_t room_bytes(struct wsdbg_host_memory *memory, uint64_t first, uint64_t end)
{
    unsigned char code[PROLOGUE_BYTES];
    const size_t count = end - first < sizeof code ? (size_t)(end - first) : sizeof code;
    if (!wsdbg_host_read(memory, first, code, count))
        return 0;
    for (size_t i = 0; i + 7 <= count; i++) {
        int32_t wide;
        if (memcmp(code + i, "\x48\x83\xc4\x80", 4) == 0) /* add $-128,%rsp is shorter than sub $128,%rsp */
            return 128;
        if (code[i] != 0x48 || (code[i + 1] != 0x83 && code[i + 1] != 0x81) || code[i + 2] != 0xec)
            continue;
        memcpy(&wide, code + i + 3, sizeof wide);
        return code[i + 1] == 0x83 ? code[i + 3] & 0x7f : (uint64_t)wide;
    }
    return 0;
}

/* ---- the call ---- */

/* A call through the table of another library's functions leads on to what stands there. */
static uint64_t follow_table(struct wsdbg_host_memory *memory, uint64_t target)
{
    unsigned char code[16];
    int32_t offset;
    size_t at = 0;
    uint64_t led = target;
    if (!wsdbg_host_read(memory, target, code, sizeof code))
        return target;
    if (memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0) /* endbr64 */
        at = 4;
    if (code[at] == 0xf2) /* bnd */
        at++;
    if (code[at] != 0xff || code[at + 1] != 0x25) /* jmp *offset(%rip) */
        return target;
    memcpy(&offset, code + at + 2, sizeof offset);
    return wsdbg_host_read_word(memory, target + at + 6 + (uint64_t)(int64_t)offset, &led) ? led : target;
}

/* Where the call before a return address leads; 0 = there is none, or one by a register. */
static uint64_t target_of(struct wsdbg_host_memory *memory, uint64_t return_address)
{
    unsigned char code[6];
    int32_t offset;
    uint64_t target = 0;
    if (!wsdbg_host_read(memory, return_address - sizeof code, code, sizeof code))
        return 0;
    memcpy(&offset, code + 2, sizeof offset);
    const uint64_t relative = return_address + (uint64_t)(int64_t)offset;
    if (code[0] == 0xff && code[1] == 0x15) /* call *offset(%rip) */
        return wsdbg_host_read_word(memory, relative, &target) ? target : 0;
    return code[1] == 0xe8 ? follow_table(memory, relative) : 0; /* call offset */
}

/* The target is the entry of the function of which `row` is a row, near its beginning. */
static bool is_entry(const struct wsdbg_native_body *body, uint64_t target, uint64_t row)
{
    Dwarf_Frame *frame = NULL;
    unsigned number = 0;
    uint64_t offset = 0;
    if (target > row || row - target > ENTRY_BYTES_MOST || dwarf_cfi_addrframe(body->cfi, target, &frame) != 0)
        return false;
    const bool is_cfa = cfa_of(frame, &number, &offset);
    free(frame);
    return is_cfa && number == RSP && offset == WORD;
}

/* Where the frame pointer first holds: rows of the table lie before one another, back to the function's entry. */
static bool find_body(const struct wsdbg_native_body *body, uint64_t row, uint64_t *out)
{
    for (int i = 0; i < ROWS_MOST; i++) {
        Dwarf_Frame *frame = NULL;
        Dwarf_Addr start, end;
        bool signal;
        unsigned number = RSP;
        uint64_t offset = 0;
        if (dwarf_cfi_addrframe(body->cfi, row - 1, &frame) != 0)
            return false;
        const bool is_cfa = dwarf_frame_info(frame, &start, &end, &signal) >= 0 && cfa_of(frame, &number, &offset);
        free(frame);
        *out = row;
        if (!is_cfa || start >= row)
            return false;
        if (number == RSP)
            return true;
        row = start;
    }
    return false;
}

bool wsdbg_native_find_pointer(struct wsdbg_host_memory *memory, const struct wsdbg_native_body *body, uint64_t *out)
{
    Dwarf_Frame *frame = NULL;
    Dwarf_Addr row, row_end;
    bool signal;
    uint64_t return_address, first;
    if (dwarf_cfi_addrframe(body->cfi, body->address, &frame) != 0)
        return false;
    const bool has_row = dwarf_frame_info(frame, &row, &row_end, &signal) >= 0 && !signal;
    const uint64_t saved = saved_bytes(frame);
    free(frame);
    if (!has_row || !find_body(body, row, &first))
        return false;
    *out = body->sp + room_bytes(memory, first + body->bias, body->address + body->bias) + saved;
    return wsdbg_host_read_word(memory, *out + WORD, &return_address) &&
           is_entry(body, target_of(memory, return_address) - body->bias, first);
}
