/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligns the clocks of a copy's sources and writes the copy's metadata. copy.c calls this module
 * before it copies sessions. The module reads metadata and clock snapshots of each source.
 *
 * Sources of one machine since one boot share CLOCK_MONOTONIC and are not shifted. Any other source
 * is shifted by the difference of the distances between CLOCK_REALTIME and CLOCK_MONOTONIC. See
 * sbt/copy.h.
 */
#include "sbt/rewrite/copy-internal.h"

#include <inttypes.h>
#include <stdio.h>

#define SAME_CLOCK_NS UINT64_C(1000000000)

/* The distance from CLOCK_MONOTONIC to CLOCK_REALTIME in a source. */
struct distance {
	bool known;
	uint64_t least_ns, most_ns, error_ns;
};

static void distance_add(struct distance *distance, uint64_t realtime_ns, uint64_t monotonic_ns,
			 uint64_t error_ns)
{
	uint64_t ns = realtime_ns - monotonic_ns;

	if (realtime_ns < monotonic_ns)
		return;
	if (!distance->known || ns < distance->least_ns)
		distance->least_ns = ns;
	if (!distance->known || ns > distance->most_ns)
		distance->most_ns = ns;
	if (error_ns > distance->error_ns)
		distance->error_ns = error_ns;
	distance->known = true;
}

static uint64_t distance_ns(const struct distance *distance)
{
	return distance->least_ns + (distance->most_ns - distance->least_ns) / 2;
}

static uint64_t metadata_number(struct ts_sbt_reader *reader, const char *key)
{
	const char *text = ts_sbt_reader_metadata(reader, key);

	return text ? strtoull(text, NULL, 10) : 0;
}

static int measure(struct ts_copy *copy, struct ts_copy_source *source, struct distance *distance)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_CLOCK)};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	uint64_t realtime_ns = metadata_number(source->reader, TS_METADATA_START_REALTIME);
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(source->reader, &options, &cursor);

	if (realtime_ns)
		distance_add(distance, realtime_ns,
			     metadata_number(source->reader, TS_METADATA_START_MONOTONIC), 0);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT || r == TS_SBT_E_VERSION)
			r = 0;
		else if (!r && row.clock->clock == TS_CLOCK_REALTIME)
			distance_add(distance, row.clock->ticks, row.clock->start_ns,
				     row.clock->error_ns);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool same_machine(struct ts_sbt_reader *a, const struct distance *of_a,
			 struct ts_sbt_reader *b, const struct distance *of_b)
{
	const char *boot_a = ts_sbt_reader_metadata(a, TS_METADATA_BOOT_ID);
	const char *boot_b = ts_sbt_reader_metadata(b, TS_METADATA_BOOT_ID);
	uint64_t x = distance_ns(of_a), y = distance_ns(of_b);

	if (boot_a && boot_b)
		return !strcmp(boot_a, boot_b);
	/*
	 * If one source has no known distance, no shift can be computed, and the clocks count as
	 * the same.
	 */
	if (!of_a->known || !of_b->known)
		return true;
	return same_text(ts_sbt_reader_metadata(a, TS_METADATA_HOSTNAME),
			 ts_sbt_reader_metadata(b, TS_METADATA_HOSTNAME)) &&
	       (x < y ? y - x : x - y) <= SAME_CLOCK_NS;
}

int ts_copy_align(struct ts_copy *copy)
{
	ts_cleanup(ts_freep) struct distance *distances =
		calloc(copy->n_sources, sizeof(*distances));
	size_t first = 0;
	int r = 0;

	if (!distances)
		return -ENOMEM;
	if (copy->n_sources < 2)
		return 0;
	for (size_t i = 0; !r && i < copy->n_sources; i++) {
		r = measure(copy, &copy->sources[i], &distances[i]);
		/*
		 * The machine that is up longest has the smallest distance. All other sources are
		 * shifted to its clock, so every shift is positive and no time becomes negative.
		 */
		if (distances[i].known &&
		    (!distances[first].known ||
		     distance_ns(&distances[i]) < distance_ns(&distances[first])))
			first = i;
	}
	for (size_t i = 0; !r && i < copy->n_sources; i++) {
		const struct distance *own = &distances[i], *to = &distances[first];
		struct ts_copy_source *source = &copy->sources[i];

		if (i == first ||
		    same_machine(source->reader, own, copy->sources[first].reader, to))
			continue;
		source->shift_ns = distance_ns(own) - distance_ns(to);
		source->asked->shift_ns = source->shift_ns;
		source->asked->shift_error_ns = (own->most_ns - own->least_ns) / 2 + own->error_ns +
						(to->most_ns - to->least_ns) / 2 + to->error_ns + 1;
	}
	return r;
}

/* Metadata */

