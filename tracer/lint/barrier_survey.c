/* barrier_survey.c - see barrier_survey.h.  Reads the kernel's control flow once for each warp; writes a row an access.
 */
#include "lint/barrier_survey.h"

#include "sass/flow.h"
#include "sass/lanes.h"
#include "sass/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP_THREADS = 32, THREADS_MOST = 1024 };
/* Following the ways of a warp takes about a microsecond an instruction, and a CTA has up to 32 warps. */
enum { INSTRUCTIONS_MOST = 1 << 14 };
enum { SET_BITS = 64, NOTES_MOST = 8 };
enum { NAMED_IDS = 16, NAMED_COUNT_MOST = 4095 };
enum { SPECIAL_THREAD = 0x20, SPECIAL_THREAD_Y = 0x22, SPECIAL_THREAD_Z = 0x23 };

/* ---- sets of instructions ---- */

uint64_t *wsdbg_survey_set_create(const struct wsdbg_barrier_survey *survey)
{
    return calloc(survey->graph->instruction_count / SET_BITS + 1, sizeof(uint64_t));
}

void wsdbg_survey_set_add(uint64_t *set, uint32_t instruction)
{
    set[instruction / SET_BITS] |= (uint64_t)1 << instruction % SET_BITS;
}

/* ---- accesses ---- */

bool wsdbg_survey_is_mbarrier(const struct wsdbg_access *access)
{
    return access->kind >= WSDBG_ACCESS_INIT && access->kind <= WSDBG_ACCESS_INVALIDATE;
}

bool wsdbg_survey_is_named(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_NAMED_SYNC || access->kind == WSDBG_ACCESS_NAMED_ARRIVE;
}

bool wsdbg_survey_arrives(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_ARRIVE || access->kind == WSDBG_ACCESS_ARRIVE_EXPECT ||
           access->kind == WSDBG_ACCESS_DROP || access->kind == WSDBG_ACCESS_COPY_ARRIVE;
}

bool wsdbg_survey_is_number(const struct wsdbg_value_set *set)
{
    return set->known && set->count == 1;
}

bool wsdbg_survey_is_one(const struct wsdbg_value_set *set, uint64_t number)
{
    return wsdbg_survey_is_number(set) && set->base == number;
}

bool wsdbg_survey_may_be(const struct wsdbg_value_set *set, uint64_t number)
{
    if (!set->known || !set->count)
        return true;
    if (set->count == 1 || !set->stride)
        return set->base == number;
    return number >= set->base && (number - set->base) % set->stride == 0 &&
           (number - set->base) / set->stride < set->count;
}

bool wsdbg_survey_may_meet(const struct wsdbg_value_set *a, const struct wsdbg_value_set *b)
{
    const struct wsdbg_value_set *fewer = a->count <= b->count ? a : b, *more = fewer == a ? b : a;
    if (!a->known || !b->known || !fewer->count || fewer->count > WSDBG_SURVEY_PLACES_MOST)
        return true;
    for (uint32_t i = 0; i < fewer->count; i++)
        if (wsdbg_survey_may_be(more, fewer->base + (uint64_t)i * fewer->stride))
            return true;
    return false;
}

/* ---- the kernel ---- */

/* True where every path is known, and no code elsewhere is called. */
static bool is_closed(const struct wsdbg_graph *graph)
{
    for (uint32_t i = 0; i < graph->block_count; i++) {
        const struct wsdbg_block *block = &graph->blocks[i];
        if (graph->procedure_of[i] != WSDBG_GRAPH_NONE &&
            (block->is_indirect || (block->calls && block->callee == WSDBG_GRAPH_NONE)))
            return false;
    }
    return true;
}

static bool asks_for_rows(const struct wsdbg_graph *graph)
{
    for (uint32_t i = 0; i < graph->instruction_count; i++)
        for (unsigned source = 0; source < graph->instructions[i].source_count; source++) {
            const struct wsdbg_operand *operand = &graph->instructions[i].sources[source];
            if (operand->kind == WSDBG_OPERAND_SPECIAL &&
                (operand->value == SPECIAL_THREAD || operand->value == SPECIAL_THREAD_Y ||
                 operand->value == SPECIAL_THREAD_Z))
                return true;
        }
    return false;
}

