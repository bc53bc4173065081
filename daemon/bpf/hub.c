/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delivers kernel events to the feeds of sessions. daemon/main.c and serve/loop/kernel-events.c
 * create a hub; serve/session/session-kernel.c creates a feed for its session. This module calls
 * programs.c to load and attach the eBPF programs.
 *
 *     programs in the kernel -> events ring, lanes of the CPUs -> hub thread -> feed->filling
 *     session thread: ts_kernel_feed_take() swaps feed->filling with feed->taken
 *     session thread of the only feed: ts_kernel_feed_read() reads the ring and the lanes itself
 *
 * The hub's thread reads the ring and the lanes, and copies each event to its feed. While there is
 * no feed, the thread sleeps. The copies cost a third of the daemon's time for an event, so a
 * session without others handles its events where they are. The hub's thread then reads only if
 * that session does not keep up, for example because it waits for a disk.
 *
 * Three locks, acquired in this order:
 *
 * - `change`: feeds are added and removed, programs are attached and detached.
 * - `reading`: the ring and the array `feeds`.
 * - a feed's `lock`: the events that the feed holds.
 */
#include "daemon/bpf/hub.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "daemon/bpf/programs.h"
#include "daemon/bpf/ring/cpu-lanes.h"
#include "daemon/bpf/ring/event-ring.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"
#include "proto/abi/grow.h"

/* Events of one feed in a row before its lock is released. */
#define MAX_IN_A_ROW 256u
/* milliseconds between reads of the ring, if the ring fills slowly */
#define LOOK_MS 50
/*
 * Nanoseconds between reads of the ring, if the ring fills fast: fewer if the last read took more
 * than BUSY_BYTES. A session takes its events every 11 ms, so more reads deliver nothing earlier.
 */
#define PAUSE_NS       3000000
#define BUSY_PAUSE_NS  1000000
#define BUSY_BYTES     (512u << 10)
#define SECOND_NS      UINT64_C(1000000000)
#define FEED_MAX_BYTES (16u << 20)
/*
 * A buffer larger than FEED_KEPT_BYTES is freed after FEED_SMALL_TAKES takes of few events. One
 * such take is no reason: the next burst would wait for the kernel to clear new pages.
 */
#define FEED_KEPT_BYTES	 (1u << 20)
#define FEED_SMALL_TAKES 256u
#define FEED_MIN_BYTES	 (64u << 10)
/*
 * The hub's thread leaves the events to the session of the only feed if that session has read in
 * the last OWN_READ_NS, less than OWN_READ_BYTES wait in the ring, and no lane is more than a
 * quarter full. It looks every OWN_PAUSE_NS: half of the ring fills in that time only if the kernel
 * sends 8 million events a second. If a lane fills fast, it looks every PAUSE_NS.
 */
#define OWN_READ_NS    UINT64_C(60000000)
#define OWN_READ_BYTES (4u << 20)
#define OWN_PAUSE_NS   10000000
/* Distance at which the ring is read ahead: some records, before their turn comes. */
#define PREFETCH_BYTES 1024u

struct ts_kernel_hub {
	struct ts_kernel_config config;
	struct ts_bpf_programs programs;
	struct ts_event_ring ring; /* mapped if a program is loaded */
	struct ts_bpf_lanes lanes;
	pthread_t thread;
	bool started;
	bool keep;
	bool attached;
	pthread_mutex_t change;
	pthread_mutex_t reading;
	/* signalled with `reading` held when the first feed begins or the hub ends */
	pthread_cond_t wanted;
	bool ending;
	uint32_t last_session;
	uint32_t n_feeds;
	uint32_t n_quiet;		/* feeds that watch nothing */
	struct ts_kernel_feed *current; /* while the ring is read: the feed whose lock is held */
	uint32_t n_in_a_row;		/* events since the lock of `current` was acquired */
	size_t n_read_bytes;		/* of the last read */
	/* While the session of the only feed reads: its function; else NULL. */
	ts_kernel_take_fn *take;
	void *take_data;
	uint64_t own_read_ns;			    /* time of the last such read */
	struct ts_kernel_feed *feeds[TS_BPF_SLOTS]; /* index: session number modulo TS_BPF_SLOTS */
};

