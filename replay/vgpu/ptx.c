/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what a PTX text declares at module scope: kernels, their parameters' sizes and offsets, limits, shared and local
 * memory, and variables with their first values. Bodies are skipped by their braces, but for declarations of shared
 * and local memory. The language is NVIDIA's "Parallel Thread Execution ISA", sections "Kernel and Function
 * Directives" and "State Spaces, Types, and Variables".
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/vgpu/module.h"

/* No object of a program is larger; sums of two stay far from overflow. */
#define OBJECT_MAX (1ull << 46)

struct reader {
	struct ts_vgpu_module *module;
	const char *at;
	const char *token; /* not NUL-terminated */
	size_t n;
	uint32_t line;
	char *message;
	size_t message_bytes;
};

__attribute__((format(printf, 2, 3))) static int fail(struct reader *r, const char *format, ...)
{
	char what[160];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(r->message, r->message_bytes, "PTX line %u: %s", r->line, what);
	return TS_VGPU_MODULE_E_PTX;
}

static void skip_blanks(struct reader *r)
{
	for (;;) {
		if (*r->at == '\n') {
			r->line++;
			r->at++;
		} else if (isspace((unsigned char)*r->at)) {
			r->at++;
		} else if (r->at[0] == '/' && r->at[1] == '/') {
			while (*r->at && *r->at != '\n')
				r->at++;
		} else if (r->at[0] == '/' && r->at[1] == '*') {
			r->at += 2;
			while (*r->at && !(r->at[0] == '*' && r->at[1] == '/'))
				r->line += *r->at++ == '\n';
			if (*r->at)
				r->at += 2;
		} else {
			return;
		}
	}
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* The next token: a word (with its leading dot), a string, or one character. n is 0 at the end. */
static void next(struct reader *r)
{
	const char *at;

	skip_blanks(r);
	at = r->at;
	if (*at == '"') {
		at++;
		while (*at && *at != '"' && *at != '\n')
			at++;
		at += *at == '"';
	} else if (*at == '.' || is_word(*at)) {
		at++;
		/* Dots inside: numbers as 8.0; .u64.x does not occur where declarations stand. */
		while (is_word(*at) || (*at == '.' && isdigit((unsigned char)*r->at)))
			at++;
	} else if (*at) {
		at++;
	}
	r->token = r->at;
	r->n = (size_t)(at - r->at);
	r->at = at;
}

static bool is(const struct reader *r, const char *text)
{
	return strlen(text) == r->n && !memcmp(r->token, text, r->n);
}

static int expect(struct reader *r, const char *text)
{
	if (!is(r, text))
		return fail(r, "expected '%s', found '%.*s'", text, (int)(r->n < 40 ? r->n : 40),
			    r->token);
	next(r);
	return 0;
}

/* Past a bracketed stretch whose opening token is current. */
static int skip_group(struct reader *r, const char *open, const char *close)
{
	unsigned depth = 0;

	do {
		if (is(r, open))
			depth++;
		else if (is(r, close))
			depth--;
		else if (!r->n)
			return fail(r, "'%s' missing", close);
		next(r);
	} while (depth);
	return 0;
}

static int skip_statement(struct reader *r)
{
	while (!is(r, ";")) {
		if (!r->n)
			return fail(r, "';' missing");
		next(r);
	}
	next(r);
	return 0;
}

static int number(struct reader *r, uint64_t *ret)
{
	char digits[32], *end;

	if (!r->n || r->n >= sizeof(digits) || !isdigit((unsigned char)r->token[0]))
		return fail(r, "expected a number, found '%.*s'", (int)(r->n < 40 ? r->n : 40),
			    r->token);
	memcpy(digits, r->token, r->n);
	digits[r->n] = 0;
	errno = 0;
	*ret = strtoull(digits, &end, 0);
	if (errno || (*end && strcmp(end, "U")))
		return fail(r, "'%s' is not a number", digits);
	next(r);
	return 0;
}

static char *copy_word(const struct reader *r)
{
	return strndup(r->token, r->n);
}

/* Bytes of a fundamental type, 0 for what is none. */
static uint32_t type_bytes(const struct reader *r)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} types[] = {
		{".b8", 1},  {".u8", 1},  {".s8", 1},	 {".b16", 2},  {".u16", 2},
		{".s16", 2}, {".f16", 2}, {".bf16", 2},	 {".b32", 4},  {".u32", 4},
		{".s32", 4}, {".f32", 4}, {".f16x2", 4}, {".b64", 8},  {".u64", 8},
		{".s64", 8}, {".f64", 8}, {".b128", 16}, {".e4m3", 1}, {".e5m2", 1},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (is(r, types[i].name))
			return types[i].bytes;
	return 0;
}

