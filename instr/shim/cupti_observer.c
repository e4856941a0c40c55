/* cupti_observer.c - the CUPTI observer: launches by driver-API callbacks, GPU work by activity records.
 *
 * Reads:  CUPTI, loaded at run time (WSDBG_CUPTI or the usual places), never linked.
 * Writes: launch, module and activity rows.
 *
 * The hooks of this library stay in place for what CUPTI does not tell (the ring's set-up, blocked threads).
 * The serialising kernel activity kind is never enabled: it would change which kernels run together.
 */
#include "observer.h"

#include <cupti.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "registry.h"

#define BUFFER_BYTES (256u << 10)
#define FLUSH_PERIOD_MS 50u

#define CUPTI_CALLS(X)                \
    X(cuptiGetVersion)                \
    X(cuptiSubscribe)                 \
    X(cuptiEnableCallback)            \
    X(cuptiUnsubscribe)               \
    X(cuptiActivityRegisterCallbacks) \
    X(cuptiActivityEnable)            \
    X(cuptiActivityGetNextRecord)     \
    X(cuptiActivityFlushPeriod)       \
    X(cuptiActivityFlushAll)          \
    X(cuptiGetResultString)

static struct {
#define X(name) __typeof__(&name) name;
    CUPTI_CALLS(X)
#undef X
    __typeof__(&cuptiSubscribe_v2) cuptiSubscribe_v2; /* NULL in older CUPTI */
} cupti;

static const CUpti_CallbackId launch_ids[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

/* ---- launches ---- */

/* cuLaunchCooperativeKernel's parameters begin like cuLaunchKernel's. */
static void fill_plain(struct wsdbg_launch_row *row, const cuLaunchKernel_params *given)
{
    memcpy(row->grid, (uint32_t[]){given->gridDimX, given->gridDimY, given->gridDimZ}, sizeof row->grid);
    memcpy(row->block, (uint32_t[]){given->blockDimX, given->blockDimY, given->blockDimZ}, sizeof row->block);
    row->dynamic_shared_bytes = given->sharedMemBytes;
    row->stream = (uint64_t)(uintptr_t)given->hStream;
}

static void fill_config(struct wsdbg_launch_row *row, const CUlaunchConfig *given)
{
    memcpy(row->grid, (uint32_t[]){given->gridDimX, given->gridDimY, given->gridDimZ}, sizeof row->grid);
    memcpy(row->block, (uint32_t[]){given->blockDimX, given->blockDimY, given->blockDimZ}, sizeof row->block);
    row->dynamic_shared_bytes = given->sharedMemBytes;
    row->stream = (uint64_t)(uintptr_t)given->hStream;
    for (unsigned i = 0; given->attrs && i < given->numAttrs; i++) {
        const CUlaunchAttributeValue *value = &given->attrs[i].value;
        if (given->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            memcpy(row->cluster, (uint32_t[]){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z},
                   sizeof row->cluster);
        else if (given->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && value->cooperative)
            row->flags |= WSDBG_LAUNCH_COOPERATIVE;
        else if (given->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                 value->programmaticStreamSerializationAllowed)
            row->flags |= WSDBG_LAUNCH_PROGRAMMATIC;
    }
}

/* The launched function, NULL for a graph. */
static void *fill_launch(struct wsdbg_launch_row *row, CUpti_CallbackId id, const void *parameters)
{
    const cuLaunchKernel_params *plain = parameters;
    const cuLaunchKernelEx_params *extended = parameters;
    const cuGraphLaunch_params *graph = parameters;
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
        row->flags = WSDBG_LAUNCH_GRAPH;
        row->stream = (uint64_t)(uintptr_t)graph->hStream;
        return NULL;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
        if (extended->config)
            fill_config(row, extended->config);
        return extended->f;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        row->flags = WSDBG_LAUNCH_COOPERATIVE;
        fill_plain(row, plain);
        return plain->f;
    default:
        fill_plain(row, plain);
        return plain->f;
    }
}

static void launch_callback(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
    if (data->callbackSite == CUPTI_API_EXIT) {
        const CUresult *result = data->functionReturnValue;
        if (*data->correlationData)
            observer_launch_end(*data->correlationData - 1, result ? (int)*result : WSDBG_RESULT_PENDING);
        return;
    }
    struct wsdbg_launch_row row = {.cluster = {WSDBG_UNKNOWN32, WSDBG_UNKNOWN32, WSDBG_UNKNOWN32}};
    void *function = fill_launch(&row, id, data->functionParams);
    *data->correlationData = observer_launch_begin(&row, function, true) + 1;
}

static void CUPTIAPI on_callback(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    int kept = errno;
    bool hooked = observer_inside_hook();
    (void)unused;
    observer_quiet(2);
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        launch_callback(id, data);
    } else if (domain == CUPTI_CB_DOMAIN_RESOURCE && !hooked) {
        const CUpti_ResourceData *resource = data;
        const CUpti_ModuleResourceData *module = resource->resourceDescriptor;
        if (module && module->pCubin)
            observer_unseen_module(module->pCubin);
    }
    observer_quiet(-2);
    errno = kept;
}

