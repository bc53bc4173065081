/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-size tables of texts, domains and names. Other files of this folder call this file; this
 * file calls ts_unlocked_map() for memory and ts_definitions_text() for ids.
 *
 * The tables are mapped at first use. Each entry is written once and then published, so a reader
 * sees only complete entries. Adding takes a lock on a page that a fork wipes in the child, so the
 * child finds the lock free. The tables of map.h are not used here: they move when they grow, so a
 * thread could not read them without a lock.
 */
#include <sys/mman.h>

#include "inject/annotate/annotation-texts.h"
#include "inject/ring/unlocked.h"
#include "proto/abi/tablehash.h"

#define BUCKETS	    16384u
#define CHUNK_BYTES (64u * 1024)
#define NAMES_MOST  (TS_NAMES_SLOTS / 4 * 3)

struct name {
	uint64_t object;
	const struct ts_domain *domain;
	struct ts_text *text; /* NULL: the slot is free */
	uint32_t kind;
	uint32_t reserved;
};

struct tables {
	struct ts_text texts[TS_TEXTS_MAX];
	struct ts_text *buckets[BUCKETS];
	struct ts_domain domains[TS_DOMAINS_MAX + 1]; /* [0]: shared by all that find no room */
	struct name names[TS_NAMES_SLOTS];
	uint32_t n_texts;
	uint32_t n_domains;
	uint32_t n_names;
	uint32_t text_bytes;
	char *chunk;
	size_t chunk_left;
};

/* have_tables() sets both pointers once. Other threads may read them at the same time. */
static struct tables *tables;
static pthread_mutex_t *lock;

static struct tables *the_tables(void)
{
	return __atomic_load_n(&tables, __ATOMIC_ACQUIRE);
}

static pthread_mutex_t *the_lock(void)
{
	return __atomic_load_n(&lock, __ATOMIC_ACQUIRE);
}

/*
 * Maps the tables and the lock, or fails. If two threads map them at once, the mapping of one
 * thread stays.
 */
