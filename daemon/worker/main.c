/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker process: reads untrusted files for a daemon. worker-client.c starts it with a socket
 * as descriptor 3. The process confines itself (confine.c). Then it answers one request after
 * another, until the daemon closes the socket. elf-file.c, jit.c, offsets.c and code-kernels.c find
 * the answers. A query worker calls worker-query.c instead. The worker trusts the requests, but no
 * byte of the files that come with them. On a failure of its own, the process ends.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "daemon/worker/code/code-kernels.h"
#include "daemon/worker/confine.h"
#include "daemon/worker/elf-file.h"
#include "daemon/worker/jit.h"
#include "daemon/worker/offsets.h"
#include "daemon/worker/worker-client.h"
#include "daemon/worker/worker-query.h"
#include "proto/rpc/frame.h"
#include "proto/rpc/worker.pb-c.h"

#define WORKER_FD	  3
#define REQUEST_MAX_BYTES (1024u * 1024)
#define EXIT_USAGE	  2
#define EXIT_MEMORY	  TS_WORKER_EXIT_MEMORY

struct worker {
	struct ts_confined confined;
	int error; /* negative errno of the confinement; 0: confined */
	const char *error_part;
	struct ts_frame_parser parser;
	int fds[TS_FRAME_MAX_FDS];
	unsigned n_fds;
	struct ts_elf *elf; /* file of the last ELF request */
};

static void send_answer(const Ts__Rpc__WorkerAnswer *answer, uint32_t request_id)
{
	size_t n_bytes = ts__rpc__worker_answer__get_packed_size(answer), at = 0;
	ts_cleanup(ts_freep) uint8_t *packed = malloc(sizeof(struct ts_frame_header) + n_bytes);
	struct ts_frame_header header;

	if (!packed)
		_exit(EXIT_MEMORY);
	header = ts_frame_header_make(TS_FRAME_ANSWER, request_id, (uint32_t)n_bytes);
	memcpy(packed, &header, sizeof(header));
	ts__rpc__worker_answer__pack(answer, packed + sizeof(header));
	n_bytes += sizeof(header);
	while (at < n_bytes) {
		ssize_t n = ts_frame_send_some(WORKER_FD, packed + at, n_bytes - at, NULL, 0);

		if (n <= 0)
			_exit(1);
		at += (size_t)n;
	}
}

static void send_error(int error, const char *message, uint32_t request_id)
{
	Ts__Rpc__WorkerAnswer answer = TS__RPC__WORKER_ANSWER__INIT;
	Ts__Rpc__WorkerError body = TS__RPC__WORKER_ERROR__INIT;

	body.has_code = 1;
	body.code = -error;
	/* protobuf-c lacks const; it does not write through the pointer. */
	body.message = (char *)(uintptr_t)message;
	answer.body_case = TS__RPC__WORKER_ANSWER__BODY_ERROR;
	answer.error = &body;
	send_answer(&answer, request_id);
}

static uint32_t *numbers(const struct ts_buffer *buffer, size_t *ret_n)
{
	*ret_n = buffer->n / sizeof(uint32_t);
	return (uint32_t *)(void *)buffer->bytes;
}

static void send_symbols(Ts__Rpc__WorkerSymbols *body, const struct ts_found *found,
			 uint32_t request_id)
{
	Ts__Rpc__WorkerAnswer answer = TS__RPC__WORKER_ANSWER__INIT;

	body->has_text = 1;
	body->text.data = found->texts.bytes.bytes;
	body->text.len = found->texts.bytes.n;
	body->lengths = numbers(&found->lengths, &body->n_lengths);
	body->n_frames = numbers(&found->n_frames, &body->n_n_frames);
	body->functions = numbers(&found->functions, &body->n_functions);
	body->files = numbers(&found->files, &body->n_files);
	body->lines = numbers(&found->lines, &body->n_lines);
	if (found->full && !body->why)
		body->why = (char *)(uintptr_t) "the answer is full; the other names are left out";
	answer.body_case = TS__RPC__WORKER_ANSWER__BODY_SYMBOLS;
	answer.symbols = body;
	send_answer(&answer, request_id);
}

