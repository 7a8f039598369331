//! The same interface on machines without the calls that are needed: `start` refuses.

use std::net::SocketAddrV4;

use crate::{Broken, Clock, ConnectError, Ending, Setup, SocketId, StartError, Step};

/// The processes of one host; there are none on this machine.
#[derive(Debug)]
pub enum Group {}

#[expect(missing_docs, reason = "documented where it does something")]
impl Group {
    pub fn start(_: &Setup) -> Result<Self, StartError> {
        Err(StartError::Unsupported)
    }
    pub fn start_to_copy(_: &Setup) -> Result<Self, StartError> {
        Err(StartError::Unsupported)
    }
    pub fn into_template(self) -> Result<Template, String> {
        match self {}
    }
    pub fn has_read(&self) -> bool {
        match *self {}
    }
    pub fn is_copy(&self) -> bool {
        match *self {}
    }
    pub fn step(&mut self, _: Clock) -> Result<Step, Broken> {
        match *self {}
    }
    pub fn line(&mut self, _: &str) {
        match *self {}
    }
    pub fn end_input(&mut self) {
        match *self {}
    }
    pub fn connected(&mut self, _: SocketId, _: Result<(), ConnectError>) {
        match *self {}
    }
    pub fn deliver(&mut self, _: SocketId, _: &[u8]) {
        match *self {}
    }
    pub fn closed(&mut self, _: SocketId, _: Ending) {
        match *self {}
    }
    pub fn accept(&mut self, _: SocketId, _: SocketAddrV4) -> Option<SocketId> {
        match *self {}
    }
}

/// A program that stands still, to be copied; there is none on this machine.
#[derive(Debug)]
pub enum Template {}

/// Programs that have started up; there are none on this machine.
#[derive(Debug, Default)]
pub struct Pool {}

#[expect(missing_docs, reason = "documented where it does something")]
impl Pool {
    pub fn new() -> Self {
        Self {}
    }
    pub fn start(&self, setup: &Setup) -> Result<Group, StartError> {
        Group::start(setup)
    }
    pub fn start_warmed<E: From<StartError>>(
        &self,
        _: &Setup,
        _: &str,
        _: impl FnOnce() -> Result<Template, E>,
    ) -> Result<Group, E> {
        Err(StartError::Unsupported.into())
    }
}
