/* finding.c - see finding.h.  Reads and writes what it is given. */
#include "lint/finding.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/near_word.h"

enum { FINDINGS_MOST = 1000 }; /* of one kernel */

_Static_assert(WSDBG_LINT_CODE_COUNT <= 64, "a bit each in what is suppressed");

static const char *const code_names[WSDBG_LINT_CODE_COUNT] = {
#define X(code) #code,
    WSDBG_LINT_CODES(X)
#undef X
};

const char *wsdbg_lint_code_name(enum wsdbg_lint_code code)
{
    return (unsigned)code < WSDBG_LINT_CODE_COUNT ? code_names[code] : "";
}

bool wsdbg_lint_code_of_name(const char *name, enum wsdbg_lint_code *out)
{
    size_t fewest = SIZE_MAX;
    *out = WSDBG_LINT_CODE_COUNT;
    for (unsigned code = 0; code < WSDBG_LINT_CODE_COUNT; code++)
        if (wsdbg_word_is_nearer(name, code_names[code], &fewest))
            *out = (enum wsdbg_lint_code)code;
    return fewest == 0;
}

const char *wsdbg_lint_severity_name(enum wsdbg_lint_severity severity)
{
    static const char *const names[] = {"", "note", "warning", "error"};
    return (unsigned)severity < sizeof names / sizeof names[0] ? names[severity] : "";
}

static char *print(struct wsdbg_lint_findings *findings, const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) >= 0)
        return text;
    findings->is_out_of_memory = true;
    return NULL;
}

static void finding_destroy(struct wsdbg_lint_finding *finding)
{
    if (!finding)
        return;
    for (size_t i = 0; i < finding->note_count; i++)
        free(finding->notes[i].text);
    free(finding->notes);
    free(finding->message);
    free(finding->fix);
    free(finding);
}

struct wsdbg_lint_finding *wsdbg_lint_add(struct wsdbg_lint_findings *findings, enum wsdbg_lint_code code,
                                          enum wsdbg_lint_severity severity, struct wsdbg_lint_place place,
                                          const char *format, ...)
{
    if (findings->suppressed >> code & 1)
        return NULL;
    if (findings->count == FINDINGS_MOST) {
        findings->left_out++;
        return NULL;
    }
    struct wsdbg_lint_finding *finding = calloc(1, sizeof *finding);
    if (!finding ||
        !wsdbg_grow((void **)&findings->rows, &findings->capacity, findings->count + 1, sizeof *findings->rows)) {
        findings->is_out_of_memory = true;
        free(finding);
        return NULL;
    }
    *finding = (struct wsdbg_lint_finding){.code = code, .severity = severity, .place = place};
    va_list arguments;
    va_start(arguments, format);
    finding->message = print(findings, format, arguments);
    va_end(arguments);
    findings->rows[findings->count++] = finding;
    return finding;
}

void wsdbg_lint_note(struct wsdbg_lint_findings *findings, struct wsdbg_lint_finding *finding,
                     struct wsdbg_lint_place place, const char *format, ...)
{
    if (!finding || finding->note_count == WSDBG_LINT_NOTES_MOST)
        return;
    if (!wsdbg_grow((void **)&finding->notes, &finding->note_capacity, finding->note_count + 1,
                    sizeof *finding->notes)) {
        findings->is_out_of_memory = true;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    char *text = print(findings, format, arguments);
    va_end(arguments);
    if (text)
        finding->notes[finding->note_count++] = (struct wsdbg_lint_note){place, text};
}

void wsdbg_lint_fix(struct wsdbg_lint_findings *findings, struct wsdbg_lint_finding *finding, const char *format, ...)
{
    if (!finding)
        return;
    va_list arguments;
    va_start(arguments, format);
    free(finding->fix);
    finding->fix = print(findings, format, arguments);
    va_end(arguments);
}

static int by_place(const void *left, const void *right)
{
    const struct wsdbg_lint_finding *a = *(struct wsdbg_lint_finding *const *)left;
    const struct wsdbg_lint_finding *b = *(struct wsdbg_lint_finding *const *)right;
    if (a->place.offset_bytes != b->place.offset_bytes)
        return a->place.offset_bytes < b->place.offset_bytes ? -1 : 1;
    if (a->place.ptx_line != b->place.ptx_line)
        return a->place.ptx_line < b->place.ptx_line ? -1 : 1;
    return (a->code > b->code) - (a->code < b->code);
}

void wsdbg_lint_findings_sort(struct wsdbg_lint_findings *findings)
{
    if (findings->count)
        qsort(findings->rows, findings->count, sizeof *findings->rows, by_place);
}

void wsdbg_lint_findings_deinit(struct wsdbg_lint_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        finding_destroy(findings->rows[i]);
    free(findings->rows);
    *findings = (struct wsdbg_lint_findings){.suppressed = findings->suppressed};
}
