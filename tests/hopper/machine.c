/* machine.c - see machine.h. */
#include "hopper/machine.h"

#include <stdlib.h>
#include <string.h>

#define OK(error) machine_ok(error)

static void machine_ok(struct wsdbg_error *error)
{
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
}

void machine_create(struct machine *machine, const char *text, const struct wsdbg_gpu_options *options)
{
    const struct wsdbg_gpu_options usual = {.multiprocessors = MACHINE_SMS};
    *machine = (struct machine){0};
    OK(wsdbg_gpu_create(options ? options : &usual, &machine->gpu));
    OK(wsdbg_ptx_parse(text, strlen(text), "test", &machine->program));
    OK(wsdbg_gpu_load(machine->gpu, machine->program, &machine->module));
    machine->text = strdup(text);
    assert_non_null(machine->text);
    wsdbg_gpu_set_text(machine->module, machine->text, strlen(machine->text));
    OK(wsdbg_gpu_allocate(machine->gpu, MACHINE_BYTES, 0, &machine->in));
    OK(wsdbg_gpu_allocate(machine->gpu, MACHINE_BYTES, 0, &machine->out));
}

void machine_destroy(struct machine *machine)
{
    wsdbg_gpu_forget(machine->gpu, machine->run);
    wsdbg_gpu_unload(machine->gpu, machine->module);
    wsdbg_gpu_destroy(machine->gpu);
    wsdbg_ptx_program_destroy(machine->program);
    free(machine->text);
}

void machine_launch_as(struct machine *machine, struct wsdbg_gpu_launch launch)
{
    const uint64_t parameters[] = {machine->in, machine->out};
    int driver_error = 0;
    launch.module = machine->module;
    launch.function = wsdbg_ptx_find_function(machine->program, "main");
    launch.parameters = parameters;
    assert_non_null(launch.function);
    OK(wsdbg_gpu_submit(machine->gpu, &launch, &driver_error, &machine->run));
}

void machine_launch(struct machine *machine, uint32_t ctas, uint32_t threads)
{
    machine_launch_as(machine, (struct wsdbg_gpu_launch){.grid = {ctas, 1, 1}, .block = {threads, 1, 1}});
}

void machine_finish(struct machine *machine)
{
    const enum wsdbg_gpu_outcome outcome = wsdbg_gpu_run(machine->gpu, 100000000);
    const struct wsdbg_gpu_fault *fault = wsdbg_gpu_fault(machine->run);
    if (fault)
        fail_msg("%s", fault->text);
    assert_int_equal(outcome, WSDBG_GPU_IDLE);
    assert_int_equal(wsdbg_gpu_state(machine->run), WSDBG_GRID_DONE);
}

void machine_run(struct machine *machine, const char *text, uint32_t threads)
{
    machine_create(machine, text, NULL);
    machine_launch(machine, 1, threads);
    machine_finish(machine);
}

uint32_t machine_word(const struct machine *machine, size_t index)
{
    uint32_t word;
    memcpy(&word, (const unsigned char *)(uintptr_t)machine->out + 4 * index, sizeof word);
    return word;
}

uint64_t machine_word64(const struct machine *machine, size_t index)
{
    uint64_t word;
    memcpy(&word, (const unsigned char *)(uintptr_t)machine->out + 8 * index, sizeof word);
    return word;
}
