/* debug_interface.c - see debug_interface.h.  Reads: symbols of libcuda. */
#include "debug_interface.h"

#include <stddef.h>
#include <string.h>

#include "libcuda.h"

bool debug_interface_find(struct debug_interface *out)
{
    const struct {
        const char *name;
        void *place;
        bool needed;
    } symbols[] = {
        {"cudbgApiClientPid", &out->client_pid, true},
        {"cudbgApiClientRevision", &out->client_revision, true},
        {"cudbgSessionId", &out->session_id, true},
        {"cudbgDebuggerCapabilities", &out->capabilities, true},
        {"cudbgDebuggerInitialized", &out->initialized, true},
        {"cudbgIpcFlag", &out->ipc_flag, true},
        {"cudbgResumeForAttachDetach", &out->resume_flag, true},
        {"cudbgReportedDriverInternalErrorCode", &out->error, true},
        {"cudbgApiAttach", &out->attach, true},
        {"cudbgApiDetach", &out->detach, true},
        {"cudbgUseExternalDebugger", &out->external, false},
        {"cudbgDetachSuspendedDevicesMask", &out->suspended_mask, false},
        {"cudbgInitiateDebuggerAttachProcedureFd", &out->attach_fd, false},
    };
    bool all = true;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = libcuda_symbol(symbols[i].name);
        memcpy(symbols[i].place, &found, sizeof found);
        all = all && (found || !symbols[i].needed);
    }
    return all;
}
