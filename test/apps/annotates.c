/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotates WAY [...]: a program that annotates itself by NVTX and logs each event. The log,
 * $TS_SAID, holds one line of text for each event, in the order of the event's thread.
 * test/integration/test-annotations.py compares a trace with the log.
 *
 *     nest SEED THREADS EVENTS  ranges of several domains, nested at random; others cross threads
 *     gpu       ranges around launches; the first range begins before the first cuInit()
 *     switch N  launches, the middle ones between tracesmith_stop() and tracesmith_start()
 *     open      ranges are open when the program ends; with `kill`, when SIGKILL ends the program
 *     fork      a child that continues its parent's ranges, domains and strings
 *     bad       invalid calls of every kind
 *     texts N   N distinct texts
 *     deep N    N ranges within one another
 *     names     names of categories, threads and resources, before and after the session begins
 *
 * A line is: EVENT TID KEY DOMAIN LEVEL. KEY is the event's category.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "inject/include/tracesmith/annotate.h"
#include "test/apps/gpu.h"
#include "test/apps/nvtx.h"

#define N_DOMAINS  3
#define MOST_DEPTH 40
#define N_CROSSING 64
#define MOST_WIDE  64

static void *domains[N_DOMAINS]; /* [0]: the default domain */
static const char *const domain_names[N_DOMAINS] = {"-", "library", "bücher"};
static FILE *said;
static uint32_t last_key;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list list;

	if (!said)
		return;
	va_start(list, format);
	/* Each line is one write, so the lines of several threads do not mix. */
	vfprintf(said, format, list);
	va_end(list);
}

static void say_event(const char *what, uint32_t key, int domain, int level)
{
	say("%s %ld %" PRIu32 " %s %d\n", what, (long)syscall(SYS_gettid), key,
	    domain_names[domain], level);
}

static void open_said(void)
{
	const char *path = getenv("TS_SAID");

	said = path ? fopen(path, "ae") : NULL;
	if (path && !said)
		die(path);
}

static void make_domains(void)
{
	domains[1] = nvtxDomainCreateA(domain_names[1]);
	domains[2] = nvtxDomainCreateW(L"b\u00fccher");
}

/*
 * Computes the attributes of a range from its key. The test computes them again from the key in the
 * log.
 */
static struct ts_nvtx_event_attributes attributes_of(uint32_t key, int domain, char *text,
						     wchar_t *wide)
{
	struct ts_nvtx_event_attributes attributes = {
		.version = TS_NVTX_VERSION,
		.size = sizeof(attributes),
		.category = key,
		.color_type = key % 2 ? TS_NVTX_COLOR_ARGB : TS_NVTX_COLOR_UNKNOWN,
		.color = 0xff000000u | key,
		.payload_type = (int32_t)(key % 7),
	};

	if (key % 7 == TS_NVTX_PAYLOAD_TYPE_UNSIGNED_INT64)
		attributes.payload.ull_value = UINT64_MAX - key;
	else if (key % 7 == TS_NVTX_PAYLOAD_TYPE_INT64)
		attributes.payload.ll_value = INT64_MIN + (int64_t)key;
	else if (key % 7 == TS_NVTX_PAYLOAD_TYPE_DOUBLE)
		attributes.payload.d_value = key + 0.25;
	else if (key % 7 == TS_NVTX_PAYLOAD_TYPE_UNSIGNED_INT32)
		attributes.payload.ui_value = UINT32_MAX - key;
	else if (key % 7 == TS_NVTX_PAYLOAD_TYPE_INT32)
		attributes.payload.i_value = -(int32_t)key;
	else if (key % 7 == TS_NVTX_PAYLOAD_TYPE_FLOAT)
		attributes.payload.f_value = (float)key / 2;
	snprintf(text, MOST_WIDE, "text \xe2\x82\xac %" PRIu32, key % 50);
	swprintf(wide, MOST_WIDE, L"text \u20ac %u", key % 50);
	attributes.message_type = (int32_t)(1 + key % 3);
	if (attributes.message_type == TS_NVTX_MESSAGE_TYPE_ASCII)
		attributes.message.ascii = text;
	else if (attributes.message_type == TS_NVTX_MESSAGE_TYPE_UNICODE)
		attributes.message.unicode = wide;
	else
		attributes.message.registered =
			(const void *)nvtxDomainRegisterStringA(domains[domain], text);
	return attributes;
}

