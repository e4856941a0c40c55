/* run_command.c - the table row of `wsdbg run`: its options, and what they become. */
#include "base/console.h"
#include "cmd/launch.h"
#include "cmd/options.h"
#include "cmd/races.h"
#include "wsdbg/session.h"

#include <string.h>

static const char default_stall_seconds[] = "2", default_work_stall_seconds[] = "10";

static const struct wsdbg_choice devices[] = {{"auto", NULL}, {"gpu", NULL}, {"sim", NULL}, {NULL, NULL}};
static const struct wsdbg_choice evidences[] = {
    {"auto", NULL}, {"ring", NULL}, {"live", NULL}, {"core", NULL}, {NULL, NULL}};
static const struct wsdbg_choice observers[] = {{"driver", NULL}, {"cupti", NULL}, {NULL, NULL}};
static const struct wsdbg_choice on_stalls[] = {{"kill", NULL}, {"wait", NULL}, {"detach", NULL}, {NULL, NULL}};

static const struct wsdbg_choice rings[] = {{"device", NULL}, {"mapped", NULL}, {NULL, NULL}};

static const struct wsdbg_choice sites[] = {{"on", NULL}, {"off", NULL}, {NULL, NULL}};

static const struct wsdbg_option options[] = {
    WSDBG_OUTPUT_OPTION,
    {0, "device", "auto|gpu|sim", "where the kernels run (default auto: the GPU if there is one)", devices, NULL},
    {0, "evidence", "auto|ring|live|core", "what the verdict is based on (default auto)", evidences, NULL},
    {0, "observer", "driver|cupti", "how launches are seen; cupti adds GPU times", observers, NULL},
    {0, "stall", "SECONDS",
     "no progress for this long is a stall (default 2; 10 without probes; a simulator's proof: none)", NULL, NULL},
    {0, "give-up", "SECONDS",
     "end the run (124) when nothing has moved for so long, cause known or not (default: never)", NULL, NULL},
    {0, "look", "SECONDS", "with --tui: take a look at kernels without probes so often", NULL, NULL},
    {0, "on-stall", "kill|wait|detach", "what to do after a hang was reported (default kill)", on_stalls, NULL},
    {0, "history", "N", "events kept a warp, 0 to 128 (default 128)", NULL, NULL},
    {0, "ring", "device|mapped", "where warps record: GPU memory, or host memory that it maps (default device)", rings,
     NULL},
    {0, "keep-history", NULL, "without a hang: keep what kernels recorded last", NULL, NULL},
    {0, "record", "FILE", "keep the evidence, looks too; wsdbg replay FILE shows it again", NULL, NULL},
    {0, "keep-looks", "FOLDER", "keep looks at the GPU there; wsdbg core FILE shows one again", NULL, NULL},
    WSDBG_TUI_OPTION,
    {0, "json", NULL, "the report as JSON on stdout at the end", NULL, NULL},
    {0, "mark", "FOLDER", "tell other wsdbg of a hang, and be told, by files there", NULL, NULL},
    {0, "rank-from", "VARIABLE", "environment variable with a process's rank (default: its launcher's)", NULL, NULL},
    {0, "launch-sites", "on|off", "note which line of the program makes each launch (default on)", sites, NULL},
    {0, "races", NULL, "on the simulator: find races and missing fences too", NULL, NULL},
    {0, "require-watch", NULL, "exit with 125 when not all of the program could be watched", NULL, NULL},
    {'q', "quiet", NULL, "no closing line when nothing hangs", NULL, NULL},
};

static enum wsdbg_on_stall parse_on_stall(const char *word)
{
    if (word && strcmp(word, "wait") == 0)
        return WSDBG_ON_STALL_WAIT;
    return word && strcmp(word, "detach") == 0 ? WSDBG_ON_STALL_DETACH : WSDBG_ON_STALL_KILL;
}

static enum wsdbg_run_device parse_device(const char *word)
{
    if (!word)
        return WSDBG_RUN_ON_GPU_IF_ANY;
    if (strcmp(word, "auto") == 0)
        return WSDBG_RUN_ON_EITHER;
    return strcmp(word, "sim") == 0 ? WSDBG_RUN_ON_SIMULATOR : WSDBG_RUN_ON_GPU;
}

