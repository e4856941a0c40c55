/* table_test.c - instructions.def row by row: texts that it takes, with the fields they give.
 *
 * Each row of the table has some.  The words of the fields are described.h's.  What lies beside a row:
 * neighbours_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/described.h"
#include "ptx/parsed.h"

struct taken {
    const char *text, *fields;
};

static const struct taken arithmetic[] = {
    {"add.s32 %r1, %r2, 3", "add s32 #3"},
    {"add.sat.s32 %r1, %r2, %r3", "add s32 sat #3"},
    {"add.cc.u64 %d1, %d2, %d3", "add u64 cc #3"},
    {"add.rz.ftz.sat.f32 %f1, %f2, 0f3f800000", "add f32 rz ftz sat #3"},
    {"add.rn.f64 %e1, %e2, 1.5", "add f64 rn #3"},
    {"add.f16x2 %r1, %r2, %r3", "add f16x2 #3"},
    {"add.rn.bf16 %h1, %h2, %h3", "add bf16 rn #3"},
    {"sub.u16 %h1, %h2, %h3", "sub u16 #3"},
    {"sub.ftz.f32 %f1, %f2, %f3", "sub f32 ftz #3"},
    {"mul.lo.s32 %r1, %r2, %r3", "mul s32 lo #3"},
    {"mul.hi.u64 %d1, %d2, %d3", "mul u64 hi #3"},
    {"mul.wide.u32 %d1, %r1, 16", "mul u32 wide #3"},
    {"mul.wide.s16 %r1, %h1, %h2", "mul s16 wide #3"},
    {"mul.f32 %f1, %f2, %f3", "mul f32 #3"},
    {"mad.lo.s32 %r1, %r2, %r3, %r4", "mad s32 lo #4"},
    {"mad.wide.u32 %d1, %r1, 64, %d2", "mad u32 wide #4"},
    {"mad.lo.cc.u32 %r1, %r2, %r3, %r4", "mad u32 lo cc #4"},
    {"mad.hi.sat.s32 %r1, %r2, %r3, %r4", "mad s32 hi sat #4"},
    {"mad.rn.f32 %f1, %f2, %f3, %f4", "mad f32 rn #4"},
    {"fma.rn.ftz.f32 %f1, %f2, %f3, %f4", "fma f32 rn ftz #4"},
    {"fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4", "fma bf16x2 rn relu #4"},
    {"div.s32 %r1, %r2, %r3", "div s32 #3"},
    {"div.full.ftz.f32 %f1, %f2, %f3", "div f32 ftz #3"},
    {"div.rn.f64 %e1, %e2, %e3", "div f64 rn #3"},
    {"rem.u64 %d1, %d2, 7", "rem u64 #3"},
    {"abs.ftz.f32 %f1, %f2", "abs f32 ftz #2"},
    {"neg.s64 %d1, %d2", "neg s64 #2"},
    {"min.u32 %r1, %r2, %r3", "min u32 #3"},
    {"min.relu.s32 %r1, %r2, %r3", "min s32 relu #3"},
    {"max.NaN.f32 %f1, %f2, %f3", "max f32 NaN #3"},
    {"max.ftz.NaN.xorsign.abs.f16x2 %r1, %r2, %r3", "max f16x2 ftz NaN xorsign #3"},
    {"sad.u32 %r1, %r2, %r3, %r4", "sad u32 #4"},
    {"mul24.hi.u32 %r1, %r2, %r3", "mul24 u32 hi #3"},
    {"mad24.lo.s32 %r1, %r2, %r3, %r4", "mad24 s32 lo #4"},
    {"addc.cc.u32 %r1, %r2, %r3", "addc u32 cc #3"},
    {"subc.u64 %d1, %d2, %d3", "subc u64 #3"},
    {"madc.hi.cc.u32 %r1, %r2, %r3, %r4", "madc u32 hi cc #4"},
    {"add.u16x2 %r1, %r2, %r3", "add u16x2 #3"},
    {"min.relu.s16x2 %r1, %r2, %r3", "min s16x2 relu #3"},
    {"max.u16x2 %r1, %r2, %r3", "max u16x2 #3"},
    {"max.s16x2.relu %r1, %r2, %r3", "max s16x2 relu #3"},
    {"vabsdiff2.u32.u32.u32 %r1, %r2, %r3, %r4", "vabsdiff u32/u32 x2 #4"},
    {"vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4", "vabsdiff u32/u32 x4 add #4"},
    {"bmsk.wrap.b32 %r1, %r2, %r3", "bmsk b32 wrap #3"},
    {"szext.clamp.s32 %r1, %r2, 7", "szext s32 #3"},
    {"popc.b64 %r1, %d1", "popc b64 #2"},
    {"clz.b32 %r1, %r2", "clz b32 #2"},
    {"brev.b64 %d1, %d2", "brev b64 #2"},
    {"bfind.shiftamt.u64 %r1, %d1", "bfind u64 shiftamt #2"},
    {"bfe.s64 %d1, %d2, %r1, 5", "bfe s64 #4"},
    {"bfi.b32 %r1, %r2, %r3, 4, 8", "bfi b32 #5"},
    {"fns.b32 %r1, %r2, 0, 1", "fns b32 #4"},
    {"prmt.b32 %r1, %r2, %r3, 0x5410", "prmt b32 #4"},
    {"prmt.b32.rc16 %r1, %r2, %r3, %r4", "prmt b32 rc16 #4"},
    {"lop3.b32 %r1, %r2, %r3, %r4, 0x96", "lop3 b32 #5"},
    {"lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0xc0, !%p2", "lop3 b32 with-or predicate #7"},
    {"and.b32 %r1, %r2, 0xff", "and b32 #3"},
    {"and.pred %p1, %p2, %p3", "and pred #3"},
    {"or.b64 %d1, %d2, %d3", "or b64 #3"},
    {"xor.b16 %h1, %h2, -1", "xor b16 #3"},
    {"not.pred %p1, %p2", "not pred #2"},
    {"not.b32 %r1, %r2", "not b32 #2"},
    {"cnot.b32 %r1, %r2", "cnot b32 #2"},
    {"shl.b64 %d1, %d2, %r1", "shl b64 #3"},
    {"shr.s16 %h1, %h2, 3", "shr s16 #3"},
    {"shf.r.wrap.b32 %r1, %r2, %r3, %r4", "shf b32 right wrap #4"},
    {"shf.l.clamp.b32 %r1, %r2, %r3, 5", "shf b32 left #4"},
    {"dp4a.u32.s32 %r1, %r2, %r3, %r4", "dp4a u32/s32 #4"},
    {"dp2a.hi.s32.u32 %r1, %r2, %r3, %r4", "dp2a s32/u32 hi #4"},
    {"rcp.approx.ftz.f32 %f1, %f2", "rcp f32 ftz approx #2"},
    {"rcp.rn.f64 %e1, %e2", "rcp f64 rn #2"},
    {"sqrt.rn.f32 %f1, %f2", "sqrt f32 rn #2"},
    {"rsqrt.approx.f64 %e1, %e2", "rsqrt f64 approx #2"},
    {"sin.approx.f32 %f1, %f2", "sin f32 approx #2"},
    {"cos.approx.ftz.f32 %f1, %f2", "cos f32 ftz approx #2"},
    {"lg2.approx.f32 %f1, %f2", "lg2 f32 approx #2"},
    {"ex2.approx.ftz.f32 %f1, %f2", "ex2 f32 ftz approx #2"},
    {"ex2.approx.ftz.bf16x2 %r1, %r2", "ex2 bf16x2 ftz approx #2"},
    {"tanh.approx.f32 %f1, %f2", "tanh f32 approx #2"},
    {"copysign.f32 %f1, %f2, %f3", "copysign f32 #3"},
    {"testp.notanumber.f64 %p1, %e1", "testp f64 notanumber #2"},
};

static const struct taken comparison[] = {
    {"setp.ge.s32 %p1, %r1, 5", "setp s32 ge #3"},
    {"setp.lo.u32 %p1|%p2, %r1, %r2", "setp u32 lo predicate #4"},
    {"setp.hi.and.u64 %p1, %d1, %d2, !%p3", "setp u64 hi with-and #4"},
    {"setp.neu.ftz.f32 %p1, %f1, 0f00000000", "setp f32 neu ftz #3"},
    {"setp.nan.xor.f64 _|%p2, %e1, %e2, %p3", "setp f64 nan with-xor predicate #5"},
    {"set.lt.and.ftz.f32.f32 %f1, %f2, %f3, %p1", "set f32 lt with-and ftz #4"},
    {"set.eq.u32.s64 %r1, %d1, %d2", "set u32/s64 eq #3"},
    {"selp.f32 %f1, %f2, 0f3f800000, %p1", "selp f32 #4"},
    {"slct.u64.s32 %d1, %d2, %d3, %r1", "slct u64/s32 #4"},
    {"slct.ftz.b32.f32 %r1, %r2, %r3, %f1", "slct b32/f32 ftz #4"},
};

static const struct taken moves[] = {
    {"mov.u32 %r1, %tid.x", "mov u32 #2"},
    {"mov.b64 {%r1, %r2}, %d1", "mov b64 #2"},
    {"mov.b32 %r1, {%h1, %h2}", "mov b32 #2"},
    {"mov.b64 %d1, {%h1, %h2, %h3, %h4}", "mov b64 #2"},
    {".reg .b128 q, r; mov.b128 q, {%d1, %d2}; mov.b128 r, q", "mov b128 #2"},
    {".reg .b128 q; ld.global.b128 q, [%d1]", "ld b128 global #2"},
    {".reg .b128 q; atom.global.cas.b128 q, [%d1], q, q", "atom b128 global cas #4"},
    {".reg .b128 q; atom.global.exch.b128 _, [%d1], q", "atom b128 global exch #3"},
    {"mov.u64 %d1, glob", "mov u64 #2"},
    {"mov.b64 %d1, p0", "mov b64 #2"},
    {"mov.pred %p1, -1", "mov pred #2"},
    {"mov.u16 %h1, %ctaid.y", "mov u16 #2"},
    {"mov.f32 %f1, 1.5", "mov f32 #2"},
    {"cvt.rn.f32.s32 %f1, %r1", "cvt f32/s32 rn #2"},
    {"cvt.u32.u16 %r1, %h1", "cvt u32/u16 #2"},
    {"cvt.s32.s8 %r1, %r2", "cvt s32/s8 #2"},
    {"cvt.rn.bf16x2.f32 %r1, %f1, %f2", "cvt bf16x2/f32 rn #3"},
    {"cvt.rzi.ftz.sat.u32.f32 %r1, %f1", "cvt u32/f32 rzi ftz sat #2"},
    {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2", "cvt e4m3x2/f32 rn satfinite #3"},
    {"cvt.rn.f16x2.e5m2x2 %r1, %h1", "cvt f16x2/e5m2x2 rn #2"},
    {"cvt.rn.satfinite.relu.f16x2.f32 %r1, %f1, %f2", "cvt f16x2/f32 rn relu satfinite #3"},
    {"cvt.rn.satfinite.relu.bf16.f32 %h1, %f1", "cvt bf16/f32 rn relu satfinite #2"},
    {"cvt.rna.tf32.f32 %r1, %f1", "cvt tf32/f32 rna #2"},
    {"cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4", "cvt_pack u8/s32/b32 sat #4"},
    {"cvta.to.global.u64 %d1, %d2", "cvta u64 global to #2"},
    {"cvta.param.u64 %d1, %d2", "cvta u64 param #2"},
    {"cvta.shared.u64 %d1, stat", "cvta u64 shared #2"},
    {"isspacep.shared::cluster %p1, %d1", "isspacep cluster #2"},
    {"mapa.shared::cluster.u32 %r1, %r2, %r3", "mapa u32 cluster #3"},
    {"getctarank.shared::cluster.u32 %r1, %r2", "getctarank u32 cluster #2"},
    {"ld.param.u64 %d1, [p0]", "ld u64 param #2"},
    {"ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%d1+16]", "ld f32 global x4 nc #2"},
    {"ld.acquire.gpu.global.u32 %r1, [%d1]", "ld u32 global acquire #2"},
    {"ld.volatile.shared.v2.b64 {%d1, _}, [stat+8]", "ld b64 shared x2 volatile #2"},
    {"ld.shared.u8 %h1, [%r1]", "ld u8 shared #2"},
    {"ld.global.b32 {%r1}, [%d1]", "ld b32 global #2"},
    {"st.global.b32 [%d1], {%r1}", "st b32 global #2"},
    {"ld.global.L2::cache_hint.u32 %r1, [%d1], %d2", "ld u32 global hint #3"},
    {"ld.relaxed.cluster.shared::cluster.u32 %r1, [%r2]", "ld u32 cluster relaxed #2"},
    {"ld.global.acquire.gpu.b32 %r1, [%d1]", "ld b32 global acquire #2"},
    {"ld.cg.global.b32 %r1, [%d1]", "ld b32 global #2"},
    {"st.global.release.gpu.b32 [%d1], %r1", "st b32 global release #2"},
    {"ldu.global.v2.f32 {%f1, %f2}, [%d1]", "ldu f32 global x2 #2"},
    {"st.relaxed.sys.global.v4.b32 [%d1], {%r1, 0, %r2, 7}", "st b32 global x4 relaxed #2"},
    {"st.shared.f32 [%r1], 0f00000000", "st f32 shared #2"},
    {"st.release.cta.u64 [%d1+-8], %d2", "st u64 release #2"},
    {"st.u8 [%d1], %r1", "st u8 #2"},
    {"prefetch.global.L2 [%d1]", "prefetch global #1"},
    {"prefetchu.L1 [%d1]", "prefetchu #1"},
    {"prefetch.tensormap [%d1]", "prefetch_tensormap #1"},
    {"prefetch.param.tensormap [map]", "prefetch_tensormap param #1"},
    {"discard.global.L2 [%d1], 128", "discard global #2"},
    {"applypriority.global.L2::evict_normal [%d1], 128", "applypriority global #2"},
    {"createpolicy.fractional.L2::evict_last.b64 %d1, 0.5", "createpolicy b64 #2"},
    {"createpolicy.range.global.L2::evict_first.b64 %d1, [%d2], 4096, 8192", "createpolicy b64 global #4"},
};

static const struct taken warp[] = {
    {"shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1", "shfl b32 idx predicate #6"},
    {"shfl.sync.bfly.b32 %f1, %f2, 16, 31, -1", "shfl b32 bfly #5"},
    {"vote.sync.ballot.b32 %r1, !%p1, -1", "vote b32 ballot #3"},
    {"vote.ballot.sync.b32 %r1, %p1, -1", "vote b32 ballot #3"},
    {"vote.sync.uni.pred %p1, %p2, %r1", "vote pred uni #3"},
    {"match.all.sync.b64 %r1|%p1, %d1, -1", "match b64 all predicate #4"},
    {"match.any.sync.b32 %r1, %r2, -1", "match b32 any #3"},
    {"activemask.b32 %r1", "activemask b32 #1"},
    {"redux.sync.max.s32 %r1, %r2, -1", "redux s32 max #3"},
    {"redux.sync.xor.b32 %r1, %r2, -1", "redux b32 xor #3"},
    {"elect.sync _|%p1, -1", "elect predicate #3"},
    {"l: bra.uni l", "bra uniform"},
    {"t: .branchtargets t2, t2; t2: brx.idx %r1, t", "brx #1"},
    {"ret.uni", "ret uniform"},
    {"exit", "exit"},
    {"trap", "trap"},
    {"brkpt", "brkpt"},
    {"pmevent 3", "pmevent #1"},
    {"pmevent.mask 0xff", "pmevent #1"},
    {"nanosleep.u32 20", "nanosleep u32 #1"},
};

static const struct taken barriers[] = {
    {"bar.sync 0", "bar_sync aligned #1"},
    {"bar.cta.sync %r1, 64", "bar_sync aligned #2"},
    {"barrier.sync 1, 64", "bar_sync #2"},
    {"barrier.cta.sync.aligned %r1", "bar_sync aligned #1"},
    {"bar.arrive 1, 64", "bar_arrive aligned #2"},
    {"barrier.cta.arrive 1, 64", "bar_arrive #2"},
    {"bar.red.or.pred %p1, 0, !%p2", "bar_red pred or aligned #3"},
    {"barrier.cta.red.popc.aligned.u32 %r1, 0, 64, %p2", "bar_red u32 popc aligned #4"},
    {"barrier.red.and.pred %p1, 2, 64, %p2", "bar_red pred and #4"},
    {"bar.warp.sync -1", "bar_warp_sync #1"},
    {"barrier.cluster.arrive.relaxed.aligned", "barrier_cluster_arrive relaxed aligned"},
    {"barrier.cluster.arrive", "barrier_cluster_arrive"},
    {"barrier.cluster.wait.acquire", "barrier_cluster_wait acquire"},
    {"membar.gl", "membar"},
    {"fence.acq_rel.gpu", "fence acquire release"},
    {"fence.mbarrier_init.release.cluster", "fence release"},
    {"fence.proxy.async.shared::cta", "fence shared"},
    {"fence.proxy.tensormap::generic.acquire.gpu [%d1], 128", "fence acquire #2"},
    {"atom.global.add.u32 %r1, [%d1], 1", "atom u32 global add #3"},
    {"atom.acq_rel.cta.shared::cta.cas.b64 %d1, [%r1], %d2, %d3", "atom b64 shared cas acquire release #4"},
    {"atom.add.noftz.bf16x2 %r1, [%d1], %r2", "atom bf16x2 add #3"},
    {"atom.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%d1], {%f1, %f2, %f3, %f4}", "atom f32 global x4 add #3"},
    {"atom.exch.b32 _, [%d1], 5", "atom b32 exch #3"},
    {"atom.add.release.gpu.u32 %r1, [%d1], %r2", "atom u32 add release #3"},
    {"atom.cas.acquire.sys.b32 %r1, [%d1], %r2, %r3", "atom b32 cas acquire #4"},
    {"atom.global.v4.f32.add {%f1, %f2, %f3, %f4}, [%d1], {%f1, %f2, %f3, %f4}", "atom f32 global x4 add #3"},
    {"red.global.v2.bf16x2.add.noftz [%d1], {%r1, %r2}", "red bf16x2 global x2 add #2"},
    {"red.release.gpu.global.max.s64 [%d1], %d2", "red s64 global max release #2"},
    {"red.global.add.v2.f32 [%d1], {%f1, %f2}", "red f32 global x2 add #2"},
    {"mbarrier.init.shared::cta.b64 [stat], 1", "mbarrier_init b64 shared #2"},
    {"mbarrier.inval.b64 [%d1]", "mbarrier_inval b64 #1"},
    {"mbarrier.arrive.shared.b64 %d1, [%r1]", "mbarrier_arrive b64 shared #2"},
    {"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1], 2", "mbarrier_arrive b64 cluster release #3"},
    {"mbarrier.arrive.noComplete.shared.b64 %d1, [%r1], 2", "mbarrier_arrive b64 shared nocomplete #3"},
    {"mbarrier.arrive_drop.shared.b64 _, [%r1]", "mbarrier_arrive_drop b64 shared #2"},
    {"mbarrier.arrive_drop.expect_tx.shared::cta.b64 %d1, [%r1], 64", "mbarrier_arrive_drop b64 shared expect #3"},
    {"mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r1], %r2",
     "mbarrier_arrive_expect_tx b64 cluster relaxed #3"},
    {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 64", "mbarrier_expect_tx b64 shared relaxed #2"},
    {"mbarrier.complete_tx.shared::cluster.b64 [%r1], 64", "mbarrier_complete_tx b64 cluster #2"},
    {"mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%r1], 64",
     "mbarrier_complete_tx b64 cluster relaxed #2"},
    {"mbarrier.test_wait.shared.b64 %p1, [%r1], %d1", "mbarrier_test_wait b64 shared #3"},
    {"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 1, 1000",
     "mbarrier_try_wait b64 shared acquire parity #4"},
    {"mbarrier.pending_count.b64 %r1, %d1", "mbarrier_pending_count b64 #2"},
};

static const struct taken copies[] = {
    {"cp.async.ca.shared.global.L2::128B [%r1], [%d1], 8, %r2", "cp_async shared<global #4"},
    {"cp.async.cg.shared::cta.global.L2::cache_hint [%r1], [%d1], 16, %d2", "cp_async shared<global hint #4"},
    {"cp.async.cg.shared.global [%r1], [%d1], 16, %p1", "cp_async shared<global #4"},
    {"cp.async.commit_group", "cp_async_commit_group"},
    {"cp.async.wait_group 2", "cp_async_wait_group #1"},
    {"cp.async.wait_all", "cp_async_wait_all"},
    {"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1]", "cp_async_mbarrier_arrive b64 shared noinc #1"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
     " [%r1], [%d1], 64, [%r2], %h1, %d2",
     "bulk_copy cluster<global multicast hint #6"},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], "
     "%r3, [%r4]",
     "bulk_copy cluster<shared #4"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16", "bulk_copy global<shared #3"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%d1], [%r1], 16",
     "bulk_reduce bf16 global<shared add #3"},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.s32 "
     "[%r1], [%r2], 16, [%r3]",
     "bulk_reduce s32 cluster<shared min #4"},
    {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%r1], {%f1, %f2, %f3, %f4}, [%r3]",
     "st_async f32 cluster x4 #3"},
    {"st.async.mbarrier::complete_tx::bytes.s64 [%d1], %d2, [%d3]", "st_async s64 #3"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1], %r2, [%r3]",
     "red_async u32 cluster inc relaxed #3"},
    {"cp.async.bulk.prefetch.L2.global [%d1], 128", "bulk_prefetch global #2"},
    {"cp.async.bulk.commit_group", "bulk_commit_group"},
    {"cp.async.bulk.wait_group.read 1", "bulk_wait_group read #1"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1,"
     " {%r2, 64}], [%r3]",
     "tensor_copy cluster<global 2d #3"},
    {"cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_"
     "hint"
     " [%r1], [map, {%r1, %r2, %r3, %r4, %r5}], [stat+8], 3, %d2",
     "tensor_copy cluster<global 5d multicast hint #5"},
    {"cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes.tile [%r1], [%d1, {%r2, 64}], [%r3]",
     "tensor_copy shared<global 2d #3"},
    {"cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
     "[%r1], [%d1, {%r2, %r3, %r4, %r5}], [%r6], {%h1, %h2}",
     "tensor_copy cluster<global 4d im2col #4"},
    {"cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint "
     "[%r1], [%d1, {%r2, %r3, %r4}], [%r6], {4}, %d2",
     "tensor_copy shared<global 3d hint im2col #5"},
    {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [%r2]", "tensor_copy global<shared 1d #2"},
    {"cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%d1, {%r1, %r2, "
     "%r3}], [%r4]",
     "tensor_reduce global<shared add 3d #2"},
    {"tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r1], 3, %d2",
     "tensormap_replace b64 shared stride #3"},
    {"tensormap.replace.tile.rank.b1024.b32 [%d1], %r1", "tensormap_replace b32 rank #2"},
    {"tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], 12", "tensormap_replace b32 global elements #2"},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r1], 128",
     "tensormap_cp_fenceproxy global<shared release aligned #3"},
    {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d1, {0, 0}]", "tensor_prefetch global 2d #1"},
};

static const struct taken matrices[] = {
    {"wgmma.fence.sync.aligned", "wgmma_fence aligned"},
    {"wgmma.commit_group.sync.aligned", "wgmma_commit_group aligned"},
    {"wgmma.wait_group.sync.aligned 1", "wgmma_wait_group aligned #1"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d1, %d2, %p1,"
     " 1, -1, 0, 1",
     "wgmma_mma_async f32/bf16/bf16 m64n8k16 aligned #8"},
    {"wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6,"
     " %r7}, %d2, %p1, 1, 1, 0",
     "wgmma_mma_async f16/f16 m64n16k16 aligned #7"},
    {"wgmma.mma_async.sync.aligned.m64n24k8.f32.tf32.tf32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, "
     "%r7, %r8, %r9, %r10, %r11}, %d1, %d2, %p1, 1, 1",
     "wgmma_mma_async f32/tf32/tf32 m64n24k8 aligned #6"},
    {"wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%f0, %f1, %f2, %f3}, %d1, %d2, %p1,"
     " 1, 1",
     "wgmma_mma_async f32/e4m3/e5m2 m64n8k32 aligned #6"},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%r1, %r2, %r3, %r4}, [%r5]",
     "ldmatrix b16 shared x4 aligned trans #2"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r5]", "ldmatrix b16 shared aligned #2"},
    {"ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%r1, %r2}, [%r5]", "ldmatrix b16 shared x2 aligned trans #2"},
    {"stmatrix.sync.aligned.x1.m8n8.shared.b16 [%r5], {%r1}", "stmatrix b16 shared aligned #2"},
    {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r5], {%r1, %r2}", "stmatrix b16 shared x2 aligned #2"},
    {"movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2", "movmatrix b16 aligned trans #2"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, "
     "%r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}",
     "mma f32/bf16/bf16 m16n8k16 aligned #4"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2,"
     " %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}",
     "mma f32/tf32/tf32 m16n8k8 aligned #4"},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%e1, %e2}, {%e3}, {%e4}, {%e1, %e2}",
     "mma f64/f64 m8n8k4 aligned #4"},
    {"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.s4.s32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r1, %r2},"
     " {%r1, %r2, %r3, %r4}",
     "mma s32/u4/s4 m16n8k64 aligned satfinite #4"},
    {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2}",
     "mma s32/b1/b1 with-xor popc m8n8k128 aligned #4"},
    {"wgmma.mma_async.sync.aligned.m64n24k32.s32.u8.s8.satfinite {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, "
     "%r10, %r11}, {%r1, %r2, %r3, %r4}, %d2, %p1",
     "wgmma_mma_async s32/u8/s8 m64n24k32 aligned satfinite #4"},
    {"setmaxnreg.dec.sync.aligned.u32 40", "setmaxnreg u32 dec aligned #1"},
    {"setmaxnreg.inc.sync.aligned.u32 240", "setmaxnreg u32 inc aligned #1"},
    {"griddepcontrol.wait", "griddepcontrol_wait"},
    {"griddepcontrol.launch_dependents", "griddepcontrol_launch_dependents"},
};

static bool seen_taken[WSDBG_PTX_OPERATION_COUNT];

/* The instruction that a text gives: a function's last one is the `ret` that the parser adds. */
static const struct wsdbg_ptx_instruction *last_of(const struct wsdbg_ptx_program *program)
{
    const struct wsdbg_ptx_instruction *last = &program->instructions[program->instruction_count - 1];
    return last->operation == WSDBG_PTX_OP_ret && program->instruction_count > 1 ? last - 1 : last;
}