static uint32_t new_key(void)
{
	return __atomic_add_fetch(&last_key, 1, __ATOMIC_RELAXED);
}

static void push(int domain, uint32_t key)
{
	char text[MOST_WIDE];
	wchar_t wide[MOST_WIDE];
	struct ts_nvtx_event_attributes attributes = attributes_of(key, domain, text, wide);
	int level = domain ? nvtxDomainRangePushEx(domains[domain], (void *)&attributes)
			   : nvtxRangePushEx((void *)&attributes);

	say_event("push", key, domain, level);
}

static void pop(int domain, uint32_t key)
{
	say_event("pop", key, domain,
		  domain ? nvtxDomainRangePop(domains[domain]) : nvtxRangePop());
}

static void mark(int domain, uint32_t key)
{
	char text[MOST_WIDE];
	wchar_t wide[MOST_WIDE];
	struct ts_nvtx_event_attributes attributes = attributes_of(key, domain, text, wide);

	if (domain)
		nvtxDomainMarkEx(domains[domain], (void *)&attributes);
	else
		nvtxMarkEx((void *)&attributes);
	say_event("mark", key, domain, 0);
}

static uint64_t start(int domain, uint32_t key)
{
	char text[MOST_WIDE];
	wchar_t wide[MOST_WIDE];
	struct ts_nvtx_event_attributes attributes = attributes_of(key, domain, text, wide);
	uint64_t id = domain ? nvtxDomainRangeStartEx(domains[domain], (void *)&attributes)
			     : nvtxRangeStartEx((void *)&attributes);

	say_event("start", key, domain, id != 0);
	return id;
}

static void end(int domain, uint32_t key, uint64_t id)
{
	if (domain)
		nvtxDomainRangeEnd(domains[domain], id);
	else
		nvtxRangeEnd(id);
	say_event("end", key, domain, 0);
}

/* ---- nest ---- */

/* Open ranges that any thread may end. */
static struct {
	pthread_mutex_t lock;
	struct crossing {
		uint64_t id;
		uint32_t key;
		int domain;
	} open[N_CROSSING];
	int n;
} crossing = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void cross(unsigned *seed)
{
	struct crossing taken = {0};
	int domain = rand_r(seed) % N_DOMAINS;
	uint32_t key;

	/* The lock makes the order of the lines the order of the events. */
	pthread_mutex_lock(&crossing.lock);
	if (crossing.n < N_CROSSING && rand_r(seed) % 2) {
		key = new_key();
		crossing.open[crossing.n++] = (struct crossing){start(domain, key), key, domain};
	} else if (crossing.n) {
		int i = rand_r(seed) % crossing.n;

		taken = crossing.open[i];
		crossing.open[i] = crossing.open[--crossing.n];
		end(taken.domain, taken.key, taken.id);
	}
	pthread_mutex_unlock(&crossing.lock);
}

static struct {
	unsigned seed;
	int n_events;
} nest;

static void *nest_thread(void *data)
{
	unsigned seed = nest.seed + (unsigned)(uintptr_t)data;
	struct {
		int domain;
		uint32_t key;
	} open[MOST_DEPTH];
	int n = 0;

	for (int i = 0; i < nest.n_events; i++) {
		int what = rand_r(&seed) % 8, at;

		if (what < 3 && n < MOST_DEPTH) {
			open[n].domain = rand_r(&seed) % N_DOMAINS;
			open[n].key = new_key();
			push(open[n].domain, open[n].key);
			n++;
		} else if (what < 6 && n) {
			/*
			 * Ends the innermost range of one domain; ranges of other domains may lie
			 * within it.
			 */
			int domain = open[rand_r(&seed) % n].domain;

			for (at = n - 1; open[at].domain != domain; at--)
				;
			pop(domain, open[at].key);
			memmove(&open[at], &open[at + 1], (size_t)(--n - at) * sizeof(*open));
		} else if (what == 6) {
			mark(rand_r(&seed) % N_DOMAINS, new_key());
		} else {
			cross(&seed);
		}
	}
	for (; n; n--)
		pop(open[n - 1].domain, open[n - 1].key);
	return NULL;
}

