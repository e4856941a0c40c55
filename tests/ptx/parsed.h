/* parsed.h - PTX texts of the tests: a text is given, a program or an error's message is asked for. */
#ifndef WSDBG_TESTS_PTX_PARSED_H
#define WSDBG_TESTS_PTX_PARSED_H

#include "ptx/parse.h"

/* The program of a module whose directives behind .address_size are `module`; fails the test when there is none. */
struct wsdbg_ptx_program *parse_module(const char *module);
/* The same with `body` as kernel k, which has registers %p, %h (16 bits), %r, %d (64), %f (f32), %e (f64), 0 to 299 of
 * each, variables glob (global, 64 bytes), cons (const), stat (shared, 256 bytes), loc (local), parameters p0 (u64),
 * map. */
struct wsdbg_ptx_program *parse_body(const char *body);
/* The message of the error, "" = there was none; freed with free(). */
char *refuse_module(const char *module);
char *refuse_body(const char *body);
/* Fails the test when the error's message is another one. */
void assert_module_refused(const char *module, const char *message);
void assert_body_refused(const char *body, const char *message);
/* Lines of the text before a module's and before a body's first one. */
enum { MODULE_LINES = 3, BODY_LINES = 16 };

#endif
