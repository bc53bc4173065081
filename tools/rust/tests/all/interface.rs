// SPDX-License-Identifier: Apache-2.0
//! The structs of this crate are those of C.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use tracesmith::rows::RowType;

use crate::Path;

/// The rows' fields lie where the columns are, without padding. Trace::open() compares the columns with the library's.
#[test]
fn rows_have_their_columns() {
    for row_type in RowType::EVENTS.iter().chain(RowType::DEFINITIONS) {
        let (fields, n_bytes) = row_type.layout();
        assert_eq!(fields.iter().map(|(_, _, width)| width).sum::<usize>(), n_bytes, "{}", row_type.name());
        for column in row_type.columns() {
            let is_field = |(name, offset, width): &(&str, usize, usize)| {
                name.trim_end_matches('_') == column.name()
                    && (*offset, *width) == (column.offset.into(), column.width.into())
            };
            assert!(fields.iter().any(is_field), "{}.{}", row_type.name(), column.name());
        }
        assert_eq!(RowType::from_number(*row_type as u32), Some(*row_type));
    }
    assert_eq!(RowType::from_number(63), None);
}

/// A C program prints the layouts of the headers' structs.
#[test]
fn structs_are_those_of_the_headers() {
    // $TRACESMITH_CFLAGS finds the headers in a build tree.
    let flags = match std::env::var("TRACESMITH_CFLAGS") {
        Ok(flags) => flags,
        Err(_) => return eprintln!("skipped: TRACESMITH_CFLAGS is not set"),
    };
    let layouts = tracesmith::interface();
    let mut program = String::from(
        "#include <stdio.h>\n#include <tracesmith.h>\n#include <inject/include/tracesmith/annotate.h>\nint main(void)\n{\n",
    );
    let mut expected = String::new();
    for (name, n_bytes, fields) in &layouts {
        writeln!(program, "printf(\"{name} %zu\\n\", sizeof(struct {name}));").unwrap();
        writeln!(expected, "{name} {n_bytes}").unwrap();
        for (field, offset, width) in fields {
            let c_field = field.trim_end_matches('_');
            writeln!(
                program,
                "printf(\"{c_field} %zu %zu\\n\", __builtin_offsetof(struct {name}, {c_field}), sizeof(((struct {name} *)0)->{c_field}));"
            )
            .unwrap();
            writeln!(expected, "{c_field} {offset} {width}").unwrap();
        }
    }
    // Lists of definitions: the row lies behind the session's number, at its alignment.
    for (item, row) in [("thread", "thread"), ("device", "device"), ("module", "module"), ("name", "name")] {
        writeln!(
            program,
            "printf(\"{item} %d\\n\", __builtin_offsetof(struct ts_sbt_{item}, row) == \
             (_Alignof(struct ts_row_{row}) > 4 ? _Alignof(struct ts_row_{row}) : 4));"
        )
        .unwrap();
        writeln!(expected, "{item} 1").unwrap();
    }
    writeln!(program, "printf(\"%d %d %d %d %d %d\\n\", TS_EXPORT_N_WEIGHTS, TS_ROW_COUNT, TS_LOSS_COUNT, TS_QUERY_WHY_BYTES, TS_ASK_WHY_BYTES, TS_ROW_MAX_BYTES);\nreturn 0;\n}}").unwrap();
    writeln!(expected, "6 64 32 400 400 192").unwrap();

    let (source, binary) = (Path::new("layouts.c"), Path::new("layouts"));
    std::fs::write(&source.0, program).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let mut words = compiler.split_whitespace().map(PathBuf::from);
    let built = Command::new(words.next().unwrap())
        .args(words)
        .args(flags.split_whitespace())
        .arg(&source.0)
        .arg("-o")
        .arg(&binary.0)
        .output()
        .expect("a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let printed = Command::new(&binary.0).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&printed.stdout), expected);
}