/* A declared object: [.align N] [attributes] .type name [dimensions]. */
struct object {
	char *name;
	uint64_t bytes;
	uint32_t element, align;
	bool managed;
	bool open;   /* its first dimension is left to the initialiser */
	bool opaque; /* a texture, surface or sampler reference */
};

static int read_object(struct reader *r, struct object *ret)
{
	struct object o = {0};
	uint64_t n;
	int e;

	for (;;) {
		if (is(r, ".align")) {
			next(r);
			e = number(r, &n);
			if (e)
				return e;
			if (!n || n > 4096 || (n & (n - 1)))
				return fail(r, "alignment %llu", (unsigned long long)n);
			o.align = (uint32_t)n;
		} else if (is(r, ".attribute")) {
			next(r);
			for (const char *at = r->at; *at && *at != ')'; at++)
				if (!strncmp(at, ".managed", 8))
					o.managed = true;
			e = skip_group(r, "(", ")");
			if (e)
				return e;
		} else if (is(r, ".ptr") || is(r, ".global") || is(r, ".const") ||
			   is(r, ".shared") || is(r, ".local")) {
			/* A parameter's pointer attributes: .ptr .global .align 16. Its own size is the type's. */
			bool pointer_align;

			next(r);
			pointer_align = is(r, ".align");
			if (pointer_align) {
				next(r);
				e = number(r, &n);
				if (e)
					return e;
			}
		} else if (is(r, ".v2") || is(r, ".v4")) {
			n = (uint64_t)(r->token[2] - '0');
			next(r);
			o.element = type_bytes(r);
			if (!o.element)
				return fail(r, "a vector of what is no type");
			o.element *= (uint32_t)n;
			next(r);
		} else if (type_bytes(r)) {
			o.element = type_bytes(r);
			next(r);
		} else if (is(r, ".texref") || is(r, ".surfref") || is(r, ".samplerref")) {
			o.opaque = true;
			o.element = 8;
			next(r);
		} else {
			break;
		}
	}
	if (!o.element)
		return fail(r, "a declaration without a type, at '%.*s'",
			    (int)(r->n < 40 ? r->n : 40), r->token);
	if (!r->n || !is_word(r->token[0]))
		return fail(r, "a declaration without a name");
	o.name = copy_word(r);
	if (!o.name)
		return -ENOMEM;
	next(r);
	o.bytes = o.element;
	if (!o.align)
		o.align = o.element;
	while (is(r, "[")) {
		next(r);
		if (is(r, "]")) {
			o.open = true;
			n = 1;
		} else {
			e = number(r, &n);
			if (e) {
				free(o.name);
				return e;
			}
		}
		if (__builtin_mul_overflow(o.bytes, n, &o.bytes) || o.bytes > OBJECT_MAX) {
			free(o.name);
			return fail(r, "an object of that size");
		}
		e = expect(r, "]");
		if (e) {
			free(o.name);
			return e;
		}
	}
	*ret = o;
	return 0;
}

/* One number of an initialiser as its bits; 1 for what is none. */
static int read_value(struct reader *r, uint32_t element, uint64_t *ret)
{
	bool negative = false;
	char text[64], *end;

	if (is(r, "-")) {
		negative = true;
		next(r);
	}
	if (!r->n || r->n >= sizeof(text) ||
	    !(isdigit((unsigned char)r->token[0]) || *r->token == '.'))
		return 1;
	memcpy(text, r->token, r->n);
	text[r->n] = 0;
	/* A mask such as 0xFF(symbol) is an address in pieces. */
	if (*r->at == '(')
		return 1;
	if (text[0] == '0' && strchr("fFdD", text[1]) && text[1] && r->n > 2) {
		*ret = strtoull(text + 2, &end, 16);
		if (negative)
			*ret ^= (tolower((unsigned char)text[1]) == 'f') ? 1ull << 31 : 1ull << 63;
	} else if (strchr(text, '.')) {
		double d = strtod(text, &end) * (negative ? -1 : 1);
		float f = (float)d;

		*ret = 0;
		if (element == 8)
			memcpy(ret, &d, 8);
		else
			memcpy(ret, &f, 4);
	} else {
		*ret = strtoull(text, &end, 0);
		if (negative)
			*ret = -*ret;
	}
	if (*end && strcmp(end, "U"))
		return 1;
	next(r);
	return 0;
}

