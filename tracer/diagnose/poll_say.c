/* poll_say.c - see poll_say.h.  Reads: polls, the process's memory.  Writes: phrases, evidence rows. */
#include "diagnose/poll_say.h"

struct wsdbg_phrase wsdbg_say_at_poll(const struct wsdbg_case *c, uint32_t warp)
{
    return c->of_machine ? wsdbg_say_at_site(c, wsdbg_poll_of(c, warp).site) : wsdbg_say_at(c, warp);
}

struct wsdbg_phrase wsdbg_say_polled(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_poll poll = wsdbg_poll_of(c, warp);
    struct wsdbg_phrase phrase = {0};
    if (!c->of_machine) {
        wsdbg_print(phrase.text, sizeof phrase.text, "word %u of global memory",
                    wsdbg_case_warp(c, warp)->last.barrier);
        return phrase;
    }
    wsdbg_print(phrase.text, sizeof phrase.text, "a word in %smemory", poll.shared ? "shared " : "");
    if (!poll.address.known)
        return phrase;
    char width[32] = "memory", value[48] = "";
    const char *space = poll.shared ? " of shared memory" : "";
    if (poll.width_bytes.known)
        wsdbg_print(width, sizeof width, "%u bytes", poll.width_bytes.value);
    if (poll.value.known)
        wsdbg_print(value, sizeof value, " (value 0x%llx)", (unsigned long long)poll.value.value);
    if (poll.memory)
        wsdbg_print(phrase.text, sizeof phrase.text, "%s%s %s", width, value,
                    wsdbg_say_memory(poll.memory, poll.address.value).text);
    else
        wsdbg_print(phrase.text, sizeof phrase.text, "%s%s at 0x%llx%s", width, space,
                    (unsigned long long)poll.address.value, value);
    return phrase;
}

void wsdbg_tell_polled_memory(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp)
{
    const struct wsdbg_poll poll = wsdbg_poll_of(c, warp);
    if (!poll.memory)
        return;
    const struct wsdbg_allocation_row *row = &poll.memory->row;
    char device[32] = "", bytes[32] = "memory";
    if (row->device != WSDBG_UNKNOWN32)
        wsdbg_print(device, sizeof device, " of device %u", row->device);
    if (row->bytes)
        wsdbg_print(bytes, sizeof bytes, "%llu bytes", (unsigned long long)row->bytes);
    wsdbg_evidence_text(c, finding, "the word is at 0x%llx; %.31s #%u of process %u provided %s%s at 0x%llx",
                        (unsigned long long)poll.address.value, row->call, row->call_number, poll.memory->process_id,
                        bytes, device, (unsigned long long)row->address);
}

void wsdbg_tell_host(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_host_thread *thread)
{
    if (thread)
        wsdbg_evidence_text(c, finding, "process %u thread %u is in %s", thread->process_id, thread->thread_id,
                            thread->call);
}
