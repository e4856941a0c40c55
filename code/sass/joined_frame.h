/* joined_frame.h - which words of the stack frame the loads and stores of joined code name, and which memory generic
 * addresses are of.  Private to joined.h.
 */
#ifndef WSDBG_SASS_JOINED_FRAME_H
#define WSDBG_SASS_JOINED_FRAME_H

#include "sass/joined_code.h"

enum joined_access_kind {
    JOINED_ACCESS_NONE,      /* no load, store or atomic, or one that no way leads to */
    JOINED_ACCESS_BESIDE,    /* of other memory than the frame */
    JOINED_ACCESS_SHARED,    /* of shared memory, by a generic address */
    JOINED_ACCESS_GLOBAL,    /* of global memory, likewise */
    JOINED_ACCESS_PARAMETER, /* of a parameter of the kernel, likewise */
    JOINED_ACCESS_FRAME,     /* of the frame, at a known place */
    JOINED_ACCESS_SPAN,      /* ... at a place of several that follow one another, as of an array */
    JOINED_ACCESS_MAYBE      /* at a place that may be any of the frame */
};

/* Of one line of the code. */
struct joined_access {
    uint8_t kind;
    bool makes_address;           /* it writes an address of the frame to a register that is not the stack pointer */
    bool moves_pointer;           /* it changes the stack pointer by a constant */
    bool sets_pointer;            /* it sets it as the kernel begins */
    bool is_dead;                 /* no way leads there, by what is known of conditions */
    bool is_decided, is_taken;    /* a branch: it is always taken, or never */
    bool asks_space, is_in_space; /* it asks of an address in which memory it is: the answer */
    int32_t end_bytes;            /* SPAN: where the last place ends; offset_bytes is the first one */
    int32_t offset_bytes; /* FRAME: of its place from the stack pointer at the kernel's begin, below 0; makes_address:
                             likewise */
};

struct joined_frame {
    struct joined_access *accesses; /* by line; the caller frees them */
    int32_t deepest_bytes;          /* to which the stack pointer gets: at most 0 */
    bool is_known;                  /* false: the stack pointer is not followed everywhere */
    bool is_given_away;             /* an address of the frame is passed to code of the program that nobody knows */
};

/* WINDOW_OFFSET: in bank 0 of the constants, the address at which local memory begins. */
enum { JOINED_STACK_POINTER = 1, JOINED_WINDOW_OFFSET = 0x20 };

/* Of the graph of all lines. */
struct wsdbg_error *joined_frame_find(const struct wsdbg_graph *graph, bool calls_program, struct joined_frame *out);

#endif
