/* memory.c - loads and stores of every type and length in every space, registers that are wider than what is loaded;
 * also addresses: cvta, isspacep, mapa, getctarank. */
#include "semantics/body.h"
#include "semantics/forms.h"

#include <stdlib.h>
#include <string.h>

enum { AREA = 128, LANES = 32, ELEMENTS_MOST = 8, LEAST_WIDTHS = 3 };

struct moving {
    struct semantics_body body;
    uint32_t scratch; /* in what the unit writes: AREA bytes for each thread */
};

/* Where the area of a space begins; each thread works 16 * (thread % 4) bytes behind. */
static const char *area_of(const struct wsdbg_ptx_instruction *instruction, bool is_written)
{
    switch (instruction->space) {
    case WSDBG_PTX_CONST:
        return "l24";
    case WSDBG_PTX_PARAM:
        return "l25";
    case WSDBG_PTX_LOCAL:
        return "l26";
    case WSDBG_PTX_SHARED:
    case WSDBG_PTX_SHARED_CLUSTER:
        return "l27";
    default:
        return is_written ? "l28" : "l29";
    }
}

/* Hints change nothing: some of each kind are enough, of those for global memory. */
static bool is_telling(const char *opcode)
{
    static const char *const hints[] = {"L1::", "L2::", ".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt"};
    if (strstr(opcode, "L2::evict") || (strstr(opcode, "volatile") && !strstr(opcode, "global")) ||
        (strstr(opcode, "L2::") && !strstr(opcode, "ld.global")))
        return false;
    if (strstr(opcode, "param::func") || strstr(opcode, "sys") || strstr(opcode, "cluster.") || strstr(opcode, "cta."))
        return semantics_digest(0, opcode, strlen(opcode)) % 8 == 0 && !strstr(opcode, "param::func");
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strstr(opcode, hints[i]))
            return semantics_digest(0, opcode, strlen(opcode)) % 8 == 0;
    return true;
}

static char letter(unsigned bytes)
{
    return bytes <= 2 ? 'h' : bytes == 8 ? 'l' : 'r';
}

static void spell_list(char *text, size_t room, char kind, unsigned count)
{
    size_t at = 0;
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%c%u%s",
                               count > 1 && i == 0 ? "{"
                               : i                 ? ", "
                                                   : "",
                               kind, i, count > 1 && i + 1 == count ? "}" : "");
}

static void visit_load(void *context, const struct semantics_form *form)
{
    struct moving *const moving = context;
    const unsigned count = form->instruction.vector_length;
    const unsigned least = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)form->instruction.type);
    const bool is_plain = form->instruction.type < WSDBG_PTX_F16;
    if (!is_telling(form->opcode))
        return;
    for (unsigned bytes = least < 2 ? 2 : least; bytes <= 8; bytes *= 2) {
        char name[400], list[100];
        if (bytes > least && bytes > 2 && !is_plain)
            continue;
        spell_list(list, sizeof list, letter(bytes), count);
        snprintf(name, sizeof name, "%s %s, [%s]%s", form->opcode, list, area_of(&form->instruction, false),
                 form->instruction.flags & WSDBG_PTX_CACHE_HINT ? ", %policy" : "");
        if (!semantics_body_case(&moving->body, name))
            continue;
        semantics_body_write(&moving->body, "%s;\n", name);
        for (unsigned i = 0; i < count; i++) {
            char part[16], from[16];
            snprintf(part, sizeof part, "%u", i);
            snprintf(from, sizeof from, "%c%u", letter(bytes), i);
            semantics_body_result(&moving->body, form->operation, name, part, from, bytes);
        }
    }
}

static void visit_store(void *context, const struct semantics_form *form)
{
    struct moving *const moving = context;
    const unsigned count = form->instruction.vector_length;
    const unsigned least = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)form->instruction.type);
    const char *const area = area_of(&form->instruction, true);
    const char *const space = strcmp(area, "l26") == 0 ? "local" : strcmp(area, "l27") == 0 ? "shared" : "global";
    const bool is_plain = form->instruction.type < WSDBG_PTX_F16;
    if (!is_telling(form->opcode) || strcmp(area, "l25") == 0)
        return;
    for (unsigned bytes = least < 2 ? 2 : least; bytes <= 8; bytes *= 2) {
        char name[400], list[100];
        if (bytes > least && bytes > 2 && !is_plain)
            continue;
        spell_list(list, sizeof list, letter(bytes), count);
        snprintf(name, sizeof name, "%s [%s], %s%s", form->opcode, area, list,
                 form->instruction.flags & WSDBG_PTX_CACHE_HINT ? ", %policy" : "");
        if (!semantics_body_case(&moving->body, name))
            continue;
        semantics_body_write(&moving->body, "mov.b64 l20, 0x5e5e5e5e5e5e5e5e;\n");
        for (unsigned i = 0; i < 32; i += 8)
            semantics_body_write(&moving->body, "st.%s.b64 [%s+%u], l20;\n", space, area, i);
        for (unsigned i = 0; i < count; i++)
            semantics_body_write(&moving->body, "ld.global.b%u %c%u, [%%i+%u];\n", bytes * 8, letter(bytes), i,
                                 i * LANES * 8);
        semantics_body_write(&moving->body, "%s;\n", name);
        for (unsigned i = 0; i < least * count; i += 8) {
            char part[16];
            snprintf(part, sizeof part, "at %u", i);
            semantics_body_write(&moving->body, "ld.%s.b64 l20, [%s+%u];\n", space, area, i);
            semantics_body_result(&moving->body, form->operation, name, part, "l20", 8);
        }
    }
}

