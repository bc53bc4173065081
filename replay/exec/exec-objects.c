/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers of both device executors, vgpu/ and cuda/: handles, functions, extents, module images,
 * captured addresses of variables.
 *
 * Images are untrusted and are checked before any device reads them. The check refuses images that
 * hold addresses of the captured process (wrappers). It also refuses images that claim more bytes
 * than the trace has.
 */
#include "replay/exec/exec-objects.h"

#include "proto/abi/amdcode.h"
#include "proto/abi/grow.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>

#define WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC  0xba55ed50u
/*
 * Limit of contexts, among those that asked for a variable's address, that the search examines. A
 * program has one or two contexts on each device.
 */
#define MAX_CONTEXTS 256u

struct fatbin {
	uint32_t magic;
	uint16_t version;
	uint16_t header_bytes;
	uint64_t bytes;
};

int ts_exec_refuse(const struct ts_exec_io *io, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(io->text, TS_EXEC_TEXT_BYTES, format, args);
	va_end(args);
	return TS_EXEC_E_REFUSED;
}

uint32_t ts_exec_first_devices(const struct ts_exec_program *program)
{
	uint32_t n = 0;

	for (size_t i = 0; i < program->n; i++) {
		const struct ts_row_operation *operation = &program->operations[i];

		if (operation->kind == TS_OPERATION_CONTEXT_CREATE &&
		    operation->device < TS_BESIDE_DEVICE && operation->device >= n)
			n = operation->device + 1;
	}
	return n;
}

int ts_exec_objects_add(struct ts_exec_objects *objects, const void *object, size_t n_bytes,
			uint32_t *ret_i)
{
	if (objects->n >= TS_EXEC_MAX_OBJECTS)
		return -E2BIG;
	if (ts_grow(&objects->at, &objects->capacity, objects->n + 1, n_bytes))
		return -ENOMEM;
	memcpy((uint8_t *)objects->at + objects->n * n_bytes, object, n_bytes);
	*ret_i = (uint32_t)objects->n++;
	return 0;
}

static int again(struct ts_state_map *handles, enum ts_exec_handle_kind kind,
		 const struct ts_row_operation *operation, const struct ts_exec_io *io,
		 const char *lacks)
{
	uint32_t i = ts_state_map_find(handles, kind, operation->parent);

	if (i == TS_STATE_MAP_NONE)
		return ts_exec_refuse(io, "%s", lacks);
	return ts_state_map_set(handles, kind, operation->object, i);
}

int ts_exec_module_again(struct ts_state_map *handles, const struct ts_row_operation *operation,
			 const struct ts_exec_io *io)
{
	return again(handles, TS_EXEC_HANDLE_MODULE, operation, io,
		     "the module's image was not captured");
}

int ts_exec_function(struct ts_exec_objects *functions, struct ts_state_map *handles,
		     const struct ts_row_operation *operation, const struct ts_exec_io *io)
{
	struct ts_exec_function function = {.name = operation->name};
	uint32_t i;
	int r;

	if (!operation->name)
		return again(handles, TS_EXEC_HANDLE_FUNCTION, operation, io,
			     "the function derives from another function that the capture lacks");
	function.module = ts_state_map_find(handles, TS_EXEC_HANDLE_MODULE, operation->parent);
	if (function.module == TS_STATE_MAP_NONE)
		return ts_exec_refuse(io, "no earlier operation loaded the module");
	r = ts_exec_objects_add(functions, &function, sizeof(function), &i);
	return r ?: ts_state_map_set(handles, TS_EXEC_HANDLE_FUNCTION, operation->object, i);
}

const char *ts_exec_string(const struct ts_exec_program *program, uint32_t id)
{
	return ts_sbt_reader_string(program->reader, id, NULL);
}

bool ts_exec_extent(const struct ts_row_operation *operation, uint64_t width, uint64_t depth,
		    uint64_t pitch, uint64_t slice, uint64_t *ret_extent)
{
	uint64_t rows, slices;

	if (!width || !operation->height || !depth || (operation->height > 1 && pitch < width))
		return false;
	return !__builtin_mul_overflow(operation->height - 1, pitch, &rows) &&
	       !__builtin_mul_overflow(depth - 1, slice, &slices) &&
	       !__builtin_add_overflow(rows, slices, ret_extent) &&
	       !__builtin_add_overflow(*ret_extent, width, ret_extent);
}

