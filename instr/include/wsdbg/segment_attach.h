/* segment_attach.h - the part of the segment by which wsdbg and the observer agree on a debug attach.
 *
 * Written by: wsdbg (tracer/evidence) and the observer (instr/shim), each its half.
 * session.h has the segment and the rules of change.  Compiles as C11 and C++17.
 */
#ifndef WSDBG_SEGMENT_ATTACH_H
#define WSDBG_SEGMENT_ATTACH_H

#include "ring.h"

#define WSDBG_TEXT_BYTES 256 /* of a sentence in the segment */

/* The debug attach to the GPU's own state: the driver lets a process of wsdbg's (the inspector) stop and read the GPU
 * when the traced process asks it to.  wsdbg writes the upper half, `request` last, and wakes its futex; a thread of
 * the observer that sleeps there otherwise does what is asked, fills the lower half, `done` last, and wakes that.  Once
 * attached it detaches by itself when the inspector is gone or `lease_until_ns` has passed; then the debug attach is
 * open for another inspector, which resumes what the first one had stopped. */
enum wsdbg_attach_command {
    WSDBG_ASK_PROBE = 1,   /* tell what prevents an attach, change nothing */
    WSDBG_ASK_ATTACH,      /* let the inspector in */
    WSDBG_ASK_ATTACHED,    /* the inspector has seen the attach complete */
    WSDBG_ASK_DETACH,      /* end the attach; the inspector gives resume_flag back to the driver */
    WSDBG_ASK_DETACHED,    /* the inspector has seen the detach complete, or has ended */
    WSDBG_ASK_ATTACH_IDLE, /* as ATTACH, but only while no context has work: such an attach holds no work back */
    WSDBG_ASK_STAY,        /* the inspector stays, and the program's calls go on */
    WSDBG_ASK_PAUSE,       /* the program's calls wait again: before each look of an inspector that stays */
    /* As PAUSE, after fault_exception has ended the work of fault_context.  The driver forgets that error when the
     * inspector leaves, so the observer returns it to the program. */
    WSDBG_ASK_FAULT,
    /* New calls of the program wait.  calls_inside tells how many earlier ones are in the driver and may wait for the
     * debugger's answer to an event.  If the debugger detaches first, they wait for half a minute. */
    WSDBG_ASK_QUIET
};
enum wsdbg_attach_state {
    WSDBG_ATTACH_UNSERVED, /* no thread of the observer serves requests yet */
    WSDBG_ATTACH_NOBODY,   /* nobody is attached */
    WSDBG_ATTACH_BEGINS,
    WSDBG_ATTACH_DONE,
    WSDBG_ATTACH_ENDS
};
enum wsdbg_attach_obstacle {
    WSDBG_OBSTACLE_NONE,
    WSDBG_OBSTACLE_NO_INTERFACE, /* this libcuda has no debug interface, or another revision of it */
    WSDBG_OBSTACLE_INJECTION,    /* CUDA_INJECTION64_PATH is set */
    WSDBG_OBSTACLE_CUPTI,        /* a CUPTI subscriber, our own observer's included */
    WSDBG_OBSTACLE_DEBUGGER,     /* another debugger */
    WSDBG_OBSTACLE_MPS,
    WSDBG_OBSTACLE_SANITIZER,   /* the program has one, which would watch the driver's debugger library and may crash */
    WSDBG_OBSTACLE_REFUSED,     /* the driver said no: driver_error */
    WSDBG_OBSTACLE_LAPSED,      /* the lease ran out or the inspector died, so the observer detached */
    WSDBG_OBSTACLE_NOT_SETTLED, /* the process is ending, is creating or destroying a context, or has none */
    WSDBG_OBSTACLE_AT_WORK,     /* ATTACH_IDLE: a context has work, or that is not known */
    WSDBG_OBSTACLE_TAKEN        /* an inspector is attached to another program on a GPU of this one */
};
struct wsdbg_attach_row {
    uint32_t request; /* number << 8 | enum wsdbg_attach_command; the number counts up */
    uint32_t inspector_pid;
    uint32_t revision;         /* of the interface that the inspector speaks */
    uint32_t stopped_devices;  /* bit n: an inspector may have stopped device n, and none has resumed it since; n is
                                  the driver's number for debuggers */
    uint64_t lease_until_ns;   /* CLOCK_MONOTONIC */
    uint64_t fault_context;    /* CUcontext, 0 = not known */
    uint32_t fault_exception;  /* as the debug interface numbers them */
    uint32_t answered;         /* up to this value of `asked` the inspector has looked and seen no exception */
    uint32_t nobody_comes;     /* 1: no inspector comes before the first launch */
    uint32_t calls_inside;     /* the observer's answer to QUIET */
    uint64_t code_bytes;       /* sum of all images of WSDBG_MUCH_CODE_BYTES or more that were loaded; the observer's */
    uint64_t code_bytes_known; /* code_bytes as wsdbg knew it when it decided on ATTACH_IDLE: more code makes the attach
                                  long */

    uint32_t done;         /* the request served last */
    uint32_t state;        /* enum wsdbg_attach_state */
    uint32_t obstacle;     /* enum wsdbg_attach_obstacle */
    uint32_t resume_flag;  /* what the driver said after the last attach or detach */
    uint64_t driver_error; /* cudbgReportedDriverInternalErrorCode after it */
    uint32_t stays;        /* 1: attached while no context had work, and the program's calls go on between looks */
    uint32_t leave_wanted; /* 1: the program is about to create or destroy a context; the inspector should leave now */
    uint64_t waited_ns;    /* how long calls of the program had to wait for the debug attach, in all */
    uint64_t launch_ns;    /* how long launch calls took while an inspector stayed, each counted as 0.2 ms at most */
    uint64_t launches;     /* ... number of these calls, without launches of graphs */
    uint32_t asked;        /* a futex: raised by each call that has waited for the GPU while an inspector stays */
    uint16_t held_gpus;    /* bit n: this process holds the lock of /dev/nvidia<n> for an inspector; n < 16 */
    uint16_t taken_gpu; /* 1 + n: another process holds the lock of /dev/nvidia<n>, so nobody attaches; 0 = none does */
    char text[WSDBG_TEXT_BYTES]; /* names what is in the way, "" = nothing */
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_attach_row) == 128 + WSDBG_TEXT_BYTES, "debug attach layout");

#endif