static void begin(struct moving *moving, struct semantics_corpus *corpus, const char *row)
{
    uint64_t words[LANES * ELEMENTS_MOST];
    for (unsigned i = 0; i < LANES * ELEMENTS_MOST; i++)
        words[i] = semantics_any(9, i);
    semantics_body_begin(&moving->body, corpus, row, LANES);
    semantics_body_input(&moving->body, words, LANES * ELEMENTS_MOST);
    moving->scratch = (uint32_t)moving->body.unit->output_bytes;
    moving->body.unit->output_bytes += (size_t)AREA * LANES;
    semantics_body_write(&moving->body,
                         "and.b32 r0, %%t, 3;\nmul.wide.u32 l0, r0, 16;\nmul.wide.u32 l1, %%t, %u;\n"
                         "mov.u64 l24, fixed;\nadd.u64 l24, l24, l0;\nmov.u64 l25, map;\nadd.u64 l25, l25, l0;\n"
                         "mov.u64 l26, own;\nadd.u64 l26, l26, l0;\nmov.u64 l27, near;\nadd.u64 l27, l27, l1;\n"
                         "add.u64 l28, %%out, l1;\nadd.u64 l28, l28, %u;\nadd.u64 l29, %%in, l1;\n",
                         AREA / 2, moving->scratch);
    for (unsigned i = 0; i < AREA; i += 8) /* all threads have the same local bytes, and shared memory is filled */
        semantics_body_write(&moving->body, "ld.global.b64 l2, [%%in+%u];\nst.local.b64 [own+%u], l2;\n", i, i);
    for (unsigned i = 0; i < AREA / 2; i += 8)
        semantics_body_write(&moving->body, "ld.global.b64 l2, [l29+%u];\nst.shared.b64 [l27+%u], l2;\n", i, i);
}

/* ---- addresses: an answer that does not depend on where things lie ---- */

static void add_question(struct semantics_body *body, const char *row, const char *instruction, const char *before,
                         const char *after)
{
    char name[300];
    snprintf(name, sizeof name, "%s [%s]", instruction, before);
    if (!semantics_body_case(body, name))
        return;
    semantics_body_write(body, "%s;\n%s;\n%s\n", before, instruction, after);
    semantics_body_result(body, semantics_operation(row), name, "", "r10", 4);
}

static void add_addresses(struct semantics_corpus *corpus)
{
    static const char *const spaces[] = {"global", "shared", "shared::cta", "shared::cluster",
                                         "local",  "const",  "param",       "param::entry"};
    static const char *const places[] = {
        "mov.u64 l1, fixed; cvta.const.u64 l1, l1", "mov.u64 l1, near; cvta.shared.u64 l1, l1",
        "mov.u64 l1, own; cvta.local.u64 l1, l1",   "mov.u64 l1, %in",
        "mov.u64 l1, map; cvta.param.u64 l1, l1",   "mov.u64 l1, 0"};
    struct semantics_body body;
    char instruction[128], after[200];
    semantics_body_begin(&body, corpus, "addresses", LANES);
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            snprintf(instruction, sizeof instruction, "isspacep.%s p, l1", spaces[s]);
            add_question(&body, "isspacep", instruction, places[p], "selp.b32 r10, 1, 0, p;");
        }
    for (size_t s = 1; s < 5; s++) { /* there and back */
        snprintf(instruction, sizeof instruction, "cvta.%s.u64 l2, l1", spaces[s]);
        snprintf(after, sizeof after, "cvta.to.%s.u64 l3, l2;\nsetp.eq.u64 p, l1, l3;\nselp.b32 r10, 1, 0, p;",
                 spaces[s]);
        add_question(&body, "cvta", instruction, s == 4 ? "mov.u64 l1, own" : "mov.u64 l1, near", after);
    }
    add_question(&body, "mapa", "mapa.shared::cluster.u32 r1, %near, 0", "mov.b32 r2, %cluster_ctarank",
                 "mov.b32 r3, 77;\nst.shared.b32 [%near], r3;\nld.shared::cluster.b32 r10, [r1];");
    add_question(&body, "mapa", "mapa.u64 l1, l2, 0", "mov.u64 l2, near; cvta.shared.u64 l2, l2",
                 "mov.b32 r3, 78;\nst.shared.b32 [%near], r3;\nld.b32 r10, [l1];");
    add_question(&body, "getctarank", "getctarank.shared::cluster.u32 r10, %near", "mov.b32 r2, 0", "");
    add_question(&body, "getctarank", "getctarank.u64 r10, l2", "mov.u64 l2, near; cvta.shared.u64 l2, l2", "");
    semantics_body_end(&body);
}

void semantics_add_memory(struct semantics_corpus *corpus)
{
    static const struct {
        const char *row;
        semantics_form_visit visit;
    } rows[] = {{"ld", visit_load}, {"ldu", visit_load}, {"st", visit_store}};
    struct ptx_table *const table = semantics_table();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct moving moving;
        begin(&moving, corpus, rows[i].row);
        semantics_each_form(table, semantics_operation(rows[i].row), rows[i].visit, &moving);
        semantics_body_end(&moving.body);
    }
    add_addresses(corpus);
    free(table);
}
