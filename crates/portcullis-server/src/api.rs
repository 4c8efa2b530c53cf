//! The REST API: every call, what it needs, and what it does.
//!
//! Each call is defined where it is answered, with the permission it needs; [`endpoints::all`] is the one
//! list of them. Requests are routed by it, the guard reads from it what a call needs, and `openapi`
//! describes it. The caller is identified by `caller`, before anything of the
//! body is read; what it requests becomes an [`action::Action`], whose parameters are checked; and
//! only what was checked can be acted on, because only [`guard`] makes an [`guard::Authorized`].

#![expect(
    clippy::needless_pass_by_value,
    reason = "handlers all have one form, and some need only a part of the call"
)]

mod access;
mod action;
mod answer;
mod audit;
mod authorizations;
mod autohold;
mod body;
mod call;
mod caller;
mod candidates;
mod ci;
mod cookies;
mod decisions;
mod description;
mod endpoint;
mod endpoints;
mod graph;
mod guard;
mod home;
mod html;
mod info;
mod names;
mod openapi;
mod pages;
mod path;
mod people;
mod pipeline;
mod playground;
mod policies;
mod query;
mod reader;
mod refusal;
mod replays;
mod roles;
mod sessions;
mod sign_in;
mod state;
mod status;
mod tenant;
mod web;

pub(crate) use audit::Api;
pub(crate) use endpoint::Endpoint;
#[cfg(test)]
pub(crate) use endpoints::all;
pub(crate) use endpoints::{Found, find};
pub(crate) use path::PathValues;
pub(crate) use people::wants_page;
pub(crate) use web::{answer as answer_page, asset, not_found as page_not_found};