static int take_descriptor(struct worker *worker, unsigned at, bool wanted)
{
	int fd = -1;

	if (wanted && at < worker->n_fds) {
		fd = worker->fds[at];
		worker->fds[at] = -1;
	}
	return fd;
}

static int open_elf(struct worker *worker, const Ts__Rpc__WorkerRequest__Elf *request)
{
	bool debug = request->has_has_debug && request->has_debug;
	bool alternate = request->has_has_alternate && request->has_alternate;
	int fd, debug_fd, alternate_fd;

	if (request->has_same && request->same)
		return worker->elf ? 0 : -EBADF;
	ts_elf_free(ts_take_ptr(worker->elf));
	fd = take_descriptor(worker, 0, true);
	debug_fd = take_descriptor(worker, 1, debug);
	alternate_fd = take_descriptor(worker, 1u + debug, alternate);
	return ts_elf_open(fd, debug_fd, alternate_fd, &worker->elf);
}

static void set_bytes(protobuf_c_boolean *has, ProtobufCBinaryData *to, const uint8_t *bytes,
		      size_t n)
{
	*has = n != 0;
	to->data = (uint8_t *)(uintptr_t)bytes;
	to->len = n;
}

static int answer_elf(struct worker *worker, const Ts__Rpc__WorkerRequest__Elf *request,
		      uint32_t request_id)
{
	ts_cleanup(ts_found_deinit) struct ts_found found = {0};
	Ts__Rpc__WorkerSymbols body = TS__RPC__WORKER_SYMBOLS__INIT;
	const uint8_t *build_id = NULL;
	const char *link;
	size_t n;
	int r;

	ts_found_init(&found);
	r = open_elf(worker, request);
	if (r)
		return r;
	n = ts_elf_build_id(worker->elf, &build_id);
	set_bytes(&body.has_build_id, &body.build_id, build_id, n);
	if (request->has_build_id &&
	    (request->build_id.len != n || memcmp(request->build_id.data, build_id, n))) {
		body.has_lies = body.lies = 1;
	} else {
		r = ts_elf_find(worker->elf, request->addresses, request->n_addresses, &found);
		if (r)
			return r;
		body.why = (char *)(uintptr_t)ts_elf_why(worker->elf);
		body.has_has_debug_info = 1;
		body.has_debug_info = ts_elf_has_debug_info(worker->elf);
		n = ts_elf_wants(worker->elf, &build_id);
		set_bytes(&body.has_alternate, &body.alternate, build_id, n);
		link = ts_elf_debug_link(worker->elf);
		set_bytes(&body.has_debug_link, &body.debug_link, (const void *)link,
			  link ? strlen(link) : 0);
	}
	send_symbols(&body, &found, request_id);
	return 0;
}

typedef int find_function(int fd, const uint64_t *addresses, size_t n, struct ts_found *found);

static int answer_jit(struct worker *worker, find_function *find, const uint64_t *addresses,
		      size_t n, uint32_t request_id)
{
	ts_cleanup(ts_found_deinit) struct ts_found found = {0};
	Ts__Rpc__WorkerSymbols body = TS__RPC__WORKER_SYMBOLS__INIT;
	int fd = take_descriptor(worker, 0, true), r;

	ts_found_init(&found);
	r = find(fd, addresses, n, &found);
	ts_closep(&fd);
	if (r == TS_JIT_E_NOT_JITDUMP)
		return -ENOEXEC;
	if (r < 0)
		return r;
	if (r == TS_JIT_E_CUT)
		body.why = (char *)(uintptr_t) "larger than 256 MiB: the rest was not read";
	send_symbols(&body, &found, request_id);
	return 0;
}

