/* register_say.h - words for sentences about warps and their registers, and the notes below them. */
#ifndef WSDBG_LINT_REGISTER_SAY_H
#define WSDBG_LINT_REGISTER_SAY_H

#include "lint/register_view.h"

struct wsdbg_register_words {
    char text[256];
};

/* The warps that reach a site, a bit each. */
uint32_t wsdbg_register_warps_of(const struct wsdbg_register_view *view, uint32_t site);
/* "warp 3", "warps 0-3, 8-11". */
struct wsdbg_register_words wsdbg_register_say_warps(uint32_t warps);
/* "24 + 2 x 240": what each warpgroup holds if all that ask get `request` and the others hold `others` at most. */
struct wsdbg_register_words wsdbg_register_say_largest(const struct wsdbg_register_view *view, uint32_t request,
                                                       uint32_t others);
/* Notes below a finding: every setmaxnreg with the warps that reach it; threads, launch registers and the pool. */
void wsdbg_register_note_sites(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *findings,
                               const struct wsdbg_register_view *view, struct wsdbg_lint_finding *finding);
void wsdbg_register_note_threads(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *findings,
                                 const struct wsdbg_register_view *view, struct wsdbg_lint_finding *finding);

#endif
