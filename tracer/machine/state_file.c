/* state_file.c - the state of a simulated device, from the file that it leaves while nothing on it moves; see
 * wsdbg/device_state.h.
 *
 * Reads: the file, whose every number is checked.  Writes: a machine whose lanes say themselves what they wait for.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "machine/state_machine.h"
#include "translate/ptx_code.h"
#include "translate/ptx_translate.h"

#define FILE_BYTES_MOST ((uint64_t)1 << 30)
enum { BLOCK_THREADS_MOST = 1024 };

static struct state_machine *of_base(struct wsdbg_machine *machine)
{
    return (struct state_machine *)machine;
}

/* ---- the file ---- */

static struct wsdbg_error *read_bytes(int fd, const char *path, uint64_t count, unsigned char *out)
{
    for (uint64_t done = 0; done < count;) {
        const ssize_t more = read(fd, out + done, count - done);
        if (more > 0)
            done += (uint64_t)more;
        else if (more == 0)
            return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: cut short", path);
        else if (errno != EINTR)
            return wsdbg_error_os(errno, "%s", path);
    }
    return NULL;
}

static struct wsdbg_error *read_file(const char *path, struct state_machine *machine)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "%s: there is none", path);
    if (fd < 0)
        return wsdbg_error_os(errno, "%s", path);
    struct wsdbg_error *error = NULL;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || (uint64_t)status.st_size > FILE_BYTES_MOST)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: no file, or a file too long for a device's state", path);
    if (!error) {
        machine->byte_count = (uint64_t)status.st_size;
        machine->file = malloc(machine->byte_count + 1);
        error = machine->file ? read_bytes(fd, path, machine->byte_count, machine->file) : &wsdbg_error_no_memory;
    }
    close(fd);
    return error;
}

/* What later versions added to the header is zero in older files. */
static size_t header_bytes(uint32_t version)
{
    return version == 1   ? offsetof(struct wsdbg_state_header, found_count)
           : version == 2 ? offsetof(struct wsdbg_state_header, array_count)
                          : sizeof(struct wsdbg_state_header);
}

/* Takes `count` rows from what is left of the file; false = there are fewer. */
static bool take(const struct state_machine *machine, uint64_t *at, uint32_t count, size_t size, const void **out)
{
    const uint64_t bytes = (uint64_t)count * size;
    if (bytes > machine->byte_count - *at)
        return false;
    *out = machine->file + *at;
    *at += bytes;
    return true;
}

static bool find_rows(struct state_machine *machine)
{
    const struct wsdbg_state_header *header = &machine->header;
    uint64_t at = header_bytes(header->version);
    return take(machine, &at, header->module_count, sizeof *machine->modules, (const void **)&machine->modules) &&
           take(machine, &at, header->grid_count, sizeof *machine->grids, (const void **)&machine->grids) &&
           take(machine, &at, header->cta_count, sizeof *machine->ctas, (const void **)&machine->ctas) &&
           take(machine, &at, header->piece_count, sizeof *machine->pieces, (const void **)&machine->pieces) &&
           take(machine, &at, header->warp_count, sizeof *machine->warps, (const void **)&machine->warps) &&
           take(machine, &at, header->part_count, sizeof *machine->parts, (const void **)&machine->parts) &&
           take(machine, &at, header->found_count, sizeof *machine->found, (const void **)&machine->found) &&
           take(machine, &at, header->array_count, sizeof *machine->arrays, (const void **)&machine->arrays);
}

static bool lies_inside(const struct state_machine *machine, uint64_t offset, uint64_t bytes)
{
    return offset <= machine->byte_count && bytes <= machine->byte_count - offset;
}

static bool grid_is_sound(const struct state_machine *machine, const struct wsdbg_state_grid *grid)
{
    const uint64_t threads = (uint64_t)grid->block[0] * grid->block[1] * grid->block[2];
    bool sound = grid->module < machine->header.module_count && threads > 0 && threads <= BLOCK_THREADS_MOST &&
                 grid->block[0] <= threads && grid->block[1] <= threads &&
                 lies_inside(machine, grid->parameter_offset, grid->parameter_bytes);
    for (unsigned i = 0; i < 3; i++)
        sound = sound && grid->grid[i] > 0 && grid->cluster[i] > 0 && grid->cluster[i] <= grid->grid[i];
    return sound;
}

