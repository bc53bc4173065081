/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of slices as bytes, made in threads. tracks.c decides the lane and the time of each
 * packet, and adds the packets in their order. They are cut into pieces (replay/report/pieces.h),
 * and any thread encodes a piece. The bytes are those of one thread.
 *
 * Functions are called by one thread. Return values are those of ts_pieces_add().
 */
#pragma once

#include "tools/export/perfetto.pb-c.h"
#include "tools/export/perfetto/tracks.h"

struct ts_packets;

/* Sequence of descriptors and counters; lanes, numbered from 1, use the later sequences. */
#define TS_PACKETS_SEQUENCE_OF_ALL 1u

static inline uint32_t ts_packets_sequence(uint32_t lane)
{
	return TS_PACKETS_SEQUENCE_OF_ALL + lane;
}

/* Copies the options. */
int ts_packets_new(const struct ts_track_options *options, struct ts_packets **ret_packets);
void ts_packets_free(struct ts_packets *packets); /* NULL is fine */

/* Adds a packet of this sequence. The packet stays the caller's. */
int ts_packets_add(struct ts_packets *packets, uint32_t sequence,
		   Ts__Perfetto__TracePacket *packet);

/*
 * Adds the begin of a slice, and packets of the texts that are new in its lane. delta_ns is the
 * time since the lane's last slice packet. new_names has the bits of arg names that are new there.
 */
int ts_packets_begin(struct ts_packets *packets, uint32_t lane, uint64_t delta_ns,
		     uint64_t new_names, const struct ts_track_slice *slice);
int ts_packets_end(struct ts_packets *packets, uint32_t lane, uint64_t delta_ns);

/* Writes all packets. */
int ts_packets_finish(struct ts_packets *packets);
