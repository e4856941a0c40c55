/* parsed.c - see parsed.h. */
#include "ptx/parsed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char head[] = ".version 8.5\n.target sm_90a\n.address_size 64\n";
static const char before_body[] = ".global .align 8 .b8 glob[64];\n"
                                  ".const .align 4 .b8 cons[16];\n"
                                  ".shared .align 16 .b8 stat[256];\n"
                                  ".visible .entry k(\n"
                                  ".param .u64 p0,\n"
                                  ".param .align 64 .b8 map[128]\n"
                                  ")\n"
                                  "{\n"
                                  ".local .align 8 .b8 loc[16];\n"
                                  ".reg .pred %p<300>;\n"
                                  ".reg .b16 %h<300>;\n"
                                  ".reg .b32 %r<300>;\n"
                                  ".reg .b64 %d<300>;\n"
                                  ".reg .f32 %f<300>;\n"
                                  ".reg .f64 %e<300>;\n"
                                  "\n";

static char *join(const char *first, const char *second, const char *third, const char *fourth)
{
    char *text;
    assert_true(asprintf(&text, "%s%s%s%s", first, second, third, fourth) >= 0);
    return text;
}

static struct wsdbg_ptx_program *parse(char *text)
{
    struct wsdbg_ptx_program *program = NULL;
    struct wsdbg_error *error = wsdbg_ptx_parse(text, strlen(text), "a.ptx", &program);
    if (error)
        fail_msg("%s\nof:\n%s", wsdbg_error_message(error), text);
    free(text);
    return program;
}

static char *refuse(char *text)
{
    struct wsdbg_ptx_program *program = NULL;
    struct wsdbg_error *error = wsdbg_ptx_parse(text, strlen(text), "a.ptx", &program);
    char *message = strdup(error ? wsdbg_error_message(error) : "");
    wsdbg_error_destroy(error);
    wsdbg_ptx_program_destroy(program);
    free(text);
    return message;
}

struct wsdbg_ptx_program *parse_module(const char *module)
{
    return parse(join(head, module, "", ""));
}

struct wsdbg_ptx_program *parse_body(const char *body)
{
    return parse(join(head, before_body, body, "\n}\n"));
}

char *refuse_module(const char *module)
{
    return refuse(join(head, module, "", ""));
}

char *refuse_body(const char *body)
{
    return refuse(join(head, before_body, body, "\n}\n"));
}

static void assert_said(char *said, const char *message)
{
    assert_string_equal(said, message);
    free(said);
}

void assert_module_refused(const char *module, const char *message)
{
    assert_said(refuse_module(module), message);
}

void assert_body_refused(const char *body, const char *message)
{
    assert_said(refuse_body(body), message);
}