struct buffer {
	uint8_t *bytes;
	size_t n_bytes, n_allocated;
};

struct ts_kernel_feed {
	struct ts_kernel_hub *hub;
	struct ts_kernel_process process;
	uint32_t session;
	bool ended;
	bool quiet;
	pthread_mutex_t lock;
	struct buffer filling;	/* the hub's thread writes it */
	struct buffer taken;	/* the caller of ts_kernel_feed_take() reads it */
	uint32_t n_small_takes; /* since the last take that filled an eighth of its buffer */
	uint64_t n_dropped[TS_BPF_N_PROGRAMS];
	struct ts_bpf_lost lost; /* events that the kernel lost; set when the feed ends */
	uint32_t counted;	 /* guarded by `change` */
	/*
	 * True if the feed has counted events since it began. Atomic and relaxed: the thread that
	 * reads tallies loads it, ts_kernel_feed_change() stores it.
	 */
	bool has_counted;
	struct ts_kernel_tally *tallies;
	size_t n_tallies, n_tallies_allocated;
};

size_t ts_kernel_event_bytes(const struct ts_bpf_event *event)
{
	const void *whole = event;
	const struct ts_bpf_syscall *call;

	switch (event->program) {
	case TS_BPF_SCHED:
		return sizeof(struct ts_bpf_off_cpu);
	case TS_BPF_FAULTS:
		return sizeof(struct ts_bpf_fault);
	case TS_BPF_SYSCALLS:
		call = whole;
		return call->has_file ? sizeof(*call) : offsetof(struct ts_bpf_syscall, file);
	case TS_BPF_STACKS:
		return sizeof(struct ts_bpf_off_cpu_stack);
	case TS_BPF_BLOCK:
		return sizeof(struct ts_bpf_block_io);
	case TS_BPF_MEMORY:
		return sizeof(struct ts_bpf_pressure);
	case TS_BPF_DRIVER:
		return sizeof(struct ts_bpf_driver);
	default:
		return 0;
	}
}

/* ---- memory of feeds ---- */

static bool buffer_reserve(struct buffer *buffer, size_t n_bytes)
{
	size_t n = buffer->n_bytes + n_bytes;

	if (n > FEED_MAX_BYTES)
		return false;
	return !TS_GROW(buffer->bytes, buffer->n_allocated,
			n > FEED_MIN_BYTES ? n : FEED_MIN_BYTES);
}

/* Adds an event. The caller holds the feed's lock. */
static void feed_add(struct ts_kernel_feed *feed, const struct ts_bpf_event *event, size_t n_bytes)
{
	if (buffer_reserve(&feed->filling, n_bytes)) {
		memcpy(feed->filling.bytes + feed->filling.n_bytes, event, n_bytes);
		feed->filling.n_bytes += n_bytes;
	} else {
		feed->n_dropped[event->program]++;
	}
}

uint64_t ts_kernel_feed_memory(struct ts_kernel_feed *feed)
{
	uint64_t n = sizeof(*feed) + feed->taken.n_allocated +
		     feed->n_tallies_allocated * sizeof(*feed->tallies);

	pthread_mutex_lock(&feed->lock);
	n += feed->filling.n_allocated;
	pthread_mutex_unlock(&feed->lock);
	return n;
}

bool ts_kernel_feed_take(struct ts_kernel_feed *feed, const void **ret_events, size_t *ret_n_bytes)
{
	struct buffer empty = feed->taken;

	if (empty.n_bytes >= empty.n_allocated / 8)
		feed->n_small_takes = 0;
	else if (empty.n_allocated > FEED_KEPT_BYTES && ++feed->n_small_takes > FEED_SMALL_TAKES) {
		free(empty.bytes);
		empty = (struct buffer){0};
	}
	empty.n_bytes = 0;
	pthread_mutex_lock(&feed->lock);
	feed->taken = feed->filling;
	feed->filling = empty;
	pthread_mutex_unlock(&feed->lock);
	*ret_events = feed->taken.bytes;
	*ret_n_bytes = feed->taken.n_bytes;
	return feed->taken.n_bytes != 0;
}

