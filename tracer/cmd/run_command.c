/* run_command.c - the table row of `wsdbg run`: its options, and what they become. */
#include "base/console.h"
#include "cmd/launch.h"
#include "cmd/options.h"
#include "wsdbg/ring.h"

#include <string.h>

static const char default_stall_seconds[] = "2", default_work_stall_seconds[] = "10";

static const struct wsdbg_choice devices[] = {{"auto", NULL}, {"gpu", NULL}, {"sim", NULL}, {NULL, NULL}};
static const struct wsdbg_choice evidences[] = {
    {"auto", NULL}, {"ring", NULL}, {"live", NULL}, {"core", NULL}, {NULL, NULL}};
static const struct wsdbg_choice observers[] = {{"driver", NULL}, {"cupti", NULL}, {NULL, NULL}};
static const struct wsdbg_choice on_stalls[] = {{"kill", NULL}, {"wait", NULL}, {"detach", NULL}, {NULL, NULL}};

static const struct wsdbg_option options[] = {
    WSDBG_OUTPUT_OPTION,
    {0, "device", "auto|gpu|sim", "where the kernels run (default auto: the GPU if there is one)", devices, NULL},
    {0, "evidence", "auto|ring|live|core", "what the verdict is based on (default auto)", evidences, NULL},
    {0, "observer", "driver|cupti", "how launches are seen; cupti adds GPU times", observers, NULL},
    {0, "stall", "SECONDS", "no progress for this long is a stall (default 2; 10 without probes)", NULL, NULL},
    {0, "give-up", "SECONDS",
     "end the run (124) when nothing has moved for so long, cause known or not (default: never)", NULL, NULL},
    {0, "look", "SECONDS", "with --tui: look at kernels without probes so often", NULL, NULL},
    {0, "on-stall", "kill|wait|detach", "what to do after a hang was reported (default kill)", on_stalls, NULL},
    {0, "history", "N", "events kept a warp, 0 to 128 (default 128)", NULL, NULL},
    {0, "keep-history", NULL, "without a hang: keep what kernels recorded last", NULL, NULL},
    {0, "record", "FILE", "keep the evidence, looks too; wsdbg replay FILE shows it again", NULL, NULL},
    {0, "keep-looks", "FOLDER", "keep looks at the GPU there; wsdbg core FILE shows one again", NULL, NULL},
    WSDBG_TUI_OPTION,
    {0, "json", NULL, "the report as JSON on stdout at the end", NULL, NULL},
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
        .record_path = wsdbg_option_value(invocation, "record"),
        .looks_folder = wsdbg_option_value(invocation, "keep-looks"),
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
    struct wsdbg_error *error = wsdbg_parse_seconds("stall", stall ? stall : default_stall_seconds, &run.stall_ns);
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
    return error ? error : wsdbg_run_program(&run, status);
}

