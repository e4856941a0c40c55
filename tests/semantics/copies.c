/* copies.c - asynchronous copies, stores and reductions of bytes: what arrives, element by element. */
#include "semantics/copy_steps.h"
#include "semantics/forms.h"
#include "semantics/must.h"
#include "semantics/values.h"

#include <stdlib.h>
#include <string.h>

/* ---- bytes, and reductions of elements ---- */

enum { ELEMENTS = SEMANTICS_TUPLES, PACKED = ELEMENTS * 8 };

static size_t packed_of(unsigned type, unsigned position)
{
    return ((size_t)type * 2 + position) * PACKED;
}

/* The values of every type as arrays. */
static unsigned char *make_packed(const struct semantics_values *values, size_t *bytes)
{
    *bytes = (size_t)WSDBG_PTX_TYPE_COUNT * 2 * PACKED;
    unsigned char *const packed = must_zeros(*bytes, 1);
    for (unsigned type = 0; type < WSDBG_PTX_TYPE_COUNT; type++)
        for (unsigned position = 0; position < 2; position++)
            for (unsigned i = 0; i < ELEMENTS; i++) {
                const unsigned size = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)type);
                if (size && size <= 8)
                    memcpy(packed + packed_of(type, position) + i * size, &values->of[type][position][i], size);
            }
    return packed;
}

struct reducing {
    struct semantics_body body;
    uint32_t scratch;
};
struct bytes {
    struct semantics_corpus *corpus;
    unsigned char *packed;
    size_t byte_count;
};

static void add_elements(struct semantics_body *body, const struct semantics_form *form, const char *name,
                         const char *load, unsigned type)
{
    const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)type);
    const char *const into = bytes == 2 ? "h0" : bytes == 8 ? "l0" : "r0";
    semantics_body_write(body, "%s.b%u %s, [%s];\n", load, bytes * 8, into, strstr(load, "shared") ? "r102" : "l22");
    semantics_body_result(body, form->operation, name, "", into, bytes);
    struct semantics_case *const added = &body->unit->cases[body->unit->case_count - 1];
    for (unsigned i = 0; i < 2; i++)
        added->operands[added->operand_count++] = body->corpus->values->of[type][i];
    semantics_body_result(body, form->operation, name, "came", "r110", 4);
}

/* Puts array a where the copy goes, b where it comes from; each thread has its element at r102 or l22 of the
 * destination. */
static void write_arrays(struct reducing *reducing, unsigned type, bool to_shared, bool from_shared)
{
    struct semantics_body *const body = &reducing->body;
    const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)type);
    const char *const value = bytes == 2 ? "h1" : bytes == 8 ? "l1" : "r1";
    semantics_body_write(body,
                         "bar.sync 0;\nmul.wide.u32 l22, %%t, %u;\nadd.u64 l23, %%in, l22;\nadd.u64 l22, l22, %%out;\n"
                         "add.u64 l22, l22, %u;\nadd.u64 l20, %%out, %u;\nmul.lo.u32 r102, %%t, %u;\n"
                         "mov.b32 r100, dynamic;\nadd.u32 r103, r102, r100;\nadd.u32 r104, r103, %u;\n"
                         "add.u32 r105, r100, %u;\nmov.b32 r102, r103;\n",
                         bytes, reducing->scratch, reducing->scratch, bytes, PACKED, PACKED);
    semantics_body_write(body, "ld.global.b%u %s, [l23+%zu];\n", bytes * 8, value, packed_of(type, 0));
    semantics_body_write(body, "st.%s.b%u [%s], %s;\n", to_shared ? "shared" : "global", bytes * 8,
                         to_shared ? "r103" : "l22", value);
    if (!from_shared) {
        semantics_body_write(body, "add.u64 l20, %%in, %zu;\n", packed_of(type, 1));
        return;
    }
    semantics_body_write(body, "ld.global.b%u %s, [l23+%zu];\nst.shared.b%u [r104], %s;\n", bytes * 8, value,
                         packed_of(type, 1), bytes * 8, value);
}