/* ---- the ring ---- */

static void release_current(struct ts_kernel_hub *hub)
{
	if (hub->current)
		pthread_mutex_unlock(&hub->current->lock);
	hub->current = NULL;
	hub->n_in_a_row = 0;
}

/* Acquires the feed's lock, which stays held over some events in a row. */
static void acquire_feed(struct ts_kernel_hub *hub, struct ts_kernel_feed *feed)
{
	if (hub->current != feed || hub->n_in_a_row == MAX_IN_A_ROW) {
		release_current(hub);
		pthread_mutex_lock(&feed->lock);
		hub->current = feed;
	}
	hub->n_in_a_row++;
}

/*
 * Delivers an event. Returns false if the session that reads did not take the event, which is in
 * its feed then.
 */
static bool deliver(struct ts_kernel_hub *hub, const struct ts_bpf_event *event, size_t n_bytes)
{
	struct ts_kernel_feed *feed = hub->feeds[event->session % TS_BPF_SLOTS];

	/* The slot may belong to another session by now. */
	if (!feed || feed->session != event->session)
		return true;
	if (hub->take && hub->take(hub->take_data, event))
		return true;
	acquire_feed(hub, feed);
	feed_add(feed, event, n_bytes);
	return !hub->take;
}

/* Delivers the events of the ring. Returns false if the session that reads did not take one. */
static bool read_ring(struct ts_kernel_hub *hub)
{
	struct ts_event_ring *ring = &hub->ring;
	const struct ts_bpf_event *event;
	bool is_left = false;
	size_t n_bytes;

	ts_event_ring_begin(ring);
	while (!is_left && (event = ts_event_ring_next(ring, &n_bytes))) {
		hub->n_read_bytes += n_bytes;
		/* The records follow each other, from the caches of other CPUs. */
		__builtin_prefetch((const uint8_t *)event + PREFETCH_BYTES);
		__builtin_prefetch((const uint8_t *)event + PREFETCH_BYTES + 64);
		/* A shorter record only wakes this thread. */
		if (n_bytes >= sizeof(*event) && n_bytes == ts_kernel_event_bytes(event))
			is_left = !deliver(hub, event, n_bytes);
	}
	ts_event_ring_end(ring);
	return !is_left;
}

static size_t on_lane(void *data, const struct ts_bpf_off_cpu *events, size_t n_events)
{
	struct ts_kernel_hub *hub = data;
	bool is_left = false;
	size_t n = 0;

	while (n < n_events && !is_left)
		is_left = !deliver(hub, &events[n++].event, sizeof(*events));
	hub->n_read_bytes += n * sizeof(*events);
	return n;
}

/*
 * Reads all events, or the events until the session that reads does not take one. The caller holds
 * `reading`. The ring comes first: a record that only wakes the hub's thread is read before the
 * events that it announces.
 */
static void read_events(struct ts_kernel_hub *hub)
{
	hub->n_read_bytes = 0;
	if (read_ring(hub))
		ts_bpf_lanes_read(&hub->lanes, on_lane, hub);
	release_current(hub);
}

bool ts_kernel_feed_read(struct ts_kernel_feed *feed, ts_kernel_take_fn *take, void *data)
{
	struct ts_kernel_hub *hub = feed->hub;
	bool has_more;

	if (feed->ended)
		return false;
	pthread_mutex_lock(&hub->reading);
	/* Events of the feed that were copied come before those that were not. */
	if (hub->n_feeds == 1 && !feed->filling.n_bytes) {
		hub->take = take;
		hub->take_data = data;
		read_events(hub);
		hub->take = NULL;
		hub->own_read_ns = ts_clock_monotonic_ns();
	}
	has_more = hub->n_feeds == 1 && feed->filling.n_bytes;
	pthread_mutex_unlock(&hub->reading);
	return has_more;
}

