/* json_rows.h - values and rows of the report as JSON, for all that prints JSON.  Unknown is null.
 */
#ifndef WSDBG_STORE_JSON_ROWS_H
#define WSDBG_STORE_JSON_ROWS_H

#include <jansson.h>

#include "store/report.h"

/* "" and NULL are null; bytes that are not UTF-8 become U+FFFD. */
json_t *wsdbg_json_text(const char *text);
json_t *wsdbg_json_number(uint64_t value);
json_t *wsdbg_json_number_or_null(bool known, uint64_t value);
json_t *wsdbg_json_u32(struct wsdbg_optional_u32 value);
json_t *wsdbg_json_u64(struct wsdbg_optional_u64 value);
/* A folded group keeps its smallest and largest value; in an exact group they agree. */
json_t *wsdbg_json_range(struct wsdbg_range range);
json_t *wsdbg_json_seconds(struct wsdbg_range range_ns);
json_t *wsdbg_json_index(uint32_t index, size_t count);
/* Hexadecimal: 64 bits do not fit what many JSON readers make of a number. */
json_t *wsdbg_json_word(struct wsdbg_optional_u64 word, int digits);
json_t *wsdbg_json_address(struct wsdbg_range range);
json_t *wsdbg_json_triple(const uint32_t *values);
json_t *wsdbg_json_members(const struct wsdbg_members *set);
/* The kernel's name without its mangling. */
json_t *wsdbg_json_kernel(const char *symbol);

/* Rows of docs/report.schema.json; `r` has the sites and parts that a group's numbers mean. */
json_t *wsdbg_json_warps(const struct wsdbg_report *r, const struct wsdbg_report_warps *w);
json_t *wsdbg_json_barriers(const struct wsdbg_report_barriers *b);
/* The processes whose host threads were read. */
json_t *wsdbg_json_host(const struct wsdbg_report *r);
json_t *wsdbg_json_frame(const struct wsdbg_host_frame *frame);
json_t *wsdbg_json_launch_sites(const struct wsdbg_report *r);
json_t *wsdbg_json_finding(const struct wsdbg_report_finding *f);

/* Prints the object and a newline, and lets go of it; NULL = out of memory. */
struct wsdbg_error *wsdbg_json_print(json_t *root, FILE *out);

#endif
