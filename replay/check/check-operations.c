/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the order of operations: conflicting accesses without an order between them, and host
 * memory that changes during a copy. check.c calls this file; this file calls cells.c, findings.c
 * and replay/streams.
 *
 * Streams, events, the legacy default stream and host waits order operations. Each stream is an
 * actor; actor 0 is the host. An actor's clock counts its operations. An actor's `known` holds, for
 * each other actor, the clock up to which the other actor's operations come before the actor's next
 * operation:
 *
 *	operation in stream S     S joins `known` and clock of the host and streams tied to S
 *	event record in S         the event stores `known` and the clock of S
 *	wait for an event in S    S joins what the event stored
 *	host waits for S          the host joins `known` and the clock of S
 *
 * All host threads count as one, in the order in which their calls took effect. Unknown operations
 * order everything: unsupported calls, and kinds of later versions. Frees and unloads of modules
 * also order everything.
 */
#include "proto/abi/grow.h"
#include "proto/abi/record.h"
#include "proto/abi/tablehash.h"
#include "replay/check/check-internal.h"

#define HOST		 0u
#define MAX_ACTORS	 4096u
#define MAX_EVENTS	 65536u
#define MAX_FLIGHT_BYTES (64u << 20)

static int add_actor(struct ts_check_operations *all, const struct ts_check_actor *model,
		     uint32_t *ret_i)
{
	struct ts_check_actor *actor;

	if (all->n_actors == all->actors_capacity) {
		uint32_t capacity = all->actors_capacity;

		if (TS_GROW(all->actors, capacity, all->n_actors + 1))
			return -ENOMEM;
		for (uint32_t i = 0; i < all->n_actors; i++) {
			uint32_t *known = realloc(all->actors[i].known, capacity * sizeof(*known));

			if (!known)
				return -ENOMEM;
			memset(known + all->actors_capacity, 0,
			       (capacity - all->actors_capacity) * sizeof(*known));
			all->actors[i].known = known;
		}
		all->actors_capacity = capacity;
	}
	actor = &all->actors[all->n_actors];
	*actor = *model;
	actor->known = calloc(all->actors_capacity, sizeof(*actor->known));
	if (!actor->known)
		return -ENOMEM;
	*ret_i = all->n_actors++;
	return 0;
}

static void join(const struct ts_check_operations *all, uint32_t *to, const uint32_t *from,
		 uint32_t n)
{
	(void)all;
	for (uint32_t i = 0; i < n; i++)
		to[i] = from[i] > to[i] ? from[i] : to[i];
}

/* Orders the actor `who` after all operations of the actor `other` so far. */
static void come_behind(struct ts_check_operations *all, uint32_t who, uint32_t other)
{
	struct ts_check_actor *actor = &all->actors[who];
	const struct ts_check_actor *before = &all->actors[other];

	join(all, actor->known, before->known, all->n_actors);
	if (before->clock > actor->known[other])
		actor->known[other] = before->clock;
}

static void host_waits_for_all(struct ts_check_operations *all)
{
	for (uint32_t i = 1; i < all->n_actors; i++)
		come_behind(all, HOST, i);
}

/*
 * Finds or adds the actor of the operation's stream. Returns 0, -ENOMEM, or -E2BIG at MAX_ACTORS.
 */
static int find_actor(struct ts_check_operations *all, const struct ts_row_operation *operation,
		      uint32_t *ret_i)
{
	struct ts_check_actor model = {
		.name = {operation->stream_handle, operation->context, operation->thread},
		.kind = ts_stream_kind_of(operation->stream_handle),
	};

	for (uint32_t i = 1; i < all->n_actors; i++)
		if (!all->actors[i].is_gone &&
		    ts_stream_is_same(&all->actors[i].name, &model.name)) {
			*ret_i = i;
			return 0;
		}
	return all->n_actors == MAX_ACTORS ? -E2BIG : add_actor(all, &model, ret_i);
}

/*
 * Applies the legacy default stream's rule: this stream waits for every blocking stream of its
 * context, and these streams wait for it.
 */
