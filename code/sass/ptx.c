/* ptx.c - see ptx.h.  Reads an image; writes a copy of its PTX. */
#include "sass/ptx.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_BYTES 16 /* of an image, to tell text from the rest */

static struct wsdbg_error *from_fatbin(const struct wsdbg_image *fatbin, size_t most, char **out)
{
    struct wsdbg_fatbin_entry entry;
    size_t count;
    bool found;
    struct wsdbg_error *error = wsdbg_fatbin_pick(fatbin, WSDBG_FATBIN_PTX, 0, &entry, &found);
    if (error)
        return error;
    if (!found)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the module holds no PTX for sm_90 or older");
    return wsdbg_error_prefix(wsdbg_fatbin_unpack(&entry, most, out, &count), "the PTX of the module");
}

static bool is_text(const struct wsdbg_image *image)
{
    for (size_t i = 0; i < LOOK_BYTES && i < image->byte_count && image->bytes[i]; i++)
        if (!isprint(image->bytes[i]) && !isspace(image->bytes[i]))
            return false;
    return image->byte_count > 0 && image->bytes[0] != '\0';
}

static struct wsdbg_error *from_text(const struct wsdbg_image *image, size_t most, char **out)
{
    const size_t count = strnlen((const char *)image->bytes, image->byte_count);
    if (count > most)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the PTX of the module: %zu bytes, at most %zu are read",
                                  count, most);
    *out = strndup((const char *)image->bytes, count);
    return *out ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_ptx_of_image(const struct wsdbg_image *image, size_t most, char **out)
{
    if (wsdbg_fatbin_is(image))
        return from_fatbin(image, most, out);
    if (image->byte_count >= SELFMAG && memcmp(image->bytes, ELFMAG, SELFMAG) == 0)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the module is a cubin, which holds no PTX");
    if (is_text(image))
        return from_text(image, most, out);
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the module is neither PTX nor a fatbin nor a cubin");
}
