/* probe_mbarrier.c - iterations of mbarriers in events.
 *
 * Reads: the module's table of arrays.  Writes: the warp's counts.
 *
 * An iteration is what an author would count: the round of a stage times the stages.  The round of a wait follows from
 * the phase that it looks for; a first wait begins with 0, whatever it looks for.  What a warp does on a stage after it
 * waited for that stage of another barrier belongs to the round of that wait: bytes are expected for the slot that was
 * free, a slot is given back that was full.
 */
#include "hopper/mbarrier.h"
#include "hopper/probe.h"

static struct hopper_probes *probes_of(const struct hopper_cta *cta)
{
    return cta->grid->launch.module->probes;
}

static void set_round(const struct hopper_cta *cta, struct hopper_probe_stage *stage, uint32_t round)
{
    stage->iteration = round * probes_of(cta)->families[stage->id].stages + stage->stage;
}

void hopper_probe_number_wait(struct hopper_warp *warp, const struct hopper_cta *cta, uint32_t offset, uint32_t parity,
                              bool is_over, struct hopper_probe_stage *stage)
{
    struct hopper_probe_family *const family = &probes_of(cta)->families[stage->id];
    struct hopper_probe *const probe = warp->probe;
    const uint32_t phase = hopper_mbarrier_phases(cta, offset);
    const bool is_first = probe->stages[stage->stage].id != stage->id;
    if (!family->was_waited_for) {
        family->was_waited_for = true;
        family->first_is_free = is_over && phase == 0 && parity == 1;
    }
    uint32_t round = phase + family->first_is_free;
    if (is_over && round == 0)
        return; /* a phase before the first one, of a barrier that is not free at first */
    round -= is_over;
    if (is_first && phase == 0)
        round = 0;
    set_round(cta, stage, round);
    if (is_over) {
        probe->stages[stage->stage].id = stage->id;
        probe->stages[stage->stage].round = round;
    }
}

void hopper_probe_number_use(struct hopper_warp *warp, enum wsdbg_event_kind kind, struct hopper_probe_stage *stage)
{
    struct hopper_probe *const probe = warp->probe;
    const uint32_t waited = probe->stages[stage->stage].round;
    const bool expects = kind == WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX || kind == WSDBG_EVENT_MBARRIER_EXPECT_TX;
    if (waited != WSDBG_PTX_NONE) {
        set_round(warp->cta, stage,
                  waited + (kind == WSDBG_EVENT_MBARRIER_ARRIVE ? 0 : probe->stages[stage->stage].expected_before));
        return;
    }
    if (kind == WSDBG_EVENT_MBARRIER_ARRIVE)
        return;
    /* Slots that are filled before anybody waits for one to be free. */
    if (expects)
        probe->stages[stage->stage].expected_before++;
    const uint32_t before = probe->stages[stage->stage].expected_before;
    set_round(warp->cta, stage, before ? before - 1u : 0);
}
