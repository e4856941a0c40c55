/* look_keeper.c - see look_keeper.h.  Writes: one file a look. */
#include "evidence/look_keeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/reads.h"

struct wsdbg_look_keeper {
    char *folder;
    uint32_t process_id, written, handed;
    bool taken;
    char trouble[192]; /* "" = none */
    struct wsdbg_machine_reads reads;
};

struct wsdbg_error *wsdbg_look_keeper_create(const char *folder, uint32_t process_id, struct wsdbg_look_keeper **out)
{
    struct wsdbg_look_keeper *keeper = calloc(1, sizeof *keeper);
    char *copy = strdup(folder);
    if (!keeper || !copy) {
        free(keeper);
        free(copy);
        return &wsdbg_error_no_memory;
    }
    keeper->folder = copy;
    keeper->process_id = process_id;
    *out = keeper;
    return NULL;
}

void wsdbg_look_keeper_destroy(struct wsdbg_look_keeper *keeper)
{
    if (!keeper)
        return;
    wsdbg_reads_deinit(&keeper->reads);
    free(keeper->folder);
    free(keeper);
}

/* Reads a grid's parameters, up to the end of their bank.  A later wsdbg that judges the kept look may ask for others
 * than this one. */
static struct wsdbg_error *keep_parameters(struct wsdbg_machine *machine, uint32_t grid)
{
    enum { PIECE_BYTES = 256, WORD_BYTES = 4, BANK_BYTES_MOST = 0x8200 };
    unsigned char bytes[PIECE_BYTES];
    struct wsdbg_error *error = NULL;
    for (uint32_t at = 0, step = PIECE_BYTES; !error && at < BANK_BYTES_MOST && step >= WORD_BYTES;) {
        bool known = false;
        error = machine->ops->constant(machine, grid, 0, at, bytes, step, &known);
        if (known)
            at += step;
        else
            step /= 2;
    }
    return error;
}

static struct wsdbg_error *keep_all_parameters(struct wsdbg_machine *machine)
{
    enum { GRIDS_MOST = 8 };
    struct wsdbg_error *error = NULL;
    for (uint32_t grid = 0; !error && grid < machine->grid_count && grid < GRIDS_MOST; grid++)
        error = keep_parameters(machine, grid);
    return error;
}

struct wsdbg_error *wsdbg_look_keeper_take(struct wsdbg_look_keeper *keeper, struct wsdbg_machine *machine,
                                           struct wsdbg_code *code, struct wsdbg_look_budget budget,
                                           struct wsdbg_look **out)
{
    struct wsdbg_machine *recorder;
    if (!keeper)
        return wsdbg_look_take_within(machine, code, budget, out);
    wsdbg_reads_deinit(&keeper->reads);
    struct wsdbg_error *error = wsdbg_machine_recorder(machine, &keeper->reads, &recorder);
    if (error)
        return error;
    error = wsdbg_look_take_within(recorder, code, budget, out);
    if (!error) /* the look is there: what could not be read besides costs nothing */
        wsdbg_error_destroy(keep_all_parameters(recorder));
    wsdbg_machine_recorder_release(recorder);
    keeper->taken = !error;
    return error;
}

static char *path_of(const struct wsdbg_look_keeper *keeper, uint32_t number)
{
    char *path;
    return asprintf(&path, "%s/look-%u-%u.core", keeper->folder, keeper->process_id, number) >= 0 ? path : NULL;
}

void wsdbg_look_keeper_write(struct wsdbg_look_keeper *keeper, const struct wsdbg_machine *machine)
{
    if (!keeper || !keeper->taken)
        return;
    keeper->taken = false;
    keeper->trouble[0] = '\0';
    char *path = path_of(keeper, ++keeper->written);
    struct wsdbg_error *error = path ? wsdbg_machine_write_core(machine, &keeper->reads, path) : &wsdbg_error_no_memory;
    if (error) {
        snprintf(keeper->trouble, sizeof keeper->trouble, "a look could not be kept: %s", wsdbg_error_message(error));
        keeper->handed = keeper->written;
    }
    wsdbg_error_destroy(error);
    free(path);
}

bool wsdbg_look_keeper_has_next(const struct wsdbg_look_keeper *keeper)
{
    return keeper && keeper->handed < keeper->written;
}

char *wsdbg_look_keeper_next(struct wsdbg_look_keeper *keeper)
{
    return wsdbg_look_keeper_has_next(keeper) ? path_of(keeper, ++keeper->handed) : NULL;
}

const char *wsdbg_look_keeper_trouble(const struct wsdbg_look_keeper *keeper)
{
    return keeper && keeper->trouble[0] ? keeper->trouble : NULL;
}
