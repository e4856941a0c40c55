/* standstill_test.c - who could end from outside that a grid stands still, which looks show the same standstill, and
 * when that is a hang. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/standstill.h"
#include "picture.h"

#define S UINT64_C(1000000000)
enum { WARPS = 4, PARITY = 0 };

/* Four warps in one wait; the host waits for the grid, and no other thread of it goes on. */
static void all_in(struct picture *p, enum wsdbg_warp_state state, const char *instruction)
{
    picture_init(p, 1, WARPS, 32);
    picture_wait(p, 0, WARPS - 1, state, WSDBG_NONE, PARITY);
    struct wsdbg_site *site = &p->snapshot.sites[p->snapshot.site_count - 1];
    memset(site->instruction, 0, sizeof site->instruction);
    strncpy(site->instruction, instruction, sizeof site->instruction - 1);
    site->is_system = strstr(instruction, ".SYS") != NULL;
    for (size_t i = 0; i < p->snapshot.warp_count; i++) {
        p->snapshot.warps[i].site = (uint32_t)p->snapshot.site_count - 1;
        p->snapshot.parts[p->snapshot.warps[i].part_first].site = (uint32_t)p->snapshot.site_count - 1;
    }
    picture_still(p);
    picture_ready(p);
}

static void free_host(struct wsdbg_snapshot *s)
{
    s->thread_count = 0;
}

static void free_thread(struct wsdbg_snapshot *s)
{
    s->threads[0].host_state = WSDBG_HOST_GOES_ON;
}

/* The host has waited since 1 s. */
static void looks_before(struct wsdbg_snapshot *s, uint64_t first_ns, uint64_t last_ns)
{
    for (size_t i = 0; i < s->look_count; i++) {
        s->looks[i].first_attach_ns = first_ns;
        s->looks[i].earlier_attach_ns = last_ns;
    }
}

static void with_a_limit(struct wsdbg_snapshot *s)
{
    for (size_t i = 0; i < s->site_count; i++)
        s->sites[i].may_time_out = true;
}

static void look_before(struct wsdbg_snapshot *s)
{
    looks_before(s, 2 * S, 2 * S);
}

/* What the host gave in between may be held back by the first. */
static void looks_around_the_begin_of_the_wait(struct wsdbg_snapshot *s)
{
    looks_before(s, S / 2, 2 * S);
}

static void looks_of_which_the_first_is_not_known(struct wsdbg_snapshot *s)
{
    looks_before(s, 0, 2 * S);
}

static void launch_after_a_look(struct wsdbg_snapshot *s)
{
    look_before(s);
    s->launches = reallocarray(s->launches, s->launch_count + 1, sizeof *s->launches);
    assert_non_null(s->launches);
    s->launches[s->launch_count] = s->launches[0];
    s->launches[s->launch_count++].time_ns = 3 * S;
}

/* Half of the warps belong to another grid, in which one runs. */
static void beside_a_grid_that_runs(struct wsdbg_snapshot *s)
{
    s->grids = reallocarray(s->grids, 2, sizeof *s->grids);
    s->ctas = reallocarray(s->ctas, 2, sizeof *s->ctas);
    assert_true(s->grids && s->ctas);
    s->grid_count = s->cta_count = 2;
    s->grids[0].warps_per_cta = WARPS / 2;
    s->grids[1] = s->grids[0];
    s->grids[1].cta_first = 1;
    s->grids[1].grid_id = 9;
    s->ctas[0].warp_count = WARPS / 2;
    s->ctas[1] = s->ctas[0];
    s->ctas[1].grid = 1;
    s->ctas[1].warp_first = WARPS / 2;
    for (size_t i = WARPS / 2; i < WARPS; i++)
        s->warps[i].cta = 1;
    s->warps[WARPS - 1].state = WSDBG_WARP_RUNNING;
}

/* All lanes poll a word of memory of that kind. */
static void memory_of(struct wsdbg_snapshot *s, uint32_t kind, uint32_t flags)
{
    const uint64_t at = UINT64_C(0x7f1200000000);
    s->allocations = calloc(1, sizeof *s->allocations);
    assert_non_null(s->allocations);
    s->allocation_count = 1;
    s->allocations[0] =
        (struct wsdbg_allocation){.process_id = s->contexts[0].process_id,
                                  .row = {.number = 1, .address = at, .bytes = 4096, .kind = kind, .flags = flags}};
    for (size_t i = 0; i < s->part_count; i++)
        s->parts[i].address = wsdbg_known_u64(at + 64);
}

