/* wgmma.c - wgmma.mma_async, its groups and fences.
 *
 * An operation takes descriptors and A's registers when it is issued, shared memory and accumulators when its group
 * completes; groups of a warp complete in their order.  Each warp does its own part; a wait is for the parts of all
 * four. Reads and writes: the warp's registers, shared memory of its CTA.
 */
#include "hopper/wgmma.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "hopper/device.h"
#include "hopper/race.h"
#include "hopper/values.h"

enum { WARPS_OF_GROUP = 4, OPERATIONS_MOST = 1024 };
enum { GROUP_NS = 60, OPERATION_NS = 130 };
enum { OPERAND_D, OPERAND_A, OPERAND_B, OPERAND_SCALE_D, OPERAND_SCALE_A, OPERAND_SCALE_B, OPERAND_TRANSPOSES };

struct issued {
    uint32_t group;
    struct wgmma_operation operation;
    uint32_t (*a_values)[HOPPER_LANES]; /* the operation's own; NULL = A is in shared memory */
};

struct hopper_wgmma {
    uint32_t open, done; /* groups: the number of the open one; how many are complete */
    struct issued *rows; /* in the order of issue */
    size_t count, capacity;
    size_t busy_words;
    uint64_t busy[]; /* a bit for each 32-bit register of the warp that one of them writes */
};

struct group_work {
    struct hopper_warp *warp;
};

/* ---- execution ---- */

/* Accumulators as floats, kept from one operation to the next. */
struct accumulators {
    const struct wgmma_operation *of; /* whose they are, NULL = nobody's */
    float d[WGMMA_ROWS][WGMMA_N_MOST];
};

static bool has_same_d(const struct wgmma_operation *one, const struct wgmma_operation *other)
{
    return one->d_type == other->d_type && one->n == other->n &&
           (one->d == other->d || memcmp(one->d, other->d, wgmma_d_registers(one) * sizeof *one->d) == 0);
}

static void put_back(const struct hopper_warp *warp, struct accumulators *accumulators)
{
    if (accumulators->of)
        wgmma_write_d(accumulators->of, warp->registers, accumulators->d);
    accumulators->of = NULL;
}

static void take_accumulators(const struct hopper_warp *warp, const struct wgmma_operation *operation,
                              struct accumulators *accumulators)
{
    /* Shorter ones are rounded after each operation. */
    const bool stays =
        accumulators->of && operation->d_type != WSDBG_PTX_F16 && has_same_d(accumulators->of, operation);
    if (!stays)
        put_back(warp, accumulators);
    if (!operation->adds)
        memset(accumulators->d, 0, sizeof accumulators->d);
    else if (!stays)
        wgmma_read_d(operation, warp->registers, accumulators->d);
    accumulators->of = operation;
}

static bool execute(const struct hopper_warp *warp, const struct wgmma_operation *operation,
                    struct accumulators *accumulators)
{
    float a[WGMMA_ROWS][WGMMA_K_MOST], b[WGMMA_K_MOST][WGMMA_N_MOST];
    const uint32_t first_row = warp->index % WARPS_OF_GROUP * WGMMA_ROWS;
    if (!wgmma_load_a(operation, warp->cta, first_row, a) || !wgmma_load_b(operation, warp->cta, b))
        return false;
    const bool is_whole = operation->d_type == WSDBG_PTX_S32;
    if (is_whole) {
        put_back(warp, accumulators);
        memset(accumulators->d, 0, sizeof accumulators->d);
    } else {
        take_accumulators(warp, operation, accumulators);
    }
    wgmma_multiply(operation->n, operation->k, (const float(*)[WGMMA_K_MOST])a, (const float(*)[WGMMA_N_MOST])b,
                   accumulators->d);
    if (is_whole)
        wgmma_add_whole(operation, warp->registers, accumulators->d);
    return true;
}

/* ---- registers that are still written ---- */