static enum wsdbg_run_evidence parse_evidence(const char *word)
{
    static const char *const words[] = {
        [WSDBG_RUN_AUTO] = "auto", [WSDBG_RUN_RING] = "ring", [WSDBG_RUN_LIVE] = "live", [WSDBG_RUN_CORE] = "core"};
    for (enum wsdbg_run_evidence i = WSDBG_RUN_RING; word && i <= WSDBG_RUN_CORE; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return WSDBG_RUN_AUTO;
}

enum { VARIABLE_BYTES_MOST = sizeof(((struct wsdbg_rank_row *)0)->rank_from) - 1 };

static struct wsdbg_error *check_variable(const char *name)
{
    if (!name || (*name && !strchr(name, '=') && strlen(name) <= VARIABLE_BYTES_MOST))
        return NULL;
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                              "--rank-from: '%s' is not the name of a variable: 1 to %d characters, none of them =",
                              name, VARIABLE_BYTES_MOST);
}

/* A race makes the status that of a hang. */
static struct wsdbg_error *run_with_races(const struct wsdbg_invocation *invocation, struct wsdbg_run_options *run,
                                          int *status)
{
    struct wsdbg_races races;
    struct wsdbg_error *error = wsdbg_races_begin(wsdbg_option_value(invocation, "races") != NULL, &races);
    run->races = races.path;
    if (!error)
        error = wsdbg_run_program(run, status);
    json_t *const rows = !error && races.path ? wsdbg_races_read(&races) : NULL;
    if (rows)
        wsdbg_races_say(rows, run->quiet && !json_array_size(rows));
    if (json_array_size(rows))
        *status = WSDBG_EXIT_HANG;
    json_decref(rows);
    wsdbg_races_end(&races);
    return error;
}

static struct wsdbg_error *run_command(const struct wsdbg_invocation *invocation, int *status)
{
    const char *observer = wsdbg_option_value(invocation, "observer");
    const char *stall = wsdbg_option_value(invocation, "stall"), *look = wsdbg_option_value(invocation, "look");
    const char *give_up = wsdbg_option_value(invocation, "give-up");
    struct wsdbg_run_options run = {
        .program = invocation->operands,
        .output = wsdbg_option_value(invocation, "output"),
        .observer = observer ? observer : "driver",
        .history = wsdbg_option_value(invocation, "history"),
        .ring = wsdbg_option_value(invocation, "ring"),
        .record_path = wsdbg_option_value(invocation, "record"),
        .looks_folder = wsdbg_option_value(invocation, "keep-looks"),
        .rank_from = wsdbg_option_value(invocation, "rank-from"),
        .launch_sites = wsdbg_option_value(invocation, "launch-sites"),
        .mark_folder = wsdbg_option_value(invocation, "mark"),
        .device = parse_device(wsdbg_option_value(invocation, "device")),
        .evidence = parse_evidence(wsdbg_option_value(invocation, "evidence")),
        .on_stall = parse_on_stall(wsdbg_option_value(invocation, "on-stall")),
        .json = wsdbg_option_value(invocation, "json") != NULL,
        .tui = wsdbg_option_value(invocation, "tui") != NULL,
        .keep_history = wsdbg_option_value(invocation, "keep-history") != NULL,
        .require_watch = wsdbg_option_value(invocation, "require-watch") != NULL,
        .quiet = wsdbg_option_value(invocation, "quiet") != NULL,
    };
    unsigned history;
    struct wsdbg_error *error = check_variable(run.rank_from);
    if (!error)
        error = wsdbg_parse_seconds("stall", stall ? stall : default_stall_seconds, &run.stall_ns);
    if (!error)
        error = wsdbg_parse_seconds("stall", stall ? stall : default_work_stall_seconds, &run.work_stall_ns);
    if (!error && give_up)
        error = wsdbg_parse_seconds("give-up", give_up, &run.give_up_ns);
    if (!error && look)
        error = wsdbg_parse_seconds("look", look, &run.look_every_ns);
    if (!error && look && !run.tui)
        error =
            wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--look is for --tui; for another terminal: wsdbg top --look");
    if (!error && run.history)
        error = wsdbg_parse_count("history", run.history, 0, WSDBG_HISTORY_DEPTH_MAX, &history);
    return error ? error : run_with_races(invocation, &run, status);
}

