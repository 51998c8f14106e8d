package io.holdfast.table

/** Orders the rows of [[Keys]] by number, 16 of them alike. */
private[table] object ByKey extends RowOrder with RowOrder.Encoder {
  override val words = 1
  override def newEncoder(): RowOrder.Encoder = this
  override def write(key: Array[Byte], offset: Int, length: Int, into: Array[Long]): Unit =
    into(0) = Bytes.getLong(key, offset) / 16
}
