/* debug_obstacles.h - who else has the driver's place for tools. */
#ifndef WSDBG_SHIM_DEBUG_OBSTACLES_H
#define WSDBG_SHIM_DEBUG_OBSTACLES_H

#include <stdbool.h>

#include "wsdbg/session.h"

/* What of the environment the driver has read by now; call it before the program can change it. */
void debug_obstacles_remember(void);
/* What keeps the driver from letting an inspector in, before it is tried; `text` (WSDBG_TEXT_BYTES) names it. */
enum wsdbg_attach_obstacle debug_obstacles_find(bool debugger_initialized, char *text);

#endif
