/* account_test.c - the account of one barrier: who waits, what was done for its phase, who could still come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/account.h"
#include "kernels.h"
#include "picture.h"

#define WHOLE 100000u

static uint32_t barrier_row(const struct wsdbg_snapshot *s, uint32_t id, uint32_t stage)
{
    for (uint32_t i = 0; i < s->barrier_count; i++)
        if (s->barriers[i].kind == WSDBG_BARRIER_MBARRIER && s->barriers[i].id == id && s->barriers[i].stage == stage)
            return i;
    fail();
    return WSDBG_NONE;
}

/* The stage of the barrier that somebody of the first CTA waits on. */
static uint32_t waited_on(const struct wsdbg_snapshot *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->warp_count && s->warps[i].cta == 0; i++)
        if (wsdbg_warp_state_waits(s->warps[i].state) && s->warps[i].barrier != WSDBG_NONE &&
            s->barriers[s->warps[i].barrier].id == id)
            return s->warps[i].barrier;
    fail();
    return WSDBG_NONE;
}

/* Warps of the first CTA with the share, one bit a warp. */
static uint32_t with(const struct wsdbg_snapshot *s, const struct wsdbg_account *account, enum wsdbg_share share)
{
    uint32_t warps = 0;
    for (size_t i = 0; i < account->row_count; i++)
        if (account->rows[i].shares & share && s->warps[account->rows[i].warp].cta == 0)
            warps |= 1u << s->warps[account->rows[i].warp].warp;
    return warps;
}

static struct wsdbg_account account_of(const struct wsdbg_snapshot *s, uint32_t barrier)
{
    struct wsdbg_account account;
    assert_null(wsdbg_account(s, barrier, &account));
    return account;
}

static struct result gemm(enum gemm_bug bug)
{
    return judge(gemm_create((struct gemm){bug, 2, 4, 8, 16, 1, false, false}), WHOLE, WSDBG_HISTORY_DEPTH_MAX);
}

static void who_arrived_and_who_went_past(void **state)
{
    (void)state;
    struct result r = gemm(GEMM_ARRIVE_MISSING);
    struct wsdbg_account a = account_of(&r.snapshot, waited_on(&r.snapshot, EMPTY));
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_WAITS), 0x001);
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_ARRIVED), 0xf00);
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_SKIPPED), 0x0f0);
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_TO_COME), 0);
    assert_true(a.phase_known && a.to_come_known && !a.phase_over);
    wsdbg_account_deinit(&a);
    done(&r);
}

/* The producer waits for a phase that has been and gone; the present one, of which nothing is there, waits for all. */
static void a_phase_that_is_over_keeps_nobody_from_coming(void **state)
{
    (void)state;
    struct result r = gemm(GEMM_PARITY_DRIFT);
    const uint32_t barrier = waited_on(&r.snapshot, EMPTY);
    for (uint32_t pending = 7; pending <= 8; pending++) {
        r.snapshot.barriers[barrier].expected_arrivals = wsdbg_known_u32(8);
        r.snapshot.barriers[barrier].pending_arrivals = wsdbg_known_u32(pending);
        struct wsdbg_account a = account_of(&r.snapshot, barrier);
        assert_int_equal(a.phase_over, pending == 8);
        assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_ARRIVED), 0xff0);
        assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_TO_COME), pending == 8 ? 0xff0 : 0);
        wsdbg_account_deinit(&a);
    }
    done(&r);
}

static void bytes_that_were_announced_and_issued(void **state)
{
    (void)state;
    struct result r = gemm(GEMM_TX_MISMATCH);
    struct wsdbg_account a = account_of(&r.snapshot, waited_on(&r.snapshot, FULL));
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_ARRIVED), 1);
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_EXPECTED), 1);
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_ISSUED), 1);
    assert_true(a.expected_bytes.known && a.issued_bytes.known);
    assert_true(a.expected_bytes.value > a.issued_bytes.value);
    assert_true(a.iteration.known);
    wsdbg_account_deinit(&a);
    done(&r);
}

