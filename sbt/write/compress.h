/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses the payload of a block. Private to sbt/write/. Not thread-safe. */
#pragma once

#include "sbt/format/block.h"

/* Allocates the encoder's two compressors before their first use. Returns 0 or -ENOMEM. */
int ts_compress_begin(struct ts_encoder *encoder);

/*
 * Compresses each part of the payload into a frame of its own; any zstd decoder reads the frames as
 * one stream. Returns the bytes, or 0 if the frames are not smaller than the payload.
 */
size_t ts_compress_parts(struct ts_encoder *encoder, uint8_t *to, size_t capacity);

/*
 * Compresses the whole payload with the dictionary, as one block without the headers of frame and
 * block, into the room behind the `n` bytes of frames at `to`, and replaces these frames if the
 * block is smaller. `n` is 0 if there are none. Returns the bytes, or 0 if the frames, or the
 * payload, are smaller.
 */
size_t ts_compress_thoroughly(struct ts_encoder *encoder, uint8_t *to, size_t n, size_t capacity);

/*
 * Estimates the bytes that a part would take, stored or compressed, from its first bytes. Uses
 * encoder->scratch.
 */
size_t ts_compress_measure(struct ts_encoder *encoder, const uint8_t *bytes, size_t n);
