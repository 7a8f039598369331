//! Several operations at once, of which all take effect or none, and several reads at once.
//!
//! *Source:* `MultiOperationRecord.java`, `MultiResponse.java` of ZooKeeper 3.8.

use super::codes::opcode;
use super::records::{
    Check, Children, Create, CreateTtl, DataStat, Delete, Path, PathStat, Read, SetData, Stat,
};
use crate::jute::{Malformed, Record, records};

records! {
    /// Stands before each operation and before each result.
    MultiHeader {
        /// What follows.
        opcode: i32,
        /// True at the end.
        done: bool,
        /// The error of a result; -1 before an operation and at the end.
        error: i32,
    }
}

const END: MultiHeader = MultiHeader { opcode: opcode::ERROR, done: true, error: -1 };

/// One of several operations.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is called as its record")]
pub enum Op {
    Create(Create),
    Create2(Create),
    CreateContainer(Create),
    CreateTtl(CreateTtl),
    Delete(Delete),
    SetData(SetData),
    Check(Check),
    GetChildren(Read),
    GetData(Read),
}

/// The result of one of several operations.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is called as its operation")]
pub enum OpResult {
    Create(Path),
    /// Also of a container and of a node that ends by itself.
    Create2(PathStat),
    Delete,
    SetData(Stat),
    Check,
    GetChildren(Children),
    GetData(DataStat),
    /// It failed, or another one did.
    Error(i32),
}

/// Operations up to the end.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Multi {
    /// In their order.
    pub ops: Vec<Op>,
}

/// Results up to the end.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MultiResults {
    /// One for each operation.
    pub results: Vec<OpResult>,
}

impl Op {
    /// What is asked.
    #[must_use]
    pub fn opcode(&self) -> i32 {
        match self {
            Op::Create(_) => opcode::CREATE,
            Op::Create2(_) => opcode::CREATE2,
            Op::CreateContainer(_) => opcode::CREATE_CONTAINER,
            Op::CreateTtl(_) => opcode::CREATE_TTL,
            Op::Delete(_) => opcode::DELETE,
            Op::SetData(_) => opcode::SET_DATA,
            Op::Check(_) => opcode::CHECK,
            Op::GetChildren(_) => opcode::GET_CHILDREN,
            Op::GetData(_) => opcode::GET_DATA,
        }
    }

    fn put_body(&self, out: &mut Vec<u8>) {
        match self {
            Op::Create(create) | Op::Create2(create) | Op::CreateContainer(create) => create.put(out),
            Op::CreateTtl(create) => create.put(out),
            Op::Delete(delete) => delete.put(out),
            Op::SetData(set) => set.put(out),
            Op::Check(check) => check.put(out),
            Op::GetChildren(read) | Op::GetData(read) => read.put(out),
        }
    }

    fn take_body(opcode: i32, from: &mut &[u8]) -> Result<Op, Malformed> {
        Ok(match opcode {
            opcode::CREATE => Op::Create(Record::take(from)?),
            opcode::CREATE2 => Op::Create2(Record::take(from)?),
            opcode::CREATE_CONTAINER => Op::CreateContainer(Record::take(from)?),
            opcode::CREATE_TTL => Op::CreateTtl(Record::take(from)?),
            opcode::DELETE => Op::Delete(Record::take(from)?),
            opcode::SET_DATA => Op::SetData(Record::take(from)?),
            opcode::CHECK => Op::Check(Record::take(from)?),
            opcode::GET_CHILDREN => Op::GetChildren(Record::take(from)?),
            opcode::GET_DATA => Op::GetData(Record::take(from)?),
            _ => return Err(Malformed),
        })
    }
}

impl OpResult {
    fn header(&self) -> MultiHeader {
        let (opcode, error) = match self {
            OpResult::Create(_) => (opcode::CREATE, 0),
            OpResult::Create2(_) => (opcode::CREATE2, 0),
            OpResult::Delete => (opcode::DELETE, 0),
            OpResult::SetData(_) => (opcode::SET_DATA, 0),
            OpResult::Check => (opcode::CHECK, 0),
            OpResult::GetChildren(_) => (opcode::GET_CHILDREN, 0),
            OpResult::GetData(_) => (opcode::GET_DATA, 0),
            OpResult::Error(error) => (opcode::ERROR, *error),
        };
        MultiHeader { opcode, done: false, error }
    }

    fn put_body(&self, out: &mut Vec<u8>) {
        match self {
            OpResult::Create(path) => path.put(out),
            OpResult::Create2(made) => made.put(out),
            OpResult::SetData(stat) => stat.put(out),
            OpResult::GetChildren(children) => children.put(out),
            OpResult::GetData(data) => data.put(out),
            OpResult::Error(error) => error.put(out),
            OpResult::Delete | OpResult::Check => {}
        }
    }

    fn take_body(opcode: i32, from: &mut &[u8]) -> Result<OpResult, Malformed> {
        Ok(match opcode {
            opcode::CREATE => OpResult::Create(Record::take(from)?),
            opcode::CREATE2 => OpResult::Create2(Record::take(from)?),
            opcode::DELETE => OpResult::Delete,
            opcode::SET_DATA => OpResult::SetData(Record::take(from)?),
            opcode::CHECK => OpResult::Check,
            opcode::GET_CHILDREN => OpResult::GetChildren(Record::take(from)?),
            opcode::GET_DATA => OpResult::GetData(Record::take(from)?),
            opcode::ERROR => OpResult::Error(Record::take(from)?),
            _ => return Err(Malformed),
        })
    }
}

impl Record for Multi {
    fn put(&self, out: &mut Vec<u8>) {
        for op in &self.ops {
            MultiHeader { opcode: op.opcode(), done: false, error: -1 }.put(out);
            op.put_body(out);
        }
        END.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Multi, Malformed> {
        let mut ops = Vec::new();
        loop {
            let header = MultiHeader::take(from)?;
            if header.done {
                return Ok(Multi { ops });
            }
            ops.push(Op::take_body(header.opcode, from)?);
        }
    }
}

impl Record for MultiResults {
    fn put(&self, out: &mut Vec<u8>) {
        for result in &self.results {
            result.header().put(out);
            result.put_body(out);
        }
        END.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<MultiResults, Malformed> {
        let mut results = Vec::new();
        loop {
            let header = MultiHeader::take(from)?;
            if header.done {
                return Ok(MultiResults { results });
            }
            results.push(OpResult::take_body(header.opcode, from)?);
        }
    }
}
