/* module.c - see module.h.  Reads the module's bytes; writes memory of the module. */
#include "lint/module.h"

const struct wsdbg_ptx_program *wsdbg_lint_module_ptx(struct wsdbg_lint_module *module)
{
    if (module->ptx_was_parsed || !module->ptx_text.byte_count)
        return module->ptx;
    module->ptx_was_parsed = true;
    module->ptx_error =
        wsdbg_ptx_parse_to_read((const char *)module->ptx_text.bytes, module->ptx_text.byte_count, "PTX", &module->ptx);
    return module->ptx;
}

const struct wsdbg_lines *wsdbg_lint_module_lines(struct wsdbg_lint_module *module)
{
    if (!module->lines_were_opened && module->code.byte_count)
        wsdbg_error_destroy(wsdbg_lines_open(&module->code, &module->lines)); /* places are then not known */
    module->lines_were_opened = true;
    return module->lines;
}

void wsdbg_lint_module_close(struct wsdbg_lint_module *module)
{
    wsdbg_ptx_program_destroy(module->ptx);
    wsdbg_lines_close(module->lines);
    wsdbg_cubin_close(module->cubin);
    wsdbg_error_destroy(module->ptx_error);
}
