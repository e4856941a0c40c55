/* decode.c - see decode.h.  Reads the 16 bytes of an instruction through the table of forms; writes plain data. */
#include "sass/decode.h"

#include <string.h>

#include "sass/decode_form.h"

#define WORD_BYTES 16

static unsigned load_bytes(const struct wsdbg_instruction *in)
{
    static const uint8_t bytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
    return bytes[bits(in, 73, 3)];
}

static unsigned atomic_bytes(const struct wsdbg_instruction *in)
{
    static const uint8_t bytes[] = {4, 4, 8, 8, 16, 16, 16, 16};
    /* F16x2, x4, x8, BF16x2, x4, x8, -, -, -, F32 flushing denormals, x2, x4, F32, x2, x4, F64 */
    static const uint8_t float_bytes[] = {4, 8, 16, 4, 8, 16, 16, 16, 16, 4, 8, 16, 4, 8, 16, 8};
    return wsdbg_is_float_atomic(in->words) ? float_bytes[bits(in, 73, 4)] : bytes[bits(in, 73, 3)];
}

unsigned wsdbg_matrix_columns(const struct wsdbg_instruction *in)
{
    const unsigned step = bits(in, 53, 5);
    if (in->operation == WSDBG_OP_HGMMA || in->operation == WSDBG_OP_QGMMA)
        return 8 * (step + 1);
    /* 8, 16, 24, 32, 48, 64, … */
    const unsigned index = in->operation == WSDBG_OP_IGMMA ? bits(in, 53, 6) / 3 : step;
    return index < 4 ? 8 * (index + 1) : index < 18 ? 16 * (index - 1) : 256;
}

/* Half precision: two columns in a register. */
static bool is_short_accumulator(const struct wsdbg_instruction *in)
{
    return (in->operation == WSDBG_OP_HGMMA || in->operation == WSDBG_OP_QGMMA) && !bit(in, 75);
}

static void describe_barrier(struct wsdbg_instruction *in)
{
    switch (in->operation) {
    case WSDBG_OP_SYNCS_PHASECHK:
        in->is_try_wait = bit(in, 72);
        break;
    case WSDBG_OP_SYNCS_ARRIVE:
        in->mode = (uint8_t)bits(in, 84, 3);
        in->is_drop = bit(in, 75);
        in->is_reduction = bits(in, 73, 2) == 2;
        in->is_no_complete = bits(in, 73, 2) == 1;
        break;
    case WSDBG_OP_BAR:
        in->mode = (uint8_t)bits(in, 77, 3);
        break;
    case WSDBG_OP_USETMAXREG:
        in->mode = (uint8_t)bits(in, 72, 2);
        break;
    case WSDBG_OP_WARPGROUP:
        in->mode = bit(in, 80) ? WSDBG_WARPGROUP_DEPBAR : WSDBG_WARPGROUP_ARRIVE;
        break;
    case WSDBG_OP_NANOSLEEP:
        in->is_try_wait = bit(in, 84);
        break;
    case WSDBG_OP_UTMALDG:
        in->writes_shared = true;
        in->is_multicast = bit(in, 75);
        break;
    case WSDBG_OP_STAS:
    case WSDBG_OP_REDAS:
        in->writes_shared = true;
        break;
    case WSDBG_OP_UBLKCP:
    case WSDBG_OP_UBLKRED:
        in->writes_shared = bit(in, 73);
        in->reads_shared = bit(in, 74);
        in->is_multicast = in->operation == WSDBG_OP_UBLKCP && bit(in, 75);
        break;
    default:
        break;
    }
}

static void describe_wgmma(struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    if (!(form->flags & FORM_WGMMA))
        return;
    in->table = (uint8_t)(wsdbg_matrix_columns(in) / (is_short_accumulator(in) ? 4 : 2));
    in->ends_group = bits(in, 84, 3) == 0;
}

/* Of what has a scope; see SCOPES in decode_name.c. */
static bool has_system_scope(const struct wsdbg_instruction *in)
{
    enum { STRONG_SYS = 10, MMIO_SYS = 12 };
    const uint32_t order = bits(in, 77, 4);
    return order == STRONG_SYS || order == MMIO_SYS;
}

static void describe_memory(struct wsdbg_instruction *in)
{
    if (wsdbg_operation_space(in->operation) == WSDBG_SPACE_NONE)
        return;
    const enum wsdbg_operation_class class = wsdbg_operation_class(in->operation);
    switch (class) {
    case WSDBG_CLASS_ASYNC_STORE:
        in->width_bytes = (uint8_t)(4u << bits(in, 73, 2));
        break;
    case WSDBG_CLASS_ATOMIC:
    case WSDBG_CLASS_REDUCTION:
    case WSDBG_CLASS_ASYNC_REDUCTION:
    case WSDBG_CLASS_MULTIMEM:
        in->width_bytes = (uint8_t)atomic_bytes(in);
        break;
    case WSDBG_CLASS_MATRIX:
        if (in->operation == WSDBG_OP_LDSM)
            in->width_bytes = (uint8_t)(4u << bits(in, 72, 2));
        break;
    default:
        in->width_bytes = (uint8_t)load_bytes(in);
        break;
    }
    in->is_system =
        (wsdbg_operation_is_global_access(in->operation) || class == WSDBG_CLASS_MULTIMEM) && has_system_scope(in);
}

