/* execute_mbarrier.c - the mbarrier instructions.
 *
 * Reads and writes: mbarriers of the cluster's CTAs (mbarrier.h), result registers.  Lanes take effect in their order.
 */
#include "hopper/device.h"
#include "hopper/mbarrier.h"

enum { MBARRIER_BYTES = 8 };
#define TRY_WAIT_NS 1000000ull       /* when the text gives no hint: the hardware's own limit is not documented */
#define TRY_WAIT_MOST_NS 10000000ull /* what longer hints are cut to */

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
    EACH_LANE(step, lane)
    {
        const struct place place = place_of(step, 0, lane);
        if (!place.cta)
            return HOPPER_FAULTED;
        hopper_mbarrier_init(place.cta, place.offset, (uint32_t)hopper_source(step, 1, lane));
    }
    step->warp->writes++;
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_mbarrier_inval(struct hopper_step *step)
{
    EACH_LANE(step, lane)
    {
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
    return hopper_fault(step, lane, HOPPER_LAUNCH_FAILED, "mbarrier 0x%x of CTA rank %u: %s", place.offset,
                        place.cta->rank, hopper_mbarrier_effect_text(effect));
}

/* One lane: with `expects` the text's amount is bytes, and `operation` comes once behind them. */
static enum hopper_outcome operate(struct hopper_step *step, unsigned lane, bool expects,
                                   enum hopper_mbarrier_operation operation)
{
    const unsigned number = address_number(step->instruction);
    const struct place place = place_of(step, number, lane);
    if (!place.cta)
        return HOPPER_FAULTED;
    const bool has_amount = number + 1 < step->instruction->operand_count;
    const uint32_t amount = has_amount ? (uint32_t)hopper_source(step, number + 1, lane) : 1;
    uint64_t before;
    enum hopper_mbarrier_effect effect = hopper_mbarrier_apply(
        place.cta, place.offset, expects ? HOPPER_MBARRIER_EXPECT : operation, amount, actor_of(step), &before);
    if (expects && effect < HOPPER_MBARRIER_SPENT)
        effect = hopper_mbarrier_apply(place.cta, place.offset, operation, 1, actor_of(step), &before);
    if (effect >= HOPPER_MBARRIER_SPENT)
        return effect_fault(step, lane, place, effect);
    if (number > 0)
        hopper_result(step, 0, lane, before);
    return HOPPER_NEXT;
}

static enum hopper_outcome operate_all(struct hopper_step *step, bool expects, enum hopper_mbarrier_operation operation)
{
    step->warp->writes++;
    EACH_LANE(step, lane)
    if (operate(step, lane, expects, operation) == HOPPER_FAULTED)
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
    EACH_LANE(step, lane)
    hopper_result(step, 0, lane, hopper_mbarrier_pending(hopper_source(step, 1, lane)));
    return HOPPER_NEXT;
}

/* ---- waits: d, [barrier], state or parity, hint ---- */

/* Lanes whose phase is over; *missing is the first of the others' wait.  False after a fault. */
static bool look(const struct hopper_step *step, uint32_t *over, struct hopper_wait *missing)
{
    struct place last = {0};
    uint64_t last_address = 0;
    uint32_t last_parity = 0;
    bool last_over = false;
    *over = 0;
    EACH_LANE(step, lane)
    {
        const uint64_t address = hopper_address(step, 1, lane), phase = hopper_source(step, 2, lane);
        const uint32_t parity = step->instruction->flags & WSDBG_PTX_PARITY ? phase & 1 : hopper_mbarrier_phase(phase);
        if (!last.cta || address != last_address || parity != last_parity) {
            last = place_of(step, 1, lane);
            if (!last.cta)
                return false;
            last_over = hopper_mbarrier_is_over(last.cta, last.offset, parity, actor_of(step));
        }
        last_address = address;
        last_parity = parity;
        if (last_over)
            *over |= 1u << lane;
        else if (missing->kind != HOPPER_WAITS_MBARRIER)
            *missing = (struct hopper_wait){
                .kind = HOPPER_WAITS_MBARRIER, .cta_rank = last.cta->rank, .offset = last.offset, .parity = parity};
    }
    return true;
}

static enum hopper_outcome answer(struct hopper_step *step, uint32_t over)
{
    EACH_LANE(step, lane)
    hopper_result(step, 0, lane, over >> lane & 1);
    step->split->wait = (struct hopper_wait){.kind = HOPPER_RUNS};
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_mbarrier_test_wait(struct hopper_step *step)
{
    uint32_t over;
    struct hopper_wait missing = {0};
    return look(step, &over, &missing) ? answer(step, over) : HOPPER_FAULTED;
}

static uint64_t limit_of(const struct hopper_step *step)
{
    uint64_t limit = TRY_WAIT_NS;
    if (step->instruction->operand_count > 3)
        limit = (uint32_t)hopper_source(step, 3, (unsigned)__builtin_ctz(step->lanes));
    return hopper_time_ns(step->gpu) + (limit < TRY_WAIT_MOST_NS ? limit : TRY_WAIT_MOST_NS);
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
