/* attach_steps.c - takes the steps of a look at a program that runs under wsdbg's observer, and prints what each took.
 *
 * Usage: attach_steps PID [LAST]    LAST: attach, suspend, warps, resume, detach (default).  With LAST it then waits
 * where it is, to be killed.  Prints "STEP MILLISECONDS ok|reason", what was seen, and between the steps the program's
 * launches.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/live_machine.h"
#include "evidence/segment_map.h"

#define LIMIT_NS 5000000000ull
#define STOPPED_NS 2000000000ull

static const char *const steps[] = {"attach", "suspend", "warps", "resume", "detach"};
enum { ATTACH, SUSPEND, WARPS, RESUME, DETACH, STEPS };

/* The segment of the process, whatever its session. */
static struct wsdbg_segment_map *find_segment(const char *pid)
{
    struct wsdbg_segment_map *map = NULL;
    char pattern[64];
    glob_t found;
    snprintf(pattern, sizeof pattern, WSDBG_SEGMENT_FOLDER "/wsdbg.*/wsdbg.*.%s", pid);
    if (glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    wsdbg_error_destroy(wsdbg_segment_map_open(found.gl_pathv[0], (uint32_t)atoi(pid), WSDBG_SEGMENT_WATCH, &map));
    globfree(&found);
    return map;
}

static uint64_t launches(struct wsdbg_segment_map *map)
{
    struct wsdbg_segment_view view = {0};
    struct wsdbg_error *error = wsdbg_segment_map_refresh(map, &view);
    const uint64_t count = error ? 0 : wsdbg_segment_read_head(&view).launch_count;
    wsdbg_error_destroy(error);
    return count;
}

static struct wsdbg_error *take(struct wsdbg_machine *machine, int step)
{
    switch (step) {
    case ATTACH:
        return wsdbg_live_machine_attach(machine, LIMIT_NS);
    case SUSPEND:
        return wsdbg_live_machine_suspend(machine, STOPPED_NS, LIMIT_NS);
    case WARPS:
        return wsdbg_live_machine_read_warps(machine, LIMIT_NS);
    case RESUME:
        return wsdbg_live_machine_resume(machine, LIMIT_NS);
    default:
        return wsdbg_live_machine_detach(machine);
    }
}

static void say_seen(const struct wsdbg_machine *machine)
{
    printf("seen: %zu devices, %zu contexts, %zu modules, %zu grids, %zu CTAs, %zu warps\n", machine->device_count,
           machine->context_count, machine->module_count, machine->grid_count, machine->cta_count, machine->warp_count);
    for (size_t i = 0; i < machine->grid_count && i < 4; i++)
        printf("grid %llu: cluster %u%s\n", (unsigned long long)machine->grids[i].grid_id,
               machine->grids[i].cluster[0].value, machine->grids[i].cluster[0].known ? "" : " (not known)");
}

int main(int argc, char **argv)
{
    struct wsdbg_segment_map *map = argc > 1 ? find_segment(argv[1]) : NULL;
    struct wsdbg_attach_link attach;
    struct wsdbg_machine *machine = NULL;
    struct wsdbg_error *error = NULL;
    if (!map || (error = wsdbg_segment_map_attach_link(map, &attach)) ||
        (error = wsdbg_live_machine_open(&attach, &machine))) {
        fprintf(stderr, "attach_steps: %s\n", error ? wsdbg_error_message(error) : "no observed process of that id");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("launches before: %llu\n", (unsigned long long)launches(map));
    for (int step = 0; step < STEPS && !error; step++) {
        const uint64_t start_ns = wsdbg_attach_clock_ns();
        error = take(machine, step);
        printf("%s %.1f %s\n", steps[step], (double)(wsdbg_attach_clock_ns() - start_ns) / 1e6,
               error ? wsdbg_error_message(error) : "ok");
        if (step == WARPS && !error)
            say_seen(machine);
        if (argc > 2 && strcmp(argv[2], steps[step]) == 0)
            for (;;)
                pause();
    }
    printf("launches after: %llu\n", (unsigned long long)launches(map));
    machine->ops->close(machine);
    wsdbg_attach_close(&attach);
    wsdbg_segment_map_close(map);
    const int status = error ? 1 : 0;
    wsdbg_error_destroy(error);
    return status;
}
