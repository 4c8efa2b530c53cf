//! Parts of an object that become JavaScript only when a policy looks at them.
//!
//! A large member is put in place as a pair of functions that replaces itself with the value at the
//! first look. What was never looked at needs no reading back.
//!
//! In a replay, masked values are put off too, however small: that is how it is noticed that a policy
//! gets one.

use std::fmt::Write;
use std::sync::Arc;

use portcullis_core::{Look, Tree};
use rquickjs::{Array, Ctx, Function, Object, Value as Js};

use crate::convert::{admit, keep_time, set_member, tree_to_js};
use crate::replay::Missing;
use crate::state::State;

/// Values of fewer parts than this are cheaper to convert than to put off.
const LARGE: usize = 8;

/// About how many bytes of text a part has.
const PART: usize = 16;

/// Where a part is.
#[derive(Debug)]
enum Node {
    /// All of a value, by the name policies know it under.
    Root(Arc<Tree>, &'static str),
    /// The same, made of what is masked.
    Masked(Arc<Tree>, &'static str),
    /// A member or element of another part, by its place there.
    Child(u32, usize),
}

/// The parts that were put off, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Nodes(Vec<Node>);

impl Nodes {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    fn push(&mut self, node: Node) -> u32 {
        self.0.push(node);
        u32::try_from(self.0.len() - 1).unwrap_or(u32::MAX)
    }

    fn node(&self, id: u32) -> Option<&Node> {
        self.0.get(usize::try_from(id).ok()?)
    }

    fn root(&self, id: u32) -> Option<&Arc<Tree>> {
        match self.node(id)? {
            Node::Root(tree, _) | Node::Masked(tree, _) => Some(tree),
            Node::Child(parent, _) => self.root(*parent),
        }
    }

    /// The part of this number, in its root.
    fn find<'v>(&self, id: u32, root: &'v Tree) -> Option<&'v Tree> {
        match self.node(id)? {
            Node::Root(..) | Node::Masked(..) => Some(root),
            Node::Child(parent, place) => match self.find(*parent, root)?.look() {
                Look::List(elements) => elements.get(*place),
                Look::Object(members) => members.get(*place).map(|(_, member)| member),
                _ => None,
            },
        }
    }

    /// Where a part is, as a policy would write it.
    fn place(&self, id: u32) -> String {
        match self.node(id) {
            None => String::new(),
            Some(Node::Root(_, name) | Node::Masked(_, name)) => (*name).to_owned(),
            Some(Node::Child(parent, place)) => {
                let mut written = self.place(*parent);
                let holder = self.root(*parent).map(Arc::clone);
                let holder = holder.as_deref().and_then(|root| self.find(*parent, root));
                match holder.map(Tree::look) {
                    Some(Look::Object(members)) => {
                        let key = members.get(*place).map_or("", |(key, _)| key.as_str());
                        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
                        let _ = if !key.is_empty() && key.chars().all(is_name) {
                            write!(written, ".{key}")
                        } else {
                            write!(written, "[{key:?}]")
                        };
                    }
                    _ => {
                        let _ = write!(written, "[{place}]");
                    }
                }
                written
            }
        }
    }

    /// Looks at the part of this number.
    pub(crate) fn with<R>(&self, id: u32, look: impl FnOnce(&Tree) -> R) -> Option<R> {
        self.find(id, self.root(id)?).map(look)
    }
}

/// Whether a value has so many parts that it is worth putting off. Those of a text nobody has looked
/// at are guessed from its length.
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
    let id = push(state, Node::Root(Arc::clone(tree), name));
    expand(ctx, state, tree, id, lazy)
}

/// Puts a value off that is made of what is masked.
pub(crate) fn put_off_masked<'js>(
    state: &State,
    (holder, key): (&Object<'js>, &str),
    (tree, name): (Tree, &'static str),
    lazy: &Function<'js>,
) -> rquickjs::Result<()> {
    let id = push(state, Node::Masked(Arc::new(tree), name));
    lazy.call((holder.clone(), key, id))
}

/// A part that is looked at now.
pub(crate) fn part<'js>(
    ctx: &Ctx<'js>,
    state: &State,
    id: u32,
    lazy: &Function<'js>,
) -> rquickjs::Result<Js<'js>> {
    let root = state.nodes.borrow().root(id).map(Arc::clone);
    let found = root
        .as_ref()
        .and_then(|root| state.nodes.borrow().find(id, root));
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
    let nodes = state.nodes.borrow();
    let is_made_of_it = matches!(nodes.node(id), Some(Node::Masked(..)));
    if is_made_of_it || found.is_some_and(|tree| is_masked(state, tree)) {
        state.miss(Missing::Masked(nodes.place(id)));
    }
}

/// Whether the keys of a small part need no look, however many others there were.
fn is_calm(state: &State) -> bool {
    let mut crowd = state.crowd.borrow_mut();
    crowd.note(LARGE);
    crowd.is_calm()
}

/// A small part. If nothing will be compared with it, the engine reads it from the text by itself.
fn small<'js>(ctx: &Ctx<'js>, state: &State, tree: &Tree) -> rquickjs::Result<Js<'js>> {
    match tree.unread_text() {
        Some(text) if !state.reads_back.get() && is_calm(state) => ctx.json_parse(text),
        _ => tree_to_js(ctx, state, tree),
    }
}

fn push(state: &State, node: Node) -> u32 {
    state.nodes.borrow_mut().push(node)
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
                    let child = push(state, Node::Child(id, index));
                    lazy.call::<_, ()>((array.clone(), index.to_string(), child))?;
                    continue;
                }
                let element = if is_put_off(state, element) {
                    let child = push(state, Node::Child(id, index));
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
                    let child = push(state, Node::Child(id, place));
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
