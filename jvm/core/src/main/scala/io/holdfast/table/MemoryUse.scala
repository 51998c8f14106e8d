package io.holdfast.table

/** Is told what a transaction or a walk needs of the heap, and may refuse. For one thread.
  *
  * Whoever is refused has changed nothing that others see, and can only be given up: the transaction
  * is to be aborted. A real `OutOfMemoryError` at the same place has the same consequence.
  */
trait MemoryUse {

  /** Called before something is allocated that is kept: a page, a copy of a part of an index, the
    * bits of a walk.
    *
    * @param bytes
    *   heap bytes, to be added to those that are counted already
    * @throws java.lang.RuntimeException
    *   if there must not be so many more
    */
  def allocate(bytes: Long): Unit

  /** Called before something is allocated that one can do without.
    *
    * @param bytes
    *   as they are given to [[allocate]]
    * @return
    *   whether they are counted now; false if there must not be so many more, which changes nothing
    */
  def tryAllocate(bytes: Long): Boolean =
    try {
      allocate(bytes)
      true
    } catch { case _: RuntimeException => false }

  /** Called when something that was allocated is let go.
    *
    * @param bytes
    *   as they were given to [[allocate]]
    */
  def release(bytes: Long): Unit

  /** Says how much is in use now. What was added up until now has become garbage in part, and counts
    * no more.
    *
    * @param bytes
    *   heap bytes beside those of the version that a transaction started from
    * @throws java.lang.RuntimeException
    *   if there must not be so many
    */
  def holds(bytes: Long): Unit
}

object MemoryUse {

  /** Lets everything grow. */
  object Unlimited extends MemoryUse {
    override def allocate(bytes: Long): Unit = ()
    override def release(bytes: Long): Unit = ()
    override def holds(bytes: Long): Unit = ()
  }
}
