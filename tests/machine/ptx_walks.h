/* ptx_walks.h - the walks of warps through a kernel in PTX, as text.
 *
 * A row for each group of lanes ("lanes 00000001:"), then its steps as "wait 0x400 parity 1", "arrive 0x400 of rank 3",
 * "init 0x400 5", "sync 1", "poll"; "lost" where the walk is not whole, "guessed" where it
 * took an atomic to find the present value.  Shared memory begins at 0x400.  With several
 * warps each row begins with "warp 1 ".
 */
#ifndef WSDBG_TESTS_PTX_WALKS_H
#define WSDBG_TESTS_PTX_WALKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sass/walk.h"

/* Parameters: `pair` is {7, 0x100000002}, `tail` is {3, 4, 5, 6} words, then bytes 0xfe, 2 and halves 0xfffd. */
#define KERNEL(body)                                                                           \
    ".version 8.6\n.target sm_90a\n.address_size 64\n"                                         \
    ".visible .entry kernel(.param .align 8 .b8 pair[16], .param .align 16 .b8 tail[32])\n{\n" \
    ".shared .align 8 .b64 bars[8];\n"                                                         \
    ".reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<40>;\n.reg .b64 %d<20>;\n" body "ret;\n}\n"

#define INIT(reg) "mbarrier.init.shared.b64 [bars], %" reg ";\n"

/* Global memory: 64 words from here on, which hold 1, 2, 3, … */
#define PTX_WALKS_GLOBAL UINT64_C(0x500000000)
#define GLOBAL(reg) "mov.u64 %" reg ", 0x500000000;\n"

struct ptx_walks {
    struct wsdbg_ptx_code *code;
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
};
/* Of a kernel's text, which must stay. */
struct ptx_walks ptx_walks_begin(const char *text);
void ptx_walks_end(struct ptx_walks *walks);
/* The world of a lane of warp 0 or 1, of CTA 5, the second one of its cluster of two.  The lane's number, behind that
 * of the warp times 32, must stay. */
struct wsdbg_thread_world ptx_walks_world(const uint32_t *thread);

/* The walks of warp 1. */
void ptx_walks_expect(const char *text, const char *expected);
/* Whether walks of warps 0 and 1, in one pass, told a load what a later one makes doubtful. */
bool ptx_walks_were_wrong(const char *text);
/* The walks of warps 0 and 1, in this order, in as many passes as they take.  `shared` may be NULL. */
void ptx_walks_expect_of_two(const char *text, bool (*shared)(void *context, uint32_t address, uint32_t *value),
                             const char *expected);

#endif