static void describe_arithmetic(struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    in->is_signed = (form->flags & FORM_SIGN_72 && bit(in, 72)) || (form->flags & FORM_SIGN_73 && bit(in, 73));
    in->has_carry_in = form->flags & FORM_CARRY && bit(in, 74);
    in->is_wide = (form->flags & FORM_WIDE) != 0;
    in->is_high = (form->flags & FORM_HIGH) != 0;
    switch (in->operation) {
    case WSDBG_OP_LEA:
    case WSDBG_OP_ULEA:
        in->is_high = bit(in, 80);
        in->table = (uint8_t)bits(in, 75, 5);
        break;
    case WSDBG_OP_SHF:
    case WSDBG_OP_USHF: {
        const unsigned type = bits(in, 73, 2); /* S64, U64, S32, U32 */
        in->is_signed = (type & 1) == 0;
        in->is_wide = type < 2;
        in->is_right_shift = bit(in, 76);
        in->is_high = bit(in, 80);
        in->table = (uint8_t)bits(in, 32, 8);
        break;
    }
    case WSDBG_OP_LOP3:
    case WSDBG_OP_ULOP3:
        in->table = (uint8_t)bits(in, 72, 8);
        break;
    case WSDBG_OP_PLOP3:
    case WSDBG_OP_UPLOP3:
        in->table = (uint8_t)(bits(in, 72, 5) << 3 | bits(in, 64, 3));
        break;
    case WSDBG_OP_ISETP:
    case WSDBG_OP_UISETP:
        in->mode = (uint8_t)bits(in, 76, 3);
        break;
    case WSDBG_OP_FSETP:
        in->mode = (uint8_t)bits(in, 76, 4);
        break;
    case WSDBG_OP_CS2R:
        in->width_bytes = bit(in, 80) ? 8 : 4;
        break;
    case WSDBG_OP_SHFL:
        in->mode = (uint8_t)bits(in, 58, 2);
        break;
    case WSDBG_OP_MATCH:
        in->mode = bit(in, 79);
        in->width_bytes = bit(in, 73) ? 8 : 4;
        break;
    case WSDBG_OP_REDUX:
        in->mode = (uint8_t)bits(in, 78, 3);
        in->is_signed = bit(in, 73);
        break;
    case WSDBG_OP_VOTE:
    case WSDBG_OP_VOTEU:
        in->mode = (uint8_t)bits(in, 72, 2);
        break;
    default:
        break;
    }
}

static void read_target(struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    if (!(form->flags & (FORM_TARGET | FORM_TARGET_FAR)))
        return;
    const int64_t bytes = wsdbg_form_target_bytes(in->words, form);
    in->is_absolute = (form->flags & FORM_TARGET_ABSOLUTE) != 0;
    in->has_target = !(form->flags & FORM_TARGET_ADDED) && (in->operation != WSDBG_OP_WARPSYNC || bit(in, 86));
    in->target_offset_bytes = in->is_absolute ? bytes : (int64_t)((uint64_t)bytes + WORD_BYTES);
}

/* An opcode that several operations share tells them apart by more bits; the table holds those that ptxas emits. */
static bool is_known(const struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    switch (form->operation) {
    case WSDBG_OP_SYNCS_PHASECHK:
        return bits(in, 70, 2) == 1;
    case WSDBG_OP_SYNCS_ARRIVE:
        return bits(in, 70, 2) == 0;
    case WSDBG_OP_SYNCS_EXCH:
        return bits(in, 72, 2) == 1;
    case WSDBG_OP_SYNCS_CCTL:
        return !bit(in, 73);
    default:
        return true;
    }
}

static void decode(const struct wsdbg_form_index *index, const void *word, struct wsdbg_instruction *out)
{
    *out = (struct wsdbg_instruction){.guard = WSDBG_PT};
    memcpy(out->words, word, sizeof out->words);
    out->guard = (uint8_t)bits(out, 12, 3);
    out->guard_is_negated = bit(out, 15);
    const struct wsdbg_form *form = wsdbg_form_of(index, out->words);
    if (!form || !is_known(out, form))
        return;
    out->operation = form->operation;
    out->guard_is_uniform = (form->flags & (FORM_GUARD_UNIFORM | FORM_GUARD_ONLY_UNIFORM)) != 0;
    out->is_whole = !wsdbg_form_is_half(out->words, form);
    describe_barrier(out);
    describe_wgmma(out, form);
    describe_memory(out);
    describe_arithmetic(out, form);
    wsdbg_form_read_operands(out, form);
    read_target(out, form);
}

void wsdbg_decode(const void *word, struct wsdbg_instruction *out)
{
    decode(NULL, word, out);
}

void wsdbg_decode_all(const void *words, size_t count, struct wsdbg_instruction *out)
{
    struct wsdbg_form_index index;
    wsdbg_form_index_fill(&index);
    for (size_t i = 0; i < count; i++)
        decode(&index, (const char *)words + i * WORD_BYTES, &out[i]);
}
