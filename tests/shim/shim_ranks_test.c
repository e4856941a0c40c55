/* shim_ranks_test.c - which process of a parallel run a process is, by its environment, and how it ended; on the fake
 * libcuda. */
#include "harness.h"

#include <string.h>

/* The variables, and what is read from them; WSDBG_UNKNOWN32 = not known. */
struct example {
    const char *title;
    const char *environment[6];
    uint32_t rank, local_rank, world_size;
    const char *from, *job;
};

enum { NONE = WSDBG_UNKNOWN32 };

static const struct example examples[] = {
    {"no launcher", {NULL}, NONE, NONE, NONE, "", ""},
    {"torchrun",
     {"RANK=3", "LOCAL_RANK=1", "WORLD_SIZE=4", "MASTER_ADDR=node-a", "MASTER_PORT=29500", "TORCHELASTIC_RUN_ID=j7"},
     3,
     1,
     4,
     "RANK",
     "TORCHELASTIC_RUN_ID=j7\nMASTER_ADDR=node-a\nMASTER_PORT=29500\n"},
    {"torchrun on one machine, without a name for the run",
     {"RANK=0", "LOCAL_RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29500",
      "TORCHELASTIC_RUN_ID=none"},
     0,
     0,
     2,
     "RANK",
     "MASTER_PORT=29500\n"},
    {"Open MPI",
     {"OMPI_COMM_WORLD_RANK=7", "OMPI_COMM_WORLD_LOCAL_RANK=3", "OMPI_COMM_WORLD_SIZE=8", "PMIX_RANK=7",
      "PMIX_NAMESPACE=prterun-a-1@1"},
     7,
     3,
     8,
     "OMPI_COMM_WORLD_RANK",
     "PMIX_NAMESPACE=prterun-a-1@1\n"},
    {"MPICH or Intel MPI", {"PMI_RANK=2", "MPI_LOCALRANKID=0", "PMI_SIZE=4"}, 2, 0, 4, "PMI_RANK", ""},
    {"PMIx alone", {"PMIX_RANK=1"}, 1, NONE, NONE, "PMIX_RANK", ""},
    {"srun",
     {"SLURM_PROCID=9", "SLURM_LOCALID=1", "SLURM_NTASKS=16", "SLURM_JOB_ID=77"},
     9,
     1,
     16,
     "SLURM_PROCID",
     "SLURM_JOB_ID=77\n"},
    {"torchrun under srun: a process of Slurm has several ranks",
     {"SLURM_PROCID=1", "SLURM_NTASKS=2", "RANK=9", "LOCAL_RANK=1", "WORLD_SIZE=16"},
     9,
     1,
     16,
     "RANK",
     ""},
    {"mpirun in a batch script of Slurm",
     {"SLURM_PROCID=0", "SLURM_NTASKS=1", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4"},
     3,
     NONE,
     4,
     "OMPI_COMM_WORLD_RANK",
     ""},
    {"a variable that the caller names",
     {"RANK=1", "WORLD_SIZE=2", "MY_RANK=5", "WSDBG_RANK_FROM=MY_RANK"},
     5,
     NONE,
     NONE,
     "MY_RANK",
     ""},
    {"a launcher that the caller names",
     {"RANK=1", "WORLD_SIZE=2", "SLURM_PROCID=4", "SLURM_NTASKS=6", "WSDBG_RANK_FROM=SLURM_PROCID"},
     4,
     NONE,
     6,
     "SLURM_PROCID",
     ""},
    {"a named variable that is not there: no other one is taken",
     {"RANK=1", "WSDBG_RANK_FROM=MY_RANK"},
     NONE,
     NONE,
     NONE,
     "",
     ""},
    {"no numbers", {"RANK=one", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=-1", "SLURM_PROCID=1x"}, NONE, NONE, NONE, "", ""},
    {"too large a number", {"RANK=4294967296"}, NONE, NONE, NONE, "", ""},
    {"a world that is too small for the rank is of something else",
     {"RANK=5", "WORLD_SIZE=2"},
     5,
     NONE,
     NONE,
     "RANK",
     ""},
};

static const struct wsdbg_segment *run_with(const char *scenario, const char *const *environment, int status)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = scenario};
    memcpy(run.environment, environment, 6 * sizeof *environment);
    run_program(&run);
    assert_exit(&run, status);
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_non_null(segment);
    segment_remove(run.pid);
    return segment;
}

static void the_environment_says_which_rank_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *example = &examples[i];
        const struct wsdbg_rank_row *row = &run_with("context", example->environment, 0)->rank;
        if (row->version != 1 || row->rank != example->rank || row->local_rank != example->local_rank ||
            row->world_size != example->world_size || strcmp(row->rank_from, example->from) != 0 ||
            strcmp(row->job, example->job) != 0)
            fail_msg("%s: version %u: rank %u, local %u, world %u, from \"%s\", job \"%s\"", example->title,
                     row->version, row->rank, row->local_rank, row->world_size, row->rank_from, row->job);
    }
}

static void a_process_that_sets_its_rank_itself_has_that_one(void **state)
{
    (void)state;
    const char *const of_parent[6] = {"RANK=0", "WORLD_SIZE=1"}, *const none[6] = {NULL};
    const struct wsdbg_rank_row *row = &run_with("rank-before-context", of_parent, 0)->rank;
    assert_int_equal(row->rank, 5);
    assert_int_equal(row->world_size, 8);
    row = &run_with("rank-before-module", none, 0)->rank;
    assert_int_equal(row->rank, 6);
}

static void a_name_of_a_run_that_does_not_fit_is_left_out_whole(void **state)
{
    (void)state;
    char name[600] = "SLURM_JOB_ID=";
    memset(name + strlen(name), '7', 560);
    const char *const environment[6] = {"RANK=1", name, "LSB_JOBID=4"};
    assert_string_equal(run_with("context", environment, 0)->rank.job, "LSB_JOBID=4\n");
}

static void what_it_gave_exit_is_kept(void **state)
{
    (void)state;
    const char *const none[6] = {NULL};
    const struct wsdbg_segment *segment = run_with("exit-3", none, 3);
    assert_int_equal(segment->exit_called, 1);
    assert_int_equal(segment->exit_status, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_says_which_rank_it_is),
        cmocka_unit_test(a_process_that_sets_its_rank_itself_has_that_one),
        cmocka_unit_test(a_name_of_a_run_that_does_not_fit_is_left_out_whole),
        cmocka_unit_test(what_it_gave_exit_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
