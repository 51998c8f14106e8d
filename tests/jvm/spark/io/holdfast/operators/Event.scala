package io.holdfast.operators

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}
import java.sql.Timestamp
import java.time.LocalDateTime

import scala.jdk.CollectionConverters._
import scala.util.Random

/** What the queries read. */
final case class Event(name: String, at: Option[Timestamp], amount: Option[Long])

object Event {
  val Schema = "name string, at timestamp, amount long"

  private val Hours = 4
  private val EventsPerHour = 40
  private val Start = LocalDateTime.of(2024, 1, 1, 0, 0)

  /** Writes the files that queries read, one in each batch, the same at every call. Event time moves
    * on by an hour a file; some events are late, and some have nulls.
    */
  def writeFiles(folder: Path): Unit = {
    val random = new Random(1)
    Files.createDirectories(folder)
    (0 until Hours).foreach { hour =>
      val file = folder.resolve(s"$hour.json")
      Files.write(file, Seq.fill(EventsPerHour)(line(random, hour)).asJava)
      // Spark reads the oldest file first.
      Files.setLastModifiedTime(file, FileTime.fromMillis(hour * 1000L))
    }
  }

  private def line(random: Random, hour: Int): String = {
    val hoursLate = if (random.nextInt(10) == 0) 1 + random.nextInt(3) else 0
    val at = Start.plusHours(hour - hoursLate).plusSeconds(random.nextInt(3600))
    val amount = random.nextInt(100) - 50
    val fields = Seq(
      Some(s""""name":"name ${random.nextInt(12)}""""),
      Option.when(random.nextInt(30) > 0)(s""""at":"$at""""),
      Option.when(random.nextInt(20) > 0)(s""""amount":$amount"""))
    fields.flatten.mkString("{", ",", "}")
  }
}
