/* framework.c - a library that needs NCCL, as PyTorch's does: an empty group.  Returns 0, or NCCL's error. */
#include "fake_nccl.h"

int framework_group(void);

__attribute__((visibility("default"))) int framework_group(void)
{
    const int result = ncclGroupStart();
    return result ? result : ncclGroupEnd();
}
