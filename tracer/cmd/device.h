/* device.h - where the kernels of a run execute: on the GPU, or on the simulated one. */
#ifndef WSDBG_CMD_DEVICE_H
#define WSDBG_CMD_DEVICE_H

#include "cmd/launch.h"

struct wsdbg_device {
    char *simulator; /* folder of its libcuda.so.1, to be looked in before all others; NULL = the GPU */
    char *reason;    /* why the simulator, for a program that uses CUDA; NULL = it was asked for, or has been said */
};

/* Fails where the simulator was chosen and its settings mean nothing.  Prints the choice on stderr: with --device=auto
 * always, without the option only for programs that use CUDA. */
struct wsdbg_error *wsdbg_device_choose(const struct wsdbg_run_options *options, struct wsdbg_device *out);
/* The GPU was asked for, and there is certainly no NVIDIA driver. */
bool wsdbg_device_lacks_driver(const struct wsdbg_run_options *options);
void wsdbg_device_deinit(struct wsdbg_device *device);

#endif
