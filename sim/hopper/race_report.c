/* race_report.c - a race in words: kind, both places, both warps, the memory, what is missing; see race.h, gpu.h.
 *
 * Each pair of places is kept once.  Reads: the program, its variables.  Writes: the gpu's races.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "hopper/device.h"
#include "hopper/race.h"
#include "hopper/race_state.h"

enum { RACES_MOST = 256 };

static const struct {
    const char *code, *missing, *change;
} words[RACE_KINDS] = {
    [RACE_WRITE_WRITE] = {"RACE_WRITE_WRITE", "nothing orders the two writes",
                          "let the second warp wait for the first: an mbarrier, a named barrier or a group wait"},
    [RACE_READ_WRITE] = {"RACE_READ_WRITE", "nothing orders the read and the write",
                         "the reader waits until the data has arrived; the writer waits until all readers are done"},
    [RACE_FENCE_PROXY] = {"FENCE_PROXY_MISSING",
                          "no proxy fence lies between the write by threads and the asynchronous access",
                          "the writing threads execute fence.proxy.async after their writes, before the barrier"},
    [RACE_FENCE_INIT] = {"FENCE_INIT_MISSING",
                         "no fence makes the initialised mbarrier visible to the copy engine or the other CTA",
                         "execute fence.mbarrier_init.release.cluster after mbarrier.init, before the barrier"},
    [RACE_FENCE_MAP] = {"TMAP_FENCE_MISSING", "no fence of tensor maps lies between the map's change and its use",
                        "execute fence.proxy.tensormap::generic.acquire on the map before the copy"},
    [RACE_USE_BEFORE_INIT] = {"USE_BEFORE_INIT", "nothing orders mbarrier.init and this use",
                              "synchronise the CTA or the cluster between mbarrier.init and the first use"},
    [RACE_ACCUMULATOR] = {"WGMMA_ACCUMULATOR_RACE", "its group of wgmma was not waited for",
                          "execute wgmma.wait_group before the registers are used"},
    [RACE_NO_WGMMA_FENCE] = {"WGMMA_ACCUMULATOR_RACE", "no wgmma.fence lies before the warp's first wgmma",
                             "execute wgmma.fence before the first wgmma.mma_async"},
};

/* The line that an author would look at: wrappers of one instruction are passed over. */
static void describe_site(const struct hopper_grid *grid, uint32_t site, char *out, size_t byte_count)
{
    const struct wsdbg_ptx_program *const program = grid->code->program;
    const struct wsdbg_ptx_instruction *const instruction = &program->instructions[site];
    uint32_t at = instruction->place;
    while (at != WSDBG_PTX_NONE && program->places[at].is_wrapper && program->places[at].inlined_at != WSDBG_PTX_NONE)
        at = program->places[at].inlined_at;
    if (at == WSDBG_PTX_NONE)
        snprintf(out, byte_count, "PTX line %u", instruction->text_line);
    else
        snprintf(out, byte_count, "%s:%u", program->files[program->places[at].file], program->places[at].line);
}

static void describe_side(const struct hopper_race_context *context, const struct race_access *access, bool writes,
                          struct wsdbg_gpu_race_side *out)
{
    const struct hopper_race_who *const who = hopper_race_who(context->grid, access->agent);
    memcpy(out->cta, who->cta, sizeof out->cta);
    out->warp = who->warp;
    out->instruction = access->site;
    out->writes = writes;
    out->is_async = access->flags & RACE_ASYNC;
    describe_site(context->grid, access->site, out->place, sizeof out->place);
}

/* The kernel's static variable there; NULL = none. */
static const struct wsdbg_ptx_shared *find_variable(const struct wsdbg_ptx_function *kernel, uint64_t offset)
{
    for (size_t i = 0; i < kernel->shared_count; i++)
        if (offset >= kernel->shared[i].offset && offset - kernel->shared[i].offset < kernel->shared[i].byte_count)
            return &kernel->shared[i];
    return NULL;
}

