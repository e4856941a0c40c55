/* doctor_checks.c - see doctor.h.
 *
 * Reads: the driver (in a child process), the environment, /dev/shm, /proc, wsdbg's own files.  Writes: a scratch
 * database under TMPDIR, removed at once, to see that SQLite works.
 */
#include "cmd/doctor.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cmd/gpu_probe.h"
#include "cmd/paths.h"
#include "program/spool.h"
#include "evidence/debug_api.h"
#include "model/snapshot.h"
#include "store/store.h"
#include "wsdbg/session.h"

struct checks {
    struct wsdbg_check *rows;
    size_t count;
};

static struct wsdbg_check *add(struct checks *checks, const char *name, enum wsdbg_check_state state, const char *lost,
                               const char *format, ...) __attribute__((format(printf, 5, 6)));

static struct wsdbg_check *add(struct checks *checks, const char *name, enum wsdbg_check_state state, const char *lost,
                               const char *format, ...)
{
    struct wsdbg_check *row = &checks->rows[checks->count < WSDBG_CHECKS_MAX - 1 ? checks->count++ : checks->count];
    *row = (struct wsdbg_check){.name = name, .state = state, .lost = state == WSDBG_CHECK_OK ? NULL : lost};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row->reason, sizeof row->reason, format, arguments);
    va_end(arguments);
    return row;
}

static void check_driver(struct checks *checks, const struct wsdbg_gpu_probe *probe)
{
    static const char lost[] = "runs on a GPU; core dumps and recorded sessions can still be read";
    if (probe->ready)
        add(checks, "driver", WSDBG_CHECK_OK, NULL, "NVIDIA driver for CUDA %u.%u", probe->driver_version.value / 1000,
            probe->driver_version.value % 1000 / 10);
    else if (!probe->driver_version.known)
        add(checks, "driver", WSDBG_CHECK_NO, lost, "%s", probe->reason);
    else
        add(checks, "driver", WSDBG_CHECK_NO, lost, "driver for CUDA %u.%u, but %s", probe->driver_version.value / 1000,
            probe->driver_version.value % 1000 / 10, probe->reason);
    checks->rows[checks->count - 1].needed = true;
}

static void check_gpus(struct checks *checks, const struct wsdbg_gpu_probe *probe)
{
    static const char lost[] = "roles, barriers, probes and causes: " WSDBG_CAUSES_KNOWN;
    if (!probe->ready) {
        add(checks, "gpu", WSDBG_CHECK_UNKNOWN, "runs on a GPU", "the driver could not be asked")->needed = true;
        return;
    }
    bool hopper = wsdbg_gpu_probe_has_hopper(probe);
    for (uint32_t i = 0; i < probe->gpu_count; i++) {
        const struct wsdbg_gpu_facts *gpu = &probe->gpus[i];
        const uint32_t capability = gpu->compute_capability.value;
        const bool fits = gpu->compute_capability.known && capability == 90;
        struct wsdbg_check *row;
        if (gpu->compute_capability.known)
            row = add(checks, "gpu", fits ? WSDBG_CHECK_OK : WSDBG_CHECK_NO, lost, "%u: %s, compute capability %u.%u%s",
                      i, gpu->name, capability / 10, capability % 10, fits ? "" : ": location only");
        else
            row = add(checks, "gpu", WSDBG_CHECK_UNKNOWN, lost, "%u: %s, compute capability not known", i, gpu->name);
        row->needed = !hopper;
        row->location_only = gpu->compute_capability.known && !fits;
    }
    if (probe->gpu_count == 0)
        add(checks, "gpu", WSDBG_CHECK_NO, "runs on a GPU", "the driver sees no GPU")->needed = true;
}

