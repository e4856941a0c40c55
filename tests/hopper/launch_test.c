/* launch_test.c - launches: what is refused and with which error, how many CTAs are resident, and faults in words. */
#include "hopper/kernel.h"

#include <stdlib.h>
#include <string.h>

static struct machine machine;

static int close_machine(void **state)
{
    (void)state;
    machine_destroy(&machine);
    return 0;
}

static void open_with(const char *body)
{
    char *text = kernel_text(body);
    machine_create(&machine, text, NULL);
    free(text);
}

/* The CUresult of a launch that must be refused. */
static int refused(struct wsdbg_gpu_launch launch)
{
    const uint64_t parameters[2] = {0};
    int driver_error = 0;
    launch.module = machine.module;
    launch.function = wsdbg_ptx_find_function(machine.program, "main");
    launch.parameters = parameters;
    struct wsdbg_grid_run *run = NULL;
    struct wsdbg_error *error = wsdbg_gpu_submit(machine.gpu, &launch, &driver_error, &run);
    assert_non_null(error);
    wsdbg_error_destroy(error);
    return driver_error;
}

static void bad_geometry_is_refused(void **state)
{
    (void)state;
    open_with("ret;");
    assert_int_equal(refused((struct wsdbg_gpu_launch){.grid = {0, 1, 1}, .block = {32, 1, 1}}), 1);
    assert_int_equal(refused((struct wsdbg_gpu_launch){.grid = {1, 65536, 1}, .block = {32, 1, 1}}), 1);
    assert_int_equal(refused((struct wsdbg_gpu_launch){.grid = {1, 1, 1}, .block = {1025, 1, 1}}), 1);
    assert_int_equal(refused((struct wsdbg_gpu_launch){.grid = {1, 1, 1}, .block = {32, 32, 2}}), 1);
    assert_int_equal(refused((struct wsdbg_gpu_launch){.grid = {1, 1, 1}, .block = {1, 1, 65}}), 1);
    assert_int_equal(refused((struct wsdbg_gpu_launch){
                         .grid = {1, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 227 * 1024 + 1}),
                     1);
    assert_int_equal(
        refused((struct wsdbg_gpu_launch){.grid = {1, 1, 1}, .block = {1024, 1, 1}, .registers_per_thread = 72}), 701);
    assert_int_equal(refused((struct wsdbg_gpu_launch){.grid = {3, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}}),
                     1);
    assert_int_equal(refused((struct wsdbg_gpu_launch){.grid = {32, 1, 1}, .block = {32, 1, 1}, .cluster = {32, 1, 1}}),
                     912);
}

/* Four SMs; the largest CTA fits on each once. */
static void cooperative_grid_must_fit(void **state)
{
    (void)state;
    open_with("ret;");
    struct wsdbg_gpu_launch launch = {
        .grid = {5, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 227 * 1024, .is_cooperative = true};
    assert_int_equal(refused(launch), 720);
    launch.grid[0] = 4;
    machine_launch_as(&machine, launch);
    machine_finish(&machine);
}

/* %rd5: where cooperative_groups finds the grid's barrier. */
#define WORKSPACE                                                                                                \
    "mov.u32 %r4, %envreg1; mov.u32 %r5, %envreg2; cvt.u64.u32 %rd4, %r4; cvt.u64.u32 %rd5, %r5; shl.b64 %rd4, " \
    "%rd4, 32; or.b64 %rd5, %rd4, %rd5;\n"

static void cooperative_grid_has_a_barrier(void **state)
{
    (void)state;
    /* Each of 4 CTAs arrives, the first with what makes bit 31 change when all have; then counts who has arrived. */
    static const char body[] = WORKSPACE
        "mov.u32 %r1, %ctaid.x; ld.u32 %r9, [%rd5];\nsetp.eq.u32 %p1, %r1, 0; selp.b32 %r2, 0x7ffffffd, 1, %p1;\n"
        "red.global.add.u32 [%rd1], 1; atom.add.release.gpu.u32 %r3, [%rd5+4], %r2;\n"
        "again: ld.acquire.gpu.u32 %r6, [%rd5+4]; xor.b32 %r6, %r6, %r3; setp.ge.s32 %p2, %r6, 0; @%p2 bra again;\n"
        "ld.global.u32 %r7, [%rd1]; mul.wide.u32 %rd6, %r1, 8; add.u64 %rd6, %rd1, %rd6;\n"
        "st.global.u32 [%rd6+8], %r7; st.global.u32 [%rd6+12], %r9;\n";
    open_with(body);
    machine_launch_as(&machine,
                      (struct wsdbg_gpu_launch){.grid = {4, 1, 1}, .block = {1, 1, 1}, .is_cooperative = true});
    machine_finish(&machine);
    for (unsigned cta = 0; cta < 4; cta++) {
        assert_int_equal(machine_word(&machine, 2 + 2 * cta), 4);
        assert_int_equal(machine_word(&machine, 3 + 2 * cta), 8); /* bytes of the workspace */
    }
    machine_destroy(&machine);
    open_with(WORKSPACE "st.global.u64 [%rd1], %rd5;");
    machine_launch(&machine, 1, 1);
    machine_finish(&machine);
    assert_int_equal(machine_word64(&machine, 0), 0); /* other grids have none */
}

/* Every CTA waits until `all` have come.  So many are on the chip at one time as its room allows. */
static enum wsdbg_gpu_outcome meet(uint32_t ctas, struct wsdbg_gpu_launch launch)
{
    open_with(
        "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra behind; mov.u32 %r2, %nctaid.x; atom.global.add.u32 "
        "%r3, [%rd1], 1;\n"
        "again: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p2, %r3, %r2; @%p2 bra again; behind: bar.sync 0;");
    launch.grid[0] = ctas;
    launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    machine_launch_as(&machine, launch);
    return wsdbg_gpu_run(machine.gpu, 10000000);
}

static void expect_resident(uint32_t ctas, struct wsdbg_gpu_launch launch)
{
    assert_int_equal(meet(ctas, launch), WSDBG_GPU_IDLE);
    machine_destroy(&machine);
    assert_int_equal(meet(ctas + 1, launch), WSDBG_GPU_STALLED); /* a spin on global memory */
    assert_int_equal(machine_word(&machine, 0), ctas);
    machine_destroy(&machine);
}

static void room_of_an_sm_limits_ctas(void **state)
{
    (void)state;
    expect_resident(4 * 32, (struct wsdbg_gpu_launch){.block = {32}, .registers_per_thread = 16});
    expect_resident(4 * 2, (struct wsdbg_gpu_launch){.block = {1024}, .registers_per_thread = 32});
    expect_resident(4 * 1, (struct wsdbg_gpu_launch){.block = {384}, .registers_per_thread = 168});
    expect_resident(4 * 2, (struct wsdbg_gpu_launch){.block = {32}, .dynamic_shared_bytes = 113 * 1024});
    expect_resident(4 * 1, (struct wsdbg_gpu_launch){.block = {32}, .dynamic_shared_bytes = 114 * 1024});
    /* Five warps fit in each of the four register files of 16384: 20, in CTAs of 3. */
    expect_resident(4 * 6, (struct wsdbg_gpu_launch){.block = {96}, .registers_per_thread = 96});
    open_with("ret;"); /* for the teardown */
}

/* A cluster is placed whole: three CTAs of the largest size on four SMs leave no room for three more. */
static void clusters_are_placed_whole(void **state)
{
    (void)state;
    assert_int_equal(
        meet(3, (struct wsdbg_gpu_launch){.block = {32}, .cluster = {3, 1, 1}, .dynamic_shared_bytes = 200 * 1024}),
        WSDBG_GPU_IDLE);
    machine_destroy(&machine);
    assert_int_equal(
        meet(6, (struct wsdbg_gpu_launch){.block = {32}, .cluster = {3, 1, 1}, .dynamic_shared_bytes = 200 * 1024}),
        WSDBG_GPU_STALLED);
    assert_int_equal(machine_word(&machine, 0), 3);
}

/* Grids that need not be resident together come and go: 1000 CTAs on 4 SMs. */
static void ctas_take_turns(void **state)
{
    (void)state;
    open_with("mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra done; mov.u32 %r2, %ctaid.x; atom.global.add.u32 "
              "%r3, [%rd1], %r2; done:");
    machine_launch_as(&machine, (struct wsdbg_gpu_launch){.grid = {1000, 1, 1}, .block = {1024, 1, 1}});
    machine_finish(&machine);
    assert_int_equal(machine_word(&machine, 0), 1000 * 999 / 2);
}

/* ---- where a thread is ---- */

static void threads_know_their_place(void **state)
{
    (void)state;
    open_with(
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y;\n"
        "mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1;\n" /* the thread's number in its CTA */
        "mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %nctaid.x; mad.lo.u32 %r10, %r8, %r9, %r7;\n"
        "mad.lo.u32 %r11, %r10, 48, %r6; mul.wide.u32 %rd2, %r11, 4; add.u64 %rd2, %rd1, %rd2;\n"
        "mov.u32 %r12, %cluster_ctarank; shl.b32 %r12, %r12, 24; mov.u32 %r13, %clusterid.x; shl.b32 %r13, %r13, 16;\n"
        "or.b32 %r12, %r12, %r13; or.b32 %r12, %r12, %r6; st.global.u32 [%rd2], %r12;");
    machine_launch_as(&machine, (struct wsdbg_gpu_launch){.grid = {4, 2, 1}, .block = {4, 3, 4}, .cluster = {2, 2, 1}});
    machine_finish(&machine);
    for (uint32_t y = 0; y < 2; y++)
        for (uint32_t x = 0; x < 4; x++)
            for (uint32_t thread = 0; thread < 48; thread++)
                assert_int_equal(machine_word(&machine, (y * 4 + x) * 48 + thread),
                                 (y * 2 + x % 2) << 24 | (x / 2) << 16 | thread);
}

/* ---- faults ---- */

static void expect_fault(const char *body, int error, const char *words)
{
    const enum wsdbg_gpu_outcome outcome = kernel_run(&machine, body, (struct kernel_launch){.block = 64}, NULL);
    assert_int_equal(outcome, WSDBG_GPU_FAULT);
    assert_int_equal(wsdbg_gpu_state(machine.run), WSDBG_GRID_FAULTED);
    assert_int_equal(kernel_error(&machine), error);
    const char *text = wsdbg_gpu_fault(machine.run)->text;
    if (!strstr(text, words))
        fail_msg("'%s' is not in '%s'", words, text);
    machine_destroy(&machine);
}

static void faults_name_thread_address_and_allocation(void **state)
{
    (void)state;
    expect_fault("mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 37; @%p1 bra done; st.global.u32 [%rd1+65536], %r1; done:",
                 700, "thread (37,0,0)");
    expect_fault("st.global.u32 [%rd1+65536], %r1;", 700, "0 bytes behind the end of allocation 0x");
    expect_fault("ld.global.v2.u32 {%r1, %r2}, [%rd1+65532];", 716, "is not aligned to 8 bytes");
    expect_fault("ld.global.u64 %rd2, [%rd1+65536];", 700, "ld.global.u64");
    expect_fault("mov.u64 %rd2, 16; st.global.u32 [%rd2], 1;", 700, "address 0x10");
    expect_fault("ld.shared.u32 %r1, [0];", 700, "shared memory of CTA rank 0 is 0x400 to 0x400");
    expect_fault("ld.shared.u32 %r1, [1024];", 700, "reads 4 bytes at shared address 0x400");
    expect_fault("trap;", 719, "trap");
    expect_fault("mov.u32 %r1, 5; ways: .branchtargets a, b; brx.idx %r1, ways; a: b:", 718, "the table has 2 labels");
    open_with("ret;"); /* for the teardown */
}

/* Memory between allocations belongs to nobody, and freed memory neither. */
static void allocations_are_apart(void **state)
{
    (void)state;
    uint64_t first, second, length;
    bool is_host;
    open_with("ret;");
    assert_null(wsdbg_gpu_allocate(machine.gpu, 100, 0, &first));
    assert_null(wsdbg_gpu_allocate(machine.gpu, 100, 1 << 20, &second));
    assert_int_equal(second % (1 << 20), 0);
    assert_true(wsdbg_gpu_find_memory(machine.gpu, first + 99, 1, &second, &length, &is_host));
    assert_int_equal(second, first);
    assert_int_equal(length, 100);
    assert_false(wsdbg_gpu_find_memory(machine.gpu, first + 99, 2, &second, &length, &is_host));
    assert_false(wsdbg_gpu_find_memory(machine.gpu, first + 100, 1, &second, &length, &is_host));
    assert_false(wsdbg_gpu_free(machine.gpu, first + 1));
    *(char *)(uintptr_t)first = 1;
    assert_true(wsdbg_gpu_free(machine.gpu, first));
    assert_false(wsdbg_gpu_find_memory(machine.gpu, first, 1, &second, &length, &is_host));
    assert_null(wsdbg_gpu_allocate(machine.gpu, 100, 0, &second));
    assert_int_equal(second, first); /* the first that fits */
    assert_int_equal(*(char *)(uintptr_t)second, 0);
    struct wsdbg_error *error = wsdbg_gpu_allocate(machine.gpu, 1ull << 40, 0, &second);
    assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_NO_MEMORY);
    wsdbg_error_destroy(error);
}

/* Host memory is the kernel's once it is mapped, at its own address. */
static void host_memory_is_mapped(void **state)
{
    (void)state;
    static uint32_t words[4];
    open_with("st.global.u32 [%rd0], 7;");
    assert_null(wsdbg_gpu_map_host(machine.gpu, words, sizeof words));
    struct wsdbg_error *again = wsdbg_gpu_map_host(machine.gpu, &words[1], 4);
    assert_non_null(again);
    wsdbg_error_destroy(again);
    machine.in = (uint64_t)(uintptr_t)&words[2];
    machine_launch(&machine, 1, 32);
    machine_finish(&machine);
    assert_int_equal(words[2], 7);
    assert_true(wsdbg_gpu_unmap_host(machine.gpu, words));
    assert_false(wsdbg_gpu_unmap_host(machine.gpu, words));
}

/* Variables are where the program's names lead, with what they were initialised to. */
static void variables_are_initialised(void **state)
{
    (void)state;
    machine_create(&machine,
                   PTX_HEAD
                   ".global .align 4 .u32 numbers[3] = {5, 6, 7};\n.const .align 8 .u64 where = numbers;\n"
                   ".visible .entry main(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %d<3>;\n.reg .b32 %r<3>;\n"
                   "ld.param.u64 %d1, [out];\nld.const.u64 %d2, [where];\nld.global.u32 %r1, [%d2+8];\n"
                   "ld.global.u32 %r2, [numbers+4];\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%d1], %r1;\nret;\n}\n",
                   NULL);
    uint64_t address, byte_count;
    assert_true(wsdbg_gpu_variable(machine.module, "numbers", &address, &byte_count));
    assert_int_equal(byte_count, 12);
    assert_int_equal(*(uint32_t *)(uintptr_t)address, 5);
    assert_false(wsdbg_gpu_variable(machine.module, "letters", &address, &byte_count));
    machine_launch(&machine, 1, 1);
    machine_finish(&machine);
    assert_int_equal(machine_word(&machine, 0), 13);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, close_machine)
    const struct CMUnitTest tests[] = {
        TEST(bad_geometry_is_refused),        TEST(cooperative_grid_must_fit),
        TEST(cooperative_grid_has_a_barrier), TEST(room_of_an_sm_limits_ctas),
        TEST(clusters_are_placed_whole),      TEST(ctas_take_turns),
        TEST(threads_know_their_place),       TEST(faults_name_thread_address_and_allocation),
        TEST(allocations_are_apart),          TEST(host_memory_is_mapped),
        TEST(variables_are_initialised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
