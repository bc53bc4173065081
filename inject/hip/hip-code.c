/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows device code and defines it for the daemon. hip-fatbin.c reports the code that the program
 * registers, hip-calls.c reports modules and the functions in them, hip-rows.c asks for a kernel's
 * definition. It calls definitions.c, loader.c and unlocked.c.
 *
 * A launch reads the tables (hip-objects.h), which have no lock. An address that the runtime uses
 * again gets a new value.
 *
 * Trap: code in memory has no length of its own. The runtime accepted it, so its heads are true.
 */
#include "inject/hip/hip-code.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "inject/context.h"
#include "inject/process/loader.h"
#include "inject/ring/unlocked.h"
#include "inject/stacks/unwinder.h"
#include "proto/abi/amdcode.h"
#include "proto/abi/tablehash.h"
#include "proto/abi/vendor/hip.h"

/* States of ts_hip_codes, beside TS_HIP_CODES_MAPPED. */
#define CODES_NONE    0u
#define CODES_MAPPING 1u
#define CODES_FAILED  3u

/* Names are compared within the process alone, where nobody chooses them to collide. */
#define NAME_SEED 0x68697021u

/* No page is smaller. */
#define PAGE_BYTES 4096u

/* Returns false without memory, and while another thread maps the tables. */
static bool map_codes(struct ts_hip_codes *codes)
{
	uint32_t state = CODES_NONE;

	/* Acquire: pairs with the release below. */
	if (__atomic_load_n(&codes->state, __ATOMIC_ACQUIRE) == TS_HIP_CODES_MAPPED)
		return true;
	if (!__atomic_compare_exchange_n(&codes->state, &state, CODES_MAPPING, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	codes->images = ts_unlocked_map(TS_HIP_MAX_CODES * sizeof(*codes->images));
	state = codes->images && ts_hip_objects_init(&codes->objects, TS_HIP_OBJECT_SLOTS) &&
				ts_hip_objects_init(&codes->names, TS_HIP_OBJECT_SLOTS) &&
				ts_hip_objects_init(&codes->texts, TS_HIP_OBJECT_SLOTS) &&
				ts_hip_objects_init(&codes->variables, TS_HIP_VARIABLE_SLOTS)
			? TS_HIP_CODES_MAPPED
			: CODES_FAILED;
	__atomic_store_n(&codes->state, state, __ATOMIC_RELEASE);
	return state == TS_HIP_CODES_MAPPED;
}

static void put(struct ts_hip_codes *codes, const void *key, uint64_t value)
{
	if (map_codes(codes))
		(void)ts_hip_objects_put(&codes->objects, ts_hip_key(key), value);
}

void ts_hip_code_init(struct ts_hip_code_ids *ids)
{
	if (!ids->ids)
		ids->ids = ts_unlocked_map(TS_HIP_MAX_CODES * sizeof(*ids->ids));
	(void)ts_hip_objects_init(&ids->kernels, TS_HIP_KERNEL_SLOTS);
}

/* ---- the process's part ---- */

bool ts_hip_code_can_read(const uint8_t *bytes, uint64_t n)
{
	for (uint64_t i = 0; i < n; i += PAGE_BYTES)
		if (!ts_unwinder_can_read(bytes + i))
			return false;
	return ts_unwinder_can_read(bytes + n - 1);
}

/* Code may lie in a wrapper, as the compiler emits it, or stand for itself. */
static const void *unwrap(const void *data)
{
	const struct ts_hip_fat_binary_wrapper *wrapper = data;

	return wrapper && wrapper->magic == TS_HIP_FAT_BINARY_MAGIC ? wrapper->binary : data;
}

void ts_hip_code_register(struct ts_hip_codes *codes, const void *wrapper, const void *handle)
{
	const void *image = unwrap(wrapper);
	uint32_t number;

	if (!handle || !image || !map_codes(codes))
		return;
	number = __atomic_add_fetch(&codes->n_images, 1, __ATOMIC_RELAXED);
	if (number > TS_HIP_MAX_CODES) {
		__atomic_store_n(&codes->n_images, TS_HIP_MAX_CODES, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(&codes->images[number - 1], image, __ATOMIC_RELAXED);
	put(codes, handle, number);
}

void ts_hip_code_unregister(struct ts_hip_codes *codes, const void *handle)
{
	const uint64_t number = ts_hip_code_value(codes, handle);

	if (number && number <= TS_HIP_MAX_CODES)
		__atomic_store_n(&codes->images[number - 1], NULL, __ATOMIC_RELAXED);
	put(codes, handle, 0);
}

void ts_hip_code_add_function(struct ts_hip_codes *codes, const void *object, const void *owner,
			      const char *name)
{
	const uint64_t value = ts_hip_code_value(codes, owner);

	if (!ts_hip_codes_are_mapped(codes))
		return;
	/* Also 0: the address may have been another function's. */
	put(codes, object, value);
	(void)ts_hip_objects_put(&codes->names, ts_hip_key(object),
				 name ? ts_hip_code_name(name) : ts_hip_code_name_of(codes, owner));
	/* Registered names stay as long as their code. */
	if (name && value && value <= TS_HIP_MAX_CODES)
		(void)ts_hip_objects_put(&codes->texts, ts_hip_key(object),
					 (uint64_t)(uintptr_t)name);
}

void ts_hip_code_add_variable(struct ts_hip_codes *codes, const void *variable, const void *owner,
			      const char *name)
{
	ts_hip_code_add_function(codes, variable, owner, name);
	if (ts_hip_codes_are_mapped(codes))
		(void)ts_hip_objects_put(&codes->variables, ts_hip_key(variable), 1);
}

const void *ts_hip_code_next_variable(const struct ts_hip_codes *codes, uint32_t *place)
{
	uint64_t key;

	if (!ts_hip_codes_are_mapped(codes))
		return NULL;
	while (*place < codes->variables.n_slots) {
		key = __atomic_load_n(&codes->variables.slots[(*place)++].key, __ATOMIC_RELAXED);
		if (key)
			return (const void *)(uintptr_t)key;
	}
	return NULL;
}

void ts_hip_code_set_managed(struct ts_hip_codes *codes, const void *handle)
{
	const uint64_t number = ts_hip_code_value(codes, handle);

	if (number && number <= TS_HIP_MAX_CODES)
		(void)ts_hip_objects_put(&codes->texts, ts_hip_key(codes->images[number - 1]), 1);
}

bool ts_hip_code_is_managed(const struct ts_hip_codes *codes, const void *image)
{
	return ts_hip_codes_are_mapped(codes) &&
	       ts_hip_objects_get(&codes->texts, ts_hip_key(image));
}

const void *ts_hip_code_registered(const struct ts_hip_codes *codes, const void *object,
				   const char **ret_name, uint32_t *ret_number)
{
	const uint64_t number = ts_hip_code_value(codes, object);
	const void *image;
	const char *name;

	if (!number || number > TS_HIP_MAX_CODES)
		return NULL;
	image = __atomic_load_n(&codes->images[number - 1], __ATOMIC_RELAXED);
	name = (const char *)(uintptr_t)ts_hip_objects_get(&codes->texts, ts_hip_key(object));
	if (!image || !name || !ts_hip_code_can_read((const uint8_t *)name, 1) ||
	    ts_hip_code_name(name) != ts_hip_code_name_of(codes, object))
		return NULL;
	*ret_name = name;
	*ret_number = (uint32_t)number;
	return image;
}

uint64_t ts_hip_code_name(const char *name)
{
	return ts_hash_seeded_text(NAME_SEED, name);
}

uint64_t ts_hip_code_name_of(const struct ts_hip_codes *codes, const void *object)
{
	return ts_hip_codes_are_mapped(codes)
		       ? ts_hip_objects_get(&codes->names, ts_hip_key(object))
		       : 0;
}

uint32_t ts_hip_code_of(const struct ts_hip_codes *codes, const void *object)
{
	return ts_hip_code_in(codes, ts_shim.pid, object);
}

/* ---- definitions of code ---- */

/* A code: a part of a file, or bytes. */
struct source {
	char path[PATH_MAX];
	uint64_t file_off;
	const uint8_t *bytes;
	uint32_t n_bytes;
	uint64_t n_image; /* of the whole code; 0: unknown */
	uint16_t flags;
};

struct search {
	uint64_t address;
	struct source *source;
};

/* Finds the library whose file contains the address. */
static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct search *search = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uint64_t at = search->address - info->dlpi_addr - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || at >= segment->p_filesz)
			continue;
		search->source->file_off = segment->p_offset + at;
		snprintf(search->source->path, sizeof(search->source->path), "%s",
			 info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
		return 1;
	}
	return 0;
}

/* Replaces the name of the program's own file, which means another file to the daemon. */
static void resolve_program(char path[PATH_MAX])
{
	char program[PATH_MAX];
	ssize_t n;

	if (strcmp(path, "/proc/self/exe") != 0)
		return;
	n = readlink(path, program, sizeof(program) - 1);
	if (n > 0) {
		program[n] = '\0';
		strcpy(path, program);
	}
}

/* Finds the bytes of code in memory that the daemon needs. */
static void take_memory(const uint8_t *image, struct source *ret)
{
	struct ts_amd_compressed compressed;
	const uint8_t *bytes = image;
	uint64_t n = 0;
	size_t n_metadata;

	if (!memcmp(image, ELFMAG, SELFMAG)) {
		if (ts_amd_elf_metadata(image, SIZE_MAX / 2, &bytes, &n_metadata))
			return;
		n = n_metadata;
		ret->flags = TS_CODE_IS_METADATA;
	} else if (!memcmp(image, TS_HIP_BUNDLE_MAGIC, 4)) {
		n = ts_amd_bundle_bytes(image);
	} else if (!memcmp(image, TS_HIP_BUNDLE_COMPRESSED_MAGIC, 4) &&
		   !ts_amd_compressed_head(image, SIZE_MAX / 2, &compressed) &&
		   compressed.n_content < SIZE_MAX / 4) {
		n = (uint64_t)(compressed.content - image) + compressed.n_content;
	}
	/* An ELF file's metadata is a part of it. */
	ret->n_image = ret->flags ? 0 : n;
	if (n && n <= TS_CODE_MAX_BYTES && ts_hip_code_can_read(bytes, n)) {
		ret->bytes = bytes;
		ret->n_bytes = (uint32_t)n;
	}
}

/* Finds code at an address: in a library's file, else in memory. */
static void find_source(const void *image, struct source *ret)
{
	struct search search = {(uint64_t)(uintptr_t)image, ret};

	if (ts_loader_iterate(find_library, &search))
		resolve_program(ret->path);
	else
		take_memory(image, ret);
}

/*
 * Adds the definition of a code. `buffer` has room for any. Code in memory beyond the limit is
 * defined without bytes: the daemon reports that it cannot be read.
 */
static uint32_t define(struct ts_shim *shim, const struct source *source, uint32_t device,
		       uint8_t *buffer)
{
	const char *target = device < TS_HIP_MAX_TARGETS ? shim->hip.code.targets[device] : "";
	struct ts_definition_code code = {
		.definition = {.type = TS_DEF_CODE, .flags = source->flags, .n = source->n_bytes},
		.file_off = source->file_off,
		.n_path_bytes = (uint32_t)strlen(source->path),
		.n_target_bytes = (uint32_t)strlen(target),
	};
	uint8_t *at = buffer + sizeof(code);
	size_t n;

	if (__atomic_fetch_add(&shim->hip.code.n_code_bytes, code.definition.n, __ATOMIC_RELAXED) >
	    TS_HIP_MAX_CODE_BYTES)
		code.definition.n = 0;
	memcpy(buffer, &code, sizeof(code));
	memcpy(at, source->path, code.n_path_bytes);
	at += code.n_path_bytes;
	memcpy(at, target, code.n_target_bytes);
	at += code.n_target_bytes;
	if (code.definition.n)
		memcpy(at, source->bytes, code.definition.n);
	n = (size_t)(at - buffer) + code.definition.n;
	return ts_definitions_add(&shim->definitions, (struct ts_definition *)(void *)buffer,
				  ts_align_up(n, 8));
}

static void record_module(struct ts_shim *shim, enum ts_object_action action, uint32_t code,
			  uint64_t n_bytes, uint32_t device)
{
	struct ts_thread *thread = ts_producer_thread(&shim->producer);
	struct ts_record_gpu_module *out;

	if (!thread)
		return;
	out = ts_thread_reserve(thread, TS_RECORD_GPU_MODULE, sizeof(*out), shim->producer.clock,
				ts_producer_ticks(&shim->producer));
	if (!out)
		return;
	memset((uint8_t *)out + sizeof(out->record), 0, sizeof(*out) - sizeof(out->record));
	out->bytes = n_bytes;
	out->module = code;
	out->context = shim->hip.first_device + device + 1;
	out->action = (uint8_t)action;
	ts_thread_commit(thread, sizeof(*out));
}

/* Room for the definition, and for the path while it is searched. */
struct scratch {
	struct source source;
	uint8_t buffer[sizeof(struct ts_definition_code) + PATH_MAX + TS_HIP_TARGET_BYTES +
		       TS_CODE_MAX_BYTES + 8];
};

/* Defines a code, and records that it is there. Returns its id; 0: unknown. */
static uint32_t add_code(struct ts_shim *shim, const char *path, const void *image, uint32_t device,
			 enum ts_object_action action)
{
	/* Mapped, not on the stack: the runtime's threads may have small ones. */
	struct scratch *scratch = ts_unlocked_map(sizeof(*scratch));
	struct stat st;
	uint32_t id;

	if (!scratch)
		return TS_ID_UNKNOWN;
	if (path) {
		(void)snprintf(scratch->source.path, sizeof(scratch->source.path), "%s", path);
		if (!stat(path, &st))
			scratch->source.n_image = (uint64_t)st.st_size;
	} else {
		find_source(image, &scratch->source);
	}
	id = define(shim, &scratch->source, device, scratch->buffer);
	if (id)
		record_module(shim, action, id, scratch->source.n_image, device);
	munmap(scratch, sizeof(*scratch));
	return id;
}

/* ---- the session's part ---- */

/* Makes a path absolute. Returns NULL if it is too long. */
static const char *absolute(const char *path, char buffer[PATH_MAX])
{
	size_t n;

	if (*path == '/' || !getcwd(buffer, PATH_MAX))
		return path;
	n = strlen(buffer);
	if (n + 1 + strlen(path) >= PATH_MAX)
		return NULL;
	buffer[n] = '/';
	strcpy(buffer + n + 1, path);
	return buffer;
}

void ts_hip_code_load(struct ts_shim *shim, const void *module, const char *path, const void *image,
		      uint32_t device)
{
	char buffer[PATH_MAX];
	uint32_t id = TS_ID_UNKNOWN;

	if (path)
		path = absolute(path, buffer);
	if (path || image)
		id = add_code(shim, path, unwrap(image), device, TS_OBJECT_CREATED);
	/* Also if unknown: the address may have been another module's. */
	put(&ts_loaded.hip.codes, module,
	    id && id < TS_HIP_CODE_IS_MODULE
		    ? (uint64_t)shim->pid << 32 | TS_HIP_CODE_IS_MODULE | id
		    : 0);
}

void ts_hip_code_unload(struct ts_shim *shim, const void *module, uint32_t device)
{
	const uint32_t code = ts_hip_code_of(&ts_loaded.hip.codes, module);

	if (code & TS_HIP_CODE_IS_MODULE)
		record_module(shim, TS_OBJECT_DESTROYED, code & ~TS_HIP_CODE_IS_MODULE, 0, device);
	put(&ts_loaded.hip.codes, module, 0);
}

void ts_hip_code_unload_registered(struct ts_shim *shim, const void *handle, uint32_t device)
{
	const uint32_t code = ts_hip_code_of(&ts_loaded.hip.codes, handle);
	uint32_t id = TS_ID_UNKNOWN;

	if (code && code <= TS_HIP_MAX_CODES && shim->hip.code.ids)
		id = __atomic_load_n(&shim->hip.code.ids[code - 1], __ATOMIC_RELAXED);
	if (id)
		record_module(shim, TS_OBJECT_DESTROYED, id, 0, device);
}

/* Returns the definition of a code by its number. */
static uint32_t id_of(struct ts_shim *shim, uint32_t code, uint32_t device)
{
	const void *image;
	uint32_t id, none = 0;

	if (code & TS_HIP_CODE_IS_MODULE)
		return code & ~TS_HIP_CODE_IS_MODULE;
	if (!code || code > TS_HIP_MAX_CODES || !shim->hip.code.ids)
		return TS_ID_UNKNOWN;
	id = __atomic_load_n(&shim->hip.code.ids[code - 1], __ATOMIC_RELAXED);
	image = __atomic_load_n(&ts_loaded.hip.codes.images[code - 1], __ATOMIC_RELAXED);
	if (id || !image)
		return id;
	id = add_code(shim, NULL, image, device, TS_OBJECT_SEEN);
	/* If two threads define the same, the first definition stays; both are right. */
	if (!__atomic_compare_exchange_n(&shim->hip.code.ids[code - 1], &none, id, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		id = none;
	return id;
}

static uint32_t define_kernel(struct ts_shim *shim, uint32_t code, const char *kernel)
{
	struct {
		struct ts_definition_function function;
		char name[TS_ANNOTATION_MAX_BYTES];
	} definition = {.function.definition.type = TS_DEF_FUNCTION};
	const size_t n = strnlen(kernel, sizeof(definition.name));

	definition.function.definition.n = (uint32_t)n;
	definition.function.code = code;
	memcpy(definition.name, kernel, n);
	return ts_definitions_add(&shim->definitions, &definition.function.definition,
				  ts_align_up(sizeof(definition.function) + n, 8));
}

uint32_t ts_hip_code_kernel(struct ts_shim *shim, uint32_t code, const char *kernel, uint32_t name,
			    uint32_t device)
{
	uint32_t id, code_id;
	uint64_t key;

	if (!code || !kernel || !name)
		return TS_ID_UNKNOWN;
	id = ts_hip_code_known_kernel(&shim->hip.code, code, name);
	if (id)
		return id;
	key = ts_hip_kernel_key(code, name);
	/* Without room, the kernel would be defined again and again. */
	if (!ts_hip_objects_put(&shim->hip.code.kernels, key, 0))
		return TS_ID_UNKNOWN;
	code_id = id_of(shim, code, device);
	if (!code_id)
		return TS_ID_UNKNOWN;
	id = define_kernel(shim, code_id, kernel);
	(void)ts_hip_objects_put(&shim->hip.code.kernels, key, id);
	return id;
}
