/* caller.c - a library that links NCCL, as PyTorch does. */
#define EXPORT __attribute__((visibility("default")))

int ncclGroupStart(void);
EXPORT int start_group(void);

int start_group(void)
{
    return ncclGroupStart();
}
