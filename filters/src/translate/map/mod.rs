//! Pure tables and small conversions that several shapes share, each citing its source.
