/* mbarrier_verdict.c - whether any phase of one mbarrier can ever end, by everything in the kernel that may touch it.
 *
 * Reads: a survey, in which each access names the places that it may mean, so that what is counted is never too little.
 * The argument is one of induction: as long as no phase has ended, only so many arrivals, or only such sums of bytes,
 * can come; if they do not make up what the phase needs, none ever ends.
 */
#include <stdlib.h>

#include "lint/barrier_rules.h"

enum { WARP_THREADS = 32, COPY_UNIT_BYTES = 16, COPY_SIZES_MOST = 16 };
#define BYTES_MOST (1u << 20) /* an mbarrier counts no more */

/* Accesses to one place, as far as they matter. */
struct account {
    bool is_initialised, is_count_known;
    bool has_arrivals, are_arrivals_known;
    bool has_bytes; /* announced, or brought */
    bool are_bytes_known;
    bool asks_lanes; /* `arrivals` is wanted */
    uint32_t count_least;
    uint64_t arrivals;       /* at most */
    uint64_t arrivals_least; /* the same if of each warp one lane arrives */
    uint64_t copies[COPY_SIZES_MOST];
    unsigned copy_count;
};

/* ---- arrivals ---- */

/* The threads that may execute an access, if so many lanes of a warp do. */
static uint64_t arriving(const struct wsdbg_barrier_survey *survey, size_t number, enum wsdbg_lanes lanes)
{
    const uint64_t warps = wsdbg_survey_warp_count(survey->warps[number]);
    const uint64_t threads = lanes == WSDBG_LANES_ONE ? warps : warps * WARP_THREADS;
    return threads < survey->threads_most ? threads : survey->threads_most;
}

static void add_arrival(const struct wsdbg_barrier_survey *survey, size_t number, struct account *account)
{
    const struct wsdbg_access *access = &survey->accesses[number];
    uint64_t each = 1;
    if (access->kind == WSDBG_ACCESS_ARRIVE || access->kind == WSDBG_ACCESS_DROP) {
        each = access->count.base + (access->count.count - (uint64_t)1) * access->count.stride;
        account->are_arrivals_known &= access->count.known && access->count.count;
    }
    account->has_arrivals = true;
    account->are_arrivals_known &= !access->is_any_rank && access->kind != WSDBG_ACCESS_COPY_ARRIVE;
    account->arrivals_least += arriving(survey, number, WSDBG_LANES_ONE) * each;
    if (account->asks_lanes)
        account->arrivals += arriving(survey, number, wsdbg_survey_lanes(survey, number)) * each;
}

static void add_init(const struct wsdbg_access *access, struct account *account)
{
    account->is_count_known =
        (account->is_count_known || !account->is_initialised) && wsdbg_survey_is_number(&access->count);
    if (!account->is_initialised || access->count.base < account->count_least)
        account->count_least = (uint32_t)access->count.base;
    account->is_initialised = true;
}

/* ---- bytes ---- */

static void add_copy(const struct wsdbg_access *access, struct account *account)
{
    account->has_bytes = true;
    if (access->is_any_rank || !wsdbg_survey_is_number(&access->count) || access->count.base % COPY_UNIT_BYTES ||
        !access->count.base || account->copy_count == COPY_SIZES_MOST)
        account->are_bytes_known = false;
    else
        account->copies[account->copy_count++] = access->count.base;
}

/* Other instructions that complete bytes on an mbarrier; which one is not followed. */
static bool stores_asynchronously(const struct wsdbg_graph *graph)
{
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++) {
        if (wsdbg_operation_space(wsdbg_graph_instruction(graph, i)->operation) == WSDBG_SPACE_DISTRIBUTED)
            return true;
    }
    return false;
}

static struct account account_of(const struct wsdbg_barrier_survey *survey, uint32_t offset, bool asks_lanes)
{
    struct account account = {.are_arrivals_known = true, .are_bytes_known = true, .asks_lanes = asks_lanes};
    for (size_t i = 0; i < survey->count; i++) {
        const struct wsdbg_access *access = &survey->accesses[i];
        if (!survey->warps[i] || !wsdbg_survey_is_mbarrier(access) || !wsdbg_survey_may_be(&access->address, offset))
            continue;
        if (access->kind == WSDBG_ACCESS_INIT)
            add_init(access, &account);
        else if (access->kind == WSDBG_ACCESS_COPY)
            add_copy(access, &account);
        else if (wsdbg_survey_arrives(access))
            add_arrival(survey, i, &account);
        else if (access->kind == WSDBG_ACCESS_EXPECT || access->kind == WSDBG_ACCESS_COMPLETE)
            account.has_bytes = true;
    }
    return account;
}

