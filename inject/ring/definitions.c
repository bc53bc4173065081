/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of the definition arena. The whole shim calls this file; this file calls
 * ts_unlocked_map_behind() to map the arena.
 *
 * The tables are chained hash tables that only grow. An entry is complete before a bucket points to
 * it, and it never changes, so readers need no lock. A lookup compares the content in the arena and
 * never trusts the hash alone. The tables of map.h move when they grow, so they do not fit here.
 */
#include "inject/ring/definitions.h"
#include "inject/ring/unlocked.h"

#define CHUNK_BYTES (64u * 1024)

/*
 * The arena is mapped in stretches. Each stretch overlaps the next one by this much, so a
 * definition is whole in the stretch that has its first byte.
 */
#define OVERLAP_BYTES (2 * TS_STRING_MAX_BYTES)
TS_STATIC_ASSERT(OVERLAP_BYTES > TS_STRING_MAX_BYTES + sizeof(struct ts_definition) &&
			 OVERLAP_BYTES > TS_STACK_MAX_FRAMES * 8 + sizeof(struct ts_definition) &&
			 OVERLAP_BYTES < TS_ARENA_STRETCH_BYTES,
		 "the longest definition fits");

int ts_definitions_init(struct ts_definitions *definitions, const struct ts_session_memory *memory)
{
	const size_t n_bytes = TS_INTERN_BUCKETS * sizeof(struct ts_intern_entry *);

	memset(definitions, 0, sizeof(*definitions));
	definitions->control = memory->control;
	definitions->arena = memory->arena;
	definitions->n_bytes = memory->control->arena_bytes;
	definitions->text_bytes = definitions->n_bytes / 2;
	pthread_mutex_init(&definitions->lock, NULL);
	definitions->strings.buckets = ts_unlocked_map(n_bytes);
	definitions->stacks.buckets = ts_unlocked_map(n_bytes);
	if (!definitions->strings.buckets || !definitions->stacks.buckets)
		return -ENOMEM;
	return 0;
}

/* Returns the address of the definition at `off` of the arena's bytes. */
static uint8_t *definition_at(const struct ts_definitions *definitions, uint64_t off)
{
	return definitions->stretches[off / TS_ARENA_STRETCH_BYTES] + off % TS_ARENA_STRETCH_BYTES;
}

/* Returns the address of the content at `off`. Its definition may begin in the stretch before. */
static uint8_t *content_at(const struct ts_definitions *definitions, uint64_t off)
{
	return definition_at(definitions, off - sizeof(struct ts_definition)) +
	       sizeof(struct ts_definition);
}

/*
 * Maps the stretch that holds the first byte of a definition at `off`. The caller holds the lock.
 */
static bool map_stretch(struct ts_definitions *definitions, uint64_t off)
{
	const uint64_t i = off / TS_ARENA_STRETCH_BYTES, start = i * TS_ARENA_STRETCH_BYTES;
	uint64_t n_bytes = TS_ARENA_STRETCH_BYTES + OVERLAP_BYTES;

	if (definitions->stretches[i])
		return true;
	if (n_bytes > definitions->n_bytes - start)
		n_bytes = definitions->n_bytes - start;
	definitions->stretches[i] =
		ts_unlocked_map_behind(i ? definitions->stretches[i - 1] + TS_ARENA_STRETCH_BYTES
					 : (uint8_t *)(definitions->arena + 1),
				       n_bytes);
	return definitions->stretches[i] != NULL;
}

/*
 * Hashes the bytes in two lanes, so that the multiplications of a long stack overlap. Collisions
 * are harmless: a lookup also compares the content.
 */
