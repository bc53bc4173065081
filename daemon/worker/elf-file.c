/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds functions and lines in an ELF file and its debug file. main.c calls this module. This
 * module searches the debug information first (debug-info.c), then the symbol tables, also of mini
 * debug information (mini-debug.c). A symbol table is read once for all addresses and not sorted:
 * it can have far more entries than there are addresses.
 */
#include "daemon/worker/elf-file.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <zlib.h>

#include "daemon/worker/debug-info.h"
#include "daemon/worker/mini-debug.h"
#include "daemon/worker/worker-demangle.h"

struct image {
	int fd;
	Elf *elf;
};

struct ts_elf {
	struct image main, debug, alternate;
	Dwarf *dwarf_data, *alternate_data;
	struct ts_dwarf *dwarf; /* NULL: no debug information */
	const void *wants;
	size_t n_wants;
	const char *link; /* name of the debug file; NULL: none */
	GElf_Word link_crc;
	/* the unpacked mini debug information (.gnu_debugdata); NULL: none, or not unpacked yet */
	Elf *mini;
	uint8_t *mini_bytes;
	bool mini_tried;
	const char *why;
};

/* The best symbol of an address so far. */
struct candidate {
	uint64_t start;
	uint64_t end;	/* 0: none yet */
	Elf *elf;	/* file of the symbol */
	size_t strings; /* section of its name */
	uint32_t name;
	uint8_t rank;
};

/* The addresses that need a symbol; the debug information names most addresses. */
struct symbols {
	uint64_t *addresses;
	size_t n, n_used;
	struct candidate *candidates;
};

static int image_open(struct image *image, int fd)
{
	*image = (struct image){.fd = fd};
	if (fd < 0)
		return 0;
	image->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	return image->elf && elf_kind(image->elf) == ELF_K_ELF ? 0 : -ENOEXEC;
}

static void image_close(struct image *image)
{
	elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
}

static size_t build_id_of(Elf *elf, const uint8_t **ret_build_id)
{
	const void *build_id;
	ssize_t n = elf ? dwelf_elf_gnu_build_id(elf, &build_id) : 0;

	if (n <= 0 || n > TS_ELF_MAX_BUILD_ID)
		return 0;
	*ret_build_id = build_id;
	return (size_t)n;
}

static bool same_build_id(Elf *a, Elf *b)
{
	const uint8_t *x, *y;
	size_t n = build_id_of(a, &x);

	return n && n == build_id_of(b, &y) && !memcmp(x, y, n);
}

/*
 * True if the debug file belongs to the main file. Compares their build ids. If one of the files
 * has no build id, compares the debug file's checksum with the one in the main file's link.
 */
static bool is_own_debug_file(const struct ts_elf *elf)
{
	const uint8_t *id;
	const char *bytes;
	size_t n;

	if (build_id_of(elf->main.elf, &id) && build_id_of(elf->debug.elf, &id))
		return same_build_id(elf->main.elf, elf->debug.elf);
	bytes = elf->link ? elf_rawfile(elf->debug.elf, &n) : NULL;
	return bytes && crc32_z(0, (const void *)bytes, n) == elf->link_crc;
}

/*
 * Adds the alternate file of the debug information. The alternate file must have the build id that
 * the debug information names; otherwise ts_elf_wants() returns that build id.
 */
static void add_alternate(struct ts_elf *elf)
{
	const char *name;
	const void *wanted;
	const uint8_t *have;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(elf->dwarf_data, &name, &wanted);

	if (n <= 0 || n > (ssize_t)TS_ELF_MAX_BUILD_ID)
		return;
	if (build_id_of(elf->alternate.elf, &have) == (size_t)n && !memcmp(have, wanted, (size_t)n))
		elf->alternate_data = dwarf_begin_elf(elf->alternate.elf, DWARF_C_READ, NULL);
	if (elf->alternate_data) {
		dwarf_setalt(elf->dwarf_data, elf->alternate_data);
		return;
	}
	elf->wants = wanted;
	elf->n_wants = (size_t)n;
}

/*
 * Adds the debug information. If it is unreadable, only the reason is stored, and the symbol tables
 * are still searched.
 */
static int add_debug_info(struct ts_elf *elf, Elf *from)
{
	int r;

	elf->dwarf_data = dwarf_begin_elf(from, DWARF_C_READ, NULL);
	if (!elf->dwarf_data) {
		/* Most main files have none. */
		if (dwarf_errno() && from != elf->main.elf)
			elf->why = "its debug file holds no debug information that can be read";
		return 0;
	}
	add_alternate(elf);
	r = ts_dwarf_new(elf->dwarf_data, &elf->dwarf);
	if (!r && ts_dwarf_is_split(elf->dwarf))
		elf->why = "its inlined functions are in .dwo files, which are not read";
	return r;
}

