/* dumps_test.c - the whole way from a real GPU core dump to a verdict: every hang of the demo kernels, two healthy
 * programs and a slow one, as an H200 dumped them (tests/dumps).  Each is judged as the one picture it is, and, where
 * it hangs, as two looks would have shown it.  And kernels that an error ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/finding.h"
#include "machine/interpret.h"
#include "picture.h"

#define POSSIBLE WSDBG_CONFIDENCE_POSSIBLE
#define LIKELY WSDBG_CONFIDENCE_LIKELY
#define PROVEN WSDBG_CONFIDENCE_PROVEN

static const struct row {
    const char *dump, *cause;
    enum wsdbg_confidence one_look, two_looks;
    const char *role, *barrier; /* how its name begins, NULL = not looked at */
} table[] = {
    {"gemm-regs-partial", "REGS_PARTIAL_WARPGROUP", LIKELY, PROVEN, "producer", NULL},
    {"gemm-regs-exhausted", "REGS_EXHAUSTED", PROVEN, PROVEN, "none", NULL},
    {"gemm-regs-no-release", "REGS_EXHAUSTED", PROVEN, PROVEN, "producer", NULL},
    {"gemm-parity-wrong", "PARITY_WRONG", LIKELY, LIKELY, "producer", "empty"},
    {"gemm-shared-full-barrier", "TX_SHARED_BARRIER", LIKELY, LIKELY, "producer", "full"},
    {"gemm-double-arrive", "DOUBLE_ARRIVE", LIKELY, LIKELY, "consumer", "empty"},
    {"gemm-tx-mismatch", "TX_MISMATCH", LIKELY, LIKELY, "producer", "full"},
    {"gemm-arrive-missing", "ARRIVE_MISSING", LIKELY, LIKELY, "consumer", "empty"},
    {"gemm-waker-exited", "WAKER_EXITED", LIKELY, LIKELY, "producer", "full"},
    {"two_async_warps-double-arrive", "DOUBLE_ARRIVE", LIKELY, LIKELY, NULL, "empty"},
    {"two_async_warps-leftover-asks", "REGS_PARTIAL_WARPGROUP", PROVEN, PROVEN, NULL, NULL},
    {"waits-arrive-short", "ARRIVE_SHORT", LIKELY, LIKELY, NULL, "mbarrier"},
    {"waits-block-sync-in-role", "BLOCK_SYNC_IN_ROLE", LIKELY, LIKELY, NULL, NULL},
    {"waits-cluster-missing", "CLUSTER_MISSING", LIKELY, LIKELY, NULL, NULL},
    {"waits-copy-missing", "TMA_NEVER_COMPLETED", POSSIBLE, LIKELY, NULL, NULL},
    /* A dump tells nothing of the host, which may write what is polled. */
    {"waits-global-flag", "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"waits-grid-dependency", "GRID_DEPENDENCY", POSSIBLE, POSSIBLE, NULL, NULL},
    {"waits-lane-split", "LANE_SPLIT", LIKELY, PROVEN, NULL, "mbarrier"},
    {"waits-named-count", "NAMED_COUNT", LIKELY, LIKELY, NULL, NULL},
    {"waits-not-initialised", "BARRIER_NOT_INIT", LIKELY, PROVEN, NULL, "mbarrier"},
    {"waits-not-resident", "NOT_RESIDENT", POSSIBLE, LIKELY, NULL, NULL},
    {"waits-peer-exited", "PEER_EXITED", LIKELY, LIKELY, NULL, "mbarrier"},
    {"waits-two-mbarriers", "WAIT_CYCLE", LIKELY, LIKELY, NULL, "mbarrier"},
    {"waits-tx-no-arrive", "TX_NO_ARRIVE", LIKELY, PROVEN, NULL, NULL},
    {"triton-flag", "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"heldout-parity-drift", "PARITY_DRIFT", LIKELY, LIKELY, "consumer", "full"},
    {"heldout-parity-drift-no-lines", "PARITY_DRIFT", LIKELY, LIKELY, "consumer", "full"},
    {"heldout-shared-flag", "PARITY_DRIFT", LIKELY, LIKELY, NULL, "mbarrier"},
    {"zoo-named-count", "NAMED_COUNT", LIKELY, LIKELY, NULL, NULL},
};

static const char *const running[] = {"gemm-healthy", "gemm-healthy-cluster", "waits-long-work"};

/* Whoever arrives on a phase whose count is spent dies of it. */
static const struct row faults[] = {
    {"waits-spent-phase", "DOUBLE_ARRIVE", LIKELY, 0, "warps", "full"},
    {"two_async_warps-fault-shared-full", "TX_SHARED_BARRIER", LIKELY, 0, "producer", "full"},
    {"two_async_warps-fault-all", "TX_SHARED_BARRIER", LIKELY, 0, "producer", "full"},
};

static void must(struct wsdbg_error *error)
{
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
}

/* The lowest lane of each warp with an error keeps it. */
static void mark_one_lane(struct wsdbg_machine *machine)
{
    machine->source = "live";
    for (size_t i = 0; i < machine->warp_count; i++)
        for (uint32_t lane = 0, marked = 0; lane < WSDBG_MACHINE_LANES; lane++)
            if (wsdbg_machine_exception(&machine->warps[i], lane) && marked++)
                machine->warps[i].lanes[lane].exception = 0;
}

static void read_dump_as(const char *name, void (*change)(struct wsdbg_machine *machine), struct wsdbg_snapshot *out)
{
    /* Without a clock: what is found is the same on a busy machine. */
    const struct wsdbg_look_budget budget = {UINT64_C(10000000000), UINT64_C(10000000000), WSDBG_WALKS_COUNTED};
    char path[512];
    struct wsdbg_machine *machine;
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    snprintf(path, sizeof path, DUMPS "/%s.core.gz", name);
    memset(out, 0, sizeof *out);
    must(wsdbg_machine_open_core(path, &machine));
    must(wsdbg_code_create(&code));
    if (change)
        change(machine);
    must(wsdbg_code_prepare(code, machine));
    must(wsdbg_look_take_within(machine, code, budget, &look));
    must(wsdbg_look_snapshot(&look, 1, out));
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    machine->ops->close(machine);
}

static void read_dump(const char *name, struct wsdbg_snapshot *out)
{
    read_dump_as(name, NULL, out);
}

/* A second look, 200 ms later, that saw the same. */
static void look_again(struct wsdbg_snapshot *snapshot)
{
    assert_int_equal(snapshot->look_count, 1);
    snapshot->looks = realloc(snapshot->looks, 2 * sizeof *snapshot->looks);
    assert_non_null(snapshot->looks);
    snapshot->looks[1] = snapshot->looks[0];
    snapshot->looks[1].time_ns += 200000000;
    snapshot->looks[1].moved = 0;
    snapshot->looks[1].barriers_changed = wsdbg_known_u32(0);
    snapshot->look_count = 2;
}

static void assert_begins(const char *dump, const char *name, const char *with)
{
    if (with && strncmp(name, with, strlen(with)) != 0)
        fail_msg("%s: %s where %s is right", dump, name, with);
}

static const char *role_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_finding *finding)
{
    const struct wsdbg_name *name =
        finding->role.known
            ? wsdbg_snapshot_name(snapshot, snapshot->grids[finding->grid].module, WSDBG_NAME_ROLE, finding->role.value)
            : NULL;
    return name ? name->name : "none";
}

static void check_finding(const struct row *row, const struct wsdbg_snapshot *snapshot,
                          const struct wsdbg_diagnosis *diagnosis, enum wsdbg_confidence confidence)
{
    assert_true(diagnosis->finding_count > 0);
    const struct wsdbg_finding *finding = &diagnosis->findings[0];
    const struct wsdbg_barrier *barrier =
        finding->barrier < snapshot->barrier_count ? &snapshot->barriers[finding->barrier] : NULL;
    if (strcmp(wsdbg_cause_name(finding->cause), row->cause) != 0 || finding->confidence != confidence)
        fail_msg("%s: %s (%s): %s", row->dump, wsdbg_cause_name(finding->cause),
                 wsdbg_confidence_name(finding->confidence), finding->sentence);
    assert_begins(row->dump, role_of(snapshot, finding), row->role);
    assert_begins(row->dump, barrier && barrier->name ? barrier->name->name : "none", row->barrier);
}

static void check(const struct row *row, bool again)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    const enum wsdbg_confidence confidence = again ? row->two_looks : row->one_look;
    read_dump(row->dump, &snapshot);
    if (again)
        look_again(&snapshot);
    must(wsdbg_diagnose(&snapshot, &diagnosis));
    check_finding(row, &snapshot, &diagnosis, confidence);
    assert_int_equal(diagnosis.hang, confidence >= LIKELY);
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
}

