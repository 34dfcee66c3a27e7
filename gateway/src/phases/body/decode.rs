//! Compressed request bodies, decompressed within the limit on bodies.

use std::io::Read;

use bytes::Bytes;
use http::header;
use pingora::http::RequestHeader;
use svc_filters::verdict::Rejection;

/// A content coding that requests may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Gzip,
    Zstd,
}

/// A window larger than this would cost more memory than the body may have.
const ZSTD_WINDOW_LOG: u32 = 25;

impl Encoding {
    /// The coding a request declares; `None` for none.
    pub(super) fn of(head: &RequestHeader) -> Result<Option<Self>, Rejection> {
        let mut values = head.headers.get_all(header::CONTENT_ENCODING).iter();
        let Some(value) = values.next() else { return Ok(None) };
        let coding = value.to_str().unwrap_or_default().trim().to_ascii_lowercase();
        match (coding.as_str(), values.next()) {
            ("" | "identity", None) => Ok(None),
            ("gzip" | "x-gzip", None) => Ok(Some(Self::Gzip)),
            ("zstd", None) => Ok(Some(Self::Zstd)),
            _ => Err(Rejection::invalid("The Content-Encoding is not supported; send gzip, zstd or none.").with_status(415)),
        }
    }

    /// Decompresses a body to at most `limit` bytes.
    pub(super) fn decode(self, raw: &[u8], limit: u64) -> Result<Bytes, Rejection> {
        let broken = |_| Rejection::invalid("The request body is not what its Content-Encoding says.");
        let mut decoded = Vec::new();
        let count = match self {
            Self::Gzip => flate2::read::MultiGzDecoder::new(raw).take(limit + 1).read_to_end(&mut decoded).map_err(broken)?,
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(raw).map_err(broken)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG).map_err(broken)?;
                decoder.take(limit + 1).read_to_end(&mut decoded).map_err(broken)?
            }
        };
        if count as u64 > limit {
            return Err(super::too_large(limit));
        }
        Ok(decoded.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(body: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(body).expect("in memory");
        encoder.finish().expect("in memory")
    }

    #[test]
    fn a_compressed_body_is_read() {
        let body = b"{\"model\":\"m\"}".repeat(50);
        assert_eq!(Encoding::Gzip.decode(&gzip(&body), 10_000).expect("sound"), body);
        let packed = zstd::encode_all(&body[..], 3).expect("in memory");
        assert_eq!(Encoding::Zstd.decode(&packed, 10_000).expect("sound"), body);
    }

    #[test]
    fn a_body_that_unpacks_past_the_limit_is_too_large() {
        let bomb = gzip(&vec![0; 1 << 20]);
        let rejection = Encoding::Gzip.decode(&bomb, 1 << 16).expect_err("over the limit");
        assert_eq!(rejection.status, Some(413));
        assert!(Encoding::Gzip.decode(&bomb, 1 << 20).is_ok(), "the limit itself is allowed");
    }

    #[test]
    fn bytes_that_are_not_compressed_are_refused() {
        assert!(Encoding::Gzip.decode(b"{}", 100).is_err());
        assert!(Encoding::Zstd.decode(b"{}", 100).is_err());
    }
}
