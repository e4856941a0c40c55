/* execute_mbarrier.c - the mbarrier instructions.
 *
 * Reads and writes: mbarriers of the cluster's CTAs (mbarrier.h), result registers.  Lanes take effect in their order.
 */
#include "hopper/device.h"
#include "hopper/mbarrier.h"
#include "hopper/race.h"
#include "hopper/values.h"

enum { MBARRIER_BYTES = 8 };
#define TRY_WAIT_NS 1000000ull       /* when the text gives no hint: the hardware's own limit is not documented */
#define TRY_WAIT_MOST_NS 10000000ull /* what longer hints are cut to */
#define TRY_WAIT_LEAST_NS 1000ull    /* of shorter ones: that all wait at one time, as a proof needs */

#define EACH_LANE(step, lane)                            \
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) \
        if ((step)->lanes >> lane & 1)

struct place {
    struct hopper_cta *cta; /* NULL: faulted */
    uint32_t offset;
};

/* Which operand is the barrier's address: a result may stand before it. */
static unsigned address_number(const struct wsdbg_ptx_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->operand_count; i++)
        if (instruction->operands[i].kind == WSDBG_PTX_OPERAND_ADDRESS)
            return i;
    return 0;
}

static struct place place_of(const struct hopper_step *step, unsigned number, unsigned lane)
{
    struct place place;
    place.cta = hopper_locate(step, (enum wsdbg_ptx_space)step->instruction->space, hopper_address(step, number, lane),
                              MBARRIER_BYTES, MBARRIER_BYTES, lane, &place.offset);
    return place;
}

static struct hopper_actor actor_of(const struct hopper_step *step)
{
    return (struct hopper_actor){step->warp, (uint32_t)(step->instruction - step->program->instructions)};
}

enum hopper_outcome hopper_do_mbarrier_init(struct hopper_step *step)
{
    EACH_LANE (step, lane) {
        const struct place place = place_of(step, 0, lane);
        if (!place.cta)
            return HOPPER_FAULTED;
        hopper_mbarrier_init(place.cta, place.offset, (uint32_t)hopper_source(step, 1, lane));
        if (step->gpu->races)
            hopper_race_mbarrier_init(step, place.cta, place.offset);
    }
    step->warp->writes++;
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_mbarrier_inval(struct hopper_step *step)
{
    EACH_LANE (step, lane) {
        const struct place place = place_of(step, 0, lane);
        if (!place.cta)
            return HOPPER_FAULTED;
        hopper_mbarrier_invalidate(place.cta, place.offset);
    }
    return HOPPER_NEXT;
}

static enum hopper_outcome effect_fault(const struct hopper_step *step, unsigned lane, struct place place,
                                        enum hopper_mbarrier_effect effect)
{
    if (effect == HOPPER_MBARRIER_SPENT)
        hopper_mbarrier_lock(place.cta, place.offset);
    hopper_fault_at(step, lane, HOPPER_LAUNCH_FAILED, place.cta->rank << HOPPER_RANK_SHIFT | place.offset,
                    "mbarrier 0x%x of CTA rank %u: %s", place.offset, place.cta->rank,
                    hopper_mbarrier_effect_text(effect));
    return HOPPER_FAULTED;
}

/* Whether the lanes have one value of this operand (of an ADDRESS: one address). */
static bool is_uniform(const struct hopper_step *step, unsigned number)
{
    const struct wsdbg_ptx_operand *const operand = &step->instruction->operands[number];
    const bool has_register = operand->kind == WSDBG_PTX_OPERAND_REGISTER || operand->kind == WSDBG_PTX_OPERAND_ADDRESS;
    if (operand->kind == WSDBG_PTX_OPERAND_IMMEDIATE || (has_register && operand->number == WSDBG_PTX_NONE))
        return true;
    if (!has_register)
        return false;
    const unsigned first = (unsigned)__builtin_ctz(step->lanes);
    uint64_t others = 0;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        const uint64_t is_asked = -(uint64_t)(step->lanes >> lane & 1);
        if (hopper_is_wide(step, number))
            others |= (hopper_values64(step, number)[lane] ^ hopper_values64(step, number)[first]) & is_asked;
        else
            others |= (hopper_values32(step, number)[lane] ^ hopper_values32(step, number)[first]) & is_asked;
    }
    return others == 0;
}