static void check_shim(struct checks *checks)
{
    char *path;
    struct wsdbg_error *error = wsdbg_path_shim(&path);
    if (error) {
        add(checks, "observer", WSDBG_CHECK_NO, "wsdbg run", "%s", wsdbg_error_message(error))->needed = true;
        wsdbg_error_destroy(error);
        return;
    }
    bool nameable = !strpbrk(path, " :");
    add(checks, "observer", nameable ? WSDBG_CHECK_OK : WSDBG_CHECK_NO, "wsdbg run", "%s%s", path,
        nameable ? "" : " has a space or a colon in it, which LD_PRELOAD cannot name")
        ->needed = true;
    free(path);
}

static void check_simulator(struct checks *checks)
{
    static const char lost[] = "wsdbg run --device sim, and runs without a GPU";
    char *folder;
    struct wsdbg_error *error = wsdbg_path_simulator(&folder);
    if (error) {
        add(checks, "simulator", WSDBG_CHECK_NO, lost, "%s", wsdbg_error_message(error));
        wsdbg_error_destroy(error);
        return;
    }
    void *library = NULL;
    char path[4096];
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        add(checks, "simulator", WSDBG_CHECK_OK, NULL,
            "%s, for programs of the Driver API or the CUDA runtime that ship PTX", path);
    else
        add(checks, "simulator", WSDBG_CHECK_NO, lost, "%s", dlerror());
    if (library)
        dlclose(library);
    free(folder);
}

/* One session needs its segment, 32 MiB by default. */
static void check_shared_memory(struct checks *checks)
{
    struct statvfs shm;
    if (statvfs("/dev/shm", &shm) < 0) {
        add(checks, "/dev/shm", WSDBG_CHECK_NO, "ring evidence", "%s", strerror(errno))->needed = true;
        return;
    }
    unsigned long long free_bytes = (unsigned long long)shm.f_bavail * shm.f_frsize;
    bool enough = free_bytes >= WSDBG_SEGMENT_BYTES_DEFAULT, writable = access("/dev/shm", W_OK | X_OK) == 0;
    add(checks, "/dev/shm", enough && writable ? WSDBG_CHECK_OK : WSDBG_CHECK_NO,
        "ring evidence (or set WSDBG_SEGMENT_BYTES lower)", "%llu MiB free%s, a process may need %u MiB",
        free_bytes >> 20, writable ? "" : ", not writable", WSDBG_SEGMENT_BYTES_DEFAULT >> 20)
        ->needed = true;
}

static void check_conflicts(struct checks *checks)
{
    const char *injection = getenv("CUDA_INJECTION64_PATH"), *preload = getenv("LD_PRELOAD");
    if (injection && injection[0])
        add(checks, "injection", WSDBG_CHECK_NO, "the CUPTI observer, which needs that place; ring evidence works",
            "CUDA_INJECTION64_PATH is set to %s", injection);
    else
        add(checks, "injection", WSDBG_CHECK_OK, NULL, "CUDA_INJECTION64_PATH is not set");
    if (preload && preload[0])
        add(checks, "preload", WSDBG_CHECK_UNKNOWN, "launches, if one of them takes over the driver's entry points too",
            "LD_PRELOAD holds %s; it is kept, behind the observer", preload);
    else
        add(checks, "preload", WSDBG_CHECK_OK, NULL, "LD_PRELOAD is empty");
}

/* `path` becomes where the daemon's pipe is or would be. */
static bool find_mps(char *path, size_t path_bytes)
{
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    snprintf(path, path_bytes, "%s/control", folder && folder[0] ? folder : "/tmp/nvidia-mps");
    return access(path, F_OK) == 0;
}

static void check_mps(struct checks *checks)
{
    char path[4096];
    if (find_mps(path, sizeof path))
        add(checks, "mps", WSDBG_CHECK_UNKNOWN, "verdicts may be late: other programs share the GPU",
            "an MPS control daemon seems to run (%s)", path);
    else
        add(checks, "mps", WSDBG_CHECK_OK, NULL, "no MPS control daemon at %s", path);
}

