/* rule_mbarrier_waits.c - waits for an mbarrier whose phases can never end, and other uses of one that nobody
 * initialises.
 *
 * Reads: a survey.  Adds BARRIER_NOT_INIT, ARRIVE_MISSING, TX_NO_ARRIVE, ARRIVE_SHORT, TX_MISMATCH: an error where some
 * thread must reach the wait, asks for the phase that never ends, and comes back to the wait when that is not over.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lint/barrier_rules.h"
#include "sass/definitions.h"
#include "sass/flow.h"

enum { PLACE_TEXT_BYTES = 96 };

/* The instructions that name the same places: the first look and the loop of one wait, say. */
struct group {
    const struct wsdbg_barrier_survey *survey;
    size_t first;       /* access */
    uint64_t *set;      /* instructions */
    uint32_t warps;     /* that may reach one */
    bool waits;         /* they are waits; else they arrive, or name it otherwise */
    bool is_for_first;  /* waits that all ask for the first phase */
    bool is_for_second; /* … for the one before it, which is always over */
    struct wsdbg_mbarrier_verdict verdict;
    uint32_t place; /* the one that the verdict is about, the first of them */
};

static bool is_same_set(const struct wsdbg_value_set *a, const struct wsdbg_value_set *b)
{
    return a->known == b->known && a->base == b->base && a->stride == b->stride && a->count == b->count;
}

static bool is_wait(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_WAIT;
}

/* Uses that need an initialised mbarrier of this CTA, at places that are all known. */
static bool is_judged(const struct wsdbg_barrier_survey *survey, size_t number)
{
    const struct wsdbg_access *access = &survey->accesses[number];
    const bool is_use = is_wait(access) || wsdbg_survey_arrives(access) || access->kind == WSDBG_ACCESS_EXPECT;
    return survey->warps[number] && is_use && !access->is_any_rank && access->address.known && access->address.count &&
           access->address.count <= WSDBG_SURVEY_PLACES_MOST;
}

static bool is_of_group(const struct wsdbg_barrier_survey *survey, size_t first, size_t number)
{
    return is_judged(survey, number) && is_wait(&survey->accesses[number]) == is_wait(&survey->accesses[first]) &&
           is_same_set(&survey->accesses[number].address, &survey->accesses[first].address);
}

static void gather(struct group *group)
{
    const struct wsdbg_barrier_survey *survey = group->survey;
    group->waits = is_wait(&survey->accesses[group->first]);
    for (size_t i = group->first; i < survey->count; i++) {
        if (!is_of_group(survey, group->first, i))
            continue;
        wsdbg_survey_set_add(group->set, survey->accesses[i].instruction);
        group->warps |= survey->warps[i];
    }
}

static void find_parities(struct group *group)
{
    const struct wsdbg_barrier_survey *survey = group->survey;
    group->is_for_first = group->is_for_second = group->waits;
    for (size_t i = group->first; i < survey->count && (group->is_for_first || group->is_for_second); i++) {
        if (!is_of_group(survey, group->first, i))
            continue;
        const struct wsdbg_value_set parity = wsdbg_survey_parity(survey, i);
        group->is_for_first &= wsdbg_survey_is_one(&parity, 0);
        group->is_for_second &= wsdbg_survey_is_one(&parity, 1);
    }
}

/* The verdict on the places that the group names: something is wrong with it only where it is with all of them. */
static void judge(struct group *group)
{
    const struct wsdbg_value_set *address = &group->survey->accesses[group->first].address;
    for (uint32_t i = 0; i < address->count; i++) {
        const uint32_t place = (uint32_t)(address->base + (uint64_t)i * address->stride);
        const struct wsdbg_mbarrier_verdict verdict = wsdbg_mbarrier_judge(group->survey, place);
        if (verdict.fault == WSDBG_MBARRIER_FINE) {
            group->verdict = verdict;
            return;
        }
        if (i == 0) {
            group->verdict = verdict;
            group->place = place;
        }
        group->verdict.is_proven &= verdict.is_proven;
    }
}

/* ---- whether a wait that is not over comes back ---- */

