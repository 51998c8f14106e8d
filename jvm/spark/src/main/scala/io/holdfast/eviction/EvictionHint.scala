package io.holdfast.eviction

import java.util.UUID

import io.holdfast.table.EventTime

/** What an operator tells one of its stores of the rows that a batch will look for because their time
  * has come. The store is right without it.
  */
sealed private[holdfast] trait EvictionHint {

  /** Where the time of the store's own rows lies, if it is known. */
  def eventTime: Option[EventTime]
}

private[holdfast] object EvictionHint {

  /** The operator walks over the store in search of rows up to a threshold, and tests each that it is
    * shown: it may be shown those alone.
    *
    * @param at
    *   where their time lies
    * @param threshold
    *   the latest time of a row that the operator removes, in the unit of the column
    * @param countedBy
    *   name of the store of the same task that tells Spark what this one did, if that is another
    */
  final case class OwnTimes(at: EventTime, threshold: Long, countedBy: Option[String] = None)
      extends EvictionHint {
    override def eventTime: Option[EventTime] = Some(at)
  }

  /** The operator walks over the store in search of keys that begin keys of another store of the same
    * task, whose rows have times up to a threshold; it looks up and tests those rows itself. It may be
    * shown such keys alone.
    *
    * @param store
    *   name of the other store, which has a hint [[LookedInto]]
    */
  final case class TimesOf(store: String, threshold: Long) extends EvictionHint {
    override def eventTime: Option[EventTime] = None
  }

  /** Nobody looks for rows by walking over this store, but another store of the same task may want to
    * know which have expired.
    */
  final case class LookedInto(eventTime: Option[EventTime]) extends EvictionHint

  private val Prefix = "io.holdfast.eviction"

  /** The local property that is set in a thread where the plans of batches are looked at. */
  val PlansAreRead: String = s"$Prefix.plansAreRead"

  /** The local property that holds the hint for the partitions of a store. */
  def property(runId: UUID, operatorId: Long, storeName: String): String =
    s"$Prefix.$runId.$operatorId.$storeName"

  /** The text of a hint for the batch that starts from a version. */
  def text(version: Long, hint: EvictionHint): String = {
    val words = hint match {
      case OwnTimes(at, threshold, countedBy) =>
        Seq("own", threshold.toString, countedBy.getOrElse(Absent)) ++ wordsOf(Some(at))
      case TimesOf(store, threshold) => Seq("of", threshold.toString, store)
      case LookedInto(at) => "into" +: wordsOf(at)
    }
    (version.toString +: words).mkString(" ")
  }

  /** The hint that a text says, if it is for the batch that starts from a version. */
  def of(text: String, version: Long): Option[EvictionHint] = text.split(' ').toList match {
    case number :: words if number == version.toString =>
      words match {
        case "own" :: threshold :: countedBy :: at =>
          eventTimeOf(at).map(OwnTimes(_, threshold.toLong, optional(countedBy)))
        case List("of", threshold, store) => Some(TimesOf(store, threshold.toLong))
        case "into" :: at => Some(LookedInto(eventTimeOf(at)))
        case _ => None
      }
    case _ => None
  }

  private val Absent = "-"

  private def optional(word: String): Option[String] = Some(word).filter(_ != Absent)

  private def wordsOf(at: Option[EventTime]): Seq[String] = at.toSeq.flatMap { at =>
    def words(column: Option[EventTime.Column]) = column.fold(Seq(Absent, Absent)) { column =>
      Seq(column.fields.toString, column.ordinal.toString)
    }
    Seq(if (at.inKey) "key" else "value") ++ words(Some(at.column)) ++ words(at.nested) ++
      Seq(at.never.fold(Absent)(_.toString), if (at.nullNever) "null" else Absent)
  }

  private def eventTimeOf(words: List[String]): Option[EventTime] = words match {
    case List(side, fields, ordinal, nestedFields, nestedOrdinal, never, nullNever) =>
      Some(
        EventTime(
          side == "key",
          EventTime.Column(fields.toInt, ordinal.toInt),
          optional(nestedFields).map(fields => EventTime.Column(fields.toInt, nestedOrdinal.toInt)),
          optional(never).map(_.toLong),
          optional(nullNever).isDefined))
    case _ => None
  }
}