static void own_memory(struct wsdbg_snapshot *s)
{
    memory_of(s, WSDBG_ALLOCATION_DEVICE, 0);
}

static void memory_of_another_process(struct wsdbg_snapshot *s)
{
    memory_of(s, WSDBG_ALLOCATION_IMPORTED, 0);
}

static void memory_that_was_given_away(struct wsdbg_snapshot *s)
{
    memory_of(s, WSDBG_ALLOCATION_DEVICE, WSDBG_ALLOCATION_EXPORTED);
}

static void memory_that_may_be_shared(struct wsdbg_snapshot *s)
{
    memory_of(s, WSDBG_ALLOCATION_REGISTERED, 0);
}

/* Half of the warps belong to another grid, which polls what another process may write. */
static void beside_a_grid_that_may_get_later_work(struct wsdbg_snapshot *s)
{
    beside_a_grid_that_runs(s);
    s->warps[WARPS - 1].state = WSDBG_WARP_SPIN_GLOBAL;
    memory_of(s, WSDBG_ALLOCATION_IMPORTED, 0);
    for (uint32_t w = 0; w < WARPS / 2; w++)
        s->parts[s->warps[w].part_first].address = wsdbg_known_u64(UINT64_C(0x7f1300000000));
}

static void on_another_gpu(struct wsdbg_snapshot *s)
{
    s->contexts[0].compute_capability = wsdbg_known_u32(80);
}

static void on_another_gpu_with_memory_of_others(struct wsdbg_snapshot *s)
{
    on_another_gpu(s);
    memory_of_another_process(s);
}

static void on_another_gpu_with_memory_of_its_own(struct wsdbg_snapshot *s)
{
    on_another_gpu(s);
    own_memory(s);
}

static void on_another_gpu_with_memory_that_may_be_shared(struct wsdbg_snapshot *s)
{
    on_another_gpu(s);
    memory_that_may_be_shared(s);
}

static void on_another_gpu_with_memory_that_is_not_listed(struct wsdbg_snapshot *s)
{
    on_another_gpu(s);
    s->allocations_left_out = 1;
}

static void on_another_gpu_beside_a_context_with_work(struct wsdbg_snapshot *s)
{
    on_another_gpu(s);
    s->contexts = reallocarray(s->contexts, 2, sizeof *s->contexts);
    assert_non_null(s->contexts);
    s->contexts[1] = (struct wsdbg_context){.process_id = s->contexts[0].process_id,
                                            .handle = s->contexts[0].handle + 1,
                                            .device_ordinal = 1,
                                            .alive = true,
                                            .given_ns = wsdbg_known_u64(S)};
    s->context_count = 2;
}

static void on_another_gpu_as_one_of_two_ranks(struct wsdbg_snapshot *s)
{
    on_another_gpu(s);
    s->processes = calloc(1, sizeof *s->processes);
    assert_non_null(s->processes);
    s->process_count = 1;
    s->processes[0] = (struct wsdbg_process){
        .process_id = s->contexts[0].process_id, .rank = wsdbg_known_u32(1), .world_size = wsdbg_known_u32(2)};
}

