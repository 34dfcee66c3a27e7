//! How people and machines are reached.

use super::Detector;
use crate::guardrails::check::Check;

pub(super) const DETECTORS: &[Detector] = &[
    Detector {
        name: "email",
        about: "Addresses of electronic mail.",
        pattern: r"(?-u:\b{start-half})[A-Za-z0-9_%+-][A-Za-z0-9._%+-]*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24}(?-u:\b)",
        check: None,
        max_match: 254,
        finds: &[
            "write to «jane.doe+news@mail.example.co.uk».",
            "<«a@b.io»>",
            "mailto:«x_y%z@sub-domain.example.org»?subject=hi",
            "请联系«wang@example.cn»。",
        ],
        leaves: &["jane@localhost", "@handle", "a @ b.com", "user@", "1.5@2", "npm i left-pad@1.3.0"],
    },
    Detector {
        name: "phone",
        about: "Telephone numbers in international form, and in the form of North America.",
        pattern: concat!(
            r"(?-u:\b{start-half})(?:",
            r"(?:\+|00)[1-9](?:[ .()/-]{0,2}[0-9]){6,13}",
            r"|(?:\+?1[ .-]?)?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[2-9][0-9]{2}[ .-][0-9]{4}",
            r")(?-u:\b)"
        ),
        check: Some(Check::Phone),
        max_match: 64,
        finds: &[
            "call «+49 (0)30 1234567»",
            "«+44 20 7946 0958»",
            "tel:«+14155552671»",
            "or «(415) 555-2671» at night",
            "«415-555-2671»",
            "«1.415.555.2671»",
            "«0033 1 42 68 53 00»",
        ],
        leaves: &["+1 234", "2024-11-21", "12-34-56", "version 1.415.2", "x+1 = 2", "the year 2024"],
    },
    Detector {
        name: "ipv4",
        about: "Addresses of version 4 of the Internet Protocol.",
        pattern: r"(?-u:\b)[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?-u:\b)",
        check: Some(Check::Ipv4),
        max_match: 15,
        finds: &["ping «192.168.1.1».", "http://«10.0.0.255»:8080/", "«1.1.1.1»"],
        leaves: &["256.1.1.1", "1.2.3", "version 1.2.x.4", "999.999.999.999"],
    },
];
