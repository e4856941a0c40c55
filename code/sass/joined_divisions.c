/* joined_divisions.c - unsigned divisions by a power of two that a compiler writes out step by step: see joined_code.h.
 *
 * Reads: the graph of joined code.  Writes: the estimate of the quotient becomes a shift, its corrections become moves.
 *
 * A compiler that does not optimise divides by any constant as it divides by a variable: by way of a reciprocal in
 * floating point, which it corrects twice.
 *
 *     estimate = F2I(RCP(I2F(d)) + 0xffffffe);  reciprocal = estimate + (estimate * -(estimate * d) >> 32)
 *     q = reciprocal * x >> 32;  r = x - q * d;  twice: if (r >= d) { q++; r -= d; }
 *
 * With the exact quotient for q the corrections do nothing.  As a shift it tells which threads divide to what.
 */
#include "sass/definitions.h"
#include "sass/joined_code.h"
#include "sass/thread_float.h"

#include <string.h>

enum { LINES_MOST = 96 }; /* of one division, from the constant on */
enum { FLOAT_STEP = 0xffffffe };

/* What a register holds. */
enum tag {
    TAG_NONE,
    TAG_ZERO,
    TAG_DIVISOR,
    TAG_DIVISOR_FLOAT,
    TAG_RECIPROCAL_FLOAT,
    TAG_ESTIMATE_FLOAT,
    TAG_ESTIMATE,
    TAG_PRODUCT, /* estimate * d */
    TAG_ERROR,   /* -product */
    TAG_CORRECTION,
    TAG_RECIPROCAL,
    TAG_DIVIDEND,
    TAG_QUOTIENT,
    TAG_MULTIPLE, /* quotient * d */
    TAG_REMAINDER,
    TAG_NEVER, /* of a predicate: it is false; */
    TAG_ALWAYS /* ... true */
};

struct division {
    struct joined_code *code;
    unsigned bits; /* the divisor is 2 to the power of this */
    bool applies;  /* lines are changed; else it is only asked whether it is such a division */
    unsigned quotients, comparisons;
    uint32_t last; /* the last line that is changed */
    uint8_t tags[WSDBG_REGISTER_COUNT];
};

static enum tag tag_of(const struct division *division, const struct wsdbg_operand *operand)
{
    const unsigned reg = wsdbg_register_of(operand, 0);
    if (operand->kind == WSDBG_OPERAND_IMMEDIATE)
        return operand->value ? TAG_NONE : TAG_ZERO;
    if (operand->kind == WSDBG_OPERAND_REGISTER && operand->number == WSDBG_RZ)
        return TAG_ZERO;
    return reg < WSDBG_REGISTER_COUNT && !operand->is_inverted ? division->tags[reg] : TAG_NONE;
}

/* Whether two sources, in any order, have these tags and are not negated. */
static bool are_sources(const struct division *division, const struct wsdbg_instruction *in, enum tag one,
                        enum tag other)
{
    const enum tag a = tag_of(division, &in->sources[0]), b = tag_of(division, &in->sources[1]);
    return !in->sources[0].is_negated && !in->sources[1].is_negated &&
           ((a == one && b == other) || (a == other && b == one));
}

/* ---- what an instruction makes of tags ---- */

/* Of a sum of three the source that is not zero, if there are as many; `skip`: sources, a bit each, that do not count.
 */
static const struct wsdbg_operand *only_addend(const struct division *division, const struct wsdbg_instruction *in,
                                               unsigned skip)
{
    const struct wsdbg_operand *found = NULL;
    for (unsigned i = 0; i < 3; i++) {
        if (skip >> i & 1 || tag_of(division, &in->sources[i]) == TAG_ZERO)
            continue;
        if (found)
            return NULL;
        found = &in->sources[i];
    }
    return found;
}

