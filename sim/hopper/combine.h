/* combine.h - what atom, red and cp.reduce make of memory: (itself, what comes) combined.
 *
 * Private to hopper/.
 */
#ifndef WSDBG_HOPPER_COMBINE_H
#define WSDBG_HOPPER_COMBINE_H

#include <stdbool.h>

#include "ptx/program.h"

/* PTX's operation and type; NO_VARIANT: what comes replaces what is there. */
struct hopper_combination {
    enum wsdbg_ptx_variant operation;
    enum wsdbg_ptx_type type;
    bool is_global; /* done where global memory is: NaN of f64 stays as it is */
    bool is_atomic; /* atom or red; in global memory its sums of f32 have no subnormal numbers */
};

/* The low bits, as wide as the type, of what becomes of `old`. */
uint64_t hopper_combined(struct hopper_combination combination, uint64_t old, uint64_t by);
/* Whether cp.reduce knows it. */
bool hopper_can_combine(struct hopper_combination combination);
/* byte_count / size of the type elements; what does not fill an element stays. */
void hopper_combine(struct hopper_combination combination, void *to, const void *from, uint32_t byte_count);
/* Of a CUtensorMapDataType; NO_TYPE when there is none. */
enum wsdbg_ptx_type hopper_tensor_type(uint32_t data_type);

#endif