static uint64_t hash_bytes(const void *data, size_t n_bytes)
{
	const uint8_t *p = data;
	uint64_t a = 0x9e3779b97f4a7c15u ^ n_bytes, b = 0xc2b2ae3d27d4eb4fu, word;

	for (; n_bytes >= 16; n_bytes -= 16, p += 16) {
		memcpy(&word, p, 8);
		a = (a ^ word) * 0xff51afd7ed558ccdu;
		a ^= a >> 32;
		memcpy(&word, p + 8, 8);
		b = (b ^ word) * 0xc4ceb9fe1a85ec53u;
		b ^= b >> 32;
	}
	while (n_bytes) {
		size_t n = n_bytes < 8 ? n_bytes : 8;

		word = 0;
		memcpy(&word, p, n);
		a = (a ^ word) * 0xff51afd7ed558ccdu;
		a ^= a >> 32;
		p += n;
		n_bytes -= n;
	}
	a = (a ^ b) * 0x9fb21c651e98df25u;
	return a ^ (a >> 29);
}

static struct ts_intern_entry **bucket_of(const struct ts_intern *table, uint64_t hash)
{
	return &table->buckets[hash & (TS_INTERN_BUCKETS - 1)];
}

static const struct ts_intern_entry *find(const struct ts_definitions *definitions,
					  const struct ts_intern *table, uint64_t hash,
					  const void *content, uint32_t n_bytes)
{
	/* Acquire pairs with the release in insert(): a reachable entry is complete. */
	const struct ts_intern_entry *entry =
		__atomic_load_n(bucket_of(table, hash), __ATOMIC_ACQUIRE);

	for (; entry; entry = entry->next) {
		if (entry->hash == hash && entry->n_bytes == n_bytes &&
		    !memcmp(content_at(definitions, entry->off), content, n_bytes))
			return entry;
	}
	return NULL;
}

/*
 * Adds an entry; the caller holds the lock. Without memory for the entry, the definition stays
 * valid, but no lookup finds it.
 */
static void insert(struct ts_definitions *definitions, struct ts_intern *table, uint64_t hash,
		   uint64_t off, uint32_t n_bytes, uint32_t id)
{
	struct ts_intern_entry **bucket = bucket_of(table, hash);
	struct ts_intern_entry *entry;

	if (definitions->chunk_left < sizeof(*entry)) {
		definitions->chunk = ts_unlocked_map(CHUNK_BYTES);
		definitions->chunk_left = definitions->chunk ? CHUNK_BYTES : 0;
		if (!definitions->chunk)
			return;
	}
	entry = (struct ts_intern_entry *)definitions->chunk;
	definitions->chunk += sizeof(*entry);
	definitions->chunk_left -= sizeof(*entry);
	*entry = (struct ts_intern_entry){*bucket, hash, off, n_bytes, id};
	__atomic_store_n(bucket, entry, __ATOMIC_RELEASE); /* release pairs with find() */
}

static void count_full(struct ts_definitions *definitions)
{
	__atomic_fetch_add(&definitions->control->lost[TS_LOSS_ARENA_FULL], 1, __ATOMIC_RELAXED);
}

/* Returns whether n_bytes more would exceed `limit` bytes of the arena. */
static bool is_full(const struct ts_definitions *definitions, uint64_t limit, uint64_t n_bytes)
{
	uint64_t used = __atomic_load_n(&definitions->used, __ATOMIC_RELAXED);

	return used > limit || n_bytes > limit - used;
}

/*
 * Reserves n_bytes of the arena for a definition and fills its header; the caller holds the lock.
 * The caller then writes the content and calls publish(). NULL: the arena is full.
 */
static struct ts_definition *take(struct ts_definitions *definitions, uint16_t type, uint16_t flags,
				  uint64_t limit, uint64_t n_bytes)
{
	struct ts_definition *definition;

	if (is_full(definitions, limit, n_bytes) || !map_stretch(definitions, definitions->used)) {
		count_full(definitions);
		return NULL;
	}
	definition = (struct ts_definition *)definition_at(definitions, definitions->used);
	definition->n_words = (uint32_t)(n_bytes / 8);
	definition->type = type;
	definition->flags = flags;
	definition->id = ++definitions->last_id[type];
	definition->n = 0;
	return definition;
}