/* ---- activity ---- */

static void add_kernel(const CUpti_ActivityKernel10 *kernel)
{
    struct wsdbg_activity_row row = {.kind = WSDBG_ACTIVITY_KERNEL, .start_ns = kernel->start, .end_ns = kernel->end};
    row.stream = kernel->streamId;
    row.device_ordinal = kernel->deviceId;
    row.correlation = kernel->correlationId;
    row.function = WSDBG_UNKNOWN32;
    if (kernel->name) {
        row.function = registry_find_function(kernel->name);
        snprintf(row.name, sizeof row.name, "%s", kernel->name);
    }
    registry_add_activity(&row);
}

static const char *copy_name(uint8_t kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
        return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
        return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
        return "DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return "PtoP";
    default:
        return "copy";
    }
}

static void add_copy(const CUpti_ActivityMemcpy6 *copy)
{
    struct wsdbg_activity_row row = {.kind = WSDBG_ACTIVITY_COPY, .start_ns = copy->start, .end_ns = copy->end};
    row.stream = copy->streamId;
    row.bytes = copy->bytes;
    row.device_ordinal = copy->deviceId;
    row.correlation = copy->correlationId;
    row.function = WSDBG_UNKNOWN32;
    snprintf(row.name, sizeof row.name, "%s", copy_name(copy->copyKind));
    registry_add_activity(&row);
}

static void add_set(const CUpti_ActivityMemset4 *set)
{
    struct wsdbg_activity_row row = {.kind = WSDBG_ACTIVITY_SET, .start_ns = set->start, .end_ns = set->end};
    row.stream = set->streamId;
    row.bytes = set->bytes;
    row.device_ordinal = set->deviceId;
    row.correlation = set->correlationId;
    row.function = WSDBG_UNKNOWN32;
    snprintf(row.name, sizeof row.name, "memset");
    registry_add_activity(&row);
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *bytes, size_t *record_limit)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *bytes = *buffer ? BUFFER_BYTES : 0;
    *record_limit = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
    CUpti_Activity *record = NULL;
    (void)context;
    (void)stream;
    (void)bytes;
    while (valid_bytes && cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            add_kernel((const void *)record);
        else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
            add_copy((const void *)record);
        else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET)
            add_set((const void *)record);
    }
    free(buffer);
}

static pid_t started_in;

/* Takes what is finished; does not wait for what runs.  A forked child has CUPTI's locks but not its threads. */
static void flush_at_exit(void)
{
    if (getpid() == started_in)
        cupti.cuptiActivityFlushAll(0);
}

/* ---- start ---- */

