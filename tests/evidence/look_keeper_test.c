/* look_keeper_test.c - a look that is kept has all parameters of its kernels, also those that it did not ask for.
 *
 * A dump of the GEMM stands for the GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "evidence/look_keeper.h"

enum { PARAMETERS = 0x210, WORD_BYTES = 4 };

static void check(struct wsdbg_error *error)
{
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
}

static uint32_t parameter_bytes(struct wsdbg_machine *machine)
{
    uint32_t count = 0, word;
    for (bool known = true; known; count += known ? WORD_BYTES : 0)
        check(machine->ops->constant(machine, 0, 0, PARAMETERS + count, &word, sizeof word, &known));
    return count;
}

static struct wsdbg_machine *keep(struct wsdbg_machine *machine, const char *folder)
{
    struct wsdbg_look_keeper *keeper;
    struct wsdbg_machine *kept;
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    check(wsdbg_look_keeper_create(folder, 7, &keeper));
    check(wsdbg_code_create(&code));
    check(wsdbg_code_prepare(code, machine));
    check(wsdbg_look_keeper_take(keeper, machine, code, (struct wsdbg_look_budget){0}, &look));
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    wsdbg_look_keeper_write(keeper, machine);
    assert_null(wsdbg_look_keeper_trouble(keeper));
    char *path = wsdbg_look_keeper_next(keeper);
    assert_non_null(path);
    check(wsdbg_machine_open_core(path, &kept));
    unlink(path);
    free(path);
    wsdbg_look_keeper_destroy(keeper);
    return kept;
}

static void a_kept_look_has_all_parameters(void **state)
{
    char folder[] = "/tmp/wsdbg-kept-XXXXXX";
    struct wsdbg_machine *dump;
    (void)state;
    assert_non_null(mkdtemp(folder));
    check(wsdbg_machine_open_core(WSDBG_DUMPS "/gemm-arrive-missing.core.gz", &dump));
    const uint32_t there = parameter_bytes(dump);
    struct wsdbg_machine *kept = keep(dump, folder);
    assert_true(there > 2 * 128); /* two tensor maps, and more */
    assert_true(parameter_bytes(kept) >= there);
    for (uint32_t at = 0; at < there; at += WORD_BYTES) {
        uint32_t word, copy;
        bool known;
        check(dump->ops->constant(dump, 0, 0, PARAMETERS + at, &word, sizeof word, &known));
        check(kept->ops->constant(kept, 0, 0, PARAMETERS + at, &copy, sizeof copy, &known));
        assert_int_equal(copy, word);
    }
    kept->ops->close(kept);
    dump->ops->close(dump);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_look_has_all_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
