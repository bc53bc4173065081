/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads AMD code objects for kernels=timed. vgpu-module.c calls this file, and it calls
 * amd-metadata.c. As AMD's runtime does, it takes names from the table of dynamic symbols:
 *
 * 	NAME.kd         64 bytes: a kernel, if the metadata has NAME, too
 * 	NAME.managed    the memory of a managed variable; NAME is a pointer to it
 * 	NAME            a variable
 */
#include "replay/vgpu/amd/amd-image.h"

#include "replay/vgpu/amd/amd-metadata.h"

/* Parts of an ELF file, checked against its size. */
struct elf {
	const uint8_t *bytes;
	size_t n;
	Elf64_Ehdr head;
	const uint8_t *symbols; /* NULL: no dynamic symbols */
	size_t n_symbols;
	const char *names;
	size_t n_names;
};

bool ts_amd_is_image(const void *image)
{
	uint16_t machine;

	/* A text shorter than the magic differs from it at its end. */
	if (strncmp(image, ELFMAG, SELFMAG) != 0)
		return false;
	memcpy(&machine, (const uint8_t *)image + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
	return machine == EM_AMDGPU;
}

static int read_head(const uint8_t *bytes, size_t n, Elf64_Ehdr *ret)
{
	if (n < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return TS_AMD_CODE_E_FORMAT;
	if (n < sizeof(*ret))
		return TS_AMD_CODE_E_CUT;
	memcpy(ret, bytes, sizeof(*ret));
	if (ret->e_ident[EI_CLASS] != ELFCLASS64 || ret->e_ident[EI_DATA] != ELFDATA2LSB ||
	    ret->e_machine != EM_AMDGPU)
		return TS_AMD_CODE_E_MACHINE;
	if ((ret->e_shnum && ret->e_shentsize != sizeof(Elf64_Shdr)) ||
	    (ret->e_phnum && ret->e_phentsize != sizeof(Elf64_Phdr)))
		return TS_AMD_CODE_E_CUT;
	return 0;
}

/* Extends *end to a part of the file; false if the part lies beyond the limit. */
static bool extend(uint64_t *end, uint64_t off, uint64_t n, size_t limit)
{
	if (!ts_amd_fits(off, n, limit))
		return false;
	if (off + n > *end)
		*end = off + n;
	return true;
}

int ts_amd_image_bytes(const uint8_t *elf, size_t n_bytes, size_t *ret_n_bytes)
{
	uint64_t end = sizeof(Elf64_Ehdr);
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	Elf64_Shdr section;
	int r = read_head(elf, n_bytes, &head);

	/* Without a known size, code of up to 1 TiB is accepted: sums of sizes stay small. */
	if (n_bytes > UINT64_C(1) << 40)
		n_bytes = UINT64_C(1) << 40;
	if (r)
		return r;
	if (!extend(&end, head.e_phoff, (uint64_t)head.e_phnum * sizeof(segment), n_bytes) ||
	    !extend(&end, head.e_shoff, (uint64_t)head.e_shnum * sizeof(section), n_bytes))
		return TS_AMD_CODE_E_CUT;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		memcpy(&segment, elf + head.e_phoff + i * sizeof(segment), sizeof(segment));
		if (!extend(&end, segment.p_offset, segment.p_filesz, n_bytes))
			return TS_AMD_CODE_E_CUT;
	}
	for (unsigned i = 0; i < head.e_shnum; i++) {
		memcpy(&section, elf + head.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
		    !extend(&end, section.sh_offset, section.sh_size, n_bytes))
			return TS_AMD_CODE_E_CUT;
	}
	*ret_n_bytes = end;
	return 0;
}

static void read_section(const struct elf *elf, unsigned i, Elf64_Shdr *ret)
{
	memcpy(ret, elf->bytes + elf->head.e_shoff + i * sizeof(*ret), sizeof(*ret));
}

/* Finds the dynamic symbols and their names. ts_amd_image_bytes() has checked all sections. */
static int find_symbols(struct elf *elf)
{
	Elf64_Shdr section, names;

	for (unsigned i = 0; i < elf->head.e_shnum; i++) {
		read_section(elf, i, &section);
		if (section.sh_type != SHT_DYNSYM)
			continue;
		if (section.sh_link >= elf->head.e_shnum)
			return TS_AMD_CODE_E_CUT;
		read_section(elf, section.sh_link, &names);
		if (names.sh_type != SHT_STRTAB || !names.sh_size ||
		    elf->bytes[names.sh_offset + names.sh_size - 1])
			return TS_AMD_CODE_E_CUT;
		elf->symbols = elf->bytes + section.sh_offset;
		elf->n_symbols = section.sh_size / sizeof(Elf64_Sym);
		elf->names = (const char *)elf->bytes + names.sh_offset;
		elf->n_names = names.sh_size;
		return 0;
	}
	return 0;
}

/* An object that the file defines. */
struct object {
	uint32_t name; /* offset */
	uint64_t bytes;
	const uint8_t *content; /* in the file; NULL: zeros */
};

/* Returns 0, a TS_AMD_CODE_E_*, or -ENOENT: the symbol is no object with memory. */
static int read_object(const struct elf *elf, size_t i, struct object *ret)
{
	Elf64_Shdr section;
	Elf64_Sym symbol;
	uint64_t off;

	memcpy(&symbol, elf->symbols + i * sizeof(symbol), sizeof(symbol));
	if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF ||
	    symbol.st_shndx >= SHN_LORESERVE || !symbol.st_size)
		return -ENOENT;
	if (symbol.st_name >= elf->n_names || symbol.st_shndx >= elf->head.e_shnum)
		return TS_AMD_CODE_E_CUT;
	read_section(elf, symbol.st_shndx, &section);
	off = symbol.st_value - section.sh_addr;
	/* ts_amd_image_bytes() has not checked a section of type SHT_NULL. */
	if (section.sh_type == SHT_NULL || symbol.st_value < section.sh_addr ||
	    off > section.sh_size || symbol.st_size > section.sh_size - off)
		return TS_AMD_CODE_E_CUT;
	ret->name = symbol.st_name;
	ret->bytes = symbol.st_size;
	ret->content = section.sh_type == SHT_NOBITS ? NULL : elf->bytes + section.sh_offset + off;
	return 0;
}

