/* parts_stub.c - what the shim's parts take from interpose.c, for tests that link the parts without it. */
#include "shim.h"

struct wsdbg_driver shim_driver;

void *interpose_libcuda_symbol(const char *name)
{
    (void)name;
    return NULL;
}

bool interpose_ready(void)
{
    return false;
}
