/* state_test.c - what a hung kernel shows of itself: grids, CTAs, barriers, warps and their parts. */
#include "hopper/kernel.h"
#include "hopper/state.h"

#include <string.h>

#include "ptx/parse.h"

struct seen {
    struct wsdbg_gpu_grid grids[4];
    struct wsdbg_gpu_cta ctas[4];
    struct wsdbg_gpu_mbarrier mbarriers[4];
    struct wsdbg_gpu_warp warps[9];
    size_t grid_count, cta_count, mbarrier_count, warp_count;
};

static void see_grid(void *data, const struct wsdbg_gpu_grid *grid)
{
    struct seen *seen = data;
    assert_true(seen->grid_count < 4);
    seen->grids[seen->grid_count++] = *grid;
}

static void see_cta(void *data, const struct wsdbg_gpu_cta *cta)
{
    struct seen *seen = data;
    assert_true(seen->cta_count < 4);
    seen->ctas[seen->cta_count++] = *cta;
}

static void see_mbarrier(void *data, const struct wsdbg_gpu_mbarrier *mbarrier)
{
    struct seen *seen = data;
    assert_true(seen->mbarrier_count < 4);
    seen->mbarriers[seen->mbarrier_count++] = *mbarrier;
}

static void see_warp(void *data, const struct wsdbg_gpu_warp *warp)
{
    struct seen *seen = data;
    assert_true(seen->warp_count < 9);
    seen->warps[seen->warp_count++] = *warp;
}

static const struct wsdbg_gpu_visitor everything = {
    .grid = see_grid, .cta = see_cta, .mbarrier = see_mbarrier, .warp = see_warp};

/* The instruction at which a part stands, as text. */
static void expect_text(const struct machine *machine, const struct wsdbg_gpu_part *part, const char *words)
{
    char text[160];
    wsdbg_ptx_text(machine->program, part->instruction, text, sizeof text);
    if (!strstr(text, words))
        fail_msg("'%s' is not in '%s'", words, text);
}

/* Warp 0: lane 0 waits for a barrier nobody arrives at, the others for lane 0.  Warp 1 waits at named barrier 3 for 96
 * threads, warp 2 for registers, warp 3 polls, warps 4 to 8 are over: with so many a thread gets fewer than 256
 * registers. */
static const char hung[] = ".shared .align 8 .b64 bar; .shared .b32 flag; mov.u32 %r1, bar; mov.u32 %r9, flag; mov.u32 "
                           "%r2, %tid.x; shr.u32 %r3, %r2, 5;\n"
                           "setp.eq.u32 %p1, %r2, 0; @%p1 mbarrier.init.shared::cta.b64 [%r1], 1; bar.sync 0;\n"
                           "setp.eq.u32 %p2, %r3, 1; @%p2 bra one; setp.eq.u32 %p2, %r3, 2; @%p2 bra two; setp.eq.u32 "
                           "%p2, %r3, 3; @%p2 bra three; setp.ge.u32 %p2, %r3, 4; @%p2 exit;\n"
                           "@!%p1 bra behind; wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra "
                           "wait; behind: bar.warp.sync -1; ret;\n"
                           "one: bar.sync 3, 96; ret;\n"
                           "two: setmaxnreg.inc.sync.aligned.u32 256; ret;\n"
                           "three: ld.volatile.shared.u32 %r4, [%r9]; setp.eq.u32 %p3, %r4, 0; @%p3 bra three; ret;";

static void every_wait_is_seen(void **state)
{
    (void)state;
    struct machine machine;
    struct seen seen = {0};
    assert_int_equal(kernel_run(&machine, hung, (struct kernel_launch){.block = 288}, NULL), WSDBG_GPU_DEADLOCK);
    wsdbg_gpu_walk(machine.gpu, &everything, &seen);
    assert_int_equal(seen.grid_count, 1);
    assert_int_equal(seen.grids[0].state, WSDBG_GRID_RUNNING);
    assert_ptr_equal(seen.grids[0].run, machine.run);
    assert_int_equal(seen.cta_count, 1);
    assert_int_equal(seen.ctas[0].live_warps, 4);
    assert_int_equal(seen.ctas[0].named[3].arrived, 32);
    assert_int_equal(seen.ctas[0].named[0].generation, 1);
    assert_int_equal(seen.mbarrier_count, 1);
    assert_int_equal(seen.mbarriers[0].offset, 0x400);
    assert_int_equal(seen.mbarriers[0].word, 0x7ffff800001ffffe); /* measured: init 1 */
    assert_true(seen.mbarriers[0].is_initialised);
    assert_int_equal(seen.warp_count, 9);

    const struct wsdbg_gpu_warp *warps = seen.warps;
    assert_int_equal(warps[0].part_count, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct wsdbg_gpu_part *part = &warps[0].parts[i];
        assert_int_equal(part->wait, part->lanes == 1 ? WSDBG_GPU_WAITS_MBARRIER : WSDBG_GPU_WAITS_LANES);
        expect_text(&machine, part, part->lanes == 1 ? "mbarrier.try_wait" : "bar.warp.sync");
        if (part->lanes == 1) {
            assert_int_equal(part->offset, 0x400);
            assert_int_equal(part->parity, 0);
        } else {
            assert_int_equal(part->lanes, 0xfffffffe);
            assert_int_equal(part->lanes_missing, 1);
        }
    }
    assert_int_equal(warps[1].parts[0].wait, WSDBG_GPU_WAITS_NAMED);
    assert_int_equal(warps[1].parts[0].id, 3);
    assert_int_equal(warps[1].parts[0].threads, 96);
    assert_int_equal(warps[2].parts[0].wait, WSDBG_GPU_WAITS_REGISTERS);
    assert_int_equal(warps[2].parts[0].registers, 256);
    assert_int_equal(warps[3].parts[0].wait, WSDBG_GPU_SPINS);
    assert_int_equal(warps[3].parts[0].address, 0x408);
    assert_int_equal(warps[3].parts[0].value, 0);
    assert_false(warps[3].parts[0].of_global);
    expect_text(&machine, &warps[3].parts[0], "ld.volatile.shared");
    assert_int_equal(warps[4].live, 0);
    assert_int_equal(warps[4].part_count, 0);
    machine_destroy(&machine);
}