#define GPU_POLL "LDG.E.STRONG.GPU R2, [R4]"
static const struct {
    const char *name;
    enum wsdbg_warp_state state;
    const char *instruction;
    void (*known)(struct wsdbg_snapshot *s);
    enum wsdbg_outside outside;
} outsiders[] = {
    {"an mbarrier", WSDBG_WARP_WAIT_MBARRIER, "SYNCS", free_host, WSDBG_OUTSIDE_NOBODY},
    {"a named barrier", WSDBG_WARP_WAIT_NAMED, "BAR", free_host, WSDBG_OUTSIDE_NOBODY},
    {"a cluster barrier", WSDBG_WARP_WAIT_CLUSTER, "UCGABAR_WAIT", free_host, WSDBG_OUTSIDE_NOBODY},
    {"registers", WSDBG_WARP_WAIT_REGISTERS, "USETMAXREG", free_host, WSDBG_OUTSIDE_NOBODY},
    {"wgmma", WSDBG_WARP_WAIT_WGMMA, "WARPGROUP", free_host, WSDBG_OUTSIDE_NOBODY},
    {"bulk stores", WSDBG_WARP_WAIT_BULK, "DEPBAR", free_host, WSDBG_OUTSIDE_NOBODY},
    {"its own lanes", WSDBG_WARP_RECONVERGE, "BSYNC", free_host, WSDBG_OUTSIDE_NOBODY},
    {"an mbarrier, beside a grid that runs", WSDBG_WARP_WAIT_MBARRIER, "SYNCS", beside_a_grid_that_runs,
     WSDBG_OUTSIDE_NOBODY},
    {"the grid before", WSDBG_WARP_WAIT_GRID_DEPENDENCY, "ACQBULK", NULL, WSDBG_OUTSIDE_GRID},
    {"shared memory", WSDBG_WARP_SPIN_SHARED, "LDS R2, [R4]", free_host, WSDBG_OUTSIDE_NOBODY},
    {"memory of the system", WSDBG_WARP_SPIN_GLOBAL, "LDG.E.STRONG.SYS R2, [R4]", NULL, WSDBG_OUTSIDE_DEVICE},
    {"memory, the host waits", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, NULL, WSDBG_OUTSIDE_NOBODY},
    {"... in a loop that may end by itself", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, with_a_limit, WSDBG_OUTSIDE_LIMIT},
    {"shared memory, likewise", WSDBG_WARP_SPIN_SHARED, "LDS R2, [R4]", with_a_limit, WSDBG_OUTSIDE_LIMIT},
    {"memory, nothing is known of the host", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, free_host, WSDBG_OUTSIDE_HOST},
    {"memory, a thread goes on", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, free_thread, WSDBG_OUTSIDE_HOST},
    {"memory, looked at while the host waited", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, look_before, WSDBG_OUTSIDE_NOBODY},
    {"memory, looked at before that too", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, looks_around_the_begin_of_the_wait,
     WSDBG_OUTSIDE_HOST},
    {"memory, when it was first looked at is not known", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL,
     looks_of_which_the_first_is_not_known, WSDBG_OUTSIDE_HOST},
    {"memory, launched after a look", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, launch_after_a_look, WSDBG_OUTSIDE_HOST},
    {"memory, beside a grid that runs", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, beside_a_grid_that_runs, WSDBG_OUTSIDE_GRID},
    {"memory of this process, the host waits", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, own_memory, WSDBG_OUTSIDE_NOBODY},
    {"memory of another process", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, memory_of_another_process, WSDBG_OUTSIDE_DEVICE},
    {"memory that was given away", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, memory_that_was_given_away, WSDBG_OUTSIDE_DEVICE},
    {"memory of the host's own", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL, memory_that_may_be_shared, WSDBG_OUTSIDE_HOST},
    {"memory, beside a grid that may get later work", WSDBG_WARP_SPIN_GLOBAL, GPU_POLL,
     beside_a_grid_that_may_get_later_work, WSDBG_OUTSIDE_GRID},
    {"not known, the host waits", WSDBG_WARP_UNKNOWN, "NOP", NULL, WSDBG_OUTSIDE_NOBODY},
    {"not known, memory of others", WSDBG_WARP_UNKNOWN, "NOP", memory_of_another_process, WSDBG_OUTSIDE_NOBODY},
    {"code not understood, the host waits", WSDBG_WARP_UNKNOWN, "", on_another_gpu, WSDBG_OUTSIDE_NOBODY},
    {"code not understood, memory of others", WSDBG_WARP_UNKNOWN, "", on_another_gpu_with_memory_of_others,
     WSDBG_OUTSIDE_DEVICE},
    {"code not understood, its own memory", WSDBG_WARP_UNKNOWN, "", on_another_gpu_with_memory_of_its_own,
     WSDBG_OUTSIDE_NOBODY},
    {"code not understood, host memory that may be shared", WSDBG_WARP_UNKNOWN, "",
     on_another_gpu_with_memory_that_may_be_shared, WSDBG_OUTSIDE_DEVICE},
    {"code not understood, memory that is not listed", WSDBG_WARP_UNKNOWN, "",
     on_another_gpu_with_memory_that_is_not_listed, WSDBG_OUTSIDE_DEVICE},
    {"code not understood, beside a context with work", WSDBG_WARP_UNKNOWN, "",
     on_another_gpu_beside_a_context_with_work, WSDBG_OUTSIDE_DEVICE},
    {"code not understood, one of two ranks", WSDBG_WARP_UNKNOWN, "", on_another_gpu_as_one_of_two_ranks,
     WSDBG_OUTSIDE_DEVICE},
    {"not known, nothing is known of the host", WSDBG_WARP_UNKNOWN, "NOP", free_host, WSDBG_OUTSIDE_HOST},
};

