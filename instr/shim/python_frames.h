/* python_frames.h - the Python frames of the calling thread, as words of a launch site (wsdbg/segment_sites.h). */
#ifndef WSDBG_SHIM_PYTHON_FRAMES_H
#define WSDBG_SHIM_PYTHON_FRAMES_H

#include <stdint.h>

/* Writes WSDBG_SITE_FRAME_WORDS words for each frame, innermost first, WSDBG_SITE_PYTHON_FRAMES frames at most. Returns
 * how many frames; *flags gets bits of enum wsdbg_site_flags.  Takes no lock of the interpreter and runs none of its
 * code but a look at thread-local memory. */
uint32_t python_frames_read(uint64_t *words, uint32_t *flags);

#endif
