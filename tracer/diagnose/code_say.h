/* code_say.h - how places in the code, barriers and waits known from the machine's state are called in sentences and
 * evidence rows.
 */
#ifndef WSDBG_DIAGNOSE_CODE_SAY_H
#define WSDBG_DIAGNOSE_CODE_SAY_H

#include "diagnose/code_case.h"
#include "diagnose/phrase.h"

/* "gemm.cu:132", "kernel+0x2250", as the tables of the report have it; "" = not known. */
struct wsdbg_phrase wsdbg_say_place(const struct wsdbg_case *c, uint32_t site);
struct wsdbg_phrase wsdbg_say_object(const struct wsdbg_case *c, uint32_t barrier); /* "\"empty\" stage 2" */
struct wsdbg_phrase wsdbg_say_family(const struct wsdbg_case *c, uint32_t barrier); /* "\"empty\"" */
struct wsdbg_phrase wsdbg_say_at_site(const struct wsdbg_case *c, uint32_t site);
struct wsdbg_phrase wsdbg_say_at(const struct wsdbg_case *c,
                                 uint32_t warp); /* " at gemm.cu:132", of an event " (gemm.cu:132)", or "" */
/* What a warp does, from events as well: "waits for parity 1 of \"empty\" stage 2", "waits on named barrier 2", "asks
 * for 240 registers a thread", "is running". */
struct wsdbg_phrase wsdbg_say_wait(const struct wsdbg_case *c, uint32_t warp);

/* Evidence rows: where a warp waits and for what; what an mbarrier still lacks; an instruction that could bring it. */
void wsdbg_tell_wait(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp);
void wsdbg_tell_waits(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_warp_set *warps);
void wsdbg_tell_word(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t barrier);
void wsdbg_tell_access(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t access, const char *what);

#endif
