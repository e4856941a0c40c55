/* loop.h - what the parts of the watch share: watch.c looks and goes round, stalls.c asks the evidence
 * about what stalls, judge.c judges and says it, keep.c keeps it.  Private to them.
 */
#ifndef WSDBG_WATCH_LOOP_H
#define WSDBG_WATCH_LOOP_H

#include "watch/held.h"
#include "watch/hidden_work.h"
#include "watch/sources.h"
#include "watch/stall.h"
#include "watch/whole_picture.h"
#include "watch/words.h"
#include "diagnose/standstill.h"

enum {
    WSDBG_WATCH_TICK_NS = 20000000,
    WSDBG_WATCH_COMPARE_NS = 60000000, /* between the histories that are compared, less a tick */
};

/* What was reported of a stall.  It is reported again when one of these changes. */
struct wsdbg_stall_said {
    bool any;
    enum wsdbg_movement movement;
    enum wsdbg_cause cause;
    enum wsdbg_confidence confidence;
    bool stands; /* a whole grid is known to */
    enum wsdbg_outside outside;
};

/* The outcome of the looks at one of the stalls.  The other stalls see other rows of the same grids. */
struct wsdbg_stall_looks {
    struct wsdbg_standstills standstills;
    struct wsdbg_stall_said said;
};

/* The kernel and the cause of which the whole picture was shown. */
struct wsdbg_stall_shown {
    bool any;
    enum wsdbg_cause cause;
    char kernel[128];
};

/* Looks for which another wsdbg had the GPU. */
struct wsdbg_gpu_turn {
    uint64_t pause_ns; /* from the last one to the next; 0 = the last look was not such a one */
    unsigned partial;  /* how many in a row saw other processes */
    bool is_awaited;   /* the next look comes soon for that reason */
};

/* The picture for another wsdbg's hang. */
struct wsdbg_marked {
    uint64_t again_ns; /* when it is tried again, because an inspector had some GPU; 0 = it is not */
    bool was_taken;    /* an inspector had some GPU at the last try */
    unsigned tries;
};

/* What the loop remembers between looks. */
struct wsdbg_watch_loop {
    struct wsdbg_watch *watch;
    struct wsdbg_stall slots, work, calls; /* calls: those of NCCL that no kernel shows */
    struct wsdbg_gpu_turn turn;
    struct wsdbg_marked marked;
    struct wsdbg_snapshot last;       /* the newest look */
    struct wsdbg_whole_picture whole; /* of the work's stall */
    bool is_brought_back;             /* `last` is that picture: the newest look showed less */
    uint64_t began_ns;                /* what happened before counts for no stall; 0 = all counts */
    uint64_t moved_ns;                /* when a look at the GPU last saw movement */
    uint64_t waited_ns;       /* threads have waited since then at least, before wsdbg came; 0 = not known to have */
    uint64_t waited_since_ns; /* ... and their work has not moved since that moment */
    bool is_unseen;           /* the newest look at the work showed nothing of it, and no earlier one did */
    bool saw_end;             /* the newest look at the work saw no kernel, and an earlier one did */
    bool looked_ahead;        /* the first of two looks at work that will soon be due was taken */
    struct wsdbg_stall_looks slots_looks, work_looks, hidden_looks, calls_looks;
    struct wsdbg_stall_shown shown; /* the last one of which the whole picture was */
    bool spared_said;               /* that a stall is not looked at */
    bool guess_said;                /* that it is not known whether work is unfinished */
    bool look_shown;                /* the picture that is stored is of a look at the GPU */
    struct wsdbg_noted noted;       /* by the look before */
    struct wsdbg_hidden hidden;     /* work that captures keep from being followed */
    uint64_t refreshed_ns;
    uint64_t works_said_ns;        /* of a simulated device's work since the last movement; 0 = nothing said */
    struct wsdbg_held held;        /* what holds the program from outside */
    uint64_t record_alone_ns;      /* for how long that has been so */
    bool asks_record_alone;        /* it is held and cannot answer, but a mapped ring shows its kernels */
    uint64_t recorded_ns;          /* when the newest frame was written */
    uint64_t recorded_progress_ns; /* what it shows */
    uint64_t stored_ns;
    uint64_t compared_ns; /* when the histories were read to compare the next ones with */
    bool record_failed, store_failed;
    uint32_t store_gaps; /* times in which nothing could be stored */
    uint32_t gaps;       /* times in which nothing was seen */
    uint64_t blind_since_ns;
    size_t faults_judged; /* contexts that an error had ended when that was last looked at */
    struct wsdbg_sources sources;
    uint64_t stands_until_ns; /* so long a standstill that was proven is expected */
};

