/* tracking.c - modules and functions as this process knows them, and what ends with a context.
 *
 * Reads:  the driver's queries (a function's module, name and attributes).
 * Writes: their rows in the segment; the private tables that lead from a handle to its row.
 *
 * Handles are reused by the driver, so a row is found only through living entries: a module's generation is raised
 * when it is unloaded.  The path of a launch whose function is known takes no lock.  Driver queries are made before the
 * lock is taken, never under it.
 */
#include "tracking.h"

#include <stdio.h>
#include <string.h>

#include "allocations.h"
#include "clock.h"
#include "contexts.h"
#include "libcuda.h"
#include "messages.h"
#include "module_image.h"
#include "own_threads.h"
#include "rank.h"
#include "registry.h"
#include "ring_memory.h"
#include "ring_setup.h"
#include "segment.h"
#include "state.h"

#define MODULES 4096
#define KERNELS 65536u
#define FUNCTIONS 4096u /* a context */

static struct shim_module modules[MODULES]; /* [0] stands for functions whose module is not known */
static uint32_t module_count = 1;

struct kernel_entry {
    uint64_t kernel;
    uint64_t library; /* 0 = unloaded */
};
static struct kernel_entry kernels[KERNELS];
static uint32_t kernel_count;

/* value: bit 63 set, bits 48-59 module, 16-47 generation, 0-15 function row (0xffff = none)
 * function: what the handle stands for in the context, the handle itself or the function of a kernel; 0 = not known */
struct function_entry {
    _Atomic uint64_t handle;
    _Atomic uint64_t value;
    _Atomic uint64_t function;
};
static struct function_entry functions[WSDBG_CONTEXT_ROWS][FUNCTIONS];

static uint32_t hash_handle(uint64_t handle)
{
    return (uint32_t)((handle * 0x9e3779b97f4a7c15u) >> 40);
}

/* ---- modules; the lock is held in the functions of this part that say so ---- */

/* Rows kept free for modules that are seen only when they are launched from. */
#define MODULE_ROWS_RESERVED 128

/* Lock held. */
static uint32_t find_module(uint64_t module, uint64_t library, uint32_t context)
{
    for (uint32_t i = 1; i < module_count; i++)
        if (modules[i].alive && modules[i].context == context && modules[i].module == module &&
            (!library || !modules[i].library || modules[i].library == library))
            return i;
    return 0;
}

/* Lock held.  0 when there is no place left. */
static uint32_t add_module(uint64_t module, uint64_t library, uint32_t context)
{
    uint32_t index = 1;
    while (index < module_count && modules[index].alive)
        index++;
    if (index == MODULES)
        return 0;
    if (index == module_count)
        module_count++;
    uint32_t row = WSDBG_UNKNOWN32;
    uint32_t rows = atomic_load(&shim_segment)->module_count;
    if (context != WSDBG_UNKNOWN32 || rows < WSDBG_MODULE_ROWS - MODULE_ROWS_RESERVED) {
        struct wsdbg_module_row shared = {.handle = library ? library : module, .context = context};
        shared.loaded_ns = shim_now_ns();
        row = registry_add_module(&shared);
    }
    struct shim_module *entry = &modules[index];
    entry->module = module;
    entry->library = library;
    entry->context = context;
    entry->row = row;
    entry->alive = true;
    atomic_store(&entry->state, MODULE_NEW);
    return index;
}

void tracking_loaded(CUmodule module, CUlibrary library, const void *image)
{
    uint32_t context = library ? WSDBG_UNKNOWN32 : contexts_current();
    rank_read(true);
    shim_lock();
    uint32_t index = add_module((uint64_t)(uintptr_t)module, (uint64_t)(uintptr_t)library, context);
    uint32_t row = index ? modules[index].row : WSDBG_UNKNOWN32;
    shim_unlock();
    if (row == WSDBG_UNKNOWN32)
        shim_note("more modules were loaded than the module table holds; some have no row");
    else if (image)
        image_record(image, row);
}

