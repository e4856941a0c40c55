/* merge.c - `wsdbg merge`: the databases of several nodes of one run become one.
 * Reads: session databases.  Writes: a new one; on stderr what ties them together and how sure that is. */
#include "cmd/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/console.h"
#include "cmd/limits.h"
#include "cmd/options.h"
#include "store/merge.h"

static const struct wsdbg_option options[] = {
    {'o', "output", "FILE", "the merged database; must not exist", NULL, NULL},
    WSDBG_OPTION_TIME_LIMIT,
};

/* "0-3,8", of numbers in order; "" for none. */
static char *ranks_text(const uint32_t *ranks, size_t count)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && ranks[last + 1] == ranks[last] + 1)
            last++;
        fprintf(out, "%s%u", i ? "," : "", ranks[i]);
        if (last > i)
            fprintf(out, "-%u", ranks[last]);
        i = last + 1;
    }
    fclose(out);
    return text;
}

static void say_ranks(const struct wsdbg_merge_node *node)
{
    char *ranks = ranks_text(node->ranks, node->rank_count);
    if (node->rank_count > 0)
        wsdbg_say("%s: %s, rank%s %s", node->path, node->label, node->rank_count == 1 ? "" : "s", ranks ? ranks : "?");
    else if (node->process_count > 0)
        wsdbg_say("%s: %s, no process with a rank", node->path, node->label);
    else
        wsdbg_say("%s: %s, no process that uses CUDA", node->path, node->label);
    free(ranks);
}

static void say_nodes(const struct wsdbg_merge *merge)
{
    enum { LINES_MOST = 16 };
    for (size_t i = 0; i < merge->node_count && i < LINES_MOST; i++)
        say_ranks(&merge->nodes[i]);
    if (merge->node_count > LINES_MOST)
        wsdbg_say("… and %zu more", merge->node_count - LINES_MOST);
}

/* "node-b", or "7 of 8 databases": those that `is_one` says. */
static char *which_text(const struct wsdbg_merge *merge, bool (*is_one)(const struct wsdbg_merge_node *node))
{
    char *text = NULL;
    size_t count = 0, last = 0;
    for (size_t i = 0; i < merge->node_count; i++)
        if (is_one(&merge->nodes[i])) {
            count++;
            last = i;
        }
    if (count > 1 && asprintf(&text, "%zu of %zu databases", count, merge->node_count) < 0)
        return NULL;
    return count == 1 ? strdup(merge->nodes[last].label) : text;
}

static bool shares_clock(const struct wsdbg_merge_node *node)
{
    return node->tie == WSDBG_CLOCK_SHARED;
}

static bool has_wall_clock(const struct wsdbg_merge_node *node)
{
    return node->tie == WSDBG_CLOCK_WALL;
}

static bool has_no_clock(const struct wsdbg_merge_node *node)
{
    return node->tie == WSDBG_CLOCK_UNKNOWN;
}

static bool is_apart(const struct wsdbg_merge_node *node)
{
    return node->apart;
}

/* How the clocks were aligned, and how sure that is. */
static void say_clocks(const struct wsdbg_merge *merge)
{
    static const struct {
        bool (*is_one)(const struct wsdbg_merge_node *node);
        const char *words;
    } rows[] = {
        {shares_clock, "the clock is that of the first one: one machine"},
        {has_wall_clock, "the clock is aligned by the hosts' Unix time: as exact as these are set"},
        {has_no_clock, "the clock cannot be aligned; the session is taken to start with the first one"},
        {is_apart, "by these clocks the session overlaps with no other one: another run, or a clock that is not set"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *which = which_text(merge, rows[i].is_one);
        if (which)
            wsdbg_say("%s: %s", which, rows[i].words);
        free(which);
    }
}

static void say_run(const struct wsdbg_merge *merge)
{
    if (merge->same[0])
        wsdbg_say("one run: all that know it have %s", merge->same);
    if (merge->untied == merge->node_count)
        wsdbg_say("nothing says whether these are of one run: no variable that names it is in two of them");
    else if (merge->untied > 0)
        wsdbg_say("of %zu of the %zu nothing says whether they are of that run", merge->untied, merge->node_count);
}

static bool has_rank(const struct wsdbg_merge *merge, uint32_t rank)
{
    for (size_t i = 0; i < merge->node_count; i++)
        for (size_t j = 0; j < merge->nodes[i].rank_count; j++)
            if (merge->nodes[i].ranks[j] == rank)
                return true;
    return false;
}

/* Ranks of the world that no database has.  A larger world size is taken for a mistake. */
static void say_missing(const struct wsdbg_merge *merge)
{
    enum { WORLD_MOST = 1 << 16 };
    const uint32_t size = merge->world_size.value;
    uint32_t *missing = merge->world_size.known && size <= WORLD_MOST ? calloc(size + 1, sizeof *missing) : NULL;
    size_t count = 0;
    for (uint32_t rank = 0; missing && rank < size; rank++)
        if (!has_rank(merge, rank))
            missing[count++] = rank;
    char *text = count ? ranks_text(missing, count) : NULL;
    if (text)
        wsdbg_say("of %u ranks these are in none of them: %s", size, text);
    free(text);
    free(missing);
}

static struct wsdbg_error *merge_run(const struct wsdbg_invocation *invocation, int *status)
{
    const char *output = wsdbg_option_value(invocation, "output");
    struct wsdbg_merge merge;
    if (!output)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "-o FILE is missing: it names the merged database");
    struct wsdbg_error *error =
        wsdbg_store_merge((const char *const *)invocation->operands, (size_t)invocation->operand_count, output, &merge);
    if (!error) {
        say_nodes(&merge);
        say_clocks(&merge);
        say_run(&merge);
        say_missing(&merge);
        wsdbg_say(
            "session in %s; show it: wsdbg view %s; its report: wsdbg report %s; its ranks: wsdbg query %s @ranks",
            output, output, output, output);
    }
    wsdbg_merge_deinit(&merge);
    *status = 0;
    return error;
}

const struct wsdbg_command wsdbg_command_merge = {
    .name = "merge",
    .summary = "Join the sessions of several nodes of one run",
    .usage = "A.db B.db... -o ALL.db [--time-limit SECONDS]",
    .description =
        "Makes one session database of those that wsdbg run wrote on each node of one run, or several wsdbg\n"
        "run on one node. Every view, report, query and export works on it. Reports and @ranks show the\n"
        "ranks of all nodes. The findings are in the order that one diagnosis would have given them. The\n"
        "calls of NCCL of all ranks are compared anew: a rank that one node waits for may be on another one.\n"
        "\n"
        "It holds the pictures that the reports show and those that they are compared with. Processes keep\n"
        "their numbers, but where two nodes use the same number one of the processes gets another one; the\n"
        "column pid has the number on the host. Lines of the log and notes begin with the host.\n"
        "\n"
        "Clocks. Host times are put on the clock of the first database: exactly where both sessions ran on\n"
        "one machine, else by the Unix time at which each session started. wsdbg says which, for each\n"
        "database. GPU times are never compared.\n"
        "\n"
        "wsdbg refuses databases of different runs: another world size, or another value of a variable that\n"
        "names a run (TORCHELASTIC_RUN_ID, MASTER_ADDR, MASTER_PORT, SLURM_JOB_ID, PMIX_NAMESPACE and the\n"
        "like, as the processes had them). Where no such variable is in two of them it says so. It refuses\n"
        "two databases with the same rank, and a database that wsdbg merge made.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 2,
    .operands_max = -1,
    .run = merge_run,
};