static void obey_legacy(struct ts_check_operations *all, uint32_t who)
{
	const struct ts_check_actor *actor = &all->actors[who];

	for (uint32_t i = 1; i < all->n_actors; i++) {
		const struct ts_check_actor *other = &all->actors[i];

		if (i != who && other->name.context == actor->name.context &&
		    ts_streams_are_tied(&actor->kind, &other->kind))
			come_behind(all, who, i);
	}
}

static struct ts_check_event *find_event(struct ts_check_operations *all, uint64_t handle)
{
	uint64_t place = ts_map_get(&all->event_at, handle);

	return place ? &all->events[place - 1] : NULL;
}

/*
 * Records an event when MAX_EVENTS events are stored. Its set of clocks joins the common set of all
 * further events.
 */
static int record_more(struct ts_check_operations *all, uint32_t who)
{
	if (!all->more_known)
		all->more_known = calloc(MAX_ACTORS, sizeof(*all->more_known));
	if (!all->more_known)
		return -ENOMEM;
	join(all, all->more_known, all->actors[who].known, all->n_actors);
	if (all->actors[who].clock > all->more_known[who])
		all->more_known[who] = all->actors[who].clock;
	return 0;
}

static int record_event(struct ts_check_operations *all, uint64_t handle, uint32_t who)
{
	struct ts_check_event *event = find_event(all, handle);
	uint32_t *known;

	if (!event && all->n_events == MAX_EVENTS)
		return record_more(all, who);
	known = malloc(all->n_actors * sizeof(*known));
	if (!known)
		return -ENOMEM;
	if (!event && TS_GROW(all->events, all->events_capacity, all->n_events + 1)) {
		free(known);
		return -ENOMEM;
	}
	if (!event) {
		if (ts_map_set(&all->event_at, handle, all->n_events + 1)) {
			free(known);
			return -ENOMEM;
		}
		event = &all->events[all->n_events++];
		*event = (struct ts_check_event){.handle = handle};
	}
	memcpy(known, all->actors[who].known, all->n_actors * sizeof(*known));
	known[who] = all->actors[who].clock;
	free(event->known);
	event->known = known;
	event->n_known = all->n_actors;
	return 0;
}

static void come_behind_event(struct ts_check_operations *all, uint32_t who, uint64_t handle)
{
	const struct ts_check_event *event = find_event(all, handle);

	if (event)
		join(all, all->actors[who].known, event->known, event->n_known);
	else if (all->more_known)
		join(all, all->actors[who].known, all->more_known, all->n_actors);
}

/*
 * Returns a hash of the operation's kind, its object and its actor `who`. If the program does the
 * same operation several times, all of them have the same hash.
 */
static uint32_t kind_of(const struct ts_row_operation *operation, uint32_t who)
{
	uint64_t hash = ts_hash_add(operation->object, (uint64_t)operation->kind << 48);

	return (uint32_t)(hash >> 32) ^ who;
}

static int note_trail(struct ts_check_operations *all, const struct ts_row_operation *operation,
		      uint32_t who)
{
	size_t n = all->n_trails;

	if (TS_GROW(all->trails, n, operation->sequence + 1))
		return -ENOMEM;
	memset(all->trails + all->n_trails, 0, (n - all->n_trails) * sizeof(*all->trails));
	all->n_trails = n;
	all->trails[operation->sequence] =
		(struct ts_check_trail){who, all->actors[who].clock, kind_of(operation, who)};
	return 0;
}

/*
 * Orders the operation after the earlier operations of its stream, after the host's operations so
 * far, and by the legacy default stream's rule.
 */
static int enter_stream(struct ts_check_operations *all, const struct ts_row_operation *operation)
{
	uint32_t who;
	int r = find_actor(all, operation, &who);

	if (r)
		return r;
	come_behind(all, who, HOST);
	obey_legacy(all, who);
	all->current = who;
	all->actors[who].clock++;
	return note_trail(all, operation, who);
}

static void host_waits_for(struct ts_check_operations *all, uint32_t who)
{
	const struct ts_check_actor *actor = &all->actors[who];

	come_behind(all, HOST, who);
	for (uint32_t i = 1; i < all->n_actors; i++) {
		const struct ts_check_actor *other = &all->actors[i];

		if (other->name.context == actor->name.context &&
		    ts_stream_wait_covers(&actor->kind, &other->kind))
			come_behind(all, HOST, i);
	}
}

