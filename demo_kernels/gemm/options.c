/* options.c - see options.h.  Reads argv, writes a line on stderr when it is bad. */
#include "options.h"

#include <limits.h>
#include <string.h>

#include "../common/arguments.h"

#define PROGRAM "gemm"
#define SIZE_DEFAULT 8192
#define SIZE_SIMULATED 1024

const char *const schedule_words[] = {"cooperative", "pingpong", "streamk", "splitk", "splitk-low", "auto", NULL};
const char *const variant_words[] = {"plain", "off", "probes", "bare", NULL};
const char *const rival_words[] = {"cublas", "plain", "off", "probes", NULL};

enum option_id {
    OPT_M = 1,
    OPT_N,
    OPT_K,
    OPT_SCHEDULE,
    OPT_COLUMNS,
    OPT_CLUSTER,
    OPT_TRANSPOSED,
    OPT_OVERLAPS,
    OPT_BAND,
    OPT_CTAS,
    OPT_VARIANT,
    OPT_BUG,
    OPT_REPEAT,
    OPT_TIMEOUT,
    OPT_SEED,
    OPT_RIVAL,
    OPT_SHAPES,
    OPT_CANDIDATES,
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
    {"columns", required_argument, NULL, OPT_COLUMNS},
    {"cluster", required_argument, NULL, OPT_CLUSTER},
    {"transposed", no_argument, NULL, OPT_TRANSPOSED},
    {"overlap", no_argument, NULL, OPT_OVERLAPS},
    {"band", required_argument, NULL, OPT_BAND},
    {"ctas", required_argument, NULL, OPT_CTAS},
    {"variant", required_argument, NULL, OPT_VARIANT},
    {"bug", required_argument, NULL, OPT_BUG},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT},
    {"seed", required_argument, NULL, OPT_SEED},
    {"against", required_argument, NULL, OPT_RIVAL},
    {"shapes", required_argument, NULL, OPT_SHAPES},
    {"candidates", no_argument, NULL, OPT_CANDIDATES},
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
        "  --schedule WORD         cooperative (default), pingpong, streamk (at most 192 columns), splitk, splitk-low\n"
        "                          (tiles of half the height), or auto: chooses all options down to --ctas\n"
        "  --columns N             of a CTA's tile: a multiple of 32 from 64 to 256 (default)\n"
        "  --cluster N             CTAs that share B by multicast: 1 (default), 2, 4 (not with pingpong);\n"
        "                          with splitk and splitk-low, CTAs that share a tile's k-blocks: 2 to 8\n"
        "  --transposed            compute C^T = B * A^T: a tile's columns lie along C's rows\n"
        "  --overlap               a launch may begin before the previous one ends (programmatic dependent launch)\n"
        "  --band N                tile rows in a band of the rasterisation (default: chosen)\n"
        "  --ctas N                at most N CTAs (default: one a multiprocessor); not with splitk and splitk-low\n"
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
        "  --shapes FILE           time every product of FILE (a line each: m n k) against cuBLAS, JSON lines; with "
        "--check\n"
        "                          compare its result instead; computed as --schedule auto does, or with --candidates\n"
        "                          in every way that may be the fastest for some product\n"
        "status: 0 good, 1 wrong result or CUDA error, 2 bad option, 3 timed out\n",
        out);
}