static void describe_memory(const struct hopper_race_context *context, uint64_t address, char *out, size_t byte_count)
{
    const struct hopper_grid *const grid = context->grid;
    if (!context->cluster) {
        struct wsdbg_gpu *const gpu = grid->gpu;
        if (hopper_find_range(gpu, address, 1))
            snprintf(out, byte_count, "global memory 0x%" PRIx64 ": byte %" PRIu64 " of an allocation of %" PRIu64,
                     address, address - gpu->found.first, gpu->found.end - gpu->found.first);
        else
            snprintf(out, byte_count, "global memory 0x%" PRIx64, address);
        return;
    }
    const uint32_t rank = (uint32_t)(address >> HOPPER_RANK_SHIFT);
    const uint64_t offset = (address & ((1u << HOPPER_RANK_SHIFT) - 1)) - HOPPER_SHARED_START;
    const uint32_t is_static = grid->launch.function->shared_bytes;
    const struct wsdbg_ptx_shared *const variable =
        offset < is_static ? find_variable(grid->launch.function, offset) : NULL;
    char of[48] = "";
    if (context->cluster->cta_count > 1)
        snprintf(of, sizeof of, " of CTA rank %u", rank);
    if (variable)
        snprintf(out, byte_count, "shared memory%s: byte %" PRIu64 " of %s", of, offset - variable->offset,
                 variable->name);
    else if (offset < is_static)
        snprintf(out, byte_count, "shared memory%s: static byte %" PRIu64, of, offset);
    else
        snprintf(out, byte_count, "shared memory%s: dynamic byte %" PRIu64, of, offset - is_static);
}

static bool is_known(const struct hopper_races *races, const char *code, const struct race_access *earlier,
                     const struct race_access *later, const char *kernel)
{
    for (size_t i = 0; i < races->count; i++) {
        const struct wsdbg_gpu_race *const row = &races->rows[i];
        const uint32_t a = row->earlier.instruction, b = row->later.instruction;
        const bool is_pair = (a == earlier->site && b == later->site) || (a == later->site && b == earlier->site);
        if (is_pair && row->code == code && strcmp(row->kernel, kernel) == 0)
            return true;
    }
    return false;
}

void hopper_race_found(void *data, enum race_kind kind, uint64_t address, const struct race_access *earlier,
                       bool earlier_writes, const struct race_access *later, bool later_writes)
{
    const struct hopper_race_context *const context = data;
    struct hopper_races *const races = context->grid->gpu->races;
    const char *const kernel = context->grid->launch.function->name;
    struct wsdbg_gpu_race row = {.code = words[kind].code,
                                 .missing = words[kind].missing,
                                 .change = words[kind].change,
                                 .grid_id = context->grid->id};
    snprintf(row.kernel, sizeof row.kernel, "%s", kernel);
    if (races->count >= RACES_MOST || is_known(races, row.code, earlier, later, row.kernel) ||
        !wsdbg_grow((void **)&races->rows, &races->capacity, races->count + 1, sizeof *races->rows))
        return;
    describe_side(context, earlier, earlier_writes, &row.earlier);
    describe_side(context, later, later_writes, &row.later);
    if (kind == RACE_ACCUMULATOR || kind == RACE_NO_WGMMA_FENCE)
        snprintf(row.memory, sizeof row.memory, "registers");
    else
        describe_memory(context, address, row.memory, sizeof row.memory);
    races->rows[races->count++] = row;
}

size_t wsdbg_gpu_races(const struct wsdbg_gpu *gpu, const struct wsdbg_gpu_race **rows)
{
    *rows = gpu->races ? gpu->races->rows : NULL;
    return gpu->races ? gpu->races->count : 0;
}

static int say_side(const struct wsdbg_gpu_race_side *side, char *out, size_t byte_count)
{
    char warp[64] = "warp ?";
    if (side->warp != WSDBG_PTX_NONE)
        snprintf(warp, sizeof warp, "CTA (%u,%u,%u) warp %u", side->cta[0], side->cta[1], side->cta[2], side->warp);
    return snprintf(out, byte_count, "%s %s%s at %s", warp, side->writes ? "writes" : "reads",
                    side->is_async ? " (asynchronously)" : "", side->place);
}

void wsdbg_gpu_race_text(const struct wsdbg_gpu_race *race, char *out, size_t byte_count)
{
    char earlier[256], later[256];
    say_side(&race->earlier, earlier, sizeof earlier);
    say_side(&race->later, later, sizeof later);
    snprintf(out, byte_count, "%s in %s: %s\n  first:   %s\n  second:  %s\n  missing: %s\n  change:  %s", race->code,
             race->kernel, race->memory, earlier, later, race->missing, race->change);
}
