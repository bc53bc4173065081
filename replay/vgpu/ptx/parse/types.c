// SPDX-License-Identifier: Apache-2.0
/*
 * Shared by parser, linker and decoder: names of types and special registers, the arena of a
 * module, the map of names, and error messages.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "proto/abi/map.h"
#include "replay/vgpu/ptx/parse/syntax.h"

#define CHUNK_BYTES 65536

struct ts_ptx_arena_chunk {
	struct ts_ptx_arena_chunk *next;
	size_t capacity;
	_Alignas(16) uint8_t bytes[];
};

void *ts_ptx_arena_get(struct ts_ptx_arena *arena, size_t n_bytes)
{
	struct ts_ptx_arena_chunk *chunk = arena->chunks;
	void *p;

	n_bytes = (n_bytes + 15) & ~(size_t)15;
	if (!chunk || chunk->capacity - arena->used < n_bytes) {
		size_t capacity = n_bytes > CHUNK_BYTES ? n_bytes : CHUNK_BYTES;

		chunk = calloc(1, sizeof(*chunk) + capacity);
		if (!chunk)
			return NULL;
		chunk->capacity = capacity;
		chunk->next = arena->chunks;
		arena->chunks = chunk;
		arena->used = 0;
	}
	p = chunk->bytes + arena->used;
	arena->used += n_bytes;
	return p;
}

char *ts_ptx_arena_string(struct ts_ptx_arena *arena, const char *text, size_t n)
{
	char *s = ts_ptx_arena_get(arena, n + 1);

	if (s)
		memcpy(s, text, n);
	return s;
}

void ts_ptx_arena_deinit(struct ts_ptx_arena *arena)
{
	while (arena->chunks) {
		struct ts_ptx_arena_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
}

static uint64_t hash_of(uint64_t seed, const char *key, size_t n, uint32_t scope)
{
	return ts_hash_seeded_bytes(ts_hash_add(seed, scope), key, n);
}

static struct ts_ptx_map_entry *find_entry(const struct ts_ptx_map *map, const char *key, size_t n,
					   uint32_t scope, uint64_t hash)
{
	TS_HASHINDEX_EACH (&map->index, hash, at) {
		struct ts_ptx_map_entry *e = &map->entries[at.number];

		if (e->n == n && e->scope == scope && !memcmp(e->key, key, n))
			return e;
	}
	return NULL;
}

int ts_ptx_map_put(struct ts_ptx_map *map, const char *key, size_t n, uint32_t scope, void *value)
{
	struct ts_ptx_map_entry *e;
	uint64_t hash = hash_of(ts_hashindex_seed(&map->index), key, n, scope);

	e = find_entry(map, key, n, scope, hash);
	if (!e) {
		if (TS_GROW(map->entries, map->n_allocated, map->n_entries + 1) ||
		    ts_hashindex_add(&map->index, hash, (uint32_t)map->n_entries))
			return -ENOMEM;
		e = &map->entries[map->n_entries++];
	}
	*e = (struct ts_ptx_map_entry){key, (uint32_t)n, scope, value};
	return 0;
}

void *ts_ptx_map_get(const struct ts_ptx_map *map, const char *key, size_t n, uint32_t scope)
{
	struct ts_ptx_map_entry *e;
	uint64_t hash;

	if (!map->n_entries)
		return NULL;
	hash = hash_of(ts_hashindex_seed_of(&map->index), key, n, scope);
	e = find_entry(map, key, n, scope, hash);
	return e ? e->value : NULL;
}

void ts_ptx_map_deinit(struct ts_ptx_map *map)
{
	free(map->entries);
	ts_hashindex_deinit(&map->index);
	*map = (struct ts_ptx_map){0};
}

const struct ts_ptx_type_info ts_ptx_types[TY_N] = {
	[TY_NONE] = {"", 0, 0},		  [TY_B8] = {"b8", 1, 'b'},
	[TY_B16] = {"b16", 2, 'b'},	  [TY_B32] = {"b32", 4, 'b'},
	[TY_B64] = {"b64", 8, 'b'},	  [TY_B128] = {"b128", 16, 'b'},
	[TY_U8] = {"u8", 1, 'u'},	  [TY_U16] = {"u16", 2, 'u'},
	[TY_U32] = {"u32", 4, 'u'},	  [TY_U64] = {"u64", 8, 'u'},
	[TY_S8] = {"s8", 1, 's'},	  [TY_S16] = {"s16", 2, 's'},
	[TY_S32] = {"s32", 4, 's'},	  [TY_S64] = {"s64", 8, 's'},
	[TY_F16] = {"f16", 2, 'f'},	  [TY_F16X2] = {"f16x2", 4, 'h'},
	[TY_BF16] = {"bf16", 2, 'f'},	  [TY_BF16X2] = {"bf16x2", 4, 'h'},
	[TY_TF32] = {"tf32", 4, 'f'},	  [TY_F32] = {"f32", 4, 'f'},
	[TY_F32X2] = {"f32x2", 8, 'h'},	  [TY_F64] = {"f64", 8, 'f'},
	[TY_U16X2] = {"u16x2", 4, 'h'},	  [TY_S16X2] = {"s16x2", 4, 'h'},
	[TY_E4M3X2] = {"e4m3x2", 2, 'h'}, [TY_E5M2X2] = {"e5m2x2", 2, 'h'},
	[TY_E4M3] = {"e4m3", 1, 'x'},	  [TY_E5M2] = {"e5m2", 1, 'x'},
	[TY_S4] = {"s4", 0, 'x'},	  [TY_U4] = {"u4", 0, 'x'},
	[TY_B1] = {"b1", 0, 'x'},	  [TY_PRED] = {"pred", 0, 'p'},
};

enum ts_ptx_type ts_ptx_type_of(const char *name, size_t n)
{
	for (int i = 1; i < TY_N; i++)
		if (strlen(ts_ptx_types[i].name) == n && !memcmp(ts_ptx_types[i].name, name, n))
			return (enum ts_ptx_type)i;
	return TY_NONE;
}

static const struct {
	const char *name;
	enum ts_ptx_sreg sreg;
} ts_ptx_sregs[] = {
	{"%tid.x", SREG_TID_X},
	{"%tid.y", SREG_TID_Y},
	{"%tid.z", SREG_TID_Z},
	{"%ntid.x", SREG_NTID_X},
	{"%ntid.y", SREG_NTID_Y},
	{"%ntid.z", SREG_NTID_Z},
	{"%ctaid.x", SREG_CTAID_X},
	{"%ctaid.y", SREG_CTAID_Y},
	{"%ctaid.z", SREG_CTAID_Z},
	{"%nctaid.x", SREG_NCTAID_X},
	{"%nctaid.y", SREG_NCTAID_Y},
	{"%nctaid.z", SREG_NCTAID_Z},
	{"%laneid", SREG_LANEID},
	{"%warpid", SREG_WARPID},
	{"%nwarpid", SREG_NWARPID},
	{"%smid", SREG_SMID},
	{"%nsmid", SREG_NSMID},
	{"%gridid", SREG_GRIDID},
	{"%lanemask_eq", SREG_LANEMASK_EQ},
	{"%lanemask_le", SREG_LANEMASK_LE},
	{"%lanemask_lt", SREG_LANEMASK_LT},
	{"%lanemask_ge", SREG_LANEMASK_GE},
	{"%lanemask_gt", SREG_LANEMASK_GT},
	{"%clock", SREG_CLOCK},
	{"%clock_hi", SREG_CLOCK_HI},
	{"%clock64", SREG_CLOCK64},
	{"%globaltimer", SREG_GLOBALTIMER},
	{"%globaltimer_lo", SREG_GLOBALTIMER_LO},
	{"%globaltimer_hi", SREG_GLOBALTIMER_HI},
	{"%dynamic_smem_size", SREG_DYNAMIC_SMEM_SIZE},
	{"%total_smem_size", SREG_TOTAL_SMEM_SIZE},
	{"%aggr_smem_size", SREG_AGGR_SMEM_SIZE},
	{"%current_graph_exec", SREG_CURRENT_GRAPH_EXEC},
	{"%reserved_smem_offset_begin", SREG_RESERVED_SMEM},
	{"%reserved_smem_offset_0", SREG_RESERVED_SMEM},
	{"%reserved_smem_offset_1", SREG_RESERVED_SMEM},
	{"%reserved_smem_offset_end", SREG_RESERVED_SMEM_END},
	{"%reserved_smem_offset_cap", SREG_RESERVED_SMEM_SIZE},
	/* A grid without clusters has clusters of one block. */
	{"%is_explicit_cluster", SREG_ZERO},
	{"%clusterid.x", SREG_CTAID_X},
	{"%clusterid.y", SREG_CTAID_Y},
	{"%clusterid.z", SREG_CTAID_Z},
	{"%nclusterid.x", SREG_NCTAID_X},
	{"%nclusterid.y", SREG_NCTAID_Y},
	{"%nclusterid.z", SREG_NCTAID_Z},
	{"%cluster_ctaid.x", SREG_ZERO},
	{"%cluster_ctaid.y", SREG_ZERO},
	{"%cluster_ctaid.z", SREG_ZERO},
	{"%cluster_nctaid.x", SREG_ONE},
	{"%cluster_nctaid.y", SREG_ONE},
	{"%cluster_nctaid.z", SREG_ONE},
	{"%cluster_ctarank", SREG_ZERO},
	{"%cluster_nctarank", SREG_ONE},
};

