//! Parts of an object that become JavaScript only when a policy reads them.
//!
//! A large member is represented by a pair of functions that replaces itself with the value at the
//! first read. What was never read needs no reading back.
//!
//! In a replay, masked values are deferred too, however small: that is how it is noticed that a policy
//! reads one.

use std::sync::Arc;

use portcullis_core::{Look, Tree};
use rquickjs::{Array, Ctx, Function, Object, Value as Js};

use crate::convert::{admit, keep_time, set_member, tree_to_js};
use crate::deferred::DeferredPart;
use crate::replay::Missing;
use crate::state::State;

/// Values of fewer parts than this are cheaper to convert than to put off.
const LARGE: usize = 8;

/// About how many bytes of text a part has.
const PART: usize = 16;

/// Whether a value has so many parts that it is worth deferring. Those of a text that has not been
/// read are estimated from its length.
fn is_large(tree: &Tree) -> bool {
    fn count(tree: &Tree, left: &mut usize) {
        if *left == 0 {
            return;
        }
        if let Some(text) = tree.unread_text() {
            *left = left.saturating_sub(1 + text.len() / PART);
            return;
        }
        *left -= 1;
        match tree.look() {
            Look::List(list) => list.iter().take(LARGE).for_each(|v| count(v, left)),
            Look::Object(members) => {
                let members = members.iter().take(LARGE);
                members.for_each(|(_, v)| count(v, left));
            }
            _ => {}
        }
    }
    let mut left = LARGE;
    count(tree, &mut left);
    left == 0
}

/// Whether there is anything masked in a value.
pub(crate) fn has_masked(state: &State, tree: &Tree) -> bool {
    fn has(tree: &Tree, mask: &str) -> bool {
        // A mask needs no escapes, so that it is found in the text too.
        if let Some(text) = tree.unread_text() {
            return text.contains(mask);
        }
        match tree.look() {
            Look::String(text) => text.contains(mask),
            Look::List(list) => list.iter().any(|v| has(v, mask)),
            Look::Object(members) => members.iter().any(|(_, v)| has(v, mask)),
            _ => false,
        }
    }
    match state.mask.borrow().as_deref() {
        Some(mask) => has(tree, mask),
        None => false,
    }
}

/// Whether this is a masked value itself.
fn is_masked(state: &State, tree: &Tree) -> bool {
    match state.mask.borrow().as_deref() {
        Some(mask) => tree.as_str().is_some_and(|text| text.contains(mask)),
        None => false,
    }
}

/// Whether a part must be put off, or gone into by steps.
fn is_put_off(state: &State, tree: &Tree) -> bool {
    is_large(tree) || has_masked(state, tree)
}

/// A JavaScript value of this JSON, with large members put off. Policies know it by this name.
pub(crate) fn root<'js>(
    ctx: &Ctx<'js>,
    state: &State,
    (tree, name): (&Arc<Tree>, &'static str),
    lazy: &Function<'js>,
) -> rquickjs::Result<Js<'js>> {
    if !is_put_off(state, tree) {
        return small(ctx, state, tree);
    }
    let id = push(state, DeferredPart::Root(Arc::clone(tree), name));
    expand(ctx, state, tree, id, lazy)
}

/// Puts a value off that is made of what is masked.
pub(crate) fn put_off_masked<'js>(
    state: &State,
    (holder, key): (&Object<'js>, &str),
    (tree, name): (Tree, &'static str),
    lazy: &Function<'js>,
) -> rquickjs::Result<()> {
    let id = push(state, DeferredPart::Masked(Arc::new(tree), name));
    lazy.call((holder.clone(), key, id))
}

/// A part that is looked at now.
pub(crate) fn part<'js>(
    ctx: &Ctx<'js>,
    state: &State,
    id: u32,
    lazy: &Function<'js>,
) -> rquickjs::Result<Js<'js>> {
    let root = state.deferred.borrow().root(id).map(Arc::clone);
    let found = root
        .as_ref()
        .and_then(|root| state.deferred.borrow().find(id, root));
    if state.mask.borrow().is_some() {
        note_masked(state, id, found);
    }
    match found {
        Some(tree) => expand(ctx, state, tree, id, lazy),
        None => Ok(Js::new_undefined(ctx.clone())),
    }
}

/// Notes that a policy gets a masked value, if that is what the part is.
fn note_masked(state: &State, id: u32, found: Option<&Tree>) {
    let deferred = state.deferred.borrow();
    let is_made_of_it = matches!(deferred.part(id), Some(DeferredPart::Masked(..)));
    if is_made_of_it || found.is_some_and(|tree| is_masked(state, tree)) {
        state.miss(Missing::Masked(deferred.path(id)));
    }
}

/// Whether the keys of a small part need no look, however many others there were.
fn is_calm(state: &State) -> bool {
    let mut keys = state.keys.borrow_mut();
    keys.note(LARGE);
    keys.are_few()
}

/// A small part. If nothing will be compared with it, the engine reads it from the text by itself.
fn small<'js>(ctx: &Ctx<'js>, state: &State, tree: &Tree) -> rquickjs::Result<Js<'js>> {
    match tree.unread_text() {
        Some(text) if !state.reads_back.get() && is_calm(state) => ctx.json_parse(text),
        _ => tree_to_js(ctx, state, tree),
    }
}

fn push(state: &State, part: DeferredPart) -> u32 {
    state.deferred.borrow_mut().push(part)
}

fn expand<'js>(
    ctx: &Ctx<'js>,
    state: &State,
    tree: &Tree,
    id: u32,
    lazy: &Function<'js>,
) -> rquickjs::Result<Js<'js>> {
    match tree.look() {
        Look::List(list) => {
            let array = Array::new(ctx.clone())?;
            for (index, element) in list.iter().enumerate() {
                keep_time(ctx, state, index)?;
                if is_masked(state, element) {
                    let child = push(state, DeferredPart::Child(id, index));
                    lazy.call::<_, ()>((array.clone(), index.to_string(), child))?;
                    continue;
                }
                let element = if is_put_off(state, element) {
                    let child = push(state, DeferredPart::Child(id, index));
                    expand(ctx, state, element, child, lazy)?
                } else {
                    small(ctx, state, element)?
                };
                array.set(index, element)?;
            }
            Ok(array.into_value())
        }
        Look::Object(members) => {
            let object = Object::new(ctx.clone())?;
            for (place, (key, member)) in members.iter().enumerate() {
                keep_time(ctx, state, place)?;
                admit(ctx, state, key)?;
                if is_put_off(state, member) {
                    let child = push(state, DeferredPart::Child(id, place));
                    lazy.call::<_, ()>((object.clone(), key.as_str(), child))?;
                } else {
                    set_member(&object, key, small(ctx, state, member)?)?;
                }
            }
            Ok(object.into_value())
        }
        _ => tree_to_js(ctx, state, tree),
    }
}
