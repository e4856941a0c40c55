/* json_schema.c - see json_schema.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/json_schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct place {
    json_t *root;
    char problem[256]; /* "" = none */
};

json_t *schema_load(const char *name)
{
    char path[512];
    json_error_t problem;
    snprintf(path, sizeof path, "%s/%s", WSDBG_DOCS_DIR, name);
    json_t *schema = json_load_file(path, 0, &problem);
    if (!schema)
        fail_msg("%s:%d: %s", name, problem.line, problem.text);
    return schema;
}

static bool refuse(struct place *place, const char *where, const char *reason, const char *detail)
{
    snprintf(place->problem, sizeof place->problem, "%.100s %s %.80s", where, reason, detail);
    return false;
}

static bool type_fits(const char *type, json_t *value)
{
    return (!strcmp(type, "null") && json_is_null(value)) || (!strcmp(type, "string") && json_is_string(value)) ||
           (!strcmp(type, "integer") && json_is_integer(value)) || (!strcmp(type, "number") && json_is_number(value)) ||
           (!strcmp(type, "boolean") && json_is_boolean(value)) || (!strcmp(type, "object") && json_is_object(value)) ||
           (!strcmp(type, "array") && json_is_array(value));
}

static json_t *resolve(json_t *root, json_t *schema)
{
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    if (!reference)
        return schema;
    assert_memory_equal(reference, "#/$defs/", 8);
    json_t *found = json_object_get(json_object_get(root, "$defs"), reference + 8);
    assert_non_null(found);
    return found;
}

static bool scalar_fits(struct place *place, json_t *schema, json_t *value, const char *where)
{
    json_t *types = json_object_get(schema, "type"), *choices = json_object_get(schema, "enum"), *row;
    json_t *minimum = json_object_get(schema, "minimum");
    bool typed = json_is_string(types) && type_fits(json_string_value(types), value), chosen = false;
    size_t i;
    json_array_foreach(types, i, row) typed = typed || type_fits(json_string_value(row), value);
    json_array_foreach(choices, i, row) chosen = chosen || json_equal(row, value);
    if (types && !typed)
        return refuse(place, where, "has the wrong type", "");
    if (choices && !chosen)
        return refuse(place, where, "is none of the values allowed", "");
    if (minimum && json_is_number(value) && json_number_value(value) < json_number_value(minimum))
        return refuse(place, where, "is too small", "");
    return true;
}

static bool fits(struct place *place, json_t *schema, json_t *value, const char *where);

static bool object_fits(struct place *place, json_t *schema, json_t *value, const char *where)
{
    json_t *required = json_object_get(schema, "required"), *others = json_object_get(schema, "additionalProperties");
    json_t *row;
    const char *key;
    size_t i;
    json_array_foreach(required, i, row)
    {
        if (!json_object_get(value, json_string_value(row)))
            return refuse(place, where, "lacks", json_string_value(row));
    }
    json_object_foreach(value, key, row)
    {
        json_t *property = json_object_get(json_object_get(schema, "properties"), key);
        if (!property && json_is_false(others))
            return refuse(place, where, "has, unknown to the schema,", key);
        if (!property && json_is_object(others))
            property = others;
        if (property && !fits(place, property, row, key))
            return false;
    }
    return true;
}

/* Every condition that holds binds. */
static bool conditions_fit(struct place *place, json_t *schema, json_t *value, const char *where)
{
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(schema, "allOf"), i, row)
    {
        struct place ignored = {.root = place->root};
        if (fits(&ignored, json_object_get(row, "if"), value, where) &&
            !fits(place, json_object_get(row, "then"), value, where))
            return false;
    }
    return true;
}

static bool fits(struct place *place, json_t *schema, json_t *value, const char *where)
{
    json_t *row;
    size_t i;
    schema = resolve(place->root, schema);
    if (!scalar_fits(place, schema, value, where))
        return false;
    if (json_is_object(value) &&
        !(object_fits(place, schema, value, where) && conditions_fit(place, schema, value, where)))
        return false;
    json_t *items = json_object_get(schema, "items");
    json_array_foreach(value, i, row)
    {
        if (items && !fits(place, items, row, where))
            return false;
    }
    return true;
}

void schema_check(json_t *schema, json_t *value, const char *where)
{
    struct place place = {.root = schema};
    if (!fits(&place, schema, value, where))
        fail_msg("%s", place.problem);
}
