/* work.h - what contexts were given to do. */
#ifndef WSDBG_SHIM_WORK_H
#define WSDBG_SHIM_WORK_H

#include <stdint.h>

enum work_kind { WORK_COPY, WORK_MEMSET, WORK_OTHER };
/* A call that began then gave the context a kernel or a graph; something else. */
void work_launched(uint32_t context, uint64_t began_ns);
void work_given(uint32_t context, enum work_kind kind, uint64_t began_ns);

#endif
