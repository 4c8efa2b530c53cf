//! Who the agents are: from user and groups to what an agent stands for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_core::UserInfo;
use portcullis_core::text::printable;

use super::captures::{CaptureNames, Captured, NAME, NAMESPACE, Values};
use super::faults::Faults;
use super::pattern::{Fit, Pattern};
use super::template::Template;
use crate::kinds::Kinds;
use crate::names::clip;
use crate::spec::SubjectSpec;
use crate::vertex::KindId;

/// How many subjects a profile may have: each is a bit.
const MOST: usize = 64;

/// What names of service accounts and their groups begin with.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
const SERVICE_ACCOUNTS_OF: &str = "system:serviceaccounts:";

/// One kind of agents.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) id: Arc<str>,
    /// Its bit in the sets of rules.
    pub(super) bit: u64,
    pub(crate) kind: KindId,
    /// The name of that kind.
    kind_name: Box<str>,
    /// The pattern as it is written.
    user: Box<str>,
    pattern: Pattern,
    /// Whether who begins as the pattern does, in these groups, can only be such an agent.
    is_claimable: bool,
    groups: Vec<Template>,
    without_groups: Vec<Template>,
    unnamed: Option<Box<str>>,
    namespace: Template,
    name: Template,
}

/// All kinds of agents of a profile.
#[derive(Debug, Default)]
pub(crate) struct Subjects {
    agents: Vec<Agent>,
    pub(super) names: CaptureNames,
}

/// An agent that was recognized.
#[derive(Debug)]
pub(crate) struct Recognized<'a> {
    pub(crate) agent: &'a Agent,
    captured: Captured<'a>,
    pub(super) namespace: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
}

/// Who a user is.
#[derive(Debug)]
pub(crate) enum Recognition<'a> {
    /// No agent.
    NotAnAgent,
    /// It claims to be an agent, but which can't be determined; why.
    Unclear(Cow<'a, str>),
    /// An agent.
    Agent(Recognized<'a>),
}

impl Values for Recognized<'_> {
    fn value(&self, number: u8) -> &str {
        match (self.captured.get(number), number) {
            (Some(part), _) => part,
            (None, NAME) => &self.name,
            (None, NAMESPACE) => &self.namespace,
            (None, _) => "",
        }
    }
}

impl Subjects {
    /// Who a user is. The first that matches counts.
    pub(crate) fn recognize<'a>(&'a self, user: &'a UserInfo) -> Recognition<'a> {
        let mut unclear = None;
        for agent in &self.agents {
            let mut captured = Captured::default();
            let fit = agent.pattern.fit(&user.username, &mut captured);
            let may_be = match fit {
                Fit::No => false,
                Fit::Begins => agent.is_claimable,
                Fit::Empty | Fit::Odd | Fit::Yes => true,
            };
            if !may_be || !agent.has_groups(user, &captured) {
                continue;
            }
            if fit != Fit::Yes {
                unclear = unclear.or_else(|| Some(agent.unclear(fit, user)));
                continue;
            }
            if let Some(other) = other_namespace(user) {
                unclear = unclear.or_else(|| Some(in_several(user, other).into()));
                continue;
            }
            return Recognition::Agent(Recognized {
                namespace: fill(&agent.namespace, &captured),
                name: fill(&agent.name, &captured),
                agent,
                captured,
            });
        }
        unclear.map_or(Recognition::NotAnAgent, Recognition::Unclear)
    }

    /// Which subject a user nearly is, in words.
    pub(crate) fn nearest(&self, user: &UserInfo) -> Option<String> {
        let mut by_groups = None;
        for agent in &self.agents {
            let mut captured = Captured::default();
            let fit = agent.pattern.fit(&user.username, &mut captured);
            let has = |group: &&Template| user.groups.iter().any(|g| group.is(&captured, g));
            let id = &agent.id;
            if fit == Fit::Yes {
                let lacking = agent.groups.iter().filter(|group| !has(group));
                let lacking: Vec<_> = lacking.map(|group| group.expand(&captured)).collect();
                if !lacking.is_empty() {
                    let groups = in_backticks(&lacking);
                    return Some(format!(
                        "user matches subject `{id}`, but is not in {groups}"
                    ));
                }
                let wrong = agent.without_groups.iter().filter(has);
                let wrong: Vec<_> = wrong.map(|group| group.expand(&captured)).collect();
                if !wrong.is_empty() {
                    let groups = in_backticks(&wrong);
                    return Some(format!("user matches subject `{id}`, but is in {groups}"));
                }
            }
            if fit != Fit::Yes && agent.has_fixed_groups() && agent.groups.iter().all(|g| has(&g)) {
                by_groups.get_or_insert_with(|| {
                    let (pattern, groups) = (&agent.user, agent.groups.iter());
                    let groups: Vec<_> = groups.map(|group| group.expand(&captured)).collect();
                    let groups = in_backticks(&groups);
                    format!(
                        "user is in {groups} of subject `{id}`, but its name does not match `{pattern}`"
                    )
                });
            }
        }
        by_groups
    }

