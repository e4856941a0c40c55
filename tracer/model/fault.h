/* fault.h - a context that an error of the GPU ended, in words. */
#ifndef WSDBG_MODEL_FAULT_H
#define WSDBG_MODEL_FAULT_H

#include "model/snapshot.h"

#define WSDBG_FAULT_BYTES 768

/* "unspecified launch failure" for 719; NULL = an error without words here. */
const char *wsdbg_cuda_error_words(int32_t error);

/* "illegal address" for 14: of CUDA_EXCEPTION_<code> (cudadebugger.h, CUDA 13); NULL = none that is known. */
const char *wsdbg_exception_words(uint32_t code);

/* Of the `error` of a context, whichever of the two it is. */
const char *wsdbg_fault_words(int32_t error);
/* What a simulated device says of the error of a context, if this grid caused it; "" = nothing. */
const char *wsdbg_fault_words_of(const struct wsdbg_context *context, const struct wsdbg_grid *grid);

/* Which of its process's contexts this one is, from 0. */
uint32_t wsdbg_context_number(const struct wsdbg_snapshot *snapshot, size_t context);

/* Contexts that an error ended. */
size_t wsdbg_fault_count(const struct wsdbg_snapshot *snapshot);

/* One sentence about a context whose error is not 0. */
void wsdbg_fault_sentence(const struct wsdbg_snapshot *snapshot, size_t context, char out[WSDBG_FAULT_BYTES]);

#endif