/* Row `at` of those issued; the row before it is marked already. */
static void mark_busy(struct hopper_wgmma *wgmma, size_t at)
{
    const struct wgmma_operation *const operation = &wgmma->rows[at].operation;
    if (at > 0 && has_same_d(&wgmma->rows[at - 1].operation, operation))
        return;
    for (uint32_t i = 0; i < wgmma_d_registers(operation); i++) {
        const uint32_t number = operation->d[i] / HOPPER_BYTES_32;
        wgmma->busy[number / 64] |= 1ull << number % 64;
    }
}

static void mark_what_is_left(struct hopper_warp *warp)
{
    struct hopper_wgmma *const wgmma = warp->wgmma;
    memset(wgmma->busy, 0, wgmma->busy_words * sizeof *wgmma->busy);
    for (size_t i = 0; i < wgmma->count; i++)
        mark_busy(wgmma, i);
    warp->wgmma_pending = wgmma->count != 0;
}

static void leads_out(const struct hopper_warp *warp)
{
    const struct hopper_cta *const cta = warp->cta;
    hopper_engine_fault(cta->grid->gpu, cta->grid, HOPPER_INVALID_ADDRESS,
                        "wgmma of warp %u, CTA (%u, %u, %u): a matrix descriptor leads out of shared memory",
                        warp->index, cta->index[0], cta->index[1], cta->index[2]);
}

/* All operations up to group `last`. */
static void execute_until(struct hopper_warp *warp, uint32_t last)
{
    struct hopper_wgmma *const wgmma = warp->wgmma;
    struct accumulators accumulators;
    accumulators.of = NULL;
    size_t done = 0;
    for (; done < wgmma->count && wgmma->rows[done].group <= last; done++)
        if (!execute(warp, &wgmma->rows[done].operation, &accumulators)) {
            leads_out(warp);
            return;
        }
    put_back(warp, &accumulators);
    for (size_t i = 0; i < done; i++)
        free(wgmma->rows[i].a_values);
    wgmma->count -= done;
    memmove(wgmma->rows, wgmma->rows + done, wgmma->count * sizeof *wgmma->rows);
    mark_what_is_left(warp);
}

static void group_completes(struct wsdbg_gpu *gpu, void *context)
{
    struct hopper_warp *const warp = ((const struct group_work *)context)->warp;
    (void)gpu;
    free(context);
    warp->cta->engine_works--;
    execute_until(warp, warp->wgmma->done++);
    hopper_changed_barrier(warp->cta);
}

/* ---- issue ---- */

static struct hopper_wgmma *wgmma_of(struct hopper_warp *warp)
{
    if (warp->wgmma)
        return warp->wgmma;
    const size_t words = warp->frame->byte_count / HOPPER_BYTES_32 / 64 + 1;
    warp->wgmma = calloc(1, sizeof *warp->wgmma + words * sizeof *warp->wgmma->busy);
    if (warp->wgmma)
        warp->wgmma->busy_words = words;
    return warp->wgmma;
}

static enum hopper_outcome no_memory(const struct hopper_step *step)
{
    return hopper_fault(step, 0, HOPPER_OUT_OF_MEMORY, "no memory for wgmma");
}

static bool is_minus_one(const struct hopper_step *step, unsigned number)
{
    return number < step->instruction->operand_count && step->instruction->operands[number].value == -1;
}

static bool is_transposed(const struct hopper_step *step, unsigned number)
{
    return number < step->instruction->operand_count && step->instruction->operands[number].value == 1;
}

/* False: no memory. */
static bool take_a_values(const struct hopper_step *step, struct issued *out)
{
    const uint32_t *const places =
        step->warp->cta->grid->code->vector_places + step->instruction->operands[OPERAND_A].number;
    out->a_values = malloc(WGMMA_A_REGISTERS * sizeof *out->a_values);
    for (unsigned i = 0; out->a_values && i < WGMMA_A_REGISTERS; i++)
        memcpy(out->a_values[i], hopper_place32(step, places[i]), HOPPER_BYTES_32);
    out->operation.a_values = (const uint32_t(*)[HOPPER_LANES])out->a_values;
    return out->a_values != NULL;
}

