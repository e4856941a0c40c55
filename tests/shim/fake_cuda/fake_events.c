/* fake_events.c - the fake driver's event thread: sleeps in poll() on device files, as the driver's does.
 *
 * Only where FAKE_DEVICE_FILES is set.  The files are pipes; device_files.c says that they are the GPU's.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_internal.h"

static int ends[FAKE_EVENT_KINDS][2];

static void *attend(void *unused)
{
    struct pollfd files[FAKE_EVENT_KINDS];
    char byte;
    (void)unused;
    for (;;) {
        for (int i = 0; i < FAKE_EVENT_KINDS; i++)
            files[i] = (struct pollfd){.fd = ends[i][0], .events = POLLIN};
        poll(files, FAKE_EVENT_KINDS, 100);
        for (int i = 0; i < FAKE_EVENT_KINDS; i++)
            if (files[i].revents && read(ends[i][0], &byte, 1) != 1)
                fake_complain("the event thread's pipe has ended");
    }
    return NULL;
}

static void start(void)
{
    pthread_t thread;
    for (int i = 0; i < FAKE_EVENT_KINDS; i++) {
        int made[2];
        if (pipe2(made, O_CLOEXEC) != 0)
            fake_complain("no pipe for the event thread");
        ends[i][0] = fcntl(made[0], F_DUPFD_CLOEXEC, FAKE_DEVICE_FILE);
        ends[i][1] = made[1];
        close(made[0]);
    }
    pthread_create(&thread, NULL, attend, NULL);
}

void fake_events_tell(enum fake_event kind)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!getenv("FAKE_DEVICE_FILES"))
        return;
    pthread_once(&once, start);
    if (write(ends[kind][1], "", 1) != 1)
        fake_complain("nobody reads the event thread's pipe");
}
