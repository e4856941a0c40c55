/* registers.c - runs the kernels of register_configs.def, each in a process of its own, and says which came to an end.
 *
 * Usage: registers --ptx                          the kernels' PTX on stdout, to be assembled: ptxas -arch=sm_90a
 *        registers --list                         a line each: kernel, family, expected outcome
 *        registers [--image FILE] [--jobs N] [--limit SECONDS] [NAME]...
 * Writes one JSON object on stdout.  FILE is what ptxas made of the PTX; without it the driver compiles the PTX.  A
 * kernel that has not ended SECONDS after its launch hangs; its process is killed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver_lookup.h"
#include "register_ptx.h"

enum { NOT_READY = 600, JOBS_MOST = 32, START_LIMIT_S = 60, KILL_LIMIT_S = 30 };

struct result {
    char outcome[16]; /* finished, hung, refused, fault; "" = its process did not say */
    int error;
    int registers; /* as the driver counts them */
    double ms;
};

struct job {
    const struct register_config *config;
    struct result *result;
    pid_t pid;
    int from;
    double since_ns;
    bool killed;
};

static struct {
    const char *image;
    double limit_s;
    int jobs;
} options = {NULL, 2, 8};

/* ---- the child ---- */

static char *read_image(void)
{
    FILE *file = fopen(options.image, "rb");
    char *bytes = NULL;
    if (!file || fseek(file, 0, SEEK_END))
        return NULL;
    const long count = ftell(file);
    rewind(file);
    if (count > 0 && (bytes = malloc((size_t)count + 1)) && fread(bytes, 1, (size_t)count, file) == (size_t)count)
        bytes[count] = '\0';
    fclose(file);
    return bytes;
}

static int words_written(void *memory, uint32_t threads)
{
    uint32_t words[1024] = {0};
    int written = 0;
    ((int (*)(void *, void *, size_t))driver("cuMemcpyDtoH"))(words, memory, threads * sizeof *words);
    for (uint32_t i = 0; i < threads; i++)
        written += words[i] == 1;
    return written;
}

static void launch(void *function, const struct register_config *config, struct result *out)
{
    void *memory = NULL, *stream = NULL;
    check(((int (*)(void **, size_t))driver("cuMemAlloc"))(&memory, 4096), "cuMemAlloc");
    check(((int (*)(void *, unsigned char, size_t))driver("cuMemsetD8"))(memory, 0, 4096), "cuMemsetD8");
    check(((int (*)(void **, unsigned))driver("cuStreamCreate"))(&stream, 1), "cuStreamCreate");
    check(((int (*)(int *, int, void *))driver("cuFuncGetAttribute"))(&out->registers, 4, function),
          "cuFuncGetAttribute");
    int (*query)(void *) = (int (*)(void *))driver("cuStreamQuery");
    void *arguments[] = {&memory};
    const double begun_ns = now_ns();
    out->error = ((int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                           void **, void **))driver("cuLaunchKernel"))(function, 1, 1, 1, config->threads, 1, 1, 0,
                                                                       stream, arguments, NULL);
    snprintf(out->outcome, sizeof out->outcome, "refused");
    if (out->error)
        return;
    do {
        usleep(200);
        out->error = query(stream);
        out->ms = (now_ns() - begun_ns) / 1e6;
    } while (out->error == NOT_READY && out->ms < options.limit_s * 1e3);
    snprintf(out->outcome, sizeof out->outcome, "%s",
             out->error == NOT_READY                                                        ? "hung"
             : out->error || words_written(memory, config->threads) != (int)config->threads ? "fault"
                                                                                            : "finished");
    if (out->error == NOT_READY)
        out->error = 0;
}

static _Noreturn void be_child(const struct register_config *config, int to)
{
    char name[128];
    struct result result = {.error = 0};
    char *image = options.image ? read_image() : register_ptx_create();
    driver_find("registers");
    register_kernel_name(config, name, sizeof name);
    if (!image)
        _exit(77);
    launch(load_kernel(image, name), config, &result);
    if (write(to, &result, sizeof result) != (ssize_t)sizeof result)
        _exit(77);
    while (strcmp(result.outcome, "hung") == 0) /* leaving would wait for the kernel: somebody kills this process */
        pause();
    _exit(0);
}

/* ---- the parent ---- */

static void start(struct job *job)
{
    int pipes[2];
    if (pipe(pipes) || (job->pid = fork()) < 0) {
        perror("registers");
        exit(77);
    }
    if (job->pid == 0) {
        close(pipes[0]);
        be_child(job->config, pipes[1]);
    }
    close(pipes[1]);
    job->from = pipes[0];
    job->since_ns = now_ns();
}

