/* mbarriers.c - the word of an mbarrier after each of its operations (read back with mbarrier.inval), the tokens that
 * arrivals give, and what waits say.
 *
 * A sequence runs once for every number of its steps, each time on another barrier.  Its last step is the one tested.
 */
#include "semantics/body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 16 };

/* b: the barrier; d: a token of 64 bits; other steps as they are. */
static const char *const sequences[][STEPS_MOST] = {
    {"mbarrier.init.shared.b64 [b], 1", "mbarrier.arrive.shared.b64 d, [b]", "mbarrier.arrive.shared.b64 d, [b]"},
    {"mbarrier.init.shared.b64 [b], 2", "mbarrier.arrive.shared::cta.b64 d, [b], 2",
     "mbarrier.arrive.release.cta.shared.b64 d, [b], 1", "mbarrier.arrive.relaxed.cta.shared.b64 d, [b]"},
    {"mbarrier.init.shared.b64 [b], 256", "mbarrier.arrive.noComplete.shared.b64 d, [b], 255",
     "mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 0", "mbarrier.arrive.shared.b64 d, [b], 1"},
    {"mbarrier.init.shared.b64 [b], 1048575", "mbarrier.arrive.shared.b64 d, [b], 1048575",
     "mbarrier.arrive.noComplete.shared.b64 d, [b], 1048574", "mbarrier.arrive.shared.b64 d, [b]"},
    {"mbarrier.init.shared.b64 [b], 4", "mbarrier.arrive.shared.b64 d, [b]",
     "mbarrier.arrive.noComplete.shared.b64 d, [b], 2", "mbarrier.arrive.shared.b64 d, [b]",
     "mbarrier.arrive_drop.shared.b64 d, [b]", "mbarrier.arrive_drop.shared.b64 d, [b], 2",
     "mbarrier.arrive.shared.b64 d, [b]", "mbarrier.arrive.shared.b64 d, [b]"},
    {"mbarrier.init.shared.b64 [b], 4", "mbarrier.arrive_drop.noComplete.shared.b64 d, [b], 2",
     "mbarrier.arrive_drop.expect_tx.shared.b64 d, [b], 64", "mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 64",
     "mbarrier.arrive.shared.b64 d, [b], 1"},
    {"mbarrier.init.shared.b64 [b], 2", "mbarrier.expect_tx.relaxed.cta.shared.b64 [b], 16384",
     "mbarrier.expect_tx.relaxed.cta.shared.b64 [b], 16", "mbarrier.arrive.shared.b64 d, [b]",
     "mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 400", "mbarrier.arrive.shared.b64 d, [b]",
     "mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 15999", "mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 1"},
    {"mbarrier.init.shared.b64 [b], 2", "mbarrier.arrive.expect_tx.shared.b64 d, [b], 100",
     "mbarrier.arrive.shared.b64 d, [b]", "mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 100",
     "mbarrier.arrive.expect_tx.release.cta.shared.b64 d, [b], 1048575",
     "mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 1048575", "mbarrier.arrive.shared.b64 d, [b]"},
    {"mbarrier.init.shared.b64 [b], 2", "mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 100",
     "mbarrier.expect_tx.relaxed.cta.shared.b64 [b], 40", "mbarrier.arrive.shared.b64 d, [b]",
     "mbarrier.expect_tx.relaxed.cta.shared.b64 [b], 60", "mbarrier.arrive.shared.b64 d, [b]"},
    {"mbarrier.init.shared.b64 [b], 1", "mbarrier.expect_tx.relaxed.cta.shared.b64 [b], 0",
     "mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 0", "mbarrier.arrive.expect_tx.shared.b64 d, [b], 0"},
    {"mbarrier.init.shared.b64 [b], 3", "mbarrier.arrive.shared.b64 d, [b]", "mbarrier.init.shared.b64 [b], 5"},
    {"mbarrier.init.shared.b64 [b], 1", "cp.async.mbarrier.arrive.shared.b64 [b]",
     "cp.async.mbarrier.arrive.noinc.shared.b64 [b]"},
    {"mbarrier.init.shared.b64 [b], 3", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [b]",
     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [b], 2",
     "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [b], 32",
     "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [b], 32",
     "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [b]"},
};
enum { SEQUENCES = sizeof sequences / sizeof *sequences };

