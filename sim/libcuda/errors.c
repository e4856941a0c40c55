/* errors.c - names and texts of results. */
#include "libcuda/driver.h"

static const struct {
    CUresult number;
    const char *name, *text;
} errors[] = {
#define ERROR(error_name, error_number, error_text) {error_number, #error_name, error_text},
#include "libcuda/results.def"
#undef ERROR
};

static CUresult find(CUresult number, const char **out, bool by_name)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].number == number)
            *out = by_name ? errors[i].name : errors[i].text;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuGetErrorName, CUresult number, const char **name)
{
    return find(number, name, true);
}

ENTRY(cuGetErrorString, CUresult number, const char **text)
{
    return find(number, text, false);
}