static void who_could_end_it_from_outside(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof outsiders / sizeof *outsiders; i++) {
        struct picture p;
        all_in(&p, outsiders[i].state, outsiders[i].instruction);
        if (outsiders[i].known)
            outsiders[i].known(&p.snapshot);
        const enum wsdbg_outside outside = wsdbg_outside_can_end(&p.snapshot, 0);
        if (outside != outsiders[i].outside)
            fail_msg("%s: %s", outsiders[i].name, wsdbg_outside_text(outside));
        picture_deinit(&p);
    }
}

/* Others of the warp wait for the lanes that poll. */
static void a_part_that_polls_counts(void **state)
{
    (void)state;
    struct picture p;
    all_in(&p, WSDBG_WARP_WAIT_MBARRIER, GPU_POLL);
    free_host(&p.snapshot);
    assert_int_equal(wsdbg_outside_can_end(&p.snapshot, 0), WSDBG_OUTSIDE_NOBODY);
    p.snapshot.parts[2].state = WSDBG_WARP_SPIN_GLOBAL;
    assert_int_equal(wsdbg_outside_can_end(&p.snapshot, 0), WSDBG_OUTSIDE_HOST);
    picture_deinit(&p);
}

/* ---- pictures ---- */

static void another_parity(struct wsdbg_snapshot *s)
{
    s->warps[1].parity = wsdbg_known_u32(1 - PARITY);
}

static void another_state(struct wsdbg_snapshot *s)
{
    s->warps[1].state = WSDBG_WARP_WAIT_NAMED;
}

static void another_place(struct wsdbg_snapshot *s)
{
    s->sites[s->warps[1].site].pc += 16;
}

static void another_word(struct wsdbg_snapshot *s)
{
    s->barriers[0].word.value++;
}

static void one_left(struct wsdbg_snapshot *s)
{
    s->warps[1].state = WSDBG_WARP_EXITED;
}

static void standing_at_an_mbarrier(struct picture *p)
{
    picture_init(p, 1, WARPS, 32);
    const uint32_t barrier = picture_mbarrier(p, 0, 0, PARITY, 1, 1, 0);
    picture_wait(p, 0, WARPS - 1, WSDBG_WARP_WAIT_MBARRIER, barrier, PARITY);
    p->snapshot.barriers[barrier].word = wsdbg_known_u64(5);
    picture_still(p);
    picture_ready(p);
}

static void two_looks_are_alike_where_every_warp_waits_for_the_same(void **state)
{
    (void)state;
    void (*const changes[])(struct wsdbg_snapshot * s) = {another_parity, another_state, another_place, another_word,
                                                          one_left};
    struct picture p;
    standing_at_an_mbarrier(&p);
    const uint64_t first = wsdbg_standstill_picture(&p.snapshot, 0);
    assert_true(first != 0);
    assert_true(wsdbg_standstill_picture(&p.snapshot, 0) == first);
    picture_deinit(&p);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        standing_at_an_mbarrier(&p);
        changes[i](&p.snapshot);
        assert_true(wsdbg_standstill_picture(&p.snapshot, 0) != first);
        picture_deinit(&p);
    }
}

static void who_runs_or_may_have_come_round_keeps_a_grid_from_standing(void **state)
{
    (void)state;
    struct picture p;
    standing_at_an_mbarrier(&p);
    struct wsdbg_warp_row *warp = &p.snapshot.warps[1];
    warp->state = WSDBG_WARP_RUNNING;
    assert_true(wsdbg_standstill_picture(&p.snapshot, 0) == 0);
    warp->state = WSDBG_WARP_UNKNOWN;
    warp->unmoved = true;
    assert_true(wsdbg_standstill_picture(&p.snapshot, 0) == 0);
    warp->stands = 1;
    const uint64_t stands = wsdbg_standstill_picture(&p.snapshot, 0);
    assert_true(stands != 0);
    warp->stands = 2; /* other registers */
    assert_true(wsdbg_standstill_picture(&p.snapshot, 0) != stands);
    warp->state = WSDBG_WARP_WAIT_WGMMA;
    warp->stands = 0; /* the hardware ends it: it may be another one each time */
    assert_true(wsdbg_standstill_picture(&p.snapshot, 0) == 0);
    p.snapshot.grids[0].moves = true;
    warp->state = WSDBG_WARP_WAIT_MBARRIER;
    assert_true(wsdbg_standstill_picture(&p.snapshot, 0) == 0);
    picture_deinit(&p);
}

