/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the capture of code that a program loads from a file. The image is the file as the driver
 * read it, or none. No read goes beyond the file's end, and no read waits for something that is not
 * a regular file.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/capture/capture.h"
#include "test/unit/harness.h"

static char folder[] = "/tmp/ts-modules-XXXXXX", path[64], other[64];

static void begin(void)
{
	ts_check(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/code", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
}

static void end(void)
{
	ts_capture_file_drop();
	(void)unlink(path);
	(void)unlink(other);
	ts_check_int(rmdir(folder), 0);
}

static void write_file(const char *name, const void *bytes, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ts_check(fd >= 0);
	ts_check_int(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

static size_t taken(const void **ret_image)
{
	ts_capture_file_read(path);
	return ts_capture_file_take(path, ret_image);
}

TS_TEST(text)
{
	static const char ptx[] = ".version 7.0";
	const void *image = NULL;

	begin();
	write_file(path, ptx, sizeof(ptx) - 1);
	ts_check_int(taken(&image), sizeof(ptx));
	ts_check(image && !memcmp(image, ptx, sizeof(ptx)));
	end();
}

TS_TEST(no_longer_what_it_was)
{
	const void *image = NULL;

	begin();
	ts_check_int(taken(&image), 0);
	write_file(path, "one", 3);
	write_file(other, "two", 3);
	ts_capture_file_read(path);
	ts_check_int(rename(other, path), 0);
	ts_check_int(ts_capture_file_take(path, &image), 0);
	ts_capture_file_read(path);
	ts_check_int(ts_capture_file_take(path, &image), 4);
	ts_check(!memcmp(image, "two", 4));
	ts_capture_file_read(path);
	write_file(path, "longer", 6);
	ts_check_int(ts_capture_file_take(path, &image), 0);
	ts_capture_file_drop();
	ts_check_int(ts_capture_file_take(path, &image), 0);
	end();
}

/*
 * A driver may accept a path that is no regular file. The shim does not wait for the writer of a
 * FIFO, and captures no image.
 */
TS_TEST(no_file)
{
	const void *image;

	begin();
	ts_check_int(mkfifo(path, 0600), 0);
	ts_check_int(taken(&image), 0);
	ts_check_int(unlink(path), 0);
	ts_check_int(symlink("/dev/zero", path), 0);
	ts_check_int(taken(&image), 0);
	end();
}

/* If tables of an ELF file lie outside the file, the shim reads nothing beyond the file's end. */
TS_TEST(elf_is_bounded)
{
	static const uint64_t wild[] = {1, 64, 100, 4096, UINT64_C(1) << 40, UINT64_MAX - 8};
	struct {
		Elf64_Ehdr header;
		Elf64_Shdr sections[2];
	} file;
	const void *image = NULL;

	begin();
	for (size_t i = 0; i < 4 * TS_ARRAY_LEN(wild); i++) {
		uint64_t value = wild[i / 4];

		memset(&file, 0, sizeof(file));
		memcpy(file.header.e_ident, ELFMAG, SELFMAG);
		file.header.e_ident[EI_CLASS] = ELFCLASS64;
		file.header.e_shentsize = sizeof(file.sections[0]);
		file.header.e_shoff = i % 4 == 0 ? value : sizeof(file.header);
		file.header.e_shnum = i % 4 == 1 ? 0 : 2;
		file.sections[0].sh_size = i % 4 == 1 ? value : 0;
		file.sections[1].sh_type = SHT_PROGBITS;
		file.sections[1].sh_offset = i % 4 == 2 ? value : 0;
		file.sections[1].sh_size = i % 4 == 3 ? value : 0;
		write_file(path, &file, sizeof(file));
		ts_check(taken(&image) <= sizeof(file));
	}
	write_file(path, &file, sizeof(Elf64_Ehdr) / 2);
	ts_check_int(taken(&image), sizeof(Elf64_Ehdr) / 2);
	end();
}
