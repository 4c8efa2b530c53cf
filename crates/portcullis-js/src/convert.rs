//! JSON to JavaScript and back.
//!
//! What was not changed comes back as it was: numbers that JavaScript can't hold exactly are taken
//! from the original.

use std::collections::HashMap;
use std::fmt::Write;

use rquickjs::object::Property;
use rquickjs::{Array, Atom, Ctx, Function, Object, String as JsString, Value as Js};
use serde_json::{Map, Number, Value};

use crate::lazy::is_large;
use crate::realm::Tools;
use crate::state::State;

/// How deep a changed object may be.
const DEPTH: usize = 256;

/// From here on integers have no exact floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Why an object can't be read back.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// Something that has no JSON: where, and what.
    At(String, String),
    /// The engine failed: an exception, or a limit.
    Engine,
    /// More than memory may hold.
    TooLarge,
}

impl From<rquickjs::Error> for Unreadable {
    fn from(_: rquickjs::Error) -> Self {
        Self::Engine
    }
}

/// A JavaScript value of this JSON.
pub(crate) fn to_js<'js>(ctx: &Ctx<'js>, value: &Value) -> rquickjs::Result<Js<'js>> {
    Ok(match value {
        Value::Null => Js::new_null(ctx.clone()),
        Value::Bool(b) => Js::new_bool(ctx.clone(), *b),
        Value::Number(n) => match n.as_i64().and_then(|i| i32::try_from(i).ok()) {
            Some(i) => Js::new_int(ctx.clone(), i),
            None => Js::new_float(ctx.clone(), n.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(s) => JsString::from_str(ctx.clone(), s)?.into_value(),
        Value::Array(list) => {
            let array = Array::new(ctx.clone())?;
            for (index, element) in list.iter().enumerate() {
                array.set(index, to_js(ctx, element)?)?;
            }
            array.into_value()
        }
        Value::Object(map) => {
            let object = Object::new(ctx.clone())?;
            for (key, member) in map {
                set_member(&object, key, to_js(ctx, member)?)?;
            }
            object.into_value()
        }
    })
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

/// Reads values back, comparing with what they were.
pub(crate) struct Reader<'a, 'js> {
    state: &'a State,
    ctx: Ctx<'js>,
    /// Says what objects that are no plain ones stand for.
    plain: Function<'js>,
    /// Says which members of an object were put off and not looked at since.
    pending: Function<'js>,
    prototype: Js<'js>,
    /// Bytes that may still be read.
    budget: usize,
    path: String,
    above: Vec<Js<'js>>,
    /// Integers of the original that have no exact float, by the float they became.
    large: Option<HashMap<u64, Number>>,
    /// What was before.
    original: &'a Value,
}

impl<'a, 'js> Reader<'a, 'js> {
    pub(crate) fn new(
        ctx: &Ctx<'js>,
        state: &'a State,
        tools: &Tools<'js>,
        original: &'a Value,
        budget: usize,
    ) -> rquickjs::Result<Self> {
        let constructor: Object<'js> = ctx.globals().get("Object")?;
        Ok(Self {
            state,
            ctx: ctx.clone(),
            plain: tools.get("plain")?,
            pending: tools.get("pending")?,
            prototype: constructor.get("prototype")?,
            budget,
            path: String::new(),
            above: Vec::new(),
            large: None,
            original,
        })
    }

    /// The JSON of a value, if it is not what it was.
    pub(crate) fn changed(&mut self, js: &Js<'js>) -> Result<Option<Value>, Unreadable> {
        if self.is_same(js, self.original)? {
            return Ok(None);
        }
        self.read(js, Some(self.original)).map(Some)
    }

    fn is_same(&self, js: &Js<'js>, original: &Value) -> rquickjs::Result<bool> {
        Ok(match original {
            Value::Null => js.is_null(),
            Value::Bool(b) => js.as_bool() == Some(*b),
            Value::Number(n) => js.as_number().is_some_and(|x| n.as_f64() == Some(x)),
            Value::String(s) => match js.as_string() {
                Some(text) => text.to_string().is_ok_and(|text| text == *s),
                None => false,
            },
            Value::Array(list) => {
                let Some(array) = js.as_array().filter(|a| a.len() == list.len()) else {
                    return Ok(false);
                };
                for (index, element) in list.iter().enumerate() {
                    if !self.is_same(&array.get(index)?, element)? {
                        return Ok(false);
                    }
                }
                true
            }
            Value::Object(map) => {
                let Some(object) = js.as_object().filter(|_| !js.is_array()) else {
                    return Ok(false);
                };
                if js.is_function() || object.keys::<Atom<'js>>().count() != map.len() {
                    return Ok(false);
                }
                if map.is_empty() {
                    let prototype = object.get_prototype();
                    return Ok(prototype.is_none_or(|p| *p.as_value() == self.prototype));
                }
                let pending = self.pending(object, Some(original))?;
                for (key, member) in map {
                    if let Some(id) = pending.get(key) {
                        let same = |part: &Value| std::ptr::eq(part, member) || part == member;
                        if self.state.nodes.borrow().with(*id, same) == Some(true) {
                            continue;
                        }
                        return Ok(false);
                    }
                    if !self.is_same(&object.get(key.as_str())?, member)? {
                        return Ok(false);
                    }
                }
                true
            }
        })
    }

    fn read(&mut self, js: &Js<'js>, original: Option<&Value>) -> Result<Value, Unreadable> {
        self.spend(32)?;
        if js.is_null() {
            return Ok(Value::Null);
        }
        if let Some(b) = js.as_bool() {
            return Ok(Value::Bool(b));
        }
        if let Some(x) = js.as_number() {
            return self.number(x, original);
        }
        if let Some(text) = js.as_string() {
            return self.text(text).map(Value::String);
        }
        if js.is_undefined() {
            return Err(self.fault("undefined has no place in JSON"));
        }
        if js.is_function() {
            return Err(self.fault("a function has no place in JSON"));
        }
        if js.is_symbol() {
            return Err(self.fault("a symbol has no place in JSON"));
        }
        if self.above.len() >= DEPTH {
            return Err(self.fault("nested too deep"));
        }
        if self.above.contains(js) {
            return Err(self.fault("it contains itself"));
        }
        self.above.push(js.clone());
        let value = self.compound(js, original)?;
        self.above.pop();
        Ok(value)
    }

    fn compound(&mut self, js: &Js<'js>, original: Option<&Value>) -> Result<Value, Unreadable> {
        if let Some(array) = js.as_array() {
            let mut list = Vec::new();
            for index in 0..array.len() {
                let element: Js<'js> = array.get(index)?;
                let was = original.and_then(|o| o.get(index));
                let read = self.below(
                    |path| {
                        let _ = write!(path, "/{index}");
                    },
                    |r| r.read(&element, was),
                )?;
                list.push(read);
            }
            return Ok(Value::Array(list));
        }
        let is_plain = js.as_object().is_some_and(|object| {
            let prototype = object.get_prototype();
            prototype.is_none_or(|p| *p.as_value() == self.prototype)
        });
        if !is_plain {
            let stands_for: Array<'js> = self.plain.call((js.clone(),))?;
            if !stands_for.is_empty() {
                let value: Js<'js> = stands_for.get(0)?;
                return match js.is_big_int() {
                    true => self.big(&value),
                    false => self.read(&value, original),
                };
            }
        }
        let Some(object) = js.as_object() else {
            return Err(self.fault("this has no place in JSON"));
        };
        let mut map = Map::new();
        let pending = self.pending(object, original)?;
        for key in object.keys::<JsString<'js>>() {
            let key = self.text(&key?)?;
            if let Some(id) = pending.get(&key) {
                let part = self.state.nodes.borrow().with(*id, Value::clone);
                map.insert(key, part.unwrap_or_default());
                continue;
            }
            let member: Js<'js> = object.get(key.as_str())?;
            let was = original.and_then(|o| o.get(&key));
            let read = self.below(|path| push_key(path, &key), |r| r.read(&member, was))?;
            map.insert(key, read);
        }
        Ok(Value::Object(map))
    }

    /// The members of an object that were never looked at, by the numbers of their parts. Asking
    /// is left out where there can't be any; looking at such a member is right, only slower.
    fn pending(
        &self,
        object: &Object<'js>,
        original: Option<&Value>,
    ) -> rquickjs::Result<HashMap<String, u32>> {
        if !original.is_some_and(is_large) {
            return Ok(HashMap::new());
        }
        let found: Option<Array<'js>> = self.pending.call((object.clone(),))?;
        let mut pending = HashMap::new();
        for pair in found.iter().flat_map(Array::iter::<Array<'js>>) {
            let pair = pair?;
            pending.insert(pair.get(0)?, pair.get(1)?);
        }
        Ok(pending)
    }

    fn big(&self, decimal: &Js<'js>) -> Result<Value, Unreadable> {
        let text = decimal.as_string().and_then(|s| s.to_string().ok());
        let number = text.and_then(|text| {
            let signed = text.parse::<i64>().map(Number::from);
            signed
                .or_else(|_| text.parse::<u64>().map(Number::from))
                .ok()
        });
        number
            .map(Value::Number)
            .ok_or_else(|| self.fault("the integer is too large"))
    }

    fn number(&mut self, x: f64, original: Option<&Value>) -> Result<Value, Unreadable> {
        if let Some(Value::Number(n)) = original
            && n.as_f64() == Some(x)
        {
            return Ok(Value::Number(n.clone()));
        }
        if x.abs() >= EXACT
            && let Some(n) = self.large().get(&x.to_bits())
        {
            return Ok(Value::Number(n.clone()));
        }
        if !x.is_finite() {
            return Err(self.fault(&format!("{x} has no place in JSON")));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an integer below 2^53 is exact in both"
        )]
        let number = if x.fract() == 0.0 && x.abs() <= EXACT {
            Some(Number::from(x as i64))
        } else {
            Number::from_f64(x)
        };
        number
            .map(Value::Number)
            .ok_or_else(|| self.fault("no number"))
    }

    fn large(&mut self) -> &HashMap<u64, Number> {
        self.large.get_or_insert_with(|| {
            let mut large = HashMap::new();
            note_large(self.original, &mut large);
            large
        })
    }

    fn text(&mut self, text: &JsString<'js>) -> Result<String, Unreadable> {
        match text.to_string() {
            Ok(text) => {
                self.spend(text.len())?;
                Ok(text)
            }
            Err(rquickjs::Error::Utf8(_)) => Err(self.fault("half a character in a text")),
            Err(error) => Err(error.into()),
        }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Unreadable> {
        self.budget = self.budget.checked_sub(bytes).ok_or(Unreadable::TooLarge)?;
        Ok(())
    }

    fn fault(&self, what: &str) -> Unreadable {
        let _ = self.ctx.catch();
        let place = match self.path.as_str() {
            "" => "/".to_owned(),
            path => path.to_owned(),
        };
        Unreadable::At(place, what.to_owned())
    }

    fn below<R>(
        &mut self,
        extend: impl FnOnce(&mut String),
        act: impl FnOnce(&mut Self) -> Result<R, Unreadable>,
    ) -> Result<R, Unreadable> {
        let length = self.path.len();
        extend(&mut self.path);
        let result = act(self)?;
        self.path.truncate(length);
        Ok(result)
    }
}

fn push_key(path: &mut String, key: &str) {
    path.push('/');
    path.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

fn note_large(value: &Value, large: &mut HashMap<u64, Number>) {
    match value {
        Value::Number(n) if !n.is_f64() => {
            if let Some(x) = n.as_f64().filter(|x| x.abs() >= EXACT) {
                large.entry(x.to_bits()).or_insert_with(|| n.clone());
            }
        }
        Value::Array(list) => list.iter().for_each(|v| note_large(v, large)),
        Value::Object(map) => map.values().for_each(|v| note_large(v, large)),
        _ => {}
    }
}
