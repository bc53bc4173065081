// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the callback half of the CUPTI facade: subscription, the contents of callbacks, and every
 * way to leave.
 */
#include "test/unit/harness.h"
#include "test/unit/vgpu-cupti/fake.h"

#include <sched.h>

struct seen {
	uint32_t n_calls;
	uint32_t site[16];
	uint32_t domain[16];
	uint32_t cbid[16];
	uint32_t correlation_id[16];
	bool leave;
	void *subscriber;
};

static void see(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct ts_cupti_callback_data *call = data;
	struct seen *seen = userdata;

	ts_check(seen->n_calls < 16);
	seen->domain[seen->n_calls] = domain;
	seen->cbid[seen->n_calls] = cbid;
	if (domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API || domain == TS_CUPTI_CB_DOMAIN_DRIVER_API) {
		seen->site[seen->n_calls] = call->callback_site;
		seen->correlation_id[seen->n_calls] = call->correlation_id;
		ts_check(call->context == FAKE_CONTEXT);
		ts_check_int(call->context_uid, 1);
		if (call->callback_site == TS_CUPTI_API_ENTER)
			*call->correlation_data = 1000 + cbid;
		else
			ts_check_int(*call->correlation_data, 1000 + cbid);
	}
	seen->n_calls++;
	if (seen->leave && call->callback_site == TS_CUPTI_API_EXIT) {
		seen->leave = false;
		ts_check_int(cuptiUnsubscribe(seen->subscriber), TS_CUPTI_SUCCESS);
	}
}