/* If a name ends so, cuts the end off. The names are the image's own copy. */
static bool cut_end(char *name, const char *end)
{
	const size_t n = strlen(name), n_end = strlen(end);

	if (n <= n_end || strcmp(name + n - n_end, end) != 0)
		return false;
	name[n - n_end] = '\0';
	return true;
}

/*
 * Copies the names and the objects. The objects' contents may overlap: their sum is limited to the
 * file's size.
 */
static int copy_objects(const struct elf *elf, struct ts_amd_image *image)
{
	size_t n_contents = 0;

	image->names = malloc(elf->n_names + 1);
	image->contents = malloc(elf->n + 1);
	image->kernels = calloc(elf->n_symbols + 1, sizeof(*image->kernels));
	image->variables = calloc(elf->n_symbols + 1, sizeof(*image->variables));
	if (!image->names || !image->contents || !image->kernels || !image->variables)
		return -ENOMEM;
	if (elf->n_names)
		memcpy(image->names, elf->names, elf->n_names);
	for (size_t i = 0; i < elf->n_symbols; i++) {
		struct ts_amd_image_variable *variable = &image->variables[image->n_variables];
		struct object object;
		int r = read_object(elf, i, &object);
		char *name;

		if (r == -ENOENT)
			continue;
		if (r)
			return r;
		name = image->names + object.name;
		if (cut_end(name, ".kd")) {
			image->kernels[image->n_kernels++].name = name;
			continue;
		}
		if (object.content && object.bytes > elf->n - n_contents)
			return TS_AMD_CODE_E_LARGE;
		variable->is_managed = cut_end(name, ".managed");
		variable->name = name;
		variable->bytes = object.bytes;
		if (object.content) {
			variable->content =
				memcpy(image->contents + n_contents, object.content, object.bytes);
			n_contents += object.bytes;
		}
		image->n_variables++;
	}
	return 0;
}

static int compare_kernels(const void *a, const void *b)
{
	return strcmp(((const struct ts_amd_image_kernel *)a)->name,
		      ((const struct ts_amd_image_kernel *)b)->name);
}