/* The block to which the thread goes where the wait at `number` was not over; WSDBG_GRAPH_NONE = not known. */
static uint32_t block_when_not_over(const struct wsdbg_graph *graph, uint32_t number)
{
    const struct wsdbg_block *block = &graph->blocks[graph->block_of[number]];
    const uint32_t last = block->first + block->count - 1;
    const struct wsdbg_instruction *branch = &graph->instructions[last], *wait = &graph->instructions[number];
    const unsigned over = wait->destination_count ? wsdbg_register_of(&wait->destinations[0], 0) : WSDBG_REGISTER_NONE;
    if (branch->operation != WSDBG_OP_BRA || wsdbg_flow_asks_more_than_guard(branch) || over == WSDBG_REGISTER_NONE ||
        wsdbg_register_of_guard(branch) != over || !wsdbg_flow_is_unguarded(wait))
        return WSDBG_GRAPH_NONE;
    for (uint32_t i = number + 1; i < last; i++)
        if (wsdbg_writes(&graph->instructions[i], over))
            return WSDBG_GRAPH_NONE;
    return block->successor[branch->guard_is_negated ? 1 : 0];
}

/* True where no thread gets from a wait of the group to an exit as long as none of them is over. */
static bool holds_threads(const struct group *group)
{
    const struct wsdbg_graph *graph = group->survey->graph;
    uint64_t *reached = wsdbg_survey_set_create(group->survey);
    bool holds = reached != NULL;
    for (size_t i = group->first; i < group->survey->count && holds; i++) {
        if (!is_of_group(group->survey, group->first, i))
            continue;
        const uint32_t next = block_when_not_over(graph, group->survey->accesses[i].instruction);
        holds =
            next != WSDBG_GRAPH_NONE && !wsdbg_graph_reach_set(graph, graph->blocks[next].first, group->set, reached);
        for (uint32_t k = 0; k < graph->instruction_count && holds; k++)
            holds = !(graph->instructions[k].operation == WSDBG_OP_EXIT && wsdbg_flow_contains(reached, k));
    }
    free(reached);
    return holds;
}

/* An error only where nothing is left open: what is wrong, that some warp comes here, that it stays. */
static struct wsdbg_error *find_severity(const struct group *group, enum wsdbg_lint_severity *out)
{
    const bool is_of_bytes = group->verdict.fault >= WSDBG_MBARRIER_NO_BYTES;
    const bool stays = group->verdict.fault == WSDBG_MBARRIER_NOT_INITIALISED ||
                       (group->waits && group->is_for_first && holds_threads(group));
    bool must = false;
    *out = WSDBG_LINT_WARNING;
    if (!group->verdict.is_proven || is_of_bytes || !stays)
        return NULL;
    struct wsdbg_error *error = wsdbg_survey_must_execute(group->survey, group->set, group->warps, &must);
    if (must)
        *out = WSDBG_LINT_ERROR;
    return error;
}

/* ---- words ---- */

/* "the mbarrier at shared address 0x400", "any of the 4 mbarriers from …" */
static const char *places_text(const struct group *group, const char *of_several, char out[PLACE_TEXT_BYTES])
{
    const struct wsdbg_value_set *address = &group->survey->accesses[group->first].address;
    if (address->count == 1)
        snprintf(out, PLACE_TEXT_BYTES, "the mbarrier at shared address 0x%" PRIx64, address->base);
    else
        snprintf(out, PLACE_TEXT_BYTES, "%s of the %u mbarriers from shared address 0x%" PRIx64 " on", of_several,
                 address->count, address->base);
    return out;
}

static void note_warps(const struct group *group, struct wsdbg_lint_findings *out, struct wsdbg_lint_finding *finding)
{
    char who[WSDBG_SURVEY_WARPS_BYTES], text[WSDBG_SURVEY_WARPS_BYTES + 32];
    const struct wsdbg_barrier_survey *survey = group->survey;
    if (!survey->is_in_x)
        return;
    snprintf(text, sizeof text, "%s may come here", wsdbg_survey_warps_text(group->warps, who));
    wsdbg_survey_note(survey, out, finding, survey->accesses[group->first].instruction, text);
}

