// SPDX-License-Identifier: Apache-2.0
//! Finds libtracesmith: in `TRACESMITH_LIB_DIR`, else by pkg-config, else in the linker's own folders.

use std::env;
use std::process::Command;

/// Returns the words that pkg-config prints, or none without pkg-config or without the package.
fn pkg_config() -> Vec<String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_string());
    match Command::new(program).args(["--libs", "tracesmith"]).output() {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_string).collect()
        }
        _ => Vec::new(),
    }
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["TRACESMITH_LIB_DIR", "PKG_CONFIG", "PKG_CONFIG_PATH", "DOCS_RS"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    // docs.rs has no libtracesmith, and links nothing.
    if env::var_os("CARGO_FEATURE_LIBRARY").is_none() || env::var_os("DOCS_RS").is_some() {
        return;
    }
    match env::var("TRACESMITH_LIB_DIR") {
        Ok(folder) => println!("cargo:rustc-link-search=native={folder}"),
        Err(_) => {
            for word in pkg_config() {
                if let Some(folder) = word.strip_prefix("-L") {
                    println!("cargo:rustc-link-search=native={folder}");
                }
            }
        }
    }
    println!("cargo:rustc-link-lib=dylib=tracesmith");
}
