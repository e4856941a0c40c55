/* system_calls.h - the program's own limits of its system calls, seen before they are there. */
#ifndef WSDBG_SHIM_SYSTEM_CALLS_H
#define WSDBG_SHIM_SYSTEM_CALLS_H

/* Calls `about_to_limit` before each call of the program that limits its system calls, on the thread that makes it. */
void system_calls_tell(void (*about_to_limit)(void));
/* Lets that process read the memory of this one; 0 = takes the permission back.  Does nothing if the program has made
 * this choice itself.  Must not be called from inside prctl() or syscall(). */
void system_calls_let_read(unsigned long process);

#endif
