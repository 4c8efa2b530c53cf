//! JavaScript to JSON, compared with the original.
//!
//! What was not changed comes back as it was: numbers that JavaScript can't hold exactly are taken
//! from the original.

mod original;
mod size;

use std::collections::HashMap;
use std::fmt::Write;

use portcullis_core::pointer;
use portcullis_core::{Look, Tree};
use rquickjs::{Array, Atom, Ctx, Function, IntoAtom, Object, String as JsString, Value as Js};
use serde_json::{Map, Number, Value};

use original::{Members, note_large};
pub(crate) use size::size;
use size::tree_size;

use crate::convert::is_out_of_time;
use crate::state::State;

/// How deep a changed object may be.
const DEPTH: usize = 256;

/// From here on integers have no exact floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What JSON can't represent.
const LONE_SURROGATE: &str =
    "a string with half of a surrogate pair (U+D800 to U+DFFF) can't be converted to JSON";

/// Why an object can't be read back.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// A value that JSON can't represent: where, and what.
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

/// What becomes of what JSON can't say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// `undefined` is null; anything else is an error.
    Strict,
    /// It is null.
    Lenient,
}

/// A member of an object.
enum Member<'js> {
    /// It was put off under this number and not looked at since.
    Deferred(u32),
    Value(Js<'js>),
}

/// Reads values back, comparing with what they were.
pub(crate) struct ObjectReader<'a, 'js> {
    state: &'a State,
    ctx: Ctx<'js>,
    /// Says what objects that are not plain represent.
    plain: Function<'js>,
    /// Stands for a member that was put off and not looked at since.
    unseen: Js<'js>,
    prototype: Js<'js>,
    /// Bytes that may still be read.
    budget: usize,
    path: String,
    above: Vec<Js<'js>>,
    /// Integers of the original that have no exact float, by the float they became.
    large: Option<HashMap<u64, Number>>,
    /// What was before.
    original: &'a Tree,
    strictness: Strictness,
    /// Whether an `undefined` became null.
    met_undefined: bool,
}

impl<'a, 'js> ObjectReader<'a, 'js> {
    /// A reader with what the prelude calls `plain` and `unseen`.
    pub(crate) fn new(
        ctx: &Ctx<'js>,
        state: &'a State,
        (plain, unseen): (Function<'js>, Js<'js>),
        original: &'a Tree,
        budget: usize,
        strictness: Strictness,
    ) -> Self {
        Self {
            state,
            ctx: ctx.clone(),
            plain,
            unseen,
            prototype: object_prototype(ctx),
            budget,
            path: String::new(),
            above: Vec::new(),
            large: None,
            original,
            strictness,
            met_undefined: false,
        }
    }

    /// The JSON of a value, if it is not what it was.
    pub(crate) fn changed(&mut self, js: &Js<'js>) -> Result<Option<Value>, Unreadable> {
        if self.is_same(js, self.original)? {
            return Ok(None);
        }
        let value = self.read(js, Some(self.original))?;
        let is_same = self.met_undefined && *self.original == value;
        Ok((!is_same).then_some(value))
    }

    /// The JSON of a value that was nothing before.
    pub(crate) fn read_all(&mut self, js: &Js<'js>) -> Result<Value, Unreadable> {
        self.read(js, None)
    }

