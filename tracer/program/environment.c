/* environment.c - see environment.h.  Reads: an environment.  Writes: a new one; the process's own stays as it is. */
#include "program/environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/core_dump.h"
#include "wsdbg/armed.h"

static const char preload_name[] = "LD_PRELOAD", library_name[] = "LD_LIBRARY_PATH";
static const char shim_prefix[] = "libwsdbg-";                      /* libwsdbg-shim.so, libwsdbg-cupti.so */
static const char static_runtime[] = "/libwsdbg-static-runtime.so"; /* in the simulator's folder */

static const char ptxas[] = "/ptxas"; /* in the simulator's folder too */

/* What makes libraries of Python load PTX, the only code that the simulator executes, and not machine code. */
static const char triton_assembler[] = "TRITON_PTXAS_PATH",
                  triton_assembler_of_90[] = "TRITON_PTXAS_BLACKWELL_PATH", /* asked for sm_90 too since Triton 3.9 */
    cupy_keeps_ptx[] = "CUPY_COMPILE_WITH_PTX";

/* What the driver reads when CUDA is initialized. */
static const char core_enable[] = "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
                  core_on_error[] = "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", core_pipe[] = "CUDA_COREDUMP_PIPE",
                  core_file[] = "CUDA_COREDUMP_FILE", core_flags[] = "CUDA_COREDUMP_GENERATION_FLAGS";

enum { ADDED_VARIABLES = 25 }; /* the NULL at the end among them */