static void who_left_is_not_to_come(void **state)
{
    (void)state;
    struct result r = gemm(GEMM_WAKER_EXITED);
    struct wsdbg_account a = account_of(&r.snapshot, waited_on(&r.snapshot, FULL));
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_LEFT), 0x00f);
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_TO_COME), 0);
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_ARRIVED), 0);
    wsdbg_account_deinit(&a);
    done(&r);
}

/* Without histories nobody's deeds are known, and a barrier that nobody waits on says nothing of who could come. */
static void what_is_not_on_record_is_not_claimed(void **state)
{
    (void)state;
    struct result r = judge(gemm_create((struct gemm){GEMM_ARRIVE_MISSING, 2, 4, 8, 16, 1, false, false}), WHOLE, 0);
    struct wsdbg_account a = account_of(&r.snapshot, waited_on(&r.snapshot, EMPTY));
    assert_false(a.phase_known);
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_ARRIVED | WSDBG_SHARE_SKIPPED), 0);
    wsdbg_account_deinit(&a);
    done(&r);
    r = gemm(GEMM_ARRIVE_MISSING);
    const uint32_t waited = waited_on(&r.snapshot, EMPTY);
    const uint32_t idle = barrier_row(&r.snapshot, EMPTY, (r.snapshot.barriers[waited].stage + 1) % 4);
    a = account_of(&r.snapshot, idle);
    assert_int_equal(with(&r.snapshot, &a, WSDBG_SHARE_WAITS), 0);
    assert_false(a.phase_known || a.to_come_known);
    wsdbg_account_deinit(&a);
    done(&r);
}

/* From the code alone: who can still reach an arrival, whether or not somebody waits. */
static void the_code_says_who_could_come(void **state)
{
    (void)state;
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    picture_init(&p, 1, 4, 128);
    const uint32_t full = picture_mbarrier(&p, 0, 0, 0, 1, 1, 0);
    const uint32_t done_by = picture_mbarrier(&p, 1, 0, 0, 2, 2, 0);
    const uint32_t arrive_full = picture_access(&p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t arrive_done = picture_access(&p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(1, 0), 1, 1, WSDBG_LANES_ONE);
    picture_wait(&p, 0, 1, WSDBG_WARP_WAIT_MBARRIER, full, 0);
    picture_wait(&p, 2, 2, WSDBG_WARP_WAIT_MBARRIER, done_by, 0);
    picture_exit(&p, 3, 3);
    picture_reach(&p, 2, 2, arrive_full, 0, 0, 2);
    picture_reach(&p, 0, 1, arrive_done, 0, 0, 2);
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    struct wsdbg_account a = account_of(&p.snapshot, full);
    assert_int_equal(with(&p.snapshot, &a, WSDBG_SHARE_WAITS), 0x3);
    assert_int_equal(with(&p.snapshot, &a, WSDBG_SHARE_TO_COME), 0x4);
    assert_true(a.to_come_known);
    assert_false(a.phase_known);
    wsdbg_account_deinit(&a);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

/* Rows of a damaged file. */
static void a_grid_whose_rows_do_not_fit_has_no_account(void **state)
{
    (void)state;
    struct result r = gemm(GEMM_ARRIVE_MISSING);
    const uint32_t barrier = waited_on(&r.snapshot, EMPTY), warps = r.snapshot.ctas[1].warp_count;
    r.snapshot.ctas[1].warp_count = UINT32_MAX;
    struct wsdbg_account a = account_of(&r.snapshot, barrier);
    assert_int_equal(a.row_count, 0);
    assert_false(a.phase_known || a.to_come_known);
    wsdbg_account_deinit(&a);
    r.snapshot.ctas[1].warp_count = warps;
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_arrived_and_who_went_past),
        cmocka_unit_test(a_phase_that_is_over_keeps_nobody_from_coming),
        cmocka_unit_test(bytes_that_were_announced_and_issued),
        cmocka_unit_test(who_left_is_not_to_come),
        cmocka_unit_test(what_is_not_on_record_is_not_claimed),
        cmocka_unit_test(the_code_says_who_could_come),
        cmocka_unit_test(a_grid_whose_rows_do_not_fit_has_no_account),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
