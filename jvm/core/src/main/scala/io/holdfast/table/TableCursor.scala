package io.holdfast.table

/** A cursor that says whether it still needs what it walks over. */
private[table] abstract class TableCursor extends TableWalk with RowCursor
