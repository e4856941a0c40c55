/* explore.h - a launch is tried under many schedules before it runs: in forked processes, each with memory of its own.
 *
 * Asked for by WSDBG_EXPLORE=WORD=VALUE,...,log=FILE, all words of explore_read in any order, log= last.  What is found
 * is appended to FILE, line by line; the words of the lines are in explore_words.c.
 */
#ifndef WSDBG_LIBCUDA_EXPLORE_H
#define WSDBG_LIBCUDA_EXPLORE_H

#include <poll.h>
#include <sys/types.h>
#include <time.h>

#include "libcuda/operation.h"

#define EXPLORE_EVERY_LAUNCH UINT64_MAX

struct explore_options {
    uint64_t schedules;            /* most to try, the usual one among them */
    uint64_t limit_ns;             /* of time, 0 = none */
    uint64_t jobs;                 /* processes at a time */
    uint64_t seed;                 /* the first */
    uint64_t launch;               /* the only one to explore, or EXPLORE_EVERY_LAUNCH: the first of each kernel */
    uint64_t depth;                /* change points of priority schedules; of a mix the most */
    enum explore_kind { EXPLORE_MIX, EXPLORE_RANDOM, EXPLORE_PRIORITY } kind;
    bool all, replays;             /* replays: `seed` alone, and the launch runs with it whatever it does */
    bool compares;                 /* what schedules leave in memory */
    char log[4096];
};

/* The first word of memory, in the order of addresses, that is not what the usual schedule leaves. */
struct explore_difference {
    bool is_there, is_host;
    uint32_t usual, here;
    uint64_t address, first, byte_count; /* first: of the allocation */
};

/* What a launch came to under one schedule; sent through a pipe in one piece. */
enum { EXPLORE_WAITS = 6, EXPLORE_REPORTS = 16 };
struct explore_record {
    enum wsdbg_gpu_outcome outcome;
    uint64_t instructions, decisions, turns, engine_decisions;
    struct explore_wait {                  /* where warps wait, the most of them first */
        uint32_t kind, instruction, warps; /* enum wsdbg_gpu_wait */
    } waits[EXPLORE_WAITS];
    uint32_t wait_count, report_count;
    struct wsdbg_gpu_report reports[EXPLORE_REPORTS];
    struct explore_difference difference;
    int driver_error; /* of a fault */
    char fault[512];
};

/* The launch as the explorer and its children see it. */
struct explore_launch {
    const struct explore_options *options;
    struct wsdbg_gpu *gpu;
    const struct wsdbg_gpu_launch *launch;
    uint64_t number;                 /* from 0, in this process */
    int log;                         /* the file */
    int end_asked;                   /* a signalfd: can be read when somebody wants the explorer to end */
    struct explore_results *results; /* NULL = they are not compared */
    uint64_t usual_instructions;
    uint64_t said_ns; /* when the log was last told how far it is */
};

/* What the parent goes on with. */
struct explore_choice {
    bool has_schedule; /* else the launch runs as usual */
    struct wsdbg_schedule_options schedule;
};

static inline uint64_t explore_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- explore.c ---- */

/* Reads WSDBG_EXPLORE; without it launches run once. */
struct wsdbg_error *explore_begin(void);
/* A launch must wait: another one is explored, or runs and can go on by itself; each is explored alone. */
bool explore_holds(const struct context *context);
/* The launch is about to be handed to the gpu: tries it, and sets the schedule that it then runs under.  With the
 * driver's lock held, which is given up in between. */
void explore_before(struct operation *operation);
/* What came of the last slice of the device's work. */
void explore_stands(struct context *context, enum wsdbg_gpu_outcome outcome);

/* ---- explore_options.c ---- */

struct wsdbg_error *explore_read(const char *text, struct explore_options *out);

/* ---- in the explorer, explore_try.c ---- */

struct explore_child {
    pid_t pid;
    int pipe; /* -1 = none */
};
/* Begins to run the launch under the schedule; with keeps_switches the child sends them behind its record. */
bool explore_start(const struct explore_launch *launch, const struct wsdbg_schedule_options *schedule,
                   struct explore_child *out);
