package io.holdfast.families

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.streaming.state.{
  RecordType,
  StateStore,
  SupportsFineGrainedReplay
}
import org.scalatest.funsuite.AnyFunSuite

/** The change feed of column families that only a later snapshot tells of. */
class LaterSnapshotFeedSuite extends AnyFunSuite with FamilyFeed {
  import FamilyFeed._

  private val F = Kind(name = "f")
  private val G = Kind(name = "g")
  private val H = Kind(name = "h")

  /** Versions in which families go, come again, take the ids of others and get other columns. */
  private val history: Seq[StateStore => Unit] = {
    val wide = F.copy(values = Wide)
    def put(kind: Kind, number: Long)(store: StateStore): Unit = {
      kind.create(store)
      store.put(kind.key, kind.value(number), kind.name)
    }
    def remove(kind: Kind)(store: StateStore): Unit = {
      val _ = store.removeColFamilyIfExists(kind.name)
    }
    def all(changes: (StateStore => Unit)*)(store: StateStore): Unit = changes.foreach(_(store))
    Seq(
      all(put(F, 1), put(G, 1)),
      put(F, 2),
      all(remove(F), put(H, 3), put(G, 3)),
      put(F, 4),
      put(wide, 5),
      all(remove(F), put(wide, 6)),
      all(remove(G), remove(H), put(G, 7)),
      all(put(G, 8), put(wide, 8)),
      all(remove(F), put(G.copy(values = Wide), 9)),
      all(_.remove(G.key, G.name), G.create),
      all(put(H, 11), put(G, 11), put(F, 11)))
  }

  test("families are known by a later snapshot as by the files before") {
    val last = history.size.toLong
    val files = use(Avro) { test =>
      history.zipWithIndex.foreach { case (change, version) =>
        val store = test.write(version.toLong, forceSnapshot = true)
        change(store)
        store.commit()
        test.awaitSnapshots()
      }
      test.files
    }
    type Outcome = Either[String, Seq[(RecordType.Value, Option[(Int, Long)], Long)]]
    def outcomes(names: String => Boolean, start: Long, end: Long): Seq[Outcome] = use(Avro) {
      test =>
        files.view.filterKeys(names).foreach { case (name, bytes) =>
          test.overwrite(name, bytes.toArray)
        }
        test.reopen()
        Seq(F, G, H).map { kind =>
          try
            Right(
              test.provider
                .asInstanceOf[SupportsFineGrainedReplay]
                .getStateStoreChangeDataReader(start, end, Some(kind.name), None)
                .map { case (what, _, value, batch) =>
                  val columns = Option(value).map(_.numFields)
                  (what, columns.map(n => n -> value.getLong(n - 1)), batch)
                }
                .toList)
          catch { case e: SparkThrowable => Left(e.getMessage) }
        }
    }
    def number(name: String): Long = name.takeWhile(_.isDigit).toLong
    def isFile(name: String): Boolean = !name.startsWith(".")
    var refused = 0
    for (start <- 2L to last; end <- start to last) {
      val before = outcomes(isFile, start, end)
      assert(before.flatMap(_.toSeq).flatten.nonEmpty)
      for (snapshot <- start to end.min(start + 3)) {
        val found = outcomes(
          name =>
            isFile(name) && number(name) >= start &&
              (name.endsWith(".delta") || number(name) == snapshot),
          start,
          end)
        found.zip(before).foreach {
          case (Left(e), _) if snapshot > start && e.contains("cannot be loaded") =>
            refused += 1
          // A family that goes may have had the name, as far as the later snapshot says.
          case (Right(Nil), Left(e)) if e.contains("missing column family") =>
          case (found, expected) =>
            withClue(s"from $start to $end by $snapshot: ")(assert(found == expected))
        }
      }
    }
    // Without that of the first delta nobody can know in what columns values were before others.
    assert(refused > 0)
  }
}
