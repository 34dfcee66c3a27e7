//! Several waits at once, in one task.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

enum Wait<F: Future> {
    Running(Pin<Box<F>>),
    Done(Option<F::Output>),
}

/// What the futures give, in their order, once all have.
pub(super) async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output>
where
    F::Output: Unpin,
{
    let mut waits: Vec<Wait<F>> = futures.map(|future| Wait::Running(Box::pin(future))).collect();
    poll_fn(|cx| {
        let mut ready = true;
        for wait in &mut waits {
            let Wait::Running(future) = wait else { continue };
            match future.as_mut().poll(cx) {
                Poll::Ready(output) => *wait = Wait::Done(Some(output)),
                Poll::Pending => ready = false,
            }
        }
        if ready { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    waits.into_iter().filter_map(|wait| if let Wait::Done(output) = wait { output } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_waits_for_another_is_no_obstacle_and_the_order_stays() {
        let (sender, receiver) = oneshot::channel();
        let waits: [Pin<Box<dyn Future<Output = u32>>>; 2] = [
            Box::pin(async { receiver.await.unwrap_or(0) }),
            Box::pin(async {
                sender.send(1).unwrap();
                2
            }),
        ];
        assert_eq!(all(waits.into_iter()).await, [1, 2]);
        assert!(all(std::iter::empty::<std::future::Ready<u32>>()).await.is_empty());
    }
}
