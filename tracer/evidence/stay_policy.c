/* stay_policy.c - see stay_policy.h. */
#include "evidence/stay_policy.h"

#define SECOND_NS UINT64_C(1000000000)
#define SHARE 50                   /* one part in so many of the program's time may be spent: 2 % */
#define SETTLED_NS (SECOND_NS / 4) /* a context is let be for so long; the observer refuses somebody sooner */
#define CALM_NS                                                                                                     \
    (SECOND_NS / 10 * 3 / 2)            /* a program that does nothing for so long goes on doing nothing, as a rule \
                                         */
#define CALM_AGAIN_NS SECOND_NS         /* ... and after an inspector had left because of the cost */
#define COME_IN_NS (SECOND_NS / 10)     /* calls may wait for so long while one comes in */
#define COME_IN_NS_BYTE 22              /* ... and the driver prepares code: 1.4 s beside NCCL's 59 MB, on an H200 */
#define CODE_AT_MOST_NS (2 * SECOND_NS) /* an attach that takes longer is given up */
#define LOAN_NS (SECOND_NS / 5)
#define LOANS_NS (SECOND_NS / 5 * 6) /* processes that ended without paying theirs off: of some four */
#define WINDOW_NS (SECOND_NS / 25)
#define NEGLIGIBLE_NS (SECOND_NS / 200) /* some ninety launches: a program that only begins is not left for that */
#define RETRY_NS (SECOND_NS / 10)
#define RETRY_DOUBLINGS 5
#define LAUNCH_ALONE_NS 3500 /* what a launch takes by itself; measured on an H200 */
#define LAUNCH_MORE_NS 52000 /* what it takes in addition while an inspector is attached */

static uint64_t launches_spent_ns(const struct wsdbg_stay_facts *facts)
{
    const uint64_t alone_ns = facts->launches * LAUNCH_ALONE_NS;
    return facts->launch_ns > alone_ns ? facts->launch_ns - alone_ns : 0;
}

uint64_t wsdbg_stay_spent_ns(const struct wsdbg_stay_facts *facts)
{
    return facts->waited_ns + launches_spent_ns(facts);
}

static uint64_t since(const struct wsdbg_stay_facts *facts, uint64_t then_ns)
{
    return facts->now_ns > then_ns ? facts->now_ns - then_ns : 0;
}

/* What processes that have ended spent is gone: many short ones, one after the other, may not each spend a share of
 * the whole run. */
static uint64_t budget_ns(const struct wsdbg_stay_facts *facts)
{
    const uint64_t share_ns = since(facts, facts->began_ns) / SHARE;
    return share_ns > facts->ended_spent_ns ? share_ns - facts->ended_spent_ns : 0;
}

static void begin_window(struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    policy->window_ns = facts->now_ns;
    policy->window_waited_ns = facts->waited_ns;
    policy->window_launches_ns = launches_spent_ns(facts);
}

/* Launches that took less than usual make the sum smaller. */
static uint64_t more_than(uint64_t now_ns, uint64_t before_ns)
{
    return now_ns > before_ns ? now_ns - before_ns : 0;
}

/* In the first window those calls come out that waited for the inspector to come in: staying did not cost that. */
static uint64_t window_cost_ns(const struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    const bool is_first = policy->window_ns == policy->came_ns;
    return more_than(launches_spent_ns(facts), policy->window_launches_ns) +
           (is_first ? 0 : more_than(facts->waited_ns, policy->window_waited_ns));
}

/* What was spent is spent: only what staying goes on costing is a reason to leave. */
static bool costs_too_much(struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    const uint64_t window_ns = since(facts, policy->window_ns);
    if (window_ns < WINDOW_NS)
        return false;
    const uint64_t cost_ns = window_cost_ns(policy, facts);
    policy->stay_cost_ns += cost_ns;
    begin_window(policy, facts);
    return cost_ns > window_ns / SHARE && policy->stay_cost_ns > NEGLIGIBLE_NS &&
           wsdbg_stay_spent_ns(facts) > budget_ns(facts);
}

