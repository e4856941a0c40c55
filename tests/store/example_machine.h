/* example_machine.h - the example's hang without probes. */
#ifndef TESTS_STORE_EXAMPLE_MACHINE_H
#define TESTS_STORE_EXAMPLE_MACHINE_H

#include "store/example.h"

/* The same hang as the machine's own state shows it: no history; sites, parts, accesses, looks; names inferred.  Warp 4
 * of each CTA has lane 0 elsewhere than the others. */
void example_machine(struct example *example, uint32_t ctas);

#endif
