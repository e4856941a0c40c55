/* fault_words_test.c - kernels that do what the hardware does not allow: the driver's error, and the words with it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libcuda/api.h"

/* Every kernel here is one of these: %rd1 is an allocation of 64 bytes, %p1 is true in thread 5 of CTA 1. */
static const char frame[] =
    ".version 8.3\n.target sm_90a\n.address_size 64\n"
    ".extern .func __assertfail(.param .b64 a0, .param .b64 a1, .param .b32 a2, .param .b64 a3, .param .b64 a4);\n"
    ".extern .func unknown();\n"
    ".global .align 1 .b8 text[6] = {120, 32, 60, 32, 121, 0};\n"        /* x < y */
    ".global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n"             /* a.cu */
    ".global .align 1 .b8 function[7] = {107, 101, 114, 110, 101, 108};" /* kernel, and a zero */
    ".global .align 128 .b8 zeros[128];\n"
    ".visible .entry bad(.param .u64 address)\n{\n"
    ".reg .pred %%p<4>;\n.reg .b32 %%r<8>;\n.reg .b64 %%rd<8>;\n"
    ".shared .align 128 .b8 room[1024];\n.local .align 8 .b8 own[16];\n"
    "ld.param.u64 %%rd1, [address];\n"
    "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%ctaid.x;\nmov.u32 %%r3, room;\nadd.u32 %%r4, %%r3, 1016;\n"
    "setp.eq.u32 %%p1, %%r1, 5;\nsetp.eq.and.u32 %%p1, %%r2, 1, %%p1;\n"
    "st.shared.u32 [%%r3], %%r1;\nmov.u64 %%rd2, own;\nst.local.u32 [%%rd2], %%r1;\n"
    "@!%%p1 bra $end;\n"
    "mbarrier.init.shared::cta.b64 [%%r4], 1;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r4], 64;\n"
    "%s\n"
    "$end:\nret;\n}\n";

static struct {
    const char *body;
    CUresult result;
} asked;

static void run_bad_kernel(void)
{
    char text[4096];
    CUcontext context;
    CUmodule module;
    CUfunction bad;
    CUdeviceptr memory;
    void *parameters[] = {&memory};
    snprintf(text, sizeof text, frame, asked.body);
    if (cu.cuInit(0) || cu.cuCtxCreate_v2(&context, 0, 0) || cu.cuModuleLoadData(&module, text) ||
        cu.cuModuleGetFunction(&bad, module, "bad") || cu.cuMemAlloc_v2(&memory, 64) ||
        cu.cuLaunchKernel(bad, 2, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL))
        _exit(1);
    CUresult result = cu.cuCtxSynchronize();
    if (result != asked.result)
        fprintf(stderr, "result %d\n", result);
    /* Sticky: whatever is asked of the context now. */
    _exit(result == asked.result && cu.cuMemFree_v2(memory) == asked.result ? 0 : 2);
}

static void expect_fault(const char *body, CUresult result, const char *const *words)
{
    char said[4096];
    asked.body = body;
    asked.result = result;
    const int status = in_child(run_bad_kernel, 20, said, sizeof said);
    if (status)
        fail_msg("%s: status %d: %s", body, status, said);
    for (; *words; words++)
        if (!strstr(said, *words))
            fail_msg("%s: '%s' is not in: %s", body, *words, said);
}

#define EXPECT(body, result, ...) expect_fault(body, result, (const char *const[]){__VA_ARGS__, NULL})
#define THREAD "bad: CTA (1,0,0) thread (5,0,0) at PTX line "

static void accesses_out_of_bounds_name_thread_address_and_allocation(void **state)
{
    (void)state;
    EXPECT("st.global.u32 [%rd1+68], %r1;", CUDA_ERROR_ILLEGAL_ADDRESS, THREAD, "st.global.u32", "writes 4 bytes",
           "4 bytes behind the end of allocation 0x", " of 64 bytes");
    EXPECT("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+64];", CUDA_ERROR_ILLEGAL_ADDRESS, THREAD, "reads 16 bytes",
           "0 bytes behind the end of allocation");
    EXPECT("ld.global.u32 %r1, [%rd1+-4];", CUDA_ERROR_ILLEGAL_ADDRESS, THREAD, "4 bytes before allocation 0x");
    EXPECT("mov.u64 %rd3, 16; ld.u32 %r1, [%rd3];", CUDA_ERROR_ILLEGAL_ADDRESS, THREAD, "address 0x10:");
    EXPECT("atom.global.add.u32 %r1, [%rd1+64], 1;", CUDA_ERROR_ILLEGAL_ADDRESS, THREAD, "atom.global.add.u32");
    EXPECT("ld.shared.u32 %r1, [%r3+1024];", CUDA_ERROR_ILLEGAL_ADDRESS, THREAD, "reads 4 bytes at shared address",
           "shared memory of CTA rank 0 is 0x400 to 0x800");
    EXPECT("ld.local.u32 %r1, [%rd2+16384];", CUDA_ERROR_ILLEGAL_ADDRESS, THREAD, "bytes of local memory");
    EXPECT("mapa.shared::cluster.u32 %r5, %r3, 0; add.u32 %r5, %r5, 0x3000000; st.shared::cluster.u32 [%r5], %r1;",
           CUDA_ERROR_ILLEGAL_ADDRESS, THREAD,
           "of a CTA that is not its own, not of its cluster or has left the kernel");
}

