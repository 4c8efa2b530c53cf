//! The `view!` macro: a read-only view of a JSON object.
//!
//! It generates a plain struct and the code that reads it from an object: listed
//! keys are read, others are skipped, of a duplicate key the last counts.
//! serde's derive is not used here since it also accepts a list for a struct,
//! rejects `null` for most fields and names Rust types in its messages.

/// Declares a struct of which each field is bound to a JSON key.
macro_rules! view {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$lifetime:lifetime> {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $key:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name<$lifetime> {
            $( $(#[$field_meta])* $vis $field: $type, )*
        }
        $crate::pod::view::view!(@read $lifetime, $name<$lifetime>, $( $field = $key, )*);
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $key:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name {
            $( $(#[$field_meta])* $vis $field: $type, )*
        }
        $crate::pod::view::view!(@read 'de, $name, $( $field = $key, )*);
    };
    (@read $lifetime:lifetime, $type:ty, $( $field:ident = $key:literal, )*) => {
        impl<$lifetime> $crate::pod::field::Field<$lifetime> for $type {
            const EXPECTED: &'static str = "an object";

            fn from_object<A: serde::de::MapAccess<$lifetime>>(
                mut object: A,
            ) -> Result<Self, A::Error> {
                use $crate::pod::field::Read;
                let mut view = Self::default();
                while let Some(Read(key)) = object.next_key::<Read<std::borrow::Cow<'_, str>>>()? {
                    match key.as_ref() {
                        $( $key => view.$field = object.next_value::<Read<_>>()?.0, )*
                        _ => { object.next_value::<serde::de::IgnoredAny>()?; }
                    }
                }
                Ok(view)
            }
        }

        impl<$lifetime> serde::Deserialize<$lifetime> for $type {
            fn deserialize<D: serde::Deserializer<$lifetime>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                $crate::pod::field::Read::deserialize(deserializer).map(|read| read.0)
            }
        }
    };
}

pub(crate) use view;