/* An access whose guard is decided, or whose block is reached, for these threads. */
static bool may_execute(const struct wsdbg_graph *graph, uint32_t instruction)
{
    return graph->procedure_of[graph->block_of[instruction]] != WSDBG_GRAPH_NONE &&
           !wsdbg_flow_never_executes(&graph->instructions[instruction]);
}

static struct wsdbg_survey_name name_of(const struct wsdbg_access *access)
{
    struct wsdbg_survey_name name = {-1, -1};
    if (wsdbg_survey_is_number(&access->address) && access->address.base < NAMED_IDS)
        name.id = (int8_t)access->address.base;
    if (wsdbg_survey_is_number(&access->count) && access->count.base <= NAMED_COUNT_MOST)
        name.count = (int16_t)access->count.base;
    return name;
}

static bool is_open(const struct wsdbg_access *access)
{
    const struct wsdbg_survey_name name = name_of(access);
    return wsdbg_survey_is_named(access) && (name.id < 0 || name.count < 0);
}

static struct wsdbg_thread_range all_threads(const struct wsdbg_barrier_survey *survey)
{
    return (struct wsdbg_thread_range){0, survey->is_in_x ? survey->threads_most : 0};
}

static struct wsdbg_thread_range threads_of_warp(uint32_t warp)
{
    return (struct wsdbg_thread_range){warp * WARP_THREADS, WARP_THREADS};
}

/* What the operands of this warp's named barriers are; of its own where they are not the same for all. */
static void find_names(struct wsdbg_barrier_survey *survey, uint32_t warp, bool is_of_warp)
{
    wsdbg_trace_turn_to(survey->trace, threads_of_warp(warp));
    for (size_t i = 0; i < survey->count; i++) {
        if (!wsdbg_survey_is_named(&survey->accesses[i]))
            continue;
        struct wsdbg_access own = survey->accesses[i];
        if (is_of_warp && is_open(&own))
            wsdbg_access_turn(survey->trace, &own);
        survey->names[warp * survey->count + i] = name_of(&own);
    }
}

/* Whether the warp knows the barrier of each of these instructions that it executes. */
static bool are_known_of(const struct wsdbg_barrier_survey *survey, uint32_t warp)
{
    for (size_t i = 0; i < survey->count; i++) {
        const struct wsdbg_survey_name *name = &survey->names[warp * survey->count + i];
        if (wsdbg_survey_is_named(&survey->accesses[i]) && (survey->warps[i] >> warp & 1) &&
            (name->id < 0 || name->count < 0))
            return false;
    }
    return true;
}

/* Warp by warp, until one has an operand that nobody knows: then nothing can be said of any id. */
static struct wsdbg_error *find_all_names(struct wsdbg_barrier_survey *survey, bool are_told_apart)
{
    bool has_open = false;
    survey->names = calloc(survey->count * survey->warp_count + 1, sizeof *survey->names);
    if (!survey->names)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < survey->count; i++)
        has_open |= is_open(&survey->accesses[i]);
    survey->are_names_known = true;
    for (uint32_t warp = 0; warp < survey->warp_count; warp++) {
        find_names(survey, warp, has_open && are_told_apart && survey->are_names_known);
        survey->are_names_known = survey->are_names_known && are_known_of(survey, warp);
    }
    return NULL;
}

static bool is_barrier(const struct wsdbg_access *access)
{
    return wsdbg_survey_is_mbarrier(access) || wsdbg_survey_is_named(access) ||
           access->kind == WSDBG_ACCESS_CLUSTER_WAIT;
}

