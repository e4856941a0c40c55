/* live_helpers.c - see live_helpers.h.  Reads: /proc. */
#include "evidence/live_helpers.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct rig helpers_rig_with_guest(void)
{
    struct rig rig = rig_start(NULL);
    rig_ok(rig_stay(&rig));
    assert_true(wsdbg_live_machine_stays(rig.machine));
    return rig;
}

void helpers_assert_obeys(struct rig *rig, const char *orders)
{
    for (; *orders; orders++) {
        rig_order(rig, *orders);
        rig_await_obeyed(rig);
    }
}

int helpers_last_result(const struct rig *rig, const char *call)
{
    int result = -1;
    for (const char *at = rig->run.output; (at = strstr(at, call)); at += strlen(call))
        result = atoi(at + strlen(call));
    return result;
}

static pid_t parent_of(const char *pid)
{
    char path[300], line[512] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    const char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (end)
        sscanf(end, ") %*c %d", &parent);
    if (file)
        fclose(file);
    return parent;
}

enum { MOST = 8 };

/* Also those whose parent died. */
static int helpers_find(const struct rig *rig, pid_t out[MOST])
{
    int count = 0;
    DIR *folder = opendir("/proc");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        const pid_t pid = atoi(entry->d_name);
        if (pid <= 0 || pid == rig->run.pid || parent_of(entry->d_name) != getpid() || waitpid(pid, NULL, WNOHANG) != 0)
            continue;
        assert_true(count < MOST);
        out[count++] = pid;
    }
    closedir(folder);
    return count;
}

int helpers_count(const struct rig *rig)
{
    pid_t found[MOST];
    return helpers_find(rig, found);
}

void helpers_assert(const struct rig *rig, int wanted)
{
    pid_t found[MOST];
    int count = 0;
    for (int i = 0; i < 4500; i++, usleep(10000))
        if ((count = helpers_find(rig, found)) == wanted)
            return;
    fail_msg("%d processes beside the program, not %d", count, wanted);
}

pid_t helpers_inspector(const struct rig *rig)
{
    return (pid_t)rig->attach.row->inspector_pid;
}

pid_t helpers_attach_watchdog(const struct rig *rig)
{
    pid_t found[MOST];
    assert_int_equal(helpers_find(rig, found), 2);
    return found[0] == helpers_inspector(rig) ? found[1] : found[0];
}

/* A child that has ended is still there until it was waited for. */
static bool has_ended(pid_t process)
{
    siginfo_t ended = {0};
    return waitid(P_PID, (id_t)process, &ended, WEXITED | WNOWAIT | WNOHANG) != 0 || ended.si_pid;
}

static void *stop_again(void *argument)
{
    const pid_t process = (pid_t)(intptr_t)argument;
    while (kill(process, SIGSTOP) == 0 && !has_ended(process))
        usleep(200);
    return NULL;
}

pthread_t helpers_keep_stopped(pid_t process)
{
    pthread_t thread;
    kill(process, SIGSTOP);
    assert_int_equal(pthread_create(&thread, NULL, stop_again, (void *)(intptr_t)process), 0);
    return thread;
}

void helpers_finish(struct rig *rig)
{
    assert_int_equal(rig->gpu->launched_while_suspended, 0);
    rig_finish(rig);
    helpers_assert(rig, 0);
}
