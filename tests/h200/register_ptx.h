/* register_ptx.h - the kernels of register_configs.def as PTX. */
#ifndef WSDBG_TESTS_H200_REGISTER_PTX_H
#define WSDBG_TESTS_H200_REGISTER_PTX_H

#include <stddef.h>
#include <stdint.h>

struct register_config {
    const char *family;
    uint32_t threads;
    const char *bounds; /* "r 168", "b 1" */
    const char *roles;
    char outcome; /* H or F: expected */
};
extern const struct register_config register_configs[];
extern const size_t register_config_count;

/* The kernel's name: "t384_b1_d40_i232_i232". */
void register_kernel_name(const struct register_config *config, char *out, size_t bytes);
/* One module with a kernel for each configuration, each with one parameter: memory of a word a thread, in which each
 * thread that comes to the end writes 1.  The caller frees; NULL = out of memory. */
char *register_ptx_create(void);

#endif