/* Whether copies of these sizes, each as often as one likes, can make up the sum. */
static bool can_sum_to(const struct account *account, uint64_t bytes)
{
    const size_t units = bytes / COPY_UNIT_BYTES;
    if (!bytes || bytes % COPY_UNIT_BYTES || bytes >= BYTES_MOST)
        return !bytes || bytes >= BYTES_MOST;
    bool *can = calloc(units + 1, sizeof *can);
    if (!can)
        return true;
    can[0] = true;
    for (size_t sum = 1; sum <= units; sum++)
        for (unsigned i = 0; i < account->copy_count; i++) {
            const size_t size = account->copies[i] / COPY_UNIT_BYTES;
            can[sum] |= size <= sum && can[sum - size];
        }
    const bool result = can[units];
    free(can);
    return result;
}

/* Of an mbarrier for one arrival, which always announces: each phase has one sum announced.  The fault is one where
 * none of the sums can come. */
static struct wsdbg_mbarrier_verdict judge_bytes(const struct wsdbg_barrier_survey *survey, uint32_t offset,
                                                 const struct account *account)
{
    struct wsdbg_mbarrier_verdict verdict = {.is_proven = true};
    if (!account->is_count_known || account->count_least != 1 || !account->are_bytes_known ||
        stores_asynchronously(survey->graph))
        return verdict;
    for (size_t i = 0; i < survey->count; i++) {
        const struct wsdbg_access *access = &survey->accesses[i];
        if (!survey->warps[i] || !wsdbg_survey_is_mbarrier(access) || !wsdbg_survey_may_be(&access->address, offset))
            continue;
        const bool is_other = access->kind == WSDBG_ACCESS_EXPECT || access->kind == WSDBG_ACCESS_COMPLETE ||
                              (wsdbg_survey_arrives(access) && access->kind != WSDBG_ACCESS_ARRIVE_EXPECT);
        if (is_other || (access->kind == WSDBG_ACCESS_INIT && !wsdbg_survey_is_one(&access->count, 1)))
            return verdict;
        if (access->kind != WSDBG_ACCESS_ARRIVE_EXPECT)
            continue;
        if (access->is_any_rank || !wsdbg_survey_is_number(&access->count) || can_sum_to(account, access->count.base))
            return verdict;
        verdict.bytes = access->count.base;
    }
    if (verdict.bytes)
        verdict.fault = account->copy_count ? WSDBG_MBARRIER_OTHER_BYTES : WSDBG_MBARRIER_NO_BYTES;
    return verdict;
}

/* Whether a thread may arrive there again by the same instruction: the one that comes again soonest. */
static enum wsdbg_survey_again arrives_again(const struct wsdbg_barrier_survey *survey, uint32_t offset)
{
    enum wsdbg_survey_again soonest = WSDBG_SURVEY_NEVER_AGAIN;
    for (size_t i = 0; i < survey->count; i++) {
        if (!survey->warps[i] || !wsdbg_survey_arrives(&survey->accesses[i]) ||
            !wsdbg_survey_may_be(&survey->accesses[i].address, offset))
            continue;
        const enum wsdbg_survey_again again = wsdbg_survey_again(survey, i);
        soonest = again > soonest ? again : soonest;
    }
    return soonest;
}

static struct wsdbg_mbarrier_verdict judge_arrivals(const struct wsdbg_barrier_survey *survey, uint32_t offset,
                                                    const struct account *account)
{
    struct wsdbg_mbarrier_verdict verdict = {.is_proven = survey->is_in_x};
    const enum wsdbg_survey_again again = arrives_again(survey, offset);
    if (again == WSDBG_SURVEY_AGAIN_AT_ONCE)
        return verdict;
    verdict.fault = WSDBG_MBARRIER_SHORT;
    verdict.is_proven &= again == WSDBG_SURVEY_NEVER_AGAIN;
    verdict.count = account->count_least;
    verdict.arrivals = (uint32_t)account->arrivals;
    return verdict;
}

struct wsdbg_mbarrier_verdict wsdbg_mbarrier_judge(const struct wsdbg_barrier_survey *survey, uint32_t offset)
{
    struct account account = account_of(survey, offset, false);
    struct wsdbg_mbarrier_verdict verdict = {.is_proven = true};
    if (!account.is_initialised) {
        verdict.fault = WSDBG_MBARRIER_NOT_INITIALISED;
        return verdict;
    }
    if (!account.has_arrivals) {
        verdict.fault = account.has_bytes ? WSDBG_MBARRIER_BYTES_ONLY : WSDBG_MBARRIER_NO_ARRIVAL;
        return verdict;
    }
    const bool are_known = account.is_count_known && account.are_arrivals_known;
    if (are_known && account.arrivals_least < account.count_least)
        account = account_of(survey, offset, true); /* who arrives is then worth knowing lane by lane */
    if (are_known && account.arrivals_least < account.count_least && account.arrivals < account.count_least)
        return judge_arrivals(survey, offset, &account);
    return judge_bytes(survey, offset, &account);
}
