/* merge_inputs.c - opens the databases that are to be merged, and finds out whether they belong together: of one run,
 * of different ranks, on what clock.
 *
 * Reads: session databases.  Writes: struct wsdbg_merge and struct wsdbg_merge_input.
 */
#include "store/merge_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Two machines whose boots differ by less are one machine: its two clocks drift apart by some milliseconds a day. */
#define SAME_CLOCK_NS INT64_C(1000000000)
/* No clock shows more: 73 years.  Sums and differences of such times are numbers of 64 bits. */
#define TIME_MOST_NS (INT64_MAX / 4)

/* ---- reading ---- */

static bool push_number(int64_t **list, size_t *count, int64_t value)
{
    if (!wsdbg_array_push(list, count, sizeof **list))
        return false;
    (*list)[*count - 1] = value;
    return true;
}

/* Keeps a set: a number that is there already is not added. */
static bool add_u32(uint32_t **list, size_t *count, uint32_t value)
{
    for (size_t i = 0; i < *count; i++)
        if ((*list)[i] == value)
            return true;
    if (!wsdbg_array_push(list, count, sizeof **list))
        return false;
    (*list)[*count - 1] = value;
    return true;
}

static bool add_variable(struct wsdbg_merge_input *input, const char *line, size_t length)
{
    const char *equals = memchr(line, '=', length);
    if (!equals)
        return true;
    for (size_t i = 0; i < input->variable_count; i++)
        if (strlen(input->variables[i].text) == length && memcmp(input->variables[i].text, line, length) == 0)
            return true;
    char *text = strndup(line, length);
    if (!text || !wsdbg_array_push(&input->variables, &input->variable_count, sizeof *input->variables)) {
        free(text);
        return false;
    }
    input->variables[input->variable_count - 1] =
        (struct wsdbg_merge_variable){.text = text, .name_length = (size_t)(equals - line)};
    return true;
}

static bool add_variables(struct wsdbg_merge_input *input, const char *job)
{
    while (job && *job) {
        const size_t length = strcspn(job, "\n");
        if (!add_variable(input, job, length))
            return false;
        job += length + (job[length] == '\n');
    }
    return true;
}

static bool add_process(struct wsdbg_merge_input *input, struct wsdbg_select *q)
{
    if (!push_number(&input->processes, &input->process_count, wsdbg_select_number(q)))
        return false;
    const struct wsdbg_optional_u32 rank = wsdbg_select_u32(q), world_size = wsdbg_select_u32(q);
    if (rank.known && !add_u32(&input->node->ranks, &input->node->rank_count, rank.value))
        return false;
    if (world_size.known && !add_u32(&input->world_sizes, &input->world_size_count, world_size.value))
        return false;
    return add_variables(input, wsdbg_select_string(q));
}

static struct wsdbg_error *read_processes(struct wsdbg_merge_input *input)
{
    struct wsdbg_select q;
    wsdbg_select_begin(&q, input->store, "SELECT process_id, rank, world_size, job FROM process ORDER BY process_id",
                       0);
    while (wsdbg_select_next(&q))
        if (!add_process(input, &q))
            wsdbg_select_fail(&q, SQLITE_NOMEM);
    input->node->process_count = input->process_count;
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *read_session(struct wsdbg_merge_input *input)
{
    struct wsdbg_select q;
    wsdbg_select_begin(&q, input->store,
                       "SELECT coalesce(hostname, ''), started_unix_ns, started_ns, max(coalesce(ended_ns, 0), "
                       "coalesce((SELECT max(time_ns) FROM snapshot), 0)), coalesce(hang, 0), "
                       "(SELECT count(*) FROM node) FROM session",
                       0);
    int64_t nodes = 0;
    if (wsdbg_select_next(&q)) {
        const char *hostname = wsdbg_select_string(&q);
        input->hostname = strdup(hostname ? hostname : "");
        input->started_unix_ns = (uint64_t)wsdbg_select_number(&q);
        input->started_ns = (uint64_t)wsdbg_select_number(&q);
        input->ended_ns = (uint64_t)wsdbg_select_number(&q);
        input->hang = wsdbg_select_number(&q) != 0;
        nodes = wsdbg_select_number(&q);
    }
    struct wsdbg_error *error = wsdbg_select_end(&q);
    if (!error && !input->hostname)
        error = &wsdbg_error_no_memory;
    if (!error && nodes > 0)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                   "%s: was made by wsdbg merge; give the databases that it was made of",
                                   input->node->path);
    return error;
}

