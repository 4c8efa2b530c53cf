//! Every call declares what it needs.

use std::collections::BTreeSet;

use portcullis_roles::Permission;

use super::*;
use crate::api::access::Access;

#[test]
fn every_call_declares_a_permission_or_says_why_it_needs_none() {
    for endpoint in all() {
        let id = endpoint.id;
        match endpoint.access {
            Access::Public(why) | Access::SignedIn(why) | Access::Reader(why) => {
                assert!(why.len() > 10, "{id}")
            }
            Access::Credential(_) => {}
            Access::Tenant(permission, conditions)
            | Access::Root(permission, conditions)
            | Access::Holder(permission, conditions) => {
                for condition in conditions {
                    assert!(
                        permission.conditions().contains(condition),
                        "{id}: {condition}"
                    );
                }
            }
        }
        if let Access::Tenant(..) = endpoint.access {
            assert!(endpoint.path.starts_with("/api/tenant/{tenant}/"), "{id}");
        }
        let changes = endpoint.method != Verb::Get;
        let needs_nothing = endpoint.access.permission().is_none()
            && !matches!(endpoint.access, Access::Credential(_));
        let own = ["logout", "signIn", "signOut"];
        assert!(!(changes && needs_nothing) || own.contains(&id), "{id}");
    }
}

#[test]
fn every_permission_guards_something() {
    let used: BTreeSet<Permission> = all()
        .filter_map(|endpoint| endpoint.access.permission())
        .collect();
    for permission in Permission::ALL {
        assert!(used.contains(permission), "{permission}");
    }
}

#[test]
fn conditions_of_what_changes_something_are_those_of_its_permission() {
    for endpoint in all().filter(|e| e.method != Verb::Get) {
        if let Access::Tenant(permission, conditions) | Access::Holder(permission, conditions) =
            endpoint.access
        {
            assert_eq!(conditions, permission.conditions(), "{}", endpoint.id);
        }
    }
}