static void every_hang_is_told_from_one_picture(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(&table[i], false);
}

static void every_hang_is_told_from_two_looks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(&table[i], true);
}

static void what_runs_is_not_blamed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof running / sizeof *running; i++) {
        struct wsdbg_snapshot snapshot;
        struct wsdbg_diagnosis diagnosis;
        read_dump(running[i], &snapshot);
        must(wsdbg_diagnose(&snapshot, &diagnosis));
        assert_false(diagnosis.hang);
        assert_int_equal(diagnosis.finding_count, 1);
        assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_UNKNOWN); /* one picture shows no movement */
        assert_int_equal(diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_POSSIBLE);
        wsdbg_diagnosis_deinit(&diagnosis);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

static void every_error_is_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct wsdbg_snapshot snapshot;
        struct wsdbg_diagnosis diagnosis;
        read_dump(faults[i].dump, &snapshot);
        must(wsdbg_diagnose_faults(&snapshot, &diagnosis));
        check_finding(&faults[i], &snapshot, &diagnosis, faults[i].one_look);
        assert_false(diagnosis.hang);
        wsdbg_diagnosis_deinit(&diagnosis);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

/* The lock is what the arrival left: without it the same error is told, and no cause. */
static void an_error_whose_barrier_shows_nothing_has_no_cause(void **state)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    (void)state;
    read_dump("waits-spent-phase", &snapshot);
    for (size_t i = 0; i < snapshot.barrier_count; i++)
        snapshot.barriers[i].word.value &= ~((uint64_t)1 << 42);
    must(wsdbg_diagnose_faults(&snapshot, &diagnosis));
    assert_int_equal(diagnosis.finding_count, 1);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_UNKNOWN);
    assert_string_equal(diagnosis.findings[0].sentence,
                        "The GPU stopped warp 1 in thread (32,0,0) of CTA (0,0,0) with CUDA_EXCEPTION_4 (illegal "
                        "instruction) at waits.cu:212 (@!P1 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R0+URZ], "
                        "RZ), an mbarrier operation on \"full\".");
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The same arrival where no mbarrier is: memory as a CTA finds it, and the lock that the arrival set. */
static void an_arrival_before_the_initialisation_is_told(void **state)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    (void)state;
    read_dump("waits-spent-phase", &snapshot);
    for (size_t i = 0; i < snapshot.barrier_count; i++) {
        struct wsdbg_barrier *barrier = &snapshot.barriers[i];
        barrier->word = wsdbg_known_u64((uint64_t)1 << 42);
        barrier->phase.known = barrier->pending_arrivals.known = barrier->expected_arrivals.known = false;
        barrier->pending_tx_bytes.known = false;
    }
    must(wsdbg_diagnose_faults(&snapshot, &diagnosis));
    const struct row row = {"waits-spent-phase, no mbarrier", "BARRIER_NOT_INIT", LIKELY, 0, "warps", "full"};
    check_finding(&row, &snapshot, &diagnosis, LIKELY);
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
}

