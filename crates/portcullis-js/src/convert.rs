//! JSON to JavaScript.

use portcullis_core::{Look, Tree};
use rquickjs::object::Property;
use rquickjs::{Array, Ctx, Object, String as JsString, Value as Js};
use serde_json::{Number, Value};

/// A JavaScript value of this JSON.
pub(crate) fn to_js<'js>(ctx: &Ctx<'js>, value: &Value) -> rquickjs::Result<Js<'js>> {
    match value {
        Value::Null => Ok(Js::new_null(ctx.clone())),
        Value::Bool(b) => Ok(Js::new_bool(ctx.clone(), *b)),
        Value::Number(n) => Ok(number_to_js(ctx, n)),
        Value::String(s) => text_to_js(ctx, s),
        Value::Array(list) => list_to_js(ctx, list.iter().map(|v| to_js(ctx, v))),
        Value::Object(map) => {
            let members = map.iter().map(|(k, v)| (k.as_str(), to_js(ctx, v)));
            object_to_js(ctx, members)
        }
    }
}

/// A JavaScript value of this tree, all of it.
pub(crate) fn tree_to_js<'js>(ctx: &Ctx<'js>, tree: &Tree) -> rquickjs::Result<Js<'js>> {
    match tree.look() {
        Look::Null => Ok(Js::new_null(ctx.clone())),
        Look::Bool(b) => Ok(Js::new_bool(ctx.clone(), b)),
        Look::Number(n) => Ok(number_to_js(ctx, n)),
        Look::String(s) => text_to_js(ctx, s),
        Look::List(list) => list_to_js(ctx, list.iter().map(|v| tree_to_js(ctx, v))),
        Look::Object(members) => {
            let members = members.iter();
            let members = members.map(|(k, v)| (k.as_str(), tree_to_js(ctx, v)));
            object_to_js(ctx, members)
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
    elements: impl Iterator<Item = rquickjs::Result<Js<'js>>>,
) -> rquickjs::Result<Js<'js>> {
    let array = Array::new(ctx.clone())?;
    for (index, element) in elements.enumerate() {
        array.set(index, element?)?;
    }
    Ok(array.into_value())
}

fn object_to_js<'js, 'k>(
    ctx: &Ctx<'js>,
    members: impl Iterator<Item = (&'k str, rquickjs::Result<Js<'js>>)>,
) -> rquickjs::Result<Js<'js>> {
    let object = Object::new(ctx.clone())?;
    for (key, member) in members {
        set_member(&object, key, member?)?;
    }
    Ok(object.into_value())
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
