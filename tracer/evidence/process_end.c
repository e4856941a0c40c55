/* process_end.c - see process_end.h.
 *
 * Reads: /proc/PID/stat.  Writes: nothing.
 *
 * Only a parent is told how its child ended, and wsdbg is the parent of one process of the program.  But until the
 * parent asks, a process that has ended stays in /proc with its state: a launcher that asks now and then, or waits for
 * its processes in order, leaves wsdbg enough time to read it.
 */
#include "evidence/process_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Fields behind the program's name, which may hold anything: the state is field 3, the exit code field 52. */
enum { STATE_FIELD = 3, EXIT_CODE_FIELD = 52 };

/* The wait status of a zombie; false = there is none. */
static bool read_wait_status(uint32_t process_id, int *out)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", process_id);
    FILE *file = fopen(path, "re");
    const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    if (!at || (strncmp(at, ") Z ", 4) != 0 && strncmp(at, ") X ", 4) != 0))
        return false;
    for (int field = STATE_FIELD - 1; at && field < EXIT_CODE_FIELD; field++)
        at = strchr(at + 1, ' ');
    *out = at ? atoi(at) : 0;
    return at != NULL;
}

struct wsdbg_process_end wsdbg_process_end_read(uint32_t process_id)
{
    int status;
    if (!read_wait_status(process_id, &status))
        return (struct wsdbg_process_end){.kind = WSDBG_END_UNKNOWN};
    if (WIFSIGNALED(status))
        return (struct wsdbg_process_end){WSDBG_END_SIGNAL, WTERMSIG(status)};
    return (struct wsdbg_process_end){WSDBG_END_EXITED, WEXITSTATUS(status)};
}
