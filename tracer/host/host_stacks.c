/* host_stacks.c - see host_stacks.h.
 *
 * Reads: processes, on a thread of its own: /proc may make a reader wait for as long as the process is changing its
 * mappings.  A thread that is late is left alone; it frees what it has when it gets on.  Writes: rows of the snapshot.
 */
#include "host/host_stacks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/console.h"
#include "host/process_stacks.h"
#include "model/rows.h"

#define PATIENCE_NS UINT64_C(1000000000) /* beyond the limit */

/* One process.  Whoever is last to be done with it frees it. */
struct job {
    pthread_mutex_t lock;
    pthread_cond_t done_signal;
    bool done, left; /* by the thread; by whoever waits */
    uint64_t limit_ns;
    struct wsdbg_host_request request;
    struct wsdbg_snapshot rows;
    struct wsdbg_error *error;
};

static void destroy(struct job *job)
{
    wsdbg_snapshot_deinit(&job->rows);
    wsdbg_error_destroy(job->error);
    pthread_cond_destroy(&job->done_signal);
    pthread_mutex_destroy(&job->lock);
    free((void *)job->request.waiting);
    free((void *)job->request.wanted);
    free(job);
}

/* The request is copied: the thread may outlive it. */
static struct job *create(const struct wsdbg_host_request *request, uint64_t limit_ns)
{
    pthread_condattr_t monotonic;
    struct job *job = calloc(1, sizeof *job);
    uint32_t *waiting = reallocarray(NULL, request->waiting_count + 1, sizeof *waiting);
    struct wsdbg_host_wanted *wanted = reallocarray(NULL, request->wanted_count + 1, sizeof *wanted);
    if (!job || !waiting || !wanted) {
        free(job);
        free(waiting);
        free(wanted);
        return NULL;
    }
    if (request->waiting_count > 0)
        memcpy(waiting, request->waiting, request->waiting_count * sizeof *waiting);
    if (request->wanted_count > 0)
        memcpy(wanted, request->wanted, request->wanted_count * sizeof *wanted);
    job->request = *request;
    job->request.waiting = waiting;
    job->request.wanted = wanted;
    job->limit_ns = limit_ns;
    pthread_mutex_init(&job->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&job->done_signal, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return job;
}

static void *work(void *argument)
{
    struct job *job = argument;
    job->error = wsdbg_host_process_read(&job->request, wsdbg_monotonic_ns() + job->limit_ns, &job->rows);
    pthread_mutex_lock(&job->lock);
    const bool left = job->left;
    job->done = true;
    pthread_cond_signal(&job->done_signal);
    pthread_mutex_unlock(&job->lock);
    if (left)
        destroy(job);
    return NULL;
}

/* Signals are for the threads that expect them. */
static int start(struct job *job)
{
    pthread_t thread;
    pthread_attr_t detached;
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* of files that are cut short (base/mapping_guard.h) */
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, &detached, work, job);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return error;
}

/* False: it is late, and left alone. */
static bool wait_done(struct job *job)
{
    const uint64_t until_ns = wsdbg_monotonic_ns() + job->limit_ns + PATIENCE_NS;
    const struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    int status = 0;
    pthread_mutex_lock(&job->lock);
    while (!job->done && status == 0)
        status = pthread_cond_timedwait(&job->done_signal, &job->lock, &until);
    const bool done = job->done;
    job->left = !done;
    pthread_mutex_unlock(&job->lock);
    return done;
}

static struct wsdbg_error *add_late(uint32_t process_id, uint64_t waited_ns, struct wsdbg_snapshot *out)
{
    struct wsdbg_error *error = wsdbg_rows_reserve(out, &(struct wsdbg_table_counts){.host_processes = 1});
    if (error)
        return error;
    struct wsdbg_host_process *row = &out->host_processes[out->host_process_count++];
    *row = (struct wsdbg_host_process){.process_id = process_id, .read_ns = waited_ns};
    snprintf(row->obstacle, sizeof row->obstacle,
             "the kernel did not let it be read in time: is it changing its memory, in a driver?");
    return NULL;
}

/* Without a job there is nothing to wait for. */
static struct wsdbg_error *begin(const struct wsdbg_host_request *request, uint64_t limit_ns, struct job **out)
{
    struct job *job = create(request, limit_ns);
    if (!job)
        return &wsdbg_error_no_memory;
    const int refused = start(job);
    if (!refused) {
        *out = job;
        return NULL;
    }
    destroy(job);
    return wsdbg_error_os(refused, "no thread to read the program's stacks with");
}

static struct wsdbg_error *finish(struct job *job, struct wsdbg_snapshot *out)
{
    static const struct wsdbg_table_maps none;
    const uint32_t process_id = job->request.process_id;
    const uint64_t waited_ns = job->limit_ns + PATIENCE_NS;
    if (!wait_done(job))
        return add_late(process_id, waited_ns, out);
    struct wsdbg_error *error = job->error;
    job->error = NULL;
    if (!error)
        error = wsdbg_rows_append(out, &job->rows, &none);
    destroy(job);
    return error;
}

/* Every job that was begun is waited for. */
static struct wsdbg_error *read_batch(const struct wsdbg_host_request *requests, size_t count, uint64_t limit_ns,
                                      struct wsdbg_snapshot *out)
{
    struct job *jobs[WSDBG_HOST_TOGETHER] = {NULL};
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < count; i++)
        error = begin(&requests[i], limit_ns, &jobs[i]);
    for (size_t i = 0; i < count && jobs[i]; i++) {
        struct wsdbg_error *later = finish(jobs[i], out);
        if (error)
            wsdbg_error_destroy(later);
        else
            error = later;
    }
    return error;
}

struct wsdbg_error *wsdbg_host_stacks_read(const struct wsdbg_host_request *requests, size_t count, uint64_t limit_ns,
                                           struct wsdbg_snapshot *out)
{
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < count; i += WSDBG_HOST_TOGETHER)
        error =
            read_batch(&requests[i], count - i < WSDBG_HOST_TOGETHER ? count - i : WSDBG_HOST_TOGETHER, limit_ns, out);
    return error;
}
