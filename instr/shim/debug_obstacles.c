/* debug_obstacles.c - who else sits where an inspector would: tools that take the driver's only place for one.
 *
 * Reads:  CUDA_INJECTION64_PATH and CUDA_MPS_PIPE_DIRECTORY as they were when CUDA started, /proc/self/status, MPS's
 *         control pipe, the segment's observer_kind; whether a sanitizer is in the process.
 */
#include "debug_obstacles.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "own_files.h"
#include "sanitizers.h"
#include "segment.h"

enum { PATH_BYTES = 160 }; /* what fits into a sentence */

static char injection[PATH_BYTES];
static char mps_folder[PATH_BYTES];

static void remember(const char *variable, const char *otherwise, char *out)
{
    const char *value = getenv(variable);
    snprintf(out, PATH_BYTES, "%s", value && *value ? value : otherwise);
}

void debug_obstacles_remember(void)
{
    remember("CUDA_INJECTION64_PATH", "", injection);
    remember("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps", mps_folder);
}

static int tracer_pid(void)
{
    char text[4096];
    const char *line = shim_read_text("/proc/self/status", text, sizeof text) ? strstr(text, "\nTracerPid:") : NULL;
    return line ? atoi(line + sizeof "\nTracerPid:" - 1) : 0;
}

static void name_process(int pid, char *name, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    if (!shim_read_text(path, name, size))
        snprintf(name, size, "a program");
    name[strcspn(name, "\n")] = '\0';
}

static enum wsdbg_attach_obstacle find_debugger(bool debugger_initialized, char *text)
{
    const int pid = tracer_pid();
    char name[32];
    if (pid > 0) {
        name_process(pid, name, sizeof name);
        snprintf(text, WSDBG_TEXT_BYTES, "%s (process %d) is attached to the program", name, pid);
        return WSDBG_OBSTACLE_DEBUGGER;
    }
    if (debugger_initialized) {
        snprintf(text, WSDBG_TEXT_BYTES, "another debugger has taken the driver's debug interface");
        return WSDBG_OBSTACLE_DEBUGGER;
    }
    return WSDBG_OBSTACLE_NONE;
}

enum wsdbg_attach_obstacle debug_obstacles_find(bool debugger_initialized, char *text)
{
    char control[PATH_BYTES + 16];
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    snprintf(control, sizeof control, "%s/control", mps_folder);
    if (segment->observer_kind == WSDBG_OBSERVER_CUPTI) {
        snprintf(text, WSDBG_TEXT_BYTES,
                 "wsdbg's own CUPTI observer (--observer cupti) has the driver's place for tools");
        return WSDBG_OBSTACLE_CUPTI;
    }
    if (injection[0]) {
        snprintf(text, WSDBG_TEXT_BYTES, "CUDA_INJECTION64_PATH is set to %s", injection);
        return WSDBG_OBSTACLE_INJECTION;
    }
    if (access(control, F_OK) == 0) {
        snprintf(text, WSDBG_TEXT_BYTES, "an MPS control daemon seems to run (%s)", control);
        return WSDBG_OBSTACLE_MPS;
    }
    const char *sanitizer = sanitizers_name();
    if (sanitizer) {
        snprintf(text, WSDBG_TEXT_BYTES, "the program has %s, which does not bear the driver's debugger library",
                 sanitizer);
        return WSDBG_OBSTACLE_SANITIZER;
    }
    return find_debugger(debugger_initialized, text);
}
