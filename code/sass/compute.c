/* compute.c - see compute.h.  Pure functions. */
#include "sass/compute.h"

#include "sass/definitions.h"

enum { COMBINED_BY_AND, COMBINED_BY_OR }; /* how a comparison goes together with its third source */
enum special_register {
    SPECIAL_LANE = 0,
    SPECIAL_THREAD_X = 33,
    SPECIAL_THREAD_Z = 35,
    SPECIAL_CTA_RANK = 136, /* of the CTA in its cluster */
    SPECIAL_ZERO = 255,
};
enum { THREADS_MOST = 1024, LANES = 32 };
enum { HALVES_BIT = 73, RAISED_BIT = 76 }; /* of VIMNMX and VIADDMNMX: .U16x2 and .S16x2; .RELU */

typedef struct wsdbg_values operation_fn(const struct wsdbg_instruction *instruction,
                                         const struct wsdbg_values *source);

static bool is_constant_predicate(const struct wsdbg_operand *operand, bool *value)
{
    *value = !operand->is_negated;
    return wsdbg_is_predicate(operand) && operand->number == WSDBG_PT;
}

static struct wsdbg_values move(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    (void)instruction;
    return source[0];
}

/* From another lane: the same set, but no longer this lane's. */
static struct wsdbg_values shuffle(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    (void)instruction;
    return wsdbg_values_with_form(&source[0], WSDBG_FORM_OTHER);
}

static struct wsdbg_values add(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    struct wsdbg_values sum = wsdbg_values_sum(&source[0], &source[1]);
    if (instruction->operation != WSDBG_OP_VIADD)
        sum = wsdbg_values_sum(&sum, &source[2]);
    return sum;
}

static struct wsdbg_values multiply_add(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    uint32_t added;
    if (!instruction->is_high) {
        const struct wsdbg_values product = wsdbg_values_product(&source[0], &source[1]);
        return wsdbg_values_sum(&product, &source[2]);
    }
    /* What is added to the 64 bits is a pair of registers: only followed where that is RZ. */
    if (instruction->is_signed || !wsdbg_compute_is_number(&instruction->sources[2], &added))
        return wsdbg_values_any();
    return wsdbg_values_high_product(&source[0], &source[1]);
}

static struct wsdbg_values shift_add(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    uint32_t shift, high = 0;
    const unsigned last = instruction->source_count - 1u;
    if (!wsdbg_values_is_one(&source[last], &shift) || shift > 31)
        return wsdbg_values_any();
    if (instruction->is_high && (last != 3 || !wsdbg_values_is_one(&source[2], &high) || high))
        return wsdbg_values_any();
    const struct wsdbg_values shifted = instruction->is_high
                                            ? wsdbg_values_right(&source[0], 32 - shift, instruction->is_signed)
                                            : wsdbg_values_left(&source[0], shift);
    return wsdbg_values_sum(&shifted, &source[1]);
}

/* A funnel shift: only that of one register is followed. */
static struct wsdbg_values shift(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    uint32_t by, other;
    if (!wsdbg_values_is_one(&source[1], &by) || by > 31)
        return wsdbg_values_any();
    if (!instruction->is_right_shift && !instruction->is_high)
        return wsdbg_values_is_one(&source[2], &other) && !other ? wsdbg_values_left(&source[0], by)
                                                                 : wsdbg_values_any();
    if (instruction->is_right_shift && instruction->is_high)
        return wsdbg_values_is_one(&source[0], &other) && !other
                   ? wsdbg_values_right(&source[2], by, instruction->is_signed)
                   : wsdbg_values_any();
    return wsdbg_values_any();
}

static struct wsdbg_values logic(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    return wsdbg_values_logic(&source[0], &source[1], &source[2], instruction->table);
}

/* One of two values. */
static struct wsdbg_values either(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    (void)instruction;
    return wsdbg_values_union(&source[0], &source[1]);
}

/* The lesser of two values, or the greater: what of each is not beyond all of the other.  `third`: the source that says
 * which; PT = the lesser. */
static struct wsdbg_values extremum(const struct wsdbg_instruction *instruction, const struct wsdbg_values *a,
                                    const struct wsdbg_values *b, unsigned third)
{
    bool is_least;
    if (third >= instruction->source_count || !is_constant_predicate(&instruction->sources[third], &is_least))
        return wsdbg_values_union(a, b);
    const unsigned kept = WSDBG_VALUES_EQUAL | (is_least ? WSDBG_VALUES_LESS : WSDBG_VALUES_GREATER);
    const struct wsdbg_values of_a = wsdbg_values_filtered(a, kept, instruction->is_signed, b);
    const struct wsdbg_values of_b = wsdbg_values_filtered(b, kept, instruction->is_signed, a);
    return wsdbg_values_union(&of_a, &of_b);
}

