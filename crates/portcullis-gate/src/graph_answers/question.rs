//! Access questions, as users write them.

use std::str::FromStr;
use std::sync::Arc;

use portcullis_core::access::{Requirement, ResourceTarget, split_resource};
use portcullis_core::attributes::{AUTHENTICATED, service_account_groups};
use portcullis_core::{Access, Target, UserInfo};

use super::selector;

/// An access question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessQuestion {
    /// Like `get`.
    pub verb: String,
    /// To what.
    pub what: ResourceText,
    /// Part of the object, like `status`; empty for the object itself.
    pub subresource: String,
    /// Namespace; empty for all, or for objects without one.
    pub namespace: String,
    /// Label selector of a list.
    pub selector: Option<String>,
    /// Field selector of a list.
    pub field_selector: Option<String>,
    /// The user.
    pub user: String,
    /// Groups the user is in.
    pub groups: Vec<String>,
}

/// `RESOURCE[.GROUP][/NAME]`, or a non-resource path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceText {
    /// An object or collection of the API.
    Resource {
        /// Like `shoots`.
        resource: String,
        /// API group, empty for the core group.
        group: String,
        /// Name; empty for all.
        name: String,
    },
    /// Like `/healthz`.
    Path(String),
}

/// Something that can't be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WrongQuestion(pub String);

impl FromStr for ResourceText {
    type Err = WrongQuestion;

