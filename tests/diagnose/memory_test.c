/* memory_test.c - what is said of a word that is polled, by whose memory it is.  Each row states the memory, what else
 * is known of host and GPUs, and what is to be said after two equal looks.  All warps of the grid poll, with loads of
 * system scope; the host's only thread is in cuStreamSynchronize.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device.h"
#include "memory_states.h"
#include "picture.h"

#define POSSIBLE WSDBG_CONFIDENCE_POSSIBLE
#define LIKELY WSDBG_CONFIDENCE_LIKELY

static const struct row {
    const char *name;
    void (*memory)(struct picture *p);
    void (*known)(struct picture *p);
    const char *cause;
    enum wsdbg_confidence confidence;
    const char *says; /* a part of the sentence, NULL = not looked at */
} table[] = {
    {"nothing is known of the memory", nothing_known, nothing_known, "HOST_WAIT", POSSIBLE, "0x7f1200000044"},
    {"..., read for this GPU alone", read_for_this_gpu, nothing_known, "GLOBAL_SPIN", LIKELY, "0x7f1200000044"},
    {"..., and rows of memory were left out", read_for_this_gpu, rows_left_out, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"device memory", device, nothing_known, "GLOBAL_SPIN", LIKELY,
     "4 bytes (value 0x0) at byte 68 of a 4,096 B cudaMalloc allocation (cuMemAlloc #12)"},
    {"..., the host is free", device, host_free, "GLOBAL_SPIN", POSSIBLE, "it has not submitted yet"},
    {"..., another thread goes on", device, another_thread, "GLOBAL_SPIN", POSSIBLE, "it has not submitted yet"},
    {"memory of a pool", pool, nothing_known, "GLOBAL_SPIN", LIKELY, "a 4,096 B cudaMallocAsync allocation"},
    {"a mapping of its own", mapped, nothing_known, "GLOBAL_SPIN", LIKELY, "(cuMemCreate #12)"},
    {"a mapping that the host may write", mapped_for_host, nothing_known, "HOST_WAIT", LIKELY, NULL},
    {"host memory", host, nothing_known, "HOST_WAIT", LIKELY,
     "at byte 68 of 4,096 B of host-mapped memory (cuMemHostAlloc #12)"},
    {"..., no thread waits", host, host_free, "GLOBAL_SPIN", POSSIBLE, "a host thread still can"},
    {"..., another thread goes on", host, another_thread, "HOST_WAIT", POSSIBLE, "if that thread should write it"},
    {"..., another GPU works", host, stranger_works, "HOST_WAIT", POSSIBLE, NULL},
    {"managed memory", managed, nothing_known, "HOST_WAIT", LIKELY, "managed memory (cuMemAllocManaged #12)"},
    {"memory that the program registered", registered, nothing_known, "HOST_WAIT", POSSIBLE, "registered host memory"},
    {"imported memory", imported, nothing_known, "GLOBAL_SPIN", POSSIBLE,
     "4 bytes (value 0x0) in memory imported from another process (cuIpcOpenMemHandle #12)"},
    {"an imported mapping", mapped_import, nothing_known, "GLOBAL_SPIN", POSSIBLE,
     "another process or device still can"},
    {"a mapping of unknown origin", of_unknown_handle, nothing_known, "GLOBAL_SPIN", POSSIBLE, "unknown origin"},
    {"a kind that nobody knows yet", of_a_later_kind, nothing_known, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"exported memory", exported, nothing_known, "GLOBAL_SPIN", POSSIBLE, "which was exported to another process"},
    {"..., to one that lives", exported, other_alive, "GLOBAL_SPIN", POSSIBLE, "another process or device still can"},
    {"..., to one that has ended", exported, other_ended, "GLOBAL_SPIN", LIKELY,
     "neither the host, which waits for this kernel, nor another process can: 20 has ended."},
    {"..., to one whose context has ended", exported, other_without_context, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"..., and one that had none of it has ended", exported, other_had_no_memory, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"..., to two, of which one has ended", exported, one_of_two_ended, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"..., to one that has ended, the host is free", exported, other_ended_host_free, "GLOBAL_SPIN", POSSIBLE,
     "it has not submitted yet"},
    {"..., to one that has ended, another GPU works", exported, other_ended_peer_works, "GLOBAL_SPIN", POSSIBLE,
     "another GPU of the program still may"},
    {"a mapping given to one that has ended", exported_mapping, other_ended, "GLOBAL_SPIN", LIKELY, "20 has ended"},
    {"... and to another machine", exported_elsewhere, other_ended_no_cards, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"... and made for network cards", for_cards, other_ended, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"..., of which there is none", for_cards, other_ended_no_cards, "GLOBAL_SPIN", LIKELY, "20 has ended"},
    {"imported memory, all others have ended", mapped_import, other_ended, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"memory of another process", of_another_process, nothing_known, "HOST_WAIT", POSSIBLE, "0x7f1200000044"},
    {"memory that ends before it", beside, nothing_known, "HOST_WAIT", POSSIBLE, "0x7f1200000044"},
    {"memory freed before the launch", freed_before, nothing_known, "HOST_WAIT", POSSIBLE, "0x7f1200000044"},
    {"memory freed behind the kernel", freed_after_launch, nothing_known, "GLOBAL_SPIN", LIKELY,
     "(cuMemAllocAsync #12)"},
    {"the newer of two at the launch", host_there_since_launch, nothing_known, "HOST_WAIT", LIKELY, "cuMemHostAlloc"},
    {"a graph's kernel", device, graph, "GLOBAL_SPIN", LIKELY, "cuMemAlloc #12"},
    {"..., looked at before", device, graph_looked_at_again, "GLOBAL_SPIN", LIKELY, "the host cannot either"},
    {"looked at before, nothing given since", device, given_before_attach, "GLOBAL_SPIN", LIKELY,
     "the host cannot either"},
    {"looked at before, something given since", device, given_after_attach, "GLOBAL_SPIN", POSSIBLE, "an earlier look"},
    {"..., but the debugger was there early", device, attached_early, "GLOBAL_SPIN", LIKELY, "the host cannot either"},
    {"looked at before, what was given is not known", device, not_known_what_was_given, "GLOBAL_SPIN", POSSIBLE,
     "an earlier look"},
    {"looked at before, a copy since", device, copies_since_attach, "GLOBAL_SPIN", POSSIBLE, "an earlier look"},
    {"looked at before, a thread goes on", device, another_thread_since_attach, "GLOBAL_SPIN", POSSIBLE,
     "an earlier look"},
    {"another GPU was let in and is done", device, peer_done, "GLOBAL_SPIN", LIKELY,
     "which device 1 may write (peer access)"},
    {"..., which says so of both", device, peer_done, "GLOBAL_SPIN", LIKELY,
     "neither the other GPU, whose work is complete, nor the host"},
    {"another GPU was let in and never used", device, peer_idle, "GLOBAL_SPIN", LIKELY, NULL},
    {"another GPU was let in and works", device, peer_works, "GLOBAL_SPIN", POSSIBLE,
     "another GPU of the program still may"},
    {"another GPU was let in and has work", device, peer_unfinished, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"another GPU was let in, nobody follows it", device, peer_not_followed, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"another GPU was let in, its context is gone", device, peer_gone, "GLOBAL_SPIN", LIKELY, NULL},
    {"another GPU works and was not let in", device, stranger_works, "GLOBAL_SPIN", LIKELY, NULL},
    {"memory of another GPU, which is done", on_another_gpu, peer_done, "GLOBAL_SPIN", LIKELY, NULL},
    {"memory of another GPU, which works", on_another_gpu, stranger_works, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"memory of some GPU, another works", somewhere, stranger_works, "GLOBAL_SPIN", POSSIBLE, NULL},
    {"another process's GPU works", device, other_process_works, "GLOBAL_SPIN", LIKELY, NULL},
};