static struct wsdbg_values pick(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    return extremum(instruction, &source[0], &source[1], 2);
}

bool wsdbg_compute_is_of_words(const struct wsdbg_instruction *instruction)
{
    return !(instruction->words[1] >> (HALVES_BIT - 64) & 1) && !(instruction->words[1] >> (RAISED_BIT - 64) & 1);
}

static struct wsdbg_values pick_word(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    return wsdbg_compute_is_of_words(instruction) ? pick(instruction, source) : wsdbg_values_any();
}

static struct wsdbg_values add_and_pick(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    const struct wsdbg_values sum = wsdbg_values_sum(&source[0], &source[1]);
    return wsdbg_compute_is_of_words(instruction) ? extremum(instruction, &sum, &source[2], 3) : wsdbg_values_any();
}

static struct wsdbg_values permute(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    uint32_t selector;
    (void)instruction;
    return wsdbg_values_is_one(&source[1], &selector) ? wsdbg_values_permuted(&source[0], selector, &source[2])
                                                      : wsdbg_values_any();
}

static struct wsdbg_values absolute(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    const struct wsdbg_values negative = wsdbg_values_negated(&source[0]);
    (void)instruction;
    return wsdbg_values_union(&source[0], &negative);
}

static struct wsdbg_values special(const struct wsdbg_instruction *instruction, const struct wsdbg_values *source)
{
    (void)source;
    return instruction->sources[0].kind == WSDBG_OPERAND_SPECIAL && instruction->sources[0].value == SPECIAL_ZERO
               ? wsdbg_values_one(0)
               : wsdbg_values_any();
}

/* `sources`: as many as it must have. */
static const struct {
    operation_fn *compute;
    uint8_t sources;
} followed[WSDBG_OP_COUNT] = {
    [WSDBG_OP_MOV] = {move, 1},          [WSDBG_OP_UMOV] = {move, 1},
    [WSDBG_OP_R2UR] = {move, 1},         [WSDBG_OP_LDC] = {move, 1},
    [WSDBG_OP_ULDC] = {move, 1},         [WSDBG_OP_SHFL] = {shuffle, 1},
    [WSDBG_OP_S2R] = {special, 1},       [WSDBG_OP_S2UR] = {special, 1},
    [WSDBG_OP_CS2R] = {special, 1},      [WSDBG_OP_IADD3] = {add, 3},
    [WSDBG_OP_UIADD3] = {add, 3},        [WSDBG_OP_VIADD] = {add, 2},
    [WSDBG_OP_IMAD] = {multiply_add, 3}, [WSDBG_OP_UIMAD] = {multiply_add, 3},
    [WSDBG_OP_LEA] = {shift_add, 3},     [WSDBG_OP_ULEA] = {shift_add, 3},
    [WSDBG_OP_SHF] = {shift, 3},         [WSDBG_OP_USHF] = {shift, 3},
    [WSDBG_OP_LOP3] = {logic, 3},        [WSDBG_OP_ULOP3] = {logic, 3},
    [WSDBG_OP_SEL] = {either, 2},        [WSDBG_OP_USEL] = {either, 2},
    [WSDBG_OP_PRMT] = {permute, 3},      [WSDBG_OP_UPRMT] = {permute, 3},
    [WSDBG_OP_IABS] = {absolute, 1},     [WSDBG_OP_IMNMX] = {pick, 2},
    [WSDBG_OP_VIMNMX] = {pick_word, 2},  [WSDBG_OP_VIADDMNMX] = {add_and_pick, 3},
};

bool wsdbg_compute_follows(const struct wsdbg_instruction *instruction)
{
    return instruction->operation < WSDBG_OP_COUNT && followed[instruction->operation].compute &&
           instruction->is_whole && !instruction->has_carry_in &&
           instruction->source_count >= followed[instruction->operation].sources;
}

unsigned wsdbg_compute_words_apart(const struct wsdbg_instruction *instruction)
{
    const unsigned count = instruction->destination_count;
    if (wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_LOAD)
        return count > 1 ? instruction->width_bytes / count / (unsigned)sizeof(uint32_t) : 0;
    return instruction->operation == WSDBG_OP_MOV && count > 1;
}

