/* unseen.c - see unseen.h.
 *
 * Reads:  /proc/<pid>/maps, exe, status and names of threads, of the processes below this one.  Writes: nothing.
 *
 * A process uses the GPU that has libcuda, and either a context's memory in its own or a simulated device's thread.  A
 * process that only initialises the driver, as torchrun does to count the GPUs, has /dev/nvidia0 and /dev/nvidiactl in
 * its memory, but /dev/nvidia-uvm only while a context lives (an H200, driver 580.159.04).  One that is observed has
 * its segment there too.  Processes of wsdbg itself, and those that serve an attach, are none of the program's.
 */
#include "program/unseen.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/processes.h"
#include "wsdbg/session.h"

static const uint64_t first_gap_ns = 250000000, most_gap_ns = 5000000000;

static FILE *open_of(pid_t process, const char *file)
{
    char path[384];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)process, file);
    return fopen(path, "re");
}

/* ---- one process ---- */

struct mapped {
    bool libcuda, device, debugger, observer, segment;
};

static struct mapped read_maps(pid_t process, const char *session)
{
    struct mapped mapped = {0};
    char segment[128], line[4352];
    FILE *maps = open_of(process, "maps");
    snprintf(segment, sizeof segment, "/wsdbg.%s.", session);
    while (maps && fgets(line, sizeof line, maps)) {
        mapped.libcuda |= strstr(line, "/libcuda.so") != NULL;
        mapped.device |= strstr(line, " /dev/nvidia-uvm") != NULL;
        mapped.debugger |= strstr(line, "/libcudadebugger.so") != NULL;
        mapped.observer |= strstr(line, "/libwsdbg-") != NULL;
        mapped.segment |= strstr(line, segment) != NULL;
    }
    if (maps)
        fclose(maps);
    return mapped;
}

static bool is_simulators(pid_t process, const char *thread)
{
    char file[288], name[32] = "";
    snprintf(file, sizeof file, "task/%.255s/comm", thread);
    FILE *comm = open_of(process, file);
    const bool read = comm && fgets(name, sizeof name, comm);
    if (comm)
        fclose(comm);
    name[strcspn(name, "\n")] = '\0';
    return read && strcmp(name, WSDBG_THREAD_SIMULATOR) == 0;
}

static bool has_simulator(pid_t process)
{
    char path[64];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads && !found && (entry = readdir(threads));)
        found = entry->d_name[0] != '.' && is_simulators(process, entry->d_name);
    if (threads)
        closedir(threads);
    return found;
}

static bool is_own(pid_t process)
{
    char path[64], own[4096], its[4096];
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)process);
    const ssize_t own_bytes = readlink("/proc/self/exe", own, sizeof own), bytes = readlink(path, its, sizeof its);
    return bytes > 0 && bytes == own_bytes && memcmp(own, its, (size_t)bytes) == 0;
}

/* A number of the status file, counted from 0; -1 = not known. */
static long status_number(pid_t process, const char *field, int place)
{
    char line[256];
    long number = -1;
    FILE *status = process ? open_of(process, "status") : fopen("/proc/self/status", "re");
    while (number < 0 && status && fgets(line, sizeof line, status)) {
        char *rest = line + strlen(field);
        for (int i = 0; strncmp(line, field, strlen(field)) == 0 && i <= place; i++)
            number = strtol(rest, &rest, 10);
    }
    if (status)
        fclose(status);
    return number;
}

long wsdbg_filters_of(pid_t process)
{
    return status_number(process, "Seccomp_filters:", 0);
}

static bool is_another_users(pid_t process)
{
    const long user = status_number(process, "Uid:", 1); /* the effective one */
    return user >= 0 && user != (long)geteuid();
}

/* NULL = nothing is unseen of it. */
static const char *reason_of(pid_t process, const char *session)
{
    const struct mapped mapped = read_maps(process, session);
    if (!mapped.libcuda || mapped.segment || mapped.debugger || (!mapped.device && !has_simulator(process)) ||
        is_own(process))
        return NULL;
    if (!mapped.observer)
        return "it uses the GPU, and the observer is not in it: was LD_PRELOAD taken from its environment?";
    if (is_another_users(process))
        return "it uses the GPU as another user than wsdbg: start wsdbg as that user";
    if (wsdbg_filters_of(process) > wsdbg_filters_of(0))
        return "it uses the GPU, but limits its own system calls (seccomp), and so is left alone";
    return "it uses the GPU, but no call of it has passed the observer: was it still starting the driver, or does "
           "dlmopen() or RTLD_DEEPBIND lead past the observer?";
}

/* ---- all of them ---- */

static size_t place_of(const struct wsdbg_unseen *unseen, pid_t process)
{
    size_t place = 0;
    while (place < unseen->count && unseen->processes[place].process != process)
        place++;
    return place;
}

/* A process that has begun to be seen is struck off, and so is one that executes another program. */
static void note(struct wsdbg_unseen *unseen, pid_t process, const char *reason)
{
    const size_t place = place_of(unseen, process);
    if (reason && place < WSDBG_UNSEEN_PROCESSES) {
        unseen->processes[place] = (struct wsdbg_unseen_process){process, reason};
        unseen->count += place == unseen->count;
    } else if (!reason && place < unseen->count) {
        unseen->processes[place] = unseen->processes[--unseen->count];
    }
}

/* Its maps are not asked for then: that waits for a process that is changing them, as one that hangs in the driver may
 * be. */
static bool has_segment(pid_t process, const char *session, const char *spool)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, WSDBG_SEGMENT_PATH_FORMAT, session, session, (int)process);
    if (access(path, F_OK) == 0)
        return true;
    return snprintf(path, sizeof path, "%s/" WSDBG_SEGMENT_SPOOLED WSDBG_SEGMENT_NAME_FORMAT, spool, session,
                    (int)process) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

/* Asked every time: one that was met while it started the driver may have ended before the next look at all. */
static void strike_seen(struct wsdbg_unseen *unseen, const char *session, const char *spool)
{
    for (size_t i = unseen->count; i-- > 0;)
        if (has_segment(unseen->processes[i].process, session, spool))
            note(unseen, unseen->processes[i].process, NULL);
}

void wsdbg_unseen_look(struct wsdbg_unseen *unseen, const char *session, const char *spool, uint64_t now_ns)
{
    strike_seen(unseen, session, spool);
    if (now_ns < unseen->next_ns)
        return;
    unseen->first_ns = unseen->first_ns ? unseen->first_ns : now_ns;
    const uint64_t gap_ns = (now_ns - unseen->first_ns) / 8;
    unseen->next_ns = now_ns + (gap_ns < first_gap_ns ? first_gap_ns : gap_ns > most_gap_ns ? most_gap_ns : gap_ns);
    pid_t *below = malloc(WSDBG_PROCESSES_MAX * sizeof *below);
    const size_t count = below ? wsdbg_processes_below(below) : 0;
    for (size_t i = 0; i < count; i++)
        note(unseen, below[i], has_segment(below[i], session, spool) ? NULL : reason_of(below[i], session));
    free(below);
}

void wsdbg_unseen_add(const struct wsdbg_unseen *unseen, const char *spool, struct wsdbg_unwatched *out)
{
    for (size_t i = 0; i < unseen->count; i++) {
        const struct wsdbg_unseen_process *unseen_one = &unseen->processes[i];
        if (wsdbg_unwatched_says(spool, unseen_one->process))
            continue;
        if (!out->count || unseen_one->process < out->process) {
            out->process = unseen_one->process;
            snprintf(out->reason, sizeof out->reason, "%s", unseen_one->reason);
        }
        out->count++;
    }
}
