/* sim_settings.h - the settings of the simulator that a user gives in the environment.  Read by the simulator, and
 * before it by wsdbg: a program must not run under a setting that means nothing. */
#ifndef WSDBG_BASE_SIM_SETTINGS_H
#define WSDBG_BASE_SIM_SETTINGS_H

#include <stdint.h>

#include "base/error.h"

enum wsdbg_sim_schedule { WSDBG_SIM_ROUND_ROBIN, WSDBG_SIM_RANDOM, WSDBG_SIM_PRIORITY };

struct wsdbg_sim_settings {
    uint32_t multiprocessors; /* WSDBG_SIM_MULTIPROCESSORS: 1 to 132 */
    uint64_t seed;            /* WSDBG_SIM_SEED */
    /* WSDBG_SIM_SCHEDULE: round-robin (default), random, priority or priority:CHANGE_POINTS:LENGTH. */
    enum wsdbg_sim_schedule schedule;
    uint32_t change_points;
    uint64_t length;
};

/* Fails with a sentence that names the variable. */
struct wsdbg_error *wsdbg_sim_settings_read(struct wsdbg_sim_settings *out);

#endif