/* An arrival in a CTA of the cluster that is not there any more, and what names an address. */
static void what_the_gpu_says_is_said(void **state)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    (void)state;
    read_dump("waits-spent-phase", &snapshot);
    snapshot.exceptions[0].code = 18;
    snapshot.exceptions[0].remote = true;
    snapshot.exceptions[0].barrier = WSDBG_NONE;
    must(wsdbg_diagnose_faults(&snapshot, &diagnosis));
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_PEER_EXITED);
    wsdbg_diagnosis_deinit(&diagnosis);
    snapshot.exceptions[0].code = 14;
    snapshot.exceptions[0].access = 0;
    snapshot.exceptions[0].address = wsdbg_known_u64(0x400000000000);
    must(wsdbg_diagnose_faults(&snapshot, &diagnosis));
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_UNKNOWN);
    assert_non_null(strstr(diagnosis.findings[0].sentence, "CUDA_EXCEPTION_14 (illegal address) at waits.cu:212"));
    assert_non_null(strstr(diagnosis.findings[0].sentence, ", which names the address 0x400000000000."));
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
}

/* A warp accessed shared memory of a CTA that had left, and went on for some instructions before the GPU stopped it.
 * Without a CTA that is seen to have left, the cause is not known. */
static void a_cta_that_left_is_told_where_the_gpu_names_no_instruction(void **state)
{
    static const struct {
        const char *dump;
        enum wsdbg_cause cause;
        const char *words;
    } looks[] = {
        {"waits-peer-exited", WSDBG_CAUSE_PEER_EXITED, " shared memory of another CTA of its cluster"},
        {"waits-spent-phase", WSDBG_CAUSE_UNKNOWN, "CUDA_EXCEPTION_18"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        struct wsdbg_snapshot snapshot;
        struct wsdbg_diagnosis diagnosis;
        read_dump(looks[i].dump, &snapshot);
        struct wsdbg_exception stopped = {.code = 18, .site = WSDBG_NONE, .barrier = WSDBG_NONE};
        picture_judge_fault(&snapshot, &stopped, &diagnosis);
        assert_int_equal(diagnosis.findings[0].cause, looks[i].cause);
        assert_non_null(strstr(diagnosis.findings[0].sentence, looks[i].words));
        wsdbg_diagnosis_deinit(&diagnosis);
        wsdbg_snapshot_deinit(&snapshot);
    }
}

/* The debug interface marks one lane of a warp with an error, a core dump all: what is said is the same. */
static void every_error_is_explained_alike_by_look_and_by_dump(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct wsdbg_snapshot dumped, live;
        struct wsdbg_diagnosis of_dump, of_live;
        read_dump(faults[i].dump, &dumped);
        read_dump_as(faults[i].dump, mark_one_lane, &live);
        must(wsdbg_diagnose_faults(&dumped, &of_dump));
        must(wsdbg_diagnose_faults(&live, &of_live));
        check_finding(&faults[i], &live, &of_live, faults[i].one_look);
        assert_string_equal(of_live.findings[0].sentence, of_dump.findings[0].sentence);
        wsdbg_diagnosis_deinit(&of_dump);
        wsdbg_diagnosis_deinit(&of_live);
        wsdbg_snapshot_deinit(&dumped);
        wsdbg_snapshot_deinit(&live);
    }
}

