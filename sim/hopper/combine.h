/* combine.h - reductions of cp.reduce.async.bulk: each element of memory becomes (itself, what comes) combined.
 *
 * Private to hopper/.
 */
#ifndef WSDBG_HOPPER_COMBINE_H
#define WSDBG_HOPPER_COMBINE_H

#include "ptx/program.h"

/* PTX's operation and type; NO_VARIANT: what comes replaces what is there. */
struct hopper_combination {
    enum wsdbg_ptx_variant operation;
    enum wsdbg_ptx_type type;
};

bool hopper_can_combine(struct hopper_combination combination);
/* byte_count / size of the type elements; what does not fill an element stays. */
void hopper_combine(struct hopper_combination combination, void *to, const void *from, uint32_t byte_count);
/* Of a CUtensorMapDataType; NO_TYPE when there is none. */
enum wsdbg_ptx_type hopper_tensor_type(uint32_t data_type);

#endif