/* True if the session of the only feed reads the events soon. The caller holds `reading`. */
static bool leaves_to_session(const struct ts_kernel_hub *hub, uint64_t n_in_lane)
{
	return hub->n_feeds == 1 && ts_clock_monotonic_ns() - hub->own_read_ns < OWN_READ_NS &&
	       ts_event_ring_waiting(&hub->ring) < OWN_READ_BYTES &&
	       n_in_lane <= hub->lanes.n_events / 4;
}

/* Reads the events. Returns the time until the next look at the ring. */
static long look(struct ts_kernel_hub *hub)
{
	uint64_t n_in_lane = ts_bpf_lanes_most(&hub->lanes);

	if (leaves_to_session(hub, n_in_lane))
		return n_in_lane > hub->lanes.n_events / 32 ? PAUSE_NS : OWN_PAUSE_NS;
	read_events(hub);
	return hub->n_read_bytes > BUSY_BYTES ? BUSY_PAUSE_NS : PAUSE_NS;
}

static void *take_events(void *data)
{
	struct ts_kernel_hub *hub = data;
	long pause_ns;

	pthread_mutex_lock(&hub->reading);
	while (!hub->ending) {
		if (!hub->n_feeds) {
			pthread_cond_wait(&hub->wanted, &hub->reading);
			continue;
		}
		pthread_mutex_unlock(&hub->reading);
		ts_event_ring_wait(&hub->ring, LOOK_MS);
		pthread_mutex_lock(&hub->reading);
		pause_ns = look(hub);
		pthread_mutex_unlock(&hub->reading);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, pause_ns}, NULL);
		pthread_mutex_lock(&hub->reading);
	}
	pthread_mutex_unlock(&hub->reading);
	return NULL;
}

/* ---- the hub ---- */

static int map_ring(struct ts_kernel_hub *hub)
{
	int fd = hub->programs.fds[TS_BPF_MAP_EVENTS];
	struct bpf_map_info info = {0};
	uint32_t n_bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &n_bytes))
		return ts_error_origin(-errno);
	return ts_event_ring_init(&hub->ring, fd, info.max_entries);
}