    /// Checks and compiles.
    pub(super) fn compile(
        specs: &[SubjectSpec],
        kinds: &Kinds,
        targets: &[KindId],
        faults: &mut Faults<'_>,
    ) -> Self {
        let mut subjects = Self::default();
        if specs.is_empty() {
            faults.add("subjects", "name at least one subject");
        }
        if specs.len() > MOST {
            faults.add("subjects", format!("there are more than {MOST} subjects"));
        }
        let mut ids = BTreeMap::new();
        for (index, spec) in specs.iter().enumerate() {
            let at = format!("subjects[{index}]");
            if spec.id.is_empty() {
                faults.add(format!("{at}.id"), "the id is empty");
            }
            if let Some(first) = ids.insert(spec.id.as_str(), index) {
                let message = format!("the id `{}` is already used by subjects[{first}]", spec.id);
                faults.add(format!("{at}.id"), message);
            }
            let bit = 1_u64.checked_shl(u32::try_from(index).unwrap_or(u32::MAX));
            let agent = subjects.agent(spec, bit.unwrap_or(0), kinds, targets, &at, faults);
            subjects.agents.extend(agent);
        }
        subjects
    }

    fn agent(
        &mut self,
        spec: &SubjectSpec,
        bit: u64,
        kinds: &Kinds,
        targets: &[KindId],
        at: &str,
        faults: &mut Faults<'_>,
    ) -> Option<Agent> {
        let pattern = Pattern::parse(&spec.user, &mut self.names);
        let pattern = faults.note(&format!("{at}.user"), pattern);
        let own = |text: &str, path: String, faults: &mut Faults<'_>| {
            let template = faults.template(&path, text, &self.names)?;
            let captured = |number| {
                pattern
                    .as_ref()
                    .is_none_or(|p| p.captures().any(|c| c == number))
            };
            if let Some(number) = template.captures().find(|number| !captured(*number)) {
                let name = self.names.name(number);
                faults.add(
                    path,
                    format!("`{{{name}}}` is not in the pattern of the user"),
                );
                return None;
            }
            Some(template)
        };
        let mut lists = [Vec::new(), Vec::new()];
        let written = [
            ("groups", &spec.groups),
            ("withoutGroups", &spec.without_groups),
        ];
        for (list, (key, texts)) in lists.iter_mut().zip(written) {
            for (i, text) in texts.iter().enumerate() {
                let path = format!("{at}.{key}[{i}]");
                if text.is_empty() {
                    faults.add(&path, "the group is empty");
                }
                list.extend(own(text, path, faults));
            }
        }
        let [groups, without_groups] = lists;
        let target = &spec.target;
        let namespace = own(&target.namespace, format!("{at}.target.namespace"), faults);
        let name = own(&target.name, format!("{at}.target.name"), faults);
        if name.as_ref().is_some_and(Template::is_empty) {
            faults.add(format!("{at}.target.name"), "the name is empty");
        }
        let kind = faults.kind(&format!("{at}.target.kind"), &target.kind, kinds)?;
        if !targets.contains(&kind) {
            let message = format!("`{}` is not one of `targets`", target.kind);
            let known = targets.iter().map(|id| kinds.name(*id));
            faults.add_known(
                format!("{at}.target.kind"),
                message,
                "targets",
                &target.kind,
                known,
            );
        }
        let namespaced = kinds.get(kind).is_some_and(|kind| kind.namespaced);
        if namespaced == target.namespace.is_empty() {
            let not = if namespaced { "" } else { "not " };
            let message = format!("objects of kind `{}` are {not}namespaced", target.kind);
            faults.add(format!("{at}.target.namespace"), message);
        }
        let pattern = pattern?;
        let is_claimable = pattern.has_own_prefix() && are_fixed(&groups);
        Some(Agent {
            id: spec.id.as_str().into(),
            bit,
            kind,
            kind_name: target.kind.as_str().into(),
            user: spec.user.as_str().into(),
            pattern,
            is_claimable,
            groups,
            without_groups,
            unnamed: spec.unnamed.as_deref().map(Into::into),
            namespace: namespace?,
            name: name?,
        })
    }

    /// The set of subjects of a list of ids; all without one.
    pub(super) fn set(
        &self,
        ids: Option<&[String]>,
        specs: &[SubjectSpec],
        at: &str,
        faults: &mut Faults<'_>,
    ) -> u64 {
        let Some(ids) = ids else {
            return u64::MAX;
        };
        if ids.is_empty() {
            faults.add(at, "the list is empty; omit `subjects` for all");
        }
        let mut set = 0;
        for (i, id) in ids.iter().enumerate() {
            if let Some(agent) = self.agents.iter().find(|agent| *agent.id == **id) {
                set |= agent.bit;
            } else if !specs.iter().any(|spec| spec.id == *id) {
                let known = specs.iter().map(|spec| &*spec.id);
                let message = format!("unknown subject `{id}`");
                faults.add_known(
                    format!("{at}[{i}]"),
                    message,
                    "ids of `subjects`",
                    id,
                    known,
                );
            }
        }
        set
    }

    /// The first of these subjects for which a name has no value.
    pub(super) fn without(&self, number: u8, set: u64) -> Option<&Agent> {
        let mut agents = self.agents.iter().filter(|agent| agent.bit & set != 0);
        agents.find(|agent| {
            let captured = agent.pattern.captures().any(|c| c == number);
            let stands_for = number == NAME || (number == NAMESPACE && !agent.namespace.is_empty());
            !captured && !stands_for
        })
    }
}

