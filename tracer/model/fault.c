/* fault.c - see fault.h.
 *
 * Reads: a snapshot's contexts.  Writes: text.  An error of the GPU is no hang: the driver has ended the context
 * and its warps are gone; what is left is what their slots said when they were last copied.
 */
#include "model/fault.h"

#include <stdio.h>

const char *wsdbg_cuda_error_words(int32_t error)
{
    static const struct {
        int32_t error;
        const char *words;
    } table[] = {
        {214, "uncorrectable ECC error"}, {220, "NVLink error"},
        {700, "illegal memory access"},   {702, "launch timed out"},
        {709, "context is destroyed"},    {710, "device-side assert"},
        {714, "hardware stack error"},    {715, "illegal instruction"},
        {716, "misaligned address"},      {717, "invalid address space"},
        {718, "invalid program counter"}, {719, "unspecified launch failure"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].error == error)
            return table[i].words;
    return NULL;
}

const char *wsdbg_exception_words(uint32_t code)
{
    static const char *const words[] = {
        [1] = "illegal address of a thread",
        [2] = "a thread's stack overflowed",
        [3] = "the device's hardware stack overflowed",
        [4] = "illegal instruction",
        [5] = "address out of range",
        [6] = "misaligned address",
        [7] = "invalid address space",
        [8] = "invalid program counter",
        [9] = "the warp's hardware stack overflowed",
        [10] = "illegal address somewhere on the device",
        [11] = "misaligned address of a thread",
        [12] = "device-side assert",
        [13] = "error in a system call of a thread",
        [14] = "illegal address",
        [15] = "system-wide atomic on memory that cannot migrate",
        [16] = "invalid system-wide atomic",
        [17] = "address out of range in a cluster",
        [18] = "a CTA of the cluster is not present",
        [19] = "the stack was overwritten",
        [20] = "tensor memory access check",
        [21] = "tensor memory leak",
        [22] = "a call that needs a newer driver",
        [23] = "misaligned program counter",
        [24] = "the program counter overflowed",
        [25] = "misaligned register",
        [26] = "illegal encoding of an instruction",
        [27] = "illegal parameter of an instruction",
        [28] = "register out of range",
        [29] = "invalid constant address",
        [30] = "memory access fault",
        [31] = "arrival on an mbarrier that takes none",
        [32] = "uncorrectable error in a cluster access",
        [33] = "the interface's stack overflowed",
        [34] = "a CTA is not present",
        [35] = "the warp's stack overflowed",
        [36] = "error in a tensor copy",
    };
    return code < sizeof words / sizeof *words ? words[code] : NULL;
}

const char *wsdbg_fault_words(int32_t error)
{
    return error < 0 ? wsdbg_exception_words(-(uint32_t)error) : wsdbg_cuda_error_words(error);
}

const char *wsdbg_fault_words_of(const struct wsdbg_context *context, const struct wsdbg_grid *grid)
{
    return context->error && context->error_grid == grid->grid_id ? context->error_words : "";
}

/* "CUDA error 719 (unspecified launch failure)" */
static void name_error(int32_t error, char *out, size_t room)
{
    const char *words = wsdbg_fault_words(error);
    const char *kind = error < 0 ? "CUDA_EXCEPTION_" : "CUDA error ";
    snprintf(out, room, "%s%u%s%s%s", kind, error < 0 ? -(uint32_t)error : (uint32_t)error, words ? " (" : "",
             words ? words : "", words ? ")" : "");
}

uint32_t wsdbg_context_number(const struct wsdbg_snapshot *snapshot, size_t context)
{
    uint32_t number = 0;
    for (size_t i = 0; i < context; i++)
        number += snapshot->contexts[i].process_id == snapshot->contexts[context].process_id;
    return number;
}

size_t wsdbg_fault_count(const struct wsdbg_snapshot *snapshot)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot->context_count; i++)
        count += snapshot->contexts[i].error != 0;
    return count;
}

void wsdbg_fault_sentence(const struct wsdbg_snapshot *snapshot, size_t context, char out[WSDBG_FAULT_BYTES])
{
    const struct wsdbg_context *row = &snapshot->contexts[context];
    char name[96], age[80] = "";
    name_error(row->error, name, sizeof name);
    if (row->state_age_ns.known && row->state_age_ns.value == 0)
        snprintf(age, sizeof age, "; the state shown is what its memory held at the end");
    else if (row->state_age_ns.known)
        snprintf(age, sizeof age, "; the state shown is from %.0f ms before", (double)row->state_age_ns.value / 1e6);
    snprintf(out, WSDBG_FAULT_BYTES, "GPU fault: %s ended context %u on %s%s%s%s", name,
             wsdbg_context_number(snapshot, context), row->device_name[0] ? row->device_name : "?",
             row->error_words[0] ? ": " : "", row->error_words, age);
}
