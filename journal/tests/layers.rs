//! Checks the imports between the files of a crate: no circles, and none against the maps in `lib.rs`, or in the `main.rs`
//! of a program, and in each `mod.rs`.
//!
//! A map is the list of modules. Blank lines divide it into layers, the lowest first. The sources of `core/` and
//! `lapwing/` are checked here, because this test needs a parser and they have no such dependency, and so are those of
//! `stream/`, `shared/`, `metrics/` and `cli/`. Those of `aeron/` are checked here too, because its crates do not build on
//! each machine.
//!
//! An import is each path that leads to another file, also inside of a function. What a file exports leads to the
//! file that defines it. Tests do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ItemMod, ItemUse, Macro, Meta, MetaList, Token, UseTree, Visibility};

/// The folders with the sources of the crates. A package has only the first.
const CRATES: [&str; 9] = [
    "src",
    "../core/src",
    "../lapwing/src",
    "../stream/src",
    "../shared/src",
    "../metrics/src",
    "../cli/src",
    "../aeron/src",
    "../aeron/replica/src",
];

/// The names of a path, such as `crate`, `storage` and `Storage`. That of a module begins below `crate`.
type Names = Vec<String>;

/// One file.
#[derive(Default)]
struct Module {
    /// What its code names, as it is written there.
    named: Vec<Names>,
    /// What it exports that is defined elsewhere: each name, and the path there.
    exported: BTreeMap<String, Names>,
    /// The layers of its modules.
    layers: BTreeMap<String, usize>,
    /// Its modules that only tests have.
    tests: BTreeSet<String>,
    /// While it is read, how many modules without a file of their own contain the place.
    depth: usize,
}

type Modules = BTreeMap<Names, Module>;
type Imports = BTreeMap<Names, BTreeSet<Names>>;

