package io.holdfast.sim.run

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable
import org.apache.spark.holdfast.SimTask
import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  ReadStateStore,
  StateStoreId,
  StateStoreProvider
}

import io.holdfast.checkpoint.VersionId
import io.holdfast.sim.families.{Difference, Feed}
import io.holdfast.sim.world.{Dead, FamilyContent, FamilyContents, Process, Rows, StoreKey}

/** Holds what lies on the disk against the model: every version that is promised. */
final class Verification(world: World) {
  import Verification._
  import world.{model, plan}

  /** Reads them with Holdfast, in a process that has never seen them. */
  def withHoldfast(): Unit = readAll("Holdfast") { (store, version, id) =>
    val process = new Process("verification", isWatched = false)
    val provider = new SimProvider(world, process, 0, store)
    provider.begin(world.settings.unlimited)
    (provider, provider.getReadStore(version, id))
  }

  /** Reads them with Spark's default provider, which knows format 1, and no column families. */
  def withSpark(): Unit = if (plan.format == 1 && plan.families.isEmpty) {
    readAll("Spark's provider") { (store, version, id) =>
      val process = new Process("verification by Spark", isWatched = false)
      SparksFileManager.over(world.files(process)) {
        val provider = StateStoreProvider.create(Sparks)
        provider.init(
          StateStoreId(StoreKey.Root, 0L, store.partition, store.name),
          Rows.keySchema,
          Rows.valueSchema,
          NoPrefixKeyStateEncoderSpec(Rows.keySchema),
          useColumnFamilies = false,
          world.settings.unlimited,
          world.settings.hadoop(0))
        (provider, provider.getReadStore(version, id))
      }
    }
  }

  private[this] def readAll(who: String)(
      open: (StoreKey, Long, Option[String]) => (StateStoreProvider, ReadStateStore)): Unit =
    for {
      store <- world.stores
      version <- model.oldestPromised(plan.retained) to model.newest
    } {
      val id = model.id(store, version)
      val what = s"version $version (id ${id.getOrElse("none")}) of $store, read by $who,"
      val expected =
        model.content(store, version, id).getOrElse(world.fail(s"nobody has made $what"))
      try {
        val (provider, read) = SimTask.none(open(store, version, id))
        Difference
          .of(expected, read, world.rows)
          .foreach(found => world.fail(s"$what has $found"))
        read.abort()
        provider.close()
        world.counters.verified += 1
      } catch {
        case e: Dead => throw e
        case e: SparkThrowable if world.isDamaged && e.getCondition.startsWith(CannotLoad) =>
          world.counters.refused += 1
        case e: Throwable =>
          world.noteThrown(s"$what is lost", e)
          world.fail("")
      }
    }

  /** Reads the changes of column families up to the newest version, from a version that is promised. */
  def ofChanges(): Unit = if (plan.families.isDefined && plan.replacements == 0) {
    val newest = model.newest
    val oldest = model.oldestPromised(plan.retained)
    world.stores.filter(_ => oldest < newest).foreach { store =>
      val from = oldest + world.random.below((newest - oldest).toInt)
      val provider =
        new SimProvider(world, new Process("verification", isWatched = false), 0, store)
      provider.begin(world.settings.unlimited)
      for ((name, after) <- familiesOf(store, newest).byName.toSeq.sortBy(_._1))
        ofChanges(provider, store, name, after, from)
      provider.close()
    }
  }

  private[this] def ofChanges(
      provider: SimProvider,
      store: StoreKey,
      name: String,
      after: FamilyContent,
      from: Long): Unit = {
    val newest = model.newest
    val ends = familiesOf(store, newest).endsOf(name)
    def before(version: Long): Option[FamilyContent] =
      Some(familiesOf(store, version)).filter(_.endsOf(name) == ends).flatMap(_.get(name))
    val what = s"column family '$name' of $store from version $from to $newest"
    // Those of other columns, of which without Avro none are made that could be shown.
    lazy val ofOtherColumns =
      (from to newest).findLast(before(_).exists(_.kind.wide != after.kind.wide))
    try {
      val changes: Iterator[Feed.Change] = provider
        .getStateStoreChangeDataReader(from + 1, newest, Some(name), model.id(store, newest))
      Feed
        .difference(world.rows, before(from), after, changes)
        .foreach(found => world.fail(s"$what has $found"))
    } catch {
      case e: Dead => throw e
      case e
          if Feed.isRefusal(e) && !plan.families.get.evolves && ofOtherColumns.exists(_ > from) =>
        ofChanges(provider, store, name, after, ofOtherColumns.get)
      case e: Throwable =>
        world.noteThrown(s"the changes of $what cannot be read", e)
        world.fail("")
    }
  }

  private[this] def familiesOf(store: StoreKey, version: Long): FamilyContents =
    model.content(store, version, model.id(store, version)) match {
      case Some(families: FamilyContents) => families
      case other => world.fail(s"version $version of $store has no column families: $other")
    }

  /** Looks for files that nobody needs and nobody will delete, after a process that was never interrupted
    * has cleaned up.
    */
  def ofFiles(): Unit = world.stores.foreach { store =>
    val files = new FolderContents(world.disk.in(store.folder).keySet.asScala.toSet)
    files.temporary.filterNot(world.isExcused).foreach(name => world.fail(s"$name stays for good"))
    val oldest = math.max(model.newest - plan.retained, model.oldestPromised(plan.retained) - 1)
    if (oldest > 0) {
      val first = files.firstNeeded(oldest, version => model.id(store, version))
      files.below(first).foreach { name =>
        world.fail(s"$name stays for good: no version from $oldest on needs a file below $first")
      }
    }
  }

  /** Counts the deltas that a store has, and those that its oldest promised version is loaded from, after
    * a long time in which nothing went wrong. Snapshots come from maintenance, which writes those of
    * versions in memory.
    */
  def ofRecovery(): Unit = if (plan.inMemory > 0) world.stores.foreach { store =>
    val most = plan.mostDeltas
    val oldest = model.oldestPromised(plan.retained)
    val provider =
      new SimProvider(world, new Process("verification", isWatched = false), 0, store)
    provider.begin(world.settings.unlimited)
    val id = VersionId(oldest, model.id(store, oldest))
    val replayed = provider.store.versions.open(id).loaded.fold(0L)(_.replayedFiles)
    provider.close()
    if (replayed > most) {
      world.fail(s"version $id of $store is loaded from $replayed deltas, expected $most at most")
    }
    // What is kept leads to the version before in two ways, from snapshots that lie no further apart.
    val first = model.newest - plan.retained - 2 * most - 1
    new FolderContents(world.disk.in(store.folder).keySet.asScala.toSet)
      .below(first)
      .foreach(name =>
        world.fail(
          s"$name of $store stays: with snapshots after $most deltas, none below $first " +
            "is needed"))
  }
}

object Verification {
  private val CannotLoad = "CANNOT_LOAD_STATE_STORE"
  private val Sparks = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
}
