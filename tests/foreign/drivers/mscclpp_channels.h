/* mscclpp_channels.h - channels of MSCCL++ between two ranks that are on one GPU. */
#ifndef WSDBG_TESTS_FOREIGN_MSCCLPP_CHANNELS_H
#define WSDBG_TESTS_FOREIGN_MSCCLPP_CHANNELS_H

#include <mscclpp/memory_channel_device.hpp>

#include "check.h"

enum { RANKS = 2 };

typedef mscclpp::BaseMemoryChannelDeviceHandle Channel;

/* Of rank 0 and of rank 1: `count` channels, on the device.  A channel has a word that the peer counts up, and one for
 * the count that is waited for. */
inline std::vector<Channel *> channels_of_ranks(int count)
{
    uint64_t *const words = on_device(std::vector<uint64_t>(2 * RANKS * count));
    std::vector<Channel *> ranks;
    for (int rank = 0; rank < RANKS; rank++) {
        std::vector<Channel> all(count);
        for (int i = 0; i < count; i++) {
            all[i].semaphore_.inboundToken = words + rank * count + i;
            all[i].semaphore_.remoteInboundToken = words + (1 - rank) * count + i;
            all[i].semaphore_.expectedInboundToken = words + (RANKS + rank) * count + i;
        }
        ranks.push_back(on_device(all));
    }
    return ranks;
}

#endif