static void nest_way(unsigned seed, int n_threads, int n_events)
{
	pthread_t threads[64];

	nest.seed = seed;
	nest.n_events = n_events;
	for (int i = 1; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, nest_thread, (void *)(uintptr_t)i))
			die("pthread_create");
	nest_thread(NULL);
	for (int i = 1; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	while (crossing.n--)
		end(crossing.open[crossing.n].domain, crossing.open[crossing.n].key,
		    crossing.open[crossing.n].id);
}

/* ---- the other ways ---- */

static int gpu_way(void)
{
	struct gpu_stream stream;
	uint32_t key = new_key();

	push(1, key);
	gpu_open(NULL);
	stream = gpu_stream_create(false);
	nvtxNameCuStreamA(stream.handle, "the only stream");
	for (int i = 0; i < 10; i++) {
		uint32_t inner = new_key();

		push(0, inner);
		gpu_nothing(stream);
		pop(0, inner);
	}
	gpu_stream_sync(stream);
	pop(1, key);
	return gpu_close();
}

static int switch_way(int n_times)
{
	struct gpu_stream stream;

	gpu_open(NULL);
	stream = gpu_default_stream(0);
	for (int i = 0; i < n_times; i++) {
		nvtxRangePushA("seen");
		for (int j = 0; j < 10; j++)
			gpu_nothing(stream);
		tracesmith_stop();
		nvtxRangePushA("unseen");
		for (int j = 0; j < 7; j++)
			gpu_nothing(stream);
		nvtxRangePop();
		tracesmith_start();
		nvtxRangePop();
	}
	gpu_nothing(stream);
	gpu_device_sync();
	return gpu_close();
}

static void open_way(bool killed)
{
	uint32_t keys[4] = {new_key(), new_key(), new_key(), new_key()};

	push(0, keys[0]);
	start(1, keys[1]);
	push(1, keys[2]);
	push(0, keys[3]);
	pop(0, keys[3]);
	if (said)
		fflush(said);
	if (killed)
		raise(SIGKILL);
}

static void fork_way(void)
{
	uint32_t key = new_key(), own;
	int status;
	pid_t pid;

	push(1, key);
	if (said)
		fflush(said);
	pid = fork();
	if (!pid) {
		/*
		 * The child has a copy of the open range. pop() returns the level of that copy, but
		 * only the parent's trace has the range.
		 */
		pop(1, key);
		own = new_key();
		push(1, own);
		pop(1, own);
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("a child");
	last_key++;
	pop(1, key);
}

static void bad_way(void)
{
	static char long_text[1 << 20];
	static wchar_t long_wide[1 << 18];
	struct ts_nvtx_event_attributes attributes = {0};
	void *handle, *other;

	memset(long_text, 'l', sizeof(long_text) - 1);
	wmemset(long_wide, L'\u20ac', sizeof(long_wide) / sizeof(*long_wide) - 1);
	/* No session exists yet. */
	say("pop %d\n", nvtxRangePop());
	nvtxMarkA(NULL);
	nvtxMarkW(NULL);
	say("push %d\n", nvtxRangePushA(NULL));
	say("pop %d\n", nvtxRangePop());
	say("pop %d\n", nvtxRangePop());
	nvtxRangeEnd(0);
	nvtxRangeEnd(77);
	nvtxMarkA(long_text);
	nvtxMarkW(long_wide);
	/* Invalid structures: NULL, no version and size, a size that is too small or too large. */
	nvtxMarkEx(NULL);
	nvtxMarkEx((void *)&attributes);
	attributes.version = TS_NVTX_VERSION;
	attributes.size = 8;
	nvtxMarkEx((void *)&attributes);
	attributes.size = UINT16_MAX;
	nvtxMarkEx((void *)&attributes);
	attributes.size = sizeof(attributes);
	attributes.message_type = 99;
	nvtxMarkEx((void *)&attributes);
	attributes.message_type = TS_NVTX_MESSAGE_TYPE_REGISTERED;
	attributes.message.registered = (void *)(uintptr_t)0x1234;
	nvtxMarkEx((void *)&attributes);
	attributes.message_type = TS_NVTX_MESSAGE_TYPE_ASCII;
	attributes.message.ascii = "with another's payload";
	attributes.payload_type = 0x7fff;
	nvtxMarkEx((void *)&attributes);
	/* Invalid domain handles, and one destroyed domain. */
	nvtxDomainMarkEx((void *)(uintptr_t)0x5678, (void *)&attributes);
	say("pop %d\n", nvtxDomainRangePop((void *)(uintptr_t)0x5678));
	handle = nvtxDomainCreateA("short-lived");
	other = nvtxDomainCreateA("short-lived");
	say("same %d\n", handle == other);
	nvtxDomainDestroy(handle);
	nvtxDomainMarkEx(handle, (void *)&attributes);
	nvtxNameOsThreadA(1, NULL);
	say("registered %d\n", nvtxDomainRegisterStringA(handle, NULL) == NULL);
	say("registered %d\n", nvtxDomainRegisterStringA(handle, long_text) != NULL);
	nvtxMarkA("the end");
}

static void texts_way(int n)
{
	char text[64];

	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "a text of number %d", i);
		nvtxRangePushA(text);
		nvtxRangePop();
	}
	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "registered %d", i);
		(void)nvtxDomainRegisterStringA(NULL, text);
		snprintf(text, sizeof(text), "domain %d", i);
		if (i < 5000)
			(void)nvtxDomainCreateA(text);
	}
}