static int start(struct ts_kernel_hub *hub)
{
	sigset_t all, old;
	int r;

	r = ts_bpf_lanes_init(&hub->lanes, hub->programs.fds[TS_BPF_MAP_LANES],
			      hub->programs.fds[TS_BPF_MAP_LANE_EVENTS], hub->programs.n_cpus);
	if (r)
		return ts_error_trace(r);
	r = map_ring(hub);
	if (r)
		return ts_error_trace(r);
	/* Only the main thread handles signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&hub->thread, NULL, take_events, hub);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r)
		return ts_error_origin(-r);
	hub->started = true;
	pthread_setname_np(hub->thread, "kernel-events");
	return 0;
}

/*
 * Attaches the programs once to check that the kernel allows it. So a client that requests kernel
 * events learns at once if there are none.
 */
static void try_programs(struct ts_kernel_hub *hub)
{
	int r = ts_bpf_programs_attach(&hub->programs);
	char names[96];

	hub->attached = !r;
	if (!r)
		ts_bpf_programs_report_absent(&hub->programs);
	if (!r && !hub->keep) {
		ts_bpf_programs_detach(&hub->programs);
		hub->attached = false;
	}
	if (!r)
		return;
	ts_kernel_config_names(hub->programs.loaded, names, sizeof(names));
	snprintf(hub->programs.why, sizeof(hub->programs.why),
		 "%s: the eBPF programs cannot be attached: %s", names, strerror(-r));
	hub->programs.loaded = 0;
}

int ts_kernel_hub_new(const struct ts_kernel_config *config, bool keep,
		      struct ts_kernel_hub **ret_hub)
{
	struct ts_kernel_hub *hub = calloc(1, sizeof(*hub));
	int r;

	if (!hub)
		return ts_error_origin(-ENOMEM);
	hub->config = *config;
	hub->keep = keep;
	pthread_mutex_init(&hub->change, NULL);
	pthread_mutex_init(&hub->reading, NULL);
	pthread_cond_init(&hub->wanted, NULL);
	r = ts_bpf_programs_load(&hub->programs, config->programs & ~(1u << TS_BPF_SAMPLES));
	if (!r && hub->programs.loaded)
		try_programs(hub);
	if (!r && hub->programs.loaded)
		r = start(hub);
	if (r) {
		ts_kernel_hub_free(hub);
		return ts_error_trace(r);
	}
	*ret_hub = hub;
	return 0;
}

void ts_kernel_hub_free(struct ts_kernel_hub *hub)
{
	if (!hub)
		return;
	if (hub->started) {
		pthread_mutex_lock(&hub->reading);
		hub->ending = true;
		pthread_cond_signal(&hub->wanted);
		pthread_mutex_unlock(&hub->reading);
		pthread_join(hub->thread, NULL);
	}
	ts_event_ring_deinit(&hub->ring);
	ts_bpf_lanes_deinit(&hub->lanes);
	ts_bpf_programs_deinit(&hub->programs);
	pthread_mutex_destroy(&hub->change);
	pthread_mutex_destroy(&hub->reading);
	pthread_cond_destroy(&hub->wanted);
	free(hub);
}

uint32_t ts_kernel_hub_programs(const struct ts_kernel_hub *hub)
{
	return hub->programs.loaded | (hub->config.programs & 1u << TS_BPF_SAMPLES);
}

const struct ts_kernel_config *ts_kernel_hub_config(const struct ts_kernel_hub *hub)
{
	return &hub->config;
}

const char *ts_kernel_hub_missing(const struct ts_kernel_hub *hub)
{
	return hub->programs.why[0] ? hub->programs.why : NULL;
}

/* ---- feeds ---- */

static int find_slot(struct ts_kernel_hub *hub, uint32_t *ret_session)
{
	for (uint32_t i = 0; i < TS_BPF_SLOTS; i++) {
		uint32_t session = ++hub->last_session;

		if (!session)
			session = ++hub->last_session;
		if (hub->feeds[session % TS_BPF_SLOTS])
			continue;
		*ret_session = session;
		return 0;
	}
	return -EBUSY;
}

static struct ts_bpf_traced settings_of(const struct ts_kernel_feed *feed,
					const struct ts_kernel_config *config)
{
	uint64_t tick_ns = SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);
	struct ts_bpf_traced settings = {.session = feed->session,
					 .programs = config->programs & feed->hub->programs.loaded,
					 .counted = config->counted,
					 .uid = feed->process.uid,
					 .gid = feed->process.gid,
					 .start_ns = feed->process.start_ticks * tick_ns,
					 .start_span_ns = tick_ns};

	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS; i++)
		settings.threshold_ns[i] = config->threshold_ns[i];
	return settings;
}

static int feed_watch(const struct ts_kernel_feed *feed)
{
	struct ts_kernel_hub *hub = feed->hub;
	uint32_t slot = feed->session % TS_BPF_SLOTS, key = (uint32_t)feed->process.pid;
	struct ts_bpf_traced settings = settings_of(feed, &hub->config);
	struct ts_bpf_lost none = {{0}};
	int r;

	r = bpf_map_update_elem(hub->programs.fds[TS_BPF_MAP_LOST], &slot, &none, BPF_ANY);
	return r
		       ?: bpf_map_update_elem(hub->programs.fds[TS_BPF_MAP_TRACED], &key, &settings,
					      BPF_ANY);
}