enum ts_ptx_sreg ts_ptx_sreg_of(const char *name, size_t n)
{
	unsigned number = 0;

	for (size_t i = 0; i < sizeof(ts_ptx_sregs) / sizeof(ts_ptx_sregs[0]); i++)
		if (strlen(ts_ptx_sregs[i].name) == n && !memcmp(ts_ptx_sregs[i].name, name, n))
			return ts_ptx_sregs[i].sreg;
	if (n < 8 || n > 9 || memcmp(name, "%envreg", 7))
		return SREG_NONE;
	for (size_t i = 7; i < n; i++) {
		if (name[i] < '0' || name[i] > '9')
			return SREG_NONE;
		number = number * 10 + (unsigned)(name[i] - '0');
	}
	if (number > 31)
		return SREG_NONE;
	return number == 1 ? SREG_ENVREG1 : number == 2 ? SREG_ENVREG2 : SREG_ZERO;
}

bool ts_ptx_sreg_is_64(enum ts_ptx_sreg sreg)
{
	return sreg == SREG_CLOCK64 || sreg == SREG_GLOBALTIMER || sreg == SREG_GRIDID ||
	       sreg == SREG_CURRENT_GRAPH_EXEC;
}

int ts_ptx_fail(struct ts_ptx_error *error, int code, uint32_t line, const char *format, ...)
{
	va_list args;

	if (error && !error->message[0]) {
		error->line = line;
		va_start(args, format);
		(void)vsnprintf(error->message, sizeof(error->message), format, args);
		va_end(args);
	}
	return code;
}
