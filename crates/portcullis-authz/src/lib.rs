//! Who may do what.
//!
//! `roles` is for people at the REST API and the web pages: rules about their claims, roles with
//! permissions, and which rule has which role in which tenant. Nothing here knows HTTP, files or
//! tokens: the document comes as a tree, the caller as an [`roles::Identity`] that somebody verified.
//!
//! [`graph`] is for agents: what they may touch follows from a live graph of objects that refer to each
//! other, and from a profile, which is data.

pub mod graph;
pub mod roles;
