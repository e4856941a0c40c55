/* hooks_module.c - the hooks of modules, libraries, and the functions and kernels found in them.
 *
 * Writes: module rows and rings, through tracking.c; refusals; the calling thread's row while it unloads.
 */
#include "hooks.h"

#include <errno.h>

#include "debug_calls.h"
#include "libcuda.h"
#include "refusals.h"
#include "tracking.h"

CUresult module_file_body(enum wsdbg_hook_id id, void *forward, CUmodule *module, const char *file)
{
    bool on = hook_enter();
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUmodule *, const char *))forward)(module, file);
    debug_attach_load_end();
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        tracking_loaded(*module, NULL, NULL);
    if (on && result != CUDA_SUCCESS)
        refusal_code(hook_name[id], &(struct refused_code){.name = file}, result);
    errno = kept;
    return hook_leave(on, result);
}

CUresult module_data_body(enum wsdbg_hook_id id, void *forward, CUmodule *module, const void *image)
{
    bool on = hook_enter();
    const uint64_t code_bytes = debug_attach_code_begin(image);
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUmodule *, const void *))forward)(module, image);
    debug_attach_load_end();
    debug_attach_code_end(code_bytes, result == CUDA_SUCCESS);
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        tracking_loaded(*module, NULL, image);
    if (on && result != CUDA_SUCCESS)
        refusal_code(hook_name[id], &(struct refused_code){.image = image}, result);
    errno = kept;
    return hook_leave(on, result);
}

CUresult module_data_ex_body(enum wsdbg_hook_id id, void *forward, CUmodule *module, const void *image, unsigned count,
                             void *options, void **values)
{
    bool on = hook_enter();
    const uint64_t code_bytes = debug_attach_code_begin(image);
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUmodule *, const void *, unsigned, void *, void **))forward)(module, image, count,
                                                                                                  options, values);
    debug_attach_load_end();
    debug_attach_code_end(code_bytes, result == CUDA_SUCCESS);
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        tracking_loaded(*module, NULL, image);
    if (on && result != CUDA_SUCCESS)
        refusal_code(hook_name[id], &(struct refused_code){.image = image}, result);
    errno = kept;
    return hook_leave(on, result);
}

CUresult get_function_body(enum wsdbg_hook_id id, void *forward, CUfunction *f, CUmodule module, const char *name)
{
    bool on = hook_enter();
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUfunction *, CUmodule, const char *))forward)(f, module, name);
    debug_attach_load_end();
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        tracking_module_seen(module, NULL);
    if (on && result != CUDA_SUCCESS)
        refusal_code(hook_name[id], &(struct refused_code){.module = module, .name = name}, result);
    errno = kept;
    return hook_leave(on, result);
}

CUresult library_data_body(enum wsdbg_hook_id id, void *forward, CUlibrary *library, const void *code, void *jit,
                           void **jit_values, unsigned jit_count, void *options, void **values, unsigned count)
{
    bool on = hook_enter();
    const uint64_t code_bytes = debug_attach_code_begin(code);
    debug_attach_load_begin();
    CUresult result = ((CUresult(*) LIBRARY_PARAMETERS)forward)LIBRARY_ARGUMENTS;
    debug_attach_load_end();
    debug_attach_code_end(code_bytes, result == CUDA_SUCCESS);
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        tracking_loaded(NULL, *library, code);
    if (on && result != CUDA_SUCCESS)
        refusal_code(hook_name[id], &(struct refused_code){.image = code}, result);
    errno = kept;
    return hook_leave(on, result);
}

CUresult library_file_body(enum wsdbg_hook_id id, void *forward, CUlibrary *library, const void *code, void *jit,
                           void **jit_values, unsigned jit_count, void *options, void **values, unsigned count)
{
    bool on = hook_enter();
    debug_attach_load_begin();
    CUresult result = ((CUresult(*) LIBRARY_PARAMETERS)forward)LIBRARY_ARGUMENTS;
    debug_attach_load_end();
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        tracking_loaded(NULL, *library, NULL);
    if (on && result != CUDA_SUCCESS)
        refusal_code(hook_name[id], &(struct refused_code){.name = code}, result);
    errno = kept;
    return hook_leave(on, result);
}

