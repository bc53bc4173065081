/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads DWARF by libdw for whole lists of addresses. elf-file.c calls this module. libdw's own
 * look-ups walk a compilation unit from its start for each address. Here the addresses are sorted
 * by unit. Each unit with addresses is walked once for all of them; functions that hold none are
 * skipped.
 *
 *     ts_dwarf_new():  units -> ranges, sorted
 *     ts_dwarf_find(): addresses -> wanted, sorted by unit
 *       for each unit: walk_unit(): functions -> look() -> walk_scopes(): inlined functions
 *                      find_lines()
 */
#include "daemon/worker/debug-info.h"

#include <dwarf.h>
#include <stdio.h>

#include "daemon/worker/worker-demangle.h"

#define MAX_DEPTH  128u /* limit of the depth of nested blocks; deeper blocks are skipped */
#define MAX_SCOPES (4u * 1024 * 1024)
#define N_NAMES	   1024u /* a power of two */
#define N_KINDS	   256u	 /* a power of two */

/*
 * The addresses [low, high) belong to the unit whose DIE is at offset `unit` of .debug_info. Ranges
 * of one unit that touch are merged.
 */
struct range {
	uint64_t low, high;
	Dwarf_Off unit;
};

/* Cache of names with the number of their text, because units repeat the same names. */
struct name {
	const char *raw;
	uint32_t text;
};

/* Cache by abbreviation: a unit describes thousands of DIEs by the same few abbreviations. */
struct kind {
	const void *abbreviation;
	bool has_code, has_ranges, is_declaration;
};

struct wanted {
	Dwarf_Off unit;
	uint64_t address;
	uint64_t low; /* start of the range that has the address */
	uint32_t index;
};

struct ts_dwarf {
	Dwarf *dwarf;
	bool is_split;		 /* functions of units are in separate files */
	struct ts_buffer ranges; /* of struct range, sorted by low */
	struct ts_buffer scopes; /* of struct ts_dwarf_scope; entry 0 is none */
	struct name names[N_NAMES];
	struct kind kinds[N_KINDS];
};

/* The walk of one unit. */
struct walk {
	struct ts_dwarf *dwarf;
	Dwarf_Die *unit;
	const char *directory; /* directory of the compiler; NULL: not known */
	Dwarf_Files *files;
	size_t n_files;
	const struct wanted *wanted;
	size_t n_wanted;
	size_t n_left; /* addresses that are in no function yet */
	struct ts_dwarf_place *places;
	struct ts_found *found;
};

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high < y->high ? -1 : x->high > y->high;
}

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/*
 * True if the range is code of the file. The linker leaves the description of code that it removed,
 * at address 0.
 */
static bool is_code(uint64_t low, uint64_t high)
{
	return low && low < high;
}

static int add_unit(struct ts_dwarf *dwarf, Dwarf_Die *unit)
{
	struct range range = {.unit = dwarf_dieoffset(unit)};
	Dwarf_Addr base;
	ptrdiff_t at = 0;
	int r;

	while ((at = dwarf_ranges(unit, at, &base, &range.low, &range.high)) > 0) {
		if (!is_code(range.low, range.high))
			continue;
		r = ts_buffer_append(&dwarf->ranges, &range, sizeof(range));
		if (r)
			return r;
	}
	return 0;
}

static void sort_ranges(struct ts_buffer *ranges)
{
	struct range *list = (void *)ranges->bytes;
	size_t n = ranges->n / sizeof(*list), kept = 0;

	if (!n)
		return;
	qsort(list, n, sizeof(*list), compare_ranges);
	for (size_t i = 1; i < n; i++) {
		struct range *last = &list[kept];

		if (list[i].unit != last->unit || list[i].low > last->high)
			list[++kept] = list[i];
		else if (list[i].high > last->high)
			last->high = list[i].high;
	}
	ranges->n = (kept + 1) * sizeof(*list);
}

static int add_units(struct ts_dwarf *dwarf)
{
	Dwarf_CU *at = NULL;
	Dwarf_Die unit;
	uint8_t type;
	int r;

	while (!dwarf_get_units(dwarf->dwarf, at, &at, NULL, &type, &unit, NULL)) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		dwarf->is_split |= type == DW_UT_skeleton;
		r = add_unit(dwarf, &unit);
		if (r)
			return r;
	}
	sort_ranges(&dwarf->ranges);
	return 0;
}