/* `times` lanes, of which `lane` is one: with `expects` the text's amount is bytes, and `operation` comes behind them.
 */
static enum hopper_outcome operate(struct hopper_step *step, unsigned lane, uint32_t times, bool expects,
                                   enum hopper_mbarrier_operation operation)
{
    const unsigned number = address_number(step->instruction);
    const struct place place = place_of(step, number, lane);
    if (!place.cta)
        return HOPPER_FAULTED;
    const bool has_amount = number + 1 < step->instruction->operand_count;
    const uint32_t amount = has_amount ? (uint32_t)hopper_source(step, number + 1, lane) : 1;
    uint64_t before;
    if (step->gpu->races)
        hopper_race_mbarrier_arrive(step, place.cta, place.offset);
    enum hopper_mbarrier_effect effect = hopper_mbarrier_apply(
        place.cta, place.offset, expects ? HOPPER_MBARRIER_EXPECT : operation, amount, times, actor_of(step), &before);
    if (expects && effect < HOPPER_MBARRIER_SPENT) /* the token is of the state before the bytes */
        effect = hopper_mbarrier_apply(place.cta, place.offset, operation, 1, times, actor_of(step), NULL);
    if (effect >= HOPPER_MBARRIER_SPENT)
        return effect_fault(step, lane, place, effect);
    if (number > 0)
        hopper_result(step, 0, lane, before);
    return HOPPER_NEXT;
}

/* All lanes at once where that is the same as one after the other. */
static enum hopper_outcome operate_all(struct hopper_step *step, bool expects, enum hopper_mbarrier_operation operation)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    const unsigned number = address_number(instruction);
    const bool has_result = number > 0 && instruction->operands[0].kind != WSDBG_PTX_OPERAND_SINK;
    step->warp->writes++;
    if (!has_result && !expects && is_uniform(step, number) &&
        (number + 1 >= instruction->operand_count || is_uniform(step, number + 1)))
        return operate(step, (unsigned)__builtin_ctz(step->lanes), (uint32_t)__builtin_popcount(step->lanes), expects,
                       operation);
    EACH_LANE (step, lane)
        if (operate(step, lane, 1, expects, operation) == HOPPER_FAULTED)
            return HOPPER_FAULTED;
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_mbarrier_arrive(struct hopper_step *step)
{
    return operate_all(step, false, HOPPER_MBARRIER_ARRIVE);
}

enum hopper_outcome hopper_do_mbarrier_arrive_drop(struct hopper_step *step)
{
    return operate_all(step, step->instruction->flags & WSDBG_PTX_EXPECT_TX, HOPPER_MBARRIER_DROP);
}

enum hopper_outcome hopper_do_mbarrier_arrive_expect_tx(struct hopper_step *step)
{
    return operate_all(step, true, HOPPER_MBARRIER_ARRIVE);
}

enum hopper_outcome hopper_do_mbarrier_expect_tx(struct hopper_step *step)
{
    return operate_all(step, false, HOPPER_MBARRIER_EXPECT);
}

enum hopper_outcome hopper_do_mbarrier_complete_tx(struct hopper_step *step)
{
    return operate_all(step, false, HOPPER_MBARRIER_COMPLETE);
}

enum hopper_outcome hopper_do_mbarrier_pending_count(struct hopper_step *step)
{
    EACH_LANE (step, lane)
        hopper_result(step, 0, lane, hopper_mbarrier_pending(hopper_source(step, 1, lane)));
    return HOPPER_NEXT;
}

/* ---- waits: d, [barrier], state or parity, hint ---- */

