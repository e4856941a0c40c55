/* rank.c - which process of a parallel run this one is: rank, local rank, world size, and what names the run.
 *
 * Reads:  the environment: what launchers set, and WSDBG_RANK_FROM.
 * Writes: the segment's rank row.
 *
 * The environment is read inside calls in which the driver reads it too (it makes a context, it loads a module), on the
 * program's own thread: a program that changes its environment beside them is at risk without the observer as well.
 * /proc/PID/environ would not do: it shows the environment as the process began, and Python programs set RANK in a
 * process that multiprocessing has made.
 */
#include "rank.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "segment.h"
#include "state.h"

enum { DIGITS_MOST = 9, ASKED_MOST = 16 };

/* The variables of one launcher. */
struct launcher {
    const char *rank, *local_rank, *world_size; /* NULL = it sets none */
};

/* The innermost comes first: torchrun may run under mpirun or srun, and mpirun in a job of Slurm, whose batch script is
 * a process 0 itself. */
static const struct launcher launchers[] = {
    {"RANK", "LOCAL_RANK", "WORLD_SIZE"}, /* torchrun */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"}, /* MPICH, Intel MPI */
    {"PMIX_RANK", NULL, NULL},
    {"FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE"},
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
};

/* All processes of a run have the same value, or none. */
static const char *const of_job[] = {
    "TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE", "SLURM_JOB_ID",
    "FLUX_JOB_ID",         "LSB_JOBID",   "PBS_JOBID"};

static uint32_t number_of(const char *variable)
{
    const char *value = variable ? getenv(variable) : NULL;
    const size_t digits = value ? strspn(value, "0123456789") : 0;
    const bool is_number = digits > 0 && digits <= DIGITS_MOST && value[digits] == '\0';
    return is_number ? (uint32_t)strtoul(value, NULL, 10) : WSDBG_UNKNOWN32;
}

static const struct launcher *launcher_of(const char *rank_variable)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strcmp(launchers[i].rank, rank_variable) == 0)
            return &launchers[i];
    return NULL;
}

/* The variable that holds the rank, NULL = none does. */
static const char *rank_variable(void)
{
    const char *wanted = getenv(WSDBG_ENV_RANK_FROM);
    if (wanted && *wanted)
        return number_of(wanted) != WSDBG_UNKNOWN32 ? wanted : NULL;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (number_of(launchers[i].rank) != WSDBG_UNKNOWN32)
            return launchers[i].rank;
    return NULL;
}

/* An address of its own machine says nothing that another node could be compared with, and "none" is torchrun's word
 * for a run without a name. */
static bool names_run(const char *variable, const char *value)
{
    if (strcmp(variable, "TORCHELASTIC_RUN_ID") == 0)
        return strcmp(value, "none") != 0;
    if (strcmp(variable, "MASTER_ADDR") == 0)
        return strcmp(value, "localhost") != 0 && strncmp(value, "127.", 4) != 0 && strcmp(value, "::1") != 0;
    return true;
}

static void read_job(char *out, size_t bytes)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof of_job / sizeof *of_job; i++) {
        const char *value = getenv(of_job[i]);
        if (!value || !*value || strchr(value, '\n') || !names_run(of_job[i], value))
            continue;
        const size_t length = strlen(of_job[i]) + strlen(value) + 2;
        if (used + length < bytes)
            used += (size_t)snprintf(out + used, bytes - used, "%s=%s\n", of_job[i], value);
    }
}

static void read_environment(struct wsdbg_rank_row *out)
{
    const char *variable = rank_variable();
    const struct launcher *launcher = variable ? launcher_of(variable) : NULL;
    out->rank = variable ? number_of(variable) : WSDBG_UNKNOWN32;
    out->local_rank = launcher ? number_of(launcher->local_rank) : WSDBG_UNKNOWN32;
    out->world_size = launcher ? number_of(launcher->world_size) : WSDBG_UNKNOWN32;
    if (out->world_size != WSDBG_UNKNOWN32 && out->rank >= out->world_size) /* of two different launchers */
        out->world_size = WSDBG_UNKNOWN32;
    if (variable)
        snprintf(out->rank_from, sizeof out->rank_from, "%s", variable);
    read_job(out->job, sizeof out->job);
}

/* The lock is held. */
static void write_row(struct wsdbg_rank_row *shared, const struct wsdbg_rank_row *row)
{
    const uint32_t version = shared->version;
    __atomic_exchange_n(&shared->version, 0, __ATOMIC_ACQ_REL); /* what follows stays behind it */
    shared->rank = row->rank;
    shared->local_rank = row->local_rank;
    shared->world_size = row->world_size;
    memcpy(shared->rank_from, row->rank_from, sizeof shared->rank_from);
    memcpy(shared->job, row->job, sizeof shared->job);
    __atomic_store_n(&shared->version, version + 1, __ATOMIC_RELEASE);
}

/* A program that has no rank loads modules all its life: it is asked only a few times more. */
static bool is_asked_enough(const struct wsdbg_segment *segment)
{
    static _Atomic unsigned asked;
    return (segment->rank.version && segment->rank.rank != WSDBG_UNKNOWN32) ||
           atomic_fetch_add(&asked, 1) >= ASKED_MOST;
}

void rank_read(bool if_unknown)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    struct wsdbg_rank_row row = {0};
    if (!segment || (if_unknown && is_asked_enough(segment)))
        return;
    read_environment(&row);
    shim_lock();
    row.version = segment->rank.version;
    if (row.version == 0 || memcmp(&row, &segment->rank, sizeof row) != 0)
        write_row(&segment->rank, &row);
    shim_unlock();
}