static bool take_operands(const struct hopper_step *step, struct issued *out)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    struct wgmma_operation *const operation = &out->operation;
    const unsigned lane = (unsigned)__builtin_ctz(step->lanes);
    *operation = (struct wgmma_operation){.d_type = (enum wsdbg_ptx_type)instruction->type,
                                          .a_type = (enum wsdbg_ptx_type)instruction->source_type,
                                          .b_type = (enum wsdbg_ptx_type)instruction->third_type,
                                          .n = instruction->n,
                                          .k = instruction->k};
    operation->d = step->warp->cta->grid->code->vector_places + instruction->operands[OPERAND_D].number;
    operation->a_in_registers = instruction->operands[OPERAND_A].kind == WSDBG_PTX_OPERAND_VECTOR;
    out->a_values = NULL;
    if (operation->a_in_registers && !take_a_values(step, out))
        return false;
    if (!operation->a_in_registers)
        operation->a = wgmma_descriptor(hopper_source(step, OPERAND_A, lane));
    operation->b = wgmma_descriptor(hopper_source(step, OPERAND_B, lane));
    operation->adds = hopper_source(step, OPERAND_SCALE_D, lane) != 0;
    operation->is_clamped = instruction->flags & WSDBG_PTX_SATFINITE;
    operation->negates_a = is_minus_one(step, OPERAND_SCALE_A);
    operation->negates_b = is_minus_one(step, OPERAND_SCALE_B);
    operation->a_is_mn = !operation->a_in_registers && is_transposed(step, OPERAND_TRANSPOSES);
    operation->b_is_mn = is_transposed(step, OPERAND_TRANSPOSES + !operation->a_in_registers);
    return true;
}