static void check_taken(const struct taken *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char body[2048], fields[256];
        snprintf(body, sizeof body, "%s;", rows[i].text);
        struct wsdbg_ptx_program *program = parse_body(body);
        const struct wsdbg_ptx_instruction *instruction = last_of(program);
        describe(instruction, fields, sizeof fields);
        if (strcmp(fields, rows[i].fields) != 0)
            fail_msg("%s\n  is   %s\n  not  %s", rows[i].text, fields, rows[i].fields);
        seen_taken[instruction->operation] = true;
        wsdbg_ptx_program_destroy(program);
    }
}

static void takes_arithmetic(void **state)
{
    (void)state;
    check_taken(arithmetic, sizeof arithmetic / sizeof *arithmetic);
}

static void takes_comparison(void **state)
{
    (void)state;
    check_taken(comparison, sizeof comparison / sizeof *comparison);
}

static void takes_moves(void **state)
{
    (void)state;
    check_taken(moves, sizeof moves / sizeof *moves);
}

static void takes_warp(void **state)
{
    (void)state;
    check_taken(warp, sizeof warp / sizeof *warp);
}

static void takes_barriers(void **state)
{
    (void)state;
    check_taken(barriers, sizeof barriers / sizeof *barriers);
}

static void takes_copies(void **state)
{
    (void)state;
    check_taken(copies, sizeof copies / sizeof *copies);
}

static void takes_matrices(void **state)
{
    (void)state;
    check_taken(matrices, sizeof matrices / sizeof *matrices);
}

static void every_row_takes_something(void **state)
{
    (void)state;
    static const char *const names[] = {
#define PTX(id, ...) [WSDBG_PTX_OP_##id] = #id,
#include "ptx/instructions.def"
#undef PTX
    };
    for (unsigned operation = 1; operation < WSDBG_PTX_OPERATION_COUNT; operation++)
        if (!seen_taken[operation] && operation != WSDBG_PTX_OP_call) /* calls: call_test.c */
            fail_msg("no text of row %s", names[operation]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_arithmetic), cmocka_unit_test(takes_comparison),
        cmocka_unit_test(takes_moves),      cmocka_unit_test(takes_warp),
        cmocka_unit_test(takes_barriers),   cmocka_unit_test(takes_copies),
        cmocka_unit_test(takes_matrices),   cmocka_unit_test(every_row_takes_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
