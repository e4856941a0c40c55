/* lint_text.c - see lint_text.h.  Reads a finding; writes the stream.  Names come from the file: they are escaped. */
#include "cmd/lint_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void print_escaped(const char *text, FILE *out)
{
    char *escaped = wsdbg_text_escape(text);
    fputs(escaped ? escaped : "?", out);
    free(escaped);
}

bool wsdbg_lint_text_is_line_of_file(const struct wsdbg_lint_subject *subject, const struct wsdbg_lint_place *place)
{
    return place->ptx_line && !place->file && !*subject->module && subject->is_ptx;
}

static void print_place(const char *path, const struct wsdbg_lint_subject *subject,
                        const struct wsdbg_lint_place *place, FILE *out)
{
    if (place->file) {
        print_escaped(place->file, out);
        fprintf(out, ":%" PRIu32, place->line);
        return;
    }
    print_escaped(path, out);
    if (wsdbg_lint_text_is_line_of_file(subject, place)) {
        fprintf(out, ":%" PRIu32, place->ptx_line);
        return;
    }
    if (*subject->module) {
        fputs(": ", out);
        print_escaped(subject->module, out);
    }
    fputs(": kernel ", out);
    print_escaped(subject->kernel, out);
    if (place->offset_bytes >= 0)
        fprintf(out, "+0x%" PRIx64, (uint64_t)place->offset_bytes);
    else if (place->ptx_line)
        fprintf(out, ", line %" PRIu32 " of its PTX", place->ptx_line);
}

/* The other lines of a place in inlined code. */
static void print_caller(const struct wsdbg_lint_place *place, FILE *out)
{
    if (place->inner_file) {
        fputs(", in code of ", out);
        print_escaped(place->inner_file, out);
        fprintf(out, ":%" PRIu32, place->inner_line);
    }
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

static void print_kernels(const struct wsdbg_lint_folded *folded, FILE *out)
{
    const struct wsdbg_lint_place *place = &folded->finding.place;
    fputs("    in kernel ", out);
    print_escaped(folded->subject.kernel, out);
    if (place->offset_bytes >= 0)
        fprintf(out, "+0x%" PRIx64, (uint64_t)place->offset_bytes);
    print_caller(place, out);
    fputc('\n', out);
    if (folded->places_more)
        fprintf(out, "    also at %zu more place%s in it\n", folded->places_more, folded->places_more == 1 ? "" : "s");
    if (!folded->kernels_more)
        return;
    fprintf(out, "    also in %zu more kernel%s: ", folded->kernels_more, folded->kernels_more == 1 ? "" : "s");
    for (size_t i = 0; i < WSDBG_LINT_ALSO_MOST && folded->also[i]; i++) {
        fputs(i ? ", " : "", out);
        print_escaped(folded->also[i], out);
    }
    fputs(folded->kernels_more > WSDBG_LINT_ALSO_MOST ? ", …\n" : "\n", out);
}

static void print_note(const char *path, const struct wsdbg_lint_subject *subject, const struct wsdbg_lint_note *note,
                       FILE *out)
{
    fputs("    ", out);
    if (note->place.offset_bytes >= 0 || note->place.file || note->place.ptx_line) {
        print_place(path, subject, &note->place, out);
        fputs(": ", out);
    }
    fputs("note: ", out);
    print_escaped(note->text, out);
    print_caller(&note->place, out);
    fputc('\n', out);
}

static void print_finding(const char *path, const struct wsdbg_lint_folded *folded, bool colour, FILE *out)
{
    const struct wsdbg_lint_subject *subject = &folded->subject;
    const struct wsdbg_lint_finding *finding = &folded->finding;
    print_place(path, subject, &finding->place, out);
    fprintf(out, ": %s%s%s: ", colour ? colour_of(finding->severity) : "", wsdbg_lint_severity_name(finding->severity),
            colour ? "\033[0m" : "");
    print_escaped(finding->message, out);
    fprintf(out, " [%s]\n", wsdbg_lint_code_name(finding->code));
    if (finding->place.file || wsdbg_lint_text_is_line_of_file(subject, &finding->place))
        print_kernels(folded, out);
    for (size_t i = 0; i < finding->note_count; i++)
        print_note(path, subject, &finding->notes[i], out);
    if (finding->fix) {
        fputs("    fix: ", out);
        print_escaped(finding->fix, out);
        fputc('\n', out);
    }
}

void wsdbg_lint_text_print(const char *path, const struct wsdbg_lint_folded *folded, const struct wsdbg_sheet *out)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);
    if (!memory)
        return;
    print_finding(path, folded, out->colour, memory);
    fclose(memory);
    for (char *rest = text, *line; rest && *(line = rest);) {
        rest += strcspn(rest, "\n");
        if (*rest)
            *rest++ = '\0';
        const size_t margin = strspn(line, " ");
        char *first = strndup(line, margin);
        if (first)
            wsdbg_sheet_put(out, NULL, first, margin + 4, SIZE_MAX, line + margin);
        free(first);
    }
    free(text);
}