/* = value, or = { values, nested or not }. Leaves variable->addresses where a symbol stands. */
static int read_initialiser(struct reader *r, struct ts_vgpu_variable *v, uint32_t element,
			    bool open)
{
	uint64_t capacity = v->bytes, at = 0;
	unsigned depth = 0;

	next(r); /* the '=' */
	v->initialised = true;
	if (!open) {
		v->value = calloc(1, capacity);
		if (!v->value)
			return -ENOMEM;
	} else {
		capacity = 0;
	}
	do {
		uint64_t value;

		if (is(r, "{")) {
			depth++;
			next(r);
			continue;
		}
		if (is(r, "}")) {
			if (!depth)
				return fail(r, "'}' without '{'");
			depth--;
			next(r);
			continue;
		}
		if (is(r, ",")) {
			next(r);
			continue;
		}
		if (!r->n || is(r, ";"))
			return fail(r, "an initialiser that does not end");
		if (read_value(r, element, &value)) {
			v->addresses = true;
			while (r->n && !is(r, ";"))
				next(r);
			return 0;
		}
		if (open && at + element > capacity) {
			uint8_t *grown;

			capacity = capacity ? 2 * capacity : 64 * (uint64_t)element;
			grown = capacity > OBJECT_MAX ? NULL : realloc(v->value, capacity);
			if (!grown)
				return -ENOMEM;
			v->value = grown;
		}
		if (at + element > capacity)
			return fail(r, "more values than '%s' has room for", v->name);
		memcpy(v->value + at, &value, element < 8 ? element : 8);
		at += element;
	} while (depth);
	if (open)
		v->bytes = at;
	return 0;
}

static int read_variable(struct reader *r, bool constant, bool external)
{
	struct ts_vgpu_module *m = r->module;
	struct ts_vgpu_variable v = {0}, *grown;
	struct object o;
	int e;

	next(r);
	/* A constant bank, .const[2], is history. */
	if (is(r, "[")) {
		e = skip_group(r, "[", "]");
		if (e)
			return e;
	}
	e = read_object(r, &o);
	if (e)
		return e;
	v.name = o.name;
	v.bytes = o.bytes;
	v.align = o.align;
	v.constant = constant;
	v.managed = o.managed;
	v.external = external;
	e = is(r, "=") ? read_initialiser(r, &v, o.element, o.open) : 0;
	if (!e && o.opaque)
		e = fail(r, "'%s': texture, surface and sampler references are not supported",
			 o.name);
	if (!e)
		e = expect(r, ";");
	if (!e && (grown = realloc(m->variables, (m->n_variables + 1) * sizeof(*grown)))) {
		m->variables = grown;
		grown[m->n_variables++] = v;
		return 0;
	}
	free(v.name);
	free(v.value);
	return e ? e : -ENOMEM;
}