unsigned wsdbg_compute_part(const struct wsdbg_instruction *instruction, unsigned reg)
{
    const unsigned apart = wsdbg_compute_words_apart(instruction);
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const unsigned first = wsdbg_register_of(&instruction->destinations[i], 0);
        if (first < WSDBG_REGISTER_PREDICATE && reg >= first && reg - first < instruction->destinations[i].registers)
            return i * apart + reg - first;
    }
    return 0;
}

bool wsdbg_compute_is_narrow(const struct wsdbg_instruction *instruction)
{
    const unsigned count = instruction->destination_count;
    return count > 1 && instruction->width_bytes && instruction->width_bytes / count < sizeof(uint32_t);
}

struct wsdbg_values wsdbg_compute(const struct wsdbg_instruction *instruction, unsigned part,
                                  const struct wsdbg_values *sources)
{
    const uint8_t operation = instruction->operation;
    const bool is_load = wsdbg_operation_class(operation) == WSDBG_CLASS_LOAD;
    const bool is_narrow =
        is_load && ((instruction->width_bytes && instruction->width_bytes < 4) || wsdbg_compute_is_narrow(instruction));
    if ((part && !is_load && operation != WSDBG_OP_CS2R) || is_narrow)
        return wsdbg_values_any();
    return followed[operation].compute(instruction, sources);
}

struct wsdbg_values wsdbg_compute_special(const struct wsdbg_operand *operand)
{
    const struct wsdbg_values lanes = wsdbg_values_steps(0, 1, LANES);
    switch (operand->value) {
    case SPECIAL_LANE:
        return wsdbg_values_with_form(&lanes, WSDBG_FORM_LANE);
    case SPECIAL_CTA_RANK:
        return wsdbg_values_own_rank();
    case SPECIAL_ZERO:
        return wsdbg_values_one(0);
    default:
        return wsdbg_values_any();
    }
}

bool wsdbg_compute_is_thread(const struct wsdbg_operand *operand, unsigned *dimension)
{
    *dimension = (unsigned)(operand->value - SPECIAL_THREAD_X);
    return operand->value >= SPECIAL_THREAD_X && operand->value <= SPECIAL_THREAD_Z;
}

struct wsdbg_values wsdbg_compute_thread(unsigned dimension, const struct wsdbg_values *threads, uint32_t first,
                                         uint32_t count)
{
    uint32_t all;
    const bool is_known = wsdbg_values_is_one(threads, &all) && all && all <= THREADS_MOST;
    const struct wsdbg_values values =
        count ? wsdbg_values_steps(first, 1, count) : wsdbg_values_steps(0, 1, is_known ? all : THREADS_MOST);
    /* A warp is 32 threads in a row of x only where whole warps make up a row. */
    return !dimension && is_known && all % LANES == 0 ? wsdbg_values_with_form(&values, WSDBG_FORM_THREAD_X) : values;
}

struct wsdbg_values wsdbg_compute_modified(const struct wsdbg_operand *operand, const struct wsdbg_values *value)
{
    const struct wsdbg_values zero = wsdbg_values_one(0);
    if (operand->is_negated)
        return wsdbg_values_negated(value);
    return operand->is_inverted ? wsdbg_values_logic(value, &zero, &zero, 0x0f) : *value;
}

bool wsdbg_compute_is_number(const struct wsdbg_operand *operand, uint32_t *number)
{
    const bool is_zero = (operand->kind == WSDBG_OPERAND_REGISTER && operand->number == WSDBG_RZ) ||
                         (operand->kind == WSDBG_OPERAND_UNIFORM && operand->number == WSDBG_URZ);
    *number = is_zero ? 0 : (uint32_t)operand->value;
    return (is_zero || operand->kind == WSDBG_OPERAND_IMMEDIATE) && !operand->is_negated && !operand->is_inverted;
}

/* ---- predicates ---- */

bool wsdbg_compute_compares(const struct wsdbg_instruction *compare, const struct wsdbg_values sources[2], bool *holds)
{
    for (int outcome = 0; outcome < 2; outcome++) {
        const unsigned relations = wsdbg_compute_relations(compare, outcome, false);
        const struct wsdbg_values left = wsdbg_values_filtered(&sources[0], relations, compare->is_signed, &sources[1]);
        if (!relations || sources[0].kind == WSDBG_VALUES_NONE || sources[1].kind == WSDBG_VALUES_NONE)
            return false;
        if (left.kind != WSDBG_VALUES_NONE)
            continue;
        *holds = !outcome;
        return true;
    }
    return false;
}

