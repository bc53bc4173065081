/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the numbers of kernels in their device code. session-definitions.c adds the definitions,
 * session-round.c asks for the numbers of kernels' rows. A worker reads the code: from the file,
 * which this module opens with the rights of the session's user, or from the definition's bytes.
 * Each code is read once, when the row of one of its kernels comes.
 */
#include "daemon/symbol/kernel-facts.h"

#include <stdio.h>

#include "daemon/symbol/files.h"
#include "daemon/worker/worker-client.h"
#include "proto/abi/clock.h"
#include "proto/abi/grow.h"

#define WHY_BYTES 512u

/* A kernel of a code that was read. */
struct kernel {
	uint32_t name_off, n_name_bytes; /* in the code's text */
	struct ts_kernel_numbers numbers;
};

struct code {
	bool is_metadata, is_read;
	uint64_t file_off;
	char *path, *target; /* `path`: NULL if the definition had the bytes */
	uint8_t *bytes;
	uint32_t n_bytes;
	struct kernel *kernels;
	uint32_t n_kernels;
	char *text;
	uint64_t n_source; /* bytes of path, target and bytes */
};

struct function {
	uint32_t code; /* id */
	char *name;    /* NULL: looked up */
	uint32_t n_name_bytes;
	bool is_known;
	struct ts_kernel_numbers numbers;
};

struct ts_kernel_facts {
	pid_t pid;
	uid_t uid;
	char *worker_path;
	struct ts_worker *worker;
	struct code *codes;
	size_t n_codes, n_codes_allocated;
	struct function *functions;
	size_t n_functions, n_functions_allocated;
	uint64_t n_bytes; /* of all copies */
	uint64_t worker_ns;
	uint32_t n_unread;
	char why[WHY_BYTES];
};

int ts_kernel_facts_new(const struct ts_kernel_facts_options *options,
			struct ts_kernel_facts **ret_facts)
{
	struct ts_kernel_facts *facts = calloc(1, sizeof(*facts));

	if (!facts)
		return -ENOMEM;
	facts->pid = options->pid;
	facts->uid = options->uid;
	if (options->worker) {
		facts->worker_path = strdup(options->worker);
		if (!facts->worker_path) {
			free(facts);
			return -ENOMEM;
		}
	}
	*ret_facts = facts;
	return 0;
}

/* Frees the parts of a code that only its reading needs. */
static void drop_source(struct ts_kernel_facts *facts, struct code *code)
{
	facts->n_bytes -= code->n_source;
	code->n_source = 0;
	free(ts_take_ptr(code->path));
	free(ts_take_ptr(code->target));
	free(ts_take_ptr(code->bytes));
}

void ts_kernel_facts_free(struct ts_kernel_facts *facts)
{
	if (!facts)
		return;
	for (size_t i = 0; i < facts->n_codes; i++) {
		drop_source(facts, &facts->codes[i]);
		free(facts->codes[i].kernels);
		free(facts->codes[i].text);
	}
	for (size_t i = 0; i < facts->n_functions; i++)
		free(facts->functions[i].name);
	free(facts->codes);
	free(facts->functions);
	ts_worker_free(facts->worker);
	free(facts->worker_path);
	free(facts);
}

static bool has_space(const struct ts_kernel_facts *facts, uint64_t n_bytes)
{
	return facts->n_bytes + n_bytes <= TS_KERNEL_FACTS_MAX_BYTES;
}

static char *copy_text(const char *text, size_t n)
{
	return strndup(text, n);
}

static uint64_t source_bytes(const struct ts_definition_code *code)
{
	return (uint64_t)code->definition.n + code->n_path_bytes + code->n_target_bytes;
}

static int fill_code(struct ts_kernel_facts *facts, struct code *code,
		     const struct ts_definition_code *from, const char *path, const char *target,
		     const uint8_t *bytes)
{
	code->is_metadata = from->definition.flags & TS_CODE_IS_METADATA;
	code->file_off = from->file_off;
	code->target = copy_text(target, from->n_target_bytes);
	if (from->n_path_bytes)
		code->path = copy_text(path, from->n_path_bytes);
	code->bytes = malloc(from->definition.n + 1);
	if (!code->target || !code->bytes || (from->n_path_bytes && !code->path)) {
		drop_source(facts, code);
		return -ENOMEM;
	}
	/* Code in a file has no bytes here, and `bytes` may be NULL. */
	if (from->definition.n)
		memcpy(code->bytes, bytes, from->definition.n);
	code->n_bytes = from->definition.n;
	code->n_source = source_bytes(from);
	facts->n_bytes += code->n_source;
	return 0;
}

