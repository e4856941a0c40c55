/* sim_settings.c - see sim_settings.h.  Reads the environment. */
#include "base/sim_settings.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MULTIPROCESSORS_MOST = 132, CHANGE_POINTS_DEFAULT = 3, LENGTH_DEFAULT = 100000 };

/* Decimal or 0x...; `end` may be NULL where nothing may follow. */
static struct wsdbg_error *read_number(const char *name, const char *text, uint64_t least, uint64_t most,
                                       const char **end, uint64_t *out)
{
    char *behind;
    errno = 0;
    const unsigned long long value = strtoull(text, &behind, 0);
    const bool is_number = behind != text && text[0] >= '0' && text[0] <= '9' && !errno;
    if (!is_number || value < least || value > most || (!end && *behind))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: '%s' is not a number from %llu to %llu", name, text,
                                  (unsigned long long)least, (unsigned long long)most);
    if (end)
        *end = behind;
    *out = value;
    return NULL;
}

/* Nothing, or ":CHANGE_POINTS:LENGTH". */
static struct wsdbg_error *read_priority(const char *name, const char *text, struct wsdbg_sim_settings *out)
{
    uint64_t change_points = CHANGE_POINTS_DEFAULT, length = LENGTH_DEFAULT;
    struct wsdbg_error *error = NULL;
    if (*text == ':')
        error = read_number(name, text + 1, 0, 1000, &text, &change_points);
    if (!error && *text == ':')
        error = read_number(name, text + 1, 1, UINT64_MAX, NULL, &length);
    else if (!error && *text)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: priority:CHANGE_POINTS:LENGTH is wanted", name);
    out->schedule = WSDBG_SIM_PRIORITY;
    out->change_points = (uint32_t)change_points;
    out->length = length;
    return error;
}

static struct wsdbg_error *read_schedule(const char *name, const char *text, struct wsdbg_sim_settings *out)
{
    static const char priority[] = "priority";
    if (strcmp(text, "round-robin") == 0)
        out->schedule = WSDBG_SIM_ROUND_ROBIN;
    else if (strcmp(text, "random") == 0)
        out->schedule = WSDBG_SIM_RANDOM;
    else if (strncmp(text, priority, sizeof priority - 1) == 0)
        return read_priority(name, text + sizeof priority - 1, out);
    else
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: '%s' is not round-robin, random or priority", name, text);
    return NULL;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

struct wsdbg_error *wsdbg_sim_settings_read(struct wsdbg_sim_settings *out)
{
    static const char multiprocessors_name[] = "WSDBG_SIM_MULTIPROCESSORS", seed_name[] = "WSDBG_SIM_SEED",
                      schedule_name[] = "WSDBG_SIM_SCHEDULE";
    const char *multiprocessors = variable(multiprocessors_name), *seed = variable(seed_name),
               *schedule = variable(schedule_name);
    struct wsdbg_sim_settings settings = {0};
    uint64_t count = MULTIPROCESSORS_MOST;
    struct wsdbg_error *error = NULL;
    if (multiprocessors)
        error = read_number(multiprocessors_name, multiprocessors, 1, MULTIPROCESSORS_MOST, NULL, &count);
    if (!error && seed)
        error = read_number(seed_name, seed, 0, UINT64_MAX, NULL, &settings.seed);
    if (!error && schedule)
        error = read_schedule(schedule_name, schedule, &settings);
    settings.multiprocessors = (uint32_t)count;
    if (!error)
        *out = settings;
    return error;
}