/* The record has the warps that wrote something. */
static void a_record_without_some_warps_shows_no_standstill(void **state)
{
    (void)state;
    struct picture p;
    standing_at_an_mbarrier(&p);
    for (size_t i = 0; i < p.snapshot.warp_count; i++)
        p.snapshot.warps[i].part_count = 0;
    assert_true(wsdbg_standstill_picture(&p.snapshot, 0) != 0);
    p.snapshot.ctas[0].cluster_size = 2;
    assert_true(wsdbg_standstill_picture(&p.snapshot, 0) == 0);
    p.snapshot.ctas[0].cluster_size = 1;
    p.snapshot.ctas[0].warp_count--;
    assert_true(wsdbg_standstill_picture(&p.snapshot, 0) == 0);
    picture_deinit(&p);
}

/* ---- several looks ---- */

static void three_looks_over_two_stall_times_make_a_hang(void **state)
{
    (void)state;
    struct picture p;
    struct wsdbg_standstills standstills = {0};
    standing_at_an_mbarrier(&p);
    free_host(&p.snapshot);
    for (unsigned look = 1; look <= 3; look++) {
        const struct wsdbg_standstill found = wsdbg_standstills_note(&standstills, &p.snapshot, look * 2 * S);
        assert_int_equal(found.grid, 0);
        assert_int_equal(found.looks, look);
        assert_int_equal(found.outside, WSDBG_OUTSIDE_NOBODY);
        assert_int_equal(wsdbg_standstill_is_hang(&found, 2 * S), look == 3);
        assert_false(wsdbg_standstill_is_hang(&found, 4 * S)); /* too close to one another */
    }
    another_parity(&p.snapshot);
    const struct wsdbg_standstill anew = wsdbg_standstills_note(&standstills, &p.snapshot, 8 * S);
    assert_int_equal(anew.looks, 1);
    wsdbg_standstills_deinit(&standstills);
    picture_deinit(&p);
}

static void what_can_be_ended_from_outside_is_no_hang_however_long(void **state)
{
    (void)state;
    struct picture p;
    struct wsdbg_standstills standstills = {0};
    all_in(&p, WSDBG_WARP_SPIN_GLOBAL, GPU_POLL);
    free_host(&p.snapshot);
    for (unsigned look = 1; look <= 9; look++) {
        const struct wsdbg_standstill found = wsdbg_standstills_note(&standstills, &p.snapshot, look * 100 * S);
        assert_int_equal(found.looks, look);
        assert_int_equal(found.outside, WSDBG_OUTSIDE_HOST);
        assert_false(wsdbg_standstill_is_hang(&found, 2 * S));
    }
    wsdbg_standstills_deinit(&standstills);
    picture_deinit(&p);
}

/* ---- the verdict ---- */

static struct wsdbg_finding finding_of(enum wsdbg_cause cause, enum wsdbg_confidence confidence, uint32_t grid)
{
    return (struct wsdbg_finding){.cause = cause, .confidence = confidence, .grid = grid, .barrier = WSDBG_NONE};
}

static void the_verdict_is_about_the_grid_that_stands(void **state)
{
    (void)state;
    struct picture p;
    standing_at_an_mbarrier(&p);
    const struct wsdbg_standstill found = {.grid = 0, .outside = WSDBG_OUTSIDE_NOBODY, .looks = 3, .lasted_ns = 4 * S};
    struct wsdbg_diagnosis diagnosis = {.findings = calloc(3, sizeof *diagnosis.findings), .finding_count = 3};
    assert_non_null(diagnosis.findings);
    diagnosis.findings[0] = finding_of(WSDBG_CAUSE_HOST_WAIT, WSDBG_CONFIDENCE_POSSIBLE, 1);
    diagnosis.findings[1] = finding_of(WSDBG_CAUSE_SLOW, WSDBG_CONFIDENCE_LIKELY, 0);
    diagnosis.findings[2] = finding_of(WSDBG_CAUSE_TX_MISMATCH, WSDBG_CONFIDENCE_POSSIBLE, 0);
    assert_null(wsdbg_diagnosis_call_hang(&diagnosis, &p.snapshot, &found));
    assert_true(diagnosis.hang);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_TX_MISMATCH);
    assert_int_equal(diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_POSSIBLE); /* of the cause */
    assert_int_equal(diagnosis.findings[0].evidence_count, 1);
    assert_string_equal(diagnosis.findings[0].evidence[0].text,
                        "3 looks in 4.0 s found every warp at the same place; nothing outside the kernel can end it");
    wsdbg_diagnosis_deinit(&diagnosis);
    assert_null(wsdbg_diagnosis_call_hang(&diagnosis, &p.snapshot, &found));
    assert_true(diagnosis.hang);
    assert_int_equal(diagnosis.finding_count, 1);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_UNKNOWN);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

