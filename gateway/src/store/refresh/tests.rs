use sea_orm::ConnectionTrait;
use tokio::time::{Instant, sleep};

use super::*;
use crate::store::declare;
use crate::store::testing::{Db, conf, databases};

#[tokio::test]
async fn a_change_is_in_force_within_a_second_and_an_outage_changes_nothing() {
    for Db { db, url, _folder } in databases().await {
        let yaml =
            format!("database: {{url: '{url}'}}\nkeys: [{{name: a, secret: a-secret-of-16-characters, owner: {{user: a@b.example}}}}]");
        let conf: Conf = self::conf(&yaml);
        let (pepper, sealer) = (Pepper::new(b"pepper"), Sealer::new(b"master"));
        declare(&db, &conf, &pepper, &sealer).await.unwrap();
        let live = Live::new(load(&db, &conf, &pepper, &sealer, None).await.unwrap());
        let (stop, mut stopped) = watch::channel(false);
        let mut refresher = Refresher { conf: &conf, live: &live, database: db.clone(), pepper, sealer, away: false };
        let test = async {
            let held = live.hold().revision;
            db.execute_unprepared("UPDATE api_key SET name = 'b'").await.unwrap();
            let changed = Instant::now();
            until(|| live.hold().revision > held).await;
            assert!(changed.elapsed() < Duration::from_millis(1_500), "{:?}", changed.elapsed());
            let held = live.hold().revision;
            db.execute_unprepared("ALTER TABLE config_revision RENAME TO away").await.unwrap();
            sleep(Duration::from_millis(10)).await;
            assert_eq!(live.hold().revision, held);
            db.execute_unprepared("ALTER TABLE away RENAME TO config_revision").await.unwrap();
            db.execute_unprepared("UPDATE api_key SET name = 'c'").await.unwrap();
            until(|| live.hold().revision > held).await;
            stop.send(true).unwrap();
        };
        let run = refresher.run(&mut stopped);
        timeout(Duration::from_secs(20), async { tokio::join!(run, test) }).await.expect("it stops when told to");
    }
}

async fn until(reached: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !reached() {
        assert!(Instant::now() < deadline, "the change never came into force");
        sleep(Duration::from_millis(5)).await;
    }
}
