/* ties_test.c - which barrier of the record is which word in memory: told by warps that recorded a wait and stand in
 * one.
 *
 * One CTA of four warps.  The author named "full" (id 0) and "empty" (id 1), two stages each; the state knows arrays of
 * words by what the code does with them: id 1 "empty" by likeness alone, id 2 "mbarrier 0x410".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/barrier_ties.h"

enum { WARPS = 4 };

struct scene {
    struct wsdbg_snapshot state, record;
    struct wsdbg_module module;
    struct wsdbg_grid grids[2];
    struct wsdbg_cta ctas[2];
    struct wsdbg_warp_row shown[WARPS], recorded[WARPS];
    struct wsdbg_part parts[WARPS];
    struct wsdbg_name names[3];
    struct wsdbg_barrier recorded_barriers[4];
};

static struct wsdbg_name name(uint8_t id, const char *text)
{
    struct wsdbg_name row = {.kind = WSDBG_NAME_MBARRIER, .id = id, .stages = 2};
    strncpy(row.name, text, sizeof row.name - 1);
    return row;
}

static void add_barrier(struct scene *s, uint32_t id, uint32_t stage, uint32_t pending)
{
    s->state.barriers[s->state.barrier_count++] = (struct wsdbg_barrier){
        .kind = WSDBG_BARRIER_MBARRIER,
        .id = id,
        .stage = stage,
        .name = &s->names[id],
        .phase = wsdbg_known_u32(0),
        .pending_arrivals = wsdbg_known_u32(pending),
        .word = wsdbg_known_u64(1),
    };
}

static void begin(struct scene *s)
{
    memset(s, 0, sizeof *s);
    s->names[0] = name(0, "full");
    s->names[1] = name(1, "empty");
    s->names[2] = name(2, "mbarrier 0x410");
    s->module = (struct wsdbg_module){.names_count = 3};
    for (uint32_t i = 0; i < 2; i++) {
        s->grids[i] = (struct wsdbg_grid){.grid_id = 7, .cta_count = 1, .warps_per_cta = WARPS};
        s->ctas[i] = (struct wsdbg_cta){.cluster_size = 1, .warp_count = WARPS};
    }
    for (uint32_t i = 0; i < WARPS; i++) {
        s->shown[i] = (struct wsdbg_warp_row){.warp = i, .barrier = WSDBG_NONE, .part_first = i, .part_count = 1};
        s->recorded[i] = (struct wsdbg_warp_row){.warp = i, .barrier = WSDBG_NONE};
        s->parts[i] = (struct wsdbg_part){.warp = i, .barrier = WSDBG_NONE};
    }
    for (uint32_t i = 0; i < 4; i++)
        s->recorded_barriers[i] = (struct wsdbg_barrier){
            .kind = WSDBG_BARRIER_MBARRIER, .id = i / 2, .stage = i % 2, .name = &s->names[i / 2]};
    s->state = (struct wsdbg_snapshot){.modules = &s->module,
                                       .module_count = 1,
                                       .names = s->names,
                                       .name_count = 3,
                                       .grids = &s->grids[0],
                                       .grid_count = 1,
                                       .ctas = &s->ctas[0],
                                       .cta_count = 1,
                                       .warps = s->shown,
                                       .warp_count = WARPS,
                                       .parts = s->parts,
                                       .part_count = WARPS};
    s->record = (struct wsdbg_snapshot){.modules = &s->module,
                                        .module_count = 1,
                                        .names = s->names,
                                        .name_count = 3,
                                        .grids = &s->grids[1],
                                        .grid_count = 1,
                                        .ctas = &s->ctas[1],
                                        .cta_count = 1,
                                        .warps = s->recorded,
                                        .warp_count = WARPS,
                                        .barriers = s->recorded_barriers,
                                        .barrier_count = 4};
    s->state.barriers = calloc(8, sizeof *s->state.barriers);
    assert_non_null(s->state.barriers);
    for (uint32_t id = 1; id < 3; id++)
        for (uint32_t stage = 0; stage < 2; stage++)
            add_barrier(s, id, stage, 1);
}

/* The warp stands at the state's row, and its record ends in a wait for this parity on the record's row. */
static void wait_at(struct scene *s, uint32_t warp, uint32_t shown, uint32_t recorded, uint32_t parity)
{
    s->shown[warp].state = s->recorded[warp].state = s->parts[warp].state = WSDBG_WARP_WAIT_MBARRIER;
    s->shown[warp].barrier = s->parts[warp].barrier = shown;
    s->shown[warp].parity = wsdbg_known_u32(0);
    s->recorded[warp].barrier = recorded;
    s->recorded[warp].last.parity = (uint8_t)parity;
}

static void tie(struct scene *s)
{
    assert_null(wsdbg_tie_barriers(&s->state, 0, &s->record, 0));
}

static const char *name_of(const struct scene *s, uint32_t barrier)
{
    return s->state.barriers[barrier].name ? s->state.barriers[barrier].name->name : "";
}

