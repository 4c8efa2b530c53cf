//! Policies that are known to compile, and what is known of each.

use std::sync::Arc;

use crate::lent::{Lent, REQUEST};
use crate::program::{Program, SourcePosition, Text};
use crate::sources::{PolicyCode, Sources, mention};

/// Policies that are known to compile, in order. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PolicySet {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    names: Vec<String>,
    /// Which text is a policy's own.
    texts: Vec<Text>,
    modules: Vec<String>,
    program: Program,
    marks: u32,
    reads: Reads,
    /// Which policies can't change the object.
    reads_only: Vec<bool>,
    /// What it was compiled from.
    sources: Sources,
}

/// Which of the values that are costly to make a policy could look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reads {
    pub(crate) old_object: bool,
    pub(crate) req: bool,
    pub(crate) ac: bool,
    /// `req.Object.Raw` and `req.OldObject.Raw`.
    pub(crate) raw: bool,
}

impl PolicySet {
    /// A set of texts that were checked: which of the policies await something, which only read, and what policies and
    /// modules are lent.
    pub(crate) fn new(
        sources: &Sources,
        is_async: &[bool],
        reads_only: Vec<bool>,
        lent: &[Lent],
    ) -> Self {
        Self {
            inner: Arc::new(Inner::new(sources, is_async, reads_only, lent)),
        }
    }

    /// The names of the policies, in order.
    pub fn names(&self) -> &[String] {
        &self.inner.names
    }

    /// How many `$cover` marks there are.
    pub fn marks(&self) -> u32 {
        self.inner.marks
    }

    /// The names of the modules, by their numbers.
    pub(crate) fn modules(&self) -> &[String] {
        &self.inner.modules
    }

    /// The text that is a policy's own.
    pub(crate) fn text_of(&self, policy: usize) -> Text {
        let text = self.inner.texts.get(policy).copied();
        text.unwrap_or(Text::Policy(policy))
    }

    /// The name of the text a position is in.
    pub(crate) fn source_of(&self, position: SourcePosition) -> &str {
        let name = match position.text {
            Text::Globals => None,
            Text::Policy(policy) => self.inner.names.get(policy),
            Text::Module(module) => self.inner.modules.get(module),
        };
        name.map_or("globals", String::as_str)
    }

    /// Whether a policy can't change the object.
    pub fn reads_only(&self, policy: usize) -> bool {
        self.inner
            .reads_only
            .get(policy)
            .copied()
            .unwrap_or_default()
    }

    /// What it was compiled from, for those who compile it again elsewhere.
    pub(crate) fn sources(&self) -> &Sources {
        &self.inner.sources
    }

    pub(crate) fn program(&self) -> &Program {
        &self.inner.program
    }

    pub(crate) fn reads(&self) -> Reads {
        self.inner.reads
    }
}

impl Inner {
    fn new(sources: &Sources, is_async: &[bool], reads_only: Vec<bool>, lent: &[Lent]) -> Self {
        let bodies = sources.policies.iter().filter_map(|p| match &p.code {
            PolicyCode::Body(code) | PolicyCode::JsPolicy(code) => Some(code.as_str()),
            PolicyCode::Module(_) => None,
        });
        let modules = sources
            .modules
            .iter()
            .flat_map(|m| [m.header.as_str(), m.code.as_str(), m.footer.as_str()]);
        let texts: Vec<&str> = std::iter::once(sources.globals.as_str())
            .chain(bodies)
            .chain(modules)
            .collect();
        let read = |name: &str| mention(texts.iter().copied(), name);
        let own_text = |(index, code): (usize, &PolicyCode)| match code {
            PolicyCode::Body(_) | PolicyCode::JsPolicy(_) => Text::Policy(index),
            PolicyCode::Module(number) => Text::Module(*number),
        };
        Self {
            reads_only,
            names: sources.policies.iter().map(|p| p.name.clone()).collect(),
            texts: sources
                .policies
                .iter()
                .map(|p| &p.code)
                .enumerate()
                .map(own_text)
                .collect(),
            modules: sources.modules.iter().map(|m| m.name.clone()).collect(),
            program: Program::new(sources, is_async, lent),
            marks: sources.marks,
            reads: Reads {
                old_object: read("oldObject"),
                req: read("req") || lent.iter().any(|lent| lent.contains(REQUEST)),
                ac: read("ac"),
                raw: read("Raw"),
            },
            sources: sources.clone(),
        }
    }
}
