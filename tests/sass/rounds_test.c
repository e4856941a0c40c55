/* rounds_test.c - addresses that go round a ring with a quotient: which places they are found to take, and that none is
 * missing.  Random loops are executed, and each address at which they arrive must be in the set that was found.
 *
 * Code is written as instructions, their operands in nvdisasm's order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/access.h"
#include "sass/sums.h"

enum { POINTER, COUNTER, SHIFTED, PRODUCT, HIGH, QUOTIENT, ADDRESS, LOADED, REGISTERS };
enum { BASE = 0x400, LENGTH_MOST = 64, PROGRAMS = 4000, STEPS_MOST = 600, PARTS_MOST = 4 };

#define REGISTER(n)                                                   \
    (struct wsdbg_operand)                                            \
    {                                                                 \
        .kind = WSDBG_OPERAND_REGISTER, .number = (n), .registers = 1 \
    }
#define NUMBER(n)                                                     \
    (struct wsdbg_operand)                                            \
    {                                                                 \
        .kind = WSDBG_OPERAND_IMMEDIATE, .value = (n), .registers = 1 \
    }
#define PREDICATE(n)                                                   \
    (struct wsdbg_operand)                                             \
    {                                                                  \
        .kind = WSDBG_OPERAND_PREDICATE, .number = (n), .registers = 1 \
    }

struct program {
    struct wsdbg_instruction code[LENGTH_MOST];
    uint32_t count;
};

/* ---- code ---- */

static struct wsdbg_instruction *add(struct program *program, uint8_t operation, unsigned to, unsigned sources)
{
    struct wsdbg_instruction *in = &program->code[program->count++];
    *in = (struct wsdbg_instruction){.operation = operation,
                                     .guard = WSDBG_PT,
                                     .is_whole = true,
                                     .source_count = (uint8_t)sources,
                                     .destination_count = to < REGISTERS,
                                     .destinations = {REGISTER((uint16_t)to)}};
    return in;
}

static void move(struct program *program, unsigned to, int64_t number)
{
    add(program, WSDBG_OP_MOV, to, 1)->sources[0] = NUMBER(number);
}

static void add_number(struct program *program, unsigned to, unsigned from, int64_t number)
{
    struct wsdbg_instruction *in = add(program, WSDBG_OP_VIADD, to, 2);
    in->sources[0] = REGISTER((uint16_t)from);
    in->sources[1] = NUMBER(number);
}

static void multiply(struct program *program, unsigned to, unsigned from, int64_t factor, unsigned added)
{
    struct wsdbg_instruction *in = add(program, WSDBG_OP_IMAD, to, 3);
    in->sources[0] = REGISTER((uint16_t)from);
    in->sources[1] = NUMBER(factor);
    in->sources[2] = REGISTER((uint16_t)added);
    in->is_wide = to == PRODUCT;
    in->destinations[0].registers = in->is_wide ? 2 : 1;
}

static void shift_right(struct program *program, unsigned to, unsigned from, unsigned by)
{
    struct wsdbg_instruction *in = add(program, WSDBG_OP_SHF, to, 3);
    in->is_right_shift = in->is_high = true;
    in->sources[0] = REGISTER(WSDBG_RZ);
    in->sources[1] = NUMBER(by);
    in->sources[2] = REGISTER((uint16_t)from);
}

static void arrive(struct program *program, int64_t offset)
{
    struct wsdbg_instruction *in = add(program, WSDBG_OP_SYNCS_ARRIVE, REGISTERS, 1);
    in->mode = WSDBG_ARRIVE_A1T0;
    in->sources[0] = (struct wsdbg_operand){
        .kind = WSDBG_OPERAND_MEMORY, .number = ADDRESS, .uniform = WSDBG_URZ, .registers = 1, .value = offset};
}

/* Where a condition that nobody knows holds, so many instructions on from the branch. */
static void branch(struct program *program, int32_t instructions)
{
    struct wsdbg_instruction *in;
    add(program, WSDBG_OP_LDG, LOADED, 0);
    in = add(program, WSDBG_OP_ISETP, REGISTERS, 3);
    in->mode = WSDBG_COMPARE_LT;
    in->destination_count = 2;
    in->destinations[0] = PREDICATE(0);
    in->destinations[1] = PREDICATE(WSDBG_PT);
    in->sources[0] = REGISTER(LOADED);
    in->sources[1] = NUMBER(5);
    in->sources[2] = PREDICATE(WSDBG_PT);
    in = add(program, WSDBG_OP_BRA, REGISTERS, 0);
    in->guard = 0;
    in->has_target = true;
    in->target_offset_bytes = (int64_t)instructions * WSDBG_INSTRUCTION_BYTES;
}

/* A divisor, with its reciprocal and the shift behind that. */
static const struct {
    uint32_t divisor, reciprocal, shift;
} divisors[] = {{3, 0xaaaaaaab, 1}, {5, 0xcccccccd, 2}, {6, 0xaaaaaaab, 2}, {10, 0xcccccccd, 3}};

