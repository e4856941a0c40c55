/* defects.c - see defects.h. */
#include "libcuda/defects.h"

/* `between`: what stands between initialisation and use. */
#define LOOK(name, between)                                                             \
    ".visible .entry " name "()\n{\n"                                                   \
    ".reg .pred %p<3>;\n.reg .b32 %r<2>;\n"                                             \
    ".shared .align 8 .b64 " name "_barrier;\n"                                         \
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, " name "_barrier;\n"                            \
    "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra $" name "_ready;\n"                             \
    "mbarrier.init.shared::cta.b64 [%r1], 1;\n"                                         \
    "$" name "_ready:\n" between "setp.ne.u32 %p1, %r0, 32;\n@%p1 bra $" name "_end;\n" \
    "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1], 1;\n"                        \
    "$" name "_end:\nret;\n}\n"

/* `wait`: for the phase of the parity in front. */
#define PHASES(name, wait0, wait1)                                                                          \
    ".visible .entry " name "()\n{\n"                                                                       \
    ".reg .pred %p<2>;\n.reg .b32 %r<2>;\n"                                                                 \
    ".shared .align 8 .b64 " name "_barrier;\n"                                                             \
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, " name "_barrier;\n"                                                \
    "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra $" name "_end;\n"                                                   \
    "mbarrier.init.shared::cta.b64 [%r1], 1;\n"                                                             \
    "mbarrier.arrive.shared::cta.b64 _, [%r1];\n" wait0 "mbarrier.arrive.shared::cta.b64 _, [%r1];\n" wait1 \
    "mbarrier.arrive.shared::cta.b64 _, [%r1];\n" wait0 "$" name "_end:\nret;\n}\n"
#define WAIT(parity) "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], " parity ";\n"

#define WGMMA                                                                                                \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %rd1, %rd1, 1, 1, 1, 0, 0;\n" \
    "wgmma.commit_group.sync.aligned;\n"
#define READ(name, work)                                                                  \
    ".visible .entry " name "()\n{\n"                                                     \
    ".reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n.reg .f32 %d<4>;\n"                             \
    ".shared .align 128 .b8 " name "_tile[4096];\n"                                       \
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, " name "_tile;\n"                                 \
    "shr.u32 %r2, %r1, 4;\ncvt.u64.u32 %rd0, %r2;\nor.b64 %rd1, %rd0, 0x1000080000;\n"    \
    "mov.f32 %d0, 0f00000000;\nmov.f32 %d1, %d0;\nmov.f32 %d2, %d0;\nmov.f32 %d3, %d0;\n" \
    "wgmma.fence.sync.aligned;\n" work "shl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r3, %r1;\n"   \
    "st.shared.f32 [%r3+1024], %d0;\nret;\n}\n"

/* `address`: makes it of %rd0 and the warp's number, %r1. */
#define STORE(name, address)                                                                     \
    ".visible .entry " name "()\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nmov.u64 %rd0, words;\n" \
    "mov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\n" address                                       \
    "add.u32 %r1, %r1, 7;\nst.global.u32 [%rd1], %r1;\nret;\n}\n"

/* Lanes other than the first of their warp have nothing to do. */
#define LOST_WORD                                                                               \
    ".visible .entry lost_word()\n{\n.reg .pred %p<5>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<1>;\n"  \
    "mov.u64 %rd0, words;\nmov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 31;\n"                       \
    "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra $lost_word_end;\n"                                      \
    "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra $lost_word_waits;\n"                                   \
    "st.volatile.global.u32 [%rd0], 1;\nld.volatile.global.u32 %r2, [%rd0+4];\n"                \
    "st.volatile.global.u32 [%rd0+8], %r2;\nbra $lost_word_end;\n"                              \
    "$lost_word_waits:\nld.volatile.global.u32 %r2, [%rd0];\n"                                  \
    "setp.ne.u32 %p2, %r2, 0;\n@%p2 bra $lost_word_end;\nst.volatile.global.u32 [%rd0+4], 1;\n" \
    "$lost_word_again:\nld.volatile.global.u32 %r3, [%rd0+8];\n"                                \
    "setp.eq.u32 %p3, %r3, 0;\n@%p3 bra $lost_word_again;\n$lost_word_end:\nret;\n}\n"

const char defects[] =
    ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .global .align 8 .u32 words[4];\n" LOOK("early_look", "")
        LOOK("ordered_look", "bar.sync 0;\n") PHASES("overrun", "", "") PHASES("paced", WAIT("0"), WAIT("1"))
            READ("early_read", WGMMA) READ("late_read", WGMMA "wgmma.wait_group.sync.aligned 0;\n")
                READ("handed_on", WGMMA WGMMA "wgmma.wait_group.sync.aligned 1;\nwgmma.wait_group.sync.aligned 0;\n")
                    STORE("last_word", "add.u64 %rd1, %rd0, 4;\n")
                        STORE("own_words", "mul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd1, %rd0;\n") LOST_WORD;
