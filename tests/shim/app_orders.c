/* app_orders.c - what app.c does when a test tells it to, one byte of stdin each:
 *
 *   l  launches a kernel that is done at once     w  launches one that takes 1.5 s
 *   s  waits for the context                      f  launches one that faults, and waits
 *   n  makes a context, which becomes current     d  ends it again
 *   o  makes the first context current again
 *   k  forks a child that sleeps for 5 s        x  starts a program that does, without fork()
 *   c  forks a child that calls the driver, for 2 s at most, and says how it ended
 *   z  closes its stderr, and says what that was
 *   b  begins to capture a stream                e  ends that
 *   r  becomes a program of its own kind, which begins anew and says no "done" before
 *   m  loads a fatbin and a cubin whose headers state a large size, and that hold nothing
 *   M  loads a fatbin of 5 MB
 *   i  loads an image                            t  lets another thread do so, and goes on
 *
 * After each it says "done N", counting from 1.
 */
#include <elf.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"

enum { MUCH_BYTES = 5000000 };

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

struct fatbin {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t body_bytes;
};

/* Both images end right behind their headers. */
static void load_nothing(void)
{
    static const struct fatbin fatbin = {0xba55ed50, 1, 16, MUCH_BYTES};
    static const Elf64_Ehdr cubin = {
        .e_ident = ELFMAG, .e_shoff = UINT64_C(1) << 45, .e_shnum = 9, .e_shentsize = sizeof(Elf64_Shdr)};
    CUmodule module;
    DO(cuModuleLoadData, &module, &fatbin);
    DO(cuModuleLoadData, &module, &cubin);
}

static void load_much(void)
{
    static union {
        struct fatbin header;
        char bytes[FAKE_FATBIN_BYTES + MUCH_BYTES];
    } image = {.header = {0xba55ed50, 1, FAKE_FATBIN_BYTES, MUCH_BYTES}};
    CUmodule module;
    snprintf(image.bytes + FAKE_FATBIN_BYTES, MUCH_BYTES, "%s", FAKE_PLAIN_IMAGE);
    DO(cuModuleLoadData, &module, &image);
}

static void load_image(void)
{
    CUmodule module;
    DO(cuModuleLoadData, &module, FAKE_PLAIN_IMAGE);
}

static void *load_in_thread(void *unused)
{
    CUmodule module;
    cu.cuCtxSetCurrent(first_context);
    cu.cuModuleLoadData(&module, FAKE_PLAIN_IMAGE);
    return unused;
}

static void load_beside(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, load_in_thread, NULL) != 0)
        fail("pthread_create");
    pthread_detach(thread);
}

static void make_child(void)
{
    if (fork() != 0)
        return;
    sleep(5);
    _exit(0);
}

static void start_program(void)
{
    char *arguments[] = {(char[]){"sleep"}, (char[]){"5"}, NULL};
    pid_t child;
    if (posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ) != 0)
        fail("posix_spawnp");
}

static void call_in_child(void)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        alarm(2);
        cu.cuCtxSynchronize();
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("child's status %d\n", status);
}

static void begin_anew(void)
{
    char *arguments[] = {(char[]){"app"}, (char[]){"dlsym"}, (char[]){"plain"}, NULL};
    fflush(stdout);
    execv("/proc/self/exe", arguments);
    fail("execv");
}

static void capture(bool begins)
{
    static CUstream stream;
    CUgraph graph;
    if (!stream)
        DO(cuStreamCreate, &stream, 1);
    if (begins)
        DO(cuStreamBeginCapture, stream, 0);
    else
        DO(cuStreamEndCapture, stream, &graph);
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
    else if (order == 'o')
        DO(cuCtxSetCurrent, first_context);
    else if (order == 'k')
        make_child();
    else if (order == 'x')
        start_program();
    else if (order == 'c')
        call_in_child();
    else if (order == 'z')
        printf("stderr was %s\n", close(STDERR_FILENO) == 0 ? "open" : "closed");
    else if (order == 'b' || order == 'e')
        capture(order == 'b');
    else if (order == 'r')
        begin_anew();
    else if (order == 'm')
        load_nothing();
    else if (order == 'M')
        load_much();
    else if (order == 'i')
        load_image();
    else if (order == 't')
        load_beside();
    if (order == 's' || order == 'f')
        DO(cuCtxSynchronize);
    printf("done %d\n", ++count);
    fflush(stdout);
}
