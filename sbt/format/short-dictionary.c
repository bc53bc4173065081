/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the dictionary of short blocks, which the build makes from FORMAT.md. compress.c and
 * decode-block.c call this module.
 */

#include "sbt/format/short-dictionary.h"

#include "sbt/generated-dictionary.h"

const uint8_t *ts_short_dictionary(size_t *ret_n)
{
	*ret_n = sizeof(dictionary);
	return dictionary;
}

const uint8_t *ts_short_dictionary_content(size_t *ret_n)
{
	*ret_n = sizeof(dictionary) - TABLES_BYTES;
	return dictionary + TABLES_BYTES;
}
