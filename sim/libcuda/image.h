/* image.h - programs from what a program hands over as a module's image: PTX text, or a fatbin that holds PTX. */
#ifndef WSDBG_LIBCUDA_IMAGE_H
#define WSDBG_LIBCUDA_IMAGE_H

#include "libcuda/driver.h"
#include "libcuda/jit.h"

/* Reads the image at `bytes`, whose own headers (or final zero) say how long it is, as they do for the driver; when
 * that is NULL, the file at `path`.  The log of `jit` (may be NULL) gets the error's text, which is printed on stderr,
 * too.  Without the lock. */
CUresult image_load(const void *bytes, const char *path, struct jit *jit, struct image **out);

/* With the lock held from here on. */
void image_release(struct image *image);

/* A module of the image in the context; it takes over one use of the image. */
CUresult module_create(struct context *context, struct image *image, struct library *library, struct module **out);
void module_destroy(struct module *module);
/* A variable of the program, or what wsdbg looks for where there are no probes; either result may be NULL. */
CUresult module_variable(struct module *module, const char *name, CUdeviceptr *address, size_t *byte_count);
/* The library's module in the context, made when it is first asked for. */
CUresult library_module(struct library *library, struct context *context, struct module **out);
/* The function of a CUfunction or CUkernel in the context. */
CUresult function_find(struct context *context, CUfunction handle, struct function **out);

/* Makes the kernels' handles: CUfunctions of the module, whose settings are those of the library's kernels if it was
 * made for one; without a module the library's CUkernels (`out` is library->kernels then).  After false, `out` is still
 * to be destroyed. */
bool kernel_set_create(const struct image *image, struct module *module, struct library *library,
                       struct kernel_set *out);
/* From now on they cannot be launched: they are to be destroyed when what was launched is over. */
void kernel_set_withdraw(const struct kernel_set *kernels);
void kernel_set_destroy(struct kernel_set *kernels);
/* What the calls of modules and of libraries answer. */
CUresult kernel_set_find(const struct kernel_set *kernels, const char *name, struct function **out);
CUresult kernel_set_count(const struct kernel_set *kernels, unsigned *count);
CUresult kernel_set_list(const struct kernel_set *kernels, struct function **out, unsigned room);

#endif