/* Launched at 1 s; the host's thread came then; nothing was given since. */
static void begin(struct picture *p)
{
    picture_init(p, 4, 2, 32);
    picture_wait(p, 0, 1, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
    struct wsdbg_snapshot *s = &p->snapshot;
    strcpy(s->sites[s->site_count - 1].instruction, "LDG.E.STRONG.SYS R0, desc[UR4][R2.64]");
    s->sites[s->site_count - 1].is_system = true;
    for (size_t i = 0; i < s->part_count; i++) {
        s->parts[i].address = wsdbg_known_u64(AT + 68);
        s->parts[i].width_bytes = wsdbg_known_u32(4);
        s->parts[i].value = wsdbg_known_u64(0);
    }
    s->launches[0].time_ns = LAUNCHED;
    s->launches[0].process_id = s->contexts[0].process_id = s->threads[0].process_id = PROCESS;
    s->contexts[0].given_ns = wsdbg_known_u64(LAUNCHED);
    strcpy(s->threads[0].call, "cuStreamSynchronize");
    s->threads[0].since_ns = LAUNCHED;
    assert_true(s->time_ns == NOW);
}

static void check(const struct row *row)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    begin(&p);
    row->memory(&p);
    row->known(&p);
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    const struct wsdbg_finding *first = &diagnosis.findings[0];
    if (strcmp(wsdbg_cause_name(first->cause), row->cause) != 0 || first->confidence != row->confidence ||
        (row->says && !strstr(first->sentence, row->says)))
        fail_msg("%s: %s (%s): %s", row->name, wsdbg_cause_name(first->cause), wsdbg_confidence_name(first->confidence),
                 first->sentence);
    assert_int_equal(diagnosis.hang, row->confidence == LIKELY);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

static void who_may_write_a_polled_word_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(&table[i]);
}

/* The words of warp 1 of the CTAs from `first_cta` on lie in memory that another process may write. */
static void add_imported_words(struct picture *p, uint32_t first_cta)
{
    registered(p);
    p->snapshot.allocations[1].row.address = AT + 4096;
    for (size_t i = 0; i < p->snapshot.part_count; i++) {
        const struct wsdbg_warp_row *warp = &p->snapshot.warps[p->snapshot.parts[i].warp];
        if (warp->warp == 1 && warp->cta >= first_cta)
            p->snapshot.parts[i].address.value = AT + 4096;
    }
}

