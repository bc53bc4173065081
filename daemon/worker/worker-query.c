/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers one query about an untrusted trace. main.c calls this module as a query worker.
 * replay/report finds the answers, and this module sends them in parts as they come.
 *
 *     ts_query_prepare()  before the confinement: priority, stack size, demangler
 *     ts_query_serve()    receive() -> answer(): open, join() -> run() -> give() ... -> send_end()
 */
#include "daemon/worker/worker-query.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "daemon/worker/worker-client.h"
#include "proto/abi/grow.h"
#include "proto/rpc/body.h"
#include "proto/rpc/frame.h"
#include "proto/rpc/json.h"
#include "replay/report/names/names.h"
#include "replay/report/query.h"
#include "replay/report/replay/progress.h"

#define NICENESS 10
/* Time between reports of a replay's progress. */
#define PROGRESS_MS 200u
#define STACK_BYTES (UINT64_C(2) << 20)

/* The files of one recording, newest first. */
struct files {
	int fds[TS_FRAME_MAX_FDS];
	unsigned n;
};

/*
 * n: number of files that were read. before: number of the file that comes before them and was not
 * read; 0: none.
 */
struct read_files {
	unsigned n;
	uint32_t before;
};

struct out {
	int fd;
	uint32_t request_id;
	unsigned number; /* field number of the body in `bytes` */
	uint8_t *bytes;
	size_t n, n_allocated;
	uint64_t n_sent, most;
};

static void no_memory(void)
{
	_exit(TS_WORKER_EXIT_MEMORY);
}

/* Set by SIGTERM: a replay ends with its results so far. */
static volatile int cancelled;

static void on_term(int number)
{
	cancelled = number;
}

/* Raises the OOM score. If the file cannot be opened, the score stays. */
static void go_first(void)
{
	ts_cleanup(ts_closep) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		dprintf(fd, "1000");
}

void ts_query_prepare(bool is_replay)
{
	struct sigaction action = {.sa_handler = on_term, .sa_flags = SA_RESTART};
	struct ts_demangler *demangler = NULL;

	if (is_replay) {
		pthread_attr_t attributes;

		sigaction(SIGTERM, &action, NULL);
		/* The whole stack of a thread counts as memory of the process. */
		pthread_attr_init(&attributes);
		pthread_attr_setstacksize(&attributes, STACK_BYTES);
		pthread_setattr_default_np(&attributes);
		pthread_attr_destroy(&attributes);
	}

	/*
	 * The daemon's sessions get the processor before this process. If memory is short, the
	 * kernel kills this process and no other.
	 */
	setpriority(PRIO_PROCESS, 0, NICENESS);
	go_first();
	/* This demangler is never freed, so that its library stays loaded for later demanglers. */
	(void)ts_demangler_new(&demangler);
}

static void send_all(int fd, const void *data, size_t n_bytes)
{
	const uint8_t *at = data;

	while (n_bytes) {
		ssize_t n = ts_frame_send_some(fd, at, n_bytes, NULL, 0);

		/* The daemon has closed the socket. */
		if (n <= 0)
			_exit(1);
		at += n;
		n_bytes -= (size_t)n;
	}
}

/* Sends an answer with this body. */
static void send_body(struct out *out, unsigned number, const uint8_t *body, size_t n_bytes,
		      bool more)
{
	uint8_t head[sizeof(struct ts_frame_header) + TS_BODY_HEAD_BYTES];
	size_t n = ts_body_head(number, n_bytes, head + sizeof(struct ts_frame_header));
	struct ts_frame_header header =
		ts_frame_header_make(TS_FRAME_ANSWER, out->request_id, (uint32_t)(n + n_bytes));

	header.flags = more ? TS_FRAME_MORE : 0;
	memcpy(head, &header, sizeof(header));
	send_all(out->fd, head, sizeof(header) + n);
	send_all(out->fd, body, n_bytes);
	out->n_sent += n_bytes;
}

static void send_message(struct out *out, unsigned number, const ProtobufCMessage *message)
{
	size_t n_bytes = protobuf_c_message_get_packed_size(message);
	ts_cleanup(ts_freep) uint8_t *packed = malloc(n_bytes + 1);

	if (!packed)
		no_memory();
	protobuf_c_message_pack(message, packed);
	send_body(out, number, packed, n_bytes, false);
}

static void send_error(struct out *out, int error, const char *message)
{
	Ts__Rpc__Error body = TS__RPC__ERROR__INIT;

	TS_RPC_SET(&body, code, error < 0 ? -error : EBADMSG);
	body.message = (char *)(uintptr_t)message;
	send_message(out, TS__RPC__ANSWER__BODY_ERROR, &body.base);
}

