//! Days and hours, as minutes.

use super::spec::{Day, TimeWindow};

const DAY: i64 = 24 * 60;

/// A time window to compare a moment with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// A bit for each day, Monday the lowest.
    days: u8,
    from: i64,
    to: i64,
    offset: i64,
}

impl Window {
    pub(super) fn new(spec: &TimeWindow) -> Self {
        let days = spec.days.iter().fold(0, |days, day| days | 1 << number(*day));
        Self {
            days: if days == 0 { 0x7f } else { days },
            from: i64::from(spec.from.minutes),
            to: i64::from(spec.to.minutes),
            offset: i64::from(spec.offset.minutes),
        }
    }

    /// Whether `now`, in Unix milliseconds, lies inside. A window over midnight belongs to the day it starts on.
    pub(super) fn contains(&self, now: i64) -> bool {
        let minutes = now.div_euclid(60_000).saturating_add(self.offset);
        let (day, minute) = (weekday(minutes.div_euclid(DAY)), minutes.rem_euclid(DAY));
        let starts = |day: u8| self.days & (1 << day) != 0;
        if self.from < self.to {
            return starts(day) && (self.from..self.to).contains(&minute);
        }
        (minute >= self.from && starts(day)) || (minute < self.to && starts((day + 6) % 7))
    }
}

/// The day of the week of a day since 1970, which began on a Thursday: Monday is 0.
pub(super) fn weekday(day: i64) -> u8 {
    u8::try_from((day % 7 + 10) % 7).unwrap_or(0)
}

const fn number(day: Day) -> u8 {
    match day {
        Day::Monday => 0,
        Day::Tuesday => 1,
        Day::Wednesday => 2,
        Day::Thursday => 3,
        Day::Friday => 4,
        Day::Saturday => 5,
        Day::Sunday => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::OffsetDateTime;
    use time::format_description::well_known::Rfc3339;

    fn inside(days: &[Day], from: &str, to: &str, offset: &str, moment: &str) -> bool {
        let [from, to] = [from, to].map(|text| text.parse().expect("a time"));
        let spec = TimeWindow { days: days.to_vec(), from, to, offset: offset.parse().expect("an offset") };
        let moment = OffsetDateTime::parse(moment, &Rfc3339).expect("a moment");
        Window::new(&spec).contains(i64::try_from(moment.unix_timestamp_nanos() / 1_000_000).expect("in range"))
    }

    #[test]
    fn the_first_minute_is_inside_and_the_last_is_not() {
        for (moment, expected) in [("07:59:59", false), ("08:00:00", true), ("19:59:59", true), ("20:00:00", false)] {
            let moment = format!("2026-11-18T{moment}Z");
            assert_eq!(inside(&[], "08:00", "20:00", "+00:00", &moment), expected, "{moment}");
        }
    }

    #[test]
    fn a_window_over_midnight_belongs_to_the_day_it_starts_on() {
        // 20 November 2026 is a Friday.
        for (moment, expected) in [
            ("2026-11-20T21:59:00Z", false),
            ("2026-11-20T22:00:00Z", true),
            ("2026-11-21T05:59:00Z", true),
            ("2026-11-21T06:00:00Z", false),
            ("2026-11-21T22:00:00Z", false),
            ("2026-11-20T05:00:00Z", false),
        ] {
            assert_eq!(inside(&[Day::Friday], "22:00", "06:00", "+00:00", moment), expected, "{moment}");
        }
    }

    #[test]
    fn the_same_start_and_end_is_a_whole_day() {
        for (moment, expected) in [("2026-11-22T23:59:59Z", false), ("2026-11-23T00:00:00Z", true), ("2026-11-23T23:59:59Z", true)] {
            assert_eq!(inside(&[Day::Monday], "00:00", "00:00", "+00:00", moment), expected, "{moment}");
        }
        assert!(inside(&[], "09:00", "09:00", "+00:00", "2026-11-23T03:00:00Z"));
    }

    #[test]
    fn an_offset_moves_the_hours_and_the_day() {
        assert!(inside(&[Day::Tuesday], "00:00", "01:00", "+05:30", "2026-11-23T18:30:00Z"));
        assert!(inside(&[Day::Sunday], "20:00", "21:00", "-08:00", "2026-11-23T04:30:00Z"));
        assert!(!inside(&[Day::Monday], "20:00", "21:00", "-08:00", "2026-11-23T04:30:00Z"));
    }

    #[test]
    fn days_before_1970_are_counted_too() {
        assert!(inside(&[Day::Wednesday], "00:00", "00:00", "+00:00", "1969-12-31T12:00:00Z"));
    }

    #[test]
    fn every_day_has_its_own_number() {
        let days = [Day::Monday, Day::Tuesday, Day::Wednesday, Day::Thursday, Day::Friday, Day::Saturday, Day::Sunday];
        for (index, day) in days.iter().enumerate() {
            // 23 November 2026 is a Monday.
            let moment = format!("2026-11-{}T12:00:00Z", 23 + index);
            let on: Vec<bool> = days.iter().map(|day| inside(&[*day], "00:00", "00:00", "+00:00", &moment)).collect();
            assert_eq!(on.iter().filter(|on| **on).count(), 1);
            assert!(on[usize::from(number(*day))], "{moment}");
        }
    }
}
