/* families.c - see families.h.
 *
 * An array is what an access walks with a stride.  If it is not known how far the access walks, the array ends before
 * the next one, before a place that no access names, and where the barriers expect another number of arrivals.
 * Barriers that are only named one by one belong together if they lie side by side and have the same uses.  No array
 * goes from one variable of the source into the next.
 */
#include "sass/families.h"

#include <stdlib.h>

#include "sass/families_alike.h"

enum { PLACES_MAX = 256, STAGES_MAX = 64, MBARRIER_BYTES = 8 };

/* A place that some access names exactly, or at which a warp waits. */
struct place {
    uint32_t offset;
    uint64_t uses;
    uint32_t expected; /* of the init there, else of the word; 0 = not known */
};

/* Uses of a barrier that counts bytes. */
#define BYTES                                                                         \
    ((uint64_t)1 << WSDBG_ACCESS_ARRIVE_EXPECT | (uint64_t)1 << WSDBG_ACCESS_EXPECT | \
     (uint64_t)1 << WSDBG_ACCESS_COMPLETE | (uint64_t)1 << WSDBG_ACCESS_COPY)

struct survey {
    const struct wsdbg_families_source *source;
    struct place places[PLACES_MAX];
    size_t place_count;
    struct wsdbg_family arrays[WSDBG_FAMILIES_MAX];
    bool counted[WSDBG_FAMILIES_MAX]; /* it is known how many places the array has */
    size_t array_count;
};

/* The variable in which the offset lies; NULL = none that has a name and a size. */
static const struct wsdbg_shared_variable *variable_at(const struct survey *survey, uint32_t offset)
{
    for (size_t i = 0; i < survey->source->variable_count; i++) {
        const struct wsdbg_shared_variable *variable = &survey->source->variables[i];
        if (offset >= variable->first && offset - variable->first < variable->byte_count)
            return variable;
    }
    return NULL;
}

static bool is_same_variable(const struct survey *survey, uint32_t one, uint32_t other)
{
    return variable_at(survey, one) == variable_at(survey, other);
}

static struct place *place_at(struct survey *survey, uint32_t offset, bool add)
{
    for (size_t i = 0; i < survey->place_count; i++)
        if (survey->places[i].offset == offset)
            return &survey->places[i];
    if (!add || survey->place_count == PLACES_MAX || offset % MBARRIER_BYTES)
        return NULL;
    survey->places[survey->place_count] = (struct place){.offset = offset};
    return &survey->places[survey->place_count++];
}

static void note_place(struct survey *survey, uint32_t offset, const struct wsdbg_access *access)
{
    struct place *place = place_at(survey, offset, true);
    if (!place)
        return;
    if (access->kind != WSDBG_ACCESS_INIT)
        place->uses |= (uint64_t)1 << access->kind;
    else if (access->count.known && access->count.count == 1)
        place->expected = (uint32_t)access->count.base;
}

static void note_array(struct survey *survey, const struct wsdbg_access *access)
{
    const uint32_t first = (uint32_t)access->address.base & WSDBG_OFFSET_MASK;
    const uint32_t stride = access->address.stride;
    size_t i = 0;
    while (i < survey->array_count && (survey->arrays[i].first != first || survey->arrays[i].stride != stride))
        i++;
    if (i == WSDBG_FAMILIES_MAX || stride == 0 || stride % MBARRIER_BYTES || first % MBARRIER_BYTES)
        return;
    if (i == survey->array_count) {
        survey->arrays[survey->array_count++] =
            (struct wsdbg_family){.first = first, .stride = stride, .places = 1, .walked = true};
        survey->counted[i] = false;
    }
    struct wsdbg_family *array = &survey->arrays[i];
    if (access->kind != WSDBG_ACCESS_INIT)
        array->uses |= (uint64_t)1 << access->kind;
    if (access->address.count > array->places && access->address.count <= STAGES_MAX) {
        array->places = access->address.count;
        survey->counted[i] = true;
    }
}

static void note_accesses(struct survey *survey)
{
    for (size_t i = 0; i < survey->source->access_count; i++) {
        const struct wsdbg_access *access = &survey->source->accesses[i];
        if (!wsdbg_is_mbarrier_access(access->kind) || !access->address.known)
            continue;
        if (access->address.count == 1)
            note_place(survey, (uint32_t)access->address.base & WSDBG_OFFSET_MASK, access);
        else
            note_array(survey, access);
    }
}

