/* lint_text.c - see lint_text.h.  Reads a finding; writes the stream.  Names come from the file: they are escaped. */
#include "cmd/lint_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"

static void print_escaped(const char *text, FILE *out)
{
    char *escaped = wsdbg_text_escape(text);
    fputs(escaped ? escaped : "?", out);
    free(escaped);
}

bool wsdbg_lint_text_is_line_of_file(const struct wsdbg_lint_kernel *kernel, const struct wsdbg_lint_place *place)
{
    return place->ptx_line && !place->file && !*kernel->module->name && !kernel->function;
}

static void print_place(const char *path, const struct wsdbg_lint_kernel *kernel, const struct wsdbg_lint_place *place,
                        FILE *out)
{
    if (place->file) {
        print_escaped(place->file, out);
        fprintf(out, ":%" PRIu32, place->line);
        return;
    }
    print_escaped(path, out);
    if (place->ptx_line && !*kernel->module->name && !kernel->function) {
        fprintf(out, ":%" PRIu32, place->ptx_line);
        return;
    }
    if (*kernel->module->name) {
        fputs(": ", out);
        print_escaped(kernel->module->name, out);
    }
    fputs(": kernel ", out);
    print_escaped(kernel->name, out);
    if (place->offset_bytes >= 0)
        fprintf(out, "+0x%" PRIx64, (uint64_t)place->offset_bytes);
    else if (place->ptx_line)
        fprintf(out, ", line %" PRIu32 " of its PTX", place->ptx_line);
}

static void print_caller(const struct wsdbg_lint_place *place, FILE *out)
{
    if (!place->caller_file)
        return;
    fputs(", inlined at ", out);
    print_escaped(place->caller_file, out);
    fprintf(out, ":%" PRIu32, place->caller_line);
}

static const char *colour_of(enum wsdbg_lint_severity severity)
{
    return severity == WSDBG_LINT_ERROR ? "\033[1;31m" : severity == WSDBG_LINT_WARNING ? "\033[1;35m" : "\033[1;36m";
}

void wsdbg_lint_text_print(const char *path, const struct wsdbg_lint_kernel *kernel,
                           const struct wsdbg_lint_finding *finding, bool colour, FILE *out)
{
    print_place(path, kernel, &finding->place, out);
    fprintf(out, ": %s%s%s: ", colour ? colour_of(finding->severity) : "", wsdbg_lint_severity_name(finding->severity),
            colour ? "\033[0m" : "");
    print_escaped(finding->message, out);
    fprintf(out, " [%s]\n", wsdbg_lint_code_name(finding->code));
    if (finding->place.file || wsdbg_lint_text_is_line_of_file(kernel, &finding->place)) {
        fputs("    in kernel ", out);
        print_escaped(kernel->name, out);
        if (finding->place.offset_bytes >= 0)
            fprintf(out, "+0x%" PRIx64, (uint64_t)finding->place.offset_bytes);
        print_caller(&finding->place, out);
        fputc('\n', out);
    }
    for (size_t i = 0; i < finding->note_count; i++) {
        const struct wsdbg_lint_note *note = &finding->notes[i];
        fputs("    ", out);
        if (note->place.offset_bytes >= 0 || note->place.file || note->place.ptx_line) {
            print_place(path, kernel, &note->place, out);
            fputs(": ", out);
        }
        fputs("note: ", out);
        print_escaped(note->text, out);
        print_caller(&note->place, out);
        fputc('\n', out);
    }
    if (finding->fix) {
        fputs("    fix: ", out);
        print_escaped(finding->fix, out);
        fputc('\n', out);
    }
}
