/* live_machine.c - see live_machine.h.  Registers and memory are read on demand, one message to the inspector each. */
#include "evidence/live_machine.h"

#include <stdlib.h>
#include <string.h>

#include "evidence/fault_place.h"
#include "evidence/live_rows.h"

#define READ_LIMIT_NS WSDBG_INSPECTOR_BLOCKED_NS
#define DETACHED_LIMIT_NS 500000000ull
#define OPEN_LIMIT_NS 5000000000ull /* to load the driver's library from a slow disk */

struct live_machine {
    struct wsdbg_machine base;
    struct wsdbg_attach_link attach;
    struct wsdbg_inspector *inspector; /* NULL = not started */
    struct wsdbg_live_place *places;   /* of base.warps */
    bool attaching;                    /* begun by wsdbg_live_machine_begin_attach() */
    bool preparing;                    /* begun by wsdbg_live_machine_prepare() */
};

static struct live_machine *live_of(struct wsdbg_machine *machine)
{
    return (struct live_machine *)machine;
}

/* ---- reads ---- */

/* The driver gives values beyond what a warp has: they are nobody's. */
static uint32_t registers_held(const struct wsdbg_machine *machine, uint32_t warp, uint32_t first, uint32_t count)
{
    const struct wsdbg_optional_u32 held = machine->warps[warp].registers;
    if (!held.known)
        return count;
    const uint32_t left = held.value > first ? held.value - first : 0;
    return count < left ? count : left;
}

static const struct wsdbg_live_place nowhere = {0};

static const struct wsdbg_live_place *place_of(struct wsdbg_machine *machine, uint32_t warp)
{
    return warp < machine->warp_count ? &live_of(machine)->places[warp] : &nowhere;
}

/* One read; *count says how many of `most` elements came, each element_bytes long. */
static struct wsdbg_error *read_area(struct wsdbg_machine *machine, enum wsdbg_inspector_step step,
                                     const uint64_t arguments[WSDBG_INSPECTOR_ARGUMENTS], uint32_t most,
                                     size_t element_bytes, void *out, uint32_t *count)
{
    struct wsdbg_inspector *inspector = live_of(machine)->inspector;
    uint64_t values[2] = {0};
    struct wsdbg_error *error = wsdbg_inspector_ask(inspector, step, arguments, READ_LIMIT_NS, values);
    if (error)
        return error;
    *count = values[0] < most ? (uint32_t)values[0] : most;
    memcpy(out, wsdbg_inspector_area(inspector)->read, *count * element_bytes);
    return NULL;
}

static struct wsdbg_error *read_registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                          uint32_t count, uint32_t *out, uint32_t *known_count)
{
    const struct wsdbg_live_place *place = place_of(machine, warp);
    *known_count = 0;
    if (place == &nowhere)
        return NULL;
    count = registers_held(machine, warp, first, count);
    if (!count)
        return NULL;
    return read_area(machine, WSDBG_INSPECT_REGISTERS,
                     (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){place->device, place->sm, place->slot, lane, first, count},
                     count, sizeof *out, out, known_count);
}

static struct wsdbg_error *read_uniform(struct wsdbg_machine *machine, uint32_t warp, uint32_t first, uint32_t count,
                                        uint32_t *out, uint32_t *known_count)
{
    const struct wsdbg_live_place *place = place_of(machine, warp);
    *known_count = 0;
    if (place == &nowhere)
        return NULL;
    return read_area(machine, WSDBG_INSPECT_UNIFORM,
                     (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){place->device, place->sm, place->slot, 0, first, count},
                     count, sizeof *out, out, known_count);
}

static struct wsdbg_error *read_predicates(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t *mask,
                                           bool *known)
{
    const struct wsdbg_live_place *place = place_of(machine, warp);
    uint64_t values[2] = {0};
    *known = false;
    if (place == &nowhere)
        return NULL;
    struct wsdbg_error *error = wsdbg_inspector_ask(
        live_of(machine)->inspector, WSDBG_INSPECT_PREDICATES,
        (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){place->device, place->sm, place->slot, lane}, READ_LIMIT_NS, values);
    if (!error && values[0]) {
        *mask = (uint32_t)values[1];
        *known = true;
    }
    return error;
}

