/* framework.c - a library that links NCCL, as PyTorch's does.  framework_group() opens and ends an empty group; it
 * returns 0 or NCCL's error. */
#include "fake_nccl.h"

int framework_group(void);

__attribute__((visibility("default"))) int framework_group(void)
{
    const int result = ncclGroupStart();
    return result ? result : ncclGroupEnd();
}
