/* hooks.c - the wrappers of the hooked driver functions.
 *
 * Each row of hook_table.h becomes two functions: the exported symbol (for programs that link libcuda; it
 * forwards to whatever would have been found without us) and the wrapper that dlsym and cuGetProcAddress give
 * out (it forwards to libcuda).  Both run the row's body: record, forward, record the result, and return
 * exactly what the driver returned.
 */
#include "shim.h"

#include <errno.h>
#include <string.h>

#define UNPACK(...) __VA_ARGS__

/* ---- what the bodies share ---- */

static bool enter(void)
{
    int kept = errno;
    shim_depth++;
    bool on = shim_recording();
    errno = kept;
    return on;
}

static CUresult leave(bool on, CUresult result)
{
    if (on && result != CUDA_SUCCESS) {
        int kept = errno;
        tracking_check(result);
        errno = kept;
    }
    shim_depth--;
    return result;
}

static uint64_t begin_launch(const char *call, struct wsdbg_launch_row *row, CUfunction function)
{
    int kept = errno;
    uint64_t entry =
        observer_launch_begin(row, function, atomic_load_explicit(&shim_hooks_record_launches, memory_order_relaxed));
    registry_thread_enter(call, row->context, row->stream, row->time_ns);
    errno = kept;
    return entry;
}

static void end_launch(uint64_t entry, CUresult result)
{
    registry_thread_leave();
    observer_launch_end(entry, result);
}

static void set_no_cluster(struct wsdbg_launch_row *row)
{
    for (int i = 0; i < 3; i++)
        row->cluster[i] = WSDBG_UNKNOWN32;
}

/* ---- bodies ---- */

static CUresult init_body(enum wsdbg_hook_id id, void *forward, unsigned flags)
{
    (void)id;
    shim_depth++;
    CUresult result = ((CUresult(*)(unsigned))forward)(flags);
    shim_depth--;
    return result;
}

static CUresult proc_address_body(enum wsdbg_hook_id id, void *forward, const char *symbol, void **pointer, int version,
                                  uint64_t flags)
{
    (void)id;
    CUresult result = ((CUresult(*)(const char *, void **, int, uint64_t))forward)(symbol, pointer, version, flags);
    if (result == CUDA_SUCCESS && symbol && pointer && *pointer)
        *pointer = interpose_replace(symbol, version, flags, *pointer);
    return result;
}

static CUresult proc_address_v2_body(enum wsdbg_hook_id id, void *forward, const char *symbol, void **pointer,
                                     int version, uint64_t flags, void *status)
{
    (void)id;
    CUresult result =
        ((CUresult(*)(const char *, void **, int, uint64_t, void *))forward)(symbol, pointer, version, flags, status);
    if (result == CUDA_SUCCESS && symbol && pointer && *pointer)
        *pointer = interpose_replace(symbol, version, flags, *pointer);
    return result;
}

static void fill_launch(struct wsdbg_launch_row *row, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream)
{
    *row = (struct wsdbg_launch_row){.grid = {gx, gy, gz}, .block = {bx, by, bz}};
    row->dynamic_shared_bytes = shared;
    row->stream = (uint64_t)(uintptr_t)stream;
    set_no_cluster(row);
}

static CUresult launch_body(enum wsdbg_hook_id id, void *forward, CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                            unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void **parameters,
                            void **extra)
{
    bool on = enter();
    uint64_t entry = UINT64_MAX;
    if (on) {
        struct wsdbg_launch_row row;
        fill_launch(&row, gx, gy, gz, bx, by, bz, shared, stream);
        entry = begin_launch(hook_name[id], &row, f);
    }
    CUresult result = ((CUresult(*) LAUNCH_PARAMETERS)forward)LAUNCH_ARGUMENTS;
    if (on)
        end_launch(entry, result);
    return leave(on, result);
}

static CUresult cooperative_body(enum wsdbg_hook_id id, void *forward, CUfunction f, unsigned gx, unsigned gy,
                                 unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                 void **parameters)
{
    bool on = enter();
    uint64_t entry = UINT64_MAX;
    if (on) {
        struct wsdbg_launch_row row;
        fill_launch(&row, gx, gy, gz, bx, by, bz, shared, stream);
        row.flags = WSDBG_LAUNCH_COOPERATIVE;
        entry = begin_launch(hook_name[id], &row, f);
    }
    CUresult result = ((CUresult(*) COOPERATIVE_PARAMETERS)forward)COOPERATIVE_ARGUMENTS;
    if (on)
        end_launch(entry, result);
    return leave(on, result);
}