/* What a loop over a ring is made of, which is unrolled `parts` times. */
struct ring {
    unsigned by;                  /* in divisors */
    uint32_t parts, first, outer; /* outer: the loop is in another one */
    bool spins, skips;
};

/* address = pointer + 8 * part - 8 * d * ((counter + part) / d); pointer = base + 8 * counter in each round. */
static void write_part(struct program *program, const struct ring *ring, uint32_t part)
{
    const uint32_t divisor = divisors[ring->by].divisor;
    add_number(program, SHIFTED, COUNTER, part);
    multiply(program, PRODUCT, SHIFTED, divisors[ring->by].reciprocal, WSDBG_RZ);
    shift_right(program, QUOTIENT, HIGH, divisors[ring->by].shift);
    if (ring->spins)
        branch(program, -2);
    if (ring->skips)
        branch(program, 3);
    multiply(program, ADDRESS, QUOTIENT, -8 * (int64_t)divisor, POINTER);
    arrive(program, 8 * (int64_t)part);
}

static void write_ring(struct program *program, const struct ring *ring)
{
    program->count = 0;
    move(program, COUNTER, ring->first);
    move(program, POINTER, BASE + 8 * (int64_t)ring->first);
    const uint32_t loop = program->count;
    for (uint32_t part = 0; part < ring->parts; part++)
        write_part(program, ring, part);
    add_number(program, COUNTER, COUNTER, ring->parts);
    add_number(program, POINTER, POINTER, 8 * (int64_t)ring->parts);
    for (uint32_t i = 0; i <= ring->outer; i++)
        branch(program, (int32_t)loop - (int32_t)program->count - 2);
    add(program, WSDBG_OP_EXIT, REGISTERS, 0);
}

static struct wsdbg_access *find(const struct program *program, size_t *count)
{
    struct wsdbg_access *accesses;
    struct wsdbg_graph *graph;
    assert_null(wsdbg_graph_create_decoded(program->code, program->count, &graph));
    assert_null(wsdbg_accesses_find(graph, NULL, &accesses, count));
    wsdbg_graph_destroy(graph);
    return accesses;
}

/* ---- the places of rings ---- */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

static void expect_ring(const struct ring *ring)
{
    struct program program;
    size_t count;
    write_ring(&program, ring);
    struct wsdbg_access *accesses = find(&program, &count);
    const uint32_t divisor = divisors[ring->by].divisor, step = common_divisor(divisor, ring->parts);
    uint32_t part = 0;
    for (size_t i = 0; i < count; i++) {
        if (accesses[i].kind != WSDBG_ACCESS_ARRIVE)
            continue;
        const struct wsdbg_value_set *address = &accesses[i].address;
        assert_true(address->known);
        assert_int_equal(address->base, BASE + 8 * ((ring->first + part++) % step));
        assert_int_equal(address->stride, step == divisor ? 0 : 8 * step);
        assert_int_equal(address->count, divisor / step);
    }
    assert_int_equal(part, ring->parts);
    free(accesses);
}

/* Of a ring of three each part of a loop that is unrolled four times takes all stages; of one of six every second. */
static void a_loop_that_is_unrolled_goes_round_its_ring(void **state)
{
    (void)state;
    for (unsigned by = 0; by < sizeof divisors / sizeof *divisors; by++)
        for (uint32_t parts = 1; parts <= PARTS_MOST; parts++)
            for (uint32_t i = 0; i < 16; i++)
                expect_ring(&(struct ring){by, parts, i & 3, i >> 3 & 1, i >> 2 & 1, i & 1});
}

/* ---- random loops ---- */

static uint32_t next_random(uint32_t *random, uint32_t below)
{
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 8) % below;
}

/* Makes a number another one, or a register. */
static void change(struct program *program, uint32_t *random)
{
    struct wsdbg_instruction *in = &program->code[next_random(random, program->count)];
    struct wsdbg_operand *operand = &in->sources[in->source_count ? next_random(random, in->source_count) : 0];
    if (!in->source_count || in->operation == WSDBG_OP_ISETP)
        return;
    if (operand->kind == WSDBG_OPERAND_IMMEDIATE || operand->kind == WSDBG_OPERAND_MEMORY)
        operand->value += (int64_t)next_random(random, 5) - 2;
    else if (operand->number != WSDBG_RZ)
        operand->number = (uint16_t)next_random(random, REGISTERS);
}

struct thread {
    uint32_t value[REGISTERS], random;
    bool predicate;
};

static uint32_t read(const struct thread *thread, const struct wsdbg_operand *operand)
{
    if (operand->kind == WSDBG_OPERAND_IMMEDIATE)
        return (uint32_t)operand->value;
    return operand->number == WSDBG_RZ ? 0 : thread->value[operand->number];
}

