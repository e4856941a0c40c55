/* dump_driver.h - stands in for the driver's thread that listens to a pipe and writes a GPU core dump, piece by piece.
 */
#ifndef TESTS_EVIDENCE_DUMP_DRIVER_H
#define TESTS_EVIDENCE_DUMP_DRIVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct dump_driver {
    pthread_t thread;
    int pipe, stop[2];
    char file[64];
    size_t most_bytes; /* it stops after so many */
    unsigned asked;    /* how often; read after the stop */
};

/* cmocka's setup and teardown of a group: a folder of its own with the dump "whole": one grid of two CTAs of four warps
 * each, 8 registers. */
int dump_driver_enter_folder(void **state);
int dump_driver_leave_folder(void **state);

/* Makes the pipe of a process in the current folder. */
void dump_driver_make_pipe(uint32_t process_id, char path[64]);
/* Serves it from the file "whole". */
void dump_driver_start(struct dump_driver *driver, uint32_t process_id, size_t most_bytes);
/* Ends the thread when it has written; removes its file. */
void dump_driver_stop(struct dump_driver *driver);

#endif