static void fill_launch_ex(struct wsdbg_launch_row *row, const struct cu_launch_config *config)
{
    *row = (struct wsdbg_launch_row){.dynamic_shared_bytes = config->shared_bytes};
    memcpy(row->grid, config->grid, sizeof row->grid);
    memcpy(row->block, config->block, sizeof row->block);
    row->stream = (uint64_t)(uintptr_t)config->stream;
    set_no_cluster(row);
    for (uint32_t i = 0; config->attributes && i < config->attribute_count; i++) {
        const struct cu_launch_attribute *attribute = &config->attributes[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            memcpy(row->cluster, attribute->value.cluster, sizeof row->cluster);
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute->value.cooperative)
            row->flags |= WSDBG_LAUNCH_COOPERATIVE;
    }
}

static CUresult launch_ex_body(enum wsdbg_hook_id id, void *forward, const struct cu_launch_config *config,
                               CUfunction f, void **parameters, void **extra)
{
    bool on = enter() && config;
    uint64_t entry = UINT64_MAX;
    if (on) {
        struct wsdbg_launch_row row;
        fill_launch_ex(&row, config);
        entry = begin_launch(hook_name[id], &row, f);
    }
    CUresult result = ((CUresult(*) LAUNCH_EX_PARAMETERS)forward)LAUNCH_EX_ARGUMENTS;
    if (on)
        end_launch(entry, result);
    return leave(on, result);
}

static CUresult graph_launch_body(enum wsdbg_hook_id id, void *forward, void *exec, CUstream stream)
{
    bool on = enter();
    uint64_t entry = UINT64_MAX;
    if (on) {
        struct wsdbg_launch_row row = {.flags = WSDBG_LAUNCH_GRAPH};
        row.stream = (uint64_t)(uintptr_t)stream;
        set_no_cluster(&row);
        entry = begin_launch(hook_name[id], &row, NULL);
    }
    CUresult result = ((CUresult(*)(void *, CUstream))forward)(exec, stream);
    if (on)
        end_launch(entry, result);
    return leave(on, result);
}

/* A function put into a graph may first run by a graph launch: its module must be ready by then. */
static void see_node(bool on, CUfunction function)
{
    int kept = errno;
    if (on && function)
        tracking_launch_function(function, tracking_current_context());
    errno = kept;
}

static CUfunction node_function(const struct cu_kernel_node *kernel)
{
    return kernel->function ? kernel->function : kernel->kernel;
}

static CUresult kernel_node_body(enum wsdbg_hook_id id, void *forward, void *node, CUgraph graph, const void *nodes,
                                 size_t count, const struct cu_kernel_node *kernel)
{
    (void)id;
    bool on = enter();
    see_node(on && kernel, kernel ? kernel->function : NULL);
    return leave(on, ((CUresult(*)(void *, CUgraph, const void *, size_t, const void *))forward)(node, graph, nodes,
                                                                                                 count, kernel));
}

static CUresult kernel_node_v2_body(enum wsdbg_hook_id id, void *forward, void *node, CUgraph graph, const void *nodes,
                                    size_t count, const struct cu_kernel_node *kernel)
{
    (void)id;
    bool on = enter();
    see_node(on && kernel, kernel ? node_function(kernel) : NULL);
    return leave(on, ((CUresult(*)(void *, CUgraph, const void *, size_t, const void *))forward)(node, graph, nodes,
                                                                                                 count, kernel));
}

static void see_graph_node(bool on, const struct cu_graph_node *add)
{
    if (add && add->type == CU_GRAPH_NODE_TYPE_KERNEL)
        see_node(on, node_function(&add->kernel));
}

static CUresult graph_node_body(enum wsdbg_hook_id id, void *forward, void *node, CUgraph graph, const void *nodes,
                                size_t count, struct cu_graph_node *add)
{
    (void)id;
    bool on = enter();
    see_graph_node(on, add);
    return leave(on,
                 ((CUresult(*)(void *, CUgraph, const void *, size_t, void *))forward)(node, graph, nodes, count, add));
}

