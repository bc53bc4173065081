/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel's parameters, from its demangled signature: "void scale<float>(float*, float, int)". The
 * signature gives their types, and so their offsets among the packed arguments. Offsets are known
 * up to the first parameter that is a struct of the program, passed by value.
 */
#pragma once

#include "replay/report/names/value.h"

#define TS_SIGNATURE_MAX_PARAMETERS 64u

struct ts_signature_parameter {
	bool is_placed;	 /* `offset` is known */
	bool is_pointer; /* `type` is the pointed-to type */
	bool is_const;	 /* the kernel only reads through this pointer */
	bool has_type;	 /* the pointed-to type is known */
	uint32_t offset; /* in bytes, among the packed arguments */
	struct ts_value_type type;
};

/*
 * Returns the number of parameters, at most TS_SIGNATURE_MAX_PARAMETERS. Returns 0 if there are
 * none, or if the text is no signature, as for an extern "C" kernel, which has only a name.
 */
size_t ts_signature_parse(
	const char *signature,
	struct ts_signature_parameter ret_parameters[TS_SIGNATURE_MAX_PARAMETERS]);