static void note_waits(struct survey *survey)
{
    for (size_t i = 0; i < survey->source->waited_count; i++) {
        struct place *place = place_at(survey, survey->source->waited[i] & WSDBG_OFFSET_MASK, true);
        if (place)
            place->uses |= (uint64_t)1 << WSDBG_ACCESS_WAIT;
    }
}

/* Of the word where that is known. */
static uint32_t expected_at(struct survey *survey, uint32_t offset)
{
    const struct place *place = place_at(survey, offset, false);
    const uint32_t seen = survey->source->expected ? survey->source->expected(survey->source->context, offset) : 0;
    return seen ? seen : place ? place->expected : 0;
}

static bool begins_array(const struct survey *survey, uint32_t offset)
{
    for (size_t i = 0; i < survey->array_count; i++)
        if (survey->arrays[i].first == offset)
            return true;
    return false;
}

/* How many places from this one on expect the same number of arrivals. */
static uint32_t run_of(struct survey *survey, const struct wsdbg_family *array, uint32_t from)
{
    const uint32_t expected = expected_at(survey, array->first + from * array->stride);
    uint32_t at = from;
    while (at < array->places && expected && expected_at(survey, array->first + at * array->stride) == expected)
        at++;
    return at - from;
}

/* An access may go along several arrays, as far as its code tells.  Where several places expect one number and the next
 * ones another, another array begins; a single place that expects another number may be a mistake. */
static void cut(struct survey *survey, struct wsdbg_family *array)
{
    const uint32_t run = run_of(survey, array, 0), next = array->first + run * array->stride;
    if (run < 2 || run >= array->places || run_of(survey, array, run) < 2)
        return;
    if (!begins_array(survey, next) && survey->array_count < WSDBG_FAMILIES_MAX) {
        struct wsdbg_family rest = *array;
        rest.first = next;
        rest.places -= run;
        survey->counted[survey->array_count] = true;
        survey->arrays[survey->array_count++] = rest;
    }
    array->places = run;
}

static void measure(struct survey *survey, size_t number)
{
    struct wsdbg_family *array = &survey->arrays[number];
    const uint32_t expected = expected_at(survey, array->first);
    if (survey->counted[number])
        cut(survey, array);
    while (!survey->counted[number] && array->places < STAGES_MAX) {
        const uint32_t next = array->first + array->places * array->stride;
        const uint32_t there = expected_at(survey, next);
        const bool differs = (expected && there && expected != there) || !is_same_variable(survey, array->first, next);
        if (begins_array(survey, next) || differs || (!place_at(survey, next, false) && !there))
            break;
        array->places++;
    }
}

static bool covers(const struct wsdbg_family *family, uint32_t offset, uint32_t *stage)
{
    if (offset < family->first)
        return false;
    *stage = family->stride ? (offset - family->first) / family->stride : 0;
    return *stage < family->places && family->first + *stage * family->stride == offset;
}

bool wsdbg_family_at(const struct wsdbg_families *families, uint32_t offset, uint32_t *family, uint32_t *stage)
{
    for (uint32_t i = 0; i < families->count; i++)
        if (covers(&families->rows[i], offset, stage)) {
            *family = i;
            return true;
        }
    return false;
}

uint32_t wsdbg_family_places(const struct wsdbg_families *families, const struct wsdbg_value_set *address)
{
    uint32_t number, stage;
    /* More than any ring has is what a mask leaves: as good as no end. */
    if (!address->known || (address->count && address->count <= STAGES_MAX) || !address->stride ||
        !wsdbg_family_at(families, (uint32_t)address->base & WSDBG_OFFSET_MASK, &number, &stage))
        return address->count;
    const struct wsdbg_family *family = &families->rows[number];
    return family->closed && family->stride == address->stride ? family->places - stage : address->count;
}

bool wsdbg_access_may_be(const struct wsdbg_families *families, const struct wsdbg_access *access, uint32_t offset)
{
    const struct wsdbg_value_set *address = &access->address;
    const uint32_t base = (uint32_t)address->base & WSDBG_OFFSET_MASK, count = wsdbg_family_places(families, address);
    if (!address->known || address->count == 1 || address->stride == 0)
        return !address->known || base == offset;
    return offset >= base && (offset - base) % address->stride == 0 &&
           (count == 0 || (offset - base) / address->stride < count);
}

