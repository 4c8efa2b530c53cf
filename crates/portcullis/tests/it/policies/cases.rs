//! What acjs does with policies, case by case, where that needs a process: TLS, and other programs. The other
//! cases are tested in portcullis-server.

mod listeners;
mod outside;
