/* why_find.c - which object of a session is meant by what reports call it.
 *
 * Reads the words of a question and the loaded picture.  Names are those of the reports and of their sentences: numbers
 * of warps or the name of a role, an mbarrier's name and stage or its place in shared memory, a named barrier's id, a
 * kind of barrier.
 */
#include "store/why_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECT_BYTES = 128, LIST_BYTES = 600 };

/* What the words say, before anything is looked up. */
struct object {
    char text[OBJECT_BYTES]; /* without quotes, blanks once, "[N]" for "stage N" */
    bool is_warps;
    struct wsdbg_members warps;
    struct wsdbg_optional_u32 rank;
    struct wsdbg_optional_u32 cta[3]; /* none known = any CTA */
};

static struct wsdbg_error *not_understood(const char *what, const char *words, const char *form)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "\"%.80s\" is no %s: %s", words, what, form);
}

static void copy_plain(const char *words, char out[OBJECT_BYTES])
{
    size_t used = 0;
    for (const char *at = words; *at && used + 1 < OBJECT_BYTES; at++) {
        const bool blank = isspace((unsigned char)*at);
        if (*at == '"' || (blank && (used == 0 || out[used - 1] == ' ')))
            continue;
        out[used++] = blank ? ' ' : *at;
    }
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

/* Takes "rank 1 " from the front or " of cluster rank 1" from behind. */
static void take_rank(struct object *o)
{
    unsigned rank;
    int length = -1;
    if (sscanf(o->text, "rank %u %n", &rank, &length) == 1 && length > 0) {
        memmove(o->text, o->text + length, strlen(o->text + length) + 1);
        o->rank = wsdbg_known_u32(rank);
        return;
    }
    char *behind = strstr(o->text, " of cluster rank ");
    if (behind && sscanf(behind, " of cluster rank %u%n", &rank, &length) == 1 && length > 0) {
        memmove(behind, behind + length, strlen(behind + length) + 1);
        o->rank = wsdbg_known_u32(rank);
    }
}

/* "empty stage 2" is empty[2], and so is "empty[2]". */
static void join_stage(struct object *o)
{
    char *at = strstr(o->text, " stage ");
    unsigned stage;
    int length = -1;
    if (at && sscanf(at, " stage %u%n", &stage, &length) == 1 && length > 0 && at[length] == '\0')
        snprintf(at, (size_t)(o->text + OBJECT_BYTES - at), "[%u]", stage);
}

/* "4", "warp 4", "warps 0, 4-7 (producer, consumer)"; false where it does not read so. */
static bool read_warps(struct object *o)
{
    const char *at = o->text;
    if (strncmp(at, "warp", 4) == 0)
        at += 4 + (at[4] == 's');
    at += strspn(at, " ");
    for (bool more = true; more;) {
        char *end;
        if (!isdigit((unsigned char)*at))
            return false;
        const unsigned long first = strtoul(at, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        if (last < first || last > 255)
            return false;
        for (unsigned long i = first; i <= last; i++)
            o->warps.bits[i / 64] |= 1ull << i % 64;
        more = *end == ',';
        at = end + more;
        at += strspn(at, " ");
    }
    return *at == '\0' || *at == '(';
}

static struct wsdbg_error *read_cta(const char *words, struct object *o)
{
    unsigned at[3] = {0};
    int end = -1;
    if (!words)
        return NULL;
    const int got = sscanf(words, "%u%n,%u%n,%u%n", &at[0], &end, &at[1], &end, &at[2], &end);
    if ((got != 1 && got != 3) || words[end] != '\0' || strpbrk(words, "+- "))
        return not_understood("CTA", words, "name it as X or X,Y,Z");
    for (int i = 0; i < 3; i++)
        o->cta[i] = wsdbg_known_u32(at[i]);
    return NULL;
}

static struct wsdbg_error *read_question(const struct wsdbg_why_question *q, struct object *o)
{
    copy_plain(q->object, o->text);
    take_rank(o);
    join_stage(o);
    o->is_warps = read_warps(o);
    return read_cta(q->cta, o);
}

/* Whether the text is what the format makes, in letters of either case. */
static bool reads(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool reads(const char *text, const char *format, ...)
{
    char label[OBJECT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(label, sizeof label, format, arguments);
    va_end(arguments);
    return strcasecmp(text, label) == 0;
}

/* Whether the name is that of a part of a variable, "bars+24", and the text is the variable. */
static bool names_part_of(const char *name, const char *text)
{
    const char *rest = strrchr(name, '+');
    return rest && rest > name && rest[1] && rest[1 + strspn(rest + 1, "0123456789")] == '\0' &&
           strlen(text) == (size_t)(rest - name) && strncasecmp(name, text, strlen(text)) == 0;
}

static bool mbarrier_is_called(const struct wsdbg_barrier *b, const char *name, const char *text)
{
    const uint32_t offset = b->shared_offset.value;
    if (name[0] && (reads(text, "%s", name) || reads(text, "%s[%u]", name, b->stage) || names_part_of(name, text)))
        return true;
    if (b->shared_offset.known && (reads(text, "0x%x", offset) || reads(text, "mbarrier 0x%x", offset) ||
                                   reads(text, "mbarrier 0x%x[%u]", offset, b->stage)))
        return true;
    return reads(text, "mbarrier %u", b->id) || reads(text, "mbarrier %u[%u]", b->id, b->stage);
}

/* By name, kind, id or place; without its stage an mbarrier's name means all of them. */
static bool is_called(const struct wsdbg_barrier *b, const char *text)
{
    const char *name = b->name ? b->name->name : "";
    if (b->kind == WSDBG_BARRIER_MBARRIER)
        return mbarrier_is_called(b, name, text);
    if (b->kind == WSDBG_BARRIER_NAMED)
        return (name[0] && (reads(text, "%s", name) || reads(text, "%s (id %u)", name, b->id))) ||
               reads(text, "named barrier %u", b->id) || reads(text, "named barrier (id %u)", b->id) ||
               reads(text, "barrier %u", b->id);
    return reads(text, "%s", wsdbg_barrier_kind_name(b->kind));
}

static const struct wsdbg_finding *first_finding(const struct wsdbg_loaded *loaded)
{
    const struct wsdbg_finding *f = loaded->diagnosis.finding_count ? &loaded->diagnosis.findings[0] : NULL;
    return f && f->cta < loaded->snapshot.cta_count ? f : NULL;
}

static bool cta_fits(const struct object *o, const struct wsdbg_cta *cta)
{
    const uint32_t at[3] = {cta->x, cta->y, cta->z};
    for (int i = 0; i < 3; i++)
        if (o->cta[i].known && o->cta[i].value != at[i])
            return false;
    return !o->rank.known || o->rank.value == cta->cluster_rank;
}

/* What the first finding speaks of comes first, then its CTA, its cluster, its grid; then a grid that runs. */
static unsigned cta_rank(const struct wsdbg_loaded *loaded, uint32_t cta)
{
    const struct wsdbg_snapshot *s = &loaded->snapshot;
    const struct wsdbg_finding *f = first_finding(loaded);
    const struct wsdbg_cta *row = &s->ctas[cta], *of = f ? &s->ctas[f->cta] : NULL;
    const bool running = row->grid < s->grid_count && s->grids[row->grid].running;
    unsigned rank = running ? 2 : 0;
    if (of && of->grid == row->grid)
        rank += 4;
    if (of && of->grid == row->grid && of->cluster_size > 1 && of->cluster_id == row->cluster_id)
        rank += 8;
    return of == row ? rank + 16 : rank;
}

static bool has_warps(const struct wsdbg_snapshot *s, uint32_t cta, const struct wsdbg_members *wanted)
{
    struct wsdbg_members there = {0};
    const struct wsdbg_cta *row = &s->ctas[cta];
    for (uint32_t i = row->warp_first; i - row->warp_first < row->warp_count && i < s->warp_count; i++)
        if (s->warps[i].warp < 256)
            there.bits[s->warps[i].warp / 64] |= 1ull << s->warps[i].warp % 64;
    for (int i = 0; i < 4; i++)
        if (wanted->bits[i] & ~there.bits[i])
            return false;
    return true;
}

static bool find_warps(const struct wsdbg_loaded *loaded, const struct object *o, struct wsdbg_why_found *out)
{
    const struct wsdbg_snapshot *s = &loaded->snapshot;
    bool found = false;
    for (uint32_t i = 0; i < s->cta_count; i++) {
        if (!cta_fits(o, &s->ctas[i]) || !has_warps(s, i, &o->warps))
            continue;
        if (!found || cta_rank(loaded, i) > cta_rank(loaded, out->cta))
            out->cta = i;
        found = true;
    }
    out->warps = o->warps;
    return found;
}

/* All warps of a role, in the first CTA that has them. */
static bool find_role(const struct wsdbg_loaded *loaded, const struct object *o, struct wsdbg_why_found *out)
{
    const struct wsdbg_snapshot *s = &loaded->snapshot;
    bool found = false;
    for (uint32_t i = 0; i < s->warp_count; i++) {
        const struct wsdbg_warp_row *w = &s->warps[i];
        const char *role = wsdbg_snapshot_role_name(s, w);
        if (!role || !reads(o->text, "%s", role) || !cta_fits(o, &s->ctas[w->cta]) || w->warp > 255)
            continue;
        if (!found || cta_rank(loaded, w->cta) > cta_rank(loaded, out->cta)) {
            out->cta = w->cta;
            out->warps = (struct wsdbg_members){0};
        }
        if (w->cta == out->cta)
            out->warps.bits[w->warp / 64] |= 1ull << w->warp % 64;
        found = true;
    }
    return found;
}

static unsigned barrier_rank(const struct wsdbg_loaded *loaded, uint32_t barrier)
{
    const struct wsdbg_finding *f = first_finding(loaded);
    const struct wsdbg_barrier *row = &loaded->snapshot.barriers[barrier];
    return cta_rank(loaded, row->cta) + (row->waiters > 0) + (f && f->barrier == barrier ? 32 : 0);
}

/* Other barriers of the same CTA that go by the name: "full[1-3]". */
static void list_others(const struct wsdbg_snapshot *s, const struct object *o, uint32_t chosen, char *out,
                        size_t bytes)
{
    const struct wsdbg_barrier *self = &s->barriers[chosen];
    struct wsdbg_report_barriers words = wsdbg_why_barrier_words(s, chosen);
    words.members = (struct wsdbg_members){0};
    bool any = false;
    for (uint32_t i = 0; i < s->barrier_count; i++) {
        const struct wsdbg_barrier *b = &s->barriers[i];
        if (i == chosen || b->cta != self->cta || b->kind != self->kind || b->id != self->id || b->stage > 255 ||
            !is_called(b, o->text))
            continue;
        words.members.bits[b->stage / 64] |= 1ull << b->stage % 64;
        any = true;
    }
    if (any)
        wsdbg_report_barrier_text(&words, out, bytes);
}

static bool find_barrier(const struct wsdbg_loaded *loaded, const struct object *o, struct wsdbg_why_found *out)
{
    const struct wsdbg_snapshot *s = &loaded->snapshot;
    for (uint32_t i = 0; i < s->barrier_count; i++) {
        const struct wsdbg_barrier *b = &s->barriers[i];
        if (b->cta >= s->cta_count || !cta_fits(o, &s->ctas[b->cta]) || !is_called(b, o->text))
            continue;
        if (out->barrier == WSDBG_NONE || barrier_rank(loaded, i) > barrier_rank(loaded, out->barrier))
            out->barrier = i;
    }
    if (out->barrier == WSDBG_NONE)
        return false;
    out->cta = s->barriers[out->barrier].cta;
    list_others(s, o, out->barrier, out->others, sizeof out->others);
    return true;
}

/* CTA whose contents tell best what there is: the one asked for, else the first finding's; WSDBG_NONE = none fits. */
static uint32_t cta_to_list(const struct wsdbg_loaded *loaded, const struct object *o)
{
    uint32_t best = WSDBG_NONE;
    for (uint32_t i = 0; i < loaded->snapshot.cta_count; i++)
        if (cta_fits(o, &loaded->snapshot.ctas[i]) &&
            (best == WSDBG_NONE || cta_rank(loaded, i) > cta_rank(loaded, best)))
            best = i;
    return best;
}

static void list_barriers(const struct wsdbg_snapshot *s, uint32_t cta, FILE *out)
{
    for (uint32_t i = 0; i < s->barrier_count; i++) {
        const struct wsdbg_barrier *b = &s->barriers[i];
        char label[OBJECT_BYTES];
        bool told = b->cta != cta;
        for (uint32_t k = 0; k < i && !told; k++)
            told = s->barriers[k].cta == cta && s->barriers[k].kind == b->kind && s->barriers[k].id == b->id;
        if (told)
            continue;
        struct wsdbg_report_barriers words = wsdbg_why_barrier_words(s, i);
        for (uint32_t k = i; k < s->barrier_count; k++)
            if (s->barriers[k].cta == cta && s->barriers[k].kind == b->kind && s->barriers[k].id == b->id &&
                s->barriers[k].stage < 256 && b->kind == WSDBG_BARRIER_MBARRIER)
                words.members.bits[s->barriers[k].stage / 64] |= 1ull << s->barriers[k].stage % 64;
        wsdbg_report_barrier_text(&words, label, sizeof label);
        fprintf(out, ", %s", label);
    }
}

static struct wsdbg_error *no_such_cta(const struct object *o)
{
    char rank[48] = "", cta[64] = "";
    if (o->rank.known)
        snprintf(rank, sizeof rank, " of cluster rank %u", o->rank.value);
    if (o->cta[0].known)
        snprintf(cta, sizeof cta, " (%u,%u,%u)", o->cta[0].value, o->cta[1].value, o->cta[2].value);
    return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "no CTA%s%s was seen", cta, rank);
}

/* One line of all there is in a CTA. */
static struct wsdbg_error *nothing_found(const struct wsdbg_loaded *loaded, const struct object *o, const char *asked)
{
    const struct wsdbg_snapshot *s = &loaded->snapshot;
    const uint32_t cta = cta_to_list(loaded, o);
    char *list = NULL;
    size_t length;
    if (cta == WSDBG_NONE)
        return no_such_cta(o);
    FILE *text = open_memstream(&list, &length);
    if (!text)
        return &wsdbg_error_no_memory;
    struct wsdbg_members warps = {0};
    char numbers[128];
    const struct wsdbg_cta *row = &s->ctas[cta];
    for (uint32_t i = row->warp_first; i - row->warp_first < row->warp_count && i < s->warp_count; i++)
        if (s->warps[i].warp < 256)
            warps.bits[s->warps[i].warp / 64] |= 1ull << s->warps[i].warp % 64;
    wsdbg_report_members_text(&warps, numbers, sizeof numbers);
    fputs(numbers, text);
    list_barriers(s, cta, text);
    fclose(text);
    struct wsdbg_error *error =
        wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "nothing called \"%.80s\" in CTA (%u,%u,%u); it has %.*s", asked,
                           row->x, row->y, row->z, LIST_BYTES, list);
    free(list);
    return error;
}

struct wsdbg_error *wsdbg_why_find(const struct wsdbg_loaded *loaded, const struct wsdbg_why_question *question,
                                   struct wsdbg_why_found *out)
{
    struct object o = {0};
    *out = (struct wsdbg_why_found){.barrier = WSDBG_NONE};
    struct wsdbg_error *error = read_question(question, &o);
    if (error)
        return error;
    const bool found =
        o.is_warps ? find_warps(loaded, &o, out) : find_barrier(loaded, &o, out) || find_role(loaded, &o, out);
    return found ? NULL : nothing_found(loaded, &o, question->object);
}
