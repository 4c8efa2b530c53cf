//! Who may do what.
//!
//! `roles` is for people at the REST API and the web pages: rules about their claims, roles with
//! permissions, and which rule has which role in which tenant. Nothing here knows HTTP, files or
//! tokens: the document comes as a tree, the caller as an [`roles::Identity`] that somebody verified.

pub mod roles;
