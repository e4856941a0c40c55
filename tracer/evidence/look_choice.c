/* look_choice.c - see look_choice.h.  Reads a snapshot made from slots; adds notes to it. */
#include "evidence/look_choice.h"

#include <stdio.h>

#include "model/rows.h"
#include "wsdbg/session.h"

static bool has_slots(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (size_t i = 0; i < snapshot->grid_count; i++) {
        const struct wsdbg_grid *grid = &snapshot->grids[i];
        if (grid->running && grid->context < snapshot->context_count &&
            snapshot->contexts[grid->context].process_id == process_id)
            return true;
    }
    return false;
}

/* A launch that came after the newest marker that has passed. */
static bool has_newer_launch(const struct wsdbg_snapshot *snapshot, size_t context)
{
    const struct wsdbg_optional_u64 done = snapshot->contexts[context].done_launches;
    for (size_t i = snapshot->launch_count; i-- > 0;) {
        const struct wsdbg_launch *launch = &snapshot->launches[i];
        if (launch->context == context && launch->result == 0 && !(launch->flags & WSDBG_LAUNCH_CAPTURED))
            return !done.known || launch->sequence >= done.value;
    }
    return false;
}

/* Where nobody follows the context's work it may have some. */
static bool may_have_work(const struct wsdbg_snapshot *snapshot, size_t index, bool ends_work)
{
    const struct wsdbg_context *context = &snapshot->contexts[index];
    return context->alive && context->error == 0 &&
           (!context->work_followed || context->unfinished_ns.known ||
            (!ends_work && has_newer_launch(snapshot, index)));
}

bool wsdbg_look_is_wanted(const struct wsdbg_snapshot *snapshot, uint32_t process_id, enum wsdbg_attach_use use,
                          bool ends_work)
{
    bool work = false;
    for (size_t i = 0; i < snapshot->context_count; i++)
        work = work || (snapshot->contexts[i].process_id == process_id && may_have_work(snapshot, i, ends_work));
    return work && (use == WSDBG_ATTACH_ALWAYS || !has_slots(snapshot, process_id));
}

bool wsdbg_look_came_before(const struct wsdbg_snapshot *snapshot, size_t context)
{
    for (size_t i = 0; i < context; i++)
        if (snapshot->contexts[i].process_id == snapshot->contexts[context].process_id)
            return true;
    return false;
}

void wsdbg_look_add_note(struct wsdbg_snapshot *snapshot, const char *text)
{
    if (wsdbg_rows_reserve(snapshot, &(struct wsdbg_table_counts){.notes = 1}))
        return;
    snprintf(snapshot->notes[snapshot->note_count++], sizeof *snapshot->notes, "%s", text);
}

void wsdbg_look_add_trouble(struct wsdbg_snapshot *snapshot, uint32_t process_id, const char *text)
{
    char words[sizeof *snapshot->notes];
    snprintf(words, sizeof words, "the GPU's own state of process %u could not be read: %s", process_id, text);
    wsdbg_look_add_note(snapshot, words);
}

/* Alive contexts of the process on the GPU that has most of them. */
static size_t contexts_of_one_gpu(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    size_t most = 0;
    for (size_t i = 0; i < snapshot->context_count; i++) {
        size_t count = 0;
        for (size_t k = 0; k < snapshot->context_count; k++)
            count += snapshot->contexts[k].alive && snapshot->contexts[k].process_id == process_id &&
                     snapshot->contexts[k].device_ordinal == snapshot->contexts[i].device_ordinal;
        most = count > most ? count : most;
    }
    return most;
}

void wsdbg_look_note_no_warps(struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    const size_t contexts = contexts_of_one_gpu(snapshot, process_id);
    char text[sizeof *snapshot->notes];
    if (contexts > 1)
        snprintf(text, sizeof text,
                 "no warp was seen: process %u has %zu contexts on one GPU, and then the driver (580) shows none of "
                 "their kernels to a debugger that comes later",
                 process_id, contexts);
    else
        snprintf(text, sizeof text,
                 "no warp of process %u was seen: its kernels had ended, what it waits for is no kernel, or the driver "
                 "did not show it",
                 process_id);
    wsdbg_look_add_note(snapshot, text);
}
