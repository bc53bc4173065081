/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AMD code objects for kernels=timed: kernels, arguments, variables, and malformed code. The inputs
 * are those of the fuzz target amd-code. clang 14 made `variables` (HIP, gfx90a): the kernel
 * scaled(int, float, const float *, float *) with 256 bytes of LDS, the kernel empty(), four
 * variables.
 */
#include "replay/vgpu/amd/amd-image.h"

#include "replay/vgpu/vgpu-module.h"
#include "test/unit/corpus.h"
#include "test/unit/harness.h"

TS_TEST(kernels_and_variables)
{
	const uint32_t offsets[] = {0, 4, 8, 16}, sizes[] = {4, 4, 8, 8};
	struct ts_amd_image *image;
	float scale[4];
	int32_t value;
	size_t n, n_code;
	uint8_t *elf = ts_corpus_file("variables", &n);

	ts_check(ts_amd_is_image(elf));
	ts_check_int(ts_amd_image_bytes(elf, SIZE_MAX, &n_code), 0);
	ts_check_int(n_code, n);
	ts_check_int(ts_amd_image_new(elf, SIZE_MAX, &image), 0);
	/* The image is independent of the file. */
	memset(elf, 0xff, n);
	free(elf);
	ts_check_int(image->n_kernels, 2);
	ts_check_str(image->kernels[0].name, "empty");
	ts_check_int(image->kernels[0].n_parameters, 0);
	ts_check_str(image->kernels[1].name, "scaled");
	ts_check_int(image->kernels[1].n_parameters, 4);
	ts_check_int(image->kernels[1].parameter_bytes, 24);
	for (int i = 0; i < 4; i++) {
		ts_check_int(image->kernels[1].parameters[i].offset, offsets[i]);
		ts_check_int(image->kernels[1].parameters[i].bytes, sizes[i]);
	}
	ts_check_int(image->kernels[1].lds_bytes, 256);
	ts_check_int(image->kernels[1].max_workgroup_size, 256);
	ts_check(image->kernels[1].n_vgprs > 0);
	ts_check_int(image->n_variables, 4);
	ts_check_str(image->variables[0].name, "big");
	ts_check_int(image->variables[0].bytes, 4000);
	ts_check(!image->variables[0].content);
	ts_check_str(image->variables[1].name, "counter");
	memcpy(&value, image->variables[1].content, sizeof(value));
	ts_check_int(value, 5);
	ts_check_str(image->variables[2].name, "managed");
	ts_check(image->variables[2].is_managed && image->variables[2].bytes == 4);
	memcpy(&value, image->variables[2].content, sizeof(value));
	ts_check_int(value, 7);
	ts_check_str(image->variables[3].name, "scale");
	memcpy(scale, image->variables[3].content, sizeof(scale));
	ts_check(scale[0] == 1 && scale[3] == 4);
	ts_amd_image_free(image);
}

TS_TEST(a_module_of_amd_code_is_for_timed_kernels_only)
{
	struct ts_vgpu_module *module;
	char message[256] = "";
	uint8_t value[4000];
	size_t n;
	uint8_t *elf = ts_corpus_file("variables", &n);

	ts_check(ts_vgpu_module_new(elf, 94, &module, message, sizeof(message)) != 0);
	ts_check_int(ts_vgpu_module_new_timed(elf, 94, &module, message, sizeof(message)), 0);
	ts_check(ts_vgpu_module_kernel(module, "scaled"));
	ts_check(!ts_vgpu_module_kernel(module, "scaled.kd"));
	ts_check_int(ts_vgpu_module_kernel(module, "scaled")->static_shared_bytes, 256);
	memset(value, 0xff, sizeof(value));
	ts_vgpu_module_initial(module, 0, value);
	ts_check(!value[0] && !value[3999]);
	ts_vgpu_module_initial(module, 1, value);
	ts_check_int(value[0], 5);
	ts_vgpu_module_free(module);
	/* An offset of the sections beyond the file. */
	memset(elf + offsetof(Elf64_Ehdr, e_shoff), 0xff, 7);
	ts_check_int(ts_vgpu_module_new_timed(elf, 94, &module, message, sizeof(message)),
		     TS_VGPU_MODULE_E_AMD);
	ts_check_str(message, "code of AMD: a size or an offset lies beyond its end");
	free(elf);
}

