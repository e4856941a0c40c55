/* debug_fault.c - see debug_fault.h.
 *
 * Reads:  what the inspector says of an exception.  Writes: one kernel launch in the context that had it.
 *
 * While a debugger is attached the driver hands it an exception and forgets the error: afterwards every call of the
 * context succeeds (docs/results/live-attach.md).  So a kernel of ours then does the same again in that context,
 * and the driver gives the program its error from every call as ever.  Until it has, calls that wait do not return.
 */
#include "debug_fault.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "contexts.h"
#include "libcuda.h"
#include "messages.h"
#include "own_threads.h"
#include "segment.h"

enum { GIVE_BACK_US = 10000000, LOOK_US = 200 };

/* `address` is a word of the module; what is added to it is a parameter, so that no compiler sees what comes. */
static const char kernels[] =
    ".version 7.8\n"
    ".target sm_70\n" /* PTX for an older target runs on every later GPU */
    ".address_size 64\n"
    ".global .align 16 .b8 word[32];\n"
    ".visible .entry failed(.param .u64 offset) { trap; }\n"
    ".visible .entry address(.param .u64 offset)\n"
    "{ .reg .b64 %a; mov.u64 %a, 16; st.global.u32 [%a], 1; ret; }\n"
    ".visible .entry misaligned(.param .u64 offset)\n"
    "{ .reg .b64 %a, %b; mov.u64 %a, word; ld.param.u64 %b, [offset]; add.u64 %a, %a, %b;\n"
    "  st.global.u32 [%a], 1; ret; }\n"
    ".visible .entry space(.param .u64 offset)\n"
    "{ .reg .b64 %a, %b; .reg .b32 %c; .shared .align 4 .b8 inside[16];\n"
    "  mov.u64 %a, inside; cvta.shared.u64 %a, %a; ld.param.u64 %b, [offset]; add.u64 %a, %a, %b;\n"
    "  atom.global.add.u32 %c, [%a], 1; st.global.u32 [%a], %c; ret; }\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n"
    ".visible .entry asserted(.param .u64 offset)\n"
    "{ .reg .b64 %a; .reg .b32 %l; mov.u64 %a, word; cvta.global.u64 %a, %a; mov.u32 %l, 0;\n"
    "  { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;\n"
    "  st.param.b64 [m], %a; st.param.b64 [f], %a; st.param.b32 [l], %l; st.param.b64 [n], %a;\n"
    "  st.param.b64 [s], 1; call.uni __assertfail, (m, f, l, n, s); } ret; }\n";

enum kernel { FAILED, ADDRESS, MISALIGNED, SPACE, ASSERTED, KINDS };
static const char *const names[KINDS] = {"failed", "address", "misaligned", "space", "asserted"};

/* What a program without an inspector gets, and the kernel that brings it.  Numbers as in NVIDIA's public
 * cudadebugger.h; what is not listed ends as "failed". */
static const struct kind {
    uint32_t exception;
    enum kernel kernel;
    uint64_t offset;
} kinds[] = {{1, ADDRESS, 0},     {10, ADDRESS, 0}, {14, ADDRESS, 0}, {6, MISALIGNED, 1},
             {11, MISALIGNED, 1}, {7, SPACE, 0},    {12, ASSERTED, 0}};
static const struct kind otherwise = {0, FAILED, 0};

_Atomic bool debug_fault_met;
static _Atomic bool pending;
static _Atomic uint32_t fault_row;
static _Atomic int fault_error;
static uint32_t fault_exception;

static const struct kind *kind_of(uint32_t exception)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].exception == exception)
            return &kinds[i];
    return &otherwise;
}

static uint32_t only_context(void)
{
    uint32_t row = WSDBG_UNKNOWN32;
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++) {
        if (!atomic_load(&shim_contexts[i].handle))
            continue;
        if (row != WSDBG_UNKNOWN32)
            return WSDBG_UNKNOWN32;
        row = i;
    }
    return row;
}

/* If the table is full, the context that had the exception may not be in it. */
static bool all_are_observed(void)
{
    return __atomic_load_n(&atomic_load(&shim_segment)->context_count, __ATOMIC_ACQUIRE) < WSDBG_CONTEXT_ROWS;
}

void debug_fault_meet(uint32_t exception, uint64_t context)
{
    const uint32_t row = contexts_find(context);
    fault_exception = exception;
    const bool is_only = row == WSDBG_UNKNOWN32 && (!context || all_are_observed());
    atomic_store(&fault_row, is_only ? only_context() : row);
    atomic_store(&fault_error, CUDA_SUCCESS);
    atomic_store(&pending, true);
    atomic_store(&debug_fault_met, true);
}

/* ---- what brings the error again, made ready while all is well ---- */

struct calls {
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*find)(CUfunction *, CUmodule, const char *);
    CUresult (*attribute)(int *, int, CUfunction);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                       void **, void **);
};

