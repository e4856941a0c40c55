/* options.h - gemm's command line. */
#ifndef GEMM_OPTIONS_H
#define GEMM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bugs.h"
#include "plan.h"

/* What `--bench` compares with: cuBLAS, or another image of the same kernel. */
enum rival { RIVAL_CUBLAS, RIVAL_PLAIN, RIVAL_OFF, RIVAL_PROBES };

/* Of m, n and k. */
#define SIZE_MOST 65536

struct gemm_options {
    long m, n, k; /* 0 = not given, until gemm_options_size */
    int schedule; /* enum schedule_kind */
    long columns; /* of a tile */
    long cluster;
    long band_rows; /* 0 = chosen by the program */
    long ctas;      /* 0 = chosen by the program */
    int variant;    /* enum variant */
    const struct bug *bug;
    long repeat;
    long timeout_ms; /* -1 = wait for ever */
    long seed;
    int rival;          /* enum rival */
    const char *shapes; /* a file of sizes to survey, or NULL */
    bool transposed, overlaps, candidates, check, checksum, bench, times, list_bugs, help;
};

extern const char *const schedule_words[];
extern const char *const variant_words[];
extern const char *const rival_words[];

/* Parses the command line.  Returns 0, or -1 after one line on stderr that names the bad argument. */
int gemm_options_parse(int argc, char **argv, struct gemm_options *out);

/* Sizes that were not given: the bug's own, else what the device does in about a second. */
void gemm_options_size(struct gemm_options *options, bool is_simulated);

/* The plan that the options name. */
struct gemm_plan gemm_options_plan(const struct gemm_options *options, int multiprocessors);

void gemm_options_help(FILE *out);

#endif