static CUresult graph_node_v2_body(enum wsdbg_hook_id id, void *forward, void *node, CUgraph graph, const void *nodes,
                                   const void *edges, size_t count, struct cu_graph_node *add)
{
    (void)id;
    bool on = enter();
    see_graph_node(on, add);
    return leave(on, ((CUresult(*)(void *, CUgraph, const void *, const void *, size_t, void *))forward)(
                         node, graph, nodes, edges, count, add));
}

static CUresult set_node_body(enum wsdbg_hook_id id, void *forward, void *exec, void *node,
                              const struct cu_kernel_node *kernel)
{
    (void)id;
    bool on = enter();
    see_node(on && kernel, kernel ? kernel->function : NULL);
    return leave(on, ((CUresult(*)(void *, void *, const void *))forward)(exec, node, kernel));
}

static CUresult set_node_v2_body(enum wsdbg_hook_id id, void *forward, void *exec, void *node,
                                 const struct cu_kernel_node *kernel)
{
    (void)id;
    bool on = enter();
    see_node(on && kernel, kernel ? node_function(kernel) : NULL);
    return leave(on, ((CUresult(*)(void *, void *, const void *))forward)(exec, node, kernel));
}

static CUresult begin_capture_body(enum wsdbg_hook_id id, void *forward, CUstream stream, int mode)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUstream, int))forward)(stream, mode);
    if (result == CUDA_SUCCESS)
        observer_capture(1);
    return leave(on, result);
}

static CUresult capture_to_graph_body(enum wsdbg_hook_id id, void *forward, CUstream stream, CUgraph graph,
                                      const void *nodes, const void *edges, size_t count, int mode)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*) CAPTURE_GRAPH_PARAMETERS)forward)(stream, graph, nodes, edges, count, mode);
    if (result == CUDA_SUCCESS)
        observer_capture(1);
    return leave(on, result);
}

static CUresult end_capture_body(enum wsdbg_hook_id id, void *forward, CUstream stream, CUgraph *graph)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUstream, CUgraph *))forward)(stream, graph);
    observer_capture(-1);
    return leave(on, result);
}

static CUresult module_file_body(enum wsdbg_hook_id id, void *forward, CUmodule *module, const char *file)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUmodule *, const char *))forward)(module, file);
    if (on && result == CUDA_SUCCESS)
        tracking_loaded(*module, NULL, NULL);
    return leave(on, result);
}

static CUresult module_data_body(enum wsdbg_hook_id id, void *forward, CUmodule *module, const void *image)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUmodule *, const void *))forward)(module, image);
    if (on && result == CUDA_SUCCESS)
        tracking_loaded(*module, NULL, image);
    return leave(on, result);
}

static CUresult module_data_ex_body(enum wsdbg_hook_id id, void *forward, CUmodule *module, const void *image,
                                    unsigned count, void *options, void **values)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUmodule *, const void *, unsigned, void *, void **))forward)(module, image, count,
                                                                                                  options, values);
    if (on && result == CUDA_SUCCESS)
        tracking_loaded(*module, NULL, image);
    return leave(on, result);
}

static CUresult get_function_body(enum wsdbg_hook_id id, void *forward, CUfunction *f, CUmodule module,
                                  const char *name)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUfunction *, CUmodule, const char *))forward)(f, module, name);
    if (on && result == CUDA_SUCCESS)
        tracking_module_seen(module, NULL);
    return leave(on, result);
}

static CUresult library_data_body(enum wsdbg_hook_id id, void *forward, CUlibrary *library, const void *code, void *jit,
                                  void **jit_values, unsigned jit_count, void *options, void **values, unsigned count)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*) LIBRARY_PARAMETERS)forward)LIBRARY_ARGUMENTS;
    if (on && result == CUDA_SUCCESS)
        tracking_loaded(NULL, *library, code);
    return leave(on, result);
}

static CUresult library_file_body(enum wsdbg_hook_id id, void *forward, CUlibrary *library, const void *code, void *jit,
                                  void **jit_values, unsigned jit_count, void *options, void **values, unsigned count)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*) LIBRARY_PARAMETERS)forward)LIBRARY_ARGUMENTS;
    if (on && result == CUDA_SUCCESS)
        tracking_loaded(NULL, *library, NULL);
    return leave(on, result);
}