static void check_cupti(struct checks *checks)
{
    static const char lost[] = "--observer cupti";
    char *path;
    struct wsdbg_error *error = wsdbg_path_cupti(&path);
    if (error) {
        add(checks, "cupti", WSDBG_CHECK_NO, lost, "%s", wsdbg_error_message(error));
        wsdbg_error_destroy(error);
        return;
    }
    free(path);
    static const char *const names[] = {"libcupti.so", "libcupti.so.13", "libcupti.so.12"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        if (!library)
            continue;
        dlclose(library);
        add(checks, "cupti", WSDBG_CHECK_OK, NULL,
            "%s can be loaded (beside it the driver allows no core dump and no live GPU state)", names[i]);
        return;
    }
    add(checks, "cupti", WSDBG_CHECK_UNKNOWN, lost,
        "libcupti.so is not on the library path; the observer looks beside the toolkit too");
}

/* The scratch database in `folder`; the answer is SQLite's version. */
static struct wsdbg_error *ask_sqlite(const char *path, char *answer, size_t answer_bytes)
{
    struct wsdbg_session_info info = {.command = "doctor",
                                      .wsdbg_version = WSDBG_VERSION,
                                      .device = "gpu",
                                      .observer = "none",
                                      .evidence = "null",
                                      .hostname = ""};
    struct wsdbg_store *store;
    char *text = NULL;
    size_t bytes;
    struct wsdbg_error *error = wsdbg_store_create(path, &info, &store);
    if (error)
        return error;
    wsdbg_store_close(store);
    error = wsdbg_store_open(path, &store);
    if (error)
        return error;
    FILE *out = open_memstream(&text, &bytes);
    error = out ? wsdbg_store_query(store, "SELECT sqlite_version()", WSDBG_QUERY_CSV, 0, out) : &wsdbg_error_no_memory;
    if (out)
        fclose(out);
    wsdbg_store_close(store);
    char *value = !error && text ? strchr(text, '\n') : NULL;
    snprintf(answer, answer_bytes, "%.*s", value ? (int)strcspn(value + 1, "\r\n") : 0, value ? value + 1 : "");
    free(text);
    return error;
}

static void check_sqlite(struct checks *checks)
{
    char path[4096], answer[64];
    struct wsdbg_spool folder;
    struct wsdbg_error *error = wsdbg_spool_create(&folder);
    if (error) {
        add(checks, "sqlite", WSDBG_CHECK_NO, "wsdbg run", "%s", wsdbg_error_message(error))->needed = true;
        wsdbg_error_destroy(error);
        return;
    }
    snprintf(path, sizeof path, "%s/scratch.db", folder.path);
    error = ask_sqlite(path, answer, sizeof answer);
    add(checks, "sqlite", error ? WSDBG_CHECK_NO : WSDBG_CHECK_OK, "session databases", "%s%s", error ? "" : "SQLite ",
        error ? wsdbg_error_message(error) : answer)
        ->needed = true;
    wsdbg_error_destroy(error);
    wsdbg_spool_destroy(&folder);
}

static void check_kernel(struct checks *checks)
{
    char scope[8] = "absent";
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (file) {
        const int read = fgetc(file);
        snprintf(scope, sizeof scope, "%c", read == EOF ? '?' : read);
        fclose(file);
    }
    add(checks, "ptrace", WSDBG_CHECK_OK, NULL, "not needed: the program itself lets wsdbg in (yama ptrace_scope %s)",
        scope);
}

/* The row of inspectors that stay attached between looks.  Figures: docs/results/live-attach.md. */
static void check_staying(struct checks *checks, const struct wsdbg_gpu_probe *probe)
{
    if (probe->may_stay)
        add(checks, "staying", WSDBG_CHECK_OK, NULL,
            "an inspector can stay attached between looks, which then hold nothing back; a launch takes some 55 us "
            "meanwhile instead of 4 (--evidence live: always; auto: from before the first launch until that costs more "
            "than 2 %% of the program's time)");
    else
        add(checks, "staying", WSDBG_CHECK_NO, "looks that hold nothing back",
            "this driver's launches would wait for an inspector: each look attaches for itself");
}

