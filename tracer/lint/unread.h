/* unread.h - counts the images of a file that are for other GPUs, for one line of the output. */
#ifndef WSDBG_LINT_UNREAD_H
#define WSDBG_LINT_UNREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WSDBG_LINT_UNREAD_MOST = 64 };

struct wsdbg_lint_unread {
    struct {
        unsigned kind; /* enum wsdbg_fatbin_kind, or another number */
        uint32_t architecture;
        bool is_specific;
        size_t count;
    } rows[WSDBG_LINT_UNREAD_MOST];
    size_t row_count, others;
};

void wsdbg_lint_unread_count(struct wsdbg_lint_unread *unread, unsigned kind, uint32_t architecture, bool is_specific);
/* "not read: sm_80 (3 images), PTX for sm_100a (1)"; false where there is nothing to say. */
bool wsdbg_lint_unread_text(const struct wsdbg_lint_unread *unread, char *out, size_t byte_count);

#endif