    fn is_same(&self, js: &Js<'js>, original: &Tree) -> rquickjs::Result<bool> {
        Ok(match original.look() {
            Look::Null => js.is_null(),
            Look::Bool(b) => js.as_bool() == Some(b),
            Look::Number(n) => js.as_number().is_some_and(|x| n.as_f64() == Some(x)),
            Look::String(s) => match js.as_string() {
                Some(text) => text.to_string().is_ok_and(|text| text == s),
                None => false,
            },
            Look::List(list) => {
                let Some(array) = js.as_array().filter(|a| length(a) == list.len()) else {
                    return Ok(false);
                };
                for (index, element) in list.iter().enumerate() {
                    self.keep_time(index)?;
                    let is_same = match self.element(array, index)? {
                        Member::Deferred(id) => self.is_part(id, element),
                        Member::Value(value) => self.is_same(&value, element)?,
                    };
                    if !is_same {
                        return Ok(false);
                    }
                }
                true
            }
            Look::Object(members) => {
                let Some(object) = js.as_object().filter(|_| !js.is_array()) else {
                    return Ok(false);
                };
                if js.is_function() || object.keys::<Atom<'js>>().count() != members.len() {
                    return Ok(false);
                }
                if members.is_empty() {
                    let prototype = object.get_prototype();
                    return Ok(prototype.is_none_or(|p| *p.as_value() == self.prototype));
                }
                for (index, (key, member)) in members.iter().enumerate() {
                    self.keep_time(index)?;
                    let is_same = match self.member(object, key.as_str())? {
                        Member::Deferred(id) => self.is_part(id, member),
                        Member::Value(value) => self.is_same(&value, member)?,
                    };
                    if !is_same {
                        return Ok(false);
                    }
                }
                true
            }
        })
    }

    /// Whether a part that was put off is what was here.
    fn is_part(&self, id: u32, original: &Tree) -> bool {
        let same = |part: &Tree| std::ptr::eq(part, original) || part == original;
        self.state.deferred.borrow().with(id, same) == Some(true)
    }

    /// A part that was put off, as it was.
    fn part(&mut self, id: u32) -> Result<Value, Unreadable> {
        // A policy may have made many places for one part.
        let bytes = self.state.deferred.borrow().with(id, tree_size);
        self.spend(bytes.unwrap_or_default())?;
        let part = self.state.deferred.borrow().with(id, Tree::to_value);
        Ok(part.unwrap_or_default())
    }

    fn read(&mut self, js: &Js<'js>, original: Option<&Tree>) -> Result<Value, Unreadable> {
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
            self.met_undefined = true;
            return Ok(Value::Null);
        }
        if self.strictness == Strictness::Lenient && (js.is_function() || js.is_symbol()) {
            return Ok(Value::Null);
        }
        if js.is_function() {
            return Err(self.fault("a function can't be converted to JSON"));
        }
        if js.is_symbol() {
            return Err(self.fault("a symbol can't be converted to JSON"));
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

    fn compound(&mut self, js: &Js<'js>, original: Option<&Tree>) -> Result<Value, Unreadable> {
        if let Some(array) = js.as_array() {
            let mut list = Vec::new();
            for index in 0..length(array) {
                self.keep_time(index)?;
                let element = match self.element(array, index)? {
                    Member::Deferred(id) => {
                        list.push(self.part(id)?);
                        continue;
                    }
                    Member::Value(element) => element,
                };
                let was = original.and_then(|o| o.element(index));
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
            if length(&stands_for) > 0 {
                let value: Js<'js> = stands_for.get(0)?;
                return match js.is_big_int() {
                    true => self.big(&value),
                    false => self.read(&value, original),
                };
            }
        }
        let Some(object) = js.as_object() else {
            return Err(self.fault("this can't be converted to JSON"));
        };
        let mut map = Map::new();
        let members = Members::of(original);
        for (index, own) in object.keys::<JsString<'js>>().enumerate() {
            self.keep_time(index)?;
            let own = own?;
            let key = self.key(&own)?;
            let member = match self.member(object, own)? {
                Member::Deferred(id) => {
                    map.insert(key, self.part(id)?);
                    continue;
                }
                Member::Value(value) => value,
            };
            let was = members.get(&key);
            let read = self.below(|path| pointer::push(path, &key), |r| r.read(&member, was))?;
            map.insert(key, read);
        }
        Ok(Value::Object(map))
    }

    /// An element of a list. Only masked ones are put off.
    fn element(&self, array: &Array<'js>, index: usize) -> rquickjs::Result<Member<'js>> {
        if self.state.mask.borrow().is_none() {
            return array.get(index).map(Member::Value);
        }
        self.member(array.as_object(), &index.to_string())
    }

    /// A member of an object, without a look at what was put off.
    fn member(
        &self,
        object: &Object<'js>,
        key: impl IntoAtom<'js> + Clone,
    ) -> rquickjs::Result<Member<'js>> {
        self.state.probed.set(None);
        self.state.is_probing.set(true);
        let got: rquickjs::Result<Js<'js>> = object.get(key.clone());
        self.state.is_probing.set(false);
        match (self.state.probed.take(), got) {
            (None, got) => got.map(Member::Value),
            (Some(id), Ok(value)) if value == self.unseen => Ok(Member::Deferred(id)),
            // A getter of the policy's own met the probe: it is asked again.
            (Some(_), got) => {
                if got.is_err() {
                    let _ = self.ctx.catch();
                }
                object.get(key).map(Member::Value)
            }
        }
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

    fn number(&mut self, x: f64, original: Option<&Tree>) -> Result<Value, Unreadable> {
        if let Some(Look::Number(n)) = original.map(Tree::look)
            && n.as_f64() == Some(x)
        {
            return Ok(Value::Number(n.clone()));
        }
        if x.abs() >= EXACT
            && let Some(n) = self.large().get(&x.to_bits())
        {
            return Ok(Value::Number(n.clone()));
        }
        if !x.is_finite() && self.strictness == Strictness::Lenient {
            return Ok(Value::Null);
        }
        if !x.is_finite() {
            return Err(self.fault(&format!("{x} can't be converted to JSON")));
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
            note_large(&self.original.to_value(), &mut large);
            large
        })
    }

    fn text(&mut self, text: &JsString<'js>) -> Result<String, Unreadable> {
        match text.to_string() {
            Ok(text) => {
                self.spend(text.len())?;
                Ok(text)
            }
            Err(rquickjs::Error::Utf8(_)) => Err(self.fault(LONE_SURROGATE)),
            Err(error) => Err(error.into()),
        }
    }

    /// A key of the object that is read now. The place of one that is rejected has it.
    fn key(&mut self, key: &JsString<'js>) -> Result<String, Unreadable> {
        let read = self.text(key);
        if let Err(Unreadable::At(..)) = read {
            let shown: Array<'js> = self.plain.call((key.clone(),))?;
            let shown: String = shown.get(0)?;
            let refuse = |reader: &mut Self| Err(reader.fault(LONE_SURROGATE));
            return self.below(|path| pointer::push(path, &shown), refuse);
        }
        read
    }

    /// An error if the time is over.
    fn keep_time(&self, index: usize) -> rquickjs::Result<()> {
        match is_out_of_time(self.state, index) {
            true => Err(rquickjs::Error::Unknown),
            false => Ok(()),
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

fn object_prototype<'js>(ctx: &Ctx<'js>) -> Js<'js> {
    let object = Object::new(ctx.clone());
    let prototype = object.ok().and_then(|object| object.get_prototype());
    prototype.map_or_else(|| Js::new_undefined(ctx.clone()), Object::into_value)
}

/// How many elements an array says it has. `Array::len` panics beyond 2^31.
fn length(array: &Array<'_>) -> usize {
    let length = array.as_object().get::<_, f64>("length");
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "never negative, and at most 2^32 - 1"
    )]
    length.map_or(0, |length| length as usize)
}
