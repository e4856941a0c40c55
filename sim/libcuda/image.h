/* image.h - programs from what a program hands over as a module's image: PTX text, or a fatbin that holds PTX. */
#ifndef WSDBG_LIBCUDA_IMAGE_H
#define WSDBG_LIBCUDA_IMAGE_H

#include "libcuda/driver.h"

/* Reads the image at `bytes`, whose own headers (or final zero) say how long it is, as they do for the driver.  `log`
 * gets the error's text, which is said on stderr too.  Without the lock. */
CUresult image_of_memory(const void *bytes, char *log, size_t log_bytes, struct image **out);
/* The same of a file. */
CUresult image_of_file(const char *path, char *log, size_t log_bytes, struct image **out);

/* With the lock held from here on. */
void image_release(struct image *image);

/* A module of the image in the context; it takes over one use of the image. */
CUresult module_create(struct context *context, struct image *image, struct library *library, struct module **out);
void module_destroy(struct module *module);
/* A variable of the program, or what wsdbg looks for where there are no probes. */
bool module_variable(struct module *module, const char *name, uint64_t *address, uint64_t *byte_count);
/* The library's module in the context, made when it is first asked for. */
CUresult library_module(struct library *library, struct context *context, struct module **out);
/* The function of a CUfunction or CUkernel in the context. */
CUresult function_find(struct context *context, CUfunction handle, struct function **out);
/* A kernel's number among the image's kernels, SIZE_MAX when there is none of that name. */
size_t image_kernel(const struct image *image, const char *name);
/* The kernels of the image: functions that can be launched. */
size_t image_kernel_count(const struct image *image);
void image_fill_kernels(const struct image *image, struct function *out);

#endif
