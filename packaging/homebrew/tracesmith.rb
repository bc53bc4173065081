# SPDX-License-Identifier: Apache-2.0
# Homebrew's formula of the readers: libtracesmith, and tsctl without `record`. packaging/homebrew/formula.sh inserts the address and the
# checksum of a release; the ones here are of no release.
class Tracesmith < Formula
  desc "Reads, analyzes, exports and replays traces of GPU work"
  url "https://example.invalid/tracesmith-0.1.0.tar.xz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "esbuild" => :build
  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "json-c"
  depends_on "libmicrohttpd"
  # The readers use functions of Linux: packaging/homebrew/README.md lists them.
  depends_on :linux
  # Its protoc-c is needed to build, its library to run.
  depends_on "protobuf-c"
  depends_on "zstd"

  uses_from_macos "python" => :build
  uses_from_macos "zlib"

  # The modules of Studio's page: the versions of tools/studio/page/package-lock.json.
  resource "d3-hierarchy" do
    url "https://registry.npmjs.org/d3-hierarchy/-/d3-hierarchy-3.1.3.tgz"
    sha256 "d0c3dbb2d2fc5273e03289343b3985fadef07b3968ce53d59c957d3949f9d22a"
  end

  resource "d3-path" do
    url "https://registry.npmjs.org/d3-path/-/d3-path-3.1.1.tgz"
    sha256 "024de6799bd2b8005f7ce4e3f32eec9cd019d7fc2489776c57b863d07cdb8fb1"
  end

  resource "d3-shape" do
    url "https://registry.npmjs.org/d3-shape/-/d3-shape-3.2.0.tgz"
    sha256 "8b4b2bc9daa99a957abe17656c5944fd3f28efb88f788e6b4fdba346cb80e602"
  end

  def install
    resources.each { |r| r.stage(buildpath/"tools/studio/page/node_modules"/r.name) }
    system "meson", "setup", "build", "-Drecorder=disabled", "-Dstudio=enabled", "-Dtests=false", *std_meson_args
    system "meson", "compile", "-C", "build", "--verbose"
    system "meson", "install", "-C", "build"
  end

  test do
    system ENV.cc, doc/"examples/write.c", "-o", "write", *shell_output("pkg-config --cflags --libs tracesmith").split
    system "./write", "written.sbt"
    assert_match "Nothing was lost", shell_output("#{bin}/tsctl info written.sbt")
    assert_path_exists libexec/"tracesmith/tracesmith-studio"
    assert_match "readers only", shell_output("#{bin}/tsctl record -- true 2>&1", 125)
  end
end