const struct wsdbg_command wsdbg_command_run = {
    .name = "run",
    .summary = "Launch a program, watch its kernels, say why one hangs",
    .description =
        "wsdbg starts PROGRAM with its observer library preloaded and reads the state of every probed warp 50\n"
        "times a second. When nothing moves for the stall time, wsdbg reads everything that the warps\n"
        "recorded. It says which warps wait where, for which barrier, and why. It stores the evidence in an\n"
        "SQLite database and ends PROGRAM.\n"
        "\n"
        "Hang or not. A stall whose cause is proven or likely is a hang at once. Any other stall is a hang\n"
        "when three snapshots, about one stall time apart, show every warp at the same place and nothing\n"
        "outside the kernel can end the wait. Only the kernel's own warps can complete an mbarrier or a named\n"
        "barrier, or free registers. But the host, another kernel or another GPU can write a word of memory\n"
        "that a warp polls. The cause of a hang may be UNKNOWN. When a stall is not known to be a hang, wsdbg\n"
        "prints the report once, says why it is not sure, and lets PROGRAM go on. One line follows when that\n"
        "changes. A kernel that moves is slow; wsdbg never ends it.\n"
        "\n"
        "--give-up SECONDS ends such a run with status 124 when nothing has moved for that long. Use it in\n"
        "CI. wsdbg still looks first after the stall time. It gives nothing up where it saw movement, or where\n"
        "it saw no kernel and knows of no other work. Nor does it where it could not look, unless the calls\n"
        "of NCCL tell which rank is missing. When the time is over, wsdbg also inspects kernels that may wait\n"
        "for later work of PROGRAM (see Late attach).\n"
        "\n"
        "Kernels without probes. wsdbg watches them from outside, in any program. When work that the GPU was\n"
        "given is not done after the stall time, wsdbg stops the GPU twice for some hundredths of a second.\n"
        "It reads where every warp stands and what the barriers in shared memory hold. A kernel that moved in\n"
        "between is slow, and wsdbg looks again after twice the time. Ctrl-\\ at wsdbg's terminal, or SIGQUIT\n"
        "sent to wsdbg, shows at once where all warps stand, without a verdict. PROGRAM ignores SIGQUIT\n"
        "meanwhile, unless it handles the signal.\n"
        "\n"
        "--evidence says what a verdict is based on.\n"
        "ring: only what probes recorded. wsdbg never attaches to PROGRAM.\n"
        "live: always the GPU's own state, with the histories of probes where there are any. wsdbg attaches\n"
        "before the first launch and stays attached, whatever that costs. The first launch waits for it, 1.5\n"
        "s at most. Every launch takes about 50 us more.\n"
        "auto (default): the GPU's own state for kernels without probes. For kernels with probes their\n"
        "record, and the GPU's own state beside it where the record proves no cause. For kernels without\n"
        "probes wsdbg attaches before the first launch, which waits for it: 0.16 s as a rule, and 1.5 s at\n"
        "most for the attach to begin. wsdbg leaves before PROGRAM loads 4 MB of code or more, and when\n"
        "launches cost PROGRAM more than 2 % of its time. It attaches again while the GPU has no work, as\n"
        "soon as 2 % of the run so far pay for that. A line at the end says how long wsdbg was attached and\n"
        "what that cost.\n"
        "core: a GPU core dump, which the driver writes at the first stall. The dump ends PROGRAM's work on\n"
        "the GPU, even if that was only slow. So wsdbg reports what the dump shows and ends PROGRAM. The\n"
        "status is 124 where the dump makes a hang at least likely, else 125. wsdbg gives up a dump that does\n"
        "not grow for 15 seconds. The driver also writes a dump when an error of the GPU ends a kernel; the\n"
        "report then names the instruction. PROGRAM gets its error when the dump is written, and its exit\n"
        "waits for the dump, ten seconds at most. For a bad address driver 580 writes no dump and returns no\n"
        "error while dumps are armed; wsdbg then gives up.\n"
        "live and core do not work while another tool (CUPTI, a debugger, MPS) uses PROGRAM; wsdbg doctor\n"
        "tells.\n"
        "\n"
        "Late attach. While wsdbg is attached, a snapshot holds nothing back. If wsdbg attaches only when\n"
        "kernels already run, the driver holds back all new work of PROGRAM until these kernels end. A kernel\n"
        "that waits for such work then never ends. So auto attaches late only where one thread of PROGRAM has\n"
        "waited for the GPU for half of the stall time and every other thread is blocked, or where captured\n"
        "work hides whether work is done. Else wsdbg says that it did not look, and why.\n"
        "\n"
        "Several processes. wsdbg watches every process that PROGRAM starts on this machine, also through\n"
        "torchrun, mpirun, srun or multiprocessing. Each one that uses CUDA has the rank that its environment\n"
        "says when it makes a context: RANK, LOCAL_RANK and WORLD_SIZE, or what Open MPI, MVAPICH, MPICH,\n"
        "Intel MPI, Flux or Slurm set; --rank-from names another variable. Several nodes: start wsdbg run on\n"
        "each of them, with -o for each, and join the databases with wsdbg merge. With --mark FOLDER, a\n"
        "folder that all nodes share and that only this run uses, a wsdbg that finds a hang leaves a file\n"
        "there. The others then take their picture at once, without a verdict, and the first one waits for\n"
        "them, ten seconds at most, before it ends its processes. docs/FLEET.md has the commands.\n"
        "\n"
        "Refused launches. When the driver refuses a launch, wsdbg explains it on stderr with the numbers,\n"
        "once for each different launch. PROGRAM gets the driver's error. wsdbg mentions a refused query of a\n"
        "kernel, module or attribute only when that kernel's launch is refused too, or when PROGRAM ends\n"
        "badly.\n"
        "\n"
        "Runs without a hang. The database then holds the launches, but no histories. With --keep-history it\n"
        "also holds the last events of every probed warp, for wsdbg view and export --perfetto, and the\n"
        "report says how much wgmma overlapped. wsdbg reads them after PROGRAM has ended, in a context of its\n"
        "own; on a GPU that takes some tenths of a second.\n"
        "\n"
        "The ring. Warps with probes record their events in the GPU's memory, and a thread of PROGRAM copies\n"
        "them for wsdbg. With --ring mapped the GPU writes them straight into memory that wsdbg reads. wsdbg\n"
        "then needs neither the copy engines nor PROGRAM's threads: it also sees kernels while SIGSTOP holds\n"
        "PROGRAM, and then calls only a proven cause a hang. Each event crosses PCIe, so a kernel that records\n"
        "much runs many times slower. Where the driver cannot map the memory, a note says so and the ring is\n"
        "in the GPU's memory. --history 0 keeps the newest event of each warp only.\n"
        "\n"
        "The simulator. --device=sim runs the kernels on a simulated sm_90 instead of a GPU: PROGRAM gets\n"
        "libraries that stand in for the driver and the CUDA runtime. Without a GPU wsdbg run does this by\n"
        "itself. PROGRAM's modules must hold PTX. If it is linked with the static CUDA runtime, it must keep\n"
        "its symbols. The simulator records events for kernels without probes, too, and shows where every\n"
        "warp stands when nothing can move. It proves deadlocks, so the report comes at once, whatever\n"
        "--stall says (with --record after that time, which a replay needs). WSDBG_SIM_SCHEDULE (round-robin,\n"
        "random, priority) and WSDBG_SIM_SEED choose the order in which warps run, WSDBG_SIM_MULTIPROCESSORS\n"
        "the chip's size.\n"
        "\n"
        "Races. With --races the simulator also keeps who has synchronised with whom, and who last used each\n"
        "byte. So it sees two accesses that nothing orders, and a fence that is missing, in a run that ends\n"
        "well. wsdbg says both places and warps, the memory, what is missing and what to change. The status\n"
        "is then 124. The run takes two to four times as long.\n"
        "\n"
        "Terminal and signals. PROGRAM stays in the foreground with the terminal's input and output. Keys\n"
        "such as Ctrl-C reach it. wsdbg passes on signals that are sent to wsdbg alone. A stop at the\n"
        "terminal stops both. After a hang PROGRAM and everything it started get SIGTERM and, one second\n"
        "later, SIGKILL. If wsdbg itself is killed, PROGRAM gets SIGTERM, except with --on-stall detach.\n"
        "After a hang the exit status is 124 whatever PROGRAM does afterwards, as with timeout(1).\n"
        "\n"
        "--tui shows the session live, as wsdbg top does, and PROGRAM runs on a terminal of its own. Its\n"
        "output goes to the view's log and to the database. The key i sends it keys; Ctrl-C and Ctrl-Z work\n"
        "as usual. Redirected streams stay redirected. At the end the last screen stays until q. Before the\n"
        "end, q asks whether to end PROGRAM or to leave it running in the terminal. The report and the\n"
        "closing line follow on stderr. With --on-stall detach a PROGRAM that is left running has lost its\n"
        "terminal, as with nohup(1).",
    .needs = "an NVIDIA driver, or the simulator; for kernels without probes a driver whose debug interface is free",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    WSDBG_RUNS_PROGRAM,
    .lives_on = true,
    .run = run_command,
};
