/* real_dlsym.h - libc's own dlsym and dlvsym, which ours stand before. */
#ifndef WSDBG_SHIM_REAL_DLSYM_H
#define WSDBG_SHIM_REAL_DLSYM_H

/* Finds them.  However often, on any thread. */
void real_dlsym_find(void);
/* A failed look-up leaves an error for the program's dlerror().  This removes it, and also one of the program's own. */
void real_dlsym_forget_errors(void);
/* Never NULL from then on.  interpose_entry.c jumps to them. */
extern void *(*wsdbg_real_dlsym)(void *, const char *);
extern void *(*wsdbg_real_dlvsym)(void *, const char *, const char *);

#endif