/* What it said, and its end; true when the place is free again. */
static bool is_over(struct job *job)
{
    const double age_s = (now_ns() - job->since_ns) / 1e9;
    struct pollfd ready = {.fd = job->from, .events = POLLIN};
    if (job->from >= 0 && poll(&ready, 1, 0) > 0) {
        struct result result = {.error = 0};
        if (read(job->from, &result, sizeof result) == (ssize_t)sizeof result)
            *job->result = result;
        close(job->from);
        job->from = -1;
    }
    if (!job->killed &&
        ((job->from < 0 && strcmp(job->result->outcome, "hung") == 0) || age_s > START_LIMIT_S + options.limit_s)) {
        kill(job->pid, SIGKILL);
        job->killed = true;
    }
    const bool ended = waitpid(job->pid, NULL, WNOHANG) == job->pid;
    return (ended && job->from < 0) || age_s > START_LIMIT_S + options.limit_s + KILL_LIMIT_S;
}

static void run_all(const struct register_config *const *chosen, struct result *results, size_t count)
{
    struct job jobs[JOBS_MOST] = {0};
    size_t next = 0, over = 0;
    while (over < count) {
        for (int i = 0; i < options.jobs; i++) {
            if (jobs[i].pid && is_over(&jobs[i])) {
                jobs[i].pid = 0;
                over++;
            }
            if (!jobs[i].pid && next < count) {
                jobs[i] = (struct job){.config = chosen[next], .result = &results[next]};
                next++;
                start(&jobs[i]);
            }
        }
        usleep(2000);
    }
}

static void print(const struct register_config *config, const struct result *result, bool last)
{
    char name[128];
    register_kernel_name(config, name, sizeof name);
    printf("  {\"kernel\": \"%s\", \"family\": \"%s\", \"threads\": %u, \"bounds\": \"%s\", \"roles\": \"%s\", "
           "\"expected\": \"%s\", \"outcome\": \"%s\", \"error\": %d, \"registers\": %d, \"ms\": %.3f}%s\n",
           name, config->family, config->threads, config->bounds, config->roles,
           config->outcome == 'H' ? "hung" : "finished", result->outcome[0] ? result->outcome : "unknown",
           result->error, result->registers, result->ms, last ? "" : ",");
}

static bool is_chosen(const struct register_config *config, char **names, int count)
{
    char name[128];
    bool chosen = count == 0;
    register_kernel_name(config, name, sizeof name);
    for (int i = 0; i < count; i++)
        chosen |= strcmp(names[i], name) == 0;
    return chosen;
}

static int usage(void)
{
    fprintf(stderr, "usage: registers --ptx | --list | [--image FILE] [--jobs N] [--limit SECONDS] [NAME]...\n");
    return 2;
}

static int print_ptx(void)
{
    char *ptx = register_ptx_create();
    if (!ptx)
        return 77;
    fputs(ptx, stdout);
    free(ptx);
    return 0;
}

static int list(void)
{
    char name[128];
    for (size_t i = 0; i < register_config_count; i++) {
        register_kernel_name(&register_configs[i], name, sizeof name);
        printf("%s %s %s\n", name, register_configs[i].family,
               register_configs[i].outcome == 'H' ? "hung" : "finished");
    }
    return 0;
}

int main(int argc, char **argv)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "--ptx") == 0)
            return print_ptx();
        if (strcmp(argv[at], "--list") == 0)
            return list();
        if (at + 1 == argc)
            return usage();
        if (strcmp(argv[at], "--image") == 0)
            options.image = argv[at + 1];
        else if (strcmp(argv[at], "--jobs") == 0)
            options.jobs = atoi(argv[at + 1]);
        else if (strcmp(argv[at], "--limit") == 0)
            options.limit_s = atof(argv[at + 1]);
        else
            return usage();
    }
    if (options.jobs < 1 || options.jobs > JOBS_MOST)
        return usage();
    const struct register_config **chosen = calloc(register_config_count, sizeof *chosen);
    struct result *results = calloc(register_config_count, sizeof *results);
    size_t count = 0;
    for (size_t i = 0; chosen && i < register_config_count; i++)
        if (is_chosen(&register_configs[i], argv + at, argc - at))
            chosen[count++] = &register_configs[i];
    if (!chosen || !results)
        return 77;
    run_all(chosen, results, count);
    printf("{\"limit_s\": %.1f, \"image\": %s, \"configs\": [\n", options.limit_s, options.image ? "true" : "false");
    for (size_t i = 0; i < count; i++)
        print(chosen[i], &results[i], i + 1 == count);
    printf("]}\n");
    free(chosen);
    free(results);
    return 0;
}