/* An error without a cause of its own: who, where, and what the instruction was about. */
static void every_kind_of_error_names_what_is_known(void **state)
{
    static const struct kind {
        struct wsdbg_exception e; /* beside warp, site and pc */
        const char *words;
    } kinds[] = {
        {{.code = 14, .at_lanes = 0xff, .address = {0x1000, true}, .last_address = 0x101c},
         "The GPU stopped warp 1 in lanes 0-7 of CTA (0,0,0) with CUDA_EXCEPTION_14 (illegal address) at "
         "waits.cu:212 (@!P1 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R0+URZ], RZ), which names the addresses 0x1000 to 0x101c "
         "in its lanes."},
        {{.code = 5,
          .at_lanes = 2,
          .thread_known = true,
          .thread = {33},
          .address = {0x3fffc, true},
          .in_shared = true},
         "in thread (33,0,0) of CTA (0,0,0) with CUDA_EXCEPTION_5 (address out of range) at waits.cu:212 (@!P1 "
         "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R0+URZ], RZ), which names shared-memory address 0x3fffc."},
        {{.code = 4}, "in CTA (0,0,0) with CUDA_EXCEPTION_4 (illegal instruction) at waits.cu:212 ("},
        {{.code = 6,
          .at_lanes = UINT32_MAX,
          .thread_known = true,
          .thread = {34},
          .address = {0x1008, true},
          .last_address = 0x1008,
          .misaligned_bytes = 16},
         "in thread (34,0,0) of CTA (0,0,0) with CUDA_EXCEPTION_6 (misaligned address) at waits.cu:212 (@!P1 "
         "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R0+URZ], RZ), which accesses 16 bytes at 0x1008, not a multiple of 16."},
        {{.code = 4, .trapped = true}, ", [R0+URZ], RZ): the kernel executed a trap there."},
        {{.code = 12, .at_lanes = 1 << 5, .thread_known = true, .thread = {37}},
         "in thread (37,0,0) of CTA (0,0,0) with CUDA_EXCEPTION_12 (device-side assert) at waits.cu:212 (@!P1 "
         "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R0+URZ], RZ): an assertion of the kernel failed."},
    };
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    (void)state;
    read_dump("waits-spent-phase", &snapshot);
    const struct wsdbg_exception seen = snapshot.exceptions[0];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        snapshot.exceptions[0] = kinds[i].e;
        snapshot.exceptions[0].warp = seen.warp;
        snapshot.exceptions[0].pc = seen.pc;
        snapshot.exceptions[0].site = seen.site;
        snapshot.exceptions[0].exact = true;
        snapshot.exceptions[0].barrier = WSDBG_NONE;
        must(wsdbg_diagnose_faults(&snapshot, &diagnosis));
        assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_UNKNOWN);
        if (!strstr(diagnosis.findings[0].sentence, kinds[i].words))
            fail_msg("no '%s' in '%s'", kinds[i].words, diagnosis.findings[0].sentence);
        assert_int_equal(strstr(diagnosis.findings[0].fix, "a multiple of 16") != NULL,
                         kinds[i].e.misaligned_bytes == 16);
        wsdbg_diagnosis_deinit(&diagnosis);
    }
    wsdbg_snapshot_deinit(&snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_hang_is_told_from_one_picture),
        cmocka_unit_test(every_hang_is_told_from_two_looks),
        cmocka_unit_test(what_runs_is_not_blamed),
        cmocka_unit_test(every_error_is_explained),
        cmocka_unit_test(an_error_whose_barrier_shows_nothing_has_no_cause),
        cmocka_unit_test(an_arrival_before_the_initialisation_is_told),
        cmocka_unit_test(what_the_gpu_says_is_said),
        cmocka_unit_test(a_cta_that_left_is_told_where_the_gpu_names_no_instruction),
        cmocka_unit_test(every_error_is_explained_alike_by_look_and_by_dump),
        cmocka_unit_test(every_kind_of_error_names_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
