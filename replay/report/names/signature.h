/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel's parameters, by its demangled signature: "void scale<float>(float*, float, int)". The signature has their types, and so
 * their places among the packed arguments, up to the first one that the program defined itself and passes by value.
 */
#pragma once

#include "replay/report/names/value.h"

#define TS_SIGNATURE_MAX_PARAMETERS 64u

struct ts_signature_parameter {
	bool is_placed;	 /* its offset is known */
	bool is_pointer; /* to what follows */
	bool is_const;	 /* the kernel only reads there by it */
	bool has_type;	 /* what it points to is of a known type */
	uint32_t offset; /* among the packed arguments */
	struct ts_value_type type;
};

/*
 * Returns how many parameters there are, at most TS_SIGNATURE_MAX_PARAMETERS. 0: there are none, or the text is no signature: a
 * kernel of extern "C" has a name alone.
 */
size_t ts_signature_parse(
	const char *signature,
	struct ts_signature_parameter ret_parameters[TS_SIGNATURE_MAX_PARAMETERS]);
