/* driver_lookup.h - the little of the driver that a measurement needs, reached as cudart does: dlopen,
 * cuGetProcAddress.
 *
 * What is missing or fails ends the program with status 77 and one line.
 */
#ifndef WSDBG_TESTS_H200_DRIVER_LOOKUP_H
#define WSDBG_TESTS_H200_DRIVER_LOOKUP_H

/* Finds the driver; `program` begins every message. */
void driver_find(const char *program);
/* The function of that name as of CUDA 12.5. */
void *driver(const char *name);
/* What libcuda itself exports under that name, even if another library interposes it. */
void *driver_itself(const char *name);
void check(int result, const char *what);
/* Device 0's primary context, made current, and a kernel of a PTX text in it. */
void *load_kernel(const char *ptx, const char *kernel);
double now_ns(void);
/* Sorts; the middle one. */
double median(double *values, int count);

#endif