CUresult library_unload_body(enum wsdbg_hook_id id, void *forward, CUlibrary library)
{
    bool on = hook_enter();
    if (on)
        tracking_unloading(NULL, library);
    hook_begin_wait(on, id);
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUlibrary))forward)(library);
    debug_attach_load_end();
    hook_end_wait(on);
    return hook_leave(on, result);
}

CUresult module_unload_body(enum wsdbg_hook_id id, void *forward, CUmodule module)
{
    bool on = hook_enter();
    if (on)
        tracking_unloading(module, NULL);
    hook_begin_wait(on, id);
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUmodule))forward)(module);
    debug_attach_load_end();
    hook_end_wait(on);
    return hook_leave(on, result);
}

CUresult get_kernel_body(enum wsdbg_hook_id id, void *forward, CUkernel *kernel, CUlibrary library, const char *name)
{
    bool on = hook_enter();
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUkernel *, CUlibrary, const char *))forward)(kernel, library, name);
    debug_attach_load_end();
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        tracking_kernel(*kernel, library);
    if (on && result != CUDA_SUCCESS)
        refusal_code(hook_name[id], &(struct refused_code){.library = library, .name = name}, result);
    errno = kept;
    return hook_leave(on, result);
}

CUresult enumerate_body(enum wsdbg_hook_id id, void *forward, CUkernel *kernels, unsigned count, CUlibrary library)
{
    (void)id;
    bool on = hook_enter();
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUkernel *, unsigned, CUlibrary))forward)(kernels, count, library);
    debug_attach_load_end();
    unsigned known = 0;
    if (on && result == CUDA_SUCCESS && shim_driver.cuLibraryGetKernelCount)
        shim_driver.cuLibraryGetKernelCount(&known, library);
    for (unsigned i = 0; i < count && i < known; i++)
        tracking_kernel(kernels[i], library);
    return hook_leave(on, result);
}

CUresult library_module_body(enum wsdbg_hook_id id, void *forward, CUmodule *module, CUlibrary library)
{
    bool on = hook_enter();
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUmodule *, CUlibrary))forward)(module, library);
    debug_attach_load_end();
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        tracking_module_seen(*module, library);
    if (on && result != CUDA_SUCCESS)
        refusal_code(hook_name[id], &(struct refused_code){.library = library}, result);
    errno = kept;
    return hook_leave(on, result);
}

CUresult kernel_function_body(enum wsdbg_hook_id id, void *forward, CUfunction *f, CUkernel kernel)
{
    bool on = hook_enter();
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUfunction *, CUkernel))forward)(f, kernel);
    debug_attach_load_end();
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        tracking_kernel_function(*f, kernel);
    if (on && result != CUDA_SUCCESS)
        refusal_code(hook_name[id], &(struct refused_code){.kernel = kernel}, result);
    errno = kept;
    return hook_leave(on, result);
}

static CUresult leave_setting(bool on, enum wsdbg_hook_id id, const struct refused_setting *setting, CUresult result)
{
    if (on && result != CUDA_SUCCESS)
        refusal_setting(hook_name[id], setting, result);
    return hook_leave(on, result);
}

CUresult function_attribute_body(enum wsdbg_hook_id id, void *forward, CUfunction f, int attribute, int value)
{
    bool on = hook_enter();
    const struct refused_setting setting = {.function = f, .attribute = attribute, .value = value};
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(CUfunction, int, int))forward)(f, attribute, value);
    debug_attach_load_end();
    return leave_setting(on, id, &setting, result);
}

CUresult kernel_attribute_body(enum wsdbg_hook_id id, void *forward, int attribute, int value, CUkernel kernel,
                               CUdevice device)
{
    bool on = hook_enter();
    const struct refused_setting setting = {.kernel = kernel, .device = device, .attribute = attribute, .value = value};
    debug_attach_load_begin();
    CUresult result = ((CUresult(*)(int, int, CUkernel, CUdevice))forward)(attribute, value, kernel, device);
    debug_attach_load_end();
    return leave_setting(on, id, &setting, result);
}
