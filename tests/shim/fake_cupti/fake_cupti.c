/* fake_cupti.c - a libcupti for the tests of the CUPTI observer's start.
 *
 * FAKE_CUPTI_HOLDER=name   another subscriber of that name holds the process
 * FAKE_CUPTI_VERSION=n     the version it reports (default: the one wsdbg was built for)
 * Otherwise a subscription succeeds; it reports no launches and one kernel of 1000 ns in its first buffer.
 */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static int taken;

EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
    const char *said = getenv("FAKE_CUPTI_VERSION");
    *version = said ? (uint32_t)atoi(said) : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *user,
                                     CUpti_SubscriberParams *parameters)
{
    const char *holder = getenv("FAKE_CUPTI_HOLDER");
    (void)callback;
    (void)user;
    if (!holder) {
        *subscriber = (CUpti_SubscriberHandle)&taken;
        return CUPTI_SUCCESS;
    }
    snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize, "%s", holder);
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *user)
{
    return cuptiSubscribe_v2(subscriber, callback, user, NULL);
}

EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    (void)subscriber;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                       CUpti_CallbackId id)
{
    (void)enable;
    (void)subscriber;
    (void)domain;
    (void)id;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc ask,
                                                  CUpti_BuffersCallbackCompleteFunc give)
{
    request = ask;
    complete = give;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    /* This kind serialises kernels: an observer must not ask for it. */
    return kind == CUPTI_ACTIVITY_KIND_KERNEL ? CUPTI_ERROR_INVALID_KIND : CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds)
{
    (void)milliseconds;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flags)
{
    uint8_t *buffer = NULL;
    size_t bytes = 0, limit = 0;
    (void)flags;
    request(&buffer, &bytes, &limit);
    CUpti_ActivityKernel10 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .start = 5000, .end = 6000};
    kernel.name = "probed";
    kernel.correlationId = 77;
    memcpy(buffer, &kernel, sizeof kernel);
    complete(NULL, 0, buffer, bytes, sizeof kernel);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, CUpti_Activity **record)
{
    (void)valid_bytes;
    if (*record)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)buffer;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    (void)result;
    *text = "a fake error";
    return CUPTI_SUCCESS;
}
