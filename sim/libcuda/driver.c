/* driver.c - the stand-in's one struct: its lock, its threads, what it says.  Writes: lines on stderr. */
#include "libcuda/driver.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

struct driver driver = {.lock = PTHREAD_MUTEX_INITIALIZER, .progress = PTHREAD_COND_INITIALIZER};

void driver_lock(void)
{
    pthread_mutex_lock(&driver.lock);
}

void driver_unlock(void)
{
    pthread_mutex_unlock(&driver.lock);
}

void driver_wait(void)
{
    pthread_cond_wait(&driver.progress, &driver.lock);
}

void driver_say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "wsdbg simulator: %s\n", line);
}

void driver_say_error(const char *what, struct wsdbg_error *error)
{
    driver_say("%s: %s", what, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

struct wsdbg_error *driver_thread(const char *name, void *(*body)(void *), void *argument, pthread_t *out)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(out, NULL, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code)
        return wsdbg_error_os(code, "no thread for the simulator");
    pthread_setname_np(*out, name);
    return NULL;
}
