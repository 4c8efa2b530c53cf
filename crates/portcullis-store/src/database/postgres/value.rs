//! Conversion of values to and from PostgreSQL.

use std::error::Error;

use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::database::{Field, Row, Value};
use crate::error::Failure;

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Number(number) if *kind == Type::INT4 => {
                i32::try_from(*number)?.to_sql(kind, out)
            }
            Self::Number(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Blob(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [
            Type::INT4,
            Type::INT8,
            Type::TEXT,
            Type::VARCHAR,
            Type::BYTEA,
            // A null, whose type the server finds out.
            Type::UNKNOWN,
        ]
        .contains(kind)
    }

    to_sql_checked!();
}

/// The type that a value has without a statement that says which.
pub(super) fn kind(value: &Value<'_>) -> Type {
    match value {
        Value::Null => Type::UNKNOWN,
        Value::Number(_) => Type::INT8,
        Value::Text(_) => Type::TEXT,
        Value::Blob(_) => Type::BYTEA,
    }
}

/// A row as it came.
pub(super) fn row(row: &postgres::Row) -> Result<Row, Failure> {
    let mut fields = Vec::with_capacity(row.len());
    for (place, column) in row.columns().iter().enumerate() {
        let field = match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(place)?.map(Field::Number),
            Type::INT4 => {
                let number: Option<i32> = row.try_get(place)?;
                number.map(|number| Field::Number(number.into()))
            }
            Type::TEXT | Type::VARCHAR => row.try_get::<_, Option<String>>(place)?.map(Field::Text),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(place)?.map(Field::Blob),
            ref other => {
                return Err(Failure::corrupt(format!("a column is of type {other}")));
            }
        };
        fields.push(field.unwrap_or(Field::Null));
    }
    Ok(Row::new(fields))
}