/* Which warps reach each access to a barrier.  For other accesses no rule asks. */
static struct wsdbg_error *find_warps(struct wsdbg_barrier_survey *survey)
{
    struct wsdbg_error *error = NULL;
    uint32_t *instructions = calloc(survey->count + 1, sizeof *instructions);
    bool *may = calloc(survey->count + 1, sizeof *may);
    size_t asked = 0;
    if (!instructions || !may)
        error = &wsdbg_error_no_memory;
    for (size_t i = 0; i < survey->count && !error; i++)
        if (is_barrier(&survey->accesses[i]))
            instructions[asked++] = survey->accesses[i].instruction;
    for (uint32_t warp = 0; warp < survey->warp_count && !error; warp++) {
        size_t next = 0;
        wsdbg_trace_turn_to(survey->trace, threads_of_warp(warp));
        error = wsdbg_threads_may_execute(survey->trace, instructions, asked, may);
        for (size_t i = 0; i < survey->count && !error; i++)
            survey->warps[i] |= (uint32_t)(!is_barrier(&survey->accesses[i]) || may[next++]) << warp;
    }
    free(instructions);
    free(may);
    return error;
}

static bool has_barriers(const struct wsdbg_barrier_survey *survey)
{
    for (size_t i = 0; i < survey->count; i++)
        if (is_barrier(&survey->accesses[i]))
            return true;
    return false;
}

/* Parities and lanes are found when somebody asks. */
static struct wsdbg_error *find_accesses(struct wsdbg_barrier_survey *survey)
{
    const uint32_t mbarriers = (2u << WSDBG_ACCESS_INVALIDATE) - (1u << WSDBG_ACCESS_INIT);
    const uint32_t waits = 1u << WSDBG_ACCESS_WAIT;
    const struct wsdbg_access_wanted wanted = {.kinds = mbarriers | 1u << WSDBG_ACCESS_NAMED_SYNC |
                                                        1u << WSDBG_ACCESS_NAMED_ARRIVE |
                                                        1u << WSDBG_ACCESS_CLUSTER_WAIT | 1u << WSDBG_ACCESS_EXIT,
                                               .counts = mbarriers & ~waits};
    struct wsdbg_access *accesses;
    struct wsdbg_error *error = wsdbg_accesses_find_traced(survey->trace, &wanted, &accesses, &survey->count);
    survey->accesses = error ? NULL : accesses;
    return error;
}

static struct wsdbg_error *begin(struct wsdbg_lint_kernel *kernel, struct wsdbg_barrier_survey *survey)
{
    const struct wsdbg_lint_launch *launch = &kernel->launch;
    survey->kernel = kernel;
    survey->launch = *wsdbg_lint_launch_values(kernel);
    survey->threads_most = launch->threads_required ? launch->threads_required : launch->threads_most;
    if (!survey->threads_most || survey->threads_most > THREADS_MOST)
        survey->threads_most = THREADS_MOST;
    survey->warp_count = (survey->threads_most + WARP_THREADS - 1) / WARP_THREADS;
    struct wsdbg_error *error = wsdbg_lint_graph(kernel, &survey->graph);
    if (error)
        return error;
    survey->is_closed = is_closed(survey->graph) && !wsdbg_lint_module_is_relocatable(kernel->module);
    survey->is_in_x = launch->threads_required ? launch->is_one_dimensional : !asks_for_rows(survey->graph);
    survey->launch.is_in_x = survey->is_in_x;
    error = wsdbg_threads_guards(survey->graph, &survey->guards);
    if (error)
        return error;
    survey->launch.guards = survey->guards;
    survey->of_warps = calloc(survey->warp_count, sizeof *survey->of_warps);
    error = survey->of_warps ? wsdbg_trace_create(survey->graph, &survey->launch, all_threads(survey), &survey->trace)
                             : &wsdbg_error_no_memory;
    if (!error)
        error = wsdbg_lanes_create(survey->graph, survey->trace, &survey->lanes);
    return error ? error : find_accesses(survey);
}

static struct wsdbg_error *find_holds(struct wsdbg_barrier_survey *survey)
{
    survey->holds = wsdbg_survey_set_create(survey);
    if (!survey->holds)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < survey->count; i++) {
        const struct wsdbg_access *access = &survey->accesses[i];
        if (access->kind == WSDBG_ACCESS_WAIT || access->kind == WSDBG_ACCESS_NAMED_SYNC ||
            access->kind == WSDBG_ACCESS_CLUSTER_WAIT)
            wsdbg_survey_set_add(survey->holds, access->instruction);
    }
    return NULL;
}

