/* fake_debug.h - the fake driver's debug interface: what both of its sides and the tests share. */
#ifndef WSDBG_TESTS_FAKE_DEBUG_H
#define WSDBG_TESTS_FAKE_DEBUG_H

#include <stdint.h>

/* Names a file that holds FAKE_DEBUG_GPUS struct fake_gpu; the program and the inspector map it. */
#define FAKE_DEBUG_STATE "FAKE_DEBUG_STATE"
/* Index of the GPU that a program uses, from 0.  An inspector uses the GPU of the program that let it in. */
#define FAKE_DEBUG_GPU "FAKE_DEBUG_GPU"
enum { FAKE_DEBUG_GPUS = 2 };
/* If it is set, an inspector sees code of the program on a second device of that GPU, which it stops, too. */
#define FAKE_DEBUG_SECOND_DEVICE "FAKE_DEBUG_SECOND_DEVICE"

struct fake_gpu {
    uint32_t attached;   /* cudbgApiAttach was called, and neither side has cleaned up since */
    uint32_t suspended;  /* a bit for each device */
    uint32_t client_pid; /* the inspector that the program was told of */
    uint32_t suspensions, attaches, cleanups, acknowledged;
    uint32_t helper_pid; /* of the process that the driver started, 0 = none */
    uint32_t launched_while_suspended;
    uint32_t errors_brought;    /* by kernels of the observer's, when nobody was attached */
    uint32_t resumed_at_trap;   /* at which it would stop again at once */
    uint32_t left_at_once;      /* debuggers that left before what they had resumed was taken up again */
    uint32_t shown_out_at_once; /* ... and as often they were shown out then */
    uint32_t ended_beside_one;  /* programs whose driver was told of their end while somebody was attached */
    uint32_t program_pid;       /* attached to, last */
    uint64_t resumed_ns;        /* CLOCK_MONOTONIC, last */
    uint32_t deferred;          /* launches are not events */
    uint32_t sm_exception;      /* of the second SM, by a warp that has exited; 0 = none */
    uint32_t exception;         /* of the second warp of each CTA, CUDBGException_t; one lane tells of it; 0 = none */
    uint32_t holds_back;        /* what is given to the GPU is not done while somebody is attached */
    uint32_t event_ms;          /* so long an event takes: other programs have the GPU in turns */
    /* What a kernel that faults while somebody is attached leaves: only the debugger learns of it. */
    uint32_t next_exception;
    uint32_t next_shows;           /* enum fake_shows */
    uint32_t handled_ms;           /* so long the call takes that waits for it, */
    uint32_t shows_ms;             /* ... and so long after that an SM shows it */
    uint64_t shown_ns;             /* CLOCK_MONOTONIC, when it does */
    uint32_t halted;               /* it has stopped the GPU until the debugger leaves: enum fake_shows */
    uint32_t told;                 /* ... and the event is to come (0), or has come (1) */
    uint64_t attached_ns, left_ns; /* CLOCK_MONOTONIC, last */
    /* Calls of the program that load an image. */
    uint32_t load_lasts;    /* a call does not end before this is 0 */
    uint32_t loads_inside;  /* such calls now */
    uint32_t load_asks;     /* 1: while a debugger is attached, a call waits until its event is acknowledged */
    uint32_t load_event_ms; /* delay of that event */
    uint64_t load_asked_ns; /* CLOCK_MONOTONIC, last */
    uint32_t loads_asked, loads_told, loads_answered;
    uint32_t left_under_load; /* debuggers that left before they acknowledged such an event */
};

enum fake_shows {
    FAKE_SHOWS_ON_SM = 0, /* the kernel's warps have exited; no event comes */
    FAKE_SHOWS_AS_EVENT = 1,
    FAKE_SHOWS_AS_TRAP = 2
};

/* Beside other programs a GPU takes up what was resumed when its turn comes. */
#define FAKE_DEBUG_TURN_NS 250000000ull

/* What its GPU holds: one grid of two CTAs on two SMs, with three warps each, in slots that are not their order. */
enum {
    FAKE_DEBUG_SMS = 2,
    FAKE_DEBUG_WARPS = 3,
    FAKE_DEBUG_REGISTERS = 40,
    FAKE_DEBUG_UNIFORM = 63,
    FAKE_DEBUG_SHARED_BYTES = 0x1000,
    FAKE_DEBUG_LOCAL = 0xfff000,
    FAKE_DEBUG_LOCAL_BYTES = 0x800,
    FAKE_DEBUG_GRID = 5,
    FAKE_DEBUG_BANK_BYTES = 0x300
};
#define FAKE_DEBUG_MODULE 0x7700ull
#define FAKE_DEBUG_CONTEXT 0x6600ull
#define FAKE_DEBUG_CODE 0x10000ull
#define FAKE_DEBUG_GLOBAL                                                                       \
    0x500000ull /* readable from here, FAKE_DEBUG_BANK_BYTES: each byte is its address's lowest \
                 */
#define FAKE_DEBUG_IMAGE "an image of machine code"

#endif