int ts_kernel_facts_add_code(struct ts_kernel_facts *facts, const struct ts_definition_code *code,
			     const char *path, const char *target, const uint8_t *bytes)
{
	struct code added = {.is_metadata = false};
	int r;

	if (code->definition.id != facts->n_codes + 1)
		return 1;
	if (facts->n_codes == TS_KERNEL_FACTS_MAX_CODES)
		return 0;
	r = TS_GROW(facts->codes, facts->n_codes_allocated, facts->n_codes + 1);
	if (!r && has_space(facts, source_bytes(code)))
		r = fill_code(facts, &added, code, path, target, bytes);
	if (!r)
		facts->codes[facts->n_codes++] = added;
	return r;
}

int ts_kernel_facts_add_function(struct ts_kernel_facts *facts,
				 const struct ts_definition_function *function, const char *name)
{
	struct function added = {.code = function->code};
	const uint32_t n = function->definition.n;
	int r;

	if (function->definition.id != facts->n_functions + 1)
		return 1;
	if (facts->n_functions == TS_KERNEL_FACTS_MAX_FUNCTIONS)
		return 0;
	r = TS_GROW(facts->functions, facts->n_functions_allocated, facts->n_functions + 1);
	if (r)
		return r;
	if (has_space(facts, n)) {
		added.name = malloc(n + 1);
		if (!added.name)
			return -ENOMEM;
		memcpy(added.name, name, n);
		added.n_name_bytes = n;
		facts->n_bytes += n;
	}
	facts->functions[facts->n_functions++] = added;
	return 0;
}

/* ---- reading a code ---- */

static void note_unread(struct ts_kernel_facts *facts, const struct code *code, const char *why)
{
	if (!facts->n_unread++)
		snprintf(facts->why, sizeof(facts->why), "%s: %s",
			 code->path ? code->path : "code in memory", why);
}

/* Asks the worker. `fd` is -1 without a file. */
static int ask(struct ts_kernel_facts *facts, const struct code *code, int fd,
	       Ts__Rpc__WorkerAnswer **ret_answer)
{
	Ts__Rpc__WorkerRequest request = TS__RPC__WORKER_REQUEST__INIT;
	Ts__Rpc__WorkerRequest__Code body = TS__RPC__WORKER_REQUEST__CODE__INIT;
	const struct ts_worker_options options = {.path = facts->worker_path};
	const uint64_t began = ts_clock_monotonic_ns();
	int r = 0;

	body.target = code->target;
	if (fd >= 0) {
		body.has_offset = 1;
		body.offset = code->file_off;
	} else if (code->is_metadata) {
		body.has_metadata = 1;
		body.metadata = (ProtobufCBinaryData){code->n_bytes, code->bytes};
	} else {
		body.has_code = 1;
		body.code = (ProtobufCBinaryData){code->n_bytes, code->bytes};
	}
	request.body_case = TS__RPC__WORKER_REQUEST__BODY_CODE;
	request.code = &body;
	if (!facts->worker)
		r = ts_worker_new(&options, &facts->worker);
	r = r
		    ?: ts_worker_call(facts->worker, &request, &fd, fd >= 0,
				      TS_KERNEL_FACTS_CODE_MS, ret_answer);
	facts->worker_ns += ts_clock_monotonic_ns() - began;
	return r;
}

/* Copies the kernels of an answer, which is untrusted. */
static int take_kernels(struct ts_kernel_facts *facts, struct code *code,
			const Ts__Rpc__WorkerKernels *from)
{
	const size_t n = from->n_lengths, n_text = from->has_text ? from->text.len : 0;
	const uint64_t n_memory = n_text + n * sizeof(*code->kernels);
	size_t off = 0;

	if (from->n_registers != n || from->n_shared_bytes != n || from->n_local_bytes != n)
		return -EPROTO;
	if (!has_space(facts, n_memory))
		return -ENOSPC;
	code->kernels = malloc((n + 1) * sizeof(*code->kernels));
	code->text = malloc(n_text + 1);
	if (!code->kernels || !code->text)
		return -ENOMEM;
	if (n_text)
		memcpy(code->text, from->text.data, n_text);
	for (size_t i = 0; i < n; i++) {
		if (from->lengths[i] > n_text - off)
			return -EPROTO;
		code->kernels[i] = (struct kernel){
			.name_off = (uint32_t)off,
			.n_name_bytes = from->lengths[i],
			.numbers = {from->registers[i], from->shared_bytes[i],
				    from->local_bytes[i]},
		};
		off += from->lengths[i];
	}
	code->n_kernels = (uint32_t)n;
	facts->n_bytes += n_memory;
	return 0;
}