/* Where warps cannot be told apart every access is one of all. */
static struct wsdbg_error *tell_warps(struct wsdbg_barrier_survey *survey)
{
    const uint32_t all = survey->warp_count == WSDBG_SURVEY_WARPS_MOST ? UINT32_MAX : (1u << survey->warp_count) - 1;
    const bool can_tell = survey->is_in_x && survey->graph->instruction_count <= INSTRUCTIONS_MOST;
    survey->warps = calloc(survey->count + 1, sizeof *survey->warps);
    survey->again = calloc(survey->count + 1, sizeof *survey->again);
    if (!survey->warps || !survey->again)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < survey->count && !can_tell; i++)
        survey->warps[i] = all;
    struct wsdbg_error *error = can_tell ? find_warps(survey) : NULL;
    if (!error)
        error = find_holds(survey);
    return error ? error : find_all_names(survey, can_tell);
}

struct wsdbg_error *wsdbg_barrier_survey_create(struct wsdbg_lint_kernel *kernel, struct wsdbg_barrier_survey **out)
{
    *out = NULL;
    struct wsdbg_barrier_survey *survey = calloc(1, sizeof *survey);
    struct wsdbg_error *error = survey ? begin(kernel, survey) : &wsdbg_error_no_memory;
    const bool is_of_use =
        !error && survey->is_closed && has_barriers(survey) && survey->count <= WSDBG_SURVEY_ACCESSES_MOST;
    if (is_of_use)
        error = tell_warps(survey);
    if (is_of_use && !error) {
        *out = survey;
        return NULL;
    }
    wsdbg_barrier_survey_destroy(survey);
    return error;
}

void wsdbg_barrier_survey_destroy(struct wsdbg_barrier_survey *survey)
{
    if (!survey)
        return;
    for (uint32_t warp = 0; survey->of_warps && warp < survey->warp_count; warp++)
        wsdbg_graph_destroy(survey->of_warps[warp]);
    free(survey->of_warps);
    wsdbg_lanes_destroy(survey->lanes);
    wsdbg_trace_destroy(survey->trace);
    free((struct wsdbg_access *)survey->accesses);
    free(survey->warps);
    free(survey->names);
    free(survey->holds);
    free(survey->guards);
    free(survey->again);
    free(survey);
}

bool wsdbg_survey_is_block_sync(const struct wsdbg_barrier_survey *survey, size_t access)
{
    const struct wsdbg_access *sync = &survey->accesses[access];
    const uint32_t required = survey->kernel->launch.threads_required;
    return sync->kind == WSDBG_ACCESS_NAMED_SYNC &&
           (wsdbg_survey_is_one(&sync->count, 0) || (required && wsdbg_survey_is_one(&sync->count, required)));
}

enum wsdbg_lanes wsdbg_survey_lanes(const struct wsdbg_barrier_survey *survey, size_t access)
{
    wsdbg_trace_turn_to(survey->trace, all_threads(survey));
    return wsdbg_lanes_at(survey->lanes, survey->accesses[access].instruction);
}

struct wsdbg_value_set wsdbg_survey_parity(const struct wsdbg_barrier_survey *survey, size_t wait)
{
    struct wsdbg_access access = survey->accesses[wait];
    wsdbg_trace_turn_to(survey->trace, all_threads(survey));
    wsdbg_access_turn(survey->trace, &access);
    return access.count;
}

struct wsdbg_error *wsdbg_survey_graph_of_warp(const struct wsdbg_barrier_survey *survey, uint32_t warp,
                                               const struct wsdbg_graph **out)
{
    struct wsdbg_error *error = NULL;
    wsdbg_trace_turn_to(survey->trace, threads_of_warp(warp));
    if (!survey->of_warps[warp])
        error = wsdbg_graph_create_traced(survey->trace, &survey->of_warps[warp]);
    if (!error)
        *out = survey->of_warps[warp];
    return error;
}

/* ---- what must be, and what may come again ---- */

static bool comes_again(const struct wsdbg_barrier_survey *survey, uint32_t instruction, wsdbg_instruction_set avoid)
{
    return instruction + 1 < survey->graph->instruction_count &&
           wsdbg_graph_reaches(survey->graph, instruction + 1, instruction, avoid) != WSDBG_REACHES_NO;
}

