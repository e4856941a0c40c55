/* run.c - see run.h.  A child process runs units until one of them takes too long or spoils the context; the next child
 * goes on behind it.  What they read back lies in memory that is shared with the parent. */
#include "semantics/run.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "semantics/device.h"
#include "semantics/must.h"

struct shared {           /* what begins the memory */
    volatile uint32_t at; /* the unit that runs now, or ran last */
    int driver_version;
    char device[96];
};

char *semantics_unit_text(const struct semantics_unit *unit)
{
    static const char head[] = ".version 8.8\n.target sm_90a\n.address_size 64\n";
    char *const text = must_zeros(sizeof head + strlen(unit->text), 1);
    strcat(strcpy(text, head), unit->text);
    return text;
}

static bool is_wanted(const struct semantics_unit *unit, const struct semantics_run_options *options)
{
    return !options->only || strncmp(unit->name, options->only, strlen(options->only)) == 0;
}

static char *read_image(const char *folder, size_t number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%zu.cubin", folder, number);
    FILE *const file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const size_t bytes = (size_t)ftell(file);
    rewind(file);
    char *const image = must_zeros(bytes + 1, 1);
    const size_t read = fread(image, 1, bytes, file);
    fclose(file);
    if (read == bytes)
        return image;
    free(image);
    return NULL;
}

/* Runs units in this process from `first` on and ends it. */
static void run_from(const struct semantics_corpus *corpus, const struct semantics_run_options *options,
                     struct semantics_run *run, size_t first)
{
    struct shared *const shared = run->shared;
    struct semantics_device device;
    shared->at = (uint32_t)first;
    const char *const missing = semantics_device_open(&device, options->library);
    if (missing) {
        fprintf(stderr, "semantics: %s\n", missing);
        _exit(77);
    }
    semantics_device_describe(&device, shared->device, sizeof shared->device, &shared->driver_version);
    for (size_t i = first; i < corpus->unit_count; i++) {
        struct semantics_outcome *const outcome = &run->outcomes[i];
        const struct semantics_unit *const unit = &corpus->units[i];
        if (!is_wanted(unit, options))
            continue;
        shared->at = (uint32_t)i;
        char *const image = options->images ? read_image(options->images, i) : semantics_unit_text(unit);
        outcome->error = image
                             ? semantics_device_run(&device, unit, image, run->outputs + outcome->offset, outcome->step)
                             : (snprintf(outcome->step, sizeof outcome->step, "no image"), 1);
        free(image);
        outcome->state = outcome->error ? SEMANTICS_FAILED : SEMANTICS_RAN;
        if (outcome->error)
            _exit(1); /* the context may be spoilt */
    }
    _exit(0);
}

/* Waits for the child as long as it goes on; true when it had to be killed or died without a word. */
static bool watch(pid_t child, struct shared *shared, unsigned seconds, int *status)
{
    uint32_t at = shared->at;
    unsigned quiet_ms = 0;
    while (waitpid(child, status, WNOHANG) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        quiet_ms = shared->at == at ? quiet_ms + 10 : 0;
        at = shared->at;
        if (quiet_ms > seconds * 1000) {
            kill(child, SIGKILL);
            waitpid(child, status, 0);
            return true;
        }
    }
    return !WIFEXITED(*status);
}

static struct semantics_run *create_run(const struct semantics_corpus *corpus)
{
    struct semantics_run *const run = must_zeros(1, sizeof *run);
    size_t outputs_bytes = 0;
    for (size_t i = 0; i < corpus->unit_count; i++)
        outputs_bytes += corpus->units[i].output_bytes;
    const size_t outcomes_bytes = corpus->unit_count * sizeof *run->outcomes;
    run->shared_bytes = sizeof(struct shared) + outcomes_bytes + outputs_bytes;
    run->shared = mmap(NULL, run->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run->shared == MAP_FAILED)
        must(NULL);
    run->outcomes = (struct semantics_outcome *)((char *)run->shared + sizeof(struct shared));
    run->outputs = (unsigned char *)run->outcomes + outcomes_bytes;
    for (size_t i = 1; i < corpus->unit_count; i++)
        run->outcomes[i].offset = run->outcomes[i - 1].offset + corpus->units[i - 1].output_bytes;
    return run;
}

struct semantics_run *semantics_run(const struct semantics_corpus *corpus, const struct semantics_run_options *options)
{
    struct semantics_run *const run = create_run(corpus);
    struct shared *const shared = run->shared;
    for (size_t next = 0; next < corpus->unit_count;) {
        int status = 0;
        shared->at = (uint32_t)next;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0)
            run_from(corpus, options, run, next);
        const bool is_killed = child < 0 || watch(child, shared, options->seconds, &status);
        if (!is_killed && WEXITSTATUS(status) != 1)
            break; /* all done, or there is no device */
        struct semantics_outcome *const outcome = &run->outcomes[shared->at];
        if (outcome->state == SEMANTICS_NOT_RUN) {
            outcome->state = SEMANTICS_NO_ANSWER;
            outcome->error = -1;
        }
        next = shared->at + 1;
    }
    memcpy(run->device, shared->device, sizeof run->device);
    run->driver_version = shared->driver_version;
    return run;
}

void semantics_run_destroy(struct semantics_run *run)
{
    munmap(run->shared, run->shared_bytes);
    free(run);
}