static void publish(struct ts_definitions *definitions, uint64_t n_bytes)
{
	__atomic_store_n(&definitions->used, definitions->used + n_bytes, __ATOMIC_RELAXED);
	/* Release pairs with the daemon's acquire: the daemon reads whole definitions only. */
	__atomic_store_n(&definitions->arena->published, definitions->used, __ATOMIC_RELEASE);
}

static const struct ts_intern_entry *intern(struct ts_definitions *definitions,
					    struct ts_intern *table, uint16_t type, uint16_t flags,
					    uint64_t limit, const void *content, uint32_t n_bytes,
					    uint32_t n, struct ts_intern_entry *ret_entry)
{
	uint64_t hash = hash_bytes(content, n_bytes);
	const struct ts_intern_entry *found = find(definitions, table, hash, content, n_bytes);
	uint64_t total = sizeof(struct ts_definition) + ts_align_up(n_bytes, 8);
	struct ts_definition *definition;

	if (ts_likely(found != NULL))
		return found;
	/* A full arena stays full, so this check needs no lock. */
	if (ts_unlikely(is_full(definitions, limit, total))) {
		count_full(definitions);
		return NULL;
	}
	pthread_mutex_lock(&definitions->lock);
	found = find(definitions, table, hash, content, n_bytes);
	if (!found) {
		definition = take(definitions, type, flags, limit, total);
		if (definition) {
			uint64_t off = definitions->used + sizeof(*definition);

			definition->n = n;
			memcpy(definition + 1, content, n_bytes);
			*ret_entry =
				(struct ts_intern_entry){NULL, hash, off, n_bytes, definition->id};
			publish(definitions, total);
			insert(definitions, table, hash, off, n_bytes, ret_entry->id);
			found = ret_entry;
		}
	}
	pthread_mutex_unlock(&definitions->lock);
	return found;
}

uint32_t ts_definitions_string(struct ts_definitions *definitions, const char *string,
			       size_t n_bytes)
{
	uint32_t n = n_bytes > TS_STRING_MAX_BYTES ? TS_STRING_MAX_BYTES : (uint32_t)n_bytes;
	const struct ts_intern_entry *entry;
	struct ts_intern_entry fresh;

	entry = intern(definitions, &definitions->strings, TS_DEF_STRING, 0, definitions->n_bytes,
		       string, n, n, &fresh);
	return entry ? entry->id : TS_ID_UNKNOWN;
}

uint32_t ts_definitions_text(struct ts_definitions *definitions, const char *text, size_t n_bytes)
{
	uint32_t n =
		n_bytes > TS_ANNOTATION_MAX_BYTES ? TS_ANNOTATION_MAX_BYTES : (uint32_t)n_bytes;
	const struct ts_intern_entry *entry;
	struct ts_intern_entry fresh;

	entry = intern(definitions, &definitions->strings, TS_DEF_STRING, 0,
		       definitions->text_bytes, text, n, n, &fresh);
	return entry ? entry->id : TS_ID_UNKNOWN;
}

uint32_t ts_definitions_stack(struct ts_definitions *definitions, const uint64_t *frames,
			      uint32_t n_frames, bool truncated)
{
	const struct ts_intern_entry *entry;
	struct ts_intern_entry fresh;

	if (!n_frames)
		return TS_ID_UNKNOWN;
	entry = intern(definitions, &definitions->stacks, TS_DEF_STACK,
		       truncated ? TS_STACK_TRUNCATED : 0, definitions->n_bytes, frames,
		       n_frames * (uint32_t)sizeof(*frames), n_frames, &fresh);
	return entry ? entry->id : TS_ID_UNKNOWN;
}

