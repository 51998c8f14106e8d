package io.holdfast.files

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Path => LocalPath, Paths}

import scala.collection.mutable
import scala.util.{Failure, Success, Try, Using}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.disk.LocalCheckpointFiles
import io.holdfast.testkit.TemporaryFolder

/** What is there when power is lost while `HoldfastCheckpointFileManager` writes, or after it: all
  * that may be, for every operation on the disk, as Hadoop's own file system reads it.
  */
@Slow
class PowerLossSuite extends AnyFunSuite {
  import PowerLossSuite._

  for {
    (name, script) <- scripts
    // What was forced before the script is there in any case.
  } test(s"$name: what was closed is there, and what was not is there as a whole or not at all") {
    val (found, states) = losses(new PowerLossDisk, script)
    assert(found.isEmpty)
    assert(states > 20)
  }

  test("bytes that are not forced are missed") {
    assert(losses(new PowerLossDisk(forcesFiles = false), scripts("a new file"))._1.nonEmpty)
  }

  test("names that are not forced are missed") {
    assert(losses(new PowerLossDisk(forcesFolders = false), scripts("a new file"))._1.nonEmpty)
  }

  test("a file that is finished is on this machine's disk, also in a thread that is interrupted") {
    TemporaryFolder.use { root =>
      val files = new LocalCheckpointFiles(new Path(root.toUri), new Configuration())
      val out = files.createAtomic(new Path(root.toUri.toString, "x/y/a"), true)
      out.write(1)
      Thread.currentThread().interrupt()
      out.close()
      assert(Thread.interrupted())
      assert(files.exists(new Path(root.toUri.toString, "x/y/a")))
    }
  }
}

object PowerLossSuite {
  private val Root = Paths.get("/checkpoint")

  /** A file that is written: its name, its text, whether it may replace another. */
  private final case class Written(name: String, text: String, overwrite: Boolean)

  private val scripts: Map[String, Seq[Written]] = Map(
    "a new file" -> Seq(Written("0/1.delta", "first", overwrite = true)),
    "a file that replaces another" -> Seq(
      Written("0/1.delta", "first", overwrite = true),
      Written("0/1.delta", "second" * 200, overwrite = true)),
    "a file that may not replace another" -> Seq(
      Written("0", "first", overwrite = false),
      Written("0", "second", overwrite = false)),
    "a delta, and the commit of its batch" -> Seq(
      Written("state/0/0/1.delta", "delta", overwrite = true),
      Written("commits/0", "commit", overwrite = false)))

  /** What is lost or damaged, a sentence each, and how many states of the disk were looked at. */
  private def losses(disk: PowerLossDisk, script: Seq[Written]): (Set[String], Int) = {
    val manager = new LocalCheckpointFiles(new Path(Root.toUri), new Configuration(), disk)
    // By name: from which moment on which texts may be found.
    val ends = mutable.ArrayBuffer.empty[(Written, Int, Int)]
    script.foreach { written =>
      val begin = disk.moments
      val out =
        manager.createAtomic(new Path(Root.toUri.toString, written.name), written.overwrite)
      out.write(written.text.getBytes(UTF_8))
      Try(out.close()) match {
        case Success(_) => ends += ((written, begin, disk.moments))
        case Failure(_: FileAlreadyExistsException) =>
        case Failure(e) => throw e
      }
    }
    val found = mutable.Set.empty[String]
    var states = 0
    (0 to disk.moments).foreach { moment =>
      disk.afterLossAt(moment).toSet.foreach { (names: PowerLossDisk.Names) =>
        states += 1
        TemporaryFolder.use { folder =>
          PowerLossDisk.write(names, Root, folder)
          ends.map(_._1.name).distinct.foreach { name =>
            val ofName = ends.filter(_._1.name == name).toSeq
            val closed = ofName.filter(_._3 <= moment).lastOption.map(_._1.text)
            val begun = ofName.filter(w => w._2 <= moment && moment < w._3).map(_._1.text)
            read(folder, name) match {
              case Success(text) =>
                if (!text
                    .map(Option(_))
                    .exists(t => t == closed || begun.map(Option(_)).contains(t)))
                  if (text.isDefined || closed.isDefined)
                    found += s"$name is $text, and $closed was closed"
              case Failure(e) => found += s"$name cannot be read: $e"
            }
          }
        }
      }
    }
    (found.toSet, states)
  }

  private def read(folder: LocalPath, name: String): Try[Option[String]] = Try {
    val hadoop = FileSystem.getLocal(new Configuration())
    val path = new Path(folder.toUri.toString, name)
    if (hadoop.exists(path))
      Some(Using.resource(hadoop.open(path))(in => new String(in.readAllBytes(), UTF_8)))
    else None
  }
}