static int synchronize(struct ts_check_operations *all, const struct ts_row_operation *operation)
{
	uint32_t who;
	int r;

	if (operation->flags & TS_OPERATION_SYNC_EVENT) {
		come_behind_event(all, HOST, operation->object);
		return 0;
	}
	if (!(operation->flags & TS_OPERATION_SYNC_STREAM)) {
		host_waits_for_all(all);
		return 0;
	}
	r = find_actor(all, operation, &who);
	if (r)
		return r;
	host_waits_for(all, who);
	return 0;
}

static int create_stream(struct ts_check_operations *all, const struct ts_row_operation *operation)
{
	struct ts_check_actor model = {
		.name = {.handle = operation->object, .context = operation->context},
		.kind = ts_stream_created(operation->value),
	};
	uint32_t i;

	return all->n_actors == MAX_ACTORS ? -E2BIG : add_actor(all, &model, &i);
}

static void destroy_stream(struct ts_check_operations *all, uint64_t handle)
{
	for (uint32_t i = 1; i < all->n_actors; i++)
		if (all->actors[i].name.handle == handle)
			all->actors[i].is_gone = true;
}

/*
 * The host has read the result of the copy with this sequence number, so the copy has completed.
 * Orders the host after all operations so far of the copy's stream.
 */
static void learn_of_result(struct ts_check_operations *all, uint64_t sequence)
{
	const struct ts_check_trail *trail =
		sequence < all->n_trails ? &all->trails[sequence] : NULL;

	if (trail && trail->clock)
		come_behind(all, HOST, trail->who);
}

static int begin(struct ts_check_operations *all, const struct ts_row_operation *operation)
{
	int r;

	switch (operation->kind) {
	case TS_OPERATION_LAUNCH:
	case TS_OPERATION_COPY:
	case TS_OPERATION_FILL:
		return enter_stream(all, operation);
	case TS_OPERATION_STREAM_CREATE:
		return create_stream(all, operation);
	case TS_OPERATION_STREAM_DESTROY:
		destroy_stream(all, operation->object);
		return 0;
	case TS_OPERATION_EVENT_RECORD:
		r = enter_stream(all, operation);
		return r ?: record_event(all, operation->object, all->current);
	case TS_OPERATION_STREAM_WAIT:
		/*
		 * A wait in the legacy default stream is itself ordered like an operation: it waits
		 * for the other streams, and later operations of these streams wait for it.
		 */
		r = enter_stream(all, operation);
		if (!r)
			come_behind_event(all, all->current, operation->object);
		return r;
	case TS_OPERATION_SYNC:
		return synchronize(all, operation);
	case TS_OPERATION_RESULT:
		learn_of_result(all, operation->parent);
		return 0;
	case TS_OPERATION_CONTEXT_CREATE:
	case TS_OPERATION_MODULE_LOAD:
	case TS_OPERATION_FUNCTION:
	case TS_OPERATION_VARIABLE:
	case TS_OPERATION_ALLOC:
	case TS_OPERATION_EVENT_CREATE:
	case TS_OPERATION_EVENT_DESTROY:
	case TS_OPERATION_HOST_WRITE:
	case TS_OPERATION_LIMIT:
	case TS_OPERATION_PEER:
		return 0;
	default:
		host_waits_for_all(all);
		return 0;
	}
}

int ts_check_operations_begin(struct ts_check *check, const struct ts_row_operation *operation)
{
	struct ts_check_operations *all = &check->operations;
	struct ts_check_actor host = {.is_gone = false};
	int r = all->n_actors ? 0 : add_actor(all, &host, &all->current);

	all->current = HOST;
	r = r ?: begin(all, operation);
	if (r != -E2BIG)
		return r;
	/* The program has more streams than MAX_ACTORS: stop checking the order. */
	check->what &= ~TS_CHECK_ORDER;
	check->n_unlooked++;
	return 0;
}