static enum wsdbg_confidence surest(const struct wsdbg_diagnosis *diagnosis)
{
    enum wsdbg_confidence most = POSSIBLE;
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        most = diagnosis->findings[i].cause != WSDBG_CAUSE_SLOW && diagnosis->findings[i].confidence > most
                   ? diagnosis->findings[i].confidence
                   : most;
    return most;
}

static enum wsdbg_confidence judge(struct picture *p)
{
    struct wsdbg_diagnosis diagnosis;
    picture_still(p);
    picture_judge(p, &diagnosis);
    const enum wsdbg_confidence most = surest(&diagnosis);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(p);
    return most;
}

/* Who polls what somebody may write goes on then, and may write what the others poll: in its CTA and in any other. */
static void one_poll_that_may_end_leaves_all_others_open(void **state)
{
    (void)state;
    struct picture p;
    for (uint32_t cta = 0; cta < 4; cta++) {
        begin(&p);
        device(&p);
        add_imported_words(&p, cta);
        assert_int_equal(judge(&p), POSSIBLE);
    }
    begin(&p);
    device(&p);
    assert_int_equal(judge(&p), LIKELY);
}

/* Two CTAs belong to a grid of another process, which polls what a third one may write. */
static void polls_of_another_process_leave_this_ones_alone(void **state)
{
    (void)state;
    struct picture p;
    for (int same = 0; same < 2; same++) {
        begin(&p);
        device(&p);
        second_gpu(&p, LAUNCHED, LAUNCHED);
        struct wsdbg_snapshot *s = &p.snapshot;
        s->contexts[1].process_id = same ? PROCESS : OTHER_PROCESS;
        s->grids = reallocarray(s->grids, 2, sizeof *s->grids);
        must(s->grids);
        s->grids[1] = s->grids[0];
        s->grid_count = 2;
        s->grids[1].context = 1;
        s->grids[1].launch = WSDBG_NONE;
        s->grids[0].cta_count = s->grids[0].cta_total = s->grids[1].cta_count = s->grids[1].cta_total = 2;
        s->grids[1].cta_first = 2;
        s->ctas[2].grid = s->ctas[3].grid = 1;
        imported(&p);
        s->allocations[1].process_id = s->contexts[1].process_id;
        s->allocations[0].row.address = AT;
        s->allocations[1].row.address = AT + 8192;
        for (size_t i = 0; i < s->part_count; i++)
            if (s->warps[s->parts[i].warp].cta >= 2)
                s->parts[i].address.value = AT + 8192;
        assert_int_equal(judge(&p), same ? POSSIBLE : LIKELY);
    }
}

/* A live look reads one warp of each group at the same instruction.  The rest of the group is assumed to poll the same
 * memory, unless the warps that were read disagree. */
static void warps_that_were_not_read_poll_where_the_others_do(void **state)
{
    (void)state;
    struct picture p;
    for (int agree = 0; agree < 2; agree++) {
        begin(&p);
        device(&p);
        for (size_t i = 1; i < p.snapshot.part_count; i++)
            p.snapshot.parts[i].address.known = false;
        if (!agree) {
            add_memory(&p, WSDBG_ALLOCATION_POOL, "cuMemAllocAsync")->row.address = AT + 4096;
            p.snapshot.parts[1].address = wsdbg_known_u64(AT + 4096);
        }
        assert_int_equal(judge(&p), agree ? LIKELY : POSSIBLE);
    }
}

/* All warps poll shared memory.  Half the lanes of one poll what another process may write: once they go on, the warp
 * may write what the others poll. */
static void all_lanes_of_a_warp_count(void **state)
{
    (void)state;
    struct picture p;
    for (int later = 0; later < 2; later++) {
        begin(&p);
        registered(&p);
        struct wsdbg_snapshot *s = &p.snapshot;
        for (size_t i = 0; i < s->warp_count; i++)
            s->warps[i].state = WSDBG_WARP_SPIN_SHARED;
        for (size_t i = 0; i < s->part_count; i++) {
            s->parts[i].state = WSDBG_WARP_SPIN_SHARED;
            s->parts[i].address = wsdbg_known_u64(0x400);
        }
        const size_t whole = s->part_count;
        if (later)
            picture_part(&p, 1, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
        for (size_t i = whole; i < s->part_count; i++) {
            s->parts[i].site = s->warps[1].site;
            s->parts[i].address = wsdbg_known_u64(AT + 68);
        }
        assert_int_equal(judge(&p), later ? POSSIBLE : LIKELY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_write_a_polled_word_decides),
        cmocka_unit_test(one_poll_that_may_end_leaves_all_others_open),
        cmocka_unit_test(polls_of_another_process_leave_this_ones_alone),
        cmocka_unit_test(warps_that_were_not_read_poll_where_the_others_do),
        cmocka_unit_test(all_lanes_of_a_warp_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