static int open_file(const struct ts_kernel_facts *facts, const struct code *code, int *ret_fd)
{
	struct ts_symbol_view view = {
		.root_fd = ts_symbol_root_open(facts->pid),
		.uid = facts->uid,
	};
	struct ts_symbol_file file;
	int r = -ENOENT, next;

	/* After the end of the process, its root directory is unknown. */
	view.by_own_path = view.root_fd < 0;
	for (unsigned nth = 0; r; nth++) {
		next = ts_symbol_open(&view, code->path, nth, &file);
		if (next == -ERANGE)
			break;
		r = next;
	}
	ts_closep(&view.root_fd);
	if (!r)
		*ret_fd = file.fd;
	return r;
}

static int read_answer(struct ts_kernel_facts *facts, struct code *code,
		       const Ts__Rpc__WorkerAnswer *answer)
{
	int r;

	if (answer->body_case != TS__RPC__WORKER_ANSWER__BODY_KERNELS) {
		note_unread(facts, code, "the worker's answer is malformed");
		return 0;
	}
	if (answer->kernels->why) {
		note_unread(facts, code, answer->kernels->why);
		return 0;
	}
	r = take_kernels(facts, code, answer->kernels);
	if (!r)
		return 0;
	free(ts_take_ptr(code->kernels));
	free(ts_take_ptr(code->text));
	note_unread(facts, code, strerror(-r));
	return 0;
}

static void read_code(struct ts_kernel_facts *facts, struct code *code)
{
	Ts__Rpc__WorkerAnswer *answer = NULL;
	ts_cleanup(ts_closep) int fd = -1;
	int r = 0;

	code->is_read = true;
	if (!code->target) {
		note_unread(facts, code, "the session has more GPU code than the daemon keeps");
		return;
	}
	if (facts->worker_ns >= TS_KERNEL_FACTS_MS * UINT64_C(1000000)) {
		note_unread(facts, code, "the session's code takes too long to read");
		return;
	}
	if (code->path)
		r = open_file(facts, code, &fd);
	if (r) {
		note_unread(facts, code, strerror(-r));
		return;
	}
	r = ask(facts, code, fd, &answer);
	if (r)
		note_unread(facts, code,
			    facts->worker ? ts_worker_why(facts->worker) : strerror(-r));
	else
		read_answer(facts, code, answer);
	if (answer)
		ts__rpc__worker_answer__free_unpacked(answer, NULL);
	drop_source(facts, code);
}

static void look_up(struct ts_kernel_facts *facts, struct function *function)
{
	struct code *code = function->code && function->code <= facts->n_codes
				    ? &facts->codes[function->code - 1]
				    : NULL;

	if (code && !code->is_read)
		read_code(facts, code);
	for (uint32_t i = 0; code && i < code->n_kernels; i++) {
		const struct kernel *kernel = &code->kernels[i];

		if (kernel->n_name_bytes == function->n_name_bytes &&
		    !memcmp(code->text + kernel->name_off, function->name, kernel->n_name_bytes)) {
			function->is_known = true;
			function->numbers = kernel->numbers;
			break;
		}
	}
	facts->n_bytes -= function->n_name_bytes;
	free(ts_take_ptr(function->name));
}

const struct ts_kernel_numbers *ts_kernel_facts_find(struct ts_kernel_facts *facts, uint32_t id)
{
	struct function *function;

	if (!id || id > facts->n_functions)
		return NULL;
	function = &facts->functions[id - 1];
	if (function->name)
		look_up(facts, function);
	return function->is_known ? &function->numbers : NULL;
}

uint32_t ts_kernel_facts_unread(const struct ts_kernel_facts *facts, const char **ret_why)
{
	*ret_why = facts->n_unread ? facts->why : NULL;
	return facts->n_unread;
}

uint64_t ts_kernel_facts_memory(const struct ts_kernel_facts *facts)
{
	return sizeof(*facts) + facts->n_bytes + facts->n_codes_allocated * sizeof(struct code) +
	       facts->n_functions_allocated * sizeof(struct function);
}