void tracking_unloading(CUmodule module, CUlibrary library)
{
    uint64_t m = (uint64_t)(uintptr_t)module, l = (uint64_t)(uintptr_t)library;
    shim_lock();
    for (uint32_t i = 1; i < module_count; i++)
        if (modules[i].alive && ((m && modules[i].module == m) || (l && modules[i].library == l))) {
            modules[i].alive = false;
            atomic_fetch_add(&modules[i].generation, 1);
        }
    atomic_fetch_add(&modules[0].generation, 1);
    for (uint32_t i = 0; l && i < KERNELS; i++)
        if (kernels[i].library == l)
            kernels[i].library = 0;
    shim_unlock();
}

/* Lock held.  The first context that uses a library takes over its row, another one gets a row of its own. */
static uint32_t place_module(uint64_t module, uint64_t library, uint32_t context, uint32_t *share_from)
{
    uint32_t index = find_module(module, library, context);
    if (index || !library)
        return index ? index : add_module(module, library, context);
    for (uint32_t i = 1; i < module_count; i++) {
        if (!modules[i].alive || modules[i].library != library)
            continue;
        if (modules[i].context != WSDBG_UNKNOWN32) {
            *share_from = modules[i].row;
            continue;
        }
        modules[i].module = module;
        modules[i].context = context;
        if (modules[i].row == WSDBG_UNKNOWN32)
            modules[i].row = registry_add_module(
                &(struct wsdbg_module_row){.handle = library, .context = context, .loaded_ns = shim_now_ns()});
        else
            __atomic_store_n(&atomic_load(&shim_segment)->modules[modules[i].row].context, context, __ATOMIC_RELEASE);
        *share_from = WSDBG_UNKNOWN32;
        return i;
    }
    return add_module(module, library, context);
}

/* Index of a module of the current context, its probes configured. */
static uint32_t module_of(CUmodule module, CUlibrary library, uint32_t context)
{
    if (!module || context == WSDBG_UNKNOWN32)
        return 0;
    uint32_t share_from = WSDBG_UNKNOWN32;
    shim_lock();
    uint32_t index = place_module((uint64_t)(uintptr_t)module, (uint64_t)(uintptr_t)library, context, &share_from);
    shim_unlock();
    if (index && share_from != WSDBG_UNKNOWN32 && modules[index].row != WSDBG_UNKNOWN32)
        image_share(share_from, modules[index].row);
    if (index)
        ring_configure(&modules[index]);
    return index;
}

void tracking_module_seen(CUmodule module, CUlibrary library)
{
    module_of(module, library, contexts_current());
}

/* ---- kernels: handles that are not functions, though they may be launched as such ---- */

/* Lock held. */
static struct kernel_entry *find_kernel(uint64_t kernel)
{
    uint32_t at = hash_handle(kernel) % KERNELS;
    while (kernels[at].kernel && kernels[at].kernel != kernel)
        at = (at + 1) % KERNELS;
    return &kernels[at];
}

#define KERNELS_KEPT (KERNELS / 4 * 3) /* beyond this an unknown handle may be a kernel: it is not looked into */

void tracking_kernel(CUkernel kernel, CUlibrary library)
{
    shim_lock();
    struct kernel_entry *entry = find_kernel((uint64_t)(uintptr_t)kernel);
    if (kernel && !entry->kernel && kernel_count < KERNELS_KEPT) {
        entry->kernel = (uint64_t)(uintptr_t)kernel;
        kernel_count++;
    }
    if (entry->kernel)
        entry->library = (uint64_t)(uintptr_t)library;
    shim_unlock();
}

