//! The load generator: many connections on one thread, a closed loop or a constant rate, every answer checked.

mod check;
mod connection;
mod pace;
pub mod plan;
mod tally;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep_until, timeout};

use check::Check;
use connection::Connection;
use pace::{Pace, Slot};
use plan::Plan;
pub use tally::Report;
use tally::Tally;

/// Between the start of the program and its first request, so that all connections begin together.
const LEAD: Duration = Duration::from_millis(20);

/// Carries the plan out and returns what was measured.
///
/// # Errors
/// When the runtime cannot be built. A failed request is not an error but a figure in the report.
pub fn run(plan: Plan) -> Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let start = Instant::now() + LEAD;
        let plan = Rc::new(plan);
        let pace = Rc::new(Pace::new(&plan, start));
        let tally = Rc::new(RefCell::new(Tally::new(&plan, start)));
        let clients: Vec<_> = (0..plan.connections)
            .map(|index| {
                let first = start + plan.ramp * index / plan.connections.max(1);
                tokio::task::spawn_local(client(Rc::clone(&plan), Rc::clone(&pace), Rc::clone(&tally), first))
            })
            .collect();
        for client in clients {
            client.await?;
        }
        Ok(tally.borrow().report())
    })
}

/// One connection's life. It is opened again after a failure and after an answer that closes it.
async fn client(plan: Rc<Plan>, pace: Rc<Pace>, tally: Rc<RefCell<Tally>>, first: Instant) {
    sleep_until(first).await;
    let mut connection = None;
    while let Some(slot) = pace.next().await {
        let result = match timeout(plan.timeout, exchange(&plan, &tally, &mut connection, slot)).await {
            Ok(result) => result,
            Err(_) => Err(format!("no complete answer within {:?}", plan.timeout)),
        };
        if let Err(why) = result {
            connection = None;
            tally.borrow_mut().failed(why);
        }
    }
}

/// One request and its answer: counted when it is right, an error that says why when it is not.
async fn exchange(plan: &Plan, tally: &RefCell<Tally>, kept: &mut Option<Connection>, slot: Slot) -> Result<(), String> {
    let mut connection = match kept.take() {
        Some(connection) => connection,
        None => Connection::open(plan.address).await.map_err(|why| format!("connect: {why}"))?,
    };
    let mut check = Check::new(&plan.expected);
    let answer = connection
        .exchange(&plan.request, |content| {
            check.feed(content, |on_its_way_ns| tally.borrow_mut().delta(slot.due, on_its_way_ns));
        })
        .await
        .map_err(|why| format!("exchange: {why}"))?;
    let ended = Instant::now();
    if answer.status != 200 {
        return Err(format!("status {}: {}", answer.status, check.excerpt()));
    }
    check.verdict()?;
    tally.borrow_mut().succeeded(slot.due, answer.first_byte, ended);
    if answer.keeps_open {
        *kept = Some(connection);
    }
    Ok(())
}