    fn from_str(text: &str) -> Result<Self, WrongQuestion> {
        if text.starts_with('/') {
            return Ok(Self::Path(text.to_owned()));
        }
        let wrong = || {
            WrongQuestion(format!(
                "invalid resource `{text}`: expected RESOURCE[.GROUP][/NAME], like `pods/web` or `deployments.apps`"
            ))
        };
        let (resource, group, name) = split_resource(text).ok_or_else(wrong)?;
        Ok(Self::Resource {
            resource: resource.to_owned(),
            group: group.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl AccessQuestion {
    /// What authorizers are asked.
    ///
    /// # Errors
    ///
    /// When a selector is invalid, or something is said of a path that only resources have.
    pub fn access(&self) -> Result<Access, WrongQuestion> {
        let target = match &self.what {
            ResourceText::Path(path) => self.path(path)?,
            ResourceText::Resource {
                resource,
                group,
                name,
            } => self.resource(resource, group, name)?,
        };
        Ok(Access {
            user: self.user(),
            verb: self.verb.clone(),
            target,
            context: Arc::default(),
        })
    }

    fn path(&self, path: &str) -> Result<Target, WrongQuestion> {
        let only_resources = [
            ("a subresource", !self.subresource.is_empty()),
            ("a namespace", !self.namespace.is_empty()),
            (
                "a selector",
                self.selector.is_some() || self.field_selector.is_some(),
            ),
        ];
        match only_resources.iter().find(|(_, is_given)| *is_given) {
            None => Ok(Target::Path(path.to_owned())),
            Some((what, _)) => Err(WrongQuestion(format!(
                "`{path}` is a path and has no {}",
                what.trim_start_matches("a ")
            ))),
        }
    }

    fn resource(&self, resource: &str, group: &str, name: &str) -> Result<Target, WrongQuestion> {
        let read = |text: &Option<String>, parse: fn(&str) -> _| {
            let given = text.as_deref().map(parse).transpose();
            given.map(Option::unwrap_or_default).map_err(WrongQuestion)
        };
        let field_selector = read(&self.field_selector, selector::fields)?;
        let label_selector = read(&self.selector, selector::labels)?;
        let mut name = name.to_owned();
        // As the API server does it: a list of one name is about that object.
        if name.is_empty() && matches!(self.verb.as_str(), "list" | "watch" | "deletecollection") {
            let selected = field_selector.iter().find_map(selected_name);
            name = selected.unwrap_or_default();
        }
        Ok(Target::Resource(ResourceTarget {
            group: group.to_owned(),
            version: String::new(),
            resource: resource.to_owned(),
            subresource: self.subresource.clone(),
            namespace: self.namespace.clone(),
            name,
            field_selector,
            label_selector,
        }))
    }

    /// A service account is in the groups that every service account is in, unless groups are given.
    fn user(&self) -> UserInfo {
        let mut groups = self.groups.clone();
        if let (true, Some(of_account)) = (groups.is_empty(), service_account_groups(&self.user)) {
            groups.extend(of_account);
            groups.push(AUTHENTICATED.to_owned());
        }
        UserInfo {
            username: self.user.clone(),
            groups,
            ..UserInfo::default()
        }
    }

    /// The same as parameters of a call.
    pub fn parameters(&self) -> Vec<(&'static str, &str)> {
        let mut all = vec![("verb", self.verb.as_str()), ("user", self.user.as_str())];
        match &self.what {
            ResourceText::Path(path) => all.push(("path", path)),
            ResourceText::Resource {
                resource,
                group,
                name,
            } => all.extend([
                ("resource", resource.as_str()),
                ("group", group),
                ("name", name),
            ]),
        }
        all.extend([
            ("subresource", self.subresource.as_str()),
            ("namespace", &self.namespace),
            ("selector", self.selector.as_deref().unwrap_or_default()),
            (
                "field_selector",
                self.field_selector.as_deref().unwrap_or_default(),
            ),
        ]);
        all.retain(|(_, value)| !value.is_empty());
        all.extend(self.groups.iter().map(|group| ("groups", group.as_str())));
        all
    }
}

fn selected_name(requirement: &Requirement) -> Option<String> {
    match (
        requirement.key.as_str(),
        requirement.operator.as_str(),
        requirement.values.as_slice(),
    ) {
        ("metadata.name", "In", [name]) => Some(name.clone()),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A user of the sample asks.
    pub(in super::super) fn asked(
        user: &str,
        verb: &str,
        what: &str,
        namespace: &str,
    ) -> AccessQuestion {
        AccessQuestion {
            verb: verb.to_owned(),
            what: what.parse().unwrap(),
            subresource: String::new(),
            namespace: namespace.to_owned(),
            selector: None,
            field_selector: None,
            user: user.to_owned(),
            groups: vec!["robots".to_owned()],
        }
    }

    fn target(question: &AccessQuestion) -> ResourceTarget {
        match question.access().unwrap().target {
            Target::Resource(target) => target,
            Target::Path(path) => panic!("{path}"),
        }
    }

    #[test]
    fn resources_are_read_with_group_and_name() {
        for (text, resource, group, name) in [
            ("pods", "pods", "", ""),
            ("pods/web.1", "pods", "", "web.1"),
            ("deployments.apps", "deployments", "apps", ""),
            (
                "shoots.core.gardener.cloud/a",
                "shoots",
                "core.gardener.cloud",
                "a",
            ),
        ] {
            let wanted = ResourceText::Resource {
                resource: resource.to_owned(),
                group: group.to_owned(),
                name: name.to_owned(),
            };
            assert_eq!(text.parse::<ResourceText>().unwrap(), wanted, "{text}");
        }
        assert_eq!(
            "/healthz".parse(),
            Ok(ResourceText::Path("/healthz".to_owned()))
        );
        for wrong in ["", "pods/", "pods/a/b", ".apps", "pods.", "pods./x"] {
            assert!(wrong.parse::<ResourceText>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_list_of_one_name_is_about_that_object() {
        let mut question = asked("u", "list", "desks.office.example", "hq");
        question.field_selector = Some("metadata.name=d1".to_owned());
        assert_eq!(target(&question).name, "d1");
        question.field_selector = Some("metadata.name!=d1".to_owned());
        assert_eq!(target(&question).name, "");
        question.verb = "get".to_owned();
        question.field_selector = Some("metadata.name=d1".to_owned());
        assert_eq!(target(&question).name, "");
    }

    #[test]
    fn service_accounts_are_in_their_groups_unless_others_are_given() {
        let mut question = asked("system:serviceaccount:ns:bot", "get", "pods", "");
        assert_eq!(question.access().unwrap().user.groups, ["robots"]);
        question.groups.clear();
        assert_eq!(
            question.access().unwrap().user.groups,
            [
                "system:serviceaccounts",
                "system:serviceaccounts:ns",
                "system:authenticated"
            ]
        );
        question.user = "alice".to_owned();
        assert!(question.access().unwrap().user.groups.is_empty());
    }

    #[test]
    fn paths_have_nothing_that_resources_have() {
        let path = asked("u", "get", "/healthz", "");
        assert_eq!(
            path.access().unwrap().target,
            Target::Path("/healthz".to_owned())
        );
        let wrong = asked("u", "get", "/healthz", "hq").access().unwrap_err();
        assert!(wrong.to_string().contains("has no namespace"), "{wrong}");
    }

    #[test]
    fn parameters_leave_out_what_is_not_said() {
        let question = asked("u", "get", "desks.office.example/d1", "hq");
        assert_eq!(
            question.parameters(),
            [
                ("verb", "get"),
                ("user", "u"),
                ("resource", "desks"),
                ("group", "office.example"),
                ("name", "d1"),
                ("namespace", "hq"),
                ("groups", "robots"),
            ]
        );
    }
}