/* True when it is a kernel; *certain is false when the table overflowed. */
static bool is_kernel(CUfunction handle, CUlibrary *library, bool *certain)
{
    shim_lock();
    struct kernel_entry *entry = find_kernel((uint64_t)(uintptr_t)handle);
    *library = (CUlibrary)(uintptr_t)(entry->kernel ? entry->library : 0);
    *certain = kernel_count < KERNELS_KEPT;
    shim_unlock();
    return *library != NULL;
}

void tracking_kernel_function(CUfunction function, CUkernel kernel)
{
    CUlibrary library = NULL;
    CUmodule module = NULL;
    bool certain;
    is_kernel(kernel, &library, &certain);
    if (shim_driver.cuFuncGetModule && shim_driver.cuFuncGetModule(&module, function) == CUDA_SUCCESS)
        module_of(module, library, contexts_current());
}

uint32_t tracking_module_row(CUmodule module, CUlibrary library)
{
    const uint64_t m = (uint64_t)(uintptr_t)module, l = (uint64_t)(uintptr_t)library;
    uint32_t row = WSDBG_UNKNOWN32;
    shim_lock();
    for (uint32_t i = 1; i < module_count && row == WSDBG_UNKNOWN32; i++)
        if (modules[i].alive && ((m && modules[i].module == m) || (l && modules[i].library == l)))
            row = modules[i].row;
    shim_unlock();
    return row;
}

/* ---- functions ---- */

static uint32_t function_attribute(int attribute, CUfunction function)
{
    int value = 0;
    if (shim_driver.cuFuncGetAttribute(&value, attribute, function) != CUDA_SUCCESS || value < 0)
        return WSDBG_UNKNOWN32;
    return (uint32_t)value;
}

static void describe_function(struct wsdbg_function_row *row, CUfunction function)
{
    const char *name = NULL;
    row->registers = function_attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, function);
    row->static_shared_bytes = function_attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    row->local_bytes = function_attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function);
    row->max_threads = function_attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
    row->binary_version = function_attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION, function);
    if (shim_driver.cuFuncGetName && shim_driver.cuFuncGetName(&name, function) == CUDA_SUCCESS && name)
        snprintf(row->name, sizeof row->name, "%s", name);
}

/* Lock held. */
static struct function_entry *place_function(uint32_t context, uint64_t handle)
{
    uint32_t at = hash_handle(handle);
    for (uint32_t i = 0; i < 64; i++, at++) {
        struct function_entry *entry = &functions[context][at % FUNCTIONS];
        uint64_t key = atomic_load(&entry->handle);
        if (key == handle || key == 0) {
            atomic_store(&entry->handle, handle);
            return entry;
        }
    }
    return NULL;
}

static uint32_t add_function(CUfunction handle, uint32_t context)
{
    CUlibrary library = NULL;
    CUmodule module = NULL;
    CUfunction function = handle;
    bool certain = false;
    struct wsdbg_function_row row = {.handle = (uint64_t)(uintptr_t)handle,
                                     .module = WSDBG_UNKNOWN32,
                                     .registers = WSDBG_UNKNOWN32,
                                     .static_shared_bytes = WSDBG_UNKNOWN32,
                                     .local_bytes = WSDBG_UNKNOWN32,
                                     .max_threads = WSDBG_UNKNOWN32,
                                     .binary_version = WSDBG_UNKNOWN32};
    bool resolved = !is_kernel(handle, &library, &certain) && certain;
    if (library && shim_driver.cuKernelGetFunction)
        resolved = shim_driver.cuKernelGetFunction(&function, handle) == CUDA_SUCCESS;
    uint32_t index = 0;
    if (resolved) {
        if (shim_driver.cuFuncGetModule && shim_driver.cuFuncGetModule(&module, function) == CUDA_SUCCESS)
            index = module_of(module, library, context);
        describe_function(&row, function);
    } else {
        shim_note("some launched functions could not be looked into: their handles are not known");
    }
    shim_lock();
    uint32_t generation = atomic_load(&modules[index].generation);
    row.module = index ? modules[index].row : WSDBG_UNKNOWN32;
    uint32_t result = registry_add_function(&row);
    struct function_entry *entry = place_function(context, row.handle);
    if (entry) {
        atomic_store(&entry->function, resolved ? (uint64_t)(uintptr_t)function : 0);
        atomic_store(&entry->value,
                     1ull << 63 | (uint64_t)index << 48 | (uint64_t)generation << 16 | (result & 0xffffu));
    }
    shim_unlock();
    return result;
}

