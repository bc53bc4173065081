/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks mini debug information by liblzma, up to a bound. elf-file.c calls this module. */
#include "daemon/worker/mini-debug.h"

#include <gelf.h>
#include <lzma.h>

#include "sbt/buffer.h"

#define STEP_BYTES (256u * 1024)

static Elf_Data *find_data(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, ".gnu_debugdata"))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

static int unpack(lzma_stream *stream, struct ts_buffer *to)
{
	lzma_ret r = LZMA_OK;

	while (r == LZMA_OK) {
		int error;

		if (to->n > TS_MINI_DEBUG_MAX_BYTES)
			return -EBADMSG;
		error = ts_buffer_reserve(to, STEP_BYTES, &stream->next_out);
		if (error)
			return error;
		stream->avail_out = STEP_BYTES;
		r = lzma_code(stream, LZMA_FINISH);
		to->n += STEP_BYTES - stream->avail_out;
	}
	return r == LZMA_STREAM_END ? 0 : r == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

int ts_mini_debug_open(Elf *elf, Elf **ret_elf, uint8_t **ret_bytes)
{
	ts_cleanup(ts_buffer_deinit) struct ts_buffer bytes = {0};
	const Elf_Data *data = find_data(elf);
	lzma_stream stream = LZMA_STREAM_INIT;
	Elf *within;
	int r;

	if (!data || !data->d_buf)
		return -ENOENT;
	if (lzma_stream_decoder(&stream, TS_MINI_DEBUG_MAX_BYTES, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	r = unpack(&stream, &bytes);
	lzma_end(&stream);
	if (r)
		return r;
	within = elf_memory((char *)bytes.bytes, bytes.n);
	if (!within || elf_kind(within) != ELF_K_ELF) {
		elf_end(within);
		return -EBADMSG;
	}
	*ret_elf = within;
	*ret_bytes = ts_take_ptr(bytes.bytes);
	return 0;
}