int ts_dwarf_new(Dwarf *dwarf, struct ts_dwarf **ret_dwarf)
{
	struct ts_dwarf *made = calloc(1, sizeof(*made));
	int r;

	if (!made)
		return -ENOMEM;
	made->dwarf = dwarf;
	r = add_units(made);
	if (r) {
		ts_dwarf_free(made);
		return r;
	}
	*ret_dwarf = made;
	return 0;
}

void ts_dwarf_free(struct ts_dwarf *dwarf)
{
	if (!dwarf)
		return;
	ts_buffer_deinit(&dwarf->ranges);
	ts_buffer_deinit(&dwarf->scopes);
	free(dwarf);
}

bool ts_dwarf_is_split(const struct ts_dwarf *dwarf)
{
	return dwarf->is_split;
}

const struct ts_dwarf_scope *ts_dwarf_scope(const struct ts_dwarf *dwarf, uint32_t scope)
{
	return &((const struct ts_dwarf_scope *)(const void *)dwarf->scopes.bytes)[scope];
}

static const struct range *find_range(const struct ts_dwarf *dwarf, uint64_t address)
{
	const struct range *ranges = (const void *)dwarf->ranges.bytes;
	size_t low = 0, high = dwarf->ranges.n / sizeof(*ranges);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < ranges[low - 1].high ? &ranges[low - 1] : NULL;
}

