/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TraceSmith's tool for NVTX. Each library and program that includes NVTX's headers has its own
 * instance of NVTX. The instance's first call loads the library that NVTX_INJECTION64_PATH names
 * (this library, see preload.c) and calls InitializeInjectionNvtx2(). This function puts the
 * functions below into the instance's table; they call annotation.c. Attaching begins no session:
 * the first mark or range begins one.
 *
 * The tool checks all input from the application: structures by their version and size, handles by
 * their address. Invalid parts are counted, and the rest is recorded.
 */
#include "inject/annotate/annotation.h"
#include "proto/abi/vendor/nvtx.h"

#include <wchar.h>

/*
 * Larger than any future version of the structure; a larger size means that the structure was not
 * filled in.
 */
#define MOST_ATTRIBUTE_BYTES 1024u
/*
 * The domain of all invalid handles, so that a pop with an invalid handle ends a range that was
 * pushed with an invalid handle.
 */
#define NO_DOMAIN    UINT32_MAX
#define MOST_VERSION 255u

/* A text in UTF-8. */
struct text {
	char bytes[TS_ANNOTATION_MAX_BYTES + 1];
	size_t n;
	bool cut;
};

static size_t encode(uint32_t c, char out[4])
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static void from_wide(const wchar_t *wide, struct text *ret_text)
{
	char one[4];

	ret_text->n = 0;
	ret_text->cut = false;
	for (; *wide; wide++) {
		size_t n = encode((uint32_t)*wide, one);

		if (n > TS_ANNOTATION_MAX_BYTES - ret_text->n) {
			ret_text->cut = true;
			break;
		}
		memcpy(ret_text->bytes + ret_text->n, one, n);
		ret_text->n += n;
	}
	ret_text->bytes[ret_text->n] = '\0';
}

