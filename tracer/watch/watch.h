/* watch.h - the watch loop, written once over (evidence, clock): live runs and replays are the same code.
 *
 * Reads: snapshots.  Writes: the report on stderr, the session database, a recording if one is asked for.
 */
#ifndef WSDBG_WATCH_WATCH_H
#define WSDBG_WATCH_WATCH_H

#include "watch/fault_launches.h"
#include "diagnose/finding.h"
#include "evidence/evidence.h"
#include "model/fault.h"
#include "store/store.h"

enum wsdbg_wait {
    WSDBG_WAIT_TICK,
    WSDBG_WAIT_RESUMED, /* the program had been stopped: the time in between counts for nothing */
    WSDBG_WAIT_LOOK,    /* somebody wants to know where every warp stands */
    WSDBG_WAIT_REFRESH, /* somebody looks on, and what is shown of kernels without probes is old */
    WSDBG_WAIT_MARKED,  /* another wsdbg of the same run has found a hang */
    WSDBG_WAIT_STANDS,  /* what runs on the device is known never to go on by itself; said once */
    WSDBG_WAIT_OVER     /* the program, or the recording, is at its end */
};

struct wsdbg_refusals_said; /* refusals.h */

/* A clock and what ends the watch.  wait() returns when now_ns() reached deadline_ns, or earlier. */
struct wsdbg_clock {
    uint64_t (*now_ns)(struct wsdbg_clock *clock);
    enum wsdbg_wait (*wait)(struct wsdbg_clock *clock, uint64_t deadline_ns);
    bool is_live; /* the verdict's delay can be measured */
};

/* Who follows a watch as it goes, in place of stderr.  What it is given stays valid until the call returns. */
struct wsdbg_listener {
    /* A look, fifty a second.  Valid until the next call.  last: no other comes, valid until this call returns. */
    void (*looked)(struct wsdbg_listener *listener, const struct wsdbg_snapshot *snapshot, bool last);
    /* A stall, judged: with histories. */
    void (*judged)(struct wsdbg_listener *listener, const struct wsdbg_snapshot *snapshot,
                   const struct wsdbg_diagnosis *diagnosis);
    /* A line of wsdbg's own, without its newline. */
    void (*said)(struct wsdbg_listener *listener, const char *line);
    /* The report of a hang, many lines, and the verdict as one. */
    void (*reported)(struct wsdbg_listener *listener, const char *text, const char *verdict);
};

enum wsdbg_not_looked {
    WSDBG_LOOKED,
    WSDBG_SPARED_LATER_WORK, /* a kernel may wait for later work, which a look would hold back */
    WSDBG_SPARED_WORK,       /* a look would end work that may still move */
    WSDBG_COULD_NOT_LOOK
};

struct wsdbg_watch {
    /* Set by the caller; nothing is owned. */
    struct wsdbg_listener *listener; /* NULL = words go to stderr */
    struct wsdbg_evidence *evidence;
    struct wsdbg_clock *clock;
    struct wsdbg_store *store;
    struct wsdbg_refusals_said *refusals; /* what the driver refused is collected here; NULL = nowhere, nor said */
    const struct wsdbg_session_info *info;
    uint64_t stall_ns;           /* the stall time of kernels whose slots are seen */
    uint64_t work_stall_ns;      /* the stall time of work of which nothing is seen */
    uint64_t give_up_ns;         /* the run ends when nothing has moved for so long, cause known or not; 0 = never */
    uint64_t look_ns;            /* most time that a look at the GPU itself may take; 0 = the evidence can take none */
    bool look_spares_later_work; /* work that stalls gets no late look while its kernel may wait for later work */
    bool look_ends_work;         /* a look ends the program's GPU work: only for work that is known to stall */
    uint32_t program_id;         /* the first process of the program, 0 = not known */
    const char *spool;           /* folder of module images, NULL = none */
    const char *record_path;     /* NULL = no recording */
    const char
        *looks_all_the_same; /* what the reader may do to have a look that was spared; NULL = as wsdbg run has it */
    const char *after_hang;  /* what happens to the program, for the report's last line */
    bool omits_delay;        /* no line of the verdict's delay */
    bool counts_from_now;    /* wsdbg attached to a running program: only the time from now on counts for a stall */
    bool read_stacks;        /* of the program's own threads, where something stands still */
    bool keep_history;       /* at the end of a run without a hang: store what its kernels recorded last */
    bool stop_at_hang;       /* return at the first hang, or when it is given up, instead of watching on */
    /* Filled by wsdbg_watch_run. */
    bool hang;
    uint64_t given_up_ns;     /* how long nothing had moved when the run was given up; 0 = it was not */
    uint64_t stalled_ns;      /* when the threshold passed; of a standstill, when its last look came; 0 = no hang */
    uint64_t threshold_ns;    /* that threshold */
    uint64_t verdict_ns;      /* when the verdict was reached; 0 = there is none, or the clock is not live */
    uint64_t launches;        /* seen in all */
    const char *looked_by;    /* "live", "core": the GPU itself was looked at; NULL = it was not */
    bool probes_seen;         /* some module has probes, or some slot was written */
    bool cuda_seen;           /* some context or launch was seen */
    uint32_t outlived_by;     /* another process of the program that has a context now, 0 = none */
    uint64_t unread_segments; /* segments of the session that could not be read: the most at one look */
    char unread_reason[256];
    bool blind;                       /* the evidence fails: nothing is seen now */
    uint64_t blind_ns;                /* ... and for how long it did before, in all */
    bool not_stored;                  /* the database lacks what was seen last */
    bool verdict_not_stored;          /* ... and the newest verdict */
    bool lost;                        /* what is left of the program can neither go on nor be looked at */
    bool cut;                         /* a look ended the program's work on the GPU, and no hang is known from it */
    bool stands_proven;               /* what runs was said never to go on by itself */
    bool stall_proven;                /* ... and that made the newest hang one */
    enum wsdbg_not_looked not_looked; /* the gravest reason why work that stalled was not looked at */
    bool fault_reported;              /* `fault` was said already, with its report */
    char fault[WSDBG_FAULT_BYTES];    /* sentence about the first context that an error ended, "" = none */
    bool fault_explained;             /* it has the words of a simulated device, which only a look shows */
    char fault_launches[WSDBG_FAULT_LAUNCHES_BYTES]; /* where that may have come from, "" = not known */
    char cause[32];                                  /* code of the newest verdict, "" = none */
};

/* A line of wsdbg's own about the session: to the listener, or on stderr; and into the session's log. */
void wsdbg_watch_say(const struct wsdbg_watch *watch, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Watches until the clock is over, or, with stop_at_hang, until a hang has been reported and stored.  Trouble with
 * evidence, recording or the database is said once on stderr; it never ends the watch. */
void wsdbg_watch_run(struct wsdbg_watch *watch);

#endif
