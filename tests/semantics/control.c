/* control.c - rows whose work is not a value: branches, calls, barriers, groups, fences, hints; and errors.  Each case
 * computes something that is right only if the instruction did its work.
 *
 * The result is r10 (32 bits); %near is shared memory.
 */
#include "semantics/body.h"
#include "semantics/forms.h"

#include <stdlib.h>
#include <string.h>

struct small {
    const char *row, *name, *text;
};

/* What one warp shows. */
static const struct small warp[] = {
    {"bra", "bra, divergent",
     "{\nsetp.lt.u32 p, %t, 5;\nmov.b32 r10, 1;\n@p bra on;\nmov.b32 r10, 2;\non:\n"
     "add.u32 r10, r10, 4;\n}"},
    {"bra", "bra, backwards, each lane its number of times",
     "{\nmov.b32 r10, 0;\nmov.b32 r1, 0;\nagain:\nadd.u32 r10, r10, 3;\nadd.u32 r1, r1, 1;\nsetp.le.u32 p, r1, %t;\n"
     "@p bra again;\n}"},
    {"bra", "bra.uni", "{\nmov.b32 r10, 1;\nbra.uni on;\nmov.b32 r10, 2;\non:\n}"},
    {"brx", "brx.idx",
     "{\nmov.b32 r10, 0;\nand.b32 r1, %t, 3;\ntargets: .branchtargets a, b, c, d;\nbrx.idx r1, targets;\n"
     "a:\nadd.u32 r10, r10, 1;\nb:\nadd.u32 r10, r10, 10;\nbra.uni d;\nc:\nadd.u32 r10, r10, 100;\nd:\n}"},
    {"call", "call.uni (d), twice, (a)",
     "{\n.param .b32 a;\n.param .b32 d;\nst.param.b32 [a], %t;\ncall.uni (d), twice, (a);\nld.param.b32 r10, [d];\n}"},
    {"ret", "call (d), twice, (a), some lanes",
     "{\n.param .b32 a;\n.param .b32 d;\nmov.b32 r10, 77;\nsetp.lt.u32 p, %t, 7;\n@!p bra on;\nst.param.b32 [a], %t;\n"
     "call (d), twice, (a);\nld.param.b32 r10, [d];\non:\n}"},
    {"nanosleep", "nanosleep.u32 1000", "nanosleep.u32 1000;\nmov.b32 r10, 1;"},
    {"bar_warp_sync", "bar.warp.sync, each lane reads what the next one wrote",
     "shl.b32 r0, %lane, 2;\nadd.u32 r0, r0, %near;\nmul.lo.u32 r1, %lane, 3;\nst.shared.b32 [r0], r1;\n"
     "bar.warp.sync 0xffffffff;\nadd.u32 r1, %lane, 1;\nand.b32 r1, r1, 31;\nshl.b32 r1, r1, 2;\nadd.u32 r1, r1, "
     "%near;\n"
     "ld.shared.b32 r10, [r1];\nbar.warp.sync 0xffffffff;"},
    {"cp_async_wait_group", "cp.async.wait_group 1 of two groups",
     "add.u64 l1, %i, 0;\nshl.b32 r0, %lane, 3;\nadd.u32 r0, r0, %near;\ncp.async.ca.shared.global [r0], [l1], 8;\n"
     "cp.async.commit_group;\ncp.async.ca.shared.global [r0+1024], [l1], 8;\ncp.async.commit_group;\n"
     "cp.async.wait_group 1;\nld.shared.b32 r10, [r0];\ncp.async.wait_group 0;"},
    {"cp_async_commit_group", "cp.async.commit_group, both groups",
     "add.u64 l1, %i, 0;\nshl.b32 r0, %lane, 3;\nadd.u32 r0, r0, %near;\ncp.async.ca.shared.global [r0], [l1], 8;\n"
     "cp.async.commit_group;\ncp.async.ca.shared.global [r0+1024], [l1], 4;\ncp.async.commit_group;\n"
     "cp.async.wait_group 0;\nld.shared.b32 r10, [r0+1024];"},
    {"cp_async_wait_all", "cp.async.wait_all",
     "shl.b32 r0, %lane, 3;\nadd.u32 r0, r0, %near;\ncp.async.ca.shared.global [r0], [%i], 8;\ncp.async.wait_all;\n"
     "ld.shared.b32 r10, [r0];"},
    {"bulk_commit_group", "cp.async.bulk.commit_group",
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nmov.b32 r10, 1;"},
    {"bulk_wait_group", "cp.async.bulk.wait_group.read",
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 3;\ncp.async.bulk.wait_group.read 0;\nmov.b32 r10, "
     "1;"},
    {"mbarrier_inval", "mbarrier.inval",
     "setp.eq.u32 p, %t, 0;\n@p mbarrier.init.shared.b64 [%near], 7;\n"
     "@p mbarrier.inval.shared.b64 [%near];\nbar.warp.sync 0xffffffff;\n"
     "ld.shared.b32 r10, [%near];"},
    {"mbarrier_try_wait", "mbarrier.try_wait.parity of a phase that is over, and of one that is not",
     "setp.eq.u32 p, %t, 0;\n@p mbarrier.init.shared.b64 [%near], 1;\nbar.warp.sync 0xffffffff;\n"
     "mbarrier.try_wait.parity.shared.b64 q, [%near], 1;\nselp.b32 r10, 1, 0, q;\n"
     "mbarrier.try_wait.parity.shared.b64 q, [%near], 0, 1000;\nselp.b32 r1, 2, 0, q;\nadd.u32 r10, r10, r1;\n"
     "bar.warp.sync 0xffffffff;\n@p mbarrier.inval.shared.b64 [%near];"},
    {"griddepcontrol_wait", "griddepcontrol.wait", "griddepcontrol.wait;\nmov.b32 r10, 1;"},
    {"griddepcontrol_launch_dependents", "griddepcontrol.launch_dependents",
     "griddepcontrol.launch_dependents;\nmov.b32 r10, 1;"},
    {"prefetch", "prefetch.global.L1", "prefetch.global.L1 [%in];\nmov.b32 r10, 1;"},
    {"prefetch", "prefetch.global.L2", "prefetch.global.L2 [%in];\nmov.b32 r10, 1;"},
    {"prefetch", "prefetch.global.L2::evict_last", "prefetch.global.L2::evict_last [%in];\nmov.b32 r10, 1;"},
    {"prefetchu", "prefetchu.L1", "prefetchu.L1 [%in];\nmov.b32 r10, 1;"},
    {"applypriority", "applypriority.global.L2::evict_normal",
     "applypriority.global.L2::evict_normal [%in], 128;\nld.global.b32 r10, [%i];"},
    {"discard", "discard.global.L2",
     "mov.u64 l1, %in;\nand.b64 l1, l1, 0xffffffffffffff80;\n"
     "add.u64 l1, l1, 1024;\ndiscard.global.L2 [l1], 128;\nld.global.b32 r10, [%i];"},
    {"createpolicy", "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64",
     "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 l1, 0.5;\n"
     "ld.global.L2::cache_hint.b32 r10, [%i], l1;"},
    {"createpolicy", "createpolicy.range.global.L2::evict_last.L2::evict_first.b64",
     "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 l1, [%in], 128, 256;\n"
     "ld.global.L2::cache_hint.b32 r10, [%i], l1;"},
    {"bulk_prefetch", "cp.async.bulk.prefetch.L2.global",
     "cp.async.bulk.prefetch.L2.global [%in], 256;\nld.global.b32 r10, [%i];"},
    {"pmevent", "pmevent 3", "pmevent 3;\nmov.b32 r10, 1;"},
    {"exit", "exit, lanes from 20 on", "mov.b32 r10, 5;\nsetp.ge.u32 p, %t, 20;\n@p exit;"}, /* the last one */
};

/* What 64 threads show. */
static const struct small pair[] = {
    {"bar_sync", "bar.sync 0, each thread reads what the one in the other warp wrote",
     "shl.b32 r0, %t, 2;\nadd.u32 r0, r0, %near;\nmul.lo.u32 r1, %t, 5;\nst.shared.b32 [r0], r1;\nbar.sync 0;\n"
     "xor.b32 r1, %t, 32;\nshl.b32 r1, r1, 2;\nadd.u32 r1, r1, %near;\nld.shared.b32 r10, [r1];\nbar.sync 0;"},
    {"bar_sync", "barrier.sync 3, 64, lane by lane",
     "shl.b32 r0, %t, 2;\nadd.u32 r0, r0, %near;\nmul.lo.u32 r1, %t, 7;\nst.shared.b32 [r0], r1;\n"
     "barrier.sync 3, 64;\nxor.b32 r1, %t, 32;\nshl.b32 r1, r1, 2;\nadd.u32 r1, r1, %near;\n"
     "ld.shared.b32 r10, [r1];\nbar.sync 0;"},
    {"bar_arrive", "bar.arrive 2, 64 of one warp, bar.sync 2, 64 of the other",
     "{\nshl.b32 r0, %t, 2;\nadd.u32 r0, r0, %near;\nadd.u32 r1, %t, 9;\nst.shared.b32 [r0], r1;\nmov.b32 r10, 3;\n"
     "setp.lt.u32 p, %t, 32;\n@!p bra other;\nbar.sync 2, 64;\nld.shared.b32 r10, [r0+128];\nbra.uni met;\nother:\n"
     "bar.arrive 2, 64;\nmet:\nbar.sync 0;\n}"},
    {"bar_red", "bar.red.popc.u32", "and.b32 r0, %t, 3;\nsetp.eq.u32 p, r0, 1;\nbar.red.popc.u32 r10, 0, p;"},
    {"bar_red", "bar.red.popc.u32, negated, 64 threads",
     "and.b32 r0, %t, 3;\nsetp.eq.u32 p, r0, 1;\nbar.red.popc.u32 r10, 1, 64, !p;"},
    {"bar_red", "bar.red.and.pred of all but one",
     "setp.ne.u32 p, %t, 40;\nbar.red.and.pred q, 0, p;\nselp.b32 r10, 1, 2, q;"},
    {"bar_red", "bar.red.and.pred of all", "setp.lt.u32 p, %t, 64;\nbar.red.and.pred q, 0, p;\nselp.b32 r10, 1, 2, q;"},
    {"bar_red", "bar.red.or.pred of one", "setp.eq.u32 p, %t, 40;\nbar.red.or.pred q, 0, p;\nselp.b32 r10, 1, 2, q;"},
    {"bar_red", "barrier.red.or.pred of none",
     "setp.gt.u32 p, %t, 64;\nbarrier.red.or.pred q, 5, 64, p;\nselp.b32 r10, 1, 2, q;"},
};

/* What two CTAs of 32 threads in a cluster show. */
static const struct small cluster[] = {
    {"barrier_cluster_arrive", "barrier.cluster.arrive, a value to the other CTA",
     "mov.u32 r0, %cluster_ctarank;\nxor.b32 r1, r0, 1;\nmapa.shared::cluster.u32 r2, %near, r1;\nshl.b32 r3, %t, 2;\n"
     "add.u32 r2, r2, r3;\nmul.lo.u32 r4, r0, 100;\nadd.u32 r4, r4, %t;\n"
     "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\nst.shared::cluster.b32 [r2], "
     "r4;\n"
     "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\nadd.u32 r3, r3, %near;\n"
     "ld.shared.b32 r10, [r3];"},
    {"barrier_cluster_wait", "barrier.cluster.wait, the other CTA's atomics",
     "mov.u32 r0, %cluster_ctarank;\nxor.b32 r1, r0, 1;\nmapa.shared::cluster.u32 r2, %near, r1;\nmov.b32 r3, 1000;\n"
     "setp.eq.u32 p, %t, 0;\nbar.warp.sync 0xffffffff;\n@p st.shared.b32 [%near], r3;\n"
     "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nred.shared::cluster.add.u32 [r2], %t;\n"
     "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nld.shared.b32 r10, [%near];"},
    {"getctarank", "getctarank.shared::cluster.u32 of the other CTA",
     "mov.u32 r0, %cluster_ctarank;\nxor.b32 r1, r0, 1;\nmapa.shared::cluster.u32 r2, %near, r1;\n"
     "getctarank.shared::cluster.u32 r10, r2;"},
    {"isspacep", "isspacep.shared::cta of the other CTA's memory",
     "mov.u32 r0, %cluster_ctarank;\nxor.b32 r1, r0, 1;\nmov.u64 l1, near;\ncvta.shared.u64 l1, l1;\n"
     "mapa.u64 l2, l1, r1;\nisspacep.shared::cta p, l2;\nselp.b32 r10, 1, 0, p;\nisspacep.shared::cluster p, l2;\n"
     "selp.b32 r1, 2, 0, p;\nadd.u32 r10, r10, r1;"},
    {"mbarrier_arrive", "mbarrier.arrive.shared::cluster of the other CTA's barrier",
     "mov.u32 r0, %cluster_ctarank;\nxor.b32 r1, r0, 1;\nmapa.shared::cluster.u32 r2, %near, r1;\n"
     "setp.eq.u32 p, %t, 0;\n@p mbarrier.init.shared.b64 [%near], 33;\nfence.mbarrier_init.release.cluster;\n"
     "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r2];\nbarrier.cluster.arrive.aligned;\n"
     "barrier.cluster.wait.aligned;\nmbarrier.test_wait.parity.shared.b64 q, [%near], 0;\nselp.b32 r10, 1, 0, q;\n"
     "@p mbarrier.arrive.shared.b64 l1, [%near];\nbar.warp.sync 0xffffffff;\n"
     "mbarrier.test_wait.parity.shared.b64 q, [%near], 0;\nselp.b32 r1, 2, 0, q;\nadd.u32 r10, r10, r1;\n"
     "bar.warp.sync 0xffffffff;\n@p mbarrier.inval.shared.b64 [%near];"},
};

/* What a warpgroup shows. */
static const struct small warpgroup[] = {
    {"wgmma_fence", "wgmma.fence", "wgmma.fence.sync.aligned;\nmov.b32 r10, 1;"},
    {"wgmma_commit_group", "wgmma.commit_group", "wgmma.commit_group.sync.aligned;\nmov.b32 r10, 1;"},
    {"wgmma_wait_group", "wgmma.wait_group",
     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\nwgmma.wait_group.sync.aligned 0;\n"
     "mov.b32 r10, 1;"},
};

/* Each ends its kernel with an error. */
static const struct small errors[] = {
    {"trap", "trap", "trap;\nmov.b32 r10, 1;"},
    {"ld", "ld.global.b32 at an address that is not aligned", "ld.global.b32 r10, [%in+2];"},
    {"ld", "ld.global.v4.b32 at an address that is not aligned",
     "ld.global.v4.b32 {r10, r11, r12, r13}, [%in+8];\nadd.u32 r10, r10, r11;\nadd.u32 r12, r12, r13;\n"
     "add.u32 r10, r10, r12;"},
    {"ld", "ld.global.b32 of nothing", "mov.u64 l1, 64;\nld.global.b32 r10, [l1];"},
    {"ld", "ld.shared.b32 beyond all shared memory", "ld.shared.b32 r10, [%near+1048576];"},
    {"ld", "ld.shared.b32 at an address that is not aligned", "ld.shared.b32 r10, [%near+2];"},
    {"st", "st.global.b32 of nothing", "mov.u64 l1, 64;\nst.global.b32 [l1], r1;"},
    {"atom", "atom.shared.add.u32 at an address that is not aligned", "atom.shared.add.u32 r10, [%near+2], 1;"},
    {"atom", "atom.global.add.u32 at an address that is not aligned", "atom.global.add.u32 r10, [%out+2], 1;"},
    {"mbarrier_arrive", "mbarrier.arrive with more than are missing",
     "setp.eq.u32 p, %t, 0;\n@p mbarrier.init.shared.b64 [%near], 2;\n@p mbarrier.arrive.shared.b64 l1, [%near], 3;\n"
     "nanosleep.u32 1000000;\n@p mbarrier.inval.shared.b64 [%near];\nld.shared.b64 l2, [%near];\n"
     "shr.u64 l3, l2, 32;\ncvt.u32.u64 r10, l3;"},
    {"mbarrier_arrive", "mbarrier.arrive on a phase that only misses bytes",
     "setp.eq.u32 p, %t, 0;\n@p mbarrier.init.shared.b64 [%near], 1;\n"
     "@p mbarrier.arrive.expect_tx.shared.b64 l1, [%near], 64;\n@p mbarrier.arrive.shared.b64 l1, [%near];\n"
     "nanosleep.u32 1000000;\n@p mbarrier.inval.shared.b64 [%near];\nld.shared.b64 l2, [%near];\n"
     "shr.u64 l3, l2, 32;\ncvt.u32.u64 r10, l3;"},
    {"mbarrier_arrive_drop", "mbarrier.arrive_drop on a phase that only misses bytes",
     "setp.eq.u32 p, %t, 0;\n@p mbarrier.init.shared.b64 [%near], 2;\n"
     "@p mbarrier.arrive.expect_tx.shared.b64 l1, [%near], 64;\n@p mbarrier.arrive.shared.b64 l1, [%near];\n"
     "@p mbarrier.arrive_drop.shared.b64 l1, [%near];\nnanosleep.u32 1000000;\nmov.b32 r10, 1;"},
    {"mbarrier_expect_tx", "mbarrier.expect_tx beyond 2^20 - 1 bytes in all",
     "setp.eq.u32 p, %t, 0;\n@p mbarrier.init.shared.b64 [%near], 1;\nmov.b32 r1, 1048575;\n"
     "@p mbarrier.expect_tx.relaxed.cta.shared.b64 [%near], r1;\n"
     "@p mbarrier.expect_tx.relaxed.cta.shared.b64 [%near], r1;\nnanosleep.u32 1000000;\n"
     "@p mbarrier.inval.shared.b64 [%near];\nld.shared.b64 l2, [%near];\nshr.u64 l3, l2, 21;\n"
     "cvt.u32.u64 r10, l3;"},
    {"mbarrier_expect_tx", "mbarrier.expect_tx of 2^20 bytes",
     "setp.eq.u32 p, %t, 0;\n@p mbarrier.init.shared.b64 [%near], 1;\nmov.b32 r1, 1048576;\n"
     "@p mbarrier.expect_tx.relaxed.cta.shared.b64 [%near], r1;\nnanosleep.u32 1000000;\n"
     "@p mbarrier.inval.shared.b64 [%near];\nld.shared.b64 l2, [%near];\nshr.u64 l3, l2, 21;\n"
     "cvt.u32.u64 r10, l3;"},
    {"mbarrier_complete_tx", "mbarrier.complete_tx beyond 2^20 - 1 bytes in all",
     "setp.eq.u32 p, %t, 0;\n@p mbarrier.init.shared.b64 [%near], 1;\nmov.b32 r1, 1048575;\n"
     "@p mbarrier.complete_tx.relaxed.cta.shared.b64 [%near], r1;\n"
     "@p mbarrier.complete_tx.relaxed.cta.shared.b64 [%near], r1;\nnanosleep.u32 1000000;\n"
     "@p mbarrier.inval.shared.b64 [%near];\nld.shared.b64 l2, [%near];\nshr.u64 l3, l2, 21;\n"
     "cvt.u32.u64 r10, l3;"},
    {"mbarrier_init", "mbarrier.init for 2^20 arrivals",
     "setp.eq.u32 p, %t, 0;\nmov.b32 r1, 1048576;\n@p mbarrier.init.shared.b64 [%near], r1;\n"
     "nanosleep.u32 1000000;\nmov.b32 r10, 1;"},
    {"mbarrier_init", "mbarrier.init at an address that is not aligned",
     "mbarrier.init.shared.b64 [%near+4], 2;\nnanosleep.u32 1000000;\nmov.b32 r10, 1;"},
    {"mbarrier_init", "mbarrier.init for 0 arrivals",
     "setp.eq.u32 p, %t, 0;\nmov.b32 r1, 0;\n@p mbarrier.init.shared.b64 [%near], r1;\n"
     "nanosleep.u32 1000000;\nmov.b32 r10, 1;"},
    {"bulk_copy", "cp.async.bulk of 24 bytes, which are not whole 16s",
     "setp.ne.u32 p, %t, 0;\n@p bra done;\nmov.b32 r1, 24;\nmbarrier.init.shared.b64 [%near], 1;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%near+128], [%in], r1, [%near];\n"
     "nanosleep.u32 100000;\ndone:\nbar.warp.sync 0xffffffff;\nshl.b32 r2, %t, 2;\nadd.u32 r2, r2, %near;\n"
     "setp.eq.u32 p, %t, 0;\n@p mbarrier.inval.shared.b64 [%near];\nbar.warp.sync 0xffffffff;\n"
     "setp.lt.u32 p, %t, 2;\nsetp.ge.and.u32 q, %t, 32, p;\n@p ld.shared.b32 r10, [r2];\n"
     "@!p ld.shared.b32 r10, [r2+120];"},
    {"bulk_copy", "cp.async.bulk from an address that is not aligned",
     "setp.ne.u32 p, %t, 0;\n@p bra done;\nmbarrier.init.shared.b64 [%near], 1;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%near+128], [%in+8], 32, [%near];\n"
     "nanosleep.u32 100000;\ndone:\nmov.b32 r10, 1;"},
    {"bulk_copy", "cp.async.bulk from nothing",
     "setp.ne.u32 p, %t, 0;\n@p bra done;\nmov.u64 l1, 64;\nmbarrier.init.shared.b64 [%near], 1;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%near+128], [l1], 32, [%near];\n"
     "nanosleep.u32 100000;\ndone:\nmov.b32 r10, 1;"},
};

static void add_one(struct semantics_body *body, const struct small *small)
{
    if (!semantics_body_case(body, small->name))
        return;
    semantics_body_write(body, "%s\n", small->text);
    semantics_body_result(body, semantics_operation(small->row), small->name, "", "r10", 4);
}

static void add_input(struct semantics_body *body)
{
    uint64_t words[512];
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = semantics_any(11, i);
    semantics_body_input(body, words, sizeof words / sizeof *words);
}

static void add_unit(struct semantics_corpus *corpus, const char *name, const struct small *smalls, size_t count,
                     uint32_t threads, uint32_t ctas)
{
    struct semantics_body body;
    semantics_body_begin(&body, corpus, name, threads);
    add_input(&body);
    body.unit->ctas = ctas;
    body.unit->cluster = ctas > 1 ? ctas : 0;
    for (size_t i = 0; i < count; i++)
        add_one(&body, &smalls[i]);
    semantics_body_end(&body);
}

/* One thread sees nothing of an order: what it wrote is there. */
static void visit_fence(void *context, const struct semantics_form *form)
{
    struct semantics_body *const body = context;
    char name[300];
    snprintf(name, sizeof name, "%s%s", form->opcode, form->slot_count ? " [%out], 128" : "");
    if (!semantics_body_case(body, name))
        return;
    semantics_body_write(body, "add.u32 r1, %%t, 6;\nst.shared.b32 [%%near], r1;\n%s;\nld.shared.b32 r10, [%%near];\n",
                         name);
    semantics_body_result(body, form->operation, name, "", "r10", 4);
}

void semantics_add_control(struct semantics_corpus *corpus)
{
    struct ptx_table *const table = semantics_table();
    struct semantics_body body;
    add_unit(corpus, "control", warp, sizeof warp / sizeof *warp, 32, 1);
    add_unit(corpus, "barriers", pair, sizeof pair / sizeof *pair, 64, 1);
    add_unit(corpus, "cluster", cluster, sizeof cluster / sizeof *cluster, 32, 2);
    add_unit(corpus, "warpgroup", warpgroup, sizeof warpgroup / sizeof *warpgroup, 128, 1);
    semantics_body_begin(&body, corpus, "fences", 1);
    semantics_each_form(table, WSDBG_PTX_OP_membar, visit_fence, &body);
    semantics_each_form(table, WSDBG_PTX_OP_fence, visit_fence, &body);
    semantics_body_end(&body);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        char name[128];
        snprintf(name, sizeof name, "error: %s", errors[i].name);
        add_unit(corpus, name, &errors[i], 1, 32, 1);
    }
    free(table);
}
