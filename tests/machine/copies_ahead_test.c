/* copies_ahead_test.c - after which waits of a kernel in PTX copies may come whose bytes were announced before.  The
 * kernel fills "full" (0x400) behind its wait for "empty" (0x408), and may wait for "other" (0x410) in between.
 */
#include "ptx_walks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/look.h"

#define WAIT(label, place) \
    label ": mbarrier.try_wait.parity.shared::cta.b64 %p1, [bars+" place "], 0;\n@!%p1 bra " label ";\n"
#define ANNOUNCE(guard) guard "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 2048;\n"
#define COPY(guard) \
    guard "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [bars+32], [%d1], 2048, [bars];\n"
/* Three rounds. */
#define ROUNDS(body)                                                                   \
    KERNEL("mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p3, %r1, 0;\nmov.u32 %r0, 0;\n" GLOBAL( \
        "d1") "AGAIN:\n" body "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, 3;\n@%p0 bra AGAIN;\n")

static const struct row {
    const char *name;
    const char *text;
    const char *expected; /* the waits, by their places */
} rows[] = {
    {"the copy follows its announcement", ROUNDS(WAIT("EMPTY", "8") ANNOUNCE("") COPY("")), ""},
    {"a wait between them", ROUNDS(WAIT("EMPTY", "8") ANNOUNCE("") WAIT("OTHER", "16") COPY("")), "0x410"},
    {"the wait is before both", ROUNDS(WAIT("OTHER", "16") WAIT("EMPTY", "8") ANNOUNCE("") COPY("")), ""},
    {"the copy comes first", ROUNDS(WAIT("EMPTY", "8") COPY("") ANNOUNCE("")), ""},
    {"one thread does both", ROUNDS(WAIT("EMPTY", "8") ANNOUNCE("@%p3 ") COPY("@%p3 ")), ""},
    {"... with a wait between", ROUNDS(WAIT("EMPTY", "8") ANNOUNCE("@%p3 ") WAIT("OTHER", "16") COPY("@%p3 ")),
     "0x410"},
    {"another thread announces", ROUNDS(WAIT("EMPTY", "8") ANNOUNCE("@!%p3 ") COPY("@%p3 ")), "0x408"},
};

static bool constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    (void)context, (void)bank, (void)offset_bytes, (void)value;
    return false;
}

static void say_waits(const struct wsdbg_snapshot *s, const struct wsdbg_access *accesses, char *out, size_t room)
{
    out[0] = '\0';
    for (size_t i = 0; i < s->answer_count; i++) {
        const struct wsdbg_answer_row *answer = &s->answers[i];
        if (answer->is_bare && accesses[answer->arrival].kind == WSDBG_ACCESS_COPY)
            snprintf(out + strlen(out), room - strlen(out), "%s0x%x", *out ? " " : "",
                     (unsigned)accesses[answer->wait].address.base);
    }
}

static bool check(const struct row *row)
{
    struct ptx_walks ptx = ptx_walks_begin(row->text);
    const struct wsdbg_code_function function = {.graph = ptx.graph};
    struct wsdbg_code_kernel kernel = {.function = &function};
    struct wsdbg_look_grid grid = {.kernel = &kernel};
    struct wsdbg_snapshot snapshot = {.grid_count = 1};
    struct wsdbg_look_tables tables = {.out = &snapshot};
    const uint32_t first = 0;
    char said[256];
    assert_null(wsdbg_accesses_find(ptx.graph, &(struct wsdbg_launch_values){.constant = constant}, &kernel.accesses,
                                    &kernel.access_count));
    assert_null(wsdbg_look_answers(&(struct wsdbg_look_seen){.grids = &grid}, &first, &tables));
    say_waits(&snapshot, kernel.accesses, said, sizeof said);
    const bool is_right = strcmp(said, row->expected) == 0;
    if (!is_right)
        print_error("%s: \"%s\" instead of \"%s\"\n", row->name, said, row->expected);
    free(snapshot.answers);
    free(kernel.accesses);
    ptx_walks_end(&ptx);
    return is_right;
}

static void waits_between_an_announcement_and_its_copies_are_told(void **state)
{
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wrong += !check(&rows[i]);
    assert_int_equal(wrong, 0);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_between_an_announcement_and_its_copies_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
