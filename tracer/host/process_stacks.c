/* process_stacks.c - see process_stacks.h.  Reads: one process.  Writes: rows. */
#include "host/process_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/console.h"
#include "host/python_find.h"
#include "host/site_stacks.h"
#include "host/stack_rows.h"
#include "model/rows.h"

enum { PYTHON_THREADS_MOST = 4096, PATIENCE_MS = 10 };

struct process {
    const struct wsdbg_host_request *request;
    struct wsdbg_snapshot *rows;
    struct wsdbg_host_process *row;
    uint32_t *threads;
    size_t thread_count;
    struct wsdbg_host_maps maps;
    struct wsdbg_python python;
    struct wsdbg_python_thread *python_threads;
    size_t python_thread_count;
    struct wsdbg_host_reader reader;
    unsigned patience_ms;
};

/* The first obstacle is the reason for the others. */
static void say(struct process *p, const char *text)
{
    if (!p->row->obstacle[0])
        snprintf(p->row->obstacle, sizeof p->row->obstacle, "%s", text);
}

/* ---- what there is ---- */

static const char *refusal(int error)
{
    if (error == ESRCH || error == ENOENT)
        return "the process has ended";
    if (error == EPERM || error == EACCES)
        return "the kernel does not allow to read its memory (another user's, not dumpable, or "
               "kernel.yama.ptrace_scope)";
    return strerror(error);
}

static bool list_threads(struct process *p)
{
    const int error = wsdbg_host_threads_list((pid_t)p->request->process_id, &p->threads, &p->thread_count);
    if (error)
        say(p, refusal(error));
    else
        p->row->threads = wsdbg_known_u32((uint32_t)p->thread_count);
    return !error;
}

/* The segment's name ends with the number that the process has for itself (WSDBG_SEGMENT_NAME_FORMAT). */
static bool is_its_segment(const char *path, uint32_t process_id)
{
    const char *name = wsdbg_host_file_name(path), *number = name + strlen(name);
    if (strncmp(name, "wsdbg.", strlen("wsdbg.")) != 0)
        return false;
    if (strstr(name, " (deleted)"))
        number = strstr(name, " (deleted)");
    while (number > name && number[-1] >= '0' && number[-1] <= '9')
        number--;
    return number > name && number[-1] == '.' && strtoul(number, NULL, 10) == process_id;
}

/* UINT32_MAX = it has none mapped. */
static uint32_t segment_file(const struct process *p)
{
    for (uint32_t i = 0; i < p->maps.file_count; i++)
        if (is_its_segment(p->maps.files[i].path, p->request->process_id))
            return i;
    return UINT32_MAX;
}

static bool is_meant(const struct process *p)
{
    return !p->request->is_traced || segment_file(p) != UINT32_MAX;
}

/* A word of some mapped file.  Devices come first in programs that use CUDA, and cannot be read. */
static bool reads_a_word(struct process *p)
{
    uint64_t word;
    for (size_t i = 0; i < p->maps.count && !wsdbg_host_memory_error(p->reader.memory); i++)
        if (strncmp(p->maps.files[p->maps.mappings[i].file].path, "/dev/", strlen("/dev/")) != 0 &&
            wsdbg_host_read_word(p->reader.memory, p->maps.mappings[i].start, &word))
            return true;
    return false;
}

/* One word of the program tells whether its memory may be read. */
static bool may_read(struct process *p)
{
    if (p->maps.count == 0) {
        say(p, "it has no files in its memory: it is about to end, or not allowed to be read");
        return false;
    }
    if (!is_meant(p)) {
        say(p, "the process of this number is not the program's: it runs in another pid namespace, or has ended");
        return false;
    }
    if (reads_a_word(p))
        return true;
    const int error = wsdbg_host_memory_error(p->reader.memory);
    say(p, error ? refusal(error) : "its memory could not be read");
    return false;
}

static struct wsdbg_error *open_process(struct process *p, uint64_t deadline_ns, bool *can_read)
{
    const pid_t process = (pid_t)p->request->process_id;
    *can_read = false;
    p->reader.process = process;
    p->reader.patience_ms = &p->patience_ms;
    p->patience_ms = PATIENCE_MS;
    if (!list_threads(p))
        return NULL;
    struct wsdbg_error *error = wsdbg_host_memory_open(process, deadline_ns, &p->reader.memory);
    if (error)
        return error;
    error = wsdbg_host_maps_read(process, &p->maps);
    if (error && wsdbg_error_code(error) == WSDBG_ERROR_OS) {
        say(p, wsdbg_error_message(error));
        wsdbg_error_destroy(error);
        return NULL;
    }
    if (error || !may_read(p))
        return error;
    *can_read = true;
    return wsdbg_host_modules_create(process, &p->maps, p->reader.memory, &p->reader.modules);
}

