/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns launch sites into frames with names. A location is a distinguishable frame: an address in a
 * file (equal for all processes that map the file), a Python line, or a name for something without
 * an address. Each location is looked up once.
 */
#pragma once

#include "tools/export/export-text.h"
#include "tools/export/profile/collect.h"

/* A file that contains frames. */
struct ts_frame_mapping {
	uint32_t path; /* string of the trace */
	uint32_t n_build_id_bytes;
	uint8_t build_id[32];
	uint64_t file_address; /* first address in the file's own view */
	uint64_t bytes;
	/* end of key */
	uint64_t address; /* the mapping's start in the first process that mapped the file */
	uint32_t result;  /* enum ts_image_result; UINT32_MAX: not examined */
	uint32_t reserved;
};

struct ts_frame_function {
	uint32_t name, system_name, file; /* texts */
	uint32_t reserved;
	/* end of key */
};

/* A function at a location; innermost first if functions were inlined there. */
struct ts_frame_line {
	uint32_t function;
	uint32_t line;	 /* 0: unknown */
	uint32_t folded; /* text in the form of a folded stack */
};

enum ts_frame_kind {
	TS_FRAME_OF_FILE = 1, /* owner: mapping; value: address */
	TS_FRAME_OF_SESSION,  /* owner: session; value: address in no file */
	TS_FRAME_OF_PYTHON,   /* value: the frame */
	TS_FRAME_NAMED,	      /* value: function */
};

struct ts_frame_location {
	uint32_t kind; /* enum ts_frame_kind */
	uint32_t owner;
	uint64_t value;
	uint32_t is_innermost; /* innermost in its stack; else value is the call's address */
	uint32_t reserved;
	/* end of key */
	uint64_t address; /* 0: none */
	uint32_t first_line, n_lines;
	uint32_t folded; /* text, if there are no lines */
	uint32_t reserved2;
};

struct ts_frames {
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
	struct ts_modules *modules;
	struct ts_symbols *symbols;
	struct ts_texts texts;
	struct ts_hashtable mappings;  /* of struct ts_frame_mapping */
	struct ts_hashtable functions; /* of struct ts_frame_function */
	struct ts_hashtable locations; /* of struct ts_frame_location */
	struct ts_hashtable seen;      /* frames with a known location */
	struct ts_buffer lines;	       /* of struct ts_frame_line */
	struct ts_buffer path;	       /* of uint32_t: locations of the current stack */
	bool any_native, any_name;
	bool damaged; /* some stack, or all names, could not be read */
	struct ts_sbt_error damage;
};

int ts_frames_init(struct ts_frames *frames, struct ts_sbt_reader *reader,
		   const struct ts_export_options *options);
void ts_frames_deinit(struct ts_frames *frames);

/* Returns the number of a module's mapping; makes the mapping if it is new. */
int ts_frames_mapping(struct ts_frames *frames, const struct ts_row_module *module,
		      uint32_t *ret_mapping);
/* Adds the state of names and damage to the report. */
void ts_frames_report(const struct ts_frames *frames, struct ts_export_report *report);

/* Returns the locations of a sample, innermost first. The result is valid until the next call. */
int ts_frames_path(struct ts_frames *frames, const struct ts_site *site,
		   const struct ts_sample *sample, const uint32_t **ret_locations, size_t *ret_n);

static inline const struct ts_frame_line *ts_frames_line(const struct ts_frames *frames, uint32_t i)
{
	return (const struct ts_frame_line *)(const void *)frames->lines.bytes + i;
}

/* Print the names of processes and threads, for frames and labels. */
#define TS_FRAME_NAME_BYTES 320
void ts_frames_process(const struct ts_frames *frames, const struct ts_site *site,
		       char ret_text[TS_FRAME_NAME_BYTES]);
void ts_frames_thread(const struct ts_frames *frames, const struct ts_site *site,
		      char ret_text[TS_FRAME_NAME_BYTES]);

/* Prints the state of a thread's sample: "on cpu", "off cpu: futex". */
#define TS_FRAME_STATE_BYTES 64
void ts_frames_state(const struct ts_frames *frames, const struct ts_sample *sample,
		     char ret_text[TS_FRAME_STATE_BYTES]);