static int parse_one(int id, const char *value, void *options)
{
    struct gemm_options *o = options;
    switch (id) {
    case OPT_M:
        return argument_number(PROGRAM, "m", value, 8, SIZE_MOST, &o->m);
    case OPT_N:
        return argument_number(PROGRAM, "n", value, 8, SIZE_MOST, &o->n);
    case OPT_K:
        return argument_number(PROGRAM, "k", value, 8, SIZE_MOST, &o->k);
    case OPT_SCHEDULE:
        return argument_word(PROGRAM, "schedule", value, schedule_words, &o->schedule);
    case OPT_COLUMNS:
        return argument_number(PROGRAM, "columns", value, 64, 256, &o->columns);
    case OPT_SHAPES:
        o->shapes = value;
        return 0;
    case OPT_CLUSTER:
        return argument_number(PROGRAM, "cluster", value, 1, CLUSTER_MOST, &o->cluster);
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
    o->transposed |= id == OPT_TRANSPOSED;
    o->overlaps |= id == OPT_OVERLAPS;
    o->candidates |= id == OPT_CANDIDATES;
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

/* Fills in what was not given, except the sizes. */
static void fill_in(struct gemm_options *o)
{
    const struct bug *const bug = o->bug;
    if (o->columns == 0)
        o->columns = 256;
    if (o->cluster == 0)
        o->cluster = 1;
    if (o->ctas == 0 && bug)
        o->ctas = bug->ctas;
    if (o->repeat == 0)
        o->repeat = o->bench || o->shapes ? 30 : 1;
}

static int refuse(const char *reason)
{
    if (reason)
        fprintf(stderr, PROGRAM ": %s\n", reason);
    return reason ? -1 : 0;
}

/* Refuses options that exclude one another.  Comes before fill_in. */
static int check_given(const struct gemm_options *o)
{
    const bool has_plan = o->columns || o->cluster || o->band_rows || o->ctas || o->transposed || o->overlaps;
    if (o->schedule == SCHEDULE_AUTO && has_plan)
        return refuse(
            "--schedule auto: not with --columns, --cluster, --band, --ctas, --transposed or --overlap, which it "
            "chooses");
    if (o->candidates && !o->shapes)
        return refuse("--candidates: only with --shapes");
    if (o->shapes && o->bug)
        return refuse("--shapes: not with --bug");
    if (o->shapes && (has_plan || o->m || o->n || o->k || o->bench || o->checksum || o->times))
        return refuse("--shapes: sizes and plans come from the file; not with --m, --n, --k, --columns, --cluster, "
                      "--band, --ctas, --transposed, --overlap, --bench, --checksum or --times");
    return 0;
}

static int check_together(const struct gemm_options *o)
{
    const struct gemm_plan plan = {.schedule = o->schedule, .columns = (int)o->columns, .cluster = (int)o->cluster};
    const char *reason = NULL;
    if (o->m % 8 || o->n % 8 || o->k % 8)
        reason = "--m, --n and --k must be multiples of 8 (a row of a tensor map is a multiple of 16 bytes)";
    else if (!gemm_tile_image(VARIANT_PLAIN, (int)o->columns))
        reason = "--columns: there is no such tile (see --help)";
    else if (o->schedule != SCHEDULE_AUTO && !gemm_plan_exists(&plan))
        reason = "--schedule, --columns and --cluster: there is no such kernel (see --help)";
    else if (o->bug && (o->schedule != SCHEDULE_COOPERATIVE || o->cluster != 1 || o->columns != 256))
        reason = "--bug: the bugs exist for --schedule cooperative --columns 256 --cluster 1 only";
    else if (o->bug && (o->transposed || o->overlaps))
        reason = "--bug: not with --transposed or --overlap";
    else if (o->bug && o->variant == VARIANT_OFF)
        reason = "--bug: the bugs do not exist as --variant off";
    else if (o->bug && o->bug->kind != BUG_SLOW && o->bench)
        reason = "--bench: a kernel that does not end cannot be timed";
    else if (o->ctas && o->ctas < o->cluster)
        reason = "--ctas: fewer CTAs than a cluster has";
    else if (o->ctas && gemm_plan_is_split_k(&plan))
        reason = "--ctas: split-K runs one cluster for each tile";
    return refuse(reason);
}

struct gemm_plan gemm_options_plan(const struct gemm_options *o, int multiprocessors)
{
    const int m = (int)o->m, n = (int)o->n, k = (int)o->k;
    if (o->schedule == SCHEDULE_AUTO)
        return gemm_plan_choose(m, n, k, multiprocessors);
    const struct gemm_plan plan = {.schedule = o->schedule,
                                   .columns = (int)o->columns,
                                   .cluster = (int)o->cluster,
                                   .ctas = (int)o->ctas,
                                   .band_rows = (int)o->band_rows,
                                   .transposed = o->transposed,
                                   .overlaps = o->overlaps};
    return gemm_plan_complete(plan, m, n, k, multiprocessors);
}

int gemm_options_parse(int argc, char **argv, struct gemm_options *out)
{
    struct gemm_options o = {.schedule = SCHEDULE_COOPERATIVE, .variant = VARIANT_PROBES, .timeout_ms = -1, .seed = 1};
    if (arguments_read(PROGRAM, argc, argv, table, parse_one, &o))
        return -1;
    if (check_given(&o))
        return -1;
    fill_in(&o);
    if (check_together(&o))
        return -1;
    *out = o;
    return 0;
}
