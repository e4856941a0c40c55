/* dump_driver.c - see dump_driver.h. */
#include "evidence/dump_driver.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "evidence/core_dump.h"
#include "machine/synthetic.h"

static void pause_ms(long count)
{
    nanosleep(&(struct timespec){.tv_nsec = count * 1000000}, NULL);
}

static void write_in_pieces(const struct dump_driver *driver)
{
    unsigned char bytes[4096];
    size_t got, left = driver->most_bytes;
    FILE *from = fopen("whole", "rb"), *to = fopen(driver->file, "wb");
    while (left && (got = fread(bytes, 1, left < sizeof bytes ? left : sizeof bytes, from)) > 0) {
        fwrite(bytes, 1, got, to);
        fflush(to);
        left -= got;
        pause_ms(12); /* long enough that the file seems to stand still */
    }
    fclose(from);
    fclose(to);
}

static void *drive(void *argument)
{
    struct dump_driver *driver = argument;
    char byte;
    for (;;) {
        struct pollfd ready[] = {{.fd = driver->pipe, .events = POLLIN}, {.fd = driver->stop[0], .events = POLLIN}};
        if (poll(ready, 2, -1) < 0)
            return NULL;
        if (ready[0].revents & POLLIN && read(driver->pipe, &byte, 1) == 1) {
            driver->asked++;
            write_in_pieces(driver);
        } else if (ready[1].revents) {
            return NULL;
        }
    }
}

void dump_driver_make_pipe(uint32_t process_id, char path[64])
{
    snprintf(path, 64, WSDBG_CORE_PIPE_PREFIX "%u", process_id);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
}

void dump_driver_start(struct dump_driver *driver, uint32_t process_id, size_t most_bytes)
{
    char path[64];
    dump_driver_make_pipe(process_id, path);
    *driver = (struct dump_driver){.pipe = open(path, O_RDWR | O_NONBLOCK), .most_bytes = most_bytes};
    snprintf(driver->file, sizeof driver->file, WSDBG_CORE_FILE_PREFIX "%u", process_id);
    assert_int_equal(pipe(driver->stop), 0);
    assert_int_equal(pthread_create(&driver->thread, NULL, drive, driver), 0);
}

void dump_driver_stop(struct dump_driver *driver)
{
    assert_int_equal(write(driver->stop[1], "x", 1), 1);
    pthread_join(driver->thread, NULL);
    close(driver->pipe);
    close(driver->stop[0]);
    close(driver->stop[1]);
    unlink(driver->file);
}

int dump_driver_enter_folder(void **state)
{
    static char folder[] = P_tmpdir "/wsdbg-core-dump-XXXXXX";
    const struct shape shape = {
        .devices = 1, .ctas_per_device = 2, .warps_per_cta = 4, .cluster_size = 1, .capability = 90, .registers = 8};
    *state = folder;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    struct synthetic *from = synthetic_create(&shape);
    struct wsdbg_error *error = wsdbg_machine_write_core(&from->machine, &from->reads, "whole");
    wsdbg_error_destroy(error);
    synthetic_destroy(from);
    return error ? -1 : 0;
}

int dump_driver_leave_folder(void **state)
{
    const int failed = system("rm -f whole gpu-core* look-*");
    return failed || chdir("/") != 0 || rmdir(*state) != 0 ? -1 : 0;
}
