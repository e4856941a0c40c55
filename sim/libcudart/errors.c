/* errors.c - names and texts of the runtime's errors. */
#include "libcudart/runtime.h"

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
#define RUNTIME_ERROR(name, number, text) {number, #name, text},
#include "libcudart/errors.def"
#undef RUNTIME_ERROR
};

#define NAMED(symbol)                                                             \
    __attribute__((visibility("default"))) const char *symbol(cudaError_t error); \
    const char *symbol(cudaError_t error)

NAMED(cudaGetErrorName)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

NAMED(cudaGetErrorString)
{
    const char *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error && errors[i].text)
            return errors[i].text;
    return cuGetErrorString(error, &text) == CUDA_SUCCESS && text ? text : "unrecognized error code";
}
