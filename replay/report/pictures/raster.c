/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts pictures to PNG: see picture.h. tsctl and bindings call this file. It loads librsvg and
 * cairo with dlopen(), so TraceSmith runs without them: they depend on some 40 libraries, which
 * most users of TraceSmith do not need. The types below are those of librsvg 2.46 and cairo 1.2, or
 * later, which have kept them since.
 */
#include "replay/report/pictures/picture.h"

#include "proto/abi/base.h"
#include "sbt/buffer.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RSVG_LIBRARY "librsvg-2.so.2"
#define MAX_SIDE     32767u /* of a surface of cairo */
#define MAX_PIXELS   (UINT64_C(1) << 27)
#define ARGB32	     0
#define NO_MEMORY    1 /* CAIRO_STATUS_NO_MEMORY */

struct rectangle {
	double x, y, width, height;
};

/* Functions of librsvg, and of the libraries that it brings. Pointers are to opaque objects. */
struct functions {
	void *(*new_from_data)(const unsigned char *data, unsigned long n_bytes, void **error);
	int (*render)(void *handle, void *cairo, const struct rectangle *place, void **error);
	void (*unref)(void *object);
	void (*clear_error)(void **error);
	void *(*surface_create)(int format, int width, int height);
	int (*surface_status)(void *surface);
	int (*surface_write)(void *surface,
			     int (*write)(void *data, const unsigned char *bytes, unsigned n),
			     void *data);
	void (*surface_destroy)(void *surface);
	void *(*cairo_create)(void *surface);
	int (*cairo_status)(void *cairo);
	void (*cairo_destroy)(void *cairo);
};

static int find_functions(struct functions *functions)
{
	const struct {
		const char *name;
		void *function;
	} names[] = {
		{"rsvg_handle_new_from_data", &functions->new_from_data},
		{"rsvg_handle_render_document", &functions->render},
		{"g_object_unref", &functions->unref},
		{"g_clear_error", &functions->clear_error},
		{"cairo_image_surface_create", &functions->surface_create},
		{"cairo_surface_status", &functions->surface_status},
		{"cairo_surface_write_to_png_stream", &functions->surface_write},
		{"cairo_surface_destroy", &functions->surface_destroy},
		{"cairo_create", &functions->cairo_create},
		{"cairo_status", &functions->cairo_status},
		{"cairo_destroy", &functions->cairo_destroy},
	};
	/* Types of GLib stay registered, so its libraries must not be unloaded. */
	void *library = dlopen(RSVG_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!library)
		return TS_PICTURE_E_LIBRARY;
	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++) {
		void *function = dlsym(library, names[i].name);

		if (!function) {
			dlclose(library);
			return TS_PICTURE_E_LIBRARY;
		}
		memcpy(names[i].function, &function, sizeof(function));
	}
	dlclose(library);
	return 0;
}

/* Reads a length as svg.c writes it, rounded up. Returns 0 if there is none. */
static unsigned read_length(const char *svg, const char *attribute)
{
	const char *at = strstr(svg, attribute);
	unsigned long length;
	char *end;

	if (!at)
		return 0;
	at += strlen(attribute);
	length = strtoul(at, &end, 10);
	return length > MAX_SIDE ? MAX_SIDE + 1 : (unsigned)length + (*end == '.');
}

static int append(void *data, const unsigned char *bytes, unsigned n)
{
	return ts_buffer_append(data, bytes, n) ? NO_MEMORY : 0;
}

static int draw(const struct functions *functions, void *handle, const struct rectangle *place,
		struct ts_buffer *png)
{
	void *surface = functions->surface_create(ARGB32, (int)place->width, (int)place->height);
	void *cairo = functions->cairo_create(surface), *error = NULL;
	int r = functions->surface_status(surface) || functions->cairo_status(cairo) ? -ENOMEM : 0;

	if (!r && !functions->render(handle, cairo, place, &error))
		r = -EINVAL;
	if (!r && functions->surface_write(surface, append, png))
		r = -ENOMEM;
	if (error)
		functions->clear_error(&error);
	functions->cairo_destroy(cairo);
	functions->surface_destroy(surface);
	return r;
}

int ts_picture_png(const char *svg, size_t n_bytes, unsigned char **ret_png, size_t *ret_n_bytes)
{
	const struct rectangle place = {.width = read_length(svg, " width=\""),
					.height = read_length(svg, " height=\"")};
	ts_cleanup(ts_buffer_deinit) struct ts_buffer png = {0};
	struct functions functions;
	void *handle, *error = NULL;
	int r;

	if (!place.width || !place.height)
		return -EINVAL;
	if (place.width > MAX_SIDE || place.height > MAX_SIDE ||
	    place.width * place.height > (double)MAX_PIXELS)
		return TS_PICTURE_E_LARGE;
	r = find_functions(&functions);
	if (r)
		return r;
	handle = functions.new_from_data((const unsigned char *)svg, n_bytes, &error);
	if (error)
		functions.clear_error(&error);
	if (!handle)
		return -EINVAL;
	r = draw(&functions, handle, &place, &png);
	functions.unref(handle);
	if (r)
		return r;
	*ret_n_bytes = png.n;
	*ret_png = ts_take_ptr(png.bytes);
	return 0;
}

const char *ts_picture_why(int r)
{
	switch (r) {
	case TS_PICTURE_E_LIBRARY:
		return "PNG requires " RSVG_LIBRARY
		       " 2.46 or later: install librsvg2-2 (Debian) or "
		       "librsvg2 (RPM), or draw SVG";
	case TS_PICTURE_E_LARGE:
		return "the picture is too large for PNG: draw fewer pixels, or SVG";
	default:
		return strerror(r < 0 ? -r : EINVAL);
	}
}
