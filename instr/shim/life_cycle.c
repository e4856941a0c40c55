/* life_cycle.c - when the library starts, begins to record, and stops: its constructor, the first call, fork and exit.
 *
 * Reads:  WSDBG_SESSION, or WSDBG_ARM where there is none (armed.c), WSDBG_SPOOL, WSDBG_SEGMENT_BYTES, WSDBG_OBSERVER.
 * Writes: shim_state; the segment's driver_version, observer_kind, observer_state and exit_status.
 *
 * It starts and ends the other parts.  Of those only the hooks call it, by shim_recording.
 */
#include "life_cycle.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armed.h"
#include "clock.h"
#include "contexts.h"
#include "debug_attach.h"
#include "libcuda.h"
#include "messages.h"
#include "observer.h"
#include "own_threads.h"
#include "real_dlsym.h"
#include "sanitizers.h"
#include "segment.h"
#include "segment_file.h"
#include "stand_aside.h"
#include "state.h"
#include "system_calls.h"

#define HOLD_MOST_NS UINT64_C(10000000000)
#define HOLD_LOOK_US 2000

static char session[64];
static uint64_t limit_bytes = WSDBG_SEGMENT_BYTES_DEFAULT;

/* The GPU's mapping and our thread stay with the parent.  A child forked before the parent touched CUDA may
 * use CUDA itself: it gets its own segment. */
static void after_fork(void)
{
    shim_lock_renew();
    debug_attach_forget();
    shim_threads_forget();
    stand_aside_is_process();
    if (atomic_load(&shim_state) == SHIM_ON)
        atomic_store(&shim_state, SHIM_OFF);
}

/* A GPU core dump ends the contexts before it is whole: a program that leaves for that would cut it short.  wsdbg says
 * while it waits for one; a child that fork() made has no dump. */
static void hold_for_dump(void)
{
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    const uint64_t most_ns = shim_now_ns() + HOLD_MOST_NS;
    uint64_t now_ns;
    if (atomic_load(&shim_state) != SHIM_ON || !segment)
        return;
    while ((now_ns = shim_now_ns()) < most_ns &&
           now_ns < __atomic_load_n(&segment->hold_exit_until_ns, __ATOMIC_ACQUIRE))
        shim_sleep_us(HOLD_LOOK_US);
}

/* By which wsdbg tells an end by exit() from one by a signal.  A child that fork() made is another process. */
static void record_exit(int status)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    if (atomic_load(&shim_state) != SHIM_ON || !segment)
        return;
    segment->exit_status = status;
    __atomic_store_n(&segment->exit_called, 1, __ATOMIC_RELEASE);
}

/* Our thread gets a moment to leave the driver before the driver's own exit handlers run. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    atomic_store(&shim_exiting, true);
    record_exit(status);
    hold_for_dump();
    debug_attach_stop();
    for (int i = 0; i < WSDBG_CONTEXT_ROWS * 50; i++)
        if (atomic_load(&shim_contexts[i % WSDBG_CONTEXT_ROWS].users))
            shim_sleep_us(100);
    armed_leave();
}

/* Reads the environment once. */
static void begin(void)
{
    const char *name = getenv(WSDBG_ENV_SESSION);
    char armed_name[sizeof session];
    if (!name || !*name) {
        if (!armed_begin(armed_name, sizeof armed_name))
            return;
        name = armed_name;
    }
    messages_start(armed_or_session_folder());
    if (strlen(name) >= sizeof session || strchr(name, '/')) {
        shim_off("%s is not a session name; not observing this process", WSDBG_ENV_SESSION);
        return;
    }
    if (debug_attach_is_helper(name))
        return;
    armed_leave_earlier(name);
    strcpy(session, name);
    const char *limit = getenv(WSDBG_ENV_SEGMENT_BYTES);
    if (limit && *limit)
        limit_bytes = strtoull(limit, NULL, 10);
    pthread_atfork(NULL, NULL, after_fork);
    stand_aside_is_process();
    system_calls_tell(shim_stand_aside);
    atomic_store(&shim_state, SHIM_AWAKE);
}

__attribute__((constructor)) static void start(void)
{
    real_dlsym_find();
    sanitizers_started();
    begin();
}

static void choose_observer(struct wsdbg_segment *segment)
{
    const char *observer = getenv(WSDBG_ENV_OBSERVER);
    segment->observer_kind = WSDBG_OBSERVER_DRIVER;
    if (!observer || strcmp(observer, "cupti") != 0)
        return;
    char why[WSDBG_TEXT_BYTES] = "this is libwsdbg-shim.so, which has no CUPTI observer";
    if (cupti_start && cupti_start(why)) {
        segment->observer_kind = WSDBG_OBSERVER_CUPTI;
        atomic_store(&shim_hooks_record_launches, false);
        return;
    }
    shim_say("CUPTI observer not available: %s; using the driver observer", why);
    shim_note("CUPTI observer not available: %s", why);
    snprintf(segment->off_reason, sizeof segment->off_reason, "%s", why);
}

/* The caller holds the lock.  Only the first thread may do this: it removes files of an earlier process with this
 * number, which a second thread could not tell from those of the first. */
static bool create_in_place(char *why)
{
    return (!armed_is_on() || armed_make_place(why)) && segment_create(session, limit_bytes, why);
}

static void create_segment(void)
{
    char why[WSDBG_TEXT_BYTES] = "";
    bool created = false;
    shim_lock();
    if (atomic_load(&shim_state) == SHIM_AWAKE && segment_file_session_is_over(session)) {
        atomic_store(&shim_state, SHIM_OFF);
    } else if (atomic_load(&shim_state) == SHIM_AWAKE) {
        created = create_in_place(why);
        if (created)
            atomic_store(&shim_state, SHIM_ON);
    }
    shim_unlock();
    if (why[0])
        shim_off("%s", why);
    if (!created)
        return;
    on_exit(at_exit, NULL); /* registered after the driver's own handlers, so it runs before them */
    armed_sign_segment();
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    int version = 0;
    if (shim_driver.cuDriverGetVersion(&version) == CUDA_SUCCESS)
        segment->driver_version = (uint32_t)version;
    choose_observer(segment);
    debug_attach_start();
    __atomic_store_n(&segment->observer_state, WSDBG_OBSERVER_ACTIVE, __ATOMIC_RELEASE);
}

bool shim_recording(void)
{
    int state = atomic_load_explicit(&shim_state, memory_order_acquire);
    if (state == SHIM_ASIDE)
        stand_aside_tell();
    if (state == SHIM_ASIDE || state == SHIM_ASLEEP || state == SHIM_OFF || shim_depth > 1)
        return false;
    if (state == SHIM_ON)
        return true;
    int kept = errno;
    if (stand_aside_is_limited())
        atomic_store(&shim_state, SHIM_OFF);
    else if (libcuda_ready())
        create_segment();
    errno = kept;
    return atomic_load(&shim_state) == SHIM_ON;
}
