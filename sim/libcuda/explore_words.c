/* explore_words.c - the lines of an exploration's log, which wsdbg reads.
 *
 *     launch NUMBER SCHEDULES LIMIT_NS KERNEL
 *                                        it is explored now, under at most so many schedules, so long (0 = no limit)
 *     usual NS                           the usual schedule has been running for so long
 *     tried SCHEDULES BAD                so far; BAD of them hang, stall or fault
 *     found SEED OUTCOME PLACE DECISIONS INSTRUCTIONS NS
 *                                        the schedule is the PLACE-th; SEED: a number, or `usual` for the usual one;
 *                                        OUTCOME: deadlock, stalled, fault; NS since the exploration began
 *     again SEED                         what follows is of this one, found before
 *     wait WARPS TEXT                    of the schedule found
 *     fault TEXT                         the same
 *     reduces SWITCHES                   it is being reduced; so many are tried now
 *     turns SWITCHES TURNS ENGINES SECONDS
 *                                        it was reduced to so many switches, and what engines did that is unusual
 *     switch TEXT                        one of them
 *     story TEXT                         all of them in a sentence of source lines (explore_story.c)
 *     report SCHEDULES SEED KIND TEXT    what so many schedules did that is never meant, or may not be, SEED
 *                                        first
 *     end WHY TRIED DECISIONS NS HANGS STALLS FAULTS UNENDED DIED
 *                                        WHY: schedules, time, found, host, usual, alike, asked, processes; UNENDED: schedules
 *                                        that were given up for their length; DIED: whose process died
 *     skipped NUMBER KERNEL              it runs beside another launch, which stands
 *     runs                               the launch itself begins, under the schedule found first
 *     stands OUTCOME DECISIONS           and what came of it
 *     goes                               it went on after all
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/inlined.h"
#include "hopper/state.h"
#include "libcuda/explore.h"
#include "ptx/parse.h"

enum { TEXT_BYTES = 400, SWITCHES_MOST = 200 };

static void say(int log, const char *format, va_list arguments)
{
    char line[1024];
    const int length = vsnprintf(line, sizeof line, format, arguments);
    if (length >= (int)sizeof line)
        line[sizeof line - 2] = '\n';
    if (length > 0 && write(log, line, strlen(line)) < 0)
        return; /* wsdbg is gone, and the program with it soon */
}

void explore_say(int log, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(log, format, arguments);
    va_end(arguments);
}

void explore_say_progress(struct explore_launch *launch, const char *format, ...)
{
    const uint64_t now_ns = explore_now_ns();
    va_list arguments;
    if (now_ns - launch->said_ns < EXPLORE_TICK_NS)
        return;
    launch->said_ns = now_ns;
    va_start(arguments, format);
    say(launch->log, format, arguments);
    va_end(arguments);
}

enum { LEVELS_MOST = 64 }; /* of inlined calls */

/* The line that reports have. */
static const struct wsdbg_ptx_place *telling_level(const struct wsdbg_ptx_program *program, uint32_t number)
{
    const struct wsdbg_ptx_place *places[LEVELS_MOST];
    struct wsdbg_inlined_level levels[LEVELS_MOST];
    size_t count = 0;
    for (; number != WSDBG_PTX_NONE && count < LEVELS_MOST; number = places[count++]->inlined_at) {
        places[count] = &program->places[number];
        levels[count] = (struct wsdbg_inlined_level){program->files[places[count]->file], places[count]->is_wrapper};
    }
    return places[wsdbg_inlined_place(levels, count)];
}

void explore_seed_word(bool is_usual, uint64_t seed, char out[EXPLORE_SEED_BYTES])
{
    if (is_usual)
        strcpy(out, "usual");
    else
        snprintf(out, EXPLORE_SEED_BYTES, "%llu", (unsigned long long)seed);
}

/* "kernel.cu:34, PTX line 12 (mbarrier.try_wait …)" */
static void describe_place(const struct explore_launch *launch, uint32_t number, char out[TEXT_BYTES])
{
    const struct wsdbg_ptx_program *program = wsdbg_gpu_program(launch->launch->module);
    char text[120];
    if (number >= program->instruction_count) {
        snprintf(out, TEXT_BYTES, "its end");
        return;
    }
    const struct wsdbg_ptx_instruction *instruction = &program->instructions[number];
    wsdbg_ptx_text(program, number, text, sizeof text);
    if (instruction->place == WSDBG_PTX_NONE) {
        snprintf(out, TEXT_BYTES, "PTX line %u (%s)", instruction->text_line, text);
        return;
    }
    const struct wsdbg_ptx_place *place = telling_level(program, instruction->place);
    const char *file = program->files[place->file], *slash = strrchr(file, '/');
    snprintf(out, TEXT_BYTES, "%.120s:%u, PTX line %u (%s)", slash ? slash + 1 : file, place->line,
             instruction->text_line, text);
}