unsigned wsdbg_compute_combined(const struct wsdbg_instruction *compare, unsigned compared, unsigned third)
{
    const unsigned combined = compare->words[1] >> 10 & 3, either = 2;
    const unsigned decisive = combined == COMBINED_BY_OR; /* this value on one side decides alone */
    if (combined != COMBINED_BY_AND && combined != COMBINED_BY_OR)
        return either;
    if (compared == decisive || third == decisive)
        return decisive;
    return compared == either || third == either ? either : !decisive;
}

bool wsdbg_compute_decides(const struct wsdbg_instruction *compare, unsigned reg, bool holds)
{
    const unsigned combined = compare->words[1] >> 10 & 3;
    bool constant;
    if ((compare->operation != WSDBG_OP_ISETP && compare->operation != WSDBG_OP_UISETP) || !compare->is_whole ||
        compare->source_count != 3 || !compare->destination_count ||
        wsdbg_register_of(&compare->destinations[0], 0) != reg ||
        (compare->destination_count > 1 && wsdbg_register_of(&compare->destinations[1], 0) == reg))
        return false;
    const bool is_constant = is_constant_predicate(&compare->sources[2], &constant);
    if (combined == COMBINED_BY_AND)
        return holds || (is_constant && constant);
    return combined == COMBINED_BY_OR && (!holds || (is_constant && !constant));
}

bool wsdbg_compute_third_decides(const struct wsdbg_instruction *compare, bool holds)
{
    const unsigned combined = compare->words[1] >> 10 & 3;
    return compare->is_whole && compare->source_count == 3 && combined == (holds ? COMBINED_BY_AND : COMBINED_BY_OR);
}

bool wsdbg_compute_table_decides(const struct wsdbg_instruction *logic, unsigned source, bool holds, bool *value)
{
    unsigned values = 0; /* 1: may be false, 2: may be true */
    for (unsigned row = 0; row < 8; row++) {
        bool is_possible = (logic->table >> row & 1) == holds;
        for (unsigned i = 0; i < 3 && i < logic->source_count; i++) {
            bool constant;
            if (is_constant_predicate(&logic->sources[i], &constant))
                is_possible &= (row >> (2 - i) & 1) == constant;
        }
        if (is_possible)
            values |= 1u << (row >> (2 - source) & 1);
    }
    *value = values == 2;
    return logic->is_whole && logic->source_count >= 3 && (values == 1 || values == 2);
}

unsigned wsdbg_compute_relations(const struct wsdbg_instruction *compare, bool holds, bool mirrored)
{
    static const uint8_t relations[] = {
        [WSDBG_COMPARE_LT] = WSDBG_VALUES_LESS,
        [WSDBG_COMPARE_EQ] = WSDBG_VALUES_EQUAL,
        [WSDBG_COMPARE_LE] = WSDBG_VALUES_LESS | WSDBG_VALUES_EQUAL,
        [WSDBG_COMPARE_GT] = WSDBG_VALUES_GREATER,
        [WSDBG_COMPARE_NE] = WSDBG_VALUES_LESS | WSDBG_VALUES_GREATER,
        [WSDBG_COMPARE_GE] = WSDBG_VALUES_GREATER | WSDBG_VALUES_EQUAL,
    };
    const unsigned all = WSDBG_VALUES_LESS | WSDBG_VALUES_EQUAL | WSDBG_VALUES_GREATER;
    unsigned of_mode = compare->mode < sizeof relations ? relations[compare->mode] : 0;
    if (of_mode && !holds)
        of_mode ^= all;
    if (!mirrored)
        return of_mode;
    return (of_mode & WSDBG_VALUES_EQUAL) | (of_mode & WSDBG_VALUES_LESS ? WSDBG_VALUES_GREATER : 0) |
           (of_mode & WSDBG_VALUES_GREATER ? WSDBG_VALUES_LESS : 0);
}

unsigned wsdbg_compute_selector(const struct wsdbg_instruction *instruction, unsigned source, bool *holds)
{
    const bool selects = instruction->operation == WSDBG_OP_SEL || instruction->operation == WSDBG_OP_USEL;
    if (!selects || instruction->source_count < 3 || source > 1)
        return WSDBG_REGISTER_NONE;
    *holds = (source == 0) != instruction->sources[2].is_negated;
    return wsdbg_register_of(&instruction->sources[2], 0);
}