static void deep_way(int n)
{
	int wrong = 0;

	for (int i = 0; i < n; i++)
		wrong += nvtxRangePushA("deep") != i;
	for (int i = n; i--;)
		wrong += nvtxRangePop() != i;
	say("wrong %d\n", wrong);
	say("pop %d\n", nvtxRangePop());
}

static void *named_thread(void *data)
{
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "second thread");
	nvtxMarkA("of the second");
	return NULL;
}

static void names_way(void)
{
	struct ts_nvtx_event_attributes attributes = {.version = TS_NVTX_VERSION,
						      .size = sizeof(attributes),
						      .category = 5,
						      .message_type = TS_NVTX_MESSAGE_TYPE_ASCII,
						      .message.ascii = "categorised"};
	struct ts_nvtx_resource_attributes resource = {
		.version = TS_NVTX_VERSION,
		.size = sizeof(resource),
		.identifier_type = TS_NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE,
		.identifier.ull_value = (uint64_t)syscall(SYS_gettid),
		.message_type = TS_NVTX_MESSAGE_TYPE_ASCII,
		.message.ascii = "first thread"};
	pthread_t thread;

	nvtxNameCategoryA(5, "five");
	nvtxDomainNameCategoryA(domains[1], 5, "the library's five");
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "not its name for long");
	(void)nvtxDomainResourceCreate(domains[1], (void *)&resource);
	nvtxMarkEx((void *)&attributes);
	nvtxDomainMarkEx(domains[1], (void *)&attributes);
	nvtxDomainMarkEx(domains[2], (void *)&attributes);
	if (pthread_create(&thread, NULL, named_thread, NULL))
		die("pthread_create");
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	open_said();
	make_domains();
	if (!strcmp(way, "nest") && argc == 5)
		nest_way((unsigned)n, atoi(argv[3]), atoi(argv[4]));
	else if (!strcmp(way, "gpu"))
		return gpu_way();
	else if (!strcmp(way, "switch"))
		return switch_way(n);
	else if (!strcmp(way, "open"))
		open_way(argc > 2 && !strcmp(argv[2], "kill"));
	else if (!strcmp(way, "fork"))
		fork_way();
	else if (!strcmp(way, "bad"))
		bad_way();
	else if (!strcmp(way, "texts"))
		texts_way(n);
	else if (!strcmp(way, "deep"))
		deep_way(n);
	else if (!strcmp(way, "names"))
		names_way();
	else
		return 2;
	return 0;
}