/* The row of the GPU's own state: what would close its debug attach. */
static void check_live(struct checks *checks, const struct wsdbg_gpu_probe *probe)
{
    static const char lost[] = "--evidence live; hangs of kernels without probes are seen in core dumps only";
    static const char row[] = "live state";
    const char *injection = getenv("CUDA_INJECTION64_PATH");
    char control[4096];
    if (!probe->library_found)
        add(checks, row, WSDBG_CHECK_UNKNOWN, lost, "the driver could not be asked");
    else if (!probe->debug_known)
        add(checks, row, WSDBG_CHECK_NO, lost, "this libcuda has no debug interface");
    else if (!wsdbg_debug_speaks_ours(probe->debug_major, probe->debug_minor, probe->debug_revision))
        add(checks, row, WSDBG_CHECK_NO, lost,
            "the driver speaks revision %u.%u.%u of the debug interface, wsdbg knows %u.%u.%u", probe->debug_major,
            probe->debug_minor, probe->debug_revision, WSDBG_DEBUG_MAJOR, WSDBG_DEBUG_MINOR, WSDBG_DEBUG_REVISION);
    else if (injection && injection[0])
        add(checks, row, WSDBG_CHECK_NO, lost, "CUDA_INJECTION64_PATH is set to %s", injection);
    else if (find_mps(control, sizeof control))
        add(checks, row, WSDBG_CHECK_NO, lost, "an MPS control daemon seems to run (%s)", control);
    else if (!probe->debugger_found)
        add(checks, row, WSDBG_CHECK_UNKNOWN, lost,
            "libcudadebugger.so.1, which the driver then loads, is not on the "
            "library path");
    else {
        add(checks, row, WSDBG_CHECK_OK, NULL,
            "the driver's debug interface, revision %u.%u.%u; closed in programs that use CUPTI", probe->debug_major,
            probe->debug_minor, probe->debug_revision);
        check_staying(checks, probe);
    }
}

/* The row of dumps that the driver is to make: nothing else arms it for them. */
static void check_core(struct checks *checks, const struct wsdbg_gpu_probe *probe)
{
    static const char lost[] = "--evidence core: where in the code an error of the GPU happened";
    static const char row[] = "core dumps";
    const char *injection = getenv("CUDA_INJECTION64_PATH");
    if (!probe->library_found)
        add(checks, row, WSDBG_CHECK_UNKNOWN, lost, "the driver could not be asked");
    else if (injection && injection[0])
        add(checks, row, WSDBG_CHECK_NO, lost, "CUDA_INJECTION64_PATH is set to %s", injection);
    else
        add(checks, row, WSDBG_CHECK_OK, NULL,
            "made with --evidence core alone, at a stall and when an error ends a kernel; not in programs that use "
            "CUPTI");
}

static void check_locale(struct checks *checks)
{
    const char *name = setlocale(LC_CTYPE, "");
    const char *codeset = name ? nl_langinfo(CODESET) : "?";
    add(checks, "locale", name ? WSDBG_CHECK_OK : WSDBG_CHECK_UNKNOWN, "nothing: reports are plain ASCII", "%s, %s",
        name ? name : "not a known locale", codeset);
    setlocale(LC_CTYPE, "C");
}

size_t wsdbg_doctor_check(struct wsdbg_check out[WSDBG_CHECKS_MAX])
{
    struct checks checks = {.rows = out};
    struct wsdbg_gpu_probe probe;
    wsdbg_gpu_probe(WSDBG_GPU_PROBE_MS, &probe);
    check_driver(&checks, &probe);
    check_gpus(&checks, &probe);
    check_shim(&checks);
    check_simulator(&checks);
    check_shared_memory(&checks);
    check_sqlite(&checks);
    check_conflicts(&checks);
    check_mps(&checks);
    check_cupti(&checks);
    check_kernel(&checks);
    check_live(&checks, &probe);
    check_core(&checks, &probe);
    check_locale(&checks);
    return checks.count;
}
