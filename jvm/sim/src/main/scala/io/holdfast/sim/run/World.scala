package io.holdfast.sim.run

import java.io.{IOException, PrintWriter, StringWriter}
import java.util.UUID

import scala.collection.mutable

import io.holdfast.sim.disk.{Disk, DiskEvents, SimFileManager}
import io.holdfast.sim.world._

/** Everything of one history: the disk, the processes, what the model knows, and what happens next. For
  * one thread.
  *
  * What one process does stands still at its operations on files while others do something there, which
  * then stand still in turn; what began last ends first.
  */
final class World(
    val plan: Plan,
    val random: SimRandom,
    val trace: Trace,
    val defect: Option[Defect],
    val crashAt: Option[Long])
    extends DiskEvents {
  import World._

  val clock = new SimClock
  val disk = new Disk
  val model = new Model(plan.nothing)
  val settings = new StoreSettings(plan)
  val rows = new Rows(plan.noteBytes)
  val cluster = new Cluster(this)
  val scheduler = new Scheduler(this)
  val counters = new Counters

  val stores: Vector[StoreKey] = for {
    partition <- (0 until plan.partitions).toVector
    name <- plan.storeNames
  } yield StoreKey(partition, name)

  /** From when on nothing goes wrong any more, and nobody interrupts anybody. */
  var isCalm = false

  /** Whether something was lost for which nobody has given a promise: what a disk had not written yet, or
    * an entry of the commit log. From then on versions may be missing; none may be wrong.
    */
  var isDamaged = false

  private[this] var failed = Option.empty[String]
  private[this] val frames = mutable.ArrayBuffer.empty[Frame]
  private[this] var operations = 0L
  private[this] var numbers = 0L
  private[this] var stormUntil = Long.MinValue
  private[this] var fullUntil = Long.MinValue

  /** The first thing that was not as it must be. */
  def failure: Option[String] = failed

  /** Ends the history because something is not as it must be. */
  def fail(sentence: String): Nothing = {
    note(sentence)
    throw new Dead
  }

  /** Says that something is not as it must be. */
  def note(sentence: String): Unit = if (failed.isEmpty) {
    failed = Some(sentence)
    trace.add("model", "failure", sentence)
  }

  /** Says that something was thrown for which there is no reason. */
  def noteThrown(what: String, e: Throwable): Unit = {
    val text = new StringWriter
    e.printStackTrace(new PrintWriter(text))
    note(s"$what: $text")
  }

  /** Says that a process has died. */
  def died(process: Process): Unit = troubled += process.name

  /** Whether a process goes on. */
  def goesOn(process: Process): Boolean = failed.isEmpty && process.isAlive

  /** Ends what a process is doing that has died. */
  def requireAlive(process: Process): Unit = if (!goesOn(process)) throw new Dead

  /** Those who are doing something, who began first first. */
  def standing: collection.IndexedSeq[Frame] = frames

  /** Does something in the name of a process. */
  def within[A](frame: Frame)(body: => A): A = {
    frames += frame
    try body
    finally {
      val _ = frames.remove(frames.size - 1)
    }
  }

  /** How many operations on files there have been that may fail. */
  def watchedOperations: Long = operations

  override def before(process: Process, what: String, path: String): Unit = {
    trace.add(process.name, what, path)
    clock.pass(OperationNanos)
    requireAlive(process)
    if (process.isWatched && !isCalm) {
      operations += 1
      if (plan.faults.slowMillis > 0 && random.chance(0.1)) {
        clock.pass(random.below(plan.faults.slowMillis) * 1000000L)
      }
      if (crashAt.contains(operations) || mayCrash) die(process)
      trouble(process, what, path)
      if (frames.size < MostStanding && random.chance(plan.interleaving)) scheduler.step()
      requireAlive(process)
    }
  }

  override def after(process: Process, what: String, path: String): Unit =
    if (process.isWatched && !isCalm) {
      if (mayCrash) die(process)
      if (random.chance(plan.faults.lostAnswer))
        fault(process, s"the answer to $what $path is lost")
    }

  private[this] def mayCrash = random.chance(plan.faults.crash) && mayCrashAgain

  /** Whether the history has had fewer crashes than it may have. */
  def mayCrashAgain: Boolean = counters.crashes < MostCrashes

  private[this] def die(process: Process): Nothing = {
    if (random.chance(plan.faults.powerLoss)) cluster.losePower()
    cluster.crash(process)
    throw new Dead
  }

  /** The disk forgets what it has not written yet. */
  def forgetUnsynced(): Unit = if (plan.faults.unsyncedMillis > 0) {
    isDamaged = true
    disk.forget(millis - plan.faults.unsyncedMillis, random)
  }

  private[this] def trouble(process: Process, what: String, path: String): Unit = {
    val faults = plan.faults
    val now = millis
    if (random.chance(faults.storm)) stormUntil = now + random.between(1, 20)
    if (random.chance(faults.fullDisk)) fullUntil = now + random.between(1, 20)
    if (random.chance(faults.forbidden)) process.forbiddenUntil = now + random.between(1, 20)
    if (now < stormUntil) fault(process, "503 Slow Down")
    if (now < process.forbiddenUntil) fault(process, s"no permission to $what $path")
    if (now < fullUntil && Writing(what)) fault(process, "No space left on device")
    if (random.chance(faults.error)) fault(process, s"could not $what $path")
  }

  private[this] def fault(process: Process, sentence: String): Nothing = {
    process.hadFault()
    counters.faults += 1
    troubled += process.name
    trace.add(process.name, "fault", sentence)
    throw new IOException(sentence)
  }

  override def appeared(process: Process, path: String): Unit =
    frames.lastOption.flatMap(_.attempt).foreach(_.appeared(path))

  override def lateMillis: Int = if (isCalm) 0 else plan.faults.lateListingMillis

  override def isLate(): Boolean = random.chance(0.5)

  override def readable(asked: Int): Int =
    if (plan.faults.shortReads && !isCalm) random.between(1, asked) else asked

  override def torn(length: Int): Int = random.below(length + 1)

  override def resetAfter(process: Process, bytes: Int): Option[Int] =
    if (process.isWatched && !isCalm && bytes > 0 && random.chance(plan.faults.reset)) {
      process.hadFault()
      counters.faults += 1
      Some(random.below(bytes))
    } else None

  override def number(): Long = {
    numbers += 1
    numbers
  }

  override def millis: Long = clock.millis

  override def written(path: String, bytes: Array[Byte]): Array[Byte] =
    defect.fold(bytes)(_.written(path, bytes, random))

  override def deletes(path: String): Boolean = defect.forall(_.deletes(path))

  override def appears(path: String): Boolean = defect.forall(_.appears(path, random))

  override def deletesTooMuch: Boolean = defect.exists(_.deletesTooMuch)

  // Who dies or is failed in the middle may leave a temporary file, as with every provider.
  private[this] val troubled = mutable.Set.empty[String]

  /** Whether a temporary file may stay. */
  def isExcused(temporary: String): Boolean =
    troubled.exists(name => temporary.contains(s".$name."))

  /** A file manager of a process. */
  def files(process: Process): SimFileManager =
    new SimFileManager(disk, defect.flatMap(_.storage).getOrElse(plan.storage), process, this)

  def newAttempt(): UUID = new UUID(random.long(), random.long())
}

object World {
  private val OperationNanos = 200000L
  private val MostStanding = 4
  private val MostCrashes = 8
  private val Writing = Set("create", "write", "flush", "upload", "mkdirs")
}

/** Somebody who does something.
  *
  * @param store
  *   the provider whose locks it may hold
  */
final class Frame(
    val process: Process,
    val store: Option[SimProvider],
    val attempt: Option[Attempt] = None)

/** What came up in a history. */
final class Counters {
  var faults = 0L
  var crashes = 0L
  var powerLosses = 0L
  var setBacks = 0L
  var attempts = 0L
  var commits = 0L
  var verified = 0L
  var refused = 0L
  var nested = 0L

  def add(other: Counters): Unit = {
    faults += other.faults
    crashes += other.crashes
    powerLosses += other.powerLosses
    setBacks += other.setBacks
    attempts += other.attempts
    commits += other.commits
    verified += other.verified
    refused += other.refused
    nested += other.nested
  }
}
