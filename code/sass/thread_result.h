/* thread_result.h - what an instruction calculates in one thread.  Private to this room: part of thread_step.h. */
#ifndef WSDBG_SASS_THREAD_RESULT_H
#define WSDBG_SASS_THREAD_RESULT_H

#include "sass/thread_operand.h"

/* Up to 128 bits, of which each written register gets 32.  A written predicate gets a carry or a condition. */
struct wsdbg_thread_result {
    bool known;
    uint32_t mask;              /* of a word that is not known: the bits of it that are */
    uint64_t bits, more;        /* more: bits 64 to 127, of loads only */
    enum wsdbg_truth predicate; /* the first one that is written */
    enum wsdbg_truth second;    /* ... and the second, of sums alone; else not known */
    bool has_second;
    bool is_long; /* each register of PTX that is written gets 64 bits */
};

/* The result; a part that cannot be calculated is unknown. */
struct wsdbg_thread_result wsdbg_thread_result(const struct wsdbg_thread_reader *reader);

#endif
