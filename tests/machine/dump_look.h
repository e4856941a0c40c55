/* dump_look.h - what one look at a core dump of tests/dumps finds. */
#ifndef TESTS_MACHINE_DUMP_LOOK_H
#define TESTS_MACHINE_DUMP_LOOK_H

#include "machine/interpret.h"

/* Of NAME.core.gz.  The caller deinits it. */
struct wsdbg_snapshot dump_look(const char *name);

#endif