static bool is_known(const struct ts_check_operations *all, uint32_t who,
		     const struct ts_check_trail *trail)
{
	return who == trail->who || all->actors[who].known[trail->who] >= trail->clock;
}

int ts_check_operations_done(struct ts_check *check)
{
	struct ts_check_operations *all = &check->operations;
	const struct ts_row_operation *operation = check->operation;
	const struct ts_check_allocation *at;
	uint64_t host;
	bool waits;

	/*
	 * cudaMemset of pinned or managed memory returns only after its completion (CUDA: API
	 * synchronization behavior).
	 */
	if (operation->kind == TS_OPERATION_FILL && all->current &&
	    !(operation->flags & (TS_OPERATION_ASYNC | TS_OPERATION_OF_GRAPH))) {
		at = ts_check_allocation_at(&check->allocations, operation->dst);
		if (at && (at->is_pinned || at->is_managed))
			come_behind(all, HOST, all->current);
	}
	if (operation->kind == TS_OPERATION_COPY && all->current) {
		host = operation->flags & TS_OPERATION_SRC_HOST ? operation->src : operation->dst;
		at = ts_check_allocation_at(&check->allocations, host);
		waits = !(operation->flags & TS_OPERATION_ASYNC) || !at ||
			((operation->flags & (TS_OPERATION_SRC_HOST | TS_OPERATION_DST_HOST)) &&
			 !at->is_pinned);
		if (waits)
			come_behind(all, HOST, all->current);
	}
	for (size_t i = 0; i < all->n_flights;) {
		if (!is_known(all, HOST, &all->flights[i].trail)) {
			i++;
			continue;
		}
		all->flight_bytes -= all->flights[i].n;
		free(all->flights[i].bytes);
		all->flights[i] = all->flights[--all->n_flights];
	}
	return 0;
}

struct looking {
	struct ts_check *check;
	uint64_t end; /* end of the accessed range */
	uint32_t flags;
};

static bool is_ordered(void *userdata, const struct ts_check_trail *earlier)
{
	const struct looking *looking = userdata;
	const struct ts_check_operations *all = &looking->check->operations;

	return is_known(all, all->current, earlier);
}

static struct ts_check_finding *found(struct ts_check *check, enum ts_check_kind kind,
				      uint64_t earlier, uint64_t address, uint64_t bytes)
{
	struct ts_check_operations *all = &check->operations;
	const struct ts_check_trail *trail = &all->trails[earlier];
	struct ts_check_finding *finding =
		ts_check_found(check, kind, kind_of(check->operation, all->current), trail->what,
			       earlier);

	if (!finding)
		return NULL;
	finding->address = address;
	finding->bytes = bytes;
	finding->earlier.sequence = earlier;
	ts_check_locate(check, finding);
	return finding;
}

static void conflict(void *userdata, const struct ts_check_trail *earlier, uint32_t earlier_flags,
		     uint64_t address)
{
	const struct looking *looking = userdata;
	struct ts_check_finding *finding = found(looking->check, TS_CHECK_FOUND_UNORDERED,
						 earlier->what, address, looking->end - address);
	uint64_t offset;

	if (!finding)
		return;
	/* One access may span adjacent allocations; the finding covers only the first one. */
	offset = address - finding->allocation;
	if (offset < finding->allocation_bytes &&
	    finding->bytes > finding->allocation_bytes - offset)
		finding->bytes = finding->allocation_bytes - offset;
	finding->access.is_read = looking->flags & TS_CHECK_READ;
	finding->access.is_write = looking->flags & TS_CHECK_WRITE;
	finding->access.is_atomic = looking->flags & TS_CHECK_STRONG;
	finding->earlier.is_read = earlier_flags & TS_CHECK_READ;
	finding->earlier.is_write = earlier_flags & TS_CHECK_WRITE;
	finding->earlier.is_atomic = earlier_flags & TS_CHECK_STRONG;
}

/*
 * Forgets the pending copies from this range of pinned memory: the device writes there, so a
 * changed source is no longer the host's fault.
 */