static bool is_variable(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static bool is_core_variable(const char *entry)
{
    return is_variable(entry, core_enable) || is_variable(entry, core_on_error) || is_variable(entry, core_pipe) ||
           is_variable(entry, core_file) || is_variable(entry, core_flags);
}

/* Variables this file sets itself: an outer session's must not show through. */
static bool is_replaced(const char *entry)
{
    static const char *const names[] = {
        WSDBG_ENV_SESSION, WSDBG_ENV_SPOOL,        WSDBG_ENV_OBSERVER,     WSDBG_ENV_HISTORY,
        WSDBG_ENV_MARKERS, WSDBG_ENV_SIM_REASON,   WSDBG_ENV_ATTACH_FIRST, WSDBG_ENV_EXPLORE,
        WSDBG_ENV_FILTERS, WSDBG_ENV_RACES,        WSDBG_ENV_RANK_FROM,    WSDBG_ENV_PID_NAMESPACE,
        WSDBG_ENV_ARM,     WSDBG_ENV_LAUNCH_SITES, WSDBG_ENV_RING,         NULL};
    for (size_t i = 0; names[i]; i++)
        if (is_variable(entry, names[i]))
            return true;
    return is_variable(entry, preload_name);
}

/* The shim first, on the simulator the library that replaces static CUDA runtimes, then what was preloaded before;
 * libraries of an outer wsdbg are left out, two shims would record twice. */
static char *preload_value(const struct wsdbg_environment_options *options, const char *before)
{
    const char *folder = options->simulator;
    char *value = NULL;
    char *words = strdup(before ? before : "");
    char *rest = words;
    if (!words || asprintf(&value, "%s=%s%s%s%s", preload_name, options->shim, folder ? ":" : "", folder ? folder : "",
                           folder ? static_runtime : "") < 0) {
        free(words);
        return NULL;
    }
    for (char *word; value && (word = strsep(&rest, " :"));) {
        const char *base = strrchr(word, '/');
        if (!*word || strncmp(base ? base + 1 : word, shim_prefix, sizeof shim_prefix - 1) == 0)
            continue;
        char *longer = NULL;
        if (asprintf(&longer, "%s:%s", value, word) < 0)
            longer = NULL;
        free(value);
        value = longer;
    }
    free(words);
    return value;
}

static char *library_value(const char *folder, const char *before)
{
    char *value = NULL;
    const bool has_more = before && *before;
    if (asprintf(&value, "%s%s%s", folder, has_more ? ":" : "", has_more ? before : "") < 0)
        return NULL;
    return value;
}

static bool add(char **list, size_t *count, const char *name, const char *value)
{
    if (!value)
        return true;
    if (asprintf(&list[*count], "%s=%s", name, value) < 0) {
        list[*count] = NULL;
        return false;
    }
    ++*count;
    return true;
}

/* Leaves out what would make a dump long.  Shared memory, where the mbarriers lie, is kept, and parameters have a
 * section of their own.  Constant banks go with global memory: with only one of the two left out, driver 580 stands
 * still for ever in the dump of a module that has __constant__ variables. */
static const char core_leaves_out[] =
    "skip_nonrelocated_elf_images,skip_global_memory,skip_constbank_memory,skip_local_memory,skip_abort";

/* %p: the driver puts the process's number, since children of the program have dumps of their own. */
static bool add_core(char **list, size_t *count, const char *folder)
{
    char path[2][4096];
    if (!folder)
        return true;
    snprintf(path[0], sizeof path[0], "%s/" WSDBG_CORE_PIPE_PREFIX "%%p", folder);
    snprintf(path[1], sizeof path[1], "%s/" WSDBG_CORE_FILE_PREFIX "%%p", folder);
    return add(list, count, core_enable, "1") && add(list, count, core_on_error, "1") &&
           add(list, count, core_pipe, path[0]) && add(list, count, core_file, path[1]) &&
           add(list, count, core_flags, core_leaves_out);
}

static bool add_simulator(char **list, size_t *count, const char *folder, const char *before)
{
    char *value = NULL, *assembler = NULL;
    if (!folder)
        return true;
    const bool added = (value = library_value(folder, before)) && asprintf(&assembler, "%s%s", folder, ptxas) >= 0 &&
                       add(list, count, library_name, value) && add(list, count, triton_assembler, assembler) &&
                       add(list, count, triton_assembler_of_90, assembler) && add(list, count, cupy_keeps_ptx, "1");
    free(value);
    free(assembler);
    return added;
}

/* Variables that the simulator needs otherwise than the caller has them. */
static bool is_of_simulator(const char *entry)
{
    return is_variable(entry, library_name) || is_variable(entry, triton_assembler) ||
           is_variable(entry, triton_assembler_of_90) || is_variable(entry, cupy_keeps_ptx);
}

static bool fill(const struct wsdbg_environment_options *options, char **from, char **list)
{
    size_t count = 0;
    const char *preload = NULL, *libraries = NULL;
    for (; *from; from++) {
        if (is_variable(*from, preload_name))
            preload = *from + sizeof preload_name;
        if (is_variable(*from, library_name))
            libraries = *from + sizeof library_name;
        if ((options->simulator && is_of_simulator(*from)) || is_replaced(*from) ||
            (options->core_folder && is_core_variable(*from)))
            continue;
        if (!(list[count] = strdup(*from)))
            return false;
        count++;
    }
    if (!(list[count] = preload_value(options, preload)))
        return false;
    count++;
    return add(list, &count, WSDBG_ENV_SESSION, options->session) && add(list, &count, WSDBG_ENV_ARM, options->armed) &&
           add(list, &count, WSDBG_ENV_SPOOL, options->spool) &&
           add(list, &count, WSDBG_ENV_OBSERVER, options->observer) &&
           add(list, &count, WSDBG_ENV_HISTORY, options->history) && add(list, &count, WSDBG_ENV_RING, options->ring) &&
           add(list, &count, WSDBG_ENV_MARKERS, options->markers) &&
           add(list, &count, WSDBG_ENV_ATTACH_FIRST, options->attach_first) &&
           add_core(list, &count, options->core_folder) && add(list, &count, WSDBG_ENV_EXPLORE, options->explore) &&
           add(list, &count, WSDBG_ENV_RACES, options->races) &&
           add(list, &count, WSDBG_ENV_RANK_FROM, options->rank_from) &&
           add(list, &count, WSDBG_ENV_LAUNCH_SITES, options->launch_sites) &&
           add(list, &count, WSDBG_ENV_FILTERS, options->filters) &&
           add(list, &count, WSDBG_ENV_PID_NAMESPACE, options->pid_namespace) &&
           add(list, &count, WSDBG_ENV_SIM_REASON, options->simulator_reason) &&
           add_simulator(list, &count, options->simulator, libraries);
}

struct wsdbg_error *wsdbg_environment_create(const struct wsdbg_environment_options *options, char **from, char ***out)
{
    if (strpbrk(options->shim, " :"))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "%s: LD_PRELOAD cannot hold a path with a space or a colon; install wsdbg elsewhere",
                                  options->shim);
    size_t count = 0;
    while (from[count])
        count++;
    char **list = calloc(count + ADDED_VARIABLES, sizeof *list);
    if (!list)
        return &wsdbg_error_no_memory;
    if (!fill(options, from, list)) {
        wsdbg_environment_destroy(list);
        return &wsdbg_error_no_memory;
    }
    *out = list;
    return NULL;
}

void wsdbg_environment_destroy(char **environment)
{
    for (char **entry = environment; entry && *entry; entry++)
        free(*entry);
    free(environment);
}