/* ---- Python ---- */

static void number_threads(struct process *p)
{
    for (size_t i = 0; i < p->python_thread_count; i++)
        p->python_threads[i].thread_id =
            wsdbg_python_thread_number(&p->python_threads[i], p->reader.memory, p->threads, p->thread_count);
}

static struct wsdbg_error *list_python(struct process *p)
{
    const char *end = NULL;
    p->python_threads = calloc(PYTHON_THREADS_MOST, sizeof *p->python_threads);
    if (!p->python_threads)
        return &wsdbg_error_no_memory;
    p->python_thread_count =
        wsdbg_python_threads(&p->python, p->reader.memory, p->python_threads, PYTHON_THREADS_MOST, &end);
    if (end)
        say(p, end);
    number_threads(p);
    p->reader.python = &p->python;
    return wsdbg_python_codes_create(&p->python, p->reader.memory, &p->reader.codes);
}

static struct wsdbg_error *find_python(struct process *p)
{
    char obstacle[sizeof p->row->obstacle];
    const enum wsdbg_python_found found =
        wsdbg_python_find(p->reader.process, &p->maps, p->reader.memory, &p->python, obstacle, sizeof obstacle);
    memcpy(p->row->python, p->python.version, sizeof p->row->python);
    if (found == WSDBG_PYTHON_UNREADABLE)
        say(p, obstacle);
    return found == WSDBG_PYTHON_FOUND ? list_python(p) : NULL;
}

/* ---- the threads ---- */

static struct wsdbg_error *read_threads(struct process *p, const struct wsdbg_host_choices *choices)
{
    struct wsdbg_host_unnamed *unnamed = NULL;
    struct wsdbg_host_thread_picture *picture = malloc(sizeof *picture);
    struct wsdbg_error *error = picture ? wsdbg_host_unnamed_create(p->rows, &unnamed) : &wsdbg_error_no_memory;
    for (size_t i = 0; !error && i < choices->count; i++) {
        if (wsdbg_host_memory_is_late(p->reader.memory)) {
            say(p, "there was no time to read all threads");
            break;
        }
        wsdbg_host_thread_read(&p->reader, &choices->rows[i], picture);
        if (!picture->is_gone)
            error = wsdbg_host_stack_add(unnamed, &p->reader, choices->rows[i].thread_id, picture);
    }
    if (!error)
        wsdbg_host_stacks_name(unnamed, &p->reader, NULL);
    wsdbg_host_unnamed_destroy(unnamed);
    free(picture);
    return error;
}

static struct wsdbg_error *read_all(struct process *p)
{
    struct wsdbg_host_choices *choices = malloc(sizeof *choices);
    struct wsdbg_error *error = choices ? find_python(p) : &wsdbg_error_no_memory;
    if (!error) {
        wsdbg_host_choose(p->request->process_id, p->threads, p->thread_count, p->request->waiting,
                          p->request->waiting_count, p->python_threads, p->python_thread_count, choices);
        error = read_threads(p, choices);
    }
    if (!error)
        error = wsdbg_site_stacks_read(&p->reader, segment_file(p), p->request, p->rows);
    if (wsdbg_host_memory_error(p->reader.memory))
        say(p, refusal(wsdbg_host_memory_error(p->reader.memory)));
    free(choices);
    return error;
}

static void close_process(struct process *p)
{
    wsdbg_python_codes_destroy(p->reader.codes);
    wsdbg_host_modules_destroy(p->reader.modules);
    wsdbg_host_maps_free(&p->maps);
    wsdbg_host_memory_close(p->reader.memory);
    free(p->python_threads);
    free(p->threads);
}

struct wsdbg_error *wsdbg_host_process_read(const struct wsdbg_host_request *request, uint64_t deadline_ns,
                                            struct wsdbg_snapshot *rows)
{
    const uint64_t began_ns = wsdbg_monotonic_ns();
    struct process p = {.request = request, .rows = rows};
    bool can_read;
    struct wsdbg_error *error = wsdbg_rows_reserve(rows, &(struct wsdbg_table_counts){.host_processes = 1});
    if (error)
        return error;
    p.row = &rows->host_processes[rows->host_process_count++];
    *p.row = (struct wsdbg_host_process){.process_id = request->process_id};
    error = open_process(&p, deadline_ns, &can_read);
    if (!error && can_read)
        error = read_all(&p);
    p.row->read_ns = wsdbg_monotonic_ns() - began_ns;
    close_process(&p);
    return error;
}
