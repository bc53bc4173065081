/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the process's ELF files through ts_loader_iterate(). The flush thread (inject/flush.c)
 * calls this file; definitions.c receives the modules. Under the loader's lock it only copies into
 * the shim's memory. Afterwards it takes the shim's own locks and reads the link /proc/self/exe.
 */
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>

#include "inject/process/loader.h"
#include "inject/ring/unlocked.h"
#include "inject/stacks/stack-modules.h"

struct ts_module {
	uint64_t start, end, bias;
	uint32_t n_build_id_bytes;
	uint8_t build_id[32];
	char path[512]; /* longer paths are cut; the build id distinguishes the modules */
};

struct scan {
	struct ts_modules *modules;
	uint32_t n;
	bool unchanged;
};

int ts_modules_init(struct ts_modules *modules, struct ts_definitions *definitions,
		    enum ts_clock clock)
{
	const size_t n_bytes = 2 * TS_MODULES_MAX * sizeof(struct ts_module);
	void *pages = ts_unlocked_map(n_bytes);

	memset(modules, 0, sizeof(*modules));
	if (!pages)
		return -ENOMEM;
	modules->definitions = definitions;
	modules->clock = clock;
	modules->known = pages;
	modules->found = modules->known + TS_MODULES_MAX;
	return 0;
}

static void read_build_id(struct ts_module *module, const uint8_t *notes, size_t n_bytes)
{
	while (n_bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)notes;
		uint64_t name = ts_align_up(note->n_namesz, 4), id = ts_align_up(note->n_descsz, 4);

		if (sizeof(*note) + name + id > n_bytes)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    note->n_descsz <= sizeof(module->build_id) &&
		    !memcmp(notes + sizeof(*note), "GNU", 4)) {
			module->n_build_id_bytes = note->n_descsz;
			memcpy(module->build_id, notes + sizeof(*note) + name, note->n_descsz);
			return;
		}
		notes += sizeof(*note) + name + id;
		n_bytes -= sizeof(*note) + name + id;
	}
}

/*
 * Returns whether the file's bytes from vaddr on are mapped. Only the content of a PT_LOAD is in
 * memory.
 */
static bool is_loaded(const struct dl_phdr_info *info, uint64_t vaddr, uint64_t n_bytes)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_R &&
		    vaddr >= segment->p_vaddr && n_bytes <= segment->p_filesz &&
		    vaddr - segment->p_vaddr <= segment->p_filesz - n_bytes)
			return true;
	}
	return false;
}

static int scan_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;
	struct ts_module *module = &scan->modules->found[scan->n];
	int i;

	if (!scan->n && size >= offsetof(struct dl_phdr_info, dlpi_tls_modid)) {
		scan->unchanged = scan->modules->n && scan->modules->n_added == info->dlpi_adds &&
				  scan->modules->n_removed == info->dlpi_subs;
		scan->modules->n_added = info->dlpi_adds;
		scan->modules->n_removed = info->dlpi_subs;
		if (scan->unchanged)
			return 1;
	}
	if (scan->n == TS_MODULES_MAX)
		return 1;
	module->start = UINT64_MAX;
	module->end = 0;
	module->bias = info->dlpi_addr;
	module->n_build_id_bytes = 0;
	memset(module->build_id, 0, sizeof(module->build_id));
	snprintf(module->path, sizeof(module->path), "%s", info->dlpi_name ? info->dlpi_name : "");
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t from = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD) {
			module->start = from < module->start ? from : module->start;
			module->end = from + segment->p_memsz > module->end
					      ? from + segment->p_memsz
					      : module->end;
		} else if (segment->p_type == PT_NOTE && !module->n_build_id_bytes &&
			   is_loaded(info, segment->p_vaddr, segment->p_filesz)) {
			read_build_id(module, (const uint8_t *)from, segment->p_filesz);
		}
	}
	if (module->end)
		scan->n++;
	return 0;
}

static bool same(const struct ts_module *a, const struct ts_module *b)
{
	return a->start == b->start && a->end == b->end && !strcmp(a->path, b->path) &&
	       a->n_build_id_bytes == b->n_build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, a->n_build_id_bytes);
}

static bool contains(const struct ts_module *list, uint32_t n, const struct ts_module *module,
		     uint32_t guess)
{
	uint32_t i;

	/* The loader keeps its order, so most modules keep their index. */
	if (guess < n && same(&list[guess], module))
		return true;
	for (i = 0; i < n; i++)
		if (same(&list[i], module))
			return true;
	return false;
}

static void define(struct ts_modules *modules, const struct ts_module *module, bool is_first,
		   uint16_t flags)
{
	struct ts_definition_module definition = {
		.definition.type = TS_DEF_MODULE,
		.definition.flags = flags,
		.start = module->start,
		.end = module->end,
		.bias = module->bias,
		.time = ts_clock_ticks(modules->clock),
		.n_build_id_bytes = module->n_build_id_bytes,
	};
	char path[PATH_MAX];
	const char *name = module->path;
	ssize_t n;

	/*
	 * The loader gives no name to the program itself, which is first. The kernel's vdso has a
	 * name but no file.
	 */
	if (!*name && is_first) {
		n = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		name = path;
	}
	memcpy(definition.build_id, module->build_id, sizeof(definition.build_id));
	definition.path = ts_definitions_string(modules->definitions, name, strlen(name));
	ts_definitions_add(modules->definitions, &definition.definition, sizeof(definition));
}

void ts_modules_update(struct ts_modules *modules, bool *ret_unloaded)
{
	struct scan scan = {modules, 0, false};
	struct ts_module *swap;
	bool unloaded = false;
	uint32_t i;

	ts_loader_iterate(scan_one, &scan);
	if (scan.unchanged)
		return;
	/* Defines the unmapped modules first: another module may have their addresses now. */
	for (i = 0; i < modules->n; i++) {
		if (!contains(modules->found, scan.n, &modules->known[i], i)) {
			define(modules, &modules->known[i], i == 0, TS_MODULE_UNLOADED);
			unloaded = true;
		}
	}
	for (i = 0; i < scan.n; i++)
		if (!contains(modules->known, modules->n, &modules->found[i], i))
			define(modules, &modules->found[i], i == 0, 0);
	swap = modules->known;
	modules->known = modules->found;
	modules->found = swap;
	modules->n = scan.n;
	if (unloaded)
		*ret_unloaded = true;
}
