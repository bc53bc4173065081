// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * Block I/O of traced threads. Each bio is delivered once, when it ends. A bio belongs to the
 * thread that submitted it; the disk's queue may continue the bio in the context of any other
 * thread. Writes that the kernel submits by its own threads belong to no session.
 *
 * The programs are raw tracepoints, because their arguments changed in Linux 5.11. programs.c looks
 * in the kernel's types and loads the program that fits this kernel.
 */
#include "daemon/bpf/programs/shared.bpf.h"

/* Limit of the walk over the bios of one request. Disks accept fewer pieces of memory at once. */
#define MAX_MERGED	  256

#define OPERATION_BITS	  0xff
#define OPERATION_READ	  0
#define OPERATION_WRITE	  1
#define OPERATION_FLUSH	  2
#define OPERATION_DISCARD 3

/* As in sbt/schema.h. */
#define BLOCK_READ	   1
#define BLOCK_WRITE	   2
#define BLOCK_FLUSH	   3
#define BLOCK_DISCARD	   4
#define BLOCK_IO_SYNC	   2
#define BLOCK_IO_READAHEAD 4
#define BLOCK_IO_METADATA  8

/* Open bios, by the address of the bio. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct ts_bpf_block_io);
} in_flight SEC(".maps");

static __always_inline struct gendisk *disk_of(struct bio *bio)
{
	struct bio___before_5_12 *before = (void *)bio;

	if (bpf_core_field_exists(bio->bi_bdev))
		return BPF_CORE_READ(bio, bi_bdev, bd_disk);
	return BPF_CORE_READ(before, bi_disk);
}

#define HAS(flags, name) ((flags) >> bpf_core_enum_value(enum req_flag_bits, name) & 1)

static __always_inline void note_operation(struct ts_bpf_block_io *note, struct bio *bio)
{
	__u32 what = BPF_CORE_READ(bio, bi_opf);

	switch (what & OPERATION_BITS) {
	case OPERATION_READ:
		note->operation = BLOCK_READ;
		break;
	case OPERATION_WRITE:
		note->operation =
			!note->bytes && HAS(what, __REQ_PREFLUSH) ? BLOCK_FLUSH : BLOCK_WRITE;
		break;
	case OPERATION_FLUSH:
		note->operation = BLOCK_FLUSH;
		break;
	case OPERATION_DISCARD:
		note->operation = BLOCK_DISCARD;
		break;
	}
	if (HAS(what, __REQ_SYNC))
		note->flags |= BLOCK_IO_SYNC;
	if (HAS(what, __REQ_RAHEAD))
		note->flags |= BLOCK_IO_READAHEAD;
	if (HAS(what, __REQ_META))
		note->flags |= BLOCK_IO_METADATA;
}

static __always_inline int begin(struct bio *bio)
{
	__u64 caller = bpf_get_current_pid_tgid(), key = (__u64)bio;
	struct ts_bpf_traced *settings = find_of_peer(caller >> 32, TS_BPF_BLOCK);
	struct ts_bpf_block_io note = {}, *before;

	if (!settings)
		return 0;
	note.bio = key;
	note.event.session = settings->session;
	note.event.program = TS_BPF_BLOCK;
	note.event.tid = (__u32)caller;
	note.event.pid = caller >> 32;
	note.event.start_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(note.event.name, sizeof(note.event.name));
	note.sector = BPF_CORE_READ(bio, bi_iter.bi_sector);
	note.bytes = BPF_CORE_READ(bio, bi_iter.bi_size);
	note_operation(&note, bio);
	BPF_CORE_READ_STR_INTO(&note.disk, disk_of(bio), disk_name);
	/* The note at this address is of an earlier bio whose end was not seen. */
	before = bpf_map_lookup_elem(&in_flight, &key);
	if (before)
		lose(before->event.session, TS_BPF_BLOCK);
	if (bpf_map_update_elem(&in_flight, &key, &note, BPF_ANY))
		lose(note.event.session, TS_BPF_BLOCK);
	return 0;
}

SEC("raw_tp/block_bio_queue")
int block_queued(struct bpf_raw_tracepoint_args *context)
{
	return begin((struct bio *)context->args[0]);
}

