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

uint32_t wsdbg_context_number(const struct wsdbg_snapshot *snapshot, size_t context)
{
    uint32_t number = 0;
    for (size_t i = 0; i < context; i++)
        number += snapshot->contexts[i].process_id == snapshot->contexts[context].process_id;
    return number;
}

void wsdbg_fault_sentence(const struct wsdbg_snapshot *snapshot, size_t context, char out[WSDBG_FAULT_BYTES])
{
    const struct wsdbg_context *row = &snapshot->contexts[context];
    const char *words = wsdbg_cuda_error_words(row->error);
    char name[64] = "", age[80] = "";
    if (words)
        snprintf(name, sizeof name, " (%s)", words);
    if (row->state_age_ns.known && row->state_age_ns.value == 0)
        snprintf(age, sizeof age, "; the state shown is what its memory held at the end");
    else if (row->state_age_ns.known)
        snprintf(age, sizeof age, "; the state shown is from %.0f ms before", (double)row->state_age_ns.value / 1e6);
    snprintf(out, WSDBG_FAULT_BYTES, "GPU fault: CUDA error %d%s ended context %u on %s%s", row->error, name,
             wsdbg_context_number(snapshot, context), row->device_name[0] ? row->device_name : "?", age);
}
