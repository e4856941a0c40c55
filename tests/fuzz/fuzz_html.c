/* fuzz_html.c - damaged session databases, to the HTML page that is made of them. */
#include "fuzz/damaged_session.h"
#include "fuzz/fuzz_targets.h"

#include "store/export.h"

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    struct wsdbg_store *store = damaged_session_open(bytes, count);
    if (!store)
        return 0;
    FILE *out = damaged_session_output();
    wsdbg_error_destroy(wsdbg_report_html(store, out));
    fclose(out);
    wsdbg_store_close(store);
    return 0;
}
