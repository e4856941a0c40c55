/* tables_check.c - what tables.def must say of a snapshot, checked by the compiler; no code.
 *
 * A row's members must take the bytes that tables.def has: whoever adds one comes by the list of references there.  For
 * this the structs are laid out without padding, in this file alone; those of other headers keep theirs.
 */
#include <stddef.h>

#include "base/error.h"
#include "base/optional.h"
#include "sass/access_kind.h"
#include "wsdbg/session.h"

#pragma pack(push, 1)
#include "model/snapshot.h"
#pragma pack(pop)

#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references)                                                \
    _Static_assert(sizeof(row_type) == (bytes), "a row of " #rows " has another size: say in tables.def which of " \
                                                "its members are rows of other tables, and the new size");
#include "model/tables.def"

/* Members that are neither tables, nor `before` and `record`, which rows.c copies and frees. */
enum { OTHER_BYTES = 12 * 8 + 256 + 1 };
struct tables_alone {
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    row_type *rows;                                                 \
    size_t count;
#include "model/tables.def"
};
_Static_assert(sizeof(struct wsdbg_snapshot) == sizeof(struct tables_alone) + OTHER_BYTES,
               "struct wsdbg_snapshot has another size: a table is said in tables.def; what else it owns is copied and "
               "freed in rows.c");