static void misaligned_accesses_have_their_own_error(void **state)
{
    (void)state;
    EXPECT("ld.global.u32 %r1, [%rd1+2];", CUDA_ERROR_MISALIGNED_ADDRESS, THREAD, "is not aligned to 4 bytes");
    EXPECT("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+8];", CUDA_ERROR_MISALIGNED_ADDRESS, THREAD,
           "is not aligned to 16 bytes");
    EXPECT("st.shared.u64 [%r3+4], %rd1;", CUDA_ERROR_MISALIGNED_ADDRESS, THREAD, "is not aligned to 8 bytes");
    EXPECT("mbarrier.arrive.shared::cta.b64 _, [%r4+4];", CUDA_ERROR_MISALIGNED_ADDRESS, THREAD,
           "is not aligned to 8 bytes");
}

#define COPY "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "

static void bulk_copies_must_be_aligned_and_inside(void **state)
{
    (void)state;
    EXPECT(COPY "[%r3], [%rd1], 24, [%r4];", CUDA_ERROR_MISALIGNED_ADDRESS, THREAD,
           "bulk copy of 24 bytes: the size must be a multiple of 16");
    EXPECT(COPY "[%r3], [%rd1+8], 16, [%r4];", CUDA_ERROR_MISALIGNED_ADDRESS, THREAD, "must be a multiple of 16");
    EXPECT(COPY "[%r3+8], [%rd1], 16, [%r4];", CUDA_ERROR_MISALIGNED_ADDRESS, THREAD, "is not aligned to 16 bytes");
    EXPECT(COPY "[%r3], [%rd1], 128, [%r4];", CUDA_ERROR_ILLEGAL_ADDRESS, "bulk copy of CTA (1, 0, 0)", "128 bytes at",
           "allocation 0x", " of 64 bytes");
    EXPECT(COPY "[%r3], [%rd1], 4096, [%r4];", CUDA_ERROR_ILLEGAL_ADDRESS, THREAD, "shared memory of CTA rank 0");
}

#define TENSOR                                                                                                        \
    "mov.u32 %r5, 0; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd3, " \
    "{%r5, %r5}], [%r4];"

static void tensor_maps_must_be_tensor_maps(void **state)
{
    (void)state;
    EXPECT("mov.u64 %rd3, zeros;" TENSOR, CUDA_ERROR_ILLEGAL_INSTRUCTION, THREAD, "tensor copy: 0x",
           "is no tensor map");
    EXPECT("mov.u64 %rd3, %rd1;" TENSOR, CUDA_ERROR_ILLEGAL_ADDRESS, THREAD, "reads 128 bytes at", "of 64 bytes");
    EXPECT("mov.u64 %rd3, zeros; add.u64 %rd3, %rd3, 16;" TENSOR, CUDA_ERROR_MISALIGNED_ADDRESS, THREAD,
           "is not aligned to 64 bytes");
}

static void what_a_kernel_ends_itself_with(void **state)
{
    (void)state;
    EXPECT("trap;", CUDA_ERROR_LAUNCH_FAILED, THREAD, "trap");
    EXPECT("mov.u64 %rd3, text; mov.u64 %rd4, file; mov.u64 %rd5, function;"
           "call.uni __assertfail, (%rd3, %rd4, 42, %rd5, 1);",
           CUDA_ERROR_ASSERT, THREAD, "a.cu:42: kernel: assertion `x < y' failed");
    EXPECT("mov.u64 %rd3, 16; call.uni __assertfail, (%rd3, %rd3, 42, %rd3, 1);", CUDA_ERROR_ASSERT, THREAD,
           "?:42: ?: assertion `?' failed");
    EXPECT("call.uni unknown;", CUDA_ERROR_ILLEGAL_INSTRUCTION, THREAD, "unknown has no body");
    EXPECT("mov.u32 %r5, 7; $one: ts: .branchtargets $one; brx.idx.uni %r5, ts;", CUDA_ERROR_INVALID_PC, THREAD,
           "index 7: the table has 1 labels");
}

static int open_only(void **state)
{
    (void)state;
    api_open();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_out_of_bounds_name_thread_address_and_allocation),
        cmocka_unit_test(misaligned_accesses_have_their_own_error),
        cmocka_unit_test(bulk_copies_must_be_aligned_and_inside),
        cmocka_unit_test(tensor_maps_must_be_tensor_maps),
        cmocka_unit_test(what_a_kernel_ends_itself_with),
    };
    return cmocka_run_group_tests(tests, open_only, NULL);
}
