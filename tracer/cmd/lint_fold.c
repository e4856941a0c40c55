/* lint_fold.c - see lint_fold.h.  Keeps copies: a finding's strings live as long as its kernel is open. */
#include "cmd/lint_fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { ROWS_MOST = 4096, BUCKETS = 1024 };
#define NO_ROW SIZE_MAX

struct row {
    struct wsdbg_lint_folded folded;
    size_t last_kernel; /* the number of the one that said it last */
    size_t next;        /* in its bucket */
};

struct wsdbg_lint_fold {
    struct row *rows;
    size_t count, capacity;
    size_t buckets[BUCKETS];
    char *module, *symbol; /* of the kernel at hand */
    size_t kernel;         /* its number */
};

/* ---- copies ---- */

static char *copy_of(const char *text, bool *failed)
{
    char *copy = text ? strdup(text) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

static struct wsdbg_lint_place place_of(const struct wsdbg_lint_place *place, bool *failed)
{
    struct wsdbg_lint_place copy = *place;
    copy.file = copy_of(place->file, failed);
    copy.inner_file = copy_of(place->inner_file, failed);
    copy.caller_file = copy_of(place->caller_file, failed);
    return copy;
}

static void place_free(const struct wsdbg_lint_place *place)
{
    free((char *)place->file);
    free((char *)place->inner_file);
    free((char *)place->caller_file);
}

static void row_free(struct row *row)
{
    struct wsdbg_lint_finding *finding = &row->folded.finding;
    for (size_t i = 0; i < finding->note_count; i++) {
        place_free(&finding->notes[i].place);
        free(finding->notes[i].text);
    }
    for (size_t i = 0; i < WSDBG_LINT_ALSO_MOST; i++)
        free(row->folded.also[i]);
    place_free(&finding->place);
    free(finding->notes);
    free(finding->message);
    free(finding->fix);
    free((char *)row->folded.subject.module);
    free((char *)row->folded.subject.kernel);
    free((char *)row->folded.subject.symbol);
}

/* False where memory is out; *out is then empty. */
static bool row_of(const struct wsdbg_lint_subject *subject, const struct wsdbg_lint_finding *finding, struct row *out)
{
    bool failed = false;
    *out = (struct row){.folded = {.finding = *finding, .subject = *subject}};
    struct wsdbg_lint_finding *copy = &out->folded.finding;
    out->folded.subject.module = copy_of(subject->module, &failed);
    out->folded.subject.kernel = copy_of(subject->kernel, &failed);
    out->folded.subject.symbol = copy_of(subject->symbol, &failed);
    copy->place = place_of(&finding->place, &failed);
    copy->message = copy_of(finding->message, &failed);
    copy->fix = copy_of(finding->fix, &failed);
    copy->notes = calloc(finding->note_count + 1, sizeof *copy->notes);
    copy->note_count = copy->notes ? finding->note_count : 0;
    failed = failed || !copy->notes;
    for (size_t i = 0; i < copy->note_count; i++) {
        copy->notes[i].place = place_of(&finding->notes[i].place, &failed);
        copy->notes[i].text = copy_of(finding->notes[i].text, &failed);
    }
    if (failed)
        row_free(out);
    return !failed;
}

/* ---- the same finding ---- */

static size_t bucket_of(const struct wsdbg_lint_finding *finding)
{
    uint64_t hash = finding->place.line * UINT64_C(31) + finding->code;
    for (const char *at = finding->message; at && *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    return (size_t)(hash % BUCKETS);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same(const struct wsdbg_lint_finding *a, const struct wsdbg_lint_finding *b)
{
    return a->code == b->code && a->severity == b->severity && a->place.line == b->place.line &&
           a->place.caller_line == b->place.caller_line && is_same_text(a->place.file, b->place.file) &&
           is_same_text(a->place.caller_file, b->place.caller_file) && is_same_text(a->message, b->message) &&
           is_same_text(a->fix, b->fix);
}

static struct row *find(struct wsdbg_lint_fold *fold, size_t bucket, const struct wsdbg_lint_finding *finding)
{
    for (size_t i = finding->place.file ? fold->buckets[bucket] : NO_ROW; i != NO_ROW; i = fold->rows[i].next)
        if (is_same(&fold->rows[i].folded.finding, finding))
            return &fold->rows[i];
    return NULL;
}

/* ---- who else ---- */

static bool is_listed(const struct wsdbg_lint_folded *folded, const char *name)
{
    for (size_t i = 0; i < WSDBG_LINT_ALSO_MOST; i++)
        if (is_same_text(folded->also[i], name))
            return true;
    return strcmp(folded->subject.kernel, name) == 0;
}

/* Its name; of variants of one name the module, where that tells them apart, else the linker's name. */
static char *name_of(const struct wsdbg_lint_folded *folded, const struct wsdbg_lint_subject *subject)
{
    char *text = NULL;
    if (!is_listed(folded, subject->kernel))
        return strdup(subject->kernel);
    if (*subject->module && strcmp(subject->module, folded->subject.module) != 0)
        return asprintf(&text, "%s (%s)", subject->kernel, subject->module) < 0 ? NULL : text;
    return strdup(subject->symbol);
}

static void note_also(struct row *row, const struct wsdbg_lint_subject *subject, size_t kernel)
{
    struct wsdbg_lint_folded *folded = &row->folded;
    if (row->last_kernel == kernel) {
        folded->places_more += folded->kernels_more == 0;
        return;
    }
    row->last_kernel = kernel;
    if (folded->kernels_more < WSDBG_LINT_ALSO_MOST)
        folded->also[folded->kernels_more] = name_of(folded, subject); /* NULL: counted, not named */
    folded->kernels_more++;
}

/* False where memory is out. */
static bool number_kernel(struct wsdbg_lint_fold *fold, const struct wsdbg_lint_subject *subject)
{
    bool failed = false;
    if (is_same_text(fold->symbol, subject->symbol) && is_same_text(fold->module, subject->module))
        return true;
    free(fold->symbol);
    free(fold->module);
    fold->symbol = copy_of(subject->symbol, &failed);
    fold->module = copy_of(subject->module, &failed);
    fold->kernel++;
    return !failed;
}

/* ---- the collection ---- */

static void forget(struct wsdbg_lint_fold *fold)
{
    for (size_t i = 0; i < fold->count; i++)
        row_free(&fold->rows[i]);
    fold->count = 0;
    memset(fold->buckets, 0xff, sizeof fold->buckets); /* NO_ROW */
}

struct wsdbg_lint_fold *wsdbg_lint_fold_create(void)
{
    struct wsdbg_lint_fold *fold = calloc(1, sizeof *fold);
    if (fold)
        forget(fold);
    return fold;
}

void wsdbg_lint_fold_destroy(struct wsdbg_lint_fold *fold)
{
    if (!fold)
        return;
    forget(fold);
    free(fold->rows);
    free(fold->module);
    free(fold->symbol);
    free(fold);
}

bool wsdbg_lint_fold_add(struct wsdbg_lint_fold *fold, const struct wsdbg_lint_subject *subject,
                         const struct wsdbg_lint_finding *finding)
{
    struct row row;
    const size_t bucket = bucket_of(finding);
    if (!number_kernel(fold, subject))
        return false;
    struct row *known = find(fold, bucket, finding);
    if (known) {
        note_also(known, subject, fold->kernel);
        return true;
    }
    if (fold->count == ROWS_MOST ||
        !wsdbg_grow((void **)&fold->rows, &fold->capacity, fold->count + 1, sizeof *fold->rows) ||
        !row_of(subject, finding, &row))
        return false;
    row.last_kernel = fold->kernel;
    row.next = fold->buckets[bucket];
    fold->buckets[bucket] = fold->count;
    fold->rows[fold->count++] = row;
    return true;
}

void wsdbg_lint_fold_flush(struct wsdbg_lint_fold *fold,
                           void (*show)(void *context, const struct wsdbg_lint_folded *folded), void *context)
{
    for (size_t i = 0; i < fold->count; i++)
        show(context, &fold->rows[i].folded);
    forget(fold);
}