static void a_wait_names_all_stages_of_an_array(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    wait_at(&s, 0, 2, 0, 0); /* mbarrier 0x410[0] is full[0] */
    tie(&s);
    assert_string_equal(name_of(&s, 2), "full");
    assert_string_equal(name_of(&s, 3), "full");
    assert_int_equal(s.state.barriers[3].stage, 1);
    assert_string_equal(name_of(&s, 1), "empty");
    assert_int_equal(s.state.barrier_count, 4); /* every one of the record's is among them */
    free(s.state.barriers);
}

/* The author numbers polled words, the look counts them: here word 3 is the first that it saw.  The record does not
 * tell in which memory it is. */
static void a_poll_ties_the_word_in_either_memory(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct scene s;
        begin(&s);
        s.state.barriers[2] = (struct wsdbg_barrier){
            .kind = shared ? WSDBG_BARRIER_SHARED_FLAG : WSDBG_BARRIER_GLOBAL_FLAG, .id = 0, .waiters = 1};
        s.recorded_barriers[3] = (struct wsdbg_barrier){.kind = WSDBG_BARRIER_GLOBAL_FLAG, .id = 3, .waiters = 1};
        wait_at(&s, 0, 2, 3, 0);
        s.recorded[0].state = WSDBG_WARP_SPIN_GLOBAL;
        s.shown[0].state = s.parts[0].state = shared ? WSDBG_WARP_SPIN_SHARED : WSDBG_WARP_SPIN_GLOBAL;
        s.shown[0].parity.known = false;
        tie(&s);
        uint32_t flags = 0; /* no second row for the word */
        for (size_t i = 0; i < s.state.barrier_count; i++)
            flags += s.state.barriers[i].kind != WSDBG_BARRIER_MBARRIER;
        assert_int_equal(flags, 1);
        assert_int_equal(s.state.barriers[2].id, 3);
        assert_int_equal(s.state.barriers[2].waiters, 1);
        free(s.state.barriers);
    }
}

static void likeness_gives_way_to_deeds(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    wait_at(&s, 1, 2, 2, 0); /* mbarrier 0x410[0] is empty[0]: then the words called "empty" are something else */
    tie(&s);
    assert_string_equal(name_of(&s, 2), "empty");
    assert_string_equal(name_of(&s, 0), "");
    assert_int_not_equal(s.state.barriers[0].id, s.state.barriers[2].id);
    assert_int_equal(s.state.barrier_count, 6); /* full is known from the record alone */
    free(s.state.barriers);
}

static void ties_that_differ_tie_nothing(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    wait_at(&s, 0, 2, 0, 0);
    wait_at(&s, 1, 2, 2, 0);
    tie(&s);
    assert_string_equal(name_of(&s, 2), "mbarrier 0x410");
    free(s.state.barriers);
}

static void a_stage_that_differs_ties_nothing(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    wait_at(&s, 0, 2, 1, 0); /* its first word is stage 1 of the record's */
    tie(&s);
    assert_string_equal(name_of(&s, 2), "mbarrier 0x410");
    free(s.state.barriers);
}

static void another_parity_is_another_wait(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    wait_at(&s, 0, 2, 0, 1);
    tie(&s);
    assert_string_equal(name_of(&s, 2), "mbarrier 0x410");
    free(s.state.barriers);
}

static void lanes_in_another_wait_may_have_recorded_theirs(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    wait_at(&s, 0, 2, 0, 0);
    s.shown[0].part_count = 2;
    s.parts[1] = (struct wsdbg_part){.state = WSDBG_WARP_WAIT_MBARRIER, .barrier = 0};
    tie(&s);
    assert_string_equal(name_of(&s, 2), "mbarrier 0x410");
    free(s.state.barriers);
}

static void a_word_with_other_counts_says_what_the_record_lacks(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    wait_at(&s, 0, 2, 0, 0);
    s.recorded_barriers[0].phase = s.recorded_barriers[1].phase = wsdbg_known_u32(0);
    s.recorded_barriers[0].pending_arrivals = wsdbg_known_u32(2);
    s.recorded_barriers[1].pending_arrivals = wsdbg_known_u32(1);
    s.recorded_barriers[2].phase = wsdbg_known_u32(1); /* not tied: that nobody knows */
    s.recorded_barriers[2].pending_arrivals = wsdbg_known_u32(1);
    tie(&s);
    assert_true(s.state.barriers[2].record_lacks);
    assert_false(s.state.barriers[3].record_lacks);
    assert_false(s.state.barriers[0].record_lacks);
    free(s.state.barriers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_names_all_stages_of_an_array),
        cmocka_unit_test(a_poll_ties_the_word_in_either_memory),
        cmocka_unit_test(likeness_gives_way_to_deeds),
        cmocka_unit_test(ties_that_differ_tie_nothing),
        cmocka_unit_test(a_stage_that_differs_ties_nothing),
        cmocka_unit_test(another_parity_is_another_wait),
        cmocka_unit_test(lanes_in_another_wait_may_have_recorded_theirs),
        cmocka_unit_test(a_word_with_other_counts_says_what_the_record_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