/* Memory in pieces; arguments[3] is the address of the whole. */
static struct wsdbg_error *read_bytes(struct wsdbg_machine *machine, enum wsdbg_inspector_step step,
                                      const uint64_t arguments[WSDBG_INSPECTOR_ARGUMENTS], void *out,
                                      uint32_t byte_count, bool *known)
{
    uint64_t piece[WSDBG_INSPECTOR_ARGUMENTS];
    struct wsdbg_error *error = NULL;
    memcpy(piece, arguments, sizeof piece);
    *known = true;
    for (uint32_t done = 0; !error && *known && done < byte_count;) {
        const uint32_t rest = byte_count - done;
        const uint32_t wanted = rest < WSDBG_INSPECTOR_READ_BYTES ? rest : WSDBG_INSPECTOR_READ_BYTES;
        uint32_t came = 0;
        piece[3] = arguments[3] + done;
        piece[4] = wanted;
        error = read_area(machine, step, piece, wanted, 1, (char *)out + done, &came);
        *known = !error && came == wanted;
        done += wanted;
    }
    return error;
}

static struct wsdbg_error *read_shared(struct wsdbg_machine *machine, uint32_t cta, uint32_t address, void *out,
                                       uint32_t byte_count, bool *known)
{
    *known = false;
    if (cta >= machine->cta_count || !machine->ctas[cta].warp_count)
        return NULL;
    const struct wsdbg_live_place *place = place_of(machine, machine->ctas[cta].warp_first);
    return read_bytes(machine, WSDBG_INSPECT_SHARED,
                      (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){place->device, place->sm, place->slot, address}, out,
                      byte_count, known);
}

static struct wsdbg_error *read_local(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t address,
                                      void *out, uint32_t byte_count, bool *known)
{
    const struct wsdbg_live_place *place = place_of(machine, warp);
    *known = false;
    if (place == &nowhere)
        return NULL;
    return read_bytes(machine, WSDBG_INSPECT_LOCAL,
                      (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){place->device, place->sm, place->slot, address, 0, lane},
                      out, byte_count, known);
}

/* The driver takes a global address alone, constants' too: where several devices have code what it reads could be
 * another one's, and is not believed. */
static bool is_ambiguous(struct wsdbg_machine *machine)
{
    static const char words[] = "several GPUs have code, and the driver reads global memory and constants by address "
                                "alone: they are not known";
    bool several = false;
    for (size_t i = 1; i < machine->context_count; i++)
        several |= machine->contexts[i].device != machine->contexts[0].device;
    for (size_t i = 0; several && i < machine->note_count; i++)
        if (strcmp(machine->notes[i], words) == 0)
            return true;
    if (several)
        wsdbg_machine_note(machine, "%s", words);
    return several;
}

static struct wsdbg_error *read_global(struct wsdbg_machine *machine, uint32_t context, uint64_t address, void *out,
                                       uint32_t byte_count, bool *known)
{
    (void)context;
    *known = false;
    if (is_ambiguous(machine))
        return NULL;
    return read_bytes(machine, WSDBG_INSPECT_GLOBAL, (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){0, 0, 0, address}, out,
                      byte_count, known);
}

static struct wsdbg_error *read_constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank, uint32_t offset,
                                         void *out, uint32_t byte_count, bool *known)
{
    *known = false;
    if (grid >= machine->grid_count || machine->grids[grid].device >= machine->device_count || is_ambiguous(machine))
        return NULL;
    const uint32_t ordinal = machine->devices[machine->grids[grid].device].ordinal;
    return read_bytes(
        machine, WSDBG_INSPECT_CONSTANT,
        (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){ordinal, 0, 0, offset, 0, bank, machine->grids[grid].grid_id}, out,
        byte_count, known);
}

static void close_machine(struct wsdbg_machine *machine)
{
    struct live_machine *live = live_of(machine);
    wsdbg_inspector_stop(live->inspector);
    wsdbg_machine_deinit(machine);
    free(live->places);
    free(live);
}

static const struct wsdbg_machine_ops live_ops = {
    .registers = read_registers,
    .uniform_registers = read_uniform,
    .predicates = read_predicates,
    .shared = read_shared,
    .global = read_global,
    .constant = read_constant,
    .local = read_local,
    .close = close_machine,
};

/* ---- steps ---- */

struct wsdbg_error *wsdbg_live_machine_open(const struct wsdbg_attach_link *attach, struct wsdbg_machine **out)
{
    struct live_machine *live = calloc(1, sizeof *live);
    if (!live)
        return &wsdbg_error_no_memory;
    live->base = (struct wsdbg_machine){.ops = &live_ops, .source = "live"};
    live->attach = *attach;
    *out = &live->base;
    return NULL;
}

