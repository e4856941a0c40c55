/* app_process.c - what a program does as a process: signals, exit, fork; and images and names of every size. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"

void only_context(void)
{
    create(0);
}

/* A kernel's name of 500 bytes. */
void long_name(void)
{
    char name[501] = "", image[600];
    CUmodule module;
    memset(name, 'n', sizeof name - 1);
    snprintf(image, sizeof image, "//fake\nfunction %s\n", name);
    create(0);
    launch(function_of(image, name, &module), 1, NULL);
}

/* The second module has the handles of the first one. */
void module_again(void)
{
    CUmodule first, second;
    create(0);
    launch(function_of(FAKE_PLAIN_IMAGE, "plain", &first), 1, NULL);
    DO(cuModuleUnload, first);
    launch(function_of(FAKE_PROBED_IMAGE, "probed", &second), 1, NULL);
    if (first != second)
        fail("another handle");
}

/* An image of APP_IMAGE_BYTES. */
void large_image(void)
{
    static const char head[] = "//fake\nfunction plain\n";
    const size_t bytes = strtoul(getenv("APP_IMAGE_BYTES"), NULL, 10);
    char *image = malloc(bytes + 1);
    CUmodule module;
    if (!image)
        fail("malloc");
    memset(image, '\n', bytes);
    memcpy(image, head, sizeof head - 1);
    image[bytes] = '\0';
    create(0);
    launch(function_of(image, "plain", &module), 1, NULL);
    free(image);
}

/* A signal that is blocked, and came, is still there after the first calls. */
void pending_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGPIPE);
    create(0);
    sigpending(&set);
    printf("SIGPIPE %s\n", sigismember(&set, SIGPIPE) ? "is pending" : "is gone");
}

/* As a process that multiprocessing has made: the rank of its parent at first, its own at the second context. */
void rank_before_context(void)
{
    create(0);
    setenv("RANK", "5", 1);
    setenv("WORLD_SIZE", "8", 1);
    create(0);
}

/* The context first, the rank afterwards; another rank later changes nothing. */
void rank_before_module(void)
{
    CUmodule module;
    create(0);
    setenv("RANK", "6", 1);
    launch(function_of(FAKE_PLAIN_IMAGE, "plain", &module), 1, NULL);
    setenv("RANK", "7", 1);
    launch(function_of(FAKE_PLAIN_IMAGE, "plain", &module), 1, NULL);
}

void exit_with_3(void)
{
    create(0);
    exit(3);
}

static void say_ended(void)
{
    puts("the handler ran");
}

void exit_handler(void)
{
    atexit(say_ended);
    create(0);
}

/* The first launch of a probed kernel is inside a capture that allows no unsafe call. */
void refused_in_a_capture(void)
{
    CUstream stream = NULL;
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUgraph graph = NULL;
    CUdeviceptr memory = 0;
    create(0);
    DO(cuLibraryLoadData, &library, FAKE_PROBED_IMAGE, NULL, NULL, 0, NULL, NULL, 0);
    DO(cuLibraryGetKernel, &kernel, library, "probed");
    DO(cuStreamCreate, &stream, 1);
    DO(cuStreamBeginCapture, stream, 0);
    launch(kernel, 1, stream);
    DO(cuMemAlloc, &memory, 4);
    DO(cuStreamEndCapture, stream, &graph);
}

static void *launch_probed(void *unused)
{
    CUmodule module;
    create(0);
    launch(function_of(FAKE_PROBED_IMAGE, "probed", &module), 1, NULL);
    return unused;
}

/* Starts a program while another thread is inside its first launch; it lists what it has open. */
void spawn_beside(void)
{
    char *arguments[] = {(char[]){"ls"}, (char[]){"-l"}, (char[]){"/proc/self/fd"}, NULL};
    pthread_t thread;
    pid_t child;
    if (pthread_create(&thread, NULL, launch_probed, NULL))
        fail("pthread_create");
    usleep(150000);
    if (posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ) != 0)
        fail("posix_spawnp");
    waitpid(child, NULL, 0);
    pthread_join(thread, NULL);
}

/* Waits for the child, and says how it ended. */
static void say_child(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    printf("child %d\nstatus %d\n", (int)child, status);
}

static void *create_context(void *unused)
{
    create(0);
    return unused;
}

/* Forks while another thread is inside its first call; the child makes its own first call, for 5 s at most. */
void fork_beside(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, create_context, NULL))
        fail("pthread_create");
    usleep(150000);
    const pid_t child = fork();
    if (child == 0) {
        CUcontext context;
        alarm(5);
        _exit(cu.cuCtxCreate(&context, NULL, 0, 0));
    }
    say_child(child);
    pthread_join(thread, NULL);
}

/* Loads an image while another thread is inside its first call; ends without the handlers of exit(). */
void load_beside_first_call(void)
{
    pthread_t thread;
    CUcontext context;
    CUmodule module;
    if (pthread_create(&thread, NULL, create_context, NULL))
        fail("pthread_create");
    usleep(150000);
    DO(cuCtxCreate, &context, NULL, 0, 0);
    function_of(FAKE_PLAIN_IMAGE, "plain", &module);
    pthread_join(thread, NULL);
    _exit(0);
}

/* In the child, the thread that forked ends as a thread does. */
void fork_and_leave(void)
{
    CUmodule module;
    create(0);
    launch(function_of(FAKE_PLAIN_IMAGE, "plain", &module), 1, NULL);
    DO(cuCtxSynchronize);
    const pid_t child = fork();
    if (child == 0) {
        fclose(stdout);
        pthread_exit(NULL);
    }
    say_child(child);
}

/* Writes to the stdout that it has closed, while another thread is inside its first call. */
void write_to_nothing(void)
{
    static const char words[] = "the program's own words";
    pthread_t thread;
    close(STDOUT_FILENO);
    if (pthread_create(&thread, NULL, create_context, NULL))
        fail("pthread_create");
    usleep(150000);
    fputs(write(STDOUT_FILENO, words, sizeof words) < 0 ? "nobody took it\n" : "somebody took it\n", stderr);
    pthread_join(thread, NULL);
}
