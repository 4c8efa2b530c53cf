//! Parts of an object that become JavaScript only when a policy looks at them.
//!
//! A large member is put in place as a pair of functions that replaces itself with the value at the
//! first look. What was never looked at needs no reading back.

use std::sync::Arc;

use rquickjs::{Array, Ctx, Function, Object, Value as Js};
use serde_json::Value;

use crate::convert::to_js;
use crate::state::State;

/// Values of fewer parts than this are cheaper to convert than to put off.
const LARGE: usize = 20;

/// Where a part is.
#[derive(Debug)]
enum Node {
    Root(Arc<Value>),
    Member(u32, String),
    Element(u32, usize),
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

    fn root(&self, id: u32) -> Option<&Arc<Value>> {
        match self.node(id)? {
            Node::Root(value) => Some(value),
            Node::Member(parent, _) | Node::Element(parent, _) => self.root(*parent),
        }
    }

    /// The part of this number, in its root.
    fn find<'v>(&self, id: u32, root: &'v Value) -> Option<&'v Value> {
        match self.node(id)? {
            Node::Root(_) => Some(root),
            Node::Member(parent, key) => self.find(*parent, root)?.get(key),
            Node::Element(parent, index) => self.find(*parent, root)?.get(*index),
        }
    }

    /// Looks at the part of this number.
    pub(crate) fn with<R>(&self, id: u32, look: impl FnOnce(&Value) -> R) -> Option<R> {
        self.find(id, self.root(id)?).map(look)
    }
}

/// Whether a value has so many parts that it may have been put off in part.
pub(crate) fn is_large(value: &Value) -> bool {
    fn count(value: &Value, left: &mut usize) {
        if *left == 0 {
            return;
        }
        *left -= 1;
        match value {
            Value::Array(list) => list.iter().take(LARGE).for_each(|v| count(v, left)),
            Value::Object(map) => map.values().take(LARGE).for_each(|v| count(v, left)),
            _ => {}
        }
    }
    if !value.is_object() && !value.is_array() {
        return false;
    }
    let mut left = LARGE;
    count(value, &mut left);
    left == 0
}

/// A JavaScript value of this JSON, with large members put off.
pub(crate) fn root<'js>(
    ctx: &Ctx<'js>,
    state: &State,
    value: &Arc<Value>,
    lazy: &Function<'js>,
) -> rquickjs::Result<Js<'js>> {
    if !is_large(value) {
        return to_js(ctx, value);
    }
    let id = push(state, Node::Root(Arc::clone(value)));
    expand(ctx, state, value, id, lazy)
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
        Some(value) => expand(ctx, state, value, id, lazy),
        None => Ok(Js::new_undefined(ctx.clone())),
    }
}

fn push(state: &State, node: Node) -> u32 {
    state.nodes.borrow_mut().push(node)
}

fn expand<'js>(
    ctx: &Ctx<'js>,
    state: &State,
    value: &Value,
    id: u32,
    lazy: &Function<'js>,
) -> rquickjs::Result<Js<'js>> {
    match value {
        Value::Array(list) => {
            let array = Array::new(ctx.clone())?;
            for (index, element) in list.iter().enumerate() {
                let element = if is_large(element) {
                    let child = push(state, Node::Element(id, index));
                    expand(ctx, state, element, child, lazy)?
                } else {
                    to_js(ctx, element)?
                };
                array.set(index, element)?;
            }
            Ok(array.into_value())
        }
        Value::Object(map) => {
            let object = Object::new(ctx.clone())?;
            for (key, member) in map {
                if is_large(member) {
                    let child = push(state, Node::Member(id, key.clone()));
                    lazy.call::<_, ()>((object.clone(), key.as_str(), child))?;
                } else {
                    crate::convert::set_member(&object, key, to_js(ctx, member)?)?;
                }
            }
            Ok(object.into_value())
        }
        other => to_js(ctx, other),
    }
}
