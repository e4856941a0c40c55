/* options.c - see options.h.  Reads argv, writes a line on stderr when it is bad. */
#include "options.h"

#include <limits.h>
#include <string.h>

#include "../common/arguments.h"

#define PROGRAM "gemm"
#define SIZE_DEFAULT 8192
#define SIZE_SIMULATED 1024
#define SIZE_MAX_ELEMENTS 65536

const char *const schedule_words[] = {"cooperative", "pingpong", NULL};
const char *const variant_words[] = {"plain", "off", "probes", "bare", NULL};
const char *const rival_words[] = {"cublas", "plain", "off", "probes", NULL};

enum option_id {
    OPT_M = 1,
    OPT_N,
    OPT_K,
    OPT_SCHEDULE,
    OPT_CLUSTER,
    OPT_BAND,
    OPT_CTAS,
    OPT_VARIANT,
    OPT_BUG,
    OPT_REPEAT,
    OPT_TIMEOUT,
    OPT_SEED,
    OPT_RIVAL,
    OPT_CHECK,
    OPT_CHECKSUM,
    OPT_BENCH,
    OPT_TIMES,
    OPT_LIST_BUGS,
    OPT_HELP
};

static const struct option table[] = {
    {"m", required_argument, NULL, OPT_M},
    {"n", required_argument, NULL, OPT_N},
    {"k", required_argument, NULL, OPT_K},
    {"schedule", required_argument, NULL, OPT_SCHEDULE},
    {"cluster", required_argument, NULL, OPT_CLUSTER},
    {"band", required_argument, NULL, OPT_BAND},
    {"ctas", required_argument, NULL, OPT_CTAS},
    {"variant", required_argument, NULL, OPT_VARIANT},
    {"bug", required_argument, NULL, OPT_BUG},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT},
    {"seed", required_argument, NULL, OPT_SEED},
    {"against", required_argument, NULL, OPT_RIVAL},
    {"check", no_argument, NULL, OPT_CHECK},
    {"checksum", no_argument, NULL, OPT_CHECKSUM},
    {"bench", no_argument, NULL, OPT_BENCH},
    {"times", no_argument, NULL, OPT_TIMES},
    {"list-bugs", no_argument, NULL, OPT_LIST_BUGS},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

void gemm_options_help(FILE *out)
{
    fputs(
        "usage: gemm [options]     C = A * B^T in bf16, accumulated in fp32; A is m x k, B n x k, C m x n, row-major\n"
        "  --m N --n N --k N       sizes, multiples of 8 (default 8192, 1024 on the simulator; a bug brings its own)\n"
        "  --schedule WORD         cooperative (default) or pingpong\n"
        "  --cluster 1|2           CTAs that share B by multicast (default 1)\n"
        "  --band N                tile rows in a band of the rasterisation (default: chosen)\n"
        "  --ctas N                at most N CTAs (default: one a multiprocessor)\n"
        "  --variant WORD          image: plain (no probes), off (probes compiled out), probes (default),\n"
        "                          bare (no probes and no line information)\n"
        "  --bug NAME              run a deliberate hang; --list-bugs prints name, cause, role, barrier, kind, story\n"
        "  --repeat N              launches, or samples of --bench (default 1, with --bench 30)\n"
        "  --timeout-ms T          leave with status 3 when a launch takes longer than T (default: wait)\n"
        "  --seed N                of the random inputs (default 1)\n"
        "  --check                 compare sampled rows with a float64 reference, and all of C with cuBLAS where there "
        "is one\n"
        "  --checksum              print a hash of C\n"
        "  --times                 print for each launch when it was over: milliseconds since the first began\n"
        "  --bench                 time against --against WORD (cublas, plain, off, probes), JSON lines\n"
        "status: 0 good, 1 wrong result or CUDA error, 2 bad option, 3 timed out\n",
        out);
}