/* A unit of its own: some of these the hardware refuses, with an error. */
static void visit_bytes(void *context, const struct semantics_form *form)
{
    const struct bytes *const bytes_of = context;
    struct reducing it, *const reducing = &it;
    const struct wsdbg_ptx_instruction *const instruction = &form->instruction;
    const bool to_shared = instruction->space != WSDBG_PTX_GLOBAL;
    const bool from_shared = instruction->source_space != WSDBG_PTX_GLOBAL;
    const unsigned type = form->operation == WSDBG_PTX_OP_bulk_copy ? WSDBG_PTX_B32 : instruction->type;
    const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)type) * ELEMENTS;
    char name[400];
    snprintf(name, sizeof name, "%s [%s], [%s], %u%s%s%s", form->opcode, to_shared ? "r100" : "l20",
             from_shared ? (to_shared ? "r105" : "r105") : "l20", bytes, to_shared ? ", [r101]" : "",
             instruction->flags & WSDBG_PTX_MULTICAST ? ", h15" : "",
             instruction->flags & WSDBG_PTX_CACHE_HINT ? ", %policy" : "");
    if (semantics_refusal(bytes_of->corpus, name))
        return;
    semantics_body_begin(&reducing->body, bytes_of->corpus, form->opcode, ELEMENTS);
    semantics_body_input(&reducing->body, (const uint64_t *)(const void *)bytes_of->packed, bytes_of->byte_count / 8);
    reducing->body.unit->shared_bytes = SEMANTICS_COPY_SHARED;
    reducing->scratch = (uint32_t)reducing->body.unit->output_bytes;
    reducing->body.unit->output_bytes += PACKED;
    semantics_body_case(&reducing->body, name);
    write_arrays(reducing, type, to_shared, from_shared);
    semantics_body_write(&reducing->body, "mov.b16 h15, 1;\n");
    semantics_write_copy(&reducing->body, name, bytes, !to_shared);
    add_elements(&reducing->body, form, name, to_shared ? "ld.shared" : "ld.global", type);
    semantics_body_end(&reducing->body);
}

static void add_bytes(struct semantics_corpus *corpus, const struct ptx_table *table)
{
    struct bytes bytes = {.corpus = corpus};
    bytes.packed = make_packed(corpus->values, &bytes.byte_count);
    semantics_each_form(table, WSDBG_PTX_OP_bulk_copy, visit_bytes, &bytes);
    semantics_each_form(table, WSDBG_PTX_OP_bulk_reduce, visit_bytes, &bytes);
    free(bytes.packed);
}

/* ---- cp.async ---- */

static void visit_small(void *context, const struct semantics_form *form)
{
    static const struct {
        unsigned size;
        const char *rest;
    } sizes[] = {{4, ""},    {8, ""},    {16, ""},    {16, ", 0"}, {16, ", 7"},
                 {4, ", 3"}, {8, ", 8"}, {16, ", q"}, {16, ", !q"}};
    struct semantics_body *const body = context;
    if (strstr(form->opcode, "L2::") && !strstr(form->opcode, "cache_hint.L2::128B"))
        return;
    const bool takes_predicate = form->slots[3].width == 'p';
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[300];
        if ((strstr(form->opcode, ".cg") && sizes[i].size != 16) ||
            (strchr(sizes[i].rest, 'q') != NULL) != takes_predicate)
            continue;
        snprintf(name, sizeof name, "%s [r100], [l20], %u%s%s", form->opcode, sizes[i].size, sizes[i].rest,
                 form->instruction.flags & WSDBG_PTX_CACHE_HINT ? ", %policy" : "");
        if (!semantics_body_case(body, name))
            continue;
        semantics_body_write(body,
                             "mul.wide.u32 l20, %%t, 16;\nadd.u64 l20, l20, %%in;\nshl.b32 r100, %%t, 4;\n"
                             "add.u32 r100, r100, %%near;\nmov.b64 l0, 0x5e5e5e5e5e5e5e5e;\n"
                             "st.shared.v2.b64 [r100], {l0, l0};\nand.b32 r0, %%t, 1;\nsetp.ne.b32 q, r0, 0;\n%s;\n"
                             "cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.v2.b64 {l1, l2}, [r100];\n",
                             name);
        semantics_body_result(body, form->operation, name, "low", "l1", 8);
        semantics_body_result(body, form->operation, name, "high", "l2", 8);
    }
}

