/* threads_app.c - a program whose threads stand where the tests expect them: one in read(), three calls down; one that
 * computes; one in read() whose caller's frame has no fixed size; twenty that wait for a condition; the main one waits
 * for the first.  Prints the ids of the first three, then sleeps. */
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOW 0x200000000ul
enum { IDLE_THREADS = 20, PAGE = 4096 };

static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static volatile int done;

/* Each does something after its call, so that none is a jump. */
__attribute__((noinline)) static int inner(int depth)
{
    char byte;
    const long count = read(ends[0], &byte, 1);
    done += depth;
    return (int)count + done;
}

__attribute__((noinline)) static int middle(int depth)
{
    const int result = inner(depth + 1);
    done += depth;
    return result + done;
}

__attribute__((noinline)) static int outer(int depth)
{
    const int result = middle(depth + 1);
    done += depth;
    return result + done;
}

static void *read_thread(void *out)
{
    *(volatile int *)out = (int)syscall(SYS_gettid);
    return (void *)(long)outer(1);
}

static void *spin_thread(void *out)
{
    *(volatile int *)out = (int)syscall(SYS_gettid);
    for (volatile unsigned long i = 0; !done; i++)
        ;
    return NULL;
}

__attribute__((noinline)) static int read_resized(unsigned bytes)
{
    char *room = alloca(bytes);
    const long count = read(ends[0], room, 1);
    done += room[0];
    return (int)count + done;
}

static void *resized_thread(void *out)
{
    *(volatile int *)out = (int)syscall(SYS_gettid);
    return (void *)(long)read_resized(300 + (unsigned)done);
}

static void *idle_thread(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
    return NULL;
}

/* As in a program that uses CUDA, whose devices lie there: what is mapped lowest cannot be read. */
static void map_what_cannot_be_read(void)
{
    FILE *file = fopen("/etc/passwd", "r");
    if (!file || mmap((void *)LOW, PAGE, PROT_NONE, MAP_PRIVATE | MAP_FIXED, fileno(file), 0) == MAP_FAILED)
        exit(1);
    fclose(file);
}

int main(void)
{
    map_what_cannot_be_read();
    pthread_t reader, other;
    volatile int ids[3] = {0, 0, 0};
    if (pipe(ends) != 0 || pthread_create(&reader, NULL, read_thread, (void *)&ids[0]) != 0 ||
        pthread_create(&other, NULL, spin_thread, (void *)&ids[1]) != 0 ||
        pthread_create(&other, NULL, resized_thread, (void *)&ids[2]) != 0)
        return 1;
    for (int i = 0; i < IDLE_THREADS; i++)
        if (pthread_create(&other, NULL, idle_thread, NULL) != 0)
            return 1;
    while (!ids[0] || !ids[1] || !ids[2])
        usleep(1000);
    usleep(50000);
    printf("%d %d %d\n", ids[0], ids[1], ids[2]);
    fflush(stdout);
    return pthread_join(reader, NULL);
}
