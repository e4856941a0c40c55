/* stand_aside.h - nothing more from us in a program that limits its own system calls. */
#ifndef WSDBG_SHIM_STAND_ASIDE_H
#define WSDBG_SHIM_STAND_ASIDE_H

#include <stdbool.h>

/* The program is about to limit its own system calls: from here on there are none of ours, on no thread. */
void shim_stand_aside(void);
/* It uses CUDA after it has: wsdbg is told, without a system call. */
void stand_aside_tell(void);
/* This process is one of its own: called at the start, and in a forked child. */
void stand_aside_is_process(void);
/* Whether the thread's calls are limited more than wsdbg's are. */
bool stand_aside_is_limited(void);

#endif
