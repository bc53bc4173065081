#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a constant or a field declared in proto/abi/vendor has no line in the tests beside this file.

usage: check-coverage.py HEADER_FOLDER TEST_FOLDER

A constant counts as tested where SAME or SAME_AS names it, a table of constants where a test expands
it, a structure where SAME_SIZE names it and a field where SAME_FIELDS names it for that structure. A fact of
hip-facts.txt counts as well.
"""
import pathlib
import re
import sys

# What has no counterpart at the vendor's, and why.
EXEMPT = {
    "TS_CUPTI_RECORD_LAYOUTS": "expanded by record_bytes in test-activity.c, against sizeof",
    "TS_CUPTI_N_CLASSES": "our own",
    "TS_HIP_VERSION": "the version that hip.h describes, no header's",
    "TS_HIP_SONAME": "names the library, no header has it",
    "TS_HIP_TABLE_NAME": "AMD's header has no name for it",
    "TS_HIP_COMPILER_TABLE_NAME": "AMD's header has no name for it",
    "TS_HIP_ACTIVITY_COMMIT": "an argument of the runtime's callback; AMD's headers have no name for it",
    "TS_HIP_BUNDLE_MAGIC": "no number; AMD's header has no name for it",
    "TS_HIP_BUNDLE_COMPRESSED_MAGIC": "no number; AMD's header has no name for it",
    "TS_ROCPROFILER_FUNCTIONS": "no number; integration-hip-sdk calls each of them",
}
# Facts about libraries without public headers; test/unit/inject/cuda compares them with what their sources state.
EXEMPT_FILES = ("cupti_family.h",)
# Structures of which the header declares the first words.
BEGUN = ("struct ts_rocprofiler_kernel_symbol",)
EXEMPT_PREFIXES = ("TS_CUPTI_CLASS_", "TS_CUPTI_API_VERSION_CUDA_")


def strip_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def declared(text):
    """Yields ('table' | 'constant', name) and ('field', tag, name)."""
    text = strip_comments(text).replace("\\\n", " ")
    for match in re.finditer(r"^#define (TS_\w+)(\()?", text, re.M):
        name, is_macro = match.groups()
        if not is_macro:
            yield "constant", name
        elif not name.endswith("_"):  # a trailing underscore marks a helper of the next few lines
            yield "table", name
    plain = re.sub(r"^#.*$", "", text, flags=re.M)
    plain = re.sub(r"\s*__attribute__\(\(.*?\)\)(?=;)", "", plain)
    for match in re.finditer(r"\benum \w+ \{(.*?)\}", plain, re.S):
        # A table expanded into an enum is a call; what remains are names.
        body = re.sub(r"\b\w+\(\w+\)", "", match.group(1))
        for name in re.findall(r"\b(TS_\w+)\b", body):
            yield "constant", name
    for match in re.finditer(r"^(struct|union) (ts_\w+) \{(.*?)^\};", plain, re.S | re.M):
        for name in fields(match.group(3)):
            yield "field", match.group(1) + " " + match.group(2), name


def fields(body, prefix=""):
    """Field names, those of nested structures and unions as outer.inner."""
    while True:
        match = re.search(r"\b(?:struct|union) \{([^{}]*)\} (\w+);", body)
        if not match:
            break
        # Innermost first: fold it into names with dots that the outer level carries on.
        inner = " ".join(f"x {match.group(2)}.{name};" for name in fields(match.group(1)))
        body = body[: match.start()] + inner + body[match.end():]
    body = re.sub(r"\b(?:struct|union) \{([^{}]*)\};", r"\1", body)
    names = []
    for declaration in body.split(";"):
        declaration = re.sub(r"\[\w*\]", "", re.sub(r"\(\*(\w+)\)\(.*\)$", r"\1", declaration, flags=re.S)).strip()
        if declaration:
            names.append(re.split(r"[\s*]+", declaration)[-1])
    return names


def main():
    headers, tests = (pathlib.Path(arg) for arg in sys.argv[1:3])
    text = "\n".join(strip_comments(path.read_text()) for path in sorted(tests.glob("test-*.c")))
    text = text.replace("\\\n", " ")
    same = set(re.findall(r"\bSAME\((TS_\w+),", text))
    same |= {"TS_" + name for name in re.findall(r"\bSAME_AS\((\w+)\)", text)}
    expanded = set(re.findall(r"\b(TS_\w+)\(CHECK\)", text))
    sized = set(re.findall(r"\bSAME_SIZE\(((?:struct|union) \w+),", text))
    covered = {}
    for match in re.finditer(r"\bSAME_FIELDS\(((?:struct|union) \w+),(.*?)\);", text, re.S):
        args = [arg.strip() for arg in match.group(2).split(",")][1:]
        covered.setdefault(match.group(1), set()).update(args[0::2])

    facts = (tests / "hip-facts.txt").read_text()
    same |= set(re.findall(r"^value (TS_\w+) ", facts, re.M))
    sized |= {"struct " + name for name in re.findall(r"^size (ts_\w+) ", facts, re.M)}
    for structure, field in re.findall(r"^field (ts_\w+) ([\w.]+) ", facts, re.M):
        covered.setdefault("struct " + structure, set()).add(field)

    missing, n_checked = [], 0
    for path in sorted(headers.glob("*.h")):
        if path.name in EXEMPT_FILES:
            continue
        for what, *names in declared(path.read_text()):
            n_checked += 1
            if names[0] in EXEMPT or names[0].startswith(EXEMPT_PREFIXES):
                continue
            if what == "field":
                tag, name = names
                if tag not in sized and tag not in BEGUN:
                    missing.append(f"{path.name}: size of {tag}")
                known = covered.get(tag, set())
                if name not in known and not any(k.startswith(name + ".") for k in known):
                    missing.append(f"{path.name}: {tag}, field {name}")
            elif names[0] not in (expanded if what == "table" else same):
                missing.append(f"{path.name}: {what} {names[0]}")
    for line in sorted(set(missing)):
        print("no test compares", line, file=sys.stderr)
    if n_checked < 1000:
        print(f"found only {n_checked} declarations: the parser has lost its way", file=sys.stderr)
        return 1
    print(f"{n_checked} declarations, {len(set(missing))} without a test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
