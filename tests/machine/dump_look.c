/* dump_look.c - see dump_look.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "machine/dump_look.h"

struct wsdbg_snapshot dump_look(const char *name)
{
    struct wsdbg_machine *machine;
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s.core.gz", WSDBG_DUMPS, name);
    assert_null(wsdbg_machine_open_core(path, &machine));
    assert_null(wsdbg_code_create(&code));
    assert_null(wsdbg_look_take(machine, code, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    machine->ops->close(machine);
    return snapshot;
}
