/* launch_test.c - LAUNCH_TOO_MANY_REGS: registers and threads of a kernel, and what is said of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lint/rules.h"

static void registers_and_threads(void **state)
{
    static const struct {
        struct wsdbg_lint_launch launch;
        unsigned interests;
        enum wsdbg_lint_severity severity; /* 0 = nothing is said */
        const char *message;
    } cases[] = {
        {{.registers = 168, .threads_most = 384}, WSDBG_INTEREST_WGMMA, 0, NULL},
        {{.registers = 168, .threads_required = 384}, WSDBG_INTEREST_WGMMA, 0, NULL},
        {{.registers = 170, .threads_required = 384},
         WSDBG_INTEREST_MBARRIERS,
         WSDBG_LINT_ERROR,
         "the kernel cannot be launched: 170 registers a thread, given out as 176, x 384 threads = 67584 > 65536"},
        {{.registers = 170, .threads_most = 384},
         WSDBG_INTEREST_WGMMA,
         WSDBG_LINT_WARNING,
         "a CTA as large as .maxntid allows cannot be launched: 170 registers a thread, given out as 176, x 384 "
         "threads = "
         "67584 > 65536"},
        {{.registers = 170},
         WSDBG_INTEREST_WGMMA,
         WSDBG_LINT_NOTE,
         "no launch bounds: with 170 registers a thread the largest CTA that launches has 256 threads"},
        {{.registers = 170},
         WSDBG_INTEREST_MBARRIERS,
         0,
         NULL}, /* no roles: nobody plans its threads by the warpgroup */
        {{.registers = 64}, WSDBG_INTEREST_WGMMA, 0, NULL},
        {{.threads_required = 1024}, WSDBG_INTEREST_WGMMA, 0, NULL}, /* PTX alone does not say its registers */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wsdbg_lint_kernel kernel = {.launch = cases[i].launch, .code_interests = cases[i].interests};
        struct wsdbg_lint_findings findings = {0};
        assert_null(wsdbg_lint_rule_launch(&kernel, &findings));
        assert_int_equal(findings.count, cases[i].severity != 0);
        if (findings.count) {
            assert_int_equal(findings.rows[0]->severity, cases[i].severity);
            assert_string_equal(findings.rows[0]->message, cases[i].message);
            assert_string_equal(wsdbg_lint_code_name(findings.rows[0]->code), "LAUNCH_TOO_MANY_REGS");
        }
        wsdbg_lint_findings_deinit(&findings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(registers_and_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
