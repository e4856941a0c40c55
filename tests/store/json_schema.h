/* json_schema.h - checks a JSON value against the part of JSON Schema that this repository's schemas use. */
#ifndef TESTS_STORE_JSON_SCHEMA_H
#define TESTS_STORE_JSON_SCHEMA_H

#include <jansson.h>

/* Loads WSDBG_DOCS_DIR/name; fails the test where that is no JSON. */
json_t *schema_load(const char *name);
/* Fails the test, naming the place, where `value` does not follow: $ref, type, enum, minimum, required, properties,
 * additionalProperties, items, allOf with if and then. */
void schema_check(json_t *schema, json_t *value, const char *where);

#endif