static struct wsdbg_error *read_picture(struct wsdbg_merge_input *input)
{
    struct wsdbg_select q;
    wsdbg_select_begin(
        &q, input->store,
        "SELECT s.id, coalesce((SELECT id FROM snapshot b WHERE b.id = s.before_id AND b.id < s.id), 0), "
        "s.time_ns, max(s.time_ns - coalesce(s.progress_ns, s.time_ns), 0) FROM shown_snapshot s",
        0);
    if (wsdbg_select_next(&q)) {
        input->shown = wsdbg_select_number(&q);
        input->before = wsdbg_select_number(&q);
        input->shown_ns = (uint64_t)wsdbg_select_number(&q);
        input->still_ns = (uint64_t)wsdbg_select_number(&q);
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *check_times(const struct wsdbg_merge_input *input)
{
    const uint64_t times_ns[] = {input->started_unix_ns, input->started_ns, input->ended_ns, input->shown_ns,
                                 input->still_ns};
    for (size_t i = 0; i < sizeof times_ns / sizeof *times_ns; i++)
        if (times_ns[i] > TIME_MOST_NS)
            return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: is damaged: a time is %" PRIu64 " ns",
                                      input->node->path, times_ns[i]);
    return NULL;
}

static struct wsdbg_error *open_input(struct wsdbg_merge_input *input)
{
    struct wsdbg_error *error = wsdbg_store_open(input->node->path, &input->store);
    if (!error && sqlite3_exec(input->store->db, "SAVEPOINT merge", NULL, NULL, NULL) != SQLITE_OK)
        error = wsdbg_db_error(input->store->db, input->node->path, "read");
    if (!error)
        error = read_session(input);
    if (!error)
        error = read_picture(input);
    if (!error)
        error = check_times(input);
    return error ? error : read_processes(input);
}

struct wsdbg_error *wsdbg_merge_open(const char *const *paths, size_t count, struct wsdbg_merge *merge,
                                     struct wsdbg_merge_input *inputs)
{
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < count; i++) {
        merge->nodes[i].path = paths[i];
        inputs[i].node = &merge->nodes[i];
        inputs[i].number = (int64_t)i + 1;
        error = open_input(&inputs[i]);
    }
    return error;
}

void wsdbg_merge_close(struct wsdbg_merge_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wsdbg_store_close(inputs[i].store);
        for (size_t v = 0; v < inputs[i].variable_count; v++)
            free(inputs[i].variables[v].text);
        free(inputs[i].variables);
        free(inputs[i].world_sizes);
        free(inputs[i].hostname);
        free(inputs[i].processes);
        free(inputs[i].new_processes);
        free(inputs[i].findings);
        free(inputs[i].new_findings);
    }
    free(inputs);
}

/* ---- of one run ---- */

static bool same_name(const struct wsdbg_merge_variable *a, const struct wsdbg_merge_variable *b)
{
    return a->name_length == b->name_length && memcmp(a->text, b->text, a->name_length) == 0;
}

/* What the two have of the variable `of` of the first one: nothing in the second, the same, or only other values. */
enum agreement { SILENT, AGREE, DIFFER };
static enum agreement compare_variable(const struct wsdbg_merge_variable *of, const struct wsdbg_merge_input *a,
                                       const struct wsdbg_merge_input *b, const char **other)
{
    enum agreement result = SILENT;
    for (size_t j = 0; j < b->variable_count; j++) {
        if (!same_name(of, &b->variables[j]))
            continue;
        for (size_t i = 0; i < a->variable_count; i++)
            if (strcmp(a->variables[i].text, b->variables[j].text) == 0)
                return AGREE;
        *other = b->variables[j].text + of->name_length + 1;
        result = DIFFER;
    }
    return result;
}