/* An inspector that broke is replaced, once its attach watchdog is through: two at a time would be one too many. */
static struct wsdbg_error *ensure_inspector(struct live_machine *live, uint64_t limit_ns)
{
    if (live->inspector && wsdbg_inspector_is_broken(live->inspector)) {
        if (!wsdbg_inspector_is_freed(live->inspector, limit_ns))
            return wsdbg_error_create(WSDBG_ERROR_BUSY,
                                      "a look broke off, and the program is not freed from its inspector yet");
        wsdbg_machine_deinit(&live->base);
        wsdbg_inspector_stop(live->inspector);
        live->inspector = NULL;
        wsdbg_attach_wait_detached(&live->attach, wsdbg_attach_clock_ns() + DETACHED_LIMIT_NS);
    }
    return live->inspector ? NULL : wsdbg_inspector_start(&live->attach, &live->inspector);
}

struct wsdbg_error *wsdbg_live_machine_prepare(struct wsdbg_machine *machine)
{
    struct live_machine *live = live_of(machine);
    if (live->inspector)
        return NULL;
    struct wsdbg_error *error = wsdbg_inspector_start(&live->attach, &live->inspector);
    if (!error)
        error = wsdbg_inspector_post(live->inspector, WSDBG_INSPECT_OPEN, NULL, OPEN_LIMIT_NS);
    live->preparing = !error;
    return error;
}

struct wsdbg_error *wsdbg_live_machine_begin_attach(struct wsdbg_machine *machine, uint64_t limit_ns)
{
    struct live_machine *live = live_of(machine);
    if (live->preparing)
        wsdbg_error_destroy(wsdbg_inspector_finish(live->inspector)); /* the attach meets it again */
    live->preparing = false;
    struct wsdbg_error *error = ensure_inspector(live, 0);
    if (error || wsdbg_inspector_has_posted(live->inspector))
        return error;
    error = wsdbg_inspector_post(live->inspector, WSDBG_INSPECT_ATTACH, (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){limit_ns},
                                 limit_ns + WSDBG_INSPECTOR_LEAVE_NS);
    live->attaching = !error;
    return error;
}

bool wsdbg_live_machine_is_attaching(const struct wsdbg_machine *machine)
{
    return ((const struct live_machine *)machine)->attaching;
}

bool wsdbg_live_machine_has_asked(const struct wsdbg_machine *machine)
{
    const struct live_machine *live = (const struct live_machine *)machine;
    return live->inspector && (__atomic_load_n(&wsdbg_inspector_area(live->inspector)->inside, __ATOMIC_ACQUIRE) ||
                               wsdbg_inspector_has_answered(live->inspector));
}

/* An attach that fails is left again in good order: that time comes on top. */
static struct wsdbg_error *attach(struct live_machine *live, uint64_t limit_ns)
{
    struct wsdbg_error *error = ensure_inspector(live, limit_ns);
    return error ? error
                 : wsdbg_inspector_ask(live->inspector, WSDBG_INSPECT_ATTACH,
                                       (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){limit_ns},
                                       limit_ns + WSDBG_INSPECTOR_LEAVE_NS, NULL);
}

/* Another inspector had the GPU then.  It may have left since. */
static bool was_taken(const struct live_machine *live)
{
    return __atomic_load_n(&live->attach.row->obstacle, __ATOMIC_ACQUIRE) == WSDBG_OBSTACLE_TAKEN;
}

struct wsdbg_error *wsdbg_live_machine_attach(struct wsdbg_machine *machine, uint64_t limit_ns)
{
    struct live_machine *live = live_of(machine);
    const bool begun = live->attaching;
    live->attaching = false;
    struct wsdbg_error *error = begun ? wsdbg_inspector_finish(live->inspector) : attach(live, limit_ns);
    if (begun && error && was_taken(live)) {
        wsdbg_error_destroy(error);
        error = attach(live, limit_ns);
    }
    return error ? error : wsdbg_live_module_rows(wsdbg_inspector_area(live->inspector), machine);
}

struct wsdbg_error *wsdbg_live_machine_stay(struct wsdbg_machine *machine, uint64_t limit_ns)
{
    struct live_machine *live = live_of(machine);
    struct wsdbg_error *error = ensure_inspector(live, 0);
    return error ? error
                 : wsdbg_inspector_post(live->inspector, WSDBG_INSPECT_STAY,
                                        (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){limit_ns},
                                        limit_ns + WSDBG_INSPECTOR_LEAVE_NS);
}