int ts_kernel_feed_new(struct ts_kernel_hub *hub, const struct ts_kernel_process *process,
		       struct ts_kernel_feed **ret_feed)
{
	struct ts_kernel_feed *feed;
	int r;

	*ret_feed = NULL;
	if (!hub->programs.loaded)
		return 0;
	feed = calloc(1, sizeof(*feed));
	if (!feed)
		return ts_error_origin(-ENOMEM);
	feed->hub = hub;
	feed->process = *process;
	feed->counted = hub->config.counted;
	feed->has_counted = feed->counted;
	pthread_mutex_init(&feed->lock, NULL);
	pthread_mutex_lock(&hub->change);
	r = find_slot(hub, &feed->session);
	if (!r && !hub->attached) {
		r = ts_bpf_programs_attach(&hub->programs);
		hub->attached = !r;
	}
	if (!r) {
		pthread_mutex_lock(&hub->reading);
		hub->feeds[feed->session % TS_BPF_SLOTS] = feed;
		hub->n_feeds++;
		pthread_cond_signal(&hub->wanted);
		pthread_mutex_unlock(&hub->reading);
		r = feed_watch(feed);
	} else {
		feed->ended = true;
	}
	pthread_mutex_unlock(&hub->change);
	if (r) {
		ts_kernel_feed_free(feed);
		return ts_error_trace(r);
	}
	*ret_feed = feed;
	return 0;
}

/*
 * Removes the process of the feed and its descendants from the map `traced`. Descendants with a
 * session of their own have another session number and stay.
 */
static void feed_unwatch(const struct ts_kernel_feed *feed)
{
	int fd = feed->hub->programs.fds[TS_BPF_MAP_TRACED];
	struct ts_bpf_traced settings;
	uint32_t keys[64], key, *before = NULL;
	size_t n;

	/*
	 * If a key is deleted during a walk of the map, the walk begins again. So keys are
	 * collected first.
	 */
	do {
		n = 0;
		before = NULL;
		while (n < TS_ARRAY_LEN(keys) && !bpf_map_get_next_key(fd, before, &key)) {
			if (!bpf_map_lookup_elem(fd, &key, &settings) &&
			    settings.session == feed->session)
				keys[n++] = key;
			before = &key;
		}
		for (size_t i = 0; i < n; i++)
			bpf_map_delete_elem(fd, &keys[i]);
	} while (n == TS_ARRAY_LEN(keys));
}

/* ---- tallies ---- */

static int feed_keep_tally(struct ts_kernel_feed *feed, const struct ts_kernel_tally *tally)
{
	if (TS_GROW(feed->tallies, feed->n_tallies_allocated, feed->n_tallies + 1))
		return ts_error_origin(-ENOMEM);
	feed->tallies[feed->n_tallies++] = *tally;
	return 0;
}

static int feed_read_tallies(struct ts_kernel_feed *feed)
{
	int fd = feed->hub->programs.fds[TS_BPF_MAP_TALLIES], r = 0;
	struct ts_kernel_tally tally;
	/* All feeds share the map, so a feed without counted events does not walk it. */
	bool more = __atomic_load_n(&feed->has_counted, __ATOMIC_RELAXED) && fd >= 0 &&
		    !bpf_map_get_next_key(fd, NULL, &tally.key);
	/*
	 * If a key is deleted meanwhile, the kernel begins the walk again. This limit of steps ends
	 * the walk in any case.
	 */
	size_t left = 2 * TS_BPF_TALLIES;

	feed->n_tallies = 0;
	for (; more && left-- && !r; more = !bpf_map_get_next_key(fd, &tally.key, &tally.key))
		if (tally.key.session == feed->session &&
		    !bpf_map_lookup_elem(fd, &tally.key, &tally.sum))
			r = feed_keep_tally(feed, &tally);
	return r;
}

int ts_kernel_feed_tallies(struct ts_kernel_feed *feed, const struct ts_kernel_tally **ret_tallies,
			   size_t *ret_n)
{
	int r = feed->ended ? 0 : feed_read_tallies(feed);

	if (r)
		return r;
	*ret_tallies = feed->tallies;
	*ret_n = feed->n_tallies;
	return 0;
}

