/* kernel.c - see kernel.h. */
#include "hopper/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTIONS_MOST = 100000000 };

char *kernel_text(const char *body)
{
    static const char before[] = PTX_HEAD ".visible .entry main(.param .u64 in, .param .u64 out)\n{\n"
                                          ".reg .b32 %r<32>;\n.reg .b64 %rd<32>;\n.reg .f32 %f<256>;\n"
                                          ".reg .pred %p<8>;\n.reg .b16 %h<16>;\n"
                                          "ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\n";
    const size_t length = sizeof before + strlen(body) + 16;
    char *const text = malloc(length);
    assert_non_null(text);
    snprintf(text, length, "%s%s\nret;\n}\n", before, body);
    return text;
}

enum wsdbg_gpu_outcome kernel_launch(struct machine *machine, struct kernel_launch launch)
{
    machine_launch_as(
        machine, (struct wsdbg_gpu_launch){.grid = {launch.grid ? launch.grid : 1, 1, 1},
                                           .block = {launch.block ? launch.block : 32, 1, 1},
                                           .cluster = {launch.cluster, launch.cluster ? 1 : 0, launch.cluster ? 1 : 0},
                                           .dynamic_shared_bytes = launch.shared_bytes});
    return wsdbg_gpu_run(machine->gpu, INSTRUCTIONS_MOST);
}

int kernel_error(const struct machine *machine)
{
    const struct wsdbg_gpu_fault *const fault = wsdbg_gpu_fault(machine->run);
    return fault ? fault->driver_error : 0;
}

void kernel_create(struct machine *machine, const char *body, const struct wsdbg_schedule_options *schedule)
{
    struct wsdbg_gpu_options options = {.multiprocessors = MACHINE_SMS};
    if (schedule)
        options.schedule = *schedule;
    char *const text = kernel_text(body);
    machine_create(machine, text, &options);
    free(text);
}

enum wsdbg_gpu_outcome kernel_run(struct machine *machine, const char *body, struct kernel_launch launch,
                                  const struct wsdbg_schedule_options *schedule)
{
    kernel_create(machine, body, schedule);
    return kernel_launch(machine, launch);
}
