/* atomics.c - atom and red: each operation and type, in global and shared memory, each thread on an address of its own;
 * what the memory had, what it has then. */
#include "semantics/body.h"
#include "semantics/forms.h"

#include <stdlib.h>
#include <string.h>

#include "semantics/values.h"

enum { SCRATCH = 16, ELEMENTS = 8 };

struct writing {
    struct semantics_body body;
    uint32_t scratch; /* in what the unit writes */
};

static char letter(unsigned bytes)
{
    return bytes == 2 ? 'h' : bytes == 8 ? 'l' : 'r';
}

/* {h1, h2} or h1. */
static void spell_vector(char *text, size_t room, char kind, unsigned first, unsigned count)
{
    size_t at = 0;
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%c%u%s",
                               count > 1 && i == 0 ? "{"
                               : i                 ? ", "
                                                   : "",
                               kind, first + i, count > 1 && i + 1 == count ? "}" : "");
}

static bool is_shared(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->space == WSDBG_PTX_SHARED || instruction->space == WSDBG_PTX_SHARED_CLUSTER;
}

static void spell(const struct semantics_form *form, unsigned bytes, char *instruction, size_t room)
{
    const unsigned count = form->instruction.vector_length;
    char result[80], operand[80];
    spell_vector(result, sizeof result, letter(bytes), 0, count);
    spell_vector(operand, sizeof operand, letter(bytes), count, count);
    const bool is_cas = form->instruction.variant == WSDBG_PTX_V_CAS;
    snprintf(instruction, room, "%s %s%s[%s], %s%s%s", form->opcode, form->operation == WSDBG_PTX_OP_atom ? result : "",
             form->operation == WSDBG_PTX_OP_atom ? ", " : "", is_shared(&form->instruction) ? "r200" : "l20", operand,
             is_cas ? (bytes == 2   ? ", h15"
                       : bytes == 4 ? ", r15"
                                    : ", l15")
                    : "",
             form->instruction.flags & WSDBG_PTX_CACHE_HINT ? ", %policy" : "");
}

/* Where the values of operand `position` of the form lie in what the unit reads. */
static size_t place_of(const struct semantics_form *form, unsigned position)
{
    return ((size_t)form->instruction.type * SEMANTICS_POSITIONS + position % SEMANTICS_POSITIONS) * SEMANTICS_TUPLES *
           8;
}

static void write_before(struct writing *writing, const struct semantics_form *form, unsigned bytes)
{
    const unsigned count = form->instruction.vector_length, bits = bytes * 8;
    const char *const to = is_shared(&form->instruction) ? "shared" : "global";
    const char *const address = is_shared(&form->instruction) ? "r200" : "l20";
    const bool is_cas = form->instruction.variant == WSDBG_PTX_V_CAS;
    for (unsigned i = 0; i < count; i++) {
        const char kind = letter(bytes);
        semantics_body_write(&writing->body, "ld.global.b%u %c%u, [%%i+%zu];\nst.%s.b%u [%s+%u], %c%u;\n", bits, kind,
                             i, place_of(form, i), to, bits, address, i * bytes, kind, i);
        semantics_body_write(&writing->body, "ld.global.b%u %c%u, [%%i+%zu];\n", bits, kind, count + i,
                             place_of(form, is_cas ? 2 : i + 1));
        if (is_cas) /* half of the threads compare with what is there */
            semantics_body_write(&writing->body,
                                 "and.b32 r201, %%t, 1;\nsetp.ne.b32 p, r201, 0;\n@p mov.b%u %c%u, %c0;\n"
                                 "ld.global.b%u %c15, [%%i+%zu];\n",
                                 bits, kind, count, kind, bits, kind, place_of(form, 1));
    }
}