void explore_short_place(const struct explore_launch *launch, uint32_t number, char out[EXPLORE_PLACE_BYTES])
{
    const struct wsdbg_ptx_program *program = wsdbg_gpu_program(launch->launch->module);
    if (number >= program->instruction_count) {
        snprintf(out, EXPLORE_PLACE_BYTES, "its end");
        return;
    }
    const struct wsdbg_ptx_instruction *instruction = &program->instructions[number];
    if (instruction->place == WSDBG_PTX_NONE) {
        snprintf(out, EXPLORE_PLACE_BYTES, "PTX line %u", instruction->text_line);
        return;
    }
    const struct wsdbg_ptx_place *place = telling_level(program, instruction->place);
    const char *file = program->files[place->file], *slash = strrchr(file, '/');
    snprintf(out, EXPLORE_PLACE_BYTES, "%.120s:%u", slash ? slash + 1 : file, place->line);
}

static uint32_t warps_of_cta(const struct explore_launch *launch)
{
    const uint32_t *block = launch->launch->block;
    return (uint32_t)(((uint64_t)block[0] * block[1] * block[2] + 31) / 32);
}

static void describe_warp(const struct explore_launch *launch, uint32_t number, char out[TEXT_BYTES])
{
    const uint32_t *grid = launch->launch->grid, warps = warps_of_cta(launch), cta = number / warps;
    snprintf(out, TEXT_BYTES, "warp %u of CTA (%u,%u,%u)", number % warps, cta % grid[0], cta / grid[0] % grid[1],
             cta / grid[0] / grid[1]);
}

void explore_say_waits(const struct explore_launch *launch, const struct explore_record *record)
{
    for (uint32_t i = 0; i < record->wait_count; i++) {
        char place[TEXT_BYTES];
        describe_place(launch, record->waits[i].instruction, place);
        explore_say(launch->log, "wait %u %s at %s\n", record->waits[i].warps,
                    record->waits[i].kind == WSDBG_GPU_SPINS ? "in a loop" : "waiting", place);
    }
    if (record->fault[0])
        explore_say(launch->log, "fault %s\n", record->fault);
}

static void say_switch(const struct explore_launch *launch, const struct wsdbg_schedule_switch *turn)
{
    char from[TEXT_BYTES], place[TEXT_BYTES], to[TEXT_BYTES];
    describe_warp(launch, turn->to, to);
    if (turn->from == WSDBG_SCHEDULE_NOBODY) {
        explore_say(launch->log, "switch %s is the first to run\n", to);
        return;
    }
    describe_warp(launch, turn->from, from);
    describe_place(launch, turn->instruction, place);
    explore_say(launch->log, "switch %s, after %llu instructions %s %s: %s goes on\n", from,
                (unsigned long long)turn->at, turn->waits ? "waits at" : "is preempted before", place, to);
}

void explore_say_turns(const struct explore_launch *launch, const struct explore_turns *turns)
{
    const size_t left_out = turns->count > SWITCHES_MOST ? turns->count - SWITCHES_MOST : 0;
    for (size_t i = left_out; i < turns->count; i++)
        say_switch(launch, &turns->rows[i]);
}

void explore_say_difference(const struct explore_launch *launch, const struct explore_difference *difference,
                            uint64_t schedules, const char *seed)
{
    explore_say(launch->log,
                "report %llu %s result-differs the result is another one than the usual schedule's: first 0x%x, not "
                "0x%x, at 0x%llx, %llu bytes into %s 0x%llx of %llu bytes\n",
                (unsigned long long)schedules, seed, difference->here, difference->usual,
                (unsigned long long)difference->address, (unsigned long long)(difference->address - difference->first),
                difference->is_host ? "host memory" : "allocation", (unsigned long long)difference->first,
                (unsigned long long)difference->byte_count);
}

void explore_say_report(const struct explore_launch *launch, const struct wsdbg_gpu_report *report, uint64_t schedules,
                        const char *seed)
{
    static const struct {
        const char *kind, *text;
    } words[] = {
        [WSDBG_GPU_BARRIER_NOT_INITIALISED] = {"not-initialised", "an mbarrier is used that was not initialised"},
        [WSDBG_GPU_PHASE_OVERRUN] = {"phase-overrun",
                                     "a phase of an mbarrier completes although nobody waited for the one before"},
        [WSDBG_GPU_ACCUMULATOR_READ] = {"accumulator-read",
                                        "an accumulator is used before its wgmma group is complete"},
        [WSDBG_GPU_NAMED_COUNTS] = {"named-counts", "arrivals at a named barrier for different numbers of threads"},
    };
    char place[TEXT_BYTES] = "in a copy engine", barrier[64] = "";
    if (report->instruction != WSDBG_PTX_NONE)
        describe_place(launch, report->instruction, place);
    if (report->kind == WSDBG_GPU_BARRIER_NOT_INITIALISED || report->kind == WSDBG_GPU_PHASE_OVERRUN)
        snprintf(barrier, sizeof barrier, " (at shared address 0x%x)", report->offset);
    else if (report->kind == WSDBG_GPU_NAMED_COUNTS)
        snprintf(barrier, sizeof barrier, " (barrier %u)", report->offset);
    explore_say(launch->log, "report %llu %s %s %s%s: %s\n", (unsigned long long)schedules, seed,
                words[report->kind].kind, words[report->kind].text, barrier, place);
}