static CUresult library_unload_body(enum wsdbg_hook_id id, void *forward, CUlibrary library)
{
    bool on = enter();
    if (on) {
        tracking_unloading(NULL, library);
        registry_thread_enter(hook_name[id], tracking_current_context(), WSDBG_UNKNOWN64, shim_now_ns());
    }
    CUresult result = ((CUresult(*)(CUlibrary))forward)(library);
    if (on)
        registry_thread_leave();
    return leave(on, result);
}

static CUresult module_unload_body(enum wsdbg_hook_id id, void *forward, CUmodule module)
{
    bool on = enter();
    if (on) {
        tracking_unloading(module, NULL);
        registry_thread_enter(hook_name[id], tracking_current_context(), WSDBG_UNKNOWN64, shim_now_ns());
    }
    CUresult result = ((CUresult(*)(CUmodule))forward)(module);
    if (on)
        registry_thread_leave();
    return leave(on, result);
}

static CUresult get_kernel_body(enum wsdbg_hook_id id, void *forward, CUkernel *kernel, CUlibrary library,
                                const char *name)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUkernel *, CUlibrary, const char *))forward)(kernel, library, name);
    if (on && result == CUDA_SUCCESS)
        tracking_kernel(*kernel, library);
    return leave(on, result);
}

static CUresult enumerate_body(enum wsdbg_hook_id id, void *forward, CUkernel *kernels, unsigned count,
                               CUlibrary library)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUkernel *, unsigned, CUlibrary))forward)(kernels, count, library);
    unsigned known = 0;
    if (on && result == CUDA_SUCCESS && shim_driver.cuLibraryGetKernelCount)
        shim_driver.cuLibraryGetKernelCount(&known, library);
    for (unsigned i = 0; i < count && i < known; i++)
        tracking_kernel(kernels[i], library);
    return leave(on, result);
}

static CUresult library_module_body(enum wsdbg_hook_id id, void *forward, CUmodule *module, CUlibrary library)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUmodule *, CUlibrary))forward)(module, library);
    if (on && result == CUDA_SUCCESS)
        tracking_module_seen(*module, library);
    return leave(on, result);
}

static CUresult kernel_function_body(enum wsdbg_hook_id id, void *forward, CUfunction *f, CUkernel kernel)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUfunction *, CUkernel))forward)(f, kernel);
    if (on && result == CUDA_SUCCESS)
        tracking_kernel_function(*f, kernel);
    return leave(on, result);
}

static CUresult created(bool on, CUresult result, CUcontext *context, CUdevice device)
{
    if (on && result == CUDA_SUCCESS)
        tracking_add_context(*context, device, true);
    return leave(on, result);
}

static CUresult create_body(enum wsdbg_hook_id id, void *forward, CUcontext *context, unsigned flags, CUdevice device)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUcontext *, unsigned, CUdevice))forward)(context, flags, device);
    return created(on, result, context, device);
}

static CUresult create_v3_body(enum wsdbg_hook_id id, void *forward, CUcontext *context, void *affinity, int count,
                               unsigned flags, CUdevice device)
{
    (void)id;
    bool on = enter();
    CUresult result =
        ((CUresult(*)(CUcontext *, void *, int, unsigned, CUdevice))forward)(context, affinity, count, flags, device);
    return created(on, result, context, device);
}

static CUresult create_v4_body(enum wsdbg_hook_id id, void *forward, CUcontext *context, void *parameters,
                               unsigned flags, CUdevice device)
{
    (void)id;
    bool on = enter();
    CUresult result =
        ((CUresult(*)(CUcontext *, void *, unsigned, CUdevice))forward)(context, parameters, flags, device);
    return created(on, result, context, device);
}

static CUresult retain_body(enum wsdbg_hook_id id, void *forward, CUcontext *context, CUdevice device)
{
    (void)id;
    bool on = enter();
    CUresult result = ((CUresult(*)(CUcontext *, CUdevice))forward)(context, device);
    if (on && result == CUDA_SUCCESS)
        tracking_add_context(*context, device, false);
    return leave(on, result);
}

static CUresult destroy_body(enum wsdbg_hook_id id, void *forward, CUcontext context)
{
    bool on = enter();
    uint32_t row = on ? tracking_find_context((uint64_t)(uintptr_t)context) : WSDBG_UNKNOWN32;
    tracking_close_begin(row);
    if (on)
        registry_thread_enter(hook_name[id], row, WSDBG_UNKNOWN64, shim_now_ns());
    CUresult result = ((CUresult(*)(CUcontext))forward)(context);
    if (on)
        registry_thread_leave();
    tracking_close_end(row, result == CUDA_SUCCESS);
    return leave(on, result);
}