static enum tag added(const struct division *division, const struct wsdbg_instruction *in, unsigned at)
{
    const struct wsdbg_operand *other = only_addend(division, in, 1u << at);
    const enum tag first = tag_of(division, &in->sources[at]), second = other ? tag_of(division, other) : TAG_NONE;
    const bool is_negated = other && other->is_negated;
    if (in->sources[at].is_negated)
        return first == TAG_PRODUCT && !only_addend(division, in, 1u << at) ? TAG_ERROR : TAG_NONE;
    if (first == TAG_RECIPROCAL_FLOAT && other && other->kind == WSDBG_OPERAND_IMMEDIATE && other->value == FLOAT_STEP)
        return TAG_ESTIMATE_FLOAT;
    if (first == TAG_ESTIMATE && second == TAG_CORRECTION && !is_negated)
        return TAG_RECIPROCAL;
    return first == TAG_DIVIDEND && second == TAG_MULTIPLE && is_negated ? TAG_REMAINDER : TAG_NONE;
}

static enum tag tag_of_sum(const struct division *division, const struct wsdbg_instruction *in)
{
    enum tag tag = TAG_NONE;
    if (in->has_carry_in || in->source_count != 3)
        return TAG_NONE;
    for (unsigned i = 0; i < 3 && tag == TAG_NONE; i++)
        tag = tag_of(division, &in->sources[i]) == TAG_ZERO ? TAG_NONE : added(division, in, i);
    return tag;
}

/* The source that a quotient is taken of; NULL = the instruction estimates none. */
static const struct wsdbg_operand *dividend_of(const struct division *division, const struct wsdbg_instruction *in)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct wsdbg_operand *other = &in->sources[1 - i];
        const enum tag tag = tag_of(division, other);
        if (tag_of(division, &in->sources[i]) == TAG_RECIPROCAL && other->kind == WSDBG_OPERAND_REGISTER &&
            !other->is_negated && (tag == TAG_NONE || tag == TAG_DIVIDEND))
            return other;
    }
    return NULL;
}

static enum tag tag_of_product(const struct division *division, const struct wsdbg_instruction *in)
{
    if (in->source_count != 3 || in->destination_count != 1 || in->is_wide || in->has_carry_in ||
        tag_of(division, &in->sources[2]) != TAG_ZERO)
        return TAG_NONE;
    if (!in->is_high)
        return are_sources(division, in, TAG_ESTIMATE, TAG_DIVISOR)   ? TAG_PRODUCT
               : are_sources(division, in, TAG_QUOTIENT, TAG_DIVISOR) ? TAG_MULTIPLE
                                                                      : TAG_NONE;
    if (in->is_signed)
        return TAG_NONE;
    if (are_sources(division, in, TAG_ESTIMATE, TAG_ERROR))
        return TAG_CORRECTION;
    return dividend_of(division, in) ? TAG_QUOTIENT : TAG_NONE;
}

static enum tag tag_of_float(const struct division *division, const struct wsdbg_instruction *in)
{
    struct wsdbg_operand sources[WSDBG_FLOAT_SOURCES_MOST];
    if (wsdbg_thread_float_sources(in, sources) != 1 || sources[0].registers > 1)
        return TAG_NONE;
    const enum tag tag = tag_of(division, &sources[0]);
    if (in->operation == WSDBG_OP_I2F && tag == TAG_DIVISOR)
        return TAG_DIVISOR_FLOAT;
    if (in->operation == WSDBG_OP_MUFU && tag == TAG_DIVISOR_FLOAT)
        return TAG_RECIPROCAL_FLOAT;
    return in->operation == WSDBG_OP_F2I && tag == TAG_ESTIMATE_FLOAT ? TAG_ESTIMATE : TAG_NONE;
}

/* The remainder is below the divisor, which is not 0. */
static enum tag tag_of_comparison(const struct division *division, const struct wsdbg_instruction *in)
{
    const enum tag a = tag_of(division, &in->sources[0]), b = tag_of(division, &in->sources[1]);
    const bool is_of_zero = (a == TAG_DIVISOR && b == TAG_ZERO) || (a == TAG_ZERO && b == TAG_DIVISOR);
    if (!joined_is_comparison(in) || in->sources[0].is_negated || in->sources[1].is_negated)
        return TAG_NONE;
    if (is_of_zero && in->mode == WSDBG_COMPARE_NE)
        return TAG_ALWAYS;
    if (is_of_zero)
        return in->mode == WSDBG_COMPARE_EQ ? TAG_NEVER : TAG_NONE;
    const bool is_below = (in->mode == WSDBG_COMPARE_GE && a == TAG_REMAINDER && b == TAG_DIVISOR) ||
                          (in->mode == WSDBG_COMPARE_LE && a == TAG_DIVISOR && b == TAG_REMAINDER);
    return is_below && !in->is_signed ? TAG_NEVER : TAG_NONE;
}

