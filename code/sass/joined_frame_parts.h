/* joined_frame_parts.h - what the parts of joined_frame.h share: the values that registers and words of the stack frame
 * may have, and the state of all of them at one place.  Private to joined_frame.h.
 *
 * R1 is the stack pointer.  An address of the frame is that of local memory, or a generic one: the sum of the local one
 * and the address at which local memory begins, which lies in bank 0 of the constants.  Only its low word is followed.
 * Of other generic addresses the high word tells the memory: it was made from that of the window of shared memory,
 * which a special register has, or from a parameter of the kernel, which the host has set.  What is loaded from the
 * generic address of a parameter is a parameter, too.  What is added to an address does not lead out of its memory.
 */
#ifndef WSDBG_SASS_JOINED_FRAME_PARTS_H
#define WSDBG_SASS_JOINED_FRAME_PARTS_H

#include "sass/definitions.h"
#include "sass/joined_frame.h"
#include "sass/thread_step.h"

/* What a register or a word may hold.  A number or an offset is in the low bits. */
enum { KIND_SHIFT = 30, WORD_BYTES = 4 };
#define NUMBER_MASK ((1u << KIND_SHIFT) - 1)
#define NUMBER_SIGN (1u << (KIND_SHIFT - 1))
enum { KIND_PLAIN, KIND_NUMBER, KIND_LOCAL, KIND_GENERIC };
enum {
    NOTHING,        /* no way leads here */
    OTHER,          /* no address of the frame */
    DERIVED,        /* perhaps made from one */
    WINDOW,         /* the low word of the address at which local memory begins */
    SHARED,         /* the high word of an address of shared memory */
    PASSED,         /* a parameter of the kernel, or what was added to one */
    PARAMETERS,     /* the high word of a generic address of a parameter */
    FIRST_SPAN = 16 /* and more: an address of the frame plus an index, as instruction `value - FIRST_SPAN` adds it */
};
enum { PREDICATES_AT = WSDBG_REGISTER_MORE, SPARE_AT = PREDICATES_AT + WSDBG_PT, REGISTERS };

/* What an instruction adds to an address of the frame. */
struct span {
    uint32_t base;       /* the address: a LOCAL or a GENERIC one, or a span; NOTHING = it adds to none */
    uint8_t index;       /* the source that is added */
    bool is_new;         /* it was found, or became another one, since all were measured; */
    bool was_known;      /* ... and was taken for that other one until then */
    bool is_known;       /* how far the sums reach: */
    uint32_t root;       /* ... from this LOCAL or GENERIC address */
    int32_t first, last; /* bytes */
};

/* What an inner function does to the state: what it writes, a bit each, and whether it may store there. */
struct inner {
    uint64_t writes[(REGISTERS + 63) / 64];
    bool stores;
};

struct frame {
    const struct wsdbg_graph *graph;
    struct joined_frame *out;
    uint32_t words;      /* of the frame, the lowest first: the last one ends where the pointer is at first */
    size_t row;          /* registers and words of one state */
    uint32_t *at_begin;  /* by block: a state */
    bool *is_waiting;    /* by block: its state has grown */
    bool has_escaped;    /* an address of the frame was stored to other memory */
    bool calls_program;  /* see joined_code */
    struct span *spans;  /* by instruction */
    struct inner *inner; /* by procedure, and behind them what is part of several */
    uint32_t *state;     /* at hand */
    struct wsdbg_thread_state *scratch; /* to calculate with numbers */
};

static inline uint32_t kind_of(uint32_t value)
{
    return value >> KIND_SHIFT;
}

static inline int32_t number_of(uint32_t value)
{
    const uint32_t bits = value & NUMBER_MASK;
    return (int32_t)(bits & NUMBER_SIGN ? bits | ~NUMBER_MASK : bits);
}

static inline uint32_t with_number(uint32_t kind, int64_t number)
{
    const bool fits = number >= -(int64_t)NUMBER_SIGN && number < (int64_t)NUMBER_SIGN;
    if (!fits)
        return kind == KIND_NUMBER ? OTHER : DERIVED;
    return kind << KIND_SHIFT | ((uint32_t)number & NUMBER_MASK);
}

static inline bool is_span(uint32_t value)
{
    return kind_of(value) == KIND_PLAIN && value >= FIRST_SPAN;
}

static inline bool is_of_frame(uint32_t value)
{
    return value == DERIVED || kind_of(value) >= KIND_LOCAL || is_span(value);
}

static inline uint32_t meet(uint32_t a, uint32_t b)
{
    if (a == b || b == NOTHING)
        return a;
    if (a == NOTHING)
        return b;
    return is_of_frame(a) || is_of_frame(b) ? DERIVED : OTHER;
}

/* Where the state has a register, a predicate or the spare register; REGISTERS = nowhere. */
static inline unsigned state_index(unsigned reg)
{
    if (reg >= WSDBG_REGISTER_PREDICATE && reg < WSDBG_REGISTER_PREDICATE + WSDBG_PT)
        return PREDICATES_AT + (reg - WSDBG_REGISTER_PREDICATE);
    if (reg == WSDBG_REGISTER_MORE + (JOINED_SPARE_REGISTER - WSDBG_RZ - 1))
        return SPARE_AT;
    return reg < PREDICATES_AT ? reg : REGISTERS;
}

static inline uint32_t register_value(const struct frame *frame, unsigned reg)
{
    return state_index(reg) < REGISTERS ? frame->state[state_index(reg)] : OTHER;
}

/* ---- joined_values.c ---- */

uint32_t frame_value_of(const struct frame *frame, const struct wsdbg_operand *operand, unsigned part);

/* What an instruction that computes writes. */
uint32_t frame_computed(const struct frame *frame, const struct wsdbg_instruction *in, unsigned part);

/* Whether the instruction executes, as far as its guard is known. */
enum wsdbg_truth frame_executes(const struct frame *frame, const struct wsdbg_instruction *in);

/* ---- joined_memory.c ---- */

bool frame_is_access(const struct wsdbg_instruction *in);

/* Where the access is, as far as the frame is concerned. */
struct joined_access frame_access_of(const struct frame *frame, const struct wsdbg_instruction *in);

uint32_t frame_loaded(const struct frame *frame, const struct wsdbg_instruction *in, const struct joined_access *access,
                      unsigned part);
void frame_store(struct frame *frame, const struct wsdbg_instruction *in, const struct joined_access *access);
/* Any word of the frame may get the value. */
void frame_store_anywhere(struct frame *frame, uint32_t value);

/* ---- joined_numbers.c ---- */

/* Numbers that are written; false: the instruction does not work on numbers alone. */
bool frame_write_numbers(struct frame *frame, const struct wsdbg_instruction *in);

/* ---- joined_steps.c ---- */

void frame_write(struct frame *frame, const struct wsdbg_instruction *in, unsigned reg, uint32_t value);
void frame_step(struct frame *frame, uint32_t number, struct joined_access *access);

/* A call of a function that is not known, and one of an inner function. */
void frame_call_unknown(struct frame *frame, const struct wsdbg_instruction *call);
void frame_call_inner(struct frame *frame, uint32_t procedure);
void frame_add_inner(struct inner *inner, const struct wsdbg_instruction *in);

/* ---- joined_spans.c ---- */

/* How far the sums reach, as far as the code tells. */
struct wsdbg_error *frame_measure_spans(struct frame *frame);
/* Whether there are spans that were not measured. */
bool frame_has_new_spans(const struct frame *frame);

#endif