static struct wsdbg_error *other_run(const struct wsdbg_merge_input *a, const struct wsdbg_merge_input *b,
                                     const char *name, int name_length, const char *of_a, const char *of_b)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                              "%s and %s are of different runs: %.*s is %s in the one and %s in the other",
                              a->node->path, b->node->path, name_length, name, of_a, of_b);
}

/* Two runs may well have the same size, so that ties nothing. */
static struct wsdbg_error *compare_world_sizes(const struct wsdbg_merge_input *a, const struct wsdbg_merge_input *b)
{
    char of_a[16], of_b[16];
    for (size_t i = 0; i < a->world_size_count; i++)
        for (size_t j = 0; j < b->world_size_count; j++)
            if (a->world_sizes[i] == b->world_sizes[j])
                return NULL;
    if (a->world_size_count == 0 || b->world_size_count == 0)
        return NULL;
    snprintf(of_a, sizeof of_a, "%u", a->world_sizes[0]);
    snprintf(of_b, sizeof of_b, "%u", b->world_sizes[0]);
    return other_run(a, b, "the world size", (int)strlen("the world size"), of_a, of_b);
}

static bool note_same(struct wsdbg_merge *merge, const char *text)
{
    const size_t length = strlen(text);
    const char *found = merge->same;
    while ((found = strstr(found, text))) {
        if ((found == merge->same || found[-1] == ' ') && (found[length] == ',' || found[length] == '\0'))
            return true;
        found += length;
    }
    char *longer;
    if (asprintf(&longer, "%s%s%s", merge->same, merge->same[0] ? ", " : "", text) < 0)
        return false;
    free(merge->same);
    merge->same = longer;
    return true;
}

static struct wsdbg_error *compare_runs(struct wsdbg_merge *merge, const struct wsdbg_merge_input *a,
                                        const struct wsdbg_merge_input *b, bool *tied)
{
    struct wsdbg_error *error = compare_world_sizes(a, b);
    for (size_t i = 0; !error && i < a->variable_count; i++) {
        const struct wsdbg_merge_variable *of = &a->variables[i];
        const char *other = NULL;
        const enum agreement agreement = compare_variable(of, a, b, &other);
        if (agreement == DIFFER)
            error = other_run(a, b, of->text, (int)of->name_length, of->text + of->name_length + 1, other);
        else if (agreement == AGREE && !note_same(merge, of->text))
            error = &wsdbg_error_no_memory;
        *tied |= agreement == AGREE;
    }
    return error;
}

static struct wsdbg_error *check_ranks(const struct wsdbg_merge_input *a, const struct wsdbg_merge_input *b)
{
    for (size_t i = 0; i < a->node->rank_count; i++)
        for (size_t j = 0; j < b->node->rank_count; j++)
            if (a->node->ranks[i] == b->node->ranks[j])
                return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s and %s both have rank %u", a->node->path,
                                          b->node->path, a->node->ranks[i]);
    return NULL;
}

/* Not by their names: a file may have several. */
static bool is_same_session(const struct wsdbg_merge_input *a, const struct wsdbg_merge_input *b)
{
    return a->started_unix_ns == b->started_unix_ns && a->started_ns == b->started_ns &&
           strcmp(a->hostname, b->hostname) == 0;
}

static struct wsdbg_error *check_pair(struct wsdbg_merge *merge, const struct wsdbg_merge_input *a,
                                      const struct wsdbg_merge_input *b, bool *tied)
{
    if (is_same_session(a, b))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s and %s are the same session", a->node->path,
                                  b->node->path);
    struct wsdbg_error *error = compare_runs(merge, a, b, tied);
    return error ? error : check_ranks(a, b);
}

