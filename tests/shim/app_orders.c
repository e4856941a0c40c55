/* app_orders.c - what app.c does when a test tells it to, one byte of stdin each:
 *
 *   l  launches a kernel that is done at once     w  launches one that takes 1.5 s
 *   s  waits for the context                      f  launches one that faults, and waits
 *   n  makes a context, which becomes current     d  ends it again
 *   m  loads a module of 5 MB
 *
 * After each it says "done N", counting from 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

static void launch_named(const char *name)
{
    CUmodule module;
    CUfunction function = function_of(FAKE_PLAIN_IMAGE, name, &module);
    if (function)
        launch(function, 1, NULL);
}

static void launch_plain(void)
{
    static CUfunction function;
    CUmodule module;
    if (!function)
        function = function_of(FAKE_PLAIN_IMAGE, "plain", &module);
    if (function)
        launch(function, 1, NULL);
}

static void load_much(void)
{
    enum { BYTES = 5000000 };
    CUmodule module;
    char *image = malloc(BYTES);
    if (!image)
        return;
    memset(image, '\n', BYTES - 1);
    image[BYTES - 1] = '\0';
    memcpy(image, FAKE_PLAIN_IMAGE, sizeof FAKE_PLAIN_IMAGE - 1);
    DO(cuModuleLoadData, &module, image);
    free(image);
}

void obey(char order)
{
    static int count;
    static CUcontext made;
    if (order == 'l')
        launch_plain();
    else if (order == 'w')
        launch_named("slow");
    else if (order == 'f')
        launch_named("fault");
    else if (order == 'n')
        made = create(1);
    else if (order == 'd')
        DO(cuCtxDestroy, made);
    else if (order == 'm')
        load_much();
    if (order == 's' || order == 'f')
        DO(cuCtxSynchronize);
    printf("done %d\n", ++count);
    fflush(stdout);
}
