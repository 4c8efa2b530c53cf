//! JSON to JavaScript.
//!
//! Keys can be chosen so that the engine takes long for each of them, so the code that builds an object
//! checks the clock.

use portcullis_core::{Look, Tree};
use rquickjs::object::Property;
use rquickjs::{Array, Ctx, Exception, Object, String as JsString, Value as Js};
use serde_json::{Number, Value};

use crate::state::State;

/// After so many members or elements the clock is looked at.
const STRIDE: usize = 16;

/// A JavaScript value of this JSON.
pub(crate) fn to_js<'js>(
    ctx: &Ctx<'js>,
    state: &State,
    value: &Value,
) -> rquickjs::Result<Js<'js>> {
    match value {
        Value::Null => Ok(Js::new_null(ctx.clone())),
        Value::Bool(b) => Ok(Js::new_bool(ctx.clone(), *b)),
        Value::Number(n) => Ok(number_to_js(ctx, n)),
        Value::String(s) => text_to_js(ctx, s),
        Value::Array(list) => list_to_js(ctx, state, list.iter().map(|v| to_js(ctx, state, v))),
        Value::Object(map) => {
            let members = map.iter();
            let members = members.map(|(k, v)| (k.as_str(), to_js(ctx, state, v)));
            object_to_js(ctx, state, members)
        }
    }
}

/// A JavaScript value of this tree, all of it.
pub(crate) fn tree_to_js<'js>(
    ctx: &Ctx<'js>,
    state: &State,
    tree: &Tree,
) -> rquickjs::Result<Js<'js>> {
    match tree.look() {
        Look::Null => Ok(Js::new_null(ctx.clone())),
        Look::Bool(b) => Ok(Js::new_bool(ctx.clone(), b)),
        Look::Number(n) => Ok(number_to_js(ctx, n)),
        Look::String(s) => text_to_js(ctx, s),
        Look::List(list) => list_to_js(ctx, state, list.iter().map(|v| tree_to_js(ctx, state, v))),
        Look::Object(members) => {
            let members = members.iter();
            let members = members.map(|(k, v)| (k.as_str(), tree_to_js(ctx, state, v)));
            object_to_js(ctx, state, members)
        }
    }
}

fn number_to_js<'js>(ctx: &Ctx<'js>, n: &Number) -> Js<'js> {
    match n.as_i64().and_then(|i| i32::try_from(i).ok()) {
        Some(i) => Js::new_int(ctx.clone(), i),
        None => Js::new_float(ctx.clone(), n.as_f64().unwrap_or(f64::NAN)),
    }
}

fn text_to_js<'js>(ctx: &Ctx<'js>, text: &str) -> rquickjs::Result<Js<'js>> {
    JsString::from_str(ctx.clone(), text).map(JsString::into_value)
}

fn list_to_js<'js>(
    ctx: &Ctx<'js>,
    state: &State,
    elements: impl Iterator<Item = rquickjs::Result<Js<'js>>>,
) -> rquickjs::Result<Js<'js>> {
    let array = Array::new(ctx.clone())?;
    for (index, element) in elements.enumerate() {
        keep_time(ctx, state, index)?;
        array.set(index, element?)?;
    }
    Ok(array.into_value())
}

fn object_to_js<'js, 'k>(
    ctx: &Ctx<'js>,
    state: &State,
    members: impl Iterator<Item = (&'k str, rquickjs::Result<Js<'js>>)>,
) -> rquickjs::Result<Js<'js>> {
    let object = Object::new(ctx.clone())?;
    for (index, (key, member)) in members.enumerate() {
        keep_time(ctx, state, index)?;
        admit(ctx, state, key)?;
        set_member(&object, key, member?)?;
    }
    Ok(object.into_value())
}

/// Throws if the time is over. Looks at the clock once for many members or elements.
pub(crate) fn keep_time(ctx: &Ctx<'_>, state: &State, index: usize) -> rquickjs::Result<()> {
    if is_out_of_time(state, index) {
        return Err(Exception::throw_message(ctx, "deadline exceeded"));
    }
    Ok(())
}

/// Throws if a key is one of too many that are slow for the engine.
pub(crate) fn admit(ctx: &Ctx<'_>, state: &State, key: &str) -> rquickjs::Result<()> {
    match state.keys.borrow_mut().admit(key) {
        true => Ok(()),
        false => Err(Exception::throw_range(
            ctx,
            "too many keys with the same hash",
        )),
    }
}

/// Whether the time is over. Looks at the clock once for many members or elements.
pub(crate) fn is_out_of_time(state: &State, index: usize) -> bool {
    index % STRIDE == STRIDE - 1 && state.is_late()
}

/// Gives an object a member of its own.
pub(crate) fn set_member<'js>(
    object: &Object<'js>,
    key: &str,
    member: Js<'js>,
) -> rquickjs::Result<()> {
    if key == "__proto__" {
        let own = Property::from(member)
            .writable()
            .enumerable()
            .configurable();
        object.prop(key, own)
    } else {
        object.set(key, member)
    }
}
