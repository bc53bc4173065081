/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads rocprofiler-sdk's records. rocprofiler-tool.c calls this file for each record of a buffer
 * and for each loaded kernel. It calls no other file.
 *
 * A record has its own size. Newer releases append to records, so a longer record is read up to the
 * part that is known. A shorter one is refused.
 */
#include "inject/rocprofiler/rocprofiler-records.h"

#include <stdlib.h>
#include <string.h>

/* The names of one page of ids. */
#define PAGE_NAMES 256u
#define N_PAGES	   (TS_ROCPROFILER_MAX_NAMES / PAGE_NAMES)

/* Longest name; C++ has names of some thousand bytes. */
#define MAX_NAME_BYTES 65536u

static struct {
	char **pages[N_PAGES];
	uint64_t n_bytes;
} names;

static void read_dispatch(const struct ts_rocprofiler_dispatch_record *record,
			  struct ts_rocprofiler_work *ret)
{
	ret->kind = TS_ROCPROFILER_KERNEL;
	ret->kernel_id = record->info.kernel_id;
	for (size_t i = 0; i < 3; i++) {
		const uint32_t block = record->info.workgroup[i], items = record->info.grid[i];

		ret->block[i] = block;
		/* The blocks at the edge may be smaller. */
		ret->grid[i] = block ? items / block + (items % block != 0) : 0;
	}
}

static void read_copy(const struct ts_rocprofiler_copy_record *record,
		      struct ts_rocprofiler_work *ret)
{
	ret->kind = TS_ROCPROFILER_COPY;
	ret->operation = record->record.operation;
	ret->bytes = record->bytes;
}

enum ts_rocprofiler_verdict ts_rocprofiler_read(const struct ts_rocprofiler_record_header *header,
						struct ts_rocprofiler_work *ret)
{
	const struct ts_rocprofiler_record *record;
	bool is_kernel;

	if (!header || !header->payload)
		return TS_ROCPROFILER_BAD;
	if (header->category != TS_ROCPROFILER_BUFFER_CATEGORY_TRACING ||
	    (header->kind != TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH &&
	     header->kind != TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY))
		return TS_ROCPROFILER_UNKNOWN;
	is_kernel = header->kind == TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH;
	record = header->payload;
	if (record->size < (is_kernel ? sizeof(struct ts_rocprofiler_dispatch_record)
				      : TS_ROCPROFILER_COPY_RECORD_BYTES_0_4) ||
	    record->kind != header->kind)
		return TS_ROCPROFILER_BAD;
	*ret = (struct ts_rocprofiler_work){
		.op_id = record->correlation.external,
		.start_ns = record->start_ns,
		.end_ns = record->end_ns,
	};
	if (is_kernel)
		read_dispatch(header->payload, ret);
	else
		read_copy(header->payload, ret);
	return TS_ROCPROFILER_WORK;
}

/* True if these words of a callback's record are a kernel's that is being loaded. */
static bool is_symbol(uint32_t kind, uint32_t operation, uint32_t phase)
{
	return kind == TS_ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT &&
	       operation == TS_ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER &&
	       phase == TS_ROCPROFILER_CALLBACK_PHASE_LOAD;
}

const struct ts_rocprofiler_kernel_symbol *ts_rocprofiler_symbol(
	const struct ts_rocprofiler_callback_record *record)
{
	struct ts_rocprofiler_callback_record_0_4 old;
	const struct ts_rocprofiler_kernel_symbol *symbol = NULL;

	/*
	 * The older layout has the kind where the newer one has the ancestor's id. Ancestors are
	 * small numbers, so their upper half, the older operation, is 0.
	 */
	memcpy(&old, record, sizeof(old));
	if (is_symbol(old.kind, old.operation, old.phase))
		symbol = old.payload;
	else if (is_symbol(record->kind, record->operation, record->phase))
		symbol = record->payload;
	return symbol && symbol->size >= sizeof(*symbol) && symbol->kernel_name ? symbol : NULL;
}

/* Returns the place of an id's name; NULL: none. With `makes`, makes its page. */
static char **place_of(uint64_t kernel_id, bool makes)
{
	char **page, **expected = NULL;

	if (kernel_id >= TS_ROCPROFILER_MAX_NAMES)
		return NULL;
	/* Acquire: pairs with the release below. */
	page = __atomic_load_n(&names.pages[kernel_id / PAGE_NAMES], __ATOMIC_ACQUIRE);
	if (!page && makes) {
		page = calloc(PAGE_NAMES, sizeof(*page));
		if (page &&
		    !__atomic_compare_exchange_n(&names.pages[kernel_id / PAGE_NAMES], &expected,
						 page, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			free(page);
			page = expected;
		}
	}
	return page ? &page[kernel_id % PAGE_NAMES] : NULL;
}

bool ts_rocprofiler_name_put(uint64_t kernel_id, const char *name)
{
	static const char ending[] = ".kd";
	size_t n = strnlen(name, MAX_NAME_BYTES);
	char **place = place_of(kernel_id, true), *none = NULL, *copy;

	if (n > sizeof(ending) - 1 && !memcmp(name + n - (sizeof(ending) - 1), ending, 3))
		n -= sizeof(ending) - 1;
	if (!place || !n || n == MAX_NAME_BYTES || __atomic_load_n(place, __ATOMIC_RELAXED) ||
	    __atomic_fetch_add(&names.n_bytes, n, __ATOMIC_RELAXED) >= TS_ROCPROFILER_NAMES_BYTES)
		return false;
	copy = strndup(name, n);
	/* Release: pairs with the acquire in ts_rocprofiler_name(). */
	if (copy && !__atomic_compare_exchange_n(place, &none, copy, false, __ATOMIC_RELEASE,
						 __ATOMIC_RELAXED)) {
		free(copy);
		return false;
	}
	return copy != NULL;
}

const char *ts_rocprofiler_name(uint64_t kernel_id)
{
	char *const *place = place_of(kernel_id, false);

	return place ? __atomic_load_n(place, __ATOMIC_ACQUIRE) : NULL;
}