static enum tag tag_of_predicate(const struct division *division, const struct wsdbg_instruction *in)
{
    unsigned number;
    const enum joined_copied copied = joined_copies_itself(in, &number);
    const enum tag tag = copied == JOINED_NOT_COPIED ? TAG_NONE : division->tags[wsdbg_register_of(&in->sources[0], 0)];
    if (copied == JOINED_NEGATED && (tag == TAG_NEVER || tag == TAG_ALWAYS))
        return tag == TAG_NEVER ? TAG_ALWAYS : TAG_NEVER;
    return tag;
}

/* The source that a selection takes; -1 = that is not known. */
static int taken_by(const struct division *division, const struct wsdbg_instruction *in)
{
    const struct wsdbg_operand *condition = &in->sources[2];
    const unsigned reg = wsdbg_register_of(condition, 0);
    if (in->operation != WSDBG_OP_SEL || !in->is_whole || in->source_count != 3 ||
        condition->kind != WSDBG_OPERAND_PREDICATE || reg >= WSDBG_REGISTER_COUNT ||
        (division->tags[reg] != TAG_NEVER && division->tags[reg] != TAG_ALWAYS))
        return -1;
    return (division->tags[reg] == TAG_NEVER) != condition->is_negated;
}

static enum tag tag_of_result(const struct division *division, const struct wsdbg_instruction *in)
{
    switch (in->is_whole ? in->operation : WSDBG_OP_OTHER) {
    case WSDBG_OP_MOV:
    case WSDBG_OP_IABS: /* the divisor is positive, and so is what else has a tag there */
        return in->source_count == 1 && !in->sources[0].is_negated &&
                       (in->operation == WSDBG_OP_MOV || tag_of(division, &in->sources[0]) == TAG_DIVISOR)
                   ? tag_of(division, &in->sources[0])
                   : TAG_NONE;
    case WSDBG_OP_IADD3:
        return tag_of_sum(division, in);
    case WSDBG_OP_IMAD:
        return tag_of_product(division, in);
    case WSDBG_OP_ISETP:
        return tag_of_comparison(division, in);
    case WSDBG_OP_PLOP3:
        return tag_of_predicate(division, in);
    case WSDBG_OP_SEL:
        return taken_by(division, in) < 0 ? TAG_NONE : tag_of(division, &in->sources[taken_by(division, in)]);
    default:
        return tag_of_float(division, in);
    }
}

/* ---- what stands in its place ---- */

static void make_shift(struct wsdbg_instruction *in, struct wsdbg_operand dividend, unsigned bits)
{
    enum { OPCODE_OF_SHIFT = 0x819, UNSIGNED_TO_THE_RIGHT = 0x11600 };
    const struct wsdbg_operand zero = {.kind = WSDBG_OPERAND_REGISTER, .number = WSDBG_RZ, .registers = 1};
    *in = (struct wsdbg_instruction){
        .words = {OPCODE_OF_SHIFT, UNSIGNED_TO_THE_RIGHT},
        .operation = WSDBG_OP_SHF,
        .guard = WSDBG_PT,
        .destinations = {in->destinations[0]},
        .sources = {zero, {.kind = WSDBG_OPERAND_IMMEDIATE, .number = WSDBG_RZ, .value = bits}, dividend},
        .destination_count = 1,
        .source_count = 3,
        .is_whole = true,
        .is_high = true,
        .is_right_shift = true};
}

/* Whether a line is one of those that the shift makes needless, or becomes the shift. */
static bool is_changed(const struct division *division, const struct wsdbg_instruction *in, enum tag tag)
{
    return (tag == TAG_QUOTIENT && in->operation == WSDBG_OP_IMAD) || tag == TAG_NEVER || tag == TAG_ALWAYS ||
           taken_by(division, in) >= 0;
}

