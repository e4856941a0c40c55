/* neighbours_test.c - instructions.def row by row: texts beside what a row takes, and why they are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parsed.h"

struct refused {
    const char *text, *because; /* a part of the message */
};

/* In the order of the table. */
static const struct refused neighbours[] = {
    {"add.cc.u16 %h1, %h2, %h3", ".u16"},
    {"add.rn.s32 %r1, %r2, %r3", ".s32"},
    {"add.s32 %d1, %r2, %r3", "operand 1"},
    {"add.f32 %f1, %r1, %d1", "operand 3"},
    {"add.u32 %r1, %f1, %r2", "operand 2"},
    {"add.f32 %f1, %f2, 1", "operand 3"},
    {"add.s32 %r1, %r2", "few"},
    {"add.s32 %r1, %r2, %r3, %r4", "many"},
    {"add %r1, %r2, %r3", "missing"},
    {"add.s32 1, %r2, %r3", "operand 1"},
    {"sub.sat.u32 %r1, %r2, %r3", ".u32"},
    {"mul.s32 %r1, %r2, %r3", ".s32"},
    {"mul.wide.u64 %d1, %d2, %d3", ".u64"},
    {"mul.wide.u32 %r1, %r2, %r3", "operand 1"},
    {"mad.f32 %f1, %f2, %f3, %f4", ".f32"},
    {"mad.wide.u32 %d1, %r1, %r2, %r3", "operand 4"},
    {"fma.f32 %f1, %f2, %f3, %f4", ".f32"},
    {"div.f32 %f1, %f2, %f3", ".f32"},
    {"rem.f32 %f1, %f2, %f3", ".f32"},
    {"abs.u32 %r1, %r2", ".u32"},
    {"neg.u32 %r1, %r2", ".u32"},
    {"min.rn.u32 %r1, %r2, %r3", ".rn"},
    {"max.relu.u32 %r1, %r2, %r3", ".u32"},
    {"sad.b32 %r1, %r2, %r3, %r4", ".b32"},
    {"mul24.u32 %r1, %r2, %r3", ".u32"},
    {"mad24.hi.sat.u32 %r1, %r2, %r3, %r4", ".u32"},
    {"addc.u16 %h1, %h2, %h3", ".u16"},
    {"subc.cc.f32 %f1, %f2, %f3", ".f32"},
    {"madc.wide.u32 %r1, %r2, %r3, %r4", ".wide"},
    {"popc.u32 %r1, %r2", ".u32"},
    {"popc.b64 %d1, %d2", "operand 1"},
    {"clz.b16 %r1, %h1", ".b16"},
    {"brev.u32 %r1, %r2", ".u32"},
    {"bfind.b32 %r1, %r2", ".b32"},
    {"bfe.b32 %r1, %r2, 1, 2", ".b32"},
    {"bfi.u32 %r1, %r2, %r3, 1, 2", ".u32"},
    {"fns.u32 %r1, %r2, 1, 2", ".u32"},
    {"prmt.u32 %r1, %r2, %r3, 1", ".u32"},
    {"lop3.b32 %r1, %r2, %r3, %r4, %r5", "operand 5"},
    {"lop3.or.b32 %r1, %r2, %r3, %r4, 1, %p1", "few"},
    {"and.u32 %r1, %r2, %r3", ".u32"},
    {"and.pred %p1, %p2, %r1", "operand 3"},
    {"or.b8 %h1, %h2, %h3", ".b8"},
    {"xor.f32 %f1, %f2, %f3", ".f32"},
    {"not.s32 %r1, %r2", ".s32"},
    {"cnot.u32 %r1, %r2", ".u32"},
    {"shl.u32 %r1, %r2, 1", ".u32"},
    {"shl.b64 %d1, %d2, %d3", "operand 3"},
    {"shr.b8 %h1, %h2, 1", ".b8"},
    {"shf.r.b32 %r1, %r2, %r3, 1", ".b32"},
    {"dp4a.s32 %r1, %r2, %r3, %r4", "missing"},
    {"rcp.f32 %f1, %f2", ".f32"},
    {"sqrt.approx.f64 %e1, %e2", ".f64"},
    {"rsqrt.rn.f32 %f1, %f2", ".rn"},
    {"sin.f32 %f1, %f2", ".f32"},
    {"cos.approx.f64 %e1, %e2", ".f64"},
    {"lg2.f32 %f1, %f2", ".f32"},
    {"ex2.f32 %f1, %f2", ".f32"},
    {"tanh.f32 %f1, %f2", ".f32"},
    {"copysign.f16 %h1, %h2, %h3", ".f16"},
    {"testp.f32 %p1, %f1", ".f32"},
    {"setp.s32 %p1, %r1, %r2", ".s32"},
    {"setp.eq.s32 %r1, %r1, %r2", "operand 1"},
    {"setp.eq.and.s32 %p1, %r1, %r2", "few"},
    {"setp.eq.s32 %p1, !%r1, %r2", "operand 2"},
    {"set.eq.s32 %r1, %r1, %r2", "missing"},
    {"selp.b32 %r1, %r2, %r3, %r4", "operand 4"},
    {"selp.b32 %r1, %r2, %r3, !%p1", "operand 4"},
    {"slct.b32 %r1, %r2, %r3, %r4", "missing"},
    {"mov.u32 %r1, %d1", "operand 2"},
    {"mov.u32 %r1, %clock64", "operand 2"},
    {"mov.b64 {%r1, %h1}, %d1", "operand 1"},
    {"mov.u64 {%r1, %r2}, %d1", "operand 1"},
    {"mov.b32 %r1, nowhere", "nowhere is not declared"},
    {"mov.b8 %h1, 1", ".b8"},
    {"mov.b16 %h1, glob", "operand 2"},
    {"cvt.u32 %r1, %r2", "missing"},
    {"cvt.bf16x2.f32 %r1, %f1, %f2", ".bf16x2"},
    {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1", "few"},
    {"cvt.pack.u8.s32.b32 %r1, %r2, %r3, %r4", ".u8"},
    {"cvta.u64 %d1, %d2", ".u64"},
    {"cvta.to.global.u64 %r1, %d2", "operand 1"},
    {"isspacep.shared %p1, %h1", "operand 2"},
    {"mapa.global.u32 %r1, %r2, %r3", ".global"},
    {"getctarank.u32 %d1, %r1", "operand 1"},
    {"ld.global.u32 %r1, %d1", "operand 2"},
    {"ld.u32.global %r1, [%d1]", ".global"},
    {"ld.global.v2.u32 %r1, [%d1]", "operand 1"},
    {"ld.global.v2.u32 {%r1, %r2, %r3}, [%d1]", "operand 1"},
    {"ld.global.v3.u32 {%r1, %r2, %r3}, [%d1]", ".v3"},
    {"ld.relaxed.u32 %r1, [%d1]", ".u32"},
    {"ld.nc.u32 %r1, [%d1]", ".nc"},
    {"ld.u64 %r1, [%d1]", "operand 1"},
    {"ld.global.u32 %r1, [%h1]", "operand 2"},
    {"ld.global.L2::cache_hint.u32 %r1, [%d1]", "few"},
    {"ldu.shared.u32 %r1, [%r1]", ".shared"},
    {"st.const.u32 [%d1], %r1", ".const"},
    {"st.acquire.gpu.u32 [%d1], %r1", ".acquire"},
    {"st.async.u32 [%d1], %r1", ".async"},
    {"st.u32 %r1, [%d1]", "operand 1"},
    {"prefetch.shared.L1 [%r1]", ".shared"},
    {"prefetchu.L2 [%d1]", ".L2"},
    {"prefetch.tensormap %d1", "operand 1"},
    {"discard.L1 [%d1], 128", ".L1"},
    {"applypriority.L2::evict_first [%d1], 128", ".L2::evict_first"},
    {"createpolicy.fractional.b64 %d1", ".b64"},
    {"shfl.idx.b32 %r1, %r2, %r3, 31", "needed .sync"},
    {"shfl.sync.b32 %r1, %r2, 1, 31, -1", ".b32"},
    {"shfl.sync.idx.b32 %r1|%r2, %r3, 1, 31, -1", "operand 2"},
    {"vote.all.pred %p1, %p2", "needed .sync"},
    {"vote.sync.ballot.pred %p1, %p2, -1", ".pred"},
    {"match.any.sync.b32 %r1|%p1, %r2, -1", "operand 2"},
    {"activemask.u32 %r1", ".u32"},
    {"redux.sync.add.b32 %r1, %r2, -1", ".b32"},
    {"elect.sync %r1, -1", "few"},
    {"bra", "few"},
    {"bra nowhere", "no label nowhere"},
    {"bra.uni 5", "operand 1"},
    {"brx.idx %r1, nowhere", "no table of labels nowhere"},
    {"call nowhere", "nowhere is not declared"},
    {"ret 1", "many"},
    {"exit.uni", ".uni"},
    {"trap 1", "many"},
    {"brkpt 0", "many"},
    {"nanosleep.u64 %d1", ".u64"},
    {"bar.sync", "few"},
    {"bar.sync.aligned 0", ".aligned"},
    {"bar.sync 0, 1, 2", "many"},
    {"bar.arrive 0", "few"},
    {"bar.red.xor.pred %p1, 0, %p2", ".xor"},
    {"bar.red.popc.u32 %p1, 0, %p2", "operand 1"},
    {"bar.warp.sync", "few"},
    {"barrier.cluster.arrive.acquire", ".acquire"},
    {"barrier.cluster.wait.release", ".release"},
    {"membar.cluster", ".cluster"},
    {"fence.sc", "missing"},
    {"fence.proxy.generic", ".generic"},
    {"atom.global.add.s64 %d1, [%d1], %d2", ".s64"},
    {"atom.const.add.u32 %r1, [%d1], 1", ".const"},
    {"atom.cas.b32 %r1, [%d1], 1", "few"},
    {"red.exch.b32 [%d1], 1", ".exch"},
    {"red.add.f16 [%d1], %h1", ".f16"},
    {"mbarrier.init.b32 [%r1], 1", ".b32"},
    {"mbarrier.init.shared::cluster.b64 [%r1], 1", ".shared::cluster"},
    {"mbarrier.inval.b64 %d1", "operand 1"},
    {"mbarrier.arrive.shared::cluster.b64 %d1, [%r1]", "operand 1"},
    {"mbarrier.arrive.acquire.cta.b64 _, [%r1]", ".acquire"},
    {"mbarrier.arrive_drop.b64 [%r1]", "few"},
    {"mbarrier.arrive.expect_tx.b64 _, [%r1]", "few"},
    {"mbarrier.expect_tx.b64 _, [%r1], 5", "operand 1"},
    {"mbarrier.complete_tx.release.b64 [%r1], 5", ".release"},
    {"mbarrier.test_wait.b64 %p1, [%r1], 1, 100", "many"},
    {"mbarrier.test_wait.parity.b64 %p1, [%r1], %d1", "operand 3"},
    {"mbarrier.try_wait.b64 %p1, [%r1], %r2", "operand 3"},
    {"mbarrier.pending_count.b64 %d1, %d2", "operand 1"},
    {"cp.async.ca.shared.global [%r1], [%d1], 12", "constant"},
    {"cp.async.cg.shared.global [%r1], [%d1], 8", "constant"},
    {"cp.async.shared.global [%r1], [%d1], 8", ".shared"},
    {"cp.async.commit_group 1", "many"},
    {"cp.async.wait_group %r1", "operand 1"},
    {"cp.async.wait_group -1", "constant"},
    {"cp.async.wait_all 0", "many"},
    {"cp.async.mbarrier.arrive.b64 %r1", "operand 1"},
    {"cp.async.bulk.shared::cluster.global.bulk_group [%r1], [%d1], 16", ".bulk_group"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 16", "few"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.exch.b32 [%d1], [%r1], 16", ".exch"},
    {"cp.async.bulk.prefetch.L1.global [%d1], 16", ".L1"},
    {"cp.async.bulk.commit_group.read", ".read"},
    {"cp.async.bulk.wait_group", "few"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1,"
     " {%r2}], [%r3]",
     "operand 2"},
    {"cp.async.bulk.tensor.6d.global.shared::cta.bulk_group [%d1, {%r1}], [%r2]", ".6d"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
     "[%r1], [%d1, {%r2, %r3}], [%r6], {%h1}",
     "im2col"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1,"
     " {%d2, %r2}], [%r3]",
     "operand 2"},
    {"cp.reduce.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [%r2]", ".bulk_group"},
    {"cp.async.bulk.prefetch.tensor.2d.global [%d1, {0, 0}]", ".global"},
    {"wgmma.fence.sync", "missing"},
    {"wgmma.commit_group", "missing"},
    {"wgmma.wait_group.sync.aligned %r1", "operand 1"},
    {"wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3, %f4, %f5}, "
     "%d1, %d2, %p1, 1, 1, 0, 0",
     ".m64n12k16"},
    {"wgmma.mma_async.sync.aligned.m64n264k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3, %f4, %f5, "
     "%f6, %f7, %f8, %f9, %f10, %f11, %f12, %f13, %f14, %f15, %f16, %f17, %f18, %f19, %f20, "
     "%f21, %f22, %f23, %f24, %f25, %f26, %f27, %f28, %f29, %f30, %f31, %f32, %f33, %f34, "
     "%f35, %f36, %f37, %f38, %f39, %f40, %f41, %f42, %f43, %f44, %f45, %f46, %f47, %f48, "
     "%f49, %f50, %f51, %f52, %f53, %f54, %f55, %f56, %f57, %f58, %f59, %f60, %f61, %f62, "
     "%f63, %f64, %f65, %f66, %f67, %f68, %f69, %f70, %f71, %f72, %f73, %f74, %f75, %f76, "
     "%f77, %f78, %f79, %f80, %f81, %f82, %f83, %f84, %f85, %f86, %f87, %f88, %f89, %f90, "
     "%f91, %f92, %f93, %f94, %f95, %f96, %f97, %f98, %f99, %f100, %f101, %f102, %f103, %f104,"
     " %f105, %f106, %f107, %f108, %f109, %f110, %f111, %f112, %f113, %f114, %f115, %f116, "
     "%f117, %f118, %f119, %f120, %f121, %f122, %f123, %f124, %f125, %f126, %f127, %f128, "
     "%f129, %f130, %f131}, %d1, %d2, %p1, 1, 1, 0, 0",
     ".m64n264k16"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%r0, %r1}, %d1, %d2, %p1, 1, 1, 0, 0", ".f16"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3, %f4}, %d1, %d2,"
     " %p1, 1, 1, 0, 0",
     "vector of 4"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d1, %d2, %p1,"
     " 2, 1, 0, 0",
     "constant"},
    {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u16 [%r1], %h2, [%r3]", ".u16"},
    {"st.async.weak.shared::cluster.b32 [%r1], %r2, [%r3]", ".b32"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s64 [%r1], %d2, [%r3]", ".s64"},
    {"tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 5, %r2", "constant"},
    {"tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r1], %r2", "operand 2"},
    {"tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r1], 4", "constant"},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r1], 64",
     "constant"},
    {"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, "
     "%r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19}, %d1, %d2, %p1",
     "has n 8, 24 or a multiple of 16, not 40"},
    {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%e0, %e1, %e2, %e3}, {%e0, %e1}, {%e0, %e1, %e2, %e3}, {%e0, "
     "%e1, %e2, %e3}",
     "vector of 8"},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s4.s8.s32 {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%r0}, {%r0, %r1, %r2, %r3}",
     ".s8"},
    {"ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1, %r2, %r3}, [%r1]", ".x3"},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r1]", "operand 1"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r1, [%r1]", "operand 1"},
    {"stmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%r1]", "operand 1"},
    {"mma.sync.aligned.m16n8k16.col.row.f32.bf16.bf16.f32 {%f0}, {%r0}, {%r4}, {%f0}", ".col"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2,"
     " %r3}, {%r4}, {%f0, %f1, %f2, %f3}",
     "vector of 2"},
    {"setmaxnreg.inc.sync.aligned.u32 20", "constant"},
    {"setmaxnreg.inc.sync.aligned.u32 %r1", "operand 1"},
    {"setmaxnreg.sync.aligned.u32 40", ".sync"},
    {"add.s16x2 %r1, %r2, %d1", "operand 3"},
    {".reg .b128 q; mov.b128 q, %d1", "operand 2"},
    {".reg .b128 q; ld.global.v2.b128 {q, q}, [%d1]", "at most 128 bits at once"},
    {".reg .b128 q; atom.global.add.b128 q, [%d1], q", ".b128"},
    {"min.relu.u16x2 %r1, %r2, %r3", ".u16x2"},
    {"ld.global.b32 {%r1, %r2}, [%d1]", "operand 1"},
    {"bmsk.b32 %r1, %r2, %r3", ".b32"},
    {"szext.clamp.b32 %r1, %r2, %r3", ".b32"},
    {"dp2a.u32.u32 %r1, %r2, %r3, %r4", ".u32"},
    {"vabsdiff4.s32.s32.s32 %r1, %r2, %r3, %r4", ".s32"},
    {"pmevent %r1", "operand 1"},
    {"movmatrix.sync.aligned.m8n8.b16 %r1, %r2", ".b16"},
    {"ld.global.v4.b64 {%d1, %d2, %d3, %d4}, [%d5]", "at most 128 bits at once"},
    {"st.shared.v8.b32 [%r1], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}", ".v8"},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}]", "textures and surfaces are not simulated: tex.2d"},
    {"multimem.red.relaxed.sys.global.add.u32 [%d1], %r1", "memory of several devices"},
    {"wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r1, %r2, %r3, %r4}, %d1, %d2, %r5, 0, %p1",
     "sparse matrices are not simulated"},
    {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, %r1, 0, %p1, 1, 1, 0, 0",
     "sparse matrices are not simulated"},
    {"vadd4.u32.u32.u32 %r1, %r2, %r3, %r4", "video instructions"},
    {"add.f32x2 %d1, %d2, %d3", "of sm_100"},
    {"cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%d1, {%r1, %r2, "
     "%r3, %r4, %r5}], [%r2]",
     "of sm_100"},
    {"griddepcontrol", "does not know"},
    {"griddepcontrol.wait 1", "many"},
    {"griddepcontrol.launch_dependents.sys", ".sys"},
    {"tcgen05.alloc.sync [%r1], 32",
     "of sm_100 or later: the simulated device is an sm_90: tcgen05.alloc.sync [%r1], 32"},
    {"frobnicate.b32 %r1", "does not know this instruction: frobnicate.b32 %r1"},
};

static void refuses_neighbours(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof neighbours / sizeof *neighbours; i++) {
        char body[2048], place[32];
        snprintf(body, sizeof body, "%s;", neighbours[i].text);
        snprintf(place, sizeof place, "a.ptx:%d: ", MODULE_LINES + BODY_LINES + 1);
        char *message = refuse_body(body);
        if (strncmp(message, place, strlen(place)) != 0 || !strstr(message, neighbours[i].because))
            fail_msg("%s\n  says  %s\n  not   %s...%s", neighbours[i].text, message, place, neighbours[i].because);
        free(message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_neighbours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