TS_TEST(version)
{
	uint32_t version = 0;
	const char *string;

	ts_check_int(cuptiGetVersion(&version), TS_CUPTI_SUCCESS);
	ts_check_int(version, 130001);
	ts_check_int(cuptiGetVersion(NULL), TS_CUPTI_ERROR_INVALID_PARAMETER);
	ts_check_int(cuptiGetLastError(), TS_CUPTI_ERROR_INVALID_PARAMETER);
	ts_check_int(cuptiGetLastError(), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiGetResultString(39, &string), TS_CUPTI_SUCCESS);
	ts_check_str(string, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
	ts_check_int(cuptiGetResultString(47, &string), TS_CUPTI_ERROR_INVALID_PARAMETER);
}

TS_TEST(names)
{
	const char *name;

	ts_check_int(cuptiGetCallbackName(TS_CUPTI_CB_DOMAIN_RUNTIME_API, 211, &name), 0);
	ts_check_str(name, "cudaLaunchKernel_v7000");
	ts_check_int(cuptiGetCallbackName(TS_CUPTI_CB_DOMAIN_DRIVER_API, 307, &name), 0);
	ts_check_str(name, "cuLaunchKernel");
	ts_check_int(cuptiGetCallbackName(TS_CUPTI_CB_DOMAIN_RUNTIME_API, 9999, &name),
		     TS_CUPTI_ERROR_INVALID_PARAMETER);
	ts_check_int(cuptiGetCallbackName(TS_CUPTI_CB_DOMAIN_RESOURCE, 1, &name),
		     TS_CUPTI_ERROR_INVALID_PARAMETER);
}

TS_TEST(second_subscriber)
{
	char holder[TS_CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	struct ts_cupti_subscriber_params first = {.struct_size = sizeof(first),
						   .subscriber_name = "the first"};
	struct ts_cupti_subscriber_params second = {.struct_size = sizeof(second),
						    .old_subscriber_name = holder,
						    .old_subscriber_size = sizeof(holder)};
	struct seen seen = {0};
	void *one, *two;

	ts_check_int(cuptiSubscribe_v2(&one, see, &seen, &first), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiSubscribe(&two, see, &seen),
		     TS_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	ts_check_int(cuptiSubscribe_v2(&two, see, &seen, &second),
		     TS_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	ts_check_str(holder, "the first");
	ts_check_int(cuptiUnsubscribe(&seen), TS_CUPTI_ERROR_INVALID_PARAMETER);
	ts_check_int(cuptiUnsubscribe(one), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiSubscribe(&two, see, &seen), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiUnsubscribe(two), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiUnsubscribe(two), TS_CUPTI_ERROR_INVALID_PARAMETER);
}

TS_TEST(calls_nest)
{
	struct ts_vgpu_operation op;
	struct seen seen = {0};
	uint32_t id, enabled;
	void *subscriber;

	ts_check(!ts_vgpu_armed());
	ts_check_int(fake_launch(&op, 1), 0);
	ts_check_int(cuptiSubscribe(&subscriber, see, &seen), TS_CUPTI_SUCCESS);
	ts_check(ts_vgpu_armed());
	fake_launch(&op, 1);
	ts_check_int(seen.n_calls, 0); /* nothing is enabled yet */
	ts_check_int(cuptiEnableDomain(1, subscriber, TS_CUPTI_CB_DOMAIN_RUNTIME_API), 0);
	ts_check_int(cuptiEnableCallback(1, subscriber, TS_CUPTI_CB_DOMAIN_DRIVER_API, 307), 0);
	ts_check_int(cuptiGetCallbackState(&enabled, subscriber, TS_CUPTI_CB_DOMAIN_DRIVER_API,
					   307),
		     0);
	ts_check_int(enabled, 1);
	ts_check_int(cuptiGetCallbackState(&enabled, subscriber, TS_CUPTI_CB_DOMAIN_DRIVER_API,
					   306),
		     0);
	ts_check_int(enabled, 0);
	ts_check_int(cuptiEnableCallback(1, subscriber, TS_CUPTI_CB_DOMAIN_DRIVER_API, 807),
		     TS_CUPTI_ERROR_INVALID_PARAMETER);

	id = fake_launch(&op, 1);
	ts_check_int(seen.n_calls, 4);
	ts_check_int(seen.cbid[0], 211);
	ts_check_int(seen.cbid[1], 307);
	ts_check_int(seen.cbid[2], 307);
	ts_check_int(seen.cbid[3], 211);
	ts_check_int(seen.site[1], TS_CUPTI_API_ENTER);
	ts_check_int(seen.site[2], TS_CUPTI_API_EXIT);
	for (int i = 0; i < 4; i++)
		ts_check_int(seen.correlation_id[i], id);
	ts_check_int(op.correlation_id, id);
	ts_check_int(fake_launch(&op, 1), id + 1);
	ts_check_int(cuptiUnsubscribe(subscriber), TS_CUPTI_SUCCESS);
	ts_check(!ts_vgpu_armed());
	fake_launch(&op, 1);
	ts_check_int(seen.n_calls, 8);
}

TS_TEST(resources_and_waits)
{
	struct ts_vgpu_resource_event event = {.cbid = TS_CUPTI_CBID_RESOURCE_STREAM_CREATED};
	struct ts_vgpu_wait_event wait = {
		.type = TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE};
	struct seen seen = {0};
	void *subscriber;

	fake_stream(NULL, FAKE_STREAM, false, &event.stream);
	ts_vgpu_report_resource(&event);
	ts_check_int(cuptiSubscribe(&subscriber, see, &seen), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiEnableDomain(1, subscriber, TS_CUPTI_CB_DOMAIN_RESOURCE), 0);
	ts_check_int(cuptiEnableDomain(1, subscriber, TS_CUPTI_CB_DOMAIN_SYNCHRONIZE), 0);
	ts_vgpu_report_resource(&event);
	ts_vgpu_report_wait(&wait);
	wait.type = TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE; /* has no callback */
	ts_vgpu_report_wait(&wait);
	ts_check_int(seen.n_calls, 2);
	ts_check_int(seen.domain[0], TS_CUPTI_CB_DOMAIN_RESOURCE);
	ts_check_int(seen.cbid[1], TS_CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED);
	ts_check_int(cuptiUnsubscribe(subscriber), TS_CUPTI_SUCCESS);
}

TS_TEST(leave_from_inside)
{
	struct ts_vgpu_operation op;
	struct seen seen = {.leave = true};

	ts_check_int(cuptiSubscribe(&seen.subscriber, see, &seen), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiEnableAllDomains(1, seen.subscriber), TS_CUPTI_SUCCESS);
	fake_launch(&op, 1);
	/*
	 * The client left in the exit of the nested call, so the exit of the outer call is not
	 * reported.
	 */
	ts_check_int(seen.n_calls, 3);
	ts_check(!ts_vgpu_armed());
}

static void finalize_at_exit(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct ts_cupti_callback_data *call = data;

	if (call->callback_site == TS_CUPTI_API_EXIT)
		ts_check_int(cuptiFinalize(), TS_CUPTI_SUCCESS);
}

TS_TEST(finalize_from_inside_and_again)
{
	struct ts_vgpu_operation op;
	void *subscriber;

	for (int i = 1; i <= 3; i++) {
		ts_check_int(cuptiSubscribe(&subscriber, finalize_at_exit, NULL), TS_CUPTI_SUCCESS);
		ts_check_int(cuptiEnableCallback(1, subscriber, TS_CUPTI_CB_DOMAIN_RUNTIME_API,
						 211),
			     0);
		fake_launch(&op, 1);
		ts_check_int(fake_drains, i);
		ts_check(!ts_vgpu_armed());
	}
}

static _Atomic int inside, may_leave, calls_after;

static void linger(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	atomic_store(&inside, 1);
	while (!atomic_load(&may_leave))
		sched_yield();
	atomic_store(&inside, 0);
}

static void *launch_once(void *unused)
{
	struct ts_vgpu_operation op;

	fake_launch(&op, 1);
	return NULL;
}

static void *unsubscribe(void *subscriber)
{
	ts_check_int(cuptiUnsubscribe(subscriber), TS_CUPTI_SUCCESS);
	ts_check_int(atomic_load(&inside), 0); /* it returned only after the callback had */
	atomic_store(&calls_after, 1);
	return NULL;
}

TS_TEST(unsubscribing_waits)
{
	struct timespec a_while = {.tv_nsec = 20000000};
	pthread_t launcher, leaver;
	void *subscriber;

	ts_check_int(cuptiSubscribe(&subscriber, linger, NULL), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiEnableCallback(1, subscriber, TS_CUPTI_CB_DOMAIN_RUNTIME_API, 211), 0);
	ts_check_int(pthread_create(&launcher, NULL, launch_once, NULL), 0);
	while (!atomic_load(&inside))
		sched_yield();
	ts_check_int(pthread_create(&leaver, NULL, unsubscribe, subscriber), 0);
	nanosleep(&a_while, NULL);
	ts_check_int(atomic_load(&calls_after), 0);
	atomic_store(&may_leave, 1);
	pthread_join(leaver, NULL);
	pthread_join(launcher, NULL);
}

static void count(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	atomic_fetch_add((_Atomic uint32_t *)userdata, 1);
}

static _Atomic int stop;

static void *launch_on(void *unused)
{
	struct ts_vgpu_operation op;

	while (!atomic_load(&stop))
		fake_launch(&op, 1);
	return NULL;
}

TS_TEST(come_and_go_under_load)
{
	pthread_t threads[3];
	_Atomic uint32_t *n_calls;
	void *subscriber;

	for (int i = 0; i < 3; i++)
		ts_check_int(pthread_create(&threads[i], NULL, launch_on, NULL), 0);
	for (int i = 0; i < 200; i++) {
		/* Freed right after the unsubscription: ASan would catch a late callback. */
		n_calls = calloc(1, sizeof(*n_calls));
		ts_check_int(cuptiSubscribe(&subscriber, count, n_calls), TS_CUPTI_SUCCESS);
		ts_check_int(cuptiEnableAllDomains(1, subscriber), TS_CUPTI_SUCCESS);
		sched_yield();
		ts_check_int(cuptiUnsubscribe(subscriber), TS_CUPTI_SUCCESS);
		free((void *)n_calls);
	}
	atomic_store(&stop, 1);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

TS_TEST(ids)
{
	uint64_t node_id;
	uint32_t id;

	ts_check_int(cuptiGetContextId(FAKE_CONTEXT, &id), TS_CUPTI_SUCCESS);
	ts_check_int(id, 1);
	ts_check_int(cuptiGetContextId((void *)3, &id), TS_CUPTI_ERROR_INVALID_CONTEXT);
	ts_check_int(cuptiGetDeviceId(FAKE_CONTEXT, &id), TS_CUPTI_SUCCESS);
	ts_check_int(id, 0);
	ts_check_int(cuptiGetStreamIdEx(NULL, NULL, 0, &id), TS_CUPTI_SUCCESS);
	ts_check_int(id, 7);
	ts_check_int(cuptiGetStreamId(NULL, FAKE_STREAM, &id), TS_CUPTI_SUCCESS);
	ts_check_int(id, 13);
	ts_check_int(cuptiGetStreamId(NULL, (void *)9, &id), TS_CUPTI_ERROR_INVALID_STREAM);
	ts_check_int(cuptiGetGraphId((void *)1, &id), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiGetGraphNodeId((void *)1, &node_id), TS_CUPTI_SUCCESS);
	ts_check_int(node_id >> 32, 5);
}
