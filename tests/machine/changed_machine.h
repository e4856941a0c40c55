/* changed_machine.h - the machine of a real dump, of which a test changes single answers.  Some registers are
 * not known, some words of memory hold something else, and some reads fail or take long.
 */
#ifndef WSDBG_TESTS_MACHINE_CHANGED_MACHINE_H
#define WSDBG_TESTS_MACHINE_CHANGED_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/interpret.h"

/* A dump's machine, of which single reads answer otherwise or fail. */
struct changed {
    struct wsdbg_machine *machine;
    struct wsdbg_machine_ops ops;
    const struct wsdbg_machine_ops *real;
    struct wsdbg_code *code;
    uint32_t word_at; /* shared offset of CTA 0 whose word is another one; 0 = none */
    uint64_t word;
    unsigned reads, fails_at;                 /* 0 = never */
    long register_read_ns;                    /* each takes at least so long */
    const struct wsdbg_machine_warp *lacking; /* its registers are not known; NULL = none */
    bool lacking_everywhere;                  /* nor are those of this warp in other CTAs */
    bool lanes_are_alike;                     /* the dump has registers of one lane a place */
    bool all_are_known;                       /* registers of all kinds, of every warp: `general` and `uniform` */
    uint32_t general, uniform;
};
/* Zero before each test. */
extern struct changed changed;

/* Of every test: opens the dump of a GEMM whose consumer did not arrive. */
int changed_open_dump(void **state);
int changed_close_dump(void **state);
/* A look at that time; the caller destroys it. */
struct wsdbg_look *changed_look(uint64_t time_ns);
/* The machine's row of a warp of the first CTA. */
struct wsdbg_machine_warp *changed_warp(uint32_t index);

#endif
