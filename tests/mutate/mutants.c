/* mutants.c - see mutants.h.  Reads a module's PTX; writes rows, and the PTX of one mutant. */
#include "mutants.h"

#include <inttypes.h>
#include <string.h>

#include "ptx/graph.h"

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

struct listing {
    const struct mutants_options *options;
    FILE *rows;
    char *text;
    long number; /* of the next mutant */
    bool is_found, has_no_memory;
};

static void print_row(const struct listing *listing, const struct operator* operator, unsigned variant,
                      const struct mutant *mutant, uint32_t place)
{
    const struct truth *truth = &mutant->truth;
    const struct subject *subject = mutant->subject;
    fprintf(
        listing->rows, "%ld\t%s\t%s%s%s\t%" PRIu32 "\t%" PRIu32 "\t%s\t%s\t%" PRIx32 "\n", listing->number,
        subject->kernel->name, operator->name, operator->word ? ":" : "", operator->word ? operator->word(variant) : "",
        place - subject->kernel->first, subject->source->program->instructions[place].text_line, truth->causes,
        truth->barrier, truth->warps);
}

/* Counts a mutant; prints its row and makes it where that is asked for. */
static void add(struct listing *listing, const struct operator* operator, unsigned variant, const struct mutant *mutant,
                uint32_t place)
{
    const bool is_picked = listing->number == listing->options->pick;
    if (is_picked || listing->options->pick < 0)
        print_row(listing, operator, variant, mutant, place);
    if (is_picked) {
        listing->text = edits_apply(&mutant->edits, mutant->subject->source);
        listing->has_no_memory = !listing->text;
        listing->is_found = true;
    }
    listing->number++;
}

static void each_mutant(struct listing *listing, const struct subject *subject, uint32_t place)
{
    struct mutant blank = {.subject = subject};
    if (!mutant_move(&blank, place))
        return;
    for (size_t i = 0; i < operator_count; i++)
        for (unsigned variant = 0; variant < operators[i].variants && !listing->is_found; variant++) {
            struct mutant mutant = blank;
            if (operators[i].make(&mutant, variant))
                add(listing, &operators[i], variant, &mutant, place);
            edits_clear(&mutant.edits);
        }
}

static struct wsdbg_error *each_place(struct listing *listing, const struct source *source,
                                      const struct wsdbg_ptx_function *kernel)
{
    struct subject subject;
    struct wsdbg_error *error = open_subject(source, kernel, listing->options->threads, &subject);
    if (error)
        return error;
    for (uint32_t place = kernel->first; place < kernel->end && !listing->is_found; place++)
        if (values_warps(subject.values, place))
            each_mutant(listing, &subject, place);
    values_destroy(subject.values);
    return NULL;
}

struct wsdbg_error *mutants_list(const struct source *source, const struct mutants_options *options, FILE *rows,
                                 char **text, long *count)
{
    struct listing listing = {.options = options, .rows = rows};
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; i < source->program->function_count && !listing.is_found && !error; i++) {
        const struct wsdbg_ptx_function *kernel = &source->program->functions[i];
        if (kernel->is_kernel && (!options->kernel || strstr(kernel->name, options->kernel)))
            error = each_place(&listing, source, kernel);
    }
    *text = listing.text;
    *count = listing.number;
    return !error && listing.has_no_memory ? &wsdbg_error_no_memory : error;
}
