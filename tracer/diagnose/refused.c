/* refused.c - see refused.h.  Reads: a refusal as the observer recorded it.  Writes: a code and words.
 *
 * Each limit is looked at by one function, which fills the words and says true where the launch is beyond it.  Limits
 * that the driver did not tell are not looked at.  The result decides with which family of limits to begin.
 */
#include "diagnose/refused.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/launch_needs.h"
#include "model/symbol.h"

enum {
    NO_BINARY_FOR_GPU = 209,
    OUT_OF_RESOURCES = 701,
    COOPERATIVE_TOO_LARGE = 720,
    INVALID_CLUSTER_SIZE = 912,
    GRID_Y_MOST = 65535,
    BLOCK_Z_MOST = 64,
    CLUSTER_PORTABLE = 8,
    CLUSTER_MOST = 16,
    NUMBER_BYTES = 32,
    ATTRIBUTE_MAX_DYNAMIC_SHARED = 8, /* CUfunction_attribute */
    ATTRIBUTE_CLUSTER_FIRST = 10,
    ATTRIBUTE_CLUSTER_LAST = 14,
};

#define CODE_NAME(code) #code,
static const char *const names[] = {WSDBG_REFUSED(CODE_NAME)};

const char *wsdbg_refused_name(enum wsdbg_refused cause)
{
    return (unsigned)cause < WSDBG_REFUSED_COUNT ? names[cause] : "LAUNCH_REFUSED";
}