enum hopper_outcome hopper_do_wgmma_mma_async(struct hopper_step *step)
{
    struct hopper_warp *const warp = step->warp;
    if (hopper_gather(step, warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    struct hopper_wgmma *const wgmma = wgmma_of(warp);
    if (!wgmma || !wsdbg_grow((void **)&wgmma->rows, &wgmma->capacity, wgmma->count + 1, sizeof *wgmma->rows))
        return no_memory(step);
    if (wgmma->count >= OPERATIONS_MOST) /* nobody commits: the oldest are done by now */
        execute_until(warp, wgmma->open);
    struct issued *const issued = &wgmma->rows[wgmma->count];
    issued->group = wgmma->open;
    if (!take_operands(step, issued))
        return no_memory(step);
    if (step->gpu->races)
        hopper_race_wgmma(step, &issued->operation, wgmma->open + 1);
    mark_busy(wgmma, wgmma->count++);
    warp->wgmma_pending = true;
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_wgmma_fence(struct hopper_step *step)
{
    const enum hopper_outcome outcome = hopper_gather(step, step->warp->live);
    if (outcome == HOPPER_NEXT && step->gpu->races)
        hopper_race_wgmma_fence(step);
    return outcome;
}

enum hopper_outcome hopper_do_wgmma_commit_group(struct hopper_step *step)
{
    struct hopper_warp *const warp = step->warp;
    if (hopper_gather(step, warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    struct hopper_wgmma *const wgmma = wgmma_of(warp);
    struct group_work *const work = malloc(sizeof *work);
    if (!wgmma || !work) {
        free(work);
        return no_memory(step);
    }
    work->warp = warp;
    const uint64_t latency_ns = GROUP_NS + wgmma->count * OPERATION_NS;
    struct wsdbg_error *const error = hopper_engine_add(step->gpu, warp->cta->grid, latency_ns, group_completes, work);
    if (error) {
        wsdbg_error_destroy(error);
        free(work);
        return no_memory(step);
    }
    warp->cta->engine_works++;
    wgmma->open++;
    return HOPPER_NEXT;
}

/* A warp that waits for registers is left out: what the hardware does while only some of the four have theirs is not
 * known. */
static bool takes_part(const struct hopper_warp *warp)
{
    return warp->live && !(warp->split_count && warp->splits[0].wait.kind == HOPPER_WAITS_REGISTERS);
}

/* An operation belongs to the warpgroup: no warp sees it complete before all four have issued their parts.  So a warp
 * is never a whole turn of a ring ahead of another, and one thread may release a slot for the warpgroup. */
static bool is_complete(const struct hopper_warp *warp, uint32_t groups)
{
    const struct hopper_cta *const cta = warp->cta;
    const uint32_t first = warp->index / WARPS_OF_GROUP * WARPS_OF_GROUP;
    for (uint32_t i = first; i < first + WARPS_OF_GROUP && i < cta->warp_count; i++) {
        const struct hopper_warp *const other = &cta->warps[i];
        if (takes_part(other) && (other->wgmma ? other->wgmma->done : 0) < groups)
            return false;
    }
    return true;
}

enum hopper_outcome hopper_do_wgmma_wait_group(struct hopper_step *step)
{
    const struct hopper_wgmma *const wgmma = step->warp->wgmma;
    if (hopper_gather(step, step->warp->live) == HOPPER_BLOCKED)
        return HOPPER_BLOCKED;
    const uint32_t keep = (uint32_t)hopper_source(step, 0, 0);
    const bool waits = wgmma && wgmma->open > keep && !is_complete(step->warp, wgmma->open - keep);
    step->split->wait = (struct hopper_wait){.kind = waits ? HOPPER_WAITS_WGMMA : HOPPER_RUNS, .groups = keep};
    if (wgmma && !waits && step->gpu->races)
        hopper_race_wgmma_wait(step, wgmma->open > keep ? wgmma->open - keep : 0);
    return waits ? HOPPER_BLOCKED : HOPPER_NEXT;
}

void hopper_wgmma_free(struct hopper_warp *warp)
{
    for (size_t i = 0; warp->wgmma && i < warp->wgmma->count; i++)
        free(warp->wgmma->rows[i].a_values);
    if (warp->wgmma)
        free(warp->wgmma->rows);
    free(warp->wgmma);
    warp->wgmma = NULL;
}

/* ---- other instructions ---- */

static bool is_busy(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand)
{
    const bool is_register = operand->kind == WSDBG_PTX_OPERAND_REGISTER;
    if (!is_register || step->warp->frame->function->register_types[operand->number] == WSDBG_PTX_PRED)
        return false;
    const struct hopper_wgmma *const wgmma = step->warp->wgmma;
    const size_t number = step->warp->frame->offsets[operand->number] / HOPPER_BYTES_32;
    return number / 64 < wgmma->busy_words && wgmma->busy[number / 64] >> number % 64 & 1;
}

static bool uses_busy(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand)
{
    if (operand->kind != WSDBG_PTX_OPERAND_VECTOR)
        return is_busy(step, operand);
    for (uint32_t i = 0; i < operand->count; i++)
        if (is_busy(step, &step->program->vectors[operand->number + i]))
            return true;
    return false;
}

/* Operations of one warp come one after the other: the accumulators of the next one may be those of the last. */
void hopper_wgmma_before(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *const instruction = step->instruction;
    const bool is_wgmma = instruction->operation == WSDBG_PTX_OP_wgmma_mma_async;
    bool uses = false;
    for (unsigned i = is_wgmma ? OPERAND_A : 0; i < instruction->operand_count && !uses; i++)
        uses = uses_busy(step, &instruction->operands[i]);
    if (!uses)
        return;
    if (instruction->operation != WSDBG_PTX_OP_mov)
        hopper_report(step->warp->cta, step->warp, WSDBG_GPU_ACCUMULATOR_READ,
                      (uint32_t)(instruction - step->program->instructions), 0);
    execute_until(step->warp, step->warp->wgmma->open);
}