static void add_small(struct semantics_corpus *corpus, const struct ptx_table *table)
{
    struct semantics_body body;
    semantics_body_begin(&body, corpus, "cp.async", 32);
    semantics_body_input(&body, corpus->values->of[WSDBG_PTX_B64][0], SEMANTICS_TUPLES);
    semantics_each_form(table, WSDBG_PTX_OP_cp_async, visit_small, &body);
    semantics_body_end(&body);
}

/* ---- st.async and red.async: every thread to an element of its own ---- */

static void visit_asynchronous(void *context, const struct semantics_form *form)
{
    struct reducing *const reducing = context;
    struct semantics_body *const body = &reducing->body;
    const unsigned type = form->instruction.type, count = form->instruction.vector_length;
    const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)type), label = body->labels++;
    const char kind = bytes == 8 ? 'l' : 'r';
    char name[400], list[64] = "";
    for (unsigned i = 0; i < count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%c%u%s",
                 i           ? ", "
                 : count > 1 ? "{"
                             : "",
                 kind, 5 + i, i + 1 == count && count > 1 ? "}" : "");
    const bool is_generic = form->instruction.space == WSDBG_PTX_GENERIC;
    snprintf(name, sizeof name, "%s [%s], %s, [%s]", form->opcode, is_generic ? "l26" : "r102", list,
             is_generic ? "l27" : "r101");
    if (!semantics_body_case(body, name))
        return;
    semantics_body_write(body,
                         "mov.b32 r100, dynamic;\nadd.u32 r101, r100, %u;\nshl.b32 r102, %%t, 4;\n"
                         "add.u32 r102, r102, r100;\nmul.wide.u32 l22, %%t, %u;\nadd.u64 l22, l22, %%in;\n"
                         "setp.eq.u32 q, %%t, 0;\n@q mbarrier.init.shared.b64 [r101], 1;\n"
                         "@q mbarrier.arrive.expect_tx.shared.b64 l21, [r101], %u;\n",
                         SEMANTICS_COPY_BARRIER, bytes, bytes * count * ELEMENTS);
    for (unsigned i = 0; i < count; i++)
        semantics_body_write(body,
                             "ld.global.b%u %c4, [l22+%zu];\nst.shared.b%u [r102+%u], %c4;\n"
                             "ld.global.b%u %c%u, [l22+%zu];\n",
                             bytes * 8, kind, packed_of(type, 0), bytes * 8, i * bytes, kind, bytes * 8, kind, 5 + i,
                             packed_of(type, (i + 1) % 2));
    semantics_body_write(body,
                         "cvt.u64.u32 l26, r102;\ncvta.shared.u64 l26, l26;\ncvt.u64.u32 l27, r101;\n"
                         "cvta.shared.u64 l27, l27;\nfence.mbarrier_init.release.cluster;\nbar.sync 0;\n%s;\n",
                         name);
    semantics_write_wait(body, label);
    semantics_body_write(body, "bar.sync 0;\n@q mbarrier.inval.shared.b64 [r101];\nbar.sync 0;\n");
    for (unsigned i = 0; i < count; i++) {
        char part[16];
        snprintf(part, sizeof part, "%u", i);
        semantics_body_write(body, "ld.shared.b%u %c4, [r102+%u];\n", bytes * 8, kind, i * bytes);
        semantics_body_result(body, form->operation, name, part, kind == 'l' ? "l4" : "r4", bytes);
    }
    semantics_body_result(body, form->operation, name, "came", "r110", 4);
}

static void add_asynchronous(struct semantics_corpus *corpus, const struct ptx_table *table)
{
    static const char *const rows[] = {"st_async", "red_async"};
    size_t bytes;
    unsigned char *const packed = make_packed(corpus->values, &bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reducing reducing;
        semantics_body_begin(&reducing.body, corpus, rows[i], ELEMENTS);
        semantics_body_input(&reducing.body, (const uint64_t *)(const void *)packed, bytes / 8);
        reducing.body.unit->shared_bytes = SEMANTICS_COPY_SHARED;
        semantics_each_form(table, semantics_operation(rows[i]), visit_asynchronous, &reducing);
        semantics_body_end(&reducing.body);
    }
    free(packed);
}

void semantics_add_copies(struct semantics_corpus *corpus)
{
    struct ptx_table *const table = semantics_table();
    add_small(corpus, table);
    add_bytes(corpus, table);
    add_asynchronous(corpus, table);
    free(table);
}
