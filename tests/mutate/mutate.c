/* mutate.c - mutants of a kernel.  Each has one defect of a known kind at one place of the PTX, and a row that says
 * which verdict is right about it.
 *
 *     mutate --list FILE.ptx [--kernel PART] [--threads X[,Y[,Z]]]         prints a row for each mutant
 *     mutate FILE.ptx --pick N -o OUT.ptx [--kernel ...] [--threads ...]   writes mutant N, and prints its row
 *
 * A row: number, kernel, operator, place (index of the instruction in the kernel), line of the PTX, causes that are
 * right (the best one first; - = there is no defect), barrier, warps to blame (bits in hex).  The same text and options
 * always give the same numbers.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutants.h"

struct options {
    const char *file, *out;
    bool lists;
    struct mutants_options mutants;
};

static int complain(struct wsdbg_error *error)
{
    fprintf(stderr, "mutate: %s\n", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return 1;
}

/* ---- the command line ---- */

static bool read_options(int count, char **words, struct options *out)
{
    static const struct option table[] = {
        {"list", no_argument, NULL, 'l'},         {"pick", required_argument, NULL, 'p'},
        {"kernel", required_argument, NULL, 'k'}, {"threads", required_argument, NULL, 't'},
        {"output", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0}};
    *out = (struct options){.mutants = {.pick = -1}};
    for (int option; (option = getopt_long(count, words, "o:", table, NULL)) != -1;)
        switch (option) {
        case 'l':
            out->lists = true;
            break;
        case 'p':
            out->mutants.pick = strtol(optarg, NULL, 10);
            break;
        case 'k':
            out->mutants.kernel = optarg;
            break;
        case 'o':
            out->out = optarg;
            break;
        case 't':
            if (sscanf(optarg, "%" SCNu32 ",%" SCNu32 ",%" SCNu32, &out->mutants.threads[0], &out->mutants.threads[1],
                       &out->mutants.threads[2]) < 1)
                return false;
            break;
        default:
            return false;
        }
    out->file = optind + 1 == count ? words[optind] : NULL;
    return out->file && (out->lists || (out->mutants.pick >= 0 && out->out));
}

static int write_text(const char *text, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        fprintf(stderr, "mutate: %s cannot be written\n", path);
        return 1;
    }
    fputs(text, file);
    return fclose(file) ? 1 : 0;
}

static int answer(const struct options *options, const struct source *source)
{
    char *text = NULL;
    long count = 0;
    int status = 0;
    struct wsdbg_error *error = mutants_list(source, &options->mutants, stdout, &text, &count);
    if (error)
        return complain(error);
    if (!options->lists && !text) {
        fprintf(stderr, "mutate: there is no mutant %ld; there are %ld\n", options->mutants.pick, count);
        status = 2;
    } else if (!options->lists) {
        status = write_text(text, options->out);
    }
    free(text);
    return status;
}

int main(int count, char **words)
{
    struct options options;
    struct source source;
    size_t byte_count = 0;
    if (!read_options(count, words, &options)) {
        fputs(
            "usage: mutate --list FILE.ptx | mutate FILE.ptx --pick N -o OUT.ptx   [--kernel PART] [--threads X,Y,Z]\n",
            stderr);
        return 2;
    }
    char *text = source_read_file(options.file, &byte_count);
    if (!text) {
        fprintf(stderr, "mutate: %s cannot be read\n", options.file);
        return 1;
    }
    struct wsdbg_error *error = source_create(text, byte_count, options.file, &source);
    free(text);
    if (error)
        return complain(error);
    const int status = answer(&options, &source);
    source_destroy(&source);
    return status;
}
