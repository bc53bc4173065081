/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long an image is, of which a program gives the driver but the address: each kind says so itself. A wrapper that nvcc
 * makes leads to a fatbin; PTX ends with a NUL. What an image says is believed as the driver believes it.
 */
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/capture/capture.h"

#define WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC  0xba55ed50u

struct wrapper {
	uint32_t magic;
	uint32_t version;
	const void *data;
	const void *more;
};

struct fatbin {
	uint32_t magic;
	uint16_t version;
	uint16_t header_bytes;
	uint64_t bytes; /* behind the header */
};

/* Up to the last of: headers of programs and sections, sections' contents. */
static size_t elf_bytes(const Elf64_Ehdr *header)
{
	const Elf64_Shdr *sections;
	uint64_t end = sizeof(*header), n = header->e_shnum;

	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	if (header->e_phoff)
		end = header->e_phoff + (uint64_t)header->e_phnum * header->e_phentsize;
	if (!header->e_shoff || header->e_shentsize != sizeof(*sections))
		return end;
	sections = (const void *)((const uint8_t *)header + header->e_shoff);
	if (!n)
		n = sections[0].sh_size;
	if (header->e_shoff + n * sizeof(*sections) > end)
		end = header->e_shoff + n * sizeof(*sections);
	for (uint64_t i = 0; i < n; i++)
		if (sections[i].sh_type != SHT_NOBITS &&
		    sections[i].sh_offset + sections[i].sh_size > end)
			end = sections[i].sh_offset + sections[i].sh_size;
	return end;
}

size_t ts_capture_image_bytes(const void *image, const void **ret_start)
{
	struct wrapper wrapper;
	struct fatbin fatbin;
	uint32_t magic;

	*ret_start = image;
	if (!image)
		return 0;
	memcpy(&magic, image, sizeof(magic));
	if (magic == WRAPPER_MAGIC) {
		memcpy(&wrapper, image, sizeof(wrapper));
		/* Version 2 has further images beside the first: of relocatable code, which is linked. */
		*ret_start = image = wrapper.data;
		if (!image)
			return 0;
		memcpy(&magic, image, sizeof(magic));
	}
	if (magic == FATBIN_MAGIC) {
		memcpy(&fatbin, image, sizeof(fatbin));
		return fatbin.header_bytes + fatbin.bytes;
	}
	if (!memcmp(image, ELFMAG, SELFMAG))
		return elf_bytes(image);
	return strlen(image) + 1;
}

size_t ts_capture_image_of_file(const char *path, struct ts_pages *ret_file)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	const void *start;
	struct stat st;
	size_t n = 0, image;

	if (fd < 0)
		return 0;
	/* A NUL behind it: PTX in a file may have none. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    ts_pages_grow(ret_file, (size_t)st.st_size + sizeof(struct fatbin)))
		while (n < (size_t)st.st_size) {
			ssize_t got = read(fd, ret_file->at + n, (size_t)st.st_size - n);

			if (got <= 0)
				break;
			n += (size_t)got;
		}
	close(fd);
	if (!n || n != (size_t)st.st_size)
		return 0;
	/* PTX with the NUL; of what else there is in the file no more than it says to be. */
	if (ret_file->at[0] != 0x7f && ret_file->at[0] != (FATBIN_MAGIC & 0xff))
		return n + 1;
	image = n >= sizeof(Elf64_Ehdr) ? ts_capture_image_bytes(ret_file->at, &start) : n;
	return image < n ? image : n;
}
