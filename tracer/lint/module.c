/* module.c - see module.h.  Reads the module's bytes; writes memory of the module. */
#include "lint/module.h"

#include <stdlib.h>

#define PTX_MOST ((size_t)1 << 28) /* bytes of PTX in a cubin */
enum { ELF_TYPE_BYTE = 16, ELF_TYPE_EXECUTABLE = 2 };

bool wsdbg_lint_module_is_relocatable(const struct wsdbg_lint_module *module)
{
    const struct wsdbg_image *code = &module->code;
    return code->byte_count <= ELF_TYPE_BYTE || code->bytes[ELF_TYPE_BYTE] != ELF_TYPE_EXECUTABLE;
}

static struct wsdbg_error *parse(const char *text, size_t byte_count, struct wsdbg_ptx_program **out)
{
    return wsdbg_ptx_parse_to_read(text, byte_count, "PTX", out);
}

/* The PTX beside the cubin, else what the cubin keeps of it. */
const struct wsdbg_ptx_program *wsdbg_lint_module_ptx(struct wsdbg_lint_module *module)
{
    char *text = NULL;
    size_t byte_count;
    if (module->ptx_was_parsed)
        return module->ptx;
    module->ptx_was_parsed = true;
    if (module->ptx_text.byte_count)
        module->ptx_error = parse((const char *)module->ptx_text.bytes, module->ptx_text.byte_count, &module->ptx);
    else if (module->cubin)
        wsdbg_error_destroy(wsdbg_cubin_ptx(module->cubin, PTX_MOST, &text, &byte_count)); /* most cubins have none */
    if (text) {
        module->ptx_is_of_cubin = true;
        module->ptx_error = parse(text, byte_count, &module->ptx);
    }
    free(text);
    return module->ptx;
}

const struct wsdbg_lines *wsdbg_lint_module_lines(struct wsdbg_lint_module *module)
{
    if (!module->lines_were_opened && module->code.byte_count)
        wsdbg_error_destroy(wsdbg_lines_open(&module->code, &module->lines)); /* places are then not known */
    module->lines_were_opened = true;
    return module->lines;
}

const struct wsdbg_lines *wsdbg_lint_module_ptx_lines(struct wsdbg_lint_module *module)
{
    if (!module->ptx_lines_were_opened && wsdbg_lint_module_ptx(module) && module->ptx_is_of_cubin)
        wsdbg_error_destroy(wsdbg_lines_open_ptx(&module->code, &module->ptx_lines)); /* places are then lines of PTX */
    module->ptx_lines_were_opened = true;
    return module->ptx_lines;
}

void wsdbg_lint_module_close(struct wsdbg_lint_module *module)
{
    wsdbg_ptx_program_destroy(module->ptx);
    wsdbg_lines_close(module->lines);
    wsdbg_lines_close(module->ptx_lines);
    wsdbg_cubin_close(module->cubin);
    wsdbg_error_destroy(module->ptx_error);
}
