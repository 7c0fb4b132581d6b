//! How an error of many causes is made from each of them.

/// Implements `From` for an enum: `Enum: Cause => Variant, ...`.
macro_rules! from {
    ($enum:ty: $($cause:ty => $variant:ident),+ $(,)?) => {$(
        impl From<$cause> for $enum {
            fn from(cause: $cause) -> Self {
                Self::$variant(cause)
            }
        }
    )+};
}

pub(crate) use from;