static int answer_places(struct worker *worker, const Ts__Rpc__WorkerRequest__Places *request,
			 uint32_t request_id)
{
	ts_cleanup(ts_freep) uint64_t *places = calloc(request->n_names + 1, sizeof(*places));
	Ts__Rpc__WorkerAnswer answer = TS__RPC__WORKER_ANSWER__INIT;
	Ts__Rpc__WorkerPlaces body = TS__RPC__WORKER_PLACES__INIT;
	int fd = take_descriptor(worker, 0, true), r;

	if (!places) {
		ts_closep(&fd);
		return -ENOMEM;
	}
	r = ts_elf_offsets(fd, request->names, request->n_names, places);
	if (r)
		return r;
	body.places = places;
	body.n_places = request->n_names;
	answer.body_case = TS__RPC__WORKER_ANSWER__BODY_PLACES;
	answer.places = &body;
	send_answer(&answer, request_id);
	return 0;
}

static int answer_code(struct worker *worker, const Ts__Rpc__WorkerRequest__Code *request,
		       uint32_t request_id)
{
	ts_cleanup(ts_code_kernels_deinit) struct ts_code_kernels kernels = {0};
	Ts__Rpc__WorkerAnswer answer = TS__RPC__WORKER_ANSWER__INIT;
	Ts__Rpc__WorkerKernels body = TS__RPC__WORKER_KERNELS__INIT;
	const char *target = request->target ? request->target : "";
	int fd = take_descriptor(worker, 0, true), r;

	if (request->has_metadata)
		r = ts_code_kernels_read_metadata(&kernels, request->metadata.data,
						  request->metadata.len);
	else if (request->has_code)
		r = ts_code_kernels_read(&kernels, request->code.data, request->code.len, target);
	else
		r = ts_code_kernels_read_file(&kernels, ts_take_fd(&fd), request->offset, target);
	ts_closep(&fd);
	if (r < 0)
		return r;
	if (r) {
		body.why = (char *)(uintptr_t)ts_amd_code_why(r);
	} else {
		set_bytes(&body.has_text, &body.text, kernels.text.bytes, kernels.text.n);
		body.lengths = numbers(&kernels.lengths, &body.n_lengths);
		body.registers = numbers(&kernels.registers, &body.n_registers);
		body.shared_bytes = numbers(&kernels.shared_bytes, &body.n_shared_bytes);
		body.local_bytes = numbers(&kernels.local_bytes, &body.n_local_bytes);
	}
	answer.body_case = TS__RPC__WORKER_ANSWER__BODY_KERNELS;
	answer.kernels = &body;
	send_answer(&answer, request_id);
	return 0;
}

static void send_ready(const struct worker *worker, uint32_t request_id)
{
	Ts__Rpc__WorkerAnswer answer = TS__RPC__WORKER_ANSWER__INIT;
	Ts__Rpc__WorkerReady body = TS__RPC__WORKER_READY__INIT;

	body.has_other_user = body.has_no_files = body.has_missing = 1;
	body.other_user = worker->confined.other_user;
	body.no_files = worker->confined.no_files;
	body.missing = worker->confined.missing;
	answer.body_case = TS__RPC__WORKER_ANSWER__BODY_READY;
	answer.ready = &body;
	send_answer(&answer, request_id);
}

static bool ascends(const uint64_t *addresses, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (addresses[i] <= addresses[i - 1])
			return false;
	return true;
}

static int answer_request(struct worker *worker, const Ts__Rpc__WorkerRequest *request,
			  uint32_t request_id)
{
	switch (request->body_case) {
	case TS__RPC__WORKER_REQUEST__BODY_HELLO:
		send_ready(worker, request_id);
		return 0;
	case TS__RPC__WORKER_REQUEST__BODY_ELF:
		if (!ascends(request->elf->addresses, request->elf->n_addresses))
			return -EINVAL;
		return answer_elf(worker, request->elf, request_id);
	case TS__RPC__WORKER_REQUEST__BODY_PERF_MAP:
		if (!ascends(request->perf_map->addresses, request->perf_map->n_addresses))
			return -EINVAL;
		return answer_jit(worker, ts_perf_map_find, request->perf_map->addresses,
				  request->perf_map->n_addresses, request_id);
	case TS__RPC__WORKER_REQUEST__BODY_JIT_DUMP:
		if (!ascends(request->jit_dump->addresses, request->jit_dump->n_addresses))
			return -EINVAL;
		return answer_jit(worker, ts_jit_dump_find, request->jit_dump->addresses,
				  request->jit_dump->n_addresses, request_id);
	case TS__RPC__WORKER_REQUEST__BODY_PLACES:
		return answer_places(worker, request->places, request_id);
	case TS__RPC__WORKER_REQUEST__BODY_CODE:
		return answer_code(worker, request->code, request_id);
	default:
		return -ENOSYS;
	}
}