/* ---- keep.c: the recording and the session's database ---- */

/* Trouble that must not disturb the program: said once, then that part is off.  Takes the error; true when there was
 * one. */
bool wsdbg_watch_give_up(const struct wsdbg_watch *watch, struct wsdbg_error *error, const char *what, bool *failed);
/* A frame of the newest look, as of time_ns. */
void wsdbg_watch_record(struct wsdbg_watch_loop *loop, uint64_t time_ns);
/* A frame whenever something moved, at most four a second, and always the last one before a silence: its slots
 * have not changed since progress_ns, so that is the frame's true time. */
void wsdbg_watch_record_progress(struct wsdbg_watch_loop *loop, uint64_t now_ns, bool over);
/* Waits until the inspectors that came for the newest look have left; its rows then have the time that took. */
void wsdbg_watch_await_leave(struct wsdbg_watch_loop *loop);
/* The newest look, when it is time or now_please. */
void wsdbg_watch_store(struct wsdbg_watch_loop *loop, uint64_t now_ns, bool now_please);
void wsdbg_watch_store_verdict(struct wsdbg_watch_loop *loop, const struct wsdbg_snapshot *snapshot,
                               const struct wsdbg_diagnosis *diagnosis, uint64_t now_ns);

/* ---- judge.c: is it a hang? ---- */

/* The snapshot becomes the newest look. */
void wsdbg_watch_keep_look(struct wsdbg_watch_loop *loop, const struct wsdbg_snapshot *snapshot);
/* The newest look gets the stacks of the program's own threads.  Errors are printed.  Calls of the program wait until
 * the inspectors have left, and a thread that goes on would seem to sleep: so they are awaited first. */
void wsdbg_watch_read_stacks(struct wsdbg_watch_loop *loop);
/* Beside what a look saw stand the slots of other grids: those that the slots' own watchdog would not call stalled are
 * not judged because something else is. */
void wsdbg_watch_mark_moving(struct wsdbg_watch_loop *loop);
/* Nothing goes on after such a look, whatever it shows, and there is no second one. */
bool wsdbg_watch_look_ended_work(const struct wsdbg_watch_loop *loop);
/* A stall, looked at with everything: judge, say.  True when it is decided: a hang, or given up. */
bool wsdbg_watch_judge(struct wsdbg_watch_loop *loop, struct wsdbg_stall *stall, enum wsdbg_movement movement,
                       uint64_t now_ns);

/* ---- marked.c: a hang that another wsdbg has found ---- */

/* Looks with everything, and keeps that as the judged picture; no verdict comes of it.  Where another wsdbg's inspector
 * has some GPU, the picture lacks its processes: it is due again soon, a few times. */
void wsdbg_watch_take_marked(struct wsdbg_watch_loop *loop, uint64_t now_ns);
bool wsdbg_watch_marked_is_due(const struct wsdbg_watch_loop *loop, uint64_t now_ns);

/* ---- stalls.c: what stalls, looked at ---- */

/* Looks with everything; the newest look is then this one. */
struct wsdbg_error *wsdbg_watch_inspect_within(struct wsdbg_watch_loop *loop, uint64_t time_ns, uint64_t deadline_ns);
/* ... at the GPU itself too, where the evidence can. */
struct wsdbg_error *wsdbg_watch_inspect(struct wsdbg_watch_loop *loop, uint64_t time_ns);
/* Judges what has stalled, if anything has.  *over: the watch is done. */
bool wsdbg_watch_judge_stalls(struct wsdbg_watch_loop *loop, uint64_t now_ns, bool *over);

#endif
