/* cause_page.c - see cause_page.h.  Reads the embedded pages: all files of docs/causes behind one another, each
 * beginning with a line "# CODE". */
#include "cmd/cause_page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/near_word.h"

extern const char wsdbg_cause_pages[];

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

static bool begins_page(const char *line)
{
    return strncmp(line, "# ", 2) == 0;
}

/* The first line of the page, or the end of all pages.  A line of an example may begin like a page. */
static const char *find_page(const char *code)
{
    const size_t length = strlen(code);
    const char *line = wsdbg_cause_pages;
    for (bool fenced = false; *line; line = next_line(line)) {
        fenced ^= strncmp(line, "```", 3) == 0;
        if (!fenced && begins_page(line) && strncmp(line + 2, code, length) == 0 && line[2 + length] == '\n')
            break;
    }
    return line;
}

bool wsdbg_cause_of_word(const char *word, char *code, size_t bytes)
{
    size_t fewest = SIZE_MAX;
    bool fenced = false;
    code[0] = '\0';
    for (const char *line = wsdbg_cause_pages; *line; line = next_line(line)) {
        char name[64];
        fenced ^= strncmp(line, "```", 3) == 0;
        if (fenced || !begins_page(line))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line + 2, "\n"), line + 2);
        if (wsdbg_word_is_nearer(word, name, &fewest))
            snprintf(code, bytes, "%s", name);
    }
    return fewest == 0;
}

bool wsdbg_cause_is_known(const char *word)
{
    return *word && *find_page(word);
}

/* Without the marks of Markdown that a terminal needs not: backquotes, and asterisks but those between blanks. */
static void print_marks_off(const char *line, int length, FILE *out)
{
    for (int i = 0; i < length; i++) {
        const bool alone = i > 0 && line[i - 1] == ' ' && i + 1 < length && line[i + 1] == ' ';
        if (line[i] != '`' && (line[i] != '*' || alone))
            fputc(line[i], out);
    }
}

static void print_heading(const char *line, int length, const struct wsdbg_sheet *out)
{
    const int marks = (int)strspn(line, "# ");
    fprintf(out->file, "%s%.*s%s\n", out->colour ? "\033[1m" : "", length - marks, line + marks,
            out->colour ? "\033[0m" : "");
}

/* The lines from here up to the next heading or example. */
static const char *print_prose(const char *line, const struct wsdbg_sheet *out)
{
    char *text = NULL;
    size_t bytes;
    FILE *plain = open_memstream(&text, &bytes);
    for (; *line && *line != '#' && strncmp(line, "```", 3) != 0; line = next_line(line)) {
        if (!plain)
            continue;
        print_marks_off(line, (int)strcspn(line, "\n"), plain);
        fputc('\n', plain);
    }
    if (plain)
        fclose(plain);
    if (text)
        wsdbg_sheet_put_paragraphs(out, text);
    free(text);
    return line;
}

/* An example is broken nowhere: its columns would be lost. */
static const char *print_example(const char *line, const struct wsdbg_sheet *out)
{
    for (line = next_line(line); *line && strncmp(line, "```", 3) != 0; line = next_line(line)) {
        const int length = (int)strcspn(line, "\n");
        fprintf(out->file, "%s%.*s\n", length ? "  " : "", length, line);
    }
    return next_line(line);
}

void wsdbg_cause_page_print(const char *code, const struct wsdbg_sheet *out)
{
    const char *first = find_page(code);
    for (const char *line = first; *line && (line == first || !begins_page(line));) {
        if (strncmp(line, "```", 3) == 0) {
            line = print_example(line, out);
        } else if (line[0] == '#') {
            print_heading(line, (int)strcspn(line, "\n"), out);
            line = next_line(line);
        } else {
            line = print_prose(line, out);
        }
    }
}

/* The line behind the heading; the end of the page where it has no such part. */
static const char *find_part(const char *line, const char *heading)
{
    const size_t length = strlen(heading);
    bool fenced = false;
    for (line = next_line(line); *line && (fenced || !begins_page(line)); line = next_line(line)) {
        fenced ^= strncmp(line, "```", 3) == 0;
        if (!fenced && strncmp(line, "## ", 3) == 0 && strncmp(line + 3, heading, length) == 0 &&
            line[3 + length] == '\n')
            return next_line(line);
    }
    return "";
}

char *wsdbg_cause_page_paragraph(const char *code, const char *heading)
{
    char *text = NULL;
    size_t bytes;
    const char *line = find_page(code);
    line = heading ? find_part(line, heading) : next_line(line);
    line += strspn(line, "\n");
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    for (bool first = true; *line && *line != '\n' && *line != '#' && strncmp(line, "```", 3) != 0; first = false) {
        fputs(first ? "" : " ", out);
        print_marks_off(line, (int)strcspn(line, "\n"), out);
        line = next_line(line);
    }
    fclose(out);
    return text;
}