/* Of a context row. */
static struct ready {
    bool tried;
    CUfunction functions[KINDS];
    CUstream stream; /* NULL = not ready */
} ready[WSDBG_CONTEXT_ROWS];
static struct calls calls;

static bool find_calls(void)
{
    const struct {
        const char *name;
        void *place;
    } symbols[] = {
        {"cuModuleLoadData", &calls.load}, {"cuModuleGetFunction", &calls.find}, {"cuLaunchKernel", &calls.launch}};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = libcuda_symbol(symbols[i].name);
        memcpy(symbols[i].place, &found, sizeof found);
        if (!found)
            return false;
    }
    return true;
}

/* The driver loads a function when it is first asked about. */
static CUresult load_function(CUmodule module, const char *name, CUfunction *function)
{
    int registers;
    const CUresult result = calls.find(function, module, name);
    return result == CUDA_SUCCESS ? shim_driver.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, *function)
                                  : result;
}

/* The context is current. */
static void prepare(struct ready *context)
{
    CUmodule module;
    CUstream stream;
    CUresult result = find_calls() ? calls.load(&module, kernels) : CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; result == CUDA_SUCCESS && i < KINDS; i++)
        result = load_function(module, names[i], &context->functions[i]);
    if (result == CUDA_SUCCESS)
        result = shim_driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        context->stream = stream;
    else
        shim_note("an error of the GPU could not be given back to the program (%d): nobody stays attached", result);
}

bool debug_fault_prepare(void)
{
    bool all = true;
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++) {
        CUcontext popped;
        struct shim_context *context = &shim_contexts[i];
        atomic_fetch_add(&context->users, 1);
        const uint64_t handle = atomic_load(&context->closing) ? 0 : atomic_load(&context->handle);
        if (handle && !ready[i].tried &&
            shim_driver.cuCtxPushCurrent_v2((CUcontext)(uintptr_t)handle) == CUDA_SUCCESS) {
            ready[i].tried = true;
            prepare(&ready[i]);
            shim_driver.cuCtxPopCurrent_v2(&popped);
        }
        atomic_fetch_sub(&context->users, 1);
        all = all && (!handle || ready[i].stream);
    }
    return all;
}

/* ---- the same error again ---- */

/* The kernel may be done before the driver has seen what it did. */
static CUresult wait_for_error(CUstream stream)
{
    CUresult result = CUDA_ERROR_NOT_READY;
    for (int waited_us = 0; !contexts_ended_by(result) && waited_us < GIVE_BACK_US; waited_us += LOOK_US) {
        result = shim_driver.cuStreamQuery(stream);
        if (!contexts_ended_by(result))
            shim_sleep_us(LOOK_US);
    }
    return result;
}

/* The context is current. */
static CUresult commit(const struct ready *context, const struct kind *kind)
{
    uint64_t offset = kind->offset;
    void *parameters[] = {&offset};
    const CUresult result =
        calls.launch(context->functions[kind->kernel], 1, 1, 1, 1, 1, 1, 0, context->stream, parameters, NULL);
    return result == CUDA_SUCCESS ? wait_for_error(context->stream) : result;
}

static CUresult commit_in(uint32_t row, const struct kind *kind)
{
    CUcontext popped;
    if (row == WSDBG_UNKNOWN32 || !ready[row].stream)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    atomic_fetch_add(&shim_contexts[row].users, 1);
    const uint64_t handle = atomic_load(&shim_contexts[row].closing) ? 0 : atomic_load(&shim_contexts[row].handle);
    if (handle && shim_driver.cuCtxPushCurrent_v2((CUcontext)(uintptr_t)handle) == CUDA_SUCCESS) {
        result = commit(&ready[row], kind);
        contexts_check(result);
        shim_driver.cuCtxPopCurrent_v2(&popped);
    }
    atomic_fetch_sub(&shim_contexts[row].users, 1);
    return result;
}

void debug_fault_give_back(void)
{
    if (!atomic_load(&pending))
        return;
    const struct kind *kind = kind_of(fault_exception);
    const CUresult result = commit_in(atomic_load(&fault_row), kind);
    if (!contexts_ended_by(result))
        shim_note("the error of a kernel that an exception ended (%u) could not be given back to the program: %d",
                  fault_exception, result);
    atomic_store(&fault_error, contexts_ended_by(result) ? result : CUDA_SUCCESS);
    atomic_store(&pending, false);
}

CUresult debug_fault_result(CUresult result)
{
    if (result != CUDA_SUCCESS || atomic_load(&fault_row) == WSDBG_UNKNOWN32 ||
        contexts_current() != atomic_load(&fault_row))
        return result;
    for (int waited_us = 0; waited_us < 2 * GIVE_BACK_US && atomic_load(&pending); waited_us += LOOK_US)
        shim_sleep_us(LOOK_US);
    return atomic_load(&fault_error);
}

void debug_fault_forget(void)
{
    atomic_store(&pending, false);
    atomic_store(&debug_fault_met, false);
}