/* A finding at a wait, whose message begins or ends with what becomes of the waiting warps. */
static struct wsdbg_lint_finding *add(const struct group *group, struct wsdbg_lint_findings *out,
                                      enum wsdbg_lint_code code, enum wsdbg_lint_severity severity, const char *text)
{
    const struct wsdbg_barrier_survey *survey = group->survey;
    const bool is_error = severity == WSDBG_LINT_ERROR;
    const struct wsdbg_lint_place place =
        wsdbg_lint_place_of_code(survey->kernel, survey->accesses[group->first].instruction);
    struct wsdbg_lint_finding *finding =
        wsdbg_lint_add(out, code, severity, place, "%s%s%s", is_error ? "this wait never ends: " : "", text,
                       is_error ? "" : ": who waits here for the first phase waits for ever");
    note_warps(group, out, finding);
    return finding;
}

/* Notes at the instructions that do something to the place. */
static void note_accesses(const struct group *group, struct wsdbg_lint_findings *out,
                          struct wsdbg_lint_finding *finding, bool (*is_meant)(const struct wsdbg_access *access))
{
    const struct wsdbg_barrier_survey *survey = group->survey;
    for (size_t i = 0; i < survey->count; i++) {
        const struct wsdbg_access *access = &survey->accesses[i];
        char warps[WSDBG_SURVEY_WARPS_BYTES] = "", count[32] = "", text[2 * WSDBG_SURVEY_WARPS_BYTES];
        if (!survey->warps[i] || !wsdbg_survey_is_mbarrier(access) || !is_meant(access) ||
            !wsdbg_survey_may_be(&access->address, group->place))
            continue;
        if (wsdbg_survey_is_number(&access->count) && access->kind != WSDBG_ACCESS_ARRIVE)
            snprintf(count, sizeof count, " %" PRIu64, access->count.base);
        if (survey->is_in_x)
            wsdbg_survey_warps_text(survey->warps[i], warps);
        snprintf(text, sizeof text, "%s%s%s%s%s", wsdbg_access_kind_name((enum wsdbg_access_kind)access->kind), count,
                 *warps ? " by " : "", warps,
                 wsdbg_survey_lanes(survey, i) == WSDBG_LANES_ONE ? ", one lane each" : "");
        wsdbg_survey_note(survey, out, finding, access->instruction, text);
    }
}

static bool is_init_or_arrival(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_INIT || wsdbg_survey_arrives(access);
}

static bool is_init(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_INIT;
}

static bool is_of_bytes(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_ARRIVE_EXPECT || access->kind == WSDBG_ACCESS_EXPECT ||
           access->kind == WSDBG_ACCESS_COPY;
}

static void say_not_initialised(const struct group *group, struct wsdbg_lint_findings *out,
                                enum wsdbg_lint_severity severity)
{
    char places[PLACE_TEXT_BYTES];
    const struct wsdbg_barrier_survey *survey = group->survey;
    const struct wsdbg_access *access = &survey->accesses[group->first];
    const struct wsdbg_lint_place place = wsdbg_lint_place_of_code(survey->kernel, access->instruction);
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        out, WSDBG_LINT_BARRIER_NOT_INIT, severity, place, "%s on %s, which nothing in the kernel initialises",
        group->waits ? "a wait" : wsdbg_access_kind_name((enum wsdbg_access_kind)access->kind),
        places_text(group, "one", places));
    note_warps(group, out, finding);
    wsdbg_lint_fix(out, finding, "initialise it by one thread, then synchronise the block before it is used");
}

static void say_no_arrival(const struct group *group, struct wsdbg_lint_findings *out,
                           enum wsdbg_lint_severity severity)
{
    const bool has_bytes = group->verdict.fault == WSDBG_MBARRIER_BYTES_ONLY;
    char places[PLACE_TEXT_BYTES], text[2 * PLACE_TEXT_BYTES];
    snprintf(text, sizeof text, "%s on %s",
             has_bytes ? "bytes are announced or come, and nothing in the kernel arrives"
                       : "nothing in the kernel arrives",
             places_text(group, "any", places));
    struct wsdbg_lint_finding *finding =
        add(group, out, has_bytes ? WSDBG_LINT_TX_NO_ARRIVE : WSDBG_LINT_ARRIVE_MISSING, severity, text);
    note_accesses(group, out, finding, has_bytes ? is_of_bytes : is_init);
    wsdbg_lint_fix(out, finding,
                   has_bytes ? "mbarrier.arrive.expect_tx announces and arrives; expect_tx alone does not arrive"
                             : "let those who are waited for arrive on it");
}

