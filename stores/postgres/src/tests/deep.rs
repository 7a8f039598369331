//! Statements of any depth: each is executed, or refused with PostgreSQL's error, on half of the stack that a test's thread has.
//!
//! The threads of `picklock run` and of a test have 2 MiB, the one of `picklock serve` has 8 MiB.

use picklock_model::time::{Monotonic, WallTime};
use picklock_sim::host::Origin;

use super::talk::frame;
use crate::server::deep::DEPTH_MAX;
use crate::{Guarded, Machine, Now};

/// Half of the 2 MiB of a thread that the standard library starts.
const STACK: usize = 1 << 20;

const NOW: Now = Now { wall: WallTime(0), monotonic: Monotonic(0) };

/// The SQLSTATEs of the errors that a session is sent for its statements.
fn errors(statements: &[String]) -> Vec<Option<String>> {
    let mut machine = Machine::new(Guarded::default(), []);
    let id = machine.connect();
    machine.receive(id, Origin::default(), b"\0\0\0\x10\0\x03\0\0user\0p\0\0", NOW);
    machine.take_effects();
    let mut all = Vec::new();
    for sql in statements {
        machine.receive(id, Origin::default(), &frame(b'Q', &[sql.as_bytes(), b"\0"].concat()), NOW);
        let sent: Vec<u8> = machine.take_effects().deliveries.into_iter().flat_map(|one| one.bytes).collect();
        let code = |text: &str| {
            let from = text.find("ERROR\0C")? + "ERROR\0C".len();
            text.get(from..from + 5).map(str::to_owned)
        };
        all.push(code(&String::from_utf8_lossy(&sent)));
    }
    all
}

/// The same on a thread with so little stack.
fn errors_on_a_small_stack(statements: Vec<String>) -> Vec<Option<String>> {
    let thread = std::thread::Builder::new().stack_size(STACK);
    let thread = thread.spawn(move || errors(&statements)).expect("a thread starts");
    thread.join().expect("no statement takes too much stack")
}

