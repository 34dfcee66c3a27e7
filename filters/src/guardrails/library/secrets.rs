//! What opens doors.

use super::Detector;
use crate::guardrails::check::Check;

pub(super) const DETECTORS: &[Detector] = &[
    Detector {
        name: "api_key",
        about: "Keys of model providers, clouds, code hosts and chats, and of this gateway, by the forms their vendors give them.",
        pattern: concat!(
            r"(?-u:\b{start-half})(?:",
            r"sk-svc-[A-Za-z0-9]{12}-[A-Za-z0-9]{49}",
            r"|sk-[A-Za-z0-9_-]{20,}",
            r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?-u:\b)",
            r"|gh[pousr]_[A-Za-z0-9]{30,}",
            r"|github_pat_[A-Za-z0-9_]{22,}",
            r"|xox[abeprs]-[A-Za-z0-9-]{10,}",
            r"|AIza[A-Za-z0-9_-]{35}",
            r"|glpat-[A-Za-z0-9_-]{20,}",
            r"|hf_[A-Za-z0-9]{30,}",
            r")"
        ),
        check: Some(Check::HasDigit),
        max_match: 512,
        finds: &[
            "key=«sk-svc-AbCdEfGh1234-0123456789abcdefghijABCDEFGHIJ0123456789abcABCDEF»",
            "«sk-ant-api03-EXAMPLE-0123456789abcdefghij_EXAMPLE»",
            "«sk-proj-EXAMPLE0123456789abcdef»",
            "AWS_ACCESS_KEY_ID=«AKIAIOSFODNN7EXAMPLE»",
            "token «ghp_EXAMPLE0123456789abcdefghijklmnopqr»;",
            "«github_pat_EXAMPLE0123456789abcdef_xyz»",
            "«xoxb-0123456789-EXAMPLE»",
            "«AIzaEXAMPLE-0123456789_abcdefghijklmnop»",
            "«glpat-EXAMPLE0123456789abc»",
            "«hf_EXAMPLE0123456789abcdefghijklmno»",
        ],
        leaves: &[
            "sk-learn",
            "sk-toggleable-control-of-the-panel",
            "task-0123456789abcdefghijklmn",
            "AKIAIOSFODNN7",
            "ghp_short",
            "half_a_word",
        ],
    },
    Detector {
        name: "private_key",
        about: "Private keys in PEM form: all of one, or its first line where the last is missing or far away.",
        pattern: concat!(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----",
            r"(?:(?:-?[^-])*-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
        check: None,
        max_match: 16_384,
        finds: &[
            "«-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nMIIEexample+/=\n-----END RSA PRIVATE KEY-----»\n",
            "here: «-----BEGIN PRIVATE KEY-----» MIIE",
            "«-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQVYexample\n-----END PGP PRIVATE KEY BLOCK-----»",
        ],
        leaves: &["-----BEGIN PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----", "BEGIN PRIVATE KEY", "----- private key -----"],
    },
    Detector {
        name: "jwt",
        about: "JSON web tokens in their compact form.",
        pattern: r"(?-u:\b{start-half})eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        check: None,
        max_match: 8192,
        finds: &["Bearer «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJlLW9mLWFuLWV4YW1wbGU»"],
        leaves: &["eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.x.y", "heyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJlLW9m"],
    },
];
