/* fake_debugger.c - the fake driver's libcudadebugger.so.1: loaded by an attach, and fatal if its exit handler runs. */
#include <stdio.h>
#include <stdlib.h>

static void die(void)
{
    fprintf(stderr, "fake_debugger: cleaned up for nobody\n");
    abort();
}

__attribute__((constructor)) static void start(void)
{
    atexit(die);
}
