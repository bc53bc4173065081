/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the size of a code image, and reads image files. capture-calls.c and capture.c call this
 * file. A program passes only the address of an image to the driver, so the size comes from the
 * image itself. A wrapper by nvcc points to a fatbin. PTX ends with a NUL. Sizes inside an image in
 * memory are trusted, as the driver trusts them. For a file, which another process may change, the
 * size never exceeds the file.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/capture/capture.h"
#include "proto/abi/amdcode.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cupti_cbid.h"

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
	uint64_t bytes; /* bytes behind the header */
};

static size_t last_of(size_t end, uint64_t from, uint64_t bytes)
{
	uint64_t last;

	if (__builtin_add_overflow(from, bytes, &last))
		return SIZE_MAX;
	return last > end ? last : end;
}

/*
 * Returns the end of the last part: program headers, section headers, or section contents. Reads at
 * most `most` bytes of the image. Returns SIZE_MAX if the image would exceed `most`.
 */
static size_t elf_bytes(const uint8_t *image, size_t most)
{
	Elf64_Ehdr header;
	Elf64_Shdr section;
	size_t end = sizeof(header);
	uint64_t n, bytes;

	if (most < sizeof(header))
		return SIZE_MAX;
	memcpy(&header, image, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	if (header.e_phoff)
		end = last_of(end, header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize);
	if (!header.e_shoff || header.e_shentsize != sizeof(section))
		return end;
	if (header.e_shoff > most || most - header.e_shoff < sizeof(section))
		return SIZE_MAX;
	memcpy(&section, image + header.e_shoff, sizeof(section));
	n = header.e_shnum ? header.e_shnum : section.sh_size;
	if (__builtin_mul_overflow(n, sizeof(section), &bytes) || bytes > most - header.e_shoff)
		return SIZE_MAX;
	end = last_of(end, header.e_shoff, bytes);
	for (uint64_t i = 0; i < n; i++) {
		memcpy(&section, image + header.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_NOBITS)
			end = last_of(end, section.sh_offset, section.sh_size);
	}
	return end;
}

static size_t compressed_bytes(const uint8_t *image)
{
	struct ts_amd_compressed head;

	/* Version 1 does not state its size. */
	if (ts_amd_compressed_head(image, PTRDIFF_MAX, &head) ||
	    head.n_content > TS_AMD_MAX_BUNDLE_BYTES)
		return 0;
	return (size_t)(head.content - image) + head.n_content;
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
		/*
		 * Version 2 adds images of relocatable code, which the driver links; only the first
		 * image is captured.
		 */
		*ret_start = image = wrapper.data;
		if (!image)
			return 0;
		memcpy(&magic, image, sizeof(magic));
	}
	if (magic == TS_HIP_FAT_BINARY_MAGIC) {
		*ret_start = image = ((const struct ts_hip_fat_binary_wrapper *)image)->binary;
		if (!image)
			return 0;
	}
	if (magic == FATBIN_MAGIC) {
		memcpy(&fatbin, image, sizeof(fatbin));
		return fatbin.header_bytes + fatbin.bytes;
	}
	if (!strncmp(image, TS_HIP_BUNDLE_MAGIC, strlen(TS_HIP_BUNDLE_MAGIC)))
		return ts_amd_bundle_bytes(image);
	if (!strncmp(image, TS_HIP_BUNDLE_COMPRESSED_MAGIC, strlen(TS_HIP_BUNDLE_COMPRESSED_MAGIC)))
		return compressed_bytes(image);
	if (!memcmp(image, ELFMAG, SELFMAG))
		return elf_bytes(image, PTRDIFF_MAX);
	return strlen(image) + 1;
}

/*
 * Returns the size of the image in a file of `most` bytes. The buffer has room for a fatbin header
 * behind the file.
 */
static size_t bytes_in_file(const uint8_t *file, size_t most)
{
	struct fatbin fatbin;
	size_t image = most;

	if (most >= SELFMAG && !memcmp(file, ELFMAG, SELFMAG))
		image = elf_bytes(file, most);
	else if (memcpy(&fatbin, file, sizeof(fatbin)), fatbin.magic == FATBIN_MAGIC)
		image = last_of(0, fatbin.header_bytes, fatbin.bytes);
	else if (!ts_amd_is_bundle(file, most) &&
		 memcmp(file, TS_HIP_BUNDLE_COMPRESSED_MAGIC,
			strlen(TS_HIP_BUNDLE_COMPRESSED_MAGIC)) != 0)
		/* The size of PTX includes a NUL that the file may lack. */
		image = most + 1;
	return image <= most + 1 ? image : most;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/*
 * Opens regular files only. Opening a FIFO may block, and reading from it removes bytes that the
 * driver needs.
 */
static int open_file(const char *path, struct stat *ret_st)
{
	int fd;

	if (!path || stat(path, ret_st) || !S_ISREG(ret_st->st_mode))
		return -1;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0 && (fstat(fd, ret_st) || !S_ISREG(ret_st->st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static size_t read_all(int fd, uint8_t *to, size_t n_bytes)
{
	size_t n = 0;

	while (n < n_bytes) {
		ssize_t got = read(fd, to + n, n_bytes - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return n;
}

/* The file that the thread's current call loads, as it was before the driver read it. */
static __thread struct {
	struct ts_pages pages;
	size_t n_bytes; /* 0: not readable */
	struct stat st;
} file __attribute__((tls_model("initial-exec")));

void ts_capture_file_read(const char *path)
{
	int fd;

	ts_capture_file_drop();
	fd = open_file(path, &file.st);
	if (fd < 0)
		return;
	/*
	 * Zeroes follow the file's bytes: PTX in a file may lack a NUL, and a file may be shorter
	 * than a header.
	 */
	if (file.st.st_size > 0 &&
	    ts_pages_grow(&file.pages, (size_t)file.st.st_size + sizeof(struct fatbin)) &&
	    read_all(fd, file.pages.at, (size_t)file.st.st_size) == (size_t)file.st.st_size)
		file.n_bytes = bytes_in_file(file.pages.at, (size_t)file.st.st_size);
	close(fd);
}

size_t ts_capture_file_take(const char *path, const void **ret_image)
{
	struct stat now;

	if (!file.n_bytes || stat(path, &now) || !is_same(&file.st, &now))
		return 0;
	*ret_image = file.pages.at;
	return file.n_bytes;
}

void ts_capture_file_drop(void)
{
	ts_pages_free(&file.pages);
	file.n_bytes = 0;
}

const char *ts_capture_loaded_file(uint32_t cbid, const void *params)
{
	if (!params)
		return NULL;
	if (cbid == TS_CUPTI_DRIVER_CBID_cuModuleLoad)
		return ((const struct ts_cu_module_load_params *)params)->fname;
	if (cbid == TS_CUPTI_DRIVER_CBID_cuLibraryLoadFromFile)
		return ((const struct ts_cu_library_load_from_file_params *)params)->file_name;
	return NULL;
}