/* Returns the index of the first wanted address at or after this address. */
static size_t first_wanted(const struct walk *walk, uint64_t address)
{
	size_t low = 0, high = walk->n_wanted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (walk->wanted[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct name *name_slot(struct walk *walk, const char *raw)
{
	return &walk->dwarf->names[((uintptr_t)raw >> 1) & (N_NAMES - 1)];
}

static uint32_t name_text(struct walk *walk, const char *raw, bool mangled)
{
	struct name *name = name_slot(walk, raw);
	ts_cleanup(ts_freep) char *shown = NULL;

	if (!raw)
		return 0;
	if (name->raw == raw)
		return name->text;
	shown = mangled ? ts_worker_demangle(raw) : NULL;
	*name = (struct name){raw, ts_found_text(walk->found, shown ? shown : raw)};
	return name->text;
}

/* Removes "dir/.." and "." from a path by text alone: the path cannot be resolved here. */
static void shorten(char *path)
{
	char *to = path, *from = path;

	while (*from) {
		size_t n = strcspn(from + 1, "/") + 1;

		if (n == 3 && !memcmp(from, "/..", 3)) {
			while (to > path && *--to != '/')
				;
		} else if (n > 1 && !(n == 2 && from[1] == '.')) {
			memmove(to, from, n);
			to += n;
		}
		from += n;
	}
	*to = '\0';
}

static uint32_t file_text(struct walk *walk, const char *raw)
{
	struct name *name = name_slot(walk, raw);
	char path[TS_FOUND_MAX_NAME_BYTES];

	if (!raw)
		return 0;
	if (name->raw == raw)
		return name->text;
	if (*raw != '/' && (!walk->directory || *walk->directory != '/'))
		return name_text(walk, raw, false);
	snprintf(path, sizeof(path), "%s%s%s", *raw == '/' ? "" : walk->directory,
		 *raw == '/' ? "" : "/", raw);
	shorten(path);
	*name = (struct name){raw, ts_found_text(walk->found, path)};
	return name->text;
}

static uint32_t function_text(struct walk *walk, Dwarf_Die *die, bool *ret_is_whole)
{
	Dwarf_Attribute attribute;
	const char *raw = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		raw = dwarf_formstring(&attribute);
	*ret_is_whole = raw;
	return raw ? name_text(walk, raw, true) : name_text(walk, dwarf_diename(die), false);
}

static uint64_t attribute_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attribute) && !dwarf_formudata(&attribute, &value) ? value
											 : 0;
}

static uint32_t call_file(struct walk *walk, Dwarf_Die *die)
{
	uint64_t number = attribute_number(die, DW_AT_call_file);

	if (!walk->files && dwarf_getsrcfiles(walk->unit, &walk->files, &walk->n_files))
		walk->files = NULL;
	if (!walk->files || number >= walk->n_files)
		return 0;
	return file_text(walk, dwarf_filesrc(walk->files, number, NULL, NULL));
}

/* Creates a scope, at the first address in it. */
static int enter(struct walk *walk, Dwarf_Die *die, int tag, uint32_t outer, uint32_t *ret_scope)
{
	struct ts_dwarf_scope scope = {.outer = outer};

	if (walk->dwarf->scopes.n / sizeof(scope) >= MAX_SCOPES)
		return -ENOMEM;
	scope.function = function_text(walk, die, &scope.is_whole);
	if (tag == DW_TAG_inlined_subroutine) {
		scope.file = call_file(walk, die);
		scope.line = (uint32_t)attribute_number(die, DW_AT_call_line);
	}
	*ret_scope = (uint32_t)(walk->dwarf->scopes.n / sizeof(scope));
	return ts_buffer_append(&walk->dwarf->scopes, &scope, sizeof(scope));
}

static const struct kind *kind_of(struct walk *walk, Dwarf_Die *die)
{
	struct kind *kind =
		&walk->dwarf->kinds[((uintptr_t)die->abbrev / sizeof(void *)) & (N_KINDS - 1)];

	if (kind->abbreviation && kind->abbreviation == die->abbrev)
		return kind;
	*kind = (struct kind){
		.abbreviation = die->abbrev,
		.has_ranges = dwarf_hasattr(die, DW_AT_ranges),
		.is_declaration = dwarf_hasattr(die, DW_AT_declaration),
	};
	kind->has_code = kind->has_ranges || dwarf_hasattr(die, DW_AT_low_pc);
	return kind;
}

/*
 * True if a function holds no wanted address. The check reads only the function's start, because
 * its end costs more time. The next wanted address must lie in another range of the unit.
 */
static bool is_elsewhere(const struct walk *walk, Dwarf_Die *die)
{
	Dwarf_Addr low;
	size_t next;

	if (dwarf_lowpc(die, &low))
		return false;
	next = first_wanted(walk, low);
	return next == walk->n_wanted || walk->wanted[next].low > low;
}

/*
 * Finds the wanted addresses in a DIE. If the DIE is a function, *scope becomes its scope, and
 * addresses in `outer` that are in no inner function yet get this scope. If two DIEs claim an
 * address, the first DIE gets it. *ret_any: the children of the DIE must be walked.
 */
static int look(struct walk *walk, Dwarf_Die *die, int tag, uint32_t *scope, bool *ret_any)
{
	uint32_t outer = tag == DW_TAG_subprogram ? 0 : *scope, own = 0;
	Dwarf_Addr base, low, high;
	const struct kind *kind = kind_of(walk, die);
	ptrdiff_t at = 0;
	int r = 0;

	*ret_any = false;
	if (!kind->has_code ||
	    (tag == DW_TAG_subprogram && !kind->has_ranges && is_elsewhere(walk, die)))
		return 0;
	while (!r && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (!is_code(low, high))
			continue;
		for (size_t i = first_wanted(walk, low);
		     !r && i < walk->n_wanted && walk->wanted[i].address < high; i++) {
			struct ts_dwarf_place *place = &walk->places[walk->wanted[i].index];

			*ret_any = true;
			if (tag == DW_TAG_lexical_block)
				return 0;
			if (place->scope != outer)
				continue;
			if (!own)
				r = enter(walk, die, tag, outer, &own);
			place->scope = own;
			walk->n_left -= !outer;
		}
	}
	*ret_any = *ret_any && (own || tag == DW_TAG_lexical_block);
	*scope = own ?: *scope;
	return r;
}

static int walk_scopes(struct walk *walk, Dwarf_Die *die, uint32_t scope, unsigned int depth)
{
	Dwarf_Die child;
	int r = 0;

	if (depth == MAX_DEPTH || dwarf_child(die, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);
		uint32_t inner = scope;
		bool any;

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
			continue;
		r = look(walk, &child, tag, &inner, &any);
		if (!r && any)
			r = walk_scopes(walk, &child, inner, depth + 1);
	} while (!r && !dwarf_siblingof(&child, &child));
	return r;
}

/* Kinds of DIE around a function. Nearly all functions are directly in their unit. */
enum inside {
	IN_FUNCTION = 1, /* in a function, or in a type inside one */
	IN_TYPE = 2,	 /* in a type or a namespace */
	IN_ALL = IN_FUNCTION | IN_TYPE
};

/*
 * Returns true if functions can lie below the DIE. *ret_inside: the kinds of DIE around these
 * functions.
 */
static bool is_container(int tag, unsigned int inside, unsigned int *ret_inside)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		*ret_inside = inside & IN_FUNCTION ? inside : inside | IN_TYPE;
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		*ret_inside = inside | IN_FUNCTION;
		return true;
	default:
		return false;
	}
}

