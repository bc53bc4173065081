/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishes the application's names as definitions of a session: at once if a session exists, else
 * when the session begins. annotation.c and shim.c call this file. This file calls the text tables
 * (annotation-texts.c) and the definition arena (inject/ring/definitions.c). See
 * annotation-names.h.
 */
#include <stdio.h>

#include "inject/annotate/annotation-names.h"
#include "inject/cuda/renumber.h"

/*
 * Finds the context and stream of a handle. CUPTI needs no context for handles below 3; the null
 * stream is the one of the current context.
 */
static void find_stream(struct ts_shim *shim, uint64_t handle, struct ts_definition_name *name)
{
	uint32_t stream;

	if (ts_stream_table_find_handle(&shim->hip.streams, handle, &name->context, &name->stream))
		return;
	if (ts_stream_table_find_handle(&shim->streams, handle, &name->context, &name->stream)) {
		name->context = ts_renumbered_context(name->context, shim->first_cuda_device);
		return;
	}
	if (handle < 3 && ts_cupti_is_ours(&shim->cupti) && shim->cupti.cuptiGetStreamIdEx &&
	    !shim->cupti.cuptiGetStreamIdEx(NULL, NULL, handle == 2, &stream))
		name->stream = stream;
}

void ts_names_publish(void *data, enum ts_name_kind kind, const struct ts_domain *domain,
		      uint64_t object, struct ts_text *text)
{
	struct ts_shim *shim = data;
	struct ts_definition_name name = {
		.definition.type = TS_DEF_NAME,
		.definition.flags = (uint16_t)kind,
		.object = object,
		.time = ts_producer_ticks(&shim->producer),
		.domain = ts_names_domain(shim, domain),
		.name = ts_texts_id(&shim->definitions, shim->epoch, text),
	};

	if (kind == TS_NAME_DEVICE)
		name.object += shim->first_cuda_device;
	if (kind == TS_NAME_STREAM) {
		name.stream = TS_NO_DEVICE;
		find_stream(shim, object, &name);
	}
	(void)ts_definitions_add(&shim->definitions, &name.definition, sizeof(name));
}

void ts_names_session_began(struct ts_shim *shim)
{
	ts_texts_each_name(ts_names_publish, shim);
}

void ts_names_missing(struct ts_shim *shim, const char *holder)
{
	char text[320];

	snprintf(text, sizeof(text),
		 "NVTX_INJECTION64_PATH is %.255s: that tool receives the NVTX ranges", holder);
	ts_names_note(shim, text);
}

void ts_names_note(struct ts_shim *shim, const char *text)
{
	static const char own_domain[] = TS_OWN_DOMAIN;
	struct ts_thread *thread = ts_names_thread(shim);
	struct ts_record_annotation *out;
	uint32_t name, domain;

	if (!thread)
		return;
	name = ts_definitions_text(&shim->definitions, text, strlen(text));
	domain = ts_definitions_text(&shim->definitions, own_domain, sizeof(own_domain) - 1);
	out = ts_thread_reserve(thread, TS_RECORD_MARK, sizeof(*out), shim->producer.clock,
				ts_producer_ticks(&shim->producer));
	if (!out)
		return;
	memset((uint8_t *)out + sizeof(out->record), 0, sizeof(*out) - sizeof(out->record));
	out->name = name;
	out->domain = domain;
	out->stack = TS_ID_UNKNOWN;
	ts_thread_commit(thread, sizeof(*out));
}