static void forget_flights(struct ts_check_operations *all, uint64_t address, uint64_t bytes)
{
	for (size_t i = 0; i < all->n_flights; i++)
		if (all->flights[i].address < address + bytes &&
		    address < all->flights[i].address + all->flights[i].n)
			all->flights[i].trail.clock = 0;
}

int ts_check_operations_touch(struct ts_check *check, uint64_t address, uint64_t bytes,
			      uint32_t flags)
{
	struct ts_check_operations *all = &check->operations;
	struct looking looking = {check, address + bytes, flags};
	struct ts_check_touch touch = {
		.flags = flags,
		.mine = {all->current, all->actors[all->current].clock,
			 (uint32_t)check->operation->sequence},
		.userdata = &looking,
		.is_ordered = is_ordered,
		.conflict = conflict,
	};
	int r;

	/*
	 * Do not check accesses by the host: the capture does not distinguish its writes from the
	 * device's.
	 */
	if (all->current == HOST)
		return 0;
	if (flags & TS_CHECK_WRITE)
		forget_flights(all, address, bytes);
	r = ts_check_cells_touch(&all->cells, address, bytes, TS_CHECK_MAX_CELL_BYTES, &touch);
	if (r != -E2BIG)
		return r;
	check->n_unlooked++;
	return 0;
}

/*
 * Compares the saved source bytes of pending copies with the current bytes at their addresses.
 * Reports a copy whose source has changed.
 */
static void compare_flights(struct ts_check *check, uint64_t address, const uint8_t *bytes,
			    size_t n)
{
	struct ts_check_operations *all = &check->operations;

	for (size_t i = 0; i < all->n_flights; i++) {
		const struct ts_check_flight *flight = &all->flights[i];
		uint64_t start = flight->address > address ? flight->address : address;
		uint64_t end = flight->address + flight->n < address + n
				       ? flight->address + flight->n
				       : address + n;
		struct ts_check_finding *finding;

		while (start < end &&
		       flight->bytes[start - flight->address] == bytes[start - address])
			start++;
		if (start >= end || !flight->trail.clock)
			continue;
		finding = found(check, TS_CHECK_FOUND_HOST_CHANGED, flight->trail.what, start,
				flight->n);
		if (!finding)
			continue;
		finding->access.is_read = finding->earlier.is_read = true;
	}
}

int ts_check_operations_take(struct ts_check *check, uint64_t address, const uint8_t *bytes,
			     size_t n)
{
	struct ts_check_operations *all = &check->operations;
	const struct ts_check_allocation *at = ts_check_allocation_at(&check->allocations, address);
	struct ts_check_flight flight = {
		.address = address,
		.n = n,
		.trail = {all->current, all->actors[all->current].clock,
			  (uint32_t)check->operation->sequence},
	};

	/*
	 * Only a pinned source can change during a copy: CUDA copies pageable memory to a staging
	 * buffer before the call returns.
	 */
	if (!at || !at->is_pinned)
		return 0;
	compare_flights(check, address, bytes, n);
	if (!(check->operation->flags & TS_OPERATION_ASYNC))
		return 0;
	if (n > MAX_FLIGHT_BYTES - all->flight_bytes) {
		check->n_unlooked++;
		return 0;
	}
	if (TS_GROW(all->flights, all->flights_capacity, all->n_flights + 1))
		return -ENOMEM;
	flight.bytes = malloc(n + 1);
	if (!flight.bytes)
		return -ENOMEM;
	memcpy(flight.bytes, bytes, n);
	all->flights[all->n_flights++] = flight;
	all->flight_bytes += n;
	return 0;
}

void ts_check_operations_deinit(struct ts_check_operations *all)
{
	for (uint32_t i = 0; i < all->n_actors; i++)
		free(all->actors[i].known);
	for (size_t i = 0; i < all->n_events; i++)
		free(all->events[i].known);
	for (size_t i = 0; i < all->n_flights; i++)
		free(all->flights[i].bytes);
	free(all->actors);
	free(all->more_known);
	free(all->events);
	ts_map_deinit(&all->event_at);
	free(all->flights);
	free(all->trails);
	ts_check_cells_deinit(&all->cells);
	*all = (struct ts_check_operations){0};
}
