/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the containers of AMD's device code. main.c calls it for a session's kernels. It calls
 * amd-metadata.c for the ELF file of the device, and zlib or zstd for compressed bundles (LLVM's
 * "Clang Offload Bundler", Compressed Offload Bundle).
 *
 * A bundle has an entry for each target. An entry fits a device if its processor is the device's,
 * or a generic processor that includes it, and each of its features has the device's state. An
 * entry without a feature fits both states.
 */
#include "daemon/worker/code/amd-code.h"

#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

#include "proto/abi/vendor/hip.h"

/* Ids of entries: kind and triple precede the target. Code objects of version 4 have their own. */
static const char *const id_heads[] = {"hipv4-amdgcn-amd-amdhsa--", "hip-amdgcn-amd-amdhsa--",
				       "hip-amdgcn-amd-amdhsa-unknown-"};

/* Generic processors (LLVM's "User Guide for AMDGPU Backend", Generic Processors). */
static const struct {
	const char *generic, *processors;
} generics[] = {
	{"gfx9-generic", " gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c "},
	{"gfx9-4-generic", " gfx940 gfx941 gfx942 gfx950 "},
	{"gfx10-1-generic", " gfx1010 gfx1011 gfx1012 gfx1013 "},
	{"gfx10-3-generic", " gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "},
	{"gfx11-generic", " gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 "},
	{"gfx12-generic", " gfx1200 gfx1201 "},
};

/* A part of a target between colons: the processor, or a feature with its sign. */
struct part {
	const char *at;
	size_t n;
};

/* Takes the next part of a text; false at its end. */
static bool next_part(const char **text, size_t *n, struct part *ret)
{
	const char *colon;

	if (!*n)
		return false;
	colon = memchr(*text, ':', *n);
	ret->at = *text;
	ret->n = colon ? (size_t)(colon - *text) : *n;
	*n -= colon ? ret->n + 1 : ret->n;
	*text += colon ? ret->n + 1 : ret->n;
	return true;
}

static bool same_part(const struct part *a, const struct part *b)
{
	return a->n == b->n && !memcmp(a->at, b->at, a->n);
}

static bool has_feature(const char *target, size_t n, const struct part *feature)
{
	struct part part;

	while (next_part(&target, &n, &part))
		if (same_part(&part, feature))
			return true;
	return false;
}

static bool is_generic_of(const struct part *generic, const struct part *processor)
{
	char word[32];
	int n = snprintf(word, sizeof(word), " %.*s ", (int)processor->n, processor->at);

	if (n < 3 || (size_t)n >= sizeof(word))
		return false;
	for (size_t i = 0; i < TS_ARRAY_LEN(generics); i++)
		if (generic->n == strlen(generics[i].generic) &&
		    !memcmp(generic->at, generics[i].generic, generic->n))
			return strstr(generics[i].processors, word);
	return false;
}

/*
 * Returns how well an entry's target fits a device: 0 not; more features fit better, and a generic
 * processor fits worst.
 */
static unsigned fit(const char *entry, size_t n_entry, const char *device)
{
	const char *features = device;
	size_t n_features = strlen(device);
	struct part processor, wanted, feature;
	unsigned n = 2;

	if (!next_part(&entry, &n_entry, &processor) || !next_part(&features, &n_features, &wanted))
		return 0;
	if (!same_part(&processor, &wanted)) {
		if (!is_generic_of(&processor, &wanted))
			return 0;
		n = 1;
	}
	while (next_part(&entry, &n_entry, &feature)) {
		if (!has_feature(features, n_features, &feature))
			return 0;
		n += 2;
	}
	return n;
}

/* Returns how well an entry's id fits a device. */
static unsigned fit_id(const char *id, size_t n, const char *device)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(id_heads); i++) {
		const size_t n_head = strlen(id_heads[i]);

		if (n > n_head && !memcmp(id, id_heads[i], n_head))
			return fit(id + n_head, n - n_head, device);
	}
	return 0;
}

/* Finds the device's entry of a bundle. */
static int find_entry(const uint8_t *bundle, size_t n_bytes, const char *target,
		      struct ts_hip_bundle_entry *ret_entry)
{
	struct ts_hip_bundle head;
	size_t at = sizeof(head);
	unsigned best = 0, fitness;

