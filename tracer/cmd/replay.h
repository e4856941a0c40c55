/* replay.h - a recorded session through the same watch as a live one, as `replay` and `demo` do it. */
#ifndef WSDBG_CMD_REPLAY_H
#define WSDBG_CMD_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct wsdbg_replay_options {
    const char *path;
    const char *output; /* database, NULL = none is kept */
    uint64_t stall_ns, work_stall_ns; /* of kernels with probes; of those without */
    bool json;
};

/* *status: 124 when the recording shows a hang, else 0. */
struct wsdbg_error *wsdbg_replay_file(const struct wsdbg_replay_options *options, int *status);

#endif