/* The first row that says what cannot be, NULL = none. */
static const char *find_unsound(const struct state_machine *machine)
{
    const struct wsdbg_state_header *header = &machine->header;
    for (uint32_t i = 0; i < header->module_count; i++)
        if (!lies_inside(machine, machine->modules[i].text_offset, machine->modules[i].text_bytes))
            return "module";
    if (!lies_inside(machine, header->fault_offset, header->fault_bytes))
        return "fault";
    for (uint32_t i = 0; i < header->grid_count; i++)
        if (!grid_is_sound(machine, &machine->grids[i]))
            return "grid";
    for (uint32_t i = 0; i < header->cta_count; i++)
        if (machine->ctas[i].grid >= header->grid_count || (i && machine->ctas[i].grid < machine->ctas[i - 1].grid))
            return "CTA";
    for (uint32_t i = 0; i < header->piece_count; i++)
        if (machine->pieces[i].cta >= header->cta_count ||
            !lies_inside(machine, machine->pieces[i].offset, machine->pieces[i].byte_count))
            return "piece of shared memory";
    for (uint32_t i = 0; i < header->warp_count; i++)
        if (machine->warps[i].cta >= header->cta_count || (i && machine->warps[i].cta < machine->warps[i - 1].cta) ||
            machine->warps[i].index >= BLOCK_THREADS_MOST / WSDBG_MACHINE_LANES)
            return "warp";
    for (uint32_t i = 0; i < header->part_count; i++)
        if (machine->parts[i].warp >= header->warp_count || machine->parts[i].wait >= WSDBG_STATE_WAIT_COUNT)
            return "part of a warp";
    for (uint32_t i = 0; i < header->found_count; i++)
        if (machine->found[i].cta >= header->cta_count || (i && machine->found[i].cta < machine->found[i - 1].cta))
            return "result of an atomic";
    for (uint32_t i = 0; i < header->array_count; i++)
        if (machine->arrays[i].grid >= header->grid_count || machine->arrays[i].stride == 0 ||
            machine->arrays[i].stages == 0)
            return "array of mbarriers";
    return NULL;
}

static struct wsdbg_error *check(struct state_machine *machine, const char *path)
{
    struct wsdbg_state_header *header = &machine->header;
    const size_t least = header_bytes(1);
    if (machine->byte_count >= least)
        memcpy(header, machine->file, least);
    if (header->magic != WSDBG_STATE_MAGIC)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: not the state of a device", path);
    if (header->version < 1 || header->version > WSDBG_STATE_VERSION)
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "%s: version %u of a device's state, this wsdbg reads 1 to %u",
                                  path, header->version, WSDBG_STATE_VERSION);
    const size_t whole = header_bytes(header->version);
    if (machine->byte_count >= whole)
        memcpy(header, machine->file, whole);
    if (machine->byte_count < whole || header->byte_count != machine->byte_count || !find_rows(machine))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: cut short", path);
    const char *unsound = find_unsound(machine);
    return unsound ? wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: a %s that cannot be", path, unsound) : NULL;
}

/* ---- what is read of it ---- */

/* Registers are not in the file: its lanes say what they wait for. */
static struct wsdbg_error *no_registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                        uint32_t count, uint32_t *out, uint32_t *known_count)
{
    (void)machine, (void)warp, (void)lane, (void)first, (void)count, (void)out;
    *known_count = 0;
    return NULL;
}

static struct wsdbg_error *no_uniform_registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t first,
                                                uint32_t count, uint32_t *out, uint32_t *known_count)
{
    return no_registers(machine, warp, 0, first, count, out, known_count);
}

static struct wsdbg_error *no_predicates(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t *mask,
                                         bool *known)
{
    (void)machine, (void)warp, (void)lane, (void)mask;
    *known = false;
    return NULL;
}

/* Pieces of one CTA that follow each other may hold it together. */
static struct wsdbg_error *read_shared(struct wsdbg_machine *base, uint32_t cta, uint32_t address, void *out,
                                       uint32_t byte_count, bool *known)
{
    const struct state_machine *machine = of_base(base);
    uint32_t done = 0;
    for (uint32_t i = 0; i < machine->header.piece_count && done < byte_count; i++) {
        const struct wsdbg_state_piece *piece = &machine->pieces[i];
        const uint64_t at = (uint64_t)address + done;
        if (piece->cta != cta || at < piece->first || at - piece->first >= piece->byte_count)
            continue;
        const uint64_t skipped = at - piece->first, there = piece->byte_count - skipped;
        const uint32_t count = there < byte_count - done ? (uint32_t)there : byte_count - done;
        memcpy((unsigned char *)out + done, machine->file + piece->offset + skipped, count);
        done += count;
    }
    *known = done == byte_count;
    return NULL;
}

/* Memory of a process that has ended, or that may not be asked, is not known. */
static struct wsdbg_error *read_global(struct wsdbg_machine *base, uint32_t context, uint64_t address, void *out,
                                       uint32_t byte_count, bool *known)
{
    const struct state_machine *machine = of_base(base);
    const struct iovec to = {out, byte_count}, from = {(void *)(uintptr_t)address, byte_count};
    (void)context;
    *known = machine->memory == WSDBG_STATE_MEMORY_THERE &&
             process_vm_readv((pid_t)machine->header.process_id, &to, 1, &from, 1, 0) == (ssize_t)byte_count;
    return NULL;
}