	if (n_bytes < sizeof(head))
		return TS_AMD_CODE_E_CUT;
	memcpy(&head, bundle, sizeof(head));
	if (head.n_entries > TS_AMD_MAX_ENTRIES)
		return TS_AMD_CODE_E_LARGE;
	for (uint64_t i = 0; i < head.n_entries; i++) {
		struct ts_hip_bundle_entry entry;

		if (n_bytes - at < sizeof(entry))
			return TS_AMD_CODE_E_CUT;
		memcpy(&entry, bundle + at, sizeof(entry));
		at += sizeof(entry);
		if (entry.id_bytes > TS_AMD_MAX_ID_BYTES)
			return TS_AMD_CODE_E_LARGE;
		if (entry.id_bytes > n_bytes - at || entry.offset > n_bytes ||
		    entry.size > n_bytes - entry.offset)
			return TS_AMD_CODE_E_CUT;
		fitness = fit_id((const char *)bundle + at, entry.id_bytes, target);
		if (fitness > best) {
			best = fitness;
			*ret_entry = entry;
		}
		at += entry.id_bytes;
	}
	return best ? 0 : TS_AMD_CODE_E_TARGET;
}

static int read_elf(const uint8_t *elf, size_t n_bytes, ts_amd_kernel_fn *receive, void *userdata)
{
	const uint8_t *metadata;
	size_t n;
	int r = ts_amd_elf_metadata(elf, n_bytes, &metadata, &n);

	return r ?: ts_amd_metadata_read(metadata, n, receive, userdata);
}

static int read_bundle(const uint8_t *bundle, size_t n_bytes, const char *target,
		       ts_amd_kernel_fn *receive, void *userdata)
{
	struct ts_hip_bundle_entry entry;
	int r = find_entry(bundle, n_bytes, target, &entry);

	return r ?: read_elf(bundle + entry.offset, entry.size, receive, userdata);
}

/* ---- compressed bundles ---- */

/*
 * The content of version 1 has no size: it is the first frame, and whatever follows is not part of
 * it.
 */
static bool unpack_zstd(const struct ts_amd_compressed *in, uint8_t *to)
{
	size_t n = ZSTD_findFrameCompressedSize(in->content, in->n_content);

	if (ZSTD_isError(n))
		return false;
	n = ZSTD_decompress(to, in->n_bundle, in->content, n);
	return !ZSTD_isError(n) && n == in->n_bundle;
}

static bool unpack_zlib(const struct ts_amd_compressed *in, uint8_t *to)
{
	uLongf n = in->n_bundle;
	uLong n_from = in->n_content;

	return uncompress2(to, &n, in->content, &n_from) == Z_OK && n == in->n_bundle;
}

static int read_compressed(const uint8_t *code, size_t n_bytes, const char *target,
			   ts_amd_kernel_fn *receive, void *userdata)
{
	ts_cleanup(ts_freep) uint8_t *bundle = NULL;
	struct ts_amd_compressed in;
	bool unpacked;
	int r = ts_amd_compressed_head(code, n_bytes, &in);

	if (r)
		return r;
	if (in.method != TS_AMD_ZLIB && in.method != TS_AMD_ZSTD)
		return TS_AMD_CODE_E_COMPRESSION;
	bundle = malloc(in.n_bundle + 1);
	if (!bundle)
		return -ENOMEM;
	unpacked = in.method == TS_AMD_ZSTD ? unpack_zstd(&in, bundle) : unpack_zlib(&in, bundle);
	if (!unpacked)
		return TS_AMD_CODE_E_COMPRESSION;
	if (in.n_bundle < strlen(TS_HIP_BUNDLE_MAGIC) ||
	    memcmp(bundle, TS_HIP_BUNDLE_MAGIC, strlen(TS_HIP_BUNDLE_MAGIC)))
		return TS_AMD_CODE_E_FORMAT;
	return read_bundle(bundle, in.n_bundle, target, receive, userdata);
}

int ts_amd_code_read(const uint8_t *code, size_t n_bytes, const char *target,
		     ts_amd_kernel_fn *receive, void *userdata)
{
	const size_t n_compressed = strlen(TS_HIP_BUNDLE_COMPRESSED_MAGIC);
	const size_t n_bundle = strlen(TS_HIP_BUNDLE_MAGIC);

	if (n_bytes >= n_compressed && !memcmp(code, TS_HIP_BUNDLE_COMPRESSED_MAGIC, n_compressed))
		return read_compressed(code, n_bytes, target, receive, userdata);
	if (n_bytes >= n_bundle && !memcmp(code, TS_HIP_BUNDLE_MAGIC, n_bundle))
		return read_bundle(code, n_bytes, target, receive, userdata);
	return read_elf(code, n_bytes, receive, userdata);
}