/* An array whose first place lies in another one is a walk over part of that. */
static bool add_array(struct wsdbg_families *families, const struct wsdbg_family *array)
{
    uint32_t family, stage;
    if (wsdbg_family_at(families, array->first, &family, &stage)) {
        families->rows[family].uses |= array->uses;
        return true;
    }
    if (families->count < WSDBG_FAMILIES_MAX)
        families->rows[families->count++] = *array;
    return false;
}

/* In a variable with a name those that nothing is done with yet are like any. */
static bool is_used_alike(const struct survey *survey, const struct wsdbg_family *family, const struct place *place)
{
    return is_same_variable(survey, family->first, place->offset) &&
           (family->uses == place->uses || (variable_at(survey, place->offset) && (!family->uses || !place->uses)));
}

/* A single place joins the family of those just before it that are alike. */
static void add_place(struct survey *survey, struct wsdbg_families *families, const struct place *place)
{
    uint32_t family, stage;
    if (wsdbg_family_at(families, place->offset, &family, &stage)) {
        families->rows[family].uses |= place->uses;
        return;
    }
    struct wsdbg_family *last = families->count ? &families->rows[families->count - 1] : NULL;
    if (last && last->stride == 0 && last->first + last->places * MBARRIER_BYTES == place->offset &&
        is_used_alike(survey, last, place) && last->places < STAGES_MAX &&
        !wsdbg_family_turns_round(survey->source, last, place->offset) &&
        expected_at(survey, last->first) == expected_at(survey, place->offset)) {
        last->places++;
        last->uses |= place->uses;
        return;
    }
    if (families->count < WSDBG_FAMILIES_MAX)
        families->rows[families->count++] =
            (struct wsdbg_family){.first = place->offset, .places = 1, .uses = place->uses};
}

static int by_first(const void *left, const void *right)
{
    const uint32_t a = ((const struct wsdbg_family *)left)->first, b = ((const struct wsdbg_family *)right)->first;
    return (a > b) - (a < b);
}

static int by_offset(const void *left, const void *right)
{
    const uint32_t a = ((const struct place *)left)->offset, b = ((const struct place *)right)->offset;
    return (a > b) - (a < b);
}

/* Whether no place of the array's variable follows its last one. */
static bool fills_variable(const struct survey *survey, const struct wsdbg_family *family)
{
    const struct wsdbg_shared_variable *variable = variable_at(survey, family->first);
    return variable && family->places > 1 && family->walked &&
           family->first + family->places * family->stride >= variable->first + variable->byte_count;
}

/* Two arrays side by side are one that is walked from two places on, unless what is done with them says otherwise: they
 * expect other numbers of arrivals, or are signalled in other ways. */
static bool are_apart(struct survey *survey, const struct wsdbg_family *family, const struct wsdbg_family *next)
{
    const uint64_t signals = ~((uint64_t)1 << WSDBG_ACCESS_WAIT | (uint64_t)1 << WSDBG_ACCESS_INVALIDATE);
    const uint32_t expected = expected_at(survey, family->first), there = expected_at(survey, next->first);
    if (family->places < 2 || !family->walked || !next->walked || family->stride != next->stride ||
        family->first + family->places * family->stride != next->first)
        return false;
    return (expected && there && expected != there) ||
           (family->uses & signals && next->uses & signals && !(family->uses & next->uses & signals));
}

/* ---- loops that are unrolled: an array is walked in longer strides, and places between are named one by one ---- */

/* The array that begins at an offset; NULL = none does. */
static struct wsdbg_family *array_at(struct survey *survey, uint32_t offset)
{
    for (size_t i = 0; i < survey->array_count; i++)
        if (survey->arrays[i].first == offset)
            return &survey->arrays[i];
    return NULL;
}

/* Two arrays may be interleaved: full and empty of each stage side by side. */
static bool is_of_another(const struct survey *survey, const struct wsdbg_family *array, uint32_t offset)
{
    uint32_t stage;
    for (size_t i = 0; i < survey->array_count; i++)
        if (&survey->arrays[i] != array && survey->arrays[i].places > 1 && covers(&survey->arrays[i], offset, &stage))
            return true;
    return false;
}

