/* fuzz_core.c - any bytes as a GPU core dump, everything that can be asked of what comes out, and what it means. */
#include "fuzz/fuzz_targets.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/interpret.h"

enum { MOST = 64 }; /* rows of a kind that are asked about, so that no input takes long */

static void read_warps(struct wsdbg_machine *machine)
{
    uint32_t words[16], count;
    bool known;
    for (uint32_t i = 0; i < machine->warp_count && i < MOST; i++) {
        wsdbg_machine_warp_index(machine, &machine->warps[i]);
        wsdbg_error_destroy(machine->ops->registers(machine, i, i % WSDBG_MACHINE_LANES, i, 16, words, &count));
        wsdbg_error_destroy(machine->ops->uniform_registers(machine, i, i, 16, words, &count));
        wsdbg_error_destroy(machine->ops->predicates(machine, i, i % WSDBG_MACHINE_LANES, words, &known));
    }
}

static void read_memory(struct wsdbg_machine *machine)
{
    unsigned char bytes[64];
    bool known;
    for (uint32_t i = 0; i < machine->cta_count && i < MOST; i++)
        wsdbg_error_destroy(machine->ops->shared(machine, i, 0x400, bytes, sizeof bytes, &known));
    for (uint32_t i = 0; i < machine->grid_count && i < MOST; i++)
        for (unsigned bank = 0; bank < 4; bank++)
            wsdbg_error_destroy(machine->ops->constant(machine, i, bank, 0x210, bytes, 8, &known));
    for (uint32_t i = 0; i < machine->context_count && i < MOST; i++)
        wsdbg_error_destroy(machine->ops->global(machine, i, UINT64_C(0x7f0000001000), bytes, 8, &known));
}

static void interpret(struct wsdbg_machine *machine)
{
    struct wsdbg_code *code = NULL;
    struct wsdbg_look *look = NULL;
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_error *error = wsdbg_code_create(&code);
    if (!error)
        error = wsdbg_code_prepare(code, machine);
    if (!error)
        error = wsdbg_look_take(machine, code, &look);
    if (!error)
        error = wsdbg_look_snapshot(&look, 1, &snapshot);
    wsdbg_error_destroy(error);
    wsdbg_snapshot_deinit(&snapshot);
    if (look)
        wsdbg_look_destroy(look);
    if (code)
        wsdbg_code_destroy(code);
}

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    char path[64];
    struct wsdbg_machine *machine;
    const int fd = memfd_create("core", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    if (write(fd, bytes, count) == (ssize_t)count) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        struct wsdbg_error *error = wsdbg_machine_open_core(path, &machine);
        if (!error) {
            read_warps(machine);
            read_memory(machine);
            interpret(machine);
            machine->ops->close(machine);
        }
        wsdbg_error_destroy(error);
    }
    close(fd);
    return 0;
}
