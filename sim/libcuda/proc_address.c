/* proc_address.c - cuGetProcAddress: a name as cuda.h has it, and a version of CUDA, become a function.
 *
 * Each exported function is a row that the linker collects (ENTRY in driver.h).  Of name, name_v2, name_v3, ... the
 * newest that the version knows is taken; with per-thread default streams its _ptsz or _ptds form, where it has one.
 */
#include <stdio.h>
#include <string.h>

#include "libcuda/driver.h"

extern struct driver_entry __start_wsdbg_entries[], __stop_wsdbg_entries[];

enum { FIRST_SIGNATURES = 2000, NEWEST_SUFFIX = 4, NAME_BYTES = 96 };
enum { QUERY_SUCCESS, QUERY_NOT_FOUND, QUERY_VERSION_TOO_OLD };

/* The CUDA versions from which a name means this function.  All others with a suffix are older than any program that
 * asks. */
static const struct {
    const char *name;
    int version;
} since[] = {
    {"cuCtxCreate_v3", 11040},
    {"cuCtxCreate_v4", 12050},
    {"cuCtxGetDevice_v2", 13000},
    {"cuCtxSynchronize_v2", 13000},
    {"cuDeviceGetUuid_v2", 11040},
    {"cuDevicePrimaryCtxRelease_v2", 11000},
    {"cuDevicePrimaryCtxReset_v2", 11000},
    {"cuDevicePrimaryCtxSetFlags_v2", 11000},
    {"cuEventElapsedTime_v2", 12080},
    {"cuGetProcAddress_v2", 12000},
    {"cuGraphAddDependencies_v2", 12030},
    {"cuGraphAddKernelNode_v2", 12000},
    {"cuGraphAddNode_v2", 12030},
    {"cuGraphExecKernelNodeSetParams_v2", 12000},
    {"cuGraphExecUpdate_v2", 12000},
    {"cuGraphGetEdges_v2", 12030},
    {"cuGraphInstantiate_v2", 11000},
    {"cuGraphKernelNodeGetParams_v2", 12000},
    {"cuGraphKernelNodeSetParams_v2", 12000},
    {"cuGraphNodeGetDependencies_v2", 12030},
    {"cuGraphNodeGetDependentNodes_v2", 12030},
    {"cuGraphRemoveDependencies_v2", 12030},
    {"cuIpcOpenMemHandle_v2", 11000},
    {"cuMemAdvise_v2", 12020},
    {"cuMemPrefetchAsync_v2", 12020},
    {"cuMemcpy3DBatchAsync_v2", 13000},
    {"cuMemcpyBatchAsync_v2", 13000},
    {"cuStreamBatchMemOp_v2", 11070},
    {"cuStreamGetCaptureInfo_v2", 11030},
    {"cuStreamGetCaptureInfo_v3", 12030},
    {"cuStreamGetCtx_v2", 12050},
    {"cuStreamUpdateCaptureDependencies_v2", 12030},
    {"cuStreamWaitValue32_v2", 11070},
    {"cuStreamWaitValue64_v2", 11070},
    {"cuStreamWriteValue32_v2", 11070},
    {"cuStreamWriteValue64_v2", 11070},
};

static int version_of(const char *name)
{
    for (size_t i = 0; i < sizeof since / sizeof since[0]; i++)
        if (strcmp(since[i].name, name) == 0)
            return since[i].version;
    return FIRST_SIGNATURES;
}

static void *find(const char *name)
{
    for (const struct driver_entry *entry = __start_wsdbg_entries; entry < __stop_wsdbg_entries; entry++)
        if (strcmp(entry->name, name) == 0)
            return (void *)entry->address;
    return NULL;
}

static void *find_form(const char *name, bool per_thread)
{
    char form[NAME_BYTES + 8];
    static const char *const suffixes[] = {"_ptsz", "_ptds"};
    for (int i = 0; per_thread && i < 2; i++) {
        snprintf(form, sizeof form, "%s%s", name, suffixes[i]);
        void *found = find(form);
        if (found)
            return found;
    }
    return find(name);
}

/* NULL when there is none; *is_newer: there is one for newer versions. */
static void *find_for(const char *symbol, int version, bool per_thread, bool *is_newer)
{
    char name[NAME_BYTES];
    *is_newer = false;
    for (int suffix = NEWEST_SUFFIX; suffix >= 1; suffix--) {
        if (suffix > 1)
            snprintf(name, sizeof name, "%s_v%d", symbol, suffix);
        else
            snprintf(name, sizeof name, "%s", symbol);
        void *found = find_form(name, per_thread);
        if (found && version_of(name) <= version)
            return found;
        *is_newer |= found != NULL;
    }
    return NULL;
}

/* From CUDA 12 on cuGraphInstantiate means the function with flags. */
static const char *name_for(const char *symbol, int version)
{
    enum { WITH_FLAGS_SINCE = 12000 };
    return version >= WITH_FLAGS_SINCE && strcmp(symbol, "cuGraphInstantiate") == 0 ? "cuGraphInstantiateWithFlags"
                                                                                    : symbol;
}

ENTRY(cuGetProcAddress_v2, const char *symbol, void **out, int version, uint64_t flags, int *status)
{
    bool is_newer = false;
    if (!symbol || !out || flags > CU_GET_PROC_ADDRESS_ALL || version > DRIVER_VERSION)
        return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    if (strlen(symbol) < NAME_BYTES - 4)
        *out = find_for(name_for(symbol, version), version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                        &is_newer);
    if (status)
        *status = *out ? QUERY_SUCCESS : is_newer ? QUERY_VERSION_TOO_OLD : QUERY_NOT_FOUND;
    return CUDA_SUCCESS;
}

/* Before CUDA 12 a name that is not there was an error. */
ENTRY(cuGetProcAddress, const char *symbol, void **out, int version, uint64_t flags)
{
    CUresult result = cuGetProcAddress_v2(symbol, out, version, flags, NULL);
    return result == CUDA_SUCCESS && !*out ? CUDA_ERROR_NOT_FOUND : result;
}
