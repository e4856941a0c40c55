/* rows.c - see rows.h.
 *
 * A row's kernel is START, `before`, then `broken` or `fixed`, then `after`.  %p1 is true in warp 1, %p0 in thread 0 of
 * the CTA, %p3 in thread 32.  %r1: 4 KiB of shared memory; %r3: the lane's word in it; %r2: mbarriers.  %rd0, %rd1:
 * global memory.  Headings name sections of the PTX ISA.
 */
#include "races/rows.h"

#include <stdio.h>

#define START                                                                                      \
    ".shared .align 128 .b8 data[4096];\n.shared .align 8 .b64 bar[4];\n"                          \
    "mov.u32 %r0, %tid.x;\nshr.u32 %r10, %r0, 5;\nsetp.eq.u32 %p1, %r10, 1;\n"                     \
    "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p3, %r0, 32;\nmov.u32 %r1, data;\nmov.u32 %r2, bar;\n" \
    "and.b32 %r4, %r0, 31;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r3, %r1, %r4;\n"
#define INIT(count) "@%p0 mbarrier.init.shared::cta.b64 [%r2], " #count ";\n"
#define INIT_FENCE "fence.mbarrier_init.release.cluster;\n"
#define SYNC "bar.sync 0;\n"
#define ARRIVE "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r2];\n"
#define WAIT(label) WAIT_AS(label, "")
#define WAIT_AS(label, order)                                                     \
#label ": mbarrier.try_wait.parity" order ".shared::cta.b64 %p2, [%r2], 0;\n" \
           "@!%p2 bra " #label ";\n"
#define WRITE_0 "@!%p1 st.shared.u32 [%r3], 7;\n"
#define WRITE_1 "@%p1 st.shared.u32 [%r3], 8;\n"
#define READ_1 "@%p1 ld.shared.u32 %r5, [%r3];\n"
#define READ_0 "@!%p1 ld.shared.u32 %r5, [%r3];\n"
#define EXPECT "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;\n"
#define LOAD "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 128, [%r2];\n"
#define STORE "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 128;\n@%p0 cp.async.bulk.commit_group;\n"
#define PROXY "fence.proxy.async;\n"
#define READY INIT(1) INIT_FENCE SYNC
#define COPY "@!%p1 cp.async.ca.shared.global [%r3], [%rd0], 4;\n"
/* A: 64 x 16, B: 8 x 16 halves in 2 KiB and 256 bytes of `data`. */
#define MATRICES                                                                                \
    "shr.u32 %r6, %r1, 4;\ncvt.u64.u32 %rd10, %r6;\nor.b64 %rd10, %rd10, 0x0000001000080000;\n" \
    "add.u64 %rd11, %rd10, 128;\nsetp.eq.u32 %p4, %r0, %r0;\nmov.b32 %f0, 0f00000000;\n"        \
    "mov.b32 %f1, 0f00000000;\nmov.b32 %f2, 0f00000000;\nmov.b32 %f3, 0f00000000;\n"
#define WGMMA_FENCE "wgmma.fence.sync.aligned;\n"
#define WGMMA                                                                                                  \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd10, %rd11, %p4, 1, 1, 0, 0;\n" \
    "wgmma.commit_group.sync.aligned;\n"
#define WGMMA_WAIT "wgmma.wait_group.sync.aligned 0;\n"
/* Warp 1 waits until thread 0 has set the word behind its data. */
#define POLL(load) "POLL: " load " %r7, [%rd1+1024];\nsetp.eq.u32 %p5, %r7, 0;\n@%p5 bra POLL;\n"
#define ONLY_1(body) "@!%p1 bra SKIP;\n" body "SKIP:\n"
#define DATA_0 "@%p0 st.global.u32 [%rd1], 5;\n"
#define DATA_1 "ld.global.u32 %r8, [%rd1];\n"
/* Thread 0 makes a tensor map of 32 words of global memory, and copies with it. */
#define FIELD(name, rest) "tensormap.replace.tile." name ".global.b1024." rest ";\n"
#define MAP                                                                                \
    "mov.u32 %r20, 0;\nmov.u32 %r21, 32;\nmov.u32 %r22, 1;\n@!%p0 bra MADE;\n" FIELD(      \
        "global_address", "b64 [%rd1], %rd0") FIELD("rank", "b32 [%rd1], %r20")            \
        FIELD("box_dim", "b32 [%rd1], 0, %r21") FIELD("global_dim", "b32 [%rd1], 0, %r21") \
            FIELD("element_stride", "b32 [%rd1], 0, %r22") FIELD("elemtype", "b32 [%rd1], 2") "MADE:\n"