const struct wsdbg_command wsdbg_command_run = {
    .name = "run",
    .summary = "Launch a program, watch its kernels, say why one hangs",
    .description =
        "Starts PROGRAM with the observer library preloaded and looks at the state of every probed warp 50 times a\n"
        "second. When nothing has moved for the stall time, wsdbg reads everything the warps wrote, says which warps\n"
        "wait where and why, stores the evidence as an SQLite database and ends the program.\n"
        "\n"
        "A stall whose cause is proven or likely is a hang at once. Any other is one when three looks, the later two\n"
        "about a stall time apart each, find every warp standing where it stood and nobody outside of the kernel can\n"
        "end that: of mbarriers, named barriers, registers and the like nobody can, a word of memory that is polled\n"
        "the host, another kernel or another GPU may write. The cause may be UNKNOWN then. Until then, and where\n"
        "somebody outside can end it, the report is shown once, with why it is not known to be a hang; the program\n"
        "goes on, and a line follows when that changes. A kernel that moves is slow: it is never ended.\n"
        "--give-up ends the run as after a hang, with status 124, when nothing has moved for so long and it only may\n"
        "hang, as for CI; the first look at a stall comes after the stall time all the same. Where wsdbg could not\n"
        "look, or saw movement, nothing is given up. At that moment kernels that the program may still feed (below)\n"
        "are looked at too.\n"
        "\n"
        "Of a run without a hang the session holds what was launched, and no histories; with --keep-history also the\n"
        "last events of every probed warp, read when the program has ended (on a GPU that takes a context of wsdbg's\n"
        "own, some tenths of a second): for wsdbg view, export --perfetto, and how much wgmma overlapped in the "
        "report.\n"
        "\n"
        "A launch that the driver refuses is explained on stderr when it happens, with the numbers, once for each\n"
        "different one; the program gets the driver's error as it would without wsdbg. A refused look-up of a kernel,\n"
        "module or attribute is said only when that kernel's launch is refused too, or when the program ends badly.\n"
        "\n"
        "Kernels without probes, of any program, are watched from outside: when work that the GPU was given has not\n"
        "been done for the stall time, wsdbg has the driver stop the GPU for some hundredths of a second, twice, and\n"
        "reads where every warp stands, in the machine code, and the barriers in shared memory. What moves in between\n"
        "is slow, not hung, and is looked at again after twice the time. Ctrl-\\ at wsdbg's terminal (or SIGQUIT sent\n"
        "to wsdbg) shows at once where warps stand, without a verdict; the program ignores SIGQUIT meanwhile, unless\n"
        "it handles it itself.\n"
        "\n"
        "--evidence says what a verdict is based on. ring: only what probes wrote; wsdbg never attaches to the program.\n"
        "live: always the GPU's own state, with the histories of probes where there are any. wsdbg attaches before "
        "the\n"
        "first launch, which waits for that (1.5 s at most), and stays, whatever it costs: a launch takes some 50 us\n"
        "more. auto: the GPU's own state for kernels without probes; for others their record, and the GPU's state\n"
        "beside it where the record proves no cause. For kernels without probes wsdbg attaches before the first\n"
        "launch, which waits for that (some 0.3 s, 1.5 s at most for it to begin). It leaves before 4 MB of code or\n"
        "more are loaded, and when launches cost the program more than 2 % of its time. It comes again while the GPU\n"
        "has no work, to a program that is idle or launches little, once 2 % of the run so far pay for all of that. A\n"
        "line at the end says for how long it was attached and what that cost.\n"
        "While it stays attached a look holds nothing back. A look without that attaches late: the driver then lets\n"
        "what the program gives the GPU wait until the kernels that ran at the attach are over, and one that waits "
        "for\n"
        "such work stands for ever. So auto looks late only where a thread of the program has waited for the GPU for\n"
        "half of the stall time and every other thread is blocked (or captured work hides whether any is done); else it\n"
        "says that it did not look, and why.\n"
        "core: a GPU core dump that the driver writes at the first stall; the program's GPU work ends with it, also\n"
        "where it was only slow. So wsdbg reports what the dump shows and ends the program as after a hang, with\n"
        "status 125 instead of 124 where the dump alone does not make a hang at least likely.\n"
        "A dump that does not grow for 15 seconds is given up, and the program ended as after a hang. Of a kernel "
        "that\n"
        "an error of the GPU ends the driver writes a dump too, with core alone: the report then says which\n"
        "instruction it was; the program gets its error when the dump is written, and its exit waits for a dump that\n"
        "is being written, ten seconds at most. Of a bad address driver 580 gives neither dump nor error while dumps\n"
        "are armed: then the dump is given up as above.\n"
        "Live and core are closed while another tool (CUPTI, a debugger, MPS) is in the program; wsdbg doctor says "
        "so.\n"
        "\n"
        "--device=sim runs the kernels on a simulated sm_90 instead of a GPU: PROGRAM gets a library that stands in "
        "for\n"
        "the driver. It must use the Driver API, and its modules must hold PTX; of kernels without probes the "
        "simulator\n"
        "writes the record itself, and it shows where every warp stands when nothing on it can move. "
        "WSDBG_SIM_SCHEDULE\n"
        "(round-robin, random, priority) and WSDBG_SIM_SEED choose the order in which warps run,\n"
        "WSDBG_SIM_MULTIPROCESSORS the size of the chip. Without a GPU this is what wsdbg run does by itself. A "
        "deadlock\n"
        "that the simulator has proven is judged at once, whatever --stall says (with --record after that time, which\n"
        "a replay needs to see it).\n"
        "\n"
        "PROGRAM stays in the foreground with the terminal's input and output. Keys such as Ctrl-C reach it as\n"
        "always; signals sent to wsdbg alone are passed on; a stop at the terminal stops both. After a hang the\n"
        "program and everything it started gets SIGTERM and, a second later, SIGKILL. If wsdbg itself is killed the\n"
        "program gets SIGTERM, except with --on-stall detach. A hang makes the exit status 124 whatever the program\n"
        "does afterwards, as with timeout(1).\n"
        "\n"
        "With --tui the terminal shows the session live, as wsdbg top does, and PROGRAM runs on a terminal of its "
        "own:\n"
        "what it writes there is in the view's log and in the database, i sends it keys, Ctrl-C and Ctrl-Z mean it as\n"
        "always. Streams that are redirected stay as they are. The end, or the hang, stays on the screen until q; q\n"
        "before that asks whether to end PROGRAM or to leave it running in the terminal. The report and the closing\n"
        "line follow on stderr. With --on-stall detach a PROGRAM that is left has lost its terminal, as with nohup(1).",
    .needs = "an NVIDIA driver, or the simulator; for kernels without probes a driver whose debug interface is free",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    WSDBG_RUNS_PROGRAM,
    .lives_on = true,
    .run = run_command,
};
