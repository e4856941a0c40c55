/* watch_world.h - what a watch sees in a test: evidence, a clock and a listener of the test's own.
 *
 * One context whose work is unfinished since 1 s; a stall is 10 s of it.  What a look at the GPU sees is scripted.
 */
#ifndef WSDBG_TESTS_CMD_WATCH_WORLD_H
#define WSDBG_TESTS_CMD_WATCH_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/types.h>

#include "watch/watch.h"

#define S UINT64_C(1000000000)
#define LOOK_NS (3 * S)

/* What the looks at the GPU see, one after the other; the last one again and again. */
enum sight {
    STANDS,          /* at a place that the code does not explain; whether it has the same registers is not known */
    LOST,            /* likewise, with the same registers */
    WGMMA,           /* at a wgmma that does not end */
    WGMMA_ELSEWHERE, /* at another one each time */
    POLLS,           /* memory of the GPU */
    POLLS_IN_TWO,    /* ... and a second process was looked at */
    MOVES,
    SHUT,
    TAKEN,        /* another wsdbg's inspector has the GPU */
    TAKEN_PARTLY, /* ... of another process; this one polls */
    FAILS,
    HANGS,
    NEXT,
    BUSY,
    NO_GRID /* the look succeeds, and no kernel is there */
};

struct world {
    struct wsdbg_evidence evidence;
    struct wsdbg_clock clock;
    struct wsdbg_listener listener;
    const enum sight *sights;
    size_t sight_count;
    uint64_t now_ns, end_ns;
    uint64_t came_ns;        /* wsdbg comes then, to a program that runs since 1 s; 0 = it was there before */
    uint64_t done_ns;        /* the work is done then; 0 = never */
    bool hidden;             /* stream captures hide since 1 s whether there is work */
    bool guessed;            /* that work is unfinished is not known: the driver only keeps the observer's thread */
    uint64_t other_since_ns; /* a second context has unfinished work from then on, and the looks' grids; 0 = none has */
    bool probed;             /* the kernel wrote that it began, at 1 s, and nothing since; looks add `sights` to that */
    bool look_ends_work, look_spares_later_work;
    uint64_t give_up_ns;
    uint64_t blind_from_ns, blind_until_ns;  /* the evidence fails meanwhile */
    uint64_t waits_ns;                       /* a thread of the host waits for the GPU from then on; 0 = none does */
    uint64_t goes_on_until_ns;               /* until then not all other threads of the program are blocked */
    const enum wsdbg_host_state *goes_on_as; /* their state until then; NULL = one that used the driver goes on */
    bool lacks_rank;         /* the thread waits for a collective of NCCL that an idle process has not called */
    bool attended;           /* an inspector stays at the GPU */
    uint64_t trouble_ns;     /* the evidence has something to say of that then; 0 = never */
    const char *accounts[2]; /* ... and at the end */
    size_t account_count;
    pid_t held; /* a process whose work it is, which a debugger lets go at held_until_ns; 0 = another process */
    uint64_t held_until_ns;
    bool is_followed;   /* ... or which goes on between any two ticks, and is stopped at each */
    bool is_held_often; /* ... or which runs one second in four */
    uint64_t asked_ns;  /* somebody asks for a look then; 0 = nobody does */
    uint64_t marked_ns; /* another wsdbg finds a hang then; 0 = none does */
    uint64_t every_ns;  /* somebody looks on, and wants a new picture so often; 0 = nobody does */
    uint64_t wanted_ns; /* ... the next one */
    uint64_t looks[16]; /* when the GPU was looked at, in seconds */
    size_t look_count;
    uint64_t aheads_ns[16]; /* when the first of two looks was taken ahead */
    size_t ahead_count;
    size_t attend_count, over_count; /* how often the evidence was told of a look, and that it was the last */
    char said[4096];                 /* lines; of a report its title, or its verdict */
    char report[16384];              /* the newest one */
    size_t reports;
    bool is_hang; /* by the newest diagnosis */
    enum wsdbg_cause cause;
    size_t judged, looks_judged; /* how often; rows of looks in the newest */
    size_t pictures; /* of looks, as they went to who looks on */
};

/* Runs the watch to world->end_ns; its database is x.db. */
struct wsdbg_watch world_watch(struct world *world, uint64_t look_ns);

/* What was once recorded of a hang: an arrival that a consumer forgot. */
struct wsdbg_error *look_at_recorded_hang(struct wsdbg_snapshot *out);

/* A child of this process that a debugger holds (its parent traces it), or that a signal has stopped. */
pid_t hold_a_process(void);
pid_t stop_a_process(void);
void end_process(pid_t process);

/* At which seconds the GPU was looked at. */
void assert_looks(const struct world *world, const uint64_t *seconds, size_t count);
#define ASSERT_LOOKS(world, ...) \
    assert_looks(world, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Lines of a text. */
static inline size_t line_count(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

#endif