/* Sends the complete parts of the answer; if `all` is true, also the last, incomplete part. */
static int flush(struct out *out, bool all)
{
	size_t at = 0;

	while (out->n - at > TS_BODY_PART_BYTES || (all && out->n > at)) {
		size_t n = ts_body_part(out->bytes + at, out->n - at, TS_BODY_PART_BYTES);

		if (!n || n > TS_FRAME_ANSWER_MAX_BYTES - TS_BODY_HEAD_BYTES)
			return -EMSGSIZE;
		if (out->n_sent + n > out->most)
			return -EFBIG;
		send_body(out, out->number, out->bytes + at, n, true);
		at += n;
	}
	memmove(out->bytes, out->bytes + at, out->n - at);
	out->n -= at;
	return 0;
}

/* Sends a body of a replay, as a separate answer. */
static int give_replay(struct out *out, const ProtobufCMessage *body)
{
	size_t n_bytes = protobuf_c_message_get_packed_size(body);
	ts_cleanup(ts_freep) uint8_t *packed = NULL;

	if (n_bytes > TS_FRAME_ANSWER_MAX_BYTES - TS_BODY_HEAD_BYTES)
		return -EMSGSIZE;
	if (out->n_sent + n_bytes > out->most)
		return -EFBIG;
	packed = malloc(n_bytes + 1);
	if (!packed)
		no_memory();
	protobuf_c_message_pack(body, packed);
	send_body(out, TS__RPC__ANSWER__BODY_REPLAY, packed, n_bytes, true);
	return 0;
}

/*
 * Sends the progress of a replay. Called on a separate thread, while the replay's thread sends no
 * answer.
 */
static void send_progress(void *data, const struct ts_replay_progress_now *now)
{
	Ts__Rpc__ReplayAnswer answer = TS__RPC__REPLAY_ANSWER__INIT;
	Ts__Rpc__ReplayProgress progress = TS__RPC__REPLAY_PROGRESS__INIT;

	progress.doing = (char *)(uintptr_t)now->doing;
	TS_RPC_SET(&progress, session, now->session);
	TS_RPC_SET(&progress, replay, now->replay);
	TS_RPC_SET(&progress, done, now->done);
	if (now->all)
		TS_RPC_SET(&progress, all, now->all);
	if (now->operation[0]) {
		TS_RPC_SET(&progress, op_id, now->op_id);
		progress.operation = (char *)(uintptr_t)now->operation;
	}
	answer.progress = &progress;
	/* If the progress cannot be sent, the replay continues. */
	(void)give_replay(data, &answer.base);
}

/* Appends a body. Two packed bodies one after the other are one body with longer lists. */
static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	struct out *out = data;
	size_t n_bytes = protobuf_c_message_get_packed_size(body);
	int r;

	if (number == TS__RPC__ANSWER__BODY_REPLAY)
		return give_replay(out, body);
	if (TS_GROW(out->bytes, out->n_allocated, out->n + n_bytes))
		no_memory();
	out->number = number;
	out->n += protobuf_c_message_pack(body, out->bytes + out->n);
	r = out->n > TS_BODY_PART_BYTES ? flush(out, false) : 0;
	return r;
}

static void send_end(struct out *out, struct ts_sbt_reader *reader, const Ts__Rpc__Query *query,
		     const struct ts_query_end *end, const struct read_files *files)
{
	Ts__Rpc__QueryEnd message = TS__RPC__QUERY_END__INIT;

	message.path = query->path;
	TS_RPC_SET(&message, origin_ns, ts_sbt_reader_origin_ns(reader));
	if (query->in_file)
		TS_RPC_SET(&message, session, query->in_file);
	TS_RPC_SET(&message, sessions, (uint32_t)ts_sbt_reader_n_sessions(reader));
	TS_RPC_SET(&message, bytes, out->n_sent);
	if (end->is_damaged) {
		TS_RPC_SET(&message, damaged, true);
		TS_RPC_SET(&message, damaged_at, end->damage.off);
		message.damage = (char *)(uintptr_t)end->damage.text;
	}
	if (end->has_bad_checkpoints)
		TS_RPC_SET(&message, bad_checkpoints, true);
	TS_RPC_SET(&message, files, files->n);
	if (files->before)
		TS_RPC_SET(&message, before, files->before);
	send_message(out, TS__RPC__ANSWER__BODY_QUERY_END, &message.base);
}

static void refuse(struct out *out, int r, const struct ts_sbt_error *error,
		   const Ts__Rpc__Query *query)
{
	const char *path = query->path ? query->path : "the file";
	char why[TS_QUERY_WHY_BYTES];

	if (r == -EFBIG)
		snprintf(why, sizeof(why),
			 "the answer is larger than %" PRIu64 " bytes; query a part of the trace",
			 out->most);
	else if (r == -EMSGSIZE)
		snprintf(why, sizeof(why),
			 "an element of the answer is larger than the limit of a message");
	else
		ts_query_why(path, r, error, why);
	send_error(out,
		   r == TS_QUERY_E_UNKNOWN	    ? -EOPNOTSUPP
		   : r > 0 && r != TS_SBT_E_CORRUPT ? -EINVAL
						    : r,
		   why);
}

