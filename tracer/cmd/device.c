/* device.c - see device.h.  Reads: what the NVIDIA driver says (in a child process), where the simulator lies. */
#include "cmd/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/console.h"
#include "base/sim_settings.h"
#include "cmd/gpu_probe.h"
#include "cmd/paths.h"

/* What only a GPU and its driver have; NULL = nothing of that was asked for. */
static const char *needs_gpu(const struct wsdbg_run_options *options)
{
    if (strcmp(options->observer, "cupti") == 0)
        return "--observer=cupti";
    return options->evidence == WSDBG_RUN_CORE ? "--evidence=core" : NULL;
}

static struct wsdbg_error *find_simulator(char **folder)
{
    struct wsdbg_error *error = wsdbg_path_simulator(folder);
    if (error || !strpbrk(*folder, ":;"))
        return error;
    error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                               "%s: LD_LIBRARY_PATH cannot hold a path with a colon or semicolon; install wsdbg "
                               "elsewhere",
                               *folder);
    free(*folder);
    *folder = NULL;
    return error;
}

static struct wsdbg_error *choose_simulator(const struct wsdbg_run_options *options, struct wsdbg_device *out)
{
    const char *other = needs_gpu(options);
    if (other)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: not with --device=sim, which has no such thing", other);
    return find_simulator(&out->simulator);
}

/* The program itself would only see calls of CUDA that fail. */
static struct wsdbg_error *check_settings(const struct wsdbg_device *device)
{
    struct wsdbg_sim_settings settings;
    return device->simulator ? wsdbg_sim_settings_read(&settings) : NULL;
}

/* Without a simulator beside it wsdbg leaves it to the program to miss the driver. */
static void choose_either(const struct wsdbg_run_options *options, struct wsdbg_device *out)
{
    struct wsdbg_gpu_probe probe;
    const bool is_said = options->device == WSDBG_RUN_ON_EITHER;
    if (needs_gpu(options))
        return;
    wsdbg_gpu_probe(WSDBG_GPU_PROBE_MS, &probe);
    if (probe.ready && probe.gpu_count > 0) {
        if (is_said)
            wsdbg_say("kernels run on the GPU (%s)", probe.gpus[0].name);
        return;
    }
    const char *reason = !probe.library_found ? "no NVIDIA driver"
                         : probe.ready        ? "the NVIDIA driver sees no GPU"
                                              : probe.reason;
    struct wsdbg_error *error = find_simulator(&out->simulator);
    if (is_said && error)
        wsdbg_say("no GPU (%s), and no simulator: %s", reason, wsdbg_error_message(error));
    else if (is_said)
        wsdbg_say("kernels run on the simulated sm_90 (%s)", reason);
    else if (!error)
        out->reason = strdup(reason);
    wsdbg_error_destroy(error);
}

struct wsdbg_error *wsdbg_device_choose(const struct wsdbg_run_options *options, struct wsdbg_device *out)
{
    struct wsdbg_error *error = NULL;
    *out = (struct wsdbg_device){NULL, NULL};
    if (options->device == WSDBG_RUN_ON_SIMULATOR)
        error = choose_simulator(options, out);
    else if (options->device != WSDBG_RUN_ON_GPU)
        choose_either(options, out);
    return error ? error : check_settings(out);
}

bool wsdbg_device_lacks_driver(const struct wsdbg_run_options *options)
{
    return options->device == WSDBG_RUN_ON_GPU && wsdbg_gpu_driver_is_missing(WSDBG_GPU_PROBE_MS);
}

void wsdbg_device_deinit(struct wsdbg_device *device)
{
    free(device->simulator);
    free(device->reason);
}
