/* inspector_faults.c - exceptions of the GPU while an inspector is attached; see inspector_child.h.
 *
 * Reads: warps, SMs and their exceptions through the debug interface.  Writes: the debug attach's words about a fault,
 * and that the area shows one.
 *
 * While a debugger is attached the driver hands it the exception and forgets the error: when the debugger has left,
 * every call of the program succeeds.  So the program's observer learns of it before anything of the program goes on,
 * and brings the error again (instr/shim/debug_fault.c).
 */
#include "evidence/inspector_child.h"

#define EXCEPTION_NS 1500000000ull /* for wsdbg to look at what an exception has stopped */

static const struct wsdbg_inspector_warp *find_exception(const struct wsdbg_inspector_area *area, uint32_t *exception)
{
    for (uint32_t i = 0; i < area->warp_count; i++)
        for (int lane = 0; lane < 32; lane++)
            if (area->warps[i].state.lanes[lane].exception && area->warps[i].state.valid_lanes >> lane & 1) {
                *exception = area->warps[i].state.lanes[lane].exception;
                return &area->warps[i];
            }
    return NULL;
}

static bool is_of_before(const struct wsdbg_inspection *in, uint32_t device, uint32_t sm)
{
    return device < WSDBG_INSPECTOR_DEVICES && sm < 64 * WSDBG_INSPECT_EXCEPTION_WORDS &&
           in->exceptions_before[device][sm / 64] >> sm % 64 & 1;
}

/* Of warps that have exited since: their SM knows it still. */
static struct wsdbg_inspector_fault find_sm_exception(const struct wsdbg_inspection *in)
{
    for (uint32_t i = 0; i < in->area->device_count; i++)
        for (uint32_t sm = 0; sm < in->area->devices[i].sm_count; sm++) {
            struct wsdbg_inspector_fault fault = {.device = in->area->devices[i].device, .sm = sm};
            if (!is_of_before(in, fault.device, sm) &&
                in->api.readSmException(fault.device, sm, &fault.exception, &fault.pc, &fault.pc_known) ==
                    WSDBG_DEBUG_OK &&
                fault.exception)
                return fault;
        }
    return (struct wsdbg_inspector_fault){0};
}

static uint64_t context_of(const struct wsdbg_inspector_area *area, const struct wsdbg_inspector_warp *warp)
{
    for (uint32_t i = 0; warp && i < area->grid_count; i++)
        if (area->grids[i].device == warp->device && area->grids[i].grid_id == warp->state.grid_id)
            return area->grids[i].context;
    return 0;
}

/* Of an exited warp its SM does not tell the context: the one of the program on that device; 0 = there are several. */
static uint64_t only_context_on(const struct wsdbg_inspector_area *area, uint32_t device)
{
    uint64_t context = 0;
    for (uint32_t i = 0; i < area->image_count; i++) {
        if (area->images[i].device != device || area->images[i].context == context)
            continue;
        if (context)
            return 0;
        context = area->images[i].context;
    }
    return context;
}

/* Nothing shows what the SMs seemed to have: it is no error of the program, and never becomes one. */
static void forget_exception(struct wsdbg_inspection *in)
{
    in->exception = in->exception_polled = in->exception_told = false;
    wsdbg_inspect_note_exceptions(in);
    wsdbg_inspect_resume(in);
}

void wsdbg_inspect_meet_exception(struct wsdbg_inspection *in)
{
    struct wsdbg_inspector_reply reply = {0};
    uint32_t exception = 0;
    in->exception_told = true;
    if (!in->suspended)
        wsdbg_inspect_suspend(in, EXCEPTION_NS, &reply);
    if (!reply.failed)
        wsdbg_inspect_warps(in);
    const struct wsdbg_inspector_warp *warp = reply.failed ? NULL : find_exception(in->area, &exception);
    in->area->fault = !exception && !in->trapped ? find_sm_exception(in) : (struct wsdbg_inspector_fault){0};
    if (in->area->fault.exception)
        exception = in->area->fault.exception;
    if (!exception && in->exception_polled) {
        forget_exception(in);
        return;
    }
    in->attach->row->fault_context =
        in->area->fault.exception ? only_context_on(in->area, in->area->fault.device) : context_of(in->area, warp);
    in->attach->row->fault_exception = exception;
    wsdbg_inspect_tell(in, WSDBG_ASK_FAULT);
    __atomic_store_n(&in->area->faulted, 1, __ATOMIC_SEQ_CST);
}

bool wsdbg_inspect_is_trapped(const struct wsdbg_inspection *in)
{
    return in->suspended && in->exception && in->attach->row->fault_exception == 0;
}

/* SMs of the device with an exception; none where it has no code of the program. */
static void read_state(struct wsdbg_inspection *in, uint32_t device, uint64_t mask[WSDBG_INSPECT_EXCEPTION_WORDS])
{
    uint64_t read[WSDBG_INSPECT_EXCEPTION_WORDS] = {0};
    const bool known = wsdbg_inspect_has_code(in->area, device) &&
                       in->api.readDeviceExceptionState(device, read, WSDBG_INSPECT_EXCEPTION_WORDS) == WSDBG_DEBUG_OK;
    for (int i = 0; i < WSDBG_INSPECT_EXCEPTION_WORDS; i++)
        mask[i] = known ? read[i] : 0;
}

void wsdbg_inspect_note_exceptions(struct wsdbg_inspection *in)
{
    for (uint32_t device = 0; device < WSDBG_INSPECTOR_DEVICES; device++)
        wsdbg_inspect_note_exceptions_of(in, device);
}

void wsdbg_inspect_note_exceptions_of(struct wsdbg_inspection *in, uint32_t device)
{
    if (device < WSDBG_INSPECTOR_DEVICES)
        read_state(in, device, in->exceptions_before[device]);
}

void wsdbg_inspect_find_exceptions(struct wsdbg_inspection *in)
{
    uint64_t mask[WSDBG_INSPECT_EXCEPTION_WORDS], any = 0;
    const uint32_t asked = __atomic_load_n(&in->attach->row->asked, __ATOMIC_ACQUIRE);
    for (uint32_t device = 0; device < WSDBG_INSPECTOR_DEVICES; device++) {
        read_state(in, device, mask);
        for (int i = 0; i < WSDBG_INSPECT_EXCEPTION_WORDS; i++)
            any |= mask[i] & ~in->exceptions_before[device][i];
    }
    if (any && !in->exception)
        in->exception = in->exception_polled = true;
    if (!in->exception)
        __atomic_store_n(&in->attach->row->answered, asked, __ATOMIC_RELEASE);
}
