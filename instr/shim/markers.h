/* markers.h - whether the work of a context gets done. */
#ifndef WSDBG_SHIM_MARKERS_H
#define WSDBG_SHIM_MARKERS_H

/* Starts the thread that puts markers behind the contexts' work, if the session wants them.  Once. */
void markers_start(void);

#endif
