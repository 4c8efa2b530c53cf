//! What is judged: the documents of all files, one after the other, each with the file it is from.
//!
//! Some of the text of one file is in memory at a time, and of that one document, as a tree.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use portcullis_core::Kind;
use portcullis_document::{Fault, Source, yaml};
use portcullis_gate::offline::{self, Item, Manifest};

use super::Eval;
use crate::commands::text::progress::Total;

/// Something to judge, or why it can't be.
#[derive(Debug)]
pub(super) enum Input {
    /// A document of a file.
    Document(Arc<str>, Item),
    /// A file that can't be read at all.
    File(Arc<str>, Box<Fault>),
}

/// Takes inputs one after the other; says when it wants no more.
pub(super) type TakeInput<'a> = dyn FnMut(Input) -> ControlFlow<()> + Send + 'a;

/// Reads everything there is to judge, in order. What can't be read is handed over as such. Files of folders that are
/// something other than manifests are counted in `passed_over`.
pub(super) fn read(
    eval: &Eval,
    total: &Total,
    passed_over: &AtomicUsize,
    take: &mut TakeInput<'_>,
) -> ControlFlow<()> {
    let places = places(eval.inputs(), passed_over);
    let files = places.len();
    let mut numbered = places.into_iter().enumerate();
    on_one_thread(take, &mut |take| {
        numbered.try_for_each(|(number, place)| {
            total.set_share(number, files);
            read_place(place, namespace(eval), passed_over, take)
        })
    })
}

/// Reads on one thread with the stack that parsers need, instead of on one for each file.
fn on_one_thread(
    take: &mut TakeInput<'_>,
    read: &mut (dyn FnMut(&mut TakeInput<'_>) -> ControlFlow<()> + Send),
) -> ControlFlow<()> {
    let ended = yaml::with_stack(|| read(take));
    ended.unwrap_or_else(|why| {
        let fault = Source::named("input").fault(None, "", why);
        take(Input::File("input".into(), Box::new(fault)))
    })
}

/// The namespace of objects that name none.
fn namespace(eval: &Eval) -> &str {
    eval.request.namespace.as_deref().unwrap_or("default")
}

/// A file to read, or why its folder can't be searched.
type Place = Result<FileToRead, (Arc<str>, Box<Fault>)>;

/// A file to read.
struct FileToRead {
    path: PathBuf,
    /// It was found in a folder, where there may be other things than manifests.
    is_found: bool,
}

/// All files at these paths; folders are searched at once, so that it is known how many there are.
fn places<'a>(paths: impl Iterator<Item = &'a PathBuf>, passed_over: &AtomicUsize) -> Vec<Place> {
    let mut places = Vec::new();
    for path in paths {
        let is_found = path.is_dir();
        let place = |path| Ok(FileToRead { path, is_found });
        match path == Path::new("-") {
            true => places.push(place(path.clone())),
            false => match offline::find(path) {
                Ok(found) => {
                    passed_over.fetch_add(found.passed_over, Ordering::Relaxed);
                    places.extend(found.files.into_iter().map(place));
                }
                Err(fault) => places.push(Err((shown(path), fault))),
            },
        }
    }
    places
}

/// Reads the documents of a file or of standard input.
fn read_place(
    place: Place,
    namespace: &str,
    passed_over: &AtomicUsize,
    take: &mut TakeInput<'_>,
) -> ControlFlow<()> {
    let FileToRead { path, is_found } = match place {
        Ok(place) => place,
        Err((folder, fault)) => return take(Input::File(folder, fault)),
    };
    let file = shown(&path);
    let named = Arc::clone(&file);
    let mut is_counted = false;
    let mut each = |item: Item| {
        if item.is_other && is_found {
            // A file counts once, whatever it holds.
            passed_over.fetch_add(usize::from(!is_counted), Ordering::Relaxed);
            is_counted = true;
            return ControlFlow::Continue(());
        }
        take(Input::Document(Arc::clone(&named), item))
    };
    let read = match path == Path::new("-") {
        true => offline::each_document(&file, std::io::stdin().lock(), namespace, &mut each),
        false => offline::open(&path)
            .and_then(|opened| offline::each_document(&file, opened, namespace, &mut each)),
    };
    read.unwrap_or_else(|fault| take(Input::File(file, fault)))
}

fn shown(path: &Path) -> Arc<str> {
    path.display().to_string().into()
}

/// The objects before an update, found by what identifies them.
#[derive(Debug, Default)]
pub(super) struct Olds {
    all: Vec<Manifest>,
    places: HashMap<Identity, usize>,
}

/// Group, kind, namespace and name.
type Identity = (String, String, String, String);

impl Olds {
    /// Reads them; none if the command line names none. All of them are kept: any may be asked for.
    ///
    /// # Errors
    ///
    /// When one can't be read: nothing could be judged then.
    pub(super) fn read(eval: &Eval) -> Result<Self, Box<Fault>> {
        let mut olds = Self::default();
        let mut wrong = None;
        let mut take = |input| {
            let read = match input {
                Input::Document(_, item) => item.into_manifest(),
                Input::File(_, fault) => Err(fault),
            };
            match read {
                Ok(old) => olds.add(old),
                Err(fault) => {
                    wrong = Some(Box::new(fault.with_help("named by --old")));
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        };
        let passed_over = AtomicUsize::default();
        let mut places = places(eval.request.old.iter(), &passed_over).into_iter();
        // What ended it is in `wrong`.
        let _ = on_one_thread(&mut take, &mut |take| {
            places.try_for_each(|place| read_place(place, namespace(eval), &passed_over, take))
        });
        match wrong {
            Some(fault) => Err(fault),
            None => Ok(olds),
        }
    }

    fn add(&mut self, old: Manifest) {
        let identity = identity(&old.kind, &old.namespace, &old.name);
        self.places.entry(identity).or_insert(self.all.len());
        self.all.push(old);
    }

    /// The object as it was before; the first one, where there are several.
    pub(super) fn of(&self, new: &Manifest) -> Option<&Manifest> {
        let identity = identity(&new.kind, &new.namespace, &new.name);
        self.all.get(*self.places.get(&identity)?)
    }

    /// The only one there is.
    pub(super) fn only(&self) -> Option<&Manifest> {
        match self.all.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

fn identity(kind: &Kind, namespace: &str, name: &str) -> Identity {
    let owned = str::to_owned;
    let (group, kind) = (owned(&kind.group), owned(&kind.kind));
    (group, kind, owned(namespace), owned(name))
}