static void add_result(struct writing *writing, const struct semantics_form *form, const char *name, const char *part,
                       unsigned element, unsigned bytes)
{
    char whole[32], from[16];
    struct semantics_unit *const unit = writing->body.unit;
    snprintf(whole, sizeof whole, "%s %u", part, element);
    snprintf(from, sizeof from, "%c%u", letter(bytes), element);
    semantics_body_result(&writing->body, form->operation, name, whole, from, bytes);
    struct semantics_case *const added = &unit->cases[unit->case_count - 1];
    added->digest = semantics_digest(0, added->name, strlen(added->name));
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t *const values =
            writing->body.corpus->values->of[form->instruction.type][(element + i) % SEMANTICS_POSITIONS];
        added->operands[added->operand_count++] = values;
        added->digest = semantics_digest(added->digest, values, SEMANTICS_TUPLES * sizeof *values);
    }
}

static void write_after(struct writing *writing, const struct semantics_form *form, const char *name, unsigned bytes)
{
    const unsigned count = form->instruction.vector_length;
    const char *const from = is_shared(&form->instruction) ? "shared" : "global";
    const char *const address = is_shared(&form->instruction) ? "r200" : "l20";
    for (unsigned i = 0; i < count && form->operation == WSDBG_PTX_OP_atom; i++)
        add_result(writing, form, name, "old", i, bytes);
    for (unsigned i = 0; i < count; i++) {
        semantics_body_write(&writing->body, "ld.%s.b%u %c%u, [%s+%u];\n", from, bytes * 8, letter(bytes), i, address,
                             i * bytes);
        add_result(writing, form, name, "new", i, bytes);
    }
}

static void visit(void *context, const struct semantics_form *form)
{
    struct writing *const writing = context;
    const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)form->instruction.type);
    char name[300];
    const bool is_plain = !(form->instruction.flags & (WSDBG_PTX_RELAXED | WSDBG_PTX_ACQUIRE | WSDBG_PTX_RELEASE)) &&
                          !strstr(form->opcode, ".gpu") && !strstr(form->opcode, ".cta.");
    /* orders and scopes change nothing that one thread sees: some of them */
    if (!is_plain && semantics_digest(0, form->opcode, strlen(form->opcode)) % 16)
        return;
    const bool takes_hint = !is_shared(&form->instruction) && form->instruction.variant != WSDBG_PTX_V_CAS;
    if ((form->instruction.flags & WSDBG_PTX_CACHE_HINT) && !takes_hint)
        return;
    spell(form, bytes, name, sizeof name);
    if (!semantics_body_case(&writing->body, name))
        return;
    write_before(writing, form, bytes);
    semantics_body_write(&writing->body, "%s;\n", name);
    write_after(writing, form, name, bytes);
}

static void add_row(struct semantics_corpus *corpus, const struct ptx_table *table, const char *row)
{
    struct writing writing;
    semantics_body_begin(&writing.body, corpus, row, SEMANTICS_TUPLES);
    struct semantics_unit *const unit = writing.body.unit;
    unit->input = (unsigned char *)corpus->values->of;
    unit->input_bytes = sizeof corpus->values->of;
    writing.body.input_digest = semantics_digest(0, unit->input, unit->input_bytes);
    writing.scratch = (uint32_t)unit->output_bytes;
    unit->output_bytes += (size_t)SCRATCH * SEMANTICS_TUPLES;
    semantics_body_write(&writing.body,
                         "mul.wide.u32 l20, %%t, %u;\nadd.u64 l20, l20, %%out;\nadd.u64 l20, l20, %u;\n"
                         "mul.lo.u32 r200, %%t, %u;\nadd.u32 r200, r200, %%near;\n",
                         SCRATCH, writing.scratch, SCRATCH);
    semantics_each_form(table, semantics_operation(row), visit, &writing);
    semantics_body_end(&writing.body);
}

void semantics_add_atomics(struct semantics_corpus *corpus)
{
    struct ptx_table *const table = semantics_table();
    add_row(corpus, table, "atom");
    add_row(corpus, table, "red");
    free(table);
}
