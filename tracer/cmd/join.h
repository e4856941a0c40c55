/* join.h - `wsdbg attach`: watches processes from outside, gives a verdict, and leaves. */
#ifndef WSDBG_CMD_JOIN_H
#define WSDBG_CMD_JOIN_H

#include "cmd/launch.h"
#include "program/armed.h"

struct wsdbg_join_options {
    const struct wsdbg_armed_place *place;
    const uint32_t *process_ids; /* locked for this wsdbg */
    size_t process_count;
    const char *output; /* NULL = the database is not kept */
    uint64_t stall_ns;
    bool look_anyway; /* also if a look may hold back work of the program */
    bool json;
    bool lives_on;                /* watches until the processes end or a signal comes; a look signal is a look */
    int ready_fd;                 /* with lives_on: gets a byte and is closed as soon as the database can be read */
    enum wsdbg_on_stall on_stall; /* KILL or DETACH */
};

/* *status: 124 after a hang; -N if signal N ended the watch before a verdict; else 0. */
struct wsdbg_error *wsdbg_join_watch(const struct wsdbg_join_options *options, int *status);

/* The same in a process of its own, which lives on, while this one shows it live on the terminal until the reader
 * leaves.
 */
struct wsdbg_error *wsdbg_join_top(const struct wsdbg_join_options *options, int *status);

/* Says what the threads of a process do, as far as that can be seen from outside, on stderr. */
struct wsdbg_error *wsdbg_join_say_stacks(const uint32_t *process_ids, size_t count);

#endif
