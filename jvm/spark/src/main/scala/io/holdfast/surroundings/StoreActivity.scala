package io.holdfast.surroundings

/** Whether the run of the query that a store is of goes on, and has the store in this executor. Any
  * thread may ask.
  */
trait StoreActivity {

  /** What Spark's coordinator says; true also if it has never heard of the run.
    *
    * @throws org.apache.spark.SparkException
    *   if the driver does not answer
    */
  def isKept: Boolean

  /** Whether the coordinator has been told that the store is in this executor, and has not forgotten it.
    * It forgets a run that ends, and takes what a task tells it later for a store of a run that goes on.
    *
    * @throws org.apache.spark.SparkException
    *   if the driver does not answer
    */
  def isActive: Boolean

  /** The same for whoever does the work of the store: a task is of a run that goes on, also if its store
    * is not kept, as with `unloadOnCommit`.
    *
    * @throws org.apache.spark.SparkException
    *   if the driver does not answer
    */
  def goesOn: Boolean
}

object StoreActivity {

  /** Of a store of which nobody else knows. */
  object OfNoQuery extends StoreActivity {
    override def isKept: Boolean = true
    override def isActive: Boolean = false
    override def goesOn: Boolean = true
  }
}