int ts_elf_open(int fd, int debug_fd, int alternate_fd, struct ts_elf **ret_elf)
{
	struct ts_elf *elf = calloc(1, sizeof(*elf));
	int r, r_debug;

	if (!elf) {
		ts_closep(&fd);
		ts_closep(&debug_fd);
		ts_closep(&alternate_fd);
		return -ENOMEM;
	}
	elf_version(EV_CURRENT);
	r = image_open(&elf->main, fd);
	r_debug = image_open(&elf->debug, debug_fd);
	image_open(&elf->alternate, alternate_fd);
	if (!r)
		elf->link = dwelf_elf_gnu_debuglink(elf->main.elf, &elf->link_crc);
	if (!r && elf->debug.elf && (r_debug || !is_own_debug_file(elf))) {
		elf->why = r_debug ? "its debug file is not an ELF file"
				   : "its debug file belongs to another file";
		image_close(&elf->debug);
		elf->debug = (struct image){.fd = -1};
	}
	if (!r && elf->debug.elf)
		r = add_debug_info(elf, elf->debug.elf);
	if (!r && !elf->dwarf)
		r = add_debug_info(elf, elf->main.elf);
	if (r) {
		ts_elf_free(elf);
		return r;
	}
	*ret_elf = elf;
	return 0;
}

void ts_elf_free(struct ts_elf *elf)
{
	if (!elf)
		return;
	ts_dwarf_free(elf->dwarf);
	dwarf_end(elf->dwarf_data);
	dwarf_end(elf->alternate_data);
	image_close(&elf->alternate);
	image_close(&elf->debug);
	elf_end(elf->mini);
	free(elf->mini_bytes);
	image_close(&elf->main);
	free(elf);
}

size_t ts_elf_build_id(const struct ts_elf *elf, const uint8_t **ret_build_id)
{
	return build_id_of(elf->main.elf, ret_build_id);
}

size_t ts_elf_wants(const struct ts_elf *elf, const uint8_t **ret_build_id)
{
	*ret_build_id = elf->wants;
	return elf->n_wants;
}

const char *ts_elf_debug_link(const struct ts_elf *elf)
{
	return elf->dwarf || !elf->link || !*elf->link || strchr(elf->link, '/') ? NULL : elf->link;
}

bool ts_elf_has_debug_info(const struct ts_elf *elf)
{
	return elf->dwarf;
}

const char *ts_elf_why(const struct ts_elf *elf)
{
	return elf->why;
}

/* ---- symbol tables ---- */

static size_t first_at(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * True if the new symbol is better for the address than the old one. The symbol whose start is
 * nearer to the address is better. At equal starts, the more visible symbol is better.
 */
static bool is_better(const struct candidate *new, const struct candidate *old)
{
	if (!old->end || new->start != old->start)
		return !old->end || new->start > old->start;
	return new->rank > old->rank;
}

static void offer(struct symbols *symbols, const GElf_Sym *symbol, Elf *elf, size_t strings)
{
	static const uint8_t ranks[] = {[STB_LOCAL] = 1, [STB_GLOBAL] = 3, [STB_WEAK] = 2};
	unsigned int type = GELF_ST_TYPE(symbol->st_info), bind = GELF_ST_BIND(symbol->st_info);
	struct candidate candidate = {
		.start = symbol->st_value,
		.elf = elf,
		.strings = strings,
		.name = symbol->st_name,
		.rank = bind < sizeof(ranks) ? ranks[bind] : 0,
	};
	/* Code written by hand often has no size; such a symbol covers only its first byte. */
	uint64_t size = symbol->st_size ?: 1;

	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_name || !symbol->st_value ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    __builtin_add_overflow(candidate.start, size, &candidate.end))
		return;
	for (size_t i = first_at(symbols, candidate.start);
	     i < symbols->n && symbols->addresses[i] < candidate.end; i++)
		if (is_better(&candidate, &symbols->candidates[i]))
			symbols->candidates[i] = candidate;
}

static Elf_Scn *find_table(Elf *elf, unsigned int type, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, ret_header) && ret_header->sh_type == type &&
		    ret_header->sh_entsize && ret_header->sh_size)
			return section;
	return NULL;
}

/*
 * Reads a symbol table. False: there is none. A debug file keeps the headers of sections without
 * contents; their type is NOBITS.
 */