static bool was_refused_lately(const struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    const uint32_t doublings = policy->refusals < RETRY_DOUBLINGS ? policy->refusals : RETRY_DOUBLINGS;
    return policy->refused_ns && since(facts, policy->refused_ns) < RETRY_NS << doublings;
}

static bool may_come_in(const struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    return facts->context_made_ns && since(facts, facts->context_made_ns) >= SETTLED_NS && !facts->unfinished &&
           !facts->wished && !was_refused_lately(policy, facts);
}

static bool is_calm(const struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    return since(facts, facts->worked_ns) >= (policy->left_ns ? CALM_AGAIN_NS : CALM_NS);
}

/* A program that launches at this pace would be left again at once. */
static bool launches_little(const struct wsdbg_stay_facts *facts)
{
    return facts->launches_second * LAUNCH_MORE_NS <= SECOND_NS / SHARE;
}

static uint64_t price_ns(const struct wsdbg_stay_facts *facts)
{
    const uint64_t code_ns =
        facts->image_bytes < CODE_AT_MOST_NS / COME_IN_NS_BYTE ? facts->image_bytes * COME_IN_NS_BYTE : CODE_AT_MOST_NS;
    return COME_IN_NS + code_ns;
}

/* An attach costs even an idle program: if it wants to go on just then, it has to wait. */
static bool is_worth_it(const struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    const bool can_pay = wsdbg_stay_spent_ns(facts) + price_ns(facts) <= budget_ns(facts);
    return can_pay && (is_calm(policy, facts) || launches_little(facts));
}

/* Before its first launch a program is lent the price: later it may never rest, and what goes wrong at once is seen.
 * The loan is paid off before anybody comes again, to it or, when it has ended, to others. */
static bool is_lent(const struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    return !policy->came_ns && !facts->worked && !facts->probed && price_ns(facts) <= LOAN_NS &&
           facts->ended_spent_ns <= LOANS_NS + since(facts, facts->began_ns) / SHARE;
}

/* The observer waits until the context has settled. */
static bool may_come_at_once(const struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    return facts->context_made_ns && !facts->unfinished && (policy->always || !facts->wished) &&
           !was_refused_lately(policy, facts);
}

/* An idle program has nothing to look at.  A program with work may soon stand still, and then the inspector that stays
 * looks at it at once. */
static bool makes_way(const struct wsdbg_stay_facts *facts)
{
    return facts->wished && !facts->unfinished;
}

enum wsdbg_stay_advice wsdbg_stay_advise(struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    if (policy->stays && facts->looked_ahead)
        return WSDBG_STAY_AS_IT_IS; /* what a look costs is no reason to leave before the next, which would be late */
    if (policy->stays)
        return !policy->always && (makes_way(facts) || costs_too_much(policy, facts)) ? WSDBG_STAY_LEAVE
                                                                                      : WSDBG_STAY_AS_IT_IS;
    if ((policy->always || is_lent(policy, facts)) && may_come_at_once(policy, facts))
        return WSDBG_STAY_COME_IN;
    if (policy->always)
        return WSDBG_STAY_AS_IT_IS;
    return may_come_in(policy, facts) && is_worth_it(policy, facts) ? WSDBG_STAY_COME_IN : WSDBG_STAY_AS_IT_IS;
}

bool wsdbg_stay_may_come_first(const struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    return policy->always || policy->stays || is_lent(policy, facts);
}

void wsdbg_stay_came(struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts)
{
    policy->stays = true;
    policy->came_ns = facts->now_ns;
    policy->stay_cost_ns = 0;
    begin_window(policy, facts);
    policy->refused_ns = 0;
    policy->refusals = 0;
}

void wsdbg_stay_refused(struct wsdbg_stay_policy *policy, uint64_t now_ns)
{
    policy->stays = false;
    policy->refused_ns = now_ns;
    policy->refusals++;
}

void wsdbg_stay_left(struct wsdbg_stay_policy *policy, uint64_t now_ns)
{
    policy->stays = false;
    policy->left_ns = now_ns;
}