uint32_t ts_definitions_add(struct ts_definitions *definitions, struct ts_definition *definition,
			    size_t n_bytes)
{
	struct ts_definition *place;
	uint32_t id = TS_ID_UNKNOWN;

	pthread_mutex_lock(&definitions->lock);
	place = take(definitions, definition->type, definition->flags,
		     definition->type == TS_DEF_NAME ? definitions->text_bytes
						     : definitions->n_bytes,
		     n_bytes);
	if (place) {
		id = place->id;
		place->n = definition->n;
		memcpy(place + 1, definition + 1, n_bytes - sizeof(*definition));
		publish(definitions, n_bytes);
	}
	pthread_mutex_unlock(&definitions->lock);
	return id;
}

/* Returns the cached entry for an address if its content is unchanged; else NULL. */
static inline const struct ts_intern_entry *recall(const struct ts_definitions *definitions,
						   struct ts_string_cache *cache, size_t slot,
						   const char *string,
						   struct ts_intern_entry *ret_entry)
{
	uint32_t n = cache->entries[slot].n_bytes;

	if (cache->entries[slot].string != string)
		return NULL;
	/* strncmp, not memcmp: the string may now be shorter and end at the end of its mapping. */
	if (strncmp(string, (char *)content_at(definitions, cache->entries[slot].off), n) ||
	    string[n])
		return NULL;
	cache->entries[slot].pass = cache->pass;
	ret_entry->id = cache->entries[slot].id;
	return ret_entry;
}

static __attribute__((noinline)) uint32_t string_cached(struct ts_definitions *definitions,
							struct ts_string_cache *cache,
							const char *string, uint32_t max_bytes,
							uint64_t limit, bool *ret_cut)
{
	const size_t slot = ts_string_cache_slot(string);
	struct ts_intern_entry fresh;
	const struct ts_intern_entry *entry;
	size_t n_bytes;

	*ret_cut = false;
	if (!string)
		return TS_ID_UNKNOWN;
	entry = recall(definitions, cache, slot, string, &fresh);
	if (entry)
		return entry->id;
	n_bytes = strnlen(string, max_bytes);
	*ret_cut = n_bytes == max_bytes && string[n_bytes];
	/* Do not cut within a UTF-8 character. */
	while (*ret_cut && n_bytes && ((uint8_t)string[n_bytes] & 0xc0) == 0x80)
		n_bytes--;
	entry = intern(definitions, &definitions->strings, TS_DEF_STRING, 0, limit, string,
		       (uint32_t)n_bytes, (uint32_t)n_bytes, &fresh);
	if (!entry)
		return TS_ID_UNKNOWN;
	if (!*ret_cut && n_bytes < max_bytes) {
		cache->entries[slot].string = string;
		cache->entries[slot].off = entry->off;
		cache->entries[slot].n_bytes = entry->n_bytes;
		cache->entries[slot].id = entry->id;
		cache->entries[slot].pass = cache->pass;
	}
	return entry->id;
}

uint32_t ts_definitions_string_cached(struct ts_definitions *definitions,
				      struct ts_string_cache *cache, const char *string)
{
	struct ts_intern_entry fresh;
	bool cut;

	if (ts_likely(string &&
		      recall(definitions, cache, ts_string_cache_slot(string), string, &fresh)))
		return fresh.id;
	return string_cached(definitions, cache, string, TS_STRING_MAX_BYTES, definitions->n_bytes,
			     &cut);
}

uint32_t ts_definitions_text_cached(struct ts_definitions *definitions,
				    struct ts_string_cache *cache, const char *text, bool *ret_cut)
{
	return string_cached(definitions, cache, text, TS_ANNOTATION_MAX_BYTES,
			     definitions->text_bytes, ret_cut);
}

uint32_t ts_definitions_device_flags(const char *name)
{
	static const char virtual_name[] = "TraceSmith Virtual GPU";
	uint32_t flags = TS_DEVICE_VIRTUAL;

	if (!name || strncmp(name, virtual_name, sizeof(virtual_name) - 1) != 0)
		return 0;
	if (!strstr(name, "host clock"))
		flags |= TS_DEVICE_MODEL_CLOCK;
	if (strstr(name, "timed kernels"))
		flags |= TS_DEVICE_TIMED_KERNELS;
	return flags;
}