static struct wsdbg_error *read_constant(struct wsdbg_machine *base, uint32_t number, unsigned bank, uint32_t offset,
                                         void *out, uint32_t byte_count, bool *known)
{
    const struct state_machine *machine = of_base(base);
    const struct wsdbg_state_grid *grid = &machine->grids[number];
    const uint64_t first = (uint64_t)offset - WSDBG_PTX_PARAMETERS;
    *known = bank == 0 && offset >= WSDBG_PTX_PARAMETERS && first <= grid->parameter_bytes &&
             byte_count <= grid->parameter_bytes - first;
    if (*known)
        memcpy(out, machine->file + grid->parameter_offset + first, byte_count);
    return NULL;
}

/* ---- what atomics returned ---- */

/* Less than 0: the row is of an earlier lane or instruction than the one asked for. */
static int compare_found(const struct wsdbg_state_found *row, const struct wsdbg_state_found *other)
{
    if (row->cta != other->cta)
        return row->cta < other->cta ? -1 : 1;
    if (row->warp != other->warp)
        return row->warp < other->warp ? -1 : 1;
    if (row->lane != other->lane)
        return row->lane < other->lane ? -1 : 1;
    return (row->instruction > other->instruction) - (row->instruction < other->instruction);
}

static int by_lane(const void *left, const void *right, void *rows)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct wsdbg_state_found *found = rows;
    const int order = compare_found(&found[a], &found[b]);
    return order ? order : (a > b) - (a < b);
}

static bool order_found(struct state_machine *machine)
{
    machine->found_order = malloc(((size_t)machine->header.found_count + 1) * sizeof *machine->found_order);
    for (uint32_t i = 0; machine->found_order && i < machine->header.found_count; i++)
        machine->found_order[i] = i;
    if (machine->found_order)
        qsort_r(machine->found_order, machine->header.found_count, sizeof *machine->found_order, by_lane,
                (void *)(uintptr_t)machine->found);
    return machine->found_order;
}

/* How many rows are before those of the lane and instruction; with `behind`, also those of these. */
static uint32_t rows_before(const struct state_machine *machine, const struct wsdbg_state_found *asked, bool behind)
{
    uint32_t first = 0, end = machine->header.found_count;
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        if (compare_found(&machine->found[machine->found_order[middle]], asked) < (behind ? 1 : 0))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static enum wsdbg_machine_found read_found(struct wsdbg_machine *base, const struct wsdbg_machine_atomic *atomic,
                                           uint32_t times, uint32_t *value)
{
    const struct state_machine *machine = of_base(base);
    const struct wsdbg_state_found asked = {
        .cta = atomic->cta,
        .warp = atomic->warp,
        .lane = atomic->lane,
        .instruction = machine->grids[machine->ctas[atomic->cta].grid].function_first + atomic->instruction};
    const uint32_t first = rows_before(machine, &asked, false), count = rows_before(machine, &asked, true) - first;
    if (times >= count)
        return count && times == count ? WSDBG_MACHINE_FOUND_NOT_YET : WSDBG_MACHINE_FOUND_UNKNOWN;
    *value = (uint32_t)machine->found[machine->found_order[first + times]].value;
    return WSDBG_MACHINE_FOUND;
}

static void close_state(struct wsdbg_machine *base)
{
    struct state_machine *machine = of_base(base);
    wsdbg_machine_deinit(base);
    free(machine->found_order);
    free(machine->file);
    free(machine);
}

static const struct wsdbg_machine_ops state_ops = {.registers = no_registers,
                                                   .uniform_registers = no_uniform_registers,
                                                   .predicates = no_predicates,
                                                   .shared = read_shared,
                                                   .global = read_global,
                                                   .constant = read_constant,
                                                   .found = read_found,
                                                   .close = close_state};

struct wsdbg_error *wsdbg_machine_open_state(const char *path, enum wsdbg_state_choice choice,
                                             enum wsdbg_state_memory memory, struct wsdbg_machine **out)
{
    struct state_machine *machine = calloc(1, sizeof *machine);
    if (!machine)
        return &wsdbg_error_no_memory;
    machine->base.ops = &state_ops;
    machine->base.source = "simulator";
    machine->memory = memory;
    struct wsdbg_error *error = read_file(path, machine);
    if (!error)
        error = check(machine, path);
    if (!error && !state_machine_has_wanted(machine, choice))
        error = wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "%s: all of its kernels have probes", path);
    if (!error && (!state_machine_fill(machine, choice) || !order_found(machine)))
        error = &wsdbg_error_no_memory;
    if (error) {
        close_state(&machine->base);
        return error;
    }
    *out = &machine->base;
    return NULL;
}