/* One lane; -1 after a fault, else whether its phase is over.  *wait is what it would wait for. */
static int look_lane(const struct hopper_step *step, unsigned lane, struct hopper_wait *wait)
{
    const struct place place = place_of(step, 1, lane);
    if (!place.cta)
        return -1;
    const uint64_t phase = hopper_source(step, 2, lane);
    const uint32_t parity = step->instruction->flags & WSDBG_PTX_PARITY ? phase & 1 : hopper_mbarrier_phase(phase);
    *wait = (struct hopper_wait){
        .kind = HOPPER_WAITS_MBARRIER, .cta_rank = place.cta->rank, .offset = place.offset, .parity = parity};
    const bool is_over = hopper_mbarrier_is_over(place.cta, place.offset, parity, actor_of(step));
    if (is_over && step->gpu->races)
        hopper_race_mbarrier_waited(step, place.cta, place.offset);
    return is_over;
}

/* Lanes whose phase is over; *missing is the wait of one of the others.  False after a fault. */
static bool look(const struct hopper_step *step, uint32_t *over, struct hopper_wait *missing)
{
    const bool is_same = is_uniform(step, 1) && is_uniform(step, 2);
    const uint32_t looking = is_same ? step->lanes & -step->lanes : step->lanes;
    *over = 0;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        struct hopper_wait wait;
        if (!(looking >> lane & 1))
            continue;
        const int is_over = look_lane(step, lane, &wait);
        if (is_over < 0)
            return false;
        if (is_over)
            *over |= is_same ? step->lanes : 1u << lane;
        else
            *missing = wait;
    }
    return true;
}

static enum hopper_outcome answer(struct hopper_step *step, uint32_t over)
{
    hopper_store_mask(step, 0, over);
    step->split->wait = (struct hopper_wait){.kind = HOPPER_RUNS};
    return HOPPER_NEXT;
}

/* For spin.c, while it watches the split's loop. */
static void note_test(const struct hopper_step *step, const struct hopper_wait *missing)
{
    struct hopper_warp *warp = step->warp;
    if (warp->watched_lanes == step->split->lanes && warp->test_count < HOPPER_TESTS)
        warp->tests[warp->test_count++] = (struct hopper_test){step->split->pc, step->split->depth, missing->cta_rank,
                                                               missing->offset, missing->parity};
}

enum hopper_outcome hopper_do_mbarrier_test_wait(struct hopper_step *step)
{
    uint32_t over;
    struct hopper_wait missing = {0};
    if (!look(step, &over, &missing))
        return HOPPER_FAULTED;
    hopper_looks(step);
    if (over != step->lanes)
        note_test(step, &missing);
    return answer(step, over);
}

static uint64_t limit_of(const struct hopper_step *step)
{
    uint64_t limit = TRY_WAIT_NS;
    if (step->instruction->operand_count > 3)
        limit = (uint32_t)hopper_source(step, 3, (unsigned)__builtin_ctz(step->lanes));
    limit = limit > TRY_WAIT_MOST_NS ? TRY_WAIT_MOST_NS : limit < TRY_WAIT_LEAST_NS ? TRY_WAIT_LEAST_NS : limit;
    return hopper_time_ns(step->gpu) + limit;
}

enum hopper_outcome hopper_do_mbarrier_try_wait(struct hopper_step *step)
{
    uint32_t over;
    struct hopper_wait missing = {0};
    if (!look(step, &over, &missing))
        return HOPPER_FAULTED;
    struct hopper_wait *const wait = &step->split->wait;
    const bool is_again = wait->kind == HOPPER_WAITS_MBARRIER;
    const bool is_late = is_again && hopper_time_ns(step->gpu) >= wait->time_limit_ns;
    if (over == step->lanes || is_late)
        return answer(step, over);
    missing.time_limit_ns = is_again ? wait->time_limit_ns : limit_of(step);
    *wait = missing;
    return HOPPER_BLOCKED;
}
