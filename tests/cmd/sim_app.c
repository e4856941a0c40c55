/* sim_app.c - a program for wsdbg run --device sim and wsdbg explore: sim_app number | fault | lost | kept.  Built
 * without sanitizers: it is preloaded. */
#include <stdio.h>
#include <string.h>

#include "libcuda/kernels.h"

static int explain(const char *what, CUresult result)
{
    fprintf(stderr, "sim_app: %s: %d\n", what, result);
    return result == CUDA_ERROR_ILLEGAL_ADDRESS ? 3 : 1;
}

int main(int count, char **words)
{
    const char *wanted = count > 1 ? words[1] : "number";
    char name[64] = "";
    uint32_t first = 41, down = 0;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory = 0;
    api_open();
    CUresult result = cu.cuInit(0);
    if (!result)
        result = cu.cuDevicePrimaryCtxRetain(&context, 0);
    if (!result)
        result = cu.cuCtxSetCurrent(context);
    if (!result)
        result = cu.cuDeviceGetName(name, sizeof name, 0);
    if (!result)
        result = cu.cuModuleLoadData(&module, kernels);
    if (!result)
        result = cu.cuModuleGetFunction(&function, module, wanted);
    if (!result && strcmp(wanted, "number") == 0)
        result = cu.cuMemAlloc_v2(&memory, 4);
    if (result)
        return explain("setting up", result);
    void *parameters[] = {&memory, &first};
    const bool has_two_warps = strcmp(wanted, "lost") == 0 || strcmp(wanted, "kept") == 0;
    result = launch(function, 1, has_two_warps ? 64 : 1, NULL, parameters);
    if (!result)
        result = cu.cuCtxSynchronize();
    if (!result && memory)
        result = cu.cuMemcpyDtoH_v2(&down, memory, 4);
    if (result)
        return explain(wanted, result);
    printf("%u on %s\n", down, name);
    return 0;
}