/* A GPU whose code is not understood: the same looks, the same verdict, and why there is no cause. */
static void on_another_gpu_it_is_a_hang_without_a_cause(void **state)
{
    (void)state;
    struct picture p;
    struct wsdbg_standstills standstills = {0};
    struct wsdbg_standstill found = {0};
    struct wsdbg_diagnosis diagnosis = {0};
    all_in(&p, WSDBG_WARP_UNKNOWN, "");
    on_another_gpu(&p.snapshot);
    for (size_t i = 0; i < p.snapshot.warp_count; i++)
        p.snapshot.warps[i].stands = 1;
    for (unsigned look = 1; look <= 3; look++)
        found = wsdbg_standstills_note(&standstills, &p.snapshot, look * 2 * S);
    assert_true(wsdbg_standstill_is_hang(&found, 2 * S));
    assert_null(wsdbg_diagnose(&p.snapshot, &diagnosis));
    assert_false(diagnosis.hang); /* by one look */
    assert_null(wsdbg_diagnosis_call_hang(&diagnosis, &p.snapshot, &found));
    assert_true(diagnosis.hang);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_UNKNOWN);
    assert_string_equal(diagnosis.findings[0].sentence,
                        "No warp of this kernel moves, and nothing can end that; causes are known for sm_90 only.");
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_standstills_deinit(&standstills);
    picture_deinit(&p);
}

/* A wait in it is not one that the code names: only the last rule speaks. */
static void on_another_gpu_no_rule_names_a_cause(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis = {0};
        standing_at_an_mbarrier(&p);
        if (other)
            on_another_gpu(&p.snapshot);
        assert_null(wsdbg_diagnose(&p.snapshot, &diagnosis));
        assert_int_equal(diagnosis.finding_count, 1);
        assert_int_equal(diagnosis.hang, !other);
        assert_int_equal(strstr(diagnosis.findings[0].sentence, "causes are known for sm_90 only") != NULL, other);
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
}

/* What moves is not left open until the next look: the place is said at once. */
static void on_another_gpu_the_place_of_what_moves_is_said(void **state)
{
    (void)state;
    for (int moves = 0; moves < 2; moves++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis = {0};
        all_in(&p, moves ? WSDBG_WARP_RUNNING : WSDBG_WARP_UNKNOWN, "");
        on_another_gpu(&p.snapshot);
        p.snapshot.looks[p.snapshot.look_count - 1].moved = moves ? WARPS : 0;
        assert_null(wsdbg_diagnose(&p.snapshot, &diagnosis));
        assert_int_equal(diagnosis.finding_count, 1);
        assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_UNKNOWN);
        assert_int_equal(diagnosis.findings[0].open, !moves);
        assert_non_null(strstr(diagnosis.findings[0].sentence, moves ? " moves at " : " stands at "));
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_could_end_it_from_outside),
        cmocka_unit_test(a_part_that_polls_counts),
        cmocka_unit_test(two_looks_are_alike_where_every_warp_waits_for_the_same),
        cmocka_unit_test(who_runs_or_may_have_come_round_keeps_a_grid_from_standing),
        cmocka_unit_test(a_record_without_some_warps_shows_no_standstill),
        cmocka_unit_test(three_looks_over_two_stall_times_make_a_hang),
        cmocka_unit_test(what_can_be_ended_from_outside_is_no_hang_however_long),
        cmocka_unit_test(the_verdict_is_about_the_grid_that_stands),
        cmocka_unit_test(on_another_gpu_it_is_a_hang_without_a_cause),
        cmocka_unit_test(on_another_gpu_no_rule_names_a_cause),
        cmocka_unit_test(on_another_gpu_the_place_of_what_moves_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
