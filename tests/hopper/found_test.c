/* found_test.c - what a hung kernel's atomics on global memory returned. */
#include "hopper/kernel.h"
#include "hopper/state.h"

#include <stdlib.h>
#include <string.h>

enum { WARPS_MOST = 512, LANES = 32 };

/* The results of each warp that was seen. */
struct seen {
    struct wsdbg_gpu_found *rows[WARPS_MOST];
    uint32_t counts[WARPS_MOST];
    size_t warp_count;
};

static void see_warp(void *data, const struct wsdbg_gpu_warp *warp)
{
    struct seen *seen = data;
    assert_true(seen->warp_count < WARPS_MOST);
    struct wsdbg_gpu_found *rows = calloc(warp->found_count + 1u, sizeof *rows);
    assert_non_null(rows);
    memcpy(rows, warp->found, warp->found_count * sizeof *rows);
    seen->rows[seen->warp_count] = rows;
    seen->counts[seen->warp_count++] = warp->found_count;
}

static void look(const struct machine *machine, struct seen *seen)
{
    static const struct wsdbg_gpu_visitor warps = {.warp = see_warp};
    memset(seen, 0, sizeof *seen);
    wsdbg_gpu_walk(machine->gpu, &warps, seen);
}

static void forget(struct seen *seen)
{
    for (size_t i = 0; i < seen->warp_count; i++)
        free(seen->rows[i]);
}

/* Warp 1 stays behind. */
#define TAKES_ONE                                                                                                     \
    "mov.u32 %r1, %tid.x; atom.global.add.u32 %r2, [%rd0], 2; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n" \
    "st.global.u32 [%rd3], %r2; setp.lt.u32 %p1, %r1, 32; @%p1 exit; bar.sync 3, 96;"

static void each_lane_has_what_its_atomic_returned(void **state)
{
    struct machine machine;
    struct seen seen;
    (void)state;
    assert_int_equal(kernel_run(&machine, TAKES_ONE, (struct kernel_launch){.block = 2 * LANES}, NULL),
                     WSDBG_GPU_DEADLOCK);
    look(&machine, &seen);
    assert_int_equal(seen.warp_count, 2);
    for (uint32_t warp = 0; warp < 2; warp++) {
        assert_int_equal(seen.counts[warp], LANES);
        for (uint32_t i = 0; i < LANES; i++) {
            assert_int_equal(seen.rows[warp][i].lane, i);
            assert_int_equal(seen.rows[warp][i].value, machine_word(&machine, warp * LANES + i));
            assert_int_equal(seen.rows[warp][i].instruction, seen.rows[0][0].instruction);
        }
    }
    forget(&seen);
    machine_destroy(&machine);
}

/* Only results that the program takes from global memory count. */
static const char takes_none[] = ".shared .b32 word; mov.u32 %r1, word; atom.shared.add.u32 %r2, [%r1], 1;\n"
                                 "red.global.add.u32 [%rd0], 1; atom.global.add.u32 _, [%rd0], 1; bar.sync 3, 96;";

static void what_the_program_does_not_take_is_not_kept(void **state)
{
    struct machine machine;
    struct seen seen;
    (void)state;
    assert_int_equal(kernel_run(&machine, takes_none, (struct kernel_launch){0}, NULL), WSDBG_GPU_DEADLOCK);
    look(&machine, &seen);
    assert_int_equal(seen.warp_count, 1);
    assert_int_equal(seen.counts[0], 0);
    forget(&seen);
    machine_destroy(&machine);
}

/* Every lane of a CTA takes a result %r3 times, and then waits. */
#define TAKES(times)                                                                              \
    "mov.u32 %r3, " times                                                                         \
    "; again: atom.global.add.u32 %r2, [%rd0], 1; sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; " \
    "@%p1 bra again; bar.sync 3, 2048;"

static void a_warp_keeps_all_results_or_none(void **state)
{
    static const struct {
        const char *body;
        uint32_t kept;
    } cases[] = {{TAKES("128"), 4096}, {TAKES("129"), 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine machine;
        struct seen seen;
        assert_int_equal(kernel_run(&machine, cases[i].body, (struct kernel_launch){0}, NULL), WSDBG_GPU_DEADLOCK);
        look(&machine, &seen);
        assert_int_equal(seen.counts[0], cases[i].kept);
        forget(&seen);
        machine_destroy(&machine);
    }
}

/* 160 warps take 4096 results each, of which the device keeps 2^19. */
static void a_device_keeps_results_of_so_many_warps(void **state)
{
    struct machine machine;
    struct seen seen;
    uint64_t kept = 0;
    uint32_t whole = 0;
    (void)state;
    assert_int_equal(kernel_run(&machine, TAKES("128"), (struct kernel_launch){.grid = 5, .block = 1024}, NULL),
                     WSDBG_GPU_DEADLOCK);
    look(&machine, &seen);
    assert_int_equal(seen.warp_count, 160);
    for (size_t i = 0; i < seen.warp_count; i++) {
        assert_true(seen.counts[i] == 0 || seen.counts[i] == 4096);
        whole += seen.counts[i] != 0;
        kept += seen.counts[i];
    }
    assert_true(whole > 0 && kept <= 1 << 19);
    forget(&seen);
    machine_destroy(&machine);
}

/* All CTAs of a grid of several leave. */
static const char stays_alone[] = "mov.u32 %r4, %nctaid.x; setp.ne.u32 %p2, %r4, 1;\n"
                                  "mov.u32 %r3, 128; again: atom.global.add.u32 %r2, [%rd0], 1; sub.u32 %r3, %r3, 1;\n"
                                  "setp.ne.u32 %p1, %r3, 0; @%p1 bra again; @%p2 exit; bar.sync 3, 2048;";

static void ctas_that_have_left_make_room(void **state)
{
    struct machine machine;
    struct seen seen;
    (void)state;
    kernel_create(&machine, stays_alone, NULL);
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){.grid = 5, .block = 1024}), WSDBG_GPU_IDLE);
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){.block = 1024}), WSDBG_GPU_DEADLOCK);
    look(&machine, &seen);
    assert_int_equal(seen.warp_count, 32);
    for (size_t i = 0; i < seen.warp_count; i++)
        assert_int_equal(seen.counts[i], 4096);
    forget(&seen);
    machine_destroy(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lane_has_what_its_atomic_returned),
        cmocka_unit_test(what_the_program_does_not_take_is_not_kept),
        cmocka_unit_test(a_warp_keeps_all_results_or_none),
        cmocka_unit_test(a_device_keeps_results_of_so_many_warps),
        cmocka_unit_test(ctas_that_have_left_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