/* Reads the tallies a last time and deletes them from the map. */
static void feed_take_tallies(struct ts_kernel_feed *feed)
{
	int fd = feed->hub->programs.fds[TS_BPF_MAP_TALLIES];

	if (feed_read_tallies(feed))
		ts_log(TS_LOG_WARNING, "the last counts of kernel events are lost: out of memory");
	for (size_t i = 0; i < feed->n_tallies; i++)
		bpf_map_delete_elem(fd, &feed->tallies[i].key);
}

/* An entry of one of the maps of open intervals. */
union note {
	struct ts_bpf_event event;
	struct ts_bpf_off_cpu off_cpu;
	struct ts_bpf_syscall call;
	struct ts_bpf_block_io io;
	struct ts_bpf_pressure pressure;
	struct ts_bpf_driver driver;
};

/* Maps of intervals that have not ended. An open system call is not reported: it delays nothing. */
static const struct {
	unsigned program;
	enum ts_bpf_map map;
	bool is_reported;
} open_notes[] = {
	{TS_BPF_STACKS, TS_BPF_MAP_DUE, true},	      {TS_BPF_SCHED, TS_BPF_MAP_AWAY, true},
	{TS_BPF_SYSCALLS, TS_BPF_MAP_CALLING, false}, {TS_BPF_BLOCK, TS_BPF_MAP_IN_FLIGHT, true},
	{TS_BPF_MEMORY, TS_BPF_MAP_RECLAIMING, true}, {TS_BPF_DRIVER, TS_BPF_MAP_WAITING, true},
	{TS_BPF_DRIVER, TS_BPF_MAP_WORKING, true},
};

/*
 * If the note belongs to the feed, deletes it from the map and, with `deliver`, adds it as an
 * event.
 */
static void feed_take_note(struct ts_kernel_feed *feed, int fd, const void *key, bool deliver)
{
	union note note;

	if (bpf_map_lookup_elem(fd, key, &note) || note.event.session != feed->session)
		return;
	bpf_map_delete_elem(fd, key);
	/* If start_ns is 0, the interval has not begun. */
	if (!deliver || !note.event.start_ns)
		return;
	pthread_mutex_lock(&feed->lock);
	feed_add(feed, &note.event, ts_kernel_event_bytes(&note.event));
	pthread_mutex_unlock(&feed->lock);
}

/*
 * Handles all notes of the feed in one map of open intervals. The walk reads the next key before it
 * deletes the current one.
 */
static void feed_take_notes(struct ts_kernel_feed *feed, int fd, bool deliver)
{
	uint64_t key = 0, next = 0; /* if threads are the keys, only the lower half is used */
	bool more = fd >= 0 && !bpf_map_get_next_key(fd, NULL, &next);

	while (more) {
		key = next;
		more = !bpf_map_get_next_key(fd, &key, &next);
		feed_take_note(feed, fd, &key, deliver);
	}
}

/*
 * Detaches the programs if no feed watches an event. With `keep`, they stay attached while there is
 * no feed.
 */
static void detach_idle(struct ts_kernel_hub *hub)
{
	if (!hub->attached || hub->n_quiet < hub->n_feeds || (!hub->n_feeds && hub->keep))
		return;
	ts_bpf_programs_detach(&hub->programs);
	hub->attached = false;
}

/* Reads the events that the kernel lost, by program. */
static void read_losses(const struct ts_kernel_feed *feed, struct ts_bpf_lost *ret_lost)
{
	uint32_t slot = feed->session % TS_BPF_SLOTS;

	if (bpf_map_lookup_elem(feed->hub->programs.fds[TS_BPF_MAP_LOST], &slot, ret_lost))
		*ret_lost = (struct ts_bpf_lost){{0}};
}

