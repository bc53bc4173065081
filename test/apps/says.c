/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An example of a program that uses tracesmith/annotate.h. Compiled as C and as C++; links to no
 * library of the project. test/integration/test-annotations.py runs it.
 */
#define TRACESMITH_DOMAIN "says"
#include "inject/include/tracesmith/annotate.h"

#include <errno.h>
#include <pthread.h>

static void *ends_it(void *id)
{
	tracesmith_end(*(uint64_t *)id);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	uint64_t crossing;

	errno = 7;
	tracesmith_stop();
	tracesmith_mark("before anything");
	tracesmith_start();
	crossing = tracesmith_begin("crossing");
	tracesmith_push("outer");
	tracesmith_counter("loss", 0.125);
	tracesmith_counter_i64("tokens", INT64_MAX);
	tracesmith_stop();
	tracesmith_push("not recorded");
	tracesmith_counter("not recorded", 1);
	tracesmith_pop();
	tracesmith_pop();
	tracesmith_start();
#ifdef __cplusplus
	{
		tracesmith::range scope("scope");
		tracesmith_mark("inside");
	}
#else
	tracesmith_push("scope");
	tracesmith_mark("inside");
	tracesmith_pop();
#endif
	if (errno != 7 || pthread_create(&thread, NULL, ends_it, &crossing) ||
	    pthread_join(thread, NULL))
		return 1;
	return 0;
}