/* A loop that does something for whichever of two barriers is through, and is at neither.  The second one has 1 of 2
 * arrivals: it is shown. */
static const char tests_two[] =
    ".shared .align 8 .b64 bar[2]; .shared .b32 count; mov.u32 %r1, bar; mov.u32 %r2, count;\n"
    "mbarrier.init.shared::cta.b64 [%r1], 1; mbarrier.init.shared::cta.b64 [%r1+8], 2;\n"
    "mbarrier.arrive.shared::cta.b64 _, [%r1+8];\n"
    "again: mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 0; @!%p1 bra second; st.shared.u32 [%r2], 1;\n"
    "second: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1+8], 0; @!%p2 bra again; st.shared.u32 [%r2], 2; bra "
    "again;";

static void who_tests_barriers_in_turn_waits_for_them(void **state)
{
    (void)state;
    struct machine machine;
    struct seen seen = {0};
    assert_int_equal(kernel_run(&machine, tests_two, (struct kernel_launch){.block = 1}, NULL), WSDBG_GPU_DEADLOCK);
    wsdbg_gpu_walk(machine.gpu, &everything, &seen);
    assert_int_equal(seen.warp_count, 1);
    assert_int_equal(seen.warps[0].part_count, 1);
    const struct wsdbg_gpu_part *part = &seen.warps[0].parts[0];
    assert_int_equal(part->wait, WSDBG_GPU_WAITS_MBARRIER);
    assert_int_equal(part->offset, seen.mbarriers[1].offset);
    assert_true(part->tests_others);
    assert_int_equal(part->parity, 0);
    expect_text(&machine, part, "mbarrier.test_wait");
    expect_text(&machine, part, "+8");
    machine_destroy(&machine);
}

/* The third arrival of lane 3 of warp 1 is one too many while bytes are missing. */
static const char spent[] =
    ".shared .align 8 .b64 bar; mov.u32 %r1, bar; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 35; @%p1 bra done;\n"
    "mbarrier.init.shared::cta.b64 [%r1], 2; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 64;\n"
    "mbarrier.arrive.shared::cta.b64 _, [%r1]; mbarrier.arrive.shared::cta.b64 _, [%r1]; done:";

static void who_caused_a_fault_is_seen(void **state)
{
    (void)state;
    enum { LOCK_BIT = 42 };
    struct machine machine;
    struct seen seen = {0};
    assert_int_equal(kernel_run(&machine, spent, (struct kernel_launch){.block = 64}, NULL), WSDBG_GPU_FAULT);
    wsdbg_gpu_walk(machine.gpu, &everything, &seen);
    assert_int_equal(seen.grid_count, 1);
    const struct wsdbg_gpu_fault *fault = seen.grids[0].fault;
    assert_non_null(fault);
    assert_string_equal(fault->text + fault->what_at,
                        "mbarrier 0x400 of CTA rank 0: an arrival after all arrivals of the phase were already made");
    assert_true(fault->has_address);
    assert_int_equal(fault->address, 0x400);
    assert_int_equal(seen.warps[0].fault_lanes, 0);
    assert_int_equal(seen.warps[1].fault_lanes, 1u << 3);
    expect_text(&machine, &(struct wsdbg_gpu_part){.instruction = seen.warps[1].fault_instruction}, "mbarrier.arrive");
    assert_int_equal(seen.mbarriers[0].word >> LOCK_BIT & 1, 1);
    machine_destroy(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_wait_is_seen),
                                       cmocka_unit_test(who_tests_barriers_in_turn_waits_for_them),
                                       cmocka_unit_test(who_caused_a_fault_is_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
