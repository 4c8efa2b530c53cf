//! Parts of an object that become JavaScript only when a policy looks at them.
//!
//! A large member is put in place as a pair of functions that replaces itself with the value at the
//! first look. What was never looked at needs no reading back.

use std::sync::Arc;

use portcullis_core::{Look, Tree};
use rquickjs::{Array, Ctx, Function, Object, Value as Js};

use crate::convert::{set_member, tree_to_js};
use crate::state::State;

/// Values of fewer parts than this are cheaper to convert than to put off.
const LARGE: usize = 8;

/// About how many bytes of text a part has.
const PART: usize = 16;

/// Where a part is.
#[derive(Debug)]
enum Node {
    Root(Arc<Tree>),
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
            Node::Root(tree) => Some(tree),
            Node::Child(parent, _) => self.root(*parent),
        }
    }

    /// The part of this number, in its root.
    fn find<'v>(&self, id: u32, root: &'v Tree) -> Option<&'v Tree> {
        match self.node(id)? {
            Node::Root(_) => Some(root),
            Node::Child(parent, place) => match self.find(*parent, root)?.look() {
                Look::List(elements) => elements.get(*place),
                Look::Object(members) => members.get(*place).map(|(_, member)| member),
                _ => None,
            },
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

/// A JavaScript value of this JSON, with large members put off.
pub(crate) fn root<'js>(
    ctx: &Ctx<'js>,
    state: &State,
    tree: &Arc<Tree>,
    lazy: &Function<'js>,
) -> rquickjs::Result<Js<'js>> {
    if !is_large(tree) {
        return small(ctx, state, tree);
    }
    let id = push(state, Node::Root(Arc::clone(tree)));
    expand(ctx, state, tree, id, lazy)
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
    match found {
        Some(tree) => expand(ctx, state, tree, id, lazy),
        None => Ok(Js::new_undefined(ctx.clone())),
    }
}

/// A small part. If nothing will be compared with it, the engine reads it from the text by itself.
fn small<'js>(ctx: &Ctx<'js>, state: &State, tree: &Tree) -> rquickjs::Result<Js<'js>> {
    match tree.unread_text() {
        Some(text) if !state.reads_back.get() => ctx.json_parse(text),
        _ => tree_to_js(ctx, tree),
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
                let element = if is_large(element) {
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
                if is_large(member) {
                    let child = push(state, Node::Child(id, place));
                    lazy.call::<_, ()>((object.clone(), key.as_str(), child))?;
                } else {
                    set_member(&object, key, small(ctx, state, member)?)?;
                }
            }
            Ok(object.into_value())
        }
        _ => tree_to_js(ctx, tree),
    }
}