void ts_kernel_feed_end(struct ts_kernel_feed *feed)
{
	struct ts_kernel_hub *hub = feed->hub;

	if (feed->ended)
		return;
	feed->ended = true;
	pthread_mutex_lock(&hub->change);
	feed_unwatch(feed);
	pthread_mutex_lock(&hub->reading);
	read_events(hub);
	for (size_t i = 0; i < TS_ARRAY_LEN(open_notes); i++)
		if (open_notes[i].is_reported)
			feed_take_notes(feed, hub->programs.fds[open_notes[i].map],
					!(feed->counted & 1u << open_notes[i].program));
	feed_take_tallies(feed);
	hub->feeds[feed->session % TS_BPF_SLOTS] = NULL;
	hub->n_feeds--;
	hub->n_quiet -= feed->quiet;
	pthread_mutex_unlock(&hub->reading);
	read_losses(feed, &feed->lost);
	detach_idle(hub);
	pthread_mutex_unlock(&hub->change);
}

/* Writes the settings into the entry of every process of the feed. */
static void feed_set(const struct ts_kernel_feed *feed, const struct ts_kernel_config *config)
{
	struct ts_bpf_traced changed = settings_of(feed, config);
	int fd = feed->hub->programs.fds[TS_BPF_MAP_TRACED];
	struct ts_bpf_traced settings;
	uint32_t key = 0;
	bool more = !bpf_map_get_next_key(fd, NULL, &key);

	for (; more; more = !bpf_map_get_next_key(fd, &key, &key)) {
		if (bpf_map_lookup_elem(fd, &key, &settings) || settings.session != feed->session)
			continue;
		/* Each process keeps its own start. */
		changed.start_ns = settings.start_ns;
		changed.start_span_ns = settings.start_span_ns;
		/* If the process has ended since, BPF_EXIST prevents a new entry. */
		(void)bpf_map_update_elem(fd, &key, &changed, BPF_EXIST);
	}
}

int ts_kernel_feed_change(struct ts_kernel_feed *feed, const struct ts_kernel_config *config)
{
	struct ts_kernel_hub *hub = feed->hub;
	uint32_t programs = config->programs & hub->programs.loaded;
	bool quiet = !programs;
	int r = 0;

	pthread_mutex_lock(&hub->change);
	if (!feed->ended && !quiet && !hub->attached) {
		r = ts_bpf_programs_attach(&hub->programs);
		hub->attached = !r;
	}
	if (!feed->ended && !r) {
		if (config->counted)
			__atomic_store_n(&feed->has_counted, true, __ATOMIC_RELAXED);
		feed_set(feed, config);
		feed->counted = config->counted;
		/*
		 * The end of an open interval will not be seen. If its note stayed, the interval
		 * would seem to last until the program watches again.
		 */
		for (size_t i = 0; i < TS_ARRAY_LEN(open_notes); i++)
			if (!(programs & 1u << open_notes[i].program))
				feed_take_notes(feed, hub->programs.fds[open_notes[i].map], false);
		hub->n_quiet += (uint32_t)quiet - (uint32_t)feed->quiet;
		feed->quiet = quiet;
		detach_idle(hub);
	}
	pthread_mutex_unlock(&hub->change);
	return r;
}

void ts_kernel_feed_free(struct ts_kernel_feed *feed)
{
	if (!feed)
		return;
	ts_kernel_feed_end(feed);
	pthread_mutex_destroy(&feed->lock);
	free(feed->filling.bytes);
	free(feed->taken.bytes);
	free(feed->tallies);
	free(feed);
}

void ts_kernel_feed_losses(struct ts_kernel_feed *feed, uint64_t ret_lost[TS_BPF_N_PROGRAMS])
{
	struct ts_bpf_lost lost = feed->lost;

	if (!feed->ended)
		read_losses(feed, &lost);
	pthread_mutex_lock(&feed->lock);
	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS; i++)
		ret_lost[i] = lost.count[i] + feed->n_dropped[i];
	pthread_mutex_unlock(&feed->lock);
}
