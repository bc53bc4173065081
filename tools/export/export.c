/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports a trace with one call: selects the format, and names kernels, threads, streams and code
 * as tsctl prints them. tsctl and libtracesmith's users call this file; it calls the formats and
 * replay/report.
 */
#include "tools/export/export.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "proto/abi/base.h"
#include "replay/report/names/resolver.h"
#include "replay/report/stacks/codeplace.h"
#include "tools/export/export-memory.h"
#include "tools/export/export-names.h"

#define GENERATOR "TraceSmith " TS_EXPORT_VERSION

static ts_export_fn *const formats[TS_EXPORT_N_FORMATS] = {
	[TS_EXPORT_FORMAT_PERFETTO] = ts_export_perfetto,
	[TS_EXPORT_FORMAT_JSON] = ts_export_kineto,
	[TS_EXPORT_FORMAT_FOLDED] = ts_export_folded,
	[TS_EXPORT_FORMAT_PPROF] = ts_export_pprof,
	[TS_EXPORT_FORMAT_SVG] = ts_export_flame,
	[TS_EXPORT_FORMAT_HTML] = ts_export_page,
};

/* The `user` of an export whose caller gave no names. */
struct named {
	struct ts_resolver *resolver;
	const struct ts_export_options *options; /* of the caller */
	char place[TS_CODEPLACE_BYTES];
};

static const char *kernel_name(void *user, uint32_t name)
{
	struct named *named = user;

	return ts_resolver_kernel_name(named->resolver, name);
}

static const char *thread_name(void *user, uint32_t session, const struct ts_row_thread *thread)
{
	struct named *named = user;

	return ts_resolver_thread_name(named->resolver, session, thread);
}

static const char *stream_name(void *user, const struct ts_sbt_row *row)
{
	struct named *named = user;

	return ts_resolver_stream_name(named->resolver, row);
}

static const char *place_name(void *user, uint32_t session, uint32_t stack, uint64_t time_ns)
{
	struct named *named = user;
	struct ts_codeplace place;

	if (!ts_codeplace_of(named->resolver, session, stack, time_ns, NULL, &place))
		return NULL;
	ts_codeplace_text(&place, named->place);
	return named->place;
}

static const struct ts_export_names default_names = {
	TS_EXPORT_NAMES_OF_NUMBERS, .kernel = kernel_name, .thread = thread_name,
	.stream = stream_name,	    .place = place_name,
};

static void step(void *user, uint64_t n_rows)
{
	const struct ts_export_options *options = ((struct named *)user)->options;

	options->step(options->user, n_rows);
}

static int export_named(struct ts_sbt_reader *reader, ts_export_fn *write,
			const struct ts_export_options *options, FILE *file,
			struct ts_export_report *ret_report)
{
	ts_cleanup(ts_resolver_freep) struct ts_resolver *resolver = NULL;
	struct ts_resolver_options resolved = {.mangled = options->mangled};
	struct ts_export_options own = *options;
	struct named named = {.options = options};
	int r = ts_resolver_new(reader, &resolved, &resolver);

	if (r)
		return r;
	named.resolver = resolver;
	own.names = &default_names;
	own.step = options->step ? step : NULL;
	own.user = &named;
	own.generator = options->generator ? options->generator : GENERATOR;
	return write(reader, &own, file, ret_report);
}

int ts_export_by(ts_export_fn *write, struct ts_sbt_reader *reader,
		 const struct ts_export_options *options, FILE *file,
		 struct ts_export_report *ret_report)
{
	static const struct ts_export_options whole = {.weight = TS_EXPORT_GPU_TIME};
	const struct ts_export_options *wanted = options ? options : &whole;
	const volatile int *before = NULL;
	int r;

	if ((unsigned)wanted->weight >= TS_EXPORT_N_WEIGHTS)
		return -EINVAL;
	/* Else the caller may have set a flag itself. */
	if (wanted->cancel)
		before = ts_sbt_reader_cancel(reader, wanted->cancel);
	r = wanted->names ? write(reader, wanted, file, ret_report)
			  : export_named(reader, write, wanted, file, ret_report);
	if (wanted->cancel)
		ts_sbt_reader_cancel(reader, before);
	return r;
}

int ts_export(struct ts_sbt_reader *reader, enum ts_export_format format,
	      const struct ts_export_options *options, FILE *file,
	      struct ts_export_report *ret_report)
{
	if ((unsigned)format >= TS_EXPORT_N_FORMATS)
		return -EINVAL;
	return ts_export_by(formats[format], reader, options, file, ret_report);
}

/* The stream of ts_export_fd(); a stream of stdio would forget the errno of a failed write. */
struct sink {
	int fd;
	int error; /* negative errno of the first failed write */
};

/* Writes all bytes, because stdio takes fewer for an error. Returns 0 after an error. */
static ssize_t sink_write(void *data, const char *bytes, size_t n_bytes)
{
	struct sink *sink = data;
	size_t at = 0;

	while (at < n_bytes) {
		ssize_t n = write(sink->fd, bytes + at, n_bytes - at);

		if (n > 0) {
			at += (size_t)n;
		} else if (!n || errno != EINTR) {
			sink->error = sink->error ? sink->error : n ? -errno : -EIO;
			return 0;
		}
	}
	return (ssize_t)n_bytes;
}

int ts_export_fd(struct ts_sbt_reader *reader, enum ts_export_format format,
		 const struct ts_export_options *options, int fd,
		 struct ts_export_report *ret_report)
{
	struct sink sink = {.fd = fd};
	FILE *file = fopencookie(&sink, "w", (cookie_io_functions_t){.write = sink_write});
	int r;

	if (!file)
		return -ENOMEM;
	r = ts_export(reader, format, options, file, ret_report);
	if (fclose(file) && !r)
		r = -EIO;
	return sink.error && (!r || r == -EIO) ? sink.error : r;
}

enum ts_export_format ts_export_format_of(const char *name)
{
	static const struct {
		const char *name;
		enum ts_export_format format;
	} named[] = {
		{"perfetto", TS_EXPORT_FORMAT_PERFETTO}, {"json", TS_EXPORT_FORMAT_JSON},
		{"chrome", TS_EXPORT_FORMAT_JSON},	 {"folded", TS_EXPORT_FORMAT_FOLDED},
		{"pprof", TS_EXPORT_FORMAT_PPROF},	 {"svg", TS_EXPORT_FORMAT_SVG},
		{"html", TS_EXPORT_FORMAT_HTML},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(named); i++)
		if (!strcmp(named[i].name, name))
			return named[i].format;
	return TS_EXPORT_N_FORMATS;
}
