//! The plan of UNION: SELECTs whose columns are brought to the same types.

use super::cast::folded;
use super::columns::Scope;
use super::convert::comparable;
use super::items::result;
use super::planner::Planner;
use super::select::limit;
use super::typed::{Columns, Origin, Query, SortKey, Source, Typed, Wide};
use crate::protocol::{SqlError, Type};
use crate::server::sql::{Expr, Order, Select};

impl Planner<'_> {
    pub(super) fn union(
        &mut self,
        select: &Select,
        outer: Option<&Scope>,
    ) -> Result<(Query, Columns), SqlError> {
        if let Some(lock) = select.lock {
            let clause = lock.strength.clause().trim_start_matches("SELECT ");
            let text = format!("{clause} is not allowed with UNION/INTERSECT/EXCEPT");
            return Err(SqlError::new("0A000", text));
        }
        let first =
            Select { unions: Vec::new(), order: Vec::new(), limit: None, offset: None, ..select.clone() };
        let branches: Vec<(bool, &Select)> = [(true, &first)]
            .into_iter()
            .chain(select.unions.iter().map(|(all, one)| (*all, &**one)))
            .collect();
        let types = self.types(&branches, outer)?;
        let (mut queries, mut names) = (Vec::new(), Vec::new());
        for (all, branch) in branches {
            let (mut query, columns) = self.branch(branch, outer, &types)?;
            for ((item, (_, found)), ty) in query.items.iter_mut().zip(&columns).zip(&types) {
                if found != ty {
                    *item = folded(item.clone(), *ty)?;
                }
            }
            if names.is_empty() {
                names = columns.into_iter().map(|(name, _)| name).collect();
            }
            self.subqueries.push(query);
            queries.push((all, self.subqueries.len() - 1));
        }
        let columns: Columns = names.into_iter().zip(types).collect();
        let depends = queries.iter().any(|(_, at)| self.subqueries[*at].depends);
        let (origin, schema) = (Origin::Queries(queries), result("", columns.clone()));
        let order = select.order.iter().map(|key| sorted(key, &columns)).collect::<Result<_, _>>()?;
        let wide = Wide {
            order,
            limit: limit(self, select.limit.as_ref(), "LIMIT")?,
            offset: limit(self, select.offset.as_deref(), "OFFSET")?,
            ..Wide::of(vec![Source { origin, schema, on: None, left: false }])
        };
        let items = (0..columns.len()).map(Typed::Column).collect();
        Ok((Query { items, from: None, wide: Some(Box::new(wide)), depends }, columns))
    }

    /// The types of the columns that several SELECTs have together.
    fn types(&mut self, branches: &[(bool, &Select)], outer: Option<&Scope>) -> Result<Vec<Type>, SqlError> {
        let known = self.subqueries.len();
        let mut types: Vec<Type> = Vec::new();
        for (at, (_, branch)) in branches.iter().enumerate() {
            let (_, columns) = self.branch(branch, outer, &[])?;
            self.subqueries.truncate(known);
            if at == 0 {
                types = columns.iter().map(|(_, ty)| *ty).collect();
            }
            if columns.len() != types.len() {
                let text = "each UNION query must have the same number of columns";
                return Err(SqlError::new("42601", text));
            }
            for (ty, (_, found)) in types.iter_mut().zip(columns) {
                *ty = match (*ty, found) {
                    (Type::Unknown, found) => found,
                    (ty, Type::Unknown) => ty,
                    (ty, found) if ty == found => ty,
                    (ty, found) if ty.widens_to(found) => found,
                    (ty, found) if ty.is_text() && found.is_text() => Type::Text,
                    (ty, found) if comparable(ty, found) => ty,
                    (ty, found) => {
                        let (ty, found) = (ty.name(), found.name());
                        let text = format!("UNION types {ty} and {found} cannot be matched");
                        return Err(SqlError::new("42804", text));
                    }
                };
            }
        }
        Ok(types.into_iter().map(|ty| if ty == Type::Unknown { Type::Text } else { ty }).collect())
    }
}

/// The column of the result that rows are sorted by.
fn sorted(key: &Order, columns: &Columns) -> Result<SortKey, SqlError> {
    let at = match &key.value {
        Expr::Int(nth) => {
            let missing = || SqlError::new("42P10", format!("ORDER BY position {nth} is not in select list"));
            let at = usize::try_from(*nth).ok().and_then(|nth| nth.checked_sub(1));
            at.filter(|at| *at < columns.len()).ok_or_else(missing)?
        }
        Expr::Column { table: None, name } => {
            let missing = || SqlError::new("42703", format!("column \"{name}\" does not exist"));
            columns.iter().position(|(known, _)| known == name).ok_or_else(missing)?
        }
        _ => return Err(SqlError::new("0A000", "invalid UNION/INTERSECT/EXCEPT ORDER BY clause")),
    };
    Ok(SortKey { value: Typed::Column(at), descends: key.descends, nulls_first: key.nulls_first })
}