enum wsdbg_survey_again wsdbg_survey_again(const struct wsdbg_barrier_survey *survey, size_t access)
{
    const uint32_t instruction = survey->accesses[access].instruction;
    if (!survey->again[access])
        survey->again[access] = !comes_again(survey, instruction, NULL)           ? WSDBG_SURVEY_NEVER_AGAIN
                                : comes_again(survey, instruction, survey->holds) ? WSDBG_SURVEY_AGAIN_AT_ONCE
                                                                                  : WSDBG_SURVEY_AGAIN_WHEN_HELD;
    return (enum wsdbg_survey_again)survey->again[access];
}

/* Whether every path of this graph from the start to an exit executes one of the set. */
static bool is_on_every_path(const struct wsdbg_graph *graph, wsdbg_instruction_set set)
{
    bool has_exit = false;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        uint8_t least, most;
        if (graph->instructions[i].operation != WSDBG_OP_EXIT || !may_execute(graph, i) ||
            !wsdbg_graph_passes(graph, 0, i, set, &least, &most))
            continue;
        if (!least)
            return false;
        has_exit = true;
    }
    return has_exit;
}

struct wsdbg_error *wsdbg_survey_must_execute(const struct wsdbg_barrier_survey *survey, wsdbg_instruction_set set,
                                              uint32_t warps, bool *out)
{
    struct wsdbg_error *error = NULL;
    *out = is_on_every_path(survey->graph, set);
    for (uint32_t warp = 0; warp < survey->warp_count && survey->is_in_x && !*out && !error; warp++) {
        struct wsdbg_graph *graph = NULL;
        if (!(warps >> warp & 1))
            continue;
        wsdbg_trace_turn_to(survey->trace, (struct wsdbg_thread_range){warp * WARP_THREADS, 1});
        error = wsdbg_graph_create_traced(survey->trace, &graph);
        *out = !error && is_on_every_path(graph, set);
        wsdbg_graph_destroy(graph);
    }
    return error;
}

/* ---- words ---- */

uint32_t wsdbg_survey_warp_count(uint32_t warps)
{
    return (uint32_t)__builtin_popcount(warps);
}

const char *wsdbg_survey_warps_text(uint32_t warps, char out[WSDBG_SURVEY_WARPS_BYTES])
{
    size_t used =
        (size_t)snprintf(out, WSDBG_SURVEY_WARPS_BYTES, "%s", wsdbg_survey_warp_count(warps) == 1 ? "warp" : "warps");
    const char *before = " ";
    for (uint32_t first = 0; first < WSDBG_SURVEY_WARPS_MOST; first++) {
        uint32_t last = first;
        if (!(warps >> first & 1))
            continue;
        while (last + 1 < WSDBG_SURVEY_WARPS_MOST && warps >> (last + 1) & 1)
            last++;
        used += (size_t)snprintf(out + used, WSDBG_SURVEY_WARPS_BYTES - used, "%s%u", before, first);
        if (last > first)
            used += (size_t)snprintf(out + used, WSDBG_SURVEY_WARPS_BYTES - used, "-%u", last);
        before = ", ";
        first = last;
    }
    return out;
}

static bool is_at(const struct wsdbg_lint_note *note, const struct wsdbg_lint_place *place, const char *text)
{
    return place->file && note->place.file && strcmp(note->place.file, place->file) == 0 &&
           note->place.line == place->line && strcmp(note->text, text) == 0;
}

void wsdbg_survey_note(const struct wsdbg_barrier_survey *survey, struct wsdbg_lint_findings *findings,
                       struct wsdbg_lint_finding *finding, uint32_t instruction, const char *text)
{
    const struct wsdbg_lint_place place = wsdbg_lint_place_of_code(survey->kernel, instruction);
    if (!finding || finding->note_count >= NOTES_MOST)
        return;
    for (size_t i = 0; i < finding->note_count; i++)
        if (is_at(&finding->notes[i], &place, text))
            return;
    wsdbg_lint_note(findings, finding, place, "%s", text);
}
