package io.holdfast.table

/** Is told how much memory a transaction uses. For the transaction's thread. */
trait MemoryUse {

  /** Called after the transaction has got another page.
    *
    * @param bytes
    *   heap bytes that the transaction uses beside those of its base version
    * @throws java.lang.RuntimeException
    *   if it must not use so many; the transaction can only be aborted then
    */
  def grewTo(bytes: Long): Unit
}

object MemoryUse {

  /** Lets every transaction grow. */
  object Unlimited extends MemoryUse {
    override def grewTo(bytes: Long): Unit = ()
  }
}
