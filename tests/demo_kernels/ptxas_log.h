/* ptxas_log.h - what ptxas said about an image, for the tests. */
#ifndef TESTS_DEMO_KERNELS_PTXAS_LOG_H
#define TESTS_DEMO_KERNELS_PTXAS_LOG_H

#define PTXAS_KERNELS_MAX 16

struct ptxas_kernel {
    char name[64];
    int registers; /* a thread */
    int stack_bytes, spill_store_bytes, spill_load_bytes;
};

struct ptxas_log {
    int count;
    int warnings; /* lines that say "warning" or name C7508 (setmaxnreg ignored) or C7510 (wgmma serialized) */
    struct ptxas_kernel kernel[PTXAS_KERNELS_MAX];
};

/* Reads the -Xptxas -v output kept beside an image; fails the running test when the file is not there. */
void ptxas_log_read(const char *path, struct ptxas_log *out);

#endif