static bool is_file(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISREG(status.st_mode);
}

/*
 * Joins the earlier files of the recording, as tsctl does. The first file that cannot be read, or
 * is of another recording, ends the list.
 */
static int join(struct ts_sbt_reader *reader, const struct files *files,
		struct read_files *ret_read)
{
	struct ts_sbt_reader *before[TS_FRAME_MAX_FDS], *last = reader;
	struct ts_row_part part;
	unsigned n = 0;

	while (n + 1 < files->n && is_file(files->fds[n + 1]) &&
	       !ts_sbt_reader_open(files->fds[n + 1], &before[n], NULL)) {
		if (!ts_sbt_reader_is_before(before[n], last)) {
			ts_sbt_reader_free(before[n]);
			break;
		}
		last = before[n++];
	}
	ret_read->n = n + 1;
	ret_read->before = ts_sbt_reader_part(last, &part) ? 0 : part.before;
	return ts_sbt_reader_join(reader, before, n);
}

static int run(struct out *out, struct ts_sbt_reader *reader, const Ts__Rpc__Query *query,
	       uint64_t device_bytes, struct ts_query_end *ret_end)
{
	ts_cleanup(ts_replay_progress_freep) struct ts_replay_progress *progress = NULL;
	struct ts_query_options options = {.give = give,
					   .data = out,
					   .no_memory = no_memory,
					   .cancel = &cancelled,
					   .device_bytes = device_bytes};

	if (device_bytes && ts_replay_progress_new(send_progress, out, PROGRESS_MS, &progress))
		return -ENOMEM;
	options.progress = progress;
	return ts_query_run(reader, query->in_file, query, &options, ret_end);
}

static void answer(struct out *out, const Ts__Rpc__Query *query, const struct files *files,
		   uint64_t device_bytes)
{
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	struct ts_sbt_error error = {0};
	struct ts_query_end end = {0};
	struct read_files read;
	int r;

	if (!files->n || !is_file(files->fds[0])) {
		send_error(out, -EINVAL, "the query has no descriptor of a regular file");
		return;
	}
	r = ts_sbt_reader_open(files->fds[0], &reader, &error);
	if (r) {
		refuse(out, r, &error, query);
		return;
	}
	r = join(reader, files, &read);
	r = r ?: run(out, reader, query, device_bytes, &end);
	r = r ?: flush(out, true);
	/* -EAGAIN: there was no memory for a thread. */
	if (r == -ENOMEM || r == -EAGAIN)
		no_memory();
	if (r)
		refuse(out, r, ts_sbt_reader_error(reader), query);
	else
		send_end(out, reader, query, &end, &read);
}

/* Receives one whole request. */
static int receive(int fd, struct ts_frame_parser *parser, struct ts_frame *ret_frame,
		   struct files *files)
{
	uint8_t bytes[4096];
	int r;

	while ((r = ts_frame_parser_next(parser, ret_frame)) == TS_FRAME_E_MORE) {
		unsigned n_fds = 0;
		ssize_t n = ts_frame_receive_some(fd, bytes, sizeof(bytes), files->fds + files->n,
						  TS_FRAME_MAX_FDS - files->n, &n_fds);

		if (n <= 0)
			return -ECONNRESET;
		files->n += n_fds;
		r = ts_frame_parser_feed(parser, bytes, (size_t)n);
		if (r)
			return r;
	}
	return r;
}

int ts_query_serve(int fd, int error, const char *part, uint64_t device_bytes)
{
	struct ts_frame_parser parser;
	Ts__Rpc__Request *request;
	struct ts_frame frame;
	struct out out = {.fd = fd};
	struct files files = {0};
	char why[128];

	ts_frame_parser_init(&parser, TS_FRAME_REQUEST, TS_FRAME_REQUEST_MAX_BYTES);
	if (receive(fd, &parser, &frame, &files))
		return 1;
	out.request_id = frame.header.request_id;
	request = ts__rpc__request__unpack(NULL, frame.header.n_bytes, frame.data);
	if (error) {
		snprintf(why, sizeof(why), "this system cannot confine the worker; failed step: %s",
			 part);
		send_error(&out, -EPERM, why);
	} else if (!request || request->body_case != TS__RPC__REQUEST__BODY_QUERY) {
		send_error(&out, -EPROTO, "the request is malformed");
	} else if ((request->query->body_case == TS__RPC__QUERY__BODY_REPLAY) != !!device_bytes) {
		send_error(&out, -EPROTO, "the worker was started for another kind of query");
	} else {
		out.most = request->query->max_bytes;
		answer(&out, request->query, &files, device_bytes);
	}
	return 0;
}
