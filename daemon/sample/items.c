/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a sampler's messages for the daemon (serve/session/session-samples.c). A sampler reads
 * untrusted files and memory, and an attacker may control it. The fuzz target is
 * test/fuzz/fuzz-sampler.c.
 */
#include "daemon/sample/sampler.h"

static bool is_text(const uint8_t *at, size_t n)
{
	struct ts_sampler_text head;

	if (n < sizeof(head))
		return false;
	memcpy(&head, at, sizeof(head));
	return head.id && head.id <= TS_REMOTE_PYTHON_TEXTS && head.n_text == n - sizeof(head) &&
	       head.n_text <= 2 * TS_REMOTE_TEXT_BYTES + 1;
}

static bool is_sample(const uint8_t *at, size_t n)
{
	struct ts_sampler_sample head;

	if (n < sizeof(head))
		return false;
	memcpy(&head, at, sizeof(head));
	return head.tid && head.n_frames <= TS_SAMPLER_FRAMES_MAX &&
	       n - sizeof(head) == head.n_frames * sizeof(uint64_t);
}

static bool is_rate(const uint8_t *at, size_t n)
{
	struct ts_sampler_rate rate;

	if (n != sizeof(rate))
		return false;
	memcpy(&rate, at, sizeof(rate));
	return rate.period_ns != 0;
}

static bool is_valid(const struct ts_sampler_item *item, const uint8_t *at)
{
	switch (item->kind) {
	case TS_SAMPLER_TEXT:
		return is_text(at, item->n_bytes);
	case TS_SAMPLER_SAMPLE:
		return is_sample(at, item->n_bytes);
	case TS_SAMPLER_LOST:
		return item->n_bytes == sizeof(struct ts_sampler_lost);
	case TS_SAMPLER_RATE:
		return is_rate(at, item->n_bytes);
	case TS_SAMPLER_DONE:
		return item->n_bytes == sizeof(struct ts_sampler_done);
	case TS_SAMPLER_WHY:
	case TS_SAMPLER_PYTHON:
		return true;
	default:
		return false;
	}
}

bool ts_sampler_next(const uint8_t *message, size_t n_bytes, size_t *off,
		     struct ts_sampler_item *ret_item, const uint8_t **ret_at)
{
	while (*off <= n_bytes && n_bytes - *off >= sizeof(*ret_item)) {
		const uint8_t *at = message + *off + sizeof(*ret_item);
		size_t left = n_bytes - *off - sizeof(*ret_item);

		memcpy(ret_item, message + *off, sizeof(*ret_item));
		if (ret_item->n_bytes > left)
			break;
		*off += sizeof(*ret_item) + ((ret_item->n_bytes + (size_t)7) & ~(size_t)7);
		if (!is_valid(ret_item, at))
			continue;
		*ret_at = at;
		return true;
	}
	return false;
}
