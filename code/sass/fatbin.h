/* fatbin.h - the container in which nvcc ships one kernel file for several architectures: a header, then entries, each
 * PTX or a cubin, plain or compressed.
 *
 * Reads bytes of unknown origin: no length or offset in them is believed before it was compared with what is there.
 */
#ifndef WSDBG_SASS_FATBIN_H
#define WSDBG_SASS_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bytes that somebody else owns. */
struct wsdbg_image {
    const unsigned char *bytes;
    size_t byte_count;
};

enum wsdbg_fatbin_kind { WSDBG_FATBIN_PTX = 1, WSDBG_FATBIN_CUBIN = 2 }; /* others exist */
enum wsdbg_fatbin_packing { WSDBG_FATBIN_PLAIN, WSDBG_FATBIN_ZSTD, WSDBG_FATBIN_LZ4, WSDBG_FATBIN_OLD };

struct wsdbg_fatbin_entry {
    unsigned kind; /* enum wsdbg_fatbin_kind */
    enum wsdbg_fatbin_packing packing;
    uint32_t architecture;     /* 90 = sm_90 */
    bool architecture_only;    /* the "a" of sm_90a */
    struct wsdbg_image stored; /* within the fatbin; padding may follow what is plain */
    uint64_t plain_bytes;      /* as the entry says */
};

/* Whether the bytes begin like a fatbin, with or without the wrapper that points to it in a program. */
bool wsdbg_fatbin_is(const struct wsdbg_image *image);
/* The entry at *offset, which then is that of the next one; begin with 0.  *found is false after the last one. */
struct wsdbg_error *wsdbg_fatbin_next(const struct wsdbg_image *fatbin, size_t *offset, struct wsdbg_fatbin_entry *out,
                                      bool *found);
/* A fatbin that is not in memory. */
struct wsdbg_fatbin_source {
    void *context;
    uint64_t byte_count;
    /* Copies bytes that lie within byte_count. */
    struct wsdbg_error *(*read)(void *context, uint64_t offset, void *out, size_t byte_count);
};
/* The same of such a one: its headers alone are read.  out->stored.bytes is NULL; they begin at *stored_at. */
struct wsdbg_error *wsdbg_fatbin_next_of(const struct wsdbg_fatbin_source *source, uint64_t *offset,
                                         struct wsdbg_fatbin_entry *out, uint64_t *stored_at, bool *found);
/* The entry of this kind for sm_90 that the driver would prefer: of those from architecture `oldest` up to 90 the
 * newest, and of one age the one made for this architecture alone.  PTX runs on any newer device (oldest 0), a cubin
 * only on its own (oldest 90).  *found is false where there is none, and *out is then untouched. */
struct wsdbg_error *wsdbg_fatbin_pick(const struct wsdbg_image *fatbin, enum wsdbg_fatbin_kind kind, uint32_t oldest,
                                      struct wsdbg_fatbin_entry *out, bool *found);
/* What an entry holds, unpacked, and a zero byte behind it.  More than `most` bytes are refused before memory is taken
 * for them.  The caller frees *out. */
struct wsdbg_error *wsdbg_fatbin_unpack(const struct wsdbg_fatbin_entry *entry, size_t most, char **out,
                                        size_t *byte_count);

#endif
