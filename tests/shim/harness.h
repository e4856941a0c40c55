/* harness.h - runs a program under the shim and reads the segment it leaves. */
#ifndef WSDBG_TESTS_SHIM_HARNESS_H
#define WSDBG_TESTS_SHIM_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <sys/types.h>

#include "wsdbg/session.h"

struct run {
    const char *program; /* SHIM_APP_LINKED or SHIM_APP_DYNAMIC */
    const char *mode;
    const char *scenario;
    const char *environment[8]; /* "NAME=value", NULL ends */
    const char *preload_after;  /* another library, after the shim */
    bool without_shim;
    bool asleep;                    /* preloaded, no session */
    uint64_t file_size_limit_bytes; /* 0 = none */
    void (*before)(const struct run *run); /* in the process that becomes the program; NULL = nothing */
    /* results */
    pid_t pid;
    int status; /* of waitpid */
    int in;     /* write end of its stdin */
    int out;    /* read end of its stdout */
    int err;
    char output[65536];
    char errors[4096];
};

/* The session that the programs run in. */
void session_name(char *name, size_t size);

/* Starts it; stdout and stderr go to files that run_finish reads. */
void run_start(struct run *run);
/* Closes stdin, waits for its end, fills the results. */
void run_finish(struct run *run);
void run_program(struct run *run);
/* Waits until its output has the line; fails the test after 10 s. */
void run_wait_line(struct run *run, const char *line);

void assert_exit(const struct run *run, int code);
/* As run_program; returns the log of the fake driver's calls. */
char *run_logged(struct run *run);
/* Runs the scenario again and again, another driver call failing each time: whichever it is, the app gets exactly the
 * driver's answers and lives.  setting: of the environment, NULL = none. */
void assert_any_call_may_fail(const char *scenario, const char *setting);
/* Starts the program and, when it has done its work and waits, asks for fresh slots. */
struct wsdbg_segment *run_and_look(struct run *run);
/* The mirror of a context's slot 0. */
const struct wsdbg_slot *slot_zero(const struct wsdbg_segment *segment, uint32_t context);

/* The segment of process `pid`, NULL when there is none.  Mapped until the test program ends. */
const struct wsdbg_segment *segment_of(pid_t pid);
/* Removes it. */
void segment_remove(pid_t pid);

/* Launch row of entry `index` (from 0); fails the test when it is not whole. */
struct wsdbg_launch_row launch_at(const struct wsdbg_segment *segment, uint64_t index);

/* Group tear-down: frees every text that the two functions below made. */
int free_texts(void **state);
int line_count(const char *text);
/* A file's text; NULL when there is no such file. */
char *file_text(const char *path);
/* The lines of `log` whose first word also begins a line of `names` (keep), or does not (!keep). */
char *only_calls_of(const char *log, const char *names, bool keep);

#endif
