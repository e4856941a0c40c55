/* ptx_debug_test.c - the walks of warps through PTX as compilers write it without optimisation: each access to a
 * barrier in a function, the state of a ring in local memory, changed through its address.
 *
 * Expected text: see ptx_walks.h.
 */
#include "ptx_walks.h"

#define ALL "lanes ffffffff:"

#define HEADER ".version 8.6\n.target sm_90a, debug\n.address_size 64\n"
#define TO_SHARED                                                                                \
    ".func (.param .b64 ret) to_shared(.param .b64 p)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<4>;\n" \
    "ld.param.u64 %rd1, [p];\ncvta.to.shared.u64 %rd2, %rd1;\ncvt.u32.u64 %r1, %rd2;\n"          \
    "cvt.u64.u32 %rd3, %r1;\nst.param.b64 [ret], %rd3;\nret;\n}\n"
#define ADDRESS                                                        \
    "{\n.param .b64 in;\nst.param.b64 [in], %rd1;\n.param .b64 out;\n" \
    "call.uni (out), to_shared, (in);\nld.param.b64 %rd2, [out];\n}\ncvt.u32.u64 %r2, %rd2;\n"
#define WAIT                                                                                                       \
    ".func wait(.param .b64 bar, .param .b32 parity)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\n" \
    "ld.param.u64 %rd1, [bar];\nld.param.u32 %r1, [parity];\nagain:\n" ADDRESS                                     \
    "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r1;\nnot.pred %p2, %p1;\n@%p2 bra again;\nret;\n}\n"
#define ARRIVE                                                                                                   \
    ".func arrive(.param .b64 bar)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [bar];\n" ADDRESS \
    "mbarrier.arrive.shared::cta.b64 _, [%r2];\nret;\n}\n"
/* struct state { int index, phase; }: goes to the next of two stages. */
#define NEXT                                                                                       \
    ".func next(.param .b64 self)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n"    \
    "ld.param.u64 %rd1, [self];\nld.u32 %r1, [%rd1];\nadd.s32 %r2, %r1, 1;\nst.u32 [%rd1], %r2;\n" \
    "setp.ne.s32 %p1, %r2, 2;\n@%p1 bra done;\nmov.u32 %r3, 0;\nst.u32 [%rd1], %r3;\n"             \
    "ld.u32 %r1, [%rd1+4];\nxor.b32 %r1, %r1, 1;\nst.u32 [%rd1+4], %r1;\ndone:\nret;\n}\n"
#define FUNCTIONS HEADER TO_SHARED WAIT ARRIVE NEXT
#define KERNEL_OF(rounds, in_round)                                                                              \
    FUNCTIONS ".visible .entry kernel()\n{\n.local .align 8 .b8 depot[48];\n.shared .align 8 .b64 bars[8];\n"    \
              ".reg .b64 %SP, %SPL;\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<2>;\n" \
              "mov.u64 %SPL, depot;\ncvta.local.u64 %SP, %SPL;\nst.u32 [%SP+4], 0;\nst.u32 [%SP+0], 0;\n"        \
              "mov.u32 %r1, 0;\nround:\nsetp.ge.s32 %p1, %r1, " rounds ";\n@%p1 bra end;\n"                      \
              "ld.s32 %rd2, [%SP+0];\nshl.b64 %rd3, %rd2, 3;\nmov.u32 %r2, bars;\ncvt.u64.u32 %rd4, %r2;\n"      \
              "cvta.shared.u64 %rd5, %rd4;\nadd.s64 %rd6, %rd5, %rd3;\nld.u32 %r3, [%SP+4];\n"                   \
              "{\n.param .b64 b;\nst.param.b64 [b], %rd6;\n.param .b32 p;\nst.param.b32 [p], %r3;\n"             \
              "call.uni wait, (b, p);\n}\n" in_round                                                             \
              "{\n.param .b64 b;\nst.param.b64 [b], %rd6;\ncall.uni arrive, (b);\n}\n"                           \
              "add.u64 %rd7, %SP, 0;\n{\n.param .b64 s;\nst.param.b64 [s], %rd7;\ncall.uni next, (s);\n}\n"      \
              "add.s32 %r1, %r1, 1;\nbra.uni round;\nend:\nret;\n}\n"
#define FIRST_ROUNDS \
    " wait 0x400 parity 0, arrive 0x400, wait 0x408 parity 0, arrive 0x408, wait 0x400 parity 1, arrive 0x400"

static void accesses_in_functions_have_their_operands(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL_OF("3", ""), ALL FIRST_ROUNDS "\n");
}

/* An array behind the state, whose index is computed, changes nothing of it. */
static void an_array_beside_the_state_is_no_harm(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL_OF("3", "cvt.s64.s32 %rd8, %r1;\nshl.b64 %rd8, %rd8, 2;\nadd.u64 %rd7, %SP, 16;\n"
                                    "add.s64 %rd7, %rd7, %rd8;\nmov.f32 %f1, 0f00000000;\nst.f32 [%rd7], %f1;\n"),
                     ALL FIRST_ROUNDS "\n");
}

/* Whoever has the state's address may change it. */
static void a_state_whose_address_leaves_is_not_known(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL_OF("3", "add.u64 %rd7, %SP, 0;\nmov.u32 %r4, bars;\nst.shared.u64 [%r4+32], %rd7;\n"),
                     ALL " lost\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_in_functions_have_their_operands),
        cmocka_unit_test(an_array_beside_the_state_is_no_harm),
        cmocka_unit_test(a_state_whose_address_leaves_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
