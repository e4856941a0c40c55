/* phrase.h - how warps, barriers and rounds are called in sentences: the author's names where given. */
#ifndef WSDBG_DIAGNOSE_PHRASE_H
#define WSDBG_DIAGNOSE_PHRASE_H

#include "diagnose/ledger.h"

/* Returned by value: `wsdbg_say_warp(c, w).text` lives to the end of the full expression. */
struct wsdbg_phrase {
    char text[240];
};

struct wsdbg_phrase wsdbg_say_role(const struct wsdbg_case *c, uint32_t warp); /* "producer", "role 3", "warp 5" */
/* "producer and consumer"; "warp 0 and warp 3" where their roles do not tell them apart */
struct wsdbg_phrase wsdbg_say_both(const struct wsdbg_case *c, uint32_t one, uint32_t other);
struct wsdbg_phrase wsdbg_say_warp(const struct wsdbg_case *c, uint32_t warp); /* "warp 5 (producer)" */
struct wsdbg_phrase wsdbg_say_warps(const struct wsdbg_case *c,
                                    const struct wsdbg_warp_set *set);       /* "warps 4-7, 9 (consumer)" */
struct wsdbg_phrase wsdbg_say_lanes(uint32_t lanes);                         /* "lane 4", "lanes 0-3, 8" */
struct wsdbg_phrase wsdbg_say_stage(const struct wsdbg_stage *stage);        /* "\"empty\" stage 2" */
struct wsdbg_phrase wsdbg_say_barrier(const struct wsdbg_stage *stage);      /* "\"empty\"" */
struct wsdbg_phrase wsdbg_say_iteration(uint32_t iteration, uint32_t round); /* "iteration 7", "use 2 of the stage" */
/* " (gemm.cu:80)"; " (line 80)" if no probe named the file; "" if the line is not known. */
struct wsdbg_phrase wsdbg_say_line(const struct wsdbg_case *c, const struct wsdbg_history_event *event);

/* "of imported memory …", "at byte 68 of a 4,096 B cudaMalloc allocation (cuMemAlloc #12)": the place of an address in
 * the memory that holds it, and who else was allowed to write that. */
struct wsdbg_phrase wsdbg_say_memory(const struct wsdbg_allocation *memory, uint64_t address);

uint32_t wsdbg_first_of(const struct wsdbg_warp_set *set); /* lowest member; WSDBG_NONE if empty */
/* The role that all warps of the set have; not known where they differ, or where that of one is not. */
struct wsdbg_optional_u32 wsdbg_common_role(const struct wsdbg_case *c, const struct wsdbg_warp_set *set);

/* snprintf for sentences: a too long one is cut without a complaint.  Returns the length written. */
size_t wsdbg_print(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
