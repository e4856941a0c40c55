/* processes.c - see processes.h.  Reads: /proc/<pid>/stat.
 *
 * Every process the program started stays below wsdbg, also when its parent ended: wsdbg is a child subreaper.
 */
#include "cmd/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
    pid_t id, parent;
    char state;
};

static bool read_process(const char *name, struct process *out)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    /* The name in parentheses may hold anything, also parentheses: the fields start after the last one. */
    const char *fields = strrchr(text, ')');
    int parent;
    if (!fields || sscanf(fields + 1, " %c %d", &out->state, &parent) != 2)
        return false;
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

bool wsdbg_process_is_stopped(pid_t process)
{
    char name[24];
    struct process found;
    snprintf(name, sizeof name, "%ld", (long)process);
    return read_process(name, &found) && (found.state == 'T' || found.state == 't');
}
