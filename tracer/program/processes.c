/* processes.c - see processes.h.  Reads: /proc/<pid>/stat, and status of those that are stopped.
 *
 * Every process the program started stays below wsdbg, also when its parent ended: wsdbg is a child subreaper.
 */
#include "program/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
    pid_t id, parent;
    char state;
    uint64_t cpu_ticks;
};

static bool read_text(const char *name, const char *what, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%s", name, what);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    return true;
}

static bool read_process(const char *name, struct process *out)
{
    char text[512];
    if (!read_text(name, "stat", text, sizeof text))
        return false;
    /* The name in parentheses may hold anything, also parentheses: the fields start after the last one. */
    const char *fields = strrchr(text, ')');
    int parent;
    unsigned long long user, system;
    if (!fields || sscanf(fields + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &out->state, &parent,
                          &user, &system) != 4)
        return false;
    out->cpu_ticks = user + system;
    out->id = (pid_t)atoi(name);
    out->parent = (pid_t)parent;
    return true;
}

static size_t read_all(struct process *all, size_t capacity)
{
    size_t count = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && count < capacity && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]) && read_process(entry->d_name, &all[count]))
            count++;
    if (folder)
        closedir(folder);
    return count;
}

size_t wsdbg_processes_below(pid_t out[WSDBG_PROCESSES_MAX])
{
    const size_t capacity = 1 << 16;
    struct process *all = malloc(capacity * sizeof *all);
    size_t found = 0, total = all ? read_all(all, capacity) : 0;
    pid_t parent = getpid();
    for (size_t next = 0;; parent = out[next++]) {
        for (size_t i = 0; i < total && found < WSDBG_PROCESSES_MAX; i++)
            if (all[i].parent == parent && all[i].state != 'Z')
                out[found++] = all[i].id;
        if (next == found)
            break;
    }
    free(all);
    return found;
}

bool wsdbg_process_is_below(pid_t process)
{
    pid_t below[WSDBG_PROCESSES_MAX];
    size_t count = wsdbg_processes_below(below);
    for (size_t i = 0; i < count; i++)
        if (below[i] == process)
            return true;
    return false;
}

/* "voluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n" ends the file. */
static uint64_t switches_of(const char *name)
{
    char text[8192];
    unsigned long long own, forced;
    const char *found =
        read_text(name, "status", text, sizeof text) ? strstr(text, "\nvoluntary_ctxt_switches:") : NULL;
    return found && sscanf(found, " voluntary_ctxt_switches: %llu nonvoluntary_ctxt_switches: %llu", &own, &forced) == 2
               ? own + forced
               : 0;
}

static bool has_tracer(const char *name)
{
    char text[8192];
    const char *found = read_text(name, "status", text, sizeof text) ? strstr(text, "\nTracerPid:") : NULL;
    return !found || strtol(found + sizeof "\nTracerPid:" - 1, NULL, 10) != 0;
}

bool wsdbg_process_is_stopped(pid_t process, struct wsdbg_process_stop *stop)
{
    char name[24];
    struct process found;
    snprintf(name, sizeof name, "%ld", (long)process);
    if (!read_process(name, &found) || (found.state != 'T' && found.state != 't'))
        return false;
    *stop = (struct wsdbg_process_stop){process, switches_of(name), found.cpu_ticks, has_tracer(name)};
    return true;
}
