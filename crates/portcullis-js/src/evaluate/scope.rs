//! The values a policy finds: `object`, `oldObject`, `req` and `ac`, and its own functions.

use std::sync::Arc;

use portcullis_core::Tree;
use rquickjs::{Array, Function, Object, Value as Js};
use serde_json::Value;

use super::Run;
use crate::convert::to_js;
use crate::lazy;
use crate::realm::Tool;

/// The policies' functions, with the object they share.
#[derive(Debug, Clone)]
pub(super) struct PolicyScope<'js> {
    pub(super) object: Js<'js>,
    /// What the object was made from.
    pub(super) base: Arc<Tree>,
    /// Makes the functions of policies and modules.
    pub(super) make: Function<'js>,
    /// Runs modules, once there was one to run.
    pub(super) link: Option<Function<'js>>,
}

impl<'js> Run<'_, 'js> {
    /// What enforced policies share.
    pub(super) fn shared_scope(&mut self) -> rquickjs::Result<PolicyScope<'js>> {
        if let Some(scope) = self.scope.clone() {
            if !self.is_in_shared {
                self.state.base.replace(Some(Arc::clone(&scope.base)));
                self.tools
                    .get(Tool::Enter)?
                    .call::<_, ()>((scope.object.clone(),))?;
                self.is_in_shared = true;
            }
            return Ok(scope);
        }
        let object = self.kept.as_ref().unwrap_or(&self.input.object);
        let scope = self.make_scope(&Arc::clone(object))?;
        self.is_in_shared = true;
        Ok(self.scope.insert(scope).clone())
    }

    /// A scope of its own, whose changes are not kept.
    pub(super) fn separate_scope(&mut self) -> rquickjs::Result<PolicyScope<'js>> {
        self.is_in_shared = false;
        if let Some(kept) = self.kept.clone() {
            return self.make_scope(&kept);
        }
        if self.input.failures_pass {
            return self.make_scope(&self.input.object);
        }
        // An object that can't be read is denied at the end; until then the original stands for it.
        match self.object_now() {
            Ok(Some(changed)) => self.make_scope(&Arc::new(Tree::from(&changed))),
            _ => self.make_scope(&self.input.object),
        }
    }

    fn make_scope(&mut self, base: &Arc<Tree>) -> rquickjs::Result<PolicyScope<'js>> {
        let ctx = self.ctx;
        let nothing = || Js::new_undefined(ctx.clone());
        let lazy = self.tools.get(Tool::Lazy)?;
        let object = lazy::root(ctx, self.state, (base, "object"), &lazy)?;
        let reads = self.set.reads();
        let old = match reads.old_object {
            true => {
                let old = (&self.input.old_object, "oldObject");
                lazy::root(ctx, self.state, old, &lazy)?
            }
            false => nothing(),
        };
        let req = match reads.req {
            true => self.request(&object, &old, &lazy)?,
            false => nothing(),
        };
        let (ac, cell) = match reads.ac {
            true => {
                let cell = match &self.cell {
                    Some(cell) => cell.clone(),
                    None => self.cell.insert(Object::new(ctx.clone())?).clone(),
                };
                let ac = self.plain(&self.input.subject.ac(), "ac", &lazy)?;
                (ac, cell.into_value())
            }
            false => (nothing(), nothing()),
        };
        self.state.base.replace(Some(Arc::clone(base)));
        let program = self.realm.program(ctx)?;
        let begin = self.tools.get(Tool::Begin)?;
        let make = begin.call((program, object.clone(), old, req, ac, cell))?;
        Ok(PolicyScope {
            object,
            base: Arc::clone(base),
            make,
            link: None,
        })
    }

    /// A value that is made whole, unless something in it is masked.
    fn plain(
        &self,
        value: &Value,
        name: &'static str,
        lazy: &Function<'js>,
    ) -> rquickjs::Result<Js<'js>> {
        if self.input.replay.is_some() {
            let tree = Arc::new(Tree::from(value));
            if lazy::has_masked(self.state, &tree) {
                return lazy::root(self.ctx, self.state, (&tree, name), lazy);
            }
        }
        to_js(self.ctx, self.state, value)
    }

    /// `req`, with the objects in it.
    fn request(
        &self,
        object: &Js<'js>,
        old: &Js<'js>,
        lazy: &Function<'js>,
    ) -> rquickjs::Result<Js<'js>> {
        let reads = self.set.reads();
        let req = self.plain(&self.input.subject.req(), "req", lazy)?;
        let Some(members) = req.as_object() else {
            return Ok(req);
        };
        members.set("object", object.clone())?;
        if reads.old_object {
            members.set("oldObject", old.clone())?;
        }
        if reads.raw {
            let (object, old) = (&self.input.object, &self.input.old_object);
            members.set("Object", self.raw(object, "req.Object.Raw", lazy)?)?;
            members.set("OldObject", self.raw(old, "req.OldObject.Raw", lazy)?)?;
        }
        Ok(req)
    }

    /// `{Raw: [...]}`: the bytes of the JSON, as Go's `RawExtension` has them.
    fn raw(
        &self,
        tree: &Tree,
        name: &'static str,
        lazy: &Function<'js>,
    ) -> rquickjs::Result<Object<'js>> {
        let holder = Object::new(self.ctx.clone())?;
        let value = tree.to_value();
        let bytes: Vec<u8> = match value.is_null() {
            true => Vec::new(),
            false => value.to_string().into_bytes(),
        };
        if lazy::has_masked(self.state, tree) {
            let bytes = (Tree::from(&Value::from(bytes)), name);
            lazy::put_off_masked(self.state, (&holder, "Raw"), bytes, lazy)?;
            return Ok(holder);
        }
        let list = Array::new(self.ctx.clone())?;
        for (index, byte) in bytes.into_iter().enumerate() {
            list.set(index, byte)?;
        }
        holder.set("Raw", list)?;
        Ok(holder)
    }
}