static int parse_one(int id, const char *value, void *options)
{
    struct gemm_options *o = options;
    switch (id) {
    case OPT_M:
        return argument_number(PROGRAM, "m", value, 8, SIZE_MAX_ELEMENTS, &o->m);
    case OPT_N:
        return argument_number(PROGRAM, "n", value, 8, SIZE_MAX_ELEMENTS, &o->n);
    case OPT_K:
        return argument_number(PROGRAM, "k", value, 8, SIZE_MAX_ELEMENTS, &o->k);
    case OPT_SCHEDULE:
        return argument_word(PROGRAM, "schedule", value, schedule_words, &o->schedule);
    case OPT_CLUSTER:
        return argument_number(PROGRAM, "cluster", value, 1, 2, &o->cluster);
    case OPT_BAND:
        return argument_number(PROGRAM, "band", value, 1, 1024, &o->band_rows);
    case OPT_CTAS:
        return argument_number(PROGRAM, "ctas", value, 1, 1024, &o->ctas);
    case OPT_VARIANT:
        return argument_word(PROGRAM, "variant", value, variant_words, &o->variant);
    case OPT_REPEAT:
        return argument_number(PROGRAM, "repeat", value, 1, 1000000, &o->repeat);
    case OPT_TIMEOUT:
        return argument_number(PROGRAM, "timeout-ms", value, 1, INT_MAX, &o->timeout_ms);
    case OPT_SEED:
        return argument_number(PROGRAM, "seed", value, 0, LONG_MAX, &o->seed);
    case OPT_RIVAL:
        return argument_word(PROGRAM, "against", value, rival_words, &o->rival);
    case OPT_BUG:
        o->bug = bug_find(value);
        if (!o->bug)
            fprintf(stderr, PROGRAM ": --bug: there is no '%s' (see --list-bugs)\n", value);
        return o->bug ? 0 : -1;
    }
    o->check |= id == OPT_CHECK;
    o->checksum |= id == OPT_CHECKSUM;
    o->bench |= id == OPT_BENCH;
    o->times |= id == OPT_TIMES;
    o->list_bugs |= id == OPT_LIST_BUGS;
    o->help |= id == OPT_HELP;
    return 0;
}

void gemm_options_size(struct gemm_options *options, bool is_simulated)
{
    const struct bug *const bug = options->bug;
    const bool is_small = is_simulated && (!bug || bug->kind == BUG_SLOW);
    if (options->m == 0)
        options->m = is_small ? SIZE_SIMULATED : bug ? bug->m : SIZE_DEFAULT;
    if (options->n == 0)
        options->n = is_small ? SIZE_SIMULATED : bug ? bug->n : SIZE_DEFAULT;
    if (options->k == 0)
        options->k = is_small ? SIZE_SIMULATED : bug ? bug->k : SIZE_DEFAULT;
}

/* What was not given, but for the sizes. */
static void fill_in(struct gemm_options *o)
{
    const struct bug *const bug = o->bug;
    if (o->cluster == 0)
        o->cluster = 1;
    if (o->ctas == 0 && bug)
        o->ctas = bug->ctas;
    if (o->repeat == 0)
        o->repeat = o->bench ? 30 : 1;
}

static int check_together(const struct gemm_options *o)
{
    const char *reason = NULL;
    if (o->m % 8 || o->n % 8 || o->k % 8)
        reason = "--m, --n and --k must be multiples of 8 (a row of a tensor map is a multiple of 16 bytes)";
    else if (o->bug && (o->schedule != SCHEDULE_COOPERATIVE || o->cluster != 1))
        reason = "--bug: the bugs exist for --schedule cooperative --cluster 1 only";
    else if (o->bug && o->variant == VARIANT_OFF)
        reason = "--bug: the bugs do not exist as --variant off";
    else if (o->bug && o->bug->kind != BUG_SLOW && o->bench)
        reason = "--bench: a kernel that does not end cannot be timed";
    else if (o->ctas && o->ctas < o->cluster)
        reason = "--ctas: fewer CTAs than a cluster has";
    if (reason)
        fprintf(stderr, PROGRAM ": %s\n", reason);
    return reason ? -1 : 0;
}

int gemm_options_parse(int argc, char **argv, struct gemm_options *out)
{
    struct gemm_options o = {.schedule = SCHEDULE_COOPERATIVE, .variant = VARIANT_PROBES, .timeout_ms = -1, .seed = 1};
    if (arguments_read(PROGRAM, argc, argv, table, parse_one, &o))
        return -1;
    fill_in(&o);
    if (check_together(&o))
        return -1;
    *out = o;
    return 0;
}