static void change(const struct division *division, struct wsdbg_instruction *in, enum tag tag)
{
    const int taken = taken_by(division, in);
    if (tag == TAG_NEVER || tag == TAG_ALWAYS) {
        joined_make_answer(in, tag == TAG_ALWAYS);
    } else if (taken < 0) {
        make_shift(in, *dividend_of(division, in), division->bits);
    } else {
        in->operation = WSDBG_OP_MOV;
        in->sources[0] = in->sources[taken];
        in->source_count = 1;
    }
}

/* ---- through a block ---- */

static void forget_written(struct division *division, const struct wsdbg_instruction *in)
{
    for (unsigned i = 0; i < in->destination_count; i++)
        for (unsigned part = 0; part == 0 || part < in->destinations[i].registers; part++) {
            const unsigned reg = wsdbg_register_of(&in->destinations[i], part);
            if (reg < WSDBG_REGISTER_COUNT)
                division->tags[reg] = TAG_NONE;
        }
}

static void pass_line(struct division *division, uint32_t line)
{
    struct wsdbg_instruction *in = &division->code->lines[line].instruction;
    const bool is_plain = wsdbg_flow_is_unguarded(in) && in->destination_count;
    const enum tag tag = is_plain ? tag_of_result(division, in) : TAG_NONE;
    const bool estimates = tag == TAG_QUOTIENT && in->operation == WSDBG_OP_IMAD;
    const unsigned dividend = estimates ? wsdbg_register_of(dividend_of(division, in), 0) : WSDBG_REGISTER_NONE;
    division->quotients += estimates;
    division->comparisons += tag == TAG_NEVER && in->operation == WSDBG_OP_ISETP && in->mode != WSDBG_COMPARE_EQ;
    if (is_plain && is_changed(division, in, tag)) {
        if (division->applies)
            change(division, in, tag);
        else
            division->last = line;
    }
    if (dividend < WSDBG_REGISTER_COUNT)
        division->tags[dividend] = TAG_DIVIDEND;
    forget_written(division, in);
    if (tag != TAG_NONE && wsdbg_register_of(&in->destinations[0], 0) < WSDBG_REGISTER_COUNT)
        division->tags[wsdbg_register_of(&in->destinations[0], 0)] = (uint8_t)tag;
}

/* From the line behind that of the constant to the end of the block. */
static void pass(struct division *division, const struct wsdbg_graph *graph, uint32_t line, bool applies)
{
    const struct wsdbg_operand *to = &division->code->lines[line].instruction.destinations[0];
    memset(division->tags, TAG_NONE, sizeof division->tags);
    division->tags[wsdbg_register_of(to, 0)] = TAG_DIVISOR;
    division->applies = applies;
    division->quotients = division->comparisons = 0;
    for (uint32_t i = line + 1;
         i < division->code->count && i < line + LINES_MOST && graph->block_of[i] == graph->block_of[line]; i++) {
        if (division->code->lines[i].instruction.operation == WSDBG_OP_OTHER)
            return;
        if (applies && division->quotients && i <= division->last)
            division->code->lines[i].is_inside = true;
        pass_line(division, i);
    }
}

/* Whether the line puts a power of two into a register. */
static bool is_constant(const struct wsdbg_instruction *in, unsigned *bits)
{
    const int64_t value = in->operation == WSDBG_OP_MOV && in->source_count == 1 ? in->sources[0].value : 0;
    if (value < 2 || value > INT32_MAX || value & (value - 1) || in->sources[0].kind != WSDBG_OPERAND_IMMEDIATE ||
        !in->is_whole || !wsdbg_flow_is_unguarded(in) || in->destination_count != 1 ||
        wsdbg_register_of(&in->destinations[0], 0) >= WSDBG_REGISTER_UNIFORM)
        return false;
    *bits = (unsigned)__builtin_ctzll((unsigned long long)value);
    return true;
}

void joined_make_shifts(struct joined_code *code, const struct wsdbg_graph *graph)
{
    enum { CORRECTIONS = 2 };
    for (uint32_t i = 0; i < code->count; i++) {
        struct division division = {.code = code};
        if (!is_constant(&code->lines[i].instruction, &division.bits))
            continue;
        pass(&division, graph, i, false);
        if (division.quotients == 1 && division.comparisons >= CORRECTIONS)
            pass(&division, graph, i, true);
    }
}
