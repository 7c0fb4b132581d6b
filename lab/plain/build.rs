//! Sets the cfg that compiles the library without its tuning.

fn main() {
    println!("cargo::rustc-cfg=lapwing_plain");
    println!("cargo::rerun-if-changed=build.rs");
}