const char *wsdbg_refused_result_name(int32_t result)
{
    static const struct {
        int32_t result;
        const char *name;
    } table[] = {
        {1, "CUDA_ERROR_INVALID_VALUE"},
        {200, "CUDA_ERROR_INVALID_IMAGE"},
        {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {218, "CUDA_ERROR_INVALID_PTX"},
        {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
        {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED"},
        {300, "CUDA_ERROR_INVALID_SOURCE"},
        {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
        {801, "CUDA_ERROR_NOT_SUPPORTED"},
        {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].result == result)
            return table[i].name;
    return NULL;
}

/* ---- words ---- */

/* "67,584" */
static const char *grouped(uint64_t number, char out[NUMBER_BYTES])
{
    char digits[NUMBER_BYTES];
    const int count = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *at = out;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return out;
}
#define GROUPED(number) grouped(number, (char[NUMBER_BYTES]){0})

static bool says(struct wsdbg_refused_words *out, enum wsdbg_refused cause, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool says(struct wsdbg_refused_words *out, enum wsdbg_refused cause, const char *format, ...)
{
    va_list arguments;
    out->cause = cause;
    va_start(arguments, format);
    vsnprintf(out->sentence, sizeof out->sentence, format, arguments);
    va_end(arguments);
    return true;
}

#define FIX(out, ...) snprintf((out)->fix, sizeof(out)->fix, __VA_ARGS__)

static bool is_known(uint32_t number)
{
    return number != WSDBG_UNKNOWN32;
}

static uint64_t volume(const uint32_t size[3])
{
    return (uint64_t)size[0] * size[1] * size[2];
}

static bool has_zero(const uint32_t size[3])
{
    return !size[0] || !size[1] || !size[2];
}

/* The cluster that the launch has: given with it, or the kernel's own. */
static const uint32_t *cluster_of(const struct wsdbg_refusal_row *row)
{
    if (is_known(row->cluster[0]))
        return row->cluster;
    return is_known(row->required_cluster[0]) && row->required_cluster[0] ? row->required_cluster : NULL;
}

static void write_subject(const struct wsdbg_refusal_row *row, char *out, size_t bytes)
{
    char name[256];
    const uint32_t *cluster = cluster_of(row);
    if (row->flags & WSDBG_LAUNCH_GRAPH) {
        snprintf(out, bytes, "a graph");
        return;
    }
    wsdbg_symbol_name(row->name, name, sizeof name);
    size_t used = (size_t)snprintf(out, bytes, "%.200s",
                                   name[0]                           ? name
                                   : row->kind == WSDBG_REFUSAL_CODE ? "a module"
                                                                     : "a kernel of unknown name");
    if (row->kind != WSDBG_REFUSAL_LAUNCH)
        return;
    used += (size_t)snprintf(out + used, bytes - used, ", grid %ux%ux%u, block %ux%ux%u", row->grid[0], row->grid[1],
                             row->grid[2], row->block[0], row->block[1], row->block[2]);
    if (cluster)
        used += (size_t)snprintf(out + used, bytes - used, ", cluster %ux%ux%u", cluster[0], cluster[1], cluster[2]);
    if (row->flags & WSDBG_LAUNCH_COOPERATIVE)
        used += (size_t)snprintf(out + used, bytes - used, ", cooperative");
    if (row->dynamic_shared_bytes)
        snprintf(out + used, bytes - used, ", %u B dynamic shared", row->dynamic_shared_bytes);
}

/* ---- the limits ---- */

typedef bool limit(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out);

static bool beyond_grid(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    if (has_zero(row->grid))
        return says(out, WSDBG_REFUSED_LAUNCH_GRID, "a grid of %u x %u x %u CTAs: no side may be 0", row->grid[0],
                    row->grid[1], row->grid[2]);
    if (row->grid[0] <= INT32_MAX && row->grid[1] <= GRID_Y_MOST && row->grid[2] <= GRID_Y_MOST)
        return false;
    FIX(out, "Put the long side of the grid into x.");
    return says(out, WSDBG_REFUSED_LAUNCH_GRID, "a grid of %s x %s x %s CTAs: at most 2,147,483,647 x 65,535 x 65,535",
                GROUPED(row->grid[0]), GROUPED(row->grid[1]), GROUPED(row->grid[2]));
}

static bool beyond_block(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    const uint64_t threads = volume(row->block);
    const uint32_t most = is_known(row->threads_per_cta) ? row->threads_per_cta : 1024;
    if (!has_zero(row->block) && threads <= most && row->block[2] <= BLOCK_Z_MOST)
        return false;
    return says(out, WSDBG_REFUSED_LAUNCH_BLOCK,
                "a CTA of %u x %u x %u = %s threads: at least 1 and at most %s, of these %d in z", row->block[0],
                row->block[1], row->block[2], GROUPED(threads), GROUPED(most), BLOCK_Z_MOST);
}

/* The largest CTA that the kernel's registers allow is more than its attribute says: the rest are launch bounds. */
static bool beyond_bounds(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    const uint64_t threads = volume(row->block);
    if (!is_known(row->most_threads) || threads <= row->most_threads)
        return false;
    FIX(out, "Launch at most %u threads a CTA, or raise the kernel's __launch_bounds__ (.maxntid) and compile again.",
        row->most_threads);
    return says(out, WSDBG_REFUSED_LAUNCH_BLOCK,
                "a CTA of %s threads: the kernel was compiled for at most %s (__launch_bounds__, .maxntid, .reqntid)",
                GROUPED(threads), GROUPED(row->most_threads));
}

static bool beyond_registers(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    const uint64_t threads = volume(row->block);
    const uint32_t pool = row->registers_per_cta;
    if (!is_known(row->registers) || !is_known(pool) || threads == 0 || threads > 1024 ||
        wsdbg_registers_of_cta(row->registers, (uint32_t)threads) <= pool)
        return false;
    const uint32_t given = wsdbg_registers_given(row->registers);
    const uint32_t most = wsdbg_registers_most((uint32_t)threads, pool);
    const uint64_t needed = wsdbg_registers_of_cta(row->registers, (uint32_t)threads);
    const uint64_t places = given ? needed / given : 0;
    char registers[NUMBER_BYTES], lanes[NUMBER_BYTES];
    snprintf(registers, sizeof registers, given == row->registers ? "%u" : "%u → %u", row->registers, given);
    snprintf(lanes, sizeof lanes, places == threads ? "%" PRIu64 : "%" PRIu64 " → %" PRIu64, threads, places);
    FIX(out,
        "Compile the kernel with __launch_bounds__(%" PRIu64 ") or -maxrregcount=%u, or launch CTAs of at most %u "
        "threads. What setmaxnreg asks for later does not count here.",
        threads, most, wsdbg_threads_most(row->registers, pool));
    return says(out, WSDBG_REFUSED_LAUNCH_TOO_MANY_REGS,
                "%s registers × %s threads = %s > %s; largest that launches: %u", registers, lanes, GROUPED(needed),
                GROUPED(pool), most);
}

static bool beyond_shared_of_device(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    const uint64_t wanted = (uint64_t)row->static_shared_bytes + row->dynamic_shared_bytes;
    if (!is_known(row->static_shared_bytes) || !is_known(row->shared_per_cta_most) ||
        wanted <= row->shared_per_cta_most)
        return false;
    FIX(out, "Use fewer or smaller stages: at most %s bytes of dynamic shared memory are left beside the static ones.",
        GROUPED(row->shared_per_cta_most - (row->static_shared_bytes < row->shared_per_cta_most
                                                ? row->static_shared_bytes
                                                : row->shared_per_cta_most)));
    return says(out, WSDBG_REFUSED_LAUNCH_SHARED_MEMORY,
                "%s static + %s dynamic = %s bytes of shared memory > %s, the most that a CTA gets on this device",
                GROUPED(row->static_shared_bytes), GROUPED(row->dynamic_shared_bytes), GROUPED(wanted),
                GROUPED(row->shared_per_cta_most));
}

static bool beyond_shared(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    if (beyond_shared_of_device(row, out))
        return true;
    if (!is_known(row->most_dynamic_shared_bytes) || row->dynamic_shared_bytes <= row->most_dynamic_shared_bytes)
        return false;
    FIX(out,
        "Before the launch: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, %u), or "
        "cuFuncSetAttribute with CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.",
        row->dynamic_shared_bytes);
    return says(out, WSDBG_REFUSED_LAUNCH_SHARED_MEMORY,
                "%s bytes of dynamic shared memory > %s, as the kernel's MAX_DYNAMIC_SHARED_SIZE_BYTES is set",
                GROUPED(row->dynamic_shared_bytes), GROUPED(row->most_dynamic_shared_bytes));
}

static bool beyond_cluster(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    const uint32_t *cluster = cluster_of(row), *required = row->required_cluster;
    if (!cluster) {
        FIX(out, "Launch it with cuLaunchKernelEx (cudaLaunchKernelEx) and a cluster dimension.");
        return row->must_have_cluster == 1 &&
               says(out, WSDBG_REFUSED_LAUNCH_CLUSTER, "the kernel can only be launched with a cluster size");
    }
    const uint64_t ctas = volume(cluster);
    if (has_zero(cluster) || ctas > CLUSTER_MOST)
        return says(out, WSDBG_REFUSED_LAUNCH_CLUSTER, "a cluster of %u x %u x %u = %s CTAs: at least 1 and at most %d",
                    cluster[0], cluster[1], cluster[2], GROUPED(ctas), CLUSTER_MOST);
    if (ctas > CLUSTER_PORTABLE && row->non_portable_cluster == 0) {
        FIX(out, "Before the launch: cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1).");
        return says(out, WSDBG_REFUSED_LAUNCH_CLUSTER,
                    "a cluster of %" PRIu64 " CTAs: more than %d are not portable, and the kernel's "
                    "NON_PORTABLE_CLUSTER_SIZE_ALLOWED is not set",
                    ctas, CLUSTER_PORTABLE);
    }
    if (is_known(required[0]) && required[0] && memcmp(required, cluster, sizeof row->cluster) != 0)
        return says(out, WSDBG_REFUSED_LAUNCH_CLUSTER,
                    "a cluster of %u x %u x %u CTAs: the kernel was compiled for %u x %u x %u (__cluster_dims__)",
                    cluster[0], cluster[1], cluster[2], required[0], required[1], required[2]);
    if (row->grid[0] % cluster[0] == 0 && row->grid[1] % cluster[1] == 0 && row->grid[2] % cluster[2] == 0)
        return false;
    FIX(out, "Round each side of the grid up to a multiple of the cluster's, and let the surplus CTAs exit together "
             "with their cluster.");
    return says(out, WSDBG_REFUSED_LAUNCH_CLUSTER,
                "a grid of %u x %u x %u CTAs is not a whole number of clusters of %u x %u x %u", row->grid[0],
                row->grid[1], row->grid[2], cluster[0], cluster[1], cluster[2]);
}

static bool beyond_cluster_room(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    const uint32_t *cluster = cluster_of(row);
    if (!cluster || row->clusters_most != 0)
        return false;
    FIX(out, "Use a smaller cluster, or less shared memory or fewer threads a CTA, so that more CTAs fit on the "
             "multiprocessors that one cluster may spread over.");
    return says(out, WSDBG_REFUSED_LAUNCH_CLUSTER,
                "no group of multiprocessors has room for a cluster of %" PRIu64 " such CTAs, even on an empty device",
                volume(cluster));
}

static bool beyond_cooperative(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    const uint64_t ctas = volume(row->grid), most = (uint64_t)row->ctas_per_sm * row->sm_count;
    if (!(row->flags & WSDBG_LAUNCH_COOPERATIVE))
        return false;
    if (row->cooperative == 0)
        return says(out, WSDBG_REFUSED_LAUNCH_NOT_COOPERATIVE, "this device cannot launch cooperative grids");
    if (!is_known(row->ctas_per_sm) || !is_known(row->sm_count) || ctas <= most)
        return false;
    FIX(out, "Launch at most %s CTAs and let each do several tiles, or make the CTAs smaller.", GROUPED(most));
    return says(out, WSDBG_REFUSED_LAUNCH_NOT_COOPERATIVE,
                "a cooperative grid of %s CTAs > %u a multiprocessor × %u = %s that are resident at one time",
                GROUPED(ctas), row->ctas_per_sm, row->sm_count, GROUPED(most));
}

/* ---- code ---- */

static bool runs_but_for_its_letter(const struct wsdbg_code_form *form, uint32_t capability)
{
    struct wsdbg_code_form portable = *form;
    portable.architecture_only = false;
    return form->architecture_only && !wsdbg_code_form_runs(form, capability) &&
           (form->architecture <= capability || wsdbg_code_form_runs(&portable, capability));
}

static bool runs_some(const struct wsdbg_holds *holds, uint32_t capability)
{
    bool runs = false;
    for (size_t i = 0; i < holds->count; i++)
        runs |= wsdbg_code_form_runs(&holds->forms[i], capability);
    return runs;
}

static void explain_holds(uint32_t capability, const struct wsdbg_holds *holds, struct wsdbg_refused_words *out)
{
    char text[320];
    const struct wsdbg_code_form *mismatch = NULL;
    wsdbg_holds_text(holds, text, sizeof text);
    for (size_t i = 0; i < holds->count; i++)
        if (runs_but_for_its_letter(&holds->forms[i], capability))
            mismatch = &holds->forms[i];
    if (runs_some(holds, capability)) {
        says(out, WSDBG_REFUSED_LAUNCH_NO_IMAGE,
             "the driver accepts none of the module's code for this device, sm_%u; the module holds %s", capability,
             text);
        return;
    }
    if (mismatch)
        says(out, WSDBG_REFUSED_ARCH_MISMATCH,
             "the module holds %s; this device is sm_%u, and code for sm_%ua runs on sm_%u only", text, capability,
             mismatch->architecture, mismatch->architecture);
    else
        says(out, WSDBG_REFUSED_LAUNCH_NO_IMAGE, "the module holds %s, none of which runs on this device, sm_%u", text,
             capability);
    FIX(out, "Compile for this device too: -gencode arch=compute_%u%s,code=sm_%u%s.", capability,
        capability == 90 ? "a" : "", capability, capability == 90 ? "a" : "");
}

static void explain_code(const struct wsdbg_refusal_row *row, const struct wsdbg_holds *holds,
                         struct wsdbg_refused_words *out)
{
    const uint32_t ptx_version = holds && holds->count ? holds->forms[0].ptx_version : 0;
    const bool is_for_others = holds && is_known(row->compute_capability) && !runs_some(holds, row->compute_capability);
    switch (is_for_others ? NO_BINARY_FOR_GPU : row->result) {
    case 218:
        FIX(out,
            "ptxas -arch=sm_90a on the same PTX says what is wrong; wgmma and setmaxnreg need .target sm_90a. If it "
            "accepts the PTX and the program runs on the simulator, the simulator does not support it.");
        says(out, WSDBG_REFUSED_LAUNCH_NO_IMAGE, "the driver's compiler rejects the PTX");
        return;
    case 222:
        FIX(out, "Update the driver, or compile to machine code (code=sm_90a) beside the PTX.");
        if (ptx_version)
            says(out, WSDBG_REFUSED_LAUNCH_NO_IMAGE, "the PTX is of version %u.%u, newer than this driver can compile",
                 ptx_version / 10, ptx_version % 10);
        else
            says(out, WSDBG_REFUSED_LAUNCH_NO_IMAGE, "the PTX is of a version newer than this driver can compile");
        return;
    case 221:
    case 223:
        FIX(out, "Compile to machine code (code=sm_90a) beside the PTX.");
        says(out, WSDBG_REFUSED_LAUNCH_NO_IMAGE, "there is only PTX for this device, and %s",
             row->result == 221 ? "the driver's compiler (libnvidia-ptxjitcompiler) was not found"
                                : "compiling it is disabled (CUDA_DISABLE_PTX_JIT)");
        return;
    case 200:
    case 300:
        says(out, WSDBG_REFUSED_LAUNCH_NO_IMAGE, "the image is not code that the driver can read");
        return;
    default:
        break;
    }
    if (holds && is_known(row->compute_capability))
        explain_holds(row->compute_capability, holds, out);
    else
        says(out, WSDBG_REFUSED_LAUNCH_NO_IMAGE,
             "the module has no code for this device; which architectures it has code for is not known");
}

static void explain_launch(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    static limit *const resources_first[] = {beyond_registers, beyond_bounds, beyond_block,       beyond_shared,
                                             beyond_cluster,   beyond_grid,   beyond_cooperative, beyond_cluster_room};
    static limit *const cluster_first[] = {beyond_cluster, beyond_registers, beyond_shared, beyond_cluster_room,
                                           beyond_bounds,  beyond_block,     beyond_grid,   beyond_cooperative};
    static limit *const shape_first[] = {beyond_grid,      beyond_block,  beyond_cluster,     beyond_shared,
                                         beyond_registers, beyond_bounds, beyond_cooperative, beyond_cluster_room};
    static limit *const cooperative_first[] = {beyond_cooperative, beyond_registers,   beyond_shared,
                                               beyond_bounds,      beyond_block,       beyond_grid,
                                               beyond_cluster,     beyond_cluster_room};
    if (row->flags & WSDBG_LAUNCH_GRAPH) {
        says(out, WSDBG_REFUSED_LAUNCH_REFUSED, "it is not known which of its nodes is the reason");
        return;
    }
    limit *const *order = row->result == OUT_OF_RESOURCES        ? resources_first
                          : row->result == INVALID_CLUSTER_SIZE  ? cluster_first
                          : row->result == COOPERATIVE_TOO_LARGE ? cooperative_first
                                                                 : shape_first;
    for (size_t i = 0; i < sizeof shape_first / sizeof *shape_first; i++) {
        out->fix[0] = '\0';
        if (order[i](row, out))
            return;
    }
    out->fix[0] = '\0';
    says(out, WSDBG_REFUSED_LAUNCH_REFUSED,
         "shape, registers, shared memory and cluster are within the known limits of kernel and device; a required CTA "
         "size (.reqntid), a parameter, the stream or a launch attribute may be the reason");
}

static void explain_setting(const struct wsdbg_refusal_row *row, struct wsdbg_refused_words *out)
{
    const uint64_t wanted = (uint64_t)row->static_shared_bytes + row->value;
    if (row->attribute == ATTRIBUTE_MAX_DYNAMIC_SHARED && is_known(row->static_shared_bytes) &&
        is_known(row->shared_per_cta_most) && wanted > row->shared_per_cta_most) {
        FIX(out, "Use fewer or smaller stages.");
        says(out, WSDBG_REFUSED_LAUNCH_SHARED_MEMORY,
             "MAX_DYNAMIC_SHARED_SIZE_BYTES %s + %s static = %s bytes > %s, the most that a CTA gets on this device",
             GROUPED(row->value), GROUPED(row->static_shared_bytes), GROUPED(wanted),
             GROUPED(row->shared_per_cta_most));
    } else if (row->attribute >= ATTRIBUTE_CLUSTER_FIRST && row->attribute <= ATTRIBUTE_CLUSTER_LAST) {
        says(out, WSDBG_REFUSED_LAUNCH_CLUSTER, "the kernel's cluster attribute %u cannot be set to %d", row->attribute,
             (int)row->value);
    } else {
        says(out, WSDBG_REFUSED_LAUNCH_REFUSED, "the kernel's attribute %u cannot be set to %d", row->attribute,
             (int)row->value);
    }
}

bool wsdbg_refused_is_launch(const char *call)
{
    return strncmp(call, "cuLaunch", 8) == 0 || strncmp(call, "cuGraph", 7) == 0;
}

bool wsdbg_refused_is_inventory(const char *call, const char *kernel)
{
    if (strncmp(kernel, "_Z", 2) == 0)
        kernel += 2 + strspn(kernel + 2, "0123456789");
    const bool looks_up = strcmp(call, "cuLibraryGetKernel") == 0 || strcmp(call, "cuModuleGetFunction") == 0 ||
                          strcmp(call, "cuKernelGetFunction") == 0;
    return looks_up && strncmp(kernel, "nccl", 4) == 0;
}

bool wsdbg_refused_is_about_code(int32_t result)
{
    return result == 200 || result == 209 || result == 218 || (result >= 221 && result <= 223) || result == 300;
}

void wsdbg_refused_explain(const struct wsdbg_refusal *refusal, const struct wsdbg_holds *holds,
                           struct wsdbg_refused_words *out)
{
    const struct wsdbg_refusal_row *row = &refusal->row;
    *out = (struct wsdbg_refused_words){.cause = WSDBG_REFUSED_LAUNCH_REFUSED};
    write_subject(row, out->subject, sizeof out->subject);
    if (wsdbg_refused_is_about_code(row->result))
        explain_code(row, holds, out);
    else if (row->kind == WSDBG_REFUSAL_SETTING)
        explain_setting(row, out);
    else
        explain_launch(row, out);
}