/* Whether the place is used as the array is: it expects as many arrivals, and bytes are brought to both or to none.  It
 * is in no other array of more than one place. */
static bool is_like(struct survey *survey, const struct wsdbg_family *array, uint32_t offset)
{
    const struct place *place = place_at(survey, offset, false);
    const struct wsdbg_family *other = array_at(survey, offset);
    const uint32_t expected = expected_at(survey, array->first);
    const uint64_t uses = (place ? place->uses : 0) | (other ? other->uses : 0);
    return (place || other) && is_same_variable(survey, array->first, offset) &&
           !is_of_another(survey, array, offset) && expected && expected_at(survey, offset) == expected &&
           !(uses & BYTES) == !(array->uses & BYTES);
}

static bool fills_gaps(struct survey *survey, const struct wsdbg_family *array)
{
    const uint32_t end = array->first + (array->places - 1) * array->stride;
    for (uint32_t offset = array->first; offset < end; offset += MBARRIER_BYTES)
        if ((offset - array->first) % array->stride && !is_like(survey, array, offset))
            return false;
    return array->places > 1 && array->stride > MBARRIER_BYTES;
}

/* Joins to the array the places in its gaps, and those of a stride before and behind it.  An array that begins in the
 * same place becomes the same one. */
static void join_gaps(struct survey *survey, struct wsdbg_family *array)
{
    const uint32_t most = array->stride / MBARRIER_BYTES - 1;
    if (!fills_gaps(survey, array))
        return;
    uint32_t first = array->first, end = array->first + (array->places - 1) * array->stride + MBARRIER_BYTES;
    for (uint32_t i = 0; i < most && first >= MBARRIER_BYTES && is_like(survey, array, first - MBARRIER_BYTES); i++)
        first -= MBARRIER_BYTES;
    for (uint32_t i = 0; i < most && is_like(survey, array, end); i++)
        end += MBARRIER_BYTES;
    struct wsdbg_family *other = first == array->first ? NULL : array_at(survey, first);
    array->first = first;
    array->stride = MBARRIER_BYTES;
    array->places = (end - first) / MBARRIER_BYTES;
    if (other)
        *other = *array;
}

/* Whether an access goes along all places of the array one by one, among them all those of another array, and all
 * expect the same number of arrivals.  Then the other array is part of this one. */
static bool holds_array(struct survey *survey, size_t number, const struct wsdbg_family *part)
{
    const struct wsdbg_family *array = &survey->arrays[number];
    uint32_t stage;
    const uint64_t quiet = (uint64_t)1 << WSDBG_ACCESS_INVALIDATE | (uint64_t)1 << WSDBG_ACCESS_WAIT;
    const uint64_t uses = array->uses & ~((uint64_t)1 << WSDBG_ACCESS_INVALIDATE), signals = part->uses & ~quiet;
    if (!uses || (signals && !(uses & BYTES) != !(signals & BYTES)))
        return false;
    return survey->counted[number] && array->stride < part->stride && part->stride % array->stride == 0 &&
           covers(array, part->first, &stage) &&
           covers(array, part->first + (part->places - 1) * part->stride, &stage) &&
           run_of(survey, array, 0) == array->places;
}

static void join_parts(struct survey *survey, struct wsdbg_family *part)
{
    for (size_t i = 0; i < survey->array_count; i++) {
        if (!holds_array(survey, i, part))
            continue;
        survey->arrays[i].uses |= part->uses;
        *part = survey->arrays[i];
        return;
    }
}

static uint32_t expected_of_survey(void *survey, uint32_t offset)
{
    return expected_at(survey, offset);
}

/* Whether the code says which mbarriers there are: it initialises some, and each at a place that is known. */
static bool knows_all(const struct survey *survey)
{
    bool any = false;
    for (size_t i = 0; i < survey->source->access_count; i++) {
        const struct wsdbg_access *access = &survey->source->accesses[i];
        if (access->kind == WSDBG_ACCESS_INIT && (!access->address.known || !access->address.count))
            return false;
        any |= access->kind == WSDBG_ACCESS_INIT;
    }
    return any;
}