/*
 * Visits the functions below the DIE for which the kinds of DIE around them are exactly `wanted`.
 * `inside` are the kinds around the DIE's children.
 */
static int walk_functions(struct walk *walk, Dwarf_Die *die, unsigned int inside,
			  unsigned int wanted, unsigned int depth)
{
	Dwarf_Die child;
	int r = 0;

	if (depth == MAX_DEPTH || dwarf_child(die, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);
		uint32_t scope = 0;
		unsigned int below;
		bool any;

		if (tag == DW_TAG_subprogram && inside == wanted) {
			r = look(walk, &child, tag, &scope, &any);
			if (!r && any)
				r = walk_scopes(walk, &child, scope, depth + 1);
		}
		if (!r && is_container(tag, inside, &below) && !(below & ~wanted) &&
		    !kind_of(walk, &child)->is_declaration)
			r = walk_functions(walk, &child, below, wanted, depth + 1);
	} while (!r && walk->n_left && !dwarf_siblingof(&child, &child));
	return r;
}

/*
 * Walks a unit of debug information. Walks it again, and deeper, only for addresses that are in
 * none of the functions found so far.
 */
static int walk_unit(struct walk *walk)
{
	int r = 0;

	walk->n_left = walk->n_wanted;
	for (unsigned int wanted = 0; !r && walk->n_left && wanted <= IN_ALL; wanted++)
		r = walk_functions(walk, walk->unit, 0, wanted, 0);
	return r;
}

static void find_lines(struct walk *walk)
{
	for (size_t i = 0; i < walk->n_wanted; i++) {
		struct ts_dwarf_place *place = &walk->places[walk->wanted[i].index];
		Dwarf_Line *line = dwarf_getsrc_die(walk->unit, walk->wanted[i].address);
		int number = 0;

		if (!line || dwarf_lineno(line, &number) || number <= 0)
			continue;
		place->line = (uint32_t)number;
		place->file = file_text(walk, dwarf_linesrc(line, NULL, NULL));
	}
}

static int find_in_units(struct ts_dwarf *dwarf, const struct wanted *wanted, size_t n,
			 struct ts_dwarf_place *places, struct ts_found *found)
{
	int r = 0;

	for (size_t i = 0, j; !r && i < n; i = j) {
		Dwarf_Attribute directory;
		Dwarf_Die unit;
		struct walk walk = {.dwarf = dwarf,
				    .unit = &unit,
				    .wanted = wanted + i,
				    .places = places,
				    .found = found};

		for (j = i + 1; j < n && wanted[j].unit == wanted[i].unit; j++)
			;
		walk.n_wanted = j - i;
		if (!dwarf_offdie(dwarf->dwarf, wanted[i].unit, &unit))
			continue;
		if (dwarf_attr(&unit, DW_AT_comp_dir, &directory))
			walk.directory = dwarf_formstring(&directory);
		r = walk_unit(&walk);
		if (!r)
			find_lines(&walk);
	}
	return r;
}

int ts_dwarf_find(struct ts_dwarf *dwarf, const uint64_t *addresses, size_t n,
		  struct ts_dwarf_place *ret_places, struct ts_found *found)
{
	static const struct ts_dwarf_scope none;
	ts_cleanup(ts_freep) struct wanted *wanted = calloc(n + 1, sizeof(*wanted));
	size_t n_wanted = 0;
	int r;

	if (!wanted)
		return -ENOMEM;
	memset(ret_places, 0, n * sizeof(*ret_places));
	memset(dwarf->names, 0, sizeof(dwarf->names));
	dwarf->scopes.n = 0;
	r = ts_buffer_append(&dwarf->scopes, &none, sizeof(none));
	if (r)
		return r;
	for (size_t i = 0; i < n; i++) {
		const struct range *range = find_range(dwarf, addresses[i]);

		if (range)
			wanted[n_wanted++] =
				(struct wanted){range->unit, addresses[i], range->low, (uint32_t)i};
	}
	qsort(wanted, n_wanted, sizeof(*wanted), compare_wanted);
	return find_in_units(dwarf, wanted, n_wanted, ret_places, found);
}