struct wsdbg_error *wsdbg_live_machine_leave(struct wsdbg_machine *machine)
{
    struct live_machine *live = live_of(machine);
    return live->inspector ? wsdbg_inspector_post(live->inspector, WSDBG_INSPECT_DETACH, NULL, WSDBG_INSPECTOR_LEAVE_NS)
                           : NULL;
}

bool wsdbg_live_machine_dismiss(struct wsdbg_machine *machine)
{
    struct live_machine *live = live_of(machine);
    return !live->inspector || wsdbg_inspector_dismiss(live->inspector);
}

bool wsdbg_live_machine_collect(struct wsdbg_machine *machine, struct wsdbg_error **error)
{
    struct wsdbg_inspector *inspector = live_of(machine)->inspector;
    return inspector && wsdbg_inspector_collect(inspector, error);
}

struct wsdbg_error *wsdbg_live_machine_finish(struct wsdbg_machine *machine)
{
    struct wsdbg_inspector *inspector = live_of(machine)->inspector;
    return inspector ? wsdbg_inspector_finish(inspector) : NULL;
}

bool wsdbg_live_machine_is_busy(const struct wsdbg_machine *machine)
{
    const struct live_machine *live = (const struct live_machine *)machine;
    return live->inspector && wsdbg_inspector_has_posted(live->inspector);
}

bool wsdbg_live_machine_has_fault(const struct wsdbg_machine *machine)
{
    const struct live_machine *live = (const struct live_machine *)machine;
    return live->inspector && __atomic_load_n(&wsdbg_inspector_area(live->inspector)->faulted, __ATOMIC_ACQUIRE);
}

void wsdbg_live_machine_fault_sentence(const struct wsdbg_machine *machine, char *sentence, size_t size)
{
    const struct live_machine *live = (const struct live_machine *)machine;
    sentence[0] = '\0';
    if (live->inspector)
        wsdbg_fault_place_sentence(wsdbg_inspector_area(live->inspector), machine, sentence, size);
}

bool wsdbg_live_machine_is_alive(const struct wsdbg_machine *machine)
{
    return wsdbg_attach_alive(&((const struct live_machine *)machine)->attach);
}

bool wsdbg_live_machine_stays(const struct wsdbg_machine *machine)
{
    const struct live_machine *live = (const struct live_machine *)machine;
    return live->inspector && __atomic_load_n(&wsdbg_inspector_area(live->inspector)->stays, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&live->attach.row->state, __ATOMIC_ACQUIRE) == WSDBG_ATTACH_DONE;
}

struct wsdbg_error *wsdbg_live_machine_suspend(struct wsdbg_machine *machine, uint64_t stop_ns, uint64_t limit_ns)
{
    machine->time_ns = wsdbg_attach_clock_ns();
    return wsdbg_inspector_ask(live_of(machine)->inspector, WSDBG_INSPECT_SUSPEND,
                               (uint64_t[WSDBG_INSPECTOR_ARGUMENTS]){stop_ns}, limit_ns, NULL);
}

struct wsdbg_error *wsdbg_live_machine_read_warps(struct wsdbg_machine *machine, uint64_t limit_ns)
{
    struct live_machine *live = live_of(machine);
    struct wsdbg_error *error = wsdbg_inspector_ask(live->inspector, WSDBG_INSPECT_WARPS, NULL, limit_ns, NULL);
    if (error)
        return error;
    const uint64_t time_ns = machine->time_ns;
    free(live->places);
    live->places = NULL;
    error = wsdbg_live_rows(wsdbg_inspector_area(live->inspector), machine, &live->places);
    machine->time_ns = time_ns;
    return error;
}

struct wsdbg_error *wsdbg_live_machine_resume(struct wsdbg_machine *machine, uint64_t limit_ns)
{
    return wsdbg_inspector_ask(live_of(machine)->inspector, WSDBG_INSPECT_RESUME, NULL, limit_ns, NULL);
}

struct wsdbg_error *wsdbg_live_machine_detach(struct wsdbg_machine *machine)
{
    live_of(machine)->attaching = false;
    return wsdbg_inspector_ask(live_of(machine)->inspector, WSDBG_INSPECT_DETACH, NULL, WSDBG_INSPECTOR_LEAVE_NS, NULL);
}

void wsdbg_live_machine_await_rescue(struct wsdbg_machine *machine, uint64_t limit_ns)
{
    struct live_machine *live = live_of(machine);
    if (live->inspector && wsdbg_inspector_is_broken(live->inspector))
        wsdbg_inspector_is_freed(live->inspector, limit_ns);
}