/* Returns how many bytes of the text are kept. */
static size_t length(const char *text)
{
	size_t n = strnlen(text, TS_ANNOTATION_MAX_BYTES);

	if (n < TS_ANNOTATION_MAX_BYTES || !text[n])
		return n;
	ts_annotation_count(TS_LOSS_TEXT_CUT);
	/* Do not cut within a UTF-8 character. */
	while (n && ((uint8_t)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static struct ts_domain *domain_of(const void *handle, struct ts_annotation *annotation)
{
	if (!handle)
		return NULL;
	annotation->domain_key = ts_texts_domain_number(handle);
	if (annotation->domain_key)
		return (struct ts_domain *)(uintptr_t)handle;
	annotation->domain_key = NO_DOMAIN;
	annotation->malformed = true;
	return NULL;
}

static bool is_sane(uint16_t version, uint16_t size, size_t least)
{
	return version && version <= MOST_VERSION && size >= least && size <= MOST_ATTRIBUTE_BYTES;
}

static void take_payload(const struct ts_nvtx_event_attributes *attributes,
			 struct ts_annotation *annotation)
{
	const union ts_nvtx_payload *payload = &attributes->payload;
	double value;

	annotation->payload_type = (uint8_t)attributes->payload_type;
	switch (attributes->payload_type) {
	case TS_NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
	case TS_NVTX_PAYLOAD_TYPE_INT64:
	case TS_NVTX_PAYLOAD_TYPE_DOUBLE:
		annotation->payload = payload->ull_value;
		break;
	case TS_NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
		annotation->payload = payload->ui_value;
		break;
	case TS_NVTX_PAYLOAD_TYPE_INT32:
		annotation->payload = (uint64_t)(int64_t)payload->i_value;
		break;
	case TS_NVTX_PAYLOAD_TYPE_FLOAT:
		value = (double)payload->f_value;
		memcpy(&annotation->payload, &value, sizeof(value));
		break;
	default:
		/* Payload types of extensions are unknown and count as no payload. */
		annotation->payload_type = TS_PAYLOAD_NONE;
		break;
	}
}

TS_STATIC_ASSERT(TS_PAYLOAD_U64 == (int)TS_NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 &&
			 TS_PAYLOAD_I64 == (int)TS_NVTX_PAYLOAD_TYPE_INT64 &&
			 TS_PAYLOAD_F64 == (int)TS_NVTX_PAYLOAD_TYPE_DOUBLE &&
			 TS_PAYLOAD_U32 == (int)TS_NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 &&
			 TS_PAYLOAD_I32 == (int)TS_NVTX_PAYLOAD_TYPE_INT32 &&
			 TS_PAYLOAD_F32 == (int)TS_NVTX_PAYLOAD_TYPE_FLOAT,
		 "the types of payloads are NVTX's");

/* `text` is the buffer for a wide message. */
static void take_message(int32_t type, const union ts_nvtx_message *message,
			 struct ts_annotation *annotation, struct text *text)
{
	switch (type) {
	case TS_NVTX_MESSAGE_UNKNOWN:
		return;
	case TS_NVTX_MESSAGE_TYPE_ASCII:
		annotation->text = message->ascii;
		return;
	case TS_NVTX_MESSAGE_TYPE_UNICODE:
		if (!message->unicode)
			return;
		from_wide(message->unicode, text);
		annotation->text = text->bytes;
		annotation->cut = text->cut;
		return;
	case TS_NVTX_MESSAGE_TYPE_REGISTERED:
		/* NULL is the handle of a string that found no room. */
		if (ts_texts_is_text(message->registered))
			annotation->registered = (struct ts_text *)(uintptr_t)message->registered;
		else if (message->registered)
			annotation->malformed = true;
		return;
	default:
		annotation->malformed = true;
	}
}

static void take_attributes(const struct ts_nvtx_event_attributes *attributes,
			    struct ts_annotation *annotation, struct text *text)
{
	if (!attributes || !is_sane(attributes->version, attributes->size, sizeof(*attributes))) {
		annotation->malformed = true;
		return;
	}
	annotation->category = attributes->category;
	if (attributes->color_type == TS_NVTX_COLOR_ARGB)
		annotation->color = attributes->color;
	take_payload(attributes, annotation);
	take_message(attributes->message_type, &attributes->message, annotation, text);
}

/* ---- domains ---- */

static void domain_mark_ex(void *domain, const struct ts_nvtx_event_attributes *attributes)
{
	struct ts_annotation annotation = {0};
	struct text text;

	annotation.domain = domain_of(domain, &annotation);
	take_attributes(attributes, &annotation, &text);
	ts_annotation_mark(&annotation);
}

static uint64_t domain_range_start_ex(void *domain,
				      const struct ts_nvtx_event_attributes *attributes)
{
	struct ts_annotation annotation = {0};
	struct text text;

	annotation.domain = domain_of(domain, &annotation);
	take_attributes(attributes, &annotation, &text);
	return ts_annotation_start(&annotation);
}

static void domain_range_end(void *domain, uint64_t id)
{
	ts_annotation_end(id);
}

static int domain_range_push_ex(void *domain, const struct ts_nvtx_event_attributes *attributes)
{
	struct ts_annotation annotation = {0};
	struct text text;

	annotation.domain = domain_of(domain, &annotation);
	take_attributes(attributes, &annotation, &text);
	return ts_annotation_push(&annotation);
}

static int domain_range_pop(void *domain)
{
	struct ts_annotation annotation = {0};

	(void)domain_of(domain, &annotation);
	return ts_annotation_pop(annotation.domain_key);
}

static void *register_string(const char *text, size_t n_bytes)
{
	struct ts_text *registered = ts_texts_register(text, n_bytes);

	if (!registered)
		ts_annotation_count(TS_LOSS_BAD_ANNOTATION);
	return registered;
}

static void *domain_register_string_a(void *domain, const char *string)
{
	return string ? register_string(string, length(string)) : NULL;
}

static void *domain_register_string_w(void *domain, const wchar_t *string)
{
	struct text text;

	if (!string)
		return NULL;
	from_wide(string, &text);
	if (text.cut)
		ts_annotation_count(TS_LOSS_TEXT_CUT);
	return register_string(text.bytes, text.n);
}

static void *create_domain(const char *name, size_t n_bytes)
{
	struct ts_domain *domain;
	bool full;

	domain = ts_texts_domain(name, n_bytes, &full);
	if (full)
		ts_annotation_count(TS_LOSS_BAD_ANNOTATION);
	return domain;
}

static void *domain_create_a(const char *name)
{
	return name ? create_domain(name, length(name)) : NULL;
}

static void *domain_create_w(const wchar_t *name)
{
	struct text text;

	if (!name)
		return NULL;
	from_wide(name, &text);
	if (text.cut)
		ts_annotation_count(TS_LOSS_TEXT_CUT);
	return create_domain(text.bytes, text.n);
}

/*
 * Does nothing: the handle stays valid, because the application may create a domain of that name
 * again. So the use of a destroyed domain is harmless.
 */
static void domain_destroy(void *domain)
{
}

/* Does nothing: the session begins at the first record. */
static void initialize(const void *reserved)
{
}

/* ---- the default domain ---- */

static void mark_ex(const struct ts_nvtx_event_attributes *attributes)
{
	domain_mark_ex(NULL, attributes);
}

static void mark_a(const char *message)
{
	const struct ts_annotation annotation = {.text = message};

	ts_annotation_mark(&annotation);
}

static void mark_w(const wchar_t *message)
{
	struct ts_annotation annotation = {0};
	struct text text;

	take_message(TS_NVTX_MESSAGE_TYPE_UNICODE, &(union ts_nvtx_message){.unicode = message},
		     &annotation, &text);
	ts_annotation_mark(&annotation);
}

static uint64_t range_start_ex(const struct ts_nvtx_event_attributes *attributes)
{
	return domain_range_start_ex(NULL, attributes);
}

static uint64_t range_start_a(const char *message)
{
	const struct ts_annotation annotation = {.text = message};

	return ts_annotation_start(&annotation);
}

static uint64_t range_start_w(const wchar_t *message)
{
	struct ts_annotation annotation = {0};
	struct text text;

	take_message(TS_NVTX_MESSAGE_TYPE_UNICODE, &(union ts_nvtx_message){.unicode = message},
		     &annotation, &text);
	return ts_annotation_start(&annotation);
}

static void range_end(uint64_t id)
{
	ts_annotation_end(id);
}

static int range_push_ex(const struct ts_nvtx_event_attributes *attributes)
{
	return domain_range_push_ex(NULL, attributes);
}

static int range_push_a(const char *message)
{
	const struct ts_annotation annotation = {.text = message};

	return ts_annotation_push(&annotation);
}

static int range_push_w(const wchar_t *message)
{
	struct ts_annotation annotation = {0};
	struct text text;

	take_message(TS_NVTX_MESSAGE_TYPE_UNICODE, &(union ts_nvtx_message){.unicode = message},
		     &annotation, &text);
	return ts_annotation_push(&annotation);
}

static int range_pop(void)
{
	return ts_annotation_pop(0);
}

/* ---- names ---- */

static void name_a(enum ts_name_kind kind, void *domain, uint64_t object, const char *name)
{
	struct ts_annotation checked = {0};
	struct ts_domain *of = domain_of(domain, &checked);

	if (checked.malformed || !name)
		ts_annotation_count(TS_LOSS_BAD_ANNOTATION);
	else
		ts_annotation_name(kind, of, object, name, length(name));
}

static void name_w(enum ts_name_kind kind, void *domain, uint64_t object, const wchar_t *name)
{
	struct text text;

	if (!name) {
		ts_annotation_count(TS_LOSS_BAD_ANNOTATION);
		return;
	}
	from_wide(name, &text);
	if (text.cut)
		ts_annotation_count(TS_LOSS_TEXT_CUT);
	name_a(kind, domain, object, text.bytes);
}

static void domain_name_category_a(void *domain, uint32_t category, const char *name)
{
	name_a(TS_NAME_CATEGORY, domain, category, name);
}

static void domain_name_category_w(void *domain, uint32_t category, const wchar_t *name)
{
	name_w(TS_NAME_CATEGORY, domain, category, name);
}

static void name_category_a(uint32_t category, const char *name)
{
	name_a(TS_NAME_CATEGORY, NULL, category, name);
}

static void name_category_w(uint32_t category, const wchar_t *name)
{
	name_w(TS_NAME_CATEGORY, NULL, category, name);
}

static void name_os_thread_a(uint32_t thread, const char *name)
{
	name_a(TS_NAME_THREAD, NULL, thread, name);
}

static void name_os_thread_w(uint32_t thread, const wchar_t *name)
{
	name_w(TS_NAME_THREAD, NULL, thread, name);
}

/*
 * Functions that name objects of the driver and of the runtime. A device is an ordinal; every other
 * object is a handle.
 */
#define NAMES_OF(what, kind)                                           \
	static void name_##what##_a(void *object, const char *name)    \
	{                                                              \
		name_a(kind, NULL, (uint64_t)(uintptr_t)object, name); \
	}                                                              \
	static void name_##what##_w(void *object, const wchar_t *name) \
	{                                                              \
		name_w(kind, NULL, (uint64_t)(uintptr_t)object, name); \
	}

NAMES_OF(context, TS_NAME_CONTEXT)
NAMES_OF(stream, TS_NAME_STREAM)
NAMES_OF(event, TS_NAME_EVENT)

static void name_device_a(int device, const char *name)
{
	name_a(TS_NAME_DEVICE, NULL, (uint64_t)(int64_t)device, name);
}

static void name_device_w(int device, const wchar_t *name)
{
	name_w(TS_NAME_DEVICE, NULL, (uint64_t)(int64_t)device, name);
}

static enum ts_name_kind kind_of_resource(int32_t type)
{
	switch (type) {
	case TS_NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE:
		return TS_NAME_THREAD;
	case TS_NVTX_RESOURCE_TYPE_CUDA_DEVICE:
	case TS_NVTX_RESOURCE_TYPE_CUDART_DEVICE:
		return TS_NAME_DEVICE;
	case TS_NVTX_RESOURCE_TYPE_CUDA_CONTEXT:
		return TS_NAME_CONTEXT;
	case TS_NVTX_RESOURCE_TYPE_CUDA_STREAM:
	case TS_NVTX_RESOURCE_TYPE_CUDART_STREAM:
		return TS_NAME_STREAM;
	case TS_NVTX_RESOURCE_TYPE_CUDA_EVENT:
	case TS_NVTX_RESOURCE_TYPE_CUDART_EVENT:
		return TS_NAME_EVENT;
	default:
		return TS_NAME_OTHER;
	}
}

/* Records the name of an object. Returns no handle, because the object identifies the resource. */
static void *domain_resource_create(void *domain,
				    const struct ts_nvtx_resource_attributes *attributes)
{
	struct ts_annotation annotation = {0};
	enum ts_name_kind kind;
	struct text text;

	if (!attributes || !is_sane(attributes->version, attributes->size, sizeof(*attributes))) {
		ts_annotation_count(TS_LOSS_BAD_ANNOTATION);
		return NULL;
	}
	kind = kind_of_resource(attributes->identifier_type);
	take_message(attributes->message_type, &attributes->message, &annotation, &text);
	if (annotation.registered) {
		memcpy(text.bytes, annotation.registered->bytes, annotation.registered->n_bytes);
		text.bytes[annotation.registered->n_bytes] = '\0';
		annotation.text = text.bytes;
	}
	/* Threads and streams belong to the process, whichever library names them. */
	name_a(kind, kind == TS_NAME_OTHER ? domain : NULL, attributes->identifier.ull_value,
	       annotation.text);
	return NULL;
}

static void domain_resource_destroy(void *resource)
{
}

/* ---- attaching ---- */

#define ENTRY(function) ((ts_nvtx_function)(void (*)(void))(function))

static const ts_nvtx_function core[] = {
	[1] = ENTRY(mark_ex),
	[2] = ENTRY(mark_a),
	[3] = ENTRY(mark_w),
	[4] = ENTRY(range_start_ex),
	[5] = ENTRY(range_start_a),
	[6] = ENTRY(range_start_w),
	[7] = ENTRY(range_end),
	[8] = ENTRY(range_push_ex),
	[9] = ENTRY(range_push_a),
	[10] = ENTRY(range_push_w),
	[11] = ENTRY(range_pop),
	[12] = ENTRY(name_category_a),
	[13] = ENTRY(name_category_w),
	[14] = ENTRY(name_os_thread_a),
	[15] = ENTRY(name_os_thread_w),
};

static const ts_nvtx_function core2[] = {
	[1] = ENTRY(domain_mark_ex),
	[2] = ENTRY(domain_range_start_ex),
	[3] = ENTRY(domain_range_end),
	[4] = ENTRY(domain_range_push_ex),
	[5] = ENTRY(domain_range_pop),
	[6] = ENTRY(domain_resource_create),
	[7] = ENTRY(domain_resource_destroy),
	[8] = ENTRY(domain_name_category_a),
	[9] = ENTRY(domain_name_category_w),
	[10] = ENTRY(domain_register_string_a),
	[11] = ENTRY(domain_register_string_w),
	[12] = ENTRY(domain_create_a),
	[13] = ENTRY(domain_create_w),
	[14] = ENTRY(domain_destroy),
	[15] = ENTRY(initialize),
};

static const ts_nvtx_function cuda[] = {
	[1] = ENTRY(name_device_a),  [2] = ENTRY(name_device_w), [3] = ENTRY(name_context_a),
	[4] = ENTRY(name_context_w), [5] = ENTRY(name_stream_a), [6] = ENTRY(name_stream_w),
	[7] = ENTRY(name_event_a),   [8] = ENTRY(name_event_w),
};

static const ts_nvtx_function cudart[] = {
	[1] = ENTRY(name_device_a), [2] = ENTRY(name_device_w), [3] = ENTRY(name_stream_a),
	[4] = ENTRY(name_stream_w), [5] = ENTRY(name_event_a),	[6] = ENTRY(name_event_w),
};

/* Fills as many functions as the instance's table has: an older NVTX has fewer functions. */
static bool attach(const struct ts_nvtx_callbacks *callbacks, uint32_t module,
		   const ts_nvtx_function *functions, unsigned n_functions)
{
	ts_nvtx_table table = NULL;
	unsigned n = 0;

	if (!callbacks->get_module_function_table(module, &table, &n) || !table)
		return false;
	for (unsigned i = 1; i < n && i < n_functions; i++)
		if (table[i])
			*table[i] = functions[i];
	return true;
}

static int initialize_injection(ts_nvtx_get_export_table_fn get_table)
{
	const struct ts_nvtx_callbacks *callbacks =
		get_table ? get_table(TS_NVTX_ETID_CALLBACKS) : NULL;
	const struct ts_nvtx_version_info *version =
		get_table ? get_table(TS_NVTX_ETID_VERSIONINFO) : NULL;

	if (!callbacks || callbacks->struct_size < sizeof(*callbacks) ||
	    !callbacks->get_module_function_table)
		return 0;
	if (version && version->struct_size >= sizeof(*version) &&
	    version->set_injection_nvtx_version)
		version->set_injection_nvtx_version(TS_NVTX_VERSION);
	/* If an instance lacks a module, its program does not use that module. */
	(void)attach(callbacks, TS_NVTX_CB_MODULE_CORE2, core2, TS_ARRAY_LEN(core2));
	(void)attach(callbacks, TS_NVTX_CB_MODULE_CUDA, cuda, TS_ARRAY_LEN(cuda));
	(void)attach(callbacks, TS_NVTX_CB_MODULE_CUDART, cudart, TS_ARRAY_LEN(cudart));
	return attach(callbacks, TS_NVTX_CB_MODULE_CORE, core, TS_ARRAY_LEN(core));
}

/*
 * Each instance of NVTX calls InitializeInjectionNvtx2() at its first call, while its other calls
 * wait. It returns 1 if the tool attached. The second name is for programs that are built to look
 * for a preloaded tool.
 */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
	ts_nvtx_get_export_table_fn get_table);
int InitializeInjectionNvtx2(ts_nvtx_get_export_table_fn get_table)
{
	return initialize_injection(get_table);
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2Preinject(
	ts_nvtx_get_export_table_fn get_table);
int InitializeInjectionNvtx2Preinject(ts_nvtx_get_export_table_fn get_table)
{
	return initialize_injection(get_table);
}
