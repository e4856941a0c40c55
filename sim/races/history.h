/* history.h - accesses as short numbers: each is kept once, and so is each set of reads.
 *
 * So a place in memory needs two numbers (shadow.h), and bytes that were used alike have the same ones.
 */
#ifndef WSDBG_RACES_HISTORY_H
#define WSDBG_RACES_HISTORY_H

#include "races/clock.h"

enum race_access_flag {
    RACE_ASYNC = 1,  /* through the async proxy */
    RACE_STRONG = 2, /* atomic, volatile, relaxed, acquire or release: two of them are no race */
    RACE_INIT = 4,   /* mbarrier.init */
    RACE_MAP = 8,    /* of a tensor map, as one */
    RACE_SAME = 16,  /* a write that left the bytes as they were: no race with another one of its width */
    RACE_WIDTH = 256 /* times the bytes that a lane's plain store writes */
};
struct race_access {
    uint32_t component, time; /* happened before for an agent that knows this time of this component */
    uint32_t site;            /* instruction of the program */
    uint32_t agent;           /* the warp that did or issued it */
    uint32_t flags;
};
enum { RACE_READS_MOST = 24 }; /* of one place; further ones are not kept */

struct race_history;
struct race_history *race_history_create(void); /* NULL: no memory */
void race_history_destroy(struct race_history *history);
/* The number of the access, from 1; 0 = no memory, which means that it is not kept. */
uint32_t race_history_add(struct race_history *history, const struct race_access *access);
const struct race_access *race_history_access(const struct race_history *history, uint32_t number);
/* The set with the read as well, without those that it follows (`seen`: what the reader knows).  Set 0 is empty. */
uint32_t race_history_add_read(struct race_history *history, uint32_t set, const struct race_access *read,
                               const struct race_clock *seen);
/* Numbers of the reads. */
const uint32_t *race_history_reads(const struct race_history *history, uint32_t set, uint32_t *count);
/* How many accesses are kept. */
size_t race_history_size(const struct race_history *history);

#endif