/* Release ends the context when it was the last one, Reset always: the driver says whether it is still there. */
static CUresult release_body(enum wsdbg_hook_id id, void *forward, CUdevice device)
{
    bool on = enter();
    uint32_t row = on ? tracking_find_primary(device) : WSDBG_UNKNOWN32;
    tracking_close_begin(row);
    if (on)
        registry_thread_enter(hook_name[id], row, WSDBG_UNKNOWN64, shim_now_ns());
    CUresult result = ((CUresult(*)(CUdevice))forward)(device);
    if (on)
        registry_thread_leave();
    bool reset = id == WSDBG_HOOK_cuDevicePrimaryCtxReset || id == WSDBG_HOOK_cuDevicePrimaryCtxReset_v2;
    unsigned flags = 0;
    int active = 1;
    if (row != WSDBG_UNKNOWN32 && !reset)
        shim_driver.cuDevicePrimaryCtxGetState(device, &flags, &active);
    tracking_close_end(row, result == CUDA_SUCCESS && (reset || !active));
    return leave(on, result);
}

static CUresult query_body(enum wsdbg_hook_id id, void *forward, void *handle)
{
    (void)id;
    bool on = enter();
    return leave(on, ((CUresult(*)(void *))forward)(handle));
}

/* ---- the wrappers ---- */

#define X(symbol, body, parameters, arguments)                                                           \
    SHIM_EXPORT CUresult symbol parameters;                                                              \
    SHIM_EXPORT CUresult symbol parameters                                                               \
    {                                                                                                    \
        void *forward = interpose_next(WSDBG_HOOK_##symbol);                                             \
        return forward ? body(WSDBG_HOOK_##symbol, forward, UNPACK arguments) : CUDA_ERROR_STUB_LIBRARY; \
    }                                                                                                    \
    static CUresult wrap_##symbol parameters                                                             \
    {                                                                                                    \
        void *forward = interpose_real(WSDBG_HOOK_##symbol);                                             \
        return forward ? body(WSDBG_HOOK_##symbol, forward, UNPACK arguments) : CUDA_ERROR_STUB_LIBRARY; \
    }
WSDBG_HOOKS(X)
#undef X

static bool sync_enter(enum wsdbg_hook_id id, uint64_t stream)
{
    bool on = enter();
    if (on) {
        int kept = errno;
        registry_thread_enter(hook_name[id], tracking_current_context(), stream, shim_now_ns());
        errno = kept;
    }
    return on;
}

static CUresult sync_leave(bool on, CUresult result)
{
    if (on)
        registry_thread_leave();
    return leave(on, result);
}

#define SYNC_BODY(symbol, find, stream, parameters, arguments) \
    void *forward = find(WSDBG_HOOK_##symbol);                 \
    if (!forward)                                              \
        return CUDA_ERROR_STUB_LIBRARY;                        \
    bool on = sync_enter(WSDBG_HOOK_##symbol, stream);         \
    return sync_leave(on, ((CUresult(*) parameters)forward)arguments);
#define X(symbol, stream, parameters, arguments)                         \
    SHIM_EXPORT CUresult symbol parameters;                              \
    SHIM_EXPORT CUresult symbol parameters                               \
    {                                                                    \
        SYNC_BODY(symbol, interpose_next, stream, parameters, arguments) \
    }                                                                    \
    static CUresult wrap_##symbol parameters                             \
    {                                                                    \
        SYNC_BODY(symbol, interpose_real, stream, parameters, arguments) \
    }
WSDBG_SYNC_HOOKS(X)
#undef X

#define X(symbol, body, parameters, arguments) #symbol,
const char *const hook_name[WSDBG_HOOK_COUNT] = {WSDBG_HOOKS(X) WSDBG_SYNC_HOOKS(X)};
#undef X
#define X(symbol, body, parameters, arguments) (void *)wrap_##symbol,
void *const hook_wrapper[WSDBG_HOOK_COUNT] = {WSDBG_HOOKS(X) WSDBG_SYNC_HOOKS(X)};
#undef X
#define X(symbol, body, parameters, arguments) (void *)symbol,
void *const hook_exported[WSDBG_HOOK_COUNT] = {WSDBG_HOOKS(X) WSDBG_SYNC_HOOKS(X)};
#undef X