/*
 * True for a key that describes one recording, and would be wrong for a trace made of several
 * sources.
 */
static bool is_of_one_file(const char *key)
{
	return !strcmp(key, TS_METADATA_CONTINUES);
}

static bool agreed(struct ts_copy *copy, const char *key, const char *value)
{
	for (size_t i = 0; i < copy->n_sources; i++)
		if (!same_text(ts_sbt_reader_metadata(copy->sources[i].reader, key), value))
			return false;
	return true;
}

static int copy_fact(struct ts_copy *copy, struct ts_copy_source *source, const char *key,
		     const char *value)
{
	ts_cleanup(ts_freep) char *numbered = NULL;

	if (agreed(copy, key, value) && !(copy->n_sources > 1 && is_of_one_file(key)))
		return source->number > 1 ? 0 : ts_sbt_writer_metadata(copy->writer, key, value);
	if (asprintf(&numbered, "%" PRIu32 ".%s", source->number, key) < 0) {
		numbered = NULL;
		return -ENOMEM;
	}
	return ts_sbt_writer_metadata(copy->writer, numbered, value);
}

static int write_number(struct ts_copy *copy, const struct ts_copy_source *source, const char *key,
			uint64_t value)
{
	char name[64], text[32];

	snprintf(name, sizeof(name), "%" PRIu32 ".%s", source->number, key);
	snprintf(text, sizeof(text), "%" PRIu64, value);
	return ts_sbt_writer_metadata(copy->writer, name, text);
}

/* Writes the metadata that every trace has, from the source whose clock the copy uses. */
static int write_clock(struct ts_copy *copy)
{
	static const char *const keys[] = {TS_METADATA_START_REALTIME, TS_METADATA_START_MONOTONIC,
					   TS_METADATA_HOSTNAME,       TS_METADATA_BOOT_ID,
					   TS_METADATA_KERNEL,	       TS_METADATA_DAEMON_VERSION};
	struct ts_copy_source *source = copy->sources;
	int r = 0;

	while (source->asked->shift_error_ns)
		source++;
	for (size_t i = 0; !r && i < TS_ARRAY_LEN(keys); i++) {
		const char *value = ts_sbt_reader_metadata(source->reader, keys[i]);

		if (value)
			r = ts_sbt_writer_metadata(copy->writer, keys[i], value);
	}
	return r;
}

static int write_origin(struct ts_copy *copy)
{
	const struct ts_sbt_copy_options *options = copy->options;
	char text[64], name[32];
	int r = 0;

	if (copy->n_sources == 1) {
		r = ts_sbt_writer_metadata(copy->writer, TS_METADATA_CUT_FROM,
					   copy->sources->asked->name);
		snprintf(text, sizeof(text), "%" PRIu64 "..", options->from_ns);
		if (options->to_ns)
			snprintf(text, sizeof(text), "%" PRIu64 "..%" PRIu64, options->from_ns,
				 options->to_ns);
		if (options->has_window)
			r = r ?: ts_sbt_writer_metadata(copy->writer, TS_METADATA_CUT_WINDOW, text);
		return r;
	}
	for (size_t i = 0; !r && i < copy->n_sources; i++) {
		const struct ts_copy_source *source = &copy->sources[i];

		snprintf(name, sizeof(name), "%" PRIu32 "." TS_METADATA_FILE, source->number);
		r = ts_sbt_writer_metadata(copy->writer, name, source->asked->name);
		if (!r && source->asked->shift_error_ns) {
			r = write_number(copy, source, TS_METADATA_SHIFT, source->shift_ns);
			r = r
				    ?: write_number(copy, source, TS_METADATA_SHIFT_ERROR,
						    source->asked->shift_error_ns);
		}
	}
	return r;
}

int ts_copy_metadata(struct ts_copy *copy)
{
	int r = 0;

	for (size_t i = 0; i < copy->n_sources; i++) {
		struct ts_copy_source *source = &copy->sources[i];

		for (size_t j = 0; !r && j < ts_sbt_reader_n_metadata(source->reader); j++) {
			const char *key, *value;

			ts_sbt_reader_metadata_at(source->reader, j, &key, &value);
			if (key && value)
				r = copy_fact(copy, source, key, value);
		}
		/*
		 * If any source was cut short, the copy has this key without a source's number, so
		 * that readers do not overlook the missing end.
		 */
		if (!r && ts_sbt_reader_metadata(source->reader, TS_METADATA_CUT_SHORT))
			r = ts_sbt_writer_metadata(copy->writer, TS_METADATA_CUT_SHORT,
						   ts_sbt_reader_metadata(source->reader,
									  TS_METADATA_CUT_SHORT));
	}
	r = r ?: write_clock(copy);
	return r ?: write_origin(copy);
}
