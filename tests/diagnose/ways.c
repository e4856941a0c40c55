/* ways.c - see ways.h. */
#include "ways.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device.h"

enum { CTAS_MOST = 16 };

struct wsdbg_step_row *way_add(struct way *way, uint8_t kind, uint32_t address, uint32_t number)
{
    must(way->count < WAY_STEPS);
    struct wsdbg_step_row *step = &way->steps[way->count++];
    *step = (struct wsdbg_step_row){.access = WSDBG_NONE,
                                    .address = address,
                                    .number = number,
                                    .kind = kind,
                                    .rank = WSDBG_STEP_OWN_RANK,
                                    .number_known = true};
    return step;
}

void ways_put(struct picture *p, const struct way *ways, uint32_t count)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    s->walks = calloc(count, sizeof *s->walks);
    s->steps = calloc((size_t)count * WAY_STEPS, sizeof *s->steps);
    must(s->walks && s->steps);
    for (uint32_t i = 0; i < count; i++) {
        s->walks[s->walk_count++] = (struct wsdbg_walk_row){.warp = ways[i].warp,
                                                            .lanes = ways[i].lanes ? ways[i].lanes : 1,
                                                            .step_first = (uint32_t)s->step_count,
                                                            .step_count = ways[i].count,
                                                            .is_whole = !ways[i].is_open};
        memcpy(s->steps + s->step_count, ways[i].steps, ways[i].count * sizeof *s->steps);
        s->step_count += ways[i].count;
    }
}

void ways_begin_rings(struct picture *p, uint32_t warps, uint32_t full, uint32_t empty, uint32_t stages)
{
    picture_init(p, 1, warps, 32);
    picture_name(p, full, "full", stages, 1, 2);
    picture_name(p, empty, "empty", stages, 2, 1);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    for (uint32_t s = 0; s < stages; s++) {
        picture_mbarrier(p, full, s, 0, 1, 1, 0);
        picture_mbarrier(p, empty, s, 0, 1, 1, 0);
    }
}

struct wsdbg_replay *ways_replay(struct picture *p, struct wsdbg_case *c)
{
    static const uint32_t ctas[CTAS_MOST] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    struct wsdbg_replay *replay;
    must(p->ctas <= CTAS_MOST && !wsdbg_case_init(&p->snapshot, 0, ctas, p->ctas, c));
    must(!wsdbg_replay_create(c, &replay) && replay);
    wsdbg_replay_run(replay, WSDBG_REPLAY_FIRST_FIRST, NULL);
    return replay;
}

static uint32_t named_row(const struct picture *p, uint32_t cta, uint32_t id)
{
    for (uint32_t b = 0; b < p->snapshot.barrier_count; b++)
        if (p->snapshot.barriers[b].kind == WSDBG_BARRIER_NAMED && p->snapshot.barriers[b].cta == cta &&
            p->snapshot.barriers[b].id == id)
            return b;
    must(false);
    return WSDBG_NONE;
}

static void stand(struct picture *p, const struct wsdbg_replay *replay, uint32_t number)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    const uint32_t barrier = agent->target[agent->at];
    if (agent->state == WSDBG_AGENT_WAITS)
        picture_stand(p, agent->warp, WSDBG_WARP_WAIT_MBARRIER, replay->barriers[barrier].row,
                      wsdbg_replay_waits_of(replay, number, barrier)->last_parity);
    else if (agent->state == WSDBG_AGENT_CLUSTER)
        picture_stand(p, agent->warp, WSDBG_WARP_WAIT_CLUSTER, WSDBG_NONE, 0);
    else if (agent->state == WSDBG_AGENT_MATRICES)
        picture_stand(p, agent->warp, WSDBG_WARP_WAIT_WGMMA, WSDBG_NONE, 0);
    else if (agent->steps[agent->at].kind == WSDBG_STEP_TOGETHER ||
             agent->steps[agent->at].kind == WSDBG_ACCESS_WGMMA ||
             agent->steps[agent->at].kind == WSDBG_ACCESS_CLUSTER_ARRIVE)
        picture_stand(p, agent->warp, WSDBG_WARP_RECONVERGE, WSDBG_NONE, 0);
    else
        picture_stand(p, agent->warp, WSDBG_WARP_WAIT_NAMED, named_row(p, agent->cta, agent->steps[agent->at].address),
                      0);
    p->snapshot.parts[p->snapshot.part_count - 1].lanes = agent->lanes;
}

void ways_take_picture(struct picture *p, const struct wsdbg_replay *replay)
{
    bool *lives = calloc(p->snapshot.warp_count, sizeof *lives);
    must(lives);
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        struct wsdbg_barrier *row = &p->snapshot.barriers[replay->barriers[b].row];
        row->phase = wsdbg_known_u32(replay->barriers[b].phase & 1);
        row->pending_arrivals = wsdbg_known_u32(replay->barriers[b].pending);
        row->expected_arrivals = wsdbg_known_u32(replay->barriers[b].expected);
        row->pending_tx_bytes = wsdbg_known_u64((uint64_t)replay->barriers[b].bytes);
    }
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].state != WSDBG_AGENT_ENDED) {
            lives[replay->agents[i].warp] = true;
            stand(p, replay, i);
        }
    for (uint32_t w = 0; w < p->snapshot.warp_count; w++)
        if (!lives[w])
            picture_leave(p, w);
    free(lives);
}

bool ways_stand(struct picture *p)
{
    struct wsdbg_case c;
    struct wsdbg_replay *replay = ways_replay(p, &c);
    assert_false(replay->is_broken);
    const bool stands = !replay->has_ended;
    ways_take_picture(p, replay);
    wsdbg_replay_destroy(replay);
    wsdbg_case_deinit(&c);
    return stands;
}

void ways_expect(struct picture *p, const char *cause, const char *says)
{
    ways_expect_as(p, cause, WSDBG_CONFIDENCE_LIKELY, says);
}

void ways_expect_as(struct picture *p, const char *cause, enum wsdbg_confidence confidence, const char *says)
{
    struct wsdbg_diagnosis diagnosis;
    picture_still(p);
    picture_judge(p, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    const struct wsdbg_finding *first = &diagnosis.findings[0];
    if (strcmp(wsdbg_cause_name(first->cause), cause) || (says && !strstr(first->sentence, says)))
        fail_msg("%s: %s", wsdbg_cause_name(first->cause), first->sentence);
    assert_int_equal(first->confidence, confidence);
    wsdbg_diagnosis_deinit(&diagnosis);
}

void ways_check(struct picture *p, bool stands, const char *cause, const char *says)
{
    assert_int_equal(stands, cause != NULL);
    if (cause)
        ways_expect(p, cause, says);
    picture_deinit(p);
}

void ways_check_unsaid(struct picture *p, bool stands, const char *words)
{
    assert_true(stands);
    assert_false(ways_say(p, words));
    picture_deinit(p);
}

bool ways_say(struct picture *p, const char *words)
{
    struct wsdbg_diagnosis diagnosis;
    bool says = false;
    picture_still(p);
    picture_judge(p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++) {
        const struct wsdbg_finding *finding = &diagnosis.findings[i];
        print_message("  %s: %s\n", wsdbg_cause_name(finding->cause), finding->sentence);
        says |= strstr(finding->sentence, words) != NULL;
    }
    wsdbg_diagnosis_deinit(&diagnosis);
    return says;
}
