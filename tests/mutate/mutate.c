/* mutate.c - mutants of a kernel: one defect of a known kind at one place of its PTX, and what is then true of it.
 *
 *     mutate --list FILE.ptx [--kernel PART] [--threads X[,Y[,Z]]]
 *     mutate FILE.ptx --pick N -o OUT.ptx [the same]
 *
 * A row: number, kernel, operator, place (instruction in the kernel), line of the PTX, causes that are right (the best
 * first; - = no defect), barrier, warps to blame (bits in hex).  The same text and options give the same numbers.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operators.h"
#include "ptx/graph.h"

struct options {
    const char *file, *kernel, *out;
    uint32_t threads[3];
    bool lists;
    long pick;
};

static int complain(struct wsdbg_error *error)
{
    fprintf(stderr, "mutate: %s\n", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return 1;
}

static char *read_file(const char *path, size_t *byte_count)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    FILE *copy = file ? open_memstream(&text, byte_count) : NULL;
    char chunk[1 << 16];
    for (size_t count; copy && (count = fread(chunk, 1, sizeof chunk, file)) > 0;)
        fwrite(chunk, 1, count, copy);
    if (copy)
        fclose(copy);
    if (file)
        fclose(file);
    return text;
}

/* ---- one kernel ---- */

static bool uses_cluster(const struct wsdbg_ptx_instruction *at)
{
    switch (at->operation) {
    case WSDBG_PTX_OP_mapa:
    case WSDBG_PTX_OP_barrier_cluster_arrive:
    case WSDBG_PTX_OP_barrier_cluster_wait:
        return true;
    default:
        return at->flags & WSDBG_PTX_MULTICAST;
    }
}

static struct wsdbg_error *open_subject(const struct source *source, const struct wsdbg_ptx_function *kernel,
                                        const uint32_t asked[3], struct subject *out)
{
    uint32_t threads[3] = {asked[0], asked[1], asked[2]};
    const uint32_t *said = kernel->required_threads[0] ? kernel->required_threads : kernel->max_threads;
    for (unsigned i = 0; i < 3; i++)
        if (!threads[i])
            threads[i] = said[i] ? said[i] : 1;
    *out = (struct subject){.source = source, .kernel = kernel, .own_end = wsdbg_ptx_own_end(source->program, kernel)};
    for (uint32_t i = kernel->first; i < kernel->end; i++)
        out->has_cluster |= uses_cluster(&source->program->instructions[i]);
    return values_create(source->program, kernel, threads, &out->values);
}

static void print_row(long number, const struct subject *subject, const struct operator* operator, unsigned variant,
                      const struct mutant *mutant, uint32_t place)
{
    const struct truth *truth = &mutant->truth;
    printf(
        "%ld\t%s\t%s%s%s\t%" PRIu32 "\t%" PRIu32 "\t%s\t%s\t%" PRIx32 "\n", number,
        subject->kernel->name, operator->name, operator->word ? ":" : "", operator->word ? operator->word(variant) : "",
        place - subject->kernel->first, subject->source->program->instructions[place].text_line, truth->causes,
        truth->barrier, truth->warps);
}

static int write_text(const struct mutant *mutant, const char *path)
{
    char *text = edits_apply(&mutant->edits, mutant->subject->source);
    FILE *file = text ? fopen(path, "wb") : NULL;
    if (!file) {
        fprintf(stderr, "mutate: %s cannot be written\n", path);
        free(text);
        return 1;
    }
    fputs(text, file);
    free(text);
    return fclose(file) ? 1 : 0;
}

/* Every mutant of one place; *number counts on.  True: it was the one that is picked, and *status is the exit status.
 */
static bool each_mutant(const struct options *options, const struct subject *subject, uint32_t place, long *number,
                        int *status)
{
    struct mutant blank = {.subject = subject};
    if (!mutant_move(&blank, place))
        return false;
    for (size_t i = 0; i < operator_count; i++)
        for (unsigned variant = 0; variant < operators[i].variants; variant++) {
            struct mutant mutant = blank;
            const bool applies = operators[i].make(&mutant, variant);
            const bool is_picked = applies && *number == options->pick;
            if (applies && (options->lists || is_picked))
                print_row(*number, subject, &operators[i], variant, &mutant, place);
            if (is_picked && !options->lists)
                *status = write_text(&mutant, options->out);
            *number += applies;
            edits_clear(&mutant.edits);
            if (is_picked && !options->lists)
                return true;
        }
    return false;
}

static int each_kernel(const struct options *options, const struct source *source)
{
    long number = 0;
    int status = options->lists ? 0 : 2;
    bool is_found = false;
    for (size_t i = 0; i < source->program->function_count && !is_found; i++) {
        const struct wsdbg_ptx_function *kernel = &source->program->functions[i];
        struct subject subject;
        if (!kernel->is_kernel || (options->kernel && !strstr(kernel->name, options->kernel)))
            continue;
        struct wsdbg_error *error = open_subject(source, kernel, options->threads, &subject);
        if (error)
            return complain(error);
        for (uint32_t place = kernel->first; place < kernel->end && !is_found; place++)
            if (values_warps(subject.values, place))
                is_found = each_mutant(options, &subject, place, &number, &status);
        values_destroy(subject.values);
    }
    if (!options->lists && !is_found)
        fprintf(stderr, "mutate: there is no mutant %ld; %ld are listed\n", options->pick, number);
    return status;
}

/* ---- the command line ---- */

static bool read_options(int count, char **words, struct options *out)
{
    static const struct option table[] = {
        {"list", no_argument, NULL, 'l'},         {"pick", required_argument, NULL, 'p'},
        {"kernel", required_argument, NULL, 'k'}, {"threads", required_argument, NULL, 't'},
        {"output", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0}};
    *out = (struct options){.pick = -1};
    for (int option; (option = getopt_long(count, words, "o:", table, NULL)) != -1;)
        switch (option) {
        case 'l':
            out->lists = true;
            break;
        case 'p':
            out->pick = strtol(optarg, NULL, 10);
            break;
        case 'k':
            out->kernel = optarg;
            break;
        case 'o':
            out->out = optarg;
            break;
        case 't':
            if (sscanf(optarg, "%" SCNu32 ",%" SCNu32 ",%" SCNu32, &out->threads[0], &out->threads[1],
                       &out->threads[2]) < 1)
                return false;
            break;
        default:
            return false;
        }
    out->file = optind + 1 == count ? words[optind] : NULL;
    return out->file && (out->lists || (out->pick >= 0 && out->out));
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
    char *text = read_file(options.file, &byte_count);
    if (!text) {
        fprintf(stderr, "mutate: %s cannot be read\n", options.file);
        return 1;
    }
    struct wsdbg_error *error = source_create(text, byte_count, options.file, &source);
    free(text);
    if (error)
        return complain(error);
    const int status = each_kernel(&options, &source);
    source_destroy(&source);
    return status;
}