/* The entry of a handle that was seen in the context and is still what it was; NULL = there is none. */
static struct function_entry *find_function(uint64_t handle, uint32_t context)
{
    for (uint32_t i = 0, at = hash_handle(handle); i < 64 && context != WSDBG_UNKNOWN32; i++, at++) {
        struct function_entry *entry = &functions[context][at % FUNCTIONS];
        uint64_t key = atomic_load_explicit(&entry->handle, memory_order_acquire);
        if (key == 0)
            break;
        if (key != handle)
            continue;
        uint64_t value = atomic_load_explicit(&entry->value, memory_order_acquire);
        uint32_t module = (value >> 48) & 0x7fff;
        if (!(value >> 63) ||
            (uint32_t)(value >> 16) != atomic_load_explicit(&modules[module].generation, memory_order_relaxed))
            break;
        return entry;
    }
    return NULL;
}

static uint32_t row_of(const struct function_entry *entry)
{
    const uint32_t row = entry ? atomic_load_explicit(&entry->value, memory_order_acquire) & 0xffff : 0xffff;
    return row == 0xffff ? WSDBG_UNKNOWN32 : row;
}

uint32_t tracking_launch_function(CUfunction function, uint32_t context)
{
    const struct function_entry *entry = find_function((uint64_t)(uintptr_t)function, context);
    return entry || context == WSDBG_UNKNOWN32 ? row_of(entry) : add_function(function, context);
}

uint32_t tracking_seen_function(CUfunction function, uint32_t context)
{
    return row_of(find_function((uint64_t)(uintptr_t)function, context));
}

CUfunction tracking_look_into(CUfunction handle, uint32_t context, CUlibrary *library)
{
    bool certain = false;
    if (!is_kernel(handle, library, &certain))
        return certain ? handle : NULL;
    const struct function_entry *entry = find_function((uint64_t)(uintptr_t)handle, context);
    return entry ? (CUfunction)(uintptr_t)atomic_load(&entry->function) : NULL;
}

/* ---- the end of a context ---- */

/* Waits a moment for our own thread to leave the context; between its driver calls it looks at `closing`. */
void tracking_close_begin(uint32_t row)
{
    if (row == WSDBG_UNKNOWN32)
        return;
    atomic_store(&shim_contexts[row].closing, 1);
    for (int i = 0; i < 2000 && atomic_load(&shim_contexts[row].users); i++)
        shim_sleep_us(100);
}

static void forget_modules(uint32_t context)
{
    for (uint32_t i = 1; i < module_count; i++)
        if (modules[i].alive && modules[i].context == context) {
            modules[i].alive = false;
            atomic_fetch_add(&modules[i].generation, 1);
        }
}

void tracking_close_end(uint32_t row, bool destroyed)
{
    if (row == WSDBG_UNKNOWN32)
        return;
    if (destroyed) {
        struct wsdbg_context_row *shared = &atomic_load(&shim_segment)->contexts[row];
        uint32_t alive = WSDBG_CONTEXT_ALIVE; /* a fault stays visible */
        __atomic_compare_exchange_n(&shared->state, &alive, WSDBG_CONTEXT_DESTROYED, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
        shim_lock();
        forget_modules(row);
        shim_unlock();
        allocations_end_context(row);
        ring_memory_release(row);
        contexts_forget(row);
    } else {
        atomic_store(&shim_contexts[row].closing, 0);
    }
}
