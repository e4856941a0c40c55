/* inspector_child.h - the files of the inspector's own side: inspector_child.c serves and keeps the program safe,
 * inspector_reads.c opens the interface and reads the GPU, attach_watchdog.c does so after another one's death. Private
 * to them. */
#ifndef WSDBG_EVIDENCE_INSPECTOR_CHILD_H
#define WSDBG_EVIDENCE_INSPECTOR_CHILD_H

#include "evidence/inspector.h"

enum { WSDBG_INSPECT_EXCEPTION_WORDS = 4 }; /* of 64 SMs */

struct wsdbg_inspection {
    const struct wsdbg_attach_link *attach;
    struct wsdbg_inspector_area *area;
    struct wsdbg_debug_api api;
    int wake;         /* eventfd that the driver's callback raises */
    bool opened;      /* the library and its table */
    bool asked;       /* the program was asked to let us in */
    bool initialized; /* initialize() succeeded, finalize() has not been called */
    bool attached;
    bool stays; /* attached while the GPU was idle; the program's calls go on between looks */
    bool suspended;
    uint64_t resume_by_ns;                                 /* while suspended */
    uint32_t kept_stopped;                                 /* bit n: device n did not resume */
    uint64_t resumed_ns;                                   /* last; 0 = nothing was, since we came in */
    uint64_t awake_until_ns;                               /* an event of the driver's is about to come */
    bool attach_complete, detach_complete, internal_error; /* events that came */
    bool exception;                                        /* one has stopped the GPU */
    bool exception_polled;                                 /* ... and came to light without an event */
    bool exception_told;                                   /* ... and the program's observer knows */
    bool trapped;                                          /* it is a trap, a breakpoint to a debugger */
    uint64_t exceptions_before[WSDBG_INSPECTOR_DEVICES]
                              [WSDBG_INSPECT_EXCEPTION_WORDS]; /* not of the time we are here */
    int asked_wake;          /* eventfd: a call of the program wants to know of exceptions */
    bool listens;            /* somebody raises it */
    uint32_t images_lost;    /* for which there was no row */
    uint32_t event_count;    /* of the driver, during this attach */
    uint32_t fetched_events; /* event_count when images were last fetched */
    uint64_t event_ns;       /* time of the last answer */
    uint64_t held_ns;        /* since when the program's calls are held, as far as we know; 0 = they are not */
    uint64_t image_bytes;    /* used in the area */
};

/* While attached, events are looked for at least this often. */
enum { WSDBG_INSPECT_ATTACHED_MS = 2 };

void wsdbg_inspect_fail(struct wsdbg_inspector_reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* From the first word to the program to the attach's completion; when it fails it has left again. */
void wsdbg_inspect_attach(struct wsdbg_inspection *in, uint64_t limit_ns, struct wsdbg_inspector_reply *reply);
/* The same while no context of the program has work; then its calls go on. */
void wsdbg_inspect_stay(struct wsdbg_inspection *in, uint64_t limit_ns, struct wsdbg_inspector_reply *reply);
/* One that stays: calls of the program wait (WSDBG_ASK_PAUSE) or go on (WSDBG_ASK_STAY). */
void wsdbg_inspect_tell(struct wsdbg_inspection *in, enum wsdbg_attach_command command);
/* Resumes, detaches and finalizes, from half way in as well: each part is undone if it was done.  Within
 * WSDBG_INSPECTOR_LEAVE_NS. */
void wsdbg_inspect_leave(struct wsdbg_inspection *in);
/* Loads libcuda and takes its table, once. */
void wsdbg_inspect_open(struct wsdbg_inspection *in, struct wsdbg_inspector_reply *reply);
/* Stops every device that has code of the program; none stays stopped when it fails. */
void wsdbg_inspect_suspend(struct wsdbg_inspection *in, uint64_t limit_ns, struct wsdbg_inspector_reply *reply);
/* Fine at any time. */
void wsdbg_inspect_resume(struct wsdbg_inspection *in);
/* An exception has stopped the GPU: reads its rows and tells the program's observer, once. */
void wsdbg_inspect_meet_exception(struct wsdbg_inspection *in);
/* What the SMs show when we come in is nobody's that we watch. */
void wsdbg_inspect_note_exceptions(struct wsdbg_inspection *in);
/* The same of a device that the program begins to use now. */
void wsdbg_inspect_note_exceptions_of(struct wsdbg_inspection *in, uint32_t device);
/* While nothing is stopped: looks for an error of a warp's last instructions, which comes without an event, and answers
 * the calls of the program that wait to know. */
void wsdbg_inspect_find_exceptions(struct wsdbg_inspection *in);
/* A warp stands at a trap, at which it would stop again at once.  Nobody resumes it: the driver does, when no debugger
 * is there any more. */
bool wsdbg_inspect_is_trapped(const struct wsdbg_inspection *in);
bool wsdbg_inspect_has_code(const struct wsdbg_inspector_area *area, uint32_t device);
/* True when resumed work has had time to run again, also when other programs share the GPU. */
bool wsdbg_inspect_is_taken_up(const struct wsdbg_inspection *in);
/* ... then the program and the attach watchdog need not see to it any more, should we die. */
void wsdbg_inspect_tell_taken_up(struct wsdbg_inspection *in);
/* What was stopped runs, by the driver's doing. */
void wsdbg_inspect_forget_stop(struct wsdbg_inspection *in);
/* Renews the lease, so that the observer does not detach. */
void wsdbg_inspect_hold(const struct wsdbg_inspection *in);
/* Called by the driver on a thread of its own. */
void wsdbg_inspect_on_event(void *wake);
/* Answers all events that are there. */
void wsdbg_inspect_drain(struct wsdbg_inspection *in);
/* Answers events until *flag, an internal error, the process's end or the deadline. */
bool wsdbg_inspect_drain_until(struct wsdbg_inspection *in, const bool *flag, uint64_t limit_ns);
/* Writes a row for every warp and every grid into the shared area.  The GPU must be suspended. */
void wsdbg_inspect_warps(struct wsdbg_inspection *in);
/* The steps that read, while suspended. */
void wsdbg_inspect_read(struct wsdbg_inspection *in, const struct wsdbg_inspector_request *request,
                        struct wsdbg_inspector_reply *reply);

#endif