#[test]
fn no_files_import_each_other_in_a_circle() {
    let mut circles = BTreeSet::new();
    for folder in crates() {
        let imports = imports(&modules(&folder));
        let found = imports.keys().filter_map(|file| circle(&imports, file));
        circles.extend(found.map(|circle| format!("{}: {circle}", folder.display())));
    }
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn a_module_imports_only_from_the_layers_below_its_own() {
    let mut wrong = BTreeSet::new();
    for folder in crates() {
        let modules = modules(&folder);
        for (from, imported) in imports(&modules) {
            for to in imported.iter().filter(|to| !is_below(&modules, to, &from)) {
                let (from, to) = (from.join("/"), to.join("/"));
                wrong.insert(format!("{}: {from} imports {to}", folder.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_circle_over_an_export_and_a_folder_is_found() {
    let sources = [
        ("", "pub use upper::Upper; mod lower; mod upper;"),
        ("lower", "use std::fmt; use crate::{upper::{self, part::Part}}; // crate::no"),
        (
            "upper",
            "pub use self::part::Part as Upper; mod part; #[cfg(test)] mod tests { use crate::lower; }",
        ),
        (
            "upper/part",
            "struct Part; fn f() { assert!(super::super::lower::f(), \"no\") } mod inner { use super::Part; }",
        ),
    ];
    let modules: Modules = sources.map(|(path, text)| (names(path), module(text))).into();
    let imports = imports(&modules);
    assert_eq!(texts(&imports[&names("lower")]), ["upper", "upper/part"]);
    assert_eq!(texts(&imports[&names("upper")]), [""; 0]);
    assert_eq!(circle(&imports, &names("upper")), None);
    let found = circle(&imports, &names("upper/part")).unwrap();
    assert_eq!(found, "lower -> upper/part -> lower");
    let other = resolve(&modules, &names("lower"), &["crate".into(), "Upper".into()]);
    assert_eq!(other, Some(names("upper/part")));
}

#[test]
fn blank_lines_divide_layers() {
    let layers = layers(
        "//! mod no;\nmod one; // first\npub mod two;\n\n\n#[cfg(unix)]\nmod three;\n\npub use x;\n",
    );
    assert_eq!(layers, [("one".into(), 0), ("two".into(), 0), ("three".into(), 2)].into());
}

/// Returns the folders that exist.
fn crates() -> impl Iterator<Item = PathBuf> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR"));
    CRATES.iter().map(|folder| base.join(folder)).filter(|folder| folder.is_dir())
}

/// Returns whether the map of the folder that has both says that `lower` is below `upper`. A file beside or above that
/// folder is in no map with it.
fn is_below(modules: &Modules, lower: &Names, upper: &Names) -> bool {
    let shared = lower.iter().zip(upper).take_while(|(one, other)| one == other).count();
    let (Some(low), Some(high)) = (lower.get(shared), upper.get(shared)) else { return true };
    let layers = &modules[&upper[..shared]].layers;
    layers[low] < layers[high]
}

/// Returns the layer of each module of a map.
fn layers(map: &str) -> BTreeMap<String, usize> {
    let mut layer = 0;
    let mut layers = BTreeMap::new();
    for line in map.lines() {
        let code = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) "));
        let code = code.unwrap_or(line);
        if let Some((name, _)) = code.strip_prefix("mod ").and_then(|rest| rest.split_once(';')) {
            layers.insert(name.to_owned(), layer);
        } else if line.is_empty() && !layers.is_empty() {
            layer += 1;
        }
    }
    layers
}

/// Reads the files of a crate, except tests, and the programs of a library.
fn modules(folder: &Path) -> Modules {
    let root = if folder.join("lib.rs").is_file() { "lib" } else { "main" };
    let mut modules = Modules::new();
    for file in files(folder) {
        let path = file.strip_prefix(folder).unwrap().with_extension("");
        let mut path: Names = path.iter().map(|name| name.to_str().unwrap().into()).collect();
        path.pop_if(|name| name == "mod" || name == root);
        if path.last().is_none_or(|name| name != "main" && name != "tests") {
            modules.insert(path, module(&fs::read_to_string(&file).unwrap()));
        }
    }
    assert!(modules.len() > 4, "{}", folder.display());
    let tests = modules.iter().flat_map(|(path, module)| {
        module.tests.iter().map(move |name| [&path[..], std::slice::from_ref(name)].concat())
    });
    let tests: Vec<Names> = tests.collect();
    modules.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
    modules
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn module(text: &str) -> Module {
    let mut module = Module { layers: layers(text), ..Module::default() };
    module.visit_file(&syn::parse_file(text).unwrap());
    module
}

impl Module {
    /// Adds a path that its code names. A module without a file of its own is part of this file.
    fn name(&mut self, mut path: Names) {
        let above = path.iter().take_while(|name| *name == "super").count().min(self.depth);
        if above > 0 {
            path.splice(..above, [String::from("self")]);
        }
        self.named.push(path);
    }
}

impl Visit<'_> for Module {
    fn visit_item_mod(&mut self, item: &ItemMod) {
        if item.attrs.iter().any(is_test) {
            self.tests.insert(item.ident.to_string());
            return;
        }
        self.depth += 1;
        visit::visit_item_mod(self, item);
        self.depth -= 1;
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        let mut leaves = Vec::new();
        flatten(&item.tree, &mut Names::new(), &mut leaves);
        match item.vis {
            Visibility::Inherited => leaves.into_iter().for_each(|(_, path)| self.name(path)),
            _ => self.exported.extend(leaves),
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        // A single name is a variable, something imported, or a visibility.
        if path.segments.len() > 1 {
            let names = path.segments.iter().map(|segment| segment.ident.to_string());
            self.name(names.collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &Macro) {
        // Those of the standard library, which have expressions as their arguments.
        let arguments = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        arguments.iter().flatten().for_each(|argument| self.visit_expr(argument));
    }
}

/// Returns whether an attribute is a `cfg` that only tests satisfy.
fn is_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.parse_args().is_ok_and(|of: Meta| needs_test(&of))
}

fn needs_test(condition: &Meta) -> bool {
    let all =
        |list: &MetaList| list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    match condition {
        Meta::List(list) if list.path.is_ident("all") => all(list).iter().flatten().any(needs_test),
        _ => condition.path().is_ident("test"),
    }
}

/// Adds the names that an import brings, each with its path.
fn flatten(tree: &UseTree, path: &mut Names, leaves: &mut Vec<(String, Names)>) {
    let mut leaf = |name: String, renamed: String| {
        let is_self = name == "self";
        let path = path.iter().cloned().chain((!is_self).then_some(name));
        leaves.push((renamed, path.collect()));
    };
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            flatten(&part.tree, path, leaves);
            path.pop();
        }
        UseTree::Name(name) => leaf(name.ident.to_string(), name.ident.to_string()),
        UseTree::Rename(name) => leaf(name.ident.to_string(), name.rename.to_string()),
        UseTree::Glob(_) => leaf("self".into(), "*".into()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, path, leaves)),
    }
}

/// Returns the file that defines what a path means in `module`, if it is one of the crate.
fn resolve(modules: &Modules, module: &[String], path: &[String]) -> Option<Names> {
    let mut found = module.to_vec();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => found.clear(),
        "self" => {}
        "super" => drop(found.pop()?),
        name => {
            found.push(name.into());
            modules.contains_key(&found).then_some(())?;
        }
    }
    rest = &rest[1..];
    while let Some((name, after)) = rest.split_first() {
        let child = [&found[..], std::slice::from_ref(name)].concat();
        match modules[&found].exported.get(name) {
            _ if name == "super" => drop(found.pop()?),
            _ if modules.contains_key(&child) => found = child,
            Some(elsewhere) => {
                let whole = [elsewhere, after].concat();
                return resolve(modules, &found, &whole);
            }
            None => break,
        }
        rest = after;
    }
    Some(found)
}

/// Returns for each file the files that define what it uses.
fn imports(modules: &Modules) -> Imports {
    let imported = |(name, module): (&Names, &Module)| {
        let found = |path: &Names| resolve(modules, name, path);
        // A folder does not use what it exports from its own files.
        let exported = module.exported.values().filter_map(found);
        let exported = exported.filter(|other| !other.starts_with(name));
        let named = module.named.iter().filter_map(found).filter(|other| other != name);
        (name.clone(), named.chain(exported).collect())
    };
    modules.iter().map(imported).collect()
}

/// Returns the shortest circle of imports through `file`. It begins and ends with its first name.
fn circle(imports: &Imports, file: &Names) -> Option<String> {
    let mut ways = vec![vec![file.clone()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let steps = ways.iter().flat_map(|way| {
            imports[way.last().unwrap()]
                .iter()
                .map(move |next| [&way[..], std::slice::from_ref(next)].concat())
        });
        let steps: Vec<_> = steps.collect();
        if let Some(way) = steps.iter().find(|way| way.last() == Some(file)) {
            let mut circle = texts(&way[1..]);
            let first = (0..circle.len()).min_by_key(|&at| &circle[at]).unwrap_or(0);
            circle.rotate_left(first);
            circle.push(circle[0].clone());
            return Some(circle.join(" -> "));
        }
        ways = steps.into_iter().filter(|way| seen.insert(way.last().cloned())).collect();
    }
    None
}

fn names(path: &str) -> Names {
    path.split('/').filter(|name| !name.is_empty()).map(String::from).collect()
}

fn texts<'a>(paths: impl IntoIterator<Item = &'a Names>) -> Vec<String> {
    paths.into_iter().map(|path| path.join("/")).collect()
}