static int compare_variables(const void *a, const void *b)
{
	const struct ts_amd_image_variable *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (int)y->is_managed - (int)x->is_managed;
}

/* Sorts, and drops the pointers to managed variables. */
static void sort(struct ts_amd_image *image)
{
	size_t n = 0;

	qsort(image->kernels, image->n_kernels, sizeof(*image->kernels), compare_kernels);
	qsort(image->variables, image->n_variables, sizeof(*image->variables), compare_variables);
	for (size_t i = 0; i < image->n_variables; i++)
		if (!n || strcmp(image->variables[n - 1].name, image->variables[i].name) != 0)
			image->variables[n++] = image->variables[i];
	image->n_variables = n;
}

static struct ts_amd_image_kernel *find_kernel(struct ts_amd_image *image, const char *name,
					       size_t n_name)
{
	size_t low = 0, high = image->n_kernels;

	if (memchr(name, 0, n_name))
		return NULL;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const char *at = image->kernels[middle].name;
		int order = strncmp(at, name, n_name);

		if (!order && !at[n_name])
			return &image->kernels[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Adds the metadata's facts to the kernel of that name. */
static int add_facts(void *userdata, const struct ts_amd_kernel *facts)
{
	const uint32_t n = facts->n_arguments < TS_AMD_MAX_ARGUMENTS ? facts->n_arguments
								     : TS_AMD_MAX_ARGUMENTS;
	struct ts_amd_image_kernel *kernel =
		find_kernel(userdata, facts->name, facts->n_name_bytes);

	if (!kernel)
		return 0;
	if (kernel->parameters)
		return TS_AMD_CODE_E_METADATA;
	kernel->parameters = calloc(n + 1, sizeof(*kernel->parameters));
	if (!kernel->parameters)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct ts_amd_argument *argument = &facts->arguments[i];
		const uint64_t end = (uint64_t)argument->offset + argument->bytes;

		if (argument->is_hidden)
			continue;
		if (end > TS_AMD_MAX_ARGUMENT_BYTES)
			return TS_AMD_CODE_E_METADATA;
		kernel->parameters[kernel->n_parameters++] =
			(struct ts_amd_parameter){argument->offset, argument->bytes};
		if (end > kernel->parameter_bytes)
			kernel->parameter_bytes = (uint32_t)end;
	}
	kernel->n_vgprs = facts->n_vgprs;
	kernel->lds_bytes = facts->lds_bytes;
	kernel->private_bytes = facts->private_bytes;
	kernel->max_workgroup_size = facts->max_workgroup_size;
	return 0;
}

static int read_kernels(const struct elf *elf, struct ts_amd_image *image)
{
	const uint8_t *metadata;
	size_t n_metadata, n = 0;
	int r = ts_amd_elf_metadata(elf->bytes, elf->n, &metadata, &n_metadata);

	if (!r)
		r = ts_amd_metadata_read(metadata, n_metadata, add_facts, image);
	if (r)
		return r;
	/* A symbol without metadata is no kernel. */
	for (size_t i = 0; i < image->n_kernels; i++)
		if (image->kernels[i].parameters)
			image->kernels[n++] = image->kernels[i];
	image->n_kernels = n;
	return 0;
}

int ts_amd_image_new(const uint8_t *bytes, size_t n_bytes, struct ts_amd_image **ret_image)
{
	struct elf elf = {.bytes = bytes};
	struct ts_amd_image *image;
	int r = ts_amd_image_bytes(bytes, n_bytes, &elf.n);

	if (!r)
		r = read_head(bytes, elf.n, &elf.head);
	if (!r)
		r = find_symbols(&elf);
	if (r)
		return r;
	image = calloc(1, sizeof(*image));
	if (!image)
		return -ENOMEM;
	r = copy_objects(&elf, image);
	if (!r) {
		sort(image);
		r = read_kernels(&elf, image);
	}
	if (r) {
		ts_amd_image_free(image);
		return r;
	}
	*ret_image = image;
	return 0;
}

void ts_amd_image_free(struct ts_amd_image *image)
{
	if (!image)
		return;
	for (size_t i = 0; image->kernels && i < image->n_kernels; i++)
		free(image->kernels[i].parameters);
	free(image->kernels);
	free(image->variables);
	free(image->names);
	free(image->contents);
	free(image);
}
