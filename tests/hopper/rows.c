/* rows.c - see rows.h. */
#include "hopper/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BEGIN                                                                                                    \
    PTX_HEAD                                                                                                     \
    ".visible .entry main(.param .u64 in, .param .u64 out)\n{\n"                                                 \
    ".reg .b16 ha, hb, hc, hd, he, hf;\n.reg .b32 a, b, c, d, e, f, lane;\n.reg .b64 A, B, C, D, E, F, at, to, " \
    "shift;\n"                                                                                                   \
    ".reg .pred p, q, r, s;\n"                                                                                   \
    "ld.param.u64 at, [in];\nld.param.u64 to, [out];\nmov.u32 lane, %laneid;\nmul.wide.u32 shift, lane, 32;\n"   \
    "add.u64 at, at, shift;\nld.global.u64 A, [at];\nld.global.u64 B, [at+8];\nld.global.u64 C, [at+16];\n"      \
    "ld.global.u32 a, [at];\nld.global.u32 b, [at+8];\nld.global.u32 c, [at+16];\n"                              \
    "ld.global.u16 ha, [at];\nld.global.u16 hb, [at+8];\nld.global.u16 hc, [at+16];\n"                           \
    "and.b32 d, c, 1;\nsetp.eq.u32 q, d, 1;\nmov.b32 d, 0;\nmov.b64 D, 0;\nmul.wide.u32 shift, lane, 8;\n"       \
    "add.u64 to, to, shift;\n"

static const char *const ends[] = {
    [ROW_32] = "st.global.u32 [to], d;\nret;\n}\n",
    [ROW_64] = "st.global.u64 [to], D;\nret;\n}\n",
    [ROW_16] = "st.global.u16 [to], hd;\nret;\n}\n",
    [ROW_PREDICATE] = "selp.u32 d, 1, 0, p;\nst.global.u32 [to], d;\nret;\n}\n",
};

static unsigned count_of(const struct row *row)
{
    static const struct row_case none;
    unsigned count = row->count ? row->count : ROW_CASES;
    while (!row->count && count > 1 && memcmp(&row->cases[count - 1], &none, sizeof none) == 0)
        count--;
    return count;
}

static void check(const struct row *row)
{
    char text[8192];
    snprintf(text, sizeof text, "%s%s\n%s", BEGIN, row->text, ends[row->result]);
    struct machine machine;
    machine_create(&machine, text, NULL);
    const unsigned count = count_of(row);
    for (unsigned i = 0; i < count; i++)
        memcpy((unsigned char *)(uintptr_t)machine.in + 32 * i, &row->cases[i], 24);
    machine_launch(&machine, 1, count);
    machine_finish(&machine);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t result = machine_word64(&machine, i);
        if (result != row->cases[i].expected)
            fail_msg("%s: of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ": 0x%" PRIx64 ", not 0x%" PRIx64, row->text,
                     row->cases[i].a, row->cases[i].b, row->cases[i].c, result, row->cases[i].expected);
    }
    machine_destroy(&machine);
}

void rows_check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(&rows[i]);
}