static bool read_table(struct symbols *symbols, Elf *elf, unsigned int type)
{
	GElf_Shdr header;
	Elf_Scn *section = elf ? find_table(elf, type, &header) : NULL;
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	if (!data || !data->d_buf)
		return false;
	for (int i = 1; gelf_getsym(data, i, &symbol); i++)
		offer(symbols, &symbol, elf, header.sh_link);
	return true;
}

static bool needs_symbol(const struct ts_dwarf *dwarf, const struct ts_dwarf_place *place)
{
	const struct ts_dwarf_scope *scope;

	if (!place->scope)
		return true;
	for (scope = ts_dwarf_scope(dwarf, place->scope); scope->outer;)
		scope = ts_dwarf_scope(dwarf, scope->outer);
	return !scope->is_whole;
}

static int open_mini(struct ts_elf *elf)
{
	int r;

	if (elf->mini_tried)
		return 0;
	elf->mini_tried = true;
	r = ts_mini_debug_open(elf->main.elf, &elf->mini, &elf->mini_bytes);
	if (r == -EBADMSG && !elf->why)
		elf->why = "its mini debug information cannot be unpacked";
	return r == -ENOMEM ? r : 0;
}

/*
 * Reads the symbols of a stripped file: the dynamic symbols, and those of the mini debug
 * information.
 */
static int read_stripped(struct ts_elf *elf, struct symbols *symbols)
{
	int r = open_mini(elf);

	if (r)
		return r;
	read_table(symbols, elf->main.elf, SHT_DYNSYM);
	read_table(symbols, elf->mini, SHT_SYMTAB);
	return 0;
}

static int find_symbols(struct ts_elf *elf, const uint64_t *addresses, size_t n,
			const struct ts_dwarf_place *places, struct symbols *symbols)
{
	symbols->addresses = calloc(n + 1, sizeof(*symbols->addresses));
	symbols->candidates = calloc(n + 1, sizeof(*symbols->candidates));
	if (!symbols->addresses || !symbols->candidates)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (needs_symbol(elf->dwarf, &places[i]))
			symbols->addresses[symbols->n++] = addresses[i];
	if (symbols->n && !read_table(symbols, elf->debug.elf, SHT_SYMTAB) &&
	    !read_table(symbols, elf->main.elf, SHT_SYMTAB))
		return read_stripped(elf, symbols);
	return 0;
}

static void symbols_deinit(struct symbols *symbols)
{
	free(symbols->addresses);
	free(symbols->candidates);
}

/*
 * Returns the text of the next address that needs a symbol. `mangled`: return it only if it has
 * more than the name in the debug information.
 */
static uint32_t symbol_text(struct symbols *symbols, bool mangled, struct ts_found *found)
{
	const struct candidate *candidate = &symbols->candidates[symbols->n_used++];
	ts_cleanup(ts_freep) char *shown = NULL;
	const char *raw;

	if (!candidate->end)
		return 0;
	raw = elf_strptr(candidate->elf, candidate->strings, candidate->name);
	shown = raw ? ts_worker_demangle(raw) : NULL;
	if (mangled && !shown)
		return 0;
	return ts_found_text(found, shown ? shown : raw);
}

/* ---- debug information and symbols ---- */

static void add_frames(const struct ts_dwarf *dwarf, const struct ts_dwarf_place *place,
		       struct symbols *symbols, struct ts_found *found)
{
	uint32_t file = place->file, line = place->line;

	if (!place->scope) {
		uint32_t function = symbol_text(symbols, false, found);

		if (function || line)
			ts_found_frame(found, function, file, line);
		return;
	}
	for (uint32_t at = place->scope; at; at = ts_dwarf_scope(dwarf, at)->outer) {
		const struct ts_dwarf_scope *scope = ts_dwarf_scope(dwarf, at);

		uint32_t function = 0;

		if (!scope->outer && !scope->is_whole)
			function = symbol_text(symbols, scope->function, found);
		ts_found_frame(found, function ?: scope->function, file, line);
		file = scope->file;
		line = scope->line;
	}
}

int ts_elf_find(struct ts_elf *elf, const uint64_t *addresses, size_t n, struct ts_found *found)
{
	ts_cleanup(ts_freep) struct ts_dwarf_place *places = calloc(n + 1, sizeof(*places));
	ts_cleanup(symbols_deinit) struct symbols symbols = {0};
	int r;

	if (!places)
		return -ENOMEM;
	r = elf->dwarf ? ts_dwarf_find(elf->dwarf, addresses, n, places, found) : 0;
	r = r ?: find_symbols(elf, addresses, n, places, &symbols);
	if (r)
		return r;
	for (size_t i = 0; i < n; i++) {
		add_frames(elf->dwarf, &places[i], &symbols, found);
		ts_found_next(found);
	}
	return found->error;
}