impl Agent {
    fn has_groups(&self, user: &UserInfo, captured: &Captured<'_>) -> bool {
        let has = |group: &Template| user.groups.iter().any(|g| group.is(captured, g));
        self.groups.iter().all(has) && !self.without_groups.iter().any(has)
    }

    fn has_fixed_groups(&self) -> bool {
        are_fixed(&self.groups)
    }

    /// Why it can't be determined which one a user is.
    fn unclear<'a>(&'a self, fit: Fit, user: &UserInfo) -> Cow<'a, str> {
        match (fit, &self.unnamed) {
            (Fit::Empty, Some(said)) => Cow::Borrowed(said),
            _ => {
                let (kind, user) = (&self.kind_name, clip(&user.username));
                Cow::Owned(format!(
                    "could not determine the {kind} from user \"{}\"",
                    printable(user)
                ))
            }
        }
    }
}

/// Whether there are groups, and none of them depends on the user.
fn are_fixed(groups: &[Template]) -> bool {
    !groups.is_empty() && groups.iter().all(|group| group.only_text().is_some())
}

/// A namespace besides its own that a service account is in by its groups.
fn other_namespace(user: &UserInfo) -> Option<&str> {
    let account = user.username.strip_prefix(SERVICE_ACCOUNT)?;
    let (own, _) = account.split_once(':')?;
    let namespaces = user
        .groups
        .iter()
        .filter_map(|g| g.strip_prefix(SERVICE_ACCOUNTS_OF));
    namespaces.into_iter().find(|namespace| *namespace != own)
}

fn in_several(user: &UserInfo, other: &str) -> String {
    format!(
        "service account \"{}\" is in the group of another namespace, \"{}\"",
        printable(clip(&user.username)),
        printable(clip(other))
    )
}

fn in_backticks(groups: &[String]) -> String {
    let word = if groups.len() == 1 { "group" } else { "groups" };
    let groups: Vec<_> = groups
        .iter()
        .map(|group| format!("`{}`", printable(group)))
        .collect();
    format!("{word} {}", groups.join(", "))
}

/// The text of a template, built only if it has several pieces.
fn fill<'a>(template: &'a Template, captured: &Captured<'a>) -> Cow<'a, str> {
    if let Some(part) = template
        .only_capture()
        .and_then(|number| captured.get(number))
    {
        return Cow::Borrowed(part);
    }
    match template.only_text() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(template.expand(captured)),
    }
}
