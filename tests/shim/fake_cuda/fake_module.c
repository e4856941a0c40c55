/* fake_module.c - modules, libraries and functions of the fake libcuda: parsed from text images (fake_cuda.c). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char ptx[] = ".version ", entry[] = ".visible .entry ";

static void add_names(struct module *module, char *words)
{
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word && module->name_count < 8; word = strtok_r(NULL, " ", &rest)) {
        struct wsdbg_name *name = &module->names[module->name_count];
        name->kind = WSDBG_NAME_ROLE;
        name->id = (uint8_t)module->name_count++;
        snprintf(name->name, sizeof name->name, "%s", word);
    }
}

static struct module *unloaded; /* whose handles the next one gets */

static void add_function(struct module *module, const char *name, size_t length)
{
    struct function *used = module->functions[module->function_count];
    struct function *function = used ? used : calloc(1, sizeof *function);
    if (module->function_count == 8)
        fake_complain("a module with more than 8 functions");
    function->kind = FUNCTION;
    function->module = module;
    snprintf(function->name, sizeof function->name, "%.*s", (int)length, name);
    module->functions[module->function_count++] = function;
}

static struct module *parse(const char *image)
{
    struct module *module = unloaded ? unloaded : calloc(1, sizeof *module);
    unloaded = NULL;
    char *copy = strdup(image), *rest = NULL;
    module->kind = MODULE;
    module->context = fake_current();
    module->is_ptx = strncmp(image, ptx, sizeof ptx - 1) == 0;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "function ", 9) == 0) {
            add_function(module, line + 9, strlen(line + 9));
        } else if (module->is_ptx && strncmp(line, entry, sizeof entry - 1) == 0) {
            line += sizeof entry - 1;
            add_function(module, line, strcspn(line, "("));
        } else if (strcmp(line, "probes") == 0) {
            module->probed = 1;
        } else if (strncmp(line, "names ", 6) == 0) {
            add_names(module, line + 6);
        }
    }
    free(copy);
    return module;
}

/* A fatbin with this header holds a fake image right behind it. */
static const char *text_of(const void *image)
{
    static const struct {
        uint32_t magic;
        uint16_t version, header_bytes;
    } fatbin = {0xba55ed50, 1, FAKE_FATBIN_BYTES};
    return (const char *)image + (memcmp(image, &fatbin, sizeof fatbin) == 0 ? FAKE_FATBIN_BYTES : 0);
}

static CUresult load_module(CUmodule *module, const void *image)
{
    const char *text = text_of(image);
    fake_debug_load();
    int error = fake_context_error();
    if (!error)
        error = fake_unsafe();
    if (error)
        return error;
    if (strncmp(text, "//fake", 6) != 0 && strncmp(text, ptx, sizeof ptx - 1) != 0)
        return 200;
    *module = parse(text);
    return 0;
}

FAKE(cuModuleLoadData, (CUmodule * module, const void *image), (module, image))
{
    return load_module(module, image);
}

FAKE(cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned count, void *options, void **values),
     (module, image, count, options, values))
{
    (void)count;
    (void)options;
    (void)values;
    return load_module(module, image);
}

FAKE(cuModuleUnload, (CUmodule handle), (handle))
{
    struct module *module = fake_need(handle, MODULE, "cuModuleUnload");
    module->kind = DEAD;
    for (int i = 0; i < module->function_count; i++)
        module->functions[i]->kind = DEAD;
    if (getenv("FAKE_CUDA_REUSES")) {
        module->function_count = module->name_count = module->probed = 0;
        unloaded = module;
    }
    return 0;
}

struct function *fake_function(struct module *module, const char *name)
{
    for (int i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    return NULL;
}

FAKE(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name), (function, module, name))
{
    *function = fake_function(fake_need(module, MODULE, "cuModuleGetFunction"), name);
    return *function ? 0 : 500;
}

FAKE(cuModuleGetGlobal_v2, (CUdeviceptr * address, size_t *bytes, CUmodule handle, const char *name),
     (address, bytes, handle, name))
{
    struct module *module = fake_need(handle, MODULE, "cuModuleGetGlobal");
    int error = fake_unsafe();
    if (error)
        return error;
    if (module->probed && strcmp(name, WSDBG_CONFIG_SYMBOL) == 0) {
        *address = (CUdeviceptr)(uintptr_t)&module->config;
        *bytes = sizeof module->config;
        return 0;
    }
    if (module->name_count && strcmp(name, WSDBG_NAMES_SYMBOL) == 0) {
        *address = (CUdeviceptr)(uintptr_t)module->names;
        *bytes = (size_t)module->name_count * sizeof *module->names;
        return 0;
    }
    return 500;
}

FAKE(cuFuncGetModule, (CUmodule * module, CUfunction function), (module, function))
{
    *module = ((struct function *)fake_need(function, FUNCTION, "cuFuncGetModule"))->module;
    return 0;
}

FAKE(cuFuncGetName, (const char **name, CUfunction function), (name, function))
{
    *name = ((struct function *)fake_need(function, FUNCTION, "cuFuncGetName"))->name;
    return 0;
}

FAKE(cuFuncGetAttribute, (int *value, int attribute, CUfunction function), (value, attribute, function))
{
    fake_need(function, FUNCTION, "cuFuncGetAttribute");
    *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS                        ? FAKE_REGISTERS
             : attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK         ? 1024
             : attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? 49152
             : attribute == CU_FUNC_ATTRIBUTE_BINARY_VERSION                ? 90
                                                                            : 0;
    return 0;
}

/* Of a kernel too, which is no function. */
FAKE(cuFuncSetAttribute, (CUfunction function, int attribute, int value), (function, attribute, value))
{
    (void)function;
    return attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value > 232448 ? 1 : 0;
}

FAKE(cuLibraryLoadData,
     (CUlibrary * handle, const void *code, void *jit, void **jit_values, unsigned jit_count, void *options,
      void **values, unsigned count),
     (handle, code, jit, jit_values, jit_count, options, values, count))
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    struct library *library = calloc(1, sizeof *library);
    library->kind = LIBRARY;
    library->image = strdup(code);
    *handle = library;
    return strncmp(code, "//fake", 6) == 0 ? 0 : 200;
}

FAKE(cuLibraryUnload, (CUlibrary handle), (handle))
{
    struct library *library = fake_need(handle, LIBRARY, "cuLibraryUnload");
    library->kind = DEAD;
    for (int i = 0; i < library->kernel_count; i++)
        library->kernels[i]->kind = DEAD;
    for (int i = 0; i < 16 && library->in[i]; i++)
        library->in[i]->kind = DEAD;
    return 0;
}

FAKE(cuLibraryGetKernel, (CUkernel * handle, CUlibrary in, const char *name), (handle, in, name))
{
    struct library *library = fake_need(in, LIBRARY, "cuLibraryGetKernel");
    struct kernel *kernel = calloc(1, sizeof *kernel);
    kernel->kind = KERNEL;
    kernel->library = library;
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    library->kernels[library->kernel_count++] = kernel;
    *handle = kernel;
    return 0;
}

struct module *fake_library_module(struct library *library)
{
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < 15 && library->in[i] && library->in[i]->context != fake_current())
        i++;
    if (!library->in[i])
        library->in[i] = parse(library->image);
    pthread_mutex_unlock(&lock);
    return library->in[i];
}

FAKE(cuKernelGetFunction, (CUfunction * function, CUkernel handle), (function, handle))
{
    struct kernel *kernel = fake_need(handle, KERNEL, "cuKernelGetFunction");
    *function = fake_function(fake_library_module(kernel->library), kernel->name);
    return *function ? 0 : 500;
}
