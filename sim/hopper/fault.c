/* fault.c - a kernel did what the hardware would not let it: the grid's fault is written, and everything stops.
 *
 * The first fault stays.  As on hardware it is an error of the whole context, so every grid is over.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hopper/gpu.h"
#include "hopper/device.h"
#include "ptx/parse.h"

static void stop_everything(struct wsdbg_gpu *gpu)
{
    gpu->has_fault = true;
    for (struct wsdbg_grid_run *run = gpu->runs; run; run = run->next)
        if (wsdbg_gpu_state(run) <= WSDBG_GRID_RUNNING)
            atomic_store(&run->state, WSDBG_GRID_FAULTED);
}

static void describe_thread(const struct hopper_step *step, unsigned lane, char *out, size_t byte_count)
{
    const struct hopper_cta *cta = step->warp->cta;
    const uint32_t *block = cta->grid->launch.block;
    const uint32_t thread = step->warp->index * HOPPER_LANES + lane;
    snprintf(out, byte_count, "%s: CTA (%u,%u,%u) thread (%u,%u,%u)", cta->grid->launch.function->name, cta->index[0],
             cta->index[1], cta->index[2], thread % block[0], thread / block[0] % block[1],
             thread / (block[0] * block[1]));
}

static void describe_place(const struct hopper_step *step, char *out, size_t byte_count)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    if (instruction->place == WSDBG_PTX_NONE) {
        snprintf(out, byte_count, "PTX line %u", instruction->text_line);
        return;
    }
    const struct wsdbg_ptx_place *place = &step->program->places[instruction->place];
    snprintf(out, byte_count, "%s:%u, PTX line %u", step->program->files[place->file], place->line,
             instruction->text_line);
}

static void set_fault(const struct hopper_step *step, unsigned lane, int driver_error, const char *format,
                      va_list arguments)
{
    struct wsdbg_gpu_fault *fault = &hopper_run_of(step->warp->cta->grid)->fault;
    char thread[128], place[160], text[96], what[320];
    vsnprintf(what, sizeof what, format, arguments);
    describe_thread(step, lane, thread, sizeof thread);
    describe_place(step, place, sizeof place);
    wsdbg_ptx_text(step->program, (uint32_t)(step->instruction - step->program->instructions), text, sizeof text);
    fault->driver_error = driver_error;
    step->gpu->fault_site =
        (struct hopper_fault_site){step->warp, 1u << lane, (uint32_t)(step->instruction - step->program->instructions)};
    const int before = snprintf(fault->text, sizeof fault->text, "%s at %s: %s: ", thread, place, text);
    const int length = before + snprintf(fault->text + before, sizeof fault->text - (size_t)before, "%s", what);
    fault->what_at = (size_t)before;
    if (length >= (int)sizeof fault->text)
        memcpy(fault->text + sizeof fault->text - sizeof "...", "...", sizeof "...");
    stop_everything(step->gpu);
}

enum hopper_outcome hopper_fault(const struct hopper_step *step, unsigned lane, int driver_error, const char *format,
                                 ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_fault(step, lane, driver_error, format, arguments);
    va_end(arguments);
    return HOPPER_FAULTED;
}

void hopper_fault_at(const struct hopper_step *step, unsigned lane, int driver_error, uint64_t address,
                     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_fault(step, lane, driver_error, format, arguments);
    va_end(arguments);
    struct wsdbg_gpu_fault *fault = &hopper_run_of(step->warp->cta->grid)->fault;
    fault->address = address;
    fault->has_address = true;
}

void hopper_engine_fault(struct wsdbg_gpu *gpu, struct hopper_grid *grid, int driver_error, const char *format, ...)
{
    struct wsdbg_gpu_fault *fault = &hopper_run_of(grid)->fault;
    if (gpu->has_fault)
        return;
    fault->driver_error = driver_error;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    stop_everything(gpu);
}

enum hopper_outcome hopper_not_written(struct hopper_step *step)
{
    return hopper_fault(step, (unsigned)__builtin_ctz(step->lanes), HOPPER_ILLEGAL_INSTRUCTION,
                        "the simulator does not execute it");
}
