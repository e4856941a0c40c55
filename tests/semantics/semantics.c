/* semantics.c - runs the corpus on a device and writes what it answered.
 *
 * Usage: semantics --refused FILE --write-ptx FOLDER            one UNIT-NUMBER.ptx each, for ptxas
 *        semantics --refused FILE --out FILE [--images FOLDER] [--library PATH] [--only PREFIX] [--seconds N]
 * Prints a line for each unit that has no result.
 */
#include <string.h>
#include <time.h>

#include "semantics/must.h"
#include "semantics/results.h"

static int write_ptx(const struct semantics_corpus *corpus, const char *folder)
{
    for (size_t i = 0; i < corpus->unit_count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%zu.ptx", folder, i);
        FILE *const file = fopen(path, "w");
        char *const text = semantics_unit_text(&corpus->units[i]);
        const bool is_written = file && fputs(text, file) >= 0;
        free(text);
        if ((file && fclose(file) != 0) || !is_written) {
            fprintf(stderr, "semantics: cannot write %s\n", path);
            return 2;
        }
    }
    return 0;
}

static void print_failures(const struct semantics_corpus *corpus, const struct semantics_run *run)
{
    size_t ran = 0, cases = 0;
    for (size_t i = 0; i < corpus->unit_count; i++) {
        const struct semantics_outcome *const outcome = &run->outcomes[i];
        ran += outcome->state == SEMANTICS_RAN;
        cases += outcome->state == SEMANTICS_RAN ? corpus->units[i].case_count : 0;
        if (outcome->state == SEMANTICS_FAILED)
            printf("%s: %s: error %d\n", corpus->units[i].name, outcome->step, outcome->error);
        else if (outcome->state == SEMANTICS_NO_ANSWER)
            printf("%s: no answer\n", corpus->units[i].name);
    }
    printf("%zu of %zu units, %zu cases; device %s, driver %d\n", ran, corpus->unit_count, cases, run->device,
           run->driver_version);
}

static int run_and_write(const struct semantics_corpus *corpus, const struct semantics_run_options *options,
                         const char *out)
{
    struct semantics_run *const run = semantics_run(corpus, options);
    char head[512], date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    snprintf(head, sizeof head, "wsdbg semantics 1\ndevice: %s\ndriver: %d\ndate: %s\n", run->device,
             run->driver_version, date);
    print_failures(corpus, run);
    const char *const wrong = semantics_answers_write(corpus, run, head, out);
    if (wrong)
        fprintf(stderr, "semantics: %s: %s\n", out, wrong);
    semantics_run_destroy(run);
    return wrong ? 2 : 0;
}

int main(int argc, char **argv)
{
    struct semantics_run_options options = {.library = "libcuda.so.1", .seconds = 10};
    const char *refused = NULL, *out = NULL, *folder = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *const name = argv[i], *const value = argv[i + 1];
        if (strcmp(name, "--refused") == 0)
            refused = value;
        else if (strcmp(name, "--out") == 0)
            out = value;
        else if (strcmp(name, "--write-ptx") == 0)
            folder = value;
        else if (strcmp(name, "--images") == 0)
            options.images = value;
        else if (strcmp(name, "--library") == 0)
            options.library = value;
        else if (strcmp(name, "--only") == 0)
            options.only = value;
        else if (strcmp(name, "--seconds") == 0)
            options.seconds = (unsigned)atoi(value);
        else
            argc = 0;
    }
    if (argc % 2 == 0 || (!out && !folder)) {
        fprintf(stderr, "semantics: --refused FILE and either --write-ptx FOLDER or --out FILE\n");
        return 2;
    }
    struct semantics_corpus *const corpus = semantics_corpus_create(refused);
    int status = folder ? write_ptx(corpus, folder) : 0;
    if (out && !status)
        status = run_and_write(corpus, &options, out);
    semantics_corpus_destroy(corpus);
    return status;
}