static void execute(struct thread *thread, const struct wsdbg_instruction *in)
{
    uint32_t *to = &thread->value[in->destinations[0].number % REGISTERS];
    const uint32_t a = read(thread, &in->sources[0]), b = read(thread, &in->sources[1]);
    uint64_t product;
    switch (in->operation) {
    case WSDBG_OP_MOV:
        *to = a;
        break;
    case WSDBG_OP_VIADD:
        *to = a + b;
        break;
    case WSDBG_OP_SHF:
        *to = read(thread, &in->sources[2]) >> (b & 31);
        break;
    case WSDBG_OP_IMAD:
        product = (uint64_t)a * b + read(thread, &in->sources[2]);
        *to = (uint32_t)product;
        if (in->is_wide)
            to[1] = (uint32_t)(product >> 32);
        break;
    case WSDBG_OP_LDG:
        *to = next_random(&thread->random, 10);
        break;
    default:
        thread->predicate = thread->value[LOADED] < 5;
        break;
    }
}

/* A set without an end goes round all 32 bits. */
static bool has(const struct wsdbg_value_set *set, uint32_t number)
{
    const uint32_t from = (number - (uint32_t)set->base) & WSDBG_OFFSET_MASK;
    if (!set->known || (!set->count && set->stride & (set->stride - 1)))
        return true;
    return set->stride ? from % set->stride == 0 && (!set->count || from / set->stride < set->count) : from == 0;
}

static void expect_all_found(const struct program *program, uint32_t random)
{
    struct thread thread = {.random = random};
    const struct wsdbg_access *by_instruction[LENGTH_MOST] = {NULL};
    size_t count;
    struct wsdbg_access *accesses = find(program, &count);
    for (size_t i = 0; i < count; i++)
        by_instruction[accesses[i].instruction] = &accesses[i];
    uint32_t at = 0;
    for (uint32_t step = 0; step < STEPS_MOST && program->code[at].operation != WSDBG_OP_EXIT; step++) {
        const struct wsdbg_instruction *in = &program->code[at++];
        if (in->operation == WSDBG_OP_SYNCS_ARRIVE)
            assert_true(has(&by_instruction[at - 1]->address,
                            thread.value[in->sources[0].number] + (uint32_t)in->sources[0].value));
        else if (in->operation != WSDBG_OP_BRA)
            execute(&thread, in);
        else if (thread.predicate)
            at += (uint32_t)(in->target_offset_bytes / WSDBG_INSTRUCTION_BYTES) - 1;
    }
    free(accesses);
}

/* Most of these loops go round no ring; none of those that do may be found to take fewer places. */
static void no_place_is_missing(void **state)
{
    uint32_t random = 1;
    (void)state;
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        struct program program;
        write_ring(&program, &(struct ring){next_random(&random, sizeof divisors / sizeof *divisors),
                                            1 + next_random(&random, PARTS_MOST), next_random(&random, 4),
                                            next_random(&random, 2), next_random(&random, 2), next_random(&random, 2)});
        for (uint32_t changes = next_random(&random, 4); changes > 0; changes--)
            change(&program, &random);
        expect_all_found(&program, i);
    }
}

/* ---- sums ---- */

static void sums_are_equal_however_they_were_added(void **state)
{
    (void)state;
    const struct wsdbg_sum a = wsdbg_sum_of(7, 3), b = wsdbg_sum_of(5, 2), one = wsdbg_sum_constant(1);
    struct wsdbg_sum ab = wsdbg_sum_plus(&a, &b, 1), ba = wsdbg_sum_plus(&b, &a, 1);
    assert_true(wsdbg_sums_equal(&ab, &ba));
    ab = wsdbg_sum_plus(&ab, &one, 4);
    assert_false(wsdbg_sums_equal(&ab, &ba));
    assert_int_equal(ab.constant, 4);
    ab = wsdbg_sum_plus(&ab, &a, -(uint32_t)1);
    assert_int_equal(wsdbg_sum_factor(&ab, 7), 0);
    assert_int_equal(wsdbg_sum_factor(&ab, 5), 2);
    assert_int_equal(ab.count, 1);
}

static void a_sum_of_too_many_terms_is_lost(void **state)
{
    struct wsdbg_sum sum = wsdbg_sum_constant(0);
    (void)state;
    for (uint32_t i = 0; i <= WSDBG_SUM_TERMS_MOST; i++) {
        const struct wsdbg_sum more = wsdbg_sum_of(i, 1);
        assert_false(sum.is_lost);
        sum = wsdbg_sum_plus(&sum, &more, 1);
    }
    assert_true(sum.is_lost);
    assert_false(wsdbg_sums_equal(&sum, &sum));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_that_is_unrolled_goes_round_its_ring),
        cmocka_unit_test(no_place_is_missing),
        cmocka_unit_test(sums_are_equal_however_they_were_added),
        cmocka_unit_test(a_sum_of_too_many_terms_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