bool ts_exec_fill_extent(const struct ts_row_operation *operation, uint64_t *ret_width,
			 uint64_t *ret_extent)
{
	if (operation->src != 1 && operation->src != 2 && operation->src != 4)
		return false;
	return !__builtin_mul_overflow(operation->bytes, operation->src, ret_width) &&
	       ts_exec_extent(operation, *ret_width, 1, operation->dst_pitch, 0, ret_extent);
}

static bool lies_within(uint64_t at, uint64_t bytes, size_t n)
{
	return at <= n && bytes <= n - at;
}

/* True if the ELF tables, and the sections and segments in them, lie inside the image. */
static bool is_whole_elf(const struct ts_exec_content *image)
{
	Elf64_Ehdr head;

	if (image->n < sizeof(head))
		return false;
	memcpy(&head, image->bytes, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    (head.e_shnum && head.e_shentsize != sizeof(Elf64_Shdr)) ||
	    (head.e_phnum && head.e_phentsize != sizeof(Elf64_Phdr)) ||
	    !lies_within(head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr), image->n) ||
	    !lies_within(head.e_phoff, (uint64_t)head.e_phnum * sizeof(Elf64_Phdr), image->n))
		return false;
	for (uint32_t i = 0; i < head.e_shnum; i++) {
		Elf64_Shdr section;

		memcpy(&section, image->bytes + head.e_shoff + i * sizeof(section),
		       sizeof(section));
		if (section.sh_type != SHT_NOBITS &&
		    !lies_within(section.sh_offset, section.sh_size, image->n))
			return false;
	}
	for (uint32_t i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, image->bytes + head.e_phoff + i * sizeof(segment),
		       sizeof(segment));
		if (!lies_within(segment.p_offset, segment.p_filesz, image->n))
			return false;
	}
	return true;
}

static bool is_whole_bundle(const struct ts_exec_content *image)
{
	struct ts_hip_bundle head;
	struct ts_amd_entry entry;
	uint64_t i = 0;
	size_t at = 0;

	memcpy(&head, image->bytes, sizeof(head));
	while (ts_amd_bundle_next(image->bytes, image->n, &at, &i, &entry)) {
		struct ts_exec_content code = {.n = entry.n_bytes};

		if (!lies_within(entry.offset, entry.n_bytes, image->n))
			return false;
		code.bytes = image->bytes + entry.offset;
		if (code.n >= SELFMAG && !memcmp(code.bytes, ELFMAG, SELFMAG) &&
		    !is_whole_elf(&code))
			return false;
	}
	return i == head.n_entries;
}

static bool is_compressed(const struct ts_exec_content *image)
{
	return image->n >= 4 && !memcmp(image->bytes, TS_HIP_BUNDLE_COMPRESSED_MAGIC, 4);
}