static bool have_tables(void)
{
	static const pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
	const size_t n_page = (size_t)sysconf(_SC_PAGESIZE);
	struct tables *made, *none = NULL;
	pthread_mutex_t *made_lock, *no_lock = NULL;

	/* Acquire pairs with the exchange below. */
	if (the_tables())
		return true;
	made_lock = ts_unlocked_map(n_page);
	/*
	 * A wiped page is zeroes. No specification promises that a free lock is zeroes, so the code
	 * checks it.
	 */
	if (!made_lock || memcmp(made_lock, &free_lock, sizeof(free_lock)) ||
	    madvise(made_lock, n_page, MADV_WIPEONFORK) < 0) {
		if (made_lock)
			munmap(made_lock, n_page);
		return false;
	}
	if (!__atomic_compare_exchange_n(&lock, &no_lock, made_lock, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		munmap(made_lock, n_page);
	made = ts_unlocked_map(sizeof(*made));
	if (!made)
		return false;
	if (!__atomic_compare_exchange_n(&tables, &none, made, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		munmap(made, sizeof(*made));
	return true;
}

static uint64_t hash_of(const char *bytes, size_t n_bytes)
{
	uint64_t hash = ts_hash_bytes(TS_HASH_GOLDEN ^ n_bytes, bytes, n_bytes);

	return hash ^ hash >> 29;
}

static struct ts_text *find(uint64_t hash, const char *bytes, size_t n_bytes)
{
	/* Acquire pairs with the release in add_text(). */
	struct ts_text *text =
		__atomic_load_n(&the_tables()->buckets[hash % BUCKETS], __ATOMIC_ACQUIRE);

	while (text && (text->hash != hash || text->n_bytes != n_bytes ||
			memcmp(text->bytes, bytes, n_bytes)))
		text = text->next;
	return text;
}

/* The caller holds the lock. */
static char *take_bytes(size_t n_bytes)
{
	char *taken;

	if (n_bytes > TS_TEXTS_MAX_BYTES - the_tables()->text_bytes)
		return NULL;
	if (n_bytes > the_tables()->chunk_left) {
		the_tables()->chunk = ts_unlocked_map(CHUNK_BYTES);
		the_tables()->chunk_left = the_tables()->chunk ? CHUNK_BYTES : 0;
		if (!the_tables()->chunk)
			return NULL;
	}
	taken = the_tables()->chunk;
	the_tables()->chunk += n_bytes;
	the_tables()->chunk_left -= n_bytes;
	the_tables()->text_bytes += (uint32_t)n_bytes;
	return taken;
}

/* The caller holds the lock. */
static struct ts_text *add_text(uint64_t hash, const char *bytes, size_t n_bytes)
{
	struct ts_text *text = &the_tables()->texts[the_tables()->n_texts];
	char *copy = the_tables()->n_texts < TS_TEXTS_MAX ? take_bytes(n_bytes) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, bytes, n_bytes);
	*text = (struct ts_text){
		.hash = hash,
		.next = the_tables()->buckets[hash % BUCKETS],
		.bytes = copy,
		.n_bytes = (uint32_t)n_bytes,
	};
	the_tables()->n_texts++;
	__atomic_store_n(&the_tables()->buckets[hash % BUCKETS], text, __ATOMIC_RELEASE);
	return text;
}

struct ts_text *ts_texts_register(const char *text, size_t n_bytes)
{
	struct ts_text *found;
	uint64_t hash;

	if (n_bytes > TS_ANNOTATION_MAX_BYTES || !have_tables())
		return NULL;
	hash = hash_of(text, n_bytes);
	found = find(hash, text, n_bytes);
	if (found)
		return found;
	pthread_mutex_lock(the_lock());
	found = find(hash, text, n_bytes);
	if (!found)
		found = add_text(hash, text, n_bytes);
	pthread_mutex_unlock(the_lock());
	return found;
}

bool ts_texts_is_text(const void *handle)
{
	const struct tables *known = the_tables();
	uintptr_t off = (uintptr_t)handle - (uintptr_t)known;

	return known && off < sizeof(known->texts) && off % sizeof(struct ts_text) == 0 &&
	       known->texts[off / sizeof(struct ts_text)].bytes;
}

uint32_t ts_texts_id(struct ts_definitions *definitions, uint32_t epoch, struct ts_text *text)
{
	uint64_t known_as = __atomic_load_n(&text->known_as, __ATOMIC_RELAXED);
	uint32_t id;

	if (ts_likely(known_as >> 32 == epoch))
		return (uint32_t)known_as;
	id = ts_definitions_text(definitions, text->bytes, text->n_bytes);
	if (id)
		__atomic_store_n(&text->known_as, (uint64_t)epoch << 32 | id, __ATOMIC_RELAXED);
	return id;
}

struct ts_domain *ts_texts_domain(const char *name, size_t n_bytes, bool *ret_full)
{
	struct ts_text *text = ts_texts_register(name, n_bytes);
	struct ts_domain *domain = NULL;
	uint32_t i;

	*ret_full = false;
	if (!have_tables())
		return NULL;
	pthread_mutex_lock(the_lock());
	for (i = 1; text && !domain && i <= the_tables()->n_domains; i++)
		if (the_tables()->domains[i].name == text)
			domain = &the_tables()->domains[i];
	if (!domain && text && the_tables()->n_domains < TS_DOMAINS_MAX) {
		domain = &the_tables()->domains[the_tables()->n_domains + 1];
		domain->name = text;
		the_tables()->n_domains++;
	}
	pthread_mutex_unlock(the_lock());
	*ret_full = !domain;
	return domain ? domain : &the_tables()->domains[0];
}

uint32_t ts_texts_domain_number(const void *handle)
{
	const struct tables *known = the_tables();
	uintptr_t off = known ? (uintptr_t)handle - (uintptr_t)known->domains : 0;

	if (!known || off >= sizeof(known->domains) || off % sizeof(struct ts_domain))
		return 0;
	return (uint32_t)(off / sizeof(struct ts_domain)) + 1;
}

static uint32_t slot_of(enum ts_name_kind kind, const struct ts_domain *domain, uint64_t object)
{
	uint64_t hash =
		ts_hash_add(object ^ (uint64_t)(uintptr_t)domain << 7, (uint64_t)kind << 56);

	return (uint32_t)(hash >> 32) % TS_NAMES_SLOTS;
}

bool ts_texts_name(enum ts_name_kind kind, const struct ts_domain *domain, uint64_t object,
		   const char *name, size_t n_bytes, bool *ret_full)
{
	struct ts_text *text = ts_texts_register(name, n_bytes);
	struct name *slot = NULL;
	bool news = false;
	uint32_t at, i;

	*ret_full = !text;
	if (!text)
		return false;
	at = slot_of(kind, domain, object);
	pthread_mutex_lock(the_lock());
	for (i = 0; i < TS_NAMES_SLOTS; i++) {
		slot = &the_tables()->names[(at + i) % TS_NAMES_SLOTS];
		if (!slot->text || (slot->kind == (uint32_t)kind && slot->domain == domain &&
				    slot->object == object))
			break;
	}
	if (slot->text) {
		news = slot->text != text;
		__atomic_store_n(&slot->text, text, __ATOMIC_RELEASE);
	} else if (the_tables()->n_names < NAMES_MOST) {
		the_tables()->n_names++;
		slot->object = object;
		slot->domain = domain;
		slot->kind = kind;
		/* Release pairs with the acquire in ts_texts_each_name(). */
		__atomic_store_n(&slot->text, text, __ATOMIC_RELEASE);
		news = true;
	} else {
		*ret_full = true;
	}
	pthread_mutex_unlock(the_lock());
	return news;
}

void ts_texts_each_name(void (*call)(void *data, enum ts_name_kind kind,
				     const struct ts_domain *domain, uint64_t object,
				     struct ts_text *name),
			void *data)
{
	struct tables *known = the_tables();
	uint32_t i;

	if (!known || !known->n_names)
		return;
	for (i = 0; i < TS_NAMES_SLOTS; i++) {
		struct name *name = &known->names[i];
		struct ts_text *text = __atomic_load_n(&name->text, __ATOMIC_ACQUIRE);

		if (text)
			call(data, (enum ts_name_kind)name->kind, name->domain, name->object, text);
	}
}
