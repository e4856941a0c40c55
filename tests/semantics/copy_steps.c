/* copy_steps.c - see copy_steps.h. */
#include "semantics/copy_steps.h"

enum { SPINS = 200000 };

void semantics_write_wait(struct semantics_body *body, unsigned label)
{
    semantics_body_write(body,
                         "mov.b32 r111, 0;\nwaiting%u:\nmbarrier.test_wait.parity.shared.b64 p, [r101], 0;\n"
                         "selp.b32 r110, 1, 0, p;\nadd.u32 r111, r111, 1;\nsetp.lt.u32 s, r111, %u;\n@p bra "
                         "come%u;\n@s bra waiting%u;\ncome%u:\n",
                         label, SPINS, label, label, label);
}

void semantics_write_copy(struct semantics_body *body, const char *copy, unsigned bytes, bool by_group)
{
    const unsigned label = body->labels++;
    semantics_body_write(body,
                         "mov.b32 r101, dynamic;\nadd.u32 r101, r101, %u;\nmov.b32 r110, 1;\nsetp.ne.u32 q, %%t, 0;\n"
                         "fence.proxy.async;\nbar.sync 0;\n@q bra copied%u;\n",
                         SEMANTICS_COPY_BARRIER, label);
    if (by_group) {
        semantics_body_write(body, "%s;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n", copy);
    } else {
        semantics_body_write(body,
                             "mbarrier.init.shared.b64 [r101], 1;\nfence.mbarrier_init.release.cluster;\n"
                             "fence.proxy.async;\nmbarrier.arrive.expect_tx.shared.b64 l21, [r101], %u;\n%s;\n",
                             bytes, copy);
        semantics_write_wait(body, label);
        semantics_body_write(body, "mbarrier.inval.shared.b64 [r101];\n");
    }
    semantics_body_write(body, "copied%u:\nbar.sync 0;\n", label);
}