static void say_short(const struct group *group, struct wsdbg_lint_findings *out, enum wsdbg_lint_severity severity)
{
    char places[PLACE_TEXT_BYTES], text[3 * PLACE_TEXT_BYTES];
    snprintf(text, sizeof text, "%s counts %u arrivals, and at most %u can come in a phase%s",
             places_text(group, "each", places), group->verdict.count, group->verdict.arrivals,
             group->verdict.is_proven ? "" : " unless a thread arrives twice in it");
    struct wsdbg_lint_finding *finding = add(group, out, WSDBG_LINT_ARRIVE_SHORT, severity, text);
    note_accesses(group, out, finding, is_init_or_arrival);
    wsdbg_lint_fix(out, finding,
                   "initialise it with the arrivals that are really made, or let the missing threads arrive");
}

static void say_bytes(const struct group *group, struct wsdbg_lint_findings *out, enum wsdbg_lint_severity severity)
{
    char places[PLACE_TEXT_BYTES], text[3 * PLACE_TEXT_BYTES];
    snprintf(text, sizeof text, "on %s %" PRIu64 " bytes are announced, and %s", places_text(group, "each", places),
             group->verdict.bytes,
             group->verdict.fault == WSDBG_MBARRIER_NO_BYTES ? "no copy brings any"
                                                             : "no number of its copies brings just as many");
    struct wsdbg_lint_finding *finding = add(group, out, WSDBG_LINT_TX_MISMATCH, severity, text);
    note_accesses(group, out, finding, is_of_bytes);
    wsdbg_lint_fix(out, finding, "announce the sum of the bytes of all copies of a phase");
}

static void say(const struct group *group, struct wsdbg_lint_findings *out, enum wsdbg_lint_severity severity)
{
    switch (group->verdict.fault) {
    case WSDBG_MBARRIER_FINE:
        break;
    case WSDBG_MBARRIER_NOT_INITIALISED:
        say_not_initialised(group, out, severity);
        break;
    case WSDBG_MBARRIER_NO_ARRIVAL:
    case WSDBG_MBARRIER_BYTES_ONLY:
        say_no_arrival(group, out, severity);
        break;
    case WSDBG_MBARRIER_SHORT:
        say_short(group, out, severity);
        break;
    case WSDBG_MBARRIER_NO_BYTES:
    case WSDBG_MBARRIER_OTHER_BYTES:
        say_bytes(group, out, severity);
        break;
    }
}

/* A wait for the phase before the first one is over at once; what is wrong with the others it does not feel. */
static bool is_felt(const struct group *group)
{
    return group->verdict.fault == WSDBG_MBARRIER_NOT_INITIALISED || (group->waits && !group->is_for_second);
}

static struct wsdbg_error *judge_group(struct group *group, struct wsdbg_lint_findings *out, unsigned *found)
{
    enum wsdbg_lint_severity severity = WSDBG_LINT_WARNING;
    gather(group);
    judge(group);
    if (group->verdict.fault == WSDBG_MBARRIER_FINE)
        return NULL;
    find_parities(group);
    if (!is_felt(group) || (*found)++ >= WSDBG_SURVEY_TRIES_MOST)
        return NULL;
    struct wsdbg_error *error = find_severity(group, &severity);
    if (!error)
        say(group, out, severity);
    return error;
}

static bool is_first_of_group(const struct wsdbg_barrier_survey *survey, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (is_of_group(survey, number, i))
            return false;
    return is_judged(survey, number);
}

struct wsdbg_error *wsdbg_barrier_rule_waits(const struct wsdbg_barrier_survey *survey, struct wsdbg_lint_findings *out)
{
    struct wsdbg_error *error = NULL;
    unsigned found = 0;
    for (size_t i = 0; i < survey->count && !error; i++) {
        if (!is_first_of_group(survey, i))
            continue;
        struct group group = {.survey = survey, .first = i};
        group.set = wsdbg_survey_set_create(survey);
        error = group.set ? judge_group(&group, out, &found) : &wsdbg_error_no_memory;
        free(group.set);
    }
    return error;
}