SEC("raw_tp/block_bio_queue")
int block_queued_before_5_11(struct bpf_raw_tracepoint_args *context)
{
	return begin((struct bio *)context->args[1]);
}

/*
 * Finds the note of a bio. For a piece that was split off another bio, finds the note of that bio:
 * bi_private of a piece is that bio's address. In any other bio, bi_private is not the address of a
 * bio.
 */
static __always_inline struct ts_bpf_block_io *note_of(struct bio *bio)
{
	__u64 key = (__u64)bio;
	struct ts_bpf_block_io *note = bpf_map_lookup_elem(&in_flight, &key);

	if (note)
		return note;
	key = (__u64)BPF_CORE_READ(bio, bi_private);
	return bpf_map_lookup_elem(&in_flight, &key);
}

static __always_inline int issue(struct request *request)
{
	struct bio *bio = BPF_CORE_READ(request, bio);
	__u64 now = bpf_ktime_get_ns();

	for (int i = 0; i < MAX_MERGED && bio; i++) {
		struct ts_bpf_block_io *note = note_of(bio);

		if (note && !note->issued_ns)
			note->issued_ns = now;
		bio = BPF_CORE_READ(bio, bi_next);
	}
	return 0;
}

SEC("raw_tp/block_rq_issue")
int block_issued(struct bpf_raw_tracepoint_args *context)
{
	return issue((struct request *)context->args[0]);
}

SEC("raw_tp/block_rq_issue")
int block_issued_before_5_11(struct bpf_raw_tracepoint_args *context)
{
	return issue((struct request *)context->args[1]);
}

/*
 * Delivers a bio that has ended. Several CPUs may see the end of the last piece; only the CPU that
 * deletes the note delivers it.
 */
static __always_inline void send(struct ts_bpf_block_io *note)
{
	struct ts_bpf_block_io copy = *note;
	struct ts_bpf_traced *settings;
	__u64 key = copy.bio;

	if (bpf_map_delete_elem(&in_flight, &key))
		return;
	copy.event.end_ns = bpf_ktime_get_ns();
	settings = find_traced(copy.event.pid, TS_BPF_BLOCK);
	/*
	 * If the process has ended, there are no settings and the bio is still delivered: it was
	 * submitted with the peer's credentials.
	 */
	if (settings && settings->session == copy.event.session &&
	    copy.event.end_ns - copy.event.start_ns < settings->threshold_ns[TS_BPF_BLOCK])
		return;
	if (bpf_ringbuf_output(&events, &copy, sizeof(copy), wake_flags()))
		lose(copy.event.session, TS_BPF_BLOCK);
}

/*
 * Handles the completion of a request, or of its first n_bytes. If a write has the disk's cache
 * flushed after it, the end of the bio does not include the flush. The error is a negative errno
 * before Linux 5.16, and a number of the block layer since.
 */
SEC("raw_tp/block_rq_complete")
int block_done(struct bpf_raw_tracepoint_args *context)
{
	struct request *request = (struct request *)context->args[0];
	struct bio *bio = BPF_CORE_READ(request, bio);
	__u32 n_bytes = (__u32)context->args[2];
	__s32 error = (__s32)context->args[1];

	for (int i = 0; i < MAX_MERGED && bio; i++) {
		struct ts_bpf_block_io *note = note_of(bio);
		__u32 n_own = BPF_CORE_READ(bio, bi_iter.bi_size);

		if (n_own > n_bytes)
			break;
		n_bytes -= n_own;
		if (note && error)
			note->error = error;
		if (note) {
			__sync_fetch_and_add(&note->done_bytes, n_own);
			if (note->done_bytes >= note->bytes)
				send(note);
		}
		bio = BPF_CORE_READ(bio, bi_next);
	}
	return 0;
}

/* Handles the completion of a bio on a disk without requests. */
SEC("raw_tp/block_bio_complete")
int block_bio_done(struct bpf_raw_tracepoint_args *context)
{
	struct bio *bio = (struct bio *)context->args[1];
	__u64 key = (__u64)bio;
	struct ts_bpf_block_io *note = bpf_map_lookup_elem(&in_flight, &key);

	if (!note)
		return 0;
	note->error = BPF_CORE_READ(bio, bi_status);
	send(note);
	return 0;
}