/// A chain or a nest of so many levels of each kind of recursion that the language has.
fn statements(levels: usize) -> Vec<String> {
    let repeat = |text: &str| text.repeat(levels);
    let nest = |open: &str, inner: &str, close: &str| {
        format!("select {}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    let parts = |levels: usize| {
        let next = |at: usize| format!(", p{at} as (select * from p{})", at - 1);
        format!(
            "with p0 as (select 1){} select * from p{}",
            (1..=levels).map(next).collect::<String>(),
            levels
        )
    };
    vec![
        format!("select 1{}", repeat("+1")),
        format!("select 1{}", repeat("*1")),
        format!("select 'a'{}", repeat("||'a'")),
        format!("select true{}", repeat(" and true")),
        format!("select false{}", repeat(" or false")),
        format!("select {} true", repeat("not ")),
        format!("select 1{}", repeat("::int")),
        format!("select 1{}", repeat("::bigint::int")),
        format!("select now(){}", repeat(" at time zone 'UTC'")),
        format!("select true{}", repeat(" is true")),
        format!("select true{}", repeat(" is null")),
        format!("select true{}", repeat(" is distinct from true")),
        format!("select array[1]{}", repeat("[1:1]")),
        format!("select 1 where {}", vec!["1=1"; levels + 1].join(" and ")),
        format!("select {}1", repeat("- ")),
        nest("(", "1", ")"),
        nest("1+(", "1", ")"),
        nest("upper(", "'a'", ")"),
        nest("length(lower('a')||lower(", "'a'", "))"),
        nest("lower(", "'a'", ")"),
        nest("concat('a',", "'a'", ")"),
        nest("coalesce(1,", "1", ")"),
        nest("coalesce(null,", "null", ")"),
        nest("nullif(1,", "2", ")"),
        nest("case when true then ", "1", " end"),
        nest("case when true then null else ", "null", " end"),
        nest("case ", "1", " when 1 then 1 when 2 then 2 when 3 then 3 end"),
        nest("cast(", "1", " as int)"),
        nest("array[", "1", "]"),
        nest("1 in (", "1", ")"),
        nest("1 in (2, 3, ", "1", ")"),
        nest("true between true and (", "true", ")"),
        nest("(", "true", " between true and true)"),
        nest("'a' like (", "'a'", ")"),
        nest("1 = any(array[", "1", "])"),
        nest("(select ", "1", ")"),
        nest("(select 1 where 1 = ", "1", ")"),
        nest("exists (select ", "1", ")"),
        nest("1 in (select ", "1", ")"),
        nest("array(select ", "1", ")"),
        nest("(select max(a) from (select 1 as a where 1=", "1", ") b)"),
        nest("1 from (select ", "1", ") t"),
        nest("count(*) from (select ", "1", ") t group by 1"),
        nest("* from (select ", "1 union all select 1", ") t"),
        nest("* from (select 1 union select ", "1", ") t"),
        nest("1 from unnest(array(select ", "1", ")) t"),
        nest("1 order by (select ", "1", ")"),
        nest("1 limit (select ", "1", ")"),
        format!("select 1{}", repeat(" union select 1")),
        format!("select 1 from (select 1) t{}", repeat(", (select 1 where false) t")),
        parts(levels),
        format!("create table deep (a int check ({}a > 0{}))", "(".repeat(levels), ")".repeat(levels)),
        format!("create table deep (a int, check (a > 0{}))", repeat(" and a > 0")),
        format!("create table deep (a int default 1{})", repeat("+1")),
        format!(
            "create table deep (a int); create unique index on deep (a) where a > 0{}",
            repeat(" and a > 0")
        ),
        format!("insert into deep values (1{})", repeat("+1")),
        format!("update deep set a = a{}", repeat("+1")),
        format!(
            "delete from deep where a = 1{} returning {}a{}",
            repeat("+1"),
            "(".repeat(levels),
            ")".repeat(levels)
        ),
        format!("select f({}1{})", "f(".repeat(levels), ")".repeat(levels)),
        format!(
            "create or replace function g(int) returns int language sql as 'select $1{}'; select g(g(g(1)))",
            repeat("+1")
        ),
        "do $$ begin perform 1; end $$".to_owned(),
    ]
}

const FUNCTIONS: &str = "create function f(int) returns int language sql as 'select $1 + $1'";

#[test]
fn statements_of_any_depth_are_executed_or_refused() {
    let limit = usize::from(DEPTH_MAX);
    for levels in [5, limit / 4, limit / 2 - 2, limit / 2, limit - 2, limit, limit + 1, 3_000, 200_000] {
        let all = [vec![FUNCTIONS.to_owned()], statements(levels), vec!["select 1".to_owned()]].concat();
        let errors = errors_on_a_small_stack(all.clone());
        for (sql, error) in all.iter().zip(&errors) {
            let short = &sql[..sql.len().min(80)];
            // Some name what is not modelled, or nothing that there is, at any depth.
            let known = [
                "54001", "0A000", "42601", "42P01", "42P07", "42883", "22003", "42804", "42712", "42P18",
                "42723", "42803",
            ];
            assert!(
                error.as_deref().is_none_or(|code| known.contains(&code)),
                "{levels} of {short}: {error:?}"
            );
        }
        assert_eq!(errors.last(), Some(&None), "the session goes on");
    }
}

#[test]
fn the_error_is_that_of_postgresql() {
    for sql in [statements(3_000).swap_remove(0), statements(3_000).swap_remove(15)] {
        assert_eq!(errors_on_a_small_stack(vec![sql]), [Some("54001".to_owned())]);
    }
    let error = crate::server::deep::too_deep();
    assert_eq!(error.message, "stack depth limit exceeded");
    assert!(error.hint.is_some_and(|hint| hint.contains("\"max_stack_depth\" (currently 2048kB)")));
}

#[test]
fn depth_that_people_write_is_admitted() {
    let simple = [0, 2, 3, 4, 15, 17, 21, 35].map(|at| statements(20).swap_remove(at));
    assert_eq!(errors_on_a_small_stack(simple.to_vec()), vec![None; 8]);
    let chains = [0, 2, 3, 4].map(|at| statements(usize::from(DEPTH_MAX) - 3).swap_remove(at));
    assert_eq!(errors_on_a_small_stack(chains.to_vec()), vec![None; 4]);
}

/// Arguments that are copied, and parts that are planned twice, multiply with each level.
#[test]
fn small_statements_do_not_grow_without_bound() {
    let doubling = format!("select {}a{} from (select 1 as a) t", "f(".repeat(40), ")".repeat(40));
    let bodies = (1..8).map(|at| {
        let calls = vec![format!("h{}($1)", at - 1); 12].join("+");
        format!("create function h{at}(int) returns int language sql as 'select {calls}'")
    });
    let first = "create function h0(int) returns int language sql as 'select $1'".to_owned();
    let all = [vec![FUNCTIONS.to_owned(), first, doubling], bodies.collect()].concat();
    let errors = errors_on_a_small_stack(all);
    assert_eq!((errors[2].as_deref(), errors[7].as_deref()), (Some("54001"), Some("54001")), "{errors:?}");
}