/* Takes what it sends, to its end; false when it died. */
bool explore_take(struct explore_child *child, struct explore_record *out);
/* Ends it, whatever it does. */
void explore_drop(struct explore_child *child);
/* Until one of the pipes can be read, in so many ns at most, or somebody wants the end.  The row behind the last pipe
 * is the function's. */
enum { EXPLORE_TICK_NS = 200000000 };
void explore_wait(const struct explore_launch *launch, struct pollfd *pipes, nfds_t count, uint64_t most_ns);
bool explore_must_end(const struct explore_launch *launch);
/* Runs the launch under the schedule; false when the child died, until_ns came first (0 = never), or somebody wants the
 * end. */
bool explore_try(struct explore_launch *launch, const struct wsdbg_schedule_options *schedule, uint64_t until_ns,
                 struct explore_record *out);
/* Of a child with keeps_switches: its turns and what engines decided, which the caller frees. */
struct explore_turns {
    struct wsdbg_schedule_switch *rows;
    uint32_t *engine;
    size_t count, engine_count;
};
bool explore_record_turns(const struct explore_launch *launch, const struct wsdbg_schedule_options *schedule,
                          struct explore_record *record, struct explore_turns *out);
void explore_turns_free(struct explore_turns *turns);
/* Neither over nor given up: a hang, a stall or a fault. */
bool explore_is_bad(enum wsdbg_gpu_outcome outcome);
struct wsdbg_schedule_options explore_schedule(const struct explore_launch *launch, uint64_t seed);

/* ---- explore_alike.c ---- */

/* The kernel hangs, faults or ends in the same way under every schedule. */
bool explore_all_alike(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function);

/* ---- explore_results.c ---- */

/* Made before any child; NULL = no memory, or too much memory to compare, which is said. */
struct explore_results *explore_results_create(const struct explore_launch *launch);
void explore_results_destroy(struct explore_results *results); /* NULL is fine */
/* In a child: keeps what is in memory now, for all that come later; or looks for the first difference. */
void explore_results_keep(struct explore_results *results);
void explore_results_compare(const struct explore_results *results, struct explore_difference *out);

/* ---- explore_reduce.c: the fewest switches, of those that were had, that still lead to the same ---- */

/* `wanted`: what the turns led to.  False: the turns alone do not lead to it. */
bool explore_reduce(struct explore_launch *launch, struct explore_turns *turns, const struct explore_record *wanted,
                    uint64_t until_ns);

/* ---- explore_schedules.c ---- */

struct explore_choice explore_schedules(struct explore_launch *launch);

/* ---- explore_words.c: lines of the log ---- */

void explore_say(int log, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, a few times a second at most. */
void explore_say_progress(struct explore_launch *launch, const char *format, ...) __attribute__((format(printf, 2, 3)));
void explore_say_waits(const struct explore_launch *launch, const struct explore_record *record);
void explore_say_turns(const struct explore_launch *launch, const struct explore_turns *turns);
/* `run`: all turns of a run under the few switches of `turns`. */
void explore_say_story(const struct explore_launch *launch, const struct explore_turns *turns,
                       const struct explore_turns *run);
/* "kernel.cu:34", "PTX line 12" without lines, or "its end". */
enum { EXPLORE_PLACE_BYTES = 160 };
void explore_short_place(const struct explore_launch *launch, uint32_t instruction, char out[EXPLORE_PLACE_BYTES]);
/* seed: of the first of the schedules, as it is written. */
void explore_say_report(const struct explore_launch *launch, const struct wsdbg_gpu_report *report, uint64_t schedules,
                        const char *seed);
void explore_say_difference(const struct explore_launch *launch, const struct explore_difference *difference,
                            uint64_t schedules, const char *seed);
/* The word for a schedule: its number, or that it is the usual one. */
enum { EXPLORE_SEED_BYTES = 24 };
void explore_seed_word(bool is_usual, uint64_t seed, char out[EXPLORE_SEED_BYTES]);

#endif
