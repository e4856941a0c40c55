/* options.c - see options.h.  Reads the environment. */
#include "libcuda/options.h"

#include <stdlib.h>

#include "base/sim_settings.h"
#include "libcuda/memory.h"
#include "wsdbg/session.h"

struct wsdbg_error *options_read(struct wsdbg_gpu_options *out)
{
    static const enum wsdbg_schedule_kind kinds[] = {[WSDBG_SIM_ROUND_ROBIN] = WSDBG_SCHEDULE_ROUND_ROBIN,
                                                     [WSDBG_SIM_RANDOM] = WSDBG_SCHEDULE_RANDOM,
                                                     [WSDBG_SIM_PRIORITY] = WSDBG_SCHEDULE_PRIORITY};
    struct wsdbg_sim_settings settings;
    const char *races = getenv(WSDBG_ENV_RACES);
    struct wsdbg_error *error = wsdbg_sim_settings_read(&settings);
    if (error)
        return error;
    *out = (struct wsdbg_gpu_options){.memory_bytes = MEMORY_DEVICE_BYTES,
                                      .multiprocessors = settings.multiprocessors,
                                      .finds_races = races && *races};
    out->schedule.kind = kinds[settings.schedule];
    out->schedule.seed = settings.seed;
    out->schedule.change_points = settings.change_points;
    out->schedule.length = settings.length;
    return NULL;
}
