/* matrices.c - wgmma, mma, ldmatrix, stmatrix: which elements meet, on small whole numbers (their sums are exact) and
 * on numbers that round.
 *
 * wgmma: shared memory is full of elements; descriptors of every swizzle, both majors, A also in registers.
 */
#include "semantics/body.h"
#include "semantics/forms.h"
#include "semantics/must.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384, SHARED = 98304, B_AT = 54272, THREADS = 128, WARP = 32, PATTERNS = 2 };
enum { WHOLE_NUMBERS, ROUNDING_NUMBERS };

/* ---- what is read: a block of elements for each type and pattern ---- */

struct element { /* how small numbers look */
    uint8_t type, bits, fraction_bits;
    uint64_t bias;
    uint64_t whole[9]; /* 0, 1, 2, 3, 4, -1, -2, -3, -4 */
};
static const struct element elements[] = {
    {WSDBG_PTX_F16, 16, 10, 15, {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0xbc00, 0xc000, 0xc200, 0xc400}},
    {WSDBG_PTX_BF16, 16, 7, 127, {0, 0x3f80, 0x4000, 0x4040, 0x4080, 0xbf80, 0xc000, 0xc040, 0xc080}},
    {WSDBG_PTX_TF32,
     32,
     23,
     127,
     {0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0xbf800000, 0xc0000000, 0xc0400000, 0xc0800000}},
    {WSDBG_PTX_E4M3, 8, 3, 7, {0, 0x38, 0x40, 0x44, 0x48, 0xb8, 0xc0, 0xc4, 0xc8}},
    {WSDBG_PTX_E5M2, 8, 2, 15, {0, 0x3c, 0x40, 0x42, 0x44, 0xbc, 0xc0, 0xc2, 0xc4}},
    {WSDBG_PTX_S8, 8, 0, 0, {0, 1, 2, 3, 4, 0xff, 0xfe, 0xfd, 0xfc}},
    {WSDBG_PTX_F64,
     64,
     52,
     1023,
     {0, 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000, 0x4010000000000000, 0xbff0000000000000,
      0xc000000000000000, 0xc008000000000000, 0xc010000000000000}},
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static unsigned element_of(unsigned type)
{
    for (unsigned i = 0; i < ELEMENTS; i++)
        if (elements[i].type == type)
            return i;
    return type == WSDBG_PTX_F32 ? 2 : 5; /* whole numbers of any size: bytes */
}

static uint64_t number(const struct element *element, unsigned pattern, uint64_t any)
{
    if (pattern == WHOLE_NUMBERS)
        return element->whole[any % 9];
    if (!element->bias)
        return any;
    const uint64_t exponent = element->bias - 3 + (any >> 8) % 6, fraction = any >> 12;
    return (any & 1) << (element->bits - 1) | exponent << element->fraction_bits |
           (fraction & ((1ull << element->fraction_bits) - 1));
}

static size_t block_of(unsigned type, unsigned pattern)
{
    return ((size_t)element_of(type) * PATTERNS + pattern) * BLOCK;
}

static uint64_t *make_blocks(size_t *words)
{
    *words = (size_t)ELEMENTS * PATTERNS * BLOCK / 8;
    unsigned char *const blocks = must_zeros(*words, 8);
    for (unsigned i = 0; i < ELEMENTS; i++)
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
            for (size_t at = 0; at < BLOCK; at += elements[i].bits / 8) {
                const uint64_t value = number(&elements[i], pattern, semantics_any(i * 2 + pattern + 100, at));
                memcpy(blocks + block_of(elements[i].type, pattern) + at, &value, elements[i].bits / 8);
            }
    return (uint64_t *)blocks;
}

struct matrices {
    struct semantics_body body;
    unsigned pattern;
};

static unsigned bits_of(unsigned type)
{
    return wsdbg_ptx_type_bits((enum wsdbg_ptx_type)type);
}

/* "{r8, r9}"; ends with NUL. */
static size_t spell_registers(char *text, size_t room, char kind, unsigned first, unsigned count)
{
    size_t at = 0;
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%c%u%s", i ? ", " : "{", kind, first + i,
                               i + 1 == count ? "}" : "");
    return at;
}

static void set_compare(struct matrices *matrices, unsigned type)
{
    struct semantics_unit *const unit = matrices->body.unit;
    struct semantics_case *const added = &unit->cases[unit->case_count - 1];
    if (matrices->pattern == WHOLE_NUMBERS || type == WSDBG_PTX_F64)
        return;
    added->compare = type == WSDBG_PTX_F16   ? SEMANTICS_F16_RELATIVE
                     : type == WSDBG_PTX_F32 ? SEMANTICS_F32_RELATIVE
                                             : SEMANTICS_BITS;
    added->tolerance = type == WSDBG_PTX_F16                                          ? 0x1p-10
                       : strstr(added->name, ".e4m3") || strstr(added->name, ".e5m2") ? 0x1p-12
                                                                                      : 0x1p-20;
}

static void add_registers(struct matrices *matrices, unsigned operation, const char *name, char kind, unsigned first,
                          unsigned count, unsigned type)
{
    for (unsigned i = 0; i < count; i++) {
        char part[16], from[16];
        snprintf(part, sizeof part, "d%u", i);
        snprintf(from, sizeof from, "%c%u", kind, first + i);
        semantics_body_result(&matrices->body, operation, name, part, from, kind == 'l' ? 8 : 4);
        set_compare(matrices, type);
    }
}

/* ---- mma ---- */

static void load_fragment(struct matrices *matrices, char kind, unsigned first, unsigned count, size_t place)
{
    const unsigned bytes = kind == 'l' ? 8 : 4;
    semantics_body_write(&matrices->body, "mul.wide.u32 l0, %%t, %u;\nadd.u64 l0, l0, %%in;\n", count * bytes);
    for (unsigned i = 0; i < count; i++)
        semantics_body_write(&matrices->body, "ld.global.b%u %c%u, [l0+%zu];\n", bytes * 8, kind, first + i,
                             place + i * bytes);
}

static void visit_mma(void *context, const struct semantics_form *form)
{
    struct matrices *const matrices = context;
    const struct wsdbg_ptx_instruction *const shape = &form->instruction;
    const char kind = shape->type == WSDBG_PTX_F64 ? 'l' : 'r';
    const unsigned lane_bits = WARP * (kind == 'l' ? 64 : 32);
    const unsigned a = shape->m * shape->k * bits_of(shape->source_type) / lane_bits;
    const unsigned b = shape->n * shape->k * bits_of(shape->third_type) / lane_bits;
    const unsigned d = shape->m * shape->n * bits_of(shape->type) / lane_bits;
    char text[640], name[660];
    if (a + b + 2 * d > 64 || !a || !b || !d)
        return;
    size_t at = (size_t)snprintf(text, sizeof text, "%s ", form->opcode);
    at += spell_registers(text + at, sizeof text - at, kind, 2, d);
    at += (size_t)snprintf(text + at, sizeof text - at, ", ");
    at += spell_registers(text + at, sizeof text - at, kind, 2 + d, a);
    at += (size_t)snprintf(text + at, sizeof text - at, ", ");
    at += spell_registers(text + at, sizeof text - at, kind, 2 + d + a, b);
    at += (size_t)snprintf(text + at, sizeof text - at, ", ");
    spell_registers(text + at, sizeof text - at, kind, 2 + d + a + b, d);
    snprintf(name, sizeof name, "%s%s", text, matrices->pattern == WHOLE_NUMBERS ? "" : " [rounding]");
    if (!semantics_body_case(&matrices->body, name))
        return;
    load_fragment(matrices, kind, 2 + d, a, block_of(shape->source_type, matrices->pattern));
    load_fragment(matrices, kind, 2 + d + a, b, block_of(shape->third_type, matrices->pattern) + 4096);
    load_fragment(matrices, kind, 2 + d + a + b, d, block_of(shape->type, matrices->pattern) + 8192);
    semantics_body_write(&matrices->body, "%s;\n", text);
    add_registers(matrices, form->operation, name, kind, 2, d, shape->type);
}

/* ---- ldmatrix and stmatrix ---- */

static void visit_matrix(void *context, const struct semantics_form *form)
{
    struct matrices *const matrices = context;
    const unsigned count = form->instruction.vector_length;
    const bool is_load = form->operation == WSDBG_PTX_OP_ldmatrix;
    const char *const address = form->instruction.space ? "r1" : "l2";
    char name[400], registers[100];
    spell_registers(registers, sizeof registers, 'r', 10, count);
    if (is_load)
        snprintf(name, sizeof name, "%s %s, [%s]", form->opcode, registers, address);
    else
        snprintf(name, sizeof name, "%s [%s], %s", form->opcode, address, registers);
    if (!semantics_body_case(&matrices->body, name))
        return;
    /* 4096 bytes of elements; the lanes' rows, 16 bytes each, in an order of their own */
    semantics_body_write(&matrices->body, "bar.warp.sync 0xffffffff;\nshl.b32 r0, %%t, 7;\nadd.u32 r0, r0, %%near;\n");
    for (unsigned i = 0; i < 128; i += 16)
        semantics_body_write(&matrices->body,
                             "mul.wide.u32 l0, %%t, 128;\nadd.u64 l0, l0, %%in;\nld.global.v4.b32 {r2, r3, r4, r5}, "
                             "[l0+%u];\nst.shared.v4.b32 [r0+%u], {r2, r3, r4, r5};\n",
                             i, i);
    load_fragment(matrices, 'r', 10, count, 8192);
    semantics_body_write(&matrices->body,
                         "bar.warp.sync 0xffffffff;\nmul.lo.u32 r1, %%t, 13;\nand.b32 r1, r1, 31;\n"
                         "mul.lo.u32 r1, r1, 112;\nadd.u32 r1, r1, %%near;\n"
                         "cvt.u64.u32 l2, r1;\ncvta.shared.u64 l2, l2;\n%s;\n"
                         "bar.warp.sync 0xffffffff;\n",
                         name);
    if (is_load) {
        add_registers(matrices, form->operation, name, 'r', 10, count, WSDBG_PTX_B32);
        return;
    }
    for (unsigned i = 0; i < 128; i += 8) {
        char part[16];
        snprintf(part, sizeof part, "at %u", i);
        semantics_body_write(&matrices->body, "ld.shared.b64 l1, [r0+%u];\n", i);
        semantics_body_result(&matrices->body, form->operation, name, part, "l1", 8);
    }
}

static void visit_transposition(void *context, const struct semantics_form *form)
{
    struct matrices *const matrices = context;
    char name[300];
    snprintf(name, sizeof name, "%s r2, r3", form->opcode);
    if (!semantics_body_case(&matrices->body, name))
        return;
    load_fragment(matrices, 'r', 3, 1, 0);
    semantics_body_write(&matrices->body, "%s;\n", name);
    add_registers(matrices, form->operation, name, 'r', 2, 1, WSDBG_PTX_B32);
}

/* ---- wgmma ---- */

struct product {
    const struct semantics_form *form;
    unsigned n, swizzle, leading, stride, base;
    bool a_in_registers, trans_a, trans_b, accumulates;
    int scale_a, scale_b;
};

static uint64_t descriptor(const struct product *product, uint32_t address)
{
    return (uint64_t)(address >> 4) | (uint64_t)(product->leading >> 4) << 16 | (uint64_t)(product->stride >> 4) << 32 |
           (uint64_t)product->base << 49 | (uint64_t)product->swizzle << 62;
}

static bool has_majors(const struct semantics_form *form)
{
    return bits_of(form->instruction.source_type) == 16;
}

static bool is_integer(unsigned type)
{
    return type == WSDBG_PTX_S8 || type == WSDBG_PTX_U8;
}

static void spell_product(const struct product *product, char *text, size_t room)
{
    const struct wsdbg_ptx_instruction *const shape = &product->form->instruction;
    const unsigned d = product->n * 64 * bits_of(shape->type) / 32 / THREADS;
    const char *const star = strchr(product->form->opcode, '*');
    size_t at = (size_t)snprintf(text, room, "%.*s%u%s ", (int)(star - product->form->opcode), product->form->opcode,
                                 product->n, star + 1);
    at += spell_registers(text + at, room - at, 'r', 100, d);
    at +=
        (size_t)snprintf(text + at, room - at, ", %s, l2, p", product->a_in_registers ? "{r10, r11, r12, r13}" : "l1");
    if (!is_integer(shape->source_type))
        at += (size_t)snprintf(text + at, room - at, ", %d, %d", product->scale_a, product->scale_b);
    if (has_majors(product->form) && !product->a_in_registers)
        at += (size_t)snprintf(text + at, room - at, ", %d", product->trans_a);
    if (has_majors(product->form))
        snprintf(text + at, room - at, ", %d", product->trans_b);
}

static void write_accumulators(struct matrices *matrices, unsigned count, unsigned type)
{
    semantics_body_write(&matrices->body, "mul.wide.u32 l0, %%t, 16;\nadd.u64 l0, l0, %%in;\n");
    for (unsigned i = 0; i < count; i++)
        semantics_body_write(&matrices->body, "ld.global.b32 r%u, [l0+%zu];\n", 100 + i,
                             block_of(type, matrices->pattern) + i * 36 + 8192);
}

static void add_product(struct matrices *matrices, const struct product *product)
{
    const struct wsdbg_ptx_instruction *const shape = &product->form->instruction;
    const unsigned d = product->n * 64 * bits_of(shape->type) / 32 / THREADS;
    char text[1000], name[1200];
    spell_product(product, text, sizeof text);
    snprintf(name, sizeof name, "%.*s%s [swizzle %u, leading %u, stride %u, base %u%s%s%s%s%s, scales %d %d]",
             (int)strcspn(text, " "), text, product->a_in_registers ? " a in registers" : "", product->swizzle,
             product->leading, product->stride, product->base, product->trans_a ? ", a transposed" : "",
             product->trans_b ? ", b transposed" : "", product->accumulates ? "" : ", d = 0",
             matrices->pattern == WHOLE_NUMBERS ? "" : ", rounding", "", product->scale_a, product->scale_b);
    if (!semantics_body_case(&matrices->body, name))
        return;
    write_accumulators(matrices, d, shape->type);
    load_fragment(matrices, 'r', 10, 4, block_of(shape->source_type, matrices->pattern) + 2048);
    semantics_body_write(&matrices->body,
                         "mov.b32 r0, dynamic;\nshr.u32 r0, r0, 4;\ncvt.u64.u32 l0, r0;\nadd.u64 l1, l0, 0x%llx;\n"
                         "add.u64 l2, l0, 0x%llx;\nsetp.%s.u32 p, 0, 0;\nwgmma.fence.sync.aligned;\n%s;\n"
                         "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
                         (unsigned long long)descriptor(product, 0), (unsigned long long)descriptor(product, B_AT),
                         product->accumulates ? "eq" : "ne", text);
    add_registers(matrices, product->form->operation, name, 'r', 100, d, shape->type);
}

static void fill_shared(struct matrices *matrices, size_t a, size_t b)
{
    matrices->body.unit->shared_bytes = SHARED;
    semantics_body_write(
        &matrices->body,
        "mov.b32 r1, dynamic;\nshl.b32 r2, %%t, 4;\nfilling:\nand.b32 r3, r2, %u;\nsetp.ge.u32 p, r2, 49152;\n"
        "selp.b32 r4, %zu, %zu, p;\nadd.u32 r3, r3, r4;\ncvt.u64.u32 l0, r3;\nadd.u64 l0, l0, %%in;\n"
        "ld.global.v4.b32 {r5, r6, r7, r8}, [l0];\nadd.u32 r3, r1, r2;\nst.shared.v4.b32 [r3], {r5, r6, r7, r8};\n"
        "add.u32 r2, r2, %u;\nsetp.lt.u32 p, r2, %u;\n@p bra filling;\nfence.proxy.async;\nbar.sync 0;\n",
        BLOCK - 1, b, a, THREADS * 16, SHARED);
}

static void add_products(struct matrices *matrices, const struct semantics_form *form)
{
    static const struct { /* none: core matrices anywhere; swizzled: rows of the atom one behind another */
        unsigned swizzle, leading, stride;
    } layouts[] = {{0, 1152, 256}, {1, 4096, 1024}, {2, 2048, 512}, {3, 1024, 256}, {1, 16, 2048}};
    struct product product = {.form = form, .n = 8, .accumulates = true, .scale_a = 1, .scale_b = 1};
    product.a_in_registers = form->slots[1].kind == PTX_SLOT_FRAGMENT;
    const unsigned majors = !has_majors(form) ? 1 : product.a_in_registers ? 2 : 4;
    /* which elements meet is seen with whole numbers */
    for (size_t i = 0; i < (matrices->pattern == WHOLE_NUMBERS ? sizeof layouts / sizeof *layouts : 0); i++)
        for (unsigned major = 0; major < majors; major++) {
            product.swizzle = layouts[i].swizzle;
            product.leading = layouts[i].leading;
            product.stride = layouts[i].stride;
            product.trans_b = major & 1;
            product.trans_a = major >> 1 & 1;
            add_product(matrices, &product);
        }
    product.trans_a = product.trans_b = false;
    product.n = matrices->pattern == WHOLE_NUMBERS ? 24 : 8;
    product.swizzle = 1, product.leading = 16, product.stride = 1024;
    add_product(matrices, &product);
    product.n = 8;
    product.accumulates = false;
    add_product(matrices, &product);
    product.accumulates = true;
    product.base = 1;
    add_product(matrices, &product);
    product.base = 0;
    if (is_integer(form->instruction.source_type))
        return;
    product.scale_a = -1;
    add_product(matrices, &product);
    product.scale_b = -1;
    add_product(matrices, &product);
}

struct products {
    struct semantics_corpus *corpus;
    const uint64_t *blocks;
    size_t words;
};

static void visit_wgmma(void *context, const struct semantics_form *form)
{
    const struct products *const products = context;
    if (!strchr(form->opcode, '*'))
        return;
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
        struct matrices matrices = {.pattern = pattern};
        char name[400];
        snprintf(name, sizeof name, "%s pattern %u", form->opcode, pattern);
        semantics_body_begin(&matrices.body, products->corpus, name, THREADS);
        semantics_body_input(&matrices.body, products->blocks, products->words);
        fill_shared(&matrices, block_of(form->instruction.source_type, pattern),
                    block_of(form->instruction.third_type, pattern));
        add_products(&matrices, form);
        semantics_body_end(&matrices.body);
    }
}

void semantics_add_matrices(struct semantics_corpus *corpus)
{
    static const struct {
        const char *row;
        semantics_form_visit visit;
        unsigned patterns;
    } rows[] = {{"mma", visit_mma, PATTERNS},
                {"ldmatrix", visit_matrix, 1},
                {"stmatrix", visit_matrix, 1},
                {"movmatrix", visit_transposition, 1}};
    struct ptx_table *const table = semantics_table();
    struct products products = {.corpus = corpus};
    uint64_t *const blocks = make_blocks(&products.words);
    products.blocks = blocks;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned pattern = 0; pattern < rows[i].patterns; pattern++) {
            struct matrices matrices = {.pattern = pattern};
            char name[64];
            snprintf(name, sizeof name, "%s pattern %u", rows[i].row, pattern);
            semantics_body_begin(&matrices.body, corpus, name, WARP);
            semantics_body_input(&matrices.body, blocks, products.words);
            semantics_each_form(table, semantics_operation(rows[i].row), rows[i].visit, &matrices);
            semantics_body_end(&matrices.body);
        }
    semantics_each_form(table, semantics_operation("wgmma_mma_async"), visit_wgmma, &products);
    free(blocks);
    free(table);
}
