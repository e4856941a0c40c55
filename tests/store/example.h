/* example.h - a session built by hand for the tests: a hung producer/consumer kernel, and small variations.
 * Every value is fixed, so reports made from it are the same bytes every time. */
#ifndef TESTS_STORE_EXAMPLE_H
#define TESTS_STORE_EXAMPLE_H

#include "store/load.h"
#include "store/report.h"

struct example {
    struct wsdbg_session_info info;
    struct wsdbg_session_end end;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
};

/* `ctas` CTAs of 12 warps: warps 0-3 producer, waiting on empty[0]; warps 4-11 consumer, waiting on full[0];
 * two stages; `depth` history events a warp.  Diagnosed as PARITY_WRONG with one cycle edge a warp. */
void example_hang(struct example *example, uint32_t ctas, uint32_t depth);
/* The same kernel with everything that may be unknown unknown, and no diagnosis. */
void example_unknown(struct example *example);
/* Launches seen, nothing probed, ended well. */
void example_quiet(struct example *example, uint32_t launches);
void example_free(struct example *example);

/* A fresh folder that example_clean() removes with all in it. */
char *example_folder(void);
/* folder/name, in a buffer that the next call but three overwrites. */
const char *example_path(const char *folder, const char *name);
void example_clean(char *folder);

/* Creates, writes and closes a session database; fails the test on any error. */
void example_store(const struct example *example, const char *path);
/* Fails the test with the error's message if there is one. */
void example_ok(struct wsdbg_error *error);
/* Fails unless there is an error whose message holds `text`; destroys it. */
void example_refused(struct wsdbg_error *error, const char *text);
/* What a renderer or a query writes, as a string owned by the caller. */
char *example_report(const struct example *example, bool json);
char *example_stored_report(const char *path, bool json);
char *example_query(struct wsdbg_store *store, const char *sql, enum wsdbg_query_format format);

#endif
