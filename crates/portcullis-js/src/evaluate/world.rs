//! The values a policy finds: `object`, `oldObject`, `req` and `ac`, and its own functions.

use std::sync::Arc;

use portcullis_core::Tree;
use rquickjs::{Array, Ctx, Function, Object, Value as Js};

use super::Run;
use crate::convert::to_js;
use crate::lazy;
use crate::realm::Tool;

/// The policies' functions, with the object they share.
#[derive(Debug, Clone)]
pub(super) struct World<'js> {
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
    pub(super) fn shared_world(&mut self) -> rquickjs::Result<World<'js>> {
        if let Some(world) = self.world.clone() {
            if !self.is_in_shared {
                self.state.base.replace(Some(Arc::clone(&world.base)));
                self.tools
                    .get(Tool::Enter)?
                    .call::<_, ()>((world.object.clone(),))?;
                self.is_in_shared = true;
            }
            return Ok(world);
        }
        let object = self.kept.as_ref().unwrap_or(&self.input.object);
        let world = self.make_world(&Arc::clone(object))?;
        self.is_in_shared = true;
        Ok(self.world.insert(world).clone())
    }

    /// A world of its own, whose changes are not kept.
    pub(super) fn separate_world(&mut self) -> rquickjs::Result<World<'js>> {
        self.is_in_shared = false;
        if let Some(kept) = self.kept.clone() {
            return self.make_world(&kept);
        }
        if self.input.failures_pass {
            return self.make_world(&self.input.object);
        }
        // An object that can't be read is refused at the end; until then the original stands for it.
        match self.object_now() {
            Ok(Some(changed)) => self.make_world(&Arc::new(Tree::from(&changed))),
            _ => self.make_world(&self.input.object),
        }
    }

    fn make_world(&mut self, base: &Arc<Tree>) -> rquickjs::Result<World<'js>> {
        let ctx = self.ctx;
        let nothing = || Js::new_undefined(ctx.clone());
        let lazy = self.tools.get(Tool::Lazy)?;
        let object = lazy::root(ctx, self.state, base, &lazy)?;
        let reads = self.set.reads();
        let old = match reads.old_object {
            true => lazy::root(ctx, self.state, &self.input.old_object, &lazy)?,
            false => nothing(),
        };
        let req = match reads.req {
            true => self.request(&object, &old)?,
            false => nothing(),
        };
        let (ac, cell) = match reads.ac {
            true => {
                let cell = match &self.cell {
                    Some(cell) => cell.clone(),
                    None => self.cell.insert(Object::new(ctx.clone())?).clone(),
                };
                (to_js(ctx, &self.input.subject.ac())?, cell.into_value())
            }
            false => (nothing(), nothing()),
        };
        self.state.base.replace(Some(Arc::clone(base)));
        let program = self.realm.program(ctx)?;
        let begin = self.tools.get(Tool::Begin)?;
        let make = begin.call((program, object.clone(), old, req, ac, cell))?;
        Ok(World {
            object,
            base: Arc::clone(base),
            make,
            link: None,
        })
    }

    /// `req`, with the objects in it.
    fn request(&self, object: &Js<'js>, old: &Js<'js>) -> rquickjs::Result<Js<'js>> {
        let (ctx, reads) = (self.ctx, self.set.reads());
        let req = to_js(ctx, &self.input.subject.req())?;
        let Some(members) = req.as_object() else {
            return Ok(req);
        };
        members.set("object", object.clone())?;
        if reads.old_object {
            members.set("oldObject", old.clone())?;
        }
        if reads.raw {
            members.set("Object", raw(ctx, &self.input.object)?)?;
            members.set("OldObject", raw(ctx, &self.input.old_object)?)?;
        }
        Ok(req)
    }
}

/// `{Raw: [...]}`: the bytes of the JSON, as Go's `RawExtension` has them.
fn raw<'js>(ctx: &Ctx<'js>, tree: &Tree) -> rquickjs::Result<Object<'js>> {
    let bytes = Array::new(ctx.clone())?;
    let value = tree.to_value();
    if !value.is_null() {
        for (index, byte) in value.to_string().bytes().enumerate() {
            bytes.set(index, byte)?;
        }
    }
    let holder = Object::new(ctx.clone())?;
    holder.set("Raw", bytes)?;
    Ok(holder)
}
