/* body.c - see body.h. */
#include "semantics/body.h"

#include <stdarg.h>
#include <string.h>

#include "semantics/must.h"

enum { NAME_BYTES = 640 };

void semantics_body_begin(struct semantics_body *body, struct semantics_corpus *corpus, const char *name,
                          uint32_t threads)
{
    *body = (struct semantics_body){.corpus = corpus, .unit = semantics_add_unit(corpus, name)};
    body->unit->threads = threads;
    body->text = must(open_memstream(&body->bytes, &body->byte_count));
    fputs(".const .align 64 .b8 fixed[128] = {1, 2, 3, 0x84, 5, 6, 7, 0x88, 9, 0xaa, 11, 12, 13, 14, 15, 0xf0, 0x91};\n"
          ".extern .shared .align 1024 .b8 dynamic[];\n"
          ".func (.param .b32 d) twice(.param .b32 a)\n{\n.reg .b32 x;\nld.param.b32 x, [a];\nadd.u32 x, x, x;\n"
          "st.param.b32 [d], x;\nret;\n}\n"
          ".visible .entry main(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128])\n{\n"
          ".reg .pred p, q, s;\n.reg .b16 h<16>;\n.reg .b32 r<256>, %t, %lane, %near;\n"
          ".reg .b64 l<32>, %in, %out, %i, %o, %place, %policy;\n"
          ".shared .align 128 .b8 near[8192];\n.local .align 64 .b8 own[128];\n"
          "mov.u32 %t, %tid.x;\nmov.u32 %lane, %laneid;\nmov.u32 %near, near;\n"
          "mov.u32 r0, %ctaid.x;\nmov.u32 r1, %ntid.x;\nmad.lo.u32 r0, r0, r1, %t;\nmul.wide.u32 %place, r0, 8;\n"
          "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nadd.u64 %i, %in, %place;\nadd.u64 %o, %out, %place;\n"
          "createpolicy.fractional.L2::evict_normal.b64 %policy;\n",
          body->text);
}

void semantics_body_input(struct semantics_body *body, const uint64_t *words, size_t count)
{
    body->unit->input_bytes = count * sizeof *words;
    body->unit->input = must_zeros(count, sizeof *words);
    body->unit->owns_input = true;
    memcpy(body->unit->input, words, count * sizeof *words);
    body->input_digest = semantics_digest(0, words, count * sizeof *words);
}

bool semantics_body_case(struct semantics_body *body, const char *name)
{
    if (semantics_refusal(body->corpus, name) || semantics_has_case(body->unit, name))
        return false;
    fprintf(body->text, "// %s\n", name);
    body->case_digest = semantics_digest(body->input_digest, name, strlen(name));
    return true;
}

void semantics_body_write(struct semantics_body *body, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    must(length < 0 ? NULL : text);
    fputs(text, body->text);
    body->case_digest = semantics_digest(body->case_digest, text, (size_t)length);
    free(text);
}

void semantics_body_result(struct semantics_body *body, unsigned operation, const char *name, const char *part,
                           const char *from, unsigned bytes)
{
    char whole[NAME_BYTES];
    snprintf(whole, sizeof whole, "%s%s%s%s", name, *part ? " (" : "", part, *part ? ")" : "");
    struct semantics_case *const added =
        semantics_add_case(body->unit, operation, whole, body->unit->threads * body->unit->ctas, bytes);
    added->digest = semantics_digest(body->case_digest, whole, strlen(whole));
    fprintf(body->text, "st.global.b%u [%%o+%u], %s;\n", bytes * 8, added->offset, from);
}

void semantics_body_end(struct semantics_body *body)
{
    fputs("ret;\n}\n", body->text);
    fclose(body->text);
    body->unit->text = body->bytes;
}

struct ptx_table *semantics_table(void)
{
    struct ptx_table *table;
    struct wsdbg_error *const error = ptx_table_create(&table);
    if (error) {
        fprintf(stderr, "semantics: %s\n", wsdbg_error_message(error));
        exit(2);
    }
    return table;
}