static int read_params(struct reader *r, struct ts_vgpu_kernel *k)
{
	int e = expect(r, "(");

	if (e)
		return e;
	while (!is(r, ")")) {
		struct ts_vgpu_param *grown;
		struct object o;
		uint64_t off;

		e = expect(r, ".param");
		if (!e)
			e = read_object(r, &o);
		if (e)
			return e;
		free(o.name);
		off = ((uint64_t)k->params_bytes + o.align - 1) / o.align * o.align;
		if (off + o.bytes > 65536)
			return fail(r, "parameters of more than 64 KiB");
		grown = realloc(k->params, (k->n_params + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		k->params = grown;
		grown[k->n_params++] = (struct ts_vgpu_param){.offset = (uint32_t)off,
							      .bytes = (uint32_t)o.bytes,
							      .align = o.align};
		k->params_bytes = (uint32_t)(off + o.bytes);
		if (is(r, ","))
			next(r);
		else if (!is(r, ")"))
			return fail(r, "expected ',' or ')' among parameters");
	}
	next(r);
	return 0;
}

/* .maxntid 256, 1, 1 and its like, multiplied out. */
static int read_product(struct reader *r, uint32_t *ret)
{
	uint64_t product = 1, n;
	int e;

	do {
		next(r);
		e = number(r, &n);
		if (e)
			return e;
		product = n && product < UINT32_MAX / n ? product * n : UINT32_MAX;
	} while (is(r, ","));
	*ret = (uint32_t)product;
	return 0;
}

/* Adds an object to a stretch of memory laid out in order of declaration. */
static int read_placed(struct reader *r, uint32_t *total)
{
	struct object o;
	uint64_t off;
	int e;

	next(r);
	e = read_object(r, &o);
	if (e)
		return e;
	free(o.name);
	off = ((uint64_t)*total + o.align - 1) / o.align * o.align;
	if (!o.open && off + o.bytes <= UINT32_MAX)
		*total = (uint32_t)(off + o.bytes);
	return skip_statement(r);
}

static int read_body(struct reader *r, struct ts_vgpu_kernel *k)
{
	unsigned depth = 0;
	bool first =
		true; /* of a statement: .shared there declares, within ld.shared it does not */
	int e;

	do {
		if (!r->n)
			return fail(r, "'%s' has no end", k ? k->name : "a function");
		if (k && first && is(r, ".shared")) {
			e = read_placed(r, &k->static_shared_bytes);
			if (e)
				return e;
			continue;
		}
		if (k && first && is(r, ".local")) {
			e = read_placed(r, &k->local_bytes);
			if (e)
				return e;
			continue;
		}
		if (is(r, "{"))
			depth++;
		if (is(r, "}"))
			depth--;
		first = is(r, "{") || is(r, "}") || is(r, ";");
		if (depth)
			next(r);
	} while (depth);
	next(r);
	return 0;
}

static int read_entry(struct reader *r)
{
	struct ts_vgpu_module *m = r->module;
	struct ts_vgpu_kernel k = {.line = r->line}, *grown;
	int e = 0;

	next(r);
	if (!r->n || !is_word(r->token[0]))
		return fail(r, "a kernel without a name");
	k.name = copy_word(r);
	if (!k.name)
		return -ENOMEM;
	next(r);
	if (is(r, "("))
		e = read_params(r, &k);
	while (!e && !is(r, "{") && !is(r, ";")) {
		if (!r->n)
			e = fail(r, "'%s' has no body", k.name);
		else if (is(r, ".maxntid") || is(r, ".reqntid"))
			e = read_product(r, &k.max_threads);
		else if (is(r, ".maxnreg"))
			e = read_product(r, &k.max_regs);
		else
			next(r);
	}
	if (!e)
		e = is(r, "{") ? read_body(r, &k) : (next(r), 0);
	if (!e && (grown = realloc(m->kernels, (m->n_kernels + 1) * sizeof(*grown)))) {
		m->kernels = grown;
		grown[m->n_kernels++] = k;
		return 0;
	}
	free(k.name);
	free(k.params);
	return e ? e : -ENOMEM;
}

/* A device function: only its extent matters. */
static int read_function(struct reader *r)
{
	while (!is(r, "{") && !is(r, ";")) {
		if (!r->n)
			return fail(r, "a function without an end");
		next(r);
	}
	if (is(r, "{"))
		return read_body(r, NULL);
	next(r);
	return 0;
}

static int read_top(struct reader *r)
{
	bool external = false;

	while (is(r, ".visible") || is(r, ".extern") || is(r, ".weak") || is(r, ".common")) {
		external |= is(r, ".extern");
		next(r);
	}
	if (is(r, ".entry"))
		return read_entry(r);
	if (is(r, ".func"))
		return read_function(r);
	if (is(r, ".global"))
		return read_variable(r, false, external);
	if (is(r, ".const"))
		return read_variable(r, true, external);
	if (is(r, ".shared") || is(r, ".local") || is(r, ".alias") || is(r, ".pragma") ||
	    is(r, ".callprototype"))
		return skip_statement(r);
	if (is(r, ".section")) {
		while (r->n && !is(r, "{"))
			next(r);
		return skip_group(r, "{", "}");
	}
	if (is(r, ".version") || is(r, ".target") || is(r, ".address_size") || is(r, ".file") ||
	    is(r, ".loc")) {
		/* They end with their line. */
		while (*r->at && *r->at != '\n')
			r->at++;
		next(r);
		return 0;
	}
	return fail(r, "'%.*s' is nothing a module holds", (int)(r->n < 40 ? r->n : 40), r->token);
}

int ts_vgpu_ptx_read(struct ts_vgpu_module *module, const char *text, char *message,
		     size_t message_bytes)
{
	struct reader r = {
		.module = module,
		.at = text,
		.line = 1,
		.message = message,
		.message_bytes = message_bytes,
	};
	int e;

	next(&r);
	if (!is(&r, ".version"))
		return fail(&r, "PTX begins with .version");
	while (r.n) {
		e = read_top(&r);
		if (e)
			return e;
	}
	return 0;
}
