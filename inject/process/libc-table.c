/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds functions in libc's table of symbols; old-libc.c calls this file. A program without
 * libdl.so.2 has no dlsym() with glibc before 2.34, but its exec calls must reach libc. The search
 * uses the hash table of DT_GNU_HASH.
 */
#include "inject/process/libc-table.h"
#include "inject/process/elf-symbols.h"

static int find_libc(struct dl_phdr_info *info, size_t size, void *data)
{
	static const char libc_name[] = "/libc.so.6";
	struct ts_elf_image *image = data;
	size_t n = info->dlpi_name ? strlen(info->dlpi_name) : 0;
	const ElfW(Dyn) *entry = NULL;
	size_t i;

	if (n < sizeof(libc_name) - 1 ||
	    strcmp(info->dlpi_name + n - (sizeof(libc_name) - 1), libc_name))
		return 0;
	image->base = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (entry)
		ts_elf_read_dynamic(image, entry);
	return 1;
}

void *ts_libc_find(const char *name)
{
	struct ts_elf_image image = {0};

	/*
	 * No other thread can be in fork() here: a process without libpthread.so.0 has one thread.
	 * So this call needs no ts_loader_iterate(), whose mutex needs that library.
	 */
	(void)dl_iterate_phdr(find_libc, &image);
	if (!image.symbols || !image.strings || !image.versions || !image.gnu_hash)
		return NULL;
	return ts_elf_find(&image, name, ts_elf_gnu_hash(name));
}
