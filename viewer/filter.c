/* filter.c - see filter.h: one typed line to a filter, and what it lets through.  Reads a snapshot. */
#include "viewer/filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/symbol.h"

#define NAME_BYTES 512

static void kernel_name(const struct wsdbg_snapshot *snapshot, uint32_t grid, char name[NAME_BYTES])
{
    const char *symbol = wsdbg_snapshot_grid_name(snapshot, &snapshot->grids[grid]);
    name[0] = '\0';
    if (symbol)
        wsdbg_symbol_name(symbol, name, NAME_BYTES);
}

static bool is_a_kernel(const struct wsdbg_snapshot *snapshot, const char *word)
{
    char name[NAME_BYTES];
    for (uint32_t i = 0; i < snapshot->grid_count; i++) {
        kernel_name(snapshot, i, name);
        if (strcasestr(name, word))
            return true;
    }
    return false;
}

static bool is_a_role(const struct wsdbg_snapshot *snapshot, const char *word)
{
    for (size_t i = 0; i < snapshot->name_count; i++)
        if (snapshot->names[i].kind == WSDBG_NAME_ROLE && strncasecmp(snapshot->names[i].name, word, strlen(word)) == 0)
            return true;
    return false;
}

static bool set_state(struct viewer_filter *filter, const char *word)
{
    if (strcasecmp(word, "waiting") == 0) {
        filter->waiting = true;
        return true;
    }
    for (unsigned i = 0; i < WSDBG_WARP_STATE_COUNT; i++)
        if (strcasecmp(word, wsdbg_warp_state_name(i)) == 0) {
            filter->state = i;
            filter->has_state = true;
            return true;
        }
    return false;
}

/* "7" or "0-15". */
static bool set_ctas(struct viewer_filter *filter, const char *word)
{
    int used = 0;
    filter->has_cta = true;
    if (sscanf(word, "%" SCNu32 "-%" SCNu32 "%n", &filter->cta_low, &filter->cta_high, &used) == 2 && !word[used])
        return filter->cta_low <= filter->cta_high;
    if (sscanf(word, "%" SCNu32 "%n", &filter->cta_low, &used) != 1 || word[used])
        return false;
    filter->cta_high = filter->cta_low;
    return true;
}

static struct wsdbg_error *take_bare(struct viewer_filter *filter, const struct wsdbg_snapshot *snapshot,
                                     const char *word)
{
    if (set_state(filter, word))
        return NULL;
    if (snapshot && is_a_role(snapshot, word))
        snprintf(filter->role, sizeof filter->role, "%s", word);
    else if (snapshot && is_a_kernel(snapshot, word))
        snprintf(filter->kernel, sizeof filter->kernel, "%s", word);
    else
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "\"%s\" is no kernel, role or state here", word);
    return NULL;
}

static struct wsdbg_error *take_word(struct viewer_filter *filter, const struct wsdbg_snapshot *snapshot, char *word)
{
    char *value = strchr(word, '=');
    if (!value)
        return take_bare(filter, snapshot, word);
    *value++ = '\0';
    if (strcmp(word, "kernel") == 0)
        snprintf(filter->kernel, sizeof filter->kernel, "%s", value);
    else if (strcmp(word, "role") == 0)
        snprintf(filter->role, sizeof filter->role, "%s", value);
    else if (strcmp(word, "cta") == 0 && !set_ctas(filter, value))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "cta=%s: a number or a range such as 0-15", value);
    else if (strcmp(word, "state") == 0 && !set_state(filter, value))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "state=%s: WAIT_MBARRIER, RUNNING, waiting, …", value);
    else if (strcmp(word, "cta") != 0 && strcmp(word, "state") != 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "\"%s=\": it is kernel=, role=, cta= or state=", word);
    return NULL;
}

/* A role or kernel may have blanks in its name: "role=consumer 0" goes on to the next word with an equals sign. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " ");
    if (!*word)
        return NULL;
    char *end = word + strcspn(word, " ");
    const bool named = strncmp(word, "role=", 5) == 0 || strncmp(word, "kernel=", 7) == 0;
    while (named && *end) {
        char *next = end + strspn(end, " ");
        const size_t length = strcspn(next, " ");
        if (!length || memchr(next, '=', length))
            break;
        end = next + length;
    }
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

struct wsdbg_error *viewer_filter_parse(const char *text, const struct wsdbg_snapshot *snapshot,
                                        struct viewer_filter *out)
{
    struct viewer_filter filter = {0};
    char copy[sizeof filter.text];
    snprintf(filter.text, sizeof filter.text, "%s", text);
    memcpy(copy, filter.text, sizeof copy);
    struct wsdbg_error *error = NULL;
    char *rest = copy;
    for (char *word; !error && (word = next_word(&rest));)
        error = take_word(&filter, snapshot, word);
    if (!error)
        *out = filter;
    return error;
}

bool viewer_filter_grid(const struct viewer_filter *filter, const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    char name[NAME_BYTES];
    if (!filter->kernel[0])
        return true;
    kernel_name(snapshot, grid, name);
    return strcasestr(name, filter->kernel) != NULL;
}

/* The linear index needs the grid's shape, which only a known launch has; without it CTAs of one row are right. */
static uint64_t linear_index(const struct wsdbg_snapshot *snapshot, const struct wsdbg_cta *cta)
{
    const uint32_t launch = snapshot->grids[cta->grid].launch;
    if (launch >= snapshot->launch_count)
        return cta->x;
    const uint32_t *grid = snapshot->launches[launch].grid;
    return cta->x + (uint64_t)grid[0] * (cta->y + (uint64_t)grid[1] * cta->z);
}

bool viewer_filter_cta(const struct viewer_filter *filter, const struct wsdbg_snapshot *snapshot, uint32_t cta)
{
    const struct wsdbg_cta *row = &snapshot->ctas[cta];
    if (!viewer_filter_grid(filter, snapshot, row->grid))
        return false;
    const uint64_t index = linear_index(snapshot, row);
    return !filter->has_cta || (index >= filter->cta_low && index <= filter->cta_high);
}

bool viewer_filter_warp(const struct viewer_filter *filter, const struct wsdbg_snapshot *snapshot, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &snapshot->warps[warp];
    if ((filter->has_state && row->state != filter->state) || (filter->waiting && !wsdbg_warp_state_waits(row->state)))
        return false;
    if (filter->role[0]) {
        const char *role = wsdbg_snapshot_role_name(snapshot, row);
        if (!role || strncasecmp(role, filter->role, strlen(filter->role)) != 0)
            return false;
    }
    return viewer_filter_cta(filter, snapshot, row->cta);
}