static void handle(struct worker *worker, const struct ts_frame *frame)
{
	Ts__Rpc__WorkerRequest *request =
		ts__rpc__worker_request__unpack(NULL, frame->header.n_bytes, frame->data);
	uint32_t request_id = frame->header.request_id;
	int r;

	if (worker->error) {
		send_error(worker->error, worker->error_part, request_id);
		_exit(1);
	}
	r = request ? answer_request(worker, request, request_id) : -EPROTO;
	/* End the process: the next worker has its full memory limit again. */
	if (r == -ENOMEM)
		_exit(EXIT_MEMORY);
	if (r)
		send_error(r,
			   r == -ENOEXEC ? "the file does not have the expected format"
					 : strerror(-r),
			   request_id);
	if (request)
		ts__rpc__worker_request__free_unpacked(request, NULL);
	for (unsigned i = 0; i < worker->n_fds; i++)
		ts_closep(&worker->fds[i]);
	worker->n_fds = 0;
}

static int serve(struct worker *worker)
{
	uint8_t bytes[64 * 1024];
	struct ts_frame frame;
	int r;

	for (;;) {
		unsigned n_fds = 0;
		ssize_t n;

		r = ts_frame_parser_next(&worker->parser, &frame);
		if (!r) {
			handle(worker, &frame);
			continue;
		}
		if (r != TS_FRAME_E_MORE)
			return 1;
		n = ts_frame_receive_some(WORKER_FD, bytes, sizeof(bytes),
					  worker->fds + worker->n_fds,
					  TS_FRAME_MAX_FDS - worker->n_fds, &n_fds);
		if (n <= 0)
			return n ? 1 : 0;
		worker->n_fds += n_fds;
		if (ts_frame_parser_feed(&worker->parser, bytes, (size_t)n))
			return EXIT_MEMORY;
	}
}

static uint64_t parse(const char *text)
{
	char *end;
	uint64_t number;

	errno = 0;
	number = strtoull(text, &end, 10);
	return errno || *end || !number ? 0 : number;
}

/*
 * Raises the worker's OOM score, so that the kernel kills a worker and not the daemon if the
 * service's memory is used up. If /proc is missing, the worker keeps the daemon's score.
 */
static void offer_to_oom_killer(void)
{
	static const char most[] = "1000";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, most, sizeof(most) - 1) < 0)
		errno = 0;
	close(fd);
}

int main(int argc, char **argv)
{
	struct ts_confine_options options = {.end_with_parent = true};
	struct worker worker = {0};
	bool is_replay = argc == 4 && !strcmp(argv[3], TS_WORKER_REPLAY);
	bool is_query = is_replay || (argc == 4 && !strcmp(argv[3], TS_WORKER_QUERY));

	if (argc == 3 || is_query) {
		options.memory_bytes = parse(argv[1]);
		options.cpu_seconds = (uint32_t)parse(argv[2]);
	}
	if (!options.memory_bytes || !options.cpu_seconds) {
		fputs("tracesmith-worker runs only as a child of tracesmithd\n", stderr);
		return EXIT_USAGE;
	}
	offer_to_oom_killer();
	/* Open files and libraries before the process is confined. */
	if (is_query)
		ts_query_prepare(is_replay);
	options.threads = is_replay;
	worker.error = ts_confine(&options, &worker.confined, &worker.error_part);
	if (is_query)
		return ts_query_serve(WORKER_FD, worker.error, worker.error_part,
				      is_replay ? options.memory_bytes / 2 : 0);
	ts_frame_parser_init(&worker.parser, TS_FRAME_REQUEST, REQUEST_MAX_BYTES);
	return serve(&worker);
}