static void *open_cupti(void)
{
    static const char *const names[] = {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", "libcupti.so",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    const char *chosen = getenv("WSDBG_CUPTI");
    if (chosen && *chosen)
        return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static bool load_cupti(char *why)
{
    void *library = open_cupti();
    uint32_t version = 0;
    const char *missing = NULL;
    if (!library) {
        const char *reason = dlerror();
        snprintf(why, WSDBG_TEXT_BYTES, "libcupti cannot be loaded (%s)", reason ? reason : "not found");
        return false;
    }
#define X(name)                                            \
    cupti.name = (__typeof__(&name))dlsym(library, #name); \
    if (!cupti.name)                                       \
        missing = #name;
    CUPTI_CALLS(X)
#undef X
    cupti.cuptiSubscribe_v2 = (__typeof__(&cuptiSubscribe_v2))dlsym(library, "cuptiSubscribe_v2");
    if (missing || cupti.cuptiGetVersion(&version) != CUPTI_SUCCESS || version / 10000 != CUPTI_API_VERSION / 10000) {
        snprintf(why, WSDBG_TEXT_BYTES, "libcupti is version %u, wsdbg was built for %d", version, CUPTI_API_VERSION);
        return false;
    }
    return true;
}

/* Libraries of tools that use CUPTI, for when CUPTI itself does not name its user. */
static int visit_tool(struct dl_phdr_info *object, size_t size, void *name)
{
    static const char *const tools[] = {"libToolsInjection",
                                        "libcuda-injection",
                                        "libnvperf_host_injection",
                                        "libsanitizer-",
                                        "libkineto",
                                        "libTreeLauncher",
                                        "libcuptitrace",
                                        "libnsys"};
    (void)size;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strstr(object->dlpi_name, tools[i])) {
            *(const char **)name = object->dlpi_name;
            return 1;
        }
    return 0;
}

static void name_holder(const char *told, char *why)
{
    const char *name = *told && !strstr(told, "<not provided>") ? told : NULL;
    if (!name)
        dl_iterate_phdr(visit_tool, &name);
    if (!name)
        name = getenv("CUDA_INJECTION64_PATH");
    snprintf(why, WSDBG_TEXT_BYTES, "another CUPTI user holds this process: %s",
             name ? name : "it does not say its name");
}

static CUptiResult subscribe(CUpti_SubscriberHandle *subscriber, char *holder, size_t size)
{
    if (!cupti.cuptiSubscribe_v2)
        return cupti.cuptiSubscribe(subscriber, on_callback, NULL);
    CUpti_SubscriberParams parameters = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE};
    parameters.subscriberName = "wsdbg";
    parameters.oldSubscriberName = holder;
    parameters.oldSubscriberSize = size;
    return cupti.cuptiSubscribe_v2(subscriber, on_callback, NULL, &parameters);
}

static CUptiResult enable(CUpti_SubscriberHandle subscriber)
{
    CUptiResult result = CUPTI_SUCCESS;
    for (size_t i = 0; !result && i < sizeof launch_ids / sizeof *launch_ids; i++)
        result = cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launch_ids[i]);
    if (!result)
        result = cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
    if (!result)
        result = cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    if (!result)
        result = cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    if (!result)
        result = cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    if (!result)
        result = cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
    if (!result)
        result = cupti.cuptiActivityFlushPeriod(FLUSH_PERIOD_MS);
    return result;
}

bool cupti_start(char *why)
{
    CUpti_SubscriberHandle subscriber = NULL;
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN + 1] = "";
    const char *text = "no reason given";
    if (!load_cupti(why))
        return false;
    CUptiResult result = subscribe(&subscriber, holder, sizeof holder);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
        name_holder(holder, why);
        return false;
    }
    if (result == CUPTI_SUCCESS && (result = enable(subscriber)) != CUPTI_SUCCESS)
        cupti.cuptiUnsubscribe(subscriber);
    if (result != CUPTI_SUCCESS) {
        cupti.cuptiGetResultString(result, &text);
        snprintf(why, WSDBG_TEXT_BYTES, "CUPTI refused: %s", text);
        return false;
    }
    started_in = getpid();
    atexit(flush_at_exit);
    shim_note("GPU core dumps and live GPU state are closed: the driver refuses them beside a CUPTI subscriber");
    return true;
}