/* Each prefix of the file is refused: the section heads are at its end. */
TS_TEST(cut_code_is_refused)
{
	struct ts_amd_image *image;
	size_t n;
	uint8_t *elf = ts_corpus_file("variables", &n);

	for (size_t i = 0; i < n; i++) {
		uint8_t *cut = memcpy(malloc(i + 1), elf, i);

		ts_check_int(ts_amd_image_new(cut, i, &image),
			     i < SELFMAG ? TS_AMD_CODE_E_FORMAT : TS_AMD_CODE_E_CUT);
		free(cut);
	}
	free(elf);
}

static Elf64_Shdr *section_of(uint8_t *elf, uint32_t type)
{
	Elf64_Ehdr *head = (void *)elf;
	Elf64_Shdr *sections = (void *)(elf + head->e_shoff);

	for (unsigned i = 0; i < head->e_shnum; i++)
		if (sections[i].sh_type == type)
			return &sections[i];
	ts_check(false);
	return NULL;
}

/* Changes a copy of the file, and returns the result of reading it. */
static int read_changed(void (*change)(uint8_t *elf))
{
	struct ts_amd_image *image = NULL;
	size_t n;
	uint8_t *elf = ts_corpus_file("variables", &n);
	int r;

	change(elf);
	r = ts_amd_image_new(elf, n, &image);
	ts_amd_image_free(image);
	free(elf);
	return r;
}

static void change_machine(uint8_t *elf)
{
	((Elf64_Ehdr *)(void *)elf)->e_machine = EM_X86_64;
}

static void change_link(uint8_t *elf)
{
	section_of(elf, SHT_DYNSYM)->sh_link = 1000;
}

/* The last name would not end. */
static void change_names(uint8_t *elf)
{
	section_of(elf, SHT_STRTAB)->sh_size--;
}

static Elf64_Sym *symbol_of(uint8_t *elf)
{
	return (Elf64_Sym *)(void *)(elf + section_of(elf, SHT_DYNSYM)->sh_offset) + 1;
}

static void change_name(uint8_t *elf)
{
	symbol_of(elf)->st_name = 1u << 30;
}

static void change_value(uint8_t *elf)
{
	symbol_of(elf)->st_value = UINT64_MAX;
}

static void change_size(uint8_t *elf)
{
	symbol_of(elf)->st_size = UINT64_MAX;
}

/* The section has the kernels' symbols. */
static void change_section(uint8_t *elf)
{
	Elf64_Shdr *section = section_of(elf, SHT_PROGBITS);

	section->sh_type = SHT_NULL;
	section->sh_offset = UINT64_MAX / 2;
}

static void change_note(uint8_t *elf)
{
	uint8_t *note = elf + section_of(elf, SHT_NOTE)->sh_offset + sizeof(Elf64_Nhdr);

	note[0] = 'a';
}

TS_TEST(malformed_code_is_refused)
{
	ts_check_int(read_changed(change_machine), TS_AMD_CODE_E_MACHINE);
	ts_check_int(read_changed(change_link), TS_AMD_CODE_E_CUT);
	ts_check_int(read_changed(change_names), TS_AMD_CODE_E_CUT);
	ts_check_int(read_changed(change_name), TS_AMD_CODE_E_CUT);
	ts_check_int(read_changed(change_value), TS_AMD_CODE_E_CUT);
	ts_check_int(read_changed(change_size), TS_AMD_CODE_E_CUT);
	ts_check_int(read_changed(change_section), TS_AMD_CODE_E_CUT);
	ts_check_int(read_changed(change_note), TS_AMD_CODE_E_NOTE);
	ts_check(!ts_amd_is_image("") && !ts_amd_is_image("\177EL"));
}
