/* unread.c - see unread.h.  Reads and writes what it is given. */
#include "lint/unread.h"

#include <stdio.h>

#include "sass/fatbin.h"

void wsdbg_lint_unread_count(struct wsdbg_lint_unread *unread, unsigned kind, uint32_t architecture, bool is_specific)
{
    for (size_t i = 0; i < unread->row_count; i++)
        if (unread->rows[i].kind == kind && unread->rows[i].architecture == architecture &&
            unread->rows[i].is_specific == is_specific) {
            unread->rows[i].count++;
            return;
        }
    if (unread->row_count == WSDBG_LINT_UNREAD_MOST) {
        unread->others++;
        return;
    }
    unread->rows[unread->row_count].kind = kind;
    unread->rows[unread->row_count].architecture = architecture;
    unread->rows[unread->row_count].is_specific = is_specific;
    unread->rows[unread->row_count++].count = 1;
}

static const char *kind_name(unsigned kind)
{
    return kind == WSDBG_FATBIN_CUBIN ? "" : kind == WSDBG_FATBIN_PTX ? "PTX for " : "another form of code for ";
}

bool wsdbg_lint_unread_text(const struct wsdbg_lint_unread *unread, char *out, size_t byte_count)
{
    size_t used = 0;
    for (size_t i = 0; i < unread->row_count && used < byte_count; i++)
        used += (size_t)snprintf(out + used, byte_count - used, "%s%ssm_%u%s (%zu image%s)",
                                 i ? ", " : "not read: ", kind_name(unread->rows[i].kind), unread->rows[i].architecture,
                                 unread->rows[i].is_specific ? "a" : "", unread->rows[i].count,
                                 unread->rows[i].count == 1 ? "" : "s");
    if (unread->others && used < byte_count)
        snprintf(out + used, byte_count - used, ", others (%zu images)", unread->others);
    return unread->row_count > 0;
}