/* The step with the barrier's address and the token's register. */
static void spell(char *text, size_t room, const char *step)
{
    size_t at = 0;
    for (; *step && at + 8 < room; step++)
        if (strncmp(step, "[b]", 3) == 0) {
            at += (size_t)snprintf(text + at, room - at, "[r100]");
            step += 2;
        } else if (strncmp(step, " d, ", 4) == 0) {
            at += (size_t)snprintf(text + at, room - at, " l10, ");
            step += 3;
        } else {
            text[at++] = *step;
        }
    text[at] = 0;
}

static unsigned row_of(const struct ptx_table *table, const char *step)
{
    size_t length;
    return ptx_table_find(table, (struct ptx_slice){step, strcspn(step, " ")}, &length);
}

/* Waits on both parities and with the last token, before the word is read. */
static void write_questions(struct semantics_body *body, bool has_token)
{
    semantics_body_write(body, "nanosleep.u32 2000;\nmov.b32 r110, 0;\n"); /* asynchronous arrivals come */
    for (unsigned parity = 0; parity < 2; parity++)
        semantics_body_write(body,
                             "mbarrier.test_wait.parity.shared.b64 p, [r100], %u;\nselp.b32 r111, %u, 0, p;\n"
                             "or.b32 r110, r110, r111;\n"
                             "mbarrier.try_wait.parity.shared.b64 p, [r100], %u, 0;\nselp.b32 r111, %u, 0, p;\n"
                             "or.b32 r110, r110, r111;\n",
                             parity, 1u << parity, parity, 4u << parity);
    if (has_token)
        semantics_body_write(body, "mbarrier.test_wait.shared.b64 p, [r100], l10;\nselp.b32 r111, 16, 0, p;\n"
                                   "or.b32 r110, r110, r111;\nmbarrier.try_wait.shared.b64 p, [r100], l10, 0;\n"
                                   "selp.b32 r111, 32, 0, p;\nor.b32 r110, r110, r111;\n"
                                   "mbarrier.pending_count.b64 r112, l10;\n");
}

static void add_prefix(struct semantics_body *body, const struct ptx_table *table, unsigned number, unsigned steps,
                       unsigned place)
{
    const char *const *const sequence = sequences[number];
    const unsigned operation = row_of(table, sequence[steps - 1]);
    char name[300], text[200];
    bool has_token = false;
    snprintf(name, sizeof name, "mbarrier sequence %u step %u: %s", number, steps, sequence[steps - 1]);
    if (!semantics_body_case(body, name))
        return;
    semantics_body_write(body, "add.u32 r100, %%near, %u;\nmov.b64 l10, 0;\n", place * 8);
    for (unsigned i = 0; i < steps; i++) {
        has_token |= strstr(sequence[i], " d, ") != NULL;
        spell(text, sizeof text, sequence[i]);
        semantics_body_write(body, "%s;\n", text);
    }
    write_questions(body, has_token);
    semantics_body_write(body, "mbarrier.inval.shared.b64 [r100];\nld.shared.b64 l11, [r100];\n");
    semantics_body_result(body, operation, name, "word", "l11", 8);
    semantics_body_result(body, WSDBG_PTX_OP_mbarrier_test_wait, name, "waits", "r110", 4);
    if (has_token) /* only the upper half is written; the lower one is what the register had */
        semantics_body_write(body, "shr.u64 l12, l10, 32;\ncvt.u32.u64 r113, l12;\n");
    if (has_token)
        semantics_body_result(body, operation, name, "token's upper half", "r113", 4);
    if (has_token)
        semantics_body_result(body, WSDBG_PTX_OP_mbarrier_pending_count, name, "pending", "r112", 4);
}

void semantics_add_mbarriers(struct semantics_corpus *corpus)
{
    struct ptx_table *const table = semantics_table();
    for (unsigned i = 0; i < SEQUENCES; i++) {
        char name[64];
        snprintf(name, sizeof name, "mbarrier sequence %u", i);
        struct semantics_body body;
        semantics_body_begin(&body, corpus, name, 1);
        for (unsigned steps = 1; steps <= STEPS_MOST && sequences[i][steps - 1]; steps++)
            add_prefix(&body, table, i, steps, steps);
        semantics_body_end(&body);
    }
    free(table);
}