static bool is_initialised(const struct survey *survey, uint32_t offset)
{
    for (size_t i = 0; i < survey->source->access_count; i++) {
        const struct wsdbg_access *access = &survey->source->accesses[i];
        const struct wsdbg_family row = {.first = (uint32_t)access->address.base & WSDBG_OFFSET_MASK,
                                         .stride = access->address.stride,
                                         .places = access->address.count};
        uint32_t stage;
        if (access->kind == WSDBG_ACCESS_INIT && access->address.known && covers(&row, offset, &stage))
            return true;
    }
    return false;
}

/* An access may begin at a place that is no mbarrier: its least stage is another one, or how far down it goes is not
 * known.  The array begins behind it, if at all. */
static void trim(struct survey *survey, size_t number)
{
    struct wsdbg_family *array = &survey->arrays[number];
    while (!survey->counted[number] && array->places && !place_at(survey, array->first, false) &&
           !expected_at(survey, array->first) && !is_initialised(survey, array->first)) {
        array->first += array->stride;
        array->places--;
    }
}

static void settle(struct survey *survey, struct wsdbg_families *families)
{
    const bool trims = knows_all(survey);
    for (size_t i = 0; i < survey->array_count; i++)
        measure(survey, i);
    for (size_t i = 0; i < survey->array_count; i++)
        join_parts(survey, &survey->arrays[i]);
    for (size_t i = 0; i < survey->array_count; i++)
        join_gaps(survey, &survey->arrays[i]);
    for (size_t i = 0; trims && i < survey->array_count; i++)
        trim(survey, i);
    if (survey->array_count)
        qsort(survey->arrays, survey->array_count, sizeof *survey->arrays, by_first);
    for (size_t i = 0; i < survey->array_count; i++)
        if (survey->arrays[i].places)
            add_array(families, &survey->arrays[i]);
    if (survey->place_count)
        qsort(survey->places, survey->place_count, sizeof *survey->places, by_offset);
    /* Singles in a row grow one family: its stride stays 0 until it is done. */
    for (size_t i = 0; i < survey->place_count; i++)
        add_place(survey, families, &survey->places[i]);
    for (size_t i = 0; i < families->count; i++)
        if (families->rows[i].stride == 0)
            families->rows[i].stride = MBARRIER_BYTES;
    if (families->count)
        qsort(families->rows, families->count, sizeof *families->rows, by_first);
    wsdbg_families_join_alike(survey->source, expected_of_survey, survey, families);
    for (size_t i = 0; i < families->count; i++)
        families->rows[i].closed =
            fills_variable(survey, &families->rows[i]) ||
            (i + 1 < families->count && are_apart(survey, &families->rows[i], &families->rows[i + 1]));
}

/* How many bytes of a variable belong to families. */
static uint32_t covered_bytes(const struct wsdbg_families *families, const struct wsdbg_shared_variable *variable)
{
    uint32_t bytes = 0, family, stage;
    for (uint32_t at = 0; at + MBARRIER_BYTES <= variable->byte_count; at += MBARRIER_BYTES)
        bytes += wsdbg_family_at(families, variable->first + at, &family, &stage) ? MBARRIER_BYTES : 0;
    return bytes;
}

/* A variable that has other things in it does not tell what its mbarriers are called. */
static void name_families(const struct survey *survey, struct wsdbg_families *families)
{
    for (size_t i = 0; i < families->count; i++) {
        struct wsdbg_family *family = &families->rows[i];
        const struct wsdbg_shared_variable *variable = variable_at(survey, family->first);
        if (!variable || variable->byte_count > PLACES_MAX * MBARRIER_BYTES ||
            covered_bytes(families, variable) != variable->byte_count)
            continue;
        family->variable = variable->name;
        family->variable_offset = family->first - variable->first;
        family->is_all = family->stride == MBARRIER_BYTES && variable->byte_count == family->places * MBARRIER_BYTES;
    }
}

struct wsdbg_error *wsdbg_families_find(const struct wsdbg_families_source *source, struct wsdbg_families *out)
{
    struct survey *survey = calloc(1, sizeof *survey);
    if (!survey)
        return &wsdbg_error_no_memory;
    survey->source = source;
    out->count = 0;
    note_accesses(survey);
    note_waits(survey);
    settle(survey, out);
    name_families(survey, out);
    free(survey);
    return NULL;
}