static struct wsdbg_error *check_pairs(struct wsdbg_merge *merge, struct wsdbg_merge_input *inputs)
{
    struct wsdbg_error *error = NULL;
    bool *tied = calloc(merge->node_count, sizeof *tied);
    if (!tied)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; !error && i < merge->node_count; i++)
        for (size_t j = i + 1; !error && j < merge->node_count; j++) {
            bool pair = false;
            error = check_pair(merge, &inputs[i], &inputs[j], &pair);
            tied[i] |= pair;
            tied[j] |= pair;
        }
    for (size_t i = 0; i < merge->node_count; i++)
        merge->untied += !tied[i];
    free(tied);
    return error;
}

/* ---- clocks and names ---- */

/* From what a node's clock shows to Unix time. */
static int64_t to_unix_ns(const struct wsdbg_merge_input *input)
{
    return (int64_t)(input->started_unix_ns - input->started_ns);
}

static void tie_clock(const struct wsdbg_merge_input *first, struct wsdbg_merge_input *input)
{
    const bool known = first->started_unix_ns && input->started_unix_ns;
    const int64_t shift_ns = known ? to_unix_ns(input) - to_unix_ns(first) : 0;
    const bool same_host = input->hostname[0] && strcmp(input->hostname, first->hostname) == 0;
    input->node->tie = WSDBG_CLOCK_WALL;
    input->shift_ns = shift_ns;
    if (input == first) {
        input->node->tie = WSDBG_CLOCK_OWN;
    } else if (known && same_host && shift_ns < SAME_CLOCK_NS && shift_ns > -SAME_CLOCK_NS) {
        input->node->tie = WSDBG_CLOCK_SHARED;
        input->shift_ns = 0;
    } else if (!known || (int64_t)input->started_ns + shift_ns <= 0) { /* before the first one's clock began */
        input->node->tie = WSDBG_CLOCK_UNKNOWN;
        input->shift_ns = (int64_t)(first->started_ns - input->started_ns);
    }
}

static bool overlap(const struct wsdbg_merge_input *a, const struct wsdbg_merge_input *b)
{
    return (int64_t)a->started_ns + a->shift_ns <= (int64_t)b->ended_ns + b->shift_ns &&
           (int64_t)b->started_ns + b->shift_ns <= (int64_t)a->ended_ns + a->shift_ns;
}

static void find_apart(struct wsdbg_merge_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool meets = false;
        for (size_t j = 0; j < count; j++)
            meets = meets || (i != j && overlap(&inputs[i], &inputs[j]));
        inputs[i].node->apart = !meets && inputs[i].node->tie != WSDBG_CLOCK_UNKNOWN;
    }
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct wsdbg_error *make_label(struct wsdbg_merge_input *inputs, size_t count, size_t index)
{
    struct wsdbg_merge_input *input = &inputs[index];
    bool only = input->hostname[0] != '\0';
    for (size_t i = 0; i < count; i++)
        only = only && (i == index || strcmp(inputs[i].hostname, input->hostname) != 0);
    const char *file = file_name(input->node->path), *host = input->hostname;
    const int length = only      ? asprintf(&input->node->label, "%s", host)
                       : host[0] ? asprintf(&input->node->label, "%s (%s)", host, file)
                                 : asprintf(&input->node->label, "%s", file);
    if (length < 0)
        input->node->label = NULL;
    return length < 0 ? &wsdbg_error_no_memory : NULL;
}

static int compare_u32(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

struct wsdbg_error *wsdbg_merge_check(struct wsdbg_merge *merge, struct wsdbg_merge_input *inputs)
{
    merge->same = strdup("");
    struct wsdbg_error *error = merge->same ? check_pairs(merge, inputs) : &wsdbg_error_no_memory;
    for (size_t i = 0; !error && i < merge->node_count; i++) {
        struct wsdbg_merge_node *node = inputs[i].node;
        if (node->rank_count)
            qsort(node->ranks, node->rank_count, sizeof *node->ranks, compare_u32);
        if (inputs[i].world_size_count == 1 && !merge->world_size.known)
            merge->world_size = wsdbg_known_u32(inputs[i].world_sizes[0]);
        tie_clock(&inputs[0], &inputs[i]);
        error = make_label(inputs, merge->node_count, i);
    }
    find_apart(inputs, merge->node_count);
    return error;
}
