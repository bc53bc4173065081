/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the messages of the host sampler to the daemon, and the line tables that the sampler reads
 * from a Python process (daemon/sample/sampler.h). If the first byte is 8 to 13, the input is a
 * line table of Python 3.8 to 3.13. The next byte is then the offset. Otherwise the input is a
 * message.
 */
#include "daemon/sample/sampler.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void take_message(const uint8_t *data, size_t n_bytes)
{
	struct ts_sampler_sample sample;
	struct ts_sampler_item item;
	const uint8_t *at;
	size_t off = 0;

	while (ts_sampler_next(data, n_bytes, &off, &item, &at)) {
		if (at < data || at > data + n_bytes ||
		    item.n_bytes > (size_t)(data + n_bytes - at))
			abort();
		if (item.kind != TS_SAMPLER_SAMPLE)
			continue;
		memcpy(&sample, at, sizeof(sample));
		if (sample.n_frames > TS_SAMPLER_FRAMES_MAX ||
		    item.n_bytes != sizeof(sample) + sample.n_frames * sizeof(uint64_t))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	uint32_t line;

	if (!n_bytes)
		return 0;
	if (data[0] < 8 || data[0] > 13) {
		take_message(data + 1, n_bytes - 1);
		return 0;
	}
	if (n_bytes < 2)
		return 0;
	line = ts_remote_python_line(data[0], data + 2, n_bytes - 2, 1, 2 * (int8_t)data[1]);
	if (line >= 1u << TS_FRAME_LINE_BITS)
		abort();
	return 0;
}
