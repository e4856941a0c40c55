/* gpu_wishes.h - lets another wsdbg know that this one waits for a GPU, so that an inspector leaves a program that is
 * idle. */
#ifndef WSDBG_EVIDENCE_GPU_WISHES_H
#define WSDBG_EVIDENCE_GPU_WISHES_H

#include <stdbool.h>
#include <stdint.h>

enum { WSDBG_GPU_WISHES = 16 }; /* GPUs that are known by number, as in wsdbg_attach_row.held_gpus */

/* All zero to begin with. */
struct wsdbg_gpu_wishes {
    int files[WSDBG_GPU_WISHES]; /* descriptor + 1 of /dev/nvidia<n>, 0 = not opened */
    uint64_t made_ns[WSDBG_GPU_WISHES];
};

/* Wishes for /dev/nvidia<minor>, or renews the wish. */
void wsdbg_gpu_wish(struct wsdbg_gpu_wishes *wishes, unsigned minor, uint64_t now_ns);
/* Takes all wishes back. */
void wsdbg_gpu_wishes_drop(struct wsdbg_gpu_wishes *wishes);
/* Takes those back that were not renewed for 15 s. */
void wsdbg_gpu_wishes_drop_old(struct wsdbg_gpu_wishes *wishes, uint64_t now_ns);
/* Whether somebody else wishes for one of the GPUs, bit n = /dev/nvidia<n>. */
bool wsdbg_gpu_is_wished(struct wsdbg_gpu_wishes *wishes, uint16_t gpus);
void wsdbg_gpu_wishes_deinit(struct wsdbg_gpu_wishes *wishes);

#endif