#define MAP_LOAD                                                                                           \
    "@%p0 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, " \
    "{%r20}], [%r2];\n"
/* For two CTAs: %p6 is true in CTA 1. */
#define CTA "mov.u32 %r11, %ctaid.x;\nsetp.eq.u32 %p6, %r11, 1;\n"
#define REMOTE "mapa.shared::cluster.u32 %r12, %r2, 0;\n"

#define TWO         \
    {               \
        .block = 64 \
    }
#define GROUP        \
    {                \
        .block = 128 \
    }
#define CLUSTER                              \
    {                                        \
        .grid = 2, .block = 64, .cluster = 2 \
    }

static const struct race_row rows[] = {
    /* bar: orders the accesses of the threads that take part. */
    {"two warps write", "RACE_WRITE_WRITE", WRITE_0, "", SYNC, WRITE_1, TWO},
    {"read before it is written", "RACE_READ_WRITE", WRITE_0, "", SYNC, READ_1, TWO},
    {"written before it is read", "RACE_READ_WRITE", READ_0, "", SYNC, WRITE_1, TWO},
    {"another named barrier", "RACE_READ_WRITE", WRITE_0, "@!%p1 bar.arrive 1, 64;\n@%p1 bar.arrive 1, 64;\n",
     "@!%p1 bar.arrive 1, 64;\n@%p1 bar.sync 1, 64;\n", READ_1, TWO},
    {"ldmatrix too early", "RACE_READ_WRITE", WRITE_0, "", SYNC,
     ONLY_1("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r1];\n"), TWO},
    {"one byte of a word", "RACE_WRITE_WRITE", "@!%p1 st.shared.u16 [%r3], %h0;\n", "@%p1 st.shared.u8 [%r3+1], %h0;\n",
     "@%p1 st.shared.u8 [%r3+2], %h0;\n", "", TWO},
    /* mbarrier: arrive releases, a successful wait acquires; not where .relaxed says so. */
    {"no wait for the mbarrier", "RACE_READ_WRITE", READY WRITE_0 "bar.warp.sync -1;\n" ARRIVE, "", WAIT(A), READ_1,
     TWO},
    {"relaxed arrival", "RACE_READ_WRITE", READY WRITE_0 "bar.warp.sync -1;\n",
     "@%p0 mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r2];\n", ARRIVE, WAIT(A) READ_1, TWO},
    {"relaxed arrival behind a fence", "RACE_READ_WRITE", READY WRITE_0, "", "fence.acq_rel.cta;\n",
     "@%p0 mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r2];\n" WAIT(A) READ_1, TWO},
    {"relaxed wait", "RACE_READ_WRITE", READY WRITE_0 ARRIVE, WAIT_AS(A, ".relaxed.cta"), WAIT_AS(A, ".acquire.cta"),
     READ_1, TWO},
    {"used before it is initialised", "USE_BEFORE_INIT", INIT(1), "", SYNC,
     "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r2];\n", TWO},
    /* A copy counts its bytes as threads do: synchronisation is enough, a fence is not asked for. */
    {"a copy before it is initialised", "USE_BEFORE_INIT", INIT(1), "", SYNC,
     "@%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;\n@%p3 "
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 128, [%r2];\n" SYNC WAIT(A),
     TWO},
    {"initialised, relaxed cluster barrier", "FENCE_INIT_MISSING", INIT(1), "", INIT_FENCE,
     CTA REMOTE "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n@!%p6 bra SKIP;\n@%p0 "
                "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12];\nSKIP:\n"
                "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
     CLUSTER},
    /* barrier.cluster */
    {"relaxed cluster barrier",
     "RACE_READ_WRITE",
     CTA "@!%p6 st.shared.u32 [%r3], 3;\nmapa.shared::cluster.u32 %r12, %r3, 0;\n" SYNC,
     "barrier.cluster.arrive.relaxed;\n",
     "barrier.cluster.arrive.release;\n",
     "barrier.cluster.wait.acquire;\n@%p6 ld.shared::cluster.u32 %r5, [%r12];\nbarrier.cluster.arrive;\n"
     "barrier.cluster.wait;\n",
     {.grid = 2, .block = 32, .cluster = 2}},
    /* No scope is named, as CUTLASS arrives at other CTAs. */
    {"remote arrival", "RACE_READ_WRITE",
     READY CTA REMOTE "mapa.shared::cluster.u32 %r13, %r1, 0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                      "@!%p6 bra OWNER;\n@%p0 st.shared::cluster.u32 [%r13], 5;\n",
     "@%p0 mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r12];\n",
     "@%p0 mbarrier.arrive.shared::cluster.b64 _, [%r12];\n",
     "bra END;\nOWNER:\n" WAIT(A) "ld.shared.u32 %r5, [%r1];\nEND:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n",
     CLUSTER},
    /* cp.async.bulk: completes on the mbarrier, in the async proxy. */
    {"read before the copy arrived", "RACE_READ_WRITE", READY EXPECT LOAD, "", WAIT(A), READ_1 WAIT(B), TWO},
    {"a slot refilled too early", "RACE_READ_WRITE", READY READ_1, "", SYNC, EXPECT LOAD WAIT(A), TWO},
    {"copy without proxy fence", "FENCE_PROXY_MISSING", WRITE_0, "", PROXY,
     STORE "@%p0 cp.async.bulk.wait_group.read 0;\n", TWO},
    {"the fence before the write", "FENCE_PROXY_MISSING", PROXY WRITE_0, SYNC, PROXY SYNC,
     STORE "@%p0 cp.async.bulk.wait_group.read 0;\n", TWO},
    {"the fence behind the barrier will do", "RACE_READ_WRITE", WRITE_1, "", SYNC,
     PROXY STORE "@%p0 cp.async.bulk.wait_group.read 0;\n", TWO},
    {"source overwritten", "RACE_READ_WRITE", WRITE_0 PROXY STORE, "", "@%p0 cp.async.bulk.wait_group.read 0;\n",
     WRITE_0, TWO},
    {"only the source was waited for", "RACE_READ_WRITE", WRITE_0 PROXY STORE,
     "@%p0 cp.async.bulk.wait_group.read 0;\n", "@%p0 cp.async.bulk.wait_group 0;\n",
     "@%p0 ld.global.u32 %r5, [%rd1];\n", TWO},
    /* All lanes of a warp may issue the same store: the same bytes to the same place. */
    {"lanes store to one place", "RACE_WRITE_WRITE",
     WRITE_0 PROXY "bar.warp.sync -1;\n"
                   "and.b32 %r9, %r0, 1;\nshl.b32 %r9, %r9, 7;\n",
     "add.u32 %r9, %r1, %r9;\n", "mov.u32 %r9, %r1;\n",
     "@!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r9], 128;\n@!%p1 cp.async.bulk.commit_group;\n"
     "@!%p1 cp.async.bulk.wait_group 0;\n",
     TWO},
    {"one group is left", "RACE_READ_WRITE", WRITE_0 PROXY STORE, "@%p0 cp.async.bulk.wait_group.read 1;\n",
     "@%p0 cp.async.bulk.wait_group.read 0;\n", WRITE_0, TWO},
    {"filled by threads, then by a copy", "FENCE_PROXY_MISSING", READY WRITE_0, SYNC, PROXY SYNC, EXPECT LOAD WAIT(A),
     TWO},
    /* fence.proxy.tensormap */
    {"a changed tensor map without a fence", "TMAP_FENCE_MISSING", READY MAP, "fence.proxy.async;\n",
     "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;\n", EXPECT MAP_LOAD WAIT(A), TWO},
    /* cp.async */
    {"cp.async not waited for", "RACE_READ_WRITE", COPY, "", "cp.async.wait_all;\n", READ_0, TWO},
    {"cp.async, one group is left", "RACE_READ_WRITE", COPY "cp.async.commit_group;\n", "cp.async.wait_group 1;\n",
     "cp.async.wait_group 0;\n", READ_0, TWO},
    {"cp.async, a plain arrival", "RACE_READ_WRITE", INIT(1) SYNC "@%p0 cp.async.ca.shared.global [%r3], [%rd0], 4;\n",
     ARRIVE, "@%p0 cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n", WAIT(A) READ_1, TWO},
    /* st.async */
    {"st.async not waited for", "RACE_READ_WRITE",
     READY "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 4;\n@%p0 "
           "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r0, [%r2];\n",
     "", WAIT(A), READ_1 WAIT(B), CLUSTER},
    {"st.async is a relaxed operation", "RACE_READ_WRITE",
     READY "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 4;\n@%p0 "
           "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r0, [%r2];\n",
     READ_1, "@%p1 ld.volatile.shared.u32 %r5, [%r3];\n", WAIT(A), CLUSTER},
    /* wgmma */
    {"one thread speaks for the warpgroup",
     "RACE_READ_WRITE",
     READY MATRICES "setp.eq.u32 %p6, %r10, 4;\n@%p6 bra OTHER;\n" WGMMA_FENCE WGMMA,
     "",
     WGMMA_WAIT,
     ARRIVE WGMMA_WAIT "bra END;\nOTHER:\n" WAIT(A) "st.shared.u32 [%r3+2048], 8;\nEND:\n",
     {.block = 160}},
    {"operand overwritten", "RACE_READ_WRITE", MATRICES WGMMA_FENCE WGMMA, "", WGMMA_WAIT SYNC, WRITE_1 WGMMA_WAIT,
     GROUP},
    {"operand without proxy fence", "FENCE_PROXY_MISSING", MATRICES WRITE_1, SYNC, PROXY SYNC,
     WGMMA_FENCE WGMMA WGMMA_WAIT, GROUP},
    {"accumulator read", "WGMMA_ACCUMULATOR_RACE", MATRICES WGMMA_FENCE WGMMA, "", WGMMA_WAIT,
     "add.f32 %f9, %f0, %f1;\n" WGMMA_WAIT, GROUP},
    {"no wgmma.fence", "WGMMA_ACCUMULATOR_RACE", MATRICES, "", WGMMA_FENCE, WGMMA WGMMA_WAIT, GROUP},
    /* release and acquire patterns (memory consistency model) */
    {"relaxed flag", "RACE_READ_WRITE", DATA_0, "@%p0 st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n",
     "@%p0 st.release.gpu.global.u32 [%rd1+1024], 1;\n", ONLY_1(POLL("ld.acquire.gpu.global.u32") DATA_1), TWO},
    {"relaxed poll", "RACE_READ_WRITE", DATA_0 "@%p0 st.release.gpu.global.u32 [%rd1+1024], 1;\n",
     ONLY_1(POLL("ld.relaxed.gpu.global.u32") DATA_1), ONLY_1(POLL("ld.acquire.gpu.global.u32") DATA_1), "", TWO},
    {"relaxed poll and a fence", "RACE_READ_WRITE", DATA_0 "@%p0 st.release.gpu.global.u32 [%rd1+1024], 1;\n",
     ONLY_1(POLL("ld.relaxed.gpu.global.u32") DATA_1),
     ONLY_1(POLL("ld.relaxed.gpu.global.u32") "fence.acq_rel.gpu;\n" DATA_1), "", TWO},
    {"atomic flag without a fence", "RACE_READ_WRITE", DATA_0, "", "membar.gl;\n",
     "@%p0 red.global.add.u32 [%rd1+1024], 1;\n" ONLY_1(POLL("ld.volatile.global.u32") "membar.gl;\n" DATA_1), TWO},
    {"a fence of the CTA between CTAs",
     "RACE_READ_WRITE",
     CTA "@%p6 bra OTHER;\n" DATA_0,
     "membar.cta;\n",
     "membar.gl;\n",
     "@%p0 red.global.add.u32 [%rd1+1024], 1;\nbra END;\nOTHER:\n" POLL("ld.volatile.global.u32") "membar.gl;\n" DATA_1
                                                                                                  "END:\n",
     {.grid = 2, .block = 64}},
    /* Another CTA's addition lies between the two: the reader still sees the first one's. */
    {"a fence of the CTA, and others add",
     "RACE_READ_WRITE",
     CTA "@%p6 bra OTHER;\n" DATA_0,
     "",
     "membar.cta;\n",
     "@%p0 red.global.add.u32 [%rd1+1024], 1;\n@!%p1 bra END;\nW: ld.volatile.global.u32 %r7, [%rd1+1024];\n"
     "setp.lt.u32 %p5, %r7, 2;\n@%p5 bra W;\nmembar.cta;\n" DATA_1 "bra END;\nOTHER:\n"
     "@%p0 red.global.add.u32 [%rd1+1024], 1;\nEND:\n",
     {.grid = 2, .block = 64}},
    {"plain poll", "RACE_READ_WRITE", "", ONLY_1("ld.global.u32 %r7, [%rd1+1024];\n"),
     ONLY_1("ld.relaxed.gpu.global.u32 %r7, [%rd1+1024];\n"), "@%p0 red.global.add.u32 [%rd1+1024], 1;\n", TWO},
    /* Two stores of one value are no race. */
    {"two values", "RACE_WRITE_WRITE", WRITE_0, WRITE_1, "@%p1 st.shared.u32 [%r3], 7;\n", "", TWO},
};

const struct race_row *race_rows(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}

void race_row_text(const struct race_row *row, bool is_fixed, char text[RACE_TEXT_BYTES])
{
    snprintf(
        text, RACE_TEXT_BYTES,
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry main(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .b32 %%r<32>;\n.reg .b64 %%rd<32>;\n.reg .f32 %%f<256>;\n.reg .pred %%p<8>;\n.reg .b16 %%h<16>;\n"
        "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\n%s%s%s%s\nret;\n}\n",
        START, row->before, is_fixed ? row->fixed : row->broken, row->after);
}
