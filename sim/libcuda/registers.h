/* registers.h - registers a thread of each kernel at launch, out of a cubin: PTX does not say them. */
#ifndef WSDBG_LIBCUDA_REGISTERS_H
#define WSDBG_LIBCUDA_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

/* Calls `take` for each kernel that the cubin has a count of; of a damaged cubin for those that can be read. */
void registers_read(const unsigned char *cubin, size_t byte_count,
                    void (*take)(void *user, const char *kernel, uint32_t registers), void *user);

#endif
