//! The extent of the nodes of a statement. Each function names every field of its node, so a new one is not forgotten.

use super::syntax::{Expr, Item, Join, Order, Select, TableRef, TableSource};
use crate::server::deep::{Child, Extent, Tree, extent_of};

impl Tree for Expr {
    fn below(&self) -> Extent {
        match self {
            Expr::Null
            | Expr::Bool(_)
            | Expr::Int(_)
            | Expr::Decimal(_)
            | Expr::Quoted(_)
            | Expr::Param(_)
            | Expr::CountRows
            | Expr::Column { table: _, name: _ } => Extent::default(),
            Expr::Call { name: _, args: list } | Expr::Array(list) | Expr::CountOver(list) => list.extent(),
            Expr::Binary { operator: _, left, right }
            | Expr::And(left, right)
            | Expr::Or(left, right)
            | Expr::Distinct(left, right)
            | Expr::Element(left, right)
            | Expr::Any { operator: _, value: left, array: right } => left.extent().and(right.extent()),
            Expr::Not(inner)
            | Expr::IsNull(inner)
            | Expr::Cast(inner, _)
            | Expr::OfDistinct { name: _, arg: inner } => inner.extent(),
            Expr::In(value, list) => value.extent().and(list.extent()),
            Expr::InQuery(value, select) => value.extent().and(select.extent()),
            Expr::Exists(select) | Expr::ArrayQuery(select) | Expr::Subquery(select) => select.extent(),
            Expr::Slice(array, from, to) => array.extent().and(any(from)).and(any(to)),
            Expr::RowNumber(partition, order) => partition.extent().and(order.extent()),
            Expr::Case { arms, otherwise } => arms.extent().and(any(otherwise)),
        }
    }
}

/// The extent of a part that may be absent.
fn any<T>(part: &Option<Child<T>>) -> Extent {
    part.as_ref().map_or(Extent::default(), Child::extent)
}

impl Tree for Select {
    fn below(&self) -> Extent {
        let Select {
            distinct: _,
            firsts,
            items,
            table,
            joins,
            filter,
            group,
            having,
            unions,
            order,
            limit,
            offset,
            lock: _,
            locks: _,
        } = self;
        let exprs = [firsts, group].into_iter().flatten().chain(filter).chain(limit);
        let unions = unions.iter().map(|(_, select)| select.extent());
        unions
            .fold(extent_of(exprs), Extent::and)
            .and(extent_of(items))
            .and(extent_of(table))
            .and(extent_of(joins))
            .and(extent_of(order))
            .and(any(having))
            .and(any(offset))
    }
}

impl Tree for Item {
    fn below(&self) -> Extent {
        match self {
            Item::All | Item::AllOf(_) => Extent::default(),
            Item::One { value, name: _ } => value.extent(),
        }
    }
}

impl Tree for Order {
    fn below(&self) -> Extent {
        let Order { value, descends: _, nulls_first: _ } = self;
        value.extent()
    }
}

impl Tree for Join {
    fn below(&self) -> Extent {
        let Join { table, on, left: _ } = self;
        table.extent().and(extent_of(on))
    }
}

impl Tree for TableRef {
    fn below(&self) -> Extent {
        let TableRef { name: _, alias: _, source, columns: _ } = self;
        match source {
            TableSource::Name => Extent::default(),
            TableSource::Query(select) => select.extent(),
            TableSource::Call { args, columns: _ } => args.extent(),
        }
    }
}