const char *ts_exec_image_ptx(const struct ts_exec_content *image, struct ts_exec_content *ret_ptx)
{
	struct ts_amd_entry entry;
	Elf64_Ehdr head;
	uint64_t i = 0;
	size_t at = 0;

	*ret_ptx = *image;
	if (is_compressed(image))
		return "a compressed bundle of HIP's code, which only an AMD GPU runs: use "
		       "`--on hip`";
	if (!ts_amd_is_bundle(image->bytes, image->n)) {
		if (image->n < sizeof(head) || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
			return NULL;
		memcpy(&head, image->bytes, sizeof(head));
		return head.e_machine == EM_AMDGPU ? "code for AMD GPUs alone: use `--on hip`"
						   : NULL;
	}
	while (ts_amd_bundle_next(image->bytes, image->n, &at, &i, &entry))
		if (ts_amd_is_ptx(&entry)) {
			ret_ptx->bytes = image->bytes + entry.offset;
			ret_ptx->n = entry.n_bytes;
			return NULL;
		}
	return "a bundle of HIP's code without PTX, which only an AMD GPU runs: use `--on hip`";
}

const char *ts_exec_image_check(const struct ts_exec_content *image)
{
	struct fatbin header;

	if (image->n < sizeof(header))
		return "too short";
	memcpy(&header, image->bytes, sizeof(header));
	if (header.magic == WRAPPER_MAGIC)
		return "a fatbin wrapper, which holds addresses of the captured process";
	if (header.magic == FATBIN_MAGIC)
		return header.header_bytes < sizeof(header) || header.header_bytes > image->n ||
				       header.bytes > image->n - header.header_bytes
			       ? "longer than its captured bytes"
			       : NULL;
	if (header.magic == TS_HIP_FAT_BINARY_MAGIC)
		return "a wrapper of HIP's code, which holds addresses of the captured process";
	if ((!memcmp(image->bytes, ELFMAG, SELFMAG) && !is_whole_elf(image)) ||
	    (ts_amd_is_bundle(image->bytes, image->n) && !is_whole_bundle(image)) ||
	    (is_compressed(image) &&
	     ts_amd_compressed_head(image->bytes, image->n, &(struct ts_amd_compressed){0})))
		return "longer than its captured bytes";
	/*
	 * The image is PTX text. It needs no check, because ts_exec_program_content() adds a NUL.
	 */
	return NULL;
}

static int compare_names(const struct ts_exec_variable *a, const struct ts_exec_variable *b)
{
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_orders(const struct ts_exec_variable *a, const struct ts_exec_variable *b)
{
	return a->order < b->order ? -1 : a->order > b->order;
}

static int compare_contexts(const void *a, const void *b)
{
	const struct ts_exec_variable *x = a, *y = b;
	int r = compare_names(x, y);

	if (!r && x->context != y->context)
		r = x->context < y->context ? -1 : 1;
	return r ? r : compare_orders(x, y);
}

static int compare_variables(const void *a, const void *b)
{
	const struct ts_exec_variable *x = a, *y = b;
	int r = compare_names(x, y);

	return r ? r : compare_orders(x, y);
}

/*
 * Drops repeated addresses of a variable: a program may ask for an address several times. The first
 * answer in each context is kept.
 */
static void drop_repeats(struct ts_exec_variables *variables)
{
	size_t n = 0;

	if (!variables->n)
		return;
	qsort(variables->all, variables->n, sizeof(*variables->all), compare_contexts);
	for (size_t i = 0; i < variables->n; i++) {
		const struct ts_exec_variable *last = n ? &variables->all[n - 1] : NULL,
					      *next = &variables->all[i];

		if (!last || compare_names(last, next) || last->context != next->context)
			variables->all[n++] = *next;
	}
	variables->n = n;
	qsort(variables->all, n, sizeof(*variables->all), compare_variables);
}

/*
 * Visits all operations without running them. Tracks the module of each handle, as a replay does.
 */
int ts_exec_variables_init(struct ts_exec_variables *variables,
			   const struct ts_exec_program *program)
{
	struct ts_state_map modules = {0};
	size_t capacity = 0;
	uint32_t n = 0;
	int r = 0;

	for (size_t i = 0; !r && i < program->n; i++) {
		const struct ts_row_operation *operation = &program->operations[i];
		const char *name;
		uint32_t module;

		if (operation->kind == TS_OPERATION_MODULE_LOAD) {
			module = operation->content
					 ? n++
					 : ts_state_map_find(&modules, 0, operation->parent);
			if (module != TS_STATE_MAP_NONE)
				r = ts_state_map_set(&modules, 0, operation->object, module);
			continue;
		}
		if (operation->kind != TS_OPERATION_VARIABLE)
			continue;
		module = ts_state_map_find(&modules, 0, operation->parent);
		if (module == TS_STATE_MAP_NONE)
			continue;
		r = TS_GROW(variables->all, capacity, variables->n + 1);
		if (r)
			break;
		name = ts_exec_string(program, operation->name);
		if (name)
			variables->all[variables->n++] = (struct ts_exec_variable){
				module, operation->context, name, i, operation->dst,
			};
	}
	ts_state_map_deinit(&modules);
	drop_repeats(variables);
	return r;
}

uint64_t ts_exec_variables_find(const struct ts_exec_variables *variables,
				const struct ts_state_map *handles, uint32_t module,
				uint32_t context, const char *name)
{
	const struct ts_exec_variable wanted = {.module = module, .name = name};
	size_t first = 0, end = variables->n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (compare_names(&variables->all[middle], &wanted) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	end = variables->n - first > MAX_CONTEXTS ? first + MAX_CONTEXTS : variables->n;
	for (; first < end; first++) {
		const struct ts_exec_variable *variable = &variables->all[first];

		if (compare_names(variable, &wanted))
			return 0;
		if (ts_state_map_find(handles, TS_EXEC_HANDLE_CONTEXT, variable->context) ==
		    context)
			return variable->address;
	}
	return 0;
}
