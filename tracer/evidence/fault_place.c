/* fault_place.c - see fault_place.h.
 *
 * Reads: the last exception that an SM reports, the code images.  A warp that stores to a bad address and exits is gone
 * when the GPU reports the error.  The SM still holds the address of that instruction, or of one soon after it.
 */
#include "evidence/fault_place.h"

#include <stdio.h>
#include <string.h>

#include "model/fault.h"
#include "model/place.h"
#include "model/symbol.h"
#include "sass/cubin.h"
#include "sass/lines.h"

enum { LEVELS = 8 };

static bool holds(const struct wsdbg_cubin_function *function, uint64_t pc)
{
    return function->address && pc >= function->address && pc - function->address < function->code.byte_count;
}

/* " (file:line)", as all places of inlined code are named; "" where the code has no lines. */
static void say_line(const struct wsdbg_image *image, const struct wsdbg_cubin_function *function,
                     uint64_t offset_bytes, char *text, size_t size)
{
    struct wsdbg_lines *lines = NULL;
    struct wsdbg_line levels[LEVELS];
    struct wsdbg_error *error = wsdbg_lines_open(image, &lines);
    const size_t count = error ? 0 : wsdbg_lines_find(lines, function, offset_bytes, levels, LEVELS);
    if (count) {
        const struct wsdbg_line *level = &levels[wsdbg_lines_place(levels, count)];
        snprintf(text, size, " (%s:%u)", wsdbg_place_file(level->file), level->line);
    }
    wsdbg_lines_close(lines);
    wsdbg_error_destroy(error);
}

static bool say_in_image(const struct wsdbg_image *image, uint64_t pc, char *text, size_t size)
{
    struct wsdbg_cubin *cubin = NULL;
    struct wsdbg_error *error = image->byte_count ? wsdbg_cubin_open_names(image, &cubin) : NULL;
    bool found = false;
    for (size_t i = 0; cubin && !found && i < wsdbg_cubin_function_count(cubin); i++) {
        const struct wsdbg_cubin_function *function = wsdbg_cubin_function(cubin, i);
        char line[96] = "", name[121];
        found = holds(function, pc);
        if (!found)
            continue;
        say_line(image, function, pc - function->address, line, sizeof line);
        wsdbg_symbol_name(function->name, name, sizeof name);
        snprintf(text, size, "%s+0x%llx%s", name, (unsigned long long)(pc - function->address), line);
    }
    wsdbg_cubin_close(cubin);
    wsdbg_error_destroy(error);
    return found;
}

void wsdbg_fault_place_sentence(const struct wsdbg_inspector_area *area, const struct wsdbg_machine *machine,
                                char *sentence, size_t size)
{
    const struct wsdbg_inspector_fault *fault = &area->fault;
    const char *name = wsdbg_exception_words(fault->exception);
    char place[240] = "a place that is not known";
    sentence[0] = '\0';
    if (!fault->exception)
        return;
    for (size_t i = 0; fault->pc_known && i < machine->module_count; i++)
        if (say_in_image(&machine->modules[i].image, fault->pc, place, sizeof place))
            break;
    snprintf(sentence, size, "SM %u reports CUDA_EXCEPTION_%u%s%s%s at %s; the warp that did it has exited since",
             fault->sm, fault->exception, name ? " (" : "", name ? name : "", name ? ")" : "", place);
}
